//! The checks after everything has ended: the server's acknowledgements, its store and the requests that the outside
//! received must agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::client::Client;
use super::jobs::{Job, Kind};
use super::outside::Arrival;
use super::world::{CALLS_OF_A_RUN, CALLS_OF_A_TURN};

/// The number of owners above which a run may have used up its budget on questions that a kill cut off.
const OWNERS_MANY: usize = 5;

/// The number of jobs from which everything must have been tried.
const JOBS_MANY: usize = 200;

/// The counts.
#[derive(Default)]
pub(crate) struct Verdict {
    jobs: BTreeMap<Kind, usize>,
    arrivals: usize,
    /// Requests of the peer, for the server.
    by_peer: usize,
    /// Runs that had more than one owner.
    adopted: usize,
    cancelled: usize,
    decided: usize,
    watched: usize,
    messages: usize,
    broken_off: usize,
    /// Runs of the schedule.
    ticks: usize,
    /// Messages of the webhook, with those that came again.
    notices: usize,
}

impl Verdict {
    /// Judges the jobs of one server.
    pub(crate) async fn read(client: &Client, jobs: &[Job], arrivals: &[Arrival]) -> Verdict {
        let by_peer = arrivals.iter().filter(|arrival| arrival.server == "pantry").count();
        let mut verdict = Verdict { arrivals: arrivals.len(), by_peer, ..Verdict::default() };
        check_calls(arrivals);
        let ledger = by_job(arrivals);
        let of = |name: &str| ledger.get(name).map_or(&[][..], Vec::as_slice);
        check_deliveries(jobs, &client.runs("hook:bell").await);
        for job in jobs {
            *verdict.jobs.entry(job.kind).or_default() += 1;
            match &job.thread {
                Some(thread) => verdict.thread(client, thread, job, of).await,
                None if job.kind == Kind::Chat => {}
                None => verdict.run(client, job, of(&job.name)).await,
            }
        }
        verdict
    }

    async fn run(&mut self, client: &Client, job: &Job, arrivals: &[&Arrival]) {
        let listed = client.get(&format!("/api/runs?tag=job:{}", job.name)).await;
        let total = listed["total"].as_u64().unwrap();
        let Some(run) = &job.run else {
            assert!(total <= 1, "{}: sent once, and there are {total}", job.name);
            return;
        };
        // Runs of a hook have no tags of their own, and are counted by their deliveries.
        assert!(total == 1 || job.kind == Kind::Hook, "{}: accepted as {run}, once, and there are {total}", job.name);
        let detail = client.get(&format!("/api/runs/{run}")).await;
        let events = client.events(run).await;
        for (place, event) in events.iter().enumerate() {
            assert_eq!(event["seq"], place, "{run}: no gap");
        }
        if let Some(watched) = &job.watched {
            self.watched += 1;
            assert_eq!(*watched, events, "{run}: what was watched is what is stored");
        }
        let asked = arrivals.iter().filter(|arrival| arrival.server == "main" && arrival.what == "model").count();
        assert!(asked <= CALLS_OF_A_RUN, "{run}: {asked} questions, and its budget is {CALLS_OF_A_RUN}");
        self.ending(job, &detail, &events);
        self.promises(job, &detail, &events, arrivals);
    }

    /// Checks that a run ended as its kind does, or waits for the reason that its kind has.
    fn ending(&mut self, job: &Job, detail: &Value, events: &[Value]) {
        let status = detail["status"].as_str().unwrap();
        let error = detail["error"].as_str().unwrap_or_default();
        let owners = events.iter().filter(|event| event["type"] == "run_adopted").count();
        self.adopted += usize::from(owners > 1);
        let is_spent = status == "FAILED" && error.contains("BUDGET_EXCEEDED");
        if is_spent && job.kind != Kind::Endless {
            assert!(owners > OWNERS_MANY, "{}: {detail}", job.name);
            self.broken_off += 1;
            return;
        }
        let as_expected = match job.kind {
            Kind::Left => detail["waitingFor"] == "review" && detail["completedAt"].is_null(),
            Kind::Endless => is_spent,
            Kind::Cancel if job.cancelled.is_some() => status == "CANCELLED",
            Kind::Cancel => matches!(status, "CANCELLED" | "COMPLETED"),
            Kind::Work | Kind::Peer | Kind::Hook => status == "COMPLETED" && detail["output"] == answer(job),
            Kind::Review | Kind::Chat => matches!(status, "COMPLETED" | "CANCELLED"),
        };
        assert!(as_expected, "{:?} {}: {detail}", job.kind, job.name);
    }

    /// Checks what the server acknowledged.
    fn promises(&mut self, job: &Job, detail: &Value, events: &[Value], arrivals: &[&Arrival]) {
        let run = detail["runId"].as_str().unwrap();
        if let Some(cancelled) = job.cancelled {
            self.cancelled += 1;
            assert!(
                events.iter().any(|event| event["type"] == "cancel_requested"),
                "{run}: its cancellation is stored"
            );
            let late = arrivals.iter().filter(|arrival| arrival.server == "main" && arrival.at > cancelled);
            let late: Vec<_> = late.copied().collect();
            assert!(were_on_their_way(&late), "{run}: after its cancellation was acknowledged: {late:?}");
        }
        if let Some((review, word, revised)) = &job.decided {
            self.decided += 1;
            let decided =
                events.iter().find(|event| event["type"] == "review_decided" && event["reviewId"] == **review);
            let decided = decided.unwrap_or_else(|| panic!("{review}: its decision is stored"));
            let stored = (decided["decision"].as_str(), decided["revisedOutput"].as_str());
            assert_eq!(stored, (Some(*word), revised.as_deref()), "{review}");
            let output = detail["tasks"][0]["output"].as_str();
            assert!(revised.is_none() || output == revised.as_deref(), "{review}: {detail}");
        }
    }

    async fn thread<'a>(&mut self, client: &Client, thread: &str, job: &Job, of: impl Fn(&str) -> &'a [&'a Arrival]) {
        let found = client.get(&format!("/api/threads/{thread}/messages")).await;
        let rows = found["messages"].as_array().unwrap();
        for said in &job.said {
            let content = said.tag.text();
            let users: Vec<_> = rows.iter().filter(|row| row["role"] == "user" && row["content"] == *content).collect();
            let asked = of(&said.tag.job).iter().filter(|arrival| arrival.what == "model").count();
            assert!(asked <= CALLS_OF_A_TURN, "{content}: {asked} questions, and its budget is {CALLS_OF_A_TURN}");
            let Some(turn) = &said.turn else {
                assert!(users.len() <= 1, "{thread}: {content} is there {} times", users.len());
                continue;
            };
            self.messages += 1;
            assert_eq!(users.len(), 1, "{thread}: {content} is there once: {found}");
            assert_eq!(users[0]["turn_id"], **turn);
            let mut answers = rows.iter().filter(|row| row["role"] == "assistant" && row["turn_id"] == **turn);
            let is_answer = |row: &Value| row["content"].as_str().unwrap().contains(&said.tag.answer());
            let last = answers.next_back().unwrap_or_else(|| panic!("{thread}: {content} has an answer: {found}"));
            assert!(last["is_error"] == true || said.tag.kind == "loop" || is_answer(last), "{thread}: {last}");
        }
        let events = client.get(&format!("/api/threads/{thread}/events?from=0&limit=1000")).await;
        for (place, event) in events["events"].as_array().unwrap().iter().enumerate() {
            assert_eq!(event["chat_seq"], place, "{thread}: no gap");
        }
    }

    /// Counts the runs of the schedule and the messages of the webhook.
    pub(crate) fn count(&mut self, ticks: usize, notices: usize) {
        self.ticks += ticks;
        self.notices += notices;
    }

    pub(crate) fn add(&mut self, other: Verdict) {
        for (kind, jobs) in other.jobs {
            *self.jobs.entry(kind).or_default() += jobs;
        }
        self.arrivals += other.arrivals;
        self.by_peer += other.by_peer;
        self.adopted += other.adopted;
        self.cancelled += other.cancelled;
        self.decided += other.decided;
        self.watched += other.watched;
        self.messages += other.messages;
        self.broken_off += other.broken_off;
        self.ticks += other.ticks;
        self.notices += other.notices;
    }

    /// Checks that every kind of job was among them, so that all of the above was tried.
    pub(crate) fn check(&self) {
        let kinds: BTreeSet<Kind> = self.jobs.keys().copied().collect();
        assert_eq!(kinds, BTreeSet::from(Kind::ALL), "{self}");
        let tried = [self.by_peer, self.cancelled, self.decided, self.watched, self.messages, self.ticks, self.notices];
        // In a short test any one of them may have fallen into the time when the server was down.
        let many = if self.jobs.values().sum::<usize>() < JOBS_MANY { 3 } else { tried.len() };
        assert!(tried.iter().filter(|count| **count > 0).count() >= many, "{self}");
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { jobs, arrivals, by_peer, adopted, cancelled, decided, watched, messages, .. } = self;
        let Verdict { broken_off, ticks, notices, .. } = self;
        write!(f, "jobs {jobs:?}, {arrivals} requests outside, {by_peer} by the peer, {adopted} adopted, ")?;
        write!(f, "{cancelled} cancelled, {decided} decided, {watched} watched, {messages} messages, ")?;
        write!(f, "{ticks} due times, {notices} notices, {broken_off} spent by kills")
    }
}

fn answer(job: &Job) -> String {
    let task = match job.kind {
        Kind::Peer => "a",
        Kind::Hook => "none",
        Kind::Work | Kind::Review | Kind::Left | Kind::Endless | Kind::Cancel | Kind::Chat => "b",
    };
    format!("answer {} {task}", job.name)
}

/// Whether requests that came after a cancellation may have been sent before it: the question of one round, or its
/// calls. Whatever follows from their answers was decided later.
fn were_on_their_way(late: &[&Arrival]) -> bool {
    let tools: BTreeSet<&str> = late.iter().map(|arrival| arrival.what.as_str()).collect();
    tools.len() == late.len() && (late.len() == 1 || !tools.contains("model"))
}

/// Checks that each delivery to the hook began one run, the one that was answered.
fn check_deliveries(jobs: &[Job], runs: &[Value]) {
    let mut begun = BTreeMap::<&str, Vec<&str>>::new();
    for run in runs {
        let delivery = run["hook"]["deliveryId"].as_str().unwrap_or_else(|| panic!("no delivery: {run}"));
        begun.entry(delivery).or_default().push(run["runId"].as_str().unwrap());
    }
    for job in jobs.iter().filter(|job| job.kind == Kind::Hook) {
        let run = job.run.as_deref().expect("a delivery is sent until it is taken");
        assert_eq!(begun.remove(job.key().as_str()), Some(vec![run]), "{}: one delivery, one run", job.name);
    }
    assert!(begun.is_empty(), "runs that nobody delivered: {begun:?}");
}

fn by_job(arrivals: &[Arrival]) -> BTreeMap<String, Vec<&Arrival>> {
    let mut jobs = BTreeMap::<String, Vec<&Arrival>>::new();
    for arrival in arrivals {
        jobs.entry(arrival.tag.job.clone()).or_default().push(arrival);
    }
    jobs
}

/// Checks that what must not be repeated was not, and that what may be has one key.
fn check_calls(arrivals: &[Arrival]) {
    let mut once = BTreeSet::new();
    let mut keys = BTreeMap::new();
    for arrival in arrivals.iter().filter(|arrival| arrival.what != "model") {
        let Arrival { server, what, tag, key, .. } = arrival;
        let key = key.as_ref().unwrap();
        if matches!(what.as_str(), "pay" | "order") {
            assert!(once.insert((server, what, key)), "{key} was done twice: {arrival:?}");
        }
        // A long job calls its tools in every round; any other once for each task.
        if what != "look" && tag.kind == "work" {
            let first = keys.entry((server, what, &tag.job, &tag.task)).or_insert(key);
            assert_eq!(*first, key, "one call, one key: {arrival:?}");
        }
    }
}
