//! A chore under way: the calls a run makes for a task by itself, and how the task
//! goes on when they have ended.

use std::sync::Arc;

use serde_json::Value;

use crate::decisions::chore::Chore;
use crate::decisions::own_tool::OwnTool;
use crate::state::conversation::Phase;
use crate::state::run::Run;
use consort_spec::catalog::{Belt, ToolInfo};
use consort_spec::cause::{Cause, TaskFailure};
use consort_spec::id::Id;
use consort_spec::message::{Call, Outcome};
use consort_spec::text::Text;

/// A chore under way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChoreUnderWay {
    pub(crate) chore: Chore,
    /// The task's answer, if it has one by now.
    pub(crate) answer: Text,
    /// The calls, kept also after the chore is over.
    pub(crate) calls: Vec<Call>,
    pub(crate) tools: Vec<Arc<ToolInfo>>,
}

impl Run {
    /// Records the start of a chore with these calls.
    pub(crate) fn chore_begun(&mut self, id: &Id, chore: Chore, calls: &[Call]) {
        let belt: Belt = calls
            .iter()
            .filter_map(|call| self.belt.get_key_value(&call.tool))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        self.change(id, |conversation| {
            let duty = ChoreUnderWay {
                chore,
                answer: conversation.output(),
                calls: calls.to_vec(),
                tools: belt.into_values().collect(),
            };
            conversation.begin_chore(duty);
        });
    }
}

/// Returns the phase of a task after a chore, and the entries it recalled.
pub(crate) fn ended(duty: &ChoreUnderWay, outcomes: &[&Outcome], task: (&str, &str)) -> (Phase, Vec<(String, Text)>) {
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
