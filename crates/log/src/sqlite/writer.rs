//! The only thread that writes: all waiting jobs become one transaction, and each job
//! gets its result after the fsync. It never waits for a reader. Streams are erased in
//! pieces between the commits, so that no append waits for a large one.

use std::path::Path;
use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use tokio::sync::{mpsc, oneshot, watch};

use super::checkpoint::{Checkpoints, Mode};
use super::index;
use super::put::{self, Streams};
use super::reserve::Reserve;
use super::{Error, failure, is_no_room};
use crate::seal::Sealed;

/// The maximum number of jobs in one commit: bounds how long the first waits for the last.
const GROUP_MAX: usize = 128;
/// The number of commits after which something else is done, even while jobs are waiting.
const PATIENCE: usize = 8;

/// The minimum time between two tries to remove erased bytes from the write-ahead log: it takes several syncs, and a
/// busy server erases a few ended runs all the time.
pub(super) const SCRUB_INTERVAL: Duration = Duration::from_secs(2);

/// A job for the writer, and the sender of its result.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) ack: Ack,
}

type Ack = oneshot::Sender<Result<Done, Error>>;

/// The work of a job.
#[expect(clippy::large_enum_variant, reason = "nearly all work is appends; a box would be one allocation for each")]
pub(super) enum Work {
    Append(Sealed),
    Erase(Vec<Arc<str>>),
    /// Removes erased bytes from the write-ahead log, unless a reader uses them.
    Scrub,
    /// Does the background work that is due.
    Tidy,
    /// Rewrites the file without what was erased.
    Compact,
}

/// The extent to which a job was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// Wholly.
    Whole,
    /// The erased bytes are still in the write-ahead log: a reader uses an older state, or it was emptied a moment ago.
    ButForBytes,
}

/// The owner of the file's only writing connection.
pub(super) struct Writer {
    db: Connection,
    commits: watch::Sender<u64>,
    checkpoints: Checkpoints,
    reserve: Reserve,
    streams: Streams,
    /// Whether a stream is hidden and not yet deleted.
    is_erasing: bool,
    /// The callers who wait until that is done.
    erasures: Vec<Ack>,
    /// Whether bytes of erased streams may be in the write-ahead log.
    is_unscrubbed: bool,
    /// The last time when they were tried to be removed.
    scrubbed: Option<Instant>,
    /// The number of commits since something else was done.
    patience: usize,
    /// The number of appends with words since the words were looked through.
    worded: usize,
}

impl Writer {
    pub(super) fn new(db: Connection, commits: watch::Sender<u64>, path: &Path) -> rusqlite::Result<Writer> {
        // A process that died may have left a stream half deleted.
        let is_erasing =
            db.query_row("SELECT count(*) FROM streams WHERE kind = ''", [], |row| row.get::<_, i64>(0))?;
        Ok(Writer {
            db,
            commits,
            checkpoints: Checkpoints::of(path),
            reserve: Reserve::of(path),
            streams: Streams::default(),
            is_erasing: is_erasing > 0,
            erasures: Vec::new(),
            is_unscrubbed: false,
            scrubbed: None,
            patience: 0,
            worded: index::ENOUGH,
        })
    }

    /// Serves until the last sender is gone.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(group) = self.group(&mut jobs) {
            self.serve(group);
            self.patience += 1;
            if jobs.is_empty() || self.patience >= PATIENCE {
                self.patience = 0;
                self.tidy();
            }
        }
    }

    /// Returns the jobs that are waiting, none while there is something to erase; `None` at the end.
    fn group(&self, jobs: &mut mpsc::Receiver<Job>) -> Option<Vec<Job>> {
        let mut group = Vec::new();
        if !self.is_erasing {
            group.push(jobs.blocking_recv()?);
        }
        while group.len() < GROUP_MAX
            && let Ok(job) = jobs.try_recv()
        {
            group.push(job);
        }
        Some(group)
    }

    /// Serves a group of jobs: appends first, because callers wait for them.
    pub(super) fn serve(&mut self, group: Vec<Job>) {
        let is_upkeep = |job: &Job| matches!(job.work, Work::Scrub | Work::Tidy | Work::Compact);
        let (upkeep, group): (Vec<Job>, Vec<Job>) = group.into_iter().partition(is_upkeep);
        let results = if group.is_empty() { Vec::new() } else { self.write(&group) };
        for (job, result) in group.into_iter().zip(results) {
            match (job.work, result) {
                (Work::Erase(_), Ok(())) => {
                    self.is_erasing = true;
                    self.erasures.push(job.ack);
                }
                (_, result) => tell(job.ack, result.map(|()| Done::Whole)),
            }
        }
        for Job { work, ack } in upkeep {
            let done = match work {
                Work::Compact => self.compact(),
                Work::Scrub => self.scrub(),
                // It is done when nobody waits, as ever.
                Work::Tidy | Work::Append(_) | Work::Erase(_) => Ok(Done::Whole),
            };
            tell(ack, done);
        }
    }

    /// Does one piece of the background work, for which no caller should wait.
    fn tidy(&mut self) {
        if self.is_erasing {
            self.erase();
        } else if self.is_unscrubbed && self.may_scrub() {
            let _tried_again_later = self.scrub();
        } else if self.checkpoints.is_due() {
            if let Err(error) = self.checkpoints.run(&self.db, Mode::Passive) {
                tracing::warn!(%error, "the write-ahead log cannot be moved into the file");
            }
            self.reserve.renew();
        } else if self.worded >= index::ENOUGH {
            self.index();
        }
    }

    /// Puts words into the index, if there are many that are not in it.
    fn index(&mut self) {
        match index::some(&mut self.db) {
            Ok(0) => self.worded = 0,
            Ok(bytes) => self.checkpoints.note(bytes),
            Err(error) => {
                tracing::warn!(%error, "words cannot be put into the index yet");
                self.worded = 0;
            }
        }
    }

    fn write(&mut self, group: &[Job]) -> Vec<Result<(), Error>> {
        match self.commit(group) {
            Ok(results) => results,
            // A job that cannot be written must not fail the others.
            Err(_) if group.len() > 1 => group.iter().flat_map(|job| self.write(slice::from_ref(job))).collect(),
            Err(error) => group.first().map(|job| self.write_again(job, error)).into_iter().collect(),
        }
    }

    /// Writes a job that failed once more where there may be room for it now.
    fn write_again(&mut self, job: &Job, error: rusqlite::Error) -> Result<(), Error> {
        if !is_no_room(&error) {
            return Err(cause(job, error));
        }
        self.make_room(matches!(job.work, Work::Erase(_)));
        match self.commit(slice::from_ref(job)) {
            Ok(results) => results.into_iter().next().unwrap_or(Ok(())),
            Err(error) => Err(cause(job, error)),
        }
    }

    /// Begins the write-ahead log anew in its place, and frees what is set aside for erasing.
    fn make_room(&mut self, is_to_erase: bool) {
        if let Err(error) = self.checkpoints.run(&self.db, Mode::Restart) {
            tracing::debug!(%error, "the write-ahead log cannot be moved into the file");
        }
        if is_to_erase {
            self.reserve.release();
        }
    }

    fn commit(&mut self, group: &[Job]) -> rusqlite::Result<Vec<Result<(), Error>>> {
        let committed = self.try_commit(group);
        if committed.is_err() {
            self.streams.forget_all();
        }
        committed
    }

    fn try_commit(&mut self, group: &[Job]) -> rusqlite::Result<Vec<Result<(), Error>>> {
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut results = Vec::with_capacity(group.len());
        let mut content = 0;
        for job in group {
            results.push(match &job.work {
                Work::Append(sealed) => {
                    content += sealed.bytes();
                    self.worded += usize::from(sealed.append.row.words.is_some());
                    self.streams.append(&tx, sealed)?
                }
                Work::Erase(names) => Ok(names.iter().try_for_each(|name| {
                    self.streams.forget(name);
                    put::hide(&tx, name)
                })?),
                // Served apart from what is written.
                Work::Scrub | Work::Tidy | Work::Compact => Ok(()),
            });
        }
        tx.commit()?;
        self.checkpoints.note(content);
        if results.iter().any(Result::is_ok) {
            self.commits.send_modify(|commits| *commits += 1);
        }
        Ok(results)
    }

    /// Deletes a piece of a hidden stream; those who wait are told after the last one.
    fn erase(&mut self) {
        let mut erased = self.erase_piece();
        if erased.as_ref().is_err_and(is_no_room) {
            self.make_room(true);
            erased = self.erase_piece();
        }
        let done = match erased {
            Ok(true) => return,
            Ok(false) if self.may_scrub() => self.scrub(),
            Ok(false) => {
                self.is_unscrubbed = true;
                Ok(Done::ButForBytes)
            }
            Err(error) => {
                tracing::warn!(%error, "an erased stream cannot be deleted from the file yet");
                Err(failure(error))
            }
        };
        // What could not be deleted is hidden: it goes with the next one, or at the next start.
        self.is_erasing = false;
        self.erasures.drain(..).for_each(|ack| tell(ack, done.clone()));
    }

    fn erase_piece(&mut self) -> rusqlite::Result<bool> {
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found = put::erase_piece(&tx)?;
        tx.commit()?;
        self.checkpoints.note(put::PIECE_BYTES.unsigned_abs());
        Ok(found)
    }

    fn may_scrub(&self) -> bool {
        self.scrubbed.is_none_or(|at| at.elapsed() >= SCRUB_INTERVAL)
    }

    /// Makes erased bytes leave the write-ahead log, unless a reader uses an older state.
    fn scrub(&mut self) -> Result<Done, Error> {
        let is_moved = self.checkpoints.run(&self.db, Mode::Truncate).map_err(failure)?;
        self.scrubbed = Some(Instant::now());
        self.is_unscrubbed = !is_moved;
        self.reserve.renew();
        Ok(if is_moved { Done::Whole } else { Done::ButForBytes })
    }

    /// Rewrites the file. SQLite overwrites deleted content, but not the copies it leaves
    /// in the unused part of a page when it moves rows between pages.
    fn compact(&mut self) -> Result<Done, Error> {
        while self.is_erasing {
            self.erase();
        }
        self.db.execute_batch("VACUUM").map_err(failure)?;
        self.scrub()
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
            let stream = append.stream.to_string();
            let seq = append.expected;
            let reason = error.to_string();
            Error::Damaged { stream, seq, reason }
        }
        Work::Append(_) | Work::Erase(_) | Work::Scrub | Work::Tidy | Work::Compact => failure(error),
    }
}

fn tell(ack: Ack, result: Result<Done, Error>) {
    // A caller that gave up waiting reads the outcome from the log.
    let _gave_up = ack.send(result);
}
