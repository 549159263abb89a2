//! Everything about a run that fits one answer.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::begun::Begun;
use super::{Cost, Review, Row, is_false, usd};
use crate::projections::frame::field::Iso;
use crate::projections::frame::review_id;
use crate::state::budget::Limits;
use crate::state::conversation::{Conversation, Phase};
use crate::state::gate::ReviewOutcome;
use crate::state::run::{Ended, Run, TaskOutcome};
use consort_spec::cause::SkipCause;
use consort_spec::event::{End, Timing};
use consort_spec::id::{Id, Millis, Place};
use consort_spec::template::Inputs;
use consort_spec::text::Text;
use strum::IntoStaticStr;

/// Everything about a run that fits one answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunDetail<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    inputs: &'a Inputs,
    tasks: Vec<Task<'a>>,
    /// The number of events.
    event_count: u64,
    limits: LimitsView,
    metrics: Metrics,
    pending_reviews: Vec<Review>,
    /// The output of the run: that of the task that completed last, in a hierarchy the manager's answer; null unless it
    /// completed. `run_result` has the same output.
    output: Option<&'a Text>,
    /// `output` as data, when its task has a schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    parsed_output: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<Iso>,
    #[serde(flatten)]
    begun: Begun<'a>,
    /// Odd things in the request; only in the answer to the request that began the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl RunDetail<'_> {
    /// Adds the warnings about the request that began the run.
    pub fn warned(self, warnings: &[String]) -> Self {
        RunDetail { warnings: warnings.to_vec(), ..self }
    }
}

/// A task of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Task<'a> {
    name: &'a str,
    description: &'a str,
    task_description: &'a str,
    agent_role: &'a str,
    status: TaskStatus,
    /// The task ended in the run that this one goes on from: its times and counts are that run's.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("const" = true))]
    inherited: bool,
    /// The requester who gave it another output when this run was made of another.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_edited_by: Option<&'a str>,
    #[serde(flatten)]
    progress: Progress<'a>,
    /// The group it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    /// The instances of a task that is done for each item or in rounds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    instances: Vec<InstanceView<'a>>,
}

/// One instance of a task: for an item, in a round, or both.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Instance")]
struct InstanceView<'a> {
    /// Its place in the run, as in frames.
    turn_id: String,
    /// The index of its item, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<u32>,
    /// Its round, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<u32>,
    task_description: &'a str,
    status: TaskStatus,
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("const" = true))]
    inherited: bool,
    #[serde(flatten)]
    progress: Progress<'a>,
    /// Its reviews, open and decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reviews: Vec<InstanceReview>,
}

/// A review of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct InstanceReview {
    review_id: String,
    timing: Timing,
    /// The outcome; absent while the review is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
}

/// The progress of a task; empty before it begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Progress<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_count: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Text>,
    /// The output as data, when the task has a schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    parsed_output: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// The cause of the skip.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<SkipCause>,
    /// The text of a cut answer, where the task failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_output: Option<&'a Text>,
    /// Whether the output was cut at the output limit and accepted as it is.
    #[serde(skip_serializing_if = "is_false")]
    truncated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subtasks: Vec<Subtask<'a>>,
}

/// The stage of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
enum TaskStatus {
    Pending,
    Running,
    Waiting,
    Completed,
    Failed,
    Cancelled,
    Skipped,
}

/// A subtask under way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Subtask<'a> {
    id: &'a str,
    title: &'a str,
    depth: u32,
    token_count: i64,
    tool_call_count: u64,
}

/// The usage of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    total_tokens: i64,
    total_tool_calls: u64,
    /// Tokens read; -1 when some model did not report it.
    input_tokens: i64,
    /// Tokens written; -1 when some model did not report it.
    output_tokens: i64,
    cached_input_tokens: u64,
    reasoning_tokens: u64,
    llm_calls: u64,
    subtasks: u64,
    llm_latency_ms: u64,
    tool_execution_time_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_estimate: Option<Cost>,
    /// Models without a price, when the cost is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unpriced: Vec<String>,
}

/// The limits of a run; a limit that is not set is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Limits")]
pub struct LimitsView {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_total_subtasks: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_total_llm_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_total_tool_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_wall_clock_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_total_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_cost_usd: Option<f64>,
}

/// The end of a task, as a run's detail has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskEnd<'a> {
    /// The name of the task.
    pub name: &'a str,
    /// The word for its status.
    pub status: &'static str,
    /// The output.
    pub output: Option<&'a Text>,
    /// The output as data, when the task has a schema.
    pub parsed_output: Option<&'a Value>,
    /// The reason why there is no output.
    pub error: Option<&'a str>,
    /// The beginning of an answer that was cut, where the task failed.
    pub partial_output: Option<&'a Text>,
    /// Whether the output was cut at the output limit and taken all the same.
    pub truncated: bool,
}

impl<'a> RunDetail<'a> {
    /// Returns the ends of its tasks, in declared order.
    pub fn task_ends(&self) -> impl Iterator<Item = TaskEnd<'a>> {
        self.tasks.iter().map(|task| TaskEnd {
            name: task.name,
            status: task.status.word(),
            output: task.progress.output,
            parsed_output: task.progress.parsed_output,
            error: task.progress.error,
            partial_output: task.progress.partial_output,
            truncated: task.progress.truncated,
        })
    }

    /// Returns the tokens and the cost of the run.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Adds the run's position in the queue and, unless it has begun before, the time it has waited.
    pub fn queue(&mut self, position: usize, waited_ms: Millis) {
        self.row.queue(position, waited_ms);
    }

    /// Says that the run's events cannot be stored at the moment.
    pub fn stall(&mut self) {
        self.row.stall();
    }
}

impl TaskStatus {
    fn word(self) -> &'static str {
        self.into()
    }
}

impl Run {
    /// Returns all details of the run that fit one response.
    pub fn detail<'a>(&'a self, run: &'a str) -> RunDetail<'a> {
        let (output, parsed_output) = self.final_output();
        RunDetail {
            row: self.row(run),
            inputs: &self.spec().inputs,
            tasks: (0..self.spec().team().len()).filter_map(|index| self.task_view(run, index)).collect(),
            event_count: self.events(),
            limits: LimitsView::from(&self.spec().limits),
            metrics: self.metrics(),
            pending_reviews: self.pending_reviews(run),
            output,
            parsed_output,
            completed_at: self.end().map(|_| Iso(self.at())),
            begun: Begun::of(self.spec().begun_by.as_ref()),
            warnings: Vec::new(),
        }
    }

    pub(super) fn metrics(&self) -> Metrics {
        let used = self.totals();
        Metrics {
            total_tokens: used.tokens(),
            total_tool_calls: used.tool_calls,
            input_tokens: used.known(used.usage.input),
            output_tokens: used.known(used.usage.output),
            cached_input_tokens: used.usage.cached_input,
            reasoning_tokens: used.usage.reasoning,
            llm_calls: used.llm_calls,
            subtasks: self.budget().subtasks(),
            llm_latency_ms: used.llm_ms,
            tool_execution_time_ms: used.tool_ms,
            cost_estimate: self.cost(),
            unpriced: self.unpriced().iter().cloned().collect(),
        }
    }

    fn task_view(&self, run: &str, index: usize) -> Option<Task<'_>> {
        let task = self.spec().tasks.get(index)?;
        let id = Id::task(index);
        let conversation = self.conversations().get_key_value(&id);
        let progress = match (self.tasks().get(&index), conversation) {
            (Some(ended), _) => ended.progress(),
            (None, Some((id, conversation))) => self.progress_of(id, conversation),
            (None, None) => Progress::default(),
        };
        let instances = self.instance_views(run, index);
        let status = match (self.tasks().get(&index), instances.is_empty()) {
            (None, false) => self.status_of(&instances),
            (ended, _) => self.task_status(conversation.map(|(_, it)| it), ended.map(Box::as_ref)),
        };
        Some(Task {
            name: &task.name,
            description: &task.description,
            task_description: &task.description,
            agent_role: &task.agent.role,
            status,
            inherited: self.inherited().contains(&index),
            output_edited_by: self.output_edited_by(index),
            progress,
            group: self.spec().group_of(index).map(|(_, group)| group.name.as_str()),
            instances,
        })
    }

    /// Returns the instances of a task, over and under way, round by round and item by item.
    fn instance_views(&self, run: &str, index: usize) -> Vec<InstanceView<'_>> {
        let all = Place::task(index)..Place::task(index + 1);
        let over = self.instances().range(all).map(|(place, _)| *place);
        let group = self.spec().group_of(index).is_some_and(|(_, group)| group.has_instances());
        if !group && self.spec().tasks.get(index).is_none_or(|task| task.for_each.is_none()) {
            return Vec::new();
        }
        let under_way = self.conversations().keys().filter(|id| id.parent().is_none()).map(Id::site);
        let under_way = under_way.filter(|place| place.task == index && !place.is_whole());
        let places: BTreeSet<Place> = over.chain(under_way).collect();
        let reviews = self.reviews_by_place(run, index);
        places.into_iter().map(|place| self.instance_view(place, &reviews)).collect()
    }

    fn instance_view(&self, place: Place, reviews: &BTreeMap<Place, Vec<InstanceReview>>) -> InstanceView<'_> {
        let id = place.id();
        let conversation = self.conversations().get_key_value(&id);
        let over = self.instances().get(&place);
        let progress = match (over, conversation) {
            (Some(instance), _) => instance.ended.progress(),
            (None, Some((id, conversation))) => self.progress_of(id, conversation),
            (None, None) => Progress::default(),
        };
        InstanceView {
            turn_id: id.to_string(),
            item: place.item,
            round: place.round,
            task_description: self.task(&id).map_or("", |task| task.description.as_str()),
            status: self.task_status(conversation.map(|(_, it)| it), over.map(|instance| &instance.ended)),
            inherited: over.is_some_and(|instance| instance.inherited),
            progress,
            reviews: reviews.get(&place).cloned().unwrap_or_default(),
        }
    }

    fn reviews_by_place(&self, run: &str, index: usize) -> BTreeMap<Place, Vec<InstanceReview>> {
        let mut reviews: BTreeMap<Place, Vec<InstanceReview>> = BTreeMap::new();
        for (number, review) in (0..).zip(self.reviews()).filter(|(_, it)| it.conversation.task_index() == index) {
            let outcome = review.verdict.map(ReviewOutcome::word);
            let view = InstanceReview { review_id: review_id(run, number), timing: review.timing, outcome };
            reviews.entry(review.conversation.site()).or_default().push(view);
        }
        reviews
    }

    /// Returns the status of a task that is not over, from its instances.
    fn status_of(&self, instances: &[InstanceView<'_>]) -> TaskStatus {
        let any = |status: TaskStatus| instances.iter().any(|instance| instance.status == status);
        match self.end() {
            None if any(TaskStatus::Running) => TaskStatus::Running,
            None if any(TaskStatus::Waiting) => TaskStatus::Waiting,
            None => TaskStatus::Running,
            Some(_) if any(TaskStatus::Failed) => TaskStatus::Failed,
            Some(End::Cancelled) => TaskStatus::Cancelled,
            Some(_) => TaskStatus::Skipped,
        }
    }

    fn progress_of<'a>(&'a self, id: &Id, conversation: &'a Conversation) -> Progress<'a> {
        Progress {
            model: Some(conversation.model()),
            token_count: Some(conversation.used().tokens()),
            tool_call_count: Some(conversation.used().tool_calls),
            started_at: Some(Iso(conversation.used().started_at)),
            subtasks: self.subtasks(id),
            ..Progress::default()
        }
    }

    /// Returns the subtasks under way below a conversation.
    fn subtasks(&self, parent: &Id) -> Vec<Subtask<'_>> {
        let prefix = format!("{parent}.");
        let below = self.conversations().iter().filter(|(id, _)| id.as_str().starts_with(&prefix));
        below.map(|(id, conversation)| subtask(id, conversation)).collect()
    }

    fn task_status(&self, conversation: Option<&Conversation>, ended: Option<&Ended>) -> TaskStatus {
        match (ended.map(|ended| &ended.outcome), conversation.map(|conversation| conversation.phase()), self.end()) {
            (Some(TaskOutcome::Completed { .. }), _, _) => TaskStatus::Completed,
            (Some(TaskOutcome::Failed { .. }), _, _) => TaskStatus::Failed,
            (Some(TaskOutcome::Cancelled), _, _) | (None, None, Some(End::Cancelled)) => TaskStatus::Cancelled,
            (Some(TaskOutcome::Skipped { .. }), _, _) | (None, None, Some(_)) => TaskStatus::Skipped,
            (None, Some(Phase::Reviewing { .. }), _) => TaskStatus::Waiting,
            (None, Some(_), _) => TaskStatus::Running,
            (None, None, None) => TaskStatus::Pending,
        }
    }
}

fn subtask<'a>(id: &'a Id, conversation: &'a Conversation) -> Subtask<'a> {
    Subtask {
        id: id.as_str(),
        title: conversation.title(),
        depth: id.depth(),
        token_count: conversation.used().tokens(),
        tool_call_count: conversation.used().tool_calls,
    }
}

impl Ended {
    fn progress(&self) -> Progress<'_> {
        let (output, parsed_output, error) = match &self.outcome {
            TaskOutcome::Completed { output, parsed } => (Some(output), parsed.as_ref(), None),
            TaskOutcome::Failed { reason } | TaskOutcome::Skipped { reason, .. } => (None, None, Some(reason.as_str())),
            TaskOutcome::Cancelled => (None, None, Some(consort_spec::cause::CANCELLED)),
        };
        let cause = if let TaskOutcome::Skipped { cause, .. } = &self.outcome { Some(*cause) } else { None };
        Progress {
            model: Some(self.model.as_str()).filter(|model| !model.is_empty()),
            started_at: Some(self.used.started_at).filter(|at| *at > 0).map(Iso),
            completed_at: Some(Iso(self.at)),
            duration_ms: Some(self.duration_ms()),
            token_count: Some(self.used.tokens()),
            tool_call_count: Some(self.used.tool_calls),
            output,
            parsed_output,
            error,
            cause,
            partial_output: self.partial.as_ref(),
            truncated: self.truncated,
            subtasks: Vec::new(),
        }
    }
}

impl Metrics {
    /// Returns the tokens used, when every model reported them.
    pub fn tokens(&self) -> Option<u64> {
        u64::try_from(self.total_tokens).ok()
    }

    /// Returns the cost in US dollars, when every model has a price.
    pub fn cost_usd(&self) -> Option<f64> {
        self.cost_estimate.map(|cost| cost.input_cost + cost.output_cost)
    }
}

impl From<&Limits> for LimitsView {
    /// Returns the limits, without those that are not set.
    fn from(limits: &Limits) -> LimitsView {
        let limited = |limit: u64| (limit > 0).then_some(limit);
        LimitsView {
            max_total_subtasks: limited(limits.subtasks),
            max_total_llm_calls: limited(limits.llm_calls),
            max_total_tool_calls: limited(limits.tool_calls),
            max_wall_clock_ms: limited(limits.wall_clock_ms),
            max_total_tokens: limited(limits.tokens),
            max_cost_usd: limited(limits.cost).map(usd),
        }
    }
}
