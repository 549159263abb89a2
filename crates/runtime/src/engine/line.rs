//! The line of runs that wait for a slot, where several nodes share it. A run in it belongs to nobody, so a node
//! that dies leaves no run behind in its queue, and whichever node has room takes the first. A node that is
//! alone has a queue of its own instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use consort_core::decide::{Command, Refused};
use consort_core::event::Event;
use consort_core::queue::Priority;
use consort_core::spec::Kind;
use consort_log::cluster::{Claimed, Common, Lease, Vacancy, Waiting};
use tokio::sync::Notify;

use super::claim::{Found, Loaded};
use super::new_run::New;
use super::{Engine, Error};
use crate::portion::Portion;
use crate::ticket::Ticket;

/// The number of runs that are taken out of the line at once, so that several nodes share it.
const NEXT_MAX: usize = 64;

/// The line, as one node knows it.
#[derive(Default)]
pub(super) struct Line {
    /// Whether somebody may wait in it: then a new run does not overtake.
    has_waiters: AtomicBool,
    /// The places for active runs that all nodes share, where they are limited.
    pub(super) places: Option<Arc<Portion>>,
    /// Notified when a place is wanted or given back.
    pub(super) changed: Arc<Notify>,
}

impl Line {
    /// Creates the line, with the number of runs that may be active on all nodes together.
    pub(super) fn new(runs_of_all: Option<usize>, lease: &Lease) -> Line {
        let changed: Arc<Notify> = Arc::default();
        let part = |total| Arc::new(Portion::part("runs".to_owned(), (total, 0), lease.clone(), changed.clone()));
        Line { has_waiters: AtomicBool::new(true), places: runs_of_all.map(part), changed }
    }
}

impl Engine {
    /// Returns what the nodes have in common, for runs of a kind that wait in the line.
    fn common(&self, kind: Kind) -> Option<&dyn Common> {
        self.0.seams.cluster.common().filter(|_| kind == Kind::Run)
    }

    /// Admits a new run.
    pub(super) async fn ticket(&self, new: &New<'_>) -> Result<Ticket, Error> {
        let New { id, kind, priority, beyond_queue, .. } = *new;
        let admission = self.0.admission(kind);
        let capacity = self.0.pools.of(kind).capacity;
        let busy = || Error::Busy { running: capacity.running };
        let Some(common) = self.common(kind) else {
            return if beyond_queue {
                Ok(Ticket::rejoin(admission, id, priority))
            } else {
                Ticket::enter(admission, id, priority).ok_or_else(busy)
            };
        };
        // Runs that wait already, on any node, go first.
        if !self.0.line.has_waiters.load(Ordering::Acquire)
            && let Some(slot) = admission.try_slot()
        {
            return Ok(Ticket::with(slot, admission, id, priority));
        }
        if !beyond_queue && common.queued(&[]).await?.length >= capacity.queued.saturating_add(self.vacancies().await?)
        {
            return Err(busy());
        }
        Ok(Ticket::in_line(admission, id, priority))
    }

    /// Returns the number of free slots of all nodes, which are configured alike.
    async fn vacancies(&self) -> Result<usize, Error> {
        let capacity = self.0.pools.of(Kind::Run).capacity.running;
        let nodes = self.0.seams.cluster.nodes().await?;
        let there = || nodes.iter().filter(|node| !node.draining);
        let free = there().map(|node| capacity.saturating_sub(node.runs)).fold(0, usize::saturating_add);
        let active: usize = there().map(|node| node.runs).sum();
        Ok(self.0.seams.runs_of_all.map_or(free, |total| free.min(total.saturating_sub(active))))
    }

    /// Lets a run that is stored here, and has no slot, wait in the line.
    pub(super) async fn stand_in_line(&self, run: &Arc<str>, epoch: u64, priority: Priority) {
        // Its runner stops where it waits.
        let stopped = self.live().remove(run);
        drop(stopped);
        let claimed = Claimed { stream: run.clone(), epoch, reason: Vacancy::Unowned };
        self.put_in_line(Waiting { claimed, priority }).await;
    }

    pub(super) async fn put_in_line(&self, waiting: Waiting) {
        let Some(common) = self.0.seams.cluster.common() else { return };
        let run = waiting.claimed.stream.clone();
        if let Err(error) = common.queue(vec![waiting]).await {
            // It is this node's and has no runner: it is found a moment later.
            tracing::debug!(%run, %error, "a run is not in the line yet");
        }
        self.0.line.has_waiters.store(true, Ordering::Release);
        self.0.admission(Kind::Run).freed().notify_one();
        self.0.seams.links.ask_to_look();
    }

    /// Begins as many runs of the line as there are free slots.
    pub(super) async fn call_next(&self) {
        let Some(common) = self.common(Kind::Run) else { return };
        if let Err(error) = self.settle_places(common).await {
            tracing::debug!(%error, "cannot ask other nodes for places");
        }
        loop {
            let free = self.0.admission(Kind::Run).fill();
            let room = self.0.line.places.as_ref().map_or(free, |places| free.min(places.free())).min(NEXT_MAX);
            if room == 0 {
                return self.0.line.has_waiters.store(true, Ordering::Release);
            }
            let claimed = match common.next(room).await {
                Ok(claimed) => claimed,
                Err(error) => return tracing::debug!(%error, "cannot take runs out of the line"),
            };
            let is_all = claimed.len() < room;
            self.0.line.has_waiters.store(!is_all, Ordering::Release);
            self.go_on_with(claimed).await;
            if is_all {
                return;
            }
        }
    }

    /// Asks for as many places as could be used, and gives back the others.
    async fn settle_places(&self, common: &dyn Common) -> Result<(), Error> {
        let Some(places) = &self.0.line.places else { return Ok(()) };
        let free = self.0.admission(Kind::Run).fill();
        let waiting = self.load(Kind::Run).queued.saturating_add(common.queued(&[]).await?.length);
        places.demand(free.min(waiting));
        Ok(places.settle(&*self.0.seams.cluster, self.is_draining()).await?)
    }

    /// Gives a command to a run that nobody owns, and leaves it where it was; returns `None` for a run that has
    /// an owner.
    pub(super) async fn visit(&self, run: &str, command: &Command, key: String) -> Result<Option<Vec<Event>>, Error> {
        let Some(claimed) = self.0.seams.cluster.take(run).await? else { return Ok(None) };
        let Loaded::Found(found) = self.find(claimed).await else { return Ok(None) };
        let epoch = found.claimed.epoch;
        let id = found.claimed.stream.clone();
        let priority = found.run.spec().priority();
        let waits = found.waits();
        // Nobody from before can store anything now that it is taken, so it is known whether somebody did.
        if self.holder(&key).await?.is_some() {
            self.go_on(*found).await;
            return Ok(Some(Vec::new()));
        }
        self.resume(*found, waits.then(|| Ticket::in_line(self.0.admission(Kind::Run), &id, priority)));
        let mut visit = Visit { engine: self, run: waits.then_some(&id) };
        let answer: Option<Result<Vec<Event>, Refused>> = self.ask_runner(run, command.clone(), Some(key)).await;
        let ended = self.run(run).await.map(|run| run.ended());
        // Where it cannot be read, it is better in the line, where an ended run is passed over.
        if visit.run.take().is_some() && !ended.unwrap_or(false) {
            self.stand_in_line(&id, epoch, priority).await;
        }
        Ok(answer.transpose()?)
    }

    /// Returns the number of runs that wait before each of these; `None` for one that does not wait.
    pub async fn queue_places(&self, runs: &[&str]) -> Result<Vec<Option<usize>>, Error> {
        let mut places: Vec<Option<usize>> = runs.iter().map(|run| self.queue_position(run)).collect();
        if let Some(common) = self.common(Kind::Run).filter(|_| !runs.is_empty()) {
            let queued = common.queued(runs).await?.before;
            places.iter_mut().zip(queued).for_each(|(place, before)| *place = place.or(before));
        }
        Ok(places)
    }

    /// Returns the number of runs that wait, on whichever node.
    pub async fn queue_length(&self) -> Result<usize, Error> {
        let here = self.load(Kind::Run).queued;
        match self.common(Kind::Run) {
            Some(common) => Ok(here + common.queued(&[]).await?.length),
            None => Ok(here),
        }
    }
}

/// A run that waits and was taken to be given a command. When that is dropped half-way, as with the connection of its
/// client, its runner is stopped: a run of this node without one is found, a runner outside of the line waits for ever.
struct Visit<'a> {
    engine: &'a Engine,
    run: Option<&'a Arc<str>>,
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let stopped = self.run.and_then(|run| self.engine.live().remove(run));
        drop(stopped);
    }
}

impl Found {
    /// Returns whether the run has not begun, and waits in the line until it may.
    pub(super) fn waits(&self) -> bool {
        self.run.epoch() == 0 && self.run.spec().kind == Kind::Run
    }
}
