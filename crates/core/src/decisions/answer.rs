//! Decides whether a reply is an answer. One that ended at the output limit or is empty is not: the model
//! is asked to continue, or asked again, a few times; then the task fails with the text so far or, where
//! the task allows that, accepts it as it is. None of these rounds counts as an iteration.

pub use consort_spec::answer::{Completeness, FollowUp};

use crate::decisions::next::Plan;
use crate::state::conversation::Conversation;
use crate::state::run::Run;
use crate::state::unfinished::Unfinished;
use consort_spec::cause::TaskFailure;
use consort_spec::event::EventKind;
use consort_spec::id::Id;
use consort_spec::message::{Reply, Stop};
use consort_spec::spec::OnTruncated;
use consort_spec::text::is_invisible;

/// The number of times one answer is continued: an answer of five times the limit means that the limit is
/// wrong.
const CONTINUATIONS_MAX: u32 = 3;
/// The number of times a model is asked again after an empty reply or one that was cut inside a call.
const ASKED_AGAIN_MAX: u32 = 1;

/// Returns whether nothing of a text is seen: it is empty, or all of it is blanks and characters without a shape.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|letter| letter.is_whitespace() || letter.is_control() || is_invisible(letter))
}

impl Run {
    /// Returns whether a reply in this conversation is an answer, or calls that can be made.
    pub(crate) fn completeness(&self, id: &Id, reply: &Reply) -> Completeness {
        let Some(conversation) = self.conversations().get(id) else { return Completeness::Whole };
        let calls = !conversation.tools().is_empty() && reply.calls().next().is_some();
        // What a provider withheld is missing as what is beyond a limit is.
        let is_cut = reply.stop != Stop::End;
        // A critique is not worth a second call, and a conversation that must return a structured result is not
        // read as prose: it is reminded of the way to end.
        let is_read = conversation.reflecting().is_none() && (calls || conversation.schema().is_none());
        if !is_read {
            return Completeness::Whole;
        }
        let is_blank = || is_blank(&conversation.unfinished().with(&reply.text()));
        match (is_cut, calls) {
            (true, true) => Completeness::CutInCall,
            (false, true) => Completeness::Whole,
            (true, false) if self.native_schema(id, conversation, conversation.model()).is_some() => {
                Completeness::CutInJson
            }
            // An empty reply has nothing to accept.
            (true, false) if self.on_truncated(id) == OnTruncated::Accept && is_blank() => Completeness::Blank,
            (true, false) => Completeness::Cut,
            (false, false) if is_blank() => Completeness::Blank,
            (false, false) => Completeness::Whole,
        }
    }

    /// Returns the rule for truncated answers. In a chat the person may ask for the rest, so the answer is
    /// accepted; otherwise the task's rule applies.
    fn on_truncated(&self, id: &Id) -> OnTruncated {
        if self.converses(id) {
            return OnTruncated::Accept;
        }
        self.worker(id).map(|task| task.on_truncated).unwrap_or_default()
    }

    /// Records the step that follows a reply that is no complete answer.
    pub(crate) fn settle_unfinished(
        &self,
        id: &Id,
        conversation: &Conversation,
        completeness: Completeness,
        plan: &mut Plan,
    ) {
        let then = follow_up(completeness, self.on_truncated(id), conversation.unfinished());
        if then == FollowUp::Continue && self.must_stop() {
            return self.fail(id, &TaskFailure::cancelled(), plan);
        }
        let conversation = id.clone();
        plan.record(match completeness {
            Completeness::Blank => EventKind::AnswerEmpty { conversation, then },
            Completeness::CutInCall | Completeness::CutInJson => {
                EventKind::AnswerTruncated { conversation, then, in_call: true }
            }
            Completeness::Whole | Completeness::Cut => {
                EventKind::AnswerTruncated { conversation, then, in_call: false }
            }
        });
    }
}

/// Returns the step that follows a reply that is no complete answer.
fn follow_up(completeness: Completeness, rule: OnTruncated, kept: &Unfinished) -> FollowUp {
    let once_more = |is_left: bool| if is_left { FollowUp::Continue } else { FollowUp::Fail };
    match (completeness, rule) {
        (Completeness::Blank, _) => once_more(kept.blanks() < ASKED_AGAIN_MAX),
        (Completeness::CutInCall | Completeness::CutInJson, _) | (_, OnTruncated::Continue) if kept.withheld() => {
            FollowUp::Fail
        }
        (Completeness::CutInCall | Completeness::CutInJson, OnTruncated::Continue | OnTruncated::Accept) => {
            once_more(kept.cut_calls() < ASKED_AGAIN_MAX)
        }
        (_, OnTruncated::Continue) => once_more(kept.continued() < CONTINUATIONS_MAX),
        (_, OnTruncated::Fail) => FollowUp::Fail,
        (_, OnTruncated::Accept) => FollowUp::Accept,
    }
}
