//! A runner's right to act for its run: it took the run with this epoch, in this term of its node.

use consort_core::event::Adoption;
use consort_http::right::Right;
use consort_log::cluster::{Evicted, Lease, Term};
use futures::FutureExt;

use crate::limits::Departure;

/// The time that a run is one runner's.
#[derive(Clone, Debug)]
pub(crate) struct Tenure {
    /// The adoption, as the run's events record it.
    pub(crate) adoption: Adoption,
    lease: Lease,
    term: Term,
}

impl Tenure {
    /// Begins with the present term of the node.
    pub(crate) fn new(adoption: Adoption, lease: Lease) -> Tenure {
        let term = lease.term();
        Tenure { adoption, lease, term }
    }

    /// Returns whether the node is in the same term still.
    pub(crate) fn is_current(&self) -> bool {
        self.lease.term() == self.term
    }

    /// Returns the right that goes with everything the runner sends.
    pub(crate) fn right(&self) -> Right {
        let epoch = self.adoption.epoch;
        if self.lease.is_forever() {
            return Right::lasting(epoch);
        }
        let lease = self.lease.clone();
        let term = self.term;
        Right::new(epoch, move || {
            let lease = lease.clone();
            async move { may_act(&lease, term).await }.boxed()
        })
    }

    /// Returns the right of one effect, whose request leaves within the rates that apply to it.
    pub(crate) fn right_to(&self, departure: Option<Departure>) -> Right {
        let right = self.right();
        let Some(departure) = departure else { return right };
        let tenure = self.clone();
        right.leaving(move || {
            let tenure = tenure.clone();
            let departure = departure.clone();
            async move {
                tenure.begin().await;
                while !departure.leave() {
                    // That takes a while, after which the run may be another's.
                    departure.renew().await;
                    tenure.begin().await;
                }
            }
            .boxed()
        })
    }

    /// Returns as soon as the runner may act; never, when its node was evicted: another
    /// node acts for the run then, and this runner is about to be dropped.
    pub(crate) async fn begin(&self) {
        may_act(&self.lease, self.term).await;
    }
}

async fn may_act(lease: &Lease, term: Term) {
    if let Err(Evicted) = lease.current(term).await {
        std::future::pending().await
    }
}
