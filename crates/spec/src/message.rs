//! The messages between a task, its model and its tools. An assistant's parts keep the provider's own JSON
//! beside the portable form, so that signatures and reasoning items go back exactly as they came.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use crate::id::Id;
use crate::limits::Claim;
use crate::requests::catalog::NanoUsd;
use crate::text::Text;

/// One message of the conversation sent to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The agent's identity and permanent instructions.
    System {
        /// The text.
        text: Text,
    },
    /// A message from the task, a person, or the conversation that asked for a subtask.
    User {
        /// The text.
        text: Text,
    },
    /// Files that a person attached to the message before it. Their bytes are stored apart.
    Files {
        /// The files, in order.
        files: Vec<Attached>,
    },
    /// A reply of the model.
    Assistant(Arc<Reply>),
    /// The result of a call.
    Tool {
        /// The id of the call that this answers.
        call: Id,
        /// The provider's id of the call that this answers.
        provider_id: String,
        /// The tool's name.
        name: String,
        /// The result, as text for the model.
        text: Text,
        /// Whether the result is an error.
        is_error: bool,
    },
}

impl Message {
    /// Returns the reply of the model, if it is one.
    pub fn reply(&self) -> Option<&Arc<Reply>> {
        match self {
            Message::Assistant(reply) => Some(reply),
            Message::System { .. } | Message::User { .. } | Message::Files { .. } | Message::Tool { .. } => None,
        }
    }
}

/// A file that is attached to a message or a task: a name for bytes that are stored apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attached {
    /// The id of the attachment.
    pub id: String,
    /// The name of the file.
    pub name: String,
    /// The type of the file.
    pub media_type: String,
    /// The size of the file in bytes.
    pub bytes: u64,
}

impl Attached {
    /// Returns whether it is a picture.
    pub fn is_picture(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// Returns the names of files, as a text in the place of their bytes.
    pub fn listed(files: &[Attached]) -> Text {
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        format!("[attached: {}]", names.join(", ")).into()
    }

    /// Returns an estimate of the tokens that it takes in a request.
    pub fn tokens(&self) -> u64 {
        /// The tokens of a picture, as providers count those of a usual size.
        const PICTURE_TOKENS: u64 = 1_600;
        /// The bytes of a PDF or DOCX file for one token: most of them are fonts and pictures.
        const PACKED_BYTES: u64 = 20;
        /// The bytes of a text for one token.
        const TEXT_BYTES: u64 = 4;
        match self.media_type.as_str() {
            kind if kind.starts_with("image/") => PICTURE_TOKENS,
            kind if kind.starts_with("text/") => self.bytes.div_ceil(TEXT_BYTES),
            "application/json" | "application/csv" => self.bytes.div_ceil(TEXT_BYTES),
            _ => self.bytes.div_ceil(PACKED_BYTES),
        }
    }
}

/// A model's reply: an answer, or calls to make before asking again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The wire format that the native parts belong to, with the model where the provider checks it (`openai`,
    /// `anthropic/<model>`, …); they must not be sent to any other.
    pub wire: String,
    /// The parts, in order.
    pub parts: Vec<Part>,
    /// The reason why the model stopped.
    pub stop: Stop,
}

/// One part of a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// Text for the reader.
    Text {
        /// The text.
        text: Text,
        /// The provider's own form, when it holds more than the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<Value>,
    },
    /// The model's reasoning; never part of an answer.
    Thinking {
        /// The readable part of it.
        text: Text,
        /// The provider's own form, with its signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<Value>,
    },
    /// A call to make.
    Call(Call),
}

impl Part {
    /// Returns the text that may be large.
    pub(crate) fn text_mut(&mut self) -> &mut Text {
        match self {
            Part::Text { text, .. } | Part::Thinking { text, .. } => text,
            Part::Call(call) => &mut call.args,
        }
    }
}

/// One call the model asked for. Its id is not stored: it follows from its position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id of the call, to be repeated with the result.
    pub provider_id: String,
    /// The tool's name, decoded from the provider's spelling.
    pub tool: String,
    /// The arguments, as the model wrote them: not necessarily JSON.
    pub args: Text,
    /// The provider's own form, when it holds more than the above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Value>,
}

/// The reason why the model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The reply is complete, or calls are to be made.
    #[default]
    End,
    /// The output limit was reached.
    Length,
    /// The provider withheld the rest.
    Filtered,
}

impl Reply {
    /// Returns the text of all text parts, joined.
    pub fn text(&self) -> String {
        let text = |part: &Part| if let Part::Text { text, .. } = part { Some(text.to_string()) } else { None };
        self.parts.iter().filter_map(text).collect()
    }

    /// Returns the number of bytes of all parts.
    pub fn bytes(&self) -> usize {
        let length = |part: &Part| match part {
            Part::Text { text, .. } | Part::Thinking { text, .. } => text.len(),
            Part::Call(call) => call.tool.len() + call.args.len(),
        };
        self.parts.iter().map(length).sum()
    }

    /// Returns the calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| if let Part::Call(call) = part { Some(call) } else { None })
    }
}

/// The usage of one model call, as the provider counted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The number of tokens read, cached ones included.
    pub input: u64,
    /// The number of tokens written, reasoning included.
    pub output: u64,
    /// The part of the input that came from the provider's cache.
    #[serde(default)]
    pub cached_input: u64,
    /// The part of the output that was reasoning.
    #[serde(default)]
    pub reasoning: u64,
}

impl Usage {
    /// Returns the number of tokens read and written.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// The usage that another ensemble reports for a call, and its cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The number of tokens.
    pub usage: Usage,
    /// The cost of the input tokens.
    pub input_cost: NanoUsd,
    /// The cost of the output tokens.
    pub output_cost: NanoUsd,
}

impl Spent {
    /// Returns the amount it takes out of a budget.
    pub fn claim(&self) -> Claim {
        Claim { tokens: self.usage.total(), cost: self.input_cost.saturating_add(self.output_cost) }
    }
}

/// The failure of a model call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct Failure {
    /// The kind of failure, which decides what happens next.
    pub kind: FailureKind,
    /// The message of the provider or the network.
    pub message: String,
    /// The time that the provider asked to wait before a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The HTTP status of the provider's response, when that was the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// True when the provider may have charged for it: it had begun to answer.
    #[serde(default)]
    pub charged: bool,
}

/// Kinds of failure, by what can be done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
    /// Returns whether the same request may succeed later.
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

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Outcome {
    /// The tool answered.
    Answer {
        /// The answer, as text for the model.
        text: Text,
        /// The same as data, where the tool has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
        /// The pictures it shows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<Attached>,
    },
    /// The tool certainly did not do it, or answered that it failed.
    Failed {
        /// The reason, as text for the model.
        text: Text,
    },
    /// It is not known whether the tool did it.
    Unknown {
        /// The reason why it is not known.
        why: String,
    },
    /// A subtask did it; its answer is its own last reply.
    Subtask,
}

impl Outcome {
    /// Returns the outcome of a tool that answered with this text.
    pub fn answer(text: impl Into<Text>) -> Outcome {
        Outcome::Answer { text: text.into(), data: None, files: Vec::new() }
    }

    /// Returns the pictures that the tool shows.
    pub fn files(&self) -> &[Attached] {
        match self {
            Outcome::Answer { files, .. } => files,
            Outcome::Failed { .. } | Outcome::Unknown { .. } | Outcome::Subtask => &[],
        }
    }

    /// Returns the outcome of a call of which it is not known whether it happened.
    pub fn unknown(why: impl Into<String>) -> Outcome {
        Outcome::Unknown { why: why.into() }
    }

    /// Returns the outcome of a call that failed for this reason.
    pub fn failed(text: impl Into<Text>) -> Outcome {
        Outcome::Failed { text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokens_of_a_file_are_estimated_by_its_kind() {
        let tokens = |media_type: &str, bytes: u64| {
            let media_type = media_type.to_owned();
            Attached { id: String::new(), name: String::new(), media_type, bytes }.tokens()
        };
        let pdf = "application/pdf";
        let kinds = [("image/png", 9_000_000), ("text/csv", 10), ("application/json", 8), (pdf, 100), (pdf, 0)];
        assert_eq!(kinds.map(|(kind, bytes)| tokens(kind, bytes)), [1_600, 3, 2, 5, 0]);
    }
}
