//! Reviews, as the fold sees them: a turn stops at a gate, and goes on, starts
//! over or ends there by the first word of a person or of the clock.

use crate::event::{CancelMode, Decision, End, Exit, Timing};
use crate::id::{Id, Millis};
use crate::run::{Run, Timer};
use crate::spec::OnTimeout;
use crate::text::Text;
use crate::turn::Phase;

/// A review, from its opening on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReviewState {
    pub(crate) turn: Id,
    pub(crate) timing: Timing,
    pub(crate) opened_at: Millis,
    pub(crate) due: Option<Millis>,
    pub(crate) on_timeout: OnTimeout,
    /// The word that holds; absent while open.
    pub(crate) verdict: Option<&'static str>,
}

impl ReviewState {
    pub(crate) fn new((turn, timing): (&Id, Timing), at: Millis, due: Option<Millis>, on_timeout: OnTimeout) -> Self {
        ReviewState { turn: turn.clone(), timing, opened_at: at, due, on_timeout, verdict: None }
    }
}

impl Run {
    pub(crate) fn opened(&mut self, review: u32, state: ReviewState) {
        if let Some(due) = state.due {
            self.timers.insert((due, Timer::Review(review)));
        }
        let id = state.turn.clone();
        if !self.turns.contains_key(&id) {
            self.graph.start(id.task_index());
            self.open_turn(&id);
        }
        self.reviews.push(state);
        self.open_reviews.insert(review);
        self.change(&id, |turn| turn.phase = Phase::Reviewing { review, output: turn.output() });
    }

    /// Takes a review off the list; the turn and the output it was about.
    fn settle_review(&mut self, review: u32, verdict: &'static str) -> Option<(Id, Timing, Text)> {
        let state = self.reviews.get_mut(review as usize)?;
        state.verdict = Some(verdict);
        if let Some(due) = state.due {
            self.timers.remove(&(due, Timer::Review(review)));
        }
        self.open_reviews.remove(&review);
        let (id, timing) = (state.turn.clone(), state.timing);
        let output = self.turns.get(&id)?.output();
        Some((id, timing, output))
    }

    pub(crate) fn decided(&mut self, review: u32, decision: &Decision) {
        let Some((id, timing, output)) = self.settle_review(review, decision.word()) else { return };
        match decision {
            Decision::Continue => self.pass(&id, timing, output),
            Decision::Edit { output: edited } => {
                let output = if timing == Timing::AfterExecution { edited.clone() } else { output };
                self.pass(&id, timing, output);
            }
            Decision::ExitEarly => self.exit_early(&id, timing, output, Exit::UserExitEarly),
            Decision::Reject { feedback } => self.change(&id, |turn| {
                turn.rejections += 1;
                turn.revision = Some((feedback.clone(), output));
                turn.phase = match timing {
                    Timing::BeforeExecution => Phase::Start,
                    Timing::AfterExecution => Phase::Prompt,
                };
            }),
        }
    }

    pub(crate) fn timed_out(&mut self, review: u32, action: OnTimeout) {
        let Some((id, timing, output)) = self.settle_review(review, "TIMED_OUT") else { return };
        match action {
            OnTimeout::Continue => self.pass(&id, timing, output),
            OnTimeout::ExitEarly => self.exit_early(&id, timing, output, Exit::Timeout),
            OnTimeout::Fail => self.change(&id, |turn| {
                turn.phase = Phase::Failing("nobody reviewed it in time".to_owned());
            }),
        }
    }

    pub(crate) fn closed(&mut self, review: u32) {
        let Some((id, _, _)) = self.settle_review(review, "CLOSED") else { return };
        self.change(&id, |turn| turn.phase = Phase::Failing("Cancelled".to_owned()));
    }

    /// The reviewed turn goes on.
    fn pass(&mut self, id: &Id, timing: Timing, output: Text) {
        self.change(id, |turn| {
            turn.phase = match timing {
                Timing::BeforeExecution => Phase::Start,
                Timing::AfterExecution => Phase::Approved(output),
            };
        });
    }

    /// The reviewed turn keeps what it has, and no other task starts.
    fn exit_early(&mut self, id: &Id, timing: Timing, output: Text, exit: Exit) {
        match timing {
            Timing::AfterExecution => self.pass(id, timing, output),
            Timing::BeforeExecution => {
                self.change(id, |turn| turn.phase = Phase::Skipping("a reviewer ended the run before it".to_owned()));
            }
        }
        self.wind_down(End::Completed { exit }, CancelMode::AfterTask);
    }
}
