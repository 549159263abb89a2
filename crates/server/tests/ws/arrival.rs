//! Tests of the cost of a late client, by the records that are read for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use consort_log::{Append, Compact, Error, Log, MemoryLog, Page, Query, Record, Seq};
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::{Barrier, watch};

use super::request;
use crate::client::{engine_over, server, start, task};

/// A log that counts the records that are read.
#[derive(Default)]
struct CountingLog {
    log: MemoryLog,
    read: AtomicUsize,
}

impl CountingLog {
    /// Returns the number of records read since the last call.
    fn count(&self) -> usize {
        self.read.swap(0, Ordering::Relaxed)
    }
}

impl Compact for CountingLog {
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.log.compact()
    }
}

impl Log for CountingLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        self.log.append(append)
    }

    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>> {
        let read = self.log.read(stream, from, max);
        let count = |read: &Result<Vec<Record>, Error>| read.iter().map(Vec::len).sum();
        read.inspect(move |read| {
            self.read.fetch_add(count(read), Ordering::Relaxed);
        })
        .boxed()
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>> {
        self.log.list(query)
    }

    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>> {
        self.log.erase(streams)
    }

    fn news(&self, stream: &str) -> watch::Receiver<u64> {
        self.log.news(stream)
    }
}

#[tokio::test]
async fn a_late_client_costs_what_has_happened_since_the_one_before() {
    let gate = Arc::new(Barrier::new(2));
    let last = Line::new().says("two").waits(&gate).says("!");
    let model = ScriptedModel::new().in_task("b", 0, last).otherwise(Line::new().says("one"));
    let log = Arc::new(CountingLog::default());
    let seams = engine_over(Arc::default(), model, Capacity::UNLIMITED).seams().clone().over(log.clone());
    let here = start(server(Engine::new(seams), vec![task("a"), task("b")])).await;
    let (mut early, _) = here.greeted().await;
    early.say(request("1")).await;
    let run = early.first("run_ack").await["runId"].as_str().unwrap().to_owned();
    while early.first("token").await["token"] != "two" {}

    log.count();
    let (_, first) = here.greeted().await;
    let begun = log.count();
    let (_, second) = here.greeted().await;
    assert_eq!((second, log.count()), (first, 0), "nothing has happened since");
    gate.wait().await;
    early.first("run_result").await;
    log.count();
    let (_, third) = here.greeted().await;
    let ended = log.count();
    assert_eq!(here.greeted().await.1, third);
    assert_eq!(log.count(), 0, "an ended run does not change");
    let head = format!("GET /api/runs/{run}/events?limit=1000 HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    let stored = here.send(&head, b"").await.json()["events"].as_array().unwrap().len();
    assert!(begun > 0 && ended > 0);
    assert_eq!(begun + ended, stored, "each event is read once");
}
