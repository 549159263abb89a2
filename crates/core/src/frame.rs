//! What watchers see: one frame per event. A frame is a rendering of the event
//! *and the state right after it*, so it may quote what earlier events hold.
//! Names follow the protocol; where it had no frame for a fact, ours is named
//! after the fact.

use serde_json::{Map, Value, json};

use crate::answer::Sequel;
use crate::budget::{Breach, Reason};
use crate::calls::Slot;
use crate::event::{AfterFailure, Decision, Directive, Event, Fact, Timing};
use crate::human::Question;
use crate::id::Id;
use crate::message::{Call, Message, Outcome, Reply, Stop};
use crate::output;
use crate::run::{How, Run};
use crate::time::iso;
use crate::turn::{Turn, Used};
use crate::view::{cost_text, usd};

/// Messages quoted in the frame of a model call.
const QUOTED_MAX: usize = 20;
/// Characters of a prompt quoted in the frame of a task's input.
const PROMPT_CHARS_MAX: usize = 8000;

impl Run {
    /// The frame of `event`, which was just applied to this run as its `seq`th.
    pub fn frame(&self, run: &str, seq: u64, event: &Event) -> Value {
        if let Some(chat) = &self.spec.chat {
            return self.chat_frame(chat, (run, seq), event);
        }
        let mut frame = Map::new();
        let (kind, fields) = self.fields(run, event);
        frame.insert("type".to_owned(), kind.into());
        frame.insert("runId".to_owned(), run.into());
        frame.insert("seq".to_owned(), seq.into());
        if let Value::Object(fields) = fields {
            frame.extend(fields.into_iter().filter(|(name, value)| !is_absent(name, value)));
        }
        if seq < self.copied {
            frame.insert("inherited".to_owned(), true.into());
        }
        frame.insert("at".to_owned(), iso(event.at).into());
        Value::Object(frame)
    }

    // sizes: allow fn-length fields — the one place that lists every frame
    #[expect(clippy::too_many_lines, reason = "the one place that lists every frame")]
    pub(crate) fn fields(&self, run: &str, event: &Event) -> (&'static str, Value) {
        let at = || iso(event.at);
        match &event.fact {
            Fact::RunAccepted { .. } => ("run_accepted", self.accepted_fields()),
            Fact::RunAdopted { epoch } => ("run_adopted", json!({ "epoch": epoch })),
            Fact::RunForked { .. } => ("run_forked", json!(self.descent())),
            Fact::RunStarted => {
                let (total, workflow) = (self.spec.team().len(), self.spec.workflow.word());
                let fields = json!({ "ensembleId": self.ensemble_id, "startedAt": at(), "totalTasks": total, "workflow": workflow });
                ("ensemble_started", fields)
            }
            Fact::BeltComposed { task, tools } => {
                let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
                ("belt_composed", self.at_task(&Id::task(*task), json!({ "toolNames": names })))
            }
            Fact::TaskStarted { turn } => {
                ("task_started", self.at_task(turn, json!({ "totalTasks": self.total_shown(), "startedAt": at() })))
            }
            Fact::PromptBuilt { turn, user, .. } => ("task_input", self.input(turn, user.as_str(), &at())),
            Fact::ChoreBegun { turn, chore, calls } => {
                let tools: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
                ("chore_started", self.at_task(turn, json!({ "chore": chore, "toolNames": tools })))
            }
            Fact::ReflectionBegun { turn } => ("reflection_started", self.at_task(turn, json!({}))),
            Fact::ModelAsked { turn, round, model, .. } => {
                ("llm_iteration_started", self.iteration(turn, *round, model))
            }
            Fact::ModelRetried { turn, attempt, .. } => {
                ("model_retried", self.at_call(turn, json!({ "attempt": attempt })))
            }
            Fact::ModelReplied { turn, reply, usage, latency_ms, .. } => {
                let usage = usage.unwrap_or_default();
                let mut fields = self.at_answer(turn, reply);
                merge(
                    &mut fields,
                    json!({ "inputTokens": usage.input, "outputTokens": usage.output, "latencyMs": latency_ms }),
                );
                ("llm_iteration_completed", fields)
            }
            Fact::AnswerTruncated { turn, then, in_call } => {
                ("answer_truncated", self.at_reply(turn, self.truncated_fields(turn, *then, *in_call)))
            }
            Fact::AnswerEmpty { turn, then } => ("answer_empty", self.at_reply(turn, json!({ "then": then }))),
            Fact::UsageCounted { turn, .. } => ("metrics_snapshot", self.metrics_of(turn)),
            Fact::ModelFailed { turn, failure, then, .. } => {
                let fields = json!({ "error": failure.kind, "message": failure.message, "then": after(then) });
                ("model_failed", self.at_call(turn, fields))
            }
            Fact::HistoryDropped { turn, exchanges } => {
                ("history_dropped", self.at_call(turn, json!({ "exchanges": exchanges })))
            }
            Fact::OutputRejected { turn, violations } => {
                ("output_rejected", self.at_call(turn, json!({ "violations": violations })))
            }
            Fact::LastRoundBegun { turn } => ("last_round", self.at_call(turn, json!({}))),
            Fact::LoopNoticed { turn, tool, times } => {
                ("loop_noticed", self.at_call(turn, json!({ "toolName": tool, "times": times })))
            }
            Fact::CallCharged { call, spent } => {
                let (tokens, cost) = (spent.usage.total(), usd(spent.claim().cost));
                ("call_charged", self.at_turn_of(call, json!({ "callId": call, "tokens": tokens, "cost": cost })))
            }
            Fact::ToolDispatched { call, .. } => {
                let (name, args) = self.asked_call(call);
                (
                    "tool_dispatched",
                    self.at_turn_of(call, json!({ "callId": call, "toolName": name, "toolArguments": args })),
                )
            }
            Fact::FinishDemanded { turn } => ("finish_demanded", self.at_call(turn, json!({}))),
            Fact::SubtaskStarted { call, title, user, tools, .. } => {
                let fields = json!({ "callId": call, "title": title, "instructions": user, "toolNames": tools, "depth": call.depth() });
                ("subtask_started", self.at_turn_of(call, fields))
            }
            Fact::DelegationStarted { call, task, .. } => {
                ("delegation_started", self.errand(call, self.worker_role(call), json!({ "taskDescription": task })))
            }
            Fact::DelegationEnded { call, error } => self.errand_ended(call, error.as_deref(), event.at),
            Fact::DelegationRefused { call, role, reason } => {
                ("delegation_failed", self.errand(call, role, json!({ "reason": reason })))
            }
            Fact::ToolReturned { call, outcome, duration_ms } => {
                ("tool_called", self.called(call, outcome, *duration_ms))
            }
            Fact::FileChanged { call, change } => {
                let mut fields = json!(change);
                merge(&mut fields, json!({ "callId": call, "timestamp": at() }));
                ("file_changed", self.at_turn_of(call, fields))
            }
            Fact::ReviewOpened { review, .. } => ("review_requested", self.review_fields(run, *review)),
            Fact::ReviewDecided { review, decision, by } => {
                let (revised, feedback) = said(decision);
                let fields = json!({ "reviewId": review_id(run, *review), "decision": decision.word(), "by": by,
                    "revisedOutput": revised, "feedback": feedback });
                ("review_decided", fields)
            }
            Fact::ReviewTimedOut { review, action } => {
                ("review_timed_out", json!({ "reviewId": review_id(run, *review), "action": action }))
            }
            Fact::ReviewClosed { review } => ("review_closed", json!({ "reviewId": review_id(run, *review) })),
            Fact::TaskCompleted { turn } => ("task_completed", self.completed_fields(turn, &at())),
            Fact::TaskFailed { turn, reason, cancelled } => {
                let cancelled = cancelled.then_some(true);
                let partial = self.tasks.get(&turn.task_index()).and_then(|ended| ended.partial.as_ref());
                let fields =
                    json!({ "failedAt": at(), "reason": reason, "cancelled": cancelled, "partialOutput": partial });
                ("task_failed", self.at_task(turn, fields))
            }
            Fact::TaskSkipped { turn, reason } => ("task_skipped", self.at_task(turn, json!({ "reason": reason }))),
            Fact::DirectiveGiven { directive } => ("directive_active", self.directive_fields(run, directive)),
            Fact::DirectiveDelivered { directive, turn, round } => {
                let id = directive_id(run, *directive);
                let fields = json!({ "directiveId": id, "taskIndex": self.shown(turn), "iterationIndex": round });
                ("directive_delivered", fields)
            }
            Fact::ModelSwitched { previous, by, .. } => ("model_switched", self.switched_fields(previous, by)),
            Fact::CancelRequested { mode, by } => ("cancel_requested", json!({ "mode": mode, "by": by })),
            Fact::RunPaused { by } => ("run_paused", json!({ "by": by })),
            Fact::RunResumed { by } => ("run_resumed", json!({ "by": by })),
            Fact::BudgetExceeded { breach } => ("budget_exceeded", breached(breach)),
            Fact::Chat(_) => ("chat", Value::Null),
            Fact::RunEnded { end } => {
                let fields = json!({ "ensembleId": self.ensemble_id, "completedAt": at(),
                    "durationMs": self.duration_ms(event.at), "exitReason": end.exit_reason(),
                    "totalTokens": self.total_tokens(), "totalToolCalls": self.totals.tool_calls, "error": self.error() });
                ("ensemble_completed", fields)
            }
        }
    }

    fn errand_ended(&self, call: &Id, error: Option<&str>, at: u64) -> (&'static str, Value) {
        let began = self.turns.get(call).map_or(at, |turn| turn.used.started_at);
        let (kind, fields) = match error {
            None => ("delegation_completed", json!({ "durationMs": at.saturating_sub(began) })),
            Some(reason) => ("delegation_failed", json!({ "reason": reason })),
        };
        (kind, self.errand(call, self.worker_role(call), fields))
    }

    fn accepted_fields(&self) -> Value {
        let task = |(index, task): (usize, &crate::spec::Task)| {
            let context: Vec<usize> = task.context.iter().map(|position| position + 1).collect();
            json!({ "taskIndex": index + 1, "name": task.name, "agentRole": task.agent.role, "context": context })
        };
        let tasks: Vec<Value> = self.spec.team().iter().enumerate().map(task).collect();
        json!({ "ensemble": self.spec.name, "workflow": self.spec.workflow.word(), "totalTasks": tasks.len(), "tasks": tasks })
    }

    /// The number of the task a turn belongs to, as people see it: a manager's
    /// is the only one.
    fn shown(&self, turn: &Id) -> usize {
        if self.spec.is_manager(turn.task_index()) { 1 } else { turn.task_index() + 1 }
    }

    fn total_shown(&self) -> usize {
        if self.spec.is_manager(self.spec.tasks.len().saturating_sub(1)) { 1 } else { self.spec.tasks.len() }
    }

    /// Who handed work to whom.
    fn errand(&self, call: &Id, role: &str, fields: Value) -> Value {
        let by = call.parent().and_then(|(turn, _)| self.worker(&turn));
        let mut errand =
            json!({ "delegationId": call, "delegatingAgentRole": by.map(|task| &task.agent.role), "workerRole": role });
        merge(&mut errand, fields);
        errand
    }

    fn worker_role(&self, call: &Id) -> &str {
        self.worker(call).map_or("", |task| task.agent.role.as_str())
    }

    /// Which agent and task a turn stands for. A subtask goes by its own title,
    /// so that its conversation is told apart from its parent's.
    pub(crate) fn place(&self, turn: &Id) -> Value {
        let Some(task) = self.worker(turn) else { return json!({}) };
        let title = self.turns.get(turn).filter(|_| turn.parent().is_some()).map(|turn| turn.title.as_str());
        let description = title.unwrap_or(&task.description);
        json!({ "taskIndex": self.shown(turn), "agentRole": task.agent.role, "taskDescription": description, "turnId": turn })
    }

    fn at_task(&self, turn: &Id, fields: Value) -> Value {
        let name = self.spec.tasks.get(turn.task_index()).map(|task| task.name.as_str());
        let mut place = self.place(turn);
        merge(&mut place, json!({ "taskName": name }));
        merge(&mut place, fields);
        place
    }

    /// At a model call that is wanted or under way.
    fn at_call(&self, turn: &Id, fields: Value) -> Value {
        let state = self.turns.get(turn);
        let mut place = self.place(turn);
        merge(
            &mut place,
            json!({ "iterationIndex": state.map(|turn| turn.round), "model": state.map(|turn| turn.model.as_str()) }),
        );
        merge(&mut place, fields);
        place
    }

    /// At a model call that has just been answered.
    fn at_answer(&self, turn: &Id, reply: &Reply) -> Value {
        let calls: Vec<Value> =
            reply.calls().map(|call| json!({ "name": call.tool, "arguments": call.args })).collect();
        let (kind, text) = (if calls.is_empty() { "FINAL_ANSWER" } else { "TOOL_CALLS" }, reply.text());
        // Calls that are not made end the round as an answer does.
        let is_over = |state: &Turn| u32::from(state.calls().is_none());
        let round = self.turns.get(turn).map(|state| state.round.saturating_sub(is_over(state)));
        let mut place = self.place(turn);
        let requests = (!calls.is_empty()).then_some(calls);
        let text = Some(text).filter(|text| requests.is_none() || !text.is_empty());
        merge(
            &mut place,
            json!({ "iterationIndex": round, "responseType": kind, "responseText": text, "toolRequests": requests,
                "truncated": (reply.stop == Stop::Length).then_some(true) }),
        );
        place
    }

    /// At a reply that is no answer.
    fn at_reply(&self, turn: &Id, fields: Value) -> Value {
        let state = self.turns.get(turn);
        let mut place = self.place(turn);
        let round = state.map(|turn| turn.round.saturating_sub(1));
        merge(&mut place, json!({ "iterationIndex": round, "model": state.map(|turn| turn.model.as_str()) }));
        merge(&mut place, fields);
        place
    }

    /// What follows a reply that was cut, and the how-manieth continuation that is.
    pub(crate) fn truncated_fields(&self, turn: &Id, then: Sequel, in_call: bool) -> Value {
        let continued = self.turns.get(turn).map(|turn| turn.unfinished.continued);
        let continuation = continued.filter(|_| then == Sequel::Continue && !in_call);
        json!({ "then": then, "inCall": in_call.then_some(true), "continuation": continuation })
    }

    pub(crate) fn at_turn_of(&self, call: &Id, fields: Value) -> Value {
        let turn = call.parent().map_or_else(|| call.clone(), |(turn, _)| turn);
        let mut place = self.place(&turn);
        merge(&mut place, fields);
        place
    }

    fn input(&self, turn: &Id, user: &str, at: &str) -> Value {
        let Some(task) = self.spec.tasks.get(turn.task_index()) else { return json!({}) };
        let tools: Vec<&str> = self
            .turns
            .get(turn)
            .into_iter()
            .flat_map(|turn| turn.tools.iter())
            .map(|tool| tool.name.as_str())
            .collect();
        let fields = json!({ "expectedOutput": task.expected_output, "agentGoal": task.agent.goal,
            "agentBackground": task.agent.background, "toolNames": tools, "assembledContext": shortened(user), "sentAt": at });
        self.at_task(turn, fields)
    }

    fn iteration(&self, turn: &Id, round: u32, model: &str) -> Value {
        let all = self.turns.get(turn).map(|turn| turn.messages.as_slice()).unwrap_or_default();
        let newest = all.get(all.len().saturating_sub(QUOTED_MAX)..).unwrap_or_default();
        let quoted: Vec<Value> = newest.iter().map(quote).collect();
        let mut place = self.place(turn);
        merge(
            &mut place,
            json!({ "iterationIndex": round, "model": model, "messages": quoted, "totalMessageCount": all.len() }),
        );
        place
    }

    fn metrics_of(&self, turn: &Id) -> Value {
        let used = self.turns.get(turn).map(|turn| turn.used).unwrap_or_default();
        let model = self.turns.get(turn).map(|turn| turn.model.as_str());
        let priced = model.is_some_and(|alias| !self.unpriced.contains(alias));
        let cost = priced.then(|| cost_text(used.cost()));
        let tokens = |count: u64| if used.unknown { json!(-1) } else { json!(count) };
        let fields = json!({ "inputTokens": tokens(used.usage.input), "outputTokens": tokens(used.usage.output),
            "llmLatencyMs": used.llm_ms, "toolExecutionTimeMs": used.tool_ms, "iterationCount": used.llm_calls, "costEstimate": cost });
        let mut place = self.place(turn);
        merge(&mut place, fields);
        place
    }

    /// The name and arguments of a call, as the model asked for it.
    pub(crate) fn asked_call(&self, call: &Id) -> (String, String) {
        let found = call.parent().and_then(|(turn, index)| {
            let duty = self.turns.get(&turn)?.duty.as_ref().filter(|_| call.is_chore());
            if let Some(duty) = duty {
                return duty.calls.get(index).map(|Call { tool, args, .. }| (tool.clone(), args.to_string()));
            }
            let reply = self.turns.get(&turn)?.messages.iter().rev().find_map(|message| match message {
                Message::Assistant(reply) => Some(reply),
                Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
            })?;
            reply.calls().nth(index).map(|Call { tool, args, .. }| (tool.clone(), args.to_string()))
        });
        found.unwrap_or_default()
    }

    fn called(&self, call: &Id, outcome: &Outcome, duration_ms: u64) -> Value {
        let (name, args) = self.asked_call(call);
        let (ok, result, data) = self.result_words(call, outcome);
        let fields = json!({ "callId": call, "toolName": name, "durationMs": duration_ms,
            "outcome": if ok { "SUCCESS" } else { "FAILURE" }, "toolArguments": args, "toolResult": result, "structuredResult": data });
        self.at_turn_of(call, fields)
    }

    /// How a call ended: whether well, in words, as data.
    pub(crate) fn result_words(&self, call: &Id, outcome: &Outcome) -> (bool, String, Option<Value>) {
        match outcome {
            Outcome::Answer { text, data } => (true, text.to_string(), data.clone()),
            Outcome::Subtask => (true, self.result_of(call), None),
            Outcome::Failed { text } => (false, format!("Error: {text}"), None),
            Outcome::Unknown { .. } => {
                (false, format!("Error: {}", output::shown(outcome, &self.spec, call.as_str()).0), None)
            }
        }
    }

    /// What a subtask answered: in its slot, or already told to the model.
    pub(crate) fn result_of(&self, call: &Id) -> String {
        if let Some((_, Slot::Returned(Outcome::Answer { text, .. }))) = self.slot(call) {
            return text.to_string();
        }
        let turn = call.parent().and_then(|(turn, _)| self.turns.get(&turn));
        let told = turn.into_iter().flat_map(|turn| turn.messages.iter().rev()).find_map(|message| match message {
            Message::Tool { call: answered, text, .. } if answered == call => Some(text.to_string()),
            Message::System { .. } | Message::User { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
        });
        told.unwrap_or_default()
    }

    /// A review, as it is announced and listed.
    pub(crate) fn review_fields(&self, run: &str, review: u32) -> Value {
        let Some(state) = self.reviews.get(review as usize) else { return json!({}) };
        let question = (state.timing == Timing::DuringExecution).then(|| self.question_of(&state.turn));
        let output = self.turns.get(&state.turn).map(|turn| turn.output()).unwrap_or_default();
        let timeout_ms = state.due.map_or(0, |due| due.saturating_sub(state.opened_at));
        let fields = json!({ "reviewId": review_id(run, review), "taskOutput": output, "timing": state.timing,
            "timeoutMs": timeout_ms, "onTimeout": state.action(), "createdAt": iso(state.opened_at), "expiresAt": state.due.map(iso) });
        let mut place = self.at_task(&state.turn, fields);
        if let Some(Question { question, options }) = question {
            merge(&mut place, json!({ "taskDescription": question, "prompt": question, "options": options }));
        }
        place
    }

    /// What a call asks a person.
    fn question_of(&self, call: &Id) -> Question {
        serde_json::from_str(&self.asked_call(call).1).unwrap_or_default()
    }

    fn completed_fields(&self, turn: &Id, at: &str) -> Value {
        let Some(ended) = self.tasks.get(&turn.task_index()) else { return json!({}) };
        let (output, parsed) = match &ended.how {
            How::Completed { output, parsed } => (Some(output.to_string()), parsed.clone()),
            How::Failed { .. } | How::Cancelled | How::Skipped { .. } => (None, None),
        };
        let Used { started_at, tool_calls, .. } = ended.used;
        let fields = json!({ "totalTasks": self.total_shown(), "completedAt": at,
            "durationMs": ended.at.saturating_sub(started_at), "tokenCount": ended.used.tokens(),
            "toolCallCount": tool_calls, "output": output, "parsedOutput": parsed, "truncated": ended.truncated.then_some(true) });
        self.at_task(turn, fields)
    }

    fn directive_fields(&self, run: &str, directive: &Directive) -> Value {
        let number = u32::try_from(self.directives.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let mut fields = json!({ "directiveId": directive_id(run, number), "from": directive.from,
            "content": directive.content, "target": directive.target, "priority": directive.priority,
            "expiresAt": directive.expires_at.map(iso) });
        if let (Value::Object(fields), Some(other)) = (&mut fields, &directive.on_behalf_of) {
            fields.insert("onBehalfOf".to_owned(), other.as_str().into());
        }
        fields
    }

    /// The switch holds from the next model call of the first task under way.
    fn switched_fields(&self, previous: &str, by: &str) -> Value {
        let first = self.turns.iter().find(|(id, _)| id.parent().is_none());
        let (task, round) = first.map_or((0, 0), |(id, turn)| {
            let under_way = u32::from(turn.phase == crate::turn::Phase::Asked);
            (self.shown(id), turn.round + under_way)
        });
        json!({ "model": self.switched, "previousModel": previous, "taskIndex": task, "iterationIndex": round, "by": by })
    }
}

/// The public id of a review.
pub fn review_id(run: &str, review: u32) -> String {
    format!("{run}-review-{review}")
}

/// The run and number in a review's public id.
pub fn parse_review_id(id: &str) -> Option<(&str, u32)> {
    let (run, number) = id.rsplit_once("-review-")?;
    Some((run, number.parse().ok()?))
}

impl Run {
    /// The public id of a directive that was given to this run.
    pub fn directive_id(&self, run: &str, given: &Directive) -> Option<String> {
        let number = self.directives.iter().rposition(|directive| directive == given)?;
        u32::try_from(number).ok().map(|number| directive_id(run, number))
    }
}

/// The public id of a directive.
pub fn directive_id(run: &str, directive: u32) -> String {
    format!("{run}-directive-{directive}")
}

pub(crate) fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

/// `null` means absent in a frame of ours, but where the protocol writes it.
fn is_absent(name: &str, value: &Value) -> bool {
    value.is_null() && name != "structuredResult"
}

fn after(then: &AfterFailure) -> Value {
    match then {
        AfterFailure::Retry { at } => json!({ "action": "retry", "at": iso(*at) }),
        AfterFailure::Fallback { model } => json!({ "action": "fallback", "model": model }),
        AfterFailure::Shorten => json!({ "action": "shorten" }),
        AfterFailure::GiveUp => json!({ "action": "give_up" }),
    }
}

fn said(decision: &Decision) -> (Option<&str>, Option<&str>) {
    match decision {
        Decision::Edit { output } => (Some(output.as_str()), None),
        Decision::Reject { feedback } => (None, Some(feedback.as_str())),
        Decision::Continue | Decision::ExitEarly => (None, None),
    }
}

fn breached(breach: &Breach) -> Value {
    match breach.reason {
        Reason::Cost => json!({ "reason": "cost", "limit": usd(breach.limit), "observed": usd(breach.observed) }),
        Reason::Subtasks | Reason::LlmCalls | Reason::ToolCalls | Reason::WallClock | Reason::Tokens => {
            json!({ "reason": breach.reason, "limit": breach.limit, "observed": breach.observed })
        }
    }
}

/// A message as it is shown.
pub(crate) fn quote(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({ "role": "system", "content": text, "toolCalls": null, "toolName": null }),
        Message::User { text } => json!({ "role": "user", "content": text, "toolCalls": null, "toolName": null }),
        Message::Tool { name, text, .. } => {
            json!({ "role": "tool", "content": text, "toolCalls": null, "toolName": name })
        }
        Message::Assistant(reply) => {
            let calls: Vec<Value> =
                reply.calls().map(|call| json!({ "name": call.tool, "arguments": call.args })).collect();
            let (text, calls) = (reply.text(), (!calls.is_empty()).then_some(calls));
            let text = Some(text).filter(|text| calls.is_none() || !text.is_empty());
            json!({ "role": "assistant", "content": text, "toolCalls": calls, "toolName": null })
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(PROMPT_CHARS_MAX) {
        Some((at, _)) => format!("{}... [truncated]", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
