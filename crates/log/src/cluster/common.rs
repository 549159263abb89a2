//! The things that nodes share besides their log: the line of runs that wait for a slot on any of them ([`Line`]), and
//! short notes that each of them reads and replaces ([`Notes`]), by which they share their limits.

use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::queue::Priority;
use futures::future::BoxFuture;

use super::Claimed;
use crate::Error;

/// The wait of a run in the line that counts as much as one level of urgency.
pub const AGING_MS: Millis = 60_000;

/// A stream that joins the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The stream, with the epoch under which this node owns it.
    pub claimed: Claimed,
    /// Its priority.
    pub priority: Priority,
}

/// The line at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// The number of streams that wait.
    pub length: usize,
    /// The number of streams before each of those that were asked for; absent for one that does not wait.
    pub before: Vec<Option<usize>>,
}

/// The streams that wait until a node has room for them, in one order for all nodes: by the time of their start, which
/// counts as [`AGING_MS`] later for each level of priority that they lack. The order of two of them never changes.
pub trait Line: Send + Sync {
    /// Gives up streams that this node owns, as [`super::Ownership::give_up`] does, and puts them into the line:
    /// [`super::Ownership::claim`] passes them over from then on, and [`super::Ownership::take`] takes them
    /// out.
    fn queue(&self, waiting: Vec<Waiting>) -> BoxFuture<'_, Result<(), Error>>;

    /// Takes the first streams of the line, at most so many, as [`super::Ownership::claim`] does.
    fn next(&self, room: usize) -> BoxFuture<'_, Result<Vec<Claimed>, Error>>;

    /// Returns the length of the line, and the places of these streams.
    fn queued<'a>(&'a self, streams: &'a [&'a str]) -> BoxFuture<'a, Result<Queued, Error>>;
}

/// A note, with what a reader needs to understand it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// The number of times that it was replaced.
    pub version: u64,
    /// Its text; absent while nobody has written it.
    pub text: Option<String>,
    /// The store's time.
    pub now: Millis,
    /// The ids of the nodes that are not evicted.
    pub nodes: Vec<Arc<str>>,
}

/// Short texts by name.
pub trait Notes: Send + Sync {
    /// Returns a note. Each node that had written to it by then and is not evicted is among its nodes.
    fn note<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Note, Error>>;

    /// Replaces a note, unless it has another version by now, or this node was evicted; returns whether it
    /// did. After an error it may have.
    fn replace<'a>(&'a self, name: &'a str, version: u64, text: String) -> BoxFuture<'a, Result<bool, Error>>;
}

/// Both of them.
pub trait Common: Line + Notes {}

impl<T: Line + Notes> Common for T {}
