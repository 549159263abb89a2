//! A decision that was asked for with one key and is made by the same key again. A key
//! that is held down repeats itself: only one that comes after a pause, and after the
//! screen said so, was pressed twice.

use std::time::{Duration, Instant};

use crate::client::Call;
use crate::talk::keyboard::Key;

/// The time without the key before it counts again: longer than keyboards commonly wait until they repeat a key that is
/// held down (660 ms at most).
pub(super) const PAUSE: Duration = Duration::from_millis(700);
/// The time for which the second key is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A decision that was asked for.
#[derive(Clone, Debug)]
pub(super) struct Confirm {
    key: char,
    /// The item that would be decided about.
    item: String,
    call: Call,
    /// The decision in words.
    words: String,
    /// The moment at which the key was last typed.
    typed: Instant,
    stage: Stage,
}

/// The stage of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The key may still be held down, and does not count.
    Pause,
    /// The key decides.
    Ready,
    /// Nobody pressed it.
    Over,
}

impl Confirm {
    /// Asks for a key again that was typed at this moment.
    pub(super) fn new((key, typed): (char, Instant), item: &str, call: Call, words: String) -> Confirm {
        Confirm { key, item: item.to_owned(), call, words, typed, stage: Stage::Pause }
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, now: Instant) {
        self.stage = match now.saturating_duration_since(self.typed) {
            still if still >= PAUSE + PATIENCE => Stage::Over,
            still if still >= PAUSE => Stage::Ready,
            _ => Stage::Pause,
        };
    }

    /// The key was typed and did not count: the pause begins again.
    pub(super) fn hold(&mut self, typed: Instant) {
        self.typed = self.typed.max(typed);
        self.stage = Stage::Pause;
    }

    /// Returns the moment of the next stage.
    pub(super) fn next_change(&self) -> Instant {
        match self.stage {
            Stage::Pause => self.typed + PAUSE,
            Stage::Ready | Stage::Over => self.typed + PAUSE + PATIENCE,
        }
    }

    /// Returns the stage.
    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    /// Returns the key.
    pub(super) fn key(&self) -> Key {
        Key::Sign(self.key)
    }

    /// Returns the id of what would be decided about.
    pub(super) fn item(&self) -> &str {
        &self.item
    }

    /// Returns the decision in words.
    pub(super) fn words(&self) -> &str {
        &self.words
    }

    /// Returns the keys that mean something, in words.
    pub(super) fn keys(&self) -> String {
        match self.stage {
            Stage::Pause | Stage::Over => "a moment …  any other key leaves it".to_owned(),
            Stage::Ready => format!("press {} again  any other key leaves it", self.key),
        }
    }

    /// Returns the request that decides.
    pub(super) fn into_call(self) -> Call {
        self.call
    }
}
