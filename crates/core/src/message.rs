//! What is said between a task, its model and its tools. An assistant's parts
//! keep the provider's own JSON beside the portable form, so that signatures
//! and reasoning items go back exactly as they came.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::Id;
use crate::requests::catalog::NanoUsd;
use crate::state::budget::Claim;
use crate::text::Text;

/// One line of the conversation sent to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Who the agent is and what always holds.
    System {
        /// The words.
        text: Text,
    },
    /// From the task, a person, or the turn that asked for a subtask.
    User {
        /// The words.
        text: Text,
    },
    /// From the model.
    Assistant(Arc<Reply>),
    /// From a tool.
    Tool {
        /// The call this answers, as a place.
        call: Id,
        /// The call this answers, as the provider named it.
        provider_id: String,
        /// The tool's name.
        name: String,
        /// What the model is told.
        text: Text,
        /// Whether that is an error.
        is_error: bool,
    },
}

/// What the model said: an answer, or calls to make before asking again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The wire the native parts belong to, and the model where it checks them
    /// (`openai`, `anthropic/<model>`, …); no other must be sent them.
    pub wire: String,
    /// What was said, in order.
    pub parts: Vec<Part>,
    /// Why the model stopped.
    pub stop: Stop,
}

/// One part of a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// Words for the reader.
    Text {
        /// The words.
        text: Text,
        /// The provider's own form, when it holds more than the words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<Value>,
    },
    /// What the model thought on the way; never part of an answer.
    Thinking {
        /// As much of it as is readable.
        text: Text,
        /// The provider's own form, with its signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<Value>,
    },
    /// A call to make.
    Call(Call),
}

impl Part {
    /// The text that may be large.
    pub(crate) fn text_mut(&mut self) -> &mut Text {
        match self {
            Part::Text { text, .. } | Part::Thinking { text, .. } => text,
            Part::Call(call) => &mut call.args,
        }
    }
}

/// One call the model asked for; its own id is its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// What the provider calls it, to be repeated with the result.
    pub provider_id: String,
    /// The tool's name, decoded from the provider's spelling.
    pub tool: String,
    /// Arguments, as the model wrote them: not necessarily JSON.
    pub args: Text,
    /// The provider's own form, when it holds more than the above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Value>,
}

/// Why the model stopped talking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It had said what it wanted, or wants calls made.
    #[default]
    End,
    /// It ran into the limit on output.
    Length,
    /// The provider withheld the rest.
    Filtered,
}

impl Reply {
    /// The words of all text parts, joined.
    pub fn text(&self) -> String {
        let text = |part: &Part| if let Part::Text { text, .. } = part { Some(text.to_string()) } else { None };
        self.parts.iter().filter_map(text).collect()
    }

    /// Bytes of everything said.
    pub fn bytes(&self) -> usize {
        let length = |part: &Part| match part {
            Part::Text { text, .. } | Part::Thinking { text, .. } => text.len(),
            Part::Call(call) => call.tool.len() + call.args.len(),
        };
        self.parts.iter().map(length).sum()
    }

    /// The calls asked for, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| if let Part::Call(call) = part { Some(call) } else { None })
    }
}

/// What one model call used, as the provider counted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
    /// Of the input, what came from the provider's cache.
    #[serde(default)]
    pub cached_input: u64,
    /// Of the output, what was reasoning.
    #[serde(default)]
    pub reasoning: u64,
}

impl Usage {
    /// Tokens read and written.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// What somebody else used for a call, and what that cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Tokens.
    pub usage: Usage,
    /// What reading cost.
    pub input_cost: NanoUsd,
    /// What writing cost.
    pub output_cost: NanoUsd,
}

impl Spent {
    /// What it takes out of a budget.
    pub fn claim(&self) -> Claim {
        Claim { tokens: self.usage.total(), cost: self.input_cost.saturating_add(self.output_cost) }
    }
}

/// Why a model call did not end in a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct Failure {
    /// What kind of failure, which decides what happens next.
    pub kind: FailureKind,
    /// What the provider or the network said.
    pub message: String,
    /// How long the provider asked to be left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The status of the provider's answer, when that was the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// True when the provider may have charged for it: it had begun to answer.
    #[serde(default)]
    pub charged: bool,
}

/// Kinds of failure, by what can be done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Too many requests: ask again later.
    RateLimited,
    /// The provider is in trouble: ask again later.
    Overloaded,
    /// No answer in time: ask again.
    Timeout,
    /// The provider could not be reached, or hung up: ask again.
    Network,
    /// The answer was not what the protocol says: ask again.
    Malformed,
    /// The conversation is longer than the model can read.
    Overflow,
    /// The key is wrong or may not do this.
    Unauthorized,
    /// The provider will not answer this request.
    Refused,
    /// The owner stopped listening.
    Dropped,
}

impl FailureKind {
    /// Whether the same question may get an answer later.
    pub fn is_retryable(self) -> bool {
        match self {
            FailureKind::RateLimited
            | FailureKind::Overloaded
            | FailureKind::Timeout
            | FailureKind::Network
            | FailureKind::Malformed => true,
            FailureKind::Overflow | FailureKind::Unauthorized | FailureKind::Refused | FailureKind::Dropped => false,
        }
    }
}

impl std::fmt::Display for FailureKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            FailureKind::RateLimited => "rate limited",
            FailureKind::Overloaded => "provider error",
            FailureKind::Timeout => "no answer in time",
            FailureKind::Network => "connection failed",
            FailureKind::Malformed => "unreadable answer",
            FailureKind::Overflow => "conversation too long for the model",
            FailureKind::Unauthorized => "not authorized",
            FailureKind::Refused => "refused",
            FailureKind::Dropped => "stopped",
        })
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Outcome {
    /// The tool answered.
    Answer {
        /// In words for the model.
        text: Text,
        /// The same as data, where the tool has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// The tool certainly did not do it, or answered that it failed.
    Failed {
        /// Why, in words for the model.
        text: Text,
    },
    /// The tool may or may not have done it.
    Unknown {
        /// Why nobody knows.
        why: String,
    },
    /// A subtask did it; what it answered stands in its own last reply.
    Subtask,
}

impl Outcome {
    /// The tool answered with these words.
    pub fn answer(text: impl Into<Text>) -> Outcome {
        Outcome::Answer { text: text.into(), data: None }
    }

    /// Nobody knows whether it happened.
    pub fn unknown(why: impl Into<String>) -> Outcome {
        Outcome::Unknown { why: why.into() }
    }

    /// It failed for this reason.
    pub fn failed(text: impl Into<Text>) -> Outcome {
        Outcome::Failed { text: text.into() }
    }
}
