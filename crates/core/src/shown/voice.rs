//! The source of live frames: the fields that are the same for a whole model call or tool call.

use std::sync::Arc;

use crate::shown::frame::chat::Level;
use crate::shown::frame::field::{ConversationPlace, Iso};
use crate::shown::frame::live::{LiveFrame, ProgressPlace, ToolProgress};
use crate::state::run::Run;
use consort_spec::id::{Id, Millis};

/// The source of live frames.
#[derive(Clone, Debug, PartialEq)]
pub enum Voice {
    /// A model of a run.
    Run {
        /// The id of the run.
        run_id: Arc<str>,
        /// The agent and task of the conversation.
        conversation: Arc<ConversationPlace>,
    },
    /// A model of a chat.
    Chat(Arc<ChatVoice>),
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
pub struct ChatVoice {
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

impl Voice {
    /// Returns the frame of a piece of text from a run's model, which stands at this position of its answer.
    pub fn token(&self, words: &str, offset: usize, at: Millis) -> Option<LiveFrame> {
        let Voice::Run { run_id, conversation } = self else { return None };
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
        let Voice::Call { place, base } = self else { return None };
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
    pub fn voice(&self, run: &str, conversation: &Id) -> Voice {
        match &self.spec().chat {
            Some(chat) => Voice::Chat(Arc::new(self.chat_voice(chat, run, conversation))),
            None => Voice::Run { run_id: run.into(), conversation: Arc::new(self.conversation_place(conversation)) },
        }
    }

    /// Returns the source of the live frames of a call that is under way.
    pub fn progress_voice(&self, run: &str, call: &Id) -> Voice {
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
        Voice::Call { place, base: self.spec().chat.as_ref().map(|chat| chat.base) }
    }
}
