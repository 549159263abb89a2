//! The kinds of calls a run makes for a task by itself, because the task is configured so and not because a model asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::own_tool::OwnTool;
use crate::requests::spec::Task;

/// The role shown for a task that no model works on.
pub const DETERMINISTIC_ROLE: &str = "(deterministic)";

/// The purpose of the calls; in the order in which a task makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Chore {
    /// Finding what earlier runs remembered.
    Recall,
    /// Checking the task before a model sees it.
    GuardInput,
    /// Doing the task without a model.
    Handle,
    /// Checking the output.
    GuardOutput,
    /// Remembering the output.
    Remember,
}

impl Task {
    /// Returns the names of the tools its chores need.
    pub fn chore_tools(&self) -> Vec<&str> {
        let memory = !self.memory.is_empty() || self.reflection;
        let memory =
            [OwnTool::MemoryRecall, OwnTool::MemoryStore].map(OwnTool::name).into_iter().filter(move |_| memory);
        let guards = self.input_guardrails.iter().chain(&self.output_guardrails).chain(&self.handler);
        memory.chain(guards.map(String::as_str)).collect()
    }
}
