//! The shape of requests, for the description of the API. They are read field
//! by field, so that every mistake is reported at once; tests hold the fields
//! that are read against those that are described here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::queue::Priority;
use crate::requests::branch::OnMaxRounds;
use crate::requests::choice::{AnyCase, Choice};
use crate::requests::model_options::ReasoningEffort;
use crate::requests::spec::{CaptureMode, OnTimeout, OnTruncated, ReviewPolicy, ReviewRule, Workflow};
use crate::requests::workflow::{NAME_MAX, TASKS_MAX as WORKFLOW_TASKS_MAX};

/// A request for a run; without `tasks`, of the configured ensemble. `null` means absent; unknown fields give `warnings`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct RunRequest {
    /// Values of template variables, of any type.
    pub inputs: Option<BTreeMap<String, Value>>,
    /// Labels to find it by.
    pub tags: Option<Scalars>,
    /// The tasks.
    #[schemars(length(min = 1))]
    pub tasks: Option<Vec<TaskRequest>>,
    /// Groups of these tasks, which are skipped, repeated or fanned out together.
    #[schemars(length(max = 200))]
    pub groups: Option<Vec<GroupRequest>>,
    /// Changes to configured tasks, by their names.
    #[schemars(extend("minProperties" = 1))]
    pub task_overrides: Option<BTreeMap<String, Override>>,
    /// Settings for the execution of the run.
    pub options: Option<Options>,
    /// Options for the models' answers.
    pub model_options: Option<ModelOptions>,
    /// The ids of files that were uploaded to `/api/attachments`, for every task without its own.
    #[schemars(length(max = 20))]
    pub attachments: Option<Vec<String>>,
    /// Whether to only report what would run.
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
    /// Values of template variables, of any type.
    pub inputs: Option<BTreeMap<String, Value>>,
    /// Labels to find it by.
    pub tags: Option<Scalars>,
    /// The alias of the model to ask.
    pub model: Option<String>,
    /// Other outputs of tasks that are taken over, by their names: the tasks that read them go on with these. A fork
    /// without `seq` and `task` then begins before the first of those tasks.
    #[schemars(extend("minProperties" = 1))]
    pub outputs: Option<BTreeMap<String, String>>,
    /// Changes to tasks that have not begun, by their names.
    #[schemars(extend("minProperties" = 1))]
    pub task_overrides: Option<BTreeMap<String, Override>>,
    /// Settings for the execution of the run.
    pub options: Option<Options>,
    /// Options for the models' answers.
    pub model_options: Option<ModelOptions>,
    /// Whether to only report what would run.
    pub dry_run: Option<bool>,
}

/// A task a request brings.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct TaskRequest {
    /// The work to do; may have `{variables}`. Needed, unless there is a `workflow`.
    #[schemars(length(min = 1))]
    pub description: Option<String>,
    /// Instead of a description: a saved workflow, by its id or its name, as a part of the run.
    pub workflow: Option<String>,
    /// Values of the workflow's inputs; strings may have `{variables}`.
    pub inputs: Option<BTreeMap<String, Value>>,
    /// Its name, unique in the run.
    pub name: Option<String>,
    /// A description of the output.
    pub expected_output: Option<String>,
    /// The agent that does it; derived from the description when absent.
    pub agent: Option<AgentRequest>,
    /// Further context for the agent.
    pub additional_context: Option<String>,
    /// The alias of the model.
    pub model: Option<String>,
    /// Options for the models' answers.
    pub model_options: Option<ModelOptions>,
    /// Tools the agent may call.
    pub tools: Option<Vec<String>>,
    /// Tasks whose output it reads, as `$name` or an index.
    pub context: Option<Vec<String>>,
    /// The maximum number of rounds of model calls.
    pub max_iterations: Option<Count>,
    /// The treatment of an answer that is cut at the output limit; continue when absent.
    pub on_truncated: Option<AnyCase<OnTruncated>>,
    /// A JSON Schema its output must fit.
    pub output_schema: Option<Value>,
    /// Whether a person reviews its output, regardless of `reviewPolicy`.
    pub review: Option<AnyCase<ReviewRule>>,
    /// A condition in CEL; when it is false, the task is skipped. Tasks it names come first.
    pub when: Option<String>,
    /// A list in CEL: the task is done once for each item, and its output is the list of outputs.
    pub for_each: Option<String>,
    /// The maximum number of items; 100 when absent.
    pub max_items: Option<Count>,
    /// The number of items under way at the same time; 8 when absent.
    pub max_parallel: Option<Count>,
    /// The ids of files that were uploaded to `/api/attachments`; may be `{variables}`.
    #[schemars(length(max = 20))]
    pub attachments: Option<Vec<String>>,
}

/// Tasks that are skipped, repeated or fanned out together; it has `repeatUntil` or `forEach`, not both.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct GroupRequest {
    /// Its name, unique among tasks and groups; it stands for the output of its last task.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The names of its tasks, in their order.
    #[schemars(length(min = 1))]
    pub tasks: Option<Vec<String>>,
    /// A condition in CEL; when it is false, its tasks are skipped.
    pub when: Option<String>,
    /// A list in CEL: its tasks are done once for each item.
    pub for_each: Option<String>,
    /// The maximum number of items; 100 when absent.
    pub max_items: Option<Count>,
    /// The number of items under way at the same time; 8 when absent.
    pub max_parallel: Option<Count>,
    /// A condition in CEL that ends the rounds of its tasks.
    pub repeat_until: Option<String>,
    /// The maximum number of rounds; 5 when absent.
    pub max_rounds: Option<Count>,
    /// The end of the group when the condition is still false after the last round; fail when absent.
    pub on_max_rounds: Option<AnyCase<OnMaxRounds>>,
}

/// The agent of a task.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct AgentRequest {
    /// The role.
    #[schemars(length(min = 1))]
    pub role: String,
    /// The goal; the description when absent.
    pub goal: Option<String>,
    /// The background: the agent's experience.
    pub background: Option<String>,
    /// Whether it may hand work to the agents of other tasks.
    pub allow_delegation: Option<bool>,
}

/// A change to a configured task.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Override {
    /// The work to do.
    pub description: Option<String>,
    /// A description of the output.
    pub expected_output: Option<String>,
    /// Further context for the agent.
    pub additional_context: Option<String>,
    /// The alias of the model.
    pub model: Option<String>,
    /// Options for the models' answers.
    pub model_options: Option<ModelOptions>,
    /// The maximum number of rounds of model calls.
    pub max_iterations: Option<Count>,
    /// The treatment of an answer that is cut at the output limit.
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

/// Options for the models' answers. An absent one is taken from the next level that has it, in the order task, run, model, provider. A fallback of another provider gets the options that this provider supports.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct ModelOptions {
    /// The temperature; at most 1 for models of Anthropic.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// The share of the most likely tokens that are chosen from.
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    /// The seed. Refused for models of Anthropic and over OpenAI's responses, which have none.
    pub seed: Option<i64>,
    /// The amount of reasoning, for providers that have such an option.
    pub reasoning_effort: Option<AnyCase<ReasoningEffort>>,
}

/// Settings for the execution of a run.
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
    /// Whether prompts, replies and calls are written to the server's log.
    pub verbose: Option<bool>,
    /// The tasks whose output a person reviews.
    pub review_policy: Option<AnyCase<ReviewPolicy>>,
    /// The end of a review that nobody decides in time. Where neither this nor `on_timeout` of the file is written, reviews that a task demands wait for a person.
    pub on_timeout: Option<AnyCase<OnTimeout>>,
    /// The content of an exported trace.
    pub capture_mode: Option<AnyCase<CaptureMode>>,
    /// The urgency among runs that wait for a slot; `NORMAL` if absent.
    pub priority: Option<AnyCase<Priority>>,
}

/// A task graph as people draw it; what was shown may be sent back.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct WorkflowDocument {
    /// The name.
    #[schemars(length(min = 1, max = NAME_MAX))]
    pub name: String,
    /// Its tasks.
    #[schemars(length(min = 1, max = WORKFLOW_TASKS_MAX))]
    pub tasks: Vec<WorkflowTask>,
    /// Groups of its tasks.
    #[schemars(length(max = 200))]
    pub groups: Option<Vec<GroupRequest>>,
    /// The purpose.
    pub description: Option<String>,
    /// Defaults for template variables, of any type.
    pub inputs: Option<BTreeMap<String, Value>>,
    /// Settings for the execution of its runs.
    pub options: Option<Options>,
    /// Options for the models' answers in its runs.
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
    /// The distance from the middle to the right.
    pub x: f64,
    /// The distance from the middle downwards.
    pub y: f64,
}

/// A request for a run of a workflow.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct WorkflowRun {
    /// Values of template variables, of any type.
    pub inputs: Option<BTreeMap<String, Value>>,
    /// Labels to find it by.
    pub tags: Option<Scalars>,
    /// Settings for the execution of the run.
    pub options: Option<Options>,
    /// Options for the models' answers.
    pub model_options: Option<ModelOptions>,
    /// Whether to only report what would run.
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

impl Choice for Priority {
    const WORDS: &'static [(&'static str, Priority)] = &[
        ("LOW", Priority::Low),
        ("NORMAL", Priority::Normal),
        ("HIGH", Priority::High),
        ("CRITICAL", Priority::Critical),
    ];
}

impl Choice for Workflow {
    const WORDS: &'static [(&'static str, Workflow)] = &[
        ("SEQUENTIAL", Workflow::Sequential),
        ("PARALLEL", Workflow::Parallel),
        ("HIERARCHICAL", Workflow::Hierarchical),
    ];
}

impl Choice for ReviewPolicy {
    const WORDS: &'static [(&'static str, ReviewPolicy)] = &[
        ("NEVER", ReviewPolicy::Never),
        ("AFTER_EVERY_TASK", ReviewPolicy::AfterEveryTask),
        ("AFTER_LAST_TASK", ReviewPolicy::AfterLastTask),
    ];
}

impl Choice for ReviewRule {
    const WORDS: &'static [(&'static str, ReviewRule)] =
        &[("required", ReviewRule::Required), ("skip", ReviewRule::Skip)];
}

impl Choice for OnTimeout {
    const WORDS: &'static [(&'static str, OnTimeout)] =
        &[("CONTINUE", OnTimeout::Continue), ("EXIT_EARLY", OnTimeout::ExitEarly), ("FAIL", OnTimeout::Fail)];
}

impl Choice for OnTruncated {
    const WORDS: &'static [(&'static str, OnTruncated)] =
        &[("continue", OnTruncated::Continue), ("fail", OnTruncated::Fail), ("accept", OnTruncated::Accept)];
}

impl Choice for OnMaxRounds {
    const WORDS: &'static [(&'static str, OnMaxRounds)] =
        &[("fail", OnMaxRounds::Fail), ("accept", OnMaxRounds::Accept)];
}

impl Choice for CaptureMode {
    const WORDS: &'static [(&'static str, CaptureMode)] = &[
        ("OFF", CaptureMode::Off),
        ("STANDARD", CaptureMode::Standard),
        ("FULL", CaptureMode::Full),
        ("DETAILED", CaptureMode::Full),
    ];
}

impl Choice for ReasoningEffort {
    const WORDS: &'static [(&'static str, ReasoningEffort)] = &[
        ("none", ReasoningEffort::None),
        ("minimal", ReasoningEffort::Minimal),
        ("low", ReasoningEffort::Low),
        ("medium", ReasoningEffort::Medium),
        ("high", ReasoningEffort::High),
        ("xhigh", ReasoningEffort::Xhigh),
        ("max", ReasoningEffort::Max),
    ];
}
