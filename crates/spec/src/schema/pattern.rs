//! Computes the compiled size of a schema's patterns, in bytes. Only an engine whose time is linear in the
//! text is used, so look-around and back-references are refused.

use std::collections::HashMap;

use regex_automata::nfa::thompson;

use super::graph::Graph;
use crate::requests::bounds::{PATTERN_BYTES_MAX, PATTERN_READING_MAX, PATTERNS_BYTES_MAX, PATTERNS_MAX};

/// The number of characters of a pattern that an error quotes.
const QUOTED_MAX: usize = 80;

/// Returns the compiled size of every pattern.
pub(super) fn sizes(graph: &Graph) -> Result<HashMap<String, usize>, String> {
    let mut sizes: HashMap<String, usize> = HashMap::new();
    let mut reading = 0_usize;
    let mut total = 0_usize;
    for pattern in graph.nodes.iter().flat_map(|node| node.pattern.iter().chain(&node.name_patterns)) {
        if sizes.contains_key(pattern) {
            continue;
        }
        if sizes.len() >= PATTERNS_MAX {
            return Err(format!("there are more than {PATTERNS_MAX} patterns"));
        }
        reading = reading.saturating_add(reads(pattern));
        if reading > PATTERN_READING_MAX {
            return Err("the patterns are too long together for the escapes they hold".to_owned());
        }
        let size = size(pattern)?;
        total = total.saturating_add(size);
        if total > PATTERNS_BYTES_MAX {
            return Err(format!("the patterns take more than {PATTERNS_BYTES_MAX} bytes together when compiled"));
        }
        sizes.insert(pattern.clone(), size);
    }
    Ok(sizes)
}

/// Returns the number of bytes read while a pattern is translated: the translation begins anew after every
/// escape it replaces.
fn reads(pattern: &str) -> usize {
    let escapes = pattern.bytes().filter(|byte| *byte == b'\\').count();
    pattern.len().saturating_mul(escapes + 1)
}

fn size(pattern: &str) -> Result<usize, String> {
    let quoted: String = pattern.chars().take(QUOTED_MAX).collect();
    let unusable =
        || format!("the pattern `{quoted}` is no regular expression without look-around and back-references");
    let translated = jsonschema_regex::to_rust_regex(pattern).map_err(|()| unusable())?;
    let limits = thompson::Config::new().nfa_size_limit(Some(PATTERN_BYTES_MAX));
    match thompson::Compiler::new().configure(limits).build(&translated) {
        Ok(compiled) => Ok(compiled.memory_usage()),
        Err(error) if error.size_limit().is_some() => {
            Err(format!("the pattern `{quoted}` takes more than {PATTERN_BYTES_MAX} bytes when compiled"))
        }
        Err(_) => Err(unusable()),
    }
}
