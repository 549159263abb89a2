//! What watchers see, rendered once and shared. Committed frames and live
//! deltas go through one publisher, so a token never precedes the frame that
//! announced its call nor follows the one that ended it. Nothing is rendered,
//! nor room made for it, for a run that nobody watches.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use consort_core::id::Millis;
use consort_core::time::iso;
use serde_json::{Map, Value};
use tokio::sync::broadcast;

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
pub(crate) enum Slot {
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
    /// The newest published event. Locked while publishing: one order for all.
    last: Arc<Mutex<Seq>>,
}

impl Ring {
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Slot> {
        self.slots.get_or_init(|| broadcast::Sender::new(RING_MAX)).subscribe()
    }

    /// Whether anybody would see a frame.
    pub(crate) fn is_watched(&self) -> bool {
        self.slots.get().is_some_and(|slots| slots.receiver_count() > 0)
    }

    /// Shows what one commit has to show.
    pub(crate) fn publish(&self, slot: Slot, last: Seq) {
        let mut published = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *published = last;
        self.send(slot);
    }

    /// Shows words of a model, if anybody watches. `place` says whose they are.
    pub(crate) fn delta(&self, place: &Map<String, Value>, words: &str, at: Millis) {
        if !self.is_watched() {
            return;
        }
        let mut frame = place.clone();
        frame.insert("token".to_owned(), words.into());
        frame.insert("sentAt".to_owned(), iso(at).into());
        let text = Value::Object(frame).to_string().into();
        let published = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.send(Slot::Frames([Frame::Delta { after: *published, text }].into()));
    }

    fn send(&self, slot: Slot) {
        if let Some(slots) = self.slots.get() {
            let _nobody_watches = slots.send(slot);
        }
    }
}
