//! Computes the cost of a schema independent of the value: how often its subschemas apply to one value once
//! references are replaced, and the size of their patterns. A schema that grows without bound when it is
//! expanded is refused here.

use std::collections::HashMap;

use super::graph::{Graph, Link, Node, NodeId};
use crate::requests::bounds::{APPLIED_MAX, APPLIED_TOTAL_MAX, NESTED_MAX, REFERENCES_MAX};

/// The compile cost, in subschemas, of one that is asked which parts of a value it evaluates: it is
/// compiled anew for each subschema that asks.
const MARKING: u64 = 10;

/// The cost of one subschema for one value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// The number of subschemas that apply to the value because this one does, itself included.
    pub(super) applied: u64,
    /// The maximum number of times it is itself applied to one value.
    pub(super) times: u64,
    /// The number of subschemas applied once more to find out which parts they have evaluated.
    marking: u64,
    /// The number of times that is done to the subschemas it holds.
    again: u64,
    /// The compiled bytes of its own pattern for texts.
    pub(super) pattern: u64,
    /// The compiled bytes of the patterns for texts that apply because it does.
    pub(super) patterns: u64,
    /// The compiled bytes of its own patterns for names.
    pub(super) name_patterns: u64,
    references: u64,
    /// The nesting depth of subschemas for the same value, from here.
    pub(super) nested: u32,
}

/// Computes the weight of every subschema. The error message is for people.
pub(super) fn weigh(graph: &Graph, sizes: &HashMap<String, usize>) -> Result<Vec<Weight>, String> {
    let mut scales = Scales { graph, sizes, weights: vec![State::Unknown; graph.nodes.len()] };
    let ids = 0..graph.nodes.len();
    let mut weights = ids.map(|id| scales.weigh(id, 1)).collect::<Result<Vec<Weight>, String>>()?;
    if expanded_references(graph) > REFERENCES_MAX {
        return Err(too_many_references());
    }
    count_times(graph, &mut weights)?;
    Ok(weights)
}

#[derive(Clone, Copy)]
enum State {
    Unknown,
    OnPath,
    Known(Weight),
}

struct Scales<'a> {
    graph: &'a Graph,
    sizes: &'a HashMap<String, usize>,
    weights: Vec<State>,
}

impl Scales<'_> {
    fn weigh(&mut self, id: NodeId, depth: u32) -> Result<Weight, String> {
        match self.weights.get(id) {
            Some(State::Known(weight)) => return Ok(*weight),
            Some(State::OnPath) => {
                return Err("a reference leads back to itself without reading any part of the value".to_owned());
            }
            Some(State::Unknown) | None => {}
        }
        self.note(id, State::OnPath);
        let weight = self.sum(id, depth)?;
        self.note(id, State::Known(weight));
        Ok(weight)
    }

    fn note(&mut self, id: NodeId, state: State) {
        self.weights.get_mut(id).into_iter().for_each(|known| *known = state);
    }

    fn sum(&mut self, id: NodeId, depth: u32) -> Result<Weight, String> {
        let Some(node) = self.graph.nodes.get(id) else { return Ok(Weight::default()) };
        let size = |pattern: &String| self.sizes.get(pattern).map_or(0, |size| *size as u64);
        let pattern = node.pattern.as_ref().map_or(0, size);
        let name_patterns = node.name_patterns.iter().map(size).sum();
        let mut sum = Weight { applied: 1, pattern, patterns: pattern, name_patterns, nested: 1, ..Weight::default() };
        for (target, link) in &node.in_place {
            if depth >= NESTED_MAX {
                return Err(too_nested());
            }
            let inner = self.weigh(*target, depth + 1)?;
            sum.applied = sum.applied.saturating_add(inner.applied);
            sum.marking = sum.marking.saturating_add(inner.applied).saturating_add(inner.marking);
            sum.patterns = sum.patterns.saturating_add(inner.patterns);
            sum.references = sum.references.saturating_add(inner.references);
            sum.references = sum.references.saturating_add(u64::from(*link == Link::Reference));
            sum.nested = sum.nested.max(inner.nested + 1);
        }
        if node.is_unevaluated {
            // Evaluated once to check the value and once to list violations.
            sum.again = sum.marking.saturating_mul(2).div_ceil(sum.applied);
            sum.applied = sum.applied.saturating_add(sum.marking.saturating_mul(2));
        }
        match sum {
            Weight { nested, .. } if nested > NESTED_MAX => Err(too_nested()),
            Weight { references, .. } if references > REFERENCES_MAX => Err(too_many_references()),
            Weight { applied, .. } if applied > APPLIED_MAX => {
                Err(format!("more than {APPLIED_MAX} of its parts apply to one and the same value"))
            }
            weight => Ok(weight),
        }
    }
}

fn too_nested() -> String {
    format!("more than {NESTED_MAX} of its parts apply to the same value one inside the other")
}

fn too_many_references() -> String {
    format!("with every reference replaced by what it points at there are more than {REFERENCES_MAX}")
}

/// Counts how often each subschema is applied where a value enters the schema: at the root, and wherever a
/// part of a value does.
fn count_times(graph: &Graph, weights: &mut [Weight]) -> Result<(), String> {
    let parts = graph.nodes.iter().flat_map(|node| node.parts());
    let mut entries: Vec<NodeId> = std::iter::once(0).chain(parts).collect();
    entries.sort_unstable();
    entries.dedup();
    let marking = graph.nodes.iter().zip(weights.iter()).filter(|(node, _)| node.is_unevaluated);
    let marking = marking.map(|(_, weight)| weight.marking.saturating_mul(MARKING));
    let mut total: u64 = marking.fold(0, u64::saturating_add);
    for entry in entries {
        let mut times: HashMap<NodeId, u64> = HashMap::new();
        let mut open = vec![(entry, 1_u64)];
        while let Some((id, count)) = open.pop() {
            let known = times.entry(id).or_default();
            *known = known.saturating_add(count);
            total += 1;
            if total > APPLIED_TOTAL_MAX {
                return Err("it is too intricate: too many of its parts apply to the same values".to_owned());
            }
            let again = weights.get(id).map_or(0, |weight| weight.again);
            let count = count.saturating_mul(again.saturating_add(1));
            let inner = graph.nodes.get(id).into_iter().flat_map(|node| node.in_place.iter());
            open.extend(inner.map(|(id, _)| (*id, count)));
        }
        for (id, count) in times {
            weights.get_mut(id).into_iter().for_each(|weight| weight.times = weight.times.max(count));
        }
    }
    Ok(())
}

/// Returns the number of references with each replaced by its target. Subschemas that lead back to each
/// other are one group; it is expanded once, however often it is referred to.
fn expanded_references(graph: &Graph) -> u64 {
    let groups = groups(graph);
    let mut group_of: Vec<usize> = vec![usize::MAX; graph.nodes.len()];
    let mut counts: Vec<u64> = Vec::with_capacity(groups.len());
    let mut once = 0_u64;
    // A group comes after all groups it leads to.
    for (index, group) in groups.iter().enumerate() {
        group.iter().for_each(|id| group_of.get_mut(*id).into_iter().for_each(|of| *of = index));
        let links = || group.iter().filter_map(|id| graph.nodes.get(*id)).flat_map(links);
        let is_recursive = links().any(|(target, _)| group_of.get(target) == Some(&index));
        let count = links().map(|(target, reference)| {
            let other = group_of.get(target).filter(|of| **of != index);
            other.and_then(|of| counts.get(*of)).map_or(0, |count| *count).saturating_add(reference)
        });
        let count = count.fold(0, u64::saturating_add);
        if is_recursive {
            once = once.saturating_add(count);
        }
        counts.push(if is_recursive { 0 } else { count });
    }
    let root = group_of.first().and_then(|of| counts.get(*of)).copied().unwrap_or(0);
    root.saturating_add(once)
}

/// Returns the targets of a subschema, with 1 for each reached by a reference.
fn links(node: &Node) -> impl Iterator<Item = (NodeId, u64)> {
    let in_place = node.in_place.iter().map(|(id, link)| (*id, u64::from(*link == Link::Reference)));
    in_place.chain(node.parts().map(|id| (id, 0)))
}

/// Returns the strongly connected groups of subschemas, each after all groups it leads to (Tarjan's
/// algorithm, without recursion: chains are long).
fn groups(graph: &Graph) -> Vec<Vec<NodeId>> {
    let targets = |id: NodeId| -> Vec<NodeId> {
        graph.nodes.get(id).into_iter().flat_map(links).map(|(target, _)| target).collect()
    };
    let mut search = Search { marks: vec![Mark::default(); graph.nodes.len()], ..Search::default() };
    let mut path: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
    if !graph.nodes.is_empty() {
        search.enter(0);
        path.push((0, targets(0)));
    }
    while let Some((id, open)) = path.last_mut() {
        let id = *id;
        match open.pop() {
            Some(next) if search.is_new(next) => {
                search.enter(next);
                path.push((next, targets(next)));
            }
            Some(next) => search.meet(id, next),
            None => {
                path.pop();
                search.leave(id, path.last().map(|(parent, _)| *parent));
            }
        }
    }
    search.groups
}

#[derive(Clone, Copy, Default)]
struct Mark {
    /// The order in which it was entered, from 1.
    order: usize,
    /// The earliest entered node that can be reached from it.
    low: usize,
    is_open: bool,
}

#[derive(Default)]
struct Search {
    marks: Vec<Mark>,
    open: Vec<NodeId>,
    entered: usize,
    groups: Vec<Vec<NodeId>>,
}

impl Search {
    fn mark(&self, id: NodeId) -> Mark {
        self.marks.get(id).copied().unwrap_or_default()
    }

    fn is_new(&self, id: NodeId) -> bool {
        self.mark(id).order == 0
    }

    fn enter(&mut self, id: NodeId) {
        self.entered += 1;
        let mark = Mark { order: self.entered, low: self.entered, is_open: true };
        self.marks.get_mut(id).into_iter().for_each(|known| *known = mark);
        self.open.push(id);
    }

    /// Notes that `id` leads to `other`, which was entered before.
    fn meet(&mut self, id: NodeId, other: NodeId) {
        let other = self.mark(other);
        if other.is_open {
            self.lower(id, other.order);
        }
    }

    fn lower(&mut self, id: NodeId, low: usize) {
        self.marks.get_mut(id).into_iter().for_each(|mark| mark.low = mark.low.min(low));
    }

    fn leave(&mut self, id: NodeId, parent: Option<NodeId>) {
        let mark = self.mark(id);
        if let Some(parent) = parent {
            self.lower(parent, mark.low);
        }
        if mark.low != mark.order {
            return;
        }
        let start = self.open.iter().rposition(|open| *open == id).unwrap_or(0);
        let group = self.open.split_off(start);
        group.iter().for_each(|id| self.marks.get_mut(*id).into_iter().for_each(|mark| mark.is_open = false));
        self.groups.push(group);
    }
}
