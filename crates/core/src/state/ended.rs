//! A task that is over: its end and its output.

use serde_json::Value;

use crate::state::conversation::{Conversation, Used};
use consort_spec::cause::SkipCause;
use consort_spec::id::Millis;
use consort_spec::text::Text;

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
    Skipped { reason: String, cause: SkipCause },
}

impl How {
    /// Returns whether there is no output that others could read. A task whose condition does not hold is read as
    /// nothing.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            How::Completed { .. } | How::Skipped { cause: SkipCause::Condition, .. } => false,
            How::Failed { .. } | How::Cancelled | How::Skipped { .. } => true,
        }
    }

    /// Returns the output as a value: as data where the task has a schema, else its text.
    pub(crate) fn value(&self) -> Value {
        match self {
            How::Completed { parsed: Some(value), .. } => value.clone(),
            How::Completed { output, parsed: None } => Value::String(output.to_string()),
            How::Failed { .. } | How::Cancelled | How::Skipped { .. } => Value::Null,
        }
    }
}

impl Ended {
    /// Creates the record of a task whose conversation ended like this.
    pub(crate) fn of(how: How, at: Millis, conversation: &Conversation) -> Ended {
        let (partial, truncated) = match how {
            How::Completed { .. } => (None, conversation.unfinished.truncated),
            How::Failed { .. } | How::Cancelled | How::Skipped { .. } => (conversation.unfinished.partial(), false),
        };
        Ended { how, at, used: conversation.used, model: conversation.asking.model.clone(), partial, truncated }
    }

    /// Creates the record of a task that was not begun.
    pub(crate) fn without_conversation(how: How, at: Millis) -> Ended {
        Ended { how, at, used: Used::default(), model: String::new(), partial: None, truncated: false }
    }
}
