//! A task that is over: its end and its output.

use serde_json::Value;

use crate::state::conversation::{Conversation, Used};
use consort_spec::cause::SkipCause;
use consort_spec::id::Millis;
use consort_spec::text::Text;

/// A task that is over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) outcome: TaskOutcome,
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
pub(crate) enum TaskOutcome {
    Completed { output: Text, parsed: Option<Value> },
    Failed { reason: String },
    Cancelled,
    Skipped { reason: String, cause: SkipCause },
}

impl TaskOutcome {
    /// Returns whether there is no output that others could read. A task whose condition does not hold is read as
    /// nothing.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            TaskOutcome::Completed { .. } | TaskOutcome::Skipped { cause: SkipCause::Condition, .. } => false,
            TaskOutcome::Failed { .. } | TaskOutcome::Cancelled | TaskOutcome::Skipped { .. } => true,
        }
    }

    /// Returns the output as a value: as data where the task has a schema, else its text.
    pub(crate) fn value(&self) -> Value {
        match self {
            TaskOutcome::Completed { parsed: Some(value), .. } => value.clone(),
            TaskOutcome::Completed { output, parsed: None } => Value::String(output.to_string()),
            TaskOutcome::Failed { .. } | TaskOutcome::Cancelled | TaskOutcome::Skipped { .. } => Value::Null,
        }
    }
}

impl Ended {
    /// Creates the record of a task whose conversation ended like this.
    pub(crate) fn of(outcome: TaskOutcome, at: Millis, conversation: &Conversation) -> Ended {
        let (partial, truncated) = match outcome {
            TaskOutcome::Completed { .. } => (None, conversation.unfinished.truncated),
            TaskOutcome::Failed { .. } | TaskOutcome::Cancelled | TaskOutcome::Skipped { .. } => {
                (conversation.unfinished.partial(), false)
            }
        };
        Ended { outcome, at, used: conversation.used, model: conversation.asking.model.clone(), partial, truncated }
    }

    /// Creates the record of a task that was not begun.
    pub(crate) fn without_conversation(outcome: TaskOutcome, at: Millis) -> Ended {
        Ended { outcome, at, used: Used::default(), model: String::new(), partial: None, truncated: false }
    }
}
