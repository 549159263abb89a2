//! The frames of a chat's turn. Events that mean the same in a chat and in a run have the frame they have
//! in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat::{Answer, Mode, Reason, Role};
use crate::decisions::answer::Sequel;
use crate::event::AfterFailure;
use crate::shown::frame::field::{Iso, Nullable};
use crate::shown::frame::run::Frame;
use crate::status::Status;
use crate::text::Text;

/// A frame of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChatFrame {
    /// A process has taken the turn over; calls of the one before are lost.
    TurnAdopted {
        /// Counts the processes that had the turn, from 1.
        epoch: u64,
    },
    /// The turn begins.
    TurnStarted {
        /// The alias of its model.
        model: String,
        /// What it may do without asking.
        permission_mode: Mode,
    },
    /// A model is asked.
    LlmStarted {
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: String,
        /// The alias of the model.
        model: String,
        /// The round of the conversation, from 0.
        iteration: u32,
    },
    /// A model has answered.
    LlmCompleted {
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: String,
        /// What it said.
        content: String,
    },
    /// A model did not answer; what it had said does not count.
    LlmVoided {
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: String,
        /// What went wrong.
        message: String,
        /// What follows.
        then: ThenWord,
    },
    /// The model's reply ended at its output limit.
    AnswerTruncated {
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: String,
        /// The step that follows.
        then: Sequel,
        /// Whether it ended within a call, which is not made.
        in_call: bool,
    },
    /// The model's reply said nothing.
    AnswerEmpty {
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: String,
        /// The step that follows.
        then: Sequel,
    },
    /// A row of the conversation.
    Message(Box<MessageRow>),
    /// A tool call begins or has ended.
    ToolCallUpdate(Box<ToolCallUpdate>),
    /// A call that the client is to make.
    ToolCall {
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// The call.
        tool_call_id: String,
        /// The tool.
        name: String,
        /// Its arguments.
        args: Value,
        /// When the turn stops waiting for the result.
        expires_at: Iso,
    },
    /// A call waits for permission.
    ToolApprovalRequest(Box<Approval>),
    /// That is decided.
    ToolApprovalResolved {
        /// Its id.
        approval_id: String,
        /// The decision.
        decision: Answer,
        /// Who decided.
        by: String,
    },
    /// What was allowed for the rest of the chat was taken back.
    GrantWithdrawn {
        /// The grant.
        grant_id: String,
        /// Who took it back.
        by: String,
    },
    /// The turn may do more or less without asking.
    PermissionModeChanged {
        /// What it may do now.
        permission_mode: Mode,
        /// Who wanted it.
        by: String,
    },
    /// A workflow is being drawn.
    PlanningUpdate {
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// What is being done.
        phase: PlanningPhase,
        /// How far it is.
        status: PlanningStatus,
        /// In words.
        content: String,
    },
    /// A task of a workflow was planned, begun or ended.
    TaskUpdate {
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// What happened.
        event: TaskEvent,
        /// The task.
        #[schemars(with = "PlannedTask")]
        task: Value,
    },
    /// The turn was stopped.
    TurnStopped {},
    /// The turn failed.
    Error {
        /// What went wrong, as a word.
        code: String,
        /// What went wrong.
        message: String,
        /// The status of the provider's answer, when that was the trouble.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status_code: Option<u16>,
    },
    /// The turn has ended; the last frame.
    Chunk {
        /// Empty.
        content: String,
        /// True.
        #[schemars(extend("const" = true))]
        done: bool,
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// How it ended.
        status: Status,
    },
    /// What the turn used.
    CostSummary(Box<CostSummary>),
    /// An event that has the frame it has in a run.
    #[serde(untagged)]
    Run(Box<Frame>),
}

/// The subtask that a frame belongs to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// The call that the subtask is; null for the conversation itself.
    pub parent_id: Option<String>,
    /// How deep the subtask is nested.
    pub depth: u32,
}

/// The step after a model's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThenWord {
    /// The model is asked again.
    Retry,
    /// Another model is asked.
    Fallback,
    /// The model is asked again with a shorter history.
    Shorten,
    /// The turn fails.
    GiveUp,
}

impl From<&AfterFailure> for ThenWord {
    fn from(then: &AfterFailure) -> ThenWord {
        match then {
            AfterFailure::Retry { .. } => ThenWord::Retry,
            AfterFailure::Fallback { .. } => ThenWord::Fallback,
            AfterFailure::Shorten => ThenWord::Shorten,
            AfterFailure::GiveUp => ThenWord::GiveUp,
        }
    }
}

/// A row of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageRow {
    /// Its id.
    pub id: String,
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: Text,
    /// The calls it asks for.
    pub tool_calls: Option<Vec<RowCall>>,
    /// The call it answers.
    pub tool_call_id: Option<String>,
    /// Whether it is an error.
    pub is_error: bool,
    /// The reason for a failed turn, beside what had been said.
    #[serde(default)]
    pub error: Option<Text>,
    /// Whether it is an answer that was cut at the output limit.
    #[serde(default)]
    pub truncated: bool,
    /// The id of the row it goes on with, which was cut.
    #[serde(default)]
    pub continues: Option<String>,
    /// The calls of the whole turn, with its last row.
    #[schemars(with = "Option<ExecutionTree>")]
    pub execution_tree: Option<Value>,
    /// When it was stored.
    pub created_at: Iso,
    /// Where in the turn.
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
    /// How long it took.
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
    /// Where in the turn.
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
    /// Begin or end.
    pub status: CallStatus,
    /// The title of a subtask, at its beginning.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    pub message: Nullable<String>,
    /// How long it took, at its end.
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
    /// Where in the turn.
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
    /// Why it is asked.
    #[serde(default)]
    pub reason: Reason,
    /// The host, or the name of the MCP server or peer, that the arguments would go to.
    #[serde(default)]
    pub host: Option<String>,
    /// The size of the arguments in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// What the chat has read that its user did not write, where that is why it is asked.
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

/// How far a stage is.
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

/// What happened to a task of a workflow.
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
struct PlannedTask {
    /// Its name.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    name: Nullable<String>,
    /// What is to be done.
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
    /// Why it was skipped or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// What a turn used.
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
    /// Time of work.
    pub wall_ms: u64,
    /// The same for each model.
    pub by_model: Vec<ModelCost>,
    /// Models without a price.
    pub unpriced_models: Vec<String>,
}

/// What a model was used for.
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
}

impl ChatFrame {
    /// Returns the type of the frame, as `serde` writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            ChatFrame::TurnAdopted { .. } => "turn_adopted",
            ChatFrame::TurnStarted { .. } => "turn_started",
            ChatFrame::LlmStarted { .. } => "llm_started",
            ChatFrame::LlmCompleted { .. } => "llm_completed",
            ChatFrame::LlmVoided { .. } => "llm_voided",
            ChatFrame::AnswerTruncated { .. } => "answer_truncated",
            ChatFrame::AnswerEmpty { .. } => "answer_empty",
            ChatFrame::Message(_) => "message",
            ChatFrame::ToolCallUpdate(_) => "tool_call_update",
            ChatFrame::ToolCall { .. } => "tool_call",
            ChatFrame::ToolApprovalRequest(_) => "tool_approval_request",
            ChatFrame::ToolApprovalResolved { .. } => "tool_approval_resolved",
            ChatFrame::GrantWithdrawn { .. } => "grant_withdrawn",
            ChatFrame::PermissionModeChanged { .. } => "permission_mode_changed",
            ChatFrame::PlanningUpdate { .. } => "planning_update",
            ChatFrame::TaskUpdate { .. } => "task_update",
            ChatFrame::TurnStopped { .. } => "turn_stopped",
            ChatFrame::Error { .. } => "error",
            ChatFrame::Chunk { .. } => "chunk",
            ChatFrame::CostSummary(_) => "cost_summary",
            ChatFrame::Run(frame) => frame.kind(),
        }
    }
}
