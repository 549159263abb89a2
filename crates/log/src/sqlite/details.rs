//! The rest of what a file knows of a stream, for copies, and the mark of a file whose content
//! was moved.

use std::path::Path;

use futures::future::BoxFuture;
use rusqlite::{Connection, OptionalExtension};

use super::{Error, SqliteLog, failure, list, schema};
use crate::seal::text_checksum;
use crate::transfer::{Detailed, Details};

impl Detailed for SqliteLog {
    fn details(&self, stream: &str) -> BoxFuture<'_, Result<Option<Details>, Error>> {
        let stream = stream.to_owned();
        self.readers.query(move |db| {
            let found = details(db, &stream).map_err(failure)?;
            found.transpose().map_err(|reason| Error::Damaged { stream, seq: 0, reason: reason.to_owned() })
        })
    }
}

/// Returns the details of a stream; the inner error says why they are not those that were written.
fn details(db: &Connection, name: &str) -> rusqlite::Result<Option<Result<Details, &'static str>>> {
    let mut stream = db.prepare_cached("SELECT id, epoch FROM streams WHERE name = ? AND kind <> ''")?;
    let stream = stream.query_row([name], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?))).optional()?;
    let Some((id, epoch)) = stream else { return Ok(None) };
    let mut claims = db.prepare_cached("SELECT key FROM claims WHERE stream = ? ORDER BY key")?;
    let claims = claims.query_map([id], |row| list::text(row, 0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    let [words_sum, claims_sum] = schema::detail_columns(db)?;
    let sql = format!("SELECT {}, {words_sum}, {claims_sum} FROM streams WHERE id = ?1", schema::words_of(db, "?1")?);
    let mut rest = db.prepare_cached(&sql)?;
    let (words, sum) = rest.query_row([id], |row| Ok((list::words(row, 0, 1)?, row.get(2)?)))?;
    Ok(Some(words.and_then(|words| {
        check_claims(&claims, sum)?;
        Ok(Details { epoch, claims, words: words.map(Into::into) })
    })))
}

/// Checks the keys that a stream claims against the checksum of them all, where there is one.
fn check_claims(claims: &[String], sum: Option<i64>) -> Result<(), &'static str> {
    let found = claims.iter().fold(0, |sum, key| sum ^ text_checksum(key));
    let is_whole = sum.is_none_or(|sum| sum == i64::from(found));
    if is_whole { Ok(()) } else { Err("the keys it claims are not those that were written: their checksum is wrong") }
}

/// Returns the streams whose words or claims are not what was written, and the reasons.
pub(super) fn damaged(db: &Connection) -> rusqlite::Result<Vec<(String, &'static str)>> {
    let [words_sum, claims_sum] = schema::detail_columns(db)?;
    let text = schema::words_of(db, "streams.id")?;
    let sql = format!("SELECT name, {text}, {words_sum}, {claims_sum}, id FROM streams WHERE kind <> ''");
    let mut damaged = Vec::new();
    let mut streams = db.prepare(&sql)?;
    let mut claims = db.prepare("SELECT key FROM claims WHERE stream = ?")?;
    let mut rows = streams.query([])?;
    while let Some(row) = rows.next()? {
        let name = list::text(row, 0)?;
        let keys = claims.query_map([row.get::<_, i64>(4)?], |key| list::text(key, 0))?;
        let keys = keys.collect::<rusqlite::Result<Vec<_>>>()?;
        let reasons = [list::words(row, 1, 2)?.err(), check_claims(&keys, row.get(3)?).err()];
        damaged.extend(reasons.into_iter().flatten().map(|reason| (name.clone(), reason)));
    }
    Ok(damaged)
}

/// Marks the file as moved.
pub(super) fn retire(path: &Path, to: &str) -> Result<(), Error> {
    let db = Connection::open(path).map_err(failure)?;
    let mark = || {
        db.execute_batch("PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS moved (place TEXT NOT NULL) STRICT")?;
        db.execute("INSERT INTO moved (place) VALUES (?)", [to])
    };
    mark().map(drop).map_err(failure)
}
