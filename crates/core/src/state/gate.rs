//! Reviews in the fold: a conversation stops at a review, and continues, starts over or ends there by the
//! first decision of a person or by the timeout.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::decisions::human;
use crate::state::calls::CallState;
use crate::state::conversation::{Conversation, Phase};
use crate::state::run::{Run, Timer};
use consort_spec::cause::{Cause, TaskFailure};
use consort_spec::event::{CancelMode, Decision, End, EventKind, Exit, Timing};
use consort_spec::id::{Id, Millis};
use consort_spec::message::Outcome;
use consort_spec::spec::{OnTimeout, Review, ReviewRule, Task};
use consort_spec::text::Text;
use consort_spec::time::iso;
use strum::IntoStaticStr;

/// A review, from its opening on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReviewState {
    pub(crate) conversation: Id,
    pub(crate) timing: Timing,
    pub(crate) opened_at: Millis,
    pub(crate) due: Option<Millis>,
    pub(crate) on_timeout: Option<OnTimeout>,
    /// The word of the decision; absent while open.
    pub(crate) verdict: Option<ReviewOutcome>,
    /// Its maker and time.
    pub(crate) made: DecidedBy,
}

impl ReviewState {
    pub(crate) fn new(
        (conversation, timing): (&Id, Timing),
        at: Millis,
        due: Option<Millis>,
        on_timeout: Option<OnTimeout>,
    ) -> Self {
        ReviewState {
            conversation: conversation.clone(),
            timing,
            opened_at: at,
            due,
            on_timeout,
            verdict: None,
            made: DecidedBy::default(),
        }
    }

    /// Returns the action that ends the review at `due`; none while it waits for a person.
    pub(crate) fn action(&self) -> Option<OnTimeout> {
        // Reviews of earlier versions name an action although they never expire.
        self.on_timeout.filter(|_| self.due.is_some())
    }
}

/// Returns the time for which a review of `task` waits, and the action at its end; none: it waits for a
/// person. A review that a task demands is approved by timeout only where that was configured.
pub(crate) fn deadline(review: &Review, task: &Task, timing: Timing) -> Option<(Millis, OnTimeout)> {
    let demanded = match timing {
        Timing::BeforeExecution => true,
        Timing::AfterExecution => task.review == Some(ReviewRule::Required),
        // A question is no approval: if it is not answered, the agent is notified.
        Timing::DuringExecution => false,
    };
    let usual = task.review_timeout_ms.unwrap_or(review.timeout_ms);
    let (timeout, then) = match (review.on_timeout, demanded) {
        (Some(written), _) => (usual, written),
        (None, true) => (task.review_timeout_ms.unwrap_or(0), OnTimeout::ExitEarly),
        (None, false) => (usual, OnTimeout::Continue),
    };
    (timeout > 0).then_some((timeout, then))
}

/// The maker of a decision, and its time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DecidedBy {
    /// The name of who decided; empty where nobody did, such as at a timeout.
    pub by: String,
    /// The time of the decision; 0 where it is not known, as from nodes of an earlier version.
    pub at: Millis,
}

impl fmt::Display for DecidedBy {
    /// Writes the words that follow the decision.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.by.is_empty() {
            write!(out, " by {}", self.by)?;
        }
        if self.at > 0 { write!(out, " at {}", iso(self.at)) } else { Ok(()) }
    }
}

/// The state of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewStatus {
    /// No decision was made yet.
    Open,
    /// It ended like this.
    Decided(ReviewOutcome, DecidedBy),
}

/// The end of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum ReviewOutcome {
    /// The run goes on.
    Continue,
    /// The run goes on with another output.
    Edit,
    /// The run ends here.
    ExitEarly,
    /// The task is done again.
    Reject,
    /// Nobody decided in time.
    TimedOut,
    /// There was nothing to decide any more.
    Closed,
}

impl ReviewOutcome {
    /// Returns the word on the wire.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for ReviewOutcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

impl From<&Decision> for ReviewOutcome {
    fn from(decision: &Decision) -> ReviewOutcome {
        match decision {
            Decision::Continue => ReviewOutcome::Continue,
            Decision::Edit { .. } => ReviewOutcome::Edit,
            Decision::ExitEarly => ReviewOutcome::ExitEarly,
            Decision::Reject { .. } => ReviewOutcome::Reject,
        }
    }
}

/// Returns whether work begins or continues with an event, which takes a slot. All other events settle work that
/// has happened and can be recorded without one.
pub(crate) fn needs_slot(event: &EventKind) -> bool {
    match event {
        EventKind::RunStarted
        | EventKind::BeltComposed { .. }
        | EventKind::ExpressionEvaluated { .. }
        | EventKind::TaskStarted { .. }
        | EventKind::PromptBuilt { .. }
        | EventKind::ChoreBegun { .. }
        | EventKind::ReflectionBegun { .. }
        | EventKind::ModelAsked { .. }
        | EventKind::ModelRetried { .. }
        | EventKind::AnswerTruncated { .. }
        | EventKind::AnswerEmpty { .. }
        | EventKind::HistoryDropped { .. }
        | EventKind::OutputRejected { .. }
        | EventKind::LastRoundBegun { .. }
        | EventKind::LoopNoticed { .. }
        | EventKind::ToolDispatched { .. }
        | EventKind::SubtaskStarted { .. }
        | EventKind::FinishDemanded { .. }
        | EventKind::DelegationStarted { .. }
        | EventKind::DirectiveDelivered { .. }
        | EventKind::Chat(_) => true,
        EventKind::RunAccepted { .. }
        | EventKind::RunAdopted { .. }
        | EventKind::RunForked { .. }
        | EventKind::ModelReplied { .. }
        | EventKind::UsageCounted { .. }
        | EventKind::ModelFailed { .. }
        | EventKind::CallCharged { .. }
        | EventKind::DelegationEnded { .. }
        | EventKind::DelegationRefused { .. }
        | EventKind::ToolReturned { .. }
        | EventKind::FileChanged { .. }
        | EventKind::ReviewOpened { .. }
        | EventKind::ReviewDecided { .. }
        | EventKind::ReviewTimedOut { .. }
        | EventKind::ReviewClosed { .. }
        | EventKind::TaskCompleted { .. }
        | EventKind::TaskFailed { .. }
        | EventKind::TaskSkipped { .. }
        | EventKind::DirectiveGiven { .. }
        | EventKind::ModelSwitched { .. }
        | EventKind::CancelRequested { .. }
        | EventKind::RunPaused { .. }
        | EventKind::RunResumed { .. }
        | EventKind::BudgetRaised { .. }
        | EventKind::BudgetExceeded { .. }
        | EventKind::RunEnded { .. } => false,
    }
}

impl Run {
    /// Returns the state of a review; `None` when there is no such review.
    pub fn review_status(&self, review: u32) -> Option<ReviewStatus> {
        let state = self.reviews.all.get(review as usize)?;
        Some(state.verdict.map_or(ReviewStatus::Open, |verdict| ReviewStatus::Decided(verdict, state.made.clone())))
    }

    /// Returns whether the run holds no slot, or is about to return it, because only reviews were open; it stays parked
    /// until its work continues.
    pub fn is_parked(&self) -> bool {
        self.reviews.parked
    }

    /// Updates after each event whether the run is parked.
    pub(crate) fn park(&mut self, kind: &EventKind) {
        let stays = self.reviews.parked && !needs_slot(kind);
        self.reviews.parked = self.epoch > 0 && !self.ended() && (stays || self.waits_for_reviews());
    }

    /// Returns whether working time passes: not while the run is paused, has no slot, or waits only for people.
    pub(crate) fn works(&self) -> bool {
        self.epoch > 0 && !self.ended() && !self.halt.paused && !self.reviews.parked && !self.waits_for_people()
    }

    /// Returns whether people were asked and no conversation can go on without them.
    pub(crate) fn waits_for_people(&self) -> bool {
        self.in_flight == 0
            && self.wants.is_empty()
            && !self.timers.iter().any(|(_, timer)| matches!(timer, Timer::Retry(_)))
            && !(self.reviews.open.is_empty() && self.chat.open.is_empty())
    }

    /// Returns whether reviews are open and nothing else could go on.
    pub(crate) fn waits_for_reviews(&self) -> bool {
        let begins_another = self.halt.stop.is_none() && self.flow.is_due();
        !self.reviews.open.is_empty() && self.waits_for_people() && !begins_another
    }

    pub(crate) fn opened(&mut self, review: u32, state: ReviewState) {
        if let Some(due) = state.due {
            self.timers.insert((due, Timer::Review(review)));
        }
        let id = state.conversation.clone();
        let timing = state.timing;
        self.reviews.all.push(state);
        self.reviews.open.insert(review);
        if timing == Timing::DuringExecution {
            self.claim_calls(&id);
            return self.set(&id, CallState::Asking);
        }
        if !self.conversations.contains_key(&id) {
            self.open_conversation(&id);
        }
        self.change(&id, |conversation| {
            conversation.phase = Phase::Reviewing { review, output: conversation.output() }
        });
    }

    /// Closes a review; returns the conversation or call and the output it was about.
    fn settle_review(&mut self, review: u32, verdict: ReviewOutcome, by: &str) -> Option<(Id, Timing, Text)> {
        let at = self.at;
        let state = self.reviews.all.get_mut(review as usize)?;
        state.verdict = Some(verdict);
        state.made = DecidedBy { by: by.to_owned(), at };
        if let Some(due) = state.due {
            self.timers.remove(&(due, Timer::Review(review)));
        }
        self.reviews.open.remove(&review);
        let id = state.conversation.clone();
        let timing = state.timing;
        let output = self.conversations.get(&id).map(Conversation::output).unwrap_or_default();
        Some((id, timing, output))
    }

    pub(crate) fn decided(&mut self, review: u32, decision: &Decision, by: &str) {
        let Some((id, timing, output)) = self.settle_review(review, decision.into(), by) else { return };
        if timing == Timing::DuringExecution {
            return match human::outcome_of(decision) {
                Some(outcome) => self.set(&id, CallState::Heard(outcome)),
                None => self.wind_down(End::Completed { exit: Exit::UserExitEarly }, CancelMode::Now),
            };
        }
        match decision {
            Decision::Continue => self.pass(&id, timing, output),
            Decision::Edit { output: edited } => {
                let is_answer = timing == Timing::AfterExecution;
                // A person's text is complete, even if the model's was cut.
                self.change(&id, |conversation| conversation.unfinished.truncated &= !is_answer);
                self.pass(&id, timing, if is_answer { edited.clone() } else { output });
            }
            Decision::ExitEarly => self.exit_early(&id, timing, output, Exit::UserExitEarly),
            Decision::Reject { feedback } => self.change(&id, |conversation| {
                conversation.review.revision = Some((feedback.clone(), output));
                conversation.start_over(match timing {
                    Timing::BeforeExecution => Phase::Start,
                    Timing::DuringExecution | Timing::AfterExecution => Phase::Prompt,
                });
            }),
        }
    }

    pub(crate) fn timed_out(&mut self, review: u32, action: OnTimeout) {
        let Some((id, timing, output)) = self.settle_review(review, ReviewOutcome::TimedOut, "") else { return };
        if timing == Timing::DuringExecution {
            return self.unheard(&id, action);
        }
        match action {
            OnTimeout::Continue => self.pass(&id, timing, output),
            OnTimeout::ExitEarly => self.exit_early(&id, timing, output, Exit::Timeout),
            OnTimeout::Fail => self.change(&id, |conversation| {
                conversation.phase =
                    Phase::Failing(TaskFailure::new(Cause::ReviewTimedOut, "nobody reviewed it in time"));
            }),
        }
    }

    /// Handles a call's question that was not answered in time.
    fn unheard(&mut self, call: &Id, action: OnTimeout) {
        match action {
            OnTimeout::Continue => {
                let words = "Nobody answered in time. Go on with what you know, or say what is missing.";
                self.set(call, CallState::Heard(Outcome::failed(words)));
            }
            OnTimeout::ExitEarly => self.wind_down(End::Completed { exit: Exit::Timeout }, CancelMode::Now),
            OnTimeout::Fail => {
                let error = "nobody answered a question in time".to_owned();
                self.wind_down(End::Failed { error }, CancelMode::Now);
            }
        }
    }

    pub(crate) fn closed(&mut self, review: u32) {
        let Some((id, timing, _)) = self.settle_review(review, ReviewOutcome::Closed, "") else { return };
        if timing == Timing::DuringExecution {
            return self.set(&id, CallState::Heard(Outcome::failed("the run was stopped before anybody answered")));
        }
        self.change(&id, |conversation| conversation.phase = Phase::Failing(TaskFailure::cancelled()));
    }

    /// Restarts the waiting time of open reviews from now on.
    pub(crate) fn reopen_reviews(&mut self) {
        for review in &self.reviews.open {
            let Some(state) = self.reviews.all.get_mut(*review as usize) else { continue };
            if let Some(due) = state.due {
                self.timers.remove(&(due, Timer::Review(*review)));
                let due = self.at.saturating_add(due.saturating_sub(state.opened_at));
                state.due = Some(due);
                self.timers.insert((due, Timer::Review(*review)));
            }
            state.opened_at = self.at;
        }
    }

    /// Lets the reviewed conversation go on.
    fn pass(&mut self, id: &Id, timing: Timing, output: Text) {
        self.change(id, |conversation| {
            conversation.phase = match timing {
                Timing::BeforeExecution => Phase::Start,
                Timing::DuringExecution | Timing::AfterExecution => Phase::Approved(output),
            };
        });
    }

    /// Keeps the output of the reviewed conversation, and lets no other task start.
    fn exit_early(&mut self, id: &Id, timing: Timing, output: Text, exit: Exit) {
        match timing {
            Timing::DuringExecution | Timing::AfterExecution => self.pass(id, timing, output),
            Timing::BeforeExecution => {
                self.change(id, |conversation| {
                    conversation.phase = Phase::Skipping("a reviewer ended the run before it".to_owned())
                });
            }
        }
        self.wind_down(End::Completed { exit }, CancelMode::AfterTask);
    }
}
