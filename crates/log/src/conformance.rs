//! The conformance suite that is run against every log: each case gets an empty one.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a case that does not hold panics")]

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::owner::Owner;
use futures::future::{BoxFuture, try_join_all};

use super::{Append, Error, Log, Order, Place, Query, Record, Row, Seq};

/// One case of the suite, by its name.
pub struct Case {
    /// The sentence that holds.
    pub name: &'static str,
    /// Tries it on an empty log; panics where it does not hold.
    pub run: fn(Arc<dyn Log>) -> BoxFuture<'static, ()>,
}

/// Returns all cases.
pub fn cases() -> Vec<Case> {
    let case = |name, run| Case { name, run };
    vec![
        case("batches_are_read_back_in_pages_from_any_place", |log| {
            Box::pin(batches_are_read_back_in_pages_from_any_place(log))
        }),
        case("an_append_without_records_changes_only_the_row", |log| {
            Box::pin(an_append_without_records_changes_only_the_row(log))
        }),
        case("a_second_writer_is_fenced_by_length_and_by_epoch", |log| {
            Box::pin(a_second_writer_is_fenced_by_length_and_by_epoch(log))
        }),
        case("a_claimed_key_names_its_holder_and_writes_nothing", |log| {
            Box::pin(a_claimed_key_names_its_holder_and_writes_nothing(log))
        }),
        case("a_query_combines_its_conditions", |log| Box::pin(a_query_combines_its_conditions(log))),
        case("rows_come_in_three_orders_and_in_pages_that_know_the_total", |log| {
            Box::pin(rows_come_in_three_orders_and_in_pages_that_know_the_total(log))
        }),
        case("a_list_goes_on_after_a_row_and_between_two_times", |log| {
            Box::pin(a_list_goes_on_after_a_row_and_between_two_times(log))
        }),
        case("a_row_comes_back_as_the_last_append_gave_it", |log| {
            Box::pin(a_row_comes_back_as_the_last_append_gave_it(log))
        }),
        case("a_row_of_any_content_is_whole_whoever_changed_it", |log| {
            Box::pin(a_row_of_any_content_is_whole_whoever_changed_it(log))
        }),
        case("an_erased_stream_may_be_written_again_and_its_keys_are_free", |log| {
            Box::pin(an_erased_stream_may_be_written_again_and_its_keys_are_free(log))
        }),
        case("attachments_come_back_in_order_and_equal_ones_are_one", |log| {
            Box::pin(attachments_come_back_in_order_and_equal_ones_are_one(log))
        }),
        case("appends_to_many_streams_at_once_all_land", |log| Box::pin(appends_to_many_streams_at_once_all_land(log))),
        case("followers_wake_when_something_is_there_to_read", |log| {
            Box::pin(followers_wake_when_something_is_there_to_read(log))
        }),
        case("an_append_may_be_very_large", |log| Box::pin(an_append_may_be_very_large(log))),
        case("a_stream_is_found_by_the_words_it_has_last_until_it_is_erased", |log| {
            Box::pin(a_stream_is_found_by_the_words_it_has_last_until_it_is_erased(log))
        }),
    ]
}

/// Returns the row of an unended run.
pub fn row() -> Row {
    let kind = "run".into();
    let status = "RUNNING".into();
    let body = "{}".into();
    Row { kind, status, owner: Owner::local(), started_at: 0, ended_at: None, tags: BTreeMap::new(), body, words: None }
}

/// Returns a record without attachments.
pub fn record(body: &str) -> Record {
    Record { body: body.into(), attachments: Vec::new() }
}

/// Returns an append of records without attachments.
pub fn append(stream: &str, expected: Seq, bodies: &[&str]) -> Append {
    let records = bodies.iter().map(|body| record(body)).collect();
    Append::new(stream, expected, records, row())
}

/// Returns the query for everything.
pub fn all() -> Query {
    Query { limit: usize::MAX, ..Query::default() }
}

/// Returns the bodies of a stream.
pub async fn bodies(log: &dyn Log, stream: &str) -> Vec<String> {
    let records = log.read(stream, 0, usize::MAX).await.unwrap();
    records.iter().map(|record| record.body.to_string()).collect()
}

/// Returns the names of the streams that a query finds, in their order.
pub async fn names(log: &dyn Log, query: Query) -> Vec<String> {
    log.list(query).await.unwrap().rows.iter().map(|(name, _)| name.to_string()).collect()
}

fn tags(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
}

async fn batches_are_read_back_in_pages_from_any_place(log: Arc<dyn Log>) {
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

async fn an_append_without_records_changes_only_the_row(log: Arc<dyn Log>) {
    log.append(append("a", 0, &["0"])).await.unwrap();
    let paused = Row { status: "PAUSED".into(), ..row() };
    log.append(Append { row: paused.clone(), ..append("a", 1, &[]) }).await.unwrap();
    assert_eq!(log.list(all()).await.unwrap().rows, [("a".into(), paused)]);
    assert_eq!(bodies(&*log, "a").await, ["0"]);
}

async fn a_second_writer_is_fenced_by_length_and_by_epoch(log: Arc<dyn Log>) {
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

async fn a_claimed_key_names_its_holder_and_writes_nothing(log: Arc<dyn Log>) {
    let claims = |keys: &[&str], append| Append { claims: keys.iter().map(ToString::to_string).collect(), ..append };
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
        let kind = kind.into();
        let status = status.into();
        let body = format!("\"{name}\"").into();
        let owner = tags.get("team").map_or(Owner::local(), |team| Owner::named(team).unwrap());
        let row = Row { kind, status, owner, started_at, ended_at, tags, body, words: None };
        log.append(Append { row, ..append(name, 1, &["1"]) }).await.unwrap();
    }
}

async fn a_query_combines_its_conditions(log: Arc<dyn Log>) {
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
    fill(&*log).await;
    for (query, expected) in &table {
        let page = log.list(query.clone()).await.unwrap();
        let found: Vec<_> = page.rows.iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!((found.join(" ").as_str(), page.total), (*expected, found.len()), "{query:?}");
    }
}

async fn rows_come_in_three_orders_and_in_pages_that_know_the_total(log: Arc<dyn Log>) {
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

async fn a_list_goes_on_after_a_row_and_between_two_times(log: Arc<dyn Log>) {
    fill(&*log).await;
    for (order, expected) in
        [(Order::NewestStart, ["e", "c", "b", "a", "d"]), (Order::OldestStart, ["d", "a", "b", "c", "e"])]
    {
        let mut after = None;
        for (index, name) in expected.into_iter().enumerate() {
            let page = log.list(Query { order, after, limit: 1, ..all() }).await.unwrap();
            let (stream, row) = &page.rows[0];
            assert_eq!((&**stream, page.total), (name, expected.len() - index), "{order:?}");
            after = Some(Place { started_at: row.started_at, stream: stream.to_string() });
        }
        assert_eq!(log.list(Query { order, after, ..all() }).await.unwrap().rows, []);
    }
    // Nothing has this name any more, or never had.
    let after = Some(Place { started_at: 20, stream: "bb".to_owned() });
    assert_eq!(names(&*log, Query { after: after.clone(), ..all() }).await, ["b", "a", "d"]);
    for (from, to, expected) in [
        (Some(20), None, "e c b"),
        (Some(21), None, "e"),
        (None, Some(20), "c b a d"),
        (Some(10), Some(20), "c b a"),
        (Some(11), Some(19), ""),
        (None, Some(u64::MAX), "e c b a d"),
    ] {
        let query = Query { started_from: from, started_to: to, ..all() };
        assert_eq!(names(&*log, query).await.join(" "), expected, "{from:?} {to:?}");
    }
    let red = Query { owner: Some(Owner::stored("red")), started_to: Some(20), after, ..all() };
    assert_eq!(names(&*log, red).await, ["a", "d"]);
}

async fn a_row_comes_back_as_the_last_append_gave_it(log: Arc<dyn Log>) {
    let first = Row { tags: tags(&[("a", "1"), ("b", "2")]), ..row() };
    log.append(Append { row: first.clone(), ..append("a", 0, &["0"]) }).await.unwrap();
    assert_eq!(log.list(all()).await.unwrap().rows, [("a".into(), first.clone())]);
    for (seq, tags) in (1..).zip([tags(&[("a", "1")]), tags(&[("a", "2")]), tags(&[("b", "2")]), tags(&[])]) {
        let row = Row { tags, started_at: seq, ended_at: Some(seq + 1), kind: "turn".into(), ..first.clone() };
        log.append(Append { row: row.clone(), ..append("a", seq, &["x"]) }).await.unwrap();
        assert_eq!(log.list(all()).await.unwrap().rows, [("a".into(), row)]);
    }
}

async fn a_row_of_any_content_is_whole_whoever_changed_it(log: Arc<dyn Log>) {
    let odd = "a\0b\u{10}0\u{1e}\"\\ \u{fffd} ü";
    let rows = [
        Row { status: odd.into(), body: odd.into(), tags: tags(&[(odd, odd), ("", "")]), ..row() },
        Row { started_at: i64::MAX as u64, ended_at: Some(0), ..row() },
        Row { body: "".into(), status: "".into(), ..row() },
        Row { owner: Owner::stored(odd), body: "{\"n\": 1.50}".into(), ..row() },
    ];
    for (seq, row) in (0..).zip(&rows) {
        for epoch in [seq, seq + 1] {
            let append = Append { row: row.clone(), epoch, ..append(odd, seq, &[]) };
            // The first of the two has a record; the second one changes nothing but the epoch.
            let expected = if epoch == seq { seq } else { seq + 1 };
            let records = if epoch == seq { vec![record("x")] } else { Vec::new() };
            log.append(Append { expected, records, ..append }).await.unwrap();
            assert_eq!(log.list(all()).await.unwrap().rows, [(odd.into(), row.clone())]);
        }
    }
}

async fn an_erased_stream_may_be_written_again_and_its_keys_are_free(log: Arc<dyn Log>) {
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

async fn attachments_come_back_in_order_and_equal_ones_are_one(log: Arc<dyn Log>) {
    let with = |texts: &[&str]| Record { body: "{}".into(), attachments: texts.iter().map(|t| (*t).into()).collect() };
    let first = with(&["long", "longer", "long"]);
    let second = with(&["longest", "long"]);
    log.append(Append { records: vec![first.clone()], ..append("a", 0, &[]) }).await.unwrap();
    log.append(Append { records: vec![second.clone()], ..append("a", 1, &[]) }).await.unwrap();
    log.append(Append { records: vec![second.clone()], ..append("b", 0, &[]) }).await.unwrap();
    let read = log.read("a", 0, 9).await.unwrap();
    assert_eq!(read, [first, second.clone()]);
    assert!(Arc::ptr_eq(&read[0].attachments[0], &read[1].attachments[1]));
    log.erase(vec!["a".into()]).await.unwrap();
    assert_eq!(log.read("b", 0, 9).await.unwrap(), [second]);
}

async fn appends_to_many_streams_at_once_all_land(log: Arc<dyn Log>) {
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

async fn followers_wake_when_something_is_there_to_read(log: Arc<dyn Log>) {
    let mut news = log.news("a");
    let follower = async {
        while log.read("a", 0, 1).await.unwrap().is_empty() {
            news.changed().await.unwrap();
        }
    };
    let ((), written) = tokio::join!(follower, log.append(append("a", 0, &["0"])));
    written.unwrap();
    news.mark_unchanged();
    assert_eq!(log.append(append("a", 0, &["0"])).await, Err(Error::Fenced));
    assert!(!news.has_changed().unwrap(), "what is refused is no news");
    log.erase(vec!["a".into()]).await.unwrap();
    news.changed().await.unwrap();
}

async fn an_append_may_be_very_large(log: Arc<dyn Log>) {
    let records = (0..20_000).map(|i| record(&format!("{{\"n\":{i}}}"))).collect::<Vec<_>>();
    log.append(Append { records: records.clone(), ..append("a", 0, &[]) }).await.unwrap();
    log.append(append("a", 20_000, &["last"])).await.unwrap();
    assert_eq!(log.read("a", 0, 20_000).await.unwrap(), records);
    assert_eq!(log.read("a", 19_999, 9).await.unwrap(), [records[19_999].clone(), record("last")]);
}

async fn a_stream_is_found_by_the_words_it_has_last_until_it_is_erased(log: Arc<dyn Log>) {
    let said = |stream: &str, expected: Seq, words: Option<&str>| {
        let row = Row { words: words.map(Into::into), started_at: expected, ..row() };
        Append { row, ..append(stream, expected, &["x"]) }
    };
    let find = |words: &str| Query { words: Some(words.to_owned()), ..all() };
    log.append(said("a", 0, Some("Boil water, add Sälz"))).await.unwrap();
    log.append(said("b", 0, Some("Water the garden"))).await.unwrap();
    log.append(said("c", 0, None)).await.unwrap();
    for (query, expected) in [
        ("water", vec!["b", "a"]),
        ("WAT gard", vec!["b"]),
        ("sälz", vec!["a"]),
        ("ater", vec![]),
        ("water wine", vec![]),
        ("water OR wine", vec![]),
        ("\"wat* -", vec!["b", "a"]),
        ("", vec![]),
        ("\" ( *", vec![]),
    ] {
        assert_eq!(names(&*log, find(query)).await, expected, "{query}");
    }
    let words = |query: Query| async { log.list(query).await.unwrap().rows[0].1.words.clone() };
    assert_eq!(words(find("garden")).await.as_deref(), Some("Water the garden"));
    assert_eq!(words(all()).await, None, "other lists do without");
    log.append(said("a", 1, None)).await.unwrap();
    assert_eq!(names(&*log, find("boil")).await, ["a"], "words stay until there are others");
    log.append(said("a", 2, Some("Fry eggs"))).await.unwrap();
    assert_eq!(names(&*log, find("boil")).await, Vec::<String>::new());
    assert_eq!(names(&*log, Query { kind: Some("turn".to_owned()), ..find("fry") }).await, Vec::<String>::new());
    log.erase(vec!["a".into()]).await.unwrap();
    assert_eq!(names(&*log, find("fry")).await, Vec::<String>::new());
    log.append(said("a", 0, Some("Fry onions"))).await.unwrap();
    assert_eq!(names(&*log, find("fry")).await, ["a"]);
}

#[cfg(test)]
mod tests {
    use super::super::{MemoryLog, SqliteLog};
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn the_log_in_memory_conforms() {
        for Case { name, run } in cases() {
            println!("{name}");
            run(Arc::new(MemoryLog::default())).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_log_in_a_file_conforms() {
        for Case { name, run } in cases() {
            println!("{name}");
            let folder = tempfile::tempdir().unwrap();
            run(Arc::new(SqliteLog::open(&folder.path().join("log.db")).unwrap())).await;
        }
    }
}
