//! The cost of an append in CPU time, of the node and of the database: so many writers, each with
//! streams of its own, append as a run does. Beside it the same load on SQLite.
//! `cargo run --release --example cost -p consort-postgres -- WRITERS SECONDS`

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a measurement that fails says so by ending")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use consort_log::conformance::{append, row};
use consort_log::{Append, Log, Row, SqliteLog};
use consort_postgres::PgLog;
use consort_test_postgres::Server;
use futures::future::join_all;

/// The clock ticks of a second in `/proc`.
const TICKS: f64 = 100.0;
/// The appends of a stream, as of a run with three tasks.
const APPENDS: u64 = 9;
/// The records of an append, and their size.
const RECORDS: usize = 4;
const RECORD_BYTES: usize = 700;

/// The result of a measurement.
struct Cost {
    appends: usize,
    time: Duration,
    node: f64,
    p50: Duration,
    p99: Duration,
}

#[tokio::main]
async fn main() {
    let number = |place: usize, usual: u64| std::env::args().nth(place).map_or(usual, |word| word.parse().unwrap());
    let writers = number(1, 64);
    let seconds = number(2, 10);
    let time = Duration::from_secs(seconds);
    println!("{writers} writers, {APPENDS} appends a stream, {RECORDS} records of {RECORD_BYTES} bytes each");
    let folder = std::env::temp_dir().join(format!("consort-cost-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let sqlite = Arc::new(SqliteLog::open(&folder.join("log.db")).unwrap());
    tell("SQLite", &load(sqlite, writers, time).await, None);
    std::fs::remove_dir_all(&folder).unwrap();
    let Some(server) = Server::start(&[]) else { return };
    let database = server.database().await;
    let log = Arc::new(PgLog::open(database.url()).await.unwrap());
    let before = family(server.pid());
    let cost = load(log, writers, time).await;
    tell("PostgreSQL", &cost, Some(family(server.pid()) - before));
}

fn tell(name: &str, cost: &Cost, database: Option<f64>) {
    let Cost { appends, time, node, p50, p99 } = cost;
    let each = |seconds: f64| seconds * 1e6 / *appends as f64;
    let rate = *appends as f64 / time.as_secs_f64();
    println!("{name}: {rate:.0} appends/s, p50 {p50:.1?}, p99 {p99:.1?}, {:.0} µs of the node each", each(*node));
    if let Some(seconds) = database {
        println!("{name}: {:.0} µs of the database each", each(seconds));
    }
}

/// Appends for a while.
async fn load(log: Arc<dyn Log>, writers: u64, time: Duration) -> Cost {
    let body = format!("{{\"text\":\"{}\"}}", "x".repeat(RECORD_BYTES));
    let begun = Instant::now();
    let before = own();
    let tasks = (0..writers).map(|writer| {
        let log = log.clone();
        let body = body.clone();
        tokio::spawn(async move {
            let mut took = Vec::new();
            for stream in 0.. {
                let name = format!("{writer}/{stream}");
                for place in 0..APPENDS {
                    if begun.elapsed() >= time {
                        return took;
                    }
                    let row = Row { body: body.as_str().into(), ..row() };
                    let claims = if place == 0 { vec![format!("key/{name}")] } else { Vec::new() };
                    let records = append(&name, place * RECORDS as u64, &[body.as_str(); RECORDS]);
                    let sent = Instant::now();
                    log.append(Append { row, claims, epoch: 1, ..records }).await.unwrap();
                    took.push(sent.elapsed());
                }
            }
            took
        })
    });
    let mut took: Vec<Duration> = join_all(tasks).await.into_iter().flat_map(Result::unwrap).collect();
    let node = own() - before;
    took.sort();
    let at = |part: usize| took[(took.len() - 1) * part / 100];
    Cost { appends: took.len(), time: begun.elapsed(), node, p50: at(50), p99: at(99) }
}

/// Returns the CPU time of this process in seconds.
fn own() -> f64 {
    used(Path::new("/proc/self/stat"), &[13, 14])
}

/// Returns the CPU time of a process, its children and those that have ended.
fn family(parent: u32) -> f64 {
    let ended = used(Path::new(&format!("/proc/{parent}/stat")), &[13, 14, 15, 16]);
    let children = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.unwrap().path().join("stat");
        let text = std::fs::read_to_string(&path).ok()?;
        let is_child = fields(&text).get(3)? == &parent.to_string();
        is_child.then(|| used(&path, &[13, 14]))
    });
    ended + children.sum::<f64>()
}

fn used(path: &Path, places: &[usize]) -> f64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let fields = fields(&text);
    places.iter().filter_map(|place| fields.get(*place)?.parse::<f64>().ok()).sum::<f64>() / TICKS
}

/// Returns the fields of a process; the second, its name, may hold blanks.
fn fields(text: &str) -> Vec<String> {
    let (before, after) = text.rsplit_once(')').unwrap_or_default();
    let rest = after.split_whitespace().map(str::to_owned);
    [before.to_owned(), String::new()].into_iter().chain(rest).collect()
}
