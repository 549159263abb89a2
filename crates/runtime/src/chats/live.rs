//! What is known of a thread only while the process lives: who is deciding
//! about it, who attends it, and that something new happened.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use consort_core::chat::Mode;
use tokio::sync::watch;

use super::{Chats, Presence};
use crate::ring::{Listener, Ring};

/// One thread.
pub(super) struct Conversation {
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
    /// The turn that needs somebody to stay.
    attended: Option<Arc<str>>,
    /// What the user set for turns to come.
    mode: Option<Mode>,
    tended: bool,
    mined: bool,
    /// Who listens for turns to come.
    seats: Vec<Weak<Seat>>,
}

/// Where turns of a thread are heard from their first word, by whoever took
/// the seat before they began: the newest one not yet asked for.
#[derive(Default)]
pub struct Seat(Mutex<Option<(Arc<str>, Listener)>>);

impl Seat {
    fn put(&self, turn: &Arc<str>, heard: Listener) {
        *self.heard() = Some((turn.clone(), heard));
    }

    /// What was heard of this turn, if it began after the seat was taken.
    pub(super) fn take(&self, turn: &str) -> Option<Listener> {
        self.heard().take_if(|(known, _)| **known == *turn).map(|(_, heard)| heard)
    }

    fn heard(&self) -> MutexGuard<'_, Option<(Arc<str>, Listener)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The threads something happens in, by id.
#[derive(Default)]
pub(super) struct Live(Mutex<HashMap<String, Arc<Conversation>>>);

impl Live {
    pub(super) fn conversation(&self, id: &str) -> Arc<Conversation> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(id.to_owned()).or_insert_with(|| Arc::new(Conversation::new(id))).clone()
    }

    pub(super) fn forget(&self, id: &str) {
        let gone = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        // Whoever follows the thread learns that there is nothing to follow.
        if let Some(gone) = gone {
            gone.news.send_modify(|news| *news += 1);
        }
    }
}

impl Conversation {
    fn new(id: &str) -> Conversation {
        let (news, _) = watch::channel(0);
        Conversation { id: id.to_owned(), gate: tokio::sync::Mutex::default(), news, state: Mutex::default() }
    }

    /// A turn has begun.
    pub(super) fn begun(&self, turn: &Arc<str>, presence: Presence) {
        self.state().attended = (presence == Presence::Attended).then(|| turn.clone());
        self.news.send_modify(|news| *news += 1);
    }

    /// Where a turn will be shown that is about to begin; every seat hears it.
    pub(super) fn begins(&self, turn: &Arc<str>) -> Ring {
        let ring = Ring::default();
        self.state().seats.retain(|seat| match seat.upgrade() {
            Some(seat) => {
                seat.put(turn, ring.subscribe());
                true
            }
            None => false,
        });
        ring
    }

    /// A place to hear turns that begin from now on.
    pub(super) fn seat(&self) -> Arc<Seat> {
        let seat = Arc::new(Seat::default());
        let mut state = self.state();
        state.seats.retain(|seat| seat.strong_count() > 0);
        state.seats.push(Arc::downgrade(&seat));
        seat
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    pub(super) fn set_mode(&self, mode: Mode) {
        self.state().mode = Some(mode);
    }

    pub(super) fn mode(&self) -> Option<Mode> {
        self.state().mode
    }

    /// Whether the caller is the one to start what waits.
    pub(super) fn tended(&self) -> bool {
        !std::mem::replace(&mut self.state().tended, true)
    }

    pub(super) fn untended(&self) {
        self.state().tended = false;
    }

    /// Whether the caller is the one to look through turns.
    pub(super) fn mined(&self) -> bool {
        !std::mem::replace(&mut self.state().mined, true)
    }

    pub(super) fn unmined(&self) {
        self.state().mined = false;
    }

    /// Counts somebody who stays.
    pub(super) fn attach(self: Arc<Self>, chats: &Chats, owner: &str) -> Attachment {
        self.state().attached += 1;
        Attachment { conversation: self, chats: chats.clone(), owner: owner.to_owned() }
    }

    /// The turn that should stop because nobody has stayed.
    fn forsaken(&self) -> Option<Arc<str>> {
        let state = self.state();
        state.attended.clone().filter(|_| state.attached == 0)
    }

    /// Stops a turn that nobody attends, unless somebody comes in time.
    pub(super) fn watch_over(self: &Arc<Self>, chats: &Chats, owner: &str) {
        let Some(turn) = self.forsaken() else { return };
        let (conversation, within, owner) = (self.clone(), chats.within(), owner.to_owned());
        let grace = chats.settings().detach_grace;
        chats.spawn(async move {
            tokio::time::sleep(grace).await;
            if conversation.forsaken().is_some_and(|forsaken| forsaken == turn) {
                let stopped = within.cancel(&turn, &owner).await;
                tracing::info!(thread = conversation.id, turn = %turn, stopped = stopped.is_ok(), "nobody attends the turn any more");
            }
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who stays with a thread, until it is dropped.
pub struct Attachment {
    conversation: Arc<Conversation>,
    chats: Chats,
    owner: String,
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.conversation.state().attached -= 1;
        self.conversation.watch_over(&self.chats, &self.owner);
    }
}
