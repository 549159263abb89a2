//! A store with many streams that moves from a folder to PostgreSQL and back. `CONSORT_NODE_STREAMS` says how many.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use consort_log::transfer::Detailed;
use consort_log::{Append, Log, Query, Record, Row, SqliteLog};
use consort_test_postgres::database;
use futures::{StreamExt, stream};

use crate::binary::run;
use crate::dice::{number, say};
use crate::requests::copy_of;

/// The streams of every test run.
const STREAMS: u64 = 300;
/// Streams that are written at the same time, so that their commits are shared.
const AT_ONCE: usize = 64;
const FIRST: &str = "tests/cli/stores/first-edition.db";

/// Everything of a stream.
struct Example {
    name: Arc<str>,
    row: Row,
    records: Vec<Record>,
}

/// Reads every stream of a store.
async fn examples(file: &Path) -> Vec<Example> {
    let log = SqliteLog::open(file).unwrap();
    let rows = log.list(Query { limit: usize::MAX >> 1, ..Query::default() }).await.unwrap().rows;
    let mut examples = Vec::new();
    for (name, row) in rows {
        let words = log.details(&name).await.unwrap().unwrap().words;
        let records = log.read(&name, 0, usize::MAX >> 1).await.unwrap();
        examples.push(Example { name, row: Row { words, ..row }, records });
    }
    examples
}

/// Fills a new store with copies of these streams.
async fn fill(file: &Path, examples: &[Example], streams: u64) {
    let log = SqliteLog::open(file).unwrap();
    let write = |number: u64| {
        let Example { name, row, records } = &examples[number as usize % examples.len()];
        let stream: Arc<str> = format!("{name}-{number}").into();
        // What has ended is nobody's to go on with.
        let row = Row { started_at: row.started_at + number, ..row.clone() };
        let claims = vec![format!("claim-{number}")];
        log.append(Append { epoch: 1, claims, ..Append::new(stream, 0, records.clone(), row) })
    };
    stream::iter(0..streams).map(write).buffer_unordered(AT_ONCE).for_each(|stored| async { stored.unwrap() }).await;
}

/// Returns the lines that tell what was copied.
fn told(said: &str) -> Vec<String> {
    let is_told = |line: &&str| ["streams: ", "records: ", "digest: "].iter().any(|word| line.starts_with(word));
    said.lines().filter(is_told).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_with_many_streams_moves_to_postgresql_and_back_and_is_the_same() {
    let Some(database) = database().await else { return };
    let streams = number("CONSORT_NODE_STREAMS").unwrap_or(STREAMS);
    let folder = copy_of(FIRST);
    let first = folder.path().join("consort-data/consort.db");
    let examples = examples(&first).await;
    std::fs::remove_dir_all(folder.path().join("consort-data")).unwrap();
    std::fs::create_dir(folder.path().join("consort-data")).unwrap();
    fill(&first, &examples, streams).await;
    let copy = |from: &str, to: &str| {
        let began = Instant::now();
        let (status, said, words) = run(folder.path(), &["store", "copy", "--from", from, "--to", to]);
        assert_eq!((status, words.as_str()), (Some(0), ""), "{said}");
        (told(&said), began.elapsed())
    };
    let (there, to) = copy("consort-data", database.url());
    let (back, from) = copy(database.url(), "back");
    assert!(there.len() == 3 && there[0] == format!("streams: {streams}"), "{there:?}");
    assert_eq!(back, there);
    let (status, _, words) = run(folder.path(), &["serve", "--port", "0"]);
    assert!(status == Some(2) && words.contains("was moved to postgres://"), "{words}");
    let (status, said, _) = run(folder.path(), &["store", "check", "--data", "back"]);
    assert!(status == Some(0) && said.contains("sound"), "{said}");
    say(&format!("{}: to PostgreSQL in {to:?}, back in {from:?}", there.join(", ")));
}
