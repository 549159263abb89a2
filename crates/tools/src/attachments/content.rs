//! The bytes of files, in pieces: each is a record of the stream that a file's bytes have, so that a large file is
//! never held as a whole but in the place where it came from.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_log::{self as log, Append, Log, Record};
use sha2::{Digest, Sha256};

use super::{Attachment, Attachments, CONTENT, Error, append, damaged, digits, row};
use crate::buffer::Buffer;
use crate::busy;

/// The size of a piece of a file in bytes: what is written, read or sent at once. Without a rest when divided by
/// three, so that the pieces in base64, one after the other, are the file in base64.
pub(super) const PIECE_BYTES: usize = 192 * 1024;
/// The number of pieces that are stored together: all that is held of a file beside its bytes.
const PIECES_TOGETHER: usize = 8;
/// The number of tries to store bytes that another erases at the same time.
const TRIES_MAX: usize = 3;

impl Attachments {
    /// Returns the bytes of an attachment in base64.
    pub async fn base64(&self, attachment: &Attachment) -> Result<Arc<str>, Error> {
        Ok(self.pieces(attachment).await?.concat().into())
    }

    /// Returns the pieces of an attachment in base64, as they are stored.
    async fn pieces(&self, attachment: &Attachment) -> Result<Vec<Arc<str>>, Error> {
        let stream = attachment.content_stream();
        let records = self.log.read(&stream, 0, usize::MAX).await?;
        let pieces: Vec<Arc<str>> = records.into_iter().flat_map(|record| record.attachments).collect();
        if pieces.is_empty() { Err(missing(&stream).into()) } else { Ok(pieces) }
    }

    /// Returns the bytes of an attachment.
    pub async fn content(&self, attachment: &Attachment) -> Result<Bytes, Error> {
        let no_memory = |error: std::io::Error| log::Error::Unavailable(error.to_string());
        let size = usize::try_from(attachment.bytes).unwrap_or(usize::MAX);
        let mut content = Buffer::new(size).map_err(no_memory)?;
        let mut reading = self.open(attachment);
        while let Some(piece) = reading.next().await? {
            content.add(&piece).map_err(|_too_much| changed(&reading.stream))?;
        }
        Ok(content.into())
    }

    /// Begins to read the bytes of an attachment, piece by piece.
    pub fn open(&self, attachment: &Attachment) -> Reading {
        Reading {
            log: self.log.clone(),
            stream: attachment.content_stream(),
            sha256: attachment.sha256.clone(),
            left: attachment.bytes,
            next: 0,
            digest: Sha256::new(),
        }
    }

    /// Stores bytes, unless they are there: some pieces at a time, of which others may store some, too.
    pub(super) async fn store_content(&self, stream: &str, of: (&Owner, Millis), bytes: &[u8]) -> Result<(), Error> {
        let last = bytes.len().div_ceil(PIECE_BYTES).saturating_sub(1) as log::Seq;
        for _try in 0..TRIES_MAX {
            let is_new = self.store_pieces(stream, of, bytes).await?;
            if is_new || self.is_whole(stream, last).await? {
                return Ok(());
            }
        }
        Err(missing(stream).into())
    }

    /// Stores the pieces that are not there; returns whether none was.
    async fn store_pieces(&self, stream: &str, (owner, now): (&Owner, Millis), bytes: &[u8]) -> Result<bool, Error> {
        let mut is_new = true;
        let mut expected = 0;
        for some in bytes.chunks(PIECES_TOGETHER * PIECE_BYTES) {
            let pieces = busy::in_place(|| encoded(some));
            let records = pieces.into_iter().map(|piece| Record { body: "{}".into(), attachments: vec![piece] });
            let records: Vec<Record> = records.collect();
            let next = expected + records.len() as log::Seq;
            let row = row((CONTENT, owner), now, "{}".to_owned(), &[]);
            let content = append(stream.to_owned(), (expected, "{}"), Vec::new(), row);
            match self.log.append(Append { records, ..content }).await {
                Ok(()) => {}
                Err(log::Error::Fenced) if expected == 0 && self.is_whole(stream, log::Seq::MAX).await? => {
                    return Ok(false);
                }
                Err(log::Error::Fenced) => is_new = false,
                Err(error) => return Err(error.into()),
            }
            expected = next;
        }
        Ok(is_new)
    }

    /// Returns whether bytes are stored up to this piece, or, as earlier versions did it, in one.
    async fn is_whole(&self, stream: &str, last: log::Seq) -> Result<bool, Error> {
        if !self.log.read(stream, last, 1).await?.is_empty() {
            return Ok(true);
        }
        let first = self.log.read(stream, 0, 1).await?;
        let text = first.first().and_then(|record| record.attachments.first());
        Ok(text.is_some_and(|text| text.len() > PIECE_BYTES / 3 * 4))
    }
}

/// The bytes of an attachment, as they are read from the log.
pub struct Reading {
    log: Arc<dyn Log>,
    stream: String,
    /// The hash that all of them must have.
    sha256: String,
    /// The number of bytes that are still to come.
    left: u64,
    /// The record of the next piece.
    next: log::Seq,
    /// The hash of those that were read.
    digest: Sha256,
}

impl Reading {
    /// Returns the next piece; nothing at the end. The last one is returned only if all together are what was sent.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let records = self.log.read(&self.stream, self.next, 1).await?;
        let text = records.first().and_then(|record| record.attachments.first());
        let text = text.ok_or_else(|| missing(&self.stream))?;
        let decoded = busy::in_place(|| {
            let piece = STANDARD.decode(text.as_bytes()).ok()?;
            self.digest.update(&piece);
            Some(piece)
        });
        let piece = decoded.filter(|piece| !piece.is_empty()).ok_or_else(|| changed(&self.stream))?;
        self.next += 1;
        self.left = self.left.checked_sub(piece.len() as u64).ok_or_else(|| changed(&self.stream))?;
        if self.left == 0 && digits(&self.digest.clone().finalize()) != self.sha256 {
            return Err(changed(&self.stream).into());
        }
        Ok(Some(piece))
    }
}

fn missing(stream: &str) -> log::Error {
    damaged(stream, "the bytes of a file are missing")
}

fn changed(stream: &str) -> log::Error {
    damaged(stream, "the bytes of a file are not those that were sent")
}

/// Returns the pieces of a file in base64.
fn encoded(bytes: &[u8]) -> Vec<Arc<str>> {
    bytes.chunks(PIECE_BYTES).map(|piece| STANDARD.encode(piece).into()).collect()
}
