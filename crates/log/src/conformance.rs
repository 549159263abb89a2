//! The conformance suite that is run against every log.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::owner::Owner;
use futures::future::try_join_all;

use super::{Append, Error, Log, MemoryLog, Order, Query, Record, Row, Seq, SqliteLog};

/// Returns one log of each kind, and the folder that holds the file of the second.
fn logs() -> (tempfile::TempDir, Vec<Arc<dyn Log>>) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteLog::open(&folder.path().join("log.db")).unwrap();
    (folder, vec![Arc::new(MemoryLog::default()), Arc::new(sqlite)])
}

pub(super) fn row() -> Row {
    let (kind, status, body) = ("run".into(), "RUNNING".into(), "{}".into());
    Row { kind, status, owner: Owner::local(), started_at: 0, ended_at: None, tags: BTreeMap::new(), body }
}

pub(super) fn record(body: &str) -> Record {
    Record { body: body.into(), attachments: Vec::new() }
}

pub(super) fn append(stream: &str, expected: Seq, bodies: &[&str]) -> Append {
    let records = bodies.iter().map(|body| record(body)).collect();
    Append { stream: stream.into(), expected, epoch: 0, records, row: row(), claims: Vec::new() }
}

pub(super) fn all() -> Query {
    Query { limit: usize::MAX, ..Query::default() }
}

pub(super) async fn bodies(log: &dyn Log, stream: &str) -> Vec<String> {
    let records = log.read(stream, 0, usize::MAX).await.unwrap();
    records.iter().map(|record| record.body.to_string()).collect()
}

pub(super) async fn names(log: &dyn Log, query: Query) -> Vec<String> {
    log.list(query).await.unwrap().rows.iter().map(|(name, _)| name.to_string()).collect()
}

fn tags(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
}

#[tokio::test]
async fn batches_are_read_back_in_pages_from_any_place() {
    let (_folder, logs) = logs();
    for log in logs {
        log.append(append("a", 0, &["0", "1", "2"])).await.unwrap();
        log.append(append("b", 0, &["x"])).await.unwrap();
        log.append(append("a", 3, &["3"])).await.unwrap();
        assert_eq!(bodies(&*log, "a").await, ["0", "1", "2", "3"]);
        assert_eq!(log.read("a", 1, 2).await.unwrap(), [record("1"), record("2")]);
        assert_eq!(log.read("a", 3, 2).await.unwrap(), [record("3")]);
        for (stream, from, max) in [("a", 4, 9), ("a", Seq::MAX, 9), ("a", 0, 0), ("none", 0, 9)] {
            assert_eq!(log.read(stream, from, max).await.unwrap(), []);
        }
    }
}

#[tokio::test]
async fn an_append_without_records_changes_only_the_row() {
    let (_folder, logs) = logs();
    for log in logs {
        log.append(append("a", 0, &["0"])).await.unwrap();
        let paused = Row { status: "PAUSED".into(), ..row() };
        log.append(Append { row: paused.clone(), ..append("a", 1, &[]) }).await.unwrap();
        assert_eq!(log.list(all()).await.unwrap().rows, [("a".into(), paused)]);
        assert_eq!(bodies(&*log, "a").await, ["0"]);
    }
}

#[tokio::test]
async fn a_second_writer_is_fenced_by_length_and_by_epoch() {
    let (_folder, logs) = logs();
    for log in logs {
        let of_epoch = |epoch, append| Append { epoch, ..append };
        log.append(of_epoch(2, append("a", 0, &["0"]))).await.unwrap();
        let behind = of_epoch(2, append("a", 0, &["again"]));
        let ahead = of_epoch(2, append("a", 2, &["gap"]));
        let old = of_epoch(1, append("a", 1, &["old"]));
        let unborn = append("b", 1, &["gap"]);
        for refused in [behind, ahead, old, unborn] {
            let changed = Row { status: "CHANGED".into(), ..row() };
            assert_eq!(log.append(Append { row: changed, ..refused }).await, Err(Error::Fenced));
        }
        assert_eq!(bodies(&*log, "a").await, ["0"]);
        assert_eq!(log.list(all()).await.unwrap().rows, [("a".into(), row())]);
        log.append(of_epoch(3, append("a", 1, &["1"]))).await.unwrap();
        assert_eq!(log.append(of_epoch(2, append("a", 2, &["2"]))).await, Err(Error::Fenced));
    }
}

#[tokio::test]
async fn a_claimed_key_names_its_holder_and_writes_nothing() {
    let (_folder, logs) = logs();
    for log in logs {
        let claims =
            |keys: &[&str], append| Append { claims: keys.iter().map(ToString::to_string).collect(), ..append };
        log.append(claims(&["key", "other"], append("a", 0, &["0"]))).await.unwrap();
        let refused = Err(Error::Claimed { key: "key".into(), by: "a".into() });
        assert_eq!(log.append(claims(&["fresh", "key"], append("b", 0, &["0"]))).await, refused);
        assert_eq!(names(&*log, all()).await, ["a"]);
        log.append(claims(&["fresh"], append("c", 0, &["0"]))).await.unwrap();
        for (key, holder) in [("key", Some("a")), ("fresh", Some("c")), ("nobody's", None)] {
            let held = log.list(Query { claim: Some(key.into()), limit: 9, ..Query::default() }).await.unwrap();
            assert_eq!(held.rows.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), Vec::from_iter(holder));
        }
        log.append(claims(&["key"], append("a", 1, &["1"]))).await.unwrap();
    }
}

/// Writes five streams: start, end, status, kind and tags of each. Tags name the owner of those that have one.
async fn fill(log: &dyn Log) {
    let rows = [
        ("a", 10, None, "RUNNING", "run", tags(&[("team", "red"), ("env", "test")])),
        ("b", 20, Some(90), "DONE", "run", tags(&[("team", "blue")])),
        ("c", 20, Some(50), "FAILED", "run", tags(&[("team", "red"), ("env", "live")])),
        ("d", 5, None, "RUNNING", "turn", tags(&[("team", "red")])),
        ("e", 30, Some(90), "DONE", "run", tags(&[])),
    ];
    for (name, started_at, ended_at, status, kind, tags) in rows {
        // The list is read from the last row a stream was given, so two are written.
        log.append(append(name, 0, &["0"])).await.unwrap();
        let (kind, status, body) = (kind.into(), status.into(), format!("\"{name}\"").into());
        let owner = tags.get("team").map_or(Owner::local(), |team| Owner::named(team).unwrap());
        let row = Row { kind, status, owner, started_at, ended_at, tags, body };
        log.append(Append { row, ..append(name, 1, &["1"]) }).await.unwrap();
    }
}

#[tokio::test]
async fn a_query_combines_its_conditions() {
    let tag = |key: &str, value: Option<&str>| (key.to_string(), value.map(ToString::to_string));
    let run = || Query { kind: Some("run".into()), ..all() };
    let table = [
        (all(), "e c b a d"),
        (run(), "e c b a"),
        (Query { stream: Some("c".into()), ..all() }, "c"),
        (Query { stream: Some("d".into()), ..run() }, ""),
        (Query { status: Some("DONE".into()), ..all() }, "e b"),
        (Query { owner: Some(Owner::stored("red")), ..all() }, "c a d"),
        (Query { owner: Some(Owner::stored("red")), ..run() }, "c a"),
        (Query { owner: Some(Owner::local()), ..all() }, "e"),
        (Query { owner: Some(Owner::stored("re")), ..all() }, ""),
        (Query { ended: Some(true), ..run() }, "e c b"),
        (Query { ended: Some(false), ..run() }, "a"),
        (Query { tags: vec![tag("team", Some("red"))], ..all() }, "c a d"),
        (Query { tags: vec![tag("team", None)], ..run() }, "c b a"),
        (Query { tags: vec![tag("team", Some("red")), tag("env", None)], ended: Some(true), ..run() }, "c"),
        (Query { tags: vec![tag("team", Some("red")), tag("env", Some("none"))], ..all() }, ""),
    ];
    let (_folder, logs) = logs();
    for log in logs {
        fill(&*log).await;
        for (query, expected) in &table {
            let page = log.list(query.clone()).await.unwrap();
            let found: Vec<_> = page.rows.iter().map(|(name, _)| name.to_string()).collect();
            assert_eq!((found.join(" ").as_str(), page.total), (*expected, found.len()), "{query:?}");
        }
    }
}

#[tokio::test]
async fn rows_come_in_three_orders_and_in_pages_that_know_the_total() {
    let (_folder, logs) = logs();
    for log in logs {
        fill(&*log).await;
        for (order, expected) in [
            (Order::NewestStart, ["e", "c", "b", "a", "d"]),
            (Order::OldestStart, ["d", "a", "b", "c", "e"]),
            (Order::OldestEnd, ["c", "b", "e", "a", "d"]),
        ] {
            assert_eq!(names(&*log, Query { order, ..all() }).await, expected);
            for offset in 0..6 {
                let page = log.list(Query { order, offset, limit: 2, ..all() }).await.unwrap();
                let found: Vec<_> = page.rows.iter().map(|(name, _)| &**name).collect();
                let wanted: Vec<_> = expected.into_iter().skip(offset).take(2).collect();
                assert_eq!((found, page.total), (wanted, 5));
            }
        }
    }
}

#[tokio::test]
async fn a_row_comes_back_as_the_last_append_gave_it() {
    let (_folder, logs) = logs();
    for log in logs {
        let first = Row { tags: tags(&[("a", "1"), ("b", "2")]), ..row() };
        log.append(Append { row: first.clone(), ..append("a", 0, &["0"]) }).await.unwrap();
        assert_eq!(log.list(all()).await.unwrap().rows, [("a".into(), first.clone())]);
        for (seq, tags) in (1..).zip([tags(&[("a", "1")]), tags(&[("a", "2")]), tags(&[("b", "2")]), tags(&[])]) {
            let row = Row { tags, started_at: seq, ended_at: Some(seq + 1), kind: "turn".into(), ..first.clone() };
            log.append(Append { row: row.clone(), ..append("a", seq, &["x"]) }).await.unwrap();
            assert_eq!(log.list(all()).await.unwrap().rows, [("a".into(), row)]);
        }
    }
}

#[tokio::test]
async fn an_erased_stream_may_be_written_again_and_its_keys_are_free() {
    let (_folder, logs) = logs();
    for log in logs {
        let claim = |stream| Append { claims: vec!["key".into()], epoch: 7, ..append(stream, 0, &["0", "1"]) };
        log.append(claim("a")).await.unwrap();
        log.append(append("b", 0, &["0"])).await.unwrap();
        log.erase(vec!["a".into(), "unknown".into()]).await.unwrap();
        assert_eq!(names(&*log, all()).await, ["b"]);
        assert_eq!(bodies(&*log, "a").await, [""; 0]);
        assert_eq!(bodies(&*log, "b").await, ["0"]);
        log.append(claim("c")).await.unwrap();
        log.append(append("a", 0, &["new"])).await.unwrap();
        assert_eq!(bodies(&*log, "a").await, ["new"]);
    }
}

#[tokio::test]
async fn attachments_come_back_in_order_and_equal_ones_are_one() {
    let (_folder, logs) = logs();
    for log in logs {
        let with =
            |texts: &[&str]| Record { body: "{}".into(), attachments: texts.iter().map(|t| (*t).into()).collect() };
        let (first, second) = (with(&["long", "longer", "long"]), with(&["longest", "long"]));
        log.append(Append { records: vec![first.clone()], ..append("a", 0, &[]) }).await.unwrap();
        log.append(Append { records: vec![second.clone()], ..append("a", 1, &[]) }).await.unwrap();
        log.append(Append { records: vec![second.clone()], ..append("b", 0, &[]) }).await.unwrap();
        let read = log.read("a", 0, 9).await.unwrap();
        assert_eq!(read, [first, second.clone()]);
        assert!(Arc::ptr_eq(&read[0].attachments[0], &read[1].attachments[1]));
        log.erase(vec!["a".into()]).await.unwrap();
        assert_eq!(log.read("b", 0, 9).await.unwrap(), [second]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn appends_to_many_streams_at_once_all_land() {
    let (_folder, logs) = logs();
    for log in logs {
        let tasks = (0..40).map(|i| {
            let log = log.clone();
            tokio::spawn(async move {
                for seq in 0..10 {
                    log.append(append(&format!("s{i}"), seq, &[&seq.to_string()])).await.unwrap();
                }
            })
        });
        try_join_all(tasks).await.unwrap();
        for i in 0..40 {
            let expected: Vec<_> = (0..10).map(|seq| seq.to_string()).collect();
            assert_eq!(bodies(&*log, &format!("s{i}")).await, expected);
        }
    }
}

#[tokio::test]
async fn followers_wake_when_something_is_there_to_read() {
    let (_folder, logs) = logs();
    for log in logs {
        let mut commits = log.commits();
        let follower = async {
            while log.read("a", 0, 1).await.unwrap().is_empty() {
                commits.changed().await.unwrap();
            }
        };
        let ((), written) = tokio::join!(follower, log.append(append("a", 0, &["0"])));
        written.unwrap();
        let counted = *log.commits().borrow();
        assert_eq!(log.append(append("a", 0, &["0"])).await, Err(Error::Fenced));
        assert_eq!((*log.commits().borrow(), counted), (1, 1));
    }
}

#[tokio::test]
async fn an_append_may_be_very_large() {
    let (_folder, logs) = logs();
    for log in logs {
        let records = (0..20_000).map(|i| record(&format!("{{\"n\":{i}}}"))).collect::<Vec<_>>();
        log.append(Append { records: records.clone(), ..append("a", 0, &[]) }).await.unwrap();
        log.append(append("a", 20_000, &["last"])).await.unwrap();
        assert_eq!(log.read("a", 0, 20_000).await.unwrap(), records);
        assert_eq!(log.read("a", 19_999, 9).await.unwrap(), [records[19_999].clone(), record("last")]);
    }
}
