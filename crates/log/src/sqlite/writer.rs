//! The only thread that writes: all waiting jobs become one
//! transaction, and each job gets its result after the fsync.

use std::slice;
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use tokio::sync::{mpsc, oneshot, watch};

use super::seal::Sealed;
use super::{Error, failure, put, unavailable};

/// The maximum number of jobs in one commit: bounds how long the first waits for the last.
const GROUP_MAX: usize = 128;
/// The minimum number of streams erased before the file is compacted: few
/// enough that it happens soon, many enough that the cost per stream is small.
pub(super) const COMPACT_MIN: usize = 128;

/// A job for the writer, and the sender of its result.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) ack: oneshot::Sender<Result<(), Error>>,
}

/// The work of a job.
pub(super) enum Work {
    Append(Sealed),
    Erase(Vec<Arc<str>>),
}

/// The owner of the file's only writing connection.
pub(super) struct Writer {
    db: Connection,
    commits: watch::Sender<u64>,
    /// Streams that may still be erased before the file is compacted.
    until_compacting: usize,
}

impl Writer {
    pub(super) fn new(db: Connection, commits: watch::Sender<u64>) -> Result<Writer, Error> {
        let until_compacting = until_compacting(&db).map_err(failure)?;
        Ok(Writer { db, commits, until_compacting })
    }

    /// Serves until the last sender is gone.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(first) = jobs.blocking_recv() {
            let mut group = vec![first];
            while group.len() < GROUP_MAX
                && let Ok(job) = jobs.try_recv()
            {
                group.push(job);
            }
            self.serve(group);
        }
    }

    /// Serves a group of jobs. Appends are acknowledged before erased bytes are
    /// scrubbed: that takes longer, and only callers that erase have to wait for it.
    pub(super) fn serve(&mut self, group: Vec<Job>) {
        let results = self.write(&group);
        let (mut erasures, mut erased) = (Vec::new(), 0);
        for (job, result) in group.into_iter().zip(results) {
            match (job.work, result) {
                (Work::Erase(streams), Ok(())) => {
                    erased += streams.len();
                    erasures.push(job.ack);
                }
                (Work::Append(_) | Work::Erase(_), result) => tell(job.ack, result),
            }
        }
        if !erasures.is_empty() {
            let scrubbed = self.scrub(erased);
            erasures.into_iter().for_each(|ack| tell(ack, scrubbed.clone()));
        }
    }

    fn write(&mut self, group: &[Job]) -> Vec<Result<(), Error>> {
        match self.commit(group) {
            Ok(results) => results,
            // A job that cannot be written must not fail the others.
            Err(_) if group.len() > 1 => group.iter().flat_map(|job| self.write(slice::from_ref(job))).collect(),
            Err(error) => group.first().map(|job| Err(cause(job, error))).into_iter().collect(),
        }
    }

    fn commit(&mut self, group: &[Job]) -> rusqlite::Result<Vec<Result<(), Error>>> {
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut results = Vec::with_capacity(group.len());
        for job in group {
            results.push(match &job.work {
                Work::Append(sealed) => put::append(&tx, sealed)?,
                Work::Erase(streams) => Ok(streams.iter().try_for_each(|name| put::erase(&tx, name))?),
            });
        }
        tx.commit()?;
        if results.iter().any(Result::is_ok) {
            self.commits.send_modify(|commits| *commits += 1);
        }
        Ok(results)
    }

    /// Makes erased bytes leave the file, and the write-ahead log beside it.
    fn scrub(&mut self, erased: usize) -> Result<(), Error> {
        self.until_compacting = self.until_compacting.saturating_sub(erased);
        if self.until_compacting == 0 {
            self.compact();
        }
        let checkpoint = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
        let busy: bool = checkpoint.map_err(failure)?;
        if busy { Err(unavailable("somebody still reads what was erased: erase again")) } else { Ok(()) }
    }

    /// Compacts the file. SQLite overwrites deleted content, but not the copies it
    /// leaves in the unused part of a page when it moves rows between pages. They are
    /// rare and short-lived; only rewriting the file removes them with certainty.
    fn compact(&mut self) {
        let compacted = self.db.execute_batch("VACUUM").and_then(|()| until_compacting(&self.db));
        // Compacting needs free disk space, and erasing is the way to free it.
        self.until_compacting = compacted.unwrap_or_else(|error| {
            tracing::warn!(%error, "the log could not be compacted");
            COMPACT_MIN
        });
    }
}

/// Returns the reason why a job could not be written: the stored state
/// of a stream may contradict itself, which is damage, or SQLite failed.
fn cause(job: &Job, error: rusqlite::Error) -> Error {
    let contradicts = matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
    ) || error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
    match &job.work {
        Work::Append(Sealed { append, .. }) if contradicts => {
            let (stream, seq, reason) = (append.stream.to_string(), append.expected, error.to_string());
            Error::Damaged { stream, seq, reason }
        }
        Work::Append(_) | Work::Erase(_) => failure(error),
    }
}

/// Returns the number of streams, so that compacting costs each erased stream no more than writing one.
fn until_compacting(db: &Connection) -> rusqlite::Result<usize> {
    let streams: usize = db.query_row("SELECT count(*) FROM streams", [], |row| row.get(0))?;
    Ok(streams.max(COMPACT_MIN))
}

fn tell(ack: oneshot::Sender<Result<(), Error>>, result: Result<(), Error>) {
    // A caller that gave up waiting reads the outcome from the log.
    let _gave_up = ack.send(result);
}
