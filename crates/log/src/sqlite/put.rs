//! The statements of one append and of one erasure, within the writer's
//! transaction.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::types::FromSql;
use rusqlite::{OptionalExtension, Transaction, params};

use super::{Append, Error, Seq};
use crate::Row;
use crate::seal::{Bundle, HASH_BYTES, Sealed, text_checksum};

/// The maximum number of bytes of one piece of an erasure, unless one record is larger:
/// an append that comes meanwhile waits for one piece.
pub(super) const PIECE_BYTES: i64 = 128 * 1024;
/// The maximum number of records and attachments of one piece.
const PIECE_RECORDS: usize = 128;

/// The maximum number of streams that are remembered: those that grow at the same time are fewer.
const KNOWN_MAX: usize = 4096;

/// The state of a stream in the file before an append.
struct Known {
    id: i64,
    length: Seq,
    epoch: u64,
    /// The stream's row, if this writer wrote it.
    row: Option<Row>,
}

/// The streams that the only writer of the file has written to and that have not ended, as they are in
/// its transaction. After a failure they must be forgotten.
#[derive(Default)]
pub(super) struct Streams(HashMap<Arc<str>, Known>);

impl Streams {
    /// Writes one append. A refusal comes before any of it is written, so the rest of the transaction stands.
    pub(super) fn append(&mut self, tx: &Transaction<'_>, sealed: &Sealed) -> rusqlite::Result<Result<(), Error>> {
        let append = &sealed.append;
        let found = if self.0.contains_key(&append.stream) { None } else { find(tx, &append.stream)? };
        let known = found.as_ref().or_else(|| self.0.get(&append.stream));
        if let Some(refusal) = refusal(tx, known, append)? {
            return Ok(Err(refusal));
        }
        let stream = match known {
            Some(known) => update(tx, known, sealed)?,
            None => insert(tx, sealed)?,
        };
        put_words(tx, stream, sealed)?;
        put_records(tx, stream, sealed)?;
        put_claims(tx, stream, &append.claims)?;
        self.note(stream, append);
        Ok(Ok(()))
    }

    /// Forgets a stream.
    pub(super) fn forget(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Forgets every stream, because what was noted may not be in the file.
    pub(super) fn forget_all(&mut self) {
        self.0.clear();
    }

    fn note(&mut self, id: i64, append: &Append) {
        if append.row.ended_at.is_some() {
            return self.forget(&append.stream);
        }
        if self.0.len() >= KNOWN_MAX {
            self.forget_all();
        }
        let known = Known {
            id,
            length: length_after(append),
            epoch: append.epoch,
            row: Some(Row { words: None, ..append.row.clone() }),
        };
        self.0.insert(append.stream.clone(), known);
    }
}

/// Hides a stream from all readers; an unknown one is ignored. It has no kind from then
/// on, and its records are deleted piece by piece.
pub(super) fn hide(tx: &Transaction<'_>, name: &str) -> rusqlite::Result<()> {
    let mut id = tx.prepare_cached("SELECT id FROM streams WHERE name = ?")?;
    let Some(id) = id.query_row([name], |row| row.get::<_, i64>(0)).optional()? else { return Ok(()) };
    for table in ["tags", "claims"] {
        tx.prepare_cached(&format!("DELETE FROM {table} WHERE stream = ?"))?.execute([id])?;
    }
    for sql in ["DELETE FROM words WHERE rowid = ?", "DELETE FROM unindexed WHERE stream = ?"] {
        tx.prepare_cached(sql)?.execute([id])?;
    }
    // The row stays until its records are gone, so that no other stream gets its number.
    let hidden = "UPDATE streams SET name = ?, length = 0, epoch = 0, kind = '', status = '', started_at = 0,
        ended_at = NULL, body = '', checksum = NULL, words_checksum = NULL, claims_checksum = NULL WHERE id = ?";
    tx.prepare_cached(hidden)?.execute(params![format!("erased/{id}"), id])?;
    Ok(())
}

/// Deletes a piece of what is hidden: of one stream, or several small ones; false when there is nothing.
pub(super) fn erase_piece(tx: &Transaction<'_>) -> rusqlite::Result<bool> {
    let mut left = Piece { bytes: PIECE_BYTES, records: PIECE_RECORDS };
    let mut is_found = false;
    while left.has_room()
        && let Some(stream) = hidden(tx)?
    {
        is_found = true;
        erase_some(tx, stream, &mut left)?;
    }
    Ok(is_found)
}

fn hidden(tx: &Transaction<'_>) -> rusqlite::Result<Option<i64>> {
    let mut hidden = tx.prepare_cached("SELECT id FROM streams WHERE kind = '' LIMIT 1")?;
    hidden.query_row([], |row| row.get(0)).optional()
}

/// Deletes what may be deleted of a stream, and the stream once nothing of it is left.
fn erase_some(tx: &Transaction<'_>, stream: i64, left: &mut Piece) -> rusqlite::Result<()> {
    let of = "SELECT id, octet_length(body) FROM records WHERE stream = ? LIMIT ?";
    for id in left.choose::<i64>(tx, of, stream)? {
        tx.prepare_cached("DELETE FROM records WHERE id = ?")?.execute([id])?;
    }
    let of = "SELECT hash, octet_length(text) FROM attachments WHERE stream = ? LIMIT ?";
    for hash in left.choose::<Vec<u8>>(tx, of, stream)? {
        let sql = "DELETE FROM attachments WHERE stream = ? AND hash = ?";
        tx.prepare_cached(sql)?.execute(params![stream, hash])?;
    }
    if left.has_room() {
        tx.prepare_cached("DELETE FROM streams WHERE id = ?")?.execute([stream])?;
        left.records -= 1;
    }
    Ok(())
}

/// The limits on the rest of one piece of a deletion.
struct Piece {
    bytes: i64,
    records: usize,
}

impl Piece {
    /// Returns whether not all of it was used: then everything that was asked for is deleted.
    fn has_room(&self) -> bool {
        self.bytes > 0 && self.records > 0
    }

    /// Returns the keys of the rows that fit, at least the first one of an untouched piece.
    fn choose<T: FromSql>(&mut self, tx: &Transaction<'_>, sql: &str, stream: i64) -> rusqlite::Result<Vec<T>> {
        let mut chosen = Vec::new();
        let mut select = tx.prepare_cached(sql)?;
        let mut rows = select.query(params![stream, self.records])?;
        while self.bytes > 0
            && let Some(row) = rows.next()?
        {
            chosen.push(row.get(0)?);
            self.bytes -= row.get::<_, Option<i64>>(1)?.unwrap_or_default();
            self.records = self.records.saturating_sub(1);
        }
        Ok(chosen)
    }
}

fn find(tx: &Transaction<'_>, name: &str) -> rusqlite::Result<Option<Known>> {
    let mut find = tx.prepare_cached("SELECT id, length, epoch FROM streams WHERE name = ?")?;
    let known =
        |row: &rusqlite::Row<'_>| Ok(Known { id: row.get(0)?, length: row.get(1)?, epoch: row.get(2)?, row: None });
    find.query_row([name], known).optional()
}

fn refusal(tx: &Transaction<'_>, known: Option<&Known>, append: &Append) -> rusqlite::Result<Option<Error>> {
    let (length, epoch) = known.map_or((0, 0), |known| (known.length, known.epoch));
    if append.expected != length || append.epoch < epoch {
        return Ok(Some(Error::Fenced));
    }
    for key in &append.claims {
        let sql = "SELECT name FROM claims JOIN streams ON id = stream WHERE key = ?";
        let by: Option<String> = tx.prepare_cached(sql)?.query_row([key], |row| row.get(0)).optional()?;
        if let Some(by) = by.filter(|by| **by != *append.stream) {
            return Ok(Some(Error::Claimed { key: key.clone(), by }));
        }
    }
    Ok(None)
}

fn insert(tx: &Transaction<'_>, sealed: &Sealed) -> rusqlite::Result<i64> {
    let append = &sealed.append;
    let row = &append.row;
    // Keys that it claims are added by their own statement.
    let sql = "INSERT INTO streams (name, length, epoch, kind, status, started_at, ended_at, body, owner, checksum,
            words_checksum, claims_checksum)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)";
    let name = &append.stream;
    let length = length_after(append);
    let epoch = append.epoch;
    let owner = row.owner.as_str();
    let sum = sealed.row_checksum;
    let words = sealed.words_checksum;
    let values =
        params![name, length, epoch, row.kind, row.status, row.started_at, row.ended_at, row.body, owner, sum, words];
    let stream = tx.prepare_cached(sql)?.insert(values)?;
    put_tags(tx, stream, row)?;
    Ok(stream)
}

fn update(tx: &Transaction<'_>, known: &Known, sealed: &Sealed) -> rusqlite::Result<i64> {
    let append = &sealed.append;
    let sum = sealed.row_checksum;
    let id = known.id;
    let row = &append.row;
    let length = length_after(append);
    if known.row.as_ref() == Some(row) {
        let sql = "UPDATE streams SET length = ?, epoch = ?, checksum = ? WHERE id = ?";
        tx.prepare_cached(sql)?.execute(params![length, append.epoch, sum, id])?;
        return Ok(id);
    }
    let sql = "UPDATE streams SET length = ?, epoch = ?, status = ?, body = ?, checksum = ? WHERE id = ?";
    tx.prepare_cached(sql)?.execute(params![length, append.epoch, row.status, row.body, sum, id])?;
    let before = known.row.as_ref();
    if before.is_none_or(|before| place(before) != place(row)) {
        // A separate statement, because setting an indexed column rewrites its indexes.
        let sql = "UPDATE streams SET kind = ?, started_at = ?, ended_at = ?, owner = ? WHERE id = ?";
        let values = params![row.kind, row.started_at, row.ended_at, row.owner.as_str(), id];
        tx.prepare_cached(sql)?.execute(values)?;
    }
    if before.is_none_or(|before| before.tags != row.tags) {
        tx.prepare_cached("DELETE FROM tags WHERE stream = ?")?.execute([id])?;
        put_tags(tx, id, row)?;
    }
    Ok(id)
}

/// Returns what lists are sorted and filtered by.
fn place(row: &Row) -> (&str, u64, Option<u64>, &str) {
    (&row.kind, row.started_at, row.ended_at, row.owner.as_str())
}

fn length_after(append: &Append) -> Seq {
    append.expected + append.records.len() as Seq
}

fn put_records(tx: &Transaction<'_>, stream: i64, sealed: &Sealed) -> rusqlite::Result<()> {
    let sql = "INSERT INTO records (stream, seq, version, checksum, attachments, body, count)
        VALUES (?, ?, ?, ?, ?, ?, ?)";
    let mut insert = tx.prepare_cached(sql)?;
    let mut seq = sealed.append.expected;
    let mut records = sealed.append.records.iter();
    for Bundle { count, checksum, hashes, body } in &sealed.bundles {
        insert.execute(params![stream, seq, sealed.append.version, checksum, hashes, body, count])?;
        for record in records.by_ref().take(*count) {
            put_attachments(tx, stream, &record.attachments, hashes)?;
        }
        seq += *count as Seq;
    }
    Ok(())
}

fn put_attachments(tx: &Transaction<'_>, stream: i64, texts: &[Arc<str>], hashes: &[u8]) -> rusqlite::Result<()> {
    for (text, hash) in texts.iter().zip(hashes.chunks_exact(HASH_BYTES)) {
        let sql = "INSERT OR IGNORE INTO attachments (stream, hash, text) VALUES (?, ?, ?)";
        tx.prepare_cached(sql)?.execute(params![stream, hash, text])?;
    }
    Ok(())
}

/// Replaces the words of a stream, where the append has other ones. Words that wait are not in the index, which
/// is asked only about others: a look into it costs as much as all else of an append.
fn put_words(tx: &Transaction<'_>, stream: i64, sealed: &Sealed) -> rusqlite::Result<()> {
    let append = &sealed.append;
    let Some(words) = &append.row.words else { return Ok(()) };
    if append.expected > 0 {
        let sql = "UPDATE streams SET words_checksum = ?1 WHERE id = ?2 AND words_checksum IS NOT ?1";
        tx.prepare_cached(sql)?.execute(params![sealed.words_checksum, stream])?;
        let replaced = "UPDATE unindexed SET text = ? WHERE stream = ?";
        if tx.prepare_cached(replaced)?.execute(params![words, stream])? > 0 {
            return Ok(());
        }
        let mut indexed = tx.prepare_cached("SELECT text = ? FROM words WHERE rowid = ?")?;
        match indexed.query_row(params![words, stream], |row| row.get(0)).optional()? {
            Some(true) => return Ok(()),
            Some(false) => tx.prepare_cached("DELETE FROM words WHERE rowid = ?")?.execute([stream])?,
            None => 0,
        };
    }
    tx.prepare_cached("INSERT INTO unindexed (stream, text) VALUES (?, ?)")?.execute(params![stream, words])?;
    Ok(())
}

/// Adds the keys that a stream claims and does not hold yet. The checksum of a stream from before there was
/// one stays unknown.
fn put_claims(tx: &Transaction<'_>, stream: i64, claims: &[String]) -> rusqlite::Result<()> {
    let mut sum = 0;
    for key in claims {
        let sql = "INSERT OR IGNORE INTO claims (key, stream) VALUES (?, ?)";
        if tx.prepare_cached(sql)?.execute(params![key, stream])? > 0 {
            sum ^= text_checksum(key);
        }
    }
    if sum > 0 {
        let sql = "UPDATE streams SET claims_checksum = (claims_checksum | ?1) - (claims_checksum & ?1) WHERE id = ?2";
        tx.prepare_cached(sql)?.execute(params![sum, stream])?;
    }
    Ok(())
}

fn put_tags(tx: &Transaction<'_>, stream: i64, row: &Row) -> rusqlite::Result<()> {
    for (key, value) in &row.tags {
        let sql = "INSERT INTO tags (stream, key, value) VALUES (?, ?, ?)";
        tx.prepare_cached(sql)?.execute(params![stream, key, value])?;
    }
    Ok(())
}
