//! The frames that are sent while work is under way and are never stored: the text of a model as it
//! arrives, and the progress of a call. They have no number.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shown::frame::chat::Level;
use crate::shown::frame::field::{Iso, TurnPlace};

/// A frame that is not stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LiveFrame {
    /// Words of a model of a run.
    #[serde(rename_all = "camelCase")]
    Token {
        /// The run.
        run_id: Arc<str>,
        /// The conversation.
        #[serde(flatten)]
        turn: Arc<TurnPlace>,
        /// The words.
        token: String,
        /// When they came.
        sent_at: Iso,
    },
    /// Words of a model of a chat.
    #[schemars(extend("anyOf" = [
        { "type": "object", "required": ["offset"], "properties": { "offset": { "type": "integer" } } },
        { "type": "object", "required": ["thinking"], "properties": { "thinking": { "const": true } } },
    ]))]
    Chunk {
        /// The thread.
        thread_id: Arc<str>,
        /// The turn.
        turn_id: Arc<str>,
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: Arc<str>,
        /// The words.
        content: String,
        /// Where in the answer they stand, in bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<usize>,
        /// True when the model thinks them: they are no part of the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("const" = true))]
        thinking: Option<bool>,
        /// The number of the frame they follow.
        chat_seq: u64,
    },
    /// How far a call is.
    ToolProgress(ToolProgress),
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolProgress {
    /// The call.
    #[serde(flatten)]
    pub call: ProgressPlace,
    /// A word for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// A sentence for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The part that is done, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_complete: Option<u8>,
    /// When it was said, in a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Iso>,
    /// The number of the frame it follows, in a chat.
    #[serde(default, rename = "chat_seq", skip_serializing_if = "Option::is_none")]
    pub chat_seq: Option<u64>,
}

/// The place of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ProgressPlace {
    /// In a run.
    #[serde(rename_all = "camelCase")]
    Run {
        /// The run.
        run_id: Arc<str>,
        /// The conversation.
        #[serde(flatten)]
        turn: TurnPlace,
        /// The call.
        call_id: String,
        /// The tool.
        tool_name: String,
    },
    /// In a chat.
    Chat {
        /// The thread.
        thread_id: Arc<str>,
        /// The turn.
        turn_id: Arc<str>,
        /// Where in the turn.
        #[serde(flatten)]
        level: Level,
        /// The call.
        tool_call_id: String,
        /// The tool.
        name: String,
    },
}

impl LiveFrame {
    /// Returns the type of the frame, as `serde` writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            LiveFrame::Token { .. } => "token",
            LiveFrame::Chunk { .. } => "chunk",
            LiveFrame::ToolProgress(_) => "tool_progress",
        }
    }

    /// Returns the frame as it is sent.
    pub fn text(&self) -> String {
        // A frame holds nothing that JSON cannot write.
        serde_json::to_string(self).unwrap_or_default()
    }
}
