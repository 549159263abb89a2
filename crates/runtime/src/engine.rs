//! The public handle: submit a run, steer it, follow it, resume runs after a restart.
//! Cheap to clone; when the last one is dropped, every runner stops where it is, and
//! the log holds that state.

mod direct;
mod drain;
mod erase;
mod export;
mod fork;
mod inspect;
mod new_run;
mod sight;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use consort_core::decide::{Command, Refused};
use consort_core::event::Event;
use consort_core::owner::{Owner, Sight};
use consort_core::queue::Priority;
use consort_core::run::Run;
use consort_core::spec::Kind;
use consort_log::damage::Damage;
use consort_log::{self as log, Order, Query, Seq};
use futures::stream::BoxStream;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

pub use self::direct::{DirectAnswer, DirectCall};
pub use self::erase::Removal;
pub use self::export::SeenTraces;
pub use self::new_run::NewRun;

use crate::admission::{Admission, Keep, Load, Pools};
use crate::effects::Seams;
use crate::feed::{Feed, FeedSender, Publisher};
use crate::meters::Meters;
use crate::ring::{Frame, Listener, Ring};
use crate::room::Room;
use crate::runner::{Request, Runner, Window};
use crate::seat::Seat;
use crate::suspects::Suspects;
use crate::telemetry::Telemetry;
use crate::traces::Traces;
use crate::watcher::{Purpose, Source, Watcher, history, load, lost, page};

/// Commands queued for one run; small, because every sender waits anyway.
const REQUESTS_MAX: usize = 8;
/// Runs listed at once while recovering.
const RECOVER_PAGE: usize = 1000;

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
    /// The feed of all runs.
    feed_sender: FeedSender,
    /// The feed of reviews in work for peers.
    questions: FeedSender,
    /// Active and waiting runs, by kind.
    admissions: [(Kind, Admission); Kind::ALL.len()],
    meters: Meters,
    /// Whether the log has room.
    room: Room,
    /// The folder for traces of ended runs, if any.
    traces: OnceLock<Traces>,
    /// The telemetry exporter, if any.
    telemetry: OnceLock<Telemetry>,
    /// The record of runs in whose work earlier processes died, if it is kept.
    suspects: OnceLock<Suspects>,
    /// Whether the engine is draining: no new work is begun.
    draining: watch::Sender<bool>,
    /// The runs that cannot be read.
    damage: Damage,
    /// True once every stored run has been read.
    inspected: AtomicBool,
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
}

/// An unfinished run that no runner here owns.
struct Found {
    id: Arc<str>,
    run: Run,
    /// Length of its stream.
    len: Seq,
}

/// A run that gets a runner.
struct Placed<'a> {
    id: &'a Arc<str>,
    kind: Kind,
    seat: Seat,
    ring: Ring,
    seen_by: Owner,
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

/// The result of resuming unfinished runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The number of runs that go on.
    pub resumed: usize,
    /// Ids of runs that cannot go on, each with the reason: they stay as they are.
    pub damaged: Vec<(String, String)>,
}

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The run refused the command.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// There is no such run.
    #[error("No run with ID {0}")]
    NotFound(String),
    /// All slots and the queue are full.
    #[error("Maximum concurrent runs ({running}) reached. Retry later.")]
    Busy {
        /// The number of runs that may be active at the same time.
        running: usize,
    },
    /// The engine is draining and takes no new work.
    #[error("this server is about to stop and begins nothing new")]
    Draining,
    /// Another process owns the run at the moment.
    #[error("run {0} has no owner here")]
    NotOwned(String),
    /// No new run could be made from the old one.
    #[error(transparent)]
    Fork(#[from] consort_core::fork::Refused),
    /// The request is valid, but the log failed.
    #[error(transparent)]
    Log(#[from] log::Error),
}

impl Engine {
    /// Creates an engine over the three seams, without limits on runs.
    pub fn new(seams: Seams) -> Engine {
        Engine::limited(seams, Pools::default())
    }

    /// Creates an engine with limits on active and on ended runs.
    pub fn limited(seams: Seams, pools: Pools) -> Engine {
        let admissions = Kind::ALL.map(|kind| (kind, Admission::new(pools.of(kind).capacity, seams.clock)));
        Engine(
            Arc::new(Inner {
                seams: Arc::new(seams),
                live: Mutex::default(),
                feed_sender: FeedSender::default(),
                questions: FeedSender::default(),
                pools,
                admissions,
                meters: Meters::default(),
                room: Room::default(),
                traces: OnceLock::new(),
                telemetry: OnceLock::new(),
                suspects: OnceLock::new(),
                draining: watch::Sender::new(false),
                damage: Damage::default(),
                inspected: AtomicBool::new(false),
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
        let New { id, kind, priority, ring, seen_by } = new;
        let busy = || Error::Busy { running: self.0.pools.of(kind).capacity.running };
        let seat = Seat::enter(self.0.admission(kind), id, priority).ok_or_else(busy)?;
        let (stored, done) = oneshot::channel();
        self.start(Placed { id, kind, seat, ring, seen_by }, |mut runner| async move {
            let accepted = runner.accept(&events, claims).await;
            let began = accepted.is_ok();
            let _gone = stored.send(accepted);
            if began { runner.work_in_turn().await } else { Ok(()) }
        });
        done.await.map_err(|_dropped| Error::NotOwned(id.to_string()))??;
        Ok(())
    }

    /// Sends a command to a run; returns the events it caused, once they are stored.
    pub async fn command(&self, run: &str, command: Command) -> Result<Vec<Event>, Error> {
        self.check_sight(run).await?;
        // A runner that cannot store its last decision takes no other one.
        if let Some(reason) = self.stalled(run) {
            return Err(log::Error::Full(reason).into());
        }
        let requests = self.live().get(run).map(|live| live.requests.clone());
        let answer = if let Some(requests) = requests { ask(&requests, command.clone()).await } else { None };
        match answer {
            Some(answer) => Ok(answer?),
            // No runner here owns it: an ended run reports its end.
            None => match self.run(run).await?.decide(command, self.0.seams.clock.now()) {
                Err(refused) => Err(refused.into()),
                Ok(_) => Err(Error::NotOwned(run.to_owned())),
            },
        }
    }

    /// Returns every frame from `from` on, then each new one, until the run ends.
    pub async fn tail(&self, run: &str, from: Seq) -> Result<BoxStream<'static, Result<Frame, log::Error>>, Error> {
        self.check_sight(run).await?;
        let log = self.0.seams.log.clone();
        let ring = self.live().get(run).map(|live| live.window.ring.subscribe());
        let source = match ring {
            Some(listener) => Source::Ring(listener),
            None => {
                self.row(run).await?;
                self.check_damage(run)?;
                Source::Log(log.commits())
            }
        };
        Ok(Watcher::new(run.into(), log, source, from, self.0.meters.clone()).frames())
    }

    /// Returns every frame of a run whose listener subscribed before it began.
    pub fn tail_heard(&self, run: &str, heard: Listener) -> BoxStream<'static, Result<Frame, log::Error>> {
        let (log, meters) = (self.0.seams.log.clone(), self.0.meters.clone());
        Watcher::new(run.into(), log, Source::Ring(heard), 0, meters).caught_up().frames()
    }

    /// Returns the feed of all runs from now on; work for chats and peers is not included.
    pub fn watch(&self) -> Feed {
        self.0.feed_sender.subscribe(self.1.sight.clone())
    }

    /// Returns the feed of reviews in work for peers from now on, with their decisions:
    /// they can be decided only here.
    pub fn questions(&self) -> Feed {
        self.0.questions.subscribe(self.1.sight.clone())
    }

    /// Returns the run as it is stored.
    pub async fn run(&self, run: &str) -> Result<Run, Error> {
        self.check_sight(run).await?;
        let (state, len) = self.0.damage.note(load(&*self.0.seams.log, run, Purpose::Look).await)?;
        if len == 0 { self.without_events(run).await } else { Ok(state) }
    }

    /// Returns all stored events of a run.
    pub async fn history(&self, run: &str) -> Result<Vec<Event>, Error> {
        self.check_sight(run).await?;
        let events = self.0.damage.note(history(&*self.0.seams.log, run).await)?;
        if events.is_empty() { self.without_events(run).await } else { Ok(events) }
    }

    /// Returns the error for a run without events: it does not exist, or its events are lost.
    async fn without_events<T>(&self, run: &str) -> Result<T, Error> {
        self.row(run).await?;
        Ok(self.0.damage.note(Err(lost(run)))?)
    }

    /// Returns when the run is over and its traces are written, or when it is not owned here.
    pub async fn finished(&self, run: &str) {
        let over = self.live().get(run).map(|live| live.over.clone());
        if let Some(mut over) = over {
            let _gone = over.changed().await;
        }
    }

    /// Passes the run to `look` once it is over or not owned here; its traces may still be
    /// written afterwards.
    pub async fn at_its_end<T>(&self, run: &str, look: impl FnOnce(&Run) -> T) -> Result<T, Error> {
        self.check_sight(run).await?;
        let live = self.live().get(run).map(|live| (live.requests.clone(), live.window.end.clone()));
        if let Some((requests, end)) = live {
            requests.closed().await;
            if let Some(ended) = end.get() {
                return Ok(look(ended));
            }
        }
        Ok(look(&self.run(run).await?))
    }

    /// Returns the reason why events of this run cannot be stored at the moment.
    pub fn stalled(&self, run: &str) -> Option<String> {
        self.live().get(run).and_then(|live| live.window.stalled.borrow().clone())
    }

    /// Returns the reason why nothing can be stored at the moment, as far as runs have tried.
    pub fn no_room(&self) -> Option<String> {
        let stalled = self.live().values().find_map(|live| live.window.stalled.borrow().clone());
        stalled.or_else(|| self.0.room.refused())
    }

    /// Removes every byte of what was erased from the log's files.
    pub async fn compact(&self) -> Result<(), Error> {
        Ok(self.0.seams.log.compact().await?)
    }

    /// Whether a run that is owned here waits only for reviews.
    pub fn is_parked(&self, run: &str) -> bool {
        self.live().get(run).is_some_and(|live| live.window.parked.load(Ordering::Acquire))
    }

    /// Resumes every unfinished run that no runner here owns.
    pub async fn recover(&self) -> Result<Recovery, Error> {
        let mut recovery = Recovery::default();
        for kind in Kind::ALL {
            self.recover_kind(kind, &mut recovery).await?;
        }
        Ok(recovery)
    }

    /// Resumes one run that an earlier process left unfinished.
    pub async fn take_up(&self, run: &str) -> Recovery {
        let mut recovery = Recovery::default();
        if let Some(found) = self.find(&run.into(), &mut recovery).await {
            self.go_on(found);
        }
        recovery
    }

    async fn recover_kind(&self, kind: Kind, recovery: &mut Recovery) -> Result<(), Error> {
        let (mut offset, mut parked) = (0, Vec::new());
        loop {
            let query = Query {
                kind: Some(kind.word().to_owned()),
                ended: Some(false),
                order: Order::OldestStart,
                offset,
                limit: RECOVER_PAGE,
                ..Query::default()
            };
            let page = self.0.seams.log.list(query).await?;
            for (id, _) in &page.rows {
                match self.find(id, recovery).await {
                    Some(found) if found.run.is_parked() => parked.push(found),
                    Some(found) => self.go_on(found),
                    None => {}
                }
            }
            offset += page.rows.len();
            if page.rows.len() < RECOVER_PAGE {
                break;
            }
        }
        // Runs that had a slot get it back before the others ask for one.
        parked.into_iter().for_each(|found| self.go_on(found));
        Ok(())
    }

    /// Loads a run that has not ended, unless it is owned here.
    async fn find(&self, id: &Arc<str>, recovery: &mut Recovery) -> Option<Found> {
        if self.live().contains_key(id) {
            return None;
        }
        match self.0.damage.note(load(&*self.0.seams.log, id, Purpose::GoOn).await) {
            // Its owner has finished it meanwhile.
            Ok((run, _)) if run.ended() => None,
            Ok((run, len)) if self.0.suspects.get().is_some_and(|suspects| suspects.is_poisoned(id)) => {
                tracing::error!(run = %id, "three processes died over this run; it is not tried again");
                let kind = run.spec().kind;
                let seat = Seat::without_slot(self.0.admission(kind), id, run.spec().priority());
                let (ring, seen_by) = (self.ring(id, kind, run.seen_by()), run.seen_by().clone());
                let placed = Placed { id, kind, seat, ring, seen_by };
                self.start(placed, move |runner| runner.resume(run, len).give_up());
                None
            }
            Ok((run, len)) => {
                recovery.resumed += 1;
                Some(Found { id: id.clone(), run, len })
            }
            Err(error) => {
                tracing::error!(run = %id, %error, "cannot go on with a run");
                if let log::Error::Damaged { .. } = &error {
                    // Also where another stream is damaged that the run depends on.
                    self.0.damage.mark(id, &error);
                }
                recovery.damaged.push((id.to_string(), error.to_string()));
                None
            }
        }
    }

    /// Gives a loaded run an owner and the admission it had.
    fn go_on(&self, Found { id, run, len }: Found) {
        let kind = run.spec().kind;
        let (admission, priority) = (self.0.admission(kind), run.spec().priority());
        let seat = match run.epoch() {
            0 => Seat::rejoin(admission, &id, priority),
            _ if run.is_parked() => Seat::without_slot(admission, &id, priority),
            _ => Seat::resume(admission, &id, priority),
        };
        let waits = seat.is_queued();
        let (ring, seen_by) = (self.ring(&id, kind, run.seen_by()), run.seen_by().clone());
        self.start(Placed { id: &id, kind, seat, ring, seen_by }, move |runner| async move {
            let mut runner = runner.resume(run, len);
            if !waits {
                runner.adopt().await?;
            }
            runner.work_in_turn().await
        });
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

    /// Returns at most `max` stored frames from `from` on.
    pub async fn page(&self, run: &str, from: Seq, max: usize) -> Result<Vec<Frame>, Error> {
        self.row(run).await?;
        Ok(self.0.damage.note(page(&*self.0.seams.log, run, from, max).await)?)
    }

    /// Returns the run that holds a key.
    pub async fn holder(&self, key: &str) -> Result<Option<Arc<str>>, Error> {
        let query = Query { claim: Some(key.to_owned()), limit: 1, ..Query::default() };
        Ok(self.0.seams.log.list(query).await?.rows.into_iter().next().map(|(run, _)| run))
    }

    /// Whether a run is still stored.
    pub async fn is_kept(&self, run: &str) -> Result<bool, Error> {
        match self.row(run).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the number of runs of a kind in this process.
    pub fn load(&self, kind: Kind) -> Load {
        self.0.admission(kind).load()
    }

    /// Returns the number of runs that wait before this one; `None` when it does not wait.
    pub fn queue_position(&self, run: &str) -> Option<usize> {
        self.0.admissions.iter().find_map(|(_, admission)| admission.position(run))
    }

    /// Returns the ring for a run of this kind.
    fn ring(&self, id: &Arc<str>, kind: Kind, seen_by: &Owner) -> Ring {
        let publisher = |feed: &FeedSender| Publisher { run: id.clone(), seen_by: seen_by.clone(), feed: feed.clone() };
        match kind {
            Kind::Run => Ring::shown(publisher(&self.0.feed_sender)),
            Kind::Peer => Ring::asking(publisher(&self.0.questions)),
            Kind::Turn | Kind::Mining => Ring::default(),
        }
    }

    /// Gives a run an owner: a task that works on it and then forgets it.
    fn start<W>(&self, placed: Placed<'_>, work: impl FnOnce(Runner) -> W)
    where
        W: Future<Output = Result<(), log::Error>> + Send + 'static,
    {
        let Placed { id, kind, seat, ring, seen_by } = placed;
        let (requests, waiting) = mpsc::channel(REQUESTS_MAX);
        let (meters, telemetry) = (self.0.meters.clone(), self.0.telemetry.get().cloned());
        let suspects = self.0.suspects.get().cloned();
        let (stalled, parked) = (watch::Sender::new(None), Arc::default());
        let room = self.0.room.clone();
        let window = Window { ring, stalled, parked, room, meters, telemetry, suspects, end: Arc::default() };
        let draining = self.0.draining.subscribe();
        let runner = Runner::new((id.clone(), seat), self.0.seams.clone(), window.clone(), waiting, draining);
        let (lasts, over) = watch::channel(());
        let (work, own_id, engine) = (work(runner), id.clone(), Arc::downgrade(&self.0));
        let mut live = self.live();
        let task = tokio::spawn(async move {
            let _lasts = lasts;
            own(work, (own_id, kind), engine).await;
        });
        live.insert(id.clone(), Live { seen_by, requests, window, over, task });
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

/// Returns the runner's response; `None` when it is gone.
async fn ask(requests: &mpsc::Sender<Request>, command: Command) -> Option<Result<Vec<Event>, Refused>> {
    let (ack, answer) = oneshot::channel();
    requests.send(Request { command, ack }).await.ok()?;
    answer.await.ok()
}

/// Runs a runner to its end and forgets it. A runner whose log refused simply stops:
/// the run goes on in the process that adopts it next.
async fn own(work: impl Future<Output = Result<(), log::Error>>, (id, kind): (Arc<str>, Kind), engine: Weak<Inner>) {
    if let Err(error) = work.await {
        tracing::error!(run = %id, %error, "stopped working on a run");
    }
    let everything = View { kind: None, sight: Sight::All(Owner::local()) };
    let Some(engine) = engine.upgrade().map(|inner| Engine(inner, everything)) else { return };
    if kind == Kind::Run {
        engine.export(&id).await;
    }
    if let Keep::Newest(keep) = engine.0.pools.of(kind).keep
        && let Err(error) = engine.retain(kind, keep).await
    {
        tracing::warn!(%error, "cannot erase old runs");
    }
    engine.live().remove(&id);
}
