//! Looking up what the names of a task stand for, before it begins.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::decisions::next::{Grants, Plan};
use crate::event::EventKind;
use crate::requests::catalog::ToolInfo;
use crate::requests::reach::Provider;
use crate::state::run::Run;

impl Run {
    /// Records the tools that a task's names resolve to; false while the lookup is not done.
    pub(crate) fn compose(&self, task: usize, grants: &Grants, plan: &mut Plan) -> bool {
        let Some(spec) = self.spec().tasks.get(task) else { return true };
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
        let mut tools: BTreeMap<&str, Arc<ToolInfo>> = BTreeMap::new();
        for tool in found {
            // A tool that the task names is that peer's, also where a pattern stands for it too.
            let is_named = tools.get(tool.name.as_str()).is_some_and(|known| known.reach.provider == Provider::Named);
            if !is_named {
                tools.insert(&tool.name, tool.clone());
            }
        }
        plan.record(EventKind::BeltComposed { task, tools: tools.into_values().collect() });
        true
    }
}
