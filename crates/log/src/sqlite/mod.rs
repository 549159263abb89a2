//! A log in one SQLite file. One thread writes: it takes every append that is waiting, commits them
//! together and acknowledges each after the fsync, so the cost of a commit is shared by all runs
//! that are busy at the time. Readers have their own connections and never wait for the writer.

mod list;
mod put;
mod read;
mod readers;
mod schema;
mod seal;
#[cfg(test)]
mod tests;
mod writer;

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use futures::future::BoxFuture;
use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE};
use tokio::sync::{RwLock, mpsc, oneshot, watch};

use self::readers::Readers;
use self::seal::Sealed;
use self::writer::{Job, Work, Writer};
use super::{Append, Error, Log, Page, Query, Record, Seq};

/// The maximum number of jobs waiting for the writer; past this, runs wait for the disk.
const QUEUE_MAX: usize = 1024;

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
    /// Shared while erasing and exclusive during a backup: erased bytes
    /// leave the file only when no reader still uses an old state of it.
    copying: Arc<RwLock<()>>,
    commits: watch::Receiver<u64>,
    /// Held as long as the log is open; the system releases it even when the process dies.
    _lock: File,
}

impl SqliteLog {
    /// Opens or creates the file. It has one owner: a second one is refused.
    pub fn open(path: &Path) -> Result<SqliteLog, Error> {
        SqliteLog::open_with(path, Options::default())
    }

    /// Opens or creates the file with options.
    pub fn open_with(path: &Path, options: Options) -> Result<SqliteLog, Error> {
        let lock = lock(path)?;
        let db = schema::open(path, options)?;
        let readers = Readers::open(path)?;
        let (jobs, waiting) = mpsc::channel(QUEUE_MAX);
        let (counter, commits) = watch::channel(0);
        let writer = Writer::new(db, counter)?;
        let thread = std::thread::Builder::new().name("log writer".into());
        let writer = Some(thread.spawn(move || writer.run(waiting)).map_err(unavailable)?);
        let path = path.to_owned();
        Ok(SqliteLog { path, jobs: Some(jobs), writer, readers, copying: Arc::default(), commits, _lock: lock })
    }

    /// Writes a consistent copy to `to`, which must not exist yet, while runs
    /// go on. It is a log like any other and contains nothing that was erased.
    pub async fn backup(&self, to: &Path) -> Result<(), Error> {
        let alone = self.copying.clone().write_owned().await;
        let (from, to) = (self.path.clone(), to.to_owned());
        let copy = move || {
            let _alone = alone;
            readers::copy(&from, &to)
        };
        tokio::task::spawn_blocking(copy).await.map_err(unavailable)?
    }

    /// Copies the file from another process than the one that owns it. An erase
    /// during the copy fails with an error that says it has to be repeated.
    pub fn copy(from: &Path, to: &Path) -> Result<(), Error> {
        readers::copy(from, to)
    }

    async fn ask(&self, work: Work) -> Result<(), Error> {
        let (ack, done) = oneshot::channel();
        let stopped = || unavailable("the writer has stopped");
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        jobs.send(Job { work, ack }).await.map_err(|_| stopped())?;
        done.await.map_err(|_| stopped())?
    }
}

impl Log for SqliteLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        // Sealed here rather than by the writer, whose time all runs share.
        Box::pin(async move { self.ask(Work::Append(Sealed::new(append))).await })
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
            let _no_copy = self.copying.read().await;
            self.ask(Work::Erase(streams)).await
        })
    }

    fn commits(&self) -> watch::Receiver<u64> {
        self.commits.clone()
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

/// Makes this process the file's only owner.
fn lock(path: &Path) -> Result<File, Error> {
    let mut name = OsString::from(path);
    name.push(".lock");
    let open = File::options().create(true).truncate(false).write(true).open(&name);
    let file = open.map_err(|error| unavailable(format!("cannot open {}: {error}", name.display())))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(unavailable(format!("{} is in use by another process", path.display()))),
        Err(TryLockError::Error(error)) => Err(unavailable(format!("cannot lock {}: {error}", name.display()))),
    }
}

/// Returns the error for a failure of SQLite, by what the caller can do about it.
fn failure(error: rusqlite::Error) -> Error {
    // An exhausted quota appears as a failed write.
    let no_room = error.sqlite_error().is_some_and(|sqlite| {
        sqlite.code == ErrorCode::DiskFull || [SQLITE_IOERR_WRITE, SQLITE_IOERR_SHMSIZE].contains(&sqlite.extended_code)
    });
    if no_room { Error::Full(error.to_string()) } else { unavailable(error) }
}

fn unavailable(reason: impl ToString) -> Error {
    Error::Unavailable(reason.to_string())
}
