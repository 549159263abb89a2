//! Views of a run for clients: a row of a list, all details, its result.

mod begun;
mod detail;
mod result;
mod review;
mod stored;
mod title;

pub use detail::{LimitsView, RunDetail, TaskEnd};
pub use result::{ResultFrame, RunResult, TaskOutput};
pub use review::Review;
pub use stored::StoredRow;
pub use title::RunTitle;

pub use crate::state::waiting::WaitingFor;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat;
use crate::projections::frame::field::Iso;
use crate::projections::frame::review_id;
use crate::state::conversation::Used;
use crate::state::run::{Ended, Run, TaskOutcome};
pub(crate) use consort_spec::catalog::usd;
use consort_spec::catalog::{NanoUsd, Price};
use consort_spec::event::{End, Origin};
use consort_spec::id::Millis;
use consort_spec::spec::Workflow;
use consort_spec::status::Status;
use consort_spec::text::Text;

/// The data a log keeps beside a stream so that lists need not read the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary<'a> {
    /// The status of the run.
    pub status: Status,
    /// The time at which it was submitted.
    pub started_at: Millis,
    /// The time at which it ended.
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
    /// A row for a run.
    Run(Box<Row<'a>>),
    /// A row for a turn of a chat.
    Turn(Box<chat::Listed<'a>>),
}

/// A run in a list. It is written with every append, so it borrows what it
/// can; what depends on the time of asking is added to what was stored.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Run", description = "A run in a list.")]
pub struct Row<'a> {
    run_id: &'a str,
    ensemble: &'a str,
    /// The id of this execution, which its trace files are named after; in a list absent for runs of earlier versions.
    #[serde(skip_serializing_if = "str::is_empty")]
    ensemble_id: &'a str,
    /// The owner: that of the key that began the run, `local` without keys.
    owner: &'a str,
    #[serde(flatten)]
    title: RunTitle,
    status: Status,
    /// When it was submitted.
    started_at: Iso,
    /// Null until it has ended.
    duration_ms: Option<Millis>,
    /// The time it waited in the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    queued_ms: Option<Millis>,
    #[serde(flatten)]
    descent: Descent<'a>,
    task_count: usize,
    completed_tasks: usize,
    workflow: Workflow,
    /// The model that tasks without one of their own ask. Rows of earlier versions have none.
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    tags: &'a BTreeMap<String, String>,
    paused: bool,
    cancel_requested: bool,
    /// -1 when some model did not report it.
    total_tokens: i64,
    /// The first task under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_task: Option<CurrentTask<'a>>,
    /// The reason why nothing happens just now. `queue`: it waits for a slot, at first or when it goes on after a
    /// review; `queuePosition` is the number of runs that wait before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waiting_for: Option<WaitingFor>,
    /// The same in words, with details: the model with its address, and the message of its provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_reason: Option<String>,
    /// The time since which it waits for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_since: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_estimate: Option<Cost>,
    /// The reason why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// Whether an output was cut at the output limit and accepted as it is.
    #[serde(skip_serializing_if = "is_false")]
    truncated: bool,
    /// Reviews that wait for a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_reviews: Vec<String>,
    #[serde(flatten)]
    asked: Asked,
}

impl Row<'_> {
    fn queue(&mut self, position: usize, waited_ms: Millis) {
        self.asked.queue_position = Some(position);
        self.queued_ms.get_or_insert(waited_ms);
    }

    fn stall(&mut self) {
        self.waiting_for = Some(WaitingFor::Storage);
        self.waiting_since = None;
    }
}

/// The fields of a run that are added to its stored row when it is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// The number of runs before it in the queue, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_position: Option<usize>,
    #[serde(flatten)]
    damage: Damage,
}

/// Whether something stored cannot be read, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Damage {
    /// True where it cannot be read: then only the data of its row is shown.
    #[serde(skip_serializing_if = "is_false")]
    damaged: bool,
    /// The reason why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged_reason: Option<String>,
}

impl Damage {
    /// Creates the damage with its reason, or none.
    pub fn of(reason: Option<String>) -> Damage {
        Damage { damaged: reason.is_some(), damaged_reason: reason }
    }
}

/// The run whose record a run began with, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Descent<'a> {
    /// The run it retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_of: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_from: Option<ForkedFrom<'a>>,
}

/// The run it was forked from, and the first event it did not take.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ForkedFrom<'a> {
    run_id: &'a str,
    seq: u64,
}

/// A task that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct CurrentTask<'a> {
    name: &'a str,
    index: usize,
}

/// The cost, in dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Cost {
    input_cost: f64,
    output_cost: f64,
}

impl Run {
    /// Returns the status of the run.
    pub fn status(&self) -> Status {
        match self.end() {
            Some(end) => end.status(),
            None if self.started_at().is_some() && self.epoch() > 0 => Status::Running,
            None => Status::Accepted,
        }
    }

    /// Returns the data that a log keeps beside the run's stream.
    pub fn summary<'a>(&'a self, run: &'a str) -> Summary<'a> {
        let ended_at = self.end().map(|_| self.at());
        let row = match &self.spec().chat {
            Some(chat) => Listed::Turn(Box::new(self.turn_row(chat, run))),
            None => Listed::Run(Box::new(self.row(run))),
        };
        Summary { status: self.status(), started_at: self.accepted_at(), ended_at, tags: &self.spec().tags, row }
    }

    fn row<'a>(&'a self, run: &'a str) -> Row<'a> {
        let ended_at = self.end().map(|_| self.at());
        Row {
            run_id: run,
            ensemble: &self.spec().name,
            ensemble_id: self.ensemble_id(),
            owner: self.owner().as_str(),
            title: RunTitle::of(self.spec(), self.final_output().0.map(Text::as_str)),
            status: self.status(),
            started_at: Iso(self.accepted_at()),
            duration_ms: ended_at.map(|at| self.duration_ms(at)),
            queued_ms: self.began_at().map(|at| self.duration_ms(at)),
            descent: self.descent(),
            task_count: self.spec().team().len(),
            completed_tasks: self.completed_tasks(),
            workflow: self.spec().workflow,
            model: self.switched().unwrap_or(&self.spec().model),
            tags: &self.spec().tags,
            paused: self.paused(),
            cancel_requested: self.cancel_mode().is_some(),
            total_tokens: self.total_tokens(),
            current_task: self.current_task(),
            waiting_for: self.waiting_for(),
            waiting_reason: self.waiting_reason(),
            waiting_since: self.waiting_since().map(Iso),
            cost_estimate: self.cost(),
            error: self.error(),
            truncated: self.truncated(),
            open_reviews: self.open_reviews().iter().map(|review| review_id(run, *review)).collect(),
            asked: Asked::default(),
        }
    }

    /// Returns the run that this one continues.
    pub fn descent(&self) -> Descent<'_> {
        match self.origin() {
            None => Descent::default(),
            Some(Origin::Retry { run }) => Descent { retry_of: Some(run), forked_from: None },
            Some(Origin::Fork { run, seq }) => {
                Descent { retry_of: None, forked_from: Some(ForkedFrom { run_id: run, seq: *seq }) }
            }
        }
    }

    fn current_task(&self) -> Option<CurrentTask<'_>> {
        let task = self.conversations().keys().find(|id| id.parent().is_none()).filter(|_| self.end().is_none())?;
        let index = task.task_index();
        self.spec().tasks.get(index).map(|task| CurrentTask { name: &task.name, index })
    }

    /// Returns the reviews that wait for a person.
    pub fn pending_reviews(&self, run: &str) -> Vec<Review> {
        let view = |review: &u32| self.review_view(run, *review).map(|view| Review::of(run, view));
        self.open_reviews().iter().filter_map(view).collect()
    }

    /// Returns the output of the run as a whole, none unless the run completed, and the same as data where it has a
    /// schema.
    fn final_output(&self) -> (Option<&Text>, Option<&Value>) {
        let completed = matches!(self.end(), Some(End::Completed { .. }));
        let last = self.outputs().last().and_then(|task| self.tasks().get(task)).filter(|_| completed);
        match last.map(|ended| &ended.outcome) {
            Some(TaskOutcome::Completed { output, parsed }) => (Some(output), parsed.as_ref()),
            Some(TaskOutcome::Failed { .. } | TaskOutcome::Cancelled | TaskOutcome::Skipped { .. }) | None => {
                (None, None)
            }
        }
    }

    /// Returns the output of the task that completed last.
    pub fn answer(&self) -> Option<&str> {
        let ended = self.tasks().get(self.outputs().last()?)?;
        if let TaskOutcome::Completed { output, .. } = &ended.outcome { Some(output.as_str()) } else { None }
    }

    /// Returns the reasons why tasks failed, in declared order.
    pub fn failures(&self) -> impl Iterator<Item = &str> {
        self.tasks().values().filter_map(|ended| match &ended.outcome {
            TaskOutcome::Failed { reason } => Some(reason.as_str()),
            TaskOutcome::Completed { .. } | TaskOutcome::Cancelled | TaskOutcome::Skipped { .. } => None,
        })
    }

    /// Returns the time the run took, or has taken so far.
    pub fn took_ms(&self) -> Millis {
        self.duration_ms(self.at())
    }

    /// Returns the reason why the run failed.
    pub fn error(&self) -> Option<&str> {
        if let Some(End::Failed { error }) = self.end() { Some(error) } else { None }
    }

    /// Returns the number of tokens used; -1 when some model did not report it.
    pub fn total_tokens(&self) -> i64 {
        self.totals().tokens()
    }

    pub(crate) fn duration_ms(&self, at: Millis) -> Millis {
        at.saturating_sub(self.accepted_at())
    }

    /// Returns the cost of the run, when every model it asked has a price.
    fn cost(&self) -> Option<Cost> {
        let known = self.unpriced().is_empty() && !self.totals().unknown && self.totals().llm_calls > 0;
        known.then(|| Cost { input_cost: usd(self.totals().input_cost), output_cost: usd(self.totals().output_cost) })
    }

    fn completed_tasks(&self) -> usize {
        match self.spec().workflow {
            Workflow::Sequential | Workflow::Parallel => self.outputs().len(),
            // A worker may be asked again, and the manager is not one of the declared tasks.
            Workflow::Hierarchical => self.tasks().keys().filter(|task| !self.spec().is_manager(**task)).count(),
        }
    }

    /// Returns the reason why nothing happens in words, where there is more to say than a word.
    fn waiting_reason(&self) -> Option<String> {
        match self.waiting_for()? {
            WaitingFor::Retry => self.asking_again()?.failure().map(str::to_owned),
            WaitingFor::Model => {
                let models: Vec<String> = self.wants().models.keys().map(|alias| format!("`{alias}`")).collect();
                Some(format!("every slot of {} is taken, or its rate is used up", models.join(", ")))
            }
            WaitingFor::Queue
            | WaitingFor::Resume
            | WaitingFor::Lock
            | WaitingFor::Review
            | WaitingFor::Approval
            | WaitingFor::Storage => None,
        }
    }
}

impl Ended {
    fn duration_ms(&self) -> Millis {
        if self.used.started_at == 0 { 0 } else { self.at.saturating_sub(self.used.started_at) }
    }
}

/// Dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Price")]
pub struct PriceView {
    input: f64,
    output: f64,
    cached_input: f64,
}

impl From<Price> for PriceView {
    fn from(price: Price) -> PriceView {
        PriceView { input: usd(price.input), output: usd(price.output), cached_input: usd(price.cached_input) }
    }
}

impl Used {
    /// Returns the number of tokens read and written; -1 when some model did not report it.
    pub fn tokens(&self) -> i64 {
        self.known(self.usage.total())
    }

    /// Returns a number of tokens; -1 when some model did not report its own.
    pub(crate) fn known(&self, tokens: u64) -> i64 {
        if self.unknown { -1 } else { i64::try_from(tokens).unwrap_or(i64::MAX) }
    }
}

/// Returns whether a stored row is of a run that waits for a person's decision.
pub fn awaits_review(row: &str) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Waiting {
        open_reviews: Vec<IgnoredAny>,
    }
    serde_json::from_str(row).is_ok_and(|Waiting { open_reviews }| !open_reviews.is_empty())
}

/// Returns the id of the execution that a stored row names.
pub fn ensemble_id(row: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        ensemble_id: String,
    }
    serde_json::from_str(row).ok().map(|Named { ensemble_id }| ensemble_id)
}

pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

/// Returns an amount of money as text, in dollars with eight decimals, the last rounded half up.
pub fn cost_text(nanos: NanoUsd) -> String {
    let tens = nanos.saturating_add(5) / 10;
    format!("{}.{:08}", tens / 100_000_000, tens % 100_000_000)
}
