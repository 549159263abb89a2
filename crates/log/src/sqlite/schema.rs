//! The tables, and the opening and migration of a file.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::{Error, Options, failure, unavailable};
use crate::words;

/// The time to wait while another process has the file locked for writing, which none of ours does.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of prepared statements cached by a connection; we have about twenty.
const STATEMENTS_MAX: usize = 32;
/// The maximum size that the write-ahead log keeps once it is empty, after a long backup.
const WAL_KEPT_MAX: i64 = 64 * 1024 * 1024;
/// Tells our files from other SQLite files: "Cnst".
const APPLICATION_ID: i64 = 0x436e_7374;

/// The migrations that turn a file of one version into the next. A published
/// step never changes; `user_version` counts the steps that a file has had.
const STEPS: &[&str] = &[
    // Records are in the order they were written, which keeps the pages of a
    // commit together: measured, a tenth to a third cheaper than by stream.
    "CREATE TABLE streams (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, length INTEGER NOT NULL, epoch INTEGER NOT NULL,
        kind TEXT NOT NULL, status TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER,
        body TEXT NOT NULL) STRICT;
    CREATE INDEX streams_by_start ON streams (kind, started_at, name);
    CREATE INDEX streams_by_end ON streams (kind, ended_at, name);
    CREATE TABLE records (
        id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, seq INTEGER NOT NULL, version INTEGER NOT NULL,
        checksum INTEGER NOT NULL, attachments BLOB NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE UNIQUE INDEX records_by_place ON records (stream, seq);
    CREATE TABLE attachments (
        stream INTEGER NOT NULL, hash BLOB NOT NULL, text TEXT NOT NULL,
        PRIMARY KEY (stream, hash)) STRICT, WITHOUT ROWID;
    CREATE TABLE tags (
        stream INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (stream, key)) STRICT, WITHOUT ROWID;
    CREATE INDEX tags_by_value ON tags (key, value);
    CREATE TABLE claims (key TEXT PRIMARY KEY, stream INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE INDEX claims_by_stream ON claims (stream);",
    // Streams from before there were owners belong to the one there is without keys.
    "ALTER TABLE streams ADD COLUMN owner TEXT NOT NULL DEFAULT 'local';",
    // Rows from before an append was one row hold one record each.
    "ALTER TABLE records ADD COLUMN count INTEGER NOT NULL DEFAULT 1;",
    // The words of streams, by the streams' ids. What is deleted is overwritten here too.
    "CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61 remove_diacritics 0');
    INSERT INTO words (words, rank) VALUES ('secure-delete', 1);",
    // The words of streams that are not in the index yet. Taking a text out of it so that nothing is left
    // costs as much as a whole run, so a text that changes or goes soon is never put into it.
    "CREATE TABLE unindexed (stream INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;",
    // The checksum of a stream's row. Rows from before there were any have none until they are written again.
    "ALTER TABLE streams ADD COLUMN checksum INTEGER;",
    // The checksums of a stream's words, and of the keys it claims: each by itself, and all of them combined by
    // exclusive or, so that one more key needs none of the others.
    "ALTER TABLE streams ADD COLUMN words_checksum INTEGER;
    ALTER TABLE streams ADD COLUMN claims_checksum INTEGER;",
];

/// The versions from which streams have owners, rows of records a count, and streams words,
/// some of which are not in the index, checksums of their rows, and checksums of their words and claims.
const WITH_OWNERS: usize = 2;
const WITH_COUNTS: usize = 3;
const WITH_WORDS: usize = 4;
const WITH_UNINDEXED: usize = 5;
const WITH_CHECKSUMS: usize = 6;
const WITH_WORD_CHECKSUMS: usize = 7;
/// The words of streams from before there were any, as far as their rows tell them.
const EARLIER_WORDS: &str = "INSERT INTO words (rowid, text)
    SELECT id, trim(coalesce(json_extract(body, '$.title'), json_extract(body, '$.name'), '')
        || ' ' || coalesce(json_extract(body, '$.description'), '')
        || ' ' || coalesce(json_extract(body, '$.outputPreview'), '')
        || ' ' || coalesce((SELECT group_concat(json_extract(value, '$.content'), ' ')
            FROM json_each(body, '$.rows') WHERE json_type(value, '$.content') = 'text'), ''))
    FROM streams WHERE kind IN ('run', 'turn', 'thread', 'workflow') AND json_valid(body)";

/// Opens the file for writing, creating or upgrading it as needed.
pub(super) fn open(path: &Path, options: Options) -> Result<Connection, Error> {
    let in_words = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => unavailable(format!("{} is not a Consort log", path.display())),
        Some(_) | None => failure(error),
    };
    let mut db = Connection::open(path).map_err(in_words)?;
    prepare(&db).map_err(in_words)?;
    let seen =
        migrate(&mut db).map_err(in_words)?.map_err(|reason| unavailable(format!("{} {reason}", path.display())))?;
    if (1..WITH_WORDS).contains(&seen)
        && let Err(error) = db.execute_batch(EARLIER_WORDS)
    {
        // Not fatal: damaged rows are only not found by their words.
        tracing::warn!(%error, "what was stored by an earlier version is not found by its words");
    }
    if let Some(to) = moved(&db).map_err(in_words)? {
        return Err(unavailable(format!("the content of {} was moved to {to}", path.display())));
    }
    settle(&db, options).map_err(in_words)?;
    Ok(db)
}

/// Returns the place that the content of a file was moved to, if it was.
fn moved(db: &Connection) -> rusqlite::Result<Option<String>> {
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'moved'", [], |row| row.get(0))?;
    if tables == 0 { Ok(None) } else { db.query_row("SELECT place FROM moved", [], |row| row.get(0)).map(Some) }
}

/// Checks that there is a file of ours that this version can read.
pub(super) fn check(path: &Path) -> Result<(), Error> {
    let refuse = |reason: &str| unavailable(format!("{} {reason}", path.display()));
    if !path.is_file() {
        return Err(refuse("does not exist"));
    }
    let ours = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(|db| {
        let id: i64 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
        Ok((id == APPLICATION_ID).then_some(db.pragma_query_value(None, "user_version", |row| row.get::<_, usize>(0))?))
    });
    match ours {
        Ok(Some(seen)) if seen > STEPS.len() => Err(refuse(&newer(seen))),
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(refuse("is not a Consort log")),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => Err(refuse("is not a Consort log")),
        Err(error) => Err(failure(error)),
    }
}

fn newer(seen: usize) -> String {
    format!("was written by a newer Consort (version {seen}; this one knows {})", STEPS.len())
}

/// Sets the options that reading and writing connections have in common.
pub(super) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // Plans must not depend on bound values: SQLite would compile a cached
    // statement anew each time it is used.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    let pure = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    db.create_scalar_function("matches", 2, pure, |given| {
        let query = words::wanted(given.get_raw(1).as_str()?);
        // A text that was damaged must not fail the search in all others.
        let text = given.get_raw(0).as_bytes().map(String::from_utf8_lossy)?;
        Ok(words::matches(&text, &query))
    })
}

/// Returns the column with a stream's owner. A file that is only read may be of a version without it.
pub(super) fn owner_column(db: &Connection) -> rusqlite::Result<&'static str> {
    Ok(if version(db)? < WITH_OWNERS { "'local'" } else { "owner" })
}

/// Returns the column with the checksum of a stream's row.
pub(super) fn checksum_column(db: &Connection) -> rusqlite::Result<&'static str> {
    Ok(if version(db)? < WITH_CHECKSUMS { "NULL" } else { "checksum" })
}

/// Returns the columns with the checksums of a stream's words and of its claims.
pub(super) fn detail_columns(db: &Connection) -> rusqlite::Result<[&'static str; 2]> {
    let is_before = version(db)? < WITH_WORD_CHECKSUMS;
    Ok(if is_before { ["NULL", "NULL"] } else { ["words_checksum", "claims_checksum"] })
}

/// Returns the column with the number of records of a row.
pub(super) fn count_column(db: &Connection) -> rusqlite::Result<&'static str> {
    Ok(if version(db)? < WITH_COUNTS { "1" } else { "count" })
}

/// Returns the expression for the words of the stream with this id.
pub(super) fn words_of(db: &Connection, id: &str) -> rusqlite::Result<String> {
    let indexed = format!("(SELECT text FROM words WHERE words.rowid = {id})");
    let unindexed = format!("(SELECT text FROM unindexed WHERE unindexed.stream = {id})");
    Ok(match version(db)? {
        ..WITH_WORDS => "NULL".to_owned(),
        WITH_WORDS..WITH_UNINDEXED => indexed,
        _ => format!("coalesce({unindexed}, {indexed})"),
    })
}

/// Returns the tables with the words of streams, each with the column of the stream's id.
pub(super) fn word_tables(db: &Connection) -> rusqlite::Result<Vec<(&'static str, &'static str)>> {
    let tables = [(WITH_UNINDEXED, ("unindexed", "stream")), (WITH_WORDS, ("words", "rowid"))];
    let version = version(db)?;
    Ok(tables.into_iter().filter(|(first, _)| *first <= version).map(|(_, table)| table).collect())
}

fn version(db: &Connection) -> rusqlite::Result<usize> {
    db.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))
}

/// Brings the file up to date in one transaction; returns the steps it had had. The inner
/// error says why it may not be used.
fn migrate(db: &mut Connection) -> rusqlite::Result<Result<usize, String>> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !is_ours(&tx)? {
        return Ok(Err("is not a Consort log".into()));
    }
    let seen = tx.pragma_query_value(None, "user_version", |row| row.get::<_, usize>(0))?;
    let known = STEPS.len();
    if seen > known {
        return Ok(Err(newer(seen)));
    }
    for step in STEPS.iter().skip(seen) {
        tx.execute_batch(step)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", known)?;
    tx.commit()?;
    Ok(Ok(seen))
}

/// Returns true for a file of ours and for an empty one.
fn is_ours(tx: &Transaction<'_>) -> rusqlite::Result<bool> {
    let id: i64 = tx.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = tx.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(id == APPLICATION_ID || tables == 0)
}

fn settle(db: &Connection, options: Options) -> rusqlite::Result<()> {
    // Deleted content is overwritten, so that erasing can be final. The writer decides
    // when to move the write-ahead log into the file.
    let options_of_writer = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
        PRAGMA wal_autocheckpoint = 0;";
    db.execute_batch(options_of_writer)?;
    db.pragma_update(None, "journal_size_limit", WAL_KEPT_MAX)?;
    if let Some(bytes) = options.max_bytes {
        let page: u64 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
        db.query_row(&format!("PRAGMA max_page_count = {}", bytes / page.max(1)), [], |_| Ok(()))?;
    }
    Ok(())
}
