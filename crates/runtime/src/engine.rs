//! The public handle: submit a run, steer it, follow it, resume runs after a restart.
//! Cheap to clone; when the last one is dropped, every runner stops where it is, and
//! the log holds that state.

mod abroad;
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
mod quota;
mod read;
mod retain;
mod sight;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use consort_core::decide::{Command, Refused};
use consort_core::event::{AdoptReason, Adoption, Event};
use consort_core::owner::{Owner, Sight};
use consort_core::queue::Priority;
use consort_core::spec::Kind;
use consort_log as log;
use consort_log::damage::Damage;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

pub use self::claim::Recovery;
pub use self::direct::{DirectAnswer, DirectCall, DirectError};
pub use self::erase::Removal;
pub use self::export::SeenTraces;
pub use self::instruct::{InstructError, Instructed, Instruction};
use self::line::Line;
pub use self::new_run::NewRun;
pub use self::quota::Quota;
use self::quota::Quotas;
use self::retain::Passes;

use crate::admission::{Admission, Keep, Load, Pools};
use crate::effects::Seams;
use crate::feed::{FeedSender, Publisher};
use crate::meters::Meters;
use crate::ring::Ring;
use crate::room::Room;
use crate::runner::{Request, Runner, Window};
use crate::seat::Seat;
use crate::suspects::Suspects;
use crate::telemetry::Telemetry;
use crate::tenure::Tenure;
use crate::traces::Traces;
use crate::webhooks::outbox::Outbox;

pub use error::Error;

/// Commands queued for one run; small, because every sender waits anyway.
const REQUESTS_MAX: usize = 8;

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
    /// Whether the log has room.
    room: Room,
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

/// A run that is about to begin.
struct New<'a> {
    id: &'a Arc<str>,
    kind: Kind,
    priority: Priority,
    /// The ring that publishes its frames.
    ring: Ring,
    /// The owner that sees it.
    seen_by: Owner,
    /// Whether it waits even if the queue is full.
    beyond_queue: bool,
}

/// A run that gets a runner.
struct Placed<'a> {
    id: &'a Arc<str>,
    kind: Kind,
    seat: Seat,
    ring: Ring,
    seen_by: Owner,
    adoption: Adoption,
}

/// A run owned by this process.
struct Live {
    /// The owner that sees it.
    seen_by: Owner,
    requests: mpsc::Sender<Request>,
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
        let line = Line::new(seams.runs_of_all.filter(|_| is_shared));
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
                room: Room::default(),
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

    /// Admits a new run, which begins with these events, and gives it an owner.
    async fn accept(&self, new: New<'_>, events: Vec<Event>, claims: Vec<String>) -> Result<(), Error> {
        self.check_open()?;
        let seat = self.seat(&new).await?;
        let is_in_line = seat.is_in_line();
        let New { id, kind, priority, ring, seen_by, .. } = new;
        let used = events.iter().flat_map(|event| event.kind.attachments()).collect();
        self.attachments().note_use(&used, id, self.seams().clock.now()).await?;
        let (stored, done) = oneshot::channel();
        let node = self.0.seams.node.clone();
        let epoch = 1;
        let adoption = Adoption { epoch, node, reason: Some(AdoptReason::Begun) };
        self.start(Placed { id, kind, seat, ring, seen_by, adoption }, |mut runner| async move {
            let accepted = runner.accept(&events, claims).await;
            let began = accepted.is_ok();
            let _gone = stored.send(accepted);
            if began { runner.work_in_turn().await } else { Ok(()) }
        });
        done.await.map_err(|_dropped| Error::NotOwned(id.to_string()))??;
        if is_in_line {
            self.stand_in_line(id, epoch, priority).await;
        }
        Ok(())
    }

    /// Sends a command to a run; returns the events it caused, once they are stored.
    pub async fn command(&self, run: &str, command: Command) -> Result<Vec<Event>, Error> {
        self.check_sight(run).await?;
        // A runner that cannot store its last decision takes no other one.
        let stalled = self.live().get(run).and_then(|live| live.window.stalled.borrow().clone());
        if let Some(error) = stalled {
            return Err(error.into());
        }
        match self.ask_runner(run, command.clone(), None).await {
            Some(answer) => Ok(answer?),
            // No runner here owns it: an ended run reports its end.
            None => match self.run(run).await?.decide(command.clone(), self.0.seams.clock.now()) {
                Err(refused) => Err(refused.into()),
                Ok(_) if self.is_alone() => Err(Error::NotOwned(run.to_owned())),
                Ok(_) => match self.visit(run, &command).await? {
                    Some(events) => Ok(events),
                    None => self.send(run, command).await,
                },
            },
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
        requests.send(Request { command, key, ack }).await.ok()?;
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

    /// Returns the ring for a run of this kind.
    fn ring(&self, id: &Arc<str>, kind: Kind, seen_by: &Owner) -> Ring {
        self.published(Ring::default(), id, kind, seen_by)
    }

    /// Adds the feeds that a run of this kind is published on.
    fn published(&self, ring: Ring, id: &Arc<str>, kind: Kind, seen_by: &Owner) -> Ring {
        let publisher = |feed: &FeedSender| Publisher { run: id.clone(), seen_by: seen_by.clone(), feed: feed.clone() };
        match kind {
            Kind::Run => ring.shown(publisher(&self.0.feed_sender)),
            Kind::Peer => ring.asking(publisher(&self.0.questions)),
            Kind::Turn => ring.asking(publisher(&self.0.permissions)),
            Kind::Mining => ring,
        }
    }

    /// Gives a run an owner: a task that works on it and then forgets it.
    fn start<W>(&self, placed: Placed<'_>, work: impl FnOnce(Runner) -> W)
    where
        W: Future<Output = Result<(), log::Error>> + Send + 'static,
    {
        let Placed { id, kind, seat, ring, seen_by, adoption } = placed;
        let epoch = adoption.epoch;
        let tenure = Tenure::new(adoption, self.0.seams.cluster.lease());
        let (requests, waiting) = mpsc::channel(REQUESTS_MAX);
        let meters = self.0.meters.clone();
        let telemetry = self.0.telemetry.get().cloned();
        let suspects = self.0.suspects.get().cloned();
        let stalled = watch::Sender::new(None);
        let parked = Arc::default();
        let room = self.0.room.clone();
        let outbox = self.0.outbox.get().cloned();
        let window = Window { ring, stalled, parked, room, meters, telemetry, outbox, suspects, end: Arc::default() };
        let draining = self.0.draining.subscribe();
        let runner = Runner::new((id.clone(), seat, tenure), self.0.seams.clone(), window.clone(), waiting, draining);
        let (lasts, over) = watch::channel(());
        let work = work(runner);
        let own_id = id.clone();
        let engine = Arc::downgrade(&self.0);
        let mut live = self.live();
        let task = tokio::spawn(async move {
            let _lasts = lasts;
            own(work, (own_id, kind, epoch), engine).await;
        });
        live.insert(id.clone(), Live { seen_by, requests, window, over, task });
        drop(live);
        self.0.seams.links.arrived();
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

/// Returns an id that no other run has.
pub fn fresh_id(kind: Kind) -> Arc<str> {
    format!("{}-{}", kind.word(), uuid::Uuid::now_v7().simple()).into()
}

/// Returns an id for one execution of an ensemble.
fn ensemble_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Runs a runner to its end and forgets it. A runner whose log refused simply stops:
/// the run goes on in the process that adopts it next.
async fn own(
    work: impl Future<Output = Result<(), log::Error>>,
    (id, kind, epoch): (Arc<str>, Kind, u64),
    engine: Weak<Inner>,
) {
    if let Err(error) = work.await {
        tracing::error!(run = %id, %error, "stopped working on a run");
    }
    let everything = View { kind: None, sight: Sight::All(Owner::local()) };
    let Some(engine) = engine.upgrade().map(|inner| Engine(inner, everything)) else { return };
    if kind == Kind::Run {
        engine.export(&id).await;
    }
    // Before it can be erased.
    engine.note_spent(&id, kind).await;
    if let Some(outbox) = engine.0.outbox.get().filter(|_| matches!(kind, Kind::Run | Kind::Turn)) {
        outbox.note(&engine, &id).await;
    }
    if !engine.is_alone() && engine.is_draining() {
        engine.hand_over(&id, epoch).await;
    }
    // Among several nodes one does it for all of them.
    if engine.is_alone()
        && engine.0.pools.of(kind).keep != Keep::All
        && let Err(error) = engine.tidy().await
    {
        tracing::warn!(%error, "cannot erase old runs");
    }
    engine.live().remove(&id);
}
