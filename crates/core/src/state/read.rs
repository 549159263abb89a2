//! A run and its conversations as the other rooms read them: one method per thing
//! that is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::decisions::chore::Chore;
use crate::event::{CancelMode, Directive, End, Origin};
use crate::id::{Id, Millis};
use crate::message::{Message, Spent, Usage};
use crate::owner::Owner;
use crate::requests::catalog::{Belt, Models, ToolInfo};
use crate::requests::spec::Spec;
use crate::schema::Schema;
use crate::state::budget::{Budget, Claim};
use crate::state::conversation::{Conversation, Phase, Used};
use crate::state::duty::Duty;
use crate::state::gate::ReviewState;
use crate::state::graph::Graph;
use crate::state::memory::Memory;
use crate::state::run::{Ended, Run, Timer, Wants};
use crate::state::stopwatch::Stopwatch;
use crate::state::unfinished::Unfinished;
use crate::text::Text;

impl Run {
    /// Returns the number of times the run was adopted.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether answers or arguments are checked against schemas in this run.
    pub fn validates(&self) -> bool {
        !self.belt.is_empty() || self.spec.tasks.iter().any(|task| task.output_schema.is_some())
    }

    /// Returns the owner of the run.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Returns the owner that sees the run: its own, or that of what another ensemble was given to use.
    pub fn seen_by(&self) -> &Owner {
        self.spec.seen_by(&self.owner)
    }

    /// What was asked for.
    pub fn spec(&self) -> &Arc<Spec> {
        &self.spec
    }

    /// Returns the budget: the amounts used and set aside.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Calls of which nobody knows whether they happened.
    pub fn in_doubt(&self) -> usize {
        self.in_doubt
    }

    /// Returns the usage of the run as far as it is known; an unknown amount counts as the amount that was set
    /// aside for it.
    pub fn spent(&self) -> Spent {
        let Used { usage, input_cost, output_cost, .. } = self.totals;
        let known = Spent { usage, input_cost, output_cost };
        let tokens = self.budget.tokens_committed().saturating_sub(known.claim().tokens);
        let cost = self.budget.cost_committed().saturating_sub(known.claim().cost);
        let usage = Usage { output: usage.output.saturating_add(tokens), ..usage };
        Spent { usage, output_cost: output_cost.saturating_add(cost), ..known }
    }

    /// The conversations under way.
    pub fn conversations(&self) -> &BTreeMap<Id, Conversation> {
        &self.conversations
    }

    /// Returns the id of this execution.
    pub fn ensemble_id(&self) -> &str {
        &self.ensemble_id
    }

    /// Returns the end of the run, if it has ended.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Returns the total usage of the run.
    pub fn totals(&self) -> &Used {
        &self.totals
    }

    /// The run its first events were taken from.
    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The number of its first events that are copies.
    pub(crate) fn copied(&self) -> u64 {
        self.copied
    }

    /// Tasks that ended in the run its first events were taken from.
    pub(crate) fn inherited(&self) -> &BTreeSet<usize> {
        &self.inherited
    }

    /// The models it may ask, by alias.
    pub(crate) fn models(&self) -> &Models {
        &self.models
    }

    /// The tools it may call, by name.
    pub(crate) fn belt(&self) -> &Belt {
        &self.belt
    }

    /// The agents that were handed work, in order.
    pub(crate) fn errands(&self) -> &[usize] {
        &self.errands
    }

    /// The order of the tasks, as far as they have come.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The conversations that can go on, by the resource they need first.
    pub(crate) fn wants(&self) -> &Wants {
        &self.wants
    }

    /// What is due, the earliest first.
    pub(crate) fn timers(&self) -> &BTreeSet<(Millis, Timer)> {
        &self.timers
    }

    /// Tasks that are over, by position.
    pub(crate) fn tasks(&self) -> &BTreeMap<usize, Ended> {
        &self.tasks
    }

    /// Positions of the tasks that have an output, in the order they ended.
    pub(crate) fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// The number of tasks that failed.
    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    /// Results that models were shown only the beginning of, by handle.
    pub(crate) fn cut(&self) -> &BTreeMap<String, Text> {
        &self.cut
    }

    /// All reviews, by number.
    pub(crate) fn reviews(&self) -> &[ReviewState] {
        &self.reviews
    }

    /// Numbers of the reviews nobody has decided.
    pub(crate) fn open_reviews(&self) -> &BTreeSet<u32> {
        &self.open_reviews
    }

    /// Whether its slot is somebody else's while only people can help it on.
    pub(crate) fn parked(&self) -> bool {
        self.parked
    }

    /// Everything that was said to its agents, by number.
    pub(crate) fn directives(&self) -> &[Directive] {
        &self.directives
    }

    /// What calls under way may take out of the budget.
    pub(crate) fn lent(&self) -> &BTreeMap<Id, Claim> {
        &self.lent
    }

    /// Models without a price that were asked.
    pub(crate) fn unpriced(&self) -> &BTreeSet<String> {
        &self.unpriced
    }

    /// What there is beside, when it is a turn of a chat.
    pub(crate) fn chat(&self) -> &super::chat::State {
        &self.chat
    }

    /// Model and tool calls its owner has under way.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// When it was accepted.
    pub(crate) fn accepted_at(&self) -> Millis {
        self.accepted_at
    }

    /// When it first had an owner.
    pub(crate) fn began_at(&self) -> Option<Millis> {
        self.began_at
    }

    /// When its first task began.
    pub(crate) fn started_at(&self) -> Option<Millis> {
        self.started_at
    }

    /// When its last event was decided.
    pub(crate) fn at(&self) -> Millis {
        self.at
    }

    /// The number of events applied so far.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// The time it has worked.
    pub(crate) fn clock(&self) -> &Stopwatch {
        &self.clock
    }

    /// The model every later call goes to, if somebody said so.
    pub(crate) fn switched(&self) -> Option<&String> {
        self.switched.as_ref()
    }

    /// How soon somebody wants it to stop.
    pub(crate) fn cancel_mode(&self) -> Option<CancelMode> {
        self.cancel
    }

    /// Whether nothing new may begin until it is resumed.
    pub(crate) fn paused(&self) -> bool {
        self.paused
    }

    /// The end it winds down to, and how soon.
    pub(crate) fn stop(&self) -> Option<&(End, CancelMode)> {
        self.stop.as_ref()
    }
}

impl Conversation {
    /// A subtask's label; a task's is its name.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The position of the task whose agent it is.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Model calls answered so far, over all attempts.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The conversation so far.
    pub fn messages(&self) -> &Arc<Vec<Message>> {
        &self.messages
    }

    /// What it has used.
    pub fn used(&self) -> &Used {
        &self.used
    }

    /// How often its work was handed on from agent to agent.
    pub(crate) fn delegations(&self) -> u32 {
        self.delegations
    }

    /// What it waits for, or wants.
    pub(crate) fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The tools it was given.
    pub(crate) fn tools(&self) -> &Arc<[Arc<ToolInfo>]> {
        &self.tools
    }

    /// Whether its last permitted round has been asked.
    pub(crate) fn last(&self) -> bool {
        self.last
    }

    /// The number of earlier attempts at the question under way.
    pub(crate) fn attempt(&self) -> u32 {
        self.asking.attempt
    }

    /// How far down the list of fallbacks it is.
    pub(crate) fn fallback(&self) -> usize {
        self.asking.fallback
    }

    /// The alias that is being or was last asked.
    pub(crate) fn model(&self) -> &String {
        &self.asking.model
    }

    /// The time at which the model was asked last.
    pub(crate) fn since(&self) -> Millis {
        self.asking.since
    }

    /// What was set aside for the model call under way.
    pub(crate) fn claim(&self) -> Claim {
        self.asking.claim
    }

    /// The chore begun last, under way or over.
    pub(crate) fn duty(&self) -> Option<&Duty> {
        self.chores.duty.as_ref()
    }

    /// Chores that are over in this attempt.
    pub(crate) fn chores(&self) -> &BTreeSet<Chore> {
        &self.chores.done
    }

    /// The answer, while the agent is asked what could be better.
    pub(crate) fn reflecting(&self) -> Option<&Text> {
        self.reflection.answer.as_ref()
    }

    /// What the agent said could be better.
    pub(crate) fn critique(&self) -> Option<&Text> {
        self.reflection.critique.as_ref()
    }

    /// Numbers of the directives it has read.
    pub(crate) fn directives(&self) -> &BTreeSet<u32> {
        &self.directives
    }

    /// Answers sent back because they broke their schema.
    pub(crate) fn schema_failures(&self) -> u32 {
        self.schema_failures
    }

    /// What a reviewer said, and the output before, when it is done again.
    pub(crate) fn revision(&self) -> Option<&(Text, Text)> {
        self.review.revision.as_ref()
    }

    /// How often a reviewer had it done again.
    pub(crate) fn rejections(&self) -> u32 {
        self.review.rejections
    }

    /// What it keeps of replies that were no answer.
    pub(crate) fn unfinished(&self) -> &Unfinished {
        &self.unfinished
    }

    /// What its result must look like, if it owes a structured one.
    pub(crate) fn schema(&self) -> Option<&Schema> {
        self.owed.schema.as_ref()
    }

    /// The structured result it has given.
    pub(crate) fn finished(&self) -> Option<&Text> {
        self.owed.finished.as_ref()
    }

    /// Structured results that did not fit.
    pub(crate) fn unfit(&self) -> u32 {
        self.owed.unfit
    }

    /// What was wrong with the last of them.
    pub(crate) fn violations(&self) -> &[String] {
        &self.owed.violations
    }

    /// How often it was reminded of how it ends.
    pub(crate) fn nudges(&self) -> u32 {
        self.owed.nudges
    }

    /// What it and those before it have written down.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// A tool it calls again and again in vain, and how often.
    pub(crate) fn notice(&self) -> Option<&(String, u32)> {
        self.repetition.notice.as_ref()
    }
}
