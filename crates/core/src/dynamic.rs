//! Names of tools that stand for what other ensembles share just now:
//! `<ensemble>.<capability>`, `network:*` and `network:#tag`. Their form is
//! known when a run is submitted; what they stand for is looked up when a task
//! begins, and is a fact from then on.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::ToolInfo;
use crate::event::Fact;
use crate::next::{Grants, Plan};
use crate::run::Run;
use crate::spec::Task;

/// Whether a name stands for tools of other ensembles.
pub fn is_dynamic(name: &str) -> bool {
    match (name.strip_prefix("network:"), name.split_once('.')) {
        (Some(which), _) => which == "*" || which.strip_prefix('#').is_some_and(|tag| !tag.trim().is_empty()),
        (None, Some((peer, capability))) => is_plain(peer) && !capability.trim().is_empty(),
        (None, None) => false,
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

impl Run {
    /// Records what a task's names stand for now; false while nobody has said.
    pub(crate) fn compose(&self, task: usize, grants: &Grants, plan: &mut Plan) -> bool {
        let Some(spec) = self.spec.tasks.get(task) else { return true };
        let names: Vec<&String> = spec.tools.iter().filter(|name| self.is_looked_up(name)).collect();
        if names.is_empty() {
            return true;
        }
        let unknown: Vec<&&String> = names.iter().filter(|name| !grants.belts.contains_key(**name)).collect();
        unknown.iter().for_each(|name| plan.need_belt(name));
        if !unknown.is_empty() {
            return false;
        }
        let found = names.iter().filter_map(|name| grants.belts.get(*name)).flatten();
        let tools: BTreeMap<&str, Arc<ToolInfo>> = found.map(|tool| (tool.name.as_str(), tool.clone())).collect();
        plan.record(Fact::BeltComposed { task, tools: tools.into_values().collect() });
        true
    }

    fn is_looked_up(&self, name: &str) -> bool {
        is_dynamic(name) && !self.accepted_belt(name)
    }

    /// The tools of a task: those it names, and those its names stand for.
    pub(crate) fn tools_of(&self, position: usize, task: &Task) -> Arc<[Arc<ToolInfo>]> {
        let named = task.tools.iter().filter(|name| !self.is_looked_up(name)).filter_map(|name| self.belt.get(name));
        let composed = self.composed.get(&position).into_iter().flatten();
        named.chain(composed).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_ensembles_are_told_by_their_form() {
        for name in ["network:*", "network:#food", "kitchen.check-inventory", "room-2.a.b"] {
            assert!(is_dynamic(name), "{name}");
        }
        for name in ["calculator", "network:", "network:#", "network:food", ".x", "kitchen.", "a b.c", ""] {
            assert!(!is_dynamic(name), "{name}");
        }
    }
}
