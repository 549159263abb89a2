//! Three servers that are stopped in order and started again, one after the other, while clients use all of them. No
//! request is lost that is sent to another server when the first refuses it, every run changes hands without anybody
//! waiting for a lease, and nobody finds anything damaged. `CONSORT_NODE_ROLLS` says how often all three are restarted;
//! `CONSORT_OLD_BIN` names an earlier version as which they begin, so that the first time is an upgrade.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use consort_test_postgres::database;
use futures::future::join_all;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use super::clients::{Clients, Seen, Times, counted, run_id};
use super::outside::Outside;
use super::trio::{NAMES, Trio, cluster};
use crate::binary::CONSORT;
use crate::dice::{Dice, number, say};

/// The restarts of all three in every test run.
const ROLLS: u64 = 1;
/// Clients that work at the same time.
const AT_ONCE: usize = 6;
/// The time of an answer and of a call, and of the answers of some runs, which a server that stops waits for.
const PAUSE: Duration = Duration::from_millis(60);
const LONG_MS: u64 = 1_200;
/// One of so many runs has long answers.
const LONG_EVERY: u64 = 4;
/// Runs that a server has when it is stopped.
const RUNS_MIN: u64 = 2;
/// The longest time, at full numbers, between the last effect of a run at one server and its first event at the next.
const HAND_OVER_MAX: Duration = Duration::from_secs(1);

/// A client's work until it is told to stop: runs, each begun under a key and followed to its end.
struct Worker {
    clients: Clients,
    dice: Dice,
    number: usize,
    stop: Arc<AtomicBool>,
}

impl Worker {
    async fn work(mut self) -> Vec<Vec<Seen>> {
        let mut runs = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            let text = match self.dice.one_in(LONG_EVERY) {
                true => format!("through the door [pause {LONG_MS}]"),
                false => "through the door".to_owned(),
            };
            let body = json!({ "tasks": [{ "name": "a", "description": text, "tools": ["door"] }] });
            let key = format!("{}-{}", self.number, runs.len());
            let begin = |place| self.clients.post(place, "/api/runs", &body).header("idempotency-key", &key);
            let place = self.dice.roll(3) as usize;
            let Some(answer) = self.clients.send_twice(place, begin).await else { continue };
            let run = run_id(answer).await;
            runs.push(self.clients.clone().follow(run, self.dice.roll(3) as usize).await);
            self.look().await;
        }
        runs
    }

    /// Looks at the newest runs; none of them is damaged.
    async fn look(&mut self) {
        let list = |place| self.clients.get(place, "/api/runs?limit=50");
        let Some(answer) = self.clients.send_twice(self.dice.roll(3) as usize, list).await else { return };
        let listed: Value = answer.json().await.unwrap();
        let damaged = listed["runs"].as_array().unwrap().iter().find(|run| run["damaged"] == true);
        assert_eq!(damaged, None);
    }
}

/// The moments at which servers were asked to stop: the place, and the time in milliseconds.
type Stops = Vec<(usize, i64)>;

/// Returns how long a run was without an owner each time that it changed hands: since the last event before, or since its
/// server was asked to stop, whichever is later.
fn hand_overs(events: &[Seen], stops: &Stops) -> Vec<Duration> {
    let mut times = Vec::new();
    let mut owner = None;
    for (place, event) in events.iter().enumerate().filter(|(_, event)| event.frame["type"] == "run_adopted") {
        if event.is_adoption("drained") {
            let is_its = |(place, at): &&(usize, i64)| Some(NAMES[*place]) == owner && *at <= event.at();
            let stop = stops.iter().rev().find(is_its).unwrap_or_else(|| panic!("{events:#?}")).1;
            let free = stop.max(events[place - 1].at());
            times.push(Duration::from_millis(u64::try_from(event.at() - free).unwrap_or_default()));
        }
        owner = event.frame["node"].as_str();
    }
    times
}

/// Stops every server and starts it again, one after the other.
async fn roll(trio: &mut Trio, clients: &Clients, stops: &mut Stops, times: &mut Times) {
    for (place, name) in NAMES.into_iter().enumerate() {
        let has_runs = |cluster: &Value| {
            let nodes = cluster["nodes"].as_array().unwrap();
            nodes.iter().any(|node| node["name"] == name && node["runs"].as_u64() >= Some(RUNS_MIN))
        };
        trio.until(place, "/api/cluster", has_runs).await;
        stops.push((place, Timestamp::now().as_millisecond()));
        times.add(block_in_place(|| trio.server(place).stop()));
        block_in_place(|| trio.server(place).restart());
        trio.until(place, "/api/health/ready", |_ready| true).await;
        // Who was refused while it started is not to meet the next one that stops.
        clients.settled().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_that_are_restarted_one_after_the_other_lose_no_request_and_hand_their_runs_over() {
    let Some(database) = database().await else { return };
    let mut dice = Dice::seeded();
    let rolls = number("CONSORT_NODE_ROLLS").unwrap_or(ROLLS);
    say(&dice.again("CONSORT_NODE_ROLLS", rolls));
    let old = std::env::var("CONSORT_OLD_BIN").unwrap_or_else(|_unset| CONSORT.to_owned());
    let outside = Outside::start(PAUSE, true).await;
    let server = "[server]\nmax_concurrent_runs = 100\nmax_retained_completed_runs = 100000\n";
    let settings = format!("{}{server}{}", outside.config(""), cluster(database.url()));
    let mut trio = Trio::start_as(&old, |_place, _port| settings.clone()).await;
    let clients = Clients::of(&trio);
    let stop = Arc::new(AtomicBool::new(false));
    let workers = (0..AT_ONCE).map(|number| {
        let worker = Worker { clients: clients.clone(), dice: dice.split(), number, stop: stop.clone() };
        tokio::spawn(worker.work())
    });
    let workers: Vec<_> = workers.collect();
    let mut stops = Stops::new();
    let mut drains = Times::default();
    for _roll in 0..rolls {
        roll(&mut trio, &clients, &mut stops, &mut drains).await;
    }
    stop.store(true, Ordering::Relaxed);
    let runs: Vec<Vec<Seen>> = join_all(workers).await.into_iter().flat_map(|done| done.unwrap()).collect();
    let mut times = Times::default();
    for events in &runs {
        assert!(!events.iter().any(|event| event.is_adoption("takeover")), "a lease was waited for: {events:#?}");
        assert_eq!(events.last().unwrap().frame["type"], "ensemble_completed");
        hand_overs(events, &stops).into_iter().for_each(|time| times.add(time));
    }
    let failures = clients.failures();
    say(&format!(
        "{} restarts, {} runs: hand-overs {}; a stop took {}; answers to be sent elsewhere: {}; lost: {}",
        stops.len(),
        runs.len(),
        times.told(),
        drains.told(),
        counted(&failures),
        clients.lost()
    ));
    assert!(times.len() > 0, "no run changed hands");
    assert_eq!(clients.lost(), 0, "{failures:#?}");
    assert_eq!(trio.complaints(), [""; 0]);
    outside.check_calls();
    assert_eq!(outside.calls(), runs.len(), "each run has made its call once");
    if number("CONSORT_NODE_ROLLS").is_some() {
        assert!(times.percentile(99) <= HAND_OVER_MAX, "{}", times.told());
    }
}
