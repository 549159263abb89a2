//! The moment at which a retry or a fork begins work of its own: what stands
//! before it is the record of another run.

use crate::event::{Edited, Origin};
use crate::id::Id;
use crate::state::budget::Budget;
use crate::state::conversation::Used;
use crate::state::graph::Graph;
use crate::state::run::{How, Run};
use crate::state::stopwatch::Stopwatch;

impl Run {
    /// Begins the run's own work, with the tasks that the record left open.
    pub(crate) fn forked(&mut self, origin: &Origin, edited: Option<&Edited>) {
        self.origin = Some(origin.clone());
        if let Some(Edited { spec, models, belt }) = edited {
            self.spec = spec.clone();
            self.models.extend(models.clone());
            self.own.extend(belt.keys().cloned());
            self.belt.extend(belt.clone());
        }
        self.orphan();
        self.budget = Budget::new(&self.spec.limits);
        (self.totals, self.clock) = (Used::default(), Stopwatch::default());
        self.unpriced.clear();
        self.lent.clear();
        self.errands.clear();
        (self.accepted_at, self.began_at, self.epoch) = (self.at, None, 0);
        self.started_at = self.started_at.map(|_before| self.at);
        self.inherit();
        (self.paused, self.parked, self.cancel, self.stop) = (false, false, None, None);
        self.graph = self.graph_left();
        let is_lost = |how: &How| matches!(how, How::Failed { .. } | How::Cancelled);
        self.failed = self.tasks.values().filter(|ended| is_lost(&ended.how)).count();
        self.reopen_reviews();
    }

    /// Separates earlier work from the run's own: ended tasks stay as they were, the counters of tasks under
    /// way start anew.
    fn inherit(&mut self) {
        // Events of earlier versions do not hold the number of copies.
        self.copied = self.copied.max(self.events.saturating_sub(1));
        self.inherited = self.tasks.keys().copied().collect();
        for turn in self.conversations.values_mut() {
            turn.used = Used { started_at: self.at, ..Used::default() };
        }
    }

    /// The order of the tasks, as far as they have come.
    fn graph_left(&self) -> Graph {
        let mut graph = Graph::of(&self.spec);
        for (task, ended) in self.tasks.iter().filter(|(task, _)| self.spec.is_begun_by_run(**task)) {
            match ended.how {
                How::Completed { .. } => graph.finish(*task),
                How::Failed { .. } | How::Cancelled | How::Skipped { .. } => graph.fail(*task),
            }
        }
        let under_way = self.conversations.keys().filter(|id| id.parent().is_none()).map(Id::task_index);
        under_way.chain(self.tasks.keys().copied()).for_each(|task| graph.start(task));
        graph
    }
}
