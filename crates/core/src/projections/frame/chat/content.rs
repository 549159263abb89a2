//! The contents of the frames of a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Level;
use crate::chat::{Reason, Role};
use crate::projections::frame::field::{Iso, Nullable};
use consort_spec::message::Attached;
use consort_spec::text::Text;

/// A row of a chat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageRow {
    /// Its id.
    pub id: String,
    /// The role of the author.
    pub role: Role,
    /// The text.
    pub content: Text,
    /// The calls it asks for.
    pub tool_calls: Option<Vec<RowCall>>,
    /// The call it answers.
    pub tool_call_id: Option<String>,
    /// Whether it is an error.
    pub is_error: bool,
    /// The reason for a failed turn, beside the text of its answer.
    #[serde(default)]
    pub error: Option<Text>,
    /// Whether it is an answer that was cut at the output limit.
    #[serde(default)]
    pub truncated: bool,
    /// The id of the row it goes on with, which was cut.
    #[serde(default)]
    pub continues: Option<String>,
    /// The files that the user attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attached>,
    /// The calls of the whole turn, with its last row.
    #[schemars(with = "Option<ExecutionTree>")]
    pub execution_tree: Option<Value>,
    /// When it was stored.
    pub created_at: Iso,
    /// The place in the turn.
    #[serde(flatten)]
    pub level: Level,
    /// The model call that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// A call that a row asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowCall {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub args: Value,
}

/// The calls of a turn.
#[derive(JsonSchema)]
#[schemars(rename = "ExecutionTree")]
#[expect(dead_code, reason = "the tree is stored as it was written; this describes it")]
pub(crate) struct ExecutionTree {
    /// The version of this shape.
    version: u32,
    /// The calls, in the order they were asked for.
    nodes: Vec<TreeNode>,
}

/// A call of a turn.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the tree is stored as it was written; this describes it")]
struct TreeNode {
    /// The call.
    id: String,
    /// The call of the subtask it was made in.
    parent_id: Option<String>,
    /// The tool.
    name: String,
    /// The title of a subtask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The beginning of its arguments.
    args_preview: String,
    /// The beginning of its result.
    result_preview: String,
    /// Whether it failed.
    is_error: bool,
    /// The duration.
    duration_ms: u64,
}

/// The begin or the end of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("anyOf" = [
    { "type": "object", "required": ["status", "args"], "properties": { "status": { "const": "start" }, "args": {} } },
    { "type": "object", "required": ["status", "result", "is_error", "duration_ms"], "properties": {
        "status": { "const": "end" }, "result": { "type": "string" }, "is_error": { "type": "boolean" }, "duration_ms": { "type": "integer" } } },
]))]
pub struct ToolCallUpdate {
    /// The place in the turn.
    #[serde(flatten)]
    pub level: Level,
    /// The call.
    pub tool_call_id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, at its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// Its result, at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether it failed, at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Whether it begins or has ended.
    pub status: CallStatus,
    /// The title of a subtask, at its beginning.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    pub message: Nullable<String>,
    /// The duration, at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The workflow that was drawn, at its end.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    pub data: Nullable<Value>,
}

/// The stage of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It begins.
    #[default]
    Start,
    /// It has ended.
    End,
}

/// A call that waits for permission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// The place in the turn.
    #[serde(flatten)]
    pub level: Level,
    /// The id to decide it by.
    pub approval_id: String,
    /// The call.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// The kind of effect it has.
    pub category: String,
    /// Its arguments.
    pub args: Value,
    /// The question.
    pub message: String,
    /// The reason for the question.
    #[serde(default)]
    pub reason: Reason,
    /// The host, or the name of the MCP server or peer, that the arguments would go to.
    #[serde(default)]
    pub host: Option<String>,
    /// The size of the arguments in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// The sources that the chat has read and its user did not write, where they are the reason for the question.
    #[serde(default)]
    pub sources: Vec<String>,
    /// When it was asked.
    pub created_at: Iso,
    /// When it counts as denied.
    pub expires_at: Option<Iso>,
}

/// The stage of drawing a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanningPhase {
    /// It is drawn.
    Planning,
    /// It is checked.
    Validation,
}

/// The progress of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanningStatus {
    /// It begins.
    Start,
    /// It has ended well.
    End,
    /// It has failed.
    Failed,
}

/// A change to a task of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskEvent {
    /// It was drawn.
    Planned,
    /// It has begun.
    Started,
    /// It has its output.
    Completed,
    /// It will not run.
    Skipped,
    /// It has failed.
    Failed,
}

/// A task of a workflow.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "a drawn task is shown as it was drawn; this describes it")]
pub(super) struct PlannedTask {
    /// Its name.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    name: Nullable<String>,
    /// The work to do.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    description: Nullable<String>,
    /// The tools it may call.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    tools: Nullable<Vec<String>>,
    /// The tasks it reads from.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    context: Nullable<Vec<String>>,
    /// Its output.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    output: Nullable<String>,
    /// The reason why it was skipped or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The usage of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostSummary {
    /// US dollars, when every model has a price.
    pub total_usd: Option<f64>,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from the provider's cache.
    pub cached_tokens: u64,
    /// Model calls.
    pub llm_calls: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Subtasks.
    pub subtasks: u64,
    /// The time of work.
    pub wall_ms: u64,
    /// The same for each model.
    pub by_model: Vec<ModelCost>,
    /// Models without a price.
    pub unpriced_models: Vec<String>,
    /// Whether a model did not report all of its tokens: then there were more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_unknown: bool,
}

/// The usage of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelCost {
    /// Its alias.
    pub model: String,
    /// Model calls.
    pub llm_calls: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from the provider's cache.
    pub cached_tokens: u64,
    /// US dollars, when it has a price.
    pub total_usd: Option<f64>,
    /// Whether it did not report all of its tokens: then there were more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_unknown: bool,
}
