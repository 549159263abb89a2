//! A log that fails when deliveries are stored, found and updated: nothing that is to be told gets lost, without a
//! restart.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use consort_log::{Append, Compact, Error, Log, MemoryLog, Page, Query, Record, Seq};
use consort_runtime::admission::{Capacity, Keep, Pool, Pools};
use consort_runtime::engine::Engine;
use consort_server::Server;
use futures::future::{BoxFuture, ready};
use serde_json::json;
use tokio::sync::watch;

use super::receiver::Receiver;
use super::{run, settled, webhook};
use crate::client::{engine_over, server, start, task};
use crate::says;

/// The number of times that each fails.
const FAILURES: usize = 2;

/// A log that fails a few times for each kind of use of deliveries.
#[derive(Default)]
struct Shaky {
    log: MemoryLog,
    stored: AtomicUsize,
    found: AtomicUsize,
    updated: AtomicUsize,
}

/// Returns whether it fails this time.
fn fails(count: &AtomicUsize) -> bool {
    count.fetch_add(1, Ordering::Relaxed) < FAILURES
}

fn failed<T: Send + 'static>() -> BoxFuture<'static, Result<T, Error>> {
    Box::pin(ready(Err(Error::Unavailable("the test lets it fail".to_owned()))))
}

impl Compact for Shaky {
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.log.compact()
    }
}

impl Log for Shaky {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        let count = if append.expected == 0 { &self.stored } else { &self.updated };
        if append.stream.starts_with("delivery/") && fails(count) { failed() } else { self.log.append(append) }
    }

    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>> {
        self.log.read(stream, from, max)
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>> {
        let is_one = query.kind.as_deref() == Some("delivery") && query.stream.is_some();
        if is_one && fails(&self.found) { failed() } else { self.log.list(query) }
    }

    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>> {
        self.log.erase(streams)
    }

    fn news(&self, stream: &str) -> watch::Receiver<u64> {
        self.log.news(stream)
    }
}

#[tokio::test]
async fn a_log_that_fails_for_a_while_loses_nothing_that_is_to_be_told() {
    let receiver = Receiver::start(&[]).await;
    let log = Arc::new(Shaky::default());
    let seams = engine_over(Arc::default(), says("done"), Capacity::UNLIMITED).seams().clone().over(log.clone());
    // Only the newest run is kept, so that each is erased as soon as it may be.
    let runs = Pool { keep: Keep::Newest(1), ..Pool::default() };
    let engine = Engine::limited(seams, Pools { runs, ..Pools::default() });
    let webhooks = vec![webhook("ops", &receiver.url)];
    let here = start(Server { webhooks, ..server(engine, vec![task("a")]) }).await;
    let first = run(&here, json!({})).await;
    let second = run(&here, json!({})).await;
    // What came of a delivery could not be stored at first: it may be told again, with the same id.
    let mut told: Vec<String> = Vec::new();
    while told.len() < 2 {
        let messages = receiver.messages(told.len() + 1).await;
        told = messages.iter().map(|message| message.json()["data"]["runId"].as_str().unwrap().to_owned()).collect();
        told.sort();
        told.dedup();
    }
    let mut expected = [first, second];
    expected.sort();
    assert_eq!(told, expected);
    settled(&here, "ops", "delivered").await;
    for count in [&log.stored, &log.found, &log.updated] {
        assert!(count.load(Ordering::Relaxed) > FAILURES, "it failed, and was tried again");
    }
}
