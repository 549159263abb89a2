//! The parts of a conversation's state: the model call, chores, reflection, rework, usage, and the step it has reached.

use std::collections::BTreeSet;

use crate::decisions::answer::Completeness;
use crate::decisions::chore::Chore;
use crate::state::budget::Claim;
use crate::state::calls::Calls;
use crate::state::chore_under_way::ChoreUnderWay;
use consort_spec::catalog::{NanoUsd, Price};
use consort_spec::cause::TaskFailure;
use consort_spec::id::{Id, Millis};
use consort_spec::message::{Call, Outcome, Spent, Usage};
use consort_spec::schema::Schema;
use consort_spec::text::Text;

/// The model call under way, or the last one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Asking {
    /// The number of earlier attempts at the question.
    pub(in crate::state) attempt: u32,
    /// The position in the list of fallbacks.
    pub(in crate::state) fallback: usize,
    /// The alias that is being or was last asked.
    pub(in crate::state) model: String,
    /// When it was asked.
    pub(in crate::state) since: Millis,
    /// The part of the budget that was set aside for it.
    pub(in crate::state) claim: Claim,
    /// The reason why the last attempt failed.
    pub(in crate::state) failure: Option<String>,
}

/// The calls the run makes for a task by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Chores {
    /// Those that are over in this attempt.
    pub(in crate::state) done: BTreeSet<Chore>,
    /// The one begun last.
    pub(in crate::state) duty: Option<ChoreUnderWay>,
    /// The remembered outputs, by the names they were remembered under.
    pub(in crate::state) recalled: Vec<(String, Text)>,
}

/// The critique of a task that has its answer: the things that could be better next time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Reflection {
    /// The answer, while the agent is asked.
    pub(in crate::state) answer: Option<Text>,
    /// The critique, once the agent has given it.
    pub(in crate::state) critique: Option<Text>,
}

/// Work that is done again because a reviewer asked for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Rework {
    /// The reviewer's feedback, and the output before it.
    pub(in crate::state) revision: Option<(Text, Text)>,
    /// The number of times the work was done again.
    pub(in crate::state) rejections: u32,
}

/// The structured result a subtask owes, if it does; only `finish_subtask` gives it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct ExpectedResult {
    /// The schema of the result.
    pub(in crate::state) schema: Option<Schema>,
    /// The result.
    pub(in crate::state) finished: Option<Text>,
    /// Results that did not fit, and what was wrong with the last one.
    pub(in crate::state) unfit: u32,
    pub(in crate::state) violations: Vec<String>,
    /// The number of times it was reminded of the way to end.
    pub(in crate::state) nudges: u32,
}

/// Failing calls that are all alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Repetition {
    /// The last failing call and the number of times it was made in a row.
    pub(in crate::state) last: Option<(String, Text, u32)>,
    /// The repeated call that the model must be notified of.
    pub(in crate::state) notice: Option<(String, u32)>,
}

/// A call that has ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) id: Id,
    pub(crate) index: usize,
    pub(crate) call: Call,
    pub(crate) outcome: Outcome,
}

/// The usage of a conversation, without its subtasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// The time at which it started.
    pub started_at: Millis,
    /// The number of model calls.
    pub llm_calls: u64,
    /// The number of tool calls that have ended.
    pub tool_calls: u64,
    /// The number of tokens, as far as they are known.
    pub usage: Usage,
    /// Whether some model call did not report its usage.
    pub unknown: bool,
    /// The time models took.
    pub llm_ms: u64,
    /// The time tools took.
    pub tool_ms: u64,
    /// The cost of the input.
    pub input_cost: NanoUsd,
    /// The cost of the output.
    pub output_cost: NanoUsd,
}

impl Used {
    /// Returns the total cost.
    pub fn cost(&self) -> NanoUsd {
        self.input_cost.saturating_add(self.output_cost)
    }

    /// Adds the usage that another ensemble reported.
    pub(crate) fn absorb(&mut self, spent: &Spent) {
        self.add(&spent.usage, None);
        self.input_cost = self.input_cost.saturating_add(spent.input_cost);
        self.output_cost = self.output_cost.saturating_add(spent.output_cost);
    }

    /// Adds the usage of one model call, as reported by the provider: the numbers are not trusted.
    pub(crate) fn add(&mut self, usage: &Usage, price: Option<&Price>) {
        let own = &mut self.usage;
        own.input = own.input.saturating_add(usage.input);
        own.output = own.output.saturating_add(usage.output);
        own.cached_input = own.cached_input.saturating_add(usage.cached_input);
        own.reasoning = own.reasoning.saturating_add(usage.reasoning);
        let (input, output) = price.map_or((0, 0), |price| (price.input_cost(usage), price.output_cost(usage)));
        self.input_cost = self.input_cost.saturating_add(input);
        self.output_cost = self.output_cost.saturating_add(output);
    }
}

/// The size of the conversation: counted by the provider up to its last reply, estimated from there on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::state) struct Size {
    pub(in crate::state) counted: u64,
    pub(in crate::state) fresh_bytes: u64,
    pub(in crate::state) fresh_messages: u64,
}

/// The step that a conversation has reached.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Phase {
    /// The start must be recorded.
    Start,
    /// The opening messages must be written.
    Prompt,
    /// The model must be asked.
    Ask,
    /// The model was asked and has not answered yet.
    Asked,
    /// The model must be asked again, but not before this time.
    Backoff { until: Millis },
    /// It must be decided what follows from a reply that is no complete answer.
    Unfinished(Completeness),
    /// Calls must be made or are under way.
    Calling(Calls),
    /// The answer must be checked, reviewed or accepted.
    Answered(Text),
    /// A review waits for a person.
    Reviewing { review: u32, output: Text },
    /// The output is approved; the conversation must be completed.
    Approved(Text),
    /// It must end without having run.
    Skipping(String),
    /// It must end with a failure.
    Failing(TaskFailure),
}

/// The resource a conversation needs before it can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// Nothing: it waits.
    Nothing,
    /// No resource; `next` must plan a step.
    Attention,
    /// A slot of the model it asks.
    Model,
    /// An exclusive lock.
    Lock(String),
}
