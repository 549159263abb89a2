//! Chats. A thread's turns are runs, one after the other; this module does not
//! decide anything within them, only their order. All its knowledge is read from the
//! log, so that a restart changes nothing.

mod approvals;
mod branch;
mod changes;
mod context;
mod continuation;
mod damaged;
pub mod facts;
mod flow;
mod follow;
mod gap;
mod grants;
mod live;
mod message_queue;
mod mining;
mod opening;
mod search;
mod send;
mod steer;
mod temporary;
mod thread;
mod usage;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use consort_core::chat::{Row, Rules, Stored};
use consort_core::compile::Catalog;
use consort_core::decide::{Command, Refused};
use consort_core::event::CancelMode;
use consort_core::mistake::Mistake;
use consort_core::own_tool::OwnTool;
use consort_core::spec::Kind;
use consort_log::{self as log, Query};
use consort_runtime::engine::{self, Engine};
use consort_runtime::thread_history::{ThreadHistories, Turns, is_over, stored, turns_of};
use consort_tools::Workspace;
use consort_tools::collections::Collections;
use tokio::task::JoinSet;

pub use follow::{FramePage, Numbered, Start};
pub use gap::Gap;
pub use live::TurnSubscription;
pub use opening::Opening;
pub use search::FoundThread;
pub use temporary::Continued;
pub use thread::{DamagedThread, Mined, MinedStatus, Thread, ThreadView, Waiting};
pub use usage::Spent;

use damaged::unless_damaged;
use live::Live;
use message_queue::{QUEUE_MAX, Queue};

/// The default time that a turn goes on after its last client has left.
pub const DETACH_GRACE: Duration = Duration::from_mins(10);
/// The default number of turns at the same time.
pub const MAX_CONCURRENT_TURNS: usize = 64;
/// The number of turns that are searched for facts at the same time: few, because no client waits for it.
pub const MAX_CONCURRENT_MININGS: usize = 4;

/// The settings of all chats.
#[derive(Clone)]
pub struct Settings {
    /// The limits and permissions of a turn.
    pub rules: Rules,
    /// The models and tools it can choose from.
    pub catalog: Catalog,
    /// The names of providers whose tools it can use too.
    pub providers: Vec<String>,
    /// The files whose `AGENTS.md` is shown to the model.
    pub workspace: Option<Workspace>,
    /// The time that a turn goes on after its last client has left.
    pub detach_grace: Duration,
    /// The documents for answers: those that the tools search, too.
    pub collections: Collections,
}

impl Settings {
    /// Creates settings with the models and tools of an engine, except tools that come and go.
    pub fn new(engine: &Engine, rules: Rules) -> Settings {
        let seams = engine.seams();
        Settings {
            rules,
            catalog: seams.catalog(),
            providers: Vec::new(),
            workspace: None,
            detach_grace: DETACH_GRACE,
            collections: Collections::new(seams.log.clone()),
        }
    }
}

/// A handle to all chats.
#[derive(Clone)]
pub struct Chats(Arc<Inner>, Owner);

/// Tasks that start queued messages, stop turns without clients and extract facts.
/// They end with the last outside handle: their own do not count.
type Tasks = Mutex<JoinSet<()>>;
type Owner = Option<Arc<Tasks>>;

struct Inner {
    engine: Engine,
    settings: Settings,
    live: Live,
    history: ThreadHistories,
    tasks: Weak<Tasks>,
}

/// The result of sending a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// The id of its turn, which may not have begun yet.
    pub turn: Arc<str>,
    /// Whether its turn has begun or waits.
    pub place: MessageState,
}

/// The state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageState {
    /// Its turn has begun with this number of the thread.
    Begun {
        /// The first number of the turn.
        seq: u64,
    },
    /// It waits in the queue.
    Waits {
        /// The number of messages before it.
        position: usize,
    },
}

/// An error of a chat.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such thread, or it belongs to another owner.
    #[error("No thread with ID {0}")]
    NotFound(String),
    /// Another turn runs.
    #[error("the thread is busy with the turn {turn}")]
    Busy {
        /// The id of that turn.
        turn: String,
    },
    /// No turn is running that could be stopped or steered.
    #[error("no turn of this thread is running")]
    Idle,
    /// There is no such grant.
    #[error("No grant with ID {0}")]
    NoGrant(String),
    /// There is no answer to continue.
    #[error("the last answer of this thread was not cut: there is nothing to continue")]
    Uncut,
    /// Too many messages wait.
    #[error("{QUEUE_MAX} messages wait in this thread already")]
    Full,
    /// The message cannot be answered as it is.
    #[error("{0}")]
    Mistake(Mistake),
    /// The turn could not be started or steered.
    #[error(transparent)]
    Engine(#[from] engine::Error),
}

impl From<log::Error> for Error {
    fn from(error: log::Error) -> Error {
        Error::Engine(error.into())
    }
}

impl Chats {
    /// Creates the chats over an engine.
    pub fn new(engine: Engine, settings: Settings) -> Chats {
        let live = Live::default();
        let owner = Arc::new(Tasks::default());
        let tasks = Arc::downgrade(&owner);
        let inner = Arc::new(Inner { engine, settings, live, history: ThreadHistories::default(), tasks });
        let attended = Arc::downgrade(&inner);
        inner.engine.attended_by(move |thread| attended.upgrade().is_some_and(|inner| inner.live.is_attended(thread)));
        Chats(inner, Some(owner))
    }

    /// Returns the engine their turns run in.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// Returns the settings of all chats.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Returns the documents for answers.
    pub fn collections(&self) -> &Collections {
        &self.0.settings.collections
    }

    /// Starts messages that were queued when an earlier process ended, and goes on
    /// extracting facts. A resumed turn has no clients at first.
    pub async fn resume(&self) -> Result<(), Error> {
        let mut threads = Vec::new();
        let mut damaged = Vec::new();
        for found in Thread::list(self.log(), None).await? {
            match found {
                Ok(thread) => threads.push(thread),
                Err(lost) => {
                    tracing::error!(thread = lost.id, reason = lost.reason, "a thread is left as it is");
                    damaged.push(lost.id);
                }
            }
        }
        self.clear_mined(&threads, &damaged).await?;
        let mut running: HashMap<String, Stored> = self.all_running().await?.into_iter().collect();
        for thread in threads {
            if let Some(turn) = running.remove(&thread.id) {
                let live_thread = self.0.live.live_thread(&thread.id);
                live_thread.begun(&turn.turn.into(), turn.presence);
                live_thread.watch_over(self, &thread.owner);
            }
            if !thread.queue.is_empty() {
                self.tend(Queue::Messages, &thread.id, &thread.owner);
            }
            if !thread.unmined.is_empty() {
                self.tend(Queue::Mining, &thread.id, &thread.owner);
            }
        }
        Ok(())
    }

    /// Creates a thread.
    pub async fn create(&self, owner: &str, title: Option<&str>) -> Result<Thread, Error> {
        let mut thread = Thread::new(owner, title, self.now());
        thread.store(self.log(), self.now()).await?;
        Ok(thread)
    }

    /// Returns the owner's threads that can be read, the one with the newest event first.
    pub async fn threads(&self, owner: &str) -> Result<Vec<Thread>, Error> {
        self.readable(Some(owner)).await
    }

    /// Returns one thread of the owner.
    pub async fn thread(&self, owner: &str, id: &str) -> Result<Thread, Error> {
        Thread::load(self.log(), id, owner).await?.ok_or_else(|| Error::NotFound(id.to_owned()))
    }

    /// Renames a thread.
    pub async fn rename(&self, owner: &str, id: &str, title: &str) -> Result<Thread, Error> {
        let live_thread = self.0.live.live_thread(id);
        let _alone = live_thread.gate.lock().await;
        let mut thread = self.thread(owner, id).await?;
        thread.rename(title);
        thread.store(self.log(), self.now()).await?;
        Ok(thread)
    }

    /// Erases a thread with all of its turns.
    pub async fn delete(&self, owner: &str, id: &str) -> Result<(), Error> {
        let live_thread = self.0.live.live_thread(id);
        let _alone = live_thread.gate.lock().await;
        let found = Thread::find(self.log(), id, owner).await?.ok_or_else(|| Error::NotFound(id.to_owned()))?;
        // A turn that cannot be read does not run, and is erased with the rest.
        unless_damaged(self.interrupt(id, owner).await)?;
        if let Ok(mut thread) = found {
            unless_damaged(self.stop_mining(&mut thread, owner).await)?;
        }
        let minings = self.mining_ids(id).await?;
        for mining in &minings {
            self.0.engine.finished(mining).await;
        }
        let streams = self.turn_ids(id).await?.into_iter().chain(minings).chain([id.into()]).collect();
        self.0.engine.forget(streams).await?;
        self.0.live.forget(id);
        self.0.history.forget(id);
        Ok(())
    }

    /// Stops the running turn, and the extraction of facts from those before it; returns
    /// the id of the turn that was stopped.
    pub async fn stop(&self, owner: &str, id: &str) -> Result<String, Error> {
        let thread = self.thread(owner, id).await?;
        let running = self.running(id).await?;
        if let Some(running) = &running {
            self.cancel(&running.turn, owner).await?;
        }
        let mined = if thread.unmined.is_empty() { None } else { self.stop_listening(owner, id).await? };
        running.map(|running| running.turn).or(mined).ok_or(Error::Idle)
    }

    /// Returns all messages, turn by turn.
    pub async fn rows(&self, owner: &str, id: &str) -> Result<Vec<(String, Vec<Row>)>, Error> {
        self.check_owner(owner, id).await?;
        let Turns { ended, running } = self.0.history.turns(self.log(), id).await?;
        let mut all: Vec<(String, Vec<Row>)> =
            ended.turns.iter().map(|turn| (turn.turn.clone(), turn.rows.clone())).collect();
        if let Some(running) = running {
            let run = unless_damaged(self.0.engine.run(&running.turn).await.map_err(Error::from))?;
            let rows = run.map_or(running.rows, |run| run.rows().to_vec());
            all.push((running.turn, rows));
        }
        Ok(all)
    }

    /// Returns the running turn, if there is one.
    pub async fn running(&self, id: &str) -> Result<Option<Stored>, Error> {
        Ok(self.last(id).await?.filter(|turn| !is_over(turn)))
    }

    /// Returns the last turn, whether it runs or not.
    pub async fn last(&self, id: &str) -> Result<Option<Stored>, Error> {
        Ok(self.0.history.newest(self.log(), id).await?)
    }

    /// Returns the running turns, with their threads.
    async fn all_running(&self) -> Result<Vec<(String, Stored)>, Error> {
        let query = Query {
            kind: Some(Kind::Turn.word().to_owned()),
            ended: Some(false),
            limit: usize::MAX,
            ..Query::default()
        };
        let rows = self.log().list(query).await?.rows;
        let mut running = Vec::with_capacity(rows.len());
        for (id, row) in &rows {
            let thread = row.tags.get("thread").cloned().unwrap_or_default();
            let turn = unless_damaged(stored(self.log(), id, row).await.map_err(Error::from))?;
            running.extend(turn.map(|turn| (thread, turn)));
        }
        Ok(running)
    }

    /// Returns the catalog that a turn can choose from at this moment.
    pub fn catalog(&self) -> Catalog {
        let settings = &self.0.settings;
        let tools = &self.0.engine.seams().tools;
        let allowed =
            tools.providers().filter(|provider| settings.providers.iter().any(|name| name == provider.name()));
        let live = allowed.flat_map(|provider| provider.resolve());
        let stored = tools.get(OwnTool::SearchCollections.name()).cloned();
        let mut catalog = settings.catalog.clone();
        catalog.tools.extend(stored.into_iter().chain(live).map(|tool| tool.info().clone()));
        catalog
    }

    /// Stops the running turn and waits until its work has ended.
    async fn interrupt(&self, id: &str, by: &str) -> Result<(), Error> {
        let Some(running) = self.running(id).await? else { return Ok(()) };
        self.cancel(&running.turn, by).await?;
        self.0.engine.finished(&running.turn).await;
        Ok(())
    }

    async fn cancel(&self, turn: &str, by: &str) -> Result<(), Error> {
        let command = Command::Cancel { mode: CancelMode::Now, by: by.to_owned() };
        unless_over(self.0.engine.command(turn, command).await)
    }

    async fn turn_ids(&self, id: &str) -> Result<Vec<Arc<str>>, Error> {
        let query = Query { limit: usize::MAX, ..turns_of(id) };
        Ok(self.log().list(query).await?.rows.into_iter().map(|(id, _)| id).collect())
    }

    fn log(&self) -> &dyn log::Log {
        &*self.0.engine.seams().log
    }

    fn now(&self) -> u64 {
        self.0.engine.seams().clock.now()
    }

    /// Returns a handle for a task; the task still ends with the last outside handle.
    fn within(&self) -> Chats {
        Chats(self.0.clone(), None)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let Some(tasks) = self.1.clone().or_else(|| self.0.tasks.upgrade()) else { return };
        let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

/// Ignores the refusal of a command whose turn has ended meanwhile.
fn unless_over<T>(asked: Result<T, engine::Error>) -> Result<(), Error> {
    match asked {
        Err(engine::Error::Refused(Refused::Ended { .. })) => Ok(()),
        other => other.map(drop).map_err(Error::from),
    }
}
