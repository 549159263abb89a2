//! The frames of calls: of tools, subtasks and delegations, with their results.

use serde_json::Value;

use crate::decisions::output;
use crate::projections::frame::field::{CallError, CallOutcome, Iso};
use crate::projections::frame::run::Frame;
use crate::projections::view::usd;
use crate::state::calls::CallState;
use crate::state::run::Run;
use consort_spec::cause::Cause;
use consort_spec::event::FileChange;
use consort_spec::id::Id;
use consort_spec::message::{Call, Message, Outcome, Spent};
use consort_spec::text::Text;

impl Run {
    pub(super) fn charged_frame(&self, call: &Id, spent: &Spent) -> Frame {
        Frame::CallCharged {
            conversation: self.caller(call),
            call_id: call.to_string(),
            tokens: spent.usage.total(),
            cost: usd(spent.claim().cost),
        }
    }

    pub(super) fn dispatched_frame(&self, call: &Id) -> Frame {
        let (tool_name, tool_arguments) = self.asked_call(call);
        Frame::ToolDispatched { conversation: self.caller(call), call_id: call.to_string(), tool_name, tool_arguments }
    }

    pub(super) fn called_frame(&self, call: &Id, outcome: &Outcome, duration_ms: u64, cause: Option<&Cause>) -> Frame {
        let (tool_name, tool_arguments) = self.asked_call(call);
        let (ok, tool_result, structured_result) = self.result_words(call, outcome);
        Frame::ToolCalled {
            conversation: self.caller(call),
            call_id: call.to_string(),
            tool_name,
            duration_ms,
            outcome: if ok { CallOutcome::Success } else { CallOutcome::Failure },
            tool_arguments,
            tool_result,
            structured_result,
            error: cause.filter(|cause| **cause == Cause::ToolTimeout).map(|_| CallError::ToolTimeout),
        }
    }

    pub(super) fn changed_frame(&self, call: &Id, change: &FileChange, at: Iso) -> Frame {
        Frame::FileChanged {
            conversation: self.caller(call),
            file_path: change.file_path.clone(),
            change_type: change.change_type,
            lines_added: change.lines_added,
            lines_removed: change.lines_removed,
            call_id: call.to_string(),
            timestamp: at,
        }
    }

    pub(super) fn subtask_frame(&self, call: &Id, title: &str, instructions: &Text, tools: &[String]) -> Frame {
        Frame::SubtaskStarted {
            conversation: self.caller(call),
            call_id: call.to_string(),
            title: title.to_owned(),
            instructions: instructions.clone(),
            tool_names: tools.to_vec(),
            depth: call.depth(),
        }
    }

    pub(super) fn delegation_started_frame(&self, call: &Id, task: &str) -> Frame {
        let delegation = self.delegation(call, self.worker_role(call));
        Frame::DelegationStarted { delegation, task_description: task.to_owned() }
    }

    pub(super) fn delegation_ended_frame(&self, call: &Id, error: Option<&str>, at: u64) -> Frame {
        let delegation = self.delegation(call, self.worker_role(call));
        match error {
            None => {
                let began = self.conversations().get(call).map_or(at, |conversation| conversation.used().started_at);
                Frame::DelegationCompleted { delegation, duration_ms: at.saturating_sub(began) }
            }
            Some(reason) => Frame::DelegationFailed { delegation, reason: reason.to_owned() },
        }
    }

    pub(super) fn delegation_refused_frame(&self, call: &Id, role: &str, reason: &str) -> Frame {
        Frame::DelegationFailed { delegation: self.delegation(call, role), reason: reason.to_owned() }
    }

    /// Returns the name and arguments of a call, as the model asked for it.
    pub(crate) fn asked_call(&self, call: &Id) -> (String, String) {
        let found = call.parent().and_then(|(conversation, index)| {
            let duty = self.conversations().get(&conversation)?.chore_under_way().filter(|_| call.is_chore());
            if let Some(duty) = duty {
                return duty.calls.get(index).map(|Call { tool, args, .. }| (tool.clone(), args.to_string()));
            }
            let reply = self.conversations().get(&conversation)?.messages().iter().rev().find_map(Message::reply)?;
            let edited = self.chat().edited.get(call);
            reply.calls().nth(index).map(|Call { tool, args, .. }| (tool.clone(), edited.unwrap_or(args).to_string()))
        });
        found.unwrap_or_default()
    }

    /// Returns the result of a call: whether it succeeded, as text, and as data.
    pub(crate) fn result_words(&self, call: &Id, outcome: &Outcome) -> (bool, String, Option<Value>) {
        match outcome {
            Outcome::Answer { text, data, .. } => (true, text.to_string(), data.clone()),
            Outcome::Subtask => (true, self.result_of(call), None),
            Outcome::Failed { text } => (false, format!("Error: {text}"), None),
            Outcome::Unknown { .. } => {
                (false, format!("Error: {}", output::text_for_model(outcome, self.spec(), call.as_str()).0), None)
            }
        }
    }

    /// Returns the answer of a subtask: from its pending call, or from the messages to the model.
    pub(crate) fn result_of(&self, call: &Id) -> String {
        if let Some((_, CallState::Returned(Outcome::Answer { text, .. }))) = self.slot(call) {
            return text.to_string();
        }
        let conversation = call.parent().and_then(|(conversation, _)| self.conversations().get(&conversation));
        let text = conversation.into_iter().flat_map(|conversation| conversation.messages().iter().rev()).find_map(
            |message| {
                let Message::Tool { call: answered, text, .. } = message else { return None };
                (answered == call).then(|| text.to_string())
            },
        );
        text.unwrap_or_default()
    }
}
