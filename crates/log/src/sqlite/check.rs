//! The check of a whole file: its pages and indexes, what belongs to no stream, the words and
//! claims of streams, and the write-ahead logs that earlier starts could not recover. The rows
//! and records of streams are read one by one, as any other reader does.

use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use super::wal::{self, Lost};
use super::{Error, details, failure, readers, schema, unavailable};

/// The maximum number of faults that SQLite reports; more say nothing new.
const REPORTED_MAX: usize = 100;

/// Damage that belongs to no stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The part of the store: a file's name.
    pub place: String,
    /// The description of the damage.
    pub reason: String,
}

/// Returns the damage of a file.
pub(super) fn check(path: &Path) -> Result<Vec<Fault>, Error> {
    let lost = wal::rescue_unowned(path).map_err(unavailable)?;
    schema::check(path)?;
    let mut faults: Vec<Fault> = wal::copies(path).into_iter().map(|copy| lost_commits(&copy, lost.as_ref())).collect();
    let db = readers::connect(path).map_err(failure)?;
    let fault = |reason: String| Fault { place: name(path), reason };
    match pages(&db) {
        Ok(reasons) => faults.extend(reasons.into_iter().map(fault)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
            faults.push(fault(error.to_string()));
        }
        Err(error) => return Err(failure(error)),
    }
    match strays(&db) {
        Ok(reasons) => faults.extend(reasons.into_iter().map(fault)),
        // Then SQLite has reported it above.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {}
        Err(error) => return Err(failure(error)),
    }
    match details::damaged(&db) {
        Ok(damaged) => {
            faults.extend(damaged.into_iter().map(|(place, reason)| Fault { place, reason: reason.to_owned() }));
        }
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {}
        Err(error) => return Err(failure(error)),
    }
    Ok(faults)
}

/// Returns the fault of a write-ahead log that could not be recovered.
fn lost_commits(copy: &Path, now: Option<&Lost>) -> Fault {
    let count = now.filter(|lost| lost.copy == copy).map(|lost| format!("{} ", lost.commits)).unwrap_or_default();
    let reason = format!(
        "{count}commits in this copy of a write-ahead log could not be recovered; remove it once that is dealt with"
    );
    Fault { place: name(copy), reason }
}

/// Returns what SQLite finds wrong with the file's pages and indexes.
fn pages(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut check = db.prepare(&format!("PRAGMA integrity_check({REPORTED_MAX})"))?;
    let found: Vec<String> = check.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

/// Returns the tables with rows that belong to no stream.
fn strays(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut found = Vec::new();
    let tables = ["records", "attachments", "tags", "claims"].map(|table| (table, "stream"));
    for (table, id) in tables.into_iter().chain(schema::word_tables(db)?) {
        let sql = format!("SELECT count(*) FROM {table} WHERE {id} NOT IN (SELECT id FROM streams)");
        let rows: i64 = db.query_row(&sql, [], |row| row.get(0))?;
        if rows > 0 {
            found.push(format!("{rows} rows of the table `{table}` belong to no stream"));
        }
    }
    Ok(found)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
