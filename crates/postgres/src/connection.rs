//! Connections to the database: made again when they are lost, with bounded waits. A
//! connection is set right before it is used, so that a commit means what it says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use consort_log::Error;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::OpenError;
use crate::place::{DatabaseAddress, Security, reason};
use crate::tls;

/// The longest time that a caller waits for a connection before it hears that the database is away.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(5);
/// The first pause between two tries to connect; it doubles up to the last.
const PAUSE_FIRST: Duration = Duration::from_millis(20);
const PAUSE_LAST: Duration = Duration::from_millis(500);
/// The longest time for one statement: longer ones are given up, and their connection with them.
pub(crate) const STATEMENT_MAX: Duration = Duration::from_secs(30);
/// The settings of every session. Nested loops keep the plan of an append the same whether the tables are
/// empty or large; transactions that are left open by a lost node end by themselves.
const SESSION: &str = "SET search_path = consort;
    SET default_transaction_isolation = 'read committed';
    SET idle_in_transaction_session_timeout = '15s';
    SET statement_timeout = '30s';
    SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')";

/// A value of a statement, and its type.
pub(crate) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// A failed statement, named by what is to be done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection is gone, and nobody knows whether the statement was done.
    Lost(String),
    /// The database refused the statement: nothing of it was done.
    Refused(Box<DbError>),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        let lost = |db: &DbError| {
            let begins = |classes: &[&str]| classes.iter().any(|class| db.code().code().starts_with(class));
            let is_last_word = matches!(db.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
            // A wrong password or an unknown database is no matter of waiting. A standby is: it may become the primary.
            !begins(&["28", "3D"]) && (is_last_word || begins(&["08", "57P", "25006"]))
        };
        match error.as_db_error() {
            Some(db) if !lost(db) => Failure::Refused(Box::new(db.clone())),
            Some(_) | None => Failure::Lost(reason(&error)),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure {
            Failure::Refused(db) if *db.code() == SqlState::DISK_FULL => Error::Full(db.message().to_owned()),
            other @ (Failure::Lost(_) | Failure::Refused(_)) => Error::Unavailable(other.reason()),
        }
    }
}

impl Failure {
    fn reason(&self) -> String {
        match self {
            Failure::Lost(reason) => reason.clone(),
            Failure::Refused(db) => format!("{} ({})", db.message(), db.code().code()),
        }
    }

    /// Returns whether the same statement may succeed when it is sent again.
    pub(crate) fn is_passing(&self) -> bool {
        let codes = [SqlState::UNIQUE_VIOLATION, SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE];
        matches!(self, Failure::Refused(db) if codes.contains(db.code()))
    }

    /// Returns whether the database lacks room or time.
    pub(crate) fn is_shortage(&self) -> bool {
        matches!(self, Failure::Refused(db) if ["53", "57"].iter().any(|class| db.code().code().starts_with(class)))
    }
}

/// Makes connections to one place. Clones know of each other's connections.
#[derive(Clone)]
pub(crate) struct Connector {
    place: Arc<DatabaseAddress>,
    tls: MakeRustlsConnect,
    /// Counts how often all connections were ended.
    hang_ups: Arc<watch::Sender<u64>>,
}

impl Connector {
    pub(crate) fn new(place: DatabaseAddress) -> Result<Connector, OpenError> {
        let tls = tls::connector(&place.security)?;
        Ok(Connector { place: Arc::new(place), tls, hang_ups: Arc::new(watch::Sender::new(0)) })
    }

    /// Ends every connection, because the database does not answer: whoever waits for it hears of that now, and not when
    /// the statement has taken too long. Packets that are lost and a machine that stands still end no connection.
    pub(crate) fn hang_up(&self) {
        self.hang_ups.send_modify(|count| *count += 1);
    }

    /// Returns the hosts, ports and the database.
    pub(crate) fn shown(&self) -> String {
        self.place.shown()
    }

    /// Connects once, and sets the session right.
    pub(crate) async fn connect(&self) -> Result<Client, Failure> {
        let client = self.connect_bare().await?;
        client.batch_execute(SESSION).await?;
        Ok(client)
    }

    /// Connects once, to a database in which there may be nothing of ours yet. All of its hosts are asked at the same
    /// time, and the first one that takes writes is used.
    pub(crate) async fn connect_bare(&self) -> Result<Client, Failure> {
        let mut asked: FuturesUnordered<_> = self.place.hosts().into_iter().map(|host| self.connect_to(host)).collect();
        let mut failure = Failure::Lost("its address names no host".to_owned());
        while let Some(connected) = asked.next().await {
            match connected {
                Ok(client) => return Ok(client),
                // A refusal says more than a host that is away.
                Err(Failure::Lost(_)) if matches!(failure, Failure::Refused(_)) => {}
                Err(other) => failure = other,
            }
        }
        Err(failure)
    }

    async fn connect_to(&self, host: Config) -> Result<Client, Failure> {
        if self.place.security == Security::Off {
            let (client, connection) = host.connect(NoTls).await?;
            self.keep(connection);
            Ok(client)
        } else {
            let (client, connection) = host.connect(self.tls.clone()).await?;
            self.keep(connection);
            Ok(client)
        }
    }

    /// Serves a connection until its client is dropped, or all are ended.
    fn keep<T>(&self, connection: impl Future<Output = T> + Send + 'static) {
        let mut hang_ups = self.hang_ups.subscribe();
        tokio::spawn(async move {
            let hung_up = async {
                if hang_ups.changed().await.is_err() {
                    // Nobody is left who could.
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                _ended = connection => {}
                () = hung_up => {}
            }
        });
    }

    /// Connects, and tries again for a while.
    pub(crate) async fn connect_within(&self, wait: Duration) -> Result<Client, Error> {
        let end = Instant::now() + wait;
        let mut pause = PAUSE_FIRST;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let failure = match timeout(left.max(PAUSE_FIRST), self.connect()).await {
                Ok(Ok(client)) => return Ok(client),
                Ok(Err(failure)) => failure.reason(),
                Err(_elapsed) => "it does not answer".to_owned(),
            };
            if Instant::now() + pause >= end {
                return Err(Error::Unavailable(format!("the database {} is away: {failure}", self.shown())));
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_LAST);
        }
    }
}

/// Runs one statement, and gives it up when it takes too long.
pub(crate) async fn bounded<T, F>(statement: F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, tokio_postgres::Error>>,
{
    match timeout(STATEMENT_MAX, statement).await {
        Ok(done) => Ok(done?),
        Err(_elapsed) => Err(Failure::Lost("the database does not answer".to_owned())),
    }
}

/// Connections that are not used at the moment, and the right to use so many at once.
pub(crate) struct Pool {
    connector: Connector,
    seats: Semaphore,
    idle: Mutex<Vec<Client>>,
}

impl Pool {
    pub(crate) fn new(connector: Connector, size: usize) -> Pool {
        Pool { connector, seats: Semaphore::new(size), idle: Mutex::new(Vec::new()) }
    }

    /// Returns the right to use a connection, for work that may be done again when its connection is lost.
    pub(crate) async fn attempts(&self) -> Result<Attempts<'_>, Error> {
        // The time behind others who wait counts: else the last of many would wait for each of them.
        let end = Instant::now() + WAIT_MAX;
        let seat = self.seats.acquire().await.map_err(|_closed| Error::Unavailable("the log is closed".into()))?;
        Ok(Attempts { pool: self, end, _seat: seat })
    }

    /// Runs one statement, again when its connection is lost on the way; returns its rows.
    pub(crate) async fn query(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        let attempts = self.attempts().await?;
        loop {
            let client = attempts.client().await?;
            let done = bounded(client.query_typed(sql, values)).await;
            if let Some(known) = attempts.settle(client, done) {
                return known;
            }
        }
    }

    /// Runs one statement, once: it must not be done again when its answer is lost.
    pub(crate) async fn query_once(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        let attempts = self.attempts().await?;
        let client = attempts.client().await?;
        let done = bounded(client.query_typed(sql, values)).await;
        if !matches!(done, Err(Failure::Lost(_))) {
            self.idle().push(client);
        }
        Ok(done?)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to use a connection of a pool for a while.
pub(crate) struct Attempts<'a> {
    pool: &'a Pool,
    end: Instant,
    _seat: SemaphorePermit<'a>,
}

impl Attempts<'_> {
    /// Returns a connection.
    pub(crate) async fn client(&self) -> Result<Client, Error> {
        let idle = self.pool.idle().pop().filter(|client| !client.is_closed());
        match idle {
            Some(client) => Ok(client),
            None => self.pool.connector.connect_within(self.end.saturating_duration_since(Instant::now())).await,
        }
    }

    /// Returns what came of the work; `None` when its connection was lost and there is time to do it again.
    pub(crate) fn settle<T>(&self, client: Client, done: Result<T, Failure>) -> Option<Result<T, Error>> {
        match done {
            Err(Failure::Lost(reason)) if Instant::now() >= self.end => Some(Err(Error::Unavailable(reason))),
            Err(Failure::Lost(reason)) => {
                tracing::debug!(reason, "a connection to the database was lost");
                None
            }
            known => {
                self.pool.idle().push(client);
                Some(known.map_err(Error::from))
            }
        }
    }
}
