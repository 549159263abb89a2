//! Calls a run makes for a task by itself, because the task says so and not
//! because a model asked: recalling and remembering, checking what goes in and
//! comes out, or doing the whole task without a model.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cause::{Cause, TaskFailure};
use crate::decisions::next::Plan;
use crate::decisions::own_tool::OwnTool;
use crate::event::Fact;
use crate::id::Id;
use crate::message::{Call, Outcome};
use crate::requests::catalog::{Belt, EffectClass, Permission, ToolInfo};
use crate::requests::spec::Task;
use crate::schema::Schema;
use crate::state::run::{How, Run};
use crate::state::turn::{Phase, Turn};
use crate::text::Text;

/// How the names start that critiques are remembered under.
const REFLECTION: &str = "reflection/";
/// The role shown for a task that no model works on.
pub const DETERMINISTIC_ROLE: &str = "(deterministic)";

/// What the calls are for; in the order a task comes to them.
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

/// A chore under way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Duty {
    pub(crate) chore: Chore,
    /// The task's answer, if it has one by now.
    pub(crate) answer: Text,
    /// What is called, also known after it is over.
    pub(crate) calls: Vec<Call>,
    pub(crate) tools: Vec<Arc<ToolInfo>>,
}

/// What is known about `memory_recall`.
pub(crate) fn recall_info() -> ToolInfo {
    ToolInfo {
        schema: scoped("query"),
        permission: Permission::Knowledge,
        ..ToolInfo::own(OwnTool::MemoryRecall, "Finds what was remembered under a name")
    }
}

/// What is known about `memory_store`.
pub(crate) fn store_info() -> ToolInfo {
    ToolInfo {
        schema: scoped("text"),
        effect: EffectClass::Idempotent,
        permission: Permission::Knowledge,
        ..ToolInfo::own(OwnTool::MemoryStore, "Remembers a text under a name")
    }
}

fn scoped(extra: &str) -> Schema {
    let properties = json!({ "scope": { "type": "string" }, extra: { "type": "string" } });
    Schema::new(json!({ "type": "object", "properties": properties, "required": ["scope", extra] }))
}

/// The name a task's own critique is remembered under.
fn reflection_scope(ensemble: &str, task: &Task) -> String {
    format!("{REFLECTION}{ensemble}/{}", task.name)
}

/// Whether critiques are remembered under this name.
pub fn is_reflection(scope: &str) -> bool {
    scope.starts_with(REFLECTION)
}

impl Task {
    /// The tools its chores need.
    pub(crate) fn chore_tools(&self) -> Vec<&str> {
        let memory = !self.memory.is_empty() || self.reflection;
        let memory =
            [OwnTool::MemoryRecall, OwnTool::MemoryStore].map(OwnTool::name).into_iter().filter(move |_| memory);
        let guards = self.input_guardrails.iter().chain(&self.output_guardrails).chain(&self.handler);
        memory.chain(guards.map(String::as_str)).collect()
    }
}

impl Run {
    /// Begins the task's next chore among these; false when there is none left.
    pub(crate) fn begin_chore(&self, id: &Id, turn: &Turn, chores: &[Chore], plan: &mut Plan) -> bool {
        let Some(task) = self.spec.tasks.get(id.task_index()).filter(|_| id.parent().is_none()) else { return false };
        let pending = chores.iter().filter(|chore| !turn.chores.contains(chore));
        let begun =
            pending.map(|chore| (*chore, self.chore_calls(*chore, task, turn))).find(|(_, calls)| !calls.is_empty());
        let Some((chore, calls)) = begun else { return false };
        plan.record(Fact::ChoreBegun { turn: id.clone(), chore, calls });
        true
    }

    fn chore_calls(&self, chore: Chore, task: &Task, turn: &Turn) -> Vec<Call> {
        let answer = turn.output();
        let reflection = task.reflection.then(|| reflection_scope(&self.spec.name, task));
        match chore {
            Chore::Recall => {
                let query = |scope: &String| {
                    call(OwnTool::MemoryRecall.name(), json!({ "scope": scope, "query": task.description }))
                };
                task.memory.iter().chain(&reflection).map(query).collect()
            }
            Chore::GuardInput => self.calls_of(&task.input_guardrails, &task.description, self.asked_of(task)),
            Chore::Handle => match (&task.handler, &task.handler_args) {
                (Some(tool), Some(args)) => vec![call(tool, args.clone())],
                (Some(_) | None, _) => self.calls_of(task.handler.as_slice(), &task.description, self.asked_of(task)),
            },
            Chore::GuardOutput => {
                let given = json!({ "output": answer, "description": task.description, "role": task.agent.role });
                self.calls_of(&task.output_guardrails, answer.as_str(), given)
            }
            Chore::Remember => {
                let note =
                    |scope: &String| call(OwnTool::MemoryStore.name(), json!({ "scope": scope, "text": answer }));
                let critique = turn.critique.as_ref().filter(|text| !text.is_empty()).zip(reflection.as_ref());
                let critique = critique
                    .map(|(text, scope)| call(OwnTool::MemoryStore.name(), json!({ "scope": scope, "text": text })));
                task.memory.iter().map(note).chain(critique).collect()
            }
        }
    }

    /// Calls of these tools with everything there is to say, or with the main
    /// text alone where a tool takes one text.
    fn calls_of(&self, tools: &[String], text: &str, everything: Value) -> Vec<Call> {
        let args = |name: &String| match self.belt.get(name).and_then(|tool| tool.schema.only_string()) {
            Some(property) => json!({ property: text }),
            None => everything.clone(),
        };
        tools.iter().map(|name| call(name, args(name))).collect()
    }

    fn asked_of(&self, task: &Task) -> Value {
        json!({ "description": task.description, "expectedOutput": task.expected_output, "role": task.agent.role,
            "context": self.context_of(task), "inputs": self.spec.inputs })
    }

    /// The outputs a task reads, by the names of the tasks they are from.
    fn context_of(&self, task: &Task) -> Value {
        let output = |position: &usize| match (&self.tasks.get(position)?.how, self.spec.tasks.get(*position)?) {
            (How::Completed { output, .. }, from) => Some((from.name.clone(), json!(output))),
            (How::Failed { .. } | How::Cancelled | How::Skipped { .. }, _) => None,
        };
        Value::Object(task.context.iter().filter_map(output).collect())
    }

    pub(crate) fn chore_begun(&mut self, id: &Id, chore: Chore, calls: &[Call]) {
        let belt: Belt = calls
            .iter()
            .filter_map(|call| self.belt.get_key_value(&call.tool))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        self.change(id, |turn| {
            let duty =
                Duty { chore, answer: turn.output(), calls: calls.to_vec(), tools: belt.into_values().collect() };
            turn.take_duty(duty);
        });
    }
}

/// What becomes of a task when a chore is over, and what was learnt from it.
pub(crate) fn ended(duty: &Duty, outcomes: &[&Outcome], task: (&str, &str)) -> (Phase, Vec<(String, Text)>) {
    let failed = outcomes.iter().find_map(|outcome| match outcome {
        Outcome::Failed { text } => Some(text.to_string()),
        Outcome::Unknown { why } => Some(why.clone()),
        Outcome::Answer { .. } | Outcome::Subtask => None,
    });
    let (role, description) = task;
    let violation = |side: &str, reason: &str| {
        let message = format!("{side} guardrail violation on agent '{role}' task '{description}': {reason}");
        Phase::Failing(TaskFailure::new(Cause::Guardrail, message))
    };
    let phase = match (duty.chore, failed) {
        (Chore::GuardInput, Some(reason)) => violation("INPUT", &reason),
        (Chore::GuardOutput, Some(reason)) => violation("OUTPUT", &reason),
        (Chore::Handle, Some(reason)) => Phase::Failing(TaskFailure::new(Cause::Handler, reason)),
        (Chore::Handle, None) => Phase::Answered(outcomes.first().map(|outcome| words(outcome)).unwrap_or_default()),
        // A task does not fail because nothing could be remembered.
        (Chore::Recall, _) | (Chore::GuardInput, None) => Phase::Prompt,
        (Chore::GuardOutput, None) => Phase::Answered(duty.answer.clone()),
        (Chore::Remember, _) => Phase::Approved(duty.answer.clone()),
    };
    let recalled = duty.calls.iter().zip(outcomes).filter(|(call, _)| call.tool == OwnTool::MemoryRecall.name());
    let recalled = recalled.map(|(call, outcome)| (scope(call), words(outcome))).filter(|(_, text)| !text.is_empty());
    (phase, recalled.collect())
}

fn words(outcome: &Outcome) -> Text {
    if let Outcome::Answer { text, .. } = outcome { text.clone() } else { Text::default() }
}

fn scope(call: &Call) -> String {
    let args: Value = serde_json::from_str(call.args.as_str()).unwrap_or_default();
    args.get("scope").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn call(tool: &str, args: Value) -> Call {
    Call { provider_id: String::new(), tool: tool.to_owned(), args: args.to_string().into(), native: None }
}
