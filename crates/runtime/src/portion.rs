//! Slots of a limit. A node that is alone has all of them; among others it has a part, for which it asks when
//! somebody waits, and which it gives back when another node wants it or nobody here does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use consort_core::id::Millis;
use consort_core::json;
use consort_core::share::{Ask, Division, Part};
use consort_log::Error;
use consort_log::cluster::{Cluster, Common, Lease, Term};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The number of times that a note is read and replaced while others replace it too.
const TRIES: usize = 16;
/// The time after which slots that nobody uses are given back.
const IDLE: Duration = Duration::from_secs(2);

/// The slots of a limit that this node has. Waiters are served in the order of arrival.
#[derive(Debug)]
pub(crate) struct Portion {
    slots: Arc<Semaphore>,
    /// Absent where the node is alone.
    share: Option<Share>,
}

/// This node's share of a limit.
#[derive(Debug)]
struct Share {
    /// The name of the limit.
    name: String,
    total: usize,
    /// The time for which a slot is still in use after its node is gone.
    linger: Millis,
    /// The lease of this node: what it held in an earlier term may be another's by now.
    lease: Lease,
    state: Mutex<State>,
    /// Wakes the task that asks for more.
    wanted: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    /// The term in which the slots were given to this node.
    term: Option<Term>,
    /// The slots that are held, used or not.
    held: usize,
    /// The slots that should be held, as soon as others want the rest.
    fair: usize,
    contended: bool,
    waiting: usize,
    /// The slots that could be used besides those that are waited for.
    demand: usize,
    /// The time since which nobody uses any.
    idle: Option<Instant>,
    /// Whether the note says that this node holds or wants some.
    is_noted: bool,
}

/// A slot that is used until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    permit: Option<OwnedSemaphorePermit>,
    portion: Arc<Portion>,
    /// The term in which it was taken; absent where the node is alone.
    term: Option<Term>,
}

/// Somebody who waits for a slot.
struct Waiter<'a>(Option<&'a Share>);

impl Portion {
    /// Creates all the slots of a limit.
    pub(crate) fn whole(total: usize) -> Portion {
        Portion { slots: Arc::new(Semaphore::new(total)), share: None }
    }

    /// Creates this node's part of a limit, at first none of it. Waiters wake the task that calls
    /// [`Portion::settle`].
    pub(crate) fn part(name: String, (total, linger): (usize, Millis), lease: Lease, wanted: Arc<Notify>) -> Portion {
        let share = Share { name, total, linger, lease, state: Mutex::default(), wanted };
        Portion { slots: Arc::new(Semaphore::new(0)), share: Some(share) }
    }

    /// Returns a slot, if one is free and nobody waits.
    pub(crate) fn try_take(self: &Arc<Self>) -> Option<Slot> {
        let permit = self.slots.clone().try_acquire_owned().ok()?;
        self.used(permit)
    }

    /// Returns the slot of a permit, unless it was given to this node before it was taken for dead.
    fn used(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Option<Slot> {
        let term = match &self.share {
            None => None,
            Some(share) => {
                let Some(term) = share.term() else {
                    permit.forget();
                    share.wanted.notify_one();
                    return None;
                };
                Some(term)
            }
        };
        Some(Slot { permit: Some(permit), portion: self.clone(), term })
    }

    /// Returns the number of slots that are free.
    pub(crate) fn free(&self) -> usize {
        let is_lost = self.share.as_ref().is_some_and(|share| share.term().is_none());
        if is_lost { 0 } else { self.slots.available_permits() }
    }

    /// Waits for a slot.
    pub(crate) async fn take(self: Arc<Self>) -> Slot {
        if let Some(slot) = self.try_take() {
            return slot;
        }
        let waiter = Waiter::new(self.share.as_ref());
        loop {
            let slot = match self.slots.clone().acquire_owned().await {
                Ok(permit) => self.used(permit),
                // These semaphores are never closed.
                Err(_) => Some(Slot { permit: None, portion: self.clone(), term: None }),
            };
            if let Some(slot) = slot {
                drop(waiter);
                return slot;
            }
        }
    }

    /// Says how many more slots could be used, though nobody waits for them.
    pub(crate) fn demand(&self, slots: usize) {
        if let Some(share) = &self.share {
            share.state().demand = slots;
        }
    }

    /// Returns whether other nodes must be told before it is forgotten.
    pub(crate) fn is_noted(&self) -> bool {
        self.share.as_ref().is_some_and(|share| share.state().is_noted)
    }

    /// Returns whether somebody waits for a slot.
    pub(crate) fn has_waiters(&self) -> bool {
        self.share.as_ref().is_some_and(|share| share.state().waiting > 0)
    }

    /// Gives back what is too much, and asks for what is missing. A node that leaves gives back all it can.
    pub(crate) async fn settle(&self, cluster: &dyn Cluster, leaves: bool) -> Result<(), Error> {
        let (Some(share), Some(common)) = (&self.share, cluster.common()) else { return Ok(()) };
        let term = share.lease.term();
        let node = cluster.id();
        let Some((held, wanted)) = self.needs(share, term, leaves) else { return Ok(()) };
        let ask = Ask { node: &node, total: share.total, held, wanted, linger: share.linger };
        let part = ask_for(common, &share.name, &ask).await?;
        let mut state = share.state();
        if share.lease.term() != term {
            // It was given to a node that is taken for dead by now.
            return Ok(());
        }
        let gain = part.held.saturating_sub(held);
        state.held += gain;
        (state.fair, state.contended) = (part.fair, part.contended);
        state.is_noted = part.held + wanted > 0;
        self.slots.add_permits(gain);
        Ok(())
    }

    /// Gives back what is too much; returns what is held then and what is wanted, if others must hear of it.
    fn needs(&self, share: &Share, term: Term, leaves: bool) -> Option<(usize, usize)> {
        let mut state = share.state();
        if state.term != Some(term) {
            // Whatever was held in another term is not this node's any more.
            self.slots.forget_permits(self.slots.available_permits());
            (state.term, state.held, state.fair, state.contended) = (Some(term), 0, 0, state.held > 0);
        }
        let used = state.held.saturating_sub(self.slots.available_permits());
        let need = if leaves { used } else { used.saturating_add(state.waiting).saturating_add(state.demand) };
        state.idle = if need == 0 { state.idle.or_else(|| Some(Instant::now())) } else { None };
        let is_idle = state.idle.is_some_and(|since| since.elapsed() >= IDLE);
        let keep = match (leaves || is_idle, state.contended) {
            (true, _) => 0,
            (false, true) => state.fair.min(need),
            (false, false) => state.held,
        };
        let excess = state.held.saturating_sub(keep);
        state.held -= self.slots.forget_permits(excess);
        // Without contention a few more are taken, so that not every call asks again.
        let wanted = if state.contended || leaves { need } else { state.held.max(need.saturating_mul(2)) };
        let wanted = if is_idle { 0 } else { wanted.min(share.total) };
        (state.is_noted || wanted > 0).then_some((state.held, wanted))
    }
}

impl Share {
    /// Returns the term in which the slots were given to this node, unless it is over.
    fn term(&self) -> Option<Term> {
        self.state().term.filter(|term| *term == self.lease.term())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Waiter<'a> {
    fn new(share: Option<&'a Share>) -> Waiter<'a> {
        if let Some(share) = share {
            share.state().waiting += 1;
            share.wanted.notify_one();
        }
        Waiter(share)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if let Some(share) = self.0 {
            share.state().waiting -= 1;
        }
    }
}

impl Drop for Slot {
    /// Leaves the slot to the next waiter, here or on another node.
    fn drop(&mut self) {
        let Some(share) = &self.portion.share else { return };
        let mut state = share.state();
        if state.term != self.term {
            // It was lost with its term, and is not counted any more.
            self.permit.take().into_iter().for_each(OwnedSemaphorePermit::forget);
            return;
        }
        if !state.contended {
            return;
        }
        if state.held > state.fair
            && let Some(permit) = self.permit.take()
        {
            permit.forget();
            state.held -= 1;
        }
        share.wanted.notify_one();
    }
}

/// Asks for a part of a limit.
pub(crate) async fn ask_for(common: &dyn Common, name: &str, ask: &Ask<'_>) -> Result<Part, Error> {
    for _try in 0..TRIES {
        let note = common.note(name).await?;
        let before: Division = read(name, note.text.as_deref());
        let mut division = before.clone();
        let part = division.divide(ask, note.now, |node| note.nodes.iter().any(|there| &**there == node));
        if division == before || common.replace(name, note.version, written(&division)?).await? {
            return Ok(part);
        }
    }
    Err(Error::Unavailable(format!("other nodes change `{name}` all the time")))
}

/// Returns what a note says; one that cannot be read says nothing.
pub(crate) fn read<T: Default + serde::de::DeserializeOwned>(name: &str, text: Option<&str>) -> T {
    let Some(text) = text else { return T::default() };
    serde_json::from_str(text).unwrap_or_else(|error| {
        tracing::warn!(name, %error, "a note of another version of this program is replaced");
        T::default()
    })
}

pub(crate) fn written<T: serde::Serialize>(value: &T) -> Result<String, Error> {
    json::text(value).map_err(|error| Error::Unavailable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use consort_log::cluster::{Keeper, Moment};
    use futures::FutureExt;

    use super::*;

    const LEASE: Duration = Duration::from_secs(5);

    /// Returns a part with so many slots, as if a note had given them to this node, and the keeper of its lease.
    fn given(slots: usize) -> (Arc<Portion>, Keeper) {
        let (keeper, lease) = Keeper::new(Moment::now().after(LEASE));
        let term = lease.term();
        let portion = Portion::part("lock/door".to_owned(), (slots, 0), lease, Arc::default());
        let share = portion.share.as_ref().unwrap();
        let mut state = share.state();
        (state.term, state.held) = (Some(term), slots);
        drop(state);
        portion.slots.add_permits(slots);
        (Arc::new(portion), keeper)
    }

    #[tokio::test]
    async fn a_node_that_was_taken_for_dead_uses_nothing_that_it_held_before() {
        let (portion, keeper) = given(2);
        let used = portion.try_take().unwrap();
        assert_eq!(portion.free(), 1);
        keeper.rejoined(Moment::now().after(LEASE));
        assert_eq!(portion.free(), 0);
        assert!(portion.try_take().is_none(), "the free one may be another's by now");
        drop(used);
        assert!(portion.clone().take().now_or_never().is_none(), "so may the one that was in use");
        let share = portion.share.as_ref().unwrap();
        let term = share.lease.term();
        assert_eq!(portion.needs(share, term, false), None, "nothing is held and nobody waits");
        portion.slots.add_permits(1);
        share.state().held = 1;
        assert!(portion.try_take().is_some(), "what the new term gives is used");
    }
}
