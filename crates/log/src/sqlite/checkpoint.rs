//! The decision when the write-ahead log is moved into the file. A reader of an older
//! state keeps the log from being emptied, and looking through a long one takes time:
//! so it is tried at growing intervals while there is a reader.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::beside;
use super::schema::BUSY_TIMEOUT;

/// The bytes written between two checkpoints. Each costs two syncs, and writes every page that was changed once: the last
/// pages of the tables and indexes are changed by nearly every commit.
const INTERVAL: u64 = 8 * 1024 * 1024;
/// The maximum interval, while a reader uses an older state.
const INTERVAL_MAX: u64 = 64 * 1024 * 1024;
/// The bytes that a commit writes besides its content: pages of the tables' and indexes' trees.
const COMMIT_BYTES: u64 = 32 * 1024;

/// The size of a page of the system's cache in bytes.
const PAGE: usize = 4096;

/// The bytes written since the last checkpoint.
pub(super) struct Checkpoints {
    /// The path of the write-ahead log.
    log: PathBuf,
    written: u64,
    interval: u64,
}

/// A checkpoint's effect on the write-ahead log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Moves as much of it as possible.
    Passive,
    /// Moves all of it, and begins it anew in the same place.
    Restart,
    /// Moves all of it, and removes its content.
    Truncate,
}

impl Checkpoints {
    pub(super) fn of(database: &Path) -> Checkpoints {
        Checkpoints { log: beside(database, "-wal"), written: 0, interval: INTERVAL }
    }

    /// Counts a commit.
    pub(super) fn note(&mut self, content: u64) {
        self.written += COMMIT_BYTES + content;
    }

    pub(super) fn is_due(&self) -> bool {
        self.written >= self.interval
    }

    /// Moves the write-ahead log; returns whether all of it was moved. Never waits for a reader.
    pub(super) fn run(&mut self, db: &Connection, mode: Mode) -> rusqlite::Result<bool> {
        let sql = match mode {
            Mode::Passive => "PRAGMA wal_checkpoint(PASSIVE)",
            Mode::Restart => "PRAGMA wal_checkpoint(RESTART)",
            Mode::Truncate => "PRAGMA wal_checkpoint(TRUNCATE)",
        };
        let size = self.log.metadata().map_or(0, |file| file.len());
        db.busy_timeout(Duration::ZERO)?;
        let moved = db.query_row(sql, [], |row| {
            let busy: bool = row.get(0)?;
            let all: i64 = row.get(1)?;
            let moved: i64 = row.get(2)?;
            Ok(!busy && all == moved)
        });
        db.busy_timeout(BUSY_TIMEOUT)?;
        let is_moved = matches!(moved, Ok(true));
        self.interval = if is_moved { INTERVAL } else { (self.interval * 2).min(INTERVAL_MAX) };
        self.written = 0;
        if is_moved && mode == Mode::Truncate {
            self.lay_out(size.min(INTERVAL) as usize);
        }
        moved
    }

    /// Gives the emptied file its size back, as zeros, which SQLite takes for an empty log. A commit that makes the
    /// file longer has to wait for the file system's journal as well as for its own bytes.
    fn lay_out(&self, size: usize) {
        if let Err(error) = fill(&self.log, size) {
            tracing::debug!(%error, "the write-ahead log grows commit by commit");
            // On a full disk the room is left to others.
            let _as_it_was = File::options().write(true).open(&self.log).and_then(|file| file.set_len(0));
        }
    }
}

/// Writes zeros to the beginning of an empty file, page by page as SQLite will: where a file was written in large pieces
/// the system keeps it in large pieces, and goes through the whole of one at each page that is written to it.
fn fill(path: &Path, size: usize) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    for _page in 0..size / PAGE {
        file.write_all(&[0; PAGE])?;
    }
    file.sync_all()
}
