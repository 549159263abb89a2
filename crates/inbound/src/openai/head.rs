//! The fields of an answer besides its text: its id, its time, its model and its usage.

use consort_core::message::Usage as Counted;

/// The fields that every part of an answer repeats.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The id of the turn or the run.
    pub id: String,
    /// When it was asked for, in seconds since 1970.
    pub created: u64,
    /// The model as it was asked for.
    pub model: String,
    /// The thread of a turn.
    pub thread: Option<String>,
    /// The parts of the request that were ignored.
    pub warnings: Vec<String>,
}

/// The tokens of everything that was done for an answer.
pub type Usage = Counted;
