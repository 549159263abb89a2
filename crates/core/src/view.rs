//! A run as others see it: a row of a list, the whole of it, its result.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::budget::Limits;
use crate::catalog::{NanoUsd, Price};
use crate::chat;
use crate::event::{End, Origin};
use crate::frame::{merge, review_id};
use crate::id::{Id, Millis};
use crate::run::{Ended, How, Run, Timer};
use crate::spec::Workflow;
use crate::time::iso;
use crate::turn::{Phase, Turn, Used};

const NANOS_PER_USD: u64 = 1_000_000_000;

/// What a log keeps beside a stream so that lists need not read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary<'a> {
    /// The run's status word.
    pub status: &'static str,
    /// When it was submitted.
    pub started_at: Millis,
    /// When it ended.
    pub ended_at: Option<Millis>,
    /// Its labels.
    pub tags: &'a BTreeMap<String, String>,
    /// The row, as it is listed.
    pub row: Listed<'a>,
}

/// A row of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Listed<'a> {
    /// A run's.
    Run(Box<Row<'a>>),
    /// A turn's of a chat.
    Turn(Box<chat::Listed<'a>>),
}

/// A run in a list, without what depends on the time of asking. It is written
/// with every append, so it borrows what it can.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row<'a> {
    run_id: &'a str,
    ensemble: &'a str,
    status: &'static str,
    started_at: String,
    duration_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queued_ms: Option<Millis>,
    #[serde(flatten)]
    descent: Descent<'a>,
    task_count: usize,
    completed_tasks: usize,
    workflow: &'static str,
    tags: &'a BTreeMap<String, String>,
    paused: bool,
    cancel_requested: bool,
    total_tokens: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_task: Option<CurrentTask<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waiting_for: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_estimate: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    truncated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_reviews: Vec<String>,
}

/// The run whose record a run began with, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Descent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_of: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_from: Option<ForkedFrom<'a>>,
}

/// A run and the first of its events that was not taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ForkedFrom<'a> {
    run_id: &'a str,
    seq: u64,
}

/// The first task that is under way.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct CurrentTask<'a> {
    name: &'a str,
    index: usize,
}

/// Money, in dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    input_cost: f64,
    output_cost: f64,
}

impl Run {
    /// The run's status word.
    pub fn status(&self) -> &'static str {
        match &self.end {
            Some(end) => end.status(),
            None if self.started_at.is_some() && self.epoch > 0 => "RUNNING",
            None => "ACCEPTED",
        }
    }

    /// The name of this execution.
    pub fn ensemble_id(&self) -> &str {
        &self.ensemble_id
    }

    /// How the run ended, if it has.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// What a log keeps beside the run's stream.
    pub fn summary<'a>(&'a self, run: &'a str) -> Summary<'a> {
        let ended_at = self.end.as_ref().map(|_| self.at);
        let row = match &self.spec.chat {
            Some(chat) => Listed::Turn(Box::new(self.turn_row(chat, run))),
            None => Listed::Run(Box::new(self.row(run))),
        };
        Summary { status: self.status(), started_at: self.accepted_at, ended_at, tags: &self.spec.tags, row }
    }

    fn row<'a>(&'a self, run: &'a str) -> Row<'a> {
        let ended_at = self.end.as_ref().map(|_| self.at);
        Row {
            run_id: run,
            ensemble: &self.spec.name,
            status: self.status(),
            started_at: iso(self.accepted_at),
            duration_ms: ended_at.map(|at| self.duration_ms(at)),
            queued_ms: self.began_at.map(|at| self.duration_ms(at)),
            descent: self.descent(),
            task_count: self.spec.team().len(),
            completed_tasks: self.completed_tasks(),
            workflow: self.spec.workflow.word(),
            tags: &self.spec.tags,
            paused: self.paused,
            cancel_requested: self.cancel.is_some(),
            total_tokens: self.total_tokens(),
            current_task: self.current_task(),
            waiting_for: self.waiting_for(),
            cost_estimate: self.cost(),
            error: self.error(),
            truncated: self.tasks.values().any(|task| task.truncated),
            open_reviews: self.open_reviews.iter().map(|review| review_id(run, *review)).collect(),
        }
    }

    /// The run this one goes on from.
    pub fn descent(&self) -> Descent<'_> {
        match &self.origin {
            None => Descent::default(),
            Some(Origin::Retry { run }) => Descent { retry_of: Some(run), forked_from: None },
            Some(Origin::Fork { run, seq }) => {
                Descent { retry_of: None, forked_from: Some(ForkedFrom { run_id: run, seq: *seq }) }
            }
        }
    }

    fn current_task(&self) -> Option<CurrentTask<'_>> {
        let task = self.turns.keys().find(|id| id.parent().is_none()).filter(|_| self.end.is_none())?;
        let index = task.task_index();
        self.spec.tasks.get(index).map(|task| CurrentTask { name: &task.name, index })
    }

    /// Everything about the run that fits one answer.
    pub fn detail(&self, run: &str) -> Value {
        let ended_at = self.end.as_ref().map(|_| self.at);
        let mut detail = json!(self.row(run));
        let tasks: Vec<Value> = (0..self.spec.team().len()).map(|index| self.task_view(index)).collect();
        if let Value::Object(detail) = &mut detail {
            detail.insert("inputs".to_owned(), json!(self.spec.inputs));
            detail.insert("model".to_owned(), json!(self.switched.as_ref().unwrap_or(&self.spec.model)));
            detail.insert("tasks".to_owned(), tasks.into());
            detail.insert("eventCount".to_owned(), self.events.into());
            detail.insert("limits".to_owned(), self.spec.limits.view());
            detail.insert("metrics".to_owned(), self.metrics());
            detail.insert("pendingReviews".to_owned(), self.pending_reviews(run).into());
            detail.extend(self.final_output());
            detail.extend(ended_at.map(|at| ("completedAt".to_owned(), iso(at).into())));
        }
        detail
    }

    /// The reviews that wait for a person.
    pub fn pending_reviews(&self, run: &str) -> Vec<Value> {
        let view = |review: &u32| {
            let mut view = json!(self.review_view(run, *review));
            crate::frame::merge(&mut view, json!({ "runId": run }));
            view
        };
        self.open_reviews.iter().map(view).collect()
    }

    /// The frame that follows the last event: what came of the run.
    pub fn result(&self, run: &str) -> Value {
        let output = |index: &usize| {
            let (task, ended) = (self.spec.tasks.get(*index)?, self.tasks.get(index)?);
            let How::Completed { output, parsed } = &ended.how else { return None };
            let mut entry = json!({ "taskName": task.name, "output": output, "durationMs": ended.duration_ms() });
            parsed.iter().for_each(|parsed| merge(&mut entry, json!({ "parsedOutput": parsed })));
            if ended.truncated {
                merge(&mut entry, json!({ "truncated": true }));
            }
            self.mark(*index, &mut entry);
            Some(entry)
        };
        let outputs: Vec<Value> = self.outputs.iter().filter_map(output).collect();
        let mut result = json!({ "type": "run_result", "runId": run, "status": self.status(), "outputs": outputs,
            "durationMs": self.duration_ms(self.at), "metrics": self.metrics() });
        if let Value::Object(result) = &mut result {
            result.extend(self.final_output());
            result.extend(self.error().map(|error| ("error".to_owned(), error.into())));
        }
        result
    }

    /// The fields for what came out of the run as a whole: `output`, null unless
    /// the run completed, and `parsedOutput` where that has a schema.
    fn final_output(&self) -> impl Iterator<Item = (String, Value)> {
        let completed = matches!(self.end, Some(End::Completed { .. }));
        let last = self.outputs.last().and_then(|task| self.tasks.get(task)).filter(|_| completed);
        let (output, parsed) = match last.map(|ended| &ended.how) {
            Some(How::Completed { output, parsed }) => (json!(output), parsed.clone()),
            Some(How::Failed { .. } | How::Cancelled | How::Skipped { .. }) | None => (Value::Null, None),
        };
        let parsed = parsed.map(|parsed| ("parsedOutput".to_owned(), parsed));
        std::iter::once(("output".to_owned(), output)).chain(parsed)
    }

    /// The output of the task that completed last.
    pub fn answer(&self) -> Option<&str> {
        let ended = self.tasks.get(self.outputs.last()?)?;
        if let How::Completed { output, .. } = &ended.how { Some(output.as_str()) } else { None }
    }

    /// Why its tasks failed, in declared order.
    pub fn failures(&self) -> impl Iterator<Item = &str> {
        self.tasks.values().filter_map(|ended| match &ended.how {
            How::Failed { reason } => Some(reason.as_str()),
            How::Completed { .. } | How::Cancelled | How::Skipped { .. } => None,
        })
    }

    /// How long the run took, or has taken so far.
    pub fn took_ms(&self) -> Millis {
        self.duration_ms(self.at)
    }

    /// Why the run failed.
    pub fn error(&self) -> Option<&str> {
        if let Some(End::Failed { error }) = &self.end { Some(error) } else { None }
    }

    /// Tokens used; -1 when some model did not say.
    pub fn total_tokens(&self) -> i64 {
        self.totals.tokens()
    }

    /// What the run has used altogether.
    pub fn totals(&self) -> &Used {
        &self.totals
    }

    pub(crate) fn duration_ms(&self, at: Millis) -> Millis {
        at.saturating_sub(self.accepted_at)
    }

    fn metrics(&self) -> Value {
        let used = &self.totals;
        let mut metrics = json!({ "totalTokens": used.tokens(), "totalToolCalls": used.tool_calls,
            "inputTokens": used.usage.input, "outputTokens": used.usage.output, "cachedInputTokens": used.usage.cached_input,
            "reasoningTokens": used.usage.reasoning, "llmCalls": used.llm_calls, "subtasks": self.budget.subtasks(),
            "llmLatencyMs": used.llm_ms, "toolExecutionTimeMs": used.tool_ms });
        if let Value::Object(metrics) = &mut metrics {
            metrics.extend(self.cost().map(|cost| ("costEstimate".to_owned(), json!(cost))));
            if !self.unpriced.is_empty() {
                metrics.insert("unpriced".to_owned(), json!(self.unpriced));
            }
        }
        metrics
    }

    /// What the run has cost, when every model it asked has a price.
    fn cost(&self) -> Option<Cost> {
        let known = self.unpriced.is_empty() && !self.totals.unknown && self.totals.llm_calls > 0;
        known.then(|| Cost { input_cost: usd(self.totals.input_cost), output_cost: usd(self.totals.output_cost) })
    }

    fn completed_tasks(&self) -> usize {
        match self.spec.workflow {
            Workflow::Sequential | Workflow::Parallel => self.outputs.len(),
            // A worker may be asked again, and the manager is nobody's task.
            Workflow::Hierarchical => self.tasks.keys().filter(|task| !self.spec.is_manager(**task)).count(),
        }
    }

    /// Why nothing happens just now.
    pub(crate) fn waiting_for(&self) -> Option<&'static str> {
        if self.ended() || self.in_flight > 0 {
            return None;
        }
        let retrying = self.timers.iter().any(|(_, timer)| matches!(timer, Timer::Retry(_)));
        let reasons = [
            (self.epoch == 0, "queue"),
            (self.paused, "resume"),
            (self.parked && !self.waits_for_reviews(), "queue"),
            (!self.wants.models.is_empty(), "model"),
            (!self.wants.locks.is_empty(), "lock"),
            (retrying, "retry"),
            (!self.open_reviews.is_empty(), "review"),
            (!self.chat.open.is_empty(), "approval"),
        ];
        reasons.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
    }

    fn task_view(&self, index: usize) -> Value {
        let Some(task) = self.spec.tasks.get(index) else { return Value::Null };
        let turn = self.turns.get(&Id::task(index));
        let mut view = json!({ "name": task.name, "description": task.description, "taskDescription": task.description,
            "agentRole": task.agent.role, "status": self.task_status(turn, self.tasks.get(&index)) });
        self.mark(index, &mut view);
        let fields = match (self.tasks.get(&index), turn) {
            (Some(ended), _) => ended.fields(),
            (None, Some(turn)) => json!({ "model": turn.model, "tokenCount": turn.used.tokens(),
                "toolCallCount": turn.used.tool_calls, "startedAt": iso(turn.used.started_at), "subtasks": self.subtasks(&Id::task(index)) }),
            (None, None) => json!({}),
        };
        if let (Value::Object(view), Value::Object(fields)) = (&mut view, fields) {
            view.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
        }
        view
    }

    /// Marks what is said about a task that ended in the run this one goes on from.
    fn mark(&self, task: usize, view: &mut Value) {
        if self.inherited.contains(&task) {
            merge(view, json!({ "inherited": true }));
        }
    }

    /// The subtasks under way below a turn.
    fn subtasks(&self, parent: &Id) -> Value {
        let prefix = format!("{parent}.");
        let below = self.turns.iter().filter(|(id, _)| id.as_str().starts_with(&prefix));
        let view = |(id, turn): (&Id, &Turn)| json!({ "id": id, "title": turn.title, "depth": id.depth(), "tokenCount": turn.used.tokens(), "toolCallCount": turn.used.tool_calls });
        let views: Vec<Value> = below.map(view).collect();
        if views.is_empty() { Value::Null } else { views.into() }
    }

    fn task_status(&self, turn: Option<&Turn>, ended: Option<&Ended>) -> &'static str {
        match (ended.map(|ended| &ended.how), turn.map(|turn| &turn.phase), &self.end) {
            (Some(How::Completed { .. }), _, _) => "COMPLETED",
            (Some(How::Failed { .. }), _, _) => "FAILED",
            (Some(How::Cancelled), _, _) | (None, None, Some(End::Cancelled)) => "CANCELLED",
            (Some(How::Skipped { .. }), _, _) | (None, None, Some(_)) => "SKIPPED",
            (None, Some(Phase::Reviewing { .. }), _) => "WAITING",
            (None, Some(_), _) => "RUNNING",
            (None, None, None) => "PENDING",
        }
    }
}

impl Ended {
    fn duration_ms(&self) -> Millis {
        if self.used.started_at == 0 { 0 } else { self.at.saturating_sub(self.used.started_at) }
    }

    fn fields(&self) -> Value {
        let (output, parsed, error) = match &self.how {
            How::Completed { output, parsed } => (Some(output), parsed.as_ref(), None),
            How::Failed { reason } | How::Skipped { reason } => (None, None, Some(reason.as_str())),
            How::Cancelled => (None, None, Some(crate::next::CANCELLED)),
        };
        let model = Some(self.model.as_str()).filter(|model| !model.is_empty());
        let started_at = Some(self.used.started_at).filter(|at| *at > 0).map(iso);
        json!({ "model": model, "startedAt": started_at, "completedAt": iso(self.at), "durationMs": self.duration_ms(), "tokenCount": self.used.tokens(),
            "toolCallCount": self.used.tool_calls, "output": output, "parsedOutput": parsed, "error": error,
            "partialOutput": self.partial, "truncated": self.truncated.then_some(true) })
    }
}

impl Limits {
    /// What may be used altogether, without what has no limit.
    fn view(&self) -> Value {
        let limits = [
            ("maxTotalSubtasks", self.subtasks),
            ("maxTotalLlmCalls", self.llm_calls),
            ("maxTotalToolCalls", self.tool_calls),
            ("maxWallClockMs", self.wall_clock_ms),
            ("maxTotalTokens", self.tokens),
        ];
        let limited = limits.into_iter().filter(|(_, limit)| *limit > 0);
        let mut view: Map<String, Value> = limited.map(|(name, limit)| (name.to_owned(), limit.into())).collect();
        if self.cost > 0 {
            view.insert("maxCostUsd".to_owned(), usd(self.cost).into());
        }
        view.into()
    }
}

impl Price {
    /// The prices in dollars.
    pub fn view(&self) -> Value {
        json!({ "input": usd(self.input), "output": usd(self.output), "cachedInput": usd(self.cached_input) })
    }
}

impl Used {
    /// Tokens read and written; -1 when some model did not say.
    pub fn tokens(&self) -> i64 {
        if self.unknown { -1 } else { i64::try_from(self.usage.total()).unwrap_or(i64::MAX) }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Money as a number of dollars.
pub(crate) fn usd(nanos: NanoUsd) -> f64 {
    nanos as f64 / NANOS_PER_USD as f64
}

/// Money as text, in dollars with eight decimals, the last rounded half up.
pub fn cost_text(nanos: NanoUsd) -> String {
    let tens = nanos.saturating_add(5) / 10;
    format!("{}.{:08}", tens / 100_000_000, tens % 100_000_000)
}
