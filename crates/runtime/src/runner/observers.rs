//! Those who are told of a decision of a run: the record of suspects before it is made, the metrics and the
//! outbox once it is stored.

use std::mem;

use consort_core::chat;
use consort_core::decide::{Command, Report};
use consort_tools::busy;

use super::Runner;
use crate::meters::Meter;

impl Runner {
    /// Marks the run as suspect before data of its own is validated.
    pub(super) fn suspect(&mut self, command: &Command) {
        let bytes = match command {
            // Work that was left open is processed again, whatever it is.
            Command::Adopt(_) if self.run.epoch() > 0 => busy::BYTES,
            Command::Report(Report::Replied { reply, .. }) => reply.bytes(),
            Command::Review { decision, .. } => decision.bytes(),
            Command::Chat(chat::Command::Approve { args: Some(args), .. }) => args.len(),
            Command::Adopt(_)
            | Command::Poison(_)
            | Command::Cancel { .. }
            | Command::Pause { .. }
            | Command::Resume { .. }
            | Command::SwitchModel { .. }
            | Command::GiveUpCall { .. }
            | Command::RaiseBudget { .. }
            | Command::Direct { .. }
            | Command::Chat(_)
            | Command::Report(_) => return,
        };
        if !self.run.validates() {
            return;
        }
        self.is_large |= bytes >= busy::BYTES;
        if self.mark.is_none() {
            self.mark = self.window.suspects.as_ref().map(|suspects| suspects.mark(&self.id));
        }
    }

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
