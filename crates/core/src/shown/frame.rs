//! Renders the frames that clients see, one per event. A frame is a rendering of the event *and the state
//! right after it*, so it may quote data of earlier events. Names follow the protocol; where it had no
//! frame for an event, ours is named after the event. `run` and `chat` list the frames, this file makes
//! them.

pub mod chat;
pub mod field;
pub mod live;
pub mod numbered;
pub mod run;
pub mod schema;

use serde_json::Value;

use crate::decisions::answer::Sequel;
use crate::decisions::human::Question;
use crate::decisions::output;
use crate::event::{Decision, Directive, Event, EventKind, Origin, Timing};
use crate::id::Id;
use crate::message::{Call, Message, Outcome, Reply, Stop, Usage};
use crate::shown::frame::field::{
    Amount, CallOutcome, DeclaredTask, Delegation, Exceeded, ForkedFrom, Iso, ModelCall, Nullable, Quoted, QuotedRole,
    ResponseType, Review, TaskPlace, ToolRequest, TurnPlace, shortened,
};
use crate::shown::frame::numbered::{EventFrame, RunFrame, TurnFrame};
use crate::shown::frame::run::Frame;
use crate::shown::view::{cost_text, usd};
use crate::state::budget::{Breach, Reason};
use crate::state::calls::Slot;
use crate::state::conversation::Conversation;
use crate::state::run::{How, Run};
use crate::text::Text;

/// The number of messages quoted in the frame of a model call.
const QUOTED_MAX: usize = 20;

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

    // sizes: allow fn-length body — the one place that lists every frame
    #[expect(clippy::too_many_lines, reason = "the one place that lists every frame")]
    pub(crate) fn body(&self, run: &str, event: &Event) -> Frame {
        let at = Iso(event.at);
        match &event.kind {
            EventKind::RunAccepted { .. } => self.accepted_frame(),
            EventKind::RunAdopted { epoch } => Frame::RunAdopted { epoch: *epoch },
            EventKind::RunForked { .. } => self.forked_frame(),
            EventKind::RunStarted => Frame::EnsembleStarted {
                ensemble_id: self.ensemble_id().to_owned(),
                started_at: at,
                total_tasks: self.spec().team().len(),
                workflow: self.spec().workflow,
            },
            EventKind::BeltComposed { task, tools } => {
                let tool_names = tools.iter().map(|tool| tool.name.clone()).collect();
                Frame::BeltComposed { task: self.task_place(&Id::task(*task)), tool_names }
            }
            EventKind::TaskStarted { turn } => {
                Frame::TaskStarted { task: self.task_place(turn), total_tasks: self.total_shown(), started_at: at }
            }
            EventKind::PromptBuilt { turn, user, .. } => self.input_frame(turn, user.as_str(), at),
            EventKind::ChoreBegun { turn, chore, calls } => {
                let tool_names = calls.iter().map(|call| call.tool.clone()).collect();
                Frame::ChoreStarted { task: self.task_place(turn), chore: *chore, tool_names }
            }
            EventKind::ReflectionBegun { turn } => Frame::ReflectionStarted { task: self.task_place(turn) },
            EventKind::ModelAsked { turn, round, model, .. } => self.asked_frame(turn, *round, model),
            EventKind::ModelRetried { turn, attempt, .. } => {
                Frame::ModelRetried { call: self.model_call_place(turn), attempt: *attempt }
            }
            EventKind::ModelReplied { turn, reply, usage, latency_ms, .. } => {
                self.replied_frame(turn, reply, usage.unwrap_or_default(), *latency_ms)
            }
            EventKind::AnswerTruncated { turn, then, in_call } => self.truncated_frame(turn, *then, *in_call),
            EventKind::AnswerEmpty { turn, then } => {
                Frame::AnswerEmpty { call: self.answered_call_place(turn), then: *then }
            }
            EventKind::UsageCounted { turn, .. } => self.metrics_frame(turn),
            EventKind::ModelFailed { turn, failure, then, .. } => {
                let (error, message) = (failure.kind, failure.message.clone());
                Frame::ModelFailed { call: self.model_call_place(turn), error, message, then: then.into() }
            }
            EventKind::HistoryDropped { turn, exchanges } => {
                Frame::HistoryDropped { call: self.model_call_place(turn), exchanges: *exchanges }
            }
            EventKind::OutputRejected { turn, violations } => {
                Frame::OutputRejected { call: self.model_call_place(turn), violations: violations.clone() }
            }
            EventKind::LastRoundBegun { turn } => Frame::LastRound { call: self.model_call_place(turn) },
            EventKind::LoopNoticed { turn, tool, times } => {
                Frame::LoopNoticed { call: self.model_call_place(turn), tool_name: tool.clone(), times: *times }
            }
            EventKind::CallCharged { call, spent } => Frame::CallCharged {
                turn: self.caller(call),
                call_id: call.to_string(),
                tokens: spent.usage.total(),
                cost: usd(spent.claim().cost),
            },
            EventKind::ToolDispatched { call, .. } => {
                let (tool_name, tool_arguments) = self.asked_call(call);
                Frame::ToolDispatched { turn: self.caller(call), call_id: call.to_string(), tool_name, tool_arguments }
            }
            EventKind::FinishDemanded { turn } => Frame::FinishDemanded { call: self.model_call_place(turn) },
            EventKind::SubtaskStarted { call, title, user, tools, .. } => Frame::SubtaskStarted {
                turn: self.caller(call),
                call_id: call.to_string(),
                title: title.clone(),
                instructions: user.clone(),
                tool_names: tools.clone(),
                depth: call.depth(),
            },
            EventKind::DelegationStarted { call, task, .. } => {
                let delegation = self.delegation(call, self.worker_role(call));
                Frame::DelegationStarted { delegation, task_description: task.clone() }
            }
            EventKind::DelegationEnded { call, error } => self.delegation_ended_frame(call, error.as_deref(), event.at),
            EventKind::DelegationRefused { call, role, reason } => {
                Frame::DelegationFailed { delegation: self.delegation(call, role), reason: reason.clone() }
            }
            EventKind::ToolReturned { call, outcome, duration_ms, .. } => {
                self.called_frame(call, outcome, *duration_ms)
            }
            EventKind::FileChanged { call, change } => Frame::FileChanged {
                turn: self.caller(call),
                file_path: change.file_path.clone(),
                change_type: change.change_type,
                lines_added: change.lines_added,
                lines_removed: change.lines_removed,
                call_id: call.to_string(),
                timestamp: at,
            },
            EventKind::ReviewOpened { review, .. } => {
                self.review_view(run, *review).map_or(Frame::Unknown, Frame::ReviewRequested)
            }
            EventKind::ReviewDecided { review, decision, by } => {
                let (revised_output, feedback) = said(decision);
                let (review_id, decision) = (review_id(run, *review), decision.into());
                Frame::ReviewDecided { review_id, decision, by: by.clone(), revised_output, feedback }
            }
            EventKind::ReviewTimedOut { review, action } => {
                Frame::ReviewTimedOut { review_id: review_id(run, *review), action: *action }
            }
            EventKind::ReviewClosed { review } => Frame::ReviewClosed { review_id: review_id(run, *review) },
            EventKind::TaskCompleted { turn } => self.completed_frame(turn, at),
            EventKind::TaskFailed { turn, reason, cancelled, .. } => Frame::TaskFailed {
                task: self.task_place(turn),
                failed_at: at,
                reason: reason.clone(),
                cancelled: cancelled.then_some(true),
                partial_output: self.tasks().get(&turn.task_index()).and_then(|ended| ended.partial.clone()),
            },
            EventKind::TaskSkipped { turn, reason } => {
                Frame::TaskSkipped { task: self.task_place(turn), reason: reason.clone() }
            }
            EventKind::DirectiveGiven { directive } => self.directive_frame(run, directive),
            EventKind::DirectiveDelivered { directive, turn, round } => Frame::DirectiveDelivered {
                directive_id: directive_id(run, *directive),
                task_index: self.shown(turn),
                iteration_index: *round,
            },
            EventKind::ModelSwitched { previous, by, .. } => self.switched_frame(previous, by),
            EventKind::CancelRequested { mode, by } => Frame::CancelRequested { mode: *mode, by: by.clone() },
            EventKind::RunPaused { by } => Frame::RunPaused { by: by.clone() },
            EventKind::RunResumed { by } => Frame::RunResumed { by: by.clone() },
            EventKind::BudgetExceeded { breach } => Frame::BudgetExceeded(exceeded(breach)),
            // Only turns of a chat have such events.
            EventKind::Chat(_) => Frame::Unknown,
            EventKind::RunEnded { end } => Frame::EnsembleCompleted {
                ensemble_id: self.ensemble_id().to_owned(),
                completed_at: at,
                duration_ms: self.duration_ms(event.at),
                exit_reason: end.into(),
                total_tokens: self.total_tokens(),
                total_tool_calls: self.totals().tool_calls,
                error: self.error().map(str::to_owned),
            },
        }
    }

    fn accepted_frame(&self) -> Frame {
        let task = |(index, task): (usize, &crate::requests::spec::Task)| DeclaredTask {
            task_index: index + 1,
            name: task.name.clone(),
            agent_role: task.agent.role.clone(),
            context: task.context.iter().map(|position| position + 1).collect(),
        };
        let tasks: Vec<DeclaredTask> = self.spec().team().iter().enumerate().map(task).collect();
        let (ensemble, workflow) = (self.spec().name.clone(), self.spec().workflow);
        Frame::RunAccepted { ensemble, workflow, total_tasks: tasks.len(), tasks }
    }

    fn forked_frame(&self) -> Frame {
        let (retry_of, forked_from) = match self.origin() {
            None => (None, None),
            Some(Origin::Retry { run }) => (Some(run.clone()), None),
            Some(Origin::Fork { run, seq }) => (None, Some(ForkedFrom { run_id: run.clone(), seq: *seq })),
        };
        Frame::RunForked { retry_of, forked_from }
    }

    /// Returns the number of the task that a conversation belongs to, as people see it: a manager's is the only
    /// one.
    fn shown(&self, turn: &Id) -> usize {
        if self.spec().is_manager(turn.task_index()) { 1 } else { turn.task_index() + 1 }
    }

    fn total_shown(&self) -> usize {
        if self.spec().is_manager(self.spec().tasks.len().saturating_sub(1)) { 1 } else { self.spec().tasks.len() }
    }

    fn delegation_ended_frame(&self, call: &Id, error: Option<&str>, at: u64) -> Frame {
        let delegation = self.delegation(call, self.worker_role(call));
        match error {
            None => {
                let began = self.conversations().get(call).map_or(at, |turn| turn.used().started_at);
                Frame::DelegationCompleted { delegation, duration_ms: at.saturating_sub(began) }
            }
            Some(reason) => Frame::DelegationFailed { delegation, reason: reason.to_owned() },
        }
    }

    fn delegation(&self, call: &Id, role: &str) -> Delegation {
        let by = call.parent().and_then(|(turn, _)| self.worker(&turn));
        Delegation {
            delegation_id: call.to_string(),
            delegating_agent_role: by.map(|task| task.agent.role.clone()),
            worker_role: role.to_owned(),
        }
    }

    fn worker_role(&self, call: &Id) -> &str {
        self.worker(call).map_or("", |task| task.agent.role.as_str())
    }

    /// Returns the agent and task of a conversation. A subtask has its own title, so that its conversation can
    /// be distinguished from its parent's.
    pub(crate) fn turn_place(&self, turn: &Id) -> TurnPlace {
        let Some(task) = self.worker(turn) else { return TurnPlace::default() };
        let title = self.conversations().get(turn).filter(|_| turn.parent().is_some()).map(|turn| turn.title());
        TurnPlace {
            task_index: self.shown(turn),
            agent_role: task.agent.role.clone(),
            task_description: title.unwrap_or(&task.description).to_owned(),
            turn_id: turn.to_string(),
        }
    }

    fn task_place(&self, turn: &Id) -> TaskPlace {
        let task_name = self.spec().tasks.get(turn.task_index()).map(|task| task.name.clone());
        TaskPlace { turn: self.turn_place(turn), task_name }
    }

    /// Returns the model call that a conversation needs next or has under way.
    fn model_call_place(&self, turn: &Id) -> ModelCall {
        let state = self.conversations().get(turn);
        let (iteration_index, model) = (state.map(|turn| turn.round()), state.map(|turn| turn.model().clone()));
        ModelCall { turn: self.turn_place(turn), iteration_index, model }
    }

    /// Returns the model call that got a reply which is no answer.
    fn answered_call_place(&self, turn: &Id) -> ModelCall {
        let place = self.model_call_place(turn);
        ModelCall { iteration_index: place.iteration_index.map(|round| round.saturating_sub(1)), ..place }
    }

    fn truncated_frame(&self, turn: &Id, then: Sequel, in_call: bool) -> Frame {
        let continued = self.conversations().get(turn).map(|turn| turn.unfinished().continued());
        Frame::AnswerTruncated {
            call: self.answered_call_place(turn),
            then,
            in_call: in_call.then_some(true),
            continuation: continued.filter(|_| then == Sequel::Continue && !in_call),
        }
    }

    /// Returns the conversation that a call belongs to.
    pub(crate) fn caller(&self, call: &Id) -> TurnPlace {
        match call.parent() {
            Some((turn, _)) => self.turn_place(&turn),
            None => self.turn_place(call),
        }
    }

    fn replied_frame(&self, turn: &Id, reply: &Reply, usage: Usage, latency_ms: u64) -> Frame {
        let calls: Vec<ToolRequest> = reply.calls().map(requested).collect();
        let is_answer = calls.is_empty();
        let text = reply.text();
        // Calls that are not made end the round as an answer does.
        let is_over = |state: &Conversation| u32::from(state.calls().is_none());
        Frame::LlmIterationCompleted {
            turn: self.turn_place(turn),
            iteration_index: self.conversations().get(turn).map(|state| state.round().saturating_sub(is_over(state))),
            response_type: if is_answer { ResponseType::FinalAnswer } else { ResponseType::ToolCalls },
            response_text: Some(text).filter(|text| is_answer || !text.is_empty()),
            tool_requests: (!is_answer).then_some(calls),
            truncated: (reply.stop == Stop::Length).then_some(true),
            input_tokens: usage.input,
            output_tokens: usage.output,
            latency_ms,
        }
    }

    fn input_frame(&self, turn: &Id, user: &str, at: Iso) -> Frame {
        let Some(task) = self.spec().tasks.get(turn.task_index()) else { return Frame::Unknown };
        let tools = self.conversations().get(turn).into_iter().flat_map(|turn| turn.tools().iter());
        Frame::TaskInput {
            task: self.task_place(turn),
            expected_output: task.expected_output.clone(),
            agent_goal: task.agent.goal.clone(),
            agent_background: task.agent.background.clone(),
            tool_names: tools.map(|tool| tool.name.clone()).collect(),
            assembled_context: shortened(user),
            sent_at: at,
        }
    }

    fn asked_frame(&self, turn: &Id, round: u32, model: &str) -> Frame {
        let all = self.conversations().get(turn).map(|turn| turn.messages().as_slice()).unwrap_or_default();
        let newest = all.get(all.len().saturating_sub(QUOTED_MAX)..).unwrap_or_default();
        Frame::LlmIterationStarted {
            turn: self.turn_place(turn),
            iteration_index: round,
            model: model.to_owned(),
            messages: newest.iter().map(quote).collect(),
            total_message_count: all.len(),
        }
    }

    fn metrics_frame(&self, turn: &Id) -> Frame {
        let used = self.conversations().get(turn).map(|turn| *turn.used()).unwrap_or_default();
        let model = self.conversations().get(turn).map(|turn| turn.model().as_str());
        let priced = model.is_some_and(|alias| !self.unpriced().contains(alias));
        let tokens = |count: u64| if used.unknown { -1 } else { i64::try_from(count).unwrap_or(i64::MAX) };
        Frame::MetricsSnapshot {
            turn: self.turn_place(turn),
            input_tokens: tokens(used.usage.input),
            output_tokens: tokens(used.usage.output),
            llm_latency_ms: used.llm_ms,
            tool_execution_time_ms: used.tool_ms,
            iteration_count: used.llm_calls,
            cost_estimate: priced.then(|| cost_text(used.cost())),
        }
    }

    /// Returns the name and arguments of a call, as the model asked for it.
    pub(crate) fn asked_call(&self, call: &Id) -> (String, String) {
        let found = call.parent().and_then(|(turn, index)| {
            let duty = self.conversations().get(&turn)?.duty().filter(|_| call.is_chore());
            if let Some(duty) = duty {
                return duty.calls.get(index).map(|Call { tool, args, .. }| (tool.clone(), args.to_string()));
            }
            let reply = self.conversations().get(&turn)?.messages().iter().rev().find_map(|message| match message {
                Message::Assistant(reply) => Some(reply),
                Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
            })?;
            reply.calls().nth(index).map(|Call { tool, args, .. }| (tool.clone(), args.to_string()))
        });
        found.unwrap_or_default()
    }

    fn called_frame(&self, call: &Id, outcome: &Outcome, duration_ms: u64) -> Frame {
        let (tool_name, tool_arguments) = self.asked_call(call);
        let (ok, tool_result, structured_result) = self.result_words(call, outcome);
        Frame::ToolCalled {
            turn: self.caller(call),
            call_id: call.to_string(),
            tool_name,
            duration_ms,
            outcome: if ok { CallOutcome::Success } else { CallOutcome::Failure },
            tool_arguments,
            tool_result,
            structured_result,
        }
    }

    /// Returns the result of a call: whether it succeeded, as text, and as data.
    pub(crate) fn result_words(&self, call: &Id, outcome: &Outcome) -> (bool, String, Option<Value>) {
        match outcome {
            Outcome::Answer { text, data } => (true, text.to_string(), data.clone()),
            Outcome::Subtask => (true, self.result_of(call), None),
            Outcome::Failed { text } => (false, format!("Error: {text}"), None),
            Outcome::Unknown { .. } => {
                (false, format!("Error: {}", output::shown(outcome, self.spec(), call.as_str()).0), None)
            }
        }
    }

    /// Returns the answer of a subtask: from its pending call, or from the messages to the model.
    pub(crate) fn result_of(&self, call: &Id) -> String {
        if let Some((_, Slot::Returned(Outcome::Answer { text, .. }))) = self.slot(call) {
            return text.to_string();
        }
        let turn = call.parent().and_then(|(turn, _)| self.conversations().get(&turn));
        let told = turn.into_iter().flat_map(|turn| turn.messages().iter().rev()).find_map(|message| match message {
            Message::Tool { call: answered, text, .. } if answered == call => Some(text.to_string()),
            Message::System { .. } | Message::User { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
        });
        told.unwrap_or_default()
    }

    /// Returns a review, as it is announced and listed.
    pub(crate) fn review_view(&self, run: &str, review: u32) -> Option<Review> {
        let state = self.reviews().get(review as usize)?;
        let question = (state.timing == Timing::DuringExecution).then(|| self.question_of(&state.turn));
        let mut task = self.task_place(&state.turn);
        if let Some(question) = &question {
            task.turn.task_description.clone_from(&question.question);
        }
        Some(Review {
            task,
            review_id: review_id(run, review),
            task_output: self.conversations().get(&state.turn).map(|turn| turn.output()).unwrap_or_default(),
            timing: state.timing,
            timeout_ms: state.due.map_or(0, |due| due.saturating_sub(state.opened_at)),
            on_timeout: state.action(),
            created_at: Iso(state.opened_at),
            expires_at: state.due.map(Iso),
            prompt: question.as_ref().map(|question| question.question.clone()),
            options: question.map(|question| question.options),
        })
    }

    /// Returns the question that a call asks a person.
    fn question_of(&self, call: &Id) -> Question {
        serde_json::from_str(&self.asked_call(call).1).unwrap_or_default()
    }

    fn completed_frame(&self, turn: &Id, at: Iso) -> Frame {
        let Some(ended) = self.tasks().get(&turn.task_index()) else { return Frame::Unknown };
        let (output, parsed) = match &ended.how {
            How::Completed { output, parsed } => (Some(output.clone()), parsed.clone()),
            How::Failed { .. } | How::Cancelled | How::Skipped { .. } => (None, None),
        };
        Frame::TaskCompleted {
            task: self.task_place(turn),
            total_tasks: self.total_shown(),
            completed_at: at,
            duration_ms: ended.at.saturating_sub(ended.used.started_at),
            token_count: ended.used.tokens(),
            tool_call_count: ended.used.tool_calls,
            output,
            parsed_output: self.nullable(parsed),
            truncated: self.nullable(ended.truncated.then_some(true)),
        }
    }

    fn directive_frame(&self, run: &str, directive: &Directive) -> Frame {
        let number = u32::try_from(self.directives().len().saturating_sub(1)).unwrap_or(u32::MAX);
        Frame::DirectiveActive {
            directive_id: directive_id(run, number),
            from: directive.from.clone(),
            content: directive.content.clone(),
            target: self.nullable(directive.target.clone()),
            priority: directive.priority,
            expires_at: self.nullable(directive.expires_at.map(Iso)),
            on_behalf_of: directive.on_behalf_of.clone(),
        }
    }

    /// Returns the frame of a model switch, which takes effect with the next model call of the first task under
    /// way.
    fn switched_frame(&self, previous: &str, by: &str) -> Frame {
        let first = self.conversations().iter().find(|(id, _)| id.parent().is_none());
        let (task_index, iteration_index) = first.map_or((0, 0), |(id, turn)| {
            let under_way = u32::from(turn.is_asked());
            (self.shown(id), turn.round() + under_way)
        });
        let (model, previous_model) = (self.switched().cloned(), previous.to_owned());
        Frame::ModelSwitched { model, previous_model, task_index, iteration_index, by: by.to_owned() }
    }

    /// Wraps a value that may be missing: chats write `null`, runs leave it out.
    fn nullable<T>(&self, value: Option<T>) -> Nullable<T> {
        match value {
            Some(value) => Nullable::Value(value),
            None if self.spec().chat.is_some() => Nullable::Null,
            None => Nullable::Absent,
        }
    }
}

/// Returns the public id of a review.
pub fn review_id(run: &str, review: u32) -> String {
    format!("{run}-review-{review}")
}

/// Returns the run and number in a review's public id.
pub fn parse_review_id(id: &str) -> Option<(&str, u32)> {
    id.rsplit_once("-review-").and_then(|(run, number)| Some((run, number.parse().ok()?)))
}

impl Run {
    /// Returns the public id of a directive that was given to this run.
    pub fn directive_id(&self, run: &str, given: &Directive) -> Option<String> {
        let number = self.directives().iter().rposition(|directive| directive == given)?;
        u32::try_from(number).ok().map(|number| directive_id(run, number))
    }
}

/// Returns the public id of a directive.
pub fn directive_id(run: &str, directive: u32) -> String {
    format!("{run}-directive-{directive}")
}

pub(crate) fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

fn said(decision: &Decision) -> (Option<Text>, Option<Text>) {
    match decision {
        Decision::Edit { output } => (Some(output.clone()), None),
        Decision::Reject { feedback } => (None, Some(feedback.clone())),
        Decision::Continue | Decision::ExitEarly => (None, None),
    }
}

fn exceeded(breach: &Breach) -> Exceeded {
    let amount = |amount: u64| match breach.reason {
        Reason::Cost => Amount::Usd(usd(amount)),
        Reason::Subtasks | Reason::LlmCalls | Reason::ToolCalls | Reason::WallClock | Reason::Tokens => {
            Amount::Count(amount)
        }
    };
    Exceeded { reason: breach.reason, limit: amount(breach.limit), observed: amount(breach.observed) }
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
        Message::Tool { name, text, .. } => Quoted { tool_name: Some(name.clone()), ..said(QuotedRole::Tool, text) },
        Message::Assistant(reply) => {
            let calls: Vec<ToolRequest> = reply.calls().map(requested).collect();
            let (tool_calls, text) = ((!calls.is_empty()).then_some(calls), reply.text());
            let content = Some(text).filter(|text| tool_calls.is_none() || !text.is_empty()).map(Text::from);
            Quoted { role: QuotedRole::Assistant, content, tool_calls, tool_name: None }
        }
    }
}
