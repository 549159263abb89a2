//! The reports of effects that have ended, to their run.

use consort_core::decide::Report;
use consort_core::text::Text;
use tokio::task::{self, JoinError};

use super::{Runner, UnderWay};

impl Runner {
    /// Collects all effects that have ended by now into one decision.
    pub(super) fn reports(&mut self, first: Result<(task::Id, Report), JoinError>) -> Vec<Report> {
        let mut ended = vec![first];
        while let Some(more) = self.effects.try_join_next_with_id() {
            ended.push(more);
        }
        ended.into_iter().filter_map(|ended| self.report(ended)).collect()
    }

    fn report(&mut self, ended: Result<(task::Id, Report), JoinError>) -> Option<Report> {
        match ended {
            Ok((task, report)) => self.under_way.remove(&task).map(|_| self.hushed(report)),
            Err(error) => self
                .under_way
                .remove(&error.id())
                .map(|UnderWay { id, .. }| self.hushed(Report::Dropped { id, said: Text::default() })),
        }
    }

    /// Adds the partial text of a model call that did not finish to its report.
    fn hushed(&self, report: Report) -> Report {
        match report {
            Report::Replied { ref turn, .. } => {
                self.window.ring.hush(turn);
                report
            }
            Report::Unanswered { turn, failure, dice, .. } => {
                let said = self.window.ring.hush(&turn).into();
                Report::Unanswered { turn, failure, dice, said }
            }
            Report::Dropped { id, .. } => {
                let said = self.window.ring.hush(&id).into();
                Report::Dropped { id, said }
            }
            Report::Returned { .. } => report,
        }
    }
}
