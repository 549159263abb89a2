//! Copies of whole logs from one kind to another. Everything is read with its checksums, and
//! what arrived is read again: both sides have the same digest.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};

use crate::{Append, Error, Log, Order, Query, Record, Row, Seq, VERSION};

/// Streams listed at once.
const STREAMS: usize = 500;
/// Records read and written at once: documents may be large.
const RECORDS: usize = 64;
/// Streams copied at the same time, so that their commits are shared.
const AT_ONCE: usize = 32;

/// The state of a stream that neither its records nor lists tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The epoch of its last writer.
    pub epoch: u64,
    /// The keys it holds, in their order.
    pub claims: Vec<String>,
    /// The text it is found by.
    pub words: Option<Arc<str>>,
}

/// A log that tells all it knows of a stream.
pub trait Detailed: Log {
    /// Returns the details of a stream; none for one that is not there.
    fn details(&self, stream: &str) -> BoxFuture<'_, Result<Option<Details>, Error>>;
}

/// The size of a log, and the digest of all that is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The number of streams.
    pub streams: usize,
    /// The number of records.
    pub records: u64,
    /// The digest, in hexadecimal digits. It does not depend on the kind of log.
    pub digest: String,
}

/// Whether the streams that have not ended keep the epoch of their writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epochs {
    /// They do: several nodes may write to the copy.
    Kept,
    /// They do not: one process owns the copy and counts from the events.
    Fresh,
}

/// Reads everything that is in a log. Damage is an error.
pub async fn survey(log: &dyn Detailed) -> Result<Survey, Error> {
    let mut survey = Survey::default();
    let mut digest = Sha256::new();
    loop {
        let rows = page(log, survey.streams).await?;
        for (stream, row) in &rows {
            if row.is_damaged() {
                let reason = "the checksum of its row is wrong".to_owned();
                return Err(Error::Damaged { stream: stream.to_string(), seq: 0, reason });
            }
            let details = log.details(stream).await?.unwrap_or_default();
            hash_head(&mut digest, stream, row, &details);
            survey.records += hash_records(log, stream, &mut digest).await?;
        }
        survey.streams += rows.len();
        if rows.len() < STREAMS {
            survey.digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            return Ok(survey);
        }
    }
}

/// Copies everything to an empty log.
pub async fn copy(from: &dyn Detailed, to: &dyn Log, epochs: Epochs) -> Result<(), Error> {
    let mut copied = 0;
    loop {
        let rows = page(from, copied).await?;
        let count = rows.len();
        copied += count;
        let copies = rows.into_iter().map(|(stream, row)| copy_stream(from, to, epochs, (stream, row)));
        stream::iter(copies).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        if count < STREAMS {
            return Ok(());
        }
    }
}

async fn page(log: &dyn Detailed, offset: usize) -> Result<Vec<(Arc<str>, Row)>, Error> {
    let query = Query { order: Order::OldestStart, offset, limit: STREAMS, ..Query::default() };
    Ok(log.list(query).await?.rows)
}

async fn copy_stream(
    from: &dyn Detailed,
    to: &dyn Log,
    epochs: Epochs,
    (stream, row): (Arc<str>, Row),
) -> Result<(), Error> {
    let Details { epoch, claims, words } = from.details(&stream).await?.unwrap_or_default();
    let is_fresh = epochs == Epochs::Fresh && row.ended_at.is_none();
    let epoch = if is_fresh { 0 } else { epoch };
    let row = Row { words, ..row };
    let mut expected: Seq = 0;
    loop {
        let records = from.read(&stream, expected, RECORDS).await?;
        let count = records.len();
        let claims = if expected == 0 { claims.clone() } else { Vec::new() };
        to.append(Append {
            epoch,
            claims,
            version: VERSION,
            ..Append::new(stream.clone(), expected, records, row.clone())
        })
        .await?;
        expected += count as Seq;
        if count < RECORDS {
            return Ok(());
        }
    }
}

fn hash_head(digest: &mut Sha256, stream: &str, row: &Row, details: &Details) {
    for text in [stream, &row.kind, &row.status, row.owner.as_str(), &row.body] {
        hash_text(digest, text);
    }
    digest.update(row.started_at.to_be_bytes());
    digest.update(row.ended_at.map_or(u64::MAX, |end| end).to_be_bytes());
    digest.update((row.tags.len() as u64).to_be_bytes());
    for (key, value) in &row.tags {
        hash_text(digest, key);
        hash_text(digest, value);
    }
    hash_text(digest, details.words.as_deref().unwrap_or_default());
    digest.update((details.claims.len() as u64).to_be_bytes());
    details.claims.iter().for_each(|key| hash_text(digest, key));
}

async fn hash_records(log: &dyn Detailed, stream: &str, digest: &mut Sha256) -> Result<u64, Error> {
    let mut count: Seq = 0;
    loop {
        let records = log.read(stream, count, RECORDS).await?;
        records.iter().for_each(|record| hash_record(digest, record));
        count += records.len() as Seq;
        if records.len() < RECORDS {
            digest.update(count.to_be_bytes());
            return Ok(count);
        }
    }
}

fn hash_record(digest: &mut Sha256, record: &Record) {
    hash_text(digest, &record.body);
    digest.update((record.attachments.len() as u64).to_be_bytes());
    record.attachments.iter().for_each(|text| hash_text(digest, text));
}

/// Adds a text with its length, so that no two lists of texts look alike.
fn hash_text(digest: &mut Sha256, text: &str) {
    digest.update((text.len() as u64).to_be_bytes());
    digest.update(text.as_bytes());
}
