//! The log of a cluster: streams in PostgreSQL. Appends that wait become one statement, each fenced by
//! its stream's length and epoch; a commit that nobody heard of is found out by writing, so an append is stored
//! or refused and never perhaps. Reads and lists are of the primary, so what one node stored every node reads.

mod batch;
mod cluster;
mod connection;
mod details;
mod erase;
mod list;
mod news;
mod place;
mod read;
mod schema;
mod text;
mod tls;
mod writer;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use consort_log::{Append, Compact, Error, Log, Page, Query, Record, Seq};
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep};

pub use self::cluster::{PgCluster, join};
pub use self::place::is_address;

use self::batch::Pending;
use self::cluster::Me;
use self::connection::{Connector, Pool};
use self::news::News;
use self::place::DatabaseAddress;
use self::writer::{Job, Writer};

/// The number of connections that write. A stream has its own, so that its appends stay in order.
const WRITERS: usize = 2;
/// The number of connections that read.
const READERS: usize = 4;
/// The maximum number of jobs waiting for a writer; past this, runs wait for the database.
const QUEUE_MAX: usize = 1024;
/// The maximum number of streams erased in one transaction: bounds how long others wait for it.
const ERASED_MAX: usize = 64;
/// The time for which a start waits for a database that is away.
const START_WAIT: Duration = Duration::from_secs(30);
/// The pause between two tries to open.
const START_PAUSE: Duration = Duration::from_millis(500);

/// The reason why a database cannot be used, named by what the operator can do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Change the configuration or the database.
    #[error("{0}")]
    Refused(String),
    /// Start the database, or wait for it.
    #[error("the database cannot be reached: {0}")]
    Away(String),
}

/// Streams in a database. Clones of its handle are one log; several processes may open the same database.
pub struct PgLog {
    connector: Connector,
    writers: Vec<mpsc::Sender<Job>>,
    readers: Arc<Pool>,
    news: Arc<News>,
    /// The node that this process is.
    me: Arc<Me>,
}

impl PgLog {
    /// Connects to a database, and creates or upgrades its tables. One that is away is waited for.
    pub async fn open(address: &str) -> Result<PgLog, OpenError> {
        PgLog::open_within(address, START_WAIT).await
    }

    /// Connects to a database, and waits for one that is away for so long.
    pub async fn open_within(address: &str, wait: Duration) -> Result<PgLog, OpenError> {
        let connector = Connector::new(DatabaseAddress::parse(address)?)?;
        let end = Instant::now() + wait;
        loop {
            match schema::prepare(&connector).await {
                Ok(()) => return Ok(PgLog::new(connector)),
                Err(OpenError::Away(reason)) if Instant::now() >= end => {
                    return Err(OpenError::Away(format!("{}: {reason}", connector.shown())));
                }
                Err(OpenError::Away(reason)) => {
                    tracing::warn!(database = connector.shown(), reason, "waiting for the database");
                    sleep(START_PAUSE).await;
                }
                Err(refused @ OpenError::Refused(_)) => return Err(refused),
            }
        }
    }

    fn new(connector: Connector) -> PgLog {
        let news = Arc::new(News::default());
        let me = Arc::new(Me::default());
        let readers = Arc::new(Pool::new(connector.clone(), READERS));
        let writer = |_| {
            let (jobs, waiting) = mpsc::channel(QUEUE_MAX);
            // It ends with the last sender.
            tokio::spawn(Writer::new(connector.clone(), waiting, news.clone(), me.clone()).run());
            jobs
        };
        let writers = (0..WRITERS).map(writer).collect();
        tokio::spawn(News::poll(Arc::downgrade(&news), Arc::downgrade(&readers)));
        PgLog { readers, connector, writers, news, me }
    }

    /// Returns the hosts, ports and name of the database, without user and password.
    pub fn place(&self) -> String {
        self.connector.shown()
    }

    async fn put(&self, append: Append) -> Result<(), Error> {
        let stopped = || Error::Unavailable("the writer has stopped".to_owned());
        let mut place = DefaultHasher::new();
        append.stream.hash(&mut place);
        let index = usize::try_from(place.finish() % WRITERS as u64).unwrap_or_default();
        let writer = self.writers.get(index).ok_or_else(stopped)?;
        let (ack, done) = oneshot::channel();
        writer.send(Job { pending: Pending::new(append), ack }).await.map_err(|_| stopped())?;
        done.await.map_err(|_| stopped())?
    }
}

impl Log for PgLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.put(append))
    }

    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>> {
        let stream = stream.to_owned();
        Box::pin(async move { read::records(&self.readers, &stream, from, max).await })
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>> {
        Box::pin(async move { list::page(&self.readers, &query).await })
    }

    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            for some in streams.chunks(ERASED_MAX) {
                erase::erase(&self.readers, some).await?;
                some.iter().for_each(|stream| self.news.tell(stream, None));
            }
            Ok(())
        })
    }

    fn news(&self, stream: &str) -> watch::Receiver<u64> {
        self.news.follow(stream)
    }
}

impl Compact for PgLog {
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(erase::compact(&self.connector))
    }
}
