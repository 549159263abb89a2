//! What watchers see, rendered once and shared. Committed frames and live
//! deltas go through one publisher, so a token never precedes the frame that
//! announced its call nor follows the one that ended it. Nothing is rendered,
//! nor room made for it, for a run that nobody watches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use consort_core::frame::Voice;
use consort_core::id::{Id, Millis};
use consort_core::time::iso;
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use crate::feed::Press;
use crate::log::Seq;

/// Slots in a run's ring. A slot holds all frames of one commit, so even the
/// start of a very wide run takes one; who is this far behind reads the log.
const RING_MAX: usize = 256;

/// One thing a watcher sees.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// A stored event.
    Event {
        /// Its place in the run, from 0.
        seq: Seq,
        /// Its rendering.
        text: Arc<str>,
    },
    /// Words of a model that is still talking. Never stored, has no number.
    Delta {
        /// The stored event it follows.
        after: Seq,
        /// Its rendering.
        text: Arc<str>,
    },
    /// What came of the run: the last frame of all, which has no number.
    Result {
        /// Its rendering.
        text: Arc<str>,
    },
}

impl Frame {
    /// The frame as JSON text.
    pub fn text(&self) -> &Arc<str> {
        match self {
            Frame::Event { text, .. } | Frame::Delta { text, .. } | Frame::Result { text } => text,
        }
    }
}

/// What one commit shows.
#[derive(Clone, Debug)]
pub enum Slot {
    /// These frames.
    Frames(Arc<[Frame]>),
    /// Something that was not rendered, because nobody watched when it was
    /// decided: read the log.
    Unrendered,
}

/// A run's publisher.
#[derive(Clone, Default)]
pub(crate) struct Ring {
    /// Made for the first watcher: most runs never have one.
    slots: Arc<OnceLock<broadcast::Sender<Slot>>>,
    /// Locked while publishing: one order for all.
    state: Arc<Mutex<State>>,
    /// Where all runs are shown together, and this one's name there.
    press: Option<(Arc<str>, Press)>,
}

#[derive(Default)]
struct State {
    /// The newest published event.
    last: Seq,
    /// What models that are still talking have said so far, by turn. Kept for
    /// chats only: who comes late is told, and who stops a turn keeps it.
    open: BTreeMap<Id, Open>,
}

struct Open {
    base: u64,
    frame: Map<String, Value>,
    said: String,
}

impl Ring {
    /// The ring of a run that is also shown together with all others.
    pub(crate) fn shown(run: Arc<str>, press: Press) -> Ring {
        Ring { press: Some((run, press)), ..Ring::default() }
    }

    /// New frames from now on, and what is being said at this moment.
    pub(crate) fn subscribe(&self) -> (broadcast::Receiver<Slot>, Vec<Frame>) {
        let state = self.state();
        let slots = self.slots.get_or_init(|| broadcast::Sender::new(RING_MAX)).subscribe();
        let so_far = |open: &Open| {
            let chunk = Chunk { base: open.base, frame: &open.frame, after: state.last };
            Frame::Delta { after: state.last, text: chunk.text(&open.said, 0) }
        };
        let open = state.open.values().filter(|open| !open.said.is_empty()).map(so_far).collect();
        (slots, open)
    }

    /// Whether anybody would see a frame.
    pub(crate) fn is_watched(&self) -> bool {
        self.slots.get().is_some_and(|slots| slots.receiver_count() > 0)
            || self.press.as_ref().is_some_and(|(_, press)| press.is_watched())
    }

    /// Shows what one commit has to show.
    pub(crate) fn publish(&self, slot: Slot, last: Seq) {
        let mut state = self.state();
        state.last = last;
        self.send(slot);
    }

    /// Shows words of a model. `voice` says whose they are.
    pub(crate) fn delta(&self, turn: &Id, voice: &Voice, words: &str, at: Millis) {
        match voice {
            Voice::Run { frame } if self.is_watched() => {
                let text = token(frame, words, at);
                let state = self.state();
                self.send(Slot::Frames([Frame::Delta { after: state.last, text }].into()));
            }
            Voice::Run { .. } => {}
            Voice::Chat { base, frame } => {
                let mut state = self.state();
                let after = state.last;
                let fresh = || Open { base: *base, frame: frame.clone(), said: String::new() };
                let open = state.open.entry(turn.clone()).or_insert_with(fresh);
                let offset = open.said.len();
                open.said.push_str(words);
                if self.is_watched() {
                    let text = Chunk { base: *base, frame, after }.text(words, offset);
                    self.send(Slot::Frames([Frame::Delta { after, text }].into()));
                }
            }
        }
    }

    /// Shows what a model of a chat thinks, which is never kept.
    pub(crate) fn thought(&self, voice: &Voice, words: &str) {
        let Voice::Chat { base, frame } = voice else { return };
        if self.is_watched() {
            let state = self.state();
            let text = Chunk { base: *base, frame, after: state.last }.thought(words);
            self.send(Slot::Frames([Frame::Delta { after: state.last, text }].into()));
        }
    }

    /// The model of this turn has stopped talking; what it had said.
    pub(crate) fn hush(&self, turn: &Id) -> String {
        self.state().open.remove(turn).map(|open| open.said).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, slot: Slot) {
        if let Some((run, press)) = &self.press {
            press.print(run, &slot);
        }
        if let Some(slots) = self.slots.get() {
            let _nobody_watches = slots.send(slot);
        }
    }
}

fn token(frame: &Map<String, Value>, words: &str, at: Millis) -> Arc<str> {
    let mut frame = frame.clone();
    frame.insert("token".to_owned(), words.into());
    frame.insert("sentAt".to_owned(), iso(at).into());
    Value::Object(frame).to_string().into()
}

/// Words of a chat's model on their way out.
struct Chunk<'a> {
    base: u64,
    frame: &'a Map<String, Value>,
    after: Seq,
}

impl Chunk<'_> {
    fn text(&self, words: &str, offset: usize) -> Arc<str> {
        self.render([("content", words.into()), ("offset", offset.into())])
    }

    fn thought(&self, words: &str) -> Arc<str> {
        self.render([("content", words.into()), ("thinking", true.into())])
    }

    fn render<const N: usize>(&self, fields: [(&str, Value); N]) -> Arc<str> {
        let mut frame = self.frame.clone();
        frame.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        frame.insert("chat_seq".to_owned(), (self.base + self.after).into());
        Value::Object(frame).to_string().into()
    }
}
