//! Several nodes over one store: whichever dies, stands still or is cut off, every run ends, nothing that
//! must happen once happens twice, and nobody acts for a run that is another's. The faults of a seed follow
//! from its number; `CONSORT_CLUSTER_SEEDS` says how many are tried, `CONSORT_CLUSTER_SEED` which one alone.

mod dice;
mod fleet;
mod link;
mod open;
mod presence;
mod shared;
mod sim;

use std::collections::BTreeMap;
use std::env;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use consort_core::event::{AdoptReason, Event, EventKind};
use consort_core::run::Run;
use consort_runtime::engine::Engine;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use self::dice::Dice;
use self::fleet::{Deed, Fleet, Plan, RATE_PER, direct, follow, once, submit};
use self::sim::{Health, LEASE};
use crate::support::events;

/// The number of seeds that every test run tries.
const SEEDS: u64 = 24;
/// The number of seeds of which one must show what the check is for.
const UNCHECKED_MAX: u64 = 200;
/// The fewest nodes of a seed, one more than the most that come on top, and the runs.
const NODES: usize = 3;
const MORE: usize = 6;
const RUNS: usize = 12;
/// Of so many seeds one has many nodes: it costs as much as thirty others.
const MANY_EVERY: u64 = 100;
/// The first that has.
const MANY_FIRST: u64 = 7;
/// The nodes and runs of such a seed.
const MANY_NODES: usize = 100;
const MANY_RUNS: usize = 150;

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn whatever_happens_to_nodes_every_run_ends_once_and_nobody_acts_for_another() {
    let only = number("CONSORT_CLUSTER_SEED");
    let seeds = only.map_or(0..number("CONSORT_CLUSTER_SEEDS").unwrap_or(SEEDS), |seed| seed..seed + 1);
    let is_few = seeds.end - seeds.start < SEEDS;
    let mut tally = Tally::default();
    for seed in seeds {
        let runtime = paused();
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.block_on(play(seed, true))));
        let Ok(seen) = tried else { panic!("seed {seed} fails; CONSORT_CLUSTER_SEED={seed} plays it again") };
        tally.add(&seen);
    }
    println!("{tally:?}");
    let Tally { takeovers, drained, acknowledged, once, .. } = tally;
    let is_much = takeovers > 20 && drained > 5 && acknowledged > 50 && once > 200;
    assert!(is_few || is_much, "too little happens: {tally:?}");
}

/// The counts of what happened, so that a test in which nothing does is noticed.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Runs that were taken over from a node that was gone.
    takeovers: usize,
    /// Runs that were taken from a node that was told to stop.
    drained: usize,
    /// Commands that were acknowledged.
    acknowledged: usize,
    /// Calls that may happen once and did.
    once: usize,
    /// The acts of a node for a run that was another's.
    strangers: usize,
}

impl Tally {
    fn add(&mut self, more: &Tally) {
        self.takeovers += more.takeovers;
        self.drained += more.drained;
        self.acknowledged += more.acknowledged;
        self.once += more.once;
        self.strangers += more.strangers;
    }
}

/// Returns a runtime whose time passes when everybody waits.
fn paused() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

#[test]
fn without_the_check_at_the_first_byte_a_node_that_wakes_up_acts_for_another() {
    let mut strangers = 0;
    for seed in 0..UNCHECKED_MAX {
        strangers += paused().block_on(play(seed, false)).strangers;
        if strangers > 0 {
            return;
        }
    }
    panic!("the simulation would not notice a missing check");
}

/// Plays one seed and checks what must hold afterwards.
async fn play(seed: u64, checks: bool) -> Tally {
    let mut dice = Dice::new(seed);
    let is_large = checks && seed % MANY_EVERY == MANY_FIRST;
    let upgrades = dice.below(2) == 0;
    let (nodes, runs, slots) = match is_large {
        true => (MANY_NODES, MANY_RUNS, 60),
        false => (NODES + dice.below(MORE), RUNS, 4),
    };
    let plan = Plan { nodes, slots, checks, upgrades };
    let mut fleet = Fleet::new(plan, &mut dice).await;
    let (watchers, commands) = make_trouble(&mut fleet, runs, &mut dice).await;
    for run in watchers.keys() {
        assert!(fleet.ended(run).await, "{run} does not end");
    }
    let deeds = fleet.ledger.lock().unwrap().clone();
    let strangers: Vec<&Deed> = deeds.iter().filter(|deed| !deed.is_owner).collect();
    assert!(!checks || strangers.is_empty(), "done for another's run: {strangers:?}");
    let unread: Vec<&Deed> = deeds.iter().filter(|deed| !deed.is_readable).collect();
    assert!(unread.is_empty(), "done by a version that cannot read the run: {unread:?}");
    assert!(!checks || fleet.asked.most_present() <= slots as usize, "{} calls at once", fleet.asked.most_present());
    let in_a_period = fleet.asked.most_within(RATE_PER);
    assert!(!checks || in_a_period <= slots as usize, "{in_a_period} calls within the period of a rate of {slots}");
    assert!(!checks || fleet.locked.most() <= 1, "{} have the lock", fleet.locked.most());
    let done = once(&fleet.ledger);
    for (key, times) in &done {
        assert_eq!(*times, 1, "{key} must happen once");
    }
    let acknowledged = check_commands(&fleet, commands).await;
    let mut tally = Tally { acknowledged, once: done.len(), strangers: strangers.len(), ..Tally::default() };
    for (run, watcher) in watchers {
        let events = events(&fleet.store.log, &run).await;
        (0..=events.len()).for_each(|length| drop(Run::replay(&events[..length])));
        tally.add(&check_epochs(&events));
        let seen = timeout(Duration::from_secs(120), watcher).await.expect("watchers see the end").unwrap();
        assert_eq!(seen, (0..events.len() as u64).collect::<Vec<_>>(), "each event once, in order");
    }
    tally
}

/// The runs of a seed, each with a client that watches it.
type Watchers = BTreeMap<Arc<str>, JoinHandle<Vec<u64>>>;
/// The commands that clients have sent: the run, the words, and whether it is acknowledged in the end.
type Commands = Vec<(Arc<str>, String, JoinHandle<bool>)>;

/// Begins the runs of a seed, and lets things go wrong meanwhile and afterwards; all is well when this returns.
async fn make_trouble(fleet: &mut Fleet, runs: usize, dice: &mut Dice) -> (Watchers, Commands) {
    let engines: Arc<Mutex<Vec<Engine>>> = Arc::default();
    let mut watchers = BTreeMap::new();
    let mut commands = Vec::new();
    for number in 0..runs {
        *engines.lock().unwrap() = well(fleet);
        if let Some(node) = fleet.well(dice)
            && let Some(run) = submit(node).await
        {
            let places = engines.clone();
            let turn = dice.below(fleet.nodes.len());
            let pick = move || {
                let engines = places.lock().unwrap();
                engines.get(turn % engines.len().max(1)).cloned()
            };
            watchers.insert(run.clone(), tokio::spawn(follow(pick, run.clone())));
            if let Some(other) = fleet.well(dice) {
                let content = format!("say {number}");
                let sent = tokio::spawn(direct(other.engine.clone(), run.clone(), content.clone()));
                commands.push((run, content, sent));
            }
        }
        // Many nodes get as much trouble each as few.
        sleep(dice.millis(10, 900) * NODES as u32 / fleet.nodes.len() as u32).await;
        fleet.trouble(dice).await;
    }
    for _ in 0..dice.below(12) {
        sleep(dice.millis(10, 2_000)).await;
        fleet.trouble(dice).await;
        *engines.lock().unwrap() = well(fleet);
    }
    fleet.heal().await;
    sleep(2 * LEASE).await;
    *engines.lock().unwrap() = well(fleet);
    (watchers, commands)
}

#[test]
fn a_store_that_was_away_longer_than_a_lease_has_taken_nobody_s_runs() {
    let runtime = paused();
    runtime.block_on(async {
        let mut dice = Dice::new(1);
        let mut fleet = Fleet::new(Plan { nodes: 3, slots: 4, checks: true, upgrades: false }, &mut dice).await;
        let mut runs = Vec::new();
        for place in 0..3 {
            runs.push(submit(fleet.nodes[place].as_ref().unwrap()).await.unwrap());
        }
        sleep(Duration::from_millis(500)).await;
        for node in fleet.nodes.iter().flatten() {
            node.way.health.send_replace(Health::Cut);
        }
        sleep(15 * LEASE).await;
        fleet.heal().await;
        for run in &runs {
            assert!(fleet.ended(run).await, "{run} does not end");
            let events = events(&fleet.store.log, run).await;
            let is_adoption = |event: &&Event| matches!(event.kind, EventKind::RunAdopted { .. });
            assert_eq!(events.iter().filter(is_adoption).count(), 1, "{events:?}");
        }
    });
}

/// Returns the engines that a client can reach.
fn well(fleet: &Fleet) -> Vec<Engine> {
    let well = fleet.nodes.iter().flatten().filter(|node| *node.way.health.borrow() == Health::Well);
    well.map(|node| node.engine.clone()).collect()
}

/// Checks that the epochs of owners rise; returns how they became owners.
fn check_epochs(events: &[Event]) -> Tally {
    let mut tally = Tally::default();
    let mut last = 0;
    for event in events {
        let EventKind::RunAdopted { epoch, node, reason } = &event.kind else { continue };
        assert!(*epoch > last && node.is_some(), "{event:?}");
        last = *epoch;
        match reason.expect("a reason") {
            AdoptReason::Takeover => tally.takeovers += 1,
            AdoptReason::Drained => tally.drained += 1,
            AdoptReason::Begun | AdoptReason::Claimed => {}
        }
    }
    tally
}

/// Checks that what was acknowledged is in the log once, and what was not at most once; returns the number of those
/// that were.
async fn check_commands(fleet: &Fleet, commands: Commands) -> usize {
    let mut all = 0;
    for (run, content, sent) in commands {
        let acknowledged = timeout(Duration::from_secs(120), sent).await.expect("commands are answered").unwrap();
        let events = events(&fleet.store.log, &run).await;
        let is_it = |kind: &EventKind| matches!(kind, EventKind::DirectiveGiven { directive } if directive.content.as_str() == content);
        let times = events.iter().filter(|event| is_it(&event.kind)).count();
        assert!(times <= 1, "`{content}` is in {run} {times} times");
        assert!(!acknowledged || times == 1, "`{content}` was acknowledged and is not in {run}");
        all += usize::from(acknowledged);
    }
    all
}
