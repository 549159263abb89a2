//! The effects of a run that are dropped: those that were given up, and all when the run is to stop at once.

use consort_core::catalog::CancelClass;
use consort_core::event::Event;

use super::Runner;

impl Runner {
    /// Drops the model calls that were given up: nobody waits for their answers, and the next call of the same
    /// conversation must not get their reports.
    pub(super) fn drop_calls<'a>(&mut self, given_up: impl Iterator<Item = &'a Event>) {
        for conversation in given_up.filter_map(|event| event.kind.place()) {
            self.under_way.retain(|_, under_way| {
                let is_dropped = under_way.id == *conversation;
                if is_dropped {
                    under_way.task.abort();
                }
                !is_dropped
            });
            self.window.ring.take_partial_text(conversation);
        }
    }

    /// Drops running effects, once the run is to stop at once; those that must not be
    /// dropped are notified and get a little longer.
    pub(super) fn stop(&mut self) {
        if !self.run.stopping() {
            return;
        }
        self.permits.abandon();
        self.halt.send_replace(true);
        let now = self.seams.clock.now();
        let grace_ms = u64::try_from(self.seams.cancel_grace.as_millis()).unwrap_or(u64::MAX);
        let until = *self.grace.get_or_insert_with(|| now.saturating_add(grace_ms));
        for under_way in self.under_way.values() {
            match under_way.cancel {
                CancelClass::Finish if now < until => {}
                CancelClass::Drop | CancelClass::Finish => under_way.task.abort(),
            }
        }
    }
}
