//! The earlier turns of a thread. A turn is not stored with the conversation before
//! it: the rows of earlier turns hold it, and do not change. Threads in use are
//! cached, so that each row is read once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use consort_core::chat::{self, Role, Stored};
use consort_core::event::{Event, EventKind};
use consort_core::message::{Message, Outcome};
use consort_core::result;
use consort_core::run::Run;
use consort_core::spec::Kind;
use consort_log::damage::row_fault;
use consort_log::{Error, Log, Order, Query, Row};
use serde_json::Value;

use crate::watcher::{Purpose, history, load};

/// Cached threads; the least recently used one is evicted.
const THREADS_MAX: usize = 32;
/// Turns searched for a result that was cut.
const LOOKED_INTO_MAX: usize = 8;
/// Turns read to find a thread's last: more than can begin in the same millisecond,
/// one after the other.
const AT_ONCE_MAX: usize = 32;

/// The turns of a thread that have ended, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// The turns.
    pub turns: Vec<Arc<Stored>>,
    /// Their messages, as they are sent to a model.
    pub messages: Arc<Vec<Message>>,
}

impl Ended {
    /// Returns the number that follows the last event.
    fn next(&self) -> u64 {
        self.turns.last().map_or(0, |turn| turn.next)
    }

    fn push(&mut self, turn: Stored) {
        Arc::make_mut(&mut self.messages).extend(chat::history(&turn.rows));
        self.turns.push(Arc::new(turn));
    }
}

/// A thread's turns: those that have ended, and the one after them.
pub struct Turns {
    /// Those that have ended.
    pub ended: Ended,
    /// The one after them, if there is one.
    pub running: Option<Stored>,
}

/// The cached threads, the most recently used one at the end.
#[derive(Default)]
pub struct ThreadHistories(Mutex<VecDeque<(String, Ended)>>);

impl ThreadHistories {
    /// Returns the turns of a thread as they are stored.
    pub async fn turns(&self, log: &dyn Log, thread: &str) -> Result<Turns, Error> {
        let turns = match self.known(thread) {
            Some(ended) => go_on(log, thread, ended).await?,
            None => read(log, thread).await?,
        };
        self.put(thread, turns.ended.clone());
        Ok(turns)
    }

    /// Returns the newest turn of a thread, without reading a thread that is not in use.
    pub async fn newest(&self, log: &dyn Log, thread: &str) -> Result<Option<Stored>, Error> {
        if self.known(thread).is_some() {
            let Turns { mut ended, running } = self.turns(log, thread).await?;
            return Ok(running.or_else(|| ended.turns.pop().map(Arc::unwrap_or_clone)));
        }
        let query = Query { limit: AT_ONCE_MAX, ..turns_of(thread) };
        let rows = log.list(query).await?.rows;
        let turns = turns(log, &rows).await?;
        Ok(turns.into_iter().max_by_key(|turn| turn.base))
    }

    /// Forgets a thread that is deleted.
    pub fn forget(&self, thread: &str) {
        self.threads().retain(|(known, _)| known != thread);
    }

    fn known(&self, thread: &str) -> Option<Ended> {
        self.threads().iter().find(|(known, _)| known == thread).map(|(_, ended)| ended.clone())
    }

    fn put(&self, thread: &str, ended: Ended) {
        let mut threads = self.threads();
        threads.retain(|(known, _)| known != thread);
        threads.push_back((thread.to_owned(), ended));
        if threads.len() > THREADS_MAX {
            threads.pop_front();
        }
    }

    fn threads(&self) -> std::sync::MutexGuard<'_, VecDeque<(String, Ended)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads all turns of a thread.
async fn read(log: &dyn Log, thread: &str) -> Result<Turns, Error> {
    let rows = log.list(Query { order: Order::OldestStart, limit: usize::MAX, ..turns_of(thread) }).await?.rows;
    let mut turns = turns(log, &rows).await?;
    // Several can begin in the same millisecond; their numbers are reliable.
    turns.sort_by_key(|turn| turn.base);
    let running = turns.pop_if(|turn| !is_over(turn));
    let mut ended = Ended::default();
    turns.into_iter().for_each(|turn| ended.push(turn));
    Ok(Turns { ended, running })
}

/// Reads the turns after those that are known: each is found by the number it has
/// claimed, so that only new turns are read.
async fn go_on(log: &dyn Log, thread: &str, mut ended: Ended) -> Result<Turns, Error> {
    loop {
        let query = Query { claim: Some(claim(thread, ended.next())), limit: 1, ..Query::default() };
        let found = log.list(query).await?.rows;
        let running = match found.first() {
            Some((id, row)) => Some(stored(log, id, row).await?),
            None => None,
        };
        match running {
            Some(turn) if is_over(&turn) => ended.push(turn),
            running => return Ok(Turns { ended, running }),
        }
    }
}

/// Returns the key that the turn of a thread that begins with this number claims; only
/// one turn can hold it.
pub fn claim(thread: &str, base: u64) -> String {
    format!("{thread}/{base}")
}

/// Restores the earlier conversation in the first event of a turn, so that it can be
/// resumed.
pub(crate) async fn put_back(log: &dyn Log, event: &mut Event) -> Result<(), Error> {
    let EventKind::RunAccepted { spec, .. } = &mut event.kind else { return Ok(()) };
    let Some(turn) = spec.chat.as_ref().filter(|turn| turn.base > 0) else { return Ok(()) };
    let mut before = read(log, &turn.thread).await?.ended.turns;
    before.retain(|earlier| earlier.base < turn.base);
    let said = Arc::new(chat::history(before.iter().flat_map(|turn| &turn.rows)));
    if let Some(turn) = &mut Arc::make_mut(spec).chat {
        turn.history = said;
    }
    Ok(())
}

/// Returns the requested part of a result that was cut in an earlier turn: the newest
/// turn whose tools mention the handle and which stores it.
pub(crate) async fn read_result(log: &dyn Log, turn: &str, args: &Value) -> Result<Outcome, Error> {
    let rows = log.list(Query { stream: Some(turn.to_owned()), limit: 1, ..Query::default() }).await?.rows;
    let thread = rows.first().and_then(|(_, row)| row.tags.get("thread")).cloned().unwrap_or_default();
    let mentions = |row: &chat::Row| row.role == Role::Tool && row.content.as_str().contains(result::handle(args));
    let ended = read(log, &thread).await?.ended.turns;
    let told = ended.iter().rev().filter(|turn| turn.rows.iter().any(mentions));
    for turn in told.take(LOOKED_INTO_MAX) {
        let (run, _) = load(log, &turn.turn, Purpose::Look).await?;
        if run.keeps_result(args) {
            return Ok(run.read_result(args));
        }
    }
    Ok(Run::default().read_result(args))
}

/// Returns the query for the turns of a thread.
pub fn turns_of(thread: &str) -> Query {
    Query {
        kind: Some(Kind::Turn.word().to_owned()),
        tags: vec![("thread".to_owned(), Some(thread.to_owned()))],
        ..Query::default()
    }
}

/// Reads turns from their rows.
async fn turns(log: &dyn Log, rows: &[(Arc<str>, Row)]) -> Result<Vec<Stored>, Error> {
    let mut turns = Vec::with_capacity(rows.len());
    for (id, row) in rows {
        turns.push(stored(log, id, row).await?);
    }
    Ok(turns)
}

/// Reads a turn from its row, or from its events where the row cannot be read: the row
/// is derived from them.
pub async fn stored(log: &dyn Log, id: &str, row: &Row) -> Result<Stored, Error> {
    if let Ok(turn) = serde_json::from_str(&row.body) {
        return Ok(turn);
    }
    tracing::warn!(turn = id, "the row of a turn cannot be read: its events are read instead");
    let run = Run::replay(&history(log, id).await?);
    let body = serde_json::to_value(run.summary(id).row);
    let damaged =
        |error: serde_json::Error| Error::Damaged { stream: id.to_owned(), seq: 0, reason: row_fault("", &error) };
    body.and_then(serde_json::from_value).map_err(damaged)
}

/// Returns whether a turn has ended.
pub fn is_over(turn: &Stored) -> bool {
    turn.status.is_over()
}
