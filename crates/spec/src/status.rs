//! The status of a run, in one word.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::event::End;
use crate::requests::choice::Choice;

/// The status of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// It is stored and waits for its turn.
    #[default]
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

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

impl Status {
    /// Returns the status of this name.
    pub fn parse(word: &str) -> Option<Status> {
        Status::WORDS.iter().find(|(known, _)| *known == word).map(|(_, status)| *status)
    }

    /// Returns whether nothing more will happen.
    pub fn is_over(self) -> bool {
        !matches!(self, Status::Accepted | Status::Running)
    }

    /// Returns the word on the wire.
    pub fn word(self) -> &'static str {
        self.into()
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
