//! A run that is deleted at one of three servers: gone from every answer of all of them at once, and from the files of
//! the tables when they are compacted. `CONSORT_NODE_ERASED` says how many are deleted.

use std::time::{Duration, Instant};

use consort_test_postgres::{Database, database};
use futures::future::join_all;
use serde_json::{Value, json};

use super::clients::{Clients, Times};
use super::outside::Outside;
use super::trio::Trio;
use crate::dice::{Dice, number, say};

/// The runs that are deleted in every test run.
const ERASED: u64 = 6;
/// A word of all that is deleted, and one of a run that stays.
const SECRET: &str = "zanzibarleather";
const KEPT: &str = "quincemarmalade";

/// Returns the number of files of the database's tables and indexes that hold a word, and of all.
async fn files_with(database: &Database, word: &str) -> (i64, i64) {
    // Only what was written to the files is found in them.
    database.execute("CHECKPOINT").await;
    let sql = format!(
        "SELECT count(*) FILTER (WHERE position('{word}'::bytea IN pg_read_binary_file(path)) > 0), count(*)
        FROM (SELECT pg_relation_filepath(c.oid) AS path FROM pg_class c WHERE c.relkind IN ('r', 'i', 't')
            AND c.relnamespace IN ('consort'::regnamespace, 'pg_toast'::regnamespace)) f WHERE path IS NOT NULL"
    );
    let rows = database.query(&sql).await;
    (rows[0].get(0), rows[0].get(1))
}

/// Returns each answer of a server that may tell of a run: its path, its status, and whether the run is in it.
async fn told(clients: &Clients, place: usize, run: &str, word: &str) -> Vec<(String, u16, bool)> {
    let ask = |path: String| async move {
        let answer = clients.get(place, &path).send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        // An error names what was asked for.
        (path, status, status == 200 && (text.contains(run) || text.contains(word)))
    };
    let paths = [
        format!("/api/runs/{run}"),
        format!("/api/runs/{run}/events"),
        format!("/api/runs/{run}/trace"),
        "/api/runs?limit=500".to_owned(),
        format!("/api/runs?q={word}&limit=500"),
        format!("/api/runs?tag=word:{word}&limit=500"),
        format!("/api/search?q={word}"),
    ];
    join_all(paths.map(ask)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_deleted_at_one_server_is_gone_at_all_of_them_and_after_compacting_from_the_files() {
    let Some(database) = database().await else { return };
    let mut dice = Dice::seeded();
    let erased = number("CONSORT_NODE_ERASED").unwrap_or(ERASED);
    say(&dice.again("CONSORT_NODE_ERASED", erased));
    let outside = Outside::start(Duration::from_millis(1), true).await;
    let server = "[server]\nmax_concurrent_runs = 100\nmax_queued_runs = 10000\nmax_retained_completed_runs = 100000\n";
    let trio = Trio::start(&database, &format!("{}{server}", outside.config(""))).await;
    let clients = Clients::of(&trio);
    let work = |word: String| {
        let task =
            json!({ "name": "a", "description": format!("Write about {word} through the door"), "tools": ["door"] });
        json!({ "tasks": [task], "tags": { "word": word } })
    };
    let kept = trio.begin(0, &work(KEPT.to_owned())).await;
    let mut times = Times::default();
    for number in 0..erased {
        let word = format!("{SECRET}{number}x");
        let run = trio.begin(dice.roll(3) as usize, &work(word.clone())).await;
        let path = format!("/api/runs/{run}");
        trio.until(dice.roll(3) as usize, &path, |run: &Value| run["status"] == "COMPLETED").await;
        let before = join_all((0..3).map(|place| told(&clients, place, &run, &word))).await;
        let shown = before.iter().flatten().filter(|(_, _, is_told)| *is_told).count();
        assert!(shown >= 3 * 5, "a test that finds nothing proves nothing: {before:#?}");
        let began = Instant::now();
        let answer = clients.delete(dice.roll(3) as usize, &path).send().await.unwrap();
        assert_eq!(answer.status(), 204);
        times.add(began.elapsed());
        for place in 0..3 {
            let after = told(&clients, place, &run, &word).await;
            assert!(after.iter().all(|(_, _, is_told)| !is_told), "at {place}: {after:#?}");
            assert!(after[..3].iter().all(|(_, status, _)| *status == 404), "at {place}: {after:#?}");
        }
    }
    let (before, _) = files_with(&database, SECRET).await;
    let began = Instant::now();
    let (status, answer) = trio.post(1, "/api/admin/compact", &json!({})).await;
    let took = began.elapsed();
    assert_eq!((status, answer["status"].as_str()), (200, Some("COMPACTED")), "{answer}");
    let (after, all) = files_with(&database, SECRET).await;
    let (there, _) = files_with(&database, KEPT).await;
    say(&format!(
        "{erased} runs deleted, {}; their word in {before} of {all} files before compacting, which took {took:.0?}, \
        and in {after} afterwards; that of a run that stays in {there}",
        times.told()
    ));
    assert!(before > 0 && there > 0, "a test that finds nothing proves nothing: {before}, {there}");
    assert_eq!(after, 0, "files with the word of what was deleted");
    trio.until(2, &format!("/api/runs/{kept}"), |run| run["status"] == "COMPLETED").await;
}
