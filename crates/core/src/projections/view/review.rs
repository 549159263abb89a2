//! A review as it is listed.

use schemars::JsonSchema;
use serde::Serialize;

use super::is_false;
use crate::projections::frame::field::{self, Iso};
use consort_spec::event::Timing;
use consort_spec::spec::OnTimeout;
use consort_spec::text::Text;

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// The id to decide it by.
    pub review_id: String,
    /// The run.
    pub run_id: String,
    /// The number of the task, from 1.
    pub task_index: usize,
    /// The role of the agent.
    pub agent_role: String,
    /// The description of the task, or the question of the agent.
    pub task_description: String,
    /// The place of the task in the run.
    pub turn_id: String,
    /// The index of the item that the task is done for, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    /// The round of its group, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The name of the task.
    pub task_name: String,
    /// The output that is reviewed; empty before the task.
    pub task_output: Text,
    /// Whether that output was cut at the output limit and accepted as it is.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
    /// Before, while or after the task is done.
    pub timing: Timing,
    /// The time for which it waits; 0 means without limit.
    pub timeout_ms: u64,
    /// The step that follows at `expiresAt`; absent when it waits without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// When it was asked for.
    pub created_at: Iso,
    /// The time at which it stops waiting; absent when it waits without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Iso>,
    /// The question of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Answers to choose from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
}

impl Review {
    /// Creates the view of a review that was asked for in this run.
    pub(crate) fn of(run: &str, review: field::Review) -> Review {
        let field::Review { task, review_id, task_output, timing, timeout_ms, on_timeout, .. } = review;
        let field::ConversationPlace { task_index, agent_role, task_description, turn_id, item, round } =
            task.conversation;
        Review {
            review_id,
            run_id: run.to_owned(),
            task_index,
            agent_role,
            task_description,
            turn_id,
            item,
            round,
            task_name: task.task_name.unwrap_or_default(),
            task_output,
            truncated: review.truncated,
            timing,
            timeout_ms,
            on_timeout,
            created_at: review.created_at,
            expires_at: review.expires_at,
            prompt: review.prompt,
            options: review.options,
        }
    }
}
