//! Reads a stream back. Nothing is trusted: a record that is missing, differs from what
//! was written or cannot be parsed is damaged, and so is one whose attachments are. The records
//! of a row are damaged together.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use rusqlite::types::FromSqlError;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};

use super::{Error, Record, Seq, failure, schema};
use crate::VERSION;
use crate::seal::{HASH_BYTES, SEPARATOR, checksum, hash};

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

impl From<FromSqlError> for Fault {
    fn from(error: FromSqlError) -> Fault {
        Fault::Damage(error.to_string())
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
        // The first record may be in the middle of a row.
        let sql = format!(
            "SELECT seq, {}, version, checksum, attachments, body FROM records
            WHERE stream = ?1 AND seq >= ifnull((SELECT max(seq) FROM records WHERE stream = ?1 AND seq <= ?2), ?2)
                AND seq < ?3 ORDER BY seq",
            schema::count_column(self.db)?
        );
        let mut rows = self.db.prepare_cached(&sql)?;
        let mut rows = rows.query(params![self.stream, from, until])?;
        let mut next = from;
        while next < until {
            let row = rows.next()?.ok_or_else(missing)?;
            let first: Seq = row.get(0)?;
            let count: Seq = row.get(1)?;
            let end = first.saturating_add(count);
            if !(first..end).contains(&next) {
                return Err(missing());
            }
            let wanted = number(next - first)..number(end.min(until) - first);
            self.bundle(row, count, wanted, records)?;
            next = end.min(until);
        }
        Ok(())
    }

    /// Adds the wanted records of a row, which holds so many: a row is read again for the rest of it.
    fn bundle(
        &mut self,
        row: &Row<'_>,
        count: Seq,
        wanted: Range<usize>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        let version: i64 = row.get(2)?;
        let sum: i64 = row.get(3)?;
        if !(1..=i64::from(VERSION)).contains(&version) {
            let reason = format!("it is of version {version}, and this Consort reads versions 1 to {VERSION}");
            return Err(Fault::Damage(reason));
        }
        let hashes = row.get_ref(4)?.as_blob()?;
        let body = row.get_ref(5)?.as_str()?;
        if i64::from(checksum(body, hashes)) != sum {
            return Err(Fault::Damage("its checksum is wrong".into()));
        }
        if count == 1 {
            let attachments = hashes.chunks(HASH_BYTES).map(|hash| self.attachment(hash)).collect::<Result<_, _>>()?;
            records.push(Record { body: body.into(), attachments });
            return Ok(());
        }
        if body.matches(SEPARATOR).count() as Seq + 1 != count {
            return Err(Fault::Damage("its row holds another number of records".into()));
        }
        let bodies = body.split(SEPARATOR).skip(wanted.start).take(wanted.len());
        records.extend(bodies.map(|body| Record { body: body.into(), attachments: Vec::new() }));
        Ok(())
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

/// Returns a number of records of one row, which are in memory.
fn number(count: Seq) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn missing() -> Fault {
    Fault::Damage("it is missing".into())
}
