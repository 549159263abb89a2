//! The team of an ensemble whose agents hand work to each other: the tools for it, the roles that tell them apart, and
//! the manager of a hierarchy.

use std::collections::BTreeMap;

use serde_json::json;

use crate::own_tool::OwnTool;
use crate::requests::agent::Agent;
use crate::requests::catalog::{Permission, ToolInfo};
use crate::requests::spec::Task;
use crate::schema::Schema;

/// The role of a manager, which no task may have.
pub const MANAGER_ROLE: &str = "Manager";
/// The number of model calls a manager may make.
const MANAGER_ITERATIONS: u32 = 20;

/// Returns the description of either tool for models, with the roles that exist.
pub fn info(tool: OwnTool, roles: &[&str]) -> ToolInfo {
    let schema = json!({
        "type": "object",
        "properties": {
            "agentRole": { "type": "string", "enum": roles, "description": "Who should do it" },
            "taskDescription": { "type": "string", "description": "What to do, with everything needed to do it" }
        },
        "required": ["agentRole", "taskDescription"]
    });
    let description = "Hands work to another agent of the team and returns its answer. \
        Several calls in one reply are worked on at the same time.";
    ToolInfo { schema: Schema::new(schema), permission: Permission::Subagent, ..ToolInfo::own(tool, description) }
}

/// Gives derived agents a unique role where several have the same: work is handed to a role.
pub(crate) fn tell_apart(tasks: &mut [Task]) {
    let mut bearers: BTreeMap<String, usize> = BTreeMap::new();
    for task in &*tasks {
        *bearers.entry(task.agent.role.to_lowercase()).or_default() += 1;
    }
    for task in tasks {
        let is_named = task.handler.is_none() && task.agent != Agent::derive(&task.description);
        let is_shared = bearers.get(&task.agent.role.to_lowercase()).is_some_and(|count| *count > 1);
        if is_shared && !is_named {
            task.agent.role = format!("{} ({})", task.agent.role, task.name);
        }
    }
}

/// Returns the task of the manager of a hierarchical ensemble.
pub fn manager(tasks: &[Task]) -> Task {
    let member = |task: &Task| format!("- {}: {}", task.agent.role, task.agent.goal);
    let task_line = |(index, task): (usize, &Task)| {
        format!("{}. {} (expected: {})", index + 1, task.description, task.expected_output)
    };
    let team: Vec<String> = tasks.iter().map(member).collect();
    let work: Vec<String> = tasks.iter().enumerate().map(task_line).collect();
    let agent = Agent {
        role: MANAGER_ROLE.to_owned(),
        goal: "Get the tasks done by the right members of your team and bring their work together".to_owned(),
        background: "You lead a team. You delegate work, judge the answers and delegate again where they fall short."
            .to_owned(),
        allow_delegation: true,
    };
    Task {
        name: MANAGER_ROLE.to_owned(),
        description: format!("Get these tasks done:\n{}\n\nYour team:\n{}", work.join("\n"), team.join("\n")),
        expected_output: "The results of all tasks, brought together in one answer.".to_owned(),
        agent,
        tools: vec![OwnTool::DelegateTask.name().to_owned()],
        max_iterations: MANAGER_ITERATIONS,
        ..Task::default()
    }
}
