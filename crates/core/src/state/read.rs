//! A run and its conversations as the other rooms read them: one method per field.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::decisions::chore::Chore;
use crate::state::budget::{Budget, Claim};
use crate::state::chore_under_way::ChoreUnderWay;
use crate::state::conversation::all::Conversations;
use crate::state::conversation::{Conversation, Phase, Used};
use crate::state::flow::Flow;
use crate::state::gate::ReviewState;
use crate::state::instances::Instance;
use crate::state::memory::Memory;
use crate::state::run::{Ended, Run, Timer, Wants};
use crate::state::stopwatch::Stopwatch;
use crate::state::unfinished::Unfinished;
use consort_spec::catalog::{Belt, Models, ToolInfo};
use consort_spec::event::{CancelMode, Directive, End, Origin};
use consort_spec::id::{Id, Millis, Place};
use consort_spec::message::{Message, Spent, Usage};
use consort_spec::owner::Owner;
use consort_spec::schema::Schema;
use consort_spec::spec::Spec;
use consort_spec::text::Text;

impl Run {
    /// Returns the number of times the run was adopted.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the version that its events keep to.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Returns whether answers or arguments are checked against schemas in this run, or expressions evaluated.
    pub fn validates(&self) -> bool {
        self.checks || !self.belt.is_empty()
    }

    /// Returns the owner of the run.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Returns the owner that sees the run: its own, or that of what another ensemble was given to use.
    pub fn seen_by(&self) -> &Owner {
        self.spec.seen_by(&self.owner)
    }

    /// Returns the spec.
    pub fn spec(&self) -> &Arc<Spec> {
        &self.spec
    }

    /// Returns the budget: the amounts used and set aside.
    pub fn budget(&self) -> &Budget {
        &self.spending.budget
    }

    /// Returns the number of calls of which it is not known whether they happened.
    pub fn in_doubt(&self) -> usize {
        self.spending.in_doubt
    }

    /// Returns the usage of the run as far as it is known; an unknown amount counts as the amount that was set
    /// aside for it.
    pub fn spent(&self) -> Spent {
        let Used { usage, input_cost, output_cost, .. } = self.spending.totals;
        let known = Spent { usage, input_cost, output_cost };
        let tokens = self.spending.budget.tokens_committed().saturating_sub(known.claim().tokens);
        let cost = self.spending.budget.cost_committed().saturating_sub(known.claim().cost);
        let usage = Usage { output: usage.output.saturating_add(tokens), ..usage };
        Spent { usage, output_cost: output_cost.saturating_add(cost), ..known }
    }

    /// Returns the conversations under way.
    pub fn conversations(&self) -> &Conversations {
        &self.conversations
    }

    /// Returns the id of this execution.
    pub fn ensemble_id(&self) -> &str {
        &self.ensemble_id
    }

    /// Returns the end of the run, if it has ended.
    pub fn end(&self) -> Option<&End> {
        self.halt.end.as_ref()
    }

    /// Returns the total usage of the run.
    pub fn totals(&self) -> &Used {
        &self.spending.totals
    }

    /// Returns the run its first events were taken from.
    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.lineage.origin.as_ref()
    }

    /// Returns the number of its first events that are copies.
    pub(crate) fn copied(&self) -> u64 {
        self.lineage.copied
    }

    /// Returns the tasks that ended in the run its first events were taken from.
    pub(crate) fn inherited(&self) -> &BTreeSet<usize> {
        &self.lineage.inherited
    }

    /// Returns the name of the requester who gave a task another output when this run was made.
    pub(crate) fn output_edited_by(&self, task: usize) -> Option<&str> {
        self.lineage.edited.get(&task).map(String::as_str)
    }

    /// Returns the models it may ask, by alias.
    pub(crate) fn models(&self) -> &Models {
        &self.models
    }

    /// Returns the tools it may call, by name.
    pub(crate) fn belt(&self) -> &Belt {
        &self.belt
    }

    /// Returns the positions of the agents that were handed work, in order.
    pub(crate) fn delegated_to(&self) -> &[usize] {
        &self.delegated_to
    }

    /// Returns the progress of the tasks as a whole.
    pub(crate) fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Returns the instances that are over, by their places.
    pub(crate) fn instances(&self) -> &BTreeMap<Place, Instance> {
        &self.instances
    }

    /// Returns the conversations that can go on, by the resource they need first.
    pub(crate) fn wants(&self) -> &Wants {
        &self.wants
    }

    /// Returns the timers, the earliest first.
    pub(crate) fn timers(&self) -> &BTreeSet<(Millis, Timer)> {
        &self.timers
    }

    /// Returns the tasks that are over, by position.
    pub(crate) fn tasks(&self) -> &BTreeMap<usize, Box<Ended>> {
        &self.tasks
    }

    /// Returns the positions of the tasks that have an output, in the order in which they ended.
    pub(crate) fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// Returns the number of tasks that failed.
    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    /// Returns whether the output of a task is a cut answer.
    pub(crate) fn truncated(&self) -> bool {
        self.truncated > 0
    }

    /// Returns the results of which models were shown only the beginning, by handle.
    pub(crate) fn cut(&self) -> &BTreeMap<String, Text> {
        &self.cut
    }

    /// Returns all reviews, by number.
    pub(crate) fn reviews(&self) -> &[ReviewState] {
        &self.reviews.all
    }

    /// Returns the number of reviews that were ever opened.
    pub(crate) fn reviews_opened(&self) -> usize {
        self.reviews.all.len()
    }

    /// Returns the numbers of the reviews that are still open.
    pub(crate) fn open_reviews(&self) -> &BTreeSet<u32> {
        &self.reviews.open
    }

    /// Returns whether it gave up its slot because only reviews are open.
    pub(crate) fn parked(&self) -> bool {
        self.reviews.parked
    }

    /// Returns all directives to its agents, by number.
    pub(crate) fn directives(&self) -> &[Directive] {
        &self.directives
    }

    /// Returns the amounts that calls under way may take out of the budget.
    pub(crate) fn lent(&self) -> &BTreeMap<Id, Claim> {
        &self.spending.lent
    }

    /// Returns the models without a price that were asked.
    pub(crate) fn unpriced(&self) -> &BTreeSet<String> {
        &self.spending.unpriced
    }

    /// Returns the additional state of a run that is a turn of a chat.
    pub(crate) fn chat(&self) -> &super::chat::State {
        &self.chat
    }

    /// Returns the number of model and tool calls that its owner has under way.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Returns the time at which it was accepted.
    pub(crate) fn accepted_at(&self) -> Millis {
        self.accepted_at
    }

    /// Returns the time at which it first had an owner.
    pub(crate) fn began_at(&self) -> Option<Millis> {
        self.began_at
    }

    /// Returns the time at which its first task began.
    pub(crate) fn started_at(&self) -> Option<Millis> {
        self.started_at
    }

    /// Returns the time at which its last event was decided.
    pub fn at(&self) -> Millis {
        self.at
    }

    /// Returns the number of events applied so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Returns the time it has worked.
    pub(crate) fn clock(&self) -> &Stopwatch {
        &self.clock
    }

    /// Returns the model that every later call goes to, if it was switched.
    pub(crate) fn switched(&self) -> Option<&String> {
        self.switched.as_ref()
    }

    /// Returns the mode in which the run was asked to stop.
    pub(crate) fn cancel_mode(&self) -> Option<CancelMode> {
        self.halt.cancel
    }

    /// Returns whether nothing new may begin until it is resumed.
    pub(crate) fn paused(&self) -> bool {
        self.halt.paused
    }

    /// Returns the end that it winds down to, and the mode in which it stops.
    pub(crate) fn stop(&self) -> Option<&(End, CancelMode)> {
        self.halt.stop.as_ref()
    }
}

impl Conversation {
    /// Returns the title: a subtask's label or a task's name.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the position of the task whose agent it is.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Returns the number of model calls answered so far, over all attempts.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Returns the messages so far.
    pub fn messages(&self) -> &Arc<Vec<Message>> {
        &self.messages
    }

    /// Returns the usage so far.
    pub fn used(&self) -> &Used {
        &self.used
    }

    /// Returns the number of times its work was handed on from agent to agent.
    pub(crate) fn delegations(&self) -> u32 {
        self.delegations
    }

    /// Returns the step that it has reached.
    pub(crate) fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Returns the tools it was given.
    pub(crate) fn tools(&self) -> &Arc<[Arc<ToolInfo>]> {
        &self.tools
    }

    /// Returns whether its last permitted round has been asked.
    pub(crate) fn last(&self) -> bool {
        self.last
    }

    /// Returns the number of earlier attempts at the question under way.
    pub(crate) fn attempt(&self) -> u32 {
        self.asking.attempt
    }

    /// Returns the position in the list of fallbacks.
    pub(crate) fn fallback(&self) -> usize {
        self.asking.fallback
    }

    /// Returns the alias that is being or was last asked.
    pub(crate) fn model(&self) -> &String {
        &self.asking.model
    }

    /// Returns the time at which the model was asked last.
    pub(crate) fn since(&self) -> Millis {
        self.asking.since
    }

    /// Returns the part of the budget that was set aside for the model call under way.
    pub(crate) fn claim(&self) -> Claim {
        self.asking.claim
    }

    /// Returns the chore begun last, under way or over.
    pub(crate) fn chore_under_way(&self) -> Option<&ChoreUnderWay> {
        self.chores.duty.as_ref()
    }

    /// Chores that are over in this attempt.
    pub(crate) fn chores(&self) -> &BTreeSet<Chore> {
        &self.chores.done
    }

    /// Returns the answer, while the agent is asked what could be better.
    pub(crate) fn reflecting(&self) -> Option<&Text> {
        self.reflection.answer.as_ref()
    }

    /// Returns the agent's critique of its answer.
    pub(crate) fn critique(&self) -> Option<&Text> {
        self.reflection.critique.as_ref()
    }

    /// Returns the numbers of the directives it has read.
    pub(crate) fn directives(&self) -> &BTreeSet<u32> {
        &self.directives
    }

    /// Returns the number of answers that were sent back because they broke their schema.
    pub(crate) fn schema_failures(&self) -> u32 {
        self.schema_failures
    }

    /// Returns the reviewer's feedback and the output before it, when the work is done again.
    pub(crate) fn revision(&self) -> Option<&(Text, Text)> {
        self.review.revision.as_ref()
    }

    /// Returns the number of times a reviewer had the work done again.
    pub(crate) fn rejections(&self) -> u32 {
        self.review.rejections
    }

    /// Returns the parts of replies that were no complete answer.
    pub(crate) fn unfinished(&self) -> &Unfinished {
        &self.unfinished
    }

    /// Returns the schema of its result, if it owes a structured one.
    pub(crate) fn schema(&self) -> Option<&Schema> {
        self.expected_result.schema.as_ref()
    }

    /// Returns the structured result it has given.
    pub(crate) fn finished(&self) -> Option<&Text> {
        self.expected_result.finished.as_ref()
    }

    /// Returns the number of structured results that did not fit.
    pub(crate) fn unfit(&self) -> u32 {
        self.expected_result.unfit
    }

    /// Returns the mistakes of the last result that did not fit.
    pub(crate) fn violations(&self) -> &[String] {
        &self.expected_result.violations
    }

    /// Returns the number of times it was reminded of the way to end.
    pub(crate) fn nudges(&self) -> u32 {
        self.expected_result.nudges
    }

    /// Returns the memory entries of this conversation and of those before it.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the tool whose same failing call the model made again and again, and the number of times.
    pub(crate) fn notice(&self) -> Option<&(String, u32)> {
        self.repetition.notice.as_ref()
    }
}
