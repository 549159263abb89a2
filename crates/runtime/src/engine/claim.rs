//! Taking runs that nobody works on: those of earlier processes at the start, and in a cluster, from then
//! on, those of nodes that are gone.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use consort_core::event::{AdoptReason, Adoption};
use consort_core::run::Run;
use consort_core::spec::Kind;
use consort_log::cluster::{Claimed, Node, Term, Vacancy, Waiting};
use consort_log::{self as log, Seq};
use futures::stream::{self, StreamExt};
use tokio::time::{Instant, timeout};

use super::messages::Messages;
use super::new_run::Placed;
use super::other_nodes::OtherNodes;
use super::sight::is_of;
use super::{Engine, Error, Live, View};
use crate::ticket::Ticket;
use crate::watcher::{Purpose, load};

/// The time between two looks for runs without an owner.
const CLAIM_EVERY: Duration = Duration::from_millis(250);
/// The time between two claims of a node without free slots.
const FULL_EVERY: Duration = Duration::from_secs(1);
/// The time between two searches for runs that are this node's and have no runner: such a run is the trace
/// of an answer that was lost.
const STRAYS_EVERY: Duration = Duration::from_secs(5);
/// The time between two passes over what ended runs have left.
const JANITOR_EVERY: Duration = Duration::from_secs(10);
/// The name of the duty to make these passes.
const JANITOR: &str = "janitor";
/// Runs taken at once in a cluster, so that several nodes share those of one that is gone.
const CLAIM_MAX: usize = 64;
/// Runs taken at once by a node without free slots: somebody must go on with what was under way.
const CLAIM_MIN: usize = 8;

/// Runs loaded at once: while one is read, others are folded.
const LOADED_AT_ONCE: usize = 8;

/// The result of resuming unfinished runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The number of runs that go on.
    pub resumed: usize,
    /// Ids of runs that cannot go on, each with the reason: they stay as they are.
    pub damaged: Vec<(String, String)>,
}

/// An unfinished run that no runner here owns.
pub(super) struct Found {
    pub(super) run: Run,
    /// Length of its stream.
    len: Seq,
    pub(super) claimed: Claimed,
}

/// The result of loading a run that was claimed.
pub(super) enum Loaded {
    /// It can go on.
    Found(Box<Found>),
    /// It is over, owned here or given up.
    Nothing,
    /// It cannot go on; its id and the reason.
    Damaged(String, String),
}

impl Engine {
    /// Resumes every unfinished run that nobody works on. In a cluster this begins to happen whenever a node
    /// is gone, as long as the engine is there.
    pub async fn recover(&self) -> Result<Recovery, Error> {
        let room = if self.is_alone() { usize::MAX } else { CLAIM_MAX };
        let recovery = self.claim(room).await?;
        self.share_runs();
        Ok(recovery)
    }

    /// Resumes one run that an earlier process left unfinished.
    pub async fn take_up(&self, run: &str) -> Recovery {
        match self.0.seams.cluster.take(run).await {
            Ok(Some(claimed)) => self.go_on_with(vec![claimed]).await,
            // Its owner goes on with it.
            Ok(None) => Recovery::default(),
            Err(error) => Recovery { resumed: 0, damaged: vec![(run.to_owned(), error.to_string())] },
        }
    }

    /// Returns whether no other node shares the log.
    pub fn is_alone(&self) -> bool {
        self.0.seams.cluster.lease().is_forever()
    }

    /// Returns the nodes that share the log, this one included.
    pub async fn nodes(&self) -> Result<Vec<Node>, Error> {
        let mut nodes = self.0.seams.cluster.nodes().await?;
        if self.is_alone() {
            let runs = self.live().keys().filter(|id| is_of(Kind::Run, id)).count();
            let draining = self.is_draining();
            nodes.iter_mut().for_each(|node| (node.runs, node.draining) = (runs, draining));
        }
        Ok(nodes)
    }

    async fn claim(&self, room: usize) -> Result<Recovery, Error> {
        let kinds = Kind::ALL.map(Kind::word);
        let claimed = self.0.seams.cluster.claim(&kinds, room).await?;
        Ok(self.go_on_with(claimed).await)
    }

    /// Goes on with these runs. All of them are loaded before the first one works: what it does would delay those
    /// behind it, and the start of the server with them.
    pub(super) async fn go_on_with(&self, claimed: Vec<Claimed>) -> Recovery {
        let mut recovery = Recovery::default();
        let mut working = Vec::new();
        let mut parked = Vec::new();
        let mut loading = stream::iter(claimed).map(|claimed| self.find(claimed)).buffered(LOADED_AT_ONCE);
        while let Some(loaded) = loading.next().await {
            match loaded {
                Loaded::Found(found) if found.run.is_parked() => parked.push(found),
                Loaded::Found(found) => working.push(found),
                Loaded::Damaged(run, reason) => recovery.damaged.push((run, reason)),
                Loaded::Nothing => {}
            }
        }
        recovery.resumed = working.len() + parked.len();
        // Runs that had a slot get it back before the others ask for one.
        for found in working.into_iter().chain(parked) {
            self.go_on(*found).await;
        }
        recovery
    }

    /// Loads a run that has not ended, unless it is owned here.
    pub(super) async fn find(&self, claimed: Claimed) -> Loaded {
        let id = &claimed.stream;
        if self.live().contains_key(id) {
            return Loaded::Nothing;
        }
        match self.0.damage.note(load(&*self.0.seams.log, id, Purpose::GoOn).await) {
            // Its owner has finished it meanwhile.
            Ok((run, _)) if run.ended() => Loaded::Nothing,
            Ok((run, len)) if self.0.suspects.get().is_some_and(|suspects| suspects.is_poisoned(id)) => {
                tracing::error!(run = %id, "three processes died over this run; it is not tried again");
                let kind = run.spec().kind;
                let ticket = Ticket::without_slot(self.0.admission(kind), id, run.spec().priority());
                let ring = self.ring(id, kind, run.seen_by());
                let seen_by = run.seen_by().clone();
                let adoption = self.adoption(&run, &claimed);
                let placed = Placed { id, kind, ticket, ring, seen_by, adoption };
                self.start(placed, move |mut runner| async move {
                    runner.resume(run, len);
                    runner.give_up().await
                });
                Loaded::Nothing
            }
            Ok((run, len)) => Loaded::Found(Box::new(Found { run, len, claimed })),
            Err(error) => {
                tracing::error!(run = %id, %error, "cannot go on with a run");
                if let log::Error::Damaged { .. } = &error {
                    // Also where another stream is damaged that the run depends on.
                    self.0.damage.mark(id, &error);
                }
                Loaded::Damaged(id.to_string(), error.to_string())
            }
        }
    }

    /// Gives a loaded run an owner and the admission it had. One that waits for a slot of any node gets one here, or
    /// waits on.
    pub(super) async fn go_on(&self, found: Found) {
        if self.is_alone() || !found.waits() {
            return self.resume(found, None);
        }
        let admission = self.0.admission(Kind::Run);
        let priority = found.run.spec().priority();
        match admission.try_slot() {
            Some(slot) => {
                let ticket = Ticket::with(slot, admission, &found.claimed.stream, priority);
                self.resume(found, Some(ticket));
            }
            None => self.put_in_line(Waiting { claimed: found.claimed, priority }).await,
        }
    }

    /// Gives a loaded run an owner, with this admission or the one it had.
    pub(super) fn resume(&self, Found { run, len, claimed }: Found, ticket: Option<Ticket>) {
        let adoption = self.adoption(&run, &claimed);
        let id = claimed.stream;
        let kind = run.spec().kind;
        let admission = self.0.admission(kind);
        let priority = run.spec().priority();
        let ticket = ticket.unwrap_or_else(|| match run.epoch() {
            0 => Ticket::rejoin(admission, &id, priority),
            _ if run.is_parked() => Ticket::without_slot(admission, &id, priority),
            _ => Ticket::resume(admission, &id, priority),
        });
        let waits = ticket.is_queued();
        let ring = self.ring(&id, kind, run.seen_by());
        let seen_by = run.seen_by().clone();
        self.start(Placed { id: &id, kind, ticket, ring, seen_by, adoption }, move |mut runner| async move {
            runner.resume(run, len);
            if !waits {
                runner.adopt().await?;
            }
            runner.work_in_turn().await
        });
    }

    fn adoption(&self, run: &Run, claimed: &Claimed) -> Adoption {
        let reason = match (run.epoch(), claimed.reason) {
            (0, _) => AdoptReason::Claimed,
            (_, Vacancy::GivenUp) => AdoptReason::Drained,
            (_, Vacancy::Evicted | Vacancy::Unowned) => AdoptReason::Takeover,
        };
        let epoch = claimed.epoch.max(run.epoch() + 1);
        Adoption { epoch, node: self.0.seams.node.clone(), reason: Some(reason) }
    }

    /// Begins to take runs of nodes that are gone and commands from those that are there, once.
    fn share_runs(&self) {
        if self.is_alone() || self.0.sharing.set(()).is_err() {
            return;
        }
        self.0.seams.limits.share();
        let lease = self.0.seams.cluster.lease();
        let engine = Arc::downgrade(&self.0);
        let view = self.1.clone();
        let freed = self.0.admission(Kind::Run).freed();
        let changed = self.0.line.changed.clone();
        let mut look = self.0.seams.links.look();
        tokio::spawn(async move {
            let mut share = Share::new(lease.term());
            loop {
                let news = async {
                    tokio::select! {
                        () = freed.notified() => false,
                        () = changed.notified() => false,
                        () = lease.evicted(share.term) => false,
                        Ok(()) = look.changed() => true,
                    }
                };
                let wait = CLAIM_EVERY.saturating_sub(share.looked.elapsed());
                let is_asked = timeout(wait, news).await.unwrap_or(false);
                let Some(inner) = engine.upgrade() else { return };
                let view = View { kind: None, ..view.clone() };
                Engine(inner, view).share(&mut share, is_asked).await;
            }
        });
    }

    /// Does what is due at this moment, or asked for. Whatever fails is tried again a moment later.
    async fn share(&self, share: &mut Share, is_asked: bool) {
        self.keep_term(share);
        if !self.is_draining() {
            self.call_next().await;
        }
        if is_asked || share.looked.elapsed() >= CLAIM_EVERY {
            share.looked = Instant::now();
            if !self.is_draining() {
                self.take_work(share).await;
            }
            self.follow_other_nodes(&mut share.other_nodes).await;
        }
    }

    /// Drops every runner of an earlier term, because the node was evicted and others have its runs. One whose first
    /// append is under way stops when it is known whether that is stored, because its client waits to hear it.
    fn keep_term(&self, share: &mut Share) {
        let term = self.0.seams.cluster.lease().term();
        if term != share.term {
            share.term = term;
            let is_lost = |live: &Live| !live.window.accepting.load(Ordering::Acquire);
            let lost: Vec<Live> = self.live().extract_if(|_, live| is_lost(live)).map(|(_, live)| live).collect();
            tracing::error!(runs = lost.len(), "this node was taken for dead; others go on with its runs");
        }
    }

    /// Takes runs without an owner or a runner and commands of other nodes, and erases what ended runs have left.
    async fn take_work(&self, share: &mut Share) {
        let room = self.room(share);
        let claimed = if room > 0 { self.claim(room).await } else { Ok(Recovery::default()) };
        if let Err(error) = &claimed {
            tracing::debug!(%error, "cannot look for runs without an owner");
        }
        if claimed.is_err() || share.strays.elapsed() >= STRAYS_EVERY {
            share.strays = Instant::now();
            self.take_strays().await;
        }
        self.take_messages(&share.messages).await;
        if share.swept.elapsed() >= JANITOR_EVERY {
            share.swept = Instant::now();
            self.clean_up().await;
        }
    }

    /// Returns the number of runs to take now: as many as have a slot. A node that is full lets others go first,
    /// but what was under way somewhere must go on, so it takes a few after a while.
    fn room(&self, share: &mut Share) -> usize {
        let load = self.load(Kind::Run);
        let free = self.0.pools.of(Kind::Run).capacity.running.saturating_sub(load.active);
        if free > 0 {
            return free.min(CLAIM_MAX);
        }
        let is_due = share.full.elapsed() >= FULL_EVERY;
        if is_due {
            share.full = Instant::now();
        }
        if is_due { CLAIM_MIN } else { 0 }
    }

    /// Goes on with runs that are this node's and have no runner.
    async fn take_strays(&self) {
        let kinds = Kind::ALL.map(Kind::word);
        match self.0.seams.cluster.mine(&kinds).await {
            Ok(mine) => {
                // A runner is known before the first append of its run.
                let known: HashSet<Arc<str>> = self.live().keys().cloned().collect();
                let is_stray = |claimed: &Claimed| {
                    !known.contains(&claimed.stream) && self.0.damage.reason(&claimed.stream).is_none()
                };
                let strays = mine.into_iter().filter(is_stray).collect();
                self.go_on_with(strays).await;
            }
            Err(error) => tracing::debug!(%error, "cannot look for runs without a runner"),
        }
    }

    /// Erases what ended runs have left, if this node is the one to do it.
    async fn clean_up(&self) {
        match self.0.seams.cluster.duty(JANITOR).await {
            Ok(true) => {
                if let Err(error) = self.tidy().await {
                    tracing::warn!(%error, "cannot erase old runs");
                }
                self.sweep_messages().await;
            }
            Ok(false) => {}
            Err(error) => tracing::debug!(%error, "it is not known who erases old runs"),
        }
    }
}

/// The state of the loop that shares runs: the moments at which each part of its work was last done.
struct Share {
    looked: Instant,
    full: Instant,
    /// The term of the node in which its runners began.
    term: Term,
    strays: Instant,
    swept: Instant,
    /// The commands of other nodes that are being done.
    messages: Messages,
    /// The runs of other nodes.
    other_nodes: OtherNodes,
}

impl Share {
    fn new(term: Term) -> Share {
        let now = Instant::now();
        let messages = Messages::default();
        let other_nodes = OtherNodes::default();
        Share { term, looked: now, strays: now, swept: now, full: now, messages, other_nodes }
    }
}
