//! Lost connections: before, during and after commits. No append is doubled, none is lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use consort_log::conformance::{Case, append, bodies, cases, row};
use consort_log::{Append, Error, Log, Query, Row, Seq};
use consort_postgres::PgLog;
use consort_test_postgres::database;
use futures::future::join_all;
use tokio::net::TcpListener;

use crate::proxy::{Cut, EVERY, Proxy};

#[tokio::test(flavor = "multi_thread")]
async fn the_log_conforms_when_the_connection_is_cut_at_every_moment_of_every_append() {
    for Case { name, run } in cases() {
        println!("{name}");
        let Some(database) = database().await else { return };
        let proxy = Proxy::start(database.host(), &EVERY).await;
        run(Arc::new(PgLog::open(&database.through(proxy.port())).await.unwrap())).await;
        assert!(proxy.seen() >= EVERY.len(), "{} appends were sent", proxy.seen());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_writers_with_cut_connections_each_acknowledged_append_is_there_once_and_no_refused_one() {
    const WRITERS: usize = 12;
    const EACH: usize = 10;
    let Some(database) = database().await else { return };
    let proxy = Proxy::start(database.host(), &EVERY).await;
    // Two nodes: their writers know nothing of each other.
    let address = database.through(proxy.port());
    let nodes = [PgLog::open(&address), PgLog::open(&address)];
    let nodes: Vec<Arc<PgLog>> = join_all(nodes).await.into_iter().map(|log| Arc::new(log.unwrap())).collect();
    let writers = (0..WRITERS).map(|writer| {
        let log = nodes[writer % 2].clone();
        tokio::spawn(async move {
            let mut stored = Vec::new();
            let mut refused = Vec::new();
            for round in 0..EACH {
                // One stream is everybody's: without an epoch, with bytes that differ by writer and try.
                for attempt in 0.. {
                    let length = log.read("shared", 0, usize::MAX).await.unwrap().len() as Seq;
                    let body = format!("{writer}/{round}/{attempt}");
                    match log.append(append("shared", length, &[&body])).await {
                        Ok(()) => {
                            stored.push(body);
                            break;
                        }
                        Err(Error::Fenced) => refused.push(body),
                        Err(error) => panic!("{error}"),
                    }
                }
                log.append(append(&format!("own{writer}"), round as Seq, &[&round.to_string()])).await.unwrap();
            }
            (stored, refused)
        })
    });
    let outcomes: Vec<(Vec<String>, Vec<String>)> = join_all(writers).await.into_iter().map(Result::unwrap).collect();
    let mut found = bodies(&*nodes[0], "shared").await;
    found.sort();
    let mut stored: Vec<String> = outcomes.iter().flat_map(|(stored, _)| stored.clone()).collect();
    stored.sort();
    assert_eq!(found, stored);
    assert!(outcomes.iter().flat_map(|(_, refused)| refused).all(|body| !found.contains(body)));
    for writer in 0..WRITERS {
        let expected: Vec<String> = (0..EACH).map(|round| round.to_string()).collect();
        assert_eq!(bodies(&*nodes[1], &format!("own{writer}")).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_is_unavailable_and_an_append_on_its_way_waits_for_it() {
    let Some(database) = database().await else { return };
    let proxy = Proxy::start(database.host(), &[Cut::Never, Cut::Closing, Cut::Never]).await;
    let log = Arc::new(PgLog::open(&database.through(proxy.port())).await.unwrap());
    log.append(append("a", 0, &["0"])).await.unwrap();
    // The second is stored, and its acknowledgement lost; then nobody reaches the database.
    let writing = tokio::spawn({
        let log = log.clone();
        async move { log.append(append("a", 1, &["1"])).await }
    });
    while !proxy.is_closed() {
        tokio::task::yield_now().await;
    }
    let asked = Instant::now();
    let read = log.read("a", 0, 9).await;
    assert!(matches!(&read, Err(Error::Unavailable(reason)) if reason.contains("away")), "{read:?}");
    let refused = log.append(append("b", 0, &["0"])).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(asked.elapsed() < Duration::from_secs(60));
    assert!(!writing.is_finished(), "nobody knows what became of it");
    proxy.open();
    writing.await.unwrap().unwrap();
    assert_eq!(bodies(&*log, "a").await, ["0", "1"]);
    log.append(append("b", 0, &["0"])).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_arrives_late_on_a_lost_connection_replaces_no_later_one() {
    let Some(database) = database().await else { return };
    let proxy = Proxy::start(database.host(), &[Cut::Never, Cut::Late, Cut::Never, Cut::Never, Cut::Never]).await;
    let log = PgLog::open(&database.through(proxy.port())).await.unwrap();
    log.append(append("a", 0, &["0"])).await.unwrap();
    for body in ["first", "second"] {
        let row = Row { body: body.into(), ..row() };
        log.append(Append { row, ..append("a", 1, &[]) }).await.unwrap();
    }
    proxy.let_go().await;
    let found = log.list(Query { stream: Some("a".to_owned()), limit: 1, ..Query::default() }).await.unwrap();
    assert_eq!(&*found.rows[0].1.body, "second");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_takes_connections_and_is_silent_keeps_nobody_from_the_next() {
    let Some(database) = database().await else { return };
    // As a machine that is frozen does: the system takes the connection, and nobody answers.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let address = database.url().replacen('@', &format!("@127.0.0.1:{port},"), 1);
    let log = PgLog::open_within(&address, Duration::from_secs(60)).await.unwrap();
    log.append(append("a", 0, &["0"])).await.unwrap();
    assert_eq!(bodies(&log, "a").await, ["0"]);
}
