//! The plan of the next step: events to record, effects to carry out, and the resources that are needed and granted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::state::budget::{Budget, Claim};
use consort_spec::catalog::ToolInfo;
use consort_spec::event::{Event, EventKind};
use consort_spec::id::{Id, Millis};
use consort_spec::message::Message;
use consort_spec::model_options::ModelOptions;
use consort_spec::schema::Schema;

/// The result of [`Run::next`](crate::state::run::Run::next): steps to take, a timer and missing resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Next {
    /// The steps to record and then to carry out. Empty: wait.
    pub steps: Vec<Step>,
    /// The latest time at which `next` must be called again.
    pub timer: Option<Millis>,
    /// The resources that would allow more steps if they were granted.
    pub needs: Needs,
}

/// An event to record and the effect that follows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The event, which is stored first.
    pub event: Event,
    /// The effect, which is carried out after the event is stored.
    pub then: Option<Effect>,
}

/// Work outside of the core; each effect ends in one report.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Asks a model. Uses up one granted slot of that model.
    Ask(Box<Question>),
    /// Calls a tool. Uses up the granted lock, if the tool has one.
    Call {
        /// The id of the call, which is part of the key of an idempotent call.
        id: Id,
        /// The tool to call.
        tool: Arc<ToolInfo>,
        /// The arguments, which fit the tool's schema.
        args: Value,
        /// The amount it may use; absent: no limit.
        lent: Option<Claim>,
        /// Whether a previous owner had already made the call.
        again: bool,
        /// The terms on which it is made.
        terms: Terms,
    },
}

/// The terms on which a call is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Whether a person has allowed it to write a file that prompts are built from.
    pub may_instruct: bool,
    /// Whether only the tool as it was described when the turn began may do it: people decided about that one.
    pub exact: bool,
}

/// A request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The id of the conversation that asks.
    pub conversation: Id,
    /// The name of the task it asks for.
    pub task: String,
    /// The alias of the model.
    pub model: String,
    /// The index of the question in the conversation, from 0.
    pub round: u32,
    /// The index of the attempt at this question, from 0.
    pub attempt: u32,
    /// The conversation so far.
    pub messages: Arc<Vec<Message>>,
    /// The tools that the model may call.
    pub tools: Arc<[Arc<ToolInfo>]>,
    /// All tools of the conversation: a reply that is a call of one of them is no answer, even where none may be made.
    pub belt: Arc<[Arc<ToolInfo>]>,
    /// The maximum number of tokens of the answer.
    pub max_output: u64,
    /// The options for the model's answer.
    pub options: ModelOptions,
    /// The schema of the answer, where the provider is told it.
    pub schema: Option<Schema>,
}

impl Effect {
    /// Returns the id of the conversation or call that the effect belongs to.
    pub fn id(&self) -> &Id {
        match self {
            Effect::Ask(question) => &question.conversation,
            Effect::Call { id, .. } => id,
        }
    }
}

/// The resources the run must hold before it may act: model slots, locks and looked-up tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The number of conversations that want to ask each model.
    pub models: BTreeMap<String, usize>,
    /// The locks that calls wait for.
    pub locks: BTreeSet<String>,
    /// The names of tools that must be looked up.
    pub belts: BTreeSet<String>,
    /// Whether a parked run has work to go on with, for which it needs a slot again.
    pub slot: bool,
}

/// The resources the run holds and has not used yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grants {
    /// The number of free slots by model.
    pub models: BTreeMap<String, usize>,
    /// The locks it holds.
    pub locks: BTreeSet<String>,
    /// The tools that looked-up names resolve to.
    pub belts: BTreeMap<String, Vec<Arc<ToolInfo>>>,
    /// Whether it holds a slot among the runs of its kind; only a parked run works without one.
    pub slot: bool,
}

/// The steps being collected in one pass. Amounts claimed in a pass count against each other.
pub(crate) struct Plan {
    pub(crate) at: Millis,
    pub(crate) budget: Budget,
    pub(super) steps: Vec<Step>,
    pub(super) needs: Needs,
    pub(super) asked: BTreeMap<String, usize>,
}

impl Plan {
    pub(crate) fn record(&mut self, kind: EventKind) {
        self.steps.push(Step { event: Event { at: self.at, kind }, then: None });
    }

    pub(crate) fn act(&mut self, kind: EventKind, effect: Effect) {
        if let Effect::Ask(question) = &effect {
            *self.asked.entry(question.model.clone()).or_default() += 1;
        }
        self.steps.push(Step { event: Event { at: self.at, kind }, then: Some(effect) });
    }

    /// Returns the number of times this pass asks the model.
    pub(crate) fn asked(&self, alias: &str) -> usize {
        self.asked.get(alias).copied().unwrap_or(0)
    }

    pub(crate) fn need_model(&mut self, alias: &str, turns: usize) {
        *self.needs.models.entry(alias.to_owned()).or_default() += turns;
    }

    pub(crate) fn need_belt(&mut self, name: &str) {
        self.needs.belts.insert(name.to_owned());
    }

    pub(crate) fn need_lock(&mut self, name: &str) {
        self.needs.locks.insert(name.to_owned());
    }

    /// Returns the positions of the agents that are handed work in this pass.
    pub(crate) fn delegated_to(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().filter_map(|step| {
            let EventKind::DelegationStarted { worker, .. } = &step.event.kind else { return None };
            Some(*worker)
        })
    }

    pub(crate) fn recorded(&self, is: impl Fn(&EventKind) -> bool) -> usize {
        self.steps.iter().filter(|step| is(&step.event.kind)).count()
    }
}
