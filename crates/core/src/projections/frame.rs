//! Renders the frames that clients see, one per event. A frame is a rendering of the event *and the state
//! right after it*, so it may quote data of earlier events. Names follow the protocol; where it had no
//! frame for an event, ours is named after the event. `run` and `chat` list the frames; this
//! file and `whole`, `task`, `model`, `call` and `review` make them.

mod call;
pub mod chat;
mod declared;
pub mod field;
pub mod live;
mod model;
pub mod numbered;
mod place;
mod review;
pub mod run;
pub mod schema;
mod task;
mod whole;

use serde_json::Value;

use crate::projections::frame::field::Iso;
use crate::projections::frame::numbered::{EventFrame, RunFrame, TurnFrame};
use crate::projections::frame::run::Frame;
use crate::state::run::Run;
use consort_spec::event::{Event, EventKind};

pub(crate) use model::quote;
pub use review::{parse_review_id, review_id};
pub use whole::directive_id;

impl Run {
    /// Returns the frame of `event`, which was just applied to this run as number `seq`.
    pub fn frame(&self, run: &str, seq: u64, event: &Event) -> EventFrame {
        if let Some(chat) = &self.spec().chat {
            return EventFrame::Turn(TurnFrame {
                thread_id: chat.thread.clone(),
                turn_id: run.into(),
                chat_seq: chat.base + seq,
                frame: self.chat_body(run, event),
                at: Iso(event.at),
            });
        }
        EventFrame::Run(RunFrame {
            run_id: run.into(),
            seq,
            frame: self.body(run, event),
            inherited: seq < self.copied(),
            at: Iso(event.at),
        })
    }

    /// Returns the frame of an event without its place in the run: the one place that lists every event.
    pub(crate) fn body(&self, run: &str, event: &Event) -> Frame {
        let at = Iso(event.at);
        match &event.kind {
            EventKind::RunAccepted { .. } => self.accepted_frame(),
            EventKind::RunAdopted { epoch, node, reason } => whole::adopted(*epoch, node.as_deref(), *reason),
            EventKind::RunForked { outputs, .. } => self.forked_frame(outputs),
            EventKind::RunStarted => self.ensemble_started_frame(at),
            EventKind::BeltComposed { task, tools } => self.belt_frame(*task, tools),
            EventKind::ExpressionEvaluated { of, key, result } => self.evaluated_frame(of, *key, result),
            EventKind::TaskStarted { conversation } => self.started_frame(conversation, at),
            EventKind::PromptBuilt { conversation, user, .. } => self.input_frame(conversation, user.as_str(), at),
            EventKind::ChoreBegun { conversation, chore, calls } => self.chore_frame(conversation, *chore, calls),
            EventKind::ReflectionBegun { conversation } => self.reflection_frame(conversation),
            EventKind::TaskCompleted { conversation } => self.completed_frame(conversation, at),
            EventKind::TaskFailed { conversation, reason, cancelled, .. } => {
                self.failed_frame(conversation, reason, *cancelled, at)
            }
            EventKind::TaskSkipped { conversation, reason, cause } => self.skipped_frame(conversation, reason, *cause),
            EventKind::ReviewOpened { review, .. } => {
                self.review_view(run, *review).map_or(Frame::Unknown, Frame::ReviewRequested)
            }
            EventKind::ReviewDecided { review, decision, by } => review::decided_frame(run, *review, decision, by),
            EventKind::ReviewTimedOut { review, action } => {
                Frame::ReviewTimedOut { review_id: review_id(run, *review), action: *action }
            }
            EventKind::ReviewClosed { review } => Frame::ReviewClosed { review_id: review_id(run, *review) },
            EventKind::DirectiveGiven { directive } => self.directive_frame(run, directive),
            EventKind::DirectiveDelivered { directive, conversation, round } => {
                self.delivered_frame(run, *directive, (conversation, *round))
            }
            EventKind::ModelSwitched { previous, by, .. } => self.switched_frame(previous, by),
            EventKind::CancelRequested { mode, by } => Frame::CancelRequested { mode: *mode, by: by.clone() },
            EventKind::RunPaused { by } => Frame::RunPaused { by: by.clone() },
            EventKind::RunResumed { by } => Frame::RunResumed { by: by.clone() },
            EventKind::BudgetRaised { limits, by } => Frame::BudgetRaised { limits: limits.into(), by: by.clone() },
            EventKind::BudgetExceeded { breach } => Frame::BudgetExceeded(whole::exceeded(breach)),
            EventKind::RunEnded { end } => self.ensemble_completed_frame(end, event.at),
            // Only turns of a chat have such events.
            EventKind::Chat(_) => Frame::Unknown,
            EventKind::ModelAsked { conversation, round, model, .. } => self.asked_frame(conversation, *round, model),
            EventKind::ModelRetried { conversation, attempt, .. } => self.retried_frame(conversation, *attempt),
            EventKind::ModelReplied { conversation, reply, usage, latency_ms, .. } => {
                self.replied_frame(conversation, reply, usage.as_ref(), *latency_ms)
            }
            EventKind::AnswerTruncated { conversation, then, in_call } => {
                self.truncated_frame(conversation, *then, *in_call)
            }
            EventKind::AnswerEmpty { conversation, then } => self.empty_frame(conversation, *then),
            EventKind::UsageCounted { conversation, .. } => self.metrics_frame(conversation),
            EventKind::ModelFailed { conversation, failure, then, .. } => {
                self.model_failed_frame(conversation, failure, then)
            }
            EventKind::HistoryDropped { conversation, exchanges } => self.dropped_frame(conversation, *exchanges),
            EventKind::OutputRejected { conversation, violations } => self.rejected_frame(conversation, violations),
            EventKind::LastRoundBegun { conversation } => self.last_round_frame(conversation),
            EventKind::LoopNoticed { conversation, tool, times } => self.loop_frame(conversation, tool, *times),
            EventKind::FinishDemanded { conversation } => self.demanded_frame(conversation),
            EventKind::CallCharged { call, spent } => self.charged_frame(call, spent),
            EventKind::ToolDispatched { call, .. } => self.dispatched_frame(call),
            EventKind::ToolReturned { call, outcome, duration_ms, cause } => {
                self.called_frame(call, outcome, *duration_ms, cause.as_ref())
            }
            EventKind::FileChanged { call, change } => self.changed_frame(call, change, at),
            EventKind::SubtaskStarted { call, title, user, tools, .. } => self.subtask_frame(call, title, user, tools),
            EventKind::DelegationStarted { call, task, .. } => self.delegation_started_frame(call, task),
            EventKind::DelegationEnded { call, error } => self.delegation_ended_frame(call, error.as_deref(), event.at),
            EventKind::DelegationRefused { call, role, reason } => self.delegation_refused_frame(call, role, reason),
        }
    }
}

pub(crate) fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}
