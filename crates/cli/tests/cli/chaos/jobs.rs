//! The jobs for the server: runs of several kinds and chats, each with a name. A job remembers everything the server
//! acknowledged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::client::Client;
use super::outside::Tag;
use crate::crowd;
use crate::dice::Dice;

/// The longest time after which a run is cancelled.
const CANCEL_MAX_US: u64 = 400_000;
/// The most messages in a chat.
const MESSAGES_MAX: u64 = 3;

/// The kinds of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Two tasks that use every tool.
    Work,
    /// A task whose output a person decides about.
    Review,
    /// The same, and nobody does.
    Left,
    /// A task that never comes to an end by itself.
    Endless,
    /// A long task that is cancelled.
    Cancel,
    /// A task that uses what a peer shares.
    Peer,
    /// A run that another program begins, which delivers the same more than once.
    Hook,
    /// A conversation.
    Chat,
}

impl Kind {
    pub(crate) const ALL: [Kind; 8] =
        [Kind::Work, Kind::Review, Kind::Left, Kind::Endless, Kind::Cancel, Kind::Peer, Kind::Hook, Kind::Chat];

    /// Returns a kind; one that nobody decides about is rare, as it stays for ever.
    pub(crate) fn roll(dice: &mut Dice) -> Kind {
        match dice.roll(23) {
            0..5 => Kind::Work,
            5..9 => Kind::Review,
            9 => Kind::Left,
            10..12 => Kind::Endless,
            12..15 => Kind::Cancel,
            15..17 => Kind::Peer,
            17..20 => Kind::Hook,
            _ => Kind::Chat,
        }
    }
}

/// A job, with everything that the server promised about it.
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The run, when it was accepted.
    pub(crate) run: Option<String>,
    /// When its cancellation was acknowledged.
    pub(crate) cancelled: Option<Instant>,
    /// The decision that was acknowledged: the review, the word and the revised output.
    pub(crate) decided: Option<(String, &'static str, Option<String>)>,
    /// The events that a watcher was shown.
    pub(crate) watched: Option<Vec<Value>>,
    /// The thread, and its messages in order.
    pub(crate) thread: Option<String>,
    pub(crate) said: Vec<Said>,
}

impl Job {
    /// Returns the key that it is submitted under.
    pub(crate) fn key(&self) -> String {
        format!("key-{}", self.name)
    }
}

/// A message that was sent.
pub(crate) struct Said {
    pub(crate) tag: Tag,
    /// Its turn; none when it is not known whether the message was accepted.
    pub(crate) turn: Option<String>,
}

/// The one who does a job.
#[derive(Clone)]
pub(crate) struct Worker {
    pub(crate) client: Client,
    pub(crate) address: Arc<str>,
    pub(crate) seen: watch::Sender<u64>,
}

impl Worker {
    pub(crate) async fn work(self, name: String, kind: Kind, mut dice: Dice) -> Job {
        let said = Vec::new();
        let thread = None;
        let mut job = Job { name, kind, run: None, cancelled: None, decided: None, watched: None, thread, said };
        if kind == Kind::Chat {
            self.chat(&mut job, &mut dice).await;
            return job;
        }
        self.submit(&mut job, &mut dice).await;
        let Some(run) = job.run.clone() else { return job };
        // What nobody decides about has no end to watch.
        let watcher = (kind != Kind::Left && dice.one_in(2))
            .then(|| tokio::spawn(crowd::Client::new(&run, &self.address, dice.split().0, &self.seen).follow()));
        match kind {
            Kind::Cancel => self.cancel(&run, &mut job, &mut dice).await,
            Kind::Review => self.decide(&run, &mut job, &mut dice).await,
            Kind::Work | Kind::Left | Kind::Endless | Kind::Peer | Kind::Hook | Kind::Chat => {}
        }
        let ended = |run: &Value| run["completedAt"].is_string();
        let left = |run: &Value| run["waitingFor"] == "review";
        self.client.until(&format!("/api/runs/{run}"), |run| ended(run) || (kind == Kind::Left && left(run))).await;
        if let Some(watcher) = watcher {
            job.watched = Some(watcher.await.unwrap().into_events());
        }
        job
    }

    /// Submits a run; one without a key is sent once, and a key is often sent again.
    async fn submit(&self, job: &mut Job, dice: &mut Dice) {
        // A delivery without an id of its own is known by the key.
        let (path, body) = if job.kind == Kind::Hook {
            ("/hooks/bell", json!({ "job": job.name }))
        } else {
            ("/api/runs", request(job.kind, &job.name))
        };
        if job.kind != Kind::Hook && dice.one_in(5) {
            let answer = self.client.post_once(path, &body).await;
            job.run = answer.map(|answer| accepted(&answer));
            return;
        }
        let key = job.key();
        let submit = || async { accepted(&self.client.post(path, &body, &key).await) };
        let run = match dice.roll(3) {
            0 => {
                let (first, second) = tokio::join!(submit(), submit());
                assert_eq!(first, second, "a key belongs to one run");
                first
            }
            1 => {
                let first = submit().await;
                assert_eq!(submit().await, first, "a key belongs to one run");
                first
            }
            _ => submit().await,
        };
        job.run = Some(run);
    }

    async fn cancel(&self, run: &str, job: &mut Job, dice: &mut Dice) {
        tokio::time::sleep(Duration::from_micros(dice.roll(CANCEL_MAX_US))).await;
        let path = format!("/api/runs/{run}/cancel");
        let body = json!({ "mode": "now" });
        loop {
            match self.client.post_once(&path, &body).await {
                Some((200, _)) => return job.cancelled = Some(Instant::now()),
                Some((409, answer)) => return assert_eq!(answer["error"], "RUN_COMPLETED", "{answer}"),
                None => tokio::time::sleep(Duration::from_millis(20)).await,
                Some(answer) => panic!("{run}: {answer:?}"),
            }
        }
    }

    /// Decides the review of a run once it is open, unless the run ends before.
    async fn decide(&self, run: &str, job: &mut Job, dice: &mut Dice) {
        let open = |run: &Value| run["openReviews"][0].is_string() || run["completedAt"].is_string();
        let found = self.client.until(&format!("/api/runs/{run}"), open).await;
        let Some(review) = found["openReviews"][0].as_str() else { return };
        let (word, revised) = match dice.roll(3) {
            0 => ("CONTINUE", None),
            1 => ("EDIT", Some(format!("edited {}", job.name))),
            _ => ("EXIT_EARLY", None),
        };
        let body = json!({ "decision": word, "revisedOutput": revised });
        loop {
            match self.client.post_once(&format!("/api/reviews/{review}"), &body).await {
                Some((200, _)) => return job.decided = Some((review.to_owned(), word, revised)),
                // It was decided by a request whose answer was lost.
                Some((409, _)) => return,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
                Some(answer) => panic!("{review}: {answer:?}"),
            }
        }
    }

    async fn chat(&self, job: &mut Job, dice: &mut Dice) {
        let key = format!("key-{}", job.name);
        let (status, thread) = self.client.post("/api/threads", &json!({ "title": job.name }), &key).await;
        // Begun before a kill: nobody knows whether it was made.
        let Some(thread) = thread["id"].as_str().filter(|_| status == 201) else {
            return assert_eq!(thread["error"], "OUTCOME_UNKNOWN", "{thread}");
        };
        job.thread = Some(thread.to_owned());
        for n in 0..1 + dice.roll(MESSAGES_MAX) {
            let kind = if dice.one_in(6) { "loop" } else { "work" };
            let tag = Tag { job: format!("{}-{n}", job.name), kind: kind.to_owned(), task: "chat".to_owned() };
            let body = json!({ "content": tag.text(), "if_busy": "queue", "memory_enabled": false });
            let path = format!("/api/threads/{thread}/messages");
            let (status, answer) = self.client.post(&path, &body, &format!("key-{}", tag.job)).await;
            let turn = answer["turnId"].as_str().filter(|_| status == 202).map(str::to_owned);
            assert!(turn.is_some() || answer["error"] == "OUTCOME_UNKNOWN", "{status} {answer}");
            job.said.push(Said { tag, turn });
        }
        // Between two turns nothing runs, and the next message waits for its turn.
        let is_idle = |thread: &Value| thread["running"] == false && thread["queued"] == 0;
        self.client.until(&format!("/api/threads/{thread}"), is_idle).await;
    }
}

fn accepted((status, answer): &(u16, Value)) -> String {
    assert_eq!(*status, 202, "{answer}");
    answer["runId"].as_str().unwrap().to_owned()
}

/// Returns the request for a run of a kind.
fn request(kind: Kind, name: &str) -> Value {
    let task = |word: &str, kind: &str, tools: &[&str]| {
        let tag = Tag { job: name.to_owned(), kind: kind.to_owned(), task: word.to_owned() };
        json!({ "name": word, "description": format!("Do it {}", tag.text()), "tools": tools })
    };
    let every = &["look", "put", "pay"];
    let mut first = task("a", "work", every);
    let mut second = task("b", "work", every);
    second["context"] = json!(["$a"]);
    let tasks = match kind {
        Kind::Review | Kind::Left => {
            first["review"] = json!("required");
            vec![first, second]
        }
        Kind::Endless => vec![task("a", "loop", every)],
        Kind::Cancel => vec![task("a", "long", every)],
        Kind::Peer => vec![task("a", "work", &["pay", "pantry.order", "pantry.errand"])],
        Kind::Work | Kind::Hook | Kind::Chat => vec![first, second],
    };
    json!({ "tags": { "job": name }, "tasks": tasks })
}
