//! The stored form of collections: a stream for each, which says what was put into it and taken
//! out again, and a stream for each document with its text and vectors, so that a document that
//! is removed or replaced can be erased. The first edition stored documents in the collection's
//! own stream, where they are still read.

use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_log::damage::fault;
use consort_log::{self as log, Append, Record, Row, Seq};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::KIND;
use crate::extract::Extracted;

/// The kind of a document's stream, and the prefix of its name.
pub const DOCUMENT: &str = "document";
/// The tag of a document's stream that names its collection.
pub(super) const COLLECTION_TAG: &str = "collection";

/// An event of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum CollectionEvent {
    Created,
    /// A document of the first edition.
    Added {
        title: String,
        text: String,
    },
    /// Vectors of the passages of a first-edition document, from this one on, computed by one model.
    Embedded {
        document: u64,
        from: usize,
        model: String,
        vectors: Vec<String>,
    },
    /// A document, new or in place of the one with the same number.
    Placed {
        document: u64,
        /// The stream with its text.
        stream: String,
        title: String,
        media_type: String,
        /// The size of the file.
        bytes: u64,
        at: Millis,
    },
    /// A document has vectors in this record of its stream.
    Vectors {
        document: u64,
        stream: String,
        record: Seq,
    },
    /// A document is gone.
    Removed {
        document: u64,
    },
}

/// A record of a document's stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum DocumentEvent {
    /// The text; always the first record.
    Text { pages: Vec<String>, is_paged: bool },
    /// Vectors of passages, from this one on, computed by one model.
    Embedded { from: usize, model: String, vectors: Vec<String> },
}

impl DocumentEvent {
    /// Returns the record with a text.
    pub(super) fn of(text: Extracted) -> DocumentEvent {
        DocumentEvent::Text { pages: text.pages, is_paged: text.is_paged }
    }
}

/// The collection's own fields of its row in the log's list.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) length: Seq,
    pub(super) documents: u64,
    pub(super) updated_at: Millis,
    /// The highest number that was given to a document; absent where none was ever removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) numbered: Option<u64>,
}

/// Returns the name of a collection's stream.
pub(super) fn stream(name: &str) -> String {
    format!("{KIND}/{name}")
}

/// Returns an append of one event to a collection.
pub(super) fn append(
    name: &str,
    (created_at, summary): (Millis, Summary),
    event: &CollectionEvent,
) -> Result<Append, log::Error> {
    let row = row((KIND, name), created_at, json(&summary)?);
    let stream = stream(name);
    let expected = summary.length - 1;
    Ok(Append::new(stream, expected, vec![record(event)?], row))
}

/// Returns an append of the next record to a document's stream.
pub(super) fn append_document(
    (collection, stream): (&str, &str),
    expected: Seq,
    event: &DocumentEvent,
    now: Millis,
) -> Result<Append, log::Error> {
    let row = row((DOCUMENT, collection), now, "{}".to_owned());
    Ok(Append::new(stream, expected, vec![record(event)?], row))
}

fn row((kind, collection): (&str, &str), started_at: Millis, body: String) -> Row {
    Row {
        kind: kind.into(),
        status: "OPEN".into(),
        started_at,
        owner: Owner::local(),
        ended_at: None,
        tags: [(COLLECTION_TAG.to_owned(), collection.to_owned())].into(),
        body: body.into(),
        words: None,
    }
}

fn record(event: &impl Serialize) -> Result<Record, log::Error> {
    Ok(Record { body: json(event)?.into(), attachments: Vec::new() })
}

fn json(value: &impl Serialize) -> Result<String, log::Error> {
    serde_json::to_string(value).map_err(|error| log::Error::Unavailable(error.to_string()))
}

/// Reads a record of a stream.
pub(super) fn read<T: DeserializeOwned>(stream: &str, seq: Seq, record: &Record) -> Result<T, log::Error> {
    let damaged = |error: serde_json::Error| {
        let reason = fault(&record.body, &error);
        log::Error::Damaged { stream: stream.to_owned(), seq, reason }
    };
    serde_json::from_str(&record.body).map_err(damaged)
}
