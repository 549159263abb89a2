//! The statements of one append and of one erasure, within the writer's
//! transaction.

use std::sync::Arc;

use rusqlite::types::FromSql;
use rusqlite::{OptionalExtension, Transaction, params};

use super::seal::{HASH_BYTES, Sealed};
use super::{Append, Error, Seq};
use crate::{Row, VERSION};

/// The maximum number of bytes of one piece of an erasure, unless one record is larger:
/// an append that comes meanwhile waits for one piece.
pub(super) const PIECE_BYTES: i64 = 128 * 1024;
/// The maximum number of records and attachments of one piece.
const PIECE_RECORDS: usize = 64;

/// The state of a stream in the file before an append.
struct Known {
    id: i64,
    length: Seq,
    epoch: u64,
    /// True when the append does not change the columns that lists are sorted or filtered by.
    same_place: bool,
}

/// Writes one append. A refusal comes before any of it is written, so the rest of the transaction stands.
pub(super) fn append(tx: &Transaction<'_>, sealed: &Sealed) -> rusqlite::Result<Result<(), Error>> {
    let append = &sealed.append;
    let known = find(tx, append)?;
    if let Some(refusal) = refusal(tx, known.as_ref(), append)? {
        return Ok(Err(refusal));
    }
    let stream = match known {
        Some(known) => update(tx, &known, append)?,
        None => insert(tx, append)?,
    };
    put_records(tx, stream, sealed)?;
    for key in &append.claims {
        tx.prepare_cached("INSERT OR IGNORE INTO claims (key, stream) VALUES (?, ?)")?.execute(params![key, stream])?;
    }
    Ok(Ok(()))
}

/// Hides a stream from everybody; an unknown one is ignored. It has no kind from then
/// on, and its records are deleted piece by piece.
pub(super) fn hide(tx: &Transaction<'_>, name: &str) -> rusqlite::Result<()> {
    let mut id = tx.prepare_cached("SELECT id FROM streams WHERE name = ?")?;
    let Some(id) = id.query_row([name], |row| row.get::<_, i64>(0)).optional()? else { return Ok(()) };
    for table in ["tags", "claims"] {
        tx.prepare_cached(&format!("DELETE FROM {table} WHERE stream = ?"))?.execute([id])?;
    }
    // The row stays until its records are gone, so that no other stream gets its number.
    let hidden = "UPDATE streams SET name = ?, length = 0, epoch = 0, kind = '', status = '', started_at = 0,
        ended_at = NULL, body = '' WHERE id = ?";
    tx.prepare_cached(hidden)?.execute(params![format!("erased/{id}"), id])?;
    Ok(())
}

/// Deletes a piece of the first hidden stream; false when there is none.
pub(super) fn erase_piece(tx: &Transaction<'_>) -> rusqlite::Result<bool> {
    let mut hidden = tx.prepare_cached("SELECT id FROM streams WHERE kind = '' LIMIT 1")?;
    let Some(stream) = hidden.query_row([], |row| row.get::<_, i64>(0)).optional()? else { return Ok(false) };
    let mut left = Piece { bytes: PIECE_BYTES, records: PIECE_RECORDS };
    let of = "SELECT id, octet_length(body) FROM records WHERE stream = ? LIMIT ?";
    let records = left.choose::<i64>(tx, of, stream)?;
    for id in &records {
        tx.prepare_cached("DELETE FROM records WHERE id = ?")?.execute([id])?;
    }
    let of = "SELECT hash, octet_length(text) FROM attachments WHERE stream = ? LIMIT ?";
    let attachments = left.choose::<Vec<u8>>(tx, of, stream)?;
    for hash in &attachments {
        let sql = "DELETE FROM attachments WHERE stream = ? AND hash = ?";
        tx.prepare_cached(sql)?.execute(params![stream, hash])?;
    }
    if records.is_empty() && attachments.is_empty() {
        tx.prepare_cached("DELETE FROM streams WHERE id = ?")?.execute([stream])?;
    }
    Ok(true)
}

/// What may still be deleted in one piece.
struct Piece {
    bytes: i64,
    records: usize,
}

impl Piece {
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

fn find(tx: &Transaction<'_>, append: &Append) -> rusqlite::Result<Option<Known>> {
    let sql = "SELECT id, length, epoch, kind = ? AND started_at = ? AND ended_at IS ? AND owner = ? FROM streams
        WHERE name = ?";
    let row = &append.row;
    let values = params![row.kind, row.started_at, row.ended_at, row.owner.as_str(), append.stream];
    let known = |row: &rusqlite::Row<'_>| {
        Ok(Known { id: row.get(0)?, length: row.get(1)?, epoch: row.get(2)?, same_place: row.get(3)? })
    };
    tx.prepare_cached(sql)?.query_row(values, known).optional()
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

fn insert(tx: &Transaction<'_>, append: &Append) -> rusqlite::Result<i64> {
    let row = &append.row;
    let sql = "INSERT INTO streams (name, length, epoch, kind, status, started_at, ended_at, body, owner)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let (name, length, epoch) = (&append.stream, length_after(append), append.epoch);
    let owner = row.owner.as_str();
    let values = params![name, length, epoch, row.kind, row.status, row.started_at, row.ended_at, row.body, owner];
    let stream = tx.prepare_cached(sql)?.insert(values)?;
    put_tags(tx, stream, row)?;
    Ok(stream)
}

fn update(tx: &Transaction<'_>, known: &Known, append: &Append) -> rusqlite::Result<i64> {
    let row = &append.row;
    let sql = "UPDATE streams SET length = ?, epoch = ?, status = ?, body = ? WHERE id = ?";
    let values = params![length_after(append), append.epoch, row.status, row.body, known.id];
    tx.prepare_cached(sql)?.execute(values)?;
    if !known.same_place {
        // A separate statement, because setting an indexed column rewrites its indexes.
        let sql = "UPDATE streams SET kind = ?, started_at = ?, ended_at = ?, owner = ? WHERE id = ?";
        let values = params![row.kind, row.started_at, row.ended_at, row.owner.as_str(), known.id];
        tx.prepare_cached(sql)?.execute(values)?;
    }
    if !same_tags(tx, known.id, row)? {
        tx.prepare_cached("DELETE FROM tags WHERE stream = ?")?.execute([known.id])?;
        put_tags(tx, known.id, row)?;
    }
    Ok(known.id)
}

fn length_after(append: &Append) -> Seq {
    append.expected + append.records.len() as Seq
}

fn put_records(tx: &Transaction<'_>, stream: i64, sealed: &Sealed) -> rusqlite::Result<()> {
    let sql = "INSERT INTO records (stream, seq, version, checksum, attachments, body) VALUES (?, ?, ?, ?, ?, ?)";
    let mut insert = tx.prepare_cached(sql)?;
    for ((seq, record), seal) in (sealed.append.expected..).zip(&sealed.append.records).zip(&sealed.seals) {
        insert.execute(params![stream, seq, VERSION, seal.checksum, seal.hashes, record.body])?;
        put_attachments(tx, stream, &record.attachments, &seal.hashes)?;
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

fn put_tags(tx: &Transaction<'_>, stream: i64, row: &Row) -> rusqlite::Result<()> {
    for (key, value) in &row.tags {
        let sql = "INSERT INTO tags (stream, key, value) VALUES (?, ?, ?)";
        tx.prepare_cached(sql)?.execute(params![stream, key, value])?;
    }
    Ok(())
}

fn same_tags(tx: &Transaction<'_>, stream: i64, row: &Row) -> rusqlite::Result<bool> {
    let mut stored = tx.prepare_cached("SELECT key, value FROM tags WHERE stream = ? ORDER BY key")?;
    let mut stored = stored.query([stream])?;
    let mut wanted = row.tags.iter();
    while let Some(tag) = stored.next()? {
        let (key, value) = (tag.get_ref(0)?.as_str()?, tag.get_ref(1)?.as_str()?);
        if wanted.next().is_none_or(|tag| (tag.0.as_str(), tag.1.as_str()) != (key, value)) {
            return Ok(false);
        }
    }
    Ok(wanted.next().is_none())
}
