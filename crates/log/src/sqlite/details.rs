//! The rest of what a file knows of a stream, for copies, and the mark of a file whose content
//! was moved.

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use rusqlite::{Connection, OptionalExtension};

use super::{Error, SqliteLog, failure, schema};
use crate::transfer::{Detailed, Details};

impl Detailed for SqliteLog {
    fn details(&self, stream: &str) -> BoxFuture<'_, Result<Option<Details>, Error>> {
        let stream = stream.to_owned();
        self.readers.query(move |db| details(db, &stream).map_err(failure))
    }
}

fn details(db: &Connection, name: &str) -> rusqlite::Result<Option<Details>> {
    let mut stream = db.prepare_cached("SELECT id, epoch FROM streams WHERE name = ? AND kind <> ''")?;
    let stream = stream.query_row([name], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?))).optional()?;
    let Some((id, epoch)) = stream else { return Ok(None) };
    let mut claims = db.prepare_cached("SELECT key FROM claims WHERE stream = ? ORDER BY key")?;
    let claims = claims.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut words = db.prepare_cached(&format!("SELECT {}", schema::words_of(db, "?1")?))?;
    let words: Option<Arc<str>> = words.query_row([id], |row| row.get(0))?;
    Ok(Some(Details { epoch, claims, words }))
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
