//! The fields of an answer besides its text: its id, its time, its model and its usage.

use consort_core::message::Usage as Counted;

/// The fields that every part of an answer repeats.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    /// The id of the turn or the run.
    pub(super) id: String,
    /// When it was asked for, in seconds since 1970.
    pub(super) created: u64,
    /// The model as it was asked for.
    pub(super) model: String,
    /// The thread of a turn.
    pub(super) thread: Option<String>,
    /// The parts of the request that were ignored.
    pub(super) warnings: Vec<String>,
}

/// The tokens of everything that was done for an answer.
pub(super) type Usage = Counted;
