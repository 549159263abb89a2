//! An ensemble and a request for one run of it as people write them, with defaults open, templates unresolved and
//! references by name. [`compile`](crate::requests::compile) turns both into a [`Spec`](crate::requests::spec::Spec).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::id::Millis;
use crate::limits::Limits;
use crate::queue::Priority;
use crate::requests::agent::Agent;
use crate::requests::attachments::AttachmentSource;
use crate::requests::branch::OnMaxRounds;
use crate::requests::model_options::ModelOptions;
use crate::requests::spec::{
    CaptureMode, OnError, OnTimeout, OnTruncated, Part, Review, ReviewPolicy, ReviewRule, Workflow,
};
use crate::requests::template::Inputs;

/// An ensemble: the template every run of it starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ensemble {
    /// The name.
    pub name: String,
    /// The alias of the model to ask where a task names none; the catalog's first when absent.
    pub model: Option<String>,
    /// The order in which tasks run; inferred when absent.
    pub workflow: Option<Workflow>,
    /// The effect of a failed task on the other tasks.
    pub on_error: OnError,
    /// The settings for reviews by people.
    pub review: Review,
    /// The limits of a run.
    pub limits: Limits,
    /// The defaults for template variables.
    pub inputs: Inputs,
    /// The number of times work may be handed on from agent to agent; 3 when absent.
    pub max_delegation_depth: Option<u32>,
    /// The number of times work may be handed out in one run; ten times for each task when absent.
    pub max_delegations: Option<u32>,
    /// The number of times work may be handed to the same agent in one run; the number for all together when
    /// absent.
    pub max_delegations_per_agent: Option<u32>,
    /// The tasks.
    pub tasks: Vec<Draft>,
    /// Groups of these tasks.
    pub groups: Vec<Group>,
}

/// A task as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The name; made from the description when absent.
    pub name: Option<String>,
    /// The description of the work to do.
    pub description: String,
    /// The expected answer.
    pub expected_output: Option<String>,
    /// Additional context.
    pub additional_context: Option<String>,
    /// The agent that does the task; derived from the description when absent.
    pub agent: Option<Agent>,
    /// The alias of the model to ask.
    pub model: Option<String>,
    /// The options for the model's answer.
    pub model_options: ModelOptions,
    /// The names of the tools it may call.
    pub tools: Vec<String>,
    /// References to tasks whose outputs it reads: `$name` or `$0`.
    pub context: Vec<String>,
    /// The number of model calls it may make.
    pub max_iterations: Option<u32>,
    /// The schema its output must fit.
    pub output_schema: Option<Value>,
    /// The names under which outputs are remembered across runs.
    pub memory: Vec<String>,
    /// Whether the agent is asked for improvements for the next run.
    pub reflection: bool,
    /// The tool that does the task instead of a model.
    pub handler: Option<String>,
    /// The tools that must approve the task before it begins.
    pub input_guardrails: Vec<String>,
    /// The tools that must approve its output.
    pub output_guardrails: Vec<String>,
    /// Its own rule for reviews.
    pub review: Option<ReviewRule>,
    /// The handling of an answer that is cut at the output limit.
    pub on_truncated: OnTruncated,
    /// Whether a person is asked before it starts.
    pub review_before: bool,
    /// The time for which its reviews wait.
    pub review_timeout_ms: Option<Millis>,
    /// The condition under which it is done.
    pub when: Option<String>,
    /// The files that its model is shown; ids may hold variables.
    pub attachments: Vec<AttachmentSource>,
    /// The list of items for each of which it is done.
    pub each: Each,
    /// The saved workflow that does the task, instead of a description.
    pub nested: Option<Nested>,
    /// References to tasks that come before it, whose outputs it does not read.
    pub after: Vec<String>,
    /// The workflow that it is a part of.
    pub part: Option<Part>,
}

impl Draft {
    /// Returns the texts that may hold variables.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let agent = self.agent.iter().flat_map(|agent| [&agent.role, &agent.goal, &agent.background]);
        let optional = self.expected_output.iter().chain(&self.additional_context).chain(agent);
        let ids = self.attachments.iter().filter_map(AttachmentSource::id);
        std::iter::once(self.description.as_str()).chain(optional.map(String::as_str)).chain(ids)
    }
}

/// A saved workflow that does a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nested {
    /// Its id or its name.
    pub workflow: String,
    /// Values of its inputs; strings may hold variables.
    pub inputs: Inputs,
}

/// A list of items for each of which work is done, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Each {
    /// The expression of the list; absent: the work is done once.
    pub list: Option<String>,
    /// The number of items it may have.
    pub max_items: Option<u32>,
    /// The number of items under way at the same time.
    pub max_parallel: Option<u32>,
}

/// Tasks that are skipped, repeated or fanned out together, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The name.
    pub name: String,
    /// The names of its tasks.
    pub tasks: Vec<String>,
    /// The condition under which they are done.
    pub when: Option<String>,
    /// The list of items for each of which they are done.
    pub each: Each,
    /// The condition that ends their rounds.
    pub repeat_until: Option<String>,
    /// The number of rounds they may take.
    pub max_rounds: Option<u32>,
    /// The end of the group when its condition is still false after the last permitted round.
    pub on_max_rounds: Option<OnMaxRounds>,
    /// The workflow that it is a part of.
    pub part: Option<Part>,
}

/// A request for one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Values for template variables.
    pub inputs: Inputs,
    /// Labels for finding the run again.
    pub tags: BTreeMap<String, String>,
    /// The request's own tasks, instead of the ensemble's.
    pub tasks: Option<Vec<Draft>>,
    /// Groups of its own tasks.
    pub groups: Vec<Group>,
    /// The changes to the ensemble's tasks, by the key as written.
    pub overrides: Option<Vec<(String, Override)>>,
    /// The changes to the ensemble's options.
    pub options: RequestOptions,
    /// The options for models' answers, unless a task has its own.
    pub model_options: ModelOptions,
    /// The files for every task without its own.
    pub attachments: Vec<AttachmentSource>,
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
    /// Other options for the model's answer, where set.
    pub model_options: ModelOptions,
    /// Another limit on model calls.
    pub max_iterations: Option<u32>,
    /// Another handling of an answer that is cut at the output limit.
    pub on_truncated: Option<OnTruncated>,
    /// Additional context.
    pub additional_context: Option<String>,
    /// The tools to add, unless they are already there.
    pub add_tools: Vec<String>,
    /// The tools to remove, after adding.
    pub remove_tools: Vec<String>,
}

/// The options of a request; where absent, the ensemble's apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestOptions {
    /// The number of characters of a tool's output that the model is shown; -1 = all.
    pub max_tool_output_length: Option<i64>,
    /// The number of characters of a tool's output in log lines; -1 = all.
    pub tool_log_truncate_length: Option<i64>,
    /// The order in which tasks run.
    pub workflow: Option<Workflow>,
    /// Whether prompts and replies are logged.
    pub verbose: Option<bool>,
    /// The tasks whose output is reviewed.
    pub review_policy: Option<ReviewPolicy>,
    /// The action when a review is not answered in time.
    pub on_timeout: Option<OnTimeout>,
    /// The content of an exported trace.
    pub capture_mode: Option<CaptureMode>,
    /// The urgency among runs that wait for a slot.
    pub priority: Option<Priority>,
}
