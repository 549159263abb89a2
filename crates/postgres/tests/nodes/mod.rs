//! Several nodes over one database: leases, evictions, claims, duties and news.

use std::time::Duration;

use consort_core::event::COMMON_VERSION;
use consort_core::queue::Priority;
use consort_log::cluster::{Claimed, Cluster, Identity, Line, Membership, Notes, Ownership, Vacancy, Waiting};
use consort_log::conformance::{append, bodies, row};
use consort_log::{Append, Error, Log, Row, VERSION};
use consort_postgres::{OpenError, PgCluster, PgLog, join};
use consort_test_postgres::{Database, database};
use futures::future::join_all;
use tokio::time::Instant;

use crate::proxy::{Cut, Proxy};

/// The kinds that are claimed.
const KINDS: [&str; 2] = ["run", "turn"];
/// A lease that nobody outlives in a test.
const LONG: Duration = Duration::from_secs(600);
/// A lease whose beats a test can wait for. A node on a busy machine may lose it: no test depends on that it does not.
const SHORT: Duration = Duration::from_secs(1);

fn identity(name: &str, config: &str, lease: Duration) -> Identity {
    let address = format!("http://{name}");
    Identity { name: name.into(), address, version: "1".into(), config: config.into(), lease }
}

struct Node {
    log: PgLog,
    cluster: PgCluster,
}

async fn node(database: &Database, name: &str, config: &str, lease: Duration) -> Node {
    let log = PgLog::open(database.url()).await.unwrap();
    let cluster = PgCluster::join(&log, identity(name, config, lease)).await.unwrap();
    Node { log, cluster }
}

fn of_epoch(epoch: u64, stream: &str, expected: u64) -> Append {
    Append { epoch, ..append(stream, expected, &["x"]) }
}

fn named(claimed: &[Claimed]) -> Vec<(&str, u64, Vacancy)> {
    claimed.iter().map(|claimed| (&*claimed.stream, claimed.epoch, claimed.reason)).collect()
}

#[tokio::test]
async fn who_appends_with_an_epoch_owns_the_stream_and_what_nobody_owns_is_claimed_once() {
    let Some(database) = database().await else { return };
    let a = node(&database, "a", "same", LONG).await;
    let b = node(&database, "b", "same", LONG).await;
    a.log.append(of_epoch(1, "owned", 0)).await.unwrap();
    a.log.append(of_epoch(0, "queued", 0)).await.unwrap();
    let ended = Row { ended_at: Some(1), ..row() };
    a.log.append(Append { row: ended, ..of_epoch(0, "ended", 0) }).await.unwrap();
    let thread = Row { kind: "thread".into(), ..row() };
    a.log.append(Append { row: thread, ..of_epoch(0, "thread", 0) }).await.unwrap();
    assert_eq!(named(&a.cluster.mine(&KINDS).await.unwrap()), [("owned", 1, Vacancy::Unowned)]);
    assert_eq!(named(&b.cluster.claim(&KINDS, 9).await.unwrap()), [("queued", 1, Vacancy::Unowned)]);
    assert_eq!(b.cluster.claim(&KINDS, 9).await.unwrap(), []);
    assert_eq!(b.cluster.take("owned").await.unwrap(), None);
    assert_eq!(b.cluster.take("ended").await.unwrap(), None);
    assert_eq!(a.log.append(of_epoch(0, "queued", 1)).await, Err(Error::Fenced), "the claim has fenced everybody else");
    b.log.append(of_epoch(1, "queued", 1)).await.unwrap();
    let runs = |nodes: Vec<consort_log::cluster::Node>| {
        nodes.into_iter().map(|node| (node.name, node.address, node.draining, node.runs)).collect::<Vec<_>>()
    };
    let one = ("a".into(), "http://a".into(), false, 1);
    let other = ("b".into(), "http://b".into(), false, 1);
    assert_eq!(runs(b.cluster.nodes().await.unwrap()), [one, other]);
}

#[tokio::test]
async fn what_a_node_gives_up_another_claims_and_the_first_can_write_no_more() {
    let Some(database) = database().await else { return };
    let a = node(&database, "a", "one", LONG).await;
    let b = node(&database, "b", "other", LONG).await;
    a.log.append(of_epoch(1, "run", 0)).await.unwrap();
    let mine = a.cluster.mine(&KINDS).await.unwrap();
    let stale = Claimed { epoch: 7, ..mine[0].clone() };
    a.cluster.give_up(vec![stale]).await.unwrap();
    assert_eq!(b.cluster.claim(&KINDS, 9).await.unwrap(), [], "another epoch is another owner's");
    a.cluster.drain().await.unwrap();
    a.cluster.give_up(mine).await.unwrap();
    assert_eq!(a.log.append(of_epoch(1, "run", 1)).await, Err(Error::Fenced));
    assert_eq!(a.cluster.claim(&KINDS, 9).await.unwrap(), [], "a node that drains claims nothing");
    assert!(a.cluster.nodes().await.unwrap()[0].draining);
    assert_eq!(named(&b.cluster.claim(&KINDS, 9).await.unwrap()), [("run", 3, Vacancy::GivenUp)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_claim_at_the_same_moment_share_the_streams_and_none_gets_more_than_it_has_room_for() {
    const STREAMS: usize = 60;
    let Some(database) = database().await else { return };
    let nodes = join_all(["a", "b", "c"].map(|name| node(&database, name, "same", LONG))).await;
    for place in 0..STREAMS {
        nodes[0].log.append(of_epoch(0, &format!("s{place}"), 0)).await.unwrap();
    }
    let mut claimed = Vec::new();
    while claimed.len() < STREAMS {
        let some = join_all(nodes.iter().map(|node| node.cluster.claim(&KINDS, 7))).await;
        let some: Vec<Vec<Claimed>> = some.into_iter().map(Result::unwrap).collect();
        assert!(some.iter().all(|some| some.len() <= 7) && some.iter().any(|some| !some.is_empty()));
        claimed.extend(some.into_iter().flatten().map(|claimed| claimed.stream));
    }
    claimed.sort();
    claimed.dedup();
    assert_eq!(claimed.len(), STREAMS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_not_heard_of_is_evicted_and_its_runs_go_to_nodes_configured_alike() {
    let Some(database) = database().await else { return };
    let dead = node(&database, "dead", "same", LONG).await;
    dead.log.append(of_epoch(1, "run", 0)).await.unwrap();
    let other = node(&database, "other", "different", LONG).await;
    let alike = node(&database, "alike", "same", LONG).await;
    let _evicts = node(&database, "third", "third", SHORT).await;
    // As long after a kill: nobody beats, nobody said goodbye, and the lease has passed.
    let Node { log, cluster } = dead;
    drop(cluster);
    database.execute("UPDATE consort.nodes SET lease_until = 1 WHERE name = 'dead'").await;
    let names = async || alike.cluster.nodes().await.unwrap().into_iter().map(|node| node.name).collect::<Vec<_>>();
    while names().await != ["alike", "other", "third"] {
        tokio::task::yield_now().await;
    }
    // The first minute after that lasts as long as the test.
    database.execute("UPDATE consort.nodes SET evicted_at = evicted_at + 3600000 WHERE name = 'dead'").await;
    assert_eq!(other.cluster.claim(&KINDS, 9).await.unwrap(), [], "the first minute is not its own");
    let claimed = alike.cluster.claim(&KINDS, 9).await.unwrap();
    assert_eq!(named(&claimed), [("run", 2, Vacancy::Evicted)]);
    assert_eq!(log.append(of_epoch(1, "run", 1)).await, Err(Error::Fenced));
    alike.log.append(of_epoch(2, "run", 1)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_finds_itself_evicted_begins_a_new_term_under_a_new_id() {
    let Some(database) = database().await else { return };
    let a = node(&database, "a", "same", SHORT).await;
    let lease = a.cluster.lease();
    let term = lease.term();
    let before = a.cluster.nodes().await.unwrap()[0].id.clone();
    database.execute("UPDATE consort.nodes SET evicted_at = 1").await;
    lease.evicted(term).await;
    lease.current(lease.term()).await.unwrap();
    assert!(!lease.is_current(term));
    let nodes = a.cluster.nodes().await.unwrap();
    assert!(nodes.len() == 1 && nodes[0].id != before, "{nodes:?}");
    a.log.append(of_epoch(1, "run", 0)).await.unwrap();
    assert_eq!(a.cluster.mine(&KINDS).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_duty_is_one_node_s_until_its_time_has_passed() {
    let Some(database) = database().await else { return };
    let a = node(&database, "a", "same", LONG).await;
    let b = node(&database, "b", "same", LONG).await;
    assert!(a.cluster.duty("janitor").await.unwrap());
    assert!(!b.cluster.duty("janitor").await.unwrap());
    assert!(a.cluster.duty("janitor").await.unwrap(), "who has it keeps it");
    assert!(b.cluster.duty("network").await.unwrap(), "another duty is another matter");
    database.execute("UPDATE consort.duties SET until = 1").await;
    assert!(b.cluster.duty("janitor").await.unwrap());
    assert!(!a.cluster.duty("janitor").await.unwrap());
    b.cluster.drain().await.unwrap();
    assert!(!b.cluster.duty("janitor").await.unwrap(), "a node that stops has no duties");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_hears_of_what_other_nodes_append_and_erase() {
    let Some(database) = database().await else { return };
    let a = PgLog::open(database.url()).await.unwrap();
    let b = PgLog::open(database.url()).await.unwrap();
    let mut news = a.news("s");
    let (all_seen, seen) = tokio::sync::oneshot::channel();
    let follower = async {
        for length in 1..4 {
            while bodies(&a, "s").await.len() < length {
                news.changed().await.unwrap();
            }
        }
        all_seen.send(()).unwrap();
        while !bodies(&a, "s").await.is_empty() {
            news.changed().await.unwrap();
        }
    };
    let writer = async {
        for place in 0..3 {
            b.append(append("s", place, &["x"])).await.unwrap();
        }
        seen.await.unwrap();
        b.erase(vec!["s".into()]).await.unwrap();
    };
    tokio::join!(follower, writer);
}

#[tokio::test]
async fn a_database_whose_content_was_moved_is_joined_by_nobody() {
    let Some(database) = database().await else { return };
    let joined = join(database.url(), identity("a", "same", LONG)).await.unwrap();
    assert_eq!(joined.name, "a");
    let log = PgLog::open(database.url()).await.unwrap();
    assert_eq!(log.live_nodes().await.unwrap(), ["a"]);
    log.retire("/elsewhere").await.unwrap();
    let refused = join(database.url(), identity("b", "same", LONG)).await.err().unwrap().to_string();
    assert!(refused.contains("was moved to /elsewhere"), "{refused}");
}

/// Puts a stream that begins then into the line of all nodes.
async fn queue(node: &Node, stream: &str, started_at: u64, priority: Priority) {
    let row = Row { started_at, ..row() };
    node.log.append(Append { row, ..of_epoch(1, stream, 0) }).await.unwrap();
    let claimed = Claimed { stream: stream.into(), epoch: 1, reason: Vacancy::Unowned };
    node.cluster.queue(vec![Waiting { claimed, priority }]).await.unwrap();
}

#[tokio::test]
async fn streams_wait_in_one_line_by_priority_and_age_and_leave_it_once() {
    const LONG_AGO: u64 = 3_600_000;
    let Some(database) = database().await else { return };
    let a = node(&database, "a", "same", LONG).await;
    let b = node(&database, "b", "same", LONG).await;
    let now = a.cluster.note("x").await.unwrap().now;
    queue(&a, "low", now - 300, Priority::Low).await;
    queue(&b, "late", now - 100, Priority::Normal).await;
    queue(&a, "soon", now - 200, Priority::Normal).await;
    queue(&b, "urgent", now - 50, Priority::Critical).await;
    queue(&a, "old", now - LONG_AGO, Priority::Low).await;
    assert_eq!(a.cluster.claim(&KINDS, 9).await.unwrap(), [], "those in the line are nobody's to claim");
    let queued = b.cluster.queued(&["late", "old", "urgent", "soon", "low", "x"]).await.unwrap();
    assert_eq!((queued.length, queued.before), (5, vec![Some(3), Some(0), Some(1), Some(2), Some(4), None]));
    assert_eq!(a.log.append(of_epoch(1, "low", 1)).await, Err(Error::Fenced), "who gave it up writes no more");
    assert_eq!(named(&b.cluster.next(1).await.unwrap()), [("old", 3, Vacancy::Unowned)]);
    assert_eq!(a.cluster.take("soon").await.unwrap().unwrap().epoch, 3, "by name it leaves the line too");
    let mut rest: Vec<_> = a.cluster.next(9).await.unwrap().into_iter().map(|claimed| claimed.stream).collect();
    rest.sort();
    assert_eq!(rest.iter().map(|name| &**name).collect::<Vec<_>>(), ["late", "low", "urgent"]);
    assert_eq!(b.cluster.next(9).await.unwrap(), []);
    assert_eq!(b.cluster.queued(&[]).await.unwrap().length, 0);
    a.cluster.drain().await.unwrap();
    queue(&b, "more", now, Priority::Normal).await;
    assert_eq!(a.cluster.next(9).await.unwrap(), [], "a node that drains takes nothing");
}

#[tokio::test]
async fn what_a_newer_version_has_written_is_left_to_nodes_that_can_read_it() {
    let Some(database) = database().await else { return };
    let older = node(&database, "older", "same", LONG).await;
    let newer = node(&database, "newer", "same", LONG).await;
    let now = older.cluster.note("x").await.unwrap().now;
    for stream in ["read", "unread", "named"] {
        older.log.append(of_epoch(0, stream, 0)).await.unwrap();
    }
    queue(&older, "line", now, Priority::Normal).await;
    queue(&older, "unread line", now, Priority::Critical).await;
    // As a version that is not written yet would leave it behind.
    database.execute("UPDATE consort.nodes SET schema = 99 WHERE name = 'newer'").await;
    database.execute("UPDATE consort.streams SET schema = 99 WHERE name IN ('unread', 'named', 'unread line')").await;
    assert_eq!(named(&older.cluster.claim(&KINDS, 9).await.unwrap()), [("read", 1, Vacancy::Unowned)]);
    assert_eq!(named(&older.cluster.next(9).await.unwrap()), [("line", 3, Vacancy::Unowned)]);
    assert_eq!(older.cluster.take("named").await.unwrap(), None);
    assert_eq!(newer.cluster.take("named").await.unwrap().unwrap().epoch, 1);
    assert_eq!(named(&newer.cluster.claim(&KINDS, 9).await.unwrap()), [("unread", 1, Vacancy::Unowned)]);
    assert_eq!(named(&newer.cluster.next(9).await.unwrap()), [("unread line", 3, Vacancy::Unowned)]);
    older.log.append(of_epoch(1, "read", 1)).await.unwrap();
    let written = database.query("SELECT schema FROM consort.streams WHERE name = 'read'").await;
    assert_eq!(written[0].get::<_, i32>(0), i32::try_from(COMMON_VERSION).unwrap());
}

#[tokio::test]
async fn a_version_that_all_nodes_read_is_agreed_on_and_programs_that_do_not_read_it_are_refused_from_then_on() {
    let Some(database) = database().await else { return };
    let first = node(&database, "first", "same", LONG).await;
    assert_eq!(first.cluster.version(), VERSION);
    database.execute("UPDATE consort.nodes SET schema = 7").await;
    let second = node(&database, "second", "same", SHORT).await;
    assert_eq!(second.cluster.version(), VERSION, "the lowest, which is its own");
    database.execute("UPDATE consort.nodes SET schema = 8 WHERE name = 'second'").await;
    while second.cluster.version() != 7 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let agreed = database.query("SELECT schema FROM consort.meta").await;
    assert_eq!(agreed[0].get::<_, i32>(0), 7);
    let Err(OpenError::Refused(reason)) = PgLog::open(database.url()).await else { panic!("it is opened") };
    assert!(reason.contains("newer Consort (version 7; this one knows"), "{reason}");
    second.log.append(Append { version: 7, ..of_epoch(1, "newer", 0) }).await.unwrap();
    let written = database.query("SELECT schema FROM consort.streams WHERE name = 'newer'").await;
    assert_eq!(written[0].get::<_, i32>(0), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_is_replaced_by_one_node_at_a_time_and_by_none_that_was_evicted() {
    const EACH: usize = 20;
    let Some(database) = database().await else { return };
    let nodes = join_all(["a", "b", "c"].map(|name| node(&database, name, "same", LONG))).await;
    let counted = nodes.iter().map(|node| async {
        let mut done = 0;
        while done < EACH {
            let note = node.cluster.note("count").await.unwrap();
            let count: usize = note.text.map_or(0, |text| text.parse().unwrap());
            assert!(note.nodes.contains(&node.cluster.id()));
            done += usize::from(node.cluster.replace("count", note.version, (count + 1).to_string()).await.unwrap());
        }
    });
    join_all(counted).await;
    let note = nodes[0].cluster.note("count").await.unwrap();
    assert_eq!(note.text.unwrap(), (3 * EACH).to_string());
    let evicted = nodes[1].cluster.id();
    database.execute(&format!("UPDATE consort.nodes SET evicted_at = 1 WHERE id = '{evicted}'")).await;
    let after = nodes[0].cluster.note("count").await.unwrap();
    assert!(!after.nodes.contains(&evicted) && after.nodes.len() == 2);
    if nodes[1].cluster.id() == evicted {
        assert!(!nodes[1].cluster.replace("count", note.version, "0".to_owned()).await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_of_a_database_that_stands_still_hear_of_it_when_the_lease_is_over() {
    // Far less than a statement may take, and than each of them would wait for those before it.
    const ENOUGH: Duration = Duration::from_secs(20);
    let Some(database) = database().await else { return };
    let proxy = Proxy::start(database.host(), &[Cut::Never]).await;
    let log = PgLog::open(&database.through(proxy.port())).await.unwrap();
    let _cluster = PgCluster::join(&log, identity("a", "same", SHORT)).await.unwrap();
    log.append(append("a", 0, &["0"])).await.unwrap();
    let read = || join_all((0..20).map(|_reader| log.read("a", 0, 9)));
    assert!(read().await.iter().all(Result::is_ok), "on connections that stay open");
    proxy.stand_still();
    let began = Instant::now();
    let results = read().await;
    assert!(results.iter().all(|result| matches!(result, Err(Error::Unavailable(_)))), "{results:?}");
    assert!(began.elapsed() < ENOUGH, "{:?}", began.elapsed());
}
