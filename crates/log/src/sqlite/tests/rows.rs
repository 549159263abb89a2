//! Tests of rows: those that hold the records of an append, and those of lists.

use std::collections::BTreeMap;

use futures::future::try_join_all;
use rusqlite::Connection;

use super::{bytes_in, file, sql};
use crate::conformance::{all, append, bodies, names, record, row};
use crate::sqlite::writer::{Done, Work};
use crate::{Append, Error, Log, Order, Query, Record, Row, SqliteLog, VERSION};

#[tokio::test]
async fn an_append_is_one_row_of_which_every_part_can_be_read_and_none_alone_is_damaged() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    log.append(append("a", 0, &["0", "1", "2"])).await.unwrap();
    log.append(append("a", 3, &["3"])).await.unwrap();
    log.append(append("a", 4, &["4\u{1e}", "5", "6"])).await.unwrap();
    let all: Vec<Record> = ["0", "1", "2", "3", "4\u{1e}", "5", "6"].map(record).into();
    for from in 0..all.len() {
        for max in 0..=all.len() {
            let wanted: Vec<Record> = all.iter().skip(from).take(max).cloned().collect();
            assert_eq!(log.read("a", from as u64, max).await.unwrap(), wanted, "{max} from {from}");
        }
    }
    let rows = |sql: &str| Connection::open(&path).unwrap().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(rows("SELECT count(*) FROM records"), 4);
    for (spoil, expected) in [
        ("UPDATE records SET count = 4 WHERE seq = 0", "its row holds another number of records"),
        ("UPDATE records SET body = replace(body, '1', '7') WHERE seq = 0", "its checksum is wrong"),
        ("DELETE FROM records WHERE seq = 0", "it is missing"),
    ] {
        sql(&path, spoil);
        for from in 0..3 {
            let damaged = Error::Damaged { stream: "a".into(), seq: from, reason: expected.into() };
            assert_eq!(log.read("a", from, 9).await, Err(damaged), "{spoil}");
        }
        assert_eq!(log.read("a", 5, 9).await.unwrap(), all[5..]);
    }
}

#[tokio::test]
async fn records_of_a_file_from_before_rows_were_shared_are_read_and_added_to() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    for seq in 0..3 {
        log.append(append("a", seq, &["old"])).await.unwrap();
    }
    drop(log);
    sql(
        &path,
        "DROP TABLE words; DROP TABLE unindexed; ALTER TABLE records DROP COLUMN count;
        ALTER TABLE streams DROP COLUMN checksum; ALTER TABLE streams DROP COLUMN words_checksum; ALTER TABLE streams DROP COLUMN claims_checksum;
        PRAGMA user_version = 2",
    );
    assert_eq!(bodies(&SqliteLog::read_only(&path).unwrap(), "a").await, ["old"; 3]);
    let log = SqliteLog::open(&path).unwrap();
    log.append(append("a", 3, &["new", "new"])).await.unwrap();
    assert_eq!(bodies(&log, "a").await, ["old", "old", "old", "new", "new"]);
}

#[tokio::test]
async fn a_row_of_a_list_is_what_was_appended_last_whoever_wrote_it_before() {
    let (_folder, path) = file();
    let tagged = |status: &str, tag: &str| Row {
        status: status.into(),
        tags: BTreeMap::from([("tag".to_owned(), tag.to_owned())]),
        ..row()
    };
    let rows = [tagged("RUNNING", "one"), tagged("RUNNING", "two"), tagged("PAUSED", "two"), tagged("PAUSED", "two")];
    for is_reopened in [false, true] {
        let mut log = SqliteLog::open(&path).unwrap();
        for (seq, row) in (0..).zip(&rows) {
            if is_reopened {
                drop(log);
                log = SqliteLog::open(&path).unwrap();
            }
            let stream = if is_reopened { "a" } else { "b" };
            log.append(Append { row: row.clone(), ..append(stream, seq, &["0"]) }).await.unwrap();
            let query = Query { stream: Some(stream.to_owned()), ..all() };
            assert_eq!(log.list(query).await.unwrap().rows, [(stream.into(), row.clone())]);
        }
    }
}

#[tokio::test]
async fn what_an_earlier_version_stored_is_found_by_its_words() {
    let (_folder, path) = file();
    {
        let log = SqliteLog::open(&path).unwrap();
        let bodies = [
            ("run", r#"{"title":"About bees","outputPreview":"Bees make honey"}"#),
            ("turn", r#"{"rows":[{"content":"Where is honey?"},{"content":null},{"content":"In the hive"}]}"#),
            ("thread", r#"{"title":"Honey","rows":3}"#),
            ("workflow", r#"{"name":"Harvest","description":"Gets honey"}"#),
            ("answer", r#"{"title":"honey of nobody"}"#),
            ("run", "no JSON about honey"),
        ];
        for (number, (kind, body)) in bodies.into_iter().enumerate() {
            let row = Row { kind: kind.into(), body: body.into(), ..row() };
            log.append(Append { row, ..append(&format!("s{number}"), 0, &["x"]) }).await.unwrap();
        }
    }
    sql(
        &path,
        "DROP TABLE words; DROP TABLE unindexed; ALTER TABLE streams DROP COLUMN checksum;
        ALTER TABLE streams DROP COLUMN words_checksum; ALTER TABLE streams DROP COLUMN claims_checksum;
        PRAGMA user_version = 3",
    );
    let find = |words: &str| Query { words: Some(words.to_owned()), order: Order::OldestStart, ..all() };
    for _opened_again in 0..2 {
        let log = SqliteLog::open(&path).unwrap();
        assert_eq!(names(&log, find("honey")).await, ["s0", "s1", "s2", "s3"]);
        assert_eq!(names(&log, find("hive")).await, ["s1"]);
    }
}

#[tokio::test]
async fn a_row_that_was_changed_is_damaged_alone_until_it_is_written_again_or_erased() {
    for spoil in [
        r#"body = '{"n":2}'"#,
        "status = 'COMPLETED'",
        "owner = 'other'",
        "kind = 'turn'",
        "name = 'b'",
        "started_at = 2",
        "started_at = -1",
        "ended_at = 9",
        "length = 0",
        "checksum = checksum + 1",
        "body = CAST(x'7bff7d' AS TEXT)",
    ] {
        let (_folder, path) = file();
        let log = SqliteLog::open(&path).unwrap();
        let row = Row { body: r#"{"n":1}"#.into(), started_at: 1, ..row() };
        for stream in ["a", "fine"] {
            log.append(Append { row: row.clone(), ..append(stream, 0, &["0"]) }).await.unwrap();
        }
        drop(log);
        sql(&path, &format!("UPDATE streams SET {spoil} WHERE name = 'a'"));
        let log = SqliteLog::open(&path).unwrap();
        let listed = log.list(all()).await.unwrap().rows;
        let (damaged, sound): (Vec<_>, Vec<_>) = listed.into_iter().partition(|(_, row)| row.is_damaged());
        assert_eq!((damaged.len(), sound.as_slice()), (1, [("fine".into(), row.clone())].as_slice()), "{spoil}");
        let name = damaged[0].0.clone();
        let length = if spoil == "length = 0" { 0 } else { 1 };
        // What is damaged is not in the way of those who go on with it.
        if length == 1 {
            log.append(Append { row: row.clone(), ..append(&name, 1, &["1"]) }).await.unwrap();
            let query = Query { stream: Some(name.to_string()), ..all() };
            assert_eq!(log.list(query).await.unwrap().rows, [(name.clone(), row.clone())], "{spoil}");
        }
        log.erase(vec![name]).await.unwrap();
        assert_eq!(names(&log, all()).await, ["fine"], "{spoil}");
    }
}

#[tokio::test]
async fn a_tag_that_was_changed_damages_its_row() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    let row = Row { tags: BTreeMap::from([("team".to_owned(), "red".to_owned())]), ..row() };
    log.append(Append { row, ..append("a", 0, &["0"]) }).await.unwrap();
    assert!(!log.list(all()).await.unwrap().rows[0].1.is_damaged());
    sql(&path, "UPDATE tags SET value = 'rad'");
    assert!(log.list(all()).await.unwrap().rows[0].1.is_damaged());
}

#[tokio::test]
async fn rows_from_before_there_were_checksums_are_read_and_get_one_when_they_are_written() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    for stream in ["a", "b"] {
        log.append(append(stream, 0, &["old"])).await.unwrap();
    }
    drop(log);
    sql(&path, "ALTER TABLE streams DROP COLUMN checksum; ALTER TABLE streams DROP COLUMN words_checksum; ALTER TABLE streams DROP COLUMN claims_checksum;
        PRAGMA user_version = 5");
    let whole = [("b".into(), row()), ("a".into(), row())];
    assert_eq!(SqliteLog::read_only(&path).unwrap().list(all()).await.unwrap().rows, whole);
    let log = SqliteLog::open(&path).unwrap();
    assert_eq!(log.list(all()).await.unwrap().rows, whole);
    log.append(append("a", 1, &["new"])).await.unwrap();
    assert_eq!(log.list(all()).await.unwrap().rows, whole);
    let db = Connection::open(&path).unwrap();
    let count = "SELECT count(checksum), count(*) FROM streams";
    assert_eq!(db.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap(), (1, 2));
}

#[tokio::test]
async fn records_carry_the_version_of_their_append() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    log.append(Append { version: VERSION, ..append("a", 0, &["0"]) }).await.unwrap();
    let db = Connection::open(&path).unwrap();
    assert_eq!(db.query_row("SELECT version FROM records", [], |row| row.get::<_, u32>(0)).unwrap(), VERSION);
    sql(&path, "UPDATE records SET version = 1");
    assert_eq!(bodies(&log, "a").await, ["0"], "what the first edition wrote is read");
}

#[tokio::test]
async fn of_many_texts_the_older_ones_are_in_the_index_and_all_are_found_changed_and_erased() {
    let (folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    let said = |stream: usize, seq: u64, words: &str| {
        let row = Row { words: Some(format!("{words}{stream}").into()), ..row() };
        Append { row, ..append(&format!("s{stream}"), seq, &["x"]) }
    };
    let appended = (0..1400).map(|stream| log.append(said(stream, 0, "common secret")));
    try_join_all(appended).await.unwrap();
    // The index grows when nothing else is to be done: after one of the next appends.
    let mut seq = 0;
    let find = |words: String| Query { words: Some(words), ..all() };
    let db = Connection::open(&path).unwrap();
    let count =
        |table: &str| db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, usize>(0)).unwrap();
    while seq == 0 || (count("words") == 0 && seq < 20) {
        log.append(said(1400, seq, "common secret")).await.unwrap();
        seq += 1;
    }
    assert!(count("words") > 0 && count("unindexed") > 0, "{} and {}", count("words"), count("unindexed"));
    assert_eq!(count("words") + count("unindexed"), 1401);
    assert_eq!(log.list(find("common".into())).await.unwrap().total, 1401);
    for (stream, seq) in [(0, 1), (1400, seq)] {
        let name = format!("s{stream}");
        assert_eq!(names(&log, find(format!("secret{stream}"))).await, [name.as_str()][..], "{stream}");
        log.append(said(stream, seq, "common other")).await.unwrap();
        assert_eq!(names(&log, find(format!("other{stream}"))).await, [name.as_str()][..]);
        assert_eq!(log.list(find(format!("secret{stream} common"))).await.unwrap().total, 0);
        log.erase(vec![name.into()]).await.unwrap();
        assert_eq!(log.list(find(format!("other{stream}"))).await.unwrap().total, 0);
    }
    drop(db);
    assert_eq!(log.ask(Work::Scrub).await, Ok(Done::Whole));
    assert!(!bytes_in(folder.path()).contains("secret1400"));
}

/// Returns what a search for a word shows of each stream, and the damage that a check of the file names.
async fn found(path: &std::path::Path, word: &str) -> (Vec<(String, Option<String>)>, Vec<(String, String)>) {
    let log = SqliteLog::open(path).unwrap();
    let rows = log.list(Query { words: Some(word.to_owned()), ..all() }).await.unwrap().rows;
    let shown = rows.into_iter().map(|(name, row)| (name.to_string(), row.words.map(|words| words.to_string())));
    let faults = SqliteLog::check(path).unwrap().into_iter().map(|fault| (fault.place, fault.reason));
    (shown.collect(), faults.filter(|(place, _)| place != "log.db").collect())
}

#[tokio::test]
async fn words_that_were_changed_are_not_shown_and_a_check_names_their_stream_in_the_index_or_not() {
    for is_indexed in [false, true] {
        for (spoil, word) in [("replace(TEXT, 'soup', 'soap')", "tomato"), ("CAST(x'ff736f7570' AS TEXT)", "soup")] {
            let (_folder, path) = file();
            let log = SqliteLog::open(&path).unwrap();
            let worded = |words: &str| Row { words: Some(words.into()), ..row() };
            log.append(Append { row: worded("tomato soup"), ..append("a", 0, &["0"]) }).await.unwrap();
            log.append(Append { row: worded("tomato and soup"), ..append("fine", 0, &["0"]) }).await.unwrap();
            drop(log);
            if is_indexed {
                sql(&path, "INSERT INTO words (rowid, text) SELECT stream, text FROM unindexed; DELETE FROM unindexed");
                sql(&path, &format!("UPDATE words_content SET c0 = {} WHERE id = 1", spoil.replace("TEXT", "c0")));
            } else {
                sql(&path, &format!("UPDATE unindexed SET text = {} WHERE stream = 1", spoil.replace("TEXT", "text")));
            }
            let (shown, faults) = found(&path, word).await;
            let fine = ("fine".to_owned(), Some("tomato and soup".to_owned()));
            assert!(shown.contains(&fine) && shown.contains(&("a".to_owned(), None)), "{is_indexed} {spoil} {shown:?}");
            let [(place, reason)] = &faults[..] else { panic!("one stream, not {faults:?}") };
            assert_eq!(place, "a");
            assert!(reason.contains("is not what was written"), "{reason}");
            // What is damaged is whole again once it is written anew.
            let log = SqliteLog::open(&path).unwrap();
            log.append(Append { row: worded("tomato salad"), ..append("a", 1, &["1"]) }).await.unwrap();
            drop(log);
            let (shown, faults) = found(&path, "salad").await;
            assert_eq!((shown, faults), (vec![("a".to_owned(), Some("tomato salad".to_owned()))], Vec::new()));
        }
    }
}

#[tokio::test]
async fn a_claim_that_was_changed_lost_or_moved_is_named_by_a_check() {
    for (spoil, damaged) in [
        ("UPDATE claims SET key = 'kez' WHERE key = 'key'", &["a"][..]),
        ("DELETE FROM claims WHERE key = 'more'", &["a"]),
        ("UPDATE claims SET stream = 2 WHERE key = 'key'", &["a", "b"]),
        ("DELETE FROM unindexed WHERE stream = 1", &["a"]),
    ] {
        let (_folder, path) = file();
        let log = SqliteLog::open(&path).unwrap();
        let claim =
            |keys: &[&str], append| Append { claims: keys.iter().map(|key| (*key).to_owned()).collect(), ..append };
        let row = Row { words: Some("tomato".into()), ..row() };
        log.append(claim(&["key"], Append { row, ..append("a", 0, &["0"]) })).await.unwrap();
        log.append(append("b", 0, &["0"])).await.unwrap();
        log.append(claim(&["key", "more"], append("a", 1, &["1"]))).await.unwrap();
        drop(log);
        assert_eq!(SqliteLog::check(&path).unwrap(), []);
        sql(&path, spoil);
        let faults = SqliteLog::check(&path).unwrap();
        assert_eq!(faults.iter().map(|fault| fault.place.as_str()).collect::<Vec<_>>(), damaged, "{spoil}");
    }
}
