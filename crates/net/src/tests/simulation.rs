//! Fifty ensembles on a faulty network: frames delayed, connections broken or
//! silent, partitions, ensembles killed and started again with other capabilities,
//! and calls all the while. Time is simulated; every seed is printed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use consort_core::catalog::EffectClass;
use consort_tools::{Answer, ScriptedTool, Tool};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::{Instant, sleep};

use super::world::{House, LEASE, Running, invocation, tool};
use crate::memory::{Faults, MemoryNetwork};

const ENSEMBLES: usize = 50;
/// The number of peers that each ensemble dials.
const DIALS: usize = 2;
/// The number of rounds of faults, and the duration of each.
const ROUNDS: usize = 6;
const ROUND: Duration = Duration::from_secs(3);
const CALLS_PER_ROUND: usize = 12;
/// The maximum real time of one test.
const PATIENCE: Duration = Duration::from_secs(20);

struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

struct Town {
    wires: MemoryNetwork,
    houses: Vec<House>,
    running: Vec<Option<Running>>,
    /// The tools of each ensemble, one of each effect.
    tools: Vec<Vec<ScriptedTool>>,
    dice: Dice,
}

fn name(number: usize) -> String {
    format!("e{number:02}")
}

/// Returns an ensemble. Half of them share a tool that must
/// not be called twice, and all share one that only reads.
fn house(number: usize, dice: &mut Dice) -> (House, Vec<ScriptedTool>) {
    let peers: BTreeSet<usize> = (0..DIALS).map(|_| dice.below(ENSEMBLES)).filter(|peer| *peer != number).collect();
    let peers: Vec<String> = peers.into_iter().map(name).collect();
    let look = tool("look", EffectClass::Read).answers("seen");
    let pay = tool("pay", EffectClass::Once).answers("paid");
    let house = House::new(&name(number), &peers.iter().map(String::as_str).collect::<Vec<_>>());
    let house = house.tool("look", &["any"], &look);
    let house = if number.is_multiple_of(2) { house.tool("pay", &[], &pay) } else { house };
    (house, vec![look, pay])
}

impl Town {
    async fn new(seed: u64) -> Town {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let faults = Faults { delay: Duration::from_millis(80), breaks: 2_000, silences: 2_000 };
        let wires = MemoryNetwork::new(faults, seed + 7);
        let (houses, tools): (Vec<House>, Vec<_>) = (0..ENSEMBLES).map(|number| house(number, &mut dice)).unzip();
        let mut running = Vec::new();
        for house in &houses {
            running.push(Some(house.start(&wires).await));
        }
        Town { wires, houses, running, tools, dice }
    }

    /// Injects a fault, or ends one.
    async fn trouble(&mut self) {
        self.wires.heal();
        for _ in 0..3 {
            let one = self.dice.below(ENSEMBLES);
            let other = self.dice.below(ENSEMBLES);
            self.wires.part(&name(one), &name(other));
            let killed = self.dice.below(ENSEMBLES);
            self.running[killed] = None;
        }
        let back = self.dice.below(ENSEMBLES);
        self.revive(back).await;
    }

    /// Starts an ensemble again, with one more capability than before.
    async fn revive(&mut self, number: usize) {
        if self.running[number].is_none() {
            let extra = format!("extra{}", self.dice.below(1000));
            let house = self.houses[number].clone();
            let house = house.tool(&extra, &[], &self.tools[number][0]);
            self.running[number] = Some(house.start(&self.wires).await);
            self.houses[number] = house;
        }
    }

    /// Returns the capabilities that an ensemble should know:
    /// those of all peers that it dials or that dial it.
    fn expected(&self, number: usize) -> Vec<String> {
        let dials = |from: usize, to: usize| self.houses[from].peers.contains(&name(to));
        let linked =
            (0..ENSEMBLES).filter(|other| *other != number && (dials(number, *other) || dials(*other, number)));
        let mut known: Vec<String> = linked
            .flat_map(|other| {
                self.houses[other].shares.iter().map(move |share| format!("{}.{}", name(other), share.name))
            })
            .collect();
        known.sort();
        known.dedup();
        known
    }

    /// Checks that no ensemble knows one that has been away for more than twice the lease.
    fn assert_no_ghosts(&self, gone: &BTreeMap<usize, Instant>, seed: u64) {
        let limit = LEASE * 2 + Duration::from_millis(100);
        for running in self.running.iter().flatten() {
            for (ghost, since) in gone.iter().filter(|(_, since)| since.elapsed() > limit) {
                let ghost = format!("{}.", name(*ghost));
                assert!(
                    !running.knows().iter().any(|known| known.starts_with(&ghost)),
                    "seed {seed}: {ghost} {since:?}"
                );
            }
        }
    }
}

/// Runs one simulation; returns the number of calls made.
async fn live(seed: u64) -> usize {
    let mut town = Town::new(seed).await;
    let mut calls = FuturesUnordered::new();
    let mut answers = Vec::new();
    let mut made = 0;
    let mut gone: BTreeMap<usize, Instant> = BTreeMap::new();
    for round in 0..ROUNDS {
        town.trouble().await;
        for number in 0..ENSEMBLES {
            match &town.running[number] {
                Some(_) => drop(gone.remove(&number)),
                None => drop(gone.entry(number).or_insert_with(Instant::now)),
            }
        }
        for call in 0..CALLS_PER_ROUND {
            let from = town.dice.below(ENSEMBLES);
            let Some(running) = &town.running[from] else { continue };
            let known = running.network.peer_tools();
            if known.is_empty() {
                continue;
            }
            let remote = known[town.dice.below(known.len())].clone();
            let key = format!("{seed}/{round}/{call}");
            made += 1;
            calls.push(async move { (key.clone(), remote.info().effect, remote.call(invocation(&key)).await) });
        }
        let over = sleep(ROUND);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => break,
                Some(answered) = calls.next() => answers.push(answered),
            }
        }
        town.assert_no_ghosts(&gone, seed);
    }
    settle(&mut town, seed).await;
    while let Some(answered) = calls.next().await {
        answers.push(answered);
    }
    assert_eq!(answers.len(), made, "seed {seed}: everybody is answered");
    judge(&town, &answers, seed);
    made
}

/// Ends all faults, starts all ensembles, and waits until each knows all its peers' capabilities.
async fn settle(town: &mut Town, seed: u64) {
    town.wires.heal();
    town.wires.faults(Faults { delay: Duration::from_millis(80), ..Faults::default() });
    for number in 0..ENSEMBLES {
        town.revive(number).await;
    }
    sleep(LEASE * 2 + Duration::from_secs(20)).await;
    for number in 0..ENSEMBLES {
        let knows = town.running[number].as_ref().unwrap().knows();
        assert_eq!(knows, town.expected(number), "seed {seed}: {}", name(number));
    }
}

/// Checks that the effects match the answers that the callers got.
fn judge(town: &Town, answers: &[(String, EffectClass, Answer)], seed: u64) {
    let mut done: BTreeMap<String, usize> = BTreeMap::new();
    for args in town.tools.iter().flatten().flat_map(ScriptedTool::args) {
        *done.entry(args["input"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    for (key, effect, answer) in answers {
        let times = done.get(key).copied().unwrap_or(0);
        match (effect, answer) {
            (EffectClass::Once, Answer::Done { .. }) => assert_eq!(times, 1, "seed {seed}: {key}"),
            (EffectClass::Once, Answer::Failed(why)) => assert_eq!(times, 0, "seed {seed}: {key}: {why}"),
            (EffectClass::Once, Answer::Unknown(_) | Answer::Late { .. }) => assert!(times <= 1, "seed {seed}: {key}"),
            (EffectClass::Read | EffectClass::Idempotent, Answer::Done { .. }) => assert!(times >= 1, "seed {seed}"),
            (EffectClass::Read | EffectClass::Idempotent, _) => {}
        }
    }
}

/// Runs seeds as long as there is time, or as many as `CONSORT_SEEDS` says.
#[test]
fn fifty_ensembles_in_bad_weather_agree_in_the_end_and_do_nothing_twice() {
    let wanted: Option<u64> = std::env::var("CONSORT_SEEDS").ok().map(|seeds| seeds.parse().unwrap());
    let began = std::time::Instant::now();
    let mut seeds = 0;
    let mut calls = 0;
    while wanted.map_or(began.elapsed() < PATIENCE, |wanted| seeds < wanted) {
        println!("seed {seeds}");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        calls += runtime.block_on(live(seeds));
        seeds += 1;
    }
    println!("{seeds} seeds, {calls} calls");
    assert!(seeds > 0 && calls > 0);
}
