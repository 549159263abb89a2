//! The only task that writes on its connection: all waiting appends become one statement, and each
//! gets its result after the commit. A commit that nobody heard of is found out by writing: the append is sent
//! again under its id, and an id that is already in the place where it belongs was written.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use consort_log::{Error, Seq};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};

use crate::batch::{self, Pending};
use crate::cluster::Me;
use crate::connection::{Connector, Failure, Value, WAIT_MAX, bounded};
use crate::news::News;
use crate::text::{escape, unescape};

/// The maximum number of appends in one statement: bounds how long the first waits for the last.
const GROUP_MAX: usize = 128;
/// The maximum size of a group of several appends: bounds what the database holds in memory for it.
const GROUP_BYTES: u64 = 16 * 1024 * 1024;
/// The maximum size of one append: PostgreSQL takes 1 GB in one message.
const APPEND_BYTES: u64 = 512 * 1024 * 1024;
/// The number of times that an append is tried while others take its keys or rows at the same moment.
const TRIES: usize = 10;
/// The maximum number of streams whose length is remembered: those that grow at the same time are fewer.
const KNOWN_MAX: usize = 4096;
/// The pause before an append whose fate is unknown is tried again on a database that is away or without room.
const PAUSE: Duration = Duration::from_millis(500);
/// Plans are made once: they must be right for empty and for full tables.
const PLANS: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
    SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off";

/// An append, and the sender of its result.
pub(crate) struct Job {
    pub(crate) pending: Pending,
    pub(crate) ack: oneshot::Sender<Result<(), Error>>,
}

/// The number of looks whether a lost session has ended, and the pause between two.
const ENDING_TRIES: usize = 1_000;
const ENDING_PAUSE: Duration = Duration::from_millis(5);

/// A connection, and the statement that is prepared on it.
struct Session {
    client: Client,
    statement: Statement,
    mark: Mark,
}

/// The process of the server that a connection has, and when it began.
#[derive(Clone)]
struct Mark {
    process: i32,
    since: String,
}

/// The owner of one writing connection.
pub(crate) struct Writer {
    connector: Connector,
    session: Option<Session>,
    /// The session that was lost during an append: what it was sent may still be done.
    lost: Option<Mark>,
    news: Arc<News>,
    me: Arc<Me>,
    jobs: mpsc::Receiver<Job>,
    /// Jobs that were taken from the queue and not yet into a group.
    waiting: VecDeque<Job>,
    /// Whether an append of the present group was sent and nobody knows what became of it.
    is_uncertain: bool,
    /// The lengths of streams that were acknowledged to this process.
    acknowledged: HashMap<Arc<str>, Seq>,
}

impl Writer {
    pub(crate) fn new(connector: Connector, jobs: mpsc::Receiver<Job>, news: Arc<News>, me: Arc<Me>) -> Writer {
        Writer {
            connector,
            session: None,
            lost: None,
            news,
            me,
            jobs,
            waiting: VecDeque::new(),
            is_uncertain: false,
            acknowledged: HashMap::new(),
        }
    }

    /// Serves until the last sender is gone.
    pub(crate) async fn run(mut self) {
        loop {
            if self.waiting.is_empty() {
                let Some(job) = self.jobs.recv().await else { return };
                self.waiting.push_back(job);
            }
            while self.waiting.len() < GROUP_MAX
                && let Ok(job) = self.jobs.try_recv()
            {
                self.waiting.push_back(job);
            }
            let group = self.group();
            self.serve(group).await;
        }
    }

    /// Takes the jobs of one statement. A stream or a key that is named twice waits for the next one, with all
    /// that follows on the same stream.
    fn group(&mut self) -> Vec<Job> {
        let mut group = Vec::new();
        let mut later = VecDeque::new();
        let mut named: HashSet<String> = HashSet::new();
        let mut bytes = 0;
        for job in self.waiting.drain(..) {
            if let Some(error) = batch::unwritable(&job.pending, APPEND_BYTES) {
                tell(job, Err(error));
                continue;
            }
            let append = job.pending.append();
            let keys = append.claims.iter().map(|key| format!("k{key}"));
            let names: Vec<String> = keys.chain([format!("s{}", append.stream)]).collect();
            let is_free = !names.iter().any(|name| named.contains(name));
            let fits = group.is_empty() || bytes + job.pending.bytes() <= GROUP_BYTES;
            named.extend(names);
            if is_free && fits && group.len() < GROUP_MAX {
                bytes += job.pending.bytes();
                group.push(job);
            } else {
                later.push_back(job);
            }
        }
        self.waiting = later;
        // Everybody locks rows in the same order, so that nobody waits in a circle.
        group.sort_by(|one, other| one.pending.append().stream.cmp(&other.pending.append().stream));
        group
    }

    async fn serve(&mut self, group: Vec<Job>) {
        let pending: Vec<&Pending> = group.iter().map(|job| &job.pending).collect();
        let results = self.write(&pending).await;
        for (job, result) in group.into_iter().zip(results) {
            if result.is_ok() {
                let append = job.pending.append();
                let change = (job.pending.id.as_bytes().to_vec(), i64::try_from(append.epoch).unwrap_or(i64::MAX));
                self.news.tell(&append.stream, Some(change));
                if self.acknowledged.len() >= KNOWN_MAX {
                    self.acknowledged.clear();
                }
                let length = append.expected + append.records.len() as Seq;
                self.acknowledged.insert(append.stream.clone(), length);
            }
            tell(job, result);
        }
    }

    async fn write(&mut self, group: &[&Pending]) -> Vec<Result<(), Error>> {
        self.is_uncertain = false;
        let known = match self.commit(group).await {
            Ok(known) => known,
            // An append that cannot be written must not fail the others.
            Err(failure) if group.len() > 1 || failure.is_passing() => vec![None; group.len()],
            Err(failure) => vec![Some(Err(failure.into()))],
        };
        let mut results = Vec::with_capacity(group.len());
        for (pending, known) in group.iter().zip(known) {
            results.push(match known {
                Some(result) => result,
                None => self.write_alone(pending).await,
            });
        }
        results
    }

    async fn write_alone(&mut self, pending: &Pending) -> Result<(), Error> {
        let mut last = Error::Fenced;
        let mut tries = 0;
        while tries < TRIES {
            tries += 1;
            match self.commit(&[pending]).await {
                Ok(known) => match known.into_iter().flatten().next() {
                    Some(result) => return result,
                    None => last = Error::Fenced,
                },
                Err(failure) if failure.is_passing() => last = failure.into(),
                // An earlier try may have been stored, and now there is no room to find out.
                Err(failure) if self.is_uncertain && failure.is_shortage() && !self.jobs.is_closed() => {
                    self.refuse(&failure.into());
                    sleep(PAUSE).await;
                    tries = 0;
                }
                Err(failure) => return Err(failure.into()),
            }
        }
        Err(last)
    }

    /// Writes a group; returns when it is known what became of each append. `None` stands for one that was refused
    /// without a reason that still holds: others changed something between two statements.
    async fn commit(&mut self, group: &[&Pending]) -> Result<Vec<Option<Result<(), Error>>>, Failure> {
        loop {
            let is_uncertain = self.is_uncertain;
            let lengths: Vec<Seq> = group.iter().map(|pending| self.acknowledged_length(pending)).collect();
            let waits = is_uncertain && !self.jobs.is_closed();
            let node = self.me.id();
            let session = match self.session().await {
                Ok(session) => session,
                // Nobody knows what became of it: it waits until somebody does.
                Err(error) if waits => {
                    self.refuse(&error);
                    sleep(PAUSE).await;
                    continue;
                }
                Err(error) => return Ok(vec![Some(Err(error)); group.len()]),
            };
            match write(session, group, &node, &lengths).await {
                Err(Failure::Lost(reason)) => {
                    tracing::debug!(reason, "a connection to the database was lost during an append");
                    self.is_uncertain = true;
                    self.lost = self.session.take().map(|session| session.mark);
                }
                known => return known,
            }
        }
    }

    /// Returns the length that a stream is known to have had, when what became of an append is not known.
    fn acknowledged_length(&self, pending: &Pending) -> Seq {
        let known = self.acknowledged.get(&pending.append().stream).filter(|_| self.is_uncertain);
        known.copied().unwrap_or_default()
    }

    async fn session(&mut self) -> Result<&Session, Error> {
        if self.session.as_ref().is_none_or(|session| session.client.is_closed()) {
            self.session = None;
            let client = self.connector.connect_within(WAIT_MAX).await?;
            bounded(client.batch_execute(PLANS)).await?;
            if let Some(lost) = &self.lost {
                end(&client, lost).await?;
                self.lost = None;
            }
            let mark = mark(&client).await?;
            let statement = bounded(client.prepare(batch::SQL)).await?;
            self.session = Some(Session { client, statement, mark });
        }
        self.session.as_ref().ok_or_else(|| Error::Unavailable("there is no connection".to_owned()))
    }

    /// Tells everybody who waits behind an append that waits for the database.
    fn refuse(&mut self, error: &Error) {
        while let Ok(job) = self.jobs.try_recv() {
            self.waiting.push_back(job);
        }
        for job in self.waiting.drain(..) {
            tell(job, Err(error.clone()));
        }
    }
}

/// Returns how the server knows this connection.
async fn mark(client: &Client) -> Result<Mark, Failure> {
    let sql = "SELECT pid, extract(epoch FROM backend_start)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()";
    let row = bounded(client.query_typed_one(sql, &[])).await?;
    Ok(Mark { process: row.get(0), since: row.get(1) })
}

/// Returns when a session that was lost has ended. An append of records that arrives late finds the stream longer than
/// it expects; one that only replaces the row would be stored over a later one.
async fn end(client: &Client, Mark { process, since }: &Mark) -> Result<(), Error> {
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2";
    for _look in 0..ENDING_TRIES {
        let values: [Value<'_>; 2] = [(process, Type::INT4), (since, Type::TEXT)];
        if bounded(client.query_typed(sql, &values)).await?.is_empty() {
            return Ok(());
        }
        sleep(ENDING_PAUSE).await;
    }
    Err(Error::Unavailable("a session of the database that was lost does not end".to_owned()))
}

/// Writes a group; returns what became of each append.
async fn write(
    session: &Session,
    group: &[&Pending],
    node: &Option<String>,
    lengths: &[Seq],
) -> Result<Vec<Option<Result<(), Error>>>, Failure> {
    let written = batch::write(&session.client, &session.statement, group, node).await?;
    let mut known = Vec::with_capacity(group.len());
    for (pending, length) in group.iter().zip(lengths) {
        let name = escape(&pending.append().stream);
        let is_written = written.contains(&*name);
        known.push(if is_written { Some(Ok(())) } else { refusal(session, pending, *length).await? });
    }
    Ok(known)
}

/// The row of a stream that refused an append.
struct Found {
    length: i64,
    epoch: i64,
    /// The id of the append that wrote the record which the refused one wanted to write, or the row.
    by: Option<Vec<u8>>,
}

/// Returns what became of an append that wrote nothing this time; `None` when nothing stands in its way. A stream that
/// is shorter than was acknowledged has lost something.
async fn refusal(
    session: &Session,
    pending: &Pending,
    acknowledged: Seq,
) -> Result<Option<Result<(), Error>>, Failure> {
    let append = pending.append();
    let client = &session.client;
    let found = find(client, pending).await?;
    if let Some(Found { by: Some(by), .. }) = &found
        && by == pending.id.as_bytes()
    {
        // It was stored before its connection was lost. The commit of a write proves that it stays.
        prove(client, &append.stream).await?;
        return Ok(Some(Ok(())));
    }
    let expected = i64::try_from(append.expected).unwrap_or(i64::MAX);
    let epoch = i64::try_from(append.epoch).unwrap_or(i64::MAX);
    if let Some(Found { length, .. }) = found
        && length < expected
        && append.expected <= acknowledged
    {
        tracing::error!(stream = &*append.stream, length, expected, "the database has lost what it had acknowledged");
        let reason = "the database has lost what it had acknowledged".to_owned();
        let seq = Seq::try_from(length).unwrap_or_default();
        return Ok(Some(Err(Error::Damaged { stream: append.stream.to_string(), seq, reason })));
    }
    let (has, seen) = found.map_or((0, 0), |found| (found.length, found.epoch));
    if has != expected || seen > epoch {
        return Ok(Some(Err(Error::Fenced)));
    }
    Ok(holder(client, pending).await?.map(Err))
}

async fn find(client: &Client, pending: &Pending) -> Result<Option<Found>, Failure> {
    let append = pending.append();
    let name = escape(&append.stream);
    let expected = i64::try_from(append.expected).unwrap_or(i64::MAX);
    let sql = if append.records.is_empty() {
        "SELECT s.length, s.epoch, s.append FROM streams s WHERE s.name = $1 AND $2::int8 >= 0"
    } else {
        "SELECT s.length, s.epoch, r.append FROM streams s LEFT JOIN records r ON r.stream = s.id AND r.seq = $2
            WHERE s.name = $1"
    };
    let parameters: [Value<'_>; 2] = [(&&*name, Type::TEXT), (&expected, Type::INT8)];
    let row = bounded(client.query_typed_opt(sql, &parameters)).await?;
    Ok(row.map(|row| Found { length: row.get(0), epoch: row.get(1), by: row.get(2) }))
}

/// Writes to a stream without changing it.
async fn prove(client: &Client, stream: &str) -> Result<(), Failure> {
    let name = escape(stream);
    let sql = "UPDATE streams SET epoch = epoch WHERE name = $1";
    bounded(client.execute_typed(sql, &[(&&*name, Type::TEXT)])).await.map(drop)
}

/// Returns the refusal of an append whose key belongs to another stream.
async fn holder(client: &Client, pending: &Pending) -> Result<Option<Error>, Failure> {
    let append = pending.append();
    let name = escape(&append.stream);
    for key in &append.claims {
        let sql = "SELECT s.name FROM claims c JOIN streams s ON s.id = c.stream WHERE c.key = $1 AND s.name <> $2";
        let escaped = escape(key);
        let parameters: [Value<'_>; 2] = [(&&*escaped, Type::TEXT), (&&*name, Type::TEXT)];
        if let Some(row) = bounded(client.query_typed_opt(sql, &parameters)).await? {
            let by = unescape(row.get(0)).into_owned();
            return Ok(Some(Error::Claimed { key: key.clone(), by }));
        }
    }
    Ok(None)
}

fn tell(job: Job, result: Result<(), Error>) {
    // A caller that gave up waiting reads the outcome from the log.
    let _gave_up = job.ack.send(result);
}
