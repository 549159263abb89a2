//! What a call knows of its run beyond its arguments, and tells it beside its
//! answer: whose money it spends, whether it is still wanted, how far it is,
//! which files it changed.

use std::future::pending;
use std::sync::{Arc, OnceLock};

use consort_core::budget::Claim;
use consort_core::catalog::EffectClass;
use consort_core::event::FileChange;
use consort_core::message::Spent;
use consort_core::spec::Origin;
use tokio::sync::watch;

/// Who a call is for, beyond its run: how the run came here, what the call may
/// use, and what it did. Clones share the last.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// How the run came here, when another ensemble asked for it.
    pub origin: Option<Arc<Origin>>,
    /// What the call may take out of the run's budget; absent: no limit.
    pub lent: Option<Claim>,
    /// What doing it twice would mean, for a call that an owner of the run
    /// before this one had made; absent: it is made for the first time.
    pub again: Option<EffectClass>,
    spent: Arc<OnceLock<Spent>>,
    /// Whether the run is to stop.
    stop: Option<watch::Receiver<bool>>,
    progress: watch::Sender<Option<Progress>>,
    changes: watch::Sender<Vec<FileChange>>,
}

/// How far a call is, as whoever does it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// In a word.
    pub status: Option<String>,
    /// In a sentence.
    pub message: Option<String>,
    /// As a number, from 0 to 100.
    pub percent: Option<u8>,
}

impl Account {
    /// An account of this origin and limit.
    pub fn new(origin: Option<Arc<Origin>>, lent: Option<Claim>) -> Account {
        Account { origin, lent, ..Account::default() }
    }

    /// The same, told when it is to stop.
    pub fn until(self, stop: watch::Receiver<bool>) -> Account {
        Account { stop: Some(stop), ..self }
    }

    /// The same, for a call that may have been made before.
    pub fn made_before(self, again: Option<EffectClass>) -> Account {
        Account { again, ..self }
    }

    /// Says what the call used; the first word counts.
    pub fn charge(&self, spent: Spent) {
        let _first = self.spent.set(spent);
    }

    /// What the call said it used.
    pub fn spent(&self) -> Option<Spent> {
        self.spent.get().copied()
    }

    /// Says what the call did to a file; it is told whatever the call answers.
    pub fn changed(&self, change: FileChange) {
        self.changes.send_modify(|changes| changes.push(change));
    }

    /// What the call did to files, in order.
    pub fn changes(&self) -> Vec<FileChange> {
        self.changes.borrow().clone()
    }

    /// Returns when the run is to stop. Whoever ends a call that may finish
    /// ends it now: it is dropped when the grace period is over.
    pub async fn stopped(&self) {
        if let Some(mut stop) = self.stop.clone()
            && stop.wait_for(|told| *told).await.is_ok()
        {
            return;
        }
        pending().await
    }

    /// Whether the run is to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| *stop.borrow())
    }

    /// Says how far the call is; only the latest word is kept.
    pub fn progress(&self, progress: Progress) {
        self.progress.send_replace(Some(progress));
    }

    /// What is said about how far the call is, from now on.
    pub fn reports(&self) -> watch::Receiver<Option<Progress>> {
        self.progress.subscribe()
    }
}
