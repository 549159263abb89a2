//! Replies that are no complete answer: the parts that a conversation keeps of them, and its next step after one.

use std::sync::Arc;

use crate::decisions::answer::{Completeness, FollowUp, is_blank};
use crate::decisions::{output, prompt};
use crate::state::conversation::{Conversation, Phase};
use consort_spec::cause::{Cause, TaskFailure};
use consort_spec::message::{Message, Reply, Stop};
use consort_spec::text::Text;

/// The kept parts of replies that were no complete answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Unfinished {
    /// The text of the parts so far, as they came.
    said: String,
    /// The number of times this answer was continued.
    continued: u32,
    /// The number of times the model was asked again after an empty reply or a cut call.
    blanks: u32,
    cut_calls: u32,
    /// The number of rounds of this attempt that do not count as iterations.
    pub(super) rounds: u32,
    /// Whether the provider withheld the rest of the last reply.
    withheld: bool,
    /// Whether the accepted answer is a cut one.
    pub(super) truncated: bool,
}

impl Unfinished {
    /// Returns the number of times this answer was continued.
    pub(crate) fn continued(&self) -> u32 {
        self.continued
    }

    /// Returns the number of times the model was asked again after an empty reply.
    pub(crate) fn blanks(&self) -> u32 {
        self.blanks
    }

    /// Returns the number of times the model was asked again after a reply that was cut in a call.
    pub(crate) fn cut_calls(&self) -> u32 {
        self.cut_calls
    }

    /// Returns whether the provider withheld the rest of the last reply: it would withhold it again.
    pub(crate) fn withheld(&self) -> bool {
        self.withheld
    }

    /// Returns whether the accepted answer is a cut one.
    pub(crate) fn is_cut(&self) -> bool {
        self.truncated
    }

    /// Returns the text so far followed by `more`, without reasoning.
    pub(crate) fn with(&self, more: &str) -> String {
        output::without_thoughts(format!("{}{more}", self.said))
    }

    /// Completes the answer with this text; the next answer starts anew.
    pub(crate) fn complete(&mut self, more: &str) -> String {
        let answer = self.with(more);
        *self = Unfinished { rounds: self.rounds, ..Unfinished::default() };
        answer
    }

    /// Returns the partial answer of a failed conversation, if there is one.
    pub(crate) fn partial(&self) -> Option<Text> {
        Some(self.with("")).filter(|said| !is_blank(said)).map(Text::from)
    }
}

impl Conversation {
    /// Records a reply that is no complete answer. Only text is kept: a call that was cut has no arguments, and
    /// providers refuse an empty message.
    pub(crate) fn hold_back(&mut self, reply: &Arc<Reply>, completeness: Completeness) {
        let text = reply.text();
        if completeness == Completeness::Cut && !is_blank(&text) {
            self.say(Message::Assistant(reply.clone()));
            self.unfinished.said.push_str(&text);
        }
        self.round += 1;
        self.unfinished.rounds += 1;
        self.unfinished.withheld = reply.stop == Stop::Filtered;
        self.phase = Phase::Unfinished(completeness);
    }

    /// Applies the step that follows a reply that was cut.
    pub(crate) fn truncated(&mut self, then: FollowUp, in_call: bool) {
        match then {
            FollowUp::Continue if in_call => {
                self.unfinished.cut_calls += 1;
                let in_json = self.phase == Phase::Unfinished(Completeness::CutInJson);
                self.tell(if in_json { prompt::JSON_CUT } else { prompt::CALL_CUT });
                self.phase = Phase::Ask;
            }
            FollowUp::Continue => {
                self.unfinished.continued += 1;
                let has_words = self.unfinished.partial().is_some();
                self.tell(if has_words { prompt::CONTINUE } else { prompt::ANSWER_SHORTLY });
                self.phase = Phase::Ask;
            }
            FollowUp::Fail => {
                let failure = TaskFailure::new(Cause::OutputTruncated, self.why_truncated(in_call));
                self.phase = Phase::Failing(failure);
            }
            FollowUp::Accept => {
                let answer = self.unfinished.complete("");
                self.unfinished.truncated = true;
                self.phase = Phase::Answered(answer.into());
            }
        }
    }

    /// Applies the step that follows an empty reply.
    pub(crate) fn said_nothing(&mut self, then: FollowUp) {
        match then {
            FollowUp::Continue => {
                self.unfinished.blanks += 1;
                self.tell(prompt::BLANK);
                self.phase = Phase::Ask;
            }
            FollowUp::Fail | FollowUp::Accept => {
                let message = format!("the model '{}' was asked twice and answered nothing", self.model());
                self.phase = Phase::Failing(TaskFailure::new(Cause::EmptyAnswer, message));
            }
        }
    }

    fn why_truncated(&self, in_call: bool) -> String {
        if self.unfinished.withheld {
            return format!(
                "the provider of '{}' withheld the rest of the answer by its content filter; ask for something else, \
                 or another model",
                self.model()
            );
        }
        let what = match (in_call, self.unfinished.continued) {
            (true, _) if self.phase == Phase::Unfinished(Completeness::CutInJson) => {
                "the answer was cut inside of its JSON at the output limit".to_owned()
            }
            (true, _) => "the reply was cut inside a tool call at the output limit".to_owned(),
            (false, 0) => "the answer was cut at the output limit".to_owned(),
            (false, times) => {
                format!("the answer was cut at the output limit and {times} continuations did not end it")
            }
        };
        format!("{what}; raise max_output_tokens of the model '{}', or ask for less", self.model())
    }
}
