//! What people write: an ensemble and a request for one run of it, with
//! defaults open, templates unresolved and references by name.
//! [`compile`](crate::requests::compile) turns both into a [`Spec`](crate::requests::spec::Spec).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::id::Millis;
use crate::requests::agent::Agent;
use crate::requests::model_options::ModelOptions;
use crate::requests::spec::{CaptureMode, OnError, OnTimeout, OnTruncated, Review, ReviewPolicy, ReviewRule, Workflow};
use crate::state::budget::Limits;

/// An ensemble: the template every run of it starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ensemble {
    /// What it is called.
    pub name: String,
    /// The alias asked where a task names none; the catalog's first when absent.
    pub model: Option<String>,
    /// In which order tasks run; inferred when absent.
    pub workflow: Option<Workflow>,
    /// What a failed task means for the others.
    pub on_error: OnError,
    /// How people take part.
    pub review: Review,
    /// What a run may use.
    pub limits: Limits,
    /// Defaults for template variables.
    pub inputs: BTreeMap<String, String>,
    /// How often work may be handed on from agent to agent; 3 when absent.
    pub max_delegation_depth: Option<u32>,
    /// How often work may be handed out in one run; ten times for each task
    /// when absent.
    pub max_delegations: Option<u32>,
    /// How often work may be handed to the same agent in one run; as often as
    /// to all together when absent.
    pub max_delegations_per_agent: Option<u32>,
    /// The tasks.
    pub tasks: Vec<Draft>,
}

/// A task as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Its name; made from the description when absent.
    pub name: Option<String>,
    /// What to do.
    pub description: String,
    /// What the answer should be.
    pub expected_output: Option<String>,
    /// More to know.
    pub additional_context: Option<String>,
    /// Who does it; derived from the description when absent.
    pub agent: Option<Agent>,
    /// The alias to ask.
    pub model: Option<String>,
    /// How the model answers.
    pub model_options: ModelOptions,
    /// Names of tools.
    pub tools: Vec<String>,
    /// References to tasks whose outputs it reads: `$name` or `$0`.
    pub context: Vec<String>,
    /// Model calls it may make.
    pub max_iterations: Option<u32>,
    /// What its output must look like.
    pub output_schema: Option<Value>,
    /// Names under which outputs are remembered across runs.
    pub memory: Vec<String>,
    /// Whether the agent says what could be better, for the next run.
    pub reflection: bool,
    /// The tool that does it instead of a model.
    pub handler: Option<String>,
    /// Tools that must agree before it begins.
    pub input_guardrails: Vec<String>,
    /// Tools that must agree with its output.
    pub output_guardrails: Vec<String>,
    /// Its own word on reviews.
    pub review: Option<ReviewRule>,
    /// What becomes of an answer that is cut at the output limit.
    pub on_truncated: OnTruncated,
    /// Whether a person is asked before it starts.
    pub review_before: bool,
    /// How long its reviews wait.
    pub review_timeout_ms: Option<Millis>,
}

/// A request for one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Values for template variables.
    pub inputs: BTreeMap<String, String>,
    /// Labels for finding the run again.
    pub tags: BTreeMap<String, String>,
    /// Tasks of its own, instead of the ensemble's.
    pub tasks: Option<Vec<Draft>>,
    /// Changes to the ensemble's tasks, by the key as written.
    pub overrides: Option<Vec<(String, Override)>>,
    /// Changes to the ensemble's options.
    pub options: RequestOptions,
    /// How models answer, unless a task says otherwise.
    pub model_options: ModelOptions,
}

/// A change to one task of the ensemble, for one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Override {
    /// Another description.
    pub description: Option<String>,
    /// Another expected output.
    pub expected_output: Option<String>,
    /// Another model.
    pub model: Option<String>,
    /// Another way for the model to answer, where it says something.
    pub model_options: ModelOptions,
    /// Another limit on model calls.
    pub max_iterations: Option<u32>,
    /// Something else for an answer that is cut at the output limit.
    pub on_truncated: Option<OnTruncated>,
    /// More to know.
    pub additional_context: Option<String>,
    /// Tools added, unless they are there.
    pub add_tools: Vec<String>,
    /// Tools taken away, after adding.
    pub remove_tools: Vec<String>,
}

/// The options of a request; absent ones keep what the ensemble says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestOptions {
    /// Characters of a tool's output the model is shown; -1 = all.
    pub max_tool_output_length: Option<i64>,
    /// Characters of a tool's output in log lines; -1 = all.
    pub tool_log_truncate_length: Option<i64>,
    /// In which order tasks run.
    pub workflow: Option<Workflow>,
    /// Whether prompts and replies are logged.
    pub verbose: Option<bool>,
    /// Whose output is looked at.
    pub review_policy: Option<ReviewPolicy>,
    /// What happens when nobody answers a review in time.
    pub on_timeout: Option<OnTimeout>,
    /// What an exported trace holds.
    pub capture_mode: Option<CaptureMode>,
}
