//! A run as a fold over its events. [`Run::apply`] never fails and never decides; it keeps the indexes that
//! `next` needs (ready tasks, conversations with a next step, timers, calls in flight), so the cost of
//! `next` depends on the runnable work and not on the size of the run. Replaying a log rebuilds exactly the
//! same value.

mod calls;
mod parts;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::decisions::prompt;
use crate::state::budget::{Budget, Claim, Limits};
use crate::state::calls::CallState;
use crate::state::conversation::all::Conversations;
use crate::state::conversation::{Conversation, Phase, Used, Want};
pub(crate) use crate::state::ended::{Ended, TaskOutcome};
use crate::state::flow::Flow;
use crate::state::gate::ReviewState;
use crate::state::instances::Instance;
use crate::state::stopwatch::Stopwatch;
use crate::state::waiting::WaitingFor;
use consort_spec::catalog::{Belt, Models, ToolInfo};
use consort_spec::dynamic;
use consort_spec::event::{CancelMode, Directive, End, Event, EventKind};
use consort_spec::id::{Id, Millis, Place};
use consort_spec::message::Spent;
use consort_spec::owner::Owner;
use consort_spec::spec::{Spec, Task, Workflow};
use consort_spec::text::Text;

pub(in crate::state) use parts::{Halt, Lineage, Reviews, Spending};

/// The state of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    pub(super) ensemble_id: String,
    /// The version that its events keep to.
    pub(super) version: u32,
    pub(super) owner: Owner,
    pub(super) lineage: Lineage,
    pub(super) spec: Arc<Spec>,
    pub(super) models: Models,
    pub(super) belt: Belt,
    /// The tools that looked-up names resolved to when their tasks began, by task.
    pub(super) composed: BTreeMap<usize, Vec<Arc<ToolInfo>>>,
    /// The names of the tools it was accepted with, including names that look like a provider's.
    pub(super) own: BTreeSet<String>,
    /// The positions of the agents that were handed work, in order.
    pub(super) delegated_to: Vec<usize>,
    /// The progress of its tasks as a whole.
    pub(super) flow: Flow,
    /// The tasks of instances that are done for an item, with their texts filled in.
    pub(super) made: BTreeMap<Place, Arc<Task>>,
    /// Instances that are over.
    pub(super) instances: BTreeMap<Place, Instance>,
    /// Conversations under way, of tasks and subtasks alike: recursion is data.
    pub(super) conversations: Conversations,
    /// The conversations that can go on, by the resource they need for it.
    pub(super) wants: Wants,
    /// The times at which the run must be looked at again without a request.
    pub(super) timers: BTreeSet<(Millis, Timer)>,
    /// Tasks that are over, by position, and in the order they ended. In boxes: a map has room for eleven at once, and
    /// most runs have fewer tasks.
    pub(super) tasks: BTreeMap<usize, Box<Ended>>,
    pub(super) outputs: Vec<usize>,
    pub(super) failed: usize,
    /// The number of tasks whose output is a cut answer.
    pub(super) truncated: usize,
    /// Whether a task has a schema or an expression.
    pub(super) checks: bool,
    /// The full results of calls of which models were shown only the beginning.
    pub(super) cut: BTreeMap<String, Text>,
    pub(super) reviews: Reviews,
    pub(super) directives: Vec<Directive>,
    pub(super) spending: Spending,
    /// The additional state of a chat's turn.
    pub(super) chat: super::chat::State,
    /// The number of model and tool calls that this epoch's owner has under way.
    pub(super) in_flight: usize,
    pub(super) epoch: u64,
    pub(super) accepted_at: Millis,
    /// The time at which it first had an owner; until then it waited in the queue.
    pub(super) began_at: Option<Millis>,
    pub(super) started_at: Option<Millis>,
    pub(super) at: Millis,
    /// The number of events applied so far, which is the number of the next one.
    pub(super) events: u64,
    pub(super) clock: Stopwatch,
    /// The reason why nothing happens, and the time since which it is the reason.
    pub(super) waits: Option<(WaitingFor, Millis)>,
    /// The conversations whose model was asked again after a failure, now or earlier: few of all, which need not be
    /// looked through after every event.
    pub(super) retried: BTreeSet<Id>,
    /// The alias of the model that every later call goes to.
    pub(super) switched: Option<String>,
    pub(super) halt: Halt,
}

/// Conversations by what they need before they can go on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wants {
    pub(crate) attention: BTreeSet<Id>,
    pub(crate) models: BTreeMap<String, BTreeSet<Id>>,
    pub(crate) locks: BTreeMap<String, BTreeSet<Id>>,
}

/// An action that is due at a certain time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    Review(u32),
    Approval(u32),
    Client(Id),
    Retry(Id),
}

impl Run {
    /// Rebuilds a run from its log.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Run {
        let mut run = Run::default();
        events.into_iter().for_each(|event| run.apply(event));
        run
    }

    /// Moves the run past one event.
    pub fn apply(&mut self, event: &Event) {
        let before = self.at;
        self.at = event.at;
        self.events += 1;
        match &event.kind {
            EventKind::RunAccepted { .. } => self.accepted(&event.kind),
            EventKind::RunAdopted { epoch, .. } => self.adopted(*epoch, before),
            EventKind::RunForked { origin, edited, outputs } => self.forked(origin, edited.as_deref(), outputs),
            EventKind::RunStarted => self.started_at = Some(event.at),
            EventKind::BeltComposed { task, tools } => self.belt_composed(*task, tools),
            EventKind::ExpressionEvaluated { of, key, result } => self.flow.evaluated(&self.spec, of, *key, result),
            EventKind::TaskStarted { conversation } => self.started(conversation),
            EventKind::PromptBuilt { conversation, system, user } => self.opened_with(conversation, system, user),
            EventKind::ChoreBegun { conversation, chore, calls } => self.chore_begun(conversation, *chore, calls),
            EventKind::ReflectionBegun { conversation } => self.change(conversation, Conversation::reflect),
            EventKind::ModelAsked { conversation, model, claim, .. } => self.asked(conversation, model, claim),
            EventKind::ModelRetried { conversation, attempt, claim, .. } => self.retried(conversation, *attempt, claim),
            EventKind::ModelReplied { conversation, reply, usage, latency_ms, completeness } => {
                self.replied(conversation, (reply, *completeness), usage.as_ref(), *latency_ms);
            }
            EventKind::AnswerTruncated { conversation, then, in_call } => self.truncate(conversation, *then, *in_call),
            EventKind::AnswerEmpty { conversation, then } => self.said_nothing(conversation, *then),
            EventKind::UsageCounted { conversation, used } => self.settle(conversation, used),
            EventKind::ModelFailed { conversation, failure, then, .. } => {
                self.model_failed(conversation, failure.charged, then, &failure.to_string())
            }
            EventKind::HistoryDropped { conversation, exchanges } => self.exchanges_dropped(conversation, *exchanges),
            EventKind::OutputRejected { conversation, violations } => self.sent_back(conversation, violations),
            EventKind::LastRoundBegun { conversation } => self.change(conversation, Conversation::last_round),
            EventKind::LoopNoticed { conversation, tool, times } => self.loop_noticed(conversation, tool, *times),
            EventKind::ToolDispatched { call, lent } => self.dispatched(call, lent.as_ref()),
            EventKind::SubtaskStarted { .. } => self.subtask_started(&event.kind),
            EventKind::FinishDemanded { conversation } => self.change(conversation, Conversation::nudge),
            EventKind::DelegationStarted { call, worker, task, system, user } => {
                self.delegated(call, *worker, task);
                self.opened_with(call, system, user);
            }
            EventKind::DelegationEnded { call, error } => self.delegation_ended(call, error.as_deref()),
            EventKind::DelegationRefused { call, .. } => self.claim_calls(call),
            EventKind::CallCharged { call, spent } => self.charged(call, spent),
            EventKind::ToolReturned { call, outcome, duration_ms, cause } => {
                self.returned(call, (outcome, cause), *duration_ms)
            }
            EventKind::FileChanged { .. } => {}
            EventKind::ReviewOpened { review, conversation, timing, due, on_timeout } => {
                self.opened(*review, ReviewState::new((conversation, *timing), event.at, *due, *on_timeout));
            }
            EventKind::ReviewDecided { review, decision, by } => self.decided(*review, decision, by),
            EventKind::ReviewTimedOut { review, action } => self.timed_out(*review, *action),
            EventKind::ReviewClosed { review } => self.closed(*review),
            EventKind::TaskCompleted { conversation } => self.completed(conversation),
            EventKind::TaskFailed { conversation, reason, cancelled, .. } => {
                self.task_failed(conversation, reason, *cancelled)
            }
            EventKind::TaskSkipped { conversation, reason, cause } => self.skipped(conversation, reason, *cause),
            EventKind::DirectiveGiven { directive } => self.directives.push(directive.clone()),
            EventKind::DirectiveDelivered { directive, conversation, .. } => self.delivered(*directive, conversation),
            EventKind::ModelSwitched { models, .. } => self.model_switched(models),
            EventKind::CancelRequested { mode, .. } => self.cancelled(*mode),
            EventKind::RunPaused { .. } => self.halt.paused = true,
            EventKind::RunResumed { .. } => self.halt.paused = false,
            EventKind::BudgetRaised { limits, .. } => self.budget_raised(limits),
            EventKind::BudgetExceeded { .. } => self.over_budget(),
            EventKind::Chat(kind) => self.chat_applied(kind),
            EventKind::RunEnded { end } => self.halt.end = Some(end.clone()),
        }
        self.derive(event);
    }

    /// Brings everything up to date that follows from the rest of the state.
    fn derive(&mut self, event: &Event) {
        self.note(event);
        self.park(&event.kind);
        self.set_clock();
        self.note_wait(event);
    }

    /// Starts or stops the clock for working time, which runs while the run works.
    fn set_clock(&mut self) {
        let working = self.works();
        self.clock.set(working, self.at);
    }

    /// Returns true when no event can follow.
    pub fn ended(&self) -> bool {
        self.halt.end.is_some()
    }

    /// Returns true when the work under way should be dropped.
    pub fn stopping(&self) -> bool {
        self.halt.stop.as_ref().is_some_and(|(_, mode)| *mode == CancelMode::Now)
    }

    fn accepted(&mut self, kind: &EventKind) {
        let EventKind::RunAccepted { ensemble_id, spec, models, belt, copied, owner, version } = kind else { return };
        self.version = *version;
        self.lineage.copied = *copied;
        self.owner = owner.clone();
        ensemble_id.clone_into(&mut self.ensemble_id);
        self.take_spec(spec);
        self.models = models.clone();
        self.belt = belt.clone();
        self.own = belt.keys().cloned().collect();
        self.flow = Flow::of(spec);
        self.spending.budget = Budget::new(&spec.limits);
        self.accepted_at = self.at;
    }

    pub(super) fn take_spec(&mut self, spec: &Arc<Spec>) {
        self.checks = spec.checks();
        self.spec = spec.clone();
    }

    fn adopted(&mut self, epoch: u64, before: Millis) {
        self.epoch = epoch;
        self.began_at = self.began_at.or(Some(self.at));
        self.clock.set(false, before);
        self.orphan();
    }

    /// Marks every call under way as without an owner.
    pub(crate) fn orphan(&mut self) {
        self.in_flight = 0;
        let ids: Vec<Id> = self.conversations.keys().cloned().collect();
        for id in ids {
            let claim = self.conversations.get_mut(&id).and_then(Conversation::orphan);
            if let Some(claim) = claim {
                self.spending.budget.settle(&claim, &claim);
            }
            self.change(&id, |_turn| {});
        }
    }

    fn started(&mut self, id: &Id) {
        if !self.conversations.contains_key(id) {
            self.open_conversation(id);
        }
        let at = self.at;
        let tools = self.spec.tasks.get(id.task_index()).map(|task| self.tools_of(id.task_index(), task));
        self.change(id, |conversation| {
            conversation.tools = tools.unwrap_or_default();
            conversation.used.started_at = at;
            if !matches!(conversation.phase, Phase::Failing(_)) {
                conversation.phase = Phase::Prompt;
            }
        });
    }

    pub(crate) fn open_conversation(&mut self, id: &Id) {
        let spec = self.spec.clone();
        self.flow.start(&spec, id.site());
        let unfit = self.make_task(id.site()).err();
        let Some(task) = spec.tasks.get(id.task_index()) else { return };
        let tools = self.tools_of(id.task_index(), task);
        let conversation = Conversation::new(&task.name, id.task_index(), tools, self.at);
        self.conversations.insert(id.clone(), conversation);
        unfit
            .into_iter()
            .for_each(|failure| self.change(id, |conversation| conversation.phase = Phase::Failing(failure)));
    }

    fn belt_composed(&mut self, task: usize, tools: &[Arc<ToolInfo>]) {
        let anew = tools.iter().filter(|tool| !self.own.contains(&tool.name));
        self.belt.extend(anew.map(|tool| (tool.name.clone(), tool.clone())));
        self.composed.insert(task, tools.to_vec());
    }

    /// Returns whether a name is looked up when its task begins.
    pub(crate) fn is_looked_up(&self, name: &str) -> bool {
        dynamic::is_dynamic(name) && !self.own.contains(name)
    }

    /// Returns the tools of a task: those it names, and those its names resolve to.
    pub(crate) fn tools_of(&self, position: usize, task: &Task) -> Arc<[Arc<ToolInfo>]> {
        let named = task.tools.iter().filter(|name| !self.is_looked_up(name));
        let is_named = |tool: &&Arc<ToolInfo>| !self.is_looked_up(&tool.name) && task.tools.contains(&tool.name);
        let composed = self.composed.get(&position).into_iter().flatten().filter(|tool| !is_named(tool));
        named.filter_map(|name| self.belt.get(name)).chain(composed).cloned().collect()
    }

    fn dispatched(&mut self, call: &Id, lent: Option<&Claim>) {
        self.in_flight += 1;
        self.claim_calls(call);
        self.set(call, CallState::Dispatched);
        // An amount that a dead owner lent to the same call is still lent.
        if let Some(lent) = lent.filter(|_| !self.spending.lent.contains_key(call)) {
            let _fits = self.spending.budget.claim(lent);
            self.spending.lent.insert(call.clone(), *lent);
        }
    }

    /// Charges the usage that another ensemble reported for a call, up to the amount that the call was lent;
    /// the run does not pay for more than that.
    fn charged(&mut self, call: &Id, spent: &Spent) {
        let lent = self.spending.lent.remove(call).unwrap_or_default();
        let most = |used: u64, lent: u64| if lent == 0 { used } else { used.min(lent) };
        let used = spent.claim();
        let used = Claim { tokens: most(used.tokens, lent.tokens), cost: most(used.cost, lent.cost) };
        self.spending.budget.settle(&lent, &used);
        if let Some((conversation, _)) = call.parent() {
            self.count(&conversation, |used| used.absorb(spent));
        }
    }

    fn subtask_started(&mut self, kind: &EventKind) {
        let EventKind::SubtaskStarted { call, title, system, user, tools, schema } = kind else { return };
        self.subtask(call, title, tools);
        schema.iter().for_each(|schema| self.change(call, |conversation| conversation.owe(schema)));
        self.opened_with(call, system, user);
    }

    fn subtask(&mut self, call: &Id, title: &str, tools: &[String]) {
        let _fits = self.spending.budget.claim_subtask();
        self.claim_calls(call);
        let tools = tools.iter().filter_map(|name| self.belt.get(name)).cloned().collect();
        let (worker, delegations) = self.above(call);
        let mut conversation = Conversation::new(title, worker, tools, self.at);
        conversation.delegations = delegations;
        conversation.memory = self.memory_above(call);
        self.set(call, CallState::Delegated);
        self.conversations.insert(call.clone(), conversation);
    }

    /// Returns the worker of the conversation in which a call was made, and the number of times its work was
    /// handed on.
    fn above(&self, call: &Id) -> (usize, u32) {
        let parent = call.parent().and_then(|(parent, _)| self.conversations.get(&parent));
        parent.map_or((call.task_index(), 0), |parent| (parent.worker, parent.delegations))
    }

    fn delegated(&mut self, call: &Id, worker: usize, task: &str) {
        self.delegated_to.push(worker);
        self.subtask(call, task, &[]);
        let tools = self.spec.tasks.get(worker).map(|task| self.tools_of(worker, task)).unwrap_or_default();
        self.change(call, |conversation| {
            (conversation.worker, conversation.delegations, conversation.tools) =
                (worker, conversation.delegations + 1, tools);
        });
    }

    /// Stores the output of delegated work under the task of the agent that did it.
    fn delegation_ended(&mut self, call: &Id, error: Option<&str>) {
        let Some(conversation) = self.conversations.get(call).filter(|_| error.is_none()) else { return };
        let outcome = TaskOutcome::Completed { output: conversation.output(), parsed: None };
        let ended = Ended::of(outcome, self.at, conversation);
        if self.spec.workflow == Workflow::Hierarchical {
            self.outputs.push(conversation.worker);
            self.lineage.redone(conversation.worker);
            self.put_ended(conversation.worker, ended);
        }
    }

    fn delivered(&mut self, directive: u32, id: &Id) {
        let Some(said) = self.directives.get(directive as usize).cloned() else { return };
        self.change(id, |conversation| {
            conversation.directives.insert(directive);
            if conversation.phase == Phase::Ask {
                conversation.direct(prompt::directives(&[&said]));
            }
        });
    }

    /// Removes a conversation and everything that is indexed for it.
    pub(crate) fn close(&mut self, id: &Id) -> Option<Box<Conversation>> {
        self.clear_retry(id);
        self.wants.forget(id);
        self.conversations.remove(id)
    }

    fn budget_raised(&mut self, limits: &Limits) {
        self.spec = Arc::new(Spec { limits: *limits, ..(*self.spec).clone() });
        self.spending.budget.raise(limits);
    }

    fn over_budget(&mut self) {
        self.wind_down(End::Failed { error: "BUDGET_EXCEEDED".to_owned() }, CancelMode::Now);
    }

    fn cancelled(&mut self, mode: CancelMode) {
        self.halt.cancel = self.halt.cancel.max(Some(mode));
        self.wind_down(End::Cancelled, mode);
    }

    /// Starts winding down. The first reason to stop is kept; of the modes, the strongest.
    pub(crate) fn wind_down(&mut self, end: End, mode: CancelMode) {
        let (end, held) = self.halt.stop.take().unwrap_or((end, mode));
        self.halt.stop = Some((end, held.max(mode)));
    }

    /// Adds to the counters of a conversation and of the whole run.
    pub(crate) fn count(&mut self, id: &Id, count: impl Fn(&mut Used)) {
        count(&mut self.spending.totals);
        if let Some(conversation) = self.conversations.get_mut(id) {
            count(&mut conversation.used);
        }
    }

    pub(crate) fn change(&mut self, id: &Id, change: impl FnOnce(&mut Conversation)) {
        let Some(conversation) = self.conversations.get_mut(id) else { return };
        change(conversation);
        let want = conversation.want();
        let model = if want == Want::Model { self.alias(id) } else { String::new() };
        self.wants.note(id, want, model);
    }

    /// Returns the task whose agent works in a conversation.
    pub(crate) fn worker(&self, id: &Id) -> Option<&Task> {
        let worker = self.conversations.get(id).map_or(id.task_index(), |conversation| conversation.worker);
        if worker == id.task_index() { self.task(id) } else { self.spec.tasks.get(worker) }
    }

    /// Returns the task that a conversation or call belongs to, with its item's texts where it has one.
    pub(crate) fn task(&self, id: &Id) -> Option<&Task> {
        let place = id.site();
        let made = self.made.get(&place).map(|task| &**task);
        made.or_else(|| self.spec.tasks.get(place.task))
    }

    /// Returns the alias of the model that a conversation asks as long as nothing fails.
    pub(crate) fn primary(&self, id: &Id) -> &String {
        let own = self.worker(id).and_then(|task| task.model.as_ref());
        self.switched.as_ref().or(own).unwrap_or(&self.spec.model)
    }

    /// Returns the alias of the model that the conversation's next model call goes to.
    pub(crate) fn alias(&self, id: &Id) -> String {
        let primary = self.primary(id);
        let fallback = self.conversations.get(id).map_or(0, |conversation| conversation.asking.fallback).checked_sub(1);
        let chain = self.models.get(primary).map(|model| model.fallback.as_slice()).unwrap_or_default();
        fallback.and_then(|index| chain.get(index)).unwrap_or(primary).clone()
    }
}

impl Wants {
    pub(crate) fn is_empty(&self) -> bool {
        self.attention.is_empty() && self.models.is_empty() && self.locks.is_empty()
    }

    fn note(&mut self, id: &Id, want: Want, model: String) {
        self.forget(id);
        match want {
            Want::Nothing => {}
            Want::Attention => drop(self.attention.insert(id.clone())),
            Want::Model => drop(self.models.entry(model).or_default().insert(id.clone())),
            Want::Lock(name) => drop(self.locks.entry(name).or_default().insert(id.clone())),
        }
    }

    fn forget(&mut self, id: &Id) {
        self.attention.remove(id);
        for queues in [&mut self.models, &mut self.locks] {
            queues.retain(|_, queue| {
                queue.remove(id);
                !queue.is_empty()
            });
        }
    }
}
