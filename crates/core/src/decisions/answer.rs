//! Whether a reply is an answer. One that ended at the output limit or says
//! nothing is not: the model is asked to go on, or asked again, a few times;
//! then the task fails with what there is, or, where its owner wants that, takes
//! it as it is. None of these rounds counts as an iteration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::{Cause, TaskFailure};
use crate::decisions::next::Plan;
use crate::decisions::output;
use crate::decisions::prompt;
use crate::event::Fact;
use crate::id::Id;
use crate::message::{Message, Reply, Stop};
use crate::requests::spec::OnTruncated;
use crate::state::run::Run;
use crate::state::turn::{Phase, Turn};
use crate::text::Text;

/// How often one answer is continued: an answer of five limits' length is one
/// whose limit is wrong.
const CONTINUATIONS_MAX: u32 = 3;
/// How often a model that said nothing, or was cut inside a call, is asked again.
const ASKED_AGAIN_MAX: u32 = 1;

/// What can be done about an answer that was cut.
const ADVICE: &str = "raise max_output_tokens of the model, or ask for less";

/// Whether a reply can be taken as it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completeness {
    /// It can. Replies of earlier versions were all taken.
    #[default]
    Whole,
    /// Its text ended at the output limit.
    Cut,
    /// It ended at the output limit and asks for calls: the last may be cut.
    CutInCall,
    /// It has neither text nor calls.
    Blank,
}

impl Completeness {
    /// Whether it can be taken as it came.
    pub fn is_whole(&self) -> bool {
        *self == Completeness::Whole
    }
}

/// What follows a reply that is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sequel {
    /// The model is asked to go on, or asked again.
    Continue,
    /// The task fails.
    Fail,
    /// The answer is taken as it is.
    Accept,
}

/// What a turn keeps of replies that were no answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Unfinished {
    /// The words of the parts so far, as they came.
    said: String,
    /// How often this answer was continued.
    pub(crate) continued: u32,
    /// How often the model was asked again after a blank reply or a cut call.
    blanks: u32,
    cut_calls: u32,
    /// Rounds of this attempt that were no iterations.
    pub(crate) rounds: u32,
    /// Whether the answer that was given is a cut one.
    pub(crate) truncated: bool,
}

impl Unfinished {
    /// The words so far and those that follow them, without thoughts.
    fn with(&self, more: &str) -> String {
        output::without_thoughts(format!("{}{more}", self.said))
    }

    /// An answer is complete with these words; the next one starts anew.
    pub(crate) fn complete(&mut self, more: &str) -> String {
        let answer = self.with(more);
        *self = Unfinished { rounds: self.rounds, ..Unfinished::default() };
        answer
    }

    /// What a turn that failed had said of its answer, if anything.
    pub(crate) fn partial(&self) -> Option<Text> {
        Some(self.with("")).filter(|said| !said.trim().is_empty()).map(Text::from)
    }
}

impl Turn {
    /// Takes note of a reply that is no answer. Only words are kept: a call that
    /// was cut has no arguments, and a message that says nothing is refused by
    /// providers.
    pub(crate) fn hold_back(&mut self, reply: &std::sync::Arc<Reply>, completeness: Completeness) {
        let text = reply.text();
        if completeness == Completeness::Cut && !text.trim().is_empty() {
            self.say(Message::Assistant(reply.clone()));
            self.unfinished.said.push_str(&text);
        }
        self.round += 1;
        self.unfinished.rounds += 1;
        self.phase = Phase::Unfinished(completeness);
    }

    /// What follows a reply that was cut.
    pub(crate) fn truncated(&mut self, then: Sequel, in_call: bool) {
        match then {
            Sequel::Continue if in_call => {
                self.unfinished.cut_calls += 1;
                self.tell(prompt::CALL_CUT);
                self.phase = Phase::Ask;
            }
            Sequel::Continue => {
                self.unfinished.continued += 1;
                let has_words = self.unfinished.partial().is_some();
                self.tell(if has_words { prompt::CONTINUE } else { prompt::ANSWER_SHORTLY });
                self.phase = Phase::Ask;
            }
            Sequel::Fail => {
                let failure = TaskFailure::new(Cause::OutputTruncated, self.why_truncated(in_call));
                self.phase = Phase::Failing(failure);
            }
            Sequel::Accept => {
                let answer = self.unfinished.complete("");
                self.unfinished.truncated = true;
                self.phase = Phase::Answered(answer.into());
            }
        }
    }

    /// What follows a reply that says nothing.
    pub(crate) fn said_nothing(&mut self, then: Sequel) {
        match then {
            Sequel::Continue => {
                self.unfinished.blanks += 1;
                self.tell(prompt::BLANK);
                self.phase = Phase::Ask;
            }
            Sequel::Fail | Sequel::Accept => {
                let message = "the model was asked twice and answered nothing";
                self.phase = Phase::Failing(TaskFailure::new(Cause::EmptyAnswer, message));
            }
        }
    }

    fn why_truncated(&self, in_call: bool) -> String {
        let what = match (in_call, self.unfinished.continued) {
            (true, _) => "the reply was cut inside a tool call at the output limit".to_owned(),
            (false, 0) => "the answer was cut at the output limit".to_owned(),
            (false, times) => {
                format!("the answer was cut at the output limit and {times} continuations did not end it")
            }
        };
        format!("{what}; {ADVICE}")
    }
}

impl Run {
    /// Whether a reply to this turn is an answer, or calls that can be made.
    pub(crate) fn completeness(&self, id: &Id, reply: &Reply) -> Completeness {
        let Some(turn) = self.turns.get(id) else { return Completeness::Whole };
        let calls = !turn.tools.is_empty() && reply.calls().next().is_some();
        let is_cut = reply.stop == Stop::Length;
        // A critique is worth no second call, and what owes a structured result
        // is not read as prose: it is reminded of how it ends.
        let is_read = turn.reflecting.is_none() && (calls || turn.schema.is_none());
        if !is_read {
            return Completeness::Whole;
        }
        let is_blank = || turn.unfinished.with(&reply.text()).trim().is_empty();
        match (is_cut, calls) {
            (true, true) => Completeness::CutInCall,
            (false, true) => Completeness::Whole,
            // There is nothing to accept in what says nothing.
            (true, false) if self.on_truncated(id) == OnTruncated::Accept && is_blank() => Completeness::Blank,
            (true, false) => Completeness::Cut,
            (false, false) if is_blank() => Completeness::Blank,
            (false, false) => Completeness::Whole,
        }
    }

    /// A person goes on with an answer of a chat; of everything else the task
    /// says what becomes of it.
    fn on_truncated(&self, id: &Id) -> OnTruncated {
        if self.converses(id) {
            return OnTruncated::Accept;
        }
        self.worker(id).map(|task| task.on_truncated).unwrap_or_default()
    }

    /// Says what becomes of a reply that is no answer.
    pub(crate) fn settle_unfinished(&self, id: &Id, turn: &Turn, completeness: Completeness, plan: &mut Plan) {
        let (rule, kept) = (self.on_truncated(id), &turn.unfinished);
        let once_more = |is_left: bool| if is_left { Sequel::Continue } else { Sequel::Fail };
        let then = match (completeness, rule) {
            (Completeness::Blank, _) => once_more(kept.blanks < ASKED_AGAIN_MAX),
            (Completeness::CutInCall, OnTruncated::Continue | OnTruncated::Accept) => {
                once_more(kept.cut_calls < ASKED_AGAIN_MAX)
            }
            (_, OnTruncated::Continue) => once_more(kept.continued < CONTINUATIONS_MAX),
            (_, OnTruncated::Fail) => Sequel::Fail,
            (_, OnTruncated::Accept) => Sequel::Accept,
        };
        if then == Sequel::Continue && self.must_stop() {
            return self.fail(id, &TaskFailure::cancelled(), plan);
        }
        let turn = id.clone();
        plan.record(match completeness {
            Completeness::Blank => Fact::AnswerEmpty { turn, then },
            Completeness::CutInCall => Fact::AnswerTruncated { turn, then, in_call: true },
            Completeness::Whole | Completeness::Cut => Fact::AnswerTruncated { turn, then, in_call: false },
        });
    }
}
