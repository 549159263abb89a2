//! A run that is handed to the engine, with the conditions that were agreed for it: it is admitted,
//! gets an owner, which works on it to its end, and is forgotten.

use std::sync::{Arc, Weak};

use consort_core::compile::Compiled;
use consort_core::event::{AdoptReason, Adoption, Event, EventKind};
use consort_core::owner::{Owner, Sight};
use consort_core::queue::Priority;
use consort_core::spec::Kind;
use consort_log as log;
use tokio::sync::{mpsc, oneshot, watch};

use super::{Engine, Error, Inner, Live, View};
use crate::admission::Keep;
use crate::feed::{FeedSender, Publisher};
use crate::ring::Ring;
use crate::runner::{Runner, Window};
use crate::tenure::Tenure;
use crate::ticket::Ticket;
use crate::webhooks::outbox::Outbox;

/// Commands queued for one run; small, because every sender waits anyway.
const REQUESTS_MAX: usize = 8;

/// A compiled run and, where there are any, the conditions that were agreed for it before.
pub struct NewRun {
    compiled: Compiled,
    id: Option<Arc<str>>,
    claims: Vec<String>,
    ring: Option<Ring>,
    /// Whether it waits even if the queue is full.
    beyond_queue: bool,
}

impl NewRun {
    /// Creates a run under a new id and without claims.
    pub fn new(compiled: Compiled) -> NewRun {
        NewRun { compiled, id: None, claims: Vec::new(), ring: None, beyond_queue: false }
    }

    /// Claims keys that no other run may hold: the run is refused when
    /// another holds one of them.
    #[must_use]
    pub fn claiming(mut self, keys: impl IntoIterator<Item = String>) -> NewRun {
        self.claims.extend(keys);
        self
    }

    /// Lets it wait even if the queue is full.
    #[must_use]
    pub fn beyond_queue(mut self) -> NewRun {
        self.beyond_queue = true;
        self
    }

    /// Uses an id that was promised before.
    #[must_use]
    pub fn under(mut self, id: &Arc<str>) -> NewRun {
        self.id = Some(id.clone());
        self
    }

    /// Shows the run on a ring that may have listeners already.
    #[must_use]
    pub fn shown_on(mut self, ring: Ring) -> NewRun {
        self.ring = Some(ring);
        self
    }
}

impl From<Compiled> for NewRun {
    fn from(compiled: Compiled) -> NewRun {
        NewRun::new(compiled)
    }
}

/// A run that is about to begin.
pub(super) struct New<'a> {
    pub(super) id: &'a Arc<str>,
    pub(super) kind: Kind,
    pub(super) priority: Priority,
    /// The ring that publishes its frames.
    pub(super) ring: Ring,
    /// The owner that sees it.
    pub(super) seen_by: Owner,
    /// Whether it waits even if the queue is full.
    pub(super) beyond_queue: bool,
}

/// A run that gets a runner.
pub(super) struct Placed<'a> {
    pub(super) id: &'a Arc<str>,
    pub(super) kind: Kind,
    pub(super) ticket: Ticket,
    pub(super) ring: Ring,
    pub(super) seen_by: Owner,
    pub(super) adoption: Adoption,
}

impl Engine {
    /// Accepts a run: once this returns its id, it survives a crash.
    pub async fn submit(&self, new_run: impl Into<NewRun>) -> Result<Arc<str>, Error> {
        let mut new_run = new_run.into();
        if new_run.compiled.spec.kind != Kind::Run {
            return Box::pin(self.begin(new_run)).await;
        }
        let (_place, left) = self.place_in_quota().await?;
        let Compiled { spec, models, .. } = &mut new_run.compiled;
        // The cost of a model without a price is not known, so it cannot be limited.
        if let Some(left) = left.filter(|_| models.values().all(|model| model.price.is_some())) {
            spec.limits.cost = if spec.limits.cost == 0 { left } else { left.min(spec.limits.cost) };
        }
        // In a box, which is given back before the caller waits for the run.
        Box::pin(self.begin(new_run)).await
    }

    async fn begin(&self, new_run: NewRun) -> Result<Arc<str>, Error> {
        let NewRun { compiled, id, claims, ring, beyond_queue } = new_run;
        let Compiled { mut spec, models, belt, .. } = compiled;
        self.attach(&mut spec, &models).await?;
        let kind = spec.kind;
        let id = id.unwrap_or_else(|| fresh_id(kind));
        let owner = self.owner();
        let seen_by = spec.seen_by(&owner).clone();
        let ring = self.published(ring.unwrap_or_default(), &id, kind, &seen_by);
        let new = New { id: &id, kind, priority: spec.priority(), ring, seen_by, beyond_queue };
        let ensemble_id = ensemble_id();
        let spec = Arc::new(spec);
        let version = self.seams().cluster.version();
        let kind = EventKind::RunAccepted { ensemble_id, spec, models, belt, copied: 0, owner, version };
        self.accept(new, vec![Event { at: self.seams().clock.now(), kind }], claims).await?;
        Ok(id)
    }

    /// Admits a new run, which begins with these events, and gives it an owner.
    pub(super) async fn accept(&self, new: New<'_>, events: Vec<Event>, claims: Vec<String>) -> Result<(), Error> {
        self.check_open()?;
        let ticket = self.ticket(&new).await?;
        let is_in_line = ticket.is_in_line();
        let New { id, kind, priority, ring, seen_by, .. } = new;
        let used = events.iter().flat_map(|event| event.kind.attachments()).collect();
        self.attachments().note_use(&used, id, self.seams().clock.now()).await?;
        let (stored, done) = oneshot::channel();
        let node = self.0.seams.node.clone();
        let epoch = 1;
        let adoption = Adoption { epoch, node, reason: Some(AdoptReason::Begun) };
        self.start(Placed { id, kind, ticket, ring, seen_by, adoption }, |mut runner| async move {
            let accepted = runner.accept(&events, claims).await;
            // A node that was evicted meanwhile has stored it, and it goes on wherever it is found.
            let goes_on = accepted.is_ok() && runner.is_owner();
            let _gone = stored.send(accepted);
            if goes_on { runner.work_in_turn().await } else { Ok(()) }
        });
        done.await.map_err(|_dropped| Error::NotOwned(id.to_string()))??;
        if is_in_line {
            self.stand_in_line(id, epoch, priority).await;
        }
        Ok(())
    }

    /// Returns the ring for a run of this kind.
    pub(super) fn ring(&self, id: &Arc<str>, kind: Kind, seen_by: &Owner) -> Ring {
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
    pub(super) fn start<W>(&self, placed: Placed<'_>, work: impl FnOnce(Box<Runner>) -> W)
    where
        W: Future<Output = Result<(), log::Error>> + Send + 'static,
    {
        let Placed { id, kind, ticket, ring, seen_by, adoption } = placed;
        let epoch = adoption.epoch;
        let tenure = Tenure::new(adoption, self.0.seams.cluster.lease());
        let (requests, waiting) = mpsc::channel(REQUESTS_MAX);
        let meters = self.0.meters.clone();
        let telemetry = self.0.telemetry.get().cloned();
        let suspects = self.0.suspects.get().cloned();
        let stalled = watch::Sender::new(None);
        let parked = Arc::default();
        let accepting = Arc::default();
        let end = Arc::default();
        let storage = self.0.storage.clone();
        let outbox = self.0.outbox.get().cloned();
        let window = Window { ring, stalled, parked, accepting, storage, meters, telemetry, outbox, suspects, end };
        let draining = self.0.draining.subscribe();
        let runner = Runner::new((id.clone(), ticket, tenure), self.0.seams.clone(), window.clone(), waiting, draining);
        let (lasts, over) = watch::channel(());
        // In boxes, because a task is moved several times before it begins.
        let work = Box::pin(work(Box::new(runner)));
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
}

/// Returns an id that no other run has.
pub fn fresh_id(kind: Kind) -> Arc<str> {
    format!("{}-{}", kind.word(), uuid::Uuid::now_v7().simple()).into()
}

/// Returns an id for one execution of an ensemble.
pub(super) fn ensemble_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Runs a runner to its end. A runner whose log refused simply stops: the run goes on in the process that adopts it next.
async fn own(
    work: impl Future<Output = Result<(), log::Error>>,
    (id, kind, epoch): (Arc<str>, Kind, u64),
    engine: Weak<Inner>,
) {
    if let Err(error) = work.await {
        tracing::error!(run = %id, %error, "stopped working on a run");
    }
    let everything = View { kind: None, sight: Sight::All(Owner::local()) };
    if let Some(engine) = engine.upgrade().map(|inner| Engine(inner, everything)) {
        // In a box, so that it takes no room as long as the run lasts.
        Box::pin(forget(engine, (id, kind, epoch))).await;
    }
}

/// Does what is left to do for a run that nobody works on here any more, and forgets it.
async fn forget(engine: Engine, (id, kind, epoch): (Arc<str>, Kind, u64)) {
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
    // Among several nodes one does it for all of them. What webhooks are yet to be told of is not erased.
    let is_owing = engine.0.outbox.get().is_some_and(Outbox::is_owing);
    if engine.is_alone()
        && !is_owing
        && engine.0.pools.of(kind).keep != Keep::All
        && let Err(error) = engine.tidy().await
    {
        tracing::warn!(%error, "cannot erase old runs");
    }
    engine.live().remove(&id);
}
