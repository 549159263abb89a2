//! The source of live frames: the fields that are the same for a whole model call or tool call.

use std::sync::Arc;

use crate::projections::frame::chat::Level;
use crate::projections::frame::field::{ConversationPlace, Iso};
use crate::projections::frame::live::{LiveFrame, ProgressPlace, ToolProgress};
use crate::state::run::Run;
use consort_spec::id::{Id, Millis};

/// The source of live frames.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveSource {
    /// A model of a run.
    Run {
        /// The id of the run.
        run_id: Arc<str>,
        /// The agent and task of the conversation.
        conversation: Arc<ConversationPlace>,
    },
    /// A model of a chat.
    Chat(Arc<ChatLiveSource>),
    /// A call, and the number of its turn's first event in its thread, if it is a chat's.
    Call {
        /// The call.
        place: ProgressPlace,
        /// The number of the turn's first event.
        base: Option<u64>,
    },
}

/// A model of a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatLiveSource {
    /// The number of the turn's first event in its thread.
    pub base: u64,
    /// The id of the thread.
    pub thread_id: Arc<str>,
    /// The id of the turn.
    pub turn_id: Arc<str>,
    /// The level in the turn's tree.
    pub level: Level,
    /// The id of the model call.
    pub call_id: Arc<str>,
}

impl LiveSource {
    /// Returns the frame of a piece of text from a run's model, which stands at this position of its answer.
    pub fn token(&self, words: &str, offset: usize, at: Millis) -> Option<LiveFrame> {
        let LiveSource::Run { run_id, conversation } = self else { return None };
        let token = words.to_owned();
        Some(LiveFrame::Token {
            run_id: run_id.clone(),
            conversation: conversation.clone(),
            token,
            offset,
            sent_at: Iso(at),
        })
    }

    /// Returns the frame of a call's progress, reported at `at` after the event `last`.
    pub fn progress(&self, at: Millis, last: u64) -> Option<ToolProgress> {
        let LiveSource::Call { place, base } = self else { return None };
        let (sent_at, chat_seq) = match base {
            Some(base) => (None, Some(base + last)),
            None => (Some(Iso(at)), None),
        };
        let call = place.clone();
        Some(ToolProgress { call, status: None, message: None, percent_complete: None, sent_at, chat_seq })
    }
}

impl Run {
    /// Returns the source of the live frames of a model that is being asked.
    pub fn live_source(&self, run: &str, conversation: &Id) -> LiveSource {
        match &self.spec().chat {
            Some(chat) => LiveSource::Chat(Arc::new(self.chat_live_source(chat, run, conversation))),
            None => {
                LiveSource::Run { run_id: run.into(), conversation: Arc::new(self.conversation_place(conversation)) }
            }
        }
    }

    /// Returns the source of the live frames of a call that is under way.
    pub fn progress_source(&self, run: &str, call: &Id) -> LiveSource {
        let (name, _) = self.asked_call(call);
        let place = match &self.spec().chat {
            Some(chat) => ProgressPlace::Chat {
                thread_id: chat.thread.as_str().into(),
                turn_id: run.into(),
                level: self.call_level(call),
                tool_call_id: self.chat().name(call).to_owned(),
                name,
            },
            None => ProgressPlace::Run {
                run_id: run.into(),
                conversation: self.caller(call),
                call_id: call.to_string(),
                tool_name: name,
            },
        };
        LiveSource::Call { place, base: self.spec().chat.as_ref().map(|chat| chat.base) }
    }
}
