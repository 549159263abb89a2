//! How many runs work at the same time, and who is next. Slots are handed on
//! in the order of arrival; whoever stops waiting is passed over.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use consort_core::spec::Kind;
use tokio::sync::oneshot;

/// How many runs there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// At work at the same time.
    pub running: usize,
    /// Waiting for their turn.
    pub queued: usize,
}

impl Capacity {
    /// As many as come.
    pub const UNLIMITED: Capacity = Capacity { running: usize::MAX, queued: 0 };
}

/// How many ended runs are kept when another one ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All of them.
    All,
    /// The newest.
    Newest(usize),
}

/// What holds for the runs of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// How many there may be.
    pub capacity: Capacity,
    /// How many ended ones are kept.
    pub keep: Keep,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { capacity: Capacity::UNLIMITED, keep: Keep::All }
    }
}

/// What holds for each kind of run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pools {
    /// Runs that were submitted.
    pub runs: Pool,
    /// Turns of chats.
    pub turns: Pool,
    /// Work for peers.
    pub peers: Pool,
}

impl Pools {
    /// What holds for this kind.
    pub fn of(&self, kind: Kind) -> Pool {
        match kind {
            Kind::Run => self.runs,
            Kind::Turn => self.turns,
            Kind::Peer => self.peers,
        }
    }
}

/// How many runs there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// At work.
    pub active: usize,
    /// Waiting for their turn.
    pub queued: usize,
}

/// Who works and who waits. Clones share it.
#[derive(Clone)]
pub(crate) struct Admission(Arc<Mutex<State>>);

struct State {
    capacity: Capacity,
    active: usize,
    waiting: VecDeque<(Arc<str>, oneshot::Sender<Slot>)>,
}

/// A run's permission to work; dropping it is another run's turn.
pub(crate) struct Slot(Admission);

/// What a run gets that comes in.
pub(crate) enum Place {
    /// It may work at once.
    Slot(Slot),
    /// It may work when this brings a slot.
    Queue(oneshot::Receiver<Slot>),
}

impl Admission {
    pub(crate) fn new(capacity: Capacity) -> Admission {
        Admission(Arc::new(Mutex::new(State { capacity, active: 0, waiting: VecDeque::new() })))
    }

    /// A place for a new run; none when everything is taken.
    pub(crate) fn enter(&self, run: &Arc<str>) -> Option<Place> {
        let mut state = self.state();
        state.waiting.retain(|(_, turn)| !turn.is_closed());
        if state.active >= state.capacity.running && state.waiting.len() >= state.capacity.queued {
            return None;
        }
        Some(self.place(&mut state, run))
    }

    /// A place for a run that was accepted before and has not begun: it waits,
    /// however many do.
    pub(crate) fn rejoin(&self, run: &Arc<str>) -> Place {
        let mut state = self.state();
        self.place(&mut state, run)
    }

    /// A slot for a run that had one before: it goes on, however many do.
    pub(crate) fn resume(&self) -> Slot {
        self.state().active += 1;
        Slot(self.clone())
    }

    fn place(&self, state: &mut State, run: &Arc<str>) -> Place {
        if state.active < state.capacity.running {
            state.active += 1;
            return Place::Slot(Slot(self.clone()));
        }
        let (turn, waiting) = oneshot::channel();
        state.waiting.push_back((run.clone(), turn));
        Place::Queue(waiting)
    }

    /// How many wait before this run; none when it does not wait.
    pub(crate) fn position(&self, run: &str) -> Option<usize> {
        let state = self.state();
        let mut waiting = state.waiting.iter().filter(|(_, turn)| !turn.is_closed());
        waiting.position(|(waits, _)| &**waits == run)
    }

    pub(crate) fn load(&self) -> Load {
        let state = self.state();
        let queued = state.waiting.iter().filter(|(_, turn)| !turn.is_closed()).count();
        Load { active: state.active, queued }
    }

    /// From now on nobody gets a slot: what waits goes on waiting.
    pub(crate) fn close(&self) {
        self.state().capacity = Capacity { running: 0, queued: 0 };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whose turn it is now that a slot is free.
    fn next(&mut self) -> Option<oneshot::Sender<Slot>> {
        let is_room = self.active <= self.capacity.running;
        while let Some((_, turn)) = is_room.then(|| self.waiting.pop_front()).flatten() {
            if !turn.is_closed() {
                return Some(turn);
            }
        }
        self.active -= 1;
        None
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let next = self.0.state().next();
        if let Some(turn) = next {
            // Sent without the lock: who left just now drops the slot, which comes here again.
            let _left = turn.send(Slot(self.0.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(place: Option<Place>) -> oneshot::Receiver<Slot> {
        let Some(Place::Queue(turn)) = place else { panic!("not in the queue") };
        turn
    }

    #[test]
    fn slots_go_on_in_the_order_of_arrival_and_pass_over_who_has_left() {
        let admission = Admission::new(Capacity { running: 1, queued: 3 });
        let enter = |run: &str| admission.enter(&run.into());
        let first = enter("a");
        let (b, c, mut d) = (waits(enter("b")), waits(enter("c")), waits(enter("d")));
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
    fn runs_from_before_go_on_beyond_the_limit_and_others_wait_until_there_is_room() {
        let admission = Admission::new(Capacity { running: 1, queued: 0 });
        let (one, two) = (admission.resume(), admission.resume());
        let Place::Queue(mut turn) = admission.rejoin(&"c".into()) else { panic!("there was no room") };
        drop(one);
        assert!(turn.try_recv().is_err(), "one is still at work");
        drop(two);
        assert!(turn.try_recv().is_ok());
    }
}
