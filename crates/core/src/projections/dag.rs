//! The order of a run's tasks, as it is exported for drawing: the dependencies, the tasks that can run at
//! the same time, and the longest chain.

use serde_json::{Value, json};

use crate::projections::trace::agent;
use crate::state::graph::{Graph, Wait};
use crate::state::run::Run;
use consort_spec::branch::Needs;
use consort_spec::id::Millis;
use consort_spec::spec::Workflow;
use consort_spec::time::iso;

/// The version of the format, as viewers know it.
const VERSION: &str = "1.3";

impl Run {
    /// Returns the tasks and their order.
    pub fn dag(&self, at: Millis) -> Value {
        let waits = match self.spec().workflow {
            Workflow::Sequential | Workflow::Parallel => self.spec().order(),
            // A manager begins the tasks in any order.
            Workflow::Hierarchical => vec![Vec::new(); self.spec().team().len()],
        };
        let levels = levels(&waits);
        let critical = longest(&waits, &levels);
        let task = |(index, task): (usize, &consort_spec::spec::Task)| {
            let waits = waits.get(index).map(|waits| ids(waits)).unwrap_or_default();
            json!({ "id": index.to_string(), "description": task.description, "expectedOutput": task.expected_output,
                "agentRole": task.agent.role, "dependsOn": waits, "parallelGroup": levels.get(index),
                "onCriticalPath": critical.contains(&index) })
        };
        let deepest = levels.iter().max().map_or(0, |level| level + 1);
        let group = |level: usize| ids(&positions(&levels, level));
        json!({ "schemaVersion": VERSION, "type": "dag", "workflow": self.spec().workflow.word(),
            "generatedAt": iso(at), "agents": self.spec().team().iter().map(agent).collect::<Vec<_>>(),
            "tasks": self.spec().team().iter().enumerate().map(task).collect::<Vec<_>>(),
            "parallelGroups": (0..deepest).map(group).collect::<Vec<_>>(), "criticalPath": ids(&critical) })
    }
}

/// Returns the level of each task: the number of tasks that must come before it, in a row.
fn levels(waits: &[Vec<usize>]) -> Vec<usize> {
    let wait = |on: &usize| Wait { on: *on, task: *on, needs: Needs::Output };
    let nodes: Vec<Option<Vec<Wait>>> = waits.iter().map(|waits| Some(waits.iter().map(wait).collect())).collect();
    let mut levels = vec![0; waits.len()];
    let mut graph = Graph::new(&nodes);
    let mut ready = graph.first();
    while let Some(task) = ready.pop() {
        let inputs = waits.get(task).into_iter().flatten().filter_map(|input| levels.get(*input));
        let after = inputs.max().map_or(0, |level: &usize| level + 1);
        if let Some(level) = levels.get_mut(task) {
            *level = after;
        }
        ready.extend(graph.end(task, |_| false).ready);
    }
    levels
}

/// Returns one of the longest chains, from its first task to its last.
fn longest(waits: &[Vec<usize>], levels: &[usize]) -> Vec<usize> {
    let level = |task: &usize| levels.get(*task).copied().unwrap_or(0);
    let mut next = (0..levels.len()).rev().max_by_key(level);
    let mut chain = Vec::new();
    while let Some(task) = next {
        chain.push(task);
        next = waits.get(task).and_then(|waits| waits.iter().copied().max_by_key(level));
    }
    chain.reverse();
    chain
}

fn positions(levels: &[usize], level: usize) -> Vec<usize> {
    levels.iter().enumerate().filter(|(_, of)| **of == level).map(|(task, _)| task).collect()
}

fn ids(positions: &[usize]) -> Vec<String> {
    positions.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_grouped_by_what_must_come_before_and_the_longest_chain_is_found() {
        let waits = [vec![], vec![0], vec![0], vec![1, 2], vec![]];
        let levels = levels(&waits);
        assert_eq!(levels, [0, 1, 1, 2, 0]);
        let chain = longest(&waits, &levels);
        assert_eq!((chain.first(), chain.len(), chain.last()), (Some(&0), 3, Some(&3)));
    }
}
