//! The uses of something outside that are open at the same time, as whoever is used counts them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use super::sim::{Store, Way};

/// The open uses, and the most that there were at once.
#[derive(Clone, Default)]
pub(crate) struct Open(Arc<Mutex<Uses>>);

#[derive(Default)]
struct Uses {
    numbered: u64,
    /// The node of each use, as it was called when the use began.
    open: BTreeMap<u64, Arc<str>>,
    most: usize,
    /// The most of nodes that the others heard of at that moment.
    most_present: usize,
    /// The times of their beginnings, in order.
    begun: Vec<Instant>,
}

/// A use that lasts until it is dropped.
pub(crate) struct Opened {
    open: Open,
    number: u64,
}

impl Open {
    pub(crate) fn begin(&self, store: &Store, way: &Way) -> Opened {
        let mut uses = self.uses();
        let number = uses.numbered;
        uses.numbered += 1;
        uses.open.insert(number, way.name_now());
        let present = uses.open.values().filter(|node| store.is_there(node)).count();
        uses.most_present = uses.most_present.max(present);
        uses.most = uses.most.max(uses.open.len());
        uses.begun.push(Instant::now());
        drop(uses);
        Opened { open: self.clone(), number }
    }

    /// Returns the most uses at once.
    pub(crate) fn most(&self) -> usize {
        self.uses().most
    }

    /// Returns the most uses at once of nodes that the others heard of.
    pub(crate) fn most_present(&self) -> usize {
        self.uses().most_present
    }

    /// Returns the most uses that began within a period.
    pub(crate) fn most_within(&self, period: Duration) -> usize {
        let begun = &self.uses().begun;
        let within =
            |(place, from): (usize, &Instant)| begun.iter().skip(place).take_while(|at| **at - *from < period).count();
        begun.iter().enumerate().map(within).max().unwrap_or_default()
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.0.lock().unwrap()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.open.uses().open.remove(&self.number);
    }
}
