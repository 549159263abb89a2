//! The frames of model calls: questions, replies, failures and usage.

use crate::decisions::answer::FollowUp;
use crate::projections::frame::field::{Quoted, QuotedRole, ResponseType, ToolRequest};
use crate::projections::frame::run::Frame;
use crate::projections::view::cost_text;
use crate::state::conversation::Conversation;
use crate::state::run::Run;
use consort_spec::event::AfterFailure;
use consort_spec::id::Id;
use consort_spec::message::{Attached, Call, Failure, Message, Reply, Stop, Usage};
use consort_spec::text::Text;

/// The number of messages quoted in the frame of a model call.
const QUOTED_MAX: usize = 20;

impl Run {
    pub(super) fn asked_frame(&self, conversation: &Id, round: u32, model: &str) -> Frame {
        let all = self
            .conversations()
            .get(conversation)
            .map(|conversation| conversation.messages().as_slice())
            .unwrap_or_default();
        let newest = all.get(all.len().saturating_sub(QUOTED_MAX)..).unwrap_or_default();
        Frame::LlmIterationStarted {
            conversation: self.conversation_place(conversation),
            iteration_index: round,
            model: model.to_owned(),
            messages: newest.iter().map(quote).collect(),
            total_message_count: all.len(),
        }
    }

    pub(super) fn replied_frame(
        &self,
        conversation: &Id,
        reply: &Reply,
        usage: Option<&Usage>,
        latency_ms: u64,
    ) -> Frame {
        let tokens =
            |count: fn(&Usage) -> u64| usage.map_or(-1, |usage| i64::try_from(count(usage)).unwrap_or(i64::MAX));
        let calls: Vec<ToolRequest> = reply.calls().map(requested).collect();
        let is_answer = calls.is_empty();
        let text = reply.text();
        // Calls that are not made end the round as an answer does.
        let is_over = |state: &Conversation| u32::from(state.calls().is_none());
        Frame::LlmIterationCompleted {
            conversation: self.conversation_place(conversation),
            iteration_index: self
                .conversations()
                .get(conversation)
                .map(|state| state.round().saturating_sub(is_over(state))),
            response_type: if is_answer { ResponseType::FinalAnswer } else { ResponseType::ToolCalls },
            response_text: Some(text).filter(|text| is_answer || !text.is_empty()),
            tool_requests: (!is_answer).then_some(calls),
            truncated: (reply.stop == Stop::Length).then_some(true),
            input_tokens: tokens(|usage| usage.input),
            output_tokens: tokens(|usage| usage.output),
            latency_ms,
        }
    }

    pub(super) fn truncated_frame(&self, conversation: &Id, then: FollowUp, in_call: bool) -> Frame {
        let continued =
            self.conversations().get(conversation).map(|conversation| conversation.unfinished().continued());
        Frame::AnswerTruncated {
            call: self.answered_call_place(conversation),
            then,
            in_call: in_call.then_some(true),
            continuation: continued.filter(|_| then == FollowUp::Continue && !in_call),
        }
    }

    pub(super) fn metrics_frame(&self, conversation: &Id) -> Frame {
        let used = self.conversations().get(conversation).map(|conversation| *conversation.used()).unwrap_or_default();
        let model = self.conversations().get(conversation).map(|conversation| conversation.model().as_str());
        let priced = model.is_some_and(|alias| !self.unpriced().contains(alias));
        Frame::MetricsSnapshot {
            conversation: self.conversation_place(conversation),
            input_tokens: used.known(used.usage.input),
            output_tokens: used.known(used.usage.output),
            llm_latency_ms: used.llm_ms,
            tool_execution_time_ms: used.tool_ms,
            iteration_count: used.llm_calls,
            cost_estimate: (priced && !used.unknown).then(|| cost_text(used.cost())),
        }
    }

    pub(super) fn retried_frame(&self, conversation: &Id, attempt: u32) -> Frame {
        Frame::ModelRetried { call: self.model_call_place(conversation), attempt }
    }

    pub(super) fn last_round_frame(&self, conversation: &Id) -> Frame {
        Frame::LastRound { call: self.model_call_place(conversation) }
    }

    pub(super) fn demanded_frame(&self, conversation: &Id) -> Frame {
        Frame::FinishDemanded { call: self.model_call_place(conversation) }
    }

    pub(super) fn reflection_frame(&self, conversation: &Id) -> Frame {
        Frame::ReflectionStarted { task: self.task_place(conversation) }
    }

    pub(super) fn empty_frame(&self, conversation: &Id, then: FollowUp) -> Frame {
        Frame::AnswerEmpty { call: self.answered_call_place(conversation), then }
    }

    pub(super) fn dropped_frame(&self, conversation: &Id, exchanges: usize) -> Frame {
        Frame::HistoryDropped { call: self.model_call_place(conversation), exchanges }
    }

    pub(super) fn rejected_frame(&self, conversation: &Id, violations: &[String]) -> Frame {
        Frame::OutputRejected { call: self.model_call_place(conversation), violations: violations.to_vec() }
    }

    pub(super) fn model_failed_frame(&self, conversation: &Id, failure: &Failure, then: &AfterFailure) -> Frame {
        Frame::ModelFailed {
            call: self.model_call_place(conversation),
            error: failure.kind,
            message: failure.message.clone(),
            then: then.into(),
        }
    }

    pub(super) fn loop_frame(&self, conversation: &Id, tool: &str, times: u32) -> Frame {
        Frame::LoopNoticed { call: self.model_call_place(conversation), tool_name: tool.to_owned(), times }
    }
}

fn requested(call: &Call) -> ToolRequest {
    ToolRequest { name: call.tool.clone(), arguments: call.args.clone() }
}

/// Returns a message as it is shown.
pub(crate) fn quote(message: &Message) -> Quoted {
    let said =
        |role, content: &Text| Quoted { role, content: Some(content.clone()), tool_calls: None, tool_name: None };
    match message {
        Message::System { text } => said(QuotedRole::System, text),
        Message::User { text } => said(QuotedRole::User, text),
        Message::Files { files } => said(QuotedRole::User, &Attached::listed(files)),
        Message::Tool { name, text, .. } => Quoted { tool_name: Some(name.clone()), ..said(QuotedRole::Tool, text) },
        Message::Assistant(reply) => {
            let calls: Vec<ToolRequest> = reply.calls().map(requested).collect();
            let tool_calls = (!calls.is_empty()).then_some(calls);
            let text = reply.text();
            let content = Some(text).filter(|text| tool_calls.is_none() || !text.is_empty()).map(Text::from);
            Quoted { role: QuotedRole::Assistant, content, tool_calls, tool_name: None }
        }
    }
}
