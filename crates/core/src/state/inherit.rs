//! The moment at which a retry or a fork begins work of its own: what stands
//! before it is the record of another run.

use crate::state::budget::Budget;
use crate::state::conversation::Used;
use crate::state::ended::Ended;
use crate::state::run::{Halt, Run, TaskOutcome};
use crate::state::stopwatch::Stopwatch;
use consort_spec::event::{Edited, EditedOutput, Origin};

impl Run {
    /// Begins the run's own work, with the tasks that the record left open.
    pub(crate) fn forked(&mut self, origin: &Origin, edited: Option<&Edited>, outputs: &[EditedOutput]) {
        self.lineage.origin = Some(origin.clone());
        if let Some(Edited { spec, models, belt }) = edited {
            self.take_spec(spec);
            self.models.extend(models.clone());
            self.own.extend(belt.keys().cloned());
            self.belt.extend(belt.clone());
        }
        self.orphan();
        self.spending.budget = Budget::new(&self.spec.limits);
        self.spending.totals = Used::default();
        self.clock = Stopwatch::default();
        self.spending.unpriced.clear();
        self.spending.lent.clear();
        self.delegated_to.clear();
        self.accepted_at = self.at;
        self.began_at = None;
        self.epoch = 0;
        self.started_at = self.started_at.map(|_before| self.at);
        self.inherit();
        outputs.iter().for_each(|edited| self.put_output(edited));
        self.reviews.parked = false;
        self.halt = Halt { end: self.halt.end.take(), ..Halt::default() };
        let is_lost = |outcome: &TaskOutcome| matches!(outcome, TaskOutcome::Failed { .. } | TaskOutcome::Cancelled);
        self.failed = self.tasks.values().filter(|ended| is_lost(&ended.outcome)).count();
        self.reopen_reviews();
    }

    /// Puts another output in place of the one that a task had. A task that is done again after all has none to
    /// replace: a retry of this run may keep the event without it.
    fn put_output(&mut self, EditedOutput { task, output, by }: &EditedOutput) {
        let (Some(outcome), Some(ended)) = (self.with_output(*task, output), self.tasks.get(task).cloned()) else {
            return;
        };
        self.put_ended(*task, Ended { outcome, truncated: false, ..*ended });
        self.lineage.edited.insert(*task, by.clone());
    }

    /// Separates earlier work from the run's own: ended tasks stay as they were, the counters of tasks under
    /// way start anew.
    fn inherit(&mut self) {
        // Events of earlier versions do not hold the number of copies.
        self.lineage.copied = self.lineage.copied.max(self.events.saturating_sub(1));
        self.lineage.inherited = self.tasks.keys().copied().collect();
        self.instances.values_mut().for_each(|instance| instance.inherited = true);
        for conversation in self.conversations.values_mut() {
            conversation.used = Used { started_at: self.at, ..Used::default() };
        }
    }
}
