//! Three servers over one PostgreSQL that are killed, and made to stand still, one after the other: every run ends, what
//! may happen once does, nobody acts for a run that is another's, and clients see every event once.
//! `CONSORT_NODE_TROUBLES` says how often.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use consort_test_postgres::database;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::task::{JoinHandle, block_in_place};

use super::clients::{Clients, Failure, Seen, Times, counted};
use super::outside::Outside;
use super::trio::{LEASE, NAMES, Trio};
use crate::dice::{Dice, number, say};

/// The number of times that something happens to a server in each test run, and the runs begun before it and during it.
const TROUBLES: u64 = 2;
const RUNS: (u64, u64) = (4, 2);
/// The runs before and during each trouble at full numbers: forty of them are a thousand runs.
const RUNS_FULL: (u64, u64) = (20, 5);
/// The time of an answer and of a call.
const PAUSE: Duration = Duration::from_millis(60);
/// The times that hold at full numbers: until another server has a run, and until one that stood still is back.
const TAKE_OVER_MAX: Duration = Duration::from_secs(LEASE.as_secs() + 2);
const BACK_MAX: Duration = Duration::from_secs(2);

/// The ways in which a server is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gone {
    Killed,
    StandingStill,
}

/// Something that happened to a server.
struct Trouble {
    victim: usize,
    /// When it began, in milliseconds, too, and when it was over.
    at_ms: i64,
    from: Instant,
    until: Instant,
}

/// Everything that goes on during a test.
struct Field {
    trio: Trio,
    clients: Clients,
    dice: Dice,
    following: Vec<(String, JoinHandle<Vec<Seen>>)>,
    troubles: Vec<Trouble>,
    /// The times until servers that stood still were back.
    back: Times,
}

fn has(cluster: &Value, name: &str) -> bool {
    cluster["nodes"].as_array().unwrap().iter().any(|node| node["name"] == name)
}

impl Field {
    /// Begins runs at the servers of these places, and follows each of them.
    async fn begin(&mut self, runs: u64, places: std::ops::Range<usize>) {
        let body = json!({ "tasks": [{ "name": "a", "description": "through the door", "tools": ["door"] }] });
        for _run in 0..runs {
            let place = places.start + self.dice.roll(places.len() as u64) as usize;
            let run = self.clients.begin(place, &body).await;
            let following = self.clients.clone().follow(run.clone(), self.dice.roll(3) as usize);
            self.following.push((run, tokio::spawn(following)));
        }
    }

    /// Kills a server, or makes it stand still, until the others know that it is gone, and lets it come back.
    async fn happen(&mut self, victim: usize, gone: Gone, runs: u64) {
        let other = victim + 1;
        let from = Instant::now();
        let at_ms = Timestamp::now().as_millisecond();
        match gone {
            Gone::Killed => block_in_place(|| self.trio.server(victim).kill()),
            Gone::StandingStill => self.trio.server(victim).stand_still(),
        }
        self.begin(runs, victim + 1..victim + 3).await;
        self.trio.until(other, "/api/cluster", |cluster| !has(cluster, NAMES[victim])).await;
        let woken = Instant::now();
        match gone {
            Gone::Killed => block_in_place(|| self.trio.server(victim).restart()),
            Gone::StandingStill => self.trio.server(victim).wake_up(),
        }
        self.trio.until(other, "/api/cluster", |cluster| has(cluster, NAMES[victim])).await;
        let listed = woken.elapsed();
        // It takes new work again.
        self.begin(1, victim..victim + 1).await;
        let back = woken.elapsed();
        if gone == Gone::StandingStill {
            self.back.add(back);
        }
        if gone == Gone::StandingStill && back > BACK_MAX {
            say(&format!("{} was back after {back:.1?}, and among the nodes after {listed:.1?}", NAMES[victim]));
        }
        self.troubles.push(Trouble { victim, at_ms, from, until: Instant::now() });
    }

    /// Returns the answers that clients should not get, of servers that nothing happened to.
    fn wrong(&self) -> Vec<Failure> {
        let is_victims = |failure: &Failure| {
            let is_its = |trouble: &Trouble| {
                trouble.victim == failure.place && (trouble.from..trouble.until).contains(&failure.at)
            };
            self.troubles.iter().any(is_its)
        };
        self.clients.failures().into_iter().filter(|failure| !is_victims(failure)).collect()
    }

    /// Returns the time from each trouble until another server had a run, with the moment of the trouble.
    fn take_overs(&self, events: &[Seen]) -> Vec<(i64, Duration)> {
        let mut times = Vec::new();
        let mut owner = None;
        for event in events.iter().filter(|event| event.frame["type"] == "run_adopted") {
            if event.is_adoption("takeover") {
                let is_its = |trouble: &&Trouble| Some(NAMES[trouble.victim]) == owner && trouble.at_ms <= event.at();
                let trouble = self.troubles.iter().rev().find(is_its);
                let at_ms = trouble.unwrap_or_else(|| panic!("nothing had happened to its owner: {events:#?}")).at_ms;
                times.push((at_ms, Duration::from_millis(u64::try_from(event.at() - at_ms).unwrap_or_default())));
            }
            owner = event.frame["node"].as_str();
        }
        times
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_happens_to_servers_every_run_ends_and_what_may_happen_once_does() {
    let Some(database) = database().await else { return };
    let mut dice = Dice::seeded();
    let wanted = number("CONSORT_NODE_TROUBLES");
    let troubles = wanted.unwrap_or(TROUBLES);
    say(&dice.again("CONSORT_NODE_TROUBLES", troubles));
    let outside = Outside::start(PAUSE, true).await;
    // Slots for all: servers without a free one take only a few runs of another each second.
    let server = "[server]\nmax_concurrent_runs = 500\nmax_queued_runs = 1000\nmax_retained_completed_runs = 100000\n";
    let trio = Trio::start(&database, &format!("{}{server}", outside.config("max_concurrency = 4"))).await;
    let clients = Clients::of(&trio);
    let dice = dice.split();
    let back = Times::default();
    let mut field = Field { trio, clients, dice, following: Vec::new(), troubles: Vec::new(), back };
    let (before, during) = if wanted.is_some() { RUNS_FULL } else { RUNS };
    for trouble in 0..troubles {
        let victim = field.dice.roll(3) as usize;
        let asked = outside.questions().len();
        field.begin(before, 0..3).await;
        // Whatever of its work is under way then.
        let enough = asked + field.dice.roll(before) as usize;
        while outside.questions().len() <= enough {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let gone = [Gone::Killed, Gone::StandingStill][trouble as usize % 2];
        field.happen(victim, gone, during).await;
    }
    let mut times = Times::default();
    let mut late = BTreeSet::new();
    let mut runs = 0;
    for (run, following) in std::mem::take(&mut field.following) {
        let events = following.await.unwrap();
        assert_eq!(events.last().unwrap().frame["type"], "ensemble_completed", "{run}");
        for (trouble, time) in field.take_overs(&events) {
            times.add(time);
            late.extend((time > TAKE_OVER_MAX).then_some(trouble));
        }
        runs += 1;
    }
    let wrong = field.wrong();
    say(&format!(
        "{troubles} troubles, {runs} runs, {} calls: taken over {}, late after {} troubles; back in service {}; \
        answers of others that clients should not get: {}; of victims: {}; lost {}",
        outside.calls(),
        times.told(),
        late.len(),
        field.back.told(),
        counted(&wrong),
        counted(&field.clients.failures()),
        field.clients.lost()
    ));
    outside.check_calls();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(field.clients.lost(), 0);
    if wanted.is_some() {
        assert!(times.percentile(99) <= TAKE_OVER_MAX, "{}", times.told());
        assert!(field.back.percentile(100) <= BACK_MAX, "{}", field.back.told());
    }
}
