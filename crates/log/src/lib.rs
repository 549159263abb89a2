//! Seam 1, storage: streams of records, numbered densely from 0. The log
//! does not interpret its records, so everything durable can be a stream.
//! With it: the [`codec`] of events, the [`damage`] of streams, the [`clock`]
//! whose times the records carry, [`private`] files, the [`words`] of searches, the [`seal`] of
//! records, the [`cluster`] of nodes that share a log, and the [`transfer`] of logs.

pub mod clock;
pub mod cluster;
pub mod codec;
pub mod damage;
mod memory;
pub mod private;
pub mod seal;
mod sqlite;
pub mod transfer;
pub mod words;

#[cfg(any(test, feature = "testing"))]
pub mod conformance;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use memory::MemoryLog;
pub use sqlite::{Fault, Lost, Options, SqliteLog, announce, served_at};

use consort_core::event::COMMON_VERSION;
use consort_core::id::Millis;
use consort_core::owner::Owner;
use futures::future::BoxFuture;
use tokio::sync::watch;

/// The newest version of records, which this program reads. Each record is stored with the version of its append;
/// one of a later version is damaged for this program, which names the version and leaves the stream as it is.
pub use consort_core::event::VERSION;

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

/// All that one decision writes.
#[derive(Clone, Debug)]
pub struct Append {
    /// The name of the stream.
    pub stream: Arc<str>,
    /// The length of the stream that the writer expects.
    pub expected: Seq,
    /// The writer's epoch; an older one than the stream has seen is refused. One above 0 makes the node that
    /// writes the owner of the stream, see [`cluster::Ownership`]; 0 leaves the owner as it is.
    pub epoch: u64,
    /// All events of the decision.
    pub records: Vec<Record>,
    /// The new row of the stream in lists.
    pub row: Row,
    /// The keys that no other stream may hold.
    pub claims: Vec<String>,
    /// The version of the records: programs of an earlier one cannot read them.
    pub version: u32,
}

impl Append {
    /// Returns an append of records that every node reads, by a writer without an epoch, which claims nothing.
    pub fn new(stream: impl Into<Arc<str>>, expected: Seq, records: Vec<Record>, row: Row) -> Append {
        let stream = stream.into();
        Append { stream, expected, epoch: 0, records, row, claims: Vec::new(), version: COMMON_VERSION }
    }
}

/// A stream as a row of a list, stored with every append, so that lists,
/// filters, retention and recovery never read streams. A log stores its checksum with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The kind of the stream (`run`, …).
    pub kind: Arc<str>,
    /// The status that people see (`RUNNING`, …).
    pub status: Arc<str>,
    /// The owner that sees the stream; `local` for streams without an owner.
    pub owner: Owner,
    /// The start time.
    pub started_at: Millis,
    /// The end time; absent while the stream may still grow.
    pub ended_at: Option<Millis>,
    /// Labels to filter by.
    pub tags: BTreeMap<String, String>,
    /// The rest of the row, as JSON.
    pub body: Arc<str>,
    /// The text that the stream is found by. Absent in an append, it stays as it was; in lists it is
    /// there for a query with words.
    pub words: Option<Arc<str>>,
}

/// The body of a row that differs from what was written: JSON, but of no reader's type, so that each
/// of them reports it.
const DAMAGED_BODY: &str = "\"its checksum is wrong\"";

impl Row {
    /// Returns the row as lists show it when it differs from what was written: without its body.
    pub fn damaged(self) -> Row {
        Row { body: DAMAGED_BODY.into(), ..self }
    }

    /// Returns whether it differs from what was written.
    pub fn is_damaged(&self) -> bool {
        &*self.body == DAMAGED_BODY
    }
}

/// The filter, order and page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The kind of the streams.
    pub kind: Option<String>,
    /// The name of the only stream to list.
    pub stream: Option<String>,
    /// The key that the only stream to list holds.
    pub claim: Option<String>,
    /// The status of the streams.
    pub status: Option<String>,
    /// The owner that sees the streams.
    pub owner: Option<Owner>,
    /// Whether to list only ended streams (true), or only unended ones (false).
    pub ended: Option<bool>,
    /// The tags that the streams must all have; a tag without a value matches any.
    pub tags: Vec<(String, Option<String>)>,
    /// The words that the texts of the streams must all have.
    pub words: Option<String>,
    /// The earliest start of the streams.
    pub started_from: Option<Millis>,
    /// The latest start of the streams.
    pub started_to: Option<Millis>,
    /// The row after which the list begins, for the orders by start: the end of the page before. Unlike an offset it
    /// stays where it is when streams begin or are erased, and rows before it are not read.
    pub after: Option<Place>,
    /// The order of the rows.
    pub order: Order,
    /// The number of rows to skip.
    pub offset: usize,
    /// The maximum number of rows to return.
    pub limit: usize,
}

/// The place of a row in the orders by start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The start time.
    pub started_at: Millis,
    /// The name of the stream.
    pub stream: String,
}

/// The order of rows; ties by stream name, in the same direction.
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
    /// The number of rows that match, before paging by offset.
    pub total: usize,
}

/// Stores streams. Promises: an append is written whole or not at all; once
/// `append` has returned, it survives a crash; a refused append writes
/// nothing; readers never wait for writers, nor writers for readers; an erased
/// stream is gone for every reader from then on.
pub trait Log: Compact + Send + Sync + 'static {
    /// Writes one decision in one transaction. An answer that was lost on the way is settled in here: this
    /// returns when the append is known to be stored or not.
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>>;

    /// Returns at most `max` records from `from` on; empty past the end.
    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>>;

    /// Returns the rows that match.
    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>>;

    /// Removes streams: records, attachments, rows and claims. Unknown names
    /// are ignored.
    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>>;

    /// Returns a number that changes after every commit that changes this stream, its erasure included, also
    /// one of another process: a reader that follows a stream it does not own waits on this. It may change for
    /// other reasons too, and changes that come close together may show as one. A log that others write to looks
    /// for their changes at least every 500 ms, with one query for all the streams that somebody waits on; a
    /// stream without receivers costs nothing.
    fn news(&self, stream: &str) -> watch::Receiver<u64>;
}

/// Removes what erased streams have left behind.
pub trait Compact {
    /// Returns once no byte of an erased stream is in any of the log's files. Everything
    /// else may have to wait for it meanwhile.
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>>;
}

/// The reason why the log refused or failed, named by what the caller can do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Stop: another writer owns this stream now.
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
    /// Try again later.
    #[error("the store cannot be used: {0}")]
    Unavailable(String),
    /// A record differs from what was written: do not use this stream.
    #[error("record {seq} of {stream} is damaged: {reason}")]
    Damaged {
        /// The stream.
        stream: String,
        /// The record.
        seq: Seq,
        /// The description of the damage.
        reason: String,
    },
}
