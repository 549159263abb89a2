//! A log in one SQLite file. One thread writes: it takes every append that is waiting, commits them
//! together and acknowledges each after the fsync, so the cost of a commit is shared by all runs
//! that are busy at the time. Readers have their own connections; neither waits for the other.

mod check;
mod checkpoint;
mod details;
mod holder;
mod index;
mod list;
mod put;
mod read;
mod readers;
mod reserve;
mod schema;
#[cfg(test)]
mod tests;
mod wal;
mod writer;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use futures::future::BoxFuture;
use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE};
use tokio::sync::{mpsc, oneshot, watch};

pub use self::check::Fault;
use self::holder::lock;
pub use self::holder::{announce, served_at};
use self::readers::Readers;
pub use self::wal::Lost;
use self::writer::{Done, Job, SCRUB_INTERVAL, Work, Writer};
use super::{Append, Compact, Error, Log, Page, Query, Record, Seq, private};
use crate::seal::Sealed;

/// The maximum number of jobs waiting for the writer; past this, runs wait for the disk.
const QUEUE_MAX: usize = 1024;
/// The maximum number of streams hidden in one commit: bounds how long others wait for it.
const ERASED_MAX: usize = 64;
/// The interval at which compacting tries to remove bytes that a reader still uses.
const SCRUB_RETRY: Duration = Duration::from_millis(50);
/// The maximum number of tries: half a minute.
const SCRUB_TRIES: usize = 600;

/// The options of opening a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The maximum size of the file in bytes; appends past
    /// it are `Full`. Absent: as large as the disk allows.
    pub max_bytes: Option<u64>,
}

/// Streams in a file. Dropping it waits for the writer.
pub struct SqliteLog {
    path: PathBuf,
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<JoinHandle<()>>,
    readers: Readers,
    commits: watch::Receiver<u64>,
    /// The commits that the last process left behind and that could not be recovered.
    lost: Option<Lost>,
    /// Held as long as the log is open for writing; the system releases it even when the process dies.
    _lock: Option<File>,
}

impl SqliteLog {
    /// Opens or creates the file. It has one owner: a second one is refused.
    pub fn open(path: &Path) -> Result<SqliteLog, Error> {
        SqliteLog::open_with(path, Options::default())
    }

    /// Opens or creates the file with options.
    pub fn open_with(path: &Path, options: Options) -> Result<SqliteLog, Error> {
        let lock = Some(lock(path)?);
        // Before SQLite opens it: then what cannot be recovered is gone.
        let lost =
            wal::rescue(path).map_err(|error| unavailable(format!("cannot read {}: {error}", path.display())))?;
        let created = if path.exists() { Ok(()) } else { private::create_file(path).map(drop) };
        created.map_err(|error| unavailable(format!("cannot create {}: {error}", path.display())))?;
        let db = schema::open(path, options)?;
        let readers = Readers::open(path)?;
        let (jobs, waiting) = mpsc::channel(QUEUE_MAX);
        let (counter, commits) = watch::channel(0);
        let writer = Writer::new(db, counter, path).map_err(failure)?;
        let thread = std::thread::Builder::new().name("log writer".into());
        let writer = Some(thread.spawn(move || writer.run(waiting)).map_err(unavailable)?);
        Ok(SqliteLog { path: path.to_owned(), jobs: Some(jobs), writer, readers, commits, lost, _lock: lock })
    }

    /// Opens an existing file to be read, also while another process writes to it.
    pub fn read_only(path: &Path) -> Result<SqliteLog, Error> {
        schema::check(path)?;
        let readers = Readers::open(path)?;
        let (_never, commits) = watch::channel(0);
        Ok(SqliteLog { path: path.to_owned(), jobs: None, writer: None, readers, commits, lost: None, _lock: None })
    }

    /// Marks a file that nobody uses as moved elsewhere: from then on it is read, and not opened for writing.
    pub fn retire(path: &Path, to: &str) -> Result<(), Error> {
        let _lock = lock(path)?;
        details::retire(path, to)
    }

    /// Returns what could not be recovered when the file was opened.
    pub fn lost(&self) -> Option<&Lost> {
        self.lost.as_ref()
    }

    /// Writes a consistent copy to `to`, which must not exist yet, while runs
    /// go on. It is a log like any other and contains nothing that was erased.
    pub async fn backup(&self, to: &Path) -> Result<(), Error> {
        let from = self.path.clone();
        let to = to.to_owned();
        tokio::task::spawn_blocking(move || readers::copy(&from, &to)).await.map_err(unavailable)?
    }

    /// Copies the file from another process than the one that owns it.
    pub fn copy(from: &Path, to: &Path) -> Result<(), Error> {
        wal::rescue_unowned(from).map_err(unavailable)?;
        readers::copy(from, to)
    }

    /// Reads the whole file, and the names of what is beside it; returns what is
    /// damaged in it, apart from the streams, which are read one by one.
    pub fn check(path: &Path) -> Result<Vec<Fault>, Error> {
        check::check(path)
    }

    async fn ask(&self, work: Work) -> Result<Done, Error> {
        let (ack, done) = oneshot::channel();
        let stopped = || unavailable("the writer has stopped");
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        jobs.send(Job { work, ack }).await.map_err(|_| stopped())?;
        done.await.map_err(|_| stopped())?
    }

    /// Lets the writer remove what is left of erased streams, should nothing else wake it until then.
    fn tidy_later(&self) {
        let Some(jobs) = self.jobs.as_ref().map(mpsc::Sender::downgrade) else { return };
        tokio::spawn(async move {
            tokio::time::sleep(SCRUB_INTERVAL).await;
            let Some(jobs) = jobs.upgrade() else { return };
            let (ack, _nobody_waits) = oneshot::channel();
            let _closed = jobs.send(Job { work: Work::Tidy, ack }).await;
        });
    }
}

impl Log for SqliteLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        // Sealed here rather than by the writer, whose time all runs share.
        Box::pin(async move { self.ask(Work::Append(Sealed::new(append))).await.map(drop) })
    }

    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>> {
        let stream = stream.to_owned();
        self.readers.query(move |db| read::records(db, &stream, from, max))
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>> {
        self.readers.query(move |db| list::page(db, &query).map_err(failure))
    }

    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            for some in streams.chunks(ERASED_MAX) {
                if self.ask(Work::Erase(some.to_vec())).await? == Done::ButForBytes {
                    self.tidy_later();
                }
            }
            Ok(())
        })
    }

    /// Changes with every commit: only this process writes, and it writes in groups.
    fn news(&self, _stream: &str) -> watch::Receiver<u64> {
        self.commits.clone()
    }
}

impl Compact for SqliteLog {
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let mut done = self.ask(Work::Compact).await?;
            for _try in 0..SCRUB_TRIES {
                match done {
                    Done::Whole => return Ok(()),
                    Done::ButForBytes => tokio::time::sleep(SCRUB_RETRY).await,
                }
                done = self.ask(Work::Scrub).await?;
            }
            Err(unavailable("somebody reads an older state, most likely a backup: try again when it is done"))
        })
    }
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        // The writer's connection is the last to close, which cleans up the file.
        self.readers.close();
        self.jobs.take();
        if let Some(writer) = self.writer.take() {
            let _panicked = writer.join();
        }
    }
}

/// Returns the path of a file beside the database: its name with another end.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Returns the error for a failure of SQLite, by what the caller can do about it.
fn failure(error: rusqlite::Error) -> Error {
    if is_no_room(&error) { Error::Full(error.to_string()) } else { unavailable(error) }
}

/// Returns whether the disk is full, or the file as large as it may be.
fn is_no_room(error: &rusqlite::Error) -> bool {
    // An exhausted quota appears as a failed write.
    error.sqlite_error().is_some_and(|sqlite| {
        sqlite.code == ErrorCode::DiskFull || [SQLITE_IOERR_WRITE, SQLITE_IOERR_SHMSIZE].contains(&sqlite.extended_code)
    })
}

fn unavailable(reason: impl ToString) -> Error {
    Error::Unavailable(reason.to_string())
}
