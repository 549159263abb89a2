//! The shape of requests, for the description of the API. They are read field
//! by field, so that every mistake is reported at once; tests hold the fields
//! that are read against those that are described here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::requests::choice::{AnyCase, Choice};
use crate::requests::model_options::{REASONING_EFFORTS, ReasoningEffort};
use crate::requests::request::{CAPTURE_MODES, ON_TIMEOUT, ON_TRUNCATED, REVIEW_POLICIES, REVIEW_RULES, WORKFLOWS};
use crate::requests::spec::{CaptureMode, OnTimeout, OnTruncated, ReviewPolicy, ReviewRule, Workflow};
use crate::requests::workflow::{NAME_MAX, TASKS_MAX as WORKFLOW_TASKS_MAX};

/// What is to be run; without `tasks` the configured ensemble. `null` means absent; unknown fields are named in `warnings`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct RunRequest {
    /// Values of template variables.
    pub inputs: Option<Scalars>,
    /// Labels to find it by.
    pub tags: Option<Scalars>,
    /// The tasks.
    #[schemars(length(min = 1))]
    pub tasks: Option<Vec<TaskRequest>>,
    /// Changes to configured tasks, by their names.
    #[schemars(extend("minProperties" = 1))]
    pub task_overrides: Option<BTreeMap<String, Override>>,
    /// How it is carried out.
    pub options: Option<Options>,
    /// How models answer.
    pub model_options: Option<ModelOptions>,
    /// Only say what would run.
    pub dry_run: Option<bool>,
}

/// Changes a new run begins with.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Edits {
    /// The first event that is not taken over; everything when absent. For forks.
    pub seq: Option<u64>,
    /// Instead of `seq`: what stands before this task began is taken over. For forks.
    pub task: Option<String>,
    /// Values of template variables.
    pub inputs: Option<Scalars>,
    /// Labels to find it by.
    pub tags: Option<Scalars>,
    /// The alias of the model to ask.
    pub model: Option<String>,
    /// Changes to tasks that have not begun, by their names.
    #[schemars(extend("minProperties" = 1))]
    pub task_overrides: Option<BTreeMap<String, Override>>,
    /// How it is carried out.
    pub options: Option<Options>,
    /// How models answer.
    pub model_options: Option<ModelOptions>,
}

/// A task a request brings.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct TaskRequest {
    /// What to do; may have `{variables}`.
    #[schemars(length(min = 1))]
    pub description: String,
    /// Its name, unique in the run.
    pub name: Option<String>,
    /// What the output should be.
    pub expected_output: Option<String>,
    /// Who does it; derived from the description when absent.
    pub agent: Option<AgentRequest>,
    /// What else the agent should know.
    pub additional_context: Option<String>,
    /// An alias.
    pub model: Option<String>,
    /// How models answer.
    pub model_options: Option<ModelOptions>,
    /// Tools the agent may call.
    pub tools: Option<Vec<String>>,
    /// Tasks whose output it reads, as `$name` or an index.
    pub context: Option<Vec<String>>,
    /// Rounds of model calls at most.
    pub max_iterations: Option<Count>,
    /// An answer cut at the output limit; continue when absent.
    pub on_truncated: Option<AnyCase<OnTruncated>>,
    /// A JSON Schema its output must fit.
    pub output_schema: Option<Value>,
    /// Whether a person looks at its output, whatever `reviewPolicy` says.
    pub review: Option<AnyCase<ReviewRule>>,
}

/// The agent of a task.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct AgentRequest {
    /// What it is.
    #[schemars(length(min = 1))]
    pub role: String,
    /// What it wants; the description when absent.
    pub goal: Option<String>,
    /// What it has done before.
    pub background: Option<String>,
    /// Whether it may hand work to the agents of other tasks.
    pub allow_delegation: Option<bool>,
}

/// A change to a configured task.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Override {
    /// What to do.
    pub description: Option<String>,
    /// What the output should be.
    pub expected_output: Option<String>,
    /// What else the agent should know.
    pub additional_context: Option<String>,
    /// An alias.
    pub model: Option<String>,
    /// How models answer.
    pub model_options: Option<ModelOptions>,
    /// Rounds of model calls at most.
    pub max_iterations: Option<Count>,
    /// An answer cut at the output limit.
    pub on_truncated: Option<AnyCase<OnTruncated>>,
    /// Changes to its tools.
    pub tools: Option<ToolChanges>,
}

/// Changes to the tools of a task.
#[derive(JsonSchema)]
pub struct ToolChanges {
    /// Tools it gets.
    pub add: Option<Vec<String>>,
    /// Tools it loses.
    pub remove: Option<Vec<String>>,
}

/// How models answer; absent: as the next says it, in the order task, run, model, provider. A fallback of another provider is asked with what it has words for.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct ModelOptions {
    /// For models of Anthropic at most 1.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// The share of likely words that are chosen from.
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    /// Refused for models of Anthropic and over OpenAI's responses, which have none.
    pub seed: Option<i64>,
    /// How long a model thinks, as far as the provider has it.
    pub reasoning_effort: Option<AnyCase<ReasoningEffort>>,
}

/// How a run is carried out.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Options {
    /// Characters of a tool's output that a model reads; -1 for all.
    #[schemars(range(min = -1))]
    pub max_tool_output_length: Option<i64>,
    /// Characters of a tool's output in the log; -1 for all.
    #[schemars(range(min = -1))]
    pub tool_log_truncate_length: Option<i64>,
    /// The order of the tasks.
    pub workflow: Option<AnyCase<Workflow>>,
    /// Whether the log of the server tells what happens.
    pub verbose: Option<bool>,
    /// Whose output a person looks at.
    pub review_policy: Option<AnyCase<ReviewPolicy>>,
    /// What ends a review that nobody decides in time. Where neither this nor `on_timeout` of the file is written, reviews that a task demands wait for a person.
    pub on_timeout: Option<AnyCase<OnTimeout>>,
    /// What an exported trace holds.
    pub capture_mode: Option<AnyCase<CaptureMode>>,
}

/// A task graph as people draw it; what was shown may be sent back.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct WorkflowDocument {
    /// What it is called.
    #[schemars(length(min = 1, max = NAME_MAX))]
    pub name: String,
    /// Its tasks.
    #[schemars(length(min = 1, max = WORKFLOW_TASKS_MAX))]
    pub tasks: Vec<WorkflowTask>,
    /// What it is for.
    pub description: Option<String>,
    /// Defaults for template variables.
    pub inputs: Option<Scalars>,
    /// How its runs are carried out.
    pub options: Option<Options>,
    /// How models answer in its runs.
    pub model_options: Option<ModelOptions>,
}

/// A task, and where it stands on the canvas.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct WorkflowTask {
    /// The task.
    #[serde(flatten)]
    pub task: TaskRequest,
    /// Its place on the canvas.
    pub position: Option<Position>,
}

/// A place on the canvas.
#[derive(JsonSchema)]
pub struct Position {
    /// From the middle to the right.
    pub x: f64,
    /// From the middle downwards.
    pub y: f64,
}

/// What a run of a workflow brings.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct WorkflowRun {
    /// Values of template variables.
    pub inputs: Option<Scalars>,
    /// Labels to find it by.
    pub tags: Option<Scalars>,
    /// How it is carried out.
    pub options: Option<Options>,
    /// How models answer.
    pub model_options: Option<ModelOptions>,
    /// Only say what would run.
    pub dry_run: Option<bool>,
}

/// Something a client sent that is answered as it was sent.
pub struct AsSent<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for AsSent<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let place = generator.settings().definitions_path.clone();
        json_schema!({ "$ref": format!("#{place}/{}", T::schema_name()) })
    }
}

/// Texts by name; numbers and booleans become text.
pub type Scalars = BTreeMap<String, Scalar>;

/// A text, or what becomes one.
pub struct Scalar;

impl JsonSchema for Scalar {
    fn schema_name() -> Cow<'static, str> {
        "Scalar".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean", "null"] })
    }
}

/// A whole number above 0, or the same as digits.
pub struct Count;

impl JsonSchema for Count {
    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "minimum": 1 })
    }
}

impl Choice for Workflow {
    const WORDS: &'static [(&'static str, Workflow)] = WORKFLOWS;
}

impl Choice for ReviewPolicy {
    const WORDS: &'static [(&'static str, ReviewPolicy)] = REVIEW_POLICIES;
}

impl Choice for ReviewRule {
    const WORDS: &'static [(&'static str, ReviewRule)] = REVIEW_RULES;
}

impl Choice for OnTimeout {
    const WORDS: &'static [(&'static str, OnTimeout)] = ON_TIMEOUT;
}

impl Choice for OnTruncated {
    const WORDS: &'static [(&'static str, OnTruncated)] = ON_TRUNCATED;
}

impl Choice for CaptureMode {
    const WORDS: &'static [(&'static str, CaptureMode)] = CAPTURE_MODES;
}

impl Choice for ReasoningEffort {
    const WORDS: &'static [(&'static str, ReasoningEffort)] = REASONING_EFFORTS;
}
