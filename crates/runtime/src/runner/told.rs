//! The notifications that follow a stored decision of a run: the metrics and the outbox.

use std::mem;

use super::Runner;
use crate::meters::Meter;

impl Runner {
    /// Tells the outbox that people were asked something new.
    pub(super) fn tell_outbox(&mut self) {
        let before = mem::replace(&mut self.questions, self.run.questions());
        if let Some(outbox) = self.window.outbox.as_ref().filter(|_| self.questions > before) {
            outbox.look_at(&self.id);
        }
    }

    /// Counts the end of the run, if it has ended.
    pub(super) fn count_end(&self) {
        let Some(end) = self.run.end() else { return };
        self.window.meters.add(Meter::RunsEnded, &[("status", end.status().word())], 1);
        if let Some(since) = self.cancelled {
            self.window.meters.time(Meter::Cancel, &[], since.elapsed());
        }
    }
}
