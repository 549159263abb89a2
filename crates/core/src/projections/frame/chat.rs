//! The frames of a chat's turn. Events that mean the same in a chat and in a run have the frame they have
//! in a run.

mod content;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use crate::chat::{Answer, Mode};
use crate::decisions::answer::FollowUp;
use crate::projections::frame::field::Iso;
use crate::projections::frame::run::Frame;
use consort_spec::event::{AdoptReason, AfterFailure};
use consort_spec::status::Status;

pub(crate) use content::ExecutionTree;
use content::PlannedTask;
pub use content::{
    Approval, CallStatus, CostSummary, MessageRow, ModelCost, PlanningPhase, PlanningStatus, RowCall, TaskEvent,
    ToolCallUpdate,
};

/// A frame of a turn.
#[derive(Clone, Debug, PartialEq, IntoStaticStr, Serialize, Deserialize, JsonSchema)]
#[strum(serialize_all = "snake_case")]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChatFrame {
    /// A process has taken the turn over; calls of the one before are lost.
    TurnAdopted {
        /// Greater with each process that has the turn, from 1.
        epoch: u64,
        /// The name of the node that has it now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
        /// The reason why it has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<AdoptReason>,
    },
    /// The turn begins.
    TurnStarted {
        /// The alias of its model.
        model: String,
        /// The permission mode: the calls that may be made without asking.
        permission_mode: Mode,
    },
    /// A model is asked.
    LlmStarted {
        /// The place in the turn.
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
        /// The place in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: String,
        /// The text of the answer.
        content: String,
    },
    /// A model did not answer; its text so far does not count.
    LlmVoided {
        /// The place in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: String,
        /// The error message.
        message: String,
        /// The step that follows.
        then: ThenWord,
    },
    /// The model's reply ended at its output limit.
    AnswerTruncated {
        /// The place in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: String,
        /// The step that follows.
        then: FollowUp,
        /// Whether it ended within a call, which is not made.
        in_call: bool,
    },
    /// The model's reply was empty.
    AnswerEmpty {
        /// The place in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: String,
        /// The step that follows.
        then: FollowUp,
    },
    /// A row of the chat.
    Message(Box<MessageRow>),
    /// A tool call begins or has ended.
    ToolCallUpdate(Box<ToolCallUpdate>),
    /// A call that the client is to make.
    ToolCall {
        /// The place in the turn.
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
    /// The question for permission is decided.
    ToolApprovalResolved {
        /// Its id.
        approval_id: String,
        /// The decision.
        decision: Answer,
        /// The name of the caller that decided.
        by: String,
        /// The arguments that the caller put in the place of the model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<Value>,
    },
    /// A permission for the rest of the chat was taken back.
    GrantWithdrawn {
        /// The grant.
        grant_id: String,
        /// The name of the caller that took it back.
        by: String,
    },
    /// The permission mode of the turn was changed.
    PermissionModeChanged {
        /// The new permission mode.
        permission_mode: Mode,
        /// The name of the caller that changed it.
        by: String,
    },
    /// A workflow is being drawn.
    PlanningUpdate {
        /// The place in the turn.
        #[serde(flatten)]
        level: Level,
        /// The stage of drawing.
        phase: PlanningPhase,
        /// The progress of that stage.
        status: PlanningStatus,
        /// The progress in words.
        content: String,
    },
    /// A task of a workflow was planned, begun or ended.
    TaskUpdate {
        /// The place in the turn.
        #[serde(flatten)]
        level: Level,
        /// The change.
        event: TaskEvent,
        /// The task.
        #[schemars(with = "PlannedTask")]
        task: Value,
    },
    /// The turn was stopped.
    TurnStopped {},
    /// The turn failed.
    Error {
        /// The error code.
        code: String,
        /// The error message.
        message: String,
        /// The status of the provider's answer, when that was the trouble.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status_code: Option<u16>,
    },
    /// The turn has ended; the last frame.
    Chunk {
        /// Always empty.
        content: String,
        /// Always true.
        #[schemars(extend("const" = true))]
        done: bool,
        /// The place in the turn.
        #[serde(flatten)]
        level: Level,
        /// The final status.
        status: Status,
    },
    /// The usage of the turn.
    CostSummary(Box<CostSummary>),
    /// An event that has the frame it has in a run.
    #[serde(untagged)]
    Run(Box<Frame>),
}

/// The subtask that a frame belongs to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// The call that the subtask is; null for the turn itself.
    pub parent_id: Option<String>,
    /// The nesting depth of the subtask.
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

impl ChatFrame {
    /// Returns the type of the frame, as `serde` writes it.
    pub fn kind(&self) -> &'static str {
        if let ChatFrame::Run(frame) = self { frame.kind() } else { self.into() }
    }
}
