//! The state of a thread that lives only in this process: the lock for decisions, the
//! present clients, and notifications.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use consort_core::chat::Presence;
use consort_runtime::ring::{Listener, Ring};
use tokio::sync::watch;

use super::Chats;
use super::message_queue::QUEUE_MAX;

/// One thread.
pub(super) struct LiveThread {
    id: String,
    /// Held while something is decided about the thread.
    pub(super) gate: tokio::sync::Mutex<()>,
    /// Counts turns that have begun.
    news: watch::Sender<u64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    attached: usize,
    /// The turn that needs a client to be present.
    attended: Option<Arc<str>>,
    has_queue_worker: bool,
    has_mining_worker: bool,
    /// The subscriptions to turns to come.
    subscriptions: Vec<Weak<TurnSubscription>>,
    /// The last refused messages, with the frames about them.
    refusals: VecDeque<(Arc<str>, Arc<str>)>,
    /// The total number of refused messages.
    refused: u64,
}

/// A subscription to turns of a thread from their first token, taken before they
/// begin: it holds the newest one not yet taken.
#[derive(Default)]
pub struct TurnSubscription(Mutex<Option<(Arc<str>, Listener)>>);

impl TurnSubscription {
    fn put(&self, turn: &Arc<str>, listener: Listener) {
        *self.newest() = Some((turn.clone(), listener));
    }

    /// Returns the listener of this turn, if it began after the subscription.
    pub(super) fn take(&self, turn: &str) -> Option<Listener> {
        self.newest().take_if(|(known, _)| **known == *turn).map(|(_, listener)| listener)
    }

    fn newest(&self) -> MutexGuard<'_, Option<(Arc<str>, Listener)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of known threads from which idle ones are removed.
const KNOWN_MIN: usize = 256;

/// The active threads, by id.
#[derive(Default)]
pub(super) struct Live(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Threads that somebody follows or that work, which have limits of their own, and as
    /// many idle ones, which are removed now and then.
    all: HashMap<String, Arc<LiveThread>>,
    /// The number left after the last cleanup.
    left: usize,
}

impl Live {
    /// Returns the state of a thread; the id may be of one that does not exist.
    pub(super) fn live_thread(&self, id: &str) -> Arc<LiveThread> {
        let mut known = self.known();
        if known.all.len() >= KNOWN_MIN.max(2 * known.left) {
            known.all.retain(|_, live_thread| !live_thread.is_idle());
            known.left = known.all.len();
        }
        known.all.entry(id.to_owned()).or_insert_with(|| Arc::new(LiveThread::new(id))).clone()
    }

    /// Returns whether a client of this process is present in a thread.
    pub(super) fn is_attended(&self, id: &str) -> bool {
        self.known().all.get(id).is_some_and(|live_thread| live_thread.state().attached > 0)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn forget(&self, id: &str) {
        let removed = self.known().all.remove(id);
        // Followers of the thread learn that there is nothing to follow.
        if let Some(removed) = removed {
            removed.news.send_modify(|news| *news += 1);
        }
    }
}

impl LiveThread {
    fn new(id: &str) -> LiveThread {
        let (news, _) = watch::channel(0);
        LiveThread { id: id.to_owned(), gate: tokio::sync::Mutex::default(), news, state: Mutex::default() }
    }

    /// Returns whether it holds nothing that a new one would not.
    fn is_idle(self: &Arc<Self>) -> bool {
        let state = self.state();
        let State {
            attached: 0, attended: None, has_queue_worker: false, has_mining_worker: false, subscriptions, ..
        } = &*state
        else {
            return false;
        };
        let is_followed =
            subscriptions.iter().any(|subscription| subscription.strong_count() > 0) || self.news.receiver_count() > 0;
        !is_followed && Arc::strong_count(self) == 1
    }

    /// Records that a turn has begun.
    pub(super) fn begun(&self, turn: &Arc<str>, presence: Presence) {
        self.state().attended = (presence == Presence::Attended).then(|| turn.clone());
        self.news.send_modify(|news| *news += 1);
    }

    /// Returns the ring for a turn that is about to begin; every subscription gets it.
    pub(super) fn begins(&self, turn: &Arc<str>) -> Ring {
        let ring = Ring::default();
        self.state().subscriptions.retain(|subscription| match subscription.upgrade() {
            Some(subscription) => {
                subscription.put(turn, ring.subscribe());
                true
            }
            None => false,
        });
        ring
    }

    /// Subscribes to turns that begin from now on.
    pub(super) fn subscribe(&self) -> Arc<TurnSubscription> {
        let subscription = Arc::new(TurnSubscription::default());
        let mut state = self.state();
        state.subscriptions.retain(|subscription| subscription.strong_count() > 0);
        state.subscriptions.push(Arc::downgrade(&subscription));
        subscription
    }

    /// Records that a queued message was refused; the frame holds the reason.
    pub(super) fn refuse(&self, turn: &Arc<str>, frame: Arc<str>) {
        {
            let mut state = self.state();
            state.refusals.push_back((turn.clone(), frame));
            state.refused += 1;
            if state.refusals.len() > QUEUE_MAX {
                state.refusals.pop_front();
            }
        }
        self.news.send_modify(|news| *news += 1);
    }

    /// Returns the number of refused messages.
    pub(super) fn refused(&self) -> u64 {
        self.state().refused
    }

    /// Returns the frame about this refused message.
    pub(super) fn refusal_of(&self, turn: &str) -> Option<Arc<str>> {
        let state = self.state();
        state.refusals.iter().find(|(refused, _)| **refused == *turn).map(|(_, frame)| frame.clone())
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Claims the queue worker; returns true when the caller is the one to start queued
    /// messages.
    pub(super) fn claim_queue_worker(&self) -> bool {
        !std::mem::replace(&mut self.state().has_queue_worker, true)
    }

    pub(super) fn release_queue_worker(&self) {
        self.state().has_queue_worker = false;
    }

    /// Claims the mining worker; returns true when the caller is the one to extract facts.
    pub(super) fn claim_mining_worker(&self) -> bool {
        !std::mem::replace(&mut self.state().has_mining_worker, true)
    }

    pub(super) fn release_mining_worker(&self) {
        self.state().has_mining_worker = false;
    }

    /// Counts a client as present: turns go on as long as there is one.
    pub(super) fn attach(self: Arc<Self>, chats: &Chats, owner: &str) -> Attachment {
        self.state().attached += 1;
        Attachment { live_thread: self, chats: chats.clone(), owner: owner.to_owned() }
    }

    /// Returns the turn that should stop because no client is present.
    fn unattended_turn(&self) -> Option<Arc<str>> {
        let state = self.state();
        state.attended.clone().filter(|_| state.attached == 0)
    }

    /// Stops a turn without clients, unless one comes in time, here or at another node.
    pub(super) fn watch_over(self: &Arc<Self>, chats: &Chats, owner: &str) {
        let Some(turn) = self.unattended_turn() else { return };
        let live_thread = self.clone();
        let within = chats.within();
        let owner = owner.to_owned();
        let grace = chats.settings().detach_grace;
        chats.spawn(async move {
            let is_unattended = || live_thread.unattended_turn().is_some_and(|unattended| unattended == turn);
            loop {
                tokio::time::sleep(grace).await;
                if !is_unattended() {
                    return;
                }
                if !within.engine().may_be_attended_elsewhere(&live_thread.id).await {
                    break;
                }
                // Somebody at another node may leave before the turn ends.
                if within.running(&live_thread.id).await.is_ok_and(|running| running.is_none_or(|now| *now.turn != *turn)) {
                    return;
                }
            }
            // Somebody may have come while the others were asked.
            if is_unattended() {
                let stopped = within.cancel(&turn, &owner).await;
                tracing::info!(thread = live_thread.id, turn = %turn, stopped = stopped.is_ok(), "nobody attends the turn any more");
            }
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The presence of a client in a thread, until it is dropped.
pub(super) struct Attachment {
    live_thread: Arc<LiveThread>,
    chats: Chats,
    owner: String,
}

impl Attachment {
    /// Returns the next refused message, for a follower that has seen this many.
    pub(super) fn refusal(&self, seen: &mut u64) -> Option<Arc<str>> {
        let state = self.live_thread.state();
        let unknown = usize::try_from(state.refused.saturating_sub(*seen)).unwrap_or(usize::MAX);
        let kept = state.refusals.len();
        let (_, frame) = state.refusals.get(kept - unknown.min(kept))?;
        *seen = state.refused + 1 - unknown.min(kept) as u64;
        Some(frame.clone())
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.live_thread.state().attached -= 1;
        self.live_thread.watch_over(&self.chats, &self.owner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_were_only_named_are_forgotten_and_those_in_use_are_not() {
        let live = Live::default();
        let held = live.live_thread("held");
        let subscription = live.live_thread("sat").subscribe();
        (0..10 * KNOWN_MIN).for_each(|n| drop(live.live_thread(&n.to_string())));
        assert!(live.known().all.len() <= KNOWN_MIN);
        assert!(Arc::ptr_eq(&held, &live.live_thread("held")));
        assert!(
            live.live_thread("sat")
                .state()
                .subscriptions
                .iter()
                .any(|known| known.as_ptr() == Arc::as_ptr(&subscription))
        );
    }
}
