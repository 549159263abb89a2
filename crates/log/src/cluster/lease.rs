//! The time for which a node may act. The lease is counted by this process alone, from before the beat that
//! extended it was sent, so it ends here before any other node can believe that it has. The time in which the
//! machine was suspended counts too: others did not wait for it.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// A moment, from which time is counted also while the machine is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    at: Instant,
    /// The time for which the machine had been suspended until then.
    suspended: Duration,
}

impl Moment {
    /// Returns this moment.
    pub fn now() -> Moment {
        Moment { at: Instant::now(), suspended: suspended() }
    }

    /// Returns the moment that is so much later.
    #[must_use]
    pub fn after(self, time: Duration) -> Moment {
        Moment { at: self.at + time, ..self }
    }

    /// Returns the time since then.
    pub fn elapsed(self) -> Duration {
        self.at.elapsed() + suspended().saturating_sub(self.suspended)
    }

    /// Returns whether it is in the past.
    pub fn is_over(self) -> bool {
        self.is_over_at(Instant::now(), suspended())
    }

    fn is_over_at(self, now: Instant, suspended: Duration) -> bool {
        now + suspended.saturating_sub(self.suspended) >= self.at
    }
}

/// Returns the time for which the machine was suspended since it was started.
#[cfg(target_os = "linux")]
fn suspended() -> Duration {
    use rustix::time::{ClockId, Timespec, clock_gettime};

    let read = |clock| {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
        Duration::new(u64::try_from(tv_sec).unwrap_or_default(), u32::try_from(tv_nsec).unwrap_or_default())
    };
    // Read first, so that the time between the two readings does not count.
    let counted = read(ClockId::Boottime);
    counted.saturating_sub(read(ClockId::Monotonic))
}

/// Returns nothing where no clock tells it.
#[cfg(not(target_os = "linux"))]
fn suspended() -> Duration {
    Duration::ZERO
}

/// The node was evicted: others may own its runs, so nothing more is begun for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this node was taken for dead, and others go on with its runs")]
pub struct Evicted;

/// The time from joining to being evicted. A node that joins again begins a new term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term(u64);

#[derive(Clone, Copy, Debug)]
struct Held {
    term: Term,
    /// The moment from which the node may not act; absent for a node that is alone.
    until: Option<Moment>,
}

/// The lease of a node, seen from inside. Clones see the same one.
#[derive(Clone, Debug)]
pub struct Lease(watch::Receiver<Held>);

/// The side that extends a lease.
#[derive(Debug)]
pub struct Keeper(watch::Sender<Held>);

impl Lease {
    /// Returns a lease that always is current, for a node that is alone.
    pub fn forever() -> Lease {
        Lease(watch::Sender::new(Held { term: Term(0), until: None }).subscribe())
    }

    /// Returns whether it never ends, because there are no other nodes.
    pub fn is_forever(&self) -> bool {
        self.0.borrow().until.is_none()
    }

    /// Returns the term.
    pub fn term(&self) -> Term {
        self.0.borrow().term
    }

    /// Returns whether the node may act at this moment, in this term.
    pub fn is_current(&self, term: Term) -> bool {
        let held = *self.0.borrow();
        held.term == term && held.until.is_none_or(|until| !until.is_over())
    }

    /// Returns as soon as the node may act; fails when the term has ended.
    pub async fn current(&self, term: Term) -> Result<(), Evicted> {
        let mut held = self.0.clone();
        loop {
            let seen = *held.borrow_and_update();
            if seen.term != term {
                return Err(Evicted);
            }
            if seen.until.is_none_or(|until| !until.is_over()) {
                return Ok(());
            }
            // A keeper that is gone extends nothing any more: the process is about to end.
            if held.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Returns when the term has ended; never for a node that is alone.
    pub async fn evicted(&self, term: Term) {
        let mut held = self.0.clone();
        if held.wait_for(|held| held.term != term).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Returns when the node may act no more, or the term has ended; never for a node that is alone.
    pub async fn lapsed(&self, term: Term) {
        let mut held = self.0.clone();
        loop {
            let seen = *held.borrow_and_update();
            if seen.term != term {
                return;
            }
            let Some(until) = seen.until else { return std::future::pending().await };
            tokio::select! {
                () = sleep_until(until.at) => {
                    if !self.is_current(term) {
                        return;
                    }
                }
                changed = held.changed() => if changed.is_err() {
                    return sleep_until(until.at).await;
                },
            }
        }
    }
}

impl Keeper {
    /// Returns a keeper and its lease, which is current until this moment.
    pub fn new(until: Moment) -> (Keeper, Lease) {
        let held = watch::Sender::new(Held { term: Term(1), until: Some(until) });
        let lease = Lease(held.subscribe());
        (Keeper(held), lease)
    }

    /// Extends the lease to this moment; an earlier one than before changes nothing.
    pub fn extend(&self, until: Moment) {
        self.0.send_if_modified(|held| {
            let later = held.until.is_some_and(|before| before.at < until.at);
            if later {
                held.until = Some(until);
            }
            later
        });
    }

    /// Ends the term, because the node was evicted, and begins the next one, which is current until this
    /// moment.
    pub fn rejoined(&self, until: Moment) {
        self.0.send_modify(|held| *held = Held { term: Term(held.term.0 + 1), until: Some(until) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(5);

    #[tokio::test(start_paused = true)]
    async fn a_lease_ends_by_itself_and_is_current_again_after_a_beat() {
        let (keeper, lease) = Keeper::new(Moment::now().after(LEASE));
        let term = lease.term();
        assert!(lease.is_current(term));
        lease.lapsed(term).await;
        assert!(!lease.is_current(term));
        let waiting = tokio::spawn({
            let lease = lease.clone();
            async move { lease.current(term).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        keeper.extend(Moment::now().after(LEASE));
        assert_eq!(waiting.await.unwrap(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_term_that_has_ended_never_is_current_again() {
        let (keeper, lease) = Keeper::new(Moment::now().after(LEASE));
        let term = lease.term();
        keeper.rejoined(Moment::now().after(LEASE));
        lease.evicted(term).await;
        assert_eq!(lease.current(term).await, Err(Evicted));
        assert!(lease.is_current(lease.term()) && !lease.is_current(term));
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_is_alone_may_always_act() {
        let lease = Lease::forever();
        tokio::time::advance(Duration::from_secs(1_000_000)).await;
        assert!(lease.is_current(lease.term()));
        assert_eq!(lease.current(lease.term()).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_in_which_the_machine_was_suspended_counts() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let until = Moment { at: now, suspended: 10 * second }.after(LEASE);
        assert!(!until.is_over_at(now + second, 13 * second));
        assert!(until.is_over_at(now + second, 14 * second), "one second here, and four while it slept");
        assert!(!until.is_over_at(now + second, Duration::ZERO), "a clock that went back ends nothing");
        assert!(Moment::now().elapsed() < second && Moment::now().is_over());
    }
}
