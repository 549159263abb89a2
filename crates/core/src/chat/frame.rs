//! The frames of a turn: one per event, numbered over the whole thread. Events without a meaning of their
//! own in a chat keep the frame they have in a run.

use serde_json::{Value, json};

use super::permission::category;
use super::{ChatEventKind, PendingApproval, Reason, Turn};
use crate::decisions::answer::FollowUp;
use crate::decisions::output;
use crate::decisions::own_tool::OwnTool;
use crate::projections::frame::chat::{
    Approval, CallStatus, ChatFrame, CostSummary, Level, MessageRow, ModelCost, PlanningPhase, PlanningStatus,
    TaskEvent, ToolCallUpdate,
};
use crate::projections::frame::field::{Iso, Nullable};
use crate::projections::frame::run;
use crate::projections::live_source::ChatLiveSource;
use crate::projections::view::usd;
use crate::state::run::Run;
use consort_spec::cause::Cause;
use consort_spec::event::{AdoptReason, Event, EventKind};
use consort_spec::id::Id;
use consort_spec::message::{Failure, FailureKind, Outcome};

/// The question about a file that prompts are built from.
const INSTRUCTS: &str = "this file becomes part of what agents are told, in later chats and other people's too";

impl Run {
    /// Returns the constant part of the live frames of a model that is being asked.
    pub(crate) fn chat_live_source(&self, chat: &Turn, run: &str, conversation: &Id) -> ChatLiveSource {
        ChatLiveSource {
            base: chat.base,
            thread_id: chat.thread.as_str().into(),
            turn_id: run.into(),
            level: self.level(conversation),
            call_id: self.model_call(conversation).into(),
        }
    }

    /// Returns the frame of `event`, which was just applied to this turn.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other fact has the frame it has in a run")]
    pub(crate) fn chat_body(&self, run: &str, event: &Event) -> ChatFrame {
        match &event.kind {
            EventKind::RunAccepted { spec, .. } => {
                self.row_frame(run, spec.chat.as_ref().map_or(0, |chat| chat.earlier.len()))
            }
            EventKind::RunAdopted { epoch, node, reason } => adopted(*epoch, node.as_deref(), *reason),
            EventKind::RunStarted => {
                ChatFrame::TurnStarted { model: self.spec().model.clone(), permission_mode: self.chat().mode }
            }
            EventKind::ModelAsked { conversation, round, model, .. } => ChatFrame::LlmStarted {
                level: self.level(conversation),
                call_id: self.model_call(conversation),
                model: model.clone(),
                iteration: *round,
            },
            EventKind::ModelReplied { conversation, .. }
                if self.converses(conversation) && self.calls(conversation) =>
            {
                let row = self.message_row(run, self.rows().len().saturating_sub(1));
                ChatFrame::Message(Box::new(MessageRow { call_id: Some(self.model_call(conversation)), ..row }))
            }
            EventKind::ModelReplied { conversation, reply, .. } => ChatFrame::LlmCompleted {
                level: self.level(conversation),
                call_id: self.model_call(conversation),
                content: reply.text(),
            },
            EventKind::AnswerTruncated { conversation, then, in_call } => ChatFrame::AnswerTruncated {
                level: self.level(conversation),
                call_id: self.model_call(conversation),
                then: *then,
                in_call: *in_call,
            },
            EventKind::AnswerEmpty { conversation, then } => self.unanswered_frame(conversation, *then),
            EventKind::ModelFailed { conversation, failure, then, .. } => ChatFrame::LlmVoided {
                level: self.level(conversation),
                call_id: self.model_call(conversation),
                message: failure.to_string(),
                then: then.into(),
            },
            EventKind::ToolReturned { call, outcome, duration_ms, .. } => self.ended_call(call, outcome, *duration_ms),
            EventKind::SubtaskStarted { call, user, .. } if self.builds(call) => ChatFrame::PlanningUpdate {
                level: self.level(call),
                phase: PlanningPhase::Planning,
                status: PlanningStatus::Start,
                content: user.to_string(),
            },
            EventKind::TaskStarted { conversation } if self.is_step(conversation) => {
                self.step_frame(conversation, TaskEvent::Started, json!({}))
            }
            EventKind::TaskCompleted { conversation } if self.is_step(conversation) => {
                self.step_frame(conversation, TaskEvent::Completed, json!({ "output": self.output_at(conversation) }))
            }
            EventKind::TaskSkipped { conversation, reason, .. } if self.is_step(conversation) => {
                self.step_frame(conversation, TaskEvent::Skipped, json!({ "reason": reason }))
            }
            // The turn has one error: that of the first task that failed.
            EventKind::TaskFailed { conversation, reason, cancelled, .. }
                if self.is_step(conversation) && (*cancelled || self.failed() > 1) =>
            {
                self.step_frame(conversation, TaskEvent::Failed, json!({ "reason": reason }))
            }
            EventKind::TaskFailed { cancelled: true, .. } => ChatFrame::TurnStopped {},
            EventKind::TaskFailed { reason, cause, .. } => self.error_frame(reason, cause.as_ref()),
            EventKind::RunEnded { end } => {
                ChatFrame::Chunk { content: String::new(), done: true, level: Level::default(), status: end.into() }
            }
            EventKind::Chat(kind) => self.own_frame(run, kind),
            _ => ChatFrame::Run(Box::new(self.body(run, event))),
        }
    }

    fn own_frame(&self, run: &str, kind: &ChatEventKind) -> ChatFrame {
        match kind {
            ChatEventKind::CallAnnounced { call } => {
                let (name, args) = self.asked_call(call);
                let title = self.chat().node(call).and_then(|node| node.title.clone());
                ChatFrame::ToolCallUpdate(Box::new(ToolCallUpdate {
                    level: self.call_level(call),
                    tool_call_id: self.chat().name(call).to_owned(),
                    name,
                    args: Some(serde_json::from_str(&args).unwrap_or(Value::String(args))),
                    status: CallStatus::Start,
                    message: title.map_or(Nullable::Null, Nullable::Value),
                    ..ToolCallUpdate::default()
                }))
            }
            ChatEventKind::ClientCalled { call, due } => {
                let (name, args) = self.asked_call(call);
                ChatFrame::ToolCall {
                    level: self.call_level(call),
                    tool_call_id: self.chat().name(call).to_owned(),
                    name,
                    args: serde_json::from_str(&args).unwrap_or_default(),
                    expires_at: Iso(*due),
                }
            }
            ChatEventKind::ApprovalAsked { approval, .. } => match self.approval(run, *approval) {
                Some(approval) => ChatFrame::ToolApprovalRequest(Box::new(approval)),
                None => ChatFrame::Run(Box::new(run::Frame::Unknown)),
            },
            ChatEventKind::ApprovalAnswered { approval, answer, by, args } => ChatFrame::ToolApprovalResolved {
                approval_id: approval_id(run, *approval),
                decision: *answer,
                by: by.clone(),
                args: args.as_ref().and_then(|args| serde_json::from_str(args.as_str()).ok()),
            },
            ChatEventKind::GrantWithdrawn { grant, by } => {
                ChatFrame::GrantWithdrawn { grant_id: grant.clone(), by: by.clone() }
            }
            ChatEventKind::ModeSet { mode, by } => {
                ChatFrame::PermissionModeChanged { permission_mode: *mode, by: by.clone() }
            }
            ChatEventKind::PlanChecked { call, mistakes } => {
                let (status, content) = match mistakes.as_slice() {
                    [] => (PlanningStatus::End, "the workflow has no mistakes".to_owned()),
                    mistakes => (PlanningStatus::Failed, mistakes.join("; ")),
                };
                ChatFrame::PlanningUpdate { level: self.level(call), phase: PlanningPhase::Validation, status, content }
            }
            ChatEventKind::TaskPlanned { call, task } => ChatFrame::TaskUpdate {
                level: self.level(call),
                event: TaskEvent::Planned,
                task: self.planned(call, *task),
            },
            ChatEventKind::AnswerStored => self.row_frame(run, self.rows().len().saturating_sub(1)),
            ChatEventKind::CostSummed => ChatFrame::CostSummary(Box::new(self.cost_summary())),
        }
    }

    fn row_frame(&self, run: &str, index: usize) -> ChatFrame {
        ChatFrame::Message(Box::new(self.message_row(run, index)))
    }

    fn message_row(&self, run: &str, index: usize) -> MessageRow {
        self.rows().get(index).map(|row| row.message(run, index)).unwrap_or_default()
    }

    /// Returns a question for permission, as it is asked and listed.
    pub fn approval(&self, run: &str, approval: u32) -> Option<Approval> {
        let asked = self.chat().approvals.get(approval as usize)?;
        let (tool_name, args) = self.asked_call(&asked.call);
        let category = self.belt().get(&tool_name).map_or("external", |tool| category(tool));
        let message = match &asked.carried {
            Some(carried) => carried.words(),
            None if asked.reason == Reason::Instructions => INSTRUCTS.to_owned(),
            None => format!("Call {tool_name} with these arguments?"),
        };
        Some(Approval {
            level: self.call_level(&asked.call),
            approval_id: approval_id(run, approval),
            tool_call_id: self.chat().name(&asked.call).to_owned(),
            category: category.to_owned(),
            args: serde_json::from_str(&args).unwrap_or_default(),
            message,
            reason: asked.reason,
            host: asked.host.clone(),
            bytes: args.len() as u64,
            sources: asked.carried.as_ref().map(|carried| carried.taint.sources()).unwrap_or_default(),
            tool_name,
            created_at: Iso(asked.asked_at),
            expires_at: asked.due.map(Iso),
        })
    }

    /// Returns the questions for permission that are still open.
    pub fn pending_approvals(&self, run: &str) -> Vec<PendingApproval> {
        let thread = self.spec().chat.as_ref().map(|chat| chat.thread.clone()).unwrap_or_default();
        let view = |approval: &u32| {
            let approval = self.approval(run, *approval)?;
            Some(PendingApproval { approval, thread_id: thread.clone(), turn_id: run.to_owned() })
        };
        self.chat().open.iter().filter_map(view).collect()
    }

    fn ended_call(&self, call: &Id, outcome: &Outcome, duration_ms: u64) -> ChatFrame {
        let (name, _) = self.asked_call(call);
        let graph = match outcome {
            Outcome::Answer { data, .. } if name == OwnTool::BuildWorkflow.name() => data.clone(),
            Outcome::Answer { .. } | Outcome::Failed { .. } | Outcome::Unknown { .. } | Outcome::Subtask => None,
        };
        let (result, is_error) = match outcome {
            Outcome::Subtask => (self.result_of(call), false),
            Outcome::Answer { .. } | Outcome::Failed { .. } | Outcome::Unknown { .. } => {
                let (text, is_error) = output::text_for_model(outcome, self.spec(), self.chat().name(call));
                (text.to_string(), is_error)
            }
        };
        ChatFrame::ToolCallUpdate(Box::new(ToolCallUpdate {
            level: self.call_level(call),
            tool_call_id: self.chat().name(call).to_owned(),
            name,
            result: Some(result),
            is_error: Some(is_error),
            status: CallStatus::End,
            duration_ms: Some(duration_ms),
            data: graph.map_or(Nullable::Null, Nullable::Value),
            ..ToolCallUpdate::default()
        }))
    }

    fn error_frame(&self, reason: &str, cause: Option<&Cause>) -> ChatFrame {
        let (code, status_code) = match (cause.and_then(Cause::code), self.chat().error) {
            _ if self.chat().breach.is_some() => ("budget_exceeded", None),
            (Some(code), _) => (code, None),
            (None, Some((code, status))) => (code, status),
            (None, None) => ("internal", None),
        };
        ChatFrame::Error { code: code.to_owned(), message: self.failure_words(reason), status_code }
    }

    /// Returns the reason for a turn's failure as text: the limit that ended it, or its task's reason.
    pub(crate) fn failure_words(&self, reason: &str) -> String {
        self.chat().breach.map_or_else(|| reason.to_owned(), |breach| breach.to_string())
    }

    fn cost_summary(&self) -> CostSummary {
        let model = |(alias, used): (&String, &crate::state::conversation::Used)| {
            let priced = !self.unpriced().contains(alias) && !used.unknown;
            ModelCost {
                model: alias.clone(),
                llm_calls: used.llm_calls,
                input_tokens: used.usage.input,
                output_tokens: used.usage.output,
                cached_tokens: used.usage.cached_input,
                total_usd: priced.then(|| usd(used.cost())),
                tokens_unknown: used.unknown,
            }
        };
        let limits = &self.spec().limits;
        CostSummary {
            total_usd: self.cost_usd(),
            input_tokens: self.totals().usage.input,
            output_tokens: self.totals().usage.output,
            cached_tokens: self.totals().usage.cached_input,
            llm_calls: within(self.totals().llm_calls, limits.llm_calls),
            tool_calls: within(self.totals().tool_calls, limits.tool_calls),
            subtasks: within(self.budget().subtasks(), limits.subtasks),
            wall_ms: within(self.clock().read(self.at()), limits.wall_clock_ms),
            by_model: self.chat().by_model.iter().map(model).collect(),
            unpriced_models: self.unpriced().iter().cloned().collect(),
            tokens_unknown: self.totals().unknown,
        }
    }

    /// Returns the cost so far, in dollars, where every model has a price.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        let priced = self.unpriced().is_empty() && !self.totals().unknown;
        priced.then(|| usd(self.totals().cost()))
    }

    /// Returns the id of the model call that is under way, or was the last one.
    fn unanswered_frame(&self, conversation: &Id, then: FollowUp) -> ChatFrame {
        ChatFrame::AnswerEmpty { level: self.level(conversation), call_id: self.model_call(conversation), then }
    }

    fn model_call(&self, conversation: &Id) -> String {
        let (calls, attempt) = self
            .conversations()
            .get(conversation)
            .map_or((0, 0), |conversation| (conversation.used().llm_calls, conversation.attempt()));
        format!("{conversation}#{calls}.{attempt}")
    }

    /// Returns the parent and the nesting depth of a conversation.
    fn level(&self, conversation: &Id) -> Level {
        Level { parent_id: self.parent_name(conversation).map(str::to_owned), depth: self.level_of(conversation) }
    }

    /// Returns the level of a call, which is that of the conversation that asked for it.
    pub(crate) fn call_level(&self, call: &Id) -> Level {
        match call.parent() {
            Some((conversation, _)) => self.level(&conversation),
            None => self.level(call),
        }
    }
}

/// Returns an amount as it counts against a limit, of which 0 is none: the call that was
/// refused, and the moment in which that was noticed, are not part of it.
fn within(amount: u64, limit: u64) -> u64 {
    if limit == 0 { amount } else { amount.min(limit) }
}

/// Returns the public id of a question for permission.
pub fn approval_id(run: &str, approval: u32) -> String {
    format!("{run}-approval-{approval}")
}

/// Returns the turn and number in the public id of a question for permission.
pub fn parse_approval_id(id: &str) -> Option<(&str, u32)> {
    let (run, number) = id.rsplit_once("-approval-")?;
    Some((run, number.parse().ok()?))
}

/// Returns the error code of a failed model call, for the client.
pub(crate) fn failure_code(failure: &Failure) -> &'static str {
    match failure.kind {
        _ if failure.status.is_some() => "http_status_error",
        FailureKind::Timeout | FailureKind::Network => "connection_error",
        FailureKind::RateLimited
        | FailureKind::Overloaded
        | FailureKind::Malformed
        | FailureKind::Overflow
        | FailureKind::Unauthorized
        | FailureKind::Refused
        | FailureKind::Dropped => "provider_error",
    }
}

fn adopted(epoch: u64, node: Option<&str>, reason: Option<AdoptReason>) -> ChatFrame {
    ChatFrame::TurnAdopted { epoch, node: node.map(str::to_owned), reason }
}
