//! The types of the fields of events: subjects, decisions, directives, ends.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use crate::cause::{Cause, TaskFailure};
use crate::id::{Id, Millis};
use crate::requests::catalog::{Belt, Models};
use crate::requests::spec::Spec;
use crate::status::Status;
use crate::text::Text;

/// The owner of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A task.
    Task {
        /// The place of the task, or of its instance.
        #[serde(rename = "turn")]
        conversation: Id,
    },
    /// A group.
    Group {
        /// The number of the group, from 0.
        group: usize,
        /// The round that was over, for `repeat_until`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<u32>,
    },
}

/// The key that an expression is written under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Key {
    /// The condition under which work is done.
    When,
    /// The list of items for each of which it is done.
    ForEach,
    /// The condition that ends the rounds of a group.
    RepeatUntil,
}

impl Key {
    /// Returns the key as it is written.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the failure of a task whose expression has no usable value.
    pub fn failure(self, reason: &str) -> TaskFailure {
        TaskFailure::new(Cause::ExpressionFailed, format!("`{}`: {reason}", self.word()))
    }
}

/// The result of evaluating an expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evaluated {
    /// A value of the right type.
    Value(Value),
    /// No value, for this reason.
    Failed(String),
}

/// The source of a run's first events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The events of the completed tasks of an ended run; the other tasks are done again.
    Retry {
        /// The id of that run.
        run: String,
    },
    /// All events of another run before `seq`.
    Fork {
        /// The id of that run.
        run: String,
        /// The number of the first event that was not copied.
        seq: u64,
    },
}

/// The settings that a fork changes, as they hold from the fork on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edited {
    /// The edited spec; tasks that had begun are unchanged.
    pub spec: Arc<Spec>,
    /// Models that may be asked, in addition to those before.
    pub models: Models,
    /// Tools that may be called, in addition to those before.
    pub belt: Belt,
}

/// An output that a person or program put in place of the one a task had in the record of another run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditedOutput {
    /// The position of the task.
    pub task: usize,
    /// The output that the tasks after it read.
    pub output: Text,
    /// The name of the requester.
    pub by: String,
}

/// The step that follows a model's failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterFailure {
    /// The same model is asked again at this time.
    Retry {
        /// The time, in Unix milliseconds.
        at: Millis,
    },
    /// Another model is asked.
    Fallback {
        /// Its alias.
        model: String,
    },
    /// The same model is asked again with a shorter history.
    Shorten,
    /// The conversation fails.
    GiveUp,
}

/// A change that a call made to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The path of the file, as the tool names it.
    pub file_path: String,
    /// The kind of change.
    pub change_type: ChangeType,
    /// The number of lines that were added.
    pub lines_added: u64,
    /// The number of lines that were removed.
    pub lines_removed: u64,
}

/// The kind of change to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChangeType {
    /// It is new.
    Created,
    /// It is different.
    Modified,
    /// It is gone.
    Deleted,
}

/// When a review takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Timing {
    /// Before the task starts.
    BeforeExecution,
    /// While it works: a call asks a person.
    DuringExecution,
    /// When its output is there.
    AfterExecution,
}

/// A reviewer's decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(tag = "word", rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Decision {
    /// The task goes on with the output as it is.
    Continue,
    /// The task goes on with this output instead.
    Edit {
        /// The output that replaces the agent's.
        output: Text,
    },
    /// The run ends here with the outputs it has.
    ExitEarly,
    /// The task is done again.
    Reject {
        /// The reviewer's feedback for the next attempt.
        feedback: Text,
    },
}

impl Decision {
    /// Returns the number of bytes of the text it holds.
    pub fn bytes(&self) -> usize {
        match self {
            Decision::Edit { output: text } | Decision::Reject { feedback: text } => text.len(),
            Decision::Continue | Decision::ExitEarly => 0,
        }
    }
}

impl Decision {
    /// Returns the word for the decision on the wire.
    pub fn word(&self) -> &'static str {
        self.into()
    }
}

/// The reason why a process took a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum AdoptReason {
    /// The process that accepted the run begins it.
    Begun,
    /// Another process accepted the run, and it had not begun.
    Claimed,
    /// The process that worked on the run is gone.
    Takeover,
    /// The process that worked on the run was told to stop, and gave it up.
    Drained,
}

/// The process that takes a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adoption {
    /// The epoch that the run was claimed with; the one after the last is used where it is not greater.
    pub epoch: u64,
    /// The name of the node, if it has one.
    pub node: Option<String>,
    /// The reason, where it is known.
    pub reason: Option<AdoptReason>,
}

/// A message to the agents of a run while they work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// The name of a task or the role of an agent; all agents when absent.
    pub target: Option<String>,
    /// The text of the message.
    pub content: Text,
    /// The priority; directives of higher priority are read first.
    pub priority: Priority,
    /// The name of the sender.
    pub from: String,
    /// The name of the person or program that the sender speaks for, as claimed by `from` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// The time at which it was given.
    pub created_at: Millis,
    /// The time after which it is no longer delivered.
    pub expires_at: Option<Millis>,
}

impl Directive {
    /// Returns the author as agents see it: the sender and the name it speaks for.
    pub fn author(&self) -> String {
        match &self.on_behalf_of {
            Some(other) => format!("{} on behalf of {other}", self.from),
            None => self.from.clone(),
        }
    }
}

/// The importance of a directive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Priority {
    /// Read last.
    Low,
    /// As usual.
    #[default]
    Normal,
    /// Read first.
    High,
}

/// The point at which a cancelled run stops; a later request can only make it earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CancelMode {
    /// Tasks under way finish, no other starts.
    #[default]
    AfterTask,
    /// Model calls under way and the tools they ask for finish, no other starts.
    AfterIteration,
    /// Model streams and tools are dropped.
    Now,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum End {
    /// The run completed all that it could do.
    Completed {
        /// The reason why no more was done.
        exit: Exit,
    },
    /// A task failed or a limit was reached.
    Failed {
        /// The error message.
        error: String,
    },
    /// The run was cancelled.
    Cancelled,
}

/// The reason why a completed run did no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Exit {
    /// All tasks were done.
    Completed,
    /// A reviewer ended the run early.
    UserExitEarly,
    /// A review timed out.
    Timeout,
}

impl End {
    /// Returns the run's status word.
    pub fn status(&self) -> Status {
        self.into()
    }

    /// Returns the reason for the end, as `ensemble_completed` names it.
    pub fn exit_reason(&self) -> &'static str {
        match self {
            End::Completed { exit: Exit::Completed } => "COMPLETED",
            End::Completed { exit: Exit::UserExitEarly } => "USER_EXIT_EARLY",
            End::Completed { exit: Exit::Timeout } => "TIMEOUT",
            End::Failed { .. } => "ERROR",
            End::Cancelled => "CANCELLED",
        }
    }
}
