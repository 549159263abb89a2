//! A turn as its watchers see it: one frame per event, numbered over the whole
//! thread. Facts that mean nothing to a chat keep the frame they have in a run.

use serde_json::{Map, Value, json};

use super::permission::category;
use super::{Fact, Turn};
use crate::answer;
use crate::event::{AfterFailure, Event, Fact as Any};
use crate::frame::merge;
use crate::id::Id;
use crate::message::{Failure, FailureKind, Outcome};
use crate::output;
use crate::own_tool::OwnTool;
use crate::run::Run;
use crate::time::iso;
use crate::view::usd;

impl Run {
    /// The frame of `event`, which was just applied to this turn as its `seq`th.
    pub(crate) fn chat_frame(&self, chat: &Turn, (run, seq): (&str, u64), event: &Event) -> Value {
        let (kind, fields) = self.chat_fields(run, event);
        let mut frame = Map::new();
        frame.insert("type".to_owned(), kind.into());
        frame.insert("thread_id".to_owned(), chat.thread.as_str().into());
        frame.insert("turn_id".to_owned(), run.into());
        frame.insert("chat_seq".to_owned(), (chat.base + seq).into());
        if let Value::Object(fields) = fields {
            frame.extend(fields);
        }
        frame.insert("at".to_owned(), iso(event.at).into());
        Value::Object(frame)
    }

    /// What every chunk of a model's answer says beside its words.
    pub(crate) fn chunk_frame(&self, chat: &Turn, run: &str, turn: &Id) -> Map<String, Value> {
        let mut frame = Map::new();
        frame.insert("type".to_owned(), "chunk".into());
        frame.insert("thread_id".to_owned(), chat.thread.as_str().into());
        frame.insert("turn_id".to_owned(), run.into());
        if let Value::Object(level) = self.level(turn) {
            frame.extend(level);
        }
        frame.insert("call_id".to_owned(), self.model_call(turn).into());
        frame
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "every other fact has the frame it has in a run")]
    fn chat_fields(&self, run: &str, event: &Event) -> (&'static str, Value) {
        match &event.fact {
            Any::RunAccepted { .. } => ("message", self.row_view(run, 0)),
            Any::RunAdopted { epoch } => ("turn_adopted", json!({ "epoch": epoch })),
            Any::RunStarted => ("turn_started", json!({ "model": self.spec.model, "permission_mode": self.chat.mode })),
            Any::ModelAsked { turn, round, model, .. } => {
                let fields = json!({ "call_id": self.model_call(turn), "model": model, "iteration": round });
                ("llm_started", self.at_level(turn, fields))
            }
            Any::ModelReplied { turn, .. } if self.converses(turn) && self.calls(turn) => {
                let mut row = self.row_view(run, self.rows().len().saturating_sub(1));
                merge(&mut row, json!({ "call_id": self.model_call(turn) }));
                ("message", row)
            }
            Any::ModelReplied { turn, reply, .. } => {
                let fields = json!({ "call_id": self.model_call(turn), "content": reply.text() });
                ("llm_completed", self.at_level(turn, fields))
            }
            Any::AnswerTruncated { turn, then, in_call } => {
                let fields = json!({ "call_id": self.model_call(turn), "then": then, "in_call": in_call });
                ("answer_truncated", self.at_level(turn, fields))
            }
            Any::AnswerEmpty { turn, then } => {
                ("answer_empty", self.at_level(turn, json!({ "call_id": self.model_call(turn), "then": then })))
            }
            Any::ModelFailed { turn, failure, then, .. } => {
                let fields =
                    json!({ "call_id": self.model_call(turn), "message": failure.to_string(), "then": next(then) });
                ("llm_voided", self.at_level(turn, fields))
            }
            Any::ToolReturned { call, outcome, duration_ms } => self.ended_call(call, outcome, *duration_ms),
            Any::SubtaskStarted { call, user, .. } if self.builds(call) => {
                let fields = json!({ "phase": "planning", "status": "start", "content": user });
                ("planning_update", self.at_level(call, fields))
            }
            Any::TaskStarted { turn } if self.is_step(turn) => {
                ("task_update", self.step_fields(turn, "started", json!({})))
            }
            Any::TaskCompleted { turn } if self.is_step(turn) => {
                ("task_update", self.step_fields(turn, "completed", json!({ "output": self.last_output() })))
            }
            Any::TaskSkipped { turn, reason } if self.is_step(turn) => {
                ("task_update", self.step_fields(turn, "skipped", json!({ "reason": reason })))
            }
            // The turn has one error: that of the first task that failed.
            Any::TaskFailed { turn, reason, cancelled } if self.is_step(turn) && (*cancelled || self.failed > 1) => {
                ("task_update", self.step_fields(turn, "failed", json!({ "reason": reason })))
            }
            Any::TaskFailed { cancelled: true, .. } => ("turn_stopped", json!({})),
            Any::TaskFailed { reason, .. } => ("error", self.failed_fields(reason)),
            Any::RunEnded { end } => {
                let fields =
                    json!({ "content": "", "done": true, "parent_id": null, "depth": 0, "status": end.status() });
                ("chunk", fields)
            }
            Any::Chat(fact) => self.own_fields(run, fact),
            _ => self.fields(run, event),
        }
    }

    fn own_fields(&self, run: &str, fact: &Fact) -> (&'static str, Value) {
        match fact {
            Fact::CallAnnounced { call } => {
                let (name, args) = self.asked_call(call);
                let args = serde_json::from_str(&args).unwrap_or(Value::String(args));
                let title = self.chat.node(call).and_then(|node| node.title.clone());
                let fields = json!({ "tool_call_id": self.chat.name(call), "name": name, "args": args, "status": "start", "message": title });
                ("tool_call_update", self.at_call_level(call, fields))
            }
            Fact::ClientCalled { call, due } => {
                let (name, args) = self.asked_call(call);
                let args: Value = serde_json::from_str(&args).unwrap_or_default();
                let fields = json!({ "tool_call_id": self.chat.name(call), "name": name, "args": args, "expires_at": iso(*due) });
                ("tool_call", self.at_call_level(call, fields))
            }
            Fact::ApprovalAsked { approval, .. } => ("tool_approval_request", self.approval_view(run, *approval)),
            Fact::ApprovalAnswered { approval, answer, by } => {
                let fields = json!({ "approval_id": approval_id(run, *approval), "decision": answer.word(), "by": by });
                ("tool_approval_resolved", fields)
            }
            Fact::ModeSet { mode, by } => ("permission_mode_changed", json!({ "permission_mode": mode, "by": by })),
            Fact::PlanChecked { call, mistakes } => {
                let (status, content) = match mistakes.as_slice() {
                    [] => ("end", "the workflow has no mistakes".to_owned()),
                    mistakes => ("failed", mistakes.join("; ")),
                };
                let fields = json!({ "phase": "validation", "status": status, "content": content });
                ("planning_update", self.at_level(call, fields))
            }
            Fact::TaskPlanned { call, task } => {
                let fields = json!({ "event": "planned", "task": self.planned(call, *task) });
                ("task_update", self.at_level(call, fields))
            }
            Fact::AnswerStored => ("message", self.row_view(run, self.rows().len().saturating_sub(1))),
            Fact::CostSummed => ("cost_summary", self.cost_summary()),
        }
    }

    fn row_view(&self, run: &str, index: usize) -> Value {
        let row = self.rows().get(index);
        let mut view = row.map(|row| row.view(run, index)).unwrap_or_default();
        merge(&mut view, json!({ "parent_id": null, "depth": 0 }));
        view
    }

    /// A question for permission, as it is asked and listed.
    pub fn approval_view(&self, run: &str, approval: u32) -> Value {
        let Some(asked) = self.chat.approvals.get(approval as usize) else { return json!({}) };
        let (name, args) = self.asked_call(&asked.call);
        let args: Value = serde_json::from_str(&args).unwrap_or_default();
        let category = self.belt.get(&name).map_or("external", |tool| category(tool));
        let fields = json!({ "approval_id": approval_id(run, approval), "tool_call_id": self.chat.name(&asked.call),
            "tool_name": name, "category": category, "args": args, "message": format!("Call {name} with these arguments?"),
            "created_at": iso(asked.asked_at), "expires_at": asked.due.map(iso) });
        self.at_call_level(&asked.call, fields)
    }

    /// The questions for permission nobody has answered.
    pub fn pending_approvals(&self, run: &str) -> Vec<Value> {
        let thread = self.spec.chat.as_ref().map(|chat| chat.thread.as_str());
        let view = |approval: &u32| {
            let mut view = self.approval_view(run, *approval);
            merge(&mut view, json!({ "thread_id": thread, "turn_id": run }));
            view
        };
        self.chat.open.iter().map(view).collect()
    }

    fn ended_call(&self, call: &Id, outcome: &Outcome, duration_ms: u64) -> (&'static str, Value) {
        let (name, _) = self.asked_call(call);
        let graph = match outcome {
            Outcome::Answer { data, .. } if name == OwnTool::BuildWorkflow.name() => data.as_ref(),
            Outcome::Answer { .. } | Outcome::Failed { .. } | Outcome::Unknown { .. } | Outcome::Subtask => None,
        };
        let (result, is_error) = match outcome {
            Outcome::Subtask => (self.result_of(call), false),
            Outcome::Answer { .. } | Outcome::Failed { .. } | Outcome::Unknown { .. } => {
                let (text, is_error) = output::shown(outcome, &self.spec, self.chat.name(call));
                (text.to_string(), is_error)
            }
        };
        let fields = json!({ "tool_call_id": self.chat.name(call), "name": name, "result": result, "is_error": is_error,
            "status": "end", "duration_ms": duration_ms, "data": graph });
        ("tool_call_update", self.at_call_level(call, fields))
    }

    fn failed_fields(&self, reason: &str) -> Value {
        let message = self.failure_words(reason);
        let own = match reason.split_once(':').map(|(code, _)| code) {
            Some("MAX_ITERATIONS") => Some("iteration_limit"),
            Some(answer::TRUNCATED) => Some("output_truncated"),
            Some(answer::EMPTY) => Some("empty_answer"),
            Some(_) | None => None,
        };
        match (own, self.chat.error) {
            _ if self.chat.breach.is_some() => json!({ "code": "budget_exceeded", "message": message }),
            (Some(code), _) | (None, Some((code, None))) => json!({ "code": code, "message": message }),
            (None, Some((code, Some(status)))) => json!({ "code": code, "message": message, "status_code": status }),
            (None, None) => json!({ "code": "internal", "message": message }),
        }
    }

    /// Why a turn failed, in words: the limit that ended it, or its task's reason.
    pub(super) fn failure_words(&self, reason: &str) -> String {
        self.chat.breach.map_or_else(|| reason.to_owned(), |breach| breach.to_string())
    }

    fn cost_summary(&self) -> Value {
        let cost = |used: &crate::turn::Used| usd(used.cost());
        let model = |(alias, used): (&String, &crate::turn::Used)| {
            let priced = !self.unpriced.contains(alias) && !used.unknown;
            json!({ "model": alias, "llm_calls": used.llm_calls, "input_tokens": used.usage.input,
                "output_tokens": used.usage.output, "cached_tokens": used.usage.cached_input, "total_usd": priced.then(|| cost(used)) })
        };
        let by_model: Vec<Value> = self.chat.by_model.iter().map(model).collect();
        json!({ "total_usd": self.cost_usd(), "input_tokens": self.totals.usage.input,
            "output_tokens": self.totals.usage.output, "cached_tokens": self.totals.usage.cached_input,
            "llm_calls": self.totals.llm_calls, "tool_calls": self.totals.tool_calls, "subtasks": self.budget.subtasks(),
            "wall_ms": self.clock.read(self.at), "by_model": by_model, "unpriced_models": self.unpriced })
    }

    /// Money spent so far, in dollars, where every model has a price.
    pub(super) fn cost_usd(&self) -> Option<f64> {
        let priced = self.unpriced.is_empty() && !self.totals.unknown;
        priced.then(|| usd(self.totals.cost()))
    }

    /// Which model call of a turn is or was last under way.
    fn model_call(&self, turn: &Id) -> String {
        let (calls, attempt) = self.turns.get(turn).map_or((0, 0), |turn| (turn.used.llm_calls, turn.attempt));
        format!("{turn}#{calls}.{attempt}")
    }

    /// The subtask a turn is, and how deep it is nested.
    fn level(&self, turn: &Id) -> Value {
        json!({ "parent_id": self.parent_name(turn), "depth": self.level_of(turn) })
    }

    fn at_level(&self, turn: &Id, fields: Value) -> Value {
        let mut level = self.level(turn);
        merge(&mut level, fields);
        level
    }

    /// A call stands where the turn stands that asked for it.
    pub(crate) fn at_call_level(&self, call: &Id, fields: Value) -> Value {
        let turn = call.parent().map_or_else(|| call.clone(), |(turn, _)| turn);
        self.at_level(&turn, fields)
    }
}

/// The public id of a question for permission.
pub fn approval_id(run: &str, approval: u32) -> String {
    format!("{run}-approval-{approval}")
}

/// The turn and number in the public id of a question for permission.
pub fn parse_approval_id(id: &str) -> Option<(&str, u32)> {
    let (run, number) = id.rsplit_once("-approval-")?;
    Some((run, number.parse().ok()?))
}

/// What kind of trouble a failed model call is, for the client.
pub(super) fn failure_code(failure: &Failure) -> &'static str {
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

fn next(then: &AfterFailure) -> &'static str {
    match then {
        AfterFailure::Retry { .. } => "retry",
        AfterFailure::Fallback { .. } => "fallback",
        AfterFailure::Shorten => "shorten",
        AfterFailure::GiveUp => "give_up",
    }
}
