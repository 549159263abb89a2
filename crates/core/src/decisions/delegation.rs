//! Hands work to another agent of the ensemble: a call of `delegate`, or of a manager's `delegateTask`,
//! becomes a conversation of that agent, with its model and its tools.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::decisions::next::{Grants, Plan};
use crate::decisions::own_tool::OwnTool;
use crate::decisions::prompt;
use crate::event::EventKind;
use crate::id::Id;
use crate::message::{Call, Outcome};
use crate::requests::agent::Agent;
use crate::requests::catalog::{Permission, ToolInfo};
use crate::requests::spec::Task;
use crate::schema::Schema;
use crate::state::budget::Breach;
use crate::state::conversation::Conversation;
use crate::state::run::Run;

/// The role of a manager, which no task may have.
pub const MANAGER_ROLE: &str = "Manager";
/// The number of model calls a manager may make.
const MANAGER_ITERATIONS: u32 = 20;

/// The work to delegate, and the role of its agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Errand {
    agent_role: String,
    task_description: String,
}

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
pub(crate) fn manager(tasks: &[Task]) -> Task {
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

impl Run {
    /// Starts another agent's conversation, or answers with an error.
    pub(crate) fn hand_over(
        &self,
        id: &Id,
        turn: &Conversation,
        (call, grants): (&Call, &Grants),
        plan: &mut Plan,
    ) -> Result<(), Breach> {
        let refuse = |role: String, reason: String, plan: &mut Plan| {
            plan.record(EventKind::DelegationRefused { call: id.clone(), role, reason: reason.clone() });
            plan.record(EventKind::returned(id, Outcome::failed(reason)));
        };
        let errand = serde_json::from_str(call.args.as_str()).and_then(|args: Value| serde_json::from_value(args));
        let Errand { agent_role, task_description } = match errand {
            Ok(errand) => errand,
            Err(error) => {
                let reason = format!("invalid_tool_arguments: {error}; needed are `agentRole` and `taskDescription`");
                refuse(String::new(), reason, plan);
                return Ok(());
            }
        };
        let worker = match self.colleague(turn, &agent_role).and_then(|worker| self.spare(worker, plan)) {
            Ok(worker) => worker,
            Err(reason) => {
                refuse(agent_role, reason, plan);
                return Ok(());
            }
        };
        if !self.compose(worker, grants, plan) {
            return Ok(());
        }
        plan.budget.claim_subtask()?;
        let Some(task) = self.spec().tasks.get(worker) else { return Ok(()) };
        let system = prompt::system(task).into();
        let user = prompt::errand(task, &task_description).into();
        plan.record(EventKind::DelegationStarted { call: id.clone(), worker, task: task_description, system, user });
        Ok(())
    }

    /// Returns the same agent, unless its limit or the run's is reached; delegations of this pass count.
    fn spare(&self, worker: usize, plan: &Plan) -> Result<usize, String> {
        let handed = || self.errands().iter().copied().chain(plan.errands());
        let all = handed().count();
        let own = handed().filter(|other| *other == worker).count();
        let reached = |count: usize, max: u32| u32::try_from(count).map_or(true, |count| count >= max);
        let max = self.spec().max_delegations;
        let max_own = self.spec().max_delegations_per_agent;
        if reached(all, max) {
            return Err(format!(
                "work has been handed out {max} times, which is the limit of this run; finish with what you have"
            ));
        }
        if reached(own, max_own) {
            let role = self.spec().team().get(worker).map_or("", |task| &task.agent.role);
            return Err(format!(
                "'{role}' has been given work {max_own} times, which is its limit; ask another agent, or finish with what you have"
            ));
        }
        Ok(worker)
    }

    /// Returns the position of the agent with this role, unless it may not be asked.
    fn colleague(&self, turn: &Conversation, role: &str) -> Result<usize, String> {
        let team = self.spec().team();
        let worker = team.iter().position(|task| task.agent.role.eq_ignore_ascii_case(role));
        let max = self.spec().max_delegation_depth;
        match worker {
            _ if turn.delegations() >= max => {
                Err(format!("work has been handed on {max} times already; do this yourself"))
            }
            Some(worker) if worker == turn.worker() => Err("you cannot delegate to yourself".to_owned()),
            Some(worker) => Ok(worker),
            None => {
                let roles = self.spec().roles().join(", ");
                Err(format!("there is no agent with the role '{role}'; there are: {roles}"))
            }
        }
    }
}
