//! Threads that only read, each with its own connection. Each query sees one state of the file,
//! however long it takes, and neither waits for the writer nor makes it wait. The caller holds no
//! resources while it waits: a client that stops reading halfway does not block other readers.

use std::fs::{self, File};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use futures::FutureExt;
use futures::future::BoxFuture;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;

use super::{Error, failure, private, schema, unavailable};

/// The number of queries at once. They are short and mostly CPU: more would not be faster.
const READERS: usize = 2;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The threads, and the queue of queries. Its length is the
/// number of callers: each waits for one query at a time.
pub(super) struct Readers {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn open(path: &Path) -> Result<Readers, Error> {
        let (jobs, waiting) = mpsc::channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let mut readers = Readers { jobs: Some(jobs), threads: Vec::new() };
        for _ in 0..READERS {
            let db = connect(path).map_err(failure)?;
            let waiting = waiting.clone();
            let thread = thread::Builder::new().name("log reader".into());
            readers.threads.push(thread.spawn(move || serve(&db, &waiting)).map_err(unavailable)?);
        }
        Ok(readers)
    }

    /// Runs a query; it is not started when the caller no longer waits for it.
    pub(super) fn query<T, Q>(&self, query: Q) -> BoxFuture<'static, Result<T, Error>>
    where
        T: Send + 'static,
        Q: FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job = move |db: &Connection| {
            if !answer.is_closed() {
                let _nobody_waits = answer.send(snapshot(db, query));
            }
        };
        let asked = self.jobs.as_ref().is_some_and(|jobs| jobs.send(Box::new(job)).is_ok());
        async move {
            let stopped = || unavailable("the readers have stopped");
            if asked { answered.await.unwrap_or_else(|_dropped| Err(stopped())) } else { Err(stopped()) }
        }
        .boxed()
    }

    /// Closes the connections, after the pending queries.
    pub(super) fn close(&mut self) {
        self.jobs.take();
        for thread in self.threads.drain(..) {
            let _panicked = thread.join();
        }
    }
}

/// Serves queries until all senders are gone.
fn serve(db: &Connection, jobs: &Mutex<Receiver<Job>>) {
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(job) = next() {
        job(db);
    }
}

/// Writes the current content of the file to a new file, and flushes it to the disk.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let name = to.to_str().ok_or_else(|| unavailable("the backup's path is not UTF-8"))?;
    // SQLite writes to an empty file, and would make one that others can read.
    private::create_file(to).map_err(|error| unavailable(format!("cannot create {name}: {error}")))?;
    let copied = connect(from).and_then(|db| db.execute("VACUUM INTO ?", [name])).map_err(failure);
    if let Err(error) = copied {
        let _half = fs::remove_file(to);
        return Err(error);
    }
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    [to, folder].into_iter().try_for_each(|path| File::open(path)?.sync_all()).map_err(unavailable)
}

pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    schema::prepare(&db)?;
    Ok(db)
}

/// Runs all statements of a query on one state of the file.
fn snapshot<T>(db: &Connection, query: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
    let tx = db.unchecked_transaction().map_err(failure)?;
    query(&tx)
}
