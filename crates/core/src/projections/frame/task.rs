//! The frames of tasks: their beginning, prompt and end.

use std::sync::Arc;

use crate::decisions::chore::Chore;
use crate::projections::frame::field::{Iso, shortened};
use crate::projections::frame::run::{Frame, TaskInput};
use crate::state::run::{Run, TaskOutcome};
use consort_spec::catalog::ToolInfo;
use consort_spec::cause::SkipCause;
use consort_spec::id::Id;
use consort_spec::message::Call;

impl Run {
    pub(super) fn belt_frame(&self, task: usize, tools: &[Arc<ToolInfo>]) -> Frame {
        let tool_names = tools.iter().map(|tool| tool.name.clone()).collect();
        Frame::BeltComposed { task: self.task_place(&Id::task(task)), tool_names }
    }

    pub(super) fn started_frame(&self, conversation: &Id, at: Iso) -> Frame {
        Frame::TaskStarted { task: self.task_place(conversation), total_tasks: self.total_tasks(), started_at: at }
    }

    pub(super) fn input_frame(&self, conversation: &Id, user: &str, at: Iso) -> Frame {
        let Some(task) = self.task(conversation) else { return Frame::Unknown };
        let tools =
            self.conversations().get(conversation).into_iter().flat_map(|conversation| conversation.tools().iter());
        Frame::TaskInput(TaskInput {
            task: self.task_place(conversation),
            expected_output: task.expected_output.clone(),
            agent_goal: task.agent.goal.clone(),
            agent_background: task.agent.background.clone(),
            tool_names: tools.map(|tool| tool.name.clone()).collect(),
            assembled_context: shortened(user),
            sent_at: at,
        })
    }

    pub(super) fn chore_frame(&self, conversation: &Id, chore: Chore, calls: &[Call]) -> Frame {
        let tool_names = calls.iter().map(|call| call.tool.clone()).collect();
        Frame::ChoreStarted { task: self.task_place(conversation), chore, tool_names }
    }

    pub(super) fn completed_frame(&self, conversation: &Id, at: Iso) -> Frame {
        let Some(ended) = self.ended_at(conversation.site()) else { return Frame::Unknown };
        let (output, parsed) = match &ended.outcome {
            TaskOutcome::Completed { output, parsed } => (Some(output.clone()), parsed.clone()),
            TaskOutcome::Failed { .. } | TaskOutcome::Cancelled | TaskOutcome::Skipped { .. } => (None, None),
        };
        Frame::TaskCompleted {
            task: self.task_place(conversation),
            total_tasks: self.total_tasks(),
            completed_at: at,
            duration_ms: ended.at.saturating_sub(ended.used.started_at),
            token_count: ended.used.tokens(),
            tool_call_count: ended.used.tool_calls,
            output,
            parsed_output: self.nullable(parsed),
            truncated: self.nullable(ended.truncated.then_some(true)),
        }
    }

    pub(super) fn failed_frame(&self, conversation: &Id, reason: &str, cancelled: bool, at: Iso) -> Frame {
        Frame::TaskFailed {
            task: self.task_place(conversation),
            failed_at: at,
            reason: reason.to_owned(),
            cancelled: cancelled.then_some(true),
            partial_output: self.ended_at(conversation.site()).and_then(|ended| ended.partial.clone()),
        }
    }

    pub(super) fn skipped_frame(&self, conversation: &Id, reason: &str, cause: Option<SkipCause>) -> Frame {
        let cause = cause.unwrap_or(SkipCause::Ended);
        Frame::TaskSkipped { task: self.task_place(conversation), reason: reason.to_owned(), cause }
    }
}
