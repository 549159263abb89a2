//! Conversations whose messages, approvals and stops go to any of three servers: turns do not overlap and keep their
//! order, and whatever server is asked right after an acknowledgement shows what was acknowledged. `CONSORT_NODE_READS` says how
//! often that is tried.

use std::time::{Duration, Instant};

use consort_test_postgres::database;
use futures::future::join_all;
use serde_json::{Value, json};

use super::outside::Outside;
use super::trio::Trio;
use crate::dice::{Dice, number, say};

/// The looks of every test run.
const READS: u64 = 96;
/// Conversations at the same time.
const TALKS: u64 = 4;
/// Messages of a conversation, after which another one is begun.
const MESSAGES: u64 = 24;

/// The kinds of messages.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// It is answered.
    Plain,
    /// Its answer needs a call that must be allowed.
    Door,
    /// Its answer is stopped.
    Slow,
}

/// A conversation, and what was acknowledged in it.
struct Talk<'a> {
    trio: &'a Trio,
    dice: Dice,
    name: String,
    path: String,
    /// The messages, in order.
    said: Vec<String>,
}

/// Counts of what was tried.
#[derive(Default)]
struct Tally {
    reads: u64,
    approvals: u64,
    stops: u64,
}

fn texts(answer: &Value, role: &str) -> Vec<String> {
    let rows = answer["messages"].as_array().unwrap().iter().filter(|row| row["role"] == role);
    rows.map(|row| row["content"].as_str().unwrap().to_owned()).collect()
}

impl Talk<'_> {
    fn any(&mut self) -> usize {
        self.dice.roll(3) as usize
    }

    /// Says something to any server, and looks for it at any other.
    async fn say(&mut self, kind: Kind, tally: &mut Tally) {
        let word = match kind {
            Kind::Plain => "plain",
            Kind::Door => "door",
            Kind::Slow => "slow",
        };
        let text = format!("[talk {}] {word} {}", self.name, self.said.len());
        let body = json!({ "content": text, "if_busy": "queue", "memory_enabled": false });
        let messages = format!("{}/messages", self.path);
        let to = self.any();
        let (status, answer) = self.trio.post(to, &messages, &body).await;
        assert_eq!(status, 202, "{answer}");
        self.said.push(text);
        // Those that wait are read first: what has begun since is among the messages then.
        let at = self.any();
        let (_, thread) = self.trio.get(at, &self.path).await;
        let waiting = thread["queued"].as_u64().unwrap() as usize;
        let at = self.any();
        let (_, rows) = self.trio.get(at, &messages).await;
        let shown = texts(&rows, "user");
        assert!(shown.len() + waiting >= self.said.len(), "{waiting} wait, and of {:?} there are {shown:?}", self.said);
        assert_eq!(shown, self.said[..shown.len()], "in the order in which they were acknowledged");
        tally.reads += 1;
    }

    async fn idle(&mut self) {
        let at = self.any();
        self.trio.until(at, &self.path, |thread| thread["running"] == false && thread["queued"] == 0).await;
    }

    /// Allows the call that the conversation waits for, at any server, and looks at any other.
    async fn allow(&mut self, tally: &mut Tally) {
        let id = self.path.rsplit('/').next().unwrap().to_owned();
        let of = |answer: &Value| -> Option<String> {
            let mut open = answer["approvals"].as_array().unwrap().iter();
            let question = open.find(|question| question["thread_id"] == id.as_str())?;
            Some(question["approval_id"].as_str().unwrap().to_owned())
        };
        let at = self.any();
        let asked = self.trio.until(at, "/api/approvals", |answer| of(answer).is_some()).await;
        let question = of(&asked).unwrap();
        let to = self.any();
        let path = format!("/api/approvals/{question}");
        let (status, answer) = self.trio.post(to, &path, &json!({ "decision": "allow" })).await;
        assert_eq!(status, 200, "{answer}");
        let at = self.any();
        let (_, open) = self.trio.get(at, "/api/approvals").await;
        assert_eq!(of(&open), None, "it was answered, and server {at} still asks");
        tally.approvals += 1;
    }

    /// Stops the turn that runs, at any server.
    async fn stop(&mut self, tally: &mut Tally) {
        let at = self.any();
        self.trio.until(at, &self.path, |thread| thread["running"] == true && thread["queued"] == 0).await;
        let to = self.any();
        let (status, answer) = self.trio.post(to, &format!("{}/stop", self.path), &json!({})).await;
        assert_eq!(status, 200, "{answer}");
        tally.stops += 1;
    }

    /// Says several things, the last of which may need a person; returns when all is done.
    async fn round(&mut self, tally: &mut Tally) {
        for _message in 0..self.dice.roll(3) {
            self.say(Kind::Plain, tally).await;
        }
        let kind = match self.dice.roll(6) {
            0 => Kind::Door,
            1 => Kind::Slow,
            _ => Kind::Plain,
        };
        self.say(kind, tally).await;
        match kind {
            Kind::Plain => {}
            Kind::Door => self.allow(tally).await,
            Kind::Slow => self.stop(tally).await,
        }
        self.idle().await;
    }
}

/// Holds conversations until there were so many looks.
async fn converse(trio: &Trio, name: u64, mut dice: Dice, reads: u64) -> Tally {
    let mut tally = Tally::default();
    let mut threads = 0;
    while tally.reads < reads {
        let (status, thread) = trio.post(dice.roll(3) as usize, "/api/threads", &json!({})).await;
        assert_eq!(status, 201, "{thread}");
        let path = format!("/api/threads/{}", thread["id"].as_str().unwrap());
        threads += 1;
        let mut talk = Talk { trio, dice: dice.split(), name: format!("{name}-{threads}"), path, said: Vec::new() };
        while tally.reads < reads && (talk.said.len() as u64) < MESSAGES {
            talk.round(&mut tally).await;
        }
        let at = talk.any();
        let (_, rows) = trio.get(at, &format!("{}/messages", talk.path)).await;
        assert_eq!(texts(&rows, "user"), talk.said, "every message once, in order");
    }
    tally
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_has_acknowledged_every_server_shows_at_once_and_turns_never_overlap() {
    let Some(database) = database().await else { return };
    let mut dice = Dice::seeded();
    let reads = number("CONSORT_NODE_READS").unwrap_or(READS);
    say(&dice.again("CONSORT_NODE_READS", reads));
    let outside = Outside::start(Duration::from_millis(5), true).await;
    let trio = Trio::start(&database, &outside.config("")).await;
    let began = Instant::now();
    let talks = (0..TALKS).map(|name| converse(&trio, name, dice.split(), reads.div_ceil(TALKS)));
    let tallies = join_all(talks).await;
    let took = began.elapsed();
    let sum = |count: fn(&Tally) -> u64| tallies.iter().map(count).sum::<u64>();
    let reads = sum(|tally| tally.reads);
    let approvals = sum(|tally| tally.approvals);
    let stops = sum(|tally| tally.stops);
    assert_eq!(outside.most_of_a_talk(), 1, "turns of one conversation at once");
    assert_eq!(outside.calls() as u64, approvals, "each allowed call once");
    outside.check_calls();
    say(&format!("{reads} looks right after an acknowledgement, {approvals} approvals, {stops} stops in {took:?}"));
}
