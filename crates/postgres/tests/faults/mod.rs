//! Faults that only a log in a database has: servers that lose what they acknowledge, several nodes at
//! once, damage, and what erased streams leave behind.

use std::sync::Arc;
use std::time::Duration;

use consort_log::conformance::{all, append, bodies, names, record, row};
use consort_log::{Append, Compact, Error, Log, Query, Record, Row};
use consort_postgres::{OpenError, PgLog};
use consort_test_postgres::{Database, Server, database};
use futures::future::{join_all, try_join_all};

async fn open(database: &Database) -> PgLog {
    PgLog::open(database.url()).await.unwrap()
}

fn refusal(opened: Result<PgLog, OpenError>) -> String {
    match opened.err().expect("opening is refused") {
        OpenError::Refused(reason) => reason,
        away @ OpenError::Away(_) => panic!("{away}"),
    }
}

#[tokio::test]
async fn a_server_that_would_lose_what_it_acknowledges_is_refused() {
    for setting in ["fsync", "full_page_writes"] {
        let Some(server) = Server::start(&[&format!("{setting}=off")]) else { return };
        let said = refusal(PgLog::open(server.database().await.url()).await);
        assert!(said.contains(&format!("{setting} = off")), "{said}");
    }
}

#[tokio::test]
async fn a_session_is_set_right_so_that_a_commit_is_on_the_disk() {
    let Some(database) = database().await else { return };
    let (_, name) = database.url().split('?').next().unwrap().rsplit_once('/').unwrap();
    database.execute(&format!("ALTER DATABASE {name} SET synchronous_commit = off")).await;
    let log = open(&database).await;
    log.append(append("a", 0, &["0"])).await.unwrap();
    assert_eq!(log.synchronous_commit().await.unwrap(), "on");
}

#[tokio::test]
async fn databases_that_are_unreachable_unknown_newer_or_encoded_otherwise_are_named_in_words() {
    let Some(database) = database().await else { return };
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let away = PgLog::open_within(&database.through(nobody), Duration::ZERO).await.err().unwrap();
    assert!(matches!(&away, OpenError::Away(reason) if reason.contains(&nobody.to_string())), "{away}");
    let unknown = database.url().replace("?", "x?");
    assert!(refusal(PgLog::open(&unknown).await).contains("does not exist"));
    drop(open(&database).await);
    database.execute("UPDATE consort.meta SET schema = 99").await;
    assert!(refusal(PgLog::open(database.url()).await).contains("newer Consort (version 99"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_start_at_the_same_moment_make_the_tables_once() {
    let Some(database) = database().await else { return };
    let logs = try_join_all((0..8).map(|_| PgLog::open(database.url()))).await.unwrap();
    for (place, log) in logs.iter().enumerate() {
        log.append(append("a", place as u64, &[&place.to_string()])).await.unwrap();
    }
    assert_eq!(bodies(&logs[0], "a").await.len(), 8);
    assert_eq!(database.query("SELECT format FROM consort.meta").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_nodes_that_claim_a_key_at_the_same_moment_one_gets_it_and_the_others_hear_who() {
    let Some(database) = database().await else { return };
    let logs = [open(&database).await, open(&database).await, open(&database).await];
    for round in 0..20 {
        let claim = |node: usize| {
            let keys = vec![format!("key{round}"), format!("other{round}")];
            let keys = if node == 1 { keys.into_iter().rev().collect() } else { keys };
            Append { claims: keys, ..append(&format!("r{round}n{node}"), 0, &["0"]) }
        };
        let results = join_all(logs.iter().enumerate().map(|(node, log)| log.append(claim(node)))).await;
        let winners: Vec<usize> = (0..3).filter(|node| results[*node].is_ok()).collect();
        let [winner] = winners[..] else { panic!("{results:?}") };
        for result in results.iter().filter(|result| result.is_err()) {
            let by = format!("r{round}n{winner}");
            assert!(matches!(result, Err(Error::Claimed { by: holder, .. }) if *holder == by), "{result:?}");
        }
        let wrote = names(&logs[0], Query { stream: Some(format!("r{round}n{winner}")), ..all() }).await;
        assert_eq!(wrote.len(), 1);
    }
    assert_eq!(names(&logs[0], all()).await.len(), 20);
}

#[tokio::test]
async fn texts_come_back_whatever_is_in_them() {
    let Some(database) = database().await else { return };
    let log = open(&database).await;
    let odd = "a\0b\u{10}'\\\"\u{1e}ü";
    let row =
        Row { words: Some(odd.into()), tags: [(odd.to_owned(), odd.to_owned())].into(), body: odd.into(), ..row() };
    let records = vec![Record { body: odd.into(), attachments: vec![odd.into()] }, record(odd)];
    let written =
        Append { records: records.clone(), row: row.clone(), claims: vec![odd.into()], ..append(odd, 0, &[]) };
    log.append(written.clone()).await.unwrap();
    assert_eq!(log.read(odd, 0, 9).await.unwrap(), records);
    let query =
        Query { claim: Some(odd.into()), tags: vec![(odd.into(), Some(odd.into()))], words: Some("b".into()), ..all() };
    assert_eq!(log.list(query).await.unwrap().rows, [(odd.into(), row)]);
    let claimed = Err(Error::Claimed { key: odd.into(), by: odd.into() });
    assert_eq!(log.append(Append { stream: "other".into(), ..written }).await, claimed);
}

#[tokio::test]
async fn an_append_that_cannot_be_written_fails_alone() {
    let Some(database) = database().await else { return };
    let log = open(&database).await;
    let appends =
        [append("a", 0, &["0"]), Append { epoch: u64::MAX, ..append("b", 0, &["0"]) }, append("a", 1, &["1"])];
    let results = join_all(appends.into_iter().map(|append| log.append(append))).await;
    assert!(matches!(results.as_slice(), [Ok(()), Err(Error::Unavailable(_)), Ok(())]), "{results:?}");
    assert_eq!(bodies(&log, "a").await, ["0", "1"]);
}

#[tokio::test]
async fn damage_is_found_and_concerns_one_stream_only() {
    let Some(database) = database().await else { return };
    let log = open(&database).await;
    let attached = Record { body: "{}".into(), attachments: vec!["long".into()] };
    for name in ["body", "gone", "newer", "text", "sound"] {
        log.append(append(name, 0, &["0", "1"])).await.unwrap();
        log.append(Append { records: vec![attached.clone()], ..append(name, 2, &[]) }).await.unwrap();
    }
    let of = |name: &str| format!("stream = (SELECT id FROM consort.streams WHERE name = '{name}')");
    for sql in [
        format!("UPDATE consort.records SET body = 'x' WHERE seq = 2 AND {}", of("body")),
        format!("DELETE FROM consort.records WHERE seq = 0 AND {}", of("gone")),
        format!("UPDATE consort.records SET version = 99 WHERE seq = 2 AND {}", of("newer")),
        format!("UPDATE consort.attachments SET text = 'other' WHERE {}", of("text")),
    ] {
        database.execute(&sql).await;
    }
    for (name, seq, said) in
        [("body", 2, "checksum"), ("gone", 0, "missing"), ("newer", 2, "version 99"), ("text", 2, "attachment")]
    {
        let read = log.read(name, 0, 9).await;
        let is_found = |error: &Error| {
            matches!(error, Error::Damaged { stream, seq: at, reason }
            if stream == name && *at == seq && reason.contains(said))
        };
        assert!(read.as_ref().is_err_and(is_found), "{name}: {read:?}");
    }
    assert_eq!(log.read("sound", 1, 9).await.unwrap(), [record("1"), attached]);
}

#[tokio::test]
async fn a_row_that_was_changed_is_damaged_alone_and_one_of_an_earlier_node_is_not() {
    let Some(database) = database().await else { return };
    let log = open(&database).await;
    let spoil = [
        ("body", "body = '{}x'"),
        ("status", "status = 'DONE'"),
        ("owner", "owner = 'other'"),
        ("kind", "kind = 'turn'"),
        ("start", "started_at = 7"),
        ("end", "ended_at = 7"),
        ("tags", r#"tags = '{"a": "2"}'"#),
        ("length", "length = 0"),
    ];
    for name in spoil.iter().map(|(name, _)| *name).chain(["sound"]) {
        log.append(append(name, 0, &["0"])).await.unwrap();
    }
    for (name, change) in spoil {
        database.execute(&format!("UPDATE consort.streams SET {change} WHERE name = '{name}'")).await;
    }
    let rows = log.list(all()).await.unwrap().rows;
    let sound: Vec<&str> = rows.iter().filter(|(_, row)| !row.is_damaged()).map(|(name, _)| &**name).collect();
    assert_eq!((rows.len(), sound), (spoil.len() + 1, vec!["sound"]));
    // A node that does not know of checksums gives its row another append.
    let earlier = "UPDATE consort.streams SET status = 'DONE', append = 'another' WHERE name = 'sound'";
    database.execute(earlier).await;
    log.append(append("body", 1, &["1"])).await.unwrap();
    log.erase(vec!["status".into()]).await.unwrap();
    let rows = log.list(all()).await.unwrap().rows;
    let mut sound: Vec<&str> = rows.iter().filter(|(_, row)| !row.is_damaged()).map(|(name, _)| &**name).collect();
    sound.sort_unstable();
    assert_eq!((rows.len(), sound), (spoil.len(), vec!["body", "sound"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_erased_while_it_grows_leaves_nothing_behind() {
    let Some(database) = database().await else { return };
    let log = Arc::new(open(&database).await);
    let other = Arc::new(open(&database).await);
    for round in 0..30 {
        let name = format!("s{round}");
        let writing = tokio::spawn({
            let log = log.clone();
            let name = name.clone();
            async move {
                let with = |seq| Append { claims: vec![format!("{name}/{seq}")], ..append(&name, seq, &["x"]) };
                for seq in 0..5 {
                    if log.append(with(seq)).await.is_err() {
                        break;
                    }
                }
            }
        });
        while !writing.is_finished() {
            other.erase(vec![name.as_str().into()]).await.unwrap();
        }
        writing.await.unwrap();
        log.erase(vec![name.as_str().into()]).await.unwrap();
    }
    for table in ["streams", "records", "claims", "attachments", "words"] {
        assert_eq!(database.query(&format!("SELECT 1 FROM consort.{table}")).await.len(), 0, "{table}");
    }
}

#[tokio::test]
async fn nothing_of_an_erased_stream_is_in_the_files_of_the_tables_after_compacting() {
    let Some(database) = database().await else { return };
    let log = open(&database).await;
    let secret = "the-secret-of-the-erased-stream";
    let attached = Record { body: secret.into(), attachments: vec![secret.into()] };
    let row = Row { words: Some(secret.into()), body: secret.into(), ..row() };
    log.append(Append { records: vec![attached], row, claims: vec![secret.into()], ..append(secret, 0, &[]) })
        .await
        .unwrap();
    log.append(append("kept", 0, &["0"])).await.unwrap();
    log.erase(vec![secret.into()]).await.unwrap();
    assert_eq!(names(&log, all()).await, ["kept"]);
    log.compact().await.unwrap();
    let rows = database
        .query(
            "SELECT count(*) FILTER (WHERE position('the-secret-of'::bytea IN pg_read_binary_file(path)) > 0), count(*)
            FROM (SELECT pg_relation_filepath(c.oid) AS path FROM pg_class c
                WHERE c.relkind IN ('r', 'i', 't') AND c.relnamespace IN ('consort'::regnamespace, 'pg_toast'::regnamespace)) f
            WHERE path IS NOT NULL",
        )
        .await;
    let found: i64 = rows[0].get(0);
    let files: i64 = rows[0].get(1);
    assert!(found == 0 && files > 10, "{found} of {files} files hold it");
    assert_eq!(bodies(&log, "kept").await, ["0"]);
}
