//! The contents of frames that have many fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::projections::frame::field::{ForkedFrom, Iso, Nullable, TaskPlace};
use consort_spec::event::{Key, Priority};
use consort_spec::text::Text;

/// The run that the copied events are from, and what was changed in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Descent {
    /// The run whose completed tasks were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<String>,
    /// The run and the place in it that this one goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// The outputs of kept tasks that were put in place of those they had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited_outputs: Vec<EditedOutput>,
}

/// An output of a kept task that is not the one it had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditedOutput {
    /// The number of the task, from 1.
    pub task_index: usize,
    /// The name of the task.
    pub task_name: String,
    /// The place of the task in the run.
    pub turn_id: String,
    /// The output that the tasks after it read.
    pub output: Text,
    /// The output as data, when the task has a schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsed_output: Option<Value>,
    /// The name of the requester.
    pub by: String,
}

/// The value of a condition or a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evaluation {
    /// The task, when it is a task's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_index: Option<usize>,
    /// The name of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_name: Option<String>,
    /// The place of the task, or of its instance, in the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The name of the group, when it is a group's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The index of the item that the task is done for, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    /// The round of the group, from 0; for `repeat_until` the one that was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The key it is written under.
    pub key: Key,
    /// The expression.
    pub expression: String,
    /// The value: true, false or the list; absent when the expression failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The reason why it has no usable value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The prompt of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskInput {
    /// The task.
    #[serde(flatten)]
    pub task: TaskPlace,
    /// The output that is asked for.
    pub expected_output: String,
    /// The goal of its agent.
    pub agent_goal: String,
    /// The background of its agent.
    pub agent_background: String,
    /// The tools it may call.
    pub tool_names: Vec<String>,
    /// The prompt; a long one is cut.
    pub assembled_context: String,
    /// When it was made.
    pub sent_at: Iso,
}

/// A directive, as it was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveDirective {
    /// Its id.
    pub directive_id: String,
    /// The name of the author.
    pub from: String,
    /// The text.
    pub content: Text,
    /// The task or role it is for; all when absent.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    pub target: Nullable<String>,
    /// The priority: more important directives are read first.
    pub priority: Priority,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    pub expires_at: Nullable<Iso>,
    /// The person that the sender says it speaks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
}

/// A switch to another model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelSwitch {
    /// The alias from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The alias before.
    pub previous_model: String,
    /// The first task it holds for, from 1; 0 when none is under way.
    pub task_index: usize,
    /// The first round it holds for, from 0.
    pub iteration_index: u32,
    /// The name of the caller that switched the model.
    pub by: String,
}
