//! The frames of reviews, and the public ids of reviews.

use crate::decisions::human::Question;
use crate::projections::frame::field::{Iso, Review};
use crate::projections::frame::run::Frame;
use crate::state::run::Run;
use consort_spec::event::{Decision, Timing};
use consort_spec::id::Id;
use consort_spec::text::Text;

impl Run {
    /// Returns a review, as it is announced and listed.
    pub(crate) fn review_view(&self, run: &str, review: u32) -> Option<Review> {
        let state = self.reviews().get(review as usize)?;
        let question = (state.timing == Timing::DuringExecution).then(|| self.question_of(&state.conversation));
        let mut task = self.task_place(&state.conversation);
        if let Some(question) = &question {
            task.conversation.task_description.clone_from(&question.question);
        }
        let conversation = self.conversations().get(&state.conversation);
        Some(Review {
            task,
            review_id: review_id(run, review),
            task_output: conversation.map(|conversation| conversation.output()).unwrap_or_default(),
            truncated: state.timing == Timing::AfterExecution
                && conversation.is_some_and(|conversation| conversation.unfinished().is_cut()),
            timing: state.timing,
            timeout_ms: state.due.map_or(0, |due| due.saturating_sub(state.opened_at)),
            on_timeout: state.action(),
            created_at: Iso(state.opened_at),
            expires_at: state.due.map(Iso),
            prompt: question.as_ref().map(|question| question.question.clone()),
            options: question.map(|question| question.options),
        })
    }

    /// Returns the question that a call asks a person.
    fn question_of(&self, call: &Id) -> Question {
        serde_json::from_str(&self.asked_call(call).1).unwrap_or_default()
    }
}

pub(super) fn decided_frame(run: &str, review: u32, decision: &Decision, by: &str) -> Frame {
    let (revised_output, feedback) = said(decision);
    let review_id = review_id(run, review);
    Frame::ReviewDecided { review_id, decision: decision.into(), by: by.to_owned(), revised_output, feedback }
}

fn said(decision: &Decision) -> (Option<Text>, Option<Text>) {
    match decision {
        Decision::Edit { output } => (Some(output.clone()), None),
        Decision::Reject { feedback } => (None, Some(feedback.clone())),
        Decision::Continue | Decision::ExitEarly => (None, None),
    }
}

/// Returns the public id of a review.
pub fn review_id(run: &str, review: u32) -> String {
    format!("{run}-review-{review}")
}

/// Returns the run and number in a review's public id.
pub fn parse_review_id(id: &str) -> Option<(&str, u32)> {
    id.rsplit_once("-review-").and_then(|(run, number)| Some((run, number.parse().ok()?)))
}
