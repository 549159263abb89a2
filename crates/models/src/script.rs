//! The parts that scripted models and scripted tools share: gates, where a script
//! waits until the test lets it go on, and a ledger of what happened, in order.

use std::sync::Arc;

use tokio::sync::{Barrier, Notify, watch};

/// A place where a script waits.
#[derive(Clone, Debug)]
pub enum Gate {
    /// A wait until all parties of the barrier have arrived.
    Barrier(Arc<Barrier>),
    /// A wait until it is notified.
    Notify(Arc<Notify>),
}

impl Gate {
    /// Waits at the gate.
    pub async fn pass(&self) {
        match self {
            Gate::Barrier(barrier) => {
                barrier.wait().await;
            }
            Gate::Notify(notify) => notify.notified().await,
        }
    }
}

impl From<&Arc<Barrier>> for Gate {
    fn from(barrier: &Arc<Barrier>) -> Gate {
        Gate::Barrier(barrier.clone())
    }
}

impl From<&Arc<Notify>> for Gate {
    fn from(notify: &Arc<Notify>) -> Gate {
        Gate::Notify(notify.clone())
    }
}

/// Entries in the order they were written; a test can wait for one.
#[derive(Clone, Debug)]
pub struct Ledger<E>(Arc<watch::Sender<Vec<E>>>);

impl<E> Default for Ledger<E> {
    fn default() -> Ledger<E> {
        Ledger(Arc::new(watch::Sender::new(Vec::new())))
    }
}

impl<E: Clone> Ledger<E> {
    /// Adds an entry.
    pub fn write(&self, entry: E) {
        self.0.send_modify(|entries| entries.push(entry));
    }

    /// Returns the entries so far.
    pub fn entries(&self) -> Vec<E> {
        self.0.borrow().clone()
    }

    /// Waits until this many entries match.
    pub async fn until(&self, count: usize, matches: impl Fn(&E) -> bool) {
        let enough = |entries: &Vec<E>| entries.iter().filter(|entry| matches(entry)).count() >= count;
        // The sender is in `self`, so the channel cannot close while we wait.
        let mut entries = self.0.subscribe();
        let _enough = entries.wait_for(enough).await;
    }

    /// Returns the maximum that were open at the same time, where `step`
    /// says whether an entry opens something (+1) or closes it (-1).
    pub fn most_open(&self, step: impl Fn(&E) -> i64) -> usize {
        let mut open = 0;
        let mut most = 0;
        for entry in self.0.borrow().iter() {
            open += step(entry);
            most = most.max(open);
        }
        usize::try_from(most).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_open_at_once_is_counted_from_the_order_of_entries() {
        let ledger = Ledger::default();
        for step in [1, 1, -1, 1, 1, -1, -1, -1, 1] {
            ledger.write(step);
        }
        assert_eq!(ledger.most_open(|step| *step), 3);
    }

    #[tokio::test]
    async fn a_test_can_wait_for_entries_written_before_and_after() {
        let ledger = Ledger::default();
        ledger.write("early");
        let writer = ledger.clone();
        let write = async move { writer.write("late") };
        tokio::join!(ledger.until(1, |entry| *entry == "late"), ledger.until(1, |entry| *entry == "early"), write);
    }
}
