//! Admission: limits the number of runs that are active at the same time, and queues
//! the others. Slots are given by priority and then in the order of arrival; a run
//! that stops waiting is skipped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use consort_core::queue::{Priority, Queue};
use consort_core::spec::Kind;
use consort_log::clock::Clock;
use consort_log::cluster::AGING_MS;
use tokio::sync::{Notify, oneshot};

use crate::portion::{self, Portion};

/// The maximum number of parked runs of a kind: each stays in memory with its whole conversation.
/// Beyond that a run keeps its slot while it waits for a person.
const PARKED_MAX: usize = 5_000;

/// The limits on the number of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Runs that may be active at the same time.
    pub running: usize,
    /// Runs that wait in the queue.
    pub queued: usize,
}

impl Capacity {
    /// No limit.
    pub const UNLIMITED: Capacity = Capacity { running: usize::MAX, queued: 0 };
}

/// The retention of ended runs, applied when another one ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All ended runs are kept.
    All,
    /// The newest ones are kept, up to this number.
    Newest(usize),
}

/// The limits for runs of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The limits on their number.
    pub capacity: Capacity,
    /// The retention of ended ones.
    pub keep: Keep,
}

impl Pool {
    /// Creates the limits for this number of runs at the same time: the others wait, and all ended ones are kept.
    pub fn of(running: usize) -> Pool {
        Pool { capacity: Capacity { running, queued: usize::MAX }, keep: Keep::All }
    }
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { capacity: Capacity::UNLIMITED, keep: Keep::All }
    }
}

/// The limits for each kind of run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pools {
    /// Runs that were submitted.
    pub runs: Pool,
    /// Turns of chats.
    pub turns: Pool,
    /// Work for peers.
    pub peers: Pool,
    /// Runs that extract facts from ended turns.
    pub minings: Pool,
}

impl Pools {
    /// Returns the limits for this kind.
    pub fn of(&self, kind: Kind) -> Pool {
        match kind {
            Kind::Run => self.runs,
            Kind::Turn => self.turns,
            Kind::Peer => self.peers,
            Kind::Mining => self.minings,
        }
    }
}

/// The current number of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Active runs.
    pub active: usize,
    /// Runs that wait in the queue.
    pub queued: usize,
}

/// The active and the waiting runs of one kind. Clones share it.
#[derive(Clone)]
pub(crate) struct Admission(Arc<Mutex<State>>);

struct State {
    capacity: Capacity,
    active: usize,
    /// Runs that gave their slot back while they wait for a person.
    parked: usize,
    waiting: Queue<Arc<Waiter>>,
    clock: Clock,
    /// The places that all nodes share, of which an active run has one; absent where nothing limits all nodes.
    places: Option<Arc<Portion>>,
    /// Notified when a slot is free and nobody here waits for it.
    freed: Arc<Notify>,
}

/// A run that waits in the queue.
struct Waiter {
    run: Arc<str>,
    turn: Mutex<Option<oneshot::Sender<Slot>>>,
}

impl Waiter {
    fn turn(&self) -> MutexGuard<'_, Option<oneshot::Sender<Slot>>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_there(&self) -> bool {
        self.turn().as_ref().is_some_and(|turn| !turn.is_closed())
    }
}

/// A run's permission to work; dropping it gives the slot to another run.
pub(crate) struct Slot {
    admission: Admission,
    /// Its place among the runs of all nodes. A run that was taken over may work without one.
    place: Option<portion::Slot>,
}

/// A run's entry among those that wait for a person; dropping it frees the entry.
pub(crate) struct Parked(Admission);

/// The admission of a new run.
pub(crate) enum Admitted {
    /// It may work at once.
    Slot(Slot),
    /// It may work when this brings a slot.
    Queue(oneshot::Receiver<Slot>),
}

impl Admission {
    pub(crate) fn new(capacity: Capacity, clock: Clock) -> Admission {
        let waiting = Queue::new(AGING_MS);
        let freed = Arc::default();
        Admission(Arc::new(Mutex::new(State { capacity, active: 0, parked: 0, waiting, clock, places: None, freed })))
    }

    /// Lets active runs take places that all nodes share.
    pub(crate) fn among(self, places: Option<Arc<Portion>>) -> Admission {
        self.state().places = places;
        self
    }

    /// Returns what is notified when a slot is free and nobody here waits for it.
    pub(crate) fn freed(&self) -> Arc<Notify> {
        self.state().freed.clone()
    }

    /// Returns a slot, if one is free.
    pub(crate) fn try_slot(&self) -> Option<Slot> {
        let mut state = self.state();
        let place = state.vacancy()?;
        state.active += 1;
        Some(Slot { admission: self.clone(), place })
    }

    /// Gives free slots to runs that wait here; returns the number of slots that are free then.
    pub(crate) fn fill(&self) -> usize {
        loop {
            let mut state = self.state();
            let free = state.capacity.running.saturating_sub(state.active);
            let is_waiting = !state.waiting.is_empty();
            let Some(place) = (free > 0 && is_waiting).then(|| state.vacancy()).flatten() else { return free };
            let Some(turn) = state.waiter() else { return free };
            state.active += 1;
            drop(state);
            // Sent without the lock: a waiter that has just left drops the slot, which locks it again.
            let _left = turn.send(Slot { admission: self.clone(), place });
        }
    }

    /// Admits a new run; returns `None` when all slots and the queue are full.
    pub(crate) fn enter(&self, run: &Arc<str>, priority: Priority) -> Option<Admitted> {
        let mut state = self.state();
        state.waiting.retain(|waiter| waiter.is_there());
        if state.active >= state.capacity.running && state.waiting.len() >= state.capacity.queued {
            return None;
        }
        Some(self.place(&mut state, run, priority))
    }

    /// Admits a run that was accepted before and has no slot now: it waits even if the
    /// queue is full.
    pub(crate) fn rejoin(&self, run: &Arc<str>, priority: Priority) -> Admitted {
        let mut state = self.state();
        self.place(&mut state, run, priority)
    }

    /// Returns a slot for a run that had one before, even if all are taken.
    pub(crate) fn resume(&self) -> Slot {
        let mut state = self.state();
        state.active += 1;
        let place = state.places.as_ref().and_then(Portion::try_take);
        Slot { admission: self.clone(), place }
    }

    /// Takes a run's slot while it waits for a person; gives the slot back when too many
    /// runs are parked already.
    pub(crate) fn park(&self, slot: Slot) -> Result<Parked, Slot> {
        let mut state = self.state();
        if state.parked >= PARKED_MAX {
            return Err(slot);
        }
        state.parked += 1;
        // Dropping the slot locks the state again.
        drop(state);
        drop(slot);
        Ok(Parked(self.clone()))
    }

    /// Parks a run that was parked before, even if too many are.
    pub(crate) fn resume_parked(&self) -> Parked {
        self.state().parked += 1;
        Parked(self.clone())
    }

    fn place(&self, state: &mut State, run: &Arc<str>, priority: Priority) -> Admitted {
        if let Some(place) = state.vacancy() {
            state.active += 1;
            return Admitted::Slot(Slot { admission: self.clone(), place });
        }
        let (turn, waiting) = oneshot::channel();
        let waiter = Waiter { run: run.clone(), turn: Mutex::new(Some(turn)) };
        state.waiting.push(priority, state.clock.now(), Arc::new(waiter));
        Admitted::Queue(waiting)
    }

    /// Returns the number of runs that wait before this one; `None` when it does not wait.
    pub(crate) fn position(&self, run: &str) -> Option<usize> {
        let state = self.state();
        let waiting = state.waiting.in_order();
        waiting.iter().filter(|waiter| waiter.is_there()).position(|waiter| &*waiter.run == run)
    }

    pub(crate) fn load(&self) -> Load {
        let state = self.state();
        let waiting = state.waiting.in_order();
        Load { active: state.active, queued: waiting.iter().filter(|waiter| waiter.is_there()).count() }
    }

    /// Stops handing out slots: waiting runs go on waiting.
    pub(crate) fn close(&self) {
        self.state().capacity = Capacity { running: 0, queued: 0 };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the place of a run that could be active besides those that are; `None` when there is no room.
    fn vacancy(&self) -> Option<Option<portion::Slot>> {
        if self.active >= self.capacity.running {
            return None;
        }
        match &self.places {
            Some(places) => places.try_take().map(Some),
            None => Some(None),
        }
    }

    /// Returns the waiter that gets the slot that is free now.
    fn next(&mut self) -> Option<oneshot::Sender<Slot>> {
        let is_room = self.active <= self.capacity.running;
        let turn = is_room.then(|| self.waiter()).flatten();
        if turn.is_none() {
            self.active -= 1;
            self.freed.notify_one();
        }
        turn
    }

    /// Returns the waiter whose turn it is.
    fn waiter(&mut self) -> Option<oneshot::Sender<Slot>> {
        while let Some(waiter) = self.waiting.pop() {
            let turn = waiter.turn().take();
            if let Some(turn) = turn.filter(|turn| !turn.is_closed()) {
                return Some(turn);
            }
        }
        None
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let next = self.admission.state().next();
        if let Some(turn) = next {
            // Sent without the lock: a waiter that has just left drops the slot, which comes back here.
            let _left = turn.send(Slot { admission: self.admission.clone(), place: self.place.take() });
        }
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.parked = state.parked.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(place: Option<Admitted>) -> oneshot::Receiver<Slot> {
        let Some(Admitted::Queue(turn)) = place else { panic!("not in the queue") };
        turn
    }

    #[test]
    fn slots_go_on_in_the_order_of_arrival_and_pass_over_who_has_left() {
        let admission = Admission::new(Capacity { running: 1, queued: 3 }, Clock::system());
        let enter = |run: &str| admission.enter(&run.into(), Priority::Normal);
        let first = enter("a");
        let b = waits(enter("b"));
        let c = waits(enter("c"));
        let mut d = waits(enter("d"));
        assert!(enter("e").is_none());
        assert_eq!(["b", "c", "d", "a"].map(|run| admission.position(run)), [Some(0), Some(1), Some(2), None]);
        drop((b, c));
        assert_eq!(admission.position("d"), Some(0));
        assert!(enter("e").is_some(), "who left made room");
        drop(first);
        let slot = d.try_recv().unwrap();
        assert_eq!(admission.load(), Load { active: 1, queued: 0 });
        drop(slot);
        assert_eq!(admission.load(), Load::default());
    }

    #[test]
    fn a_parked_run_lets_another_one_work_and_beyond_the_limit_a_run_keeps_its_slot() {
        let admission = Admission::new(Capacity { running: 1, queued: 1 }, Clock::system());
        let Some(Admitted::Slot(first)) = admission.enter(&"a".into(), Priority::Normal) else {
            panic!("there is room")
        };
        let mut second = waits(admission.enter(&"b".into(), Priority::Normal));
        let parked = admission.park(first).ok().unwrap();
        let slot = second.try_recv().unwrap();
        admission.state().parked = PARKED_MAX;
        let kept = admission.park(slot).err().unwrap();
        assert_eq!(admission.load(), Load { active: 1, queued: 0 });
        drop(parked);
        assert!(admission.park(kept).is_ok(), "there is room again");
        assert_eq!(admission.load(), Load::default());
    }

    #[test]
    fn a_run_needs_a_place_of_all_nodes_too_and_one_that_waits_gets_the_next() {
        let places = Arc::new(Portion::whole(1));
        let capacity = Capacity { running: 2, queued: 9 };
        let admission = Admission::new(capacity, Clock::system()).among(Some(places.clone()));
        let elsewhere = places.try_take().unwrap();
        let mut a = waits(admission.enter(&"a".into(), Priority::Normal));
        assert_eq!(admission.fill(), 2, "slots, but no place");
        assert!(a.try_recv().is_err() && admission.try_slot().is_none());
        drop(elsewhere);
        assert_eq!(admission.fill(), 1);
        let slot = a.try_recv().unwrap();
        assert!(places.try_take().is_none());
        drop(slot);
        assert!(places.try_take().is_some());
    }

    #[test]
    fn runs_from_before_go_on_beyond_the_limit_and_others_wait_until_there_is_room() {
        let admission = Admission::new(Capacity { running: 1, queued: 0 }, Clock::system());
        let one = admission.resume();
        let two = admission.resume();
        let Admitted::Queue(mut turn) = admission.rejoin(&"c".into(), Priority::Normal) else {
            panic!("there was no room")
        };
        drop(one);
        assert!(turn.try_recv().is_err(), "one is still at work");
        drop(two);
        assert!(turn.try_recv().is_ok());
    }
}
