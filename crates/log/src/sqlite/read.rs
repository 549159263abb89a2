//! Reads a stream back. Nothing is trusted: a record that is missing, differs from what
//! was written or cannot be parsed is damaged, and so is one whose attachments are.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};

use super::seal::{HASH_BYTES, checksum, hash};
use super::{Error, Record, Seq, failure};
use crate::VERSION;

/// Returns at most `max` records of the stream from `from` on.
pub(super) fn records(db: &Connection, name: &str, from: Seq, max: usize) -> Result<Vec<Record>, Error> {
    let mut stream = db.prepare_cached("SELECT id, length FROM streams WHERE name = ?").map_err(failure)?;
    let stream = stream.query_row([name], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)));
    let Some((stream, length)) = stream.optional().map_err(failure)? else { return Ok(Vec::new()) };
    let length = Seq::try_from(length).map_err(|_negative| {
        let reason = format!("its stream cannot have {length} records");
        Error::Damaged { stream: name.into(), seq: from, reason }
    })?;
    let from = from.min(length);
    let until = length.min(from.saturating_add(max as Seq));
    let mut records = Vec::new();
    let read = Reading { db, stream, texts: HashMap::new() }.read(from, until, &mut records);
    read.map_err(|fault| match fault {
        Fault::Damage(reason) => Error::Damaged { stream: name.into(), seq: from + records.len() as Seq, reason },
        Fault::Failure(error) => error,
    })?;
    Ok(records)
}

/// The reason why a record could not be read.
enum Fault {
    Damage(String),
    Failure(Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        match error.sqlite_error_code() {
            // The file contains something that neither we nor SQLite wrote.
            None | Some(ErrorCode::DatabaseCorrupt) => Fault::Damage(error.to_string()),
            Some(_) => Fault::Failure(failure(error)),
        }
    }
}

struct Reading<'a> {
    db: &'a Connection,
    stream: i64,
    /// Attachments already read and verified, by their hashes.
    texts: HashMap<Vec<u8>, Arc<str>>,
}

impl Reading<'_> {
    fn read(&mut self, from: Seq, until: Seq, records: &mut Vec<Record>) -> Result<(), Fault> {
        let sql = "SELECT seq, version, checksum, attachments, body FROM records
            WHERE stream = ? AND seq >= ? AND seq < ? ORDER BY seq";
        let mut rows = self.db.prepare_cached(sql)?;
        let mut rows = rows.query(params![self.stream, from, until])?;
        for seq in from..until {
            let row = rows.next()?.ok_or_else(missing)?;
            if row.get::<_, Seq>(0)? != seq {
                return Err(missing());
            }
            records.push(self.record(row)?);
        }
        Ok(())
    }

    fn record(&mut self, row: &Row<'_>) -> Result<Record, Fault> {
        let (version, sum): (i64, i64) = (row.get(1)?, row.get(2)?);
        if !(1..=i64::from(VERSION)).contains(&version) {
            let reason = format!("it is of version {version}, and this Consort reads versions 1 to {VERSION}");
            return Err(Fault::Damage(reason));
        }
        let (hashes, body): (Vec<u8>, Arc<str>) = (row.get(3)?, row.get(4)?);
        if i64::from(checksum(&body, &hashes)) != sum {
            return Err(Fault::Damage("its checksum is wrong".into()));
        }
        let attachments = hashes.chunks(HASH_BYTES).map(|hash| self.attachment(hash)).collect::<Result<_, _>>()?;
        Ok(Record { body, attachments })
    }

    fn attachment(&mut self, name: &[u8]) -> Result<Arc<str>, Fault> {
        if let Some(text) = self.texts.get(name) {
            return Ok(text.clone());
        }
        let mut text = self.db.prepare_cached("SELECT text FROM attachments WHERE stream = ? AND hash = ?")?;
        let text: Option<Arc<str>> = text.query_row(params![self.stream, name], |row| row.get(0)).optional()?;
        let text = text.ok_or_else(|| Fault::Damage("an attachment is missing".into()))?;
        if hash(&text) != name {
            return Err(Fault::Damage("an attachment is not what was written".into()));
        }
        self.texts.insert(name.into(), text.clone());
        Ok(text)
    }
}

fn missing() -> Fault {
    Fault::Damage("it is missing".into())
}
