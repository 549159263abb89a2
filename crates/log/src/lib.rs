//! Seam 1, storage: streams of records, numbered densely from 0. The log knows
//! nothing about what the records say, so everything durable can be a stream.
//! With it: the [`codec`] of events, the [`damage`] of streams, and the
//! [`clock`] whose times the records carry.

pub mod clock;
pub mod codec;
pub mod damage;
mod memory;
mod sqlite;

#[cfg(test)]
mod conformance;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use memory::MemoryLog;
pub use sqlite::{Options, SqliteLog};

use consort_core::id::Millis;
use futures::future::BoxFuture;
use tokio::sync::watch;

/// Position of a record in its stream, from 0; also a stream's length.
pub type Seq = u64;

/// One stored event: JSON, and the large texts it refers to by number. A log
/// keeps each distinct attachment of a stream once, however often it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The event.
    pub body: Arc<str>,
    /// Texts the body refers to, in the order of their numbers.
    pub attachments: Vec<Arc<str>>,
}

/// Everything one decision writes.
#[derive(Clone, Debug)]
pub struct Append {
    /// The stream written to.
    pub stream: Arc<str>,
    /// How long the writer believes the stream is.
    pub expected: Seq,
    /// The writer's epoch; an older one than the stream has seen is refused.
    pub epoch: u64,
    /// All events of the decision.
    pub records: Vec<Record>,
    /// The stream's row in lists from now on.
    pub row: Row,
    /// Keys no other stream may hold.
    pub claims: Vec<String>,
}

/// A stream as a row of a list, stored with every append, so that lists,
/// filters, retention and recovery never read streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What sort of stream (`run`, …).
    pub kind: Arc<str>,
    /// Where it stands, as people see it (`RUNNING`, …).
    pub status: Arc<str>,
    /// When it began.
    pub started_at: Millis,
    /// When it ended; absent while it may still grow.
    pub ended_at: Option<Millis>,
    /// Labels to filter by.
    pub tags: BTreeMap<String, String>,
    /// The rest of the row, as JSON.
    pub body: Arc<str>,
}

/// Which rows to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Of this kind only.
    pub kind: Option<String>,
    /// This stream only.
    pub stream: Option<String>,
    /// The stream that holds this key only.
    pub claim: Option<String>,
    /// With this status only.
    pub status: Option<String>,
    /// Ended ones only, or unended ones only.
    pub ended: Option<bool>,
    /// With all of these tags; a tag without a value matches any.
    pub tags: Vec<(String, Option<String>)>,
    /// How the rows are ordered.
    pub order: Order,
    /// Rows to skip.
    pub offset: usize,
    /// Rows to return at most.
    pub limit: usize,
}

/// How rows are ordered; ties by stream name, in the same direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By start, newest first.
    #[default]
    NewestStart,
    /// By start, oldest first.
    OldestStart,
    /// By end, oldest first; unended ones last.
    OldestEnd,
}

/// A page of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Stream names and their rows.
    pub rows: Vec<(Arc<str>, Row)>,
    /// How many rows match, before paging.
    pub total: usize,
}

/// Keeps streams. Promises: an append is written whole or not at all; once
/// `append` has returned, it survives a crash; a refused append writes
/// nothing; readers never wait for writers; an erased stream's bytes are gone.
pub trait Log: Send + Sync + 'static {
    /// Writes one decision in one transaction.
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>>;

    /// At most `max` records from `from` on; empty past the end.
    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>>;

    /// The rows that match.
    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>>;

    /// Removes streams: records, attachments, rows and claims. Unknown names
    /// are ignored.
    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>>;

    /// Counts commits: whoever follows a stream it does not own waits on this.
    fn commits(&self) -> watch::Receiver<u64>;
}

/// Why the log said no, by what the caller can do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Stop: somebody else writes this stream now.
    #[error("the stream has another writer")]
    Fenced,
    /// Use the stream that holds the key instead.
    #[error("`{key}` belongs to {by}")]
    Claimed {
        /// The key.
        key: String,
        /// The stream that holds it.
        by: String,
    },
    /// Wait: there is no room on the disk; the same append may succeed later.
    #[error("no room left: {0}")]
    Full(String),
    /// Try later.
    #[error("log unavailable: {0}")]
    Unavailable(String),
    /// A record is not what was written: leave this stream alone.
    #[error("record {seq} of {stream} is damaged: {reason}")]
    Damaged {
        /// The stream.
        stream: String,
        /// The record.
        seq: Seq,
        /// What is wrong with it.
        reason: String,
    },
}
