//! Tests of faults that only a log in a file has: crashes, damage,
//! a full disk, old and foreign files, erased bytes that remain.

mod rows;
mod syncs;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use rusqlite::{Connection, StatementStatus};
use tempfile::TempDir;
use tokio::sync::{oneshot, watch};

use super::writer::{Done, Job, Work, Writer};
use super::{Fault, Options, SqliteLog, schema};
use crate::conformance::{all, append, bodies, names, record, row};
use crate::seal::Sealed;
use crate::{Append, Compact, Error, Log, Record, Row};

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.db");
    (folder, path)
}

/// Executes SQL on another connection, to inspect or damage the log's file.
fn sql(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn refusal(opened: Result<SqliteLog, Error>) -> String {
    opened.err().expect("opening is refused").to_string()
}

#[tokio::test]
async fn everything_is_there_after_reopening() {
    let (_folder, path) = file();
    let attached = Record { body: "1".into(), attachments: vec!["long".into()] };
    let first = Append { epoch: 3, claims: vec!["key".into()], ..append("a", 0, &["0"]) };
    let log = SqliteLog::open(&path).unwrap();
    log.append(Append { records: vec![record("0"), attached.clone()], ..first.clone() }).await.unwrap();
    drop(log);
    let log = SqliteLog::open(&path).unwrap();
    assert_eq!(log.read("a", 0, 9).await.unwrap(), [record("0"), attached]);
    assert_eq!(log.append(append("a", 2, &["old owner"])).await, Err(Error::Fenced));
    let claimed = Err(Error::Claimed { key: "key".into(), by: "a".into() });
    assert_eq!(log.append(Append { stream: "b".into(), ..first }).await, claimed);
}

/// Returns the results of appends that one commit takes together, and the number of commits.
fn written_together(path: &Path, appends: Vec<Append>) -> (Vec<Result<(), Error>>, u64) {
    let (counter, commits) = watch::channel(0);
    let db = schema::open(path, Options::default()).unwrap();
    let mut writer = Writer::new(db, counter, path).unwrap();
    let job = |append| {
        let (ack, done) = oneshot::channel();
        (Job { work: Work::Append(Sealed::new(append)), ack }, done)
    };
    let (group, acks): (Vec<_>, Vec<_>) = appends.into_iter().map(job).unzip();
    writer.serve(group);
    let result = |result: Result<Done, Error>| result.map(drop);
    (acks.into_iter().map(|mut ack| result(ack.try_recv().unwrap())).collect(), *commits.borrow())
}

#[tokio::test]
async fn a_refused_append_does_not_disturb_the_others_of_its_commit() {
    let (_folder, path) = file();
    let claim = |append| Append { claims: vec!["key".into()], ..append };
    let first = vec![claim(append("a", 0, &["0"])), append("b", 5, &["5"]), append("a", 1, &["1"])];
    let last = vec![claim(append("c", 0, &["0"])), append("d", 0, &["0"])];
    let (results, commits) = written_together(&path, [first, last].concat());
    let claimed = Error::Claimed { key: "key".into(), by: "a".into() };
    assert_eq!(results, [Ok(()), Err(Error::Fenced), Ok(()), Err(claimed), Ok(())]);
    assert_eq!(commits, 1);
    let log = SqliteLog::open(&path).unwrap();
    assert_eq!(names(&log, all()).await, ["d", "a"]);
    assert_eq!(bodies(&log, "a").await, ["0", "1"]);
}

#[tokio::test]
async fn an_append_that_cannot_be_written_fails_alone() {
    let (_folder, path) = file();
    let unwritable = Append { epoch: u64::MAX, ..append("b", 0, &["0"]) };
    let appends = vec![append("a", 0, &["0"]), unwritable, append("a", 1, &["1"])];
    let (results, _) = written_together(&path, appends);
    assert!(matches!(results.as_slice(), [Ok(()), Err(Error::Unavailable(_)), Ok(())]), "{results:?}");
    assert_eq!(bodies(&SqliteLog::open(&path).unwrap(), "a").await, ["0", "1"]);
}

#[tokio::test]
async fn readers_do_not_wait_for_the_writer() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    log.append(append("a", 0, &["0"])).await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut stuck = log.append(append("a", 1, &["1"]));
    assert!(futures::poll!(&mut stuck).is_pending());
    assert_eq!(bodies(&log, "a").await, ["0"]);
    assert_eq!(names(&log, all()).await, ["a"]);
    other.execute_batch("ROLLBACK").unwrap();
    stuck.await.unwrap();
    assert_eq!(bodies(&log, "a").await, ["0", "1"]);
}

#[tokio::test]
async fn who_stops_listening_halfway_keeps_nobody_from_reading() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    log.append(append("a", 0, &["0"])).await.unwrap();
    let mut left: Vec<_> = (0..32).map(|_| log.read("a", 0, 1)).collect();
    for read in &mut left {
        let _begun = futures::poll!(read);
    }
    let read = tokio::time::timeout(Duration::from_secs(60), bodies(&log, "a"));
    assert_eq!(read.await.unwrap(), ["0"]);
}

#[tokio::test]
async fn an_attachment_is_stored_once_for_a_stream() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    let records = vec![Record { body: "{}".into(), attachments: vec!["long".into(), "long".into()] }];
    for (stream, seq) in [("a", 0), ("a", 1), ("b", 0)] {
        log.append(Append { records: records.clone(), ..append(stream, seq, &[]) }).await.unwrap();
    }
    let db = Connection::open(&path).unwrap();
    assert_eq!(db.query_row("SELECT count(*) FROM attachments", [], |row| row.get::<_, i64>(0)).unwrap(), 2);
}

const CHILD: &str = "CONSORT_TEST_APPEND_FOR_EVER";

/// The child process: appends until it is killed, and prints each acknowledged append.
async fn append_for_ever(path: &Path) {
    let log = SqliteLog::open(path).unwrap();
    for seq in 0.. {
        let streams = ["a", "b", "c"].map(|stream| log.append(append(stream, seq * 2, &["even", "odd"])));
        try_join_all(streams).await.unwrap();
        writeln!(stdout(), "acknowledged {}", seq * 2 + 2).unwrap();
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill_and_the_file_has_one_owner_until_then() {
    if let Ok(path) = std::env::var(CHILD) {
        return append_for_ever(Path::new(&path)).await;
    }
    let (_folder, path) = file();
    let name = "sqlite::tests::what_was_acknowledged_survives_a_kill_and_the_file_has_one_owner_until_then";
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", name, "--nocapture"]).env(CHILD, &path).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut lengths = lines.filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<usize>().ok());
    let early = lengths.by_ref().take(100).last().unwrap();
    assert!(refusal(SqliteLog::open(&path)).contains("is in use by another process"));
    child.kill().unwrap();
    child.wait().unwrap();
    let acknowledged = lengths.last().unwrap_or(early);
    let log = SqliteLog::open(&path).unwrap();
    for stream in ["a", "b", "c"] {
        let found = bodies(&log, stream).await;
        assert!(found.len() >= acknowledged && found.len() <= acknowledged + 2, "{} of {acknowledged}", found.len());
        assert!(found.chunks(2).all(|pair| pair == ["even", "odd"]));
    }
}

#[tokio::test]
async fn damage_is_found_and_concerns_one_stream_only() {
    let spoil = [
        ("UPDATE records SET body = 'eveN' WHERE stream = 1 AND seq = 1", 1, "its checksum is wrong"),
        ("UPDATE records SET body = CAST(x'ff' AS TEXT) WHERE stream = 1 AND seq = 1", 1, "utf-8"),
        ("UPDATE records SET attachments = zeroblob(32) WHERE stream = 1 AND seq = 0", 0, "its checksum is wrong"),
        (
            "UPDATE records SET version = 9 WHERE stream = 1 AND seq = 2",
            2,
            "it is of version 9, and this Consort reads versions 1 to",
        ),
        ("DELETE FROM records WHERE stream = 1 AND seq = 1", 1, "it is missing"),
        ("DELETE FROM records WHERE stream = 1 AND seq = 2", 2, "it is missing"),
        ("DELETE FROM attachments WHERE stream = 1", 2, "an attachment is missing"),
        ("UPDATE attachments SET text = 'Long' WHERE stream = 1", 2, "an attachment is not what was written"),
    ];
    for (spoil, at, expected) in spoil {
        let (_folder, path) = file();
        let log = SqliteLog::open(&path).unwrap();
        let attached = Record { body: "2".into(), attachments: vec!["long".into()] };
        let records = vec![record("0"), record("1"), attached];
        for stream in ["damaged", "fine"] {
            for (seq, record) in (0..).zip(&records) {
                log.append(Append { records: vec![record.clone()], ..append(stream, seq, &[]) }).await.unwrap();
            }
        }
        sql(&path, spoil);
        match log.read("damaged", 0, 9).await {
            Err(Error::Damaged { stream, seq, reason }) => {
                assert_eq!((stream.as_str(), seq), ("damaged", at), "{spoil}");
                assert!(reason.contains(expected), "{reason}");
            }
            other => panic!("{spoil}: {other:?}"),
        }
        assert_eq!(log.read("fine", 0, 9).await.unwrap(), records);
        assert_eq!(names(&log, all()).await, ["fine", "damaged"]);
    }
}

#[tokio::test]
async fn a_full_disk_refuses_whole_appends_and_the_log_goes_on_when_there_is_room() {
    let (_folder, path) = file();
    let log = SqliteLog::open_with(&path, Options { max_bytes: Some(400_000) }).unwrap();
    let text = "x".repeat(900);
    let batch = |stream: &str, seq| append(stream, seq, &[text.as_str(); 20]);
    let mut length = 0;
    let full = loop {
        match log.append(batch("a", length)).await {
            Ok(()) => length += 20,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::Full(_)), "{full:?}");
    assert!(length > 200);
    assert_eq!(bodies(&log, "a").await.len() as u64, length);
    let (large, small) = tokio::join!(log.append(batch("a", length)), log.append(append("small", 0, &["0"])));
    assert!(matches!(large, Err(Error::Full(_))), "{large:?}");
    assert_eq!(small, Ok(()));
    log.append(append("a", length, &["small"])).await.unwrap();
    log.erase(vec!["a".into()]).await.unwrap();
    log.append(batch("b", 0)).await.unwrap();
    assert_eq!(names(&log, all()).await, ["small", "b"]);
}

#[test]
fn files_that_are_newer_foreign_or_no_databases_are_refused_in_words() {
    let (folder, path) = file();
    drop(SqliteLog::open(&path).unwrap());
    sql(&path, "PRAGMA user_version = 99");
    assert!(refusal(SqliteLog::open(&path)).contains("written by a newer Consort (version 99; this one knows 7)"));
    let foreign = folder.path().join("foreign.db");
    sql(&foreign, "CREATE TABLE notes (text)");
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "just words, ".repeat(100)).unwrap();
    for other in [&foreign, &text] {
        let before = std::fs::read(other).unwrap();
        assert!(refusal(SqliteLog::open(other)).ends_with("is not a Consort log"));
        assert_eq!(std::fs::read(other).unwrap(), before);
    }
    assert!(refusal(SqliteLog::open(&folder.path().join("no folder/log.db"))).contains("no folder"));
}

#[test]
fn a_cached_statement_is_compiled_once_however_often_it_is_used() {
    let (_folder, path) = file();
    let db = schema::open(&path, Options::default()).unwrap();
    let compiled_again = |stream: i64| {
        let mut tags = db.prepare_cached("SELECT key FROM tags WHERE stream = ? ORDER BY key").unwrap();
        assert!(!tags.exists([stream]).unwrap());
        tags.get_status(StatementStatus::RePrepare)
    };
    assert_eq!([5, 6, 7].map(compiled_again), [0; 3]);
}

#[test]
fn a_file_has_one_owner_at_a_time() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    assert!(refusal(SqliteLog::open(&path)).ends_with("is in use by another process"));
    drop(log);
    SqliteLog::open(&path).unwrap();
}

/// Returns all bytes of all files in the folder, as text as far as possible.
fn bytes_in(folder: &Path) -> String {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

/// Returns an append with the stream's name in every field that can hold text.
fn marked(stream: &str, seq: u64) -> Append {
    let text = |place: &str, length: usize| format!("{stream} {place} {}", "x".repeat(length));
    let attachments = vec![text("attachment", 6000).into()];
    let records = vec![record(&text("body", 300)), Record { body: text("attached", 30).into(), attachments }];
    let tags = BTreeMap::from([(text("key", 3), text("value", 3))]);
    let body = text("row", 200 + 40 * seq as usize).into();
    let words = Some(text("words", 9).into());
    let row = Row { tags, body, words, ..row() };
    Append { records, row, claims: vec![text("claim", 3)], ..append(stream, seq, &[]) }
}

#[tokio::test]
async fn nothing_of_an_erased_stream_is_left_in_any_file() {
    let (folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    for seq in 0..10 {
        for stream in ["keep-one", "secret", "keep-two"] {
            log.append(marked(stream, seq * 2)).await.unwrap();
        }
    }
    assert!(bytes_in(folder.path()).contains("secret"));
    log.erase(vec!["secret".into()]).await.unwrap();
    let left = bytes_in(folder.path());
    assert!(!left.contains("secret") && left.contains("keep-one") && left.contains("keep-two"));
}

#[tokio::test]
async fn compacting_removes_the_copies_that_moving_rows_has_left_behind() {
    let (folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    let streams: Vec<Arc<str>> = (0..256).map(|i| format!("stream-{i}-").into()).collect();
    for seq in 0..4 {
        for stream in &streams {
            log.append(marked(stream, seq * 2)).await.unwrap();
        }
    }
    // Spread over the file, so that the remaining rows are moved.
    let erased: Vec<_> = (0..128).map(|i| streams[i * 37 % streams.len()].clone()).collect();
    for stream in &erased {
        log.erase(vec![stream.clone()]).await.unwrap();
    }
    log.compact().await.unwrap();
    let left = bytes_in(folder.path());
    let found: Vec<_> = erased.iter().filter(|stream| left.contains(&***stream)).collect();
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(names(&log, all()).await.len(), 128);
}

#[tokio::test]
async fn neither_an_append_nor_an_erasure_waits_for_somebody_who_reads_an_older_state() {
    let (folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    for stream in ["secret", "kept"] {
        log.append(marked(stream, 0)).await.unwrap();
    }
    let backup = Connection::open(&path).unwrap();
    backup.execute_batch("BEGIN; SELECT count(*) FROM records").unwrap();
    log.erase(vec!["secret".into()]).await.unwrap();
    log.append(marked("kept", 2)).await.unwrap();
    assert_eq!(names(&log, all()).await, ["kept"], "it is gone for everybody who asks now");
    assert!(bytes_in(folder.path()).contains("secret"), "whoever began before may still read it");
    backup.execute_batch("COMMIT").unwrap();
    log.compact().await.unwrap();
    assert!(!bytes_in(folder.path()).contains("secret"));
}

#[tokio::test]
async fn a_large_stream_is_erased_in_pieces_and_appends_come_between_them() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    let text = "x".repeat(50_000);
    for seq in 0..40 {
        log.append(append("large", seq * 5, &[text.as_str(); 5])).await.unwrap();
    }
    let before = *log.news("").borrow();
    let mut erasing = log.erase(vec!["large".into()]);
    // It takes more pieces than there are appends, so that these are done before.
    assert!(futures::poll!(&mut erasing).is_pending());
    for seq in 0..3 {
        log.append(append("small", seq, &["0"])).await.unwrap();
        assert!(futures::poll!(&mut erasing).is_pending(), "{seq}");
    }
    erasing.await.unwrap();
    assert!(*log.news("").borrow() - before <= 4, "pieces are no news");
    assert_eq!(names(&log, all()).await, ["small"]);
    let db = Connection::open(&path).unwrap();
    assert_eq!(db.query_row("SELECT count(*) FROM records", [], |row| row.get::<_, i64>(0)).unwrap(), 3);
}

#[tokio::test]
async fn what_a_process_did_not_finish_erasing_the_next_one_does() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    for stream in ["half", "kept"] {
        log.append(marked(stream, 0)).await.unwrap();
    }
    drop(log);
    let hidden = "UPDATE streams SET name = 'erased/1', kind = '' WHERE id = 1";
    sql(&path, hidden);
    for table in ["tags", "claims", "unindexed"] {
        sql(&path, &format!("DELETE FROM {table} WHERE stream = 1"));
    }
    let log = SqliteLog::open(&path).unwrap();
    assert_eq!(names(&log, all()).await, ["kept"]);
    log.compact().await.unwrap();
    assert_eq!(SqliteLog::check(&path).unwrap(), []);
    let db = Connection::open(&path).unwrap();
    assert_eq!(db.query_row("SELECT count(*) FROM records", [], |row| row.get::<_, i64>(0)).unwrap(), 2);
}

/// Copies a database as a power cut would leave it: its owner has not closed it.
fn as_after_a_crash(path: &Path, to: &Path) {
    for end in ["", "-wal", "-shm"] {
        let from = format!("{}{end}", path.display());
        if Path::new(&from).exists() {
            std::fs::copy(from, format!("{}{end}", to.display())).unwrap();
        }
    }
}

#[tokio::test]
async fn a_damaged_write_ahead_log_is_reported_with_what_was_lost_and_kept() {
    let (folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    for run in 0..20 {
        log.append(append(&format!("run-{run:02}"), 0, &["0"])).await.unwrap();
    }
    let wal = format!("{}-wal", path.display());
    let frames = std::fs::metadata(&wal).unwrap().len() / (4096 + 24);
    type Harm = fn(&mut Vec<u8>);
    let cases: [(&str, Harm, bool); 6] = [
        ("nothing", |_| {}, false),
        ("half of a frame nobody was told of", |wal| wal.extend([7; 100]), false),
        (
            "a bit in a page",
            |wal| {
                let half = wal.len() / 2;
                wal[half] ^= 1
            },
            true,
        ),
        ("a bit in the number of a generation", |wal| wal[32 + 9] ^= 1, true),
        ("a bit in the header", |wal| wal[16] ^= 1, true),
        ("the end", |wal| wal.truncate(wal.len() / 2), true),
    ];
    for (number, (what, harm, is_loss)) in cases.into_iter().enumerate() {
        let [copy, checked] = ["", "checked-"].map(|kind| folder.path().join(format!("{kind}{number}.db")));
        let mut bytes = std::fs::read(&wal).unwrap();
        harm(&mut bytes);
        for to in [&copy, &checked] {
            as_after_a_crash(&path, to);
            std::fs::write(format!("{}-wal", to.display()), &bytes).unwrap();
        }
        let faults = SqliteLog::check(&checked).unwrap();
        let again = SqliteLog::check(&checked).unwrap();
        assert_eq!(again.len(), faults.len(), "{what}: it is found as often as it is looked for: {again:?}");
        assert_eq!(!faults.is_empty(), is_loss, "{what}: {faults:?}");
        let crashed = SqliteLog::open(&copy).unwrap();
        let found = names(&crashed, all()).await.len();
        let Some(lost) = crashed.lost() else {
            assert!(!is_loss && found == 20, "{what}: {found}");
            continue;
        };
        assert!(is_loss && found < 20 && lost.frames <= frames && lost.commits >= 1, "{what}: {found} {lost:?}");
        if what == "a bit in a page" {
            assert_eq!(lost.commits, 20 - found as u64, "each run was one commit");
        }
        assert_eq!(std::fs::read(&lost.copy).unwrap(), bytes, "{what}");
        drop(crashed);
        let faults = SqliteLog::check(&copy).unwrap();
        let places: Vec<&str> = faults.iter().map(|fault: &Fault| fault.place.as_str()).collect();
        assert!(places.contains(&format!("{number}.db-wal.damaged").as_str()), "{what}: {faults:?}");
    }
}

#[tokio::test]
async fn a_file_can_be_read_while_another_process_writes_and_not_written() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    log.append(append("a", 0, &["0"])).await.unwrap();
    let reader = SqliteLog::read_only(&path).unwrap();
    assert_eq!(bodies(&reader, "a").await, ["0"]);
    assert!(matches!(reader.append(append("a", 1, &["1"])).await, Err(Error::Unavailable(_))));
    let missing = path.with_file_name("none.db");
    assert!(refusal(SqliteLog::read_only(&missing)).ends_with("none.db does not exist"));
    assert!(!missing.exists());
}

#[tokio::test]
async fn the_check_of_a_file_finds_pages_indexes_and_rows_that_do_not_fit() {
    let (folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    for seq in 0..50 {
        log.append(marked("a", seq * 2)).await.unwrap();
    }
    drop(log);
    assert_eq!(SqliteLog::check(&path).unwrap(), []);
    let stray = folder.path().join("stray.db");
    std::fs::copy(&path, &stray).unwrap();
    sql(&stray, "DELETE FROM streams");
    let reasons: Vec<String> = SqliteLog::check(&stray).unwrap().into_iter().map(|fault| fault.reason).collect();
    assert!(reasons.contains(&"100 rows of the table `records` belong to no stream".to_owned()), "{reasons:?}");
    let torn = folder.path().join("torn.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xff);
    std::fs::write(&torn, bytes).unwrap();
    assert!(!SqliteLog::check(&torn).unwrap().is_empty());
}

#[tokio::test]
async fn nobody_but_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    log.append(append("a", 0, &["0"])).await.unwrap();
    log.backup(&folder.path().join("copy.db")).await.unwrap();
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
        seen += 1;
    }
    assert!(seen >= 5, "the database, its log, index, lock and copy");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_made_while_runs_are_written_is_whole() {
    let (folder, path) = file();
    let log = Arc::new(SqliteLog::open(&path).unwrap());
    let (stop, stopped) = watch::channel(());
    let writers: Vec<_> = (0..4)
        .map(|i| {
            let log = log.clone();
            let stopped = stopped.clone();
            tokio::spawn(async move {
                let mut seq = 0;
                while !stopped.has_changed().unwrap() {
                    log.append(marked(&format!("s{i}"), seq)).await.unwrap();
                    seq += 2;
                }
                seq
            })
        })
        .collect();
    let mut commits = log.news("");
    commits.wait_for(|commits| *commits > 100).await.unwrap();
    let copy = folder.path().join("copy.db");
    log.backup(&copy).await.unwrap();
    stop.send(()).unwrap();
    let lengths = try_join_all(writers).await.unwrap();
    let backup = SqliteLog::open(&copy).unwrap();
    for (i, length) in lengths.into_iter().enumerate() {
        let records = backup.read(&format!("s{i}"), 0, usize::MAX).await.unwrap();
        assert!(!records.is_empty() && records.len() as u64 <= length);
        assert_eq!(log.read(&format!("s{i}"), 0, records.len()).await.unwrap(), records);
        backup.append(append(&format!("s{i}"), records.len() as u64, &["and on"])).await.unwrap();
    }
    assert!(log.backup(&copy).await.is_err_and(|error| error.to_string().contains("exists")));
}
