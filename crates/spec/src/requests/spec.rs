//! The work of a run, with nothing left open: templates resolved, agents and names given, references turned into
//! positions. A [`Spec`] is made from [`crate::requests::draft`] and stored with the first event of its run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use crate::chat;
use crate::id::Millis;
use crate::limits::Limits;
use crate::message::Attached;
use crate::owner::Owner;
use crate::queue::Priority;
use crate::requests::agent::Agent;
use crate::requests::attachments::AttachmentSource;
use crate::requests::branch::{ForEach, Group};
use crate::requests::expression::Expression;
use crate::requests::model_options::ModelOptions;
use crate::requests::template::{self, Inputs, Variables};
use crate::schema::Schema;

/// The specification of an accepted run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The kind of work.
    #[serde(default)]
    pub kind: Kind,
    /// The ensemble's name.
    pub name: String,
    /// The order of the tasks.
    pub workflow: Workflow,
    /// The effect of a failed task on the other tasks.
    pub on_error: OnError,
    /// The alias of the model to ask where a task names none.
    pub model: String,
    /// The tasks, in declared order; positions in this list are their ids.
    pub tasks: Vec<Task>,
    /// Groups of tasks that are skipped, repeated or fanned out together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// The settings for reviews by people.
    pub review: Review,
    /// The limits on the usage of the run and everything under it.
    pub limits: Limits,
    /// The options that apply to every task of the run.
    pub options: Options,
    /// The options for models' answers, unless a task has its own.
    #[serde(default, skip_serializing_if = "ModelOptions::is_empty")]
    pub model_options: ModelOptions,
    /// The values that templates were resolved with.
    pub inputs: Inputs,
    /// Labels for finding the run again.
    pub tags: BTreeMap<String, String>,
    /// The number of times work may be handed on from agent to agent.
    pub max_delegation_depth: u32,
    /// The number of times work may be handed out in the whole run.
    #[serde(default = "unlimited")]
    pub max_delegations: u32,
    /// The number of times work may be handed to the same agent.
    #[serde(default = "unlimited")]
    pub max_delegations_per_agent: u32,
    /// The chat's part, when the run is a turn of a chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<chat::Turn>,
    /// The W3C trace it belongs to, as its submission named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// The path by which it came from other ensembles, when another ensemble asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Arc<Origin>>,
    /// The schedule or hook that began it, when no caller did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_by: Option<BegunBy>,
}

/// The schedule or hook that began a run, where no caller submitted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BegunBy {
    /// A schedule.
    Schedule {
        /// The schedule's name.
        name: String,
        /// The time at which the run was due.
        due: Millis,
    },
    /// A request to a hook.
    Hook {
        /// The hook's name.
        name: String,
        /// The id of the delivery, as its sender named it.
        delivery_id: String,
    },
}

/// Returns the limit for runs of earlier versions, which have none.
fn unlimited() -> u32 {
    u32::MAX
}

/// The path by which a run came here from other ensembles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The ensembles it came through, from first to last.
    pub ancestors: Vec<String>,
    /// The number of further ensembles it may pass through.
    pub hops: u32,
    /// The priority in the queue.
    pub priority: Priority,
    /// The owner of what is shared, who sees the run and decides its reviews.
    #[serde(default, skip_serializing_if = "Owner::is_local")]
    pub host: Owner,
    /// The request it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
}

/// A request of another ensemble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The id, unique among all requests.
    pub id: String,
    /// The digest of the request's content: the same id must always have the same content.
    pub digest: String,
    /// The time for which the work goes on after the requester stopped waiting; absent: until it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u64>,
}

/// The kinds of work. Each has its own slots, queue and retention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// Submitted by a person or a program.
    #[default]
    Run,
    /// One turn of a chat.
    Turn,
    /// Work for another ensemble.
    Peer,
    /// The search for facts worth remembering in a turn.
    Mining,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::Run, Kind::Turn, Kind::Peer, Kind::Mining];

    /// Returns the word for the kind, used in ids and in lists.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// One task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The name, unique in the run.
    pub name: String,
    /// The description of the work to do.
    pub description: String,
    /// The expected answer.
    pub expected_output: String,
    /// The files that its model is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attached>,
    /// The files to attach that were not found yet; none once the run is accepted.
    #[serde(skip)]
    pub sources: Vec<AttachmentSource>,
    /// Additional context, beside the description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// The agent that does the task.
    pub agent: Agent,
    /// The alias of the model to ask; the run's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The options for the model's answer; the run's where unset.
    #[serde(default, skip_serializing_if = "ModelOptions::is_empty")]
    pub model_options: ModelOptions,
    /// The names of the tools it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The positions of the tasks whose outputs it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<usize>,
    /// The number of model calls it may make in one attempt.
    pub max_iterations: u32,
    /// The schema its output must fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Schema>,
    /// The names under which outputs are remembered across runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<String>,
    /// Whether the agent is asked for improvements for the next run.
    #[serde(default)]
    pub reflection: bool,
    /// The tool that does the task instead of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The arguments of that tool; absent: a complete description of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler_args: Option<Value>,
    /// The tools that must approve the task before it begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_guardrails: Vec<String>,
    /// The tools that must approve its output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_guardrails: Vec<String>,
    /// Whether a person reviews its output; absent: the run's policy decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewRule>,
    /// The handling of an answer that is cut at the output limit.
    #[serde(default, skip_serializing_if = "OnTruncated::is_default")]
    pub on_truncated: OnTruncated,
    /// Whether a person is asked before it starts.
    #[serde(default)]
    pub review_before: bool,
    /// The time for which reviews of this task wait, 0 = without limit; the run's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_timeout_ms: Option<Millis>,
    /// The condition under which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// The list of items for each of which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<ForEach>,
    /// The positions of tasks that come before it, whose outputs it does not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// The saved workflow that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// The texts before variables were replaced, where they hold variables: a fork may use other values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Box<Template>>,
}

/// The saved workflow that a task or a group is a part of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The name of the task that the workflow does; the names of its tasks begin with it.
    pub name: String,
    /// The values of the workflow's inputs; strings are templates of the run.
    #[serde(default, skip_serializing_if = "Inputs::is_empty")]
    pub inputs: Inputs,
}

impl Part {
    /// Returns the values of the workflow's inputs within a run.
    pub fn values(&self, variables: Variables<'_>) -> Inputs {
        let filled = |value: &Value| match value.as_str() {
            Some(text) => Value::String(template::resolve(text, variables).unwrap_or_default()),
            None => value.clone(),
        };
        self.inputs.iter().map(|(name, value)| (name.clone(), filled(value))).collect()
    }
}

/// A task's texts as they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// The description of the work to do.
    pub description: String,
    /// The expected answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<String>,
    /// Additional context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// The agent that does the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The ids of its own files, in order; none for a file of the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Option<String>>,
}

/// The order of the tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Workflow {
    /// One after the other, as declared.
    #[default]
    Sequential,
    /// As soon as what they read is there.
    Parallel,
    /// As a manager delegates them. The manager is the last task of the list.
    Hierarchical,
}

impl Workflow {
    /// Returns the word for the workflow on the wire.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// The effect of a failed task on the other tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OnError {
    /// No other task starts.
    #[default]
    FailFast,
    /// Only the tasks that need its output are skipped.
    ContinueOnError,
}

/// The settings of a run for reviews by people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// The tasks whose output is reviewed when the task has no rule of its own.
    pub policy: ReviewPolicy,
    /// The time for which a review waits; 0 = without limit.
    pub timeout_ms: Millis,
    /// The action when a review is not answered in time, where the author set one. Without it, reviews that a
    /// task demands wait for a person. Runs of earlier versions always have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

impl Default for Review {
    fn default() -> Review {
        Review { policy: ReviewPolicy::Never, timeout_ms: 300_000, on_timeout: None }
    }
}

/// The tasks whose output is reviewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReviewPolicy {
    /// No task's.
    #[default]
    Never,
    /// Every task's.
    AfterEveryTask,
    /// That of the task that completes the run.
    AfterLastTask,
}

/// A task's own rule for reviews, which overrides the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewRule {
    /// A person reviews the output.
    Required,
    /// The output is not reviewed, whatever the policy.
    Skip,
}

/// The treatment of an answer that is cut at the output limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTruncated {
    /// The model is asked to go on, a few times; then the task fails.
    #[default]
    Continue,
    /// The task fails.
    Fail,
    /// The task completes with it.
    Accept,
}

impl OnTruncated {
    fn is_default(&self) -> bool {
        *self == OnTruncated::default()
    }
}

/// The end of a review that nobody decides in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum OnTimeout {
    /// As if approved.
    #[default]
    Continue,
    /// No further task runs; the outputs so far are kept.
    ExitEarly,
    /// The run fails.
    Fail,
}

impl OnTimeout {
    /// Returns the word on the wire.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// Options of a run that apply to every task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// The number of characters of a tool's output that the model is shown; all when absent.
    pub max_tool_output: Option<usize>,
    /// The number of characters of a tool's output in log lines; all when absent.
    pub tool_log_truncate: Option<usize>,
    /// Whether prompts and replies are logged.
    pub verbose: bool,
    /// The content of an exported trace.
    pub capture: CaptureMode,
    /// The urgency among runs that wait for a slot, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
}

impl Default for Options {
    fn default() -> Options {
        let capture = CaptureMode::Off;
        Options { max_tool_output: None, tool_log_truncate: Some(200), verbose: false, capture, priority: None }
    }
}

/// The content of an exported trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CaptureMode {
    /// Prompts, timings and tool calls.
    #[default]
    Off,
    /// Also every conversation.
    Standard,
    /// Also parsed tool inputs.
    #[serde(alias = "DETAILED")]
    Full,
}

impl Spec {
    /// Returns the ids of the files that were attached for this run.
    pub fn attachments(&self) -> BTreeSet<&str> {
        let of_tasks = self.tasks.iter().flat_map(|task| &task.attachments);
        let of_chat = self.chat.iter().flat_map(|turn| &turn.files);
        of_tasks.chain(of_chat).map(|file| file.id.as_str()).collect()
    }

    /// Returns the priority in the queue.
    pub fn priority(&self) -> Priority {
        let given = self.origin.as_ref().map(|origin| origin.priority).or(self.options.priority);
        given.unwrap_or_default()
    }

    /// Returns the owner that sees the run, when it belongs to this one: the owner of what is shared, if another
    /// ensemble asked for it.
    pub fn seen_by<'a>(&'a self, owner: &'a Owner) -> &'a Owner {
        self.origin.as_ref().map_or(owner, |origin| &origin.host)
    }

    /// Returns the declared tasks: all but a manager's.
    pub fn team(&self) -> &[Task] {
        match (self.workflow, self.tasks.split_last()) {
            (Workflow::Hierarchical, Some((_manager, team))) => team,
            (Workflow::Sequential | Workflow::Parallel | Workflow::Hierarchical, _) => &self.tasks,
        }
    }

    /// Returns the roles that work can be handed to, each once.
    pub fn roles(&self) -> Vec<&str> {
        let mut known = BTreeSet::new();
        let roles = self.team().iter().map(|task| task.agent.role.as_str());
        roles.filter(|role| known.insert(role.to_lowercase())).collect()
    }

    /// Returns whether the task at this position is the manager's.
    pub fn is_manager(&self, position: usize) -> bool {
        self.workflow == Workflow::Hierarchical && position + 1 == self.tasks.len()
    }

    /// Returns whether the run itself begins this task: in a hierarchy only the manager's.
    pub fn is_begun_by_run(&self, position: usize) -> bool {
        self.workflow != Workflow::Hierarchical || self.is_manager(position)
    }
}
