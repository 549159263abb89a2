//! The public handle: submit a run, steer it, follow it, resume runs after a restart.
//! Cheap to clone; when the last one is dropped, every runner stops where it is, and
//! the log holds that state.

mod attach;
mod claim;
mod direct;
mod drain;
mod duty;
mod erase;
mod error;
mod export;
mod fork;
mod inspect;
mod instruct;
mod line;
mod messages;
mod new_run;
mod other_nodes;
mod quota;
mod read;
mod retain;
mod sight;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use consort_core::decide::{Command, Refused};
use consort_core::event::Event;
use consort_core::owner::{Owner, Sight};
use consort_core::spec::Kind;
use consort_log::damage::Damage;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

pub use self::claim::Recovery;
pub use self::direct::{DirectAnswer, DirectCall, DirectError};
pub use self::erase::Removal;
pub use self::export::SeenTraces;
pub use self::instruct::{InstructError, Instructed, Instruction};
use self::line::Line;
pub use self::new_run::{NewRun, fresh_id};
pub use self::quota::Quota;
use self::quota::Quotas;
use self::retain::Passes;

use crate::admission::{Admission, Load, Pools};
use crate::effects::Seams;
use crate::feed::FeedSender;
use crate::meters::Meters;
use crate::runner::{Request, Window};
use crate::storage_health::StorageHealth;
use crate::suspects::Suspects;
use crate::telemetry::Telemetry;
use crate::traces::Traces;
use crate::webhooks::outbox::Outbox;

pub use error::Error;

/// A handle to everything that is running, as far as its holder sees it.
#[derive(Clone)]
pub struct Engine(Arc<Inner>, View);

/// The runs that a handle can see; it treats others as missing.
#[derive(Clone, Debug)]
struct View {
    /// The only kind; all when absent.
    kind: Option<Kind>,
    sight: Sight,
}

struct Inner {
    seams: Arc<Seams>,
    /// The runs owned by this process: as many as admission lets in, active and waiting.
    live: Mutex<HashMap<Arc<str>, Live>>,
    pools: Pools,
    /// The passes over ended runs.
    passes: Passes,
    /// The feed of all runs.
    feed_sender: FeedSender,
    /// The feed of reviews in work for peers.
    questions: FeedSender,
    /// The feed of questions for permission in chats.
    permissions: FeedSender,
    /// Active and waiting runs, by kind.
    admissions: [(Kind, Admission); Kind::ALL.len()],
    meters: Meters,
    /// Whether the log could store the last append.
    storage: StorageHealth,
    /// The folder for traces of ended runs, if any.
    traces: OnceLock<Traces>,
    /// The telemetry exporter, if any.
    telemetry: OnceLock<Telemetry>,
    /// The outbox for webhooks, if there are any.
    outbox: OnceLock<Outbox>,
    /// The record of runs in whose work earlier processes died, if it is kept.
    suspects: OnceLock<Suspects>,
    /// The quotas of owners, if there are any.
    quotas: OnceLock<Quotas>,
    /// Whether the engine is draining: no new work is begun.
    draining: watch::Sender<bool>,
    /// The runs that cannot be read.
    damage: Damage,
    /// True once every stored run has been read.
    inspected: AtomicBool,
    /// Set once runs are shared with other nodes.
    sharing: OnceLock<()>,
    /// The line of runs that wait for a slot of any node.
    line: Line,
}

/// A run owned by this process.
struct Live {
    /// The owner that sees it.
    seen_by: Owner,
    /// In boxes: a channel makes room for 32 at once, and most runs get none.
    requests: mpsc::Sender<Box<Request>>,
    window: Window,
    /// Closed when no more work is done for it.
    over: watch::Receiver<()>,
    task: JoinHandle<()>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Engine {
    /// Creates an engine over the three seams, without limits on runs.
    pub fn new(seams: Seams) -> Engine {
        Engine::limited(seams, Pools::default())
    }

    /// Creates an engine with limits on active and on ended runs.
    pub fn limited(seams: Seams, pools: Pools) -> Engine {
        let mut seams = seams;
        let is_shared = seams.cluster.common().is_some();
        if is_shared {
            seams.limits = seams.limits.among(&seams.cluster, seams.tools.infos());
        }
        let line = Line::new(seams.runs_of_all.filter(|_| is_shared), &seams.cluster.lease());
        let admission = |kind: Kind| {
            let places = line.places.clone().filter(|_| kind == Kind::Run);
            (kind, Admission::new(pools.of(kind).capacity, seams.clock).among(places))
        };
        let admissions = Kind::ALL.map(admission);
        Engine(
            Arc::new(Inner {
                seams: Arc::new(seams),
                line,
                live: Mutex::default(),
                feed_sender: FeedSender::default(),
                questions: FeedSender::default(),
                permissions: FeedSender::default(),
                pools,
                passes: Passes::default(),
                admissions,
                meters: Meters::default(),
                storage: StorageHealth::default(),
                traces: OnceLock::new(),
                telemetry: OnceLock::new(),
                outbox: OnceLock::new(),
                suspects: OnceLock::new(),
                quotas: OnceLock::new(),
                draining: watch::Sender::new(false),
                damage: Damage::default(),
                inspected: AtomicBool::new(false),
                sharing: OnceLock::new(),
            }),
            View { kind: None, sight: Sight::All(Owner::local()) },
        )
    }

    /// Returns the same engine, restricted to runs of this kind.
    pub fn only(&self, kind: Kind) -> Engine {
        Engine(self.0.clone(), View { kind: Some(kind), sight: self.1.sight.clone() })
    }

    /// Returns the engine's seams.
    pub fn seams(&self) -> &Seams {
        &self.0.seams
    }

    /// Returns the metrics of this engine.
    pub fn meters(&self) -> &Meters {
        &self.0.meters
    }

    /// Sends a command to a run; returns the events it caused, once they are stored.
    pub async fn command(&self, run: &str, command: Command) -> Result<Vec<Event>, Error> {
        self.check_sight(run).await?;
        // A runner that cannot store its last decision takes no other one.
        let stalled = self.live().get(run).and_then(|live| live.window.stalled.borrow().clone());
        if let Some(error) = stalled {
            return Err(error.into());
        }
        let message = (!self.is_alone()).then(messages::fresh);
        let key = message.as_deref().map(messages::key);
        if let Some(answer) = self.ask_runner(run, command.clone(), key.clone()).await {
            return Ok(answer?);
        }
        // No runner here owns it: an ended run reports its end.
        let refused = self.run(run).await?.decide(command.clone(), self.0.seams.clock.now()).err();
        let (Some(message), Some(key)) = (message, key) else {
            return Err(refused.map_or_else(|| Error::NotOwned(run.to_owned()), Error::from));
        };
        // One that is gone by now may have stored it, and could not say so.
        if self.holder(&key).await?.is_some() {
            return Ok(Vec::new());
        }
        if let Some(refused) = refused {
            return Err(refused.into());
        }
        match self.visit(run, &command, key).await? {
            Some(events) => Ok(events),
            None => self.send(message, run, command).await,
        }
    }

    /// Returns the answer of the run's runner; `None` when there is none here. The key is claimed by what
    /// the command causes.
    async fn ask_runner(
        &self,
        run: &str,
        command: Command,
        key: Option<String>,
    ) -> Option<Result<Vec<Event>, Refused>> {
        let requests = self.live().get(run).map(|live| live.requests.clone())?;
        let (ack, answer) = oneshot::channel();
        requests.send(Box::new(Request { command, key, ack })).await.ok()?;
        answer.await.ok()
    }

    /// Removes every byte of what was erased from the log's files.
    pub async fn compact(&self) -> Result<(), Error> {
        Ok(self.0.seams.log.compact().await?)
    }

    /// Stops every runner where it is; returns when all of them have ended. The log holds
    /// that state.
    pub async fn stop(&self) {
        self.0.close();
        let mut live: Vec<Live> = self.live().drain().map(|(_, live)| live).collect();
        for live in &mut live {
            live.task.abort();
            let _aborted = (&mut live.task).await;
        }
    }

    /// Returns the number of runs of a kind in this process.
    pub fn load(&self, kind: Kind) -> Load {
        self.0.admission(kind).load()
    }

    /// Returns the number of runs that wait here before this one; `None` when it does not wait here.
    pub fn queue_position(&self, run: &str) -> Option<usize> {
        self.0.admissions.iter().find_map(|(_, admission)| admission.position(run))
    }

    fn live(&self) -> MutexGuard<'_, HashMap<Arc<str>, Live>> {
        self.0.live()
    }
}

impl Drop for Inner {
    /// Closes admission, because a run that stops here must not start another one.
    fn drop(&mut self) {
        self.close();
    }
}

impl Inner {
    fn admission(&self, kind: Kind) -> &Admission {
        let [first, rest @ ..] = &self.admissions;
        let found = rest.iter().find(|(of, _)| *of == kind);
        &found.unwrap_or(first).1
    }

    fn close(&self) {
        self.admissions.iter().for_each(|(_, admission)| admission.close());
    }

    fn live(&self) -> MutexGuard<'_, HashMap<Arc<str>, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
