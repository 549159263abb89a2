//! The reason why nothing happens in a run, and the time since which it holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::state::conversation::Conversation;
use crate::state::run::{Run, Timer};
use consort_spec::event::{Event, EventKind};
use consort_spec::id::Millis;

/// The reason why nothing happens in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// A slot.
    Queue,
    /// Somebody who resumes it.
    Resume,
    /// A slot of a model.
    Model,
    /// A tool's lock.
    Lock,
    /// A model that failed: the time to ask it again, or its answer when it was asked again.
    Retry,
    /// A person's decision.
    Review,
    /// A person's permission.
    Approval,
    /// Room on the disk.
    Storage,
}

impl Run {
    /// Returns the reason why nothing happens at the moment.
    pub(crate) fn waiting_for(&self) -> Option<WaitingFor> {
        if self.ended() {
            None
        } else if self.in_flight() > 0 {
            self.only_asks_again().then_some(WaitingFor::Retry)
        } else if self.epoch() == 0 {
            Some(WaitingFor::Queue)
        } else if self.paused() {
            Some(WaitingFor::Resume)
        } else if self.parked() && !self.waits_for_reviews() {
            Some(WaitingFor::Queue)
        } else if !self.wants().models.is_empty() {
            Some(WaitingFor::Model)
        } else if !self.wants().locks.is_empty() {
            Some(WaitingFor::Lock)
        } else if self.timers().iter().any(|(_, timer)| matches!(timer, Timer::Retry(_))) {
            Some(WaitingFor::Retry)
        } else if !self.open_reviews().is_empty() {
            Some(WaitingFor::Review)
        } else if !self.chat().open.is_empty() {
            Some(WaitingFor::Approval)
        } else {
            None
        }
    }

    /// Returns whether everything under way is a model call that has failed before.
    fn only_asks_again(&self) -> bool {
        self.asked_again().count() == self.in_flight()
    }

    /// Returns the conversations whose model was asked again after a failure and has not answered.
    fn asked_again(&self) -> impl Iterator<Item = &Conversation> {
        self.retried.iter().filter_map(|id| self.conversations().get(id)).filter(|one| one.is_asked_again())
    }

    /// Returns the conversation whose model failed and is asked again, now or later.
    pub(crate) fn asking_again(&self) -> Option<&Conversation> {
        let later = self.timers().iter().find_map(|(_, timer)| match timer {
            Timer::Retry(conversation) => self.conversations().get(conversation),
            Timer::Review(_) | Timer::Approval(_) | Timer::Client(_) => None,
        });
        later.or_else(|| self.asked_again().next())
    }

    /// Returns the time since which that is the reason.
    pub(crate) fn waiting_since(&self) -> Option<Millis> {
        self.waits.map(|(_, since)| since)
    }

    /// Remembers when the reason changed. A fork waits on its own clock: the reason may be that of the run it was
    /// taken from.
    pub(super) fn note_wait(&mut self, event: &Event) {
        let before = self.waits.filter(|_| !matches!(event.kind, EventKind::RunForked { .. }));
        let since = |reason| before.filter(|(earlier, _)| *earlier == reason).map_or(event.at, |(_, since)| since);
        self.waits = self.waiting_for().map(|reason| (reason, since(reason)));
    }
}
