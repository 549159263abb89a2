//! Brings the search index up to the log: reads what was stored in a collection since the last
//! time, a piece at a time, so that searches in other collections come between them.

use std::sync::Arc;

use consort_core::id::Millis;
use consort_log::{self as log, Query, Record, Seq};

use super::index::{Index, IndexChange, Meta, Source};
use super::stored::{self, COLLECTION_TAG, CollectionEvent, DOCUMENT, DocumentEvent};
use super::vectors;
use super::{Collection, Collections, DOCUMENTS_MAX, Error, Found};
use crate::extract::Extracted;

/// Records read and indexed at once: with documents of the largest size, 32 MiB.
pub(super) const PAGE: usize = 8;
/// The age from which a document's stream that its collection does not name is a leftover of a
/// process that died, and not one that is being added.
const LEFTOVER_MS: u64 = 3_600_000;

/// An event with what it refers to in a document's stream.
struct Read {
    event: CollectionEvent,
    document_event: Result<Option<DocumentEvent>, log::Error>,
}

impl Collections {
    /// Reads the records that were added since the last search.
    pub(super) async fn catch_up(&self, found: &Found, now: Millis) -> Result<(), Error> {
        let Found { collection: Collection { name, created_at, .. }, length, .. } = found;
        let stream = stored::stream(name);
        let created_at = *created_at;
        let mut is_first = false;
        loop {
            let collection = name.clone();
            let from = self.with_index(move |index| index.length(&collection, created_at)).await?;
            is_first |= from == 0;
            if from >= *length {
                break;
            }
            let records = self.damage.note(self.log.read(&stream, from, PAGE).await)?;
            if records.is_empty() {
                break;
            }
            let mut facts = Vec::with_capacity(records.len());
            for (seq, record) in (from..).zip(&records) {
                facts.push(self.read(&stream, seq, record).await?);
            }
            let collection = name.clone();
            let created = created_at;
            let model = self.embedder.as_ref().map(|embedder| embedder.model().to_owned());
            let add = move |index: &mut Index| {
                let entries = (from..).zip(facts).map(|(seq, read)| entry(seq, read, (created, model.as_deref())));
                index.add(&collection, from, entries.collect())
            };
            self.with_index(add).await?;
        }
        if is_first { self.sweep(name, now).await } else { Ok(()) }
    }

    /// Reads an event with what it refers to.
    async fn read(&self, stream: &str, seq: Seq, record: &Record) -> Result<Read, Error> {
        let event = self.damage.note(stored::read(stream, seq, record))?;
        let document_event = match self.referred(&event).await {
            // A document that cannot be read does not affect the others.
            damaged @ Err(log::Error::Damaged { .. }) => damaged,
            read => Ok(read?),
        };
        Ok(Read { event, document_event })
    }

    /// Reads what an event refers to. A document that was removed since is not there any more.
    async fn referred(&self, event: &CollectionEvent) -> Result<Option<DocumentEvent>, log::Error> {
        let (stream, record) = match event {
            CollectionEvent::Placed { stream, .. } => (stream, 0),
            CollectionEvent::Vectors { stream, record, .. } => (stream, *record),
            CollectionEvent::Created
            | CollectionEvent::Added { .. }
            | CollectionEvent::Embedded { .. }
            | CollectionEvent::Removed { .. } => return Ok(None),
        };
        self.document_event(stream, record).await
    }

    /// Reads one record of a document's stream, if it is there.
    pub(super) async fn document_event(&self, stream: &str, record: Seq) -> Result<Option<DocumentEvent>, log::Error> {
        let read = self.damage.note(self.log.read(stream, record, 1).await)?;
        read.first().map(|found| self.damage.note(stored::read(stream, record, found))).transpose()
    }

    /// Erases the streams of documents that were removed or replaced, or never put into their
    /// collection, by a process that died over it.
    async fn sweep(&self, name: &str, now: Millis) -> Result<(), Error> {
        let collection = name.to_owned();
        let (current, gone) = self.with_index(move |index| Ok(index.streams(&collection))).await?;
        let stored = self.document_streams(name).await?;
        let is_leftover = |(stream, started_at): &(Arc<str>, Millis)| {
            let is_old = now.saturating_sub(*started_at) > LEFTOVER_MS;
            gone.contains(&**stream) || (is_old && !current.contains(&**stream))
        };
        let leftovers: Vec<Arc<str>> = stored.into_iter().filter(is_leftover).map(|(stream, _)| stream).collect();
        if !leftovers.is_empty() {
            tracing::info!(collection = name, documents = leftovers.len(), "erasing what is left of removed documents");
            self.log.erase(leftovers).await?;
        }
        Ok(())
    }

    /// Returns the streams of all documents of a collection, and when they were stored.
    pub(super) async fn document_streams(&self, name: &str) -> Result<Vec<(Arc<str>, Millis)>, Error> {
        let tags = vec![(COLLECTION_TAG.to_owned(), Some(name.to_owned()))];
        // Twice as many as there may be: every one of them may have been replaced.
        let limit = usize::try_from(2 * DOCUMENTS_MAX).unwrap_or(usize::MAX);
        let query = Query { kind: Some(DOCUMENT.to_owned()), tags, limit, ..Query::default() };
        let rows = self.log.list(query).await?.rows;
        Ok(rows.into_iter().map(|(stream, row)| (stream, row.started_at)).collect())
    }
}

/// Returns what an event changes in the search index; vectors of other models change nothing.
fn entry(
    seq: Seq,
    Read { event, document_event }: Read,
    (created_at, embedder): (Millis, Option<&str>),
) -> IndexChange {
    let vectors = |model: &str, vectors: &[String]| -> Vec<_> {
        let is_ours = embedder == Some(model);
        vectors.iter().filter(|_| is_ours).filter_map(|text| vectors::read(text)).collect()
    };
    match event {
        CollectionEvent::Created => IndexChange::Nothing,
        CollectionEvent::Added { title, text } => {
            let bytes = text.len() as u64;
            let media_type = "text/plain".to_owned();
            let meta = Meta { title, media_type, bytes, created_at, damage: None, source: Source::Record(seq) };
            IndexChange::Document { number: None, meta, text: Some(Extracted::plain(text)) }
        }
        CollectionEvent::Embedded { document, from, model, vectors: texts } => {
            IndexChange::Vectors { document, place: None, from, vectors: vectors(&model, &texts) }
        }
        CollectionEvent::Placed { document, stream, title, media_type, bytes, at } => {
            let (text, damage) = match document_event {
                Ok(Some(DocumentEvent::Text { pages, is_paged })) => (Some(Extracted { pages, is_paged }), None),
                Ok(Some(DocumentEvent::Embedded { .. }) | None) => (None, Some("its text is missing".to_owned())),
                Err(error) => (None, Some(error.to_string())),
            };
            let meta = Meta { title, media_type, bytes, created_at: at, damage, source: Source::Stream(stream) };
            IndexChange::Document { number: Some(document), meta, text }
        }
        CollectionEvent::Vectors { document, stream, record } => {
            let (from, vectors) = match document_event {
                Ok(Some(DocumentEvent::Embedded { from, model, vectors: texts })) => (from, vectors(&model, &texts)),
                Ok(Some(DocumentEvent::Text { .. }) | None) | Err(_) => (0, Vec::new()),
            };
            IndexChange::Vectors { document, place: Some((stream, record)), from, vectors }
        }
        CollectionEvent::Removed { document } => IndexChange::Removed(document),
    }
}
