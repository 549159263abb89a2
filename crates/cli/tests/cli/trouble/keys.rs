//! The same request, sent to three servers at the same moment under one key: one run, and the same answer from all.
//! `CONSORT_NODE_KEYS` says how often.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use consort_test_postgres::database;
use futures::future::join_all;
use futures::{StreamExt, stream};
use serde_json::json;

use super::outside::Outside;
use super::trio::Trio;
use crate::dice::{number, say};

/// The keys of every test run.
const KEYS: u64 = 24;
/// Keys that are used at the same time.
const AT_ONCE: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_sent_to_three_servers_at_once_begins_one_run_and_gets_one_answer() {
    let Some(database) = database().await else { return };
    let keys = number("CONSORT_NODE_KEYS").unwrap_or(KEYS);
    let outside = Outside::start(Duration::from_millis(1), true).await;
    let server = "[server]\nmax_concurrent_runs = 20\nmax_queued_runs = 10000\nmax_retained_completed_runs = 100000\n";
    let trio = Trio::start(&database, &format!("{}{server}", outside.config(""))).await;
    let began = Instant::now();
    let send = |number: u64| {
        let trio = &trio;
        async move {
            let body = json!({ "tasks": [{ "name": "a", "description": format!("[job {number}]") }] });
            let key = format!("key-{number}");
            let answers = join_all((0..3).map(|place| trio.keyed(place, "/api/runs", &body, &key))).await;
            assert_eq!(answers[0].0, 202, "{answers:?}");
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
            answers[0].1["runId"].as_str().unwrap().to_owned()
        }
    };
    let runs: BTreeSet<String> = stream::iter(0..keys).map(send).buffer_unordered(AT_ONCE).collect().await;
    let took = began.elapsed();
    assert_eq!(runs.len() as u64, keys);
    for place in 0..3 {
        trio.until(place, "/api/runs?status=completed&limit=1", |listed| listed["total"] == keys).await;
        let (_, listed) = trio.get(place, "/api/runs?limit=1").await;
        assert_eq!(listed["total"], keys, "runs of nobody's");
    }
    let asked = outside.questions().len() as u64;
    assert_eq!(asked, keys, "each of them once");
    say(&format!("{keys} keys to three servers at once: {} runs in {took:?}, every answer thrice", runs.len()));
}
