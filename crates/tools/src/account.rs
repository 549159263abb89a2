//! The context of a call beyond its arguments, and its reports beside its answer: the
//! budget it spends, whether the run is to stop, its progress, the files it changed.

use std::future::pending;
use std::sync::{Arc, OnceLock};

use consort_core::budget::Claim;
use consort_core::catalog::EffectClass;
use consort_core::event::FileChange;
use consort_core::message::Spent;
use consort_core::next::Terms;
use consort_core::reach::Provider;
use consort_core::spec::Origin;
use tokio::sync::watch;

/// The maximum number of pictures of one call: all of them are sent with every question from then on.
const PICTURES_MAX: usize = 8;

/// The context of a call: the origin of its run, the limits
/// of the call, and its reports. Clones share the reports.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The origin of the run, when another ensemble requested it.
    pub origin: Option<Arc<Origin>>,
    /// The part of the run's budget that the call may spend; absent: no limit.
    pub lent: Option<Claim>,
    /// The effect class of a call that a previous owner of the run
    /// had already made; absent: the call is made for the first time.
    pub again: Option<EffectClass>,
    /// The terms on which the call is made.
    pub terms: Terms,
    /// The peers that may do the work of a peer's tool.
    pub provider: Provider,
    spent: Arc<OnceLock<Spent>>,
    /// Whether the run is to stop.
    stop: Option<watch::Receiver<bool>>,
    progress: watch::Sender<Option<Progress>>,
    changes: watch::Sender<Vec<FileChange>>,
    pictures: watch::Sender<Vec<Picture>>,
}

/// A picture that a call shows beside its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The type of the picture, as its tool says.
    pub media_type: String,
    /// The bytes of the picture.
    pub bytes: Vec<u8>,
}

/// The progress of a call, as reported by the one who performs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The status as one word.
    pub status: Option<String>,
    /// The status as a sentence.
    pub message: Option<String>,
    /// The progress in percent, from 0 to 100.
    pub percent: Option<u8>,
}

impl Account {
    /// Returns an account of this origin and limit.
    pub fn new(origin: Option<Arc<Origin>>, lent: Option<Claim>) -> Account {
        Account { origin, lent, ..Account::default() }
    }

    /// Returns the account with a signal that tells when to stop.
    pub fn until(self, stop: watch::Receiver<bool>) -> Account {
        Account { stop: Some(stop), ..self }
    }

    /// Returns the account for a call that may have been made before.
    pub fn made_before(self, again: Option<EffectClass>) -> Account {
        Account { again, ..self }
    }

    /// Returns the account for a call that is made on these terms, by one of these providers.
    pub fn on(self, terms: Terms, provider: Provider) -> Account {
        Account { terms, provider, ..self }
    }

    /// Returns the account for a step of the call, which no person was asked about.
    pub(crate) fn for_step(self) -> Account {
        let terms = Terms { may_instruct: false, ..self.terms };
        Account { terms, ..self }
    }

    /// Records the usage of the call; only the first record counts.
    pub fn charge(&self, spent: Spent) {
        let _first = self.spent.set(spent);
    }

    /// Returns the recorded usage of the call.
    pub fn spent(&self) -> Option<Spent> {
        self.spent.get().copied()
    }

    /// Records a change to a file; it is published whatever the call's answer.
    pub fn changed(&self, change: FileChange) {
        self.changes.send_modify(|changes| changes.push(change));
    }

    /// Returns the recorded changes to files, in order.
    pub fn changes(&self) -> Vec<FileChange> {
        self.changes.borrow().clone()
    }

    /// Shows a picture, for models that see; those beyond the maximum are left out.
    pub fn show(&self, picture: Picture) {
        self.pictures.send_if_modified(|pictures| {
            let is_shown = pictures.len() < PICTURES_MAX;
            pictures.extend(is_shown.then_some(picture));
            is_shown
        });
    }

    /// Returns the pictures, in order; they are not kept.
    pub fn take_pictures(&self) -> Vec<Picture> {
        self.pictures.send_replace(Vec::new())
    }

    /// Returns when the run is to stop. A call that may finish should
    /// then end itself: it is dropped when the grace period is over.
    pub async fn stopped(&self) {
        if let Some(mut stop) = self.stop.clone()
            && stop.wait_for(|told| *told).await.is_ok()
        {
            return;
        }
        pending().await
    }

    /// Returns whether the run is to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| *stop.borrow())
    }

    /// Reports the progress of the call; only the latest report is kept.
    pub fn progress(&self, progress: Progress) {
        self.progress.send_replace(Some(progress));
    }

    /// Returns a receiver of the call's progress reports from now on.
    pub fn reports(&self) -> watch::Receiver<Option<Progress>> {
        self.progress.subscribe()
    }
}
