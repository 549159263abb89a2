//! The type of a frame, and the task and the conversation that it names.

use crate::projections::frame::field::{ConversationPlace, Review, TaskPlace};
use crate::projections::frame::run::{Frame, TaskInput};

impl Frame {
    /// Returns the task that the frame names, if it names one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other frame names a task")]
    pub fn task(&self) -> Option<&TaskPlace> {
        match self {
            Frame::BeltComposed { task, .. }
            | Frame::TaskStarted { task, .. }
            | Frame::TaskInput(TaskInput { task, .. })
            | Frame::ChoreStarted { task, .. }
            | Frame::ReflectionStarted { task }
            | Frame::TaskCompleted { task, .. }
            | Frame::TaskFailed { task, .. }
            | Frame::TaskSkipped { task, .. }
            | Frame::ReviewRequested(Review { task, .. }) => Some(task),
            _ => None,
        }
    }

    /// Returns the conversation that the frame names, if it names one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other frame names a conversation")]
    pub fn conversation(&self) -> Option<&ConversationPlace> {
        match self {
            Frame::LlmIterationStarted { conversation, .. }
            | Frame::LlmIterationCompleted { conversation, .. }
            | Frame::MetricsSnapshot { conversation, .. }
            | Frame::CallCharged { conversation, .. }
            | Frame::ToolDispatched { conversation, .. }
            | Frame::SubtaskStarted { conversation, .. }
            | Frame::ToolCalled { conversation, .. }
            | Frame::FileChanged { conversation, .. } => Some(conversation),
            Frame::ModelRetried { call, .. }
            | Frame::AnswerTruncated { call, .. }
            | Frame::AnswerEmpty { call, .. }
            | Frame::ModelFailed { call, .. }
            | Frame::HistoryDropped { call, .. }
            | Frame::OutputRejected { call, .. }
            | Frame::LastRound { call }
            | Frame::LoopNoticed { call, .. }
            | Frame::FinishDemanded { call } => Some(&call.conversation),
            _ => self.task().map(|task| &task.conversation),
        }
    }

    /// Returns the type of the frame, as `serde` writes it.
    pub fn kind(&self) -> &'static str {
        self.into()
    }
}
