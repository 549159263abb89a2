//! Ten thousand peers with twenty capabilities each: a lookup, and an update of
//! one peer, must cost the same as with a hundred peers. Capabilities that all
//! peers share are not measured: such a lookup costs in proportion to its result.

use std::hint::black_box;
use std::time::Instant;

use anyhow::ensure;
use consort_net::roster::CapabilityRegistry;
use consort_net::wire::{Availability, Capability, CapabilityKind, CapacityUpdate};

use crate::effort::{Effort, median};
use crate::table::Table;

const FEW: usize = 100;
const MANY: usize = 10_000;
const CAPABILITIES: usize = 20;
/// The number of peers queried in one measurement, spread over all of them.
const ASKED: usize = 1000;
/// The maximum ratio: a larger table does not fit into the
/// processor's cache, and only that may make a difference.
const RATIO_MAX: f64 = 4.0;

/// A query of the registry, or an update, about one peer.
type Question = (&'static str, fn(&mut CapabilityRegistry, usize));

const QUESTIONS: [Question; 6] = [
    ("find_provider", |registry, peer| drop(black_box(registry.find_provider(&name(peer, 7))))),
    ("find_by_tag", |registry, peer| {
        let _found: usize = black_box(registry.find_by_tag(&format!("tag-{peer}")).count());
    }),
    ("find", |registry, peer| drop(black_box(registry.find(&ensemble(peer), &name(peer, 7))))),
    ("ranked choice", |registry, peer| {
        drop(black_box(registry.ranked(&name(peer, 7), CapabilityKind::Tool, Some("downtown"))));
    }),
    ("capacity_update", |registry, peer| registry.capacity(&ensemble(peer), busy(peer))),
    ("re-hello", |registry, peer| registry.register(&ensemble(peer), Some("downtown"), shared(peer))),
];

/// Measures, prints a table and adds the targets.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let sizes = [1, FEW, MANY];
    let mut registries = sizes.map(filled);
    ensure!(
        registries.iter().map(CapabilityRegistry::size).eq(sizes.map(|size| size * CAPABILITIES)),
        "a peer is missing"
    );
    println!("\n{:<18} {:>12} {:>12} {:>12}", "registry, ns each", "1 peer", "100 peers", "10,000 peers");
    for (what, ask) in QUESTIONS {
        let mut measured = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..effort.rounds {
            for ((registry, size), measured) in registries.iter_mut().zip(sizes).zip(&mut measured) {
                measured.push(nanoseconds(registry, size, ask));
            }
        }
        let [one, few, many] = measured.map(median);
        println!("{what:<18} {one:>12.0} {few:>12.0} {many:>12.0}");
        let label = format!("10,000 peers: {what}");
        table.add(&label, format!("{many:.0} ns, at 100 {few:.0} ns"), (many / few, RATIO_MAX), "x");
    }
    Ok(())
}

fn nanoseconds(registry: &mut CapabilityRegistry, size: usize, ask: fn(&mut CapabilityRegistry, usize)) -> f64 {
    let began = Instant::now();
    for number in 0..ASKED {
        // Far apart, so that one query does not warm the cache for the next.
        ask(registry, number.wrapping_mul(7919) % size);
    }
    began.elapsed().as_secs_f64() * 1e9 / ASKED as f64
}

fn filled(size: usize) -> CapabilityRegistry {
    let mut registry = CapabilityRegistry::default();
    for peer in 0..size {
        registry.register(&ensemble(peer), Some("downtown"), shared(peer));
        registry.capacity(&ensemble(peer), busy(peer));
    }
    registry
}

fn ensemble(peer: usize) -> String {
    format!("ensemble-{peer}")
}

fn name(peer: usize, number: usize) -> String {
    format!("capability-{peer}-{number}")
}

fn shared(peer: usize) -> Vec<Capability> {
    let capability = |number: usize| Capability {
        name: name(peer, number),
        description: "Finds out about something.".to_owned(),
        kind: CapabilityKind::Tool,
        tags: vec![format!("tag-{peer}"), format!("kind-{}", number % 4)],
        schema: None,
        version: None,
        effect: None,
        timeout_ms: None,
    };
    (0..CAPABILITIES).map(capability).collect()
}

fn busy(peer: usize) -> CapacityUpdate {
    CapacityUpdate {
        ensemble: ensemble(peer),
        realm: Some("downtown".to_owned()),
        status: Availability::Available,
        current_load: 0.25,
        max_concurrent: 32,
        shareable: true,
    }
}
