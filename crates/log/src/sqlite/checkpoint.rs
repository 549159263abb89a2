//! The decision when the write-ahead log is moved into the file. A reader of an older
//! state keeps the log from being emptied, and looking through a long one takes time:
//! so it is tried at growing intervals while there is a reader.

use std::time::Duration;

use rusqlite::Connection;

use super::schema::BUSY_TIMEOUT;

/// The bytes written between two checkpoints: as many as SQLite itself writes.
const INTERVAL: u64 = 4 * 1024 * 1024;
/// The maximum interval, while a reader uses an older state.
const INTERVAL_MAX: u64 = 64 * 1024 * 1024;
/// The bytes that a commit writes besides its content: pages of the tables' and indexes' trees.
const COMMIT_BYTES: u64 = 32 * 1024;

/// The bytes written since the last checkpoint.
pub(super) struct Checkpoints {
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
    pub(super) fn new() -> Checkpoints {
        Checkpoints { written: 0, interval: INTERVAL }
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
        moved
    }
}
