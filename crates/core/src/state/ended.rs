//! A task that is over: its end and its output.

use serde_json::Value;

use crate::id::Millis;
use crate::state::conversation::{Conversation, Used};
use crate::text::Text;

/// A task that is over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) how: How,
    pub(crate) at: Millis,
    pub(crate) used: Used,
    pub(crate) model: String,
    /// The partial answer that was never completed.
    pub(crate) partial: Option<Text>,
    /// Whether its output is a cut answer that was accepted all the same.
    pub(crate) truncated: bool,
}

/// The way a task ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum How {
    Completed { output: Text, parsed: Option<Value> },
    Failed { reason: String },
    Cancelled,
    Skipped { reason: String },
}

impl Ended {
    /// Creates the record of a task whose conversation ended like this.
    pub(crate) fn of(how: How, at: Millis, turn: &Conversation) -> Ended {
        let (partial, truncated) = match how {
            How::Completed { .. } => (None, turn.unfinished.truncated),
            How::Failed { .. } | How::Cancelled | How::Skipped { .. } => (turn.unfinished.partial(), false),
        };
        Ended { how, at, used: turn.used, model: turn.asking.model.clone(), partial, truncated }
    }

    /// Creates the record of a task that was not begun.
    pub(crate) fn without_turn(how: How, at: Millis) -> Ended {
        Ended { how, at, used: Used::default(), model: String::new(), partial: None, truncated: false }
    }
}
