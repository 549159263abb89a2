//! What a run was asked to do, with nothing left open: templates resolved,
//! agents and names given, references turned into positions. A [`Spec`] comes
//! out of [`crate::requests::draft`] and is stored as the first fact of its run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat;
use crate::decisions::queue::Priority;
use crate::id::Millis;
use crate::requests::agent::Agent;
use crate::requests::model_options::ModelOptions;
use crate::schema::Schema;
use crate::state::budget::Limits;

/// A run as accepted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// What kind of work it is.
    #[serde(default)]
    pub kind: Kind,
    /// The ensemble's name.
    pub name: String,
    /// In which order tasks run.
    pub workflow: Workflow,
    /// What a failed task means for the others.
    pub on_error: OnError,
    /// The alias asked where a task names no model.
    pub model: String,
    /// The tasks, in declared order; positions in this list are their ids.
    pub tasks: Vec<Task>,
    /// How people take part.
    pub review: Review,
    /// What the run and everything under it may use.
    pub limits: Limits,
    /// What applies to every task of the run.
    pub options: Options,
    /// How models answer, unless a task says otherwise.
    #[serde(default, skip_serializing_if = "ModelOptions::is_empty")]
    pub model_options: ModelOptions,
    /// What templates were resolved with.
    pub inputs: BTreeMap<String, String>,
    /// Labels for finding the run again.
    pub tags: BTreeMap<String, String>,
    /// How often work may be handed on from agent to agent.
    pub max_delegation_depth: u32,
    /// How often work may be handed out.
    #[serde(default = "unlimited")]
    pub max_delegations: u32,
    /// How often work may be handed to the same agent.
    #[serde(default = "unlimited")]
    pub max_delegations_per_agent: u32,
    /// What makes it a turn of a chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<chat::Turn>,
    /// The W3C trace it belongs to, as its submission named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// Where it comes from, when another ensemble asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Arc<Origin>>,
}

/// Runs of earlier versions have no such limit.
fn unlimited() -> u32 {
    u32::MAX
}

/// How a run came here from other ensembles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The ensembles it came through, the first one first.
    pub ancestors: Vec<String>,
    /// How many more it may pass through.
    pub hops: u32,
    /// What it goes before while it waits.
    pub priority: Priority,
    /// The request it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
}

/// A request of another ensemble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What tells it apart from every other one.
    pub id: String,
    /// What it says, digested: the same id must not mean anything else.
    pub digest: String,
    /// How long it is worked on when nobody waits for it any more; absent: to
    /// its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u64>,
}

/// Kinds of work. Each has slots, a queue and a retention of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Submitted by a person or a program.
    #[default]
    Run,
    /// One turn of a chat.
    Turn,
    /// Work for another ensemble.
    Peer,
    /// Looking for what is worth remembering of a turn.
    Mining,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 4] = [Kind::Run, Kind::Turn, Kind::Peer, Kind::Mining];

    /// The word for it, in ids and in lists.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Turn => "turn",
            Kind::Peer => "peer",
            Kind::Mining => "mining",
        }
    }
}

/// One task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Unique in the run.
    pub name: String,
    /// What to do.
    pub description: String,
    /// What the answer should be.
    pub expected_output: String,
    /// More to know, beside the description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// Who does it.
    pub agent: Agent,
    /// The alias to ask; the run's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How the model answers; the run's where it says nothing.
    #[serde(default, skip_serializing_if = "ModelOptions::is_empty")]
    pub model_options: ModelOptions,
    /// Names of the tools it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Positions of the tasks whose outputs it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<usize>,
    /// Model calls it may make in one attempt.
    pub max_iterations: u32,
    /// What its output must look like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Schema>,
    /// Names under which outputs are remembered across runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<String>,
    /// Whether the agent says what could be better, for the next run.
    #[serde(default)]
    pub reflection: bool,
    /// The tool that does it instead of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// What that tool is called with; absent: all there is to say about the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler_args: Option<Value>,
    /// Tools that must agree before it begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_guardrails: Vec<String>,
    /// Tools that must agree with its output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_guardrails: Vec<String>,
    /// Whether a person looks at its output; absent: the run's policy decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewRule>,
    /// What becomes of an answer that is cut at the output limit.
    #[serde(default, skip_serializing_if = "OnTruncated::is_default")]
    pub on_truncated: OnTruncated,
    /// Whether a person is asked before it starts.
    #[serde(default)]
    pub review_before: bool,
    /// How long reviews of this task wait, 0 = for ever; the run's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_timeout_ms: Option<Millis>,
    /// What its texts were made from, where that holds variables: a fork may
    /// give those other values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Box<Template>>,
}

/// A task's texts as they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// What to do.
    pub description: String,
    /// What the answer should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<String>,
    /// More to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// Who does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
}

/// In which order tasks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
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
    /// The word for it on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Workflow::Sequential => "SEQUENTIAL",
            Workflow::Parallel => "PARALLEL",
            Workflow::Hierarchical => "HIERARCHICAL",
        }
    }
}

/// What a failed task means for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OnError {
    /// No other task starts.
    #[default]
    FailFast,
    /// Only those that need its output are skipped.
    ContinueOnError,
}

/// How people take part in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// Whose output is looked at when the task does not say.
    pub policy: ReviewPolicy,
    /// How long a review waits; 0 = for ever.
    pub timeout_ms: Millis,
    /// What happens when nobody answers in time, where somebody wrote it down.
    /// Unwritten, reviews that a task demands wait for a person. Runs of earlier
    /// versions always have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

impl Default for Review {
    fn default() -> Review {
        Review { policy: ReviewPolicy::Never, timeout_ms: 300_000, on_timeout: None }
    }
}

/// Whose output is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReviewPolicy {
    /// Nobody's.
    #[default]
    Never,
    /// Every task's.
    AfterEveryTask,
    /// That of the task that completes the run.
    AfterLastTask,
}

/// A task's own word on reviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewRule {
    /// A person looks at the output.
    Required,
    /// Nobody does, whatever the policy.
    Skip,
}

/// What becomes of an answer that is cut at the output limit.
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

/// What happens when a review is not answered in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OnTimeout {
    /// As if approved.
    #[default]
    Continue,
    /// No further task runs; what there is stands.
    ExitEarly,
    /// The run fails.
    Fail,
}

/// Options of a run that apply to every task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Characters of a tool's output the model is shown; all when absent.
    pub max_tool_output: Option<usize>,
    /// Characters of a tool's output in log lines; all when absent.
    pub tool_log_truncate: Option<usize>,
    /// Whether prompts and replies are logged.
    pub verbose: bool,
    /// What an exported trace holds.
    pub capture: CaptureMode,
}

impl Default for Options {
    fn default() -> Options {
        Options { max_tool_output: None, tool_log_truncate: Some(200), verbose: false, capture: CaptureMode::Off }
    }
}

/// What an exported trace holds.
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
    /// What it goes before while it waits.
    pub fn priority(&self) -> Priority {
        self.origin.as_ref().map(|origin| origin.priority).unwrap_or_default()
    }

    /// The tasks that were declared: all but a manager's.
    pub fn team(&self) -> &[Task] {
        match (self.workflow, self.tasks.split_last()) {
            (Workflow::Hierarchical, Some((_manager, team))) => team,
            (Workflow::Sequential | Workflow::Parallel | Workflow::Hierarchical, _) => &self.tasks,
        }
    }

    /// The roles work can be handed to, each once.
    pub(crate) fn roles(&self) -> Vec<&str> {
        let mut known = BTreeSet::new();
        let roles = self.team().iter().map(|task| task.agent.role.as_str());
        roles.filter(|role| known.insert(role.to_lowercase())).collect()
    }

    /// Whether the task at this position leads the others.
    pub(crate) fn is_manager(&self, position: usize) -> bool {
        self.workflow == Workflow::Hierarchical && position + 1 == self.tasks.len()
    }

    /// Whether the run itself begins this task: in a hierarchy only the manager's.
    pub(crate) fn is_begun_by_run(&self, position: usize) -> bool {
        self.workflow != Workflow::Hierarchical || self.is_manager(position)
    }

    /// What each task waits on: what it reads and, in a sequence, the task
    /// declared before it.
    pub(crate) fn order(&self) -> Vec<Vec<usize>> {
        let waits = |(position, task): (usize, &Task)| match self.workflow {
            Workflow::Parallel | Workflow::Hierarchical => task.context.clone(),
            Workflow::Sequential => task.context.iter().copied().chain(position.checked_sub(1)).collect(),
        };
        self.tasks.iter().enumerate().map(waits).collect()
    }
}
