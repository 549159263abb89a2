//! Events of a thread that cannot be read: a turn that is damaged keeps its numbers, and
//! a client is told once which ones it will not get.

use std::ops::Range;
use std::sync::Arc;

use consort_core::chat::Stored;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

/// Numbers of a thread that are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gap {
    /// The turn that cannot be read.
    turn: String,
    /// The first number that is missing.
    from: u64,
    /// The last one, as far as it is known how many events the turn had.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u64>,
    /// The description of the damage.
    reason: String,
}

impl Gap {
    /// Returns the gap from a number on to the end of a turn.
    pub(super) fn of(turn: &Stored, from: u64, reason: String) -> Gap {
        Gap::between(&turn.turn, from..turn.next, reason)
    }

    /// Returns the gap of these numbers of a turn.
    pub(super) fn between(turn: &str, numbers: Range<u64>, reason: String) -> Gap {
        let to = numbers.end.checked_sub(1).filter(|to| *to >= numbers.start);
        Gap { turn: turn.to_owned(), from: numbers.start, to, reason }
    }

    /// Returns the turn.
    pub(super) fn turn(&self) -> &str {
        &self.turn
    }

    /// Returns the number after it.
    pub(super) fn next(&self) -> u64 {
        self.to.map_or(self.from, |to| to + 1)
    }

    /// Returns the frame that says so.
    pub(super) fn frame(&self, thread: &str) -> Arc<str> {
        let numbers = match self.to {
            Some(to) => format!("the events {} to {to} of this chat", self.from),
            None => format!("the events of this chat from {} on", self.from),
        };
        let message = format!("{} cannot be read, {numbers} are missing: {}", self.turn, self.reason);
        let frame = json!({ "type": "error", "thread_id": thread, "turn_id": self.turn, "code": "STORAGE_DAMAGED",
            "message": message });
        frame.to_string().into()
    }
}
