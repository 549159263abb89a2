//! Where a run stands, in one word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::End;

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// It is stored and waits for its turn.
    Accepted,
    /// It works.
    Running,
    /// It did what it could.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped.
    Cancelled,
    /// It was never accepted.
    Rejected,
}

impl Status {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Status::Accepted => "ACCEPTED",
            Status::Running => "RUNNING",
            Status::Completed => "COMPLETED",
            Status::Failed => "FAILED",
            Status::Cancelled => "CANCELLED",
            Status::Rejected => "REJECTED",
        }
    }
}

impl From<&End> for Status {
    fn from(end: &End) -> Status {
        match end {
            End::Completed { .. } => Status::Completed,
            End::Failed { .. } => Status::Failed,
            End::Cancelled => Status::Cancelled,
        }
    }
}
