//! Connections that only read. Each query sees one state of the file, however
//! long it takes, and neither waits for the writer nor makes it wait.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::{Error, failure, schema, unavailable};

/// Queries at once. They are short and mostly CPU: more would not be faster.
const READERS: usize = 2;

/// The connections that are free.
pub(super) struct Readers {
    free: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn open(path: &Path) -> Result<Readers, Error> {
        let free = (0..READERS).map(|_| connect(path)).collect::<rusqlite::Result<_>>().map_err(failure)?;
        Ok(Readers { free: Mutex::new(free), permits: Arc::new(Semaphore::new(READERS)) })
    }

    /// Runs a query on a free connection, off the async threads.
    pub(super) async fn query<T, Q>(self: Arc<Self>, query: Q) -> Result<T, Error>
    where
        T: Send + 'static,
        Q: FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    {
        let permit = self.permits.clone().acquire_owned().await.map_err(unavailable)?;
        let task = move || {
            // Kept to the end even when nobody waits for the answer any more.
            let _permit = permit;
            self.run(query)
        };
        tokio::task::spawn_blocking(task).await.map_err(unavailable)?
    }

    /// Closes the connections; those in use close when their query ends.
    pub(super) fn close(&self) {
        self.permits.close();
        self.free().clear();
    }

    fn run<T>(&self, query: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let db = self.free().pop().ok_or_else(|| unavailable("no free reader"))?;
        let answer = snapshot(&db, query);
        if !self.permits.is_closed() {
            self.free().push(db);
        }
        answer
    }

    fn free(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes what the file holds now to a new file, and flushes it to the disk.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let name = to.to_str().ok_or_else(|| unavailable("the backup's path is not UTF-8"))?;
    connect(from).and_then(|db| db.execute("VACUUM INTO ?", [name])).map_err(failure)?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    [to, folder].into_iter().try_for_each(|path| File::open(path)?.sync_all()).map_err(unavailable)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    schema::prepare(&db)?;
    Ok(db)
}

/// One state of the file for all statements of a query.
fn snapshot<T>(db: &Connection, query: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
    let tx = db.unchecked_transaction().map_err(failure)?;
    query(&tx)
}
