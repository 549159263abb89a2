//! The words for permission: the mode of a thread, the reason of a question, and its answer.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// The permission mode: the calls that may be made without asking, the strictest first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Mode {
    /// Nothing that has an effect, not even when asked.
    Plan,
    /// Everything that stays in the workspace.
    #[default]
    Default,
    /// Everything.
    Auto,
}

impl Mode {
    /// Returns the word on the wire.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the mode of this name.
    pub fn parse(word: &str) -> Option<Mode> {
        [Mode::Plan, Mode::Default, Mode::Auto].into_iter().find(|mode| mode.word() == word)
    }
}

/// The end of a question for permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Answer {
    /// This call may be made.
    Allow,
    /// This tool may be called for the rest of the thread.
    AllowForChat,
    /// It may not.
    Deny,
    /// Nobody answered in time: it may not.
    Expired,
    /// The turn was stopped: there is nothing to answer any more.
    Closed,
}

impl fmt::Display for Answer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

impl Answer {
    /// Returns the word on the wire.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the answer of this name, if a person can give it.
    pub fn parse(word: &str) -> Option<Answer> {
        [Answer::Allow, Answer::AllowForChat, Answer::Deny].into_iter().find(|answer| answer.word() == word)
    }

    /// Returns whether the call may be made.
    pub fn allows(self) -> bool {
        match self {
            Answer::Allow | Answer::AllowForChat => true,
            Answer::Deny | Answer::Expired | Answer::Closed => false,
        }
    }
}

/// The reason why a person is asked about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It has an effect outside the workspace.
    #[default]
    Effect,
    /// It would carry data to a host that is not allowed, and the chat has read something its user did not write.
    Taint,
    /// It would write a file that prompts are built from.
    Instructions,
}
