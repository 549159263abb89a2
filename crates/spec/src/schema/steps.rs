//! Counts the steps of a validation before it is done: one step is a keyword applied to a value.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde_json::Value;

use super::graph::{Graph, Node, NodeId, size};
use super::weight::Weight;
use crate::requests::bounds::{LISTING_STEPS_MAX, VALIDATION_DEPTH_MAX, VALIDATION_STEPS_MAX};

/// The product of a pattern's compiled bytes and a text's bytes that takes as long as one step.
const MATCHING_PER_STEP: u64 = 256;
/// The number of bytes of a text that take as long to read as one step.
const READING_PER_STEP: u64 = 64;
/// The number of comparisons for every value in a list whose items must differ: short lists are compared
/// pair by pair.
const COMPARISONS: u64 = 8;

/// The weight of a whole schema, for values so small that no counting is needed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Total {
    keywords: u64,
    patterns: u64,
    nested: u32,
}

impl Total {
    pub(super) fn new(graph: &Graph, weights: &[Weight]) -> Total {
        let pairs = graph.nodes.iter().zip(weights);
        pairs.fold(Total::default(), |total, (node, weight)| {
            // A list may be compared once for every level that it is nested in.
            let unique = if node.is_unique { COMPARISONS.saturating_mul(u64::from(VALIDATION_DEPTH_MAX)) } else { 0 };
            let keywords = node.keywords.saturating_add(unique).saturating_mul(weight.times.max(1));
            let patterns = weight.pattern.saturating_add(weight.name_patterns).saturating_mul(weight.times.max(1));
            Total {
                keywords: total.keywords.saturating_add(keywords),
                patterns: total.patterns.saturating_add(patterns),
                nested: total.nested.max(weight.nested),
            }
        })
    }

    /// Returns whether a value is small enough, however the schema is applied to it.
    fn allows(&self, value: &Value) -> bool {
        let Some(extent) = Extent::of(value, VALIDATION_DEPTH_MAX / self.nested.max(1)) else { return false };
        let keywords = extent.values.saturating_mul(self.keywords);
        keywords.saturating_add(reading(extent.text, self.patterns)) <= VALIDATION_STEPS_MAX
    }
}

/// The size of a value.
#[derive(Clone, Copy, Default)]
struct Extent {
    /// The number of values in it, names of fields included.
    values: u64,
    /// The number of bytes of its texts and names.
    text: u64,
}

impl Extent {
    /// Returns the size of a value; none for a value of more levels.
    fn of(value: &Value, levels: u32) -> Option<Extent> {
        let levels = levels.checked_sub(1)?;
        let own = Extent { values: 1, text: 0 };
        match value {
            Value::String(text) => Some(Extent { text: text.len() as u64, ..own }),
            Value::Array(items) => items.iter().try_fold(own, |sum, item| Some(sum.with(Extent::of(item, levels)?))),
            Value::Object(fields) => fields.iter().try_fold(own, |sum, (name, field)| {
                let name = Extent { values: 1, text: name.len() as u64 };
                Some(sum.with(name).with(Extent::of(field, levels)?))
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => Some(own),
        }
    }

    fn with(self, other: Extent) -> Extent {
        Extent { values: self.values + other.values, text: self.text + other.text }
    }
}

/// Returns whether a value may be validated against the schema.
pub(super) fn may_check(graph: &Graph, weights: &[Weight], total: &Total, value: &Value) -> bool {
    let limits = (VALIDATION_STEPS_MAX, u64::MAX);
    total.allows(value) || Counter::new(graph, weights, limits).visit(0, value, 0).is_some()
}

/// Returns whether all violations of a value may be listed. Listing reuses no results: a part inside two
/// alternatives is visited twice.
pub(super) fn may_list(graph: &Graph, weights: &[Weight], value: &Value) -> bool {
    let limits = (VALIDATION_STEPS_MAX, LISTING_STEPS_MAX);
    Counter::new(graph, weights, limits).visit(0, value, 0).is_some()
}

/// Returns the steps of checking and of listing, each unless they are too many.
#[cfg(test)]
pub(super) fn counted(graph: &Graph, weights: &[Weight], value: &Value) -> (Option<u64>, Option<u64>) {
    let mut counter = Counter::new(graph, weights, (VALIDATION_STEPS_MAX, u64::MAX));
    let listing = counter.visit(0, value, 0);
    (listing.map(|_| VALIDATION_STEPS_MAX - counter.left), listing.filter(|listing| *listing <= LISTING_STEPS_MAX))
}

struct Counter<'a> {
    graph: &'a Graph,
    weights: &'a [Weight],
    /// The steps a subschema took for a value, by its id and the value's address.
    seen: HashMap<(NodeId, usize), u64, BuildHasherDefault<PairHasher>>,
    /// The remaining steps when every pair is visited once.
    left: u64,
    /// The allowed steps when pairs are visited as often as they occur.
    listing: u64,
}

impl<'a> Counter<'a> {
    fn new(graph: &'a Graph, weights: &'a [Weight], (left, listing): (u64, u64)) -> Counter<'a> {
        Counter { graph, weights, seen: HashMap::default(), left, listing }
    }

    /// Returns the steps of listing from here on, and subtracts those of checking, in which every pair of
    /// subschema and value counts once.
    fn visit(&mut self, id: NodeId, value: &Value, depth: u32) -> Option<u64> {
        if depth > VALIDATION_DEPTH_MAX {
            return None;
        }
        let key = (id, std::ptr::from_ref(value) as usize);
        if let Some(known) = self.seen.get(&key) {
            return Some(*known);
        }
        let graph = self.graph;
        let weights = self.weights;
        let (Some(node), Some(weight)) = (graph.nodes.get(id), weights.get(id)) else { return Some(0) };
        let own = self.own(node, weight, value);
        self.left = self.left.checked_sub(own.saturating_mul(weight.times.max(1)))?;
        let sum = own.saturating_add(self.visit_below(node, value, depth + 1)?);
        self.seen.insert(key, sum);
        (sum <= self.listing).then_some(sum)
    }

    /// Returns the steps of listing in the subschemas of a subschema, for a value and its parts.
    fn visit_below(&mut self, node: &Node, value: &Value, depth: u32) -> Option<u64> {
        let mut sum = 0_u64;
        for (target, _) in &node.in_place {
            sum = sum.saturating_add(self.visit(*target, value, depth)?);
        }
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    for target in node.properties.get(name).into_iter().chain(&node.every_property) {
                        sum = sum.saturating_add(self.visit(*target, field, depth)?);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    for target in node.prefix.get(index).into_iter().chain(&node.every_item) {
                        sum = sum.saturating_add(self.visit(*target, item, depth)?);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Some(sum)
    }

    /// Returns the steps of the keywords of one subschema for one value.
    fn own(&self, node: &Node, weight: &Weight, value: &Value) -> u64 {
        let more = match value {
            Value::String(text) => reading(text.len() as u64, weight.pattern),
            Value::Array(_) if node.is_unique => size(value).saturating_mul(COMPARISONS),
            Value::Object(fields) if !node.names.is_empty() || weight.name_patterns > 0 => {
                fields.keys().map(|name| self.name(node, weight, name)).fold(0, u64::saturating_add)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => 0,
        };
        node.keywords.saturating_add(more)
    }

    fn name(&self, node: &Node, weight: &Weight, name: &str) -> u64 {
        let schemas = node.names.iter().filter_map(|id| self.weights.get(*id));
        let checked = schemas.map(|names| names.applied.saturating_add(reading(name.len() as u64, names.patterns)));
        checked.fold(reading(name.len() as u64, weight.name_patterns), u64::saturating_add)
    }
}

fn reading(bytes: u64, patterns: u64) -> u64 {
    let matching = bytes.saturating_add(1).saturating_mul(patterns).div_ceil(MATCHING_PER_STEP);
    matching.saturating_add(bytes / READING_PER_STEP)
}

/// Mixes two numbers. An attacker can choose neither, and with the hasher of the standard library counting
/// would take longer than validating.
#[derive(Default)]
struct PairHasher(u64);

impl Hasher for PairHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0.rotate_left(26) ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}
