//! Hands work to another agent of the ensemble: a call of `delegate`, or of a manager's `delegateTask`,
//! becomes a conversation of that agent, with its model and its tools.

pub use consort_spec::delegation::{MANAGER_ROLE, info};
use serde::Deserialize;
use serde_json::Value;

use crate::decisions::next::{Grants, Plan};
use crate::decisions::prompt;
use crate::state::budget::Breach;
use crate::state::conversation::Conversation;
use crate::state::run::Run;
use consort_spec::event::EventKind;
use consort_spec::id::Id;
use consort_spec::message::{Call, Outcome};

/// The work to delegate, and the role of its agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assignment {
    agent_role: String,
    task_description: String,
}

impl Assignment {
    /// Reads the arguments of a call; the error tells the model what is wrong.
    fn parse(call: &Call) -> Result<Assignment, String> {
        let read = serde_json::from_str(call.args.as_str()).and_then(|args: Value| serde_json::from_value(args));
        read.map_err(|error| format!("invalid_tool_arguments: {error}; needed are `agentRole` and `taskDescription`"))
    }
}

impl Run {
    /// Starts another agent's conversation, or answers with an error.
    pub(crate) fn hand_over(
        &self,
        id: &Id,
        conversation: &Conversation,
        (call, grants): (&Call, &Grants),
        plan: &mut Plan,
    ) -> Result<(), Breach> {
        let refuse = |role: String, reason: String, plan: &mut Plan| {
            plan.record(EventKind::DelegationRefused { call: id.clone(), role, reason: reason.clone() });
            plan.record(EventKind::returned(id, Outcome::failed(reason)));
            Ok(())
        };
        let Assignment { agent_role, task_description } = match Assignment::parse(call) {
            Ok(assignment) => assignment,
            Err(reason) => return refuse(String::new(), reason, plan),
        };
        let worker = match self.colleague(conversation, &agent_role).and_then(|worker| self.spare(worker, plan)) {
            Ok(worker) => worker,
            Err(reason) => return refuse(agent_role, reason, plan),
        };
        if !self.compose(worker, grants, plan) {
            return Ok(());
        }
        plan.budget.claim_subtask()?;
        let Some(task) = self.spec().tasks.get(worker) else { return Ok(()) };
        let system = prompt::system(task).into();
        let user = prompt::assignment(task, &task_description).into();
        plan.record(EventKind::DelegationStarted { call: id.clone(), worker, task: task_description, system, user });
        Ok(())
    }

    /// Returns the same agent, unless its limit or the run's is reached; delegations of this pass count.
    fn spare(&self, worker: usize, plan: &Plan) -> Result<usize, String> {
        let handed = || self.delegated_to().iter().copied().chain(plan.delegated_to());
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
    fn colleague(&self, conversation: &Conversation, role: &str) -> Result<usize, String> {
        let team = self.spec().team();
        let worker = team.iter().position(|task| task.agent.role.eq_ignore_ascii_case(role));
        let max = self.spec().max_delegation_depth;
        match worker {
            _ if conversation.delegations() >= max => {
                Err(format!("work has been handed on {max} times already; do this yourself"))
            }
            Some(worker) if worker == conversation.worker() => Err("you cannot delegate to yourself".to_owned()),
            Some(worker) => Ok(worker),
            None => {
                let roles = self.spec().roles().join(", ");
                Err(format!("there is no agent with the role '{role}'; there are: {roles}"))
            }
        }
    }
}
