//! The parts of a run's state: where it comes from, its reviews, its budget, and its end.

use std::collections::{BTreeMap, BTreeSet};

use crate::state::budget::{Budget, Claim};
use crate::state::conversation::Used;
use crate::state::gate::ReviewState;
use consort_spec::event::{CancelMode, End, Origin};
use consort_spec::id::Id;

/// The run that a run was made from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Lineage {
    /// The source of its first events.
    pub(in crate::state) origin: Option<Origin>,
    /// The number of its first events that are copies.
    pub(in crate::state) copied: u64,
    /// Tasks that ended in the run its first events were taken from.
    pub(in crate::state) inherited: BTreeSet<usize>,
    /// The requesters who gave such tasks another output.
    pub(in crate::state) edited: BTreeMap<usize, String>,
}

impl Lineage {
    /// Forgets that a task was done before: the run has done it itself.
    pub(in crate::state) fn redone(&mut self, task: usize) {
        self.inherited.remove(&task);
        self.edited.remove(&task);
    }
}

/// The reviews of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Reviews {
    /// Reviews, open and decided.
    pub(in crate::state) all: Vec<ReviewState>,
    /// The numbers of the open ones.
    pub(in crate::state) open: BTreeSet<u32>,
    /// Whether the run gave up its slot because only reviews are open.
    pub(in crate::state) parked: bool,
}

/// The budget of a run, and the amounts that count against it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Spending {
    /// The limits, and what is left.
    pub(in crate::state) budget: Budget,
    /// The usage of all conversations.
    pub(in crate::state) totals: Used,
    /// The amounts that calls under way may take out of the budget.
    pub(in crate::state) lent: BTreeMap<Id, Claim>,
    /// The number of calls of which it is not known whether they happened.
    pub(in crate::state) in_doubt: usize,
    /// The models that were asked and have no price.
    pub(in crate::state) unpriced: BTreeSet<String>,
}

/// The requests to stop a run, and its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Halt {
    /// The point at which a cancelled run stops.
    pub(in crate::state) cancel: Option<CancelMode>,
    /// Whether nothing new is begun until the run is resumed.
    pub(in crate::state) paused: bool,
    /// The end that the run winds down to, and how soon; nothing new may begin.
    pub(in crate::state) stop: Option<(End, CancelMode)>,
    /// The end, once it has ended.
    pub(in crate::state) end: Option<End>,
}
