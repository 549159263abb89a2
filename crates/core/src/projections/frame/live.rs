//! The frames that are sent while work is under way and are never stored: the text of a model as it
//! arrives, and the progress of a call. They have no number.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::projections::frame::chat::Level;
use crate::projections::frame::field::{ConversationPlace, Iso};
use consort_spec::json;

/// A frame that is not stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(tag = "type", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LiveFrame {
    /// Words of a model of a run.
    #[serde(rename_all = "camelCase")]
    Token {
        /// The run.
        run_id: Arc<str>,
        /// The conversation.
        #[serde(flatten)]
        conversation: Arc<ConversationPlace>,
        /// The text.
        token: String,
        /// The position of the text in the answer, in bytes. Whoever joins while a model answers gets all of it so
        /// far, from 0.
        #[serde(default)]
        offset: usize,
        /// When they came.
        sent_at: Iso,
    },
    /// Words of a model of a chat.
    Chunk {
        /// The thread.
        thread_id: Arc<str>,
        /// The turn.
        turn_id: Arc<str>,
        /// The place in the turn.
        #[serde(flatten)]
        level: Level,
        /// The model call.
        call_id: Arc<str>,
        /// The text.
        content: String,
        /// The position of the words in the answer, or in the model's reasoning, in bytes.
        offset: usize,
        /// True when they are reasoning and no part of the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("const" = true))]
        thinking: Option<bool>,
        /// The number of the frame they follow.
        chat_seq: u64,
    },
    /// The progress of a call.
    ToolProgress(ToolProgress),
}

/// The progress of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolProgress {
    /// The call.
    #[serde(flatten)]
    pub call: ProgressPlace,
    /// The progress as one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The progress as a sentence.
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
        conversation: ConversationPlace,
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
        /// The place in the turn.
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
        self.into()
    }

    /// Returns the frame as it is sent.
    pub fn text(&self) -> String {
        // A frame holds nothing that JSON cannot write.
        json::text(self).unwrap_or_default()
    }

    /// Adds words of the same answer that follow its own, up to so many bytes together; returns whether it did.
    pub fn join(&mut self, next: &LiveFrame, max: usize) -> bool {
        let follows = |text: &str, offset: usize, more: &str, at: usize| {
            offset.saturating_add(text.len()) == at && text.len().saturating_add(more.len()) <= max
        };
        match (self, next) {
            (
                LiveFrame::Token { run_id, conversation, token, offset, sent_at },
                LiveFrame::Token { run_id: run, conversation: of, token: more, offset: at, sent_at: then },
            ) if run_id == run && conversation == of && follows(token, *offset, more, *at) => {
                token.push_str(more);
                *sent_at = *then;
                true
            }
            (
                LiveFrame::Chunk { call_id, content, offset, thinking, chat_seq, .. },
                LiveFrame::Chunk { call_id: call, content: more, offset: at, thinking: thinks, chat_seq: seq, .. },
            ) if (&*call_id, &*thinking, &*chat_seq) == (call, thinks, seq) && follows(content, *offset, more, *at) => {
                content.push_str(more);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(run: &str, token: &str, offset: usize) -> LiveFrame {
        let sent_at = Iso(offset as u64);
        LiveFrame::Token { run_id: run.into(), conversation: Arc::default(), token: token.to_owned(), offset, sent_at }
    }

    #[test]
    fn words_are_joined_to_those_before_them_and_to_no_others() {
        let mut words = token("a", "un", 3);
        assert!(words.join(&token("a", "do", 5), 4));
        assert_eq!(
            words,
            LiveFrame::Token {
                run_id: "a".into(),
                conversation: Arc::default(),
                token: "undo".to_owned(),
                offset: 3,
                sent_at: Iso(5)
            }
        );
        for (next, max) in [(token("a", "ing", 7), 6), (token("a", "ing", 8), 99), (token("b", "ing", 7), 99)] {
            assert!(!words.join(&next, max), "{next:?}");
        }
    }
}
