//! Clients of three servers: they begin runs and follow them, from server to server, and note every answer that a client
//! should not get.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::StreamExt;
use jiff::Timestamp;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;

use super::trio::Trio;
use crate::store::client;

/// The pause before a client asks again: one without would keep the servers from the processor.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The clients. Clones share what they note.
#[derive(Clone)]
pub(super) struct Clients {
    addresses: Arc<[String; 3]>,
    client: Client,
    failures: Arc<Mutex<Vec<Failure>>>,
    /// The number of requests that failed at a server and at the next one, too.
    lost: Arc<AtomicUsize>,
    /// The requests on their way, by the order in which they began, and the number that the next one gets.
    open: Arc<Mutex<(BTreeSet<u64>, u64)>>,
}

/// An answer of 500 or above, or none.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) at: Instant,
    pub(super) place: usize,
    /// Its status and code; absent where the connection broke or was refused.
    pub(super) answer: Option<(u16, String)>,
}

/// An event of a run, as a client got it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) frame: Value,
    pub(super) came: Instant,
}

impl Seen {
    /// Returns the time in milliseconds at which the event was decided.
    pub(super) fn at(&self) -> i64 {
        let at: Timestamp = self.frame["at"].as_str().unwrap().parse().unwrap();
        at.as_millisecond()
    }

    pub(super) fn is_adoption(&self, reason: &str) -> bool {
        self.frame["type"] == "run_adopted" && self.frame["reason"] == reason
    }
}

impl Clients {
    pub(super) fn of(trio: &Trio) -> Clients {
        Clients {
            addresses: Arc::new(trio.addresses()),
            client: client(),
            failures: Arc::default(),
            lost: Arc::default(),
            open: Arc::default(),
        }
    }

    /// Returns the number of requests that failed at a server and at the next one, too.
    pub(super) fn lost(&self) -> usize {
        self.lost.load(Ordering::Relaxed)
    }

    pub(super) fn failures(&self) -> Vec<Failure> {
        self.failures.lock().unwrap().clone()
    }

    fn address(&self, place: usize, path: &str) -> String {
        format!("{}{path}", self.addresses[place % 3])
    }

    /// Begins a request to one of the servers.
    pub(super) fn get(&self, place: usize, path: &str) -> RequestBuilder {
        self.client.get(self.address(place, path)).header("accept", "application/json")
    }

    pub(super) fn post(&self, place: usize, path: &str, body: &Value) -> RequestBuilder {
        self.client.post(self.address(place, path)).json(body)
    }

    pub(super) fn delete(&self, place: usize, path: &str) -> RequestBuilder {
        self.client.delete(self.address(place, path))
    }

    /// Sends a request; notes an answer that it should not get, and returns nothing then.
    pub(super) async fn send(&self, place: usize, request: RequestBuilder) -> Option<Response> {
        let failed = match request.send().await {
            Ok(answer) if answer.status().as_u16() < 500 => return Some(answer),
            Ok(answer) => {
                let status = answer.status().as_u16();
                let problem: Value = answer.json().await.unwrap_or_default();
                Some((status, problem["error"].as_str().unwrap_or("none").to_owned()))
            }
            Err(_broken) => None,
        };
        let failure = Failure { at: Instant::now(), place: place % 3, answer: failed };
        self.failures.lock().unwrap().push(failure);
        None
    }

    /// Sends a request to a server and, when that fails, to the next one.
    pub(super) async fn send_twice(&self, place: usize, request: impl Fn(usize) -> RequestBuilder) -> Option<Response> {
        let number = {
            let mut open = self.open.lock().unwrap();
            open.1 += 1;
            let number = open.1;
            open.0.insert(number);
            number
        };
        let mut answer = self.send(place, request(place)).await;
        if answer.is_none() {
            answer = self.send(place + 1, request(place + 1)).await;
        }
        self.lost.fetch_add(usize::from(answer.is_none()), Ordering::Relaxed);
        self.open.lock().unwrap().0.remove(&number);
        answer
    }

    /// Returns when every request that is on its way now has its answer.
    pub(super) async fn settled(&self) {
        let last = self.open.lock().unwrap().1;
        while self.open.lock().unwrap().0.first().is_some_and(|first| *first <= last) {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Begins a run, at the same server again when it fails; returns its id.
    pub(super) async fn begin(&self, place: usize, body: &Value) -> String {
        loop {
            if let Some(answer) = self.send(place, self.post(place, "/api/runs", body)).await {
                return run_id(answer).await;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Follows a run to its end, at the next server whenever its stream ends, as a client does that reconnects.
    pub(super) async fn follow(self, run: String, mut place: usize) -> Vec<Seen> {
        let mut seen: Vec<Seen> = Vec::new();
        loop {
            let last = seen.len().checked_sub(1);
            let request = |place: usize| {
                let path = self.address(place, &format!("/api/runs/{run}/events"));
                let request = self.client.get(path).header("accept", "text/event-stream");
                match last {
                    Some(last) => request.header("last-event-id", last.to_string()),
                    None => request,
                }
            };
            if let Some(answer) = self.send_twice(place, request).await {
                assert_eq!(answer.status(), 200, "{run} at {place}");
                if read(answer, &mut seen).await {
                    return seen;
                }
            }
            place += 1;
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

/// Returns the id of a run that has just begun.
pub(super) async fn run_id(answer: Response) -> String {
    let status = answer.status();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(status, 202, "{answer}");
    answer["runId"].as_str().unwrap().to_owned()
}

/// Reads a stream of events until it breaks; true at the end of the run. Each event comes once, in order.
async fn read(answer: Response, seen: &mut Vec<Seen>) -> bool {
    let mut bytes = answer.bytes_stream();
    let mut rest = Vec::new();
    while let Some(Ok(more)) = bytes.next().await {
        rest.extend_from_slice(&more);
        while let Some(end) = rest.windows(2).position(|two| two == b"\n\n") {
            let event = String::from_utf8(rest.drain(..end + 2).collect()).unwrap();
            let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) else { continue };
            let frame: Value = serde_json::from_str(data).unwrap();
            if frame["type"] == "run_result" {
                return true;
            }
            if event.lines().any(|line| line.starts_with("id: ")) {
                assert_eq!(frame["seq"], seen.len(), "each event once, in order: {frame}");
                seen.push(Seen { frame, came: Instant::now() });
            }
        }
    }
    false
}

/// Returns how often each answer came, as words.
pub(super) fn counted<'a>(failures: impl IntoIterator<Item = &'a Failure>) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for failure in failures {
        let name = match &failure.answer {
            Some((status, code)) => format!("{status} {code}"),
            None => "no connection".to_owned(),
        };
        *counts.entry(name).or_default() += 1;
    }
    if counts.is_empty() {
        return "none".to_owned();
    }
    counts.iter().map(|(name, count)| format!("{count} × {name}")).collect::<Vec<_>>().join(", ")
}

/// The shortest and longest of some times, and those between.
#[derive(Default)]
pub(super) struct Times(Vec<Duration>);

impl Times {
    pub(super) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the time that so many percent do not exceed.
    pub(super) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(place).copied().unwrap_or_default()
    }

    /// Returns the median, the 99th percentile and the longest, as words.
    pub(super) fn told(&self) -> String {
        let [half, nearly, most] = [50, 99, 100].map(|percent| self.percentile(percent));
        format!("{} times, {half:.1?} (p50), {nearly:.1?} (p99), {most:.1?} at most", self.len())
    }
}
