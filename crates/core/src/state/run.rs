//! A run as a fold over its events. [`Run::apply`] never fails and never decides; it keeps the indexes that
//! `next` needs (ready tasks, conversations with a next step, timers, calls in flight), so the cost of
//! `next` depends on the runnable work and not on the size of the run. Replaying a log rebuilds exactly the
//! same value.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::chat;
use crate::decisions::answer::Completeness;
use crate::decisions::output;
use crate::decisions::prompt;
use crate::event::{AfterFailure, CancelMode, Directive, End, Event, EventKind, Origin};
use crate::id::{Id, Millis};
use crate::message::{Reply, Spent, Usage};
use crate::owner::Owner;
use crate::requests::catalog::{Belt, ModelInfo, Models, ToolInfo};
use crate::requests::dynamic;
use crate::requests::spec::{OnError, Spec, Task, Workflow};
use crate::state::budget::{Budget, Claim};
use crate::state::calls::Slot;
use crate::state::conversation::{Conversation, Phase, Used, Want};
pub(crate) use crate::state::ended::{Ended, How};
use crate::state::gate::ReviewState;
use crate::state::graph::Graph;
use crate::state::stopwatch::Stopwatch;
use crate::text::Text;

/// The state of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    pub(super) ensemble_id: String,
    pub(super) owner: Owner,
    /// The source of its first events.
    pub(super) origin: Option<Origin>,
    /// The number of its first events that are copies.
    pub(super) copied: u64,
    /// Tasks that ended in the run its first events were taken from.
    pub(super) inherited: BTreeSet<usize>,
    pub(super) spec: Arc<Spec>,
    pub(super) models: Models,
    pub(super) belt: Belt,
    /// The tools that looked-up names resolved to when their tasks began, by task.
    pub(super) composed: BTreeMap<usize, Vec<Arc<ToolInfo>>>,
    /// The names of the tools it was accepted with, including names that look like a provider's.
    pub(super) own: BTreeSet<String>,
    /// The positions of the agents that were handed work, in order.
    pub(super) errands: Vec<usize>,
    pub(super) graph: Graph,
    /// Conversations under way, of tasks and subtasks alike: recursion is data.
    pub(super) conversations: BTreeMap<Id, Conversation>,
    /// The conversations that can go on, by the resource they need for it.
    pub(super) wants: Wants,
    /// The times at which the run must be looked at again without a request.
    pub(super) timers: BTreeSet<(Millis, Timer)>,
    /// Tasks that are over, by position, and in the order they ended.
    pub(super) tasks: BTreeMap<usize, Ended>,
    pub(super) outputs: Vec<usize>,
    pub(super) failed: usize,
    /// The full results of calls of which models were shown only the beginning.
    pub(super) cut: BTreeMap<String, Text>,
    /// Reviews, open and decided.
    pub(super) reviews: Vec<ReviewState>,
    pub(super) open_reviews: BTreeSet<u32>,
    /// Whether the run gave up its slot because only reviews are open.
    pub(super) parked: bool,
    pub(super) directives: Vec<Directive>,
    pub(super) budget: Budget,
    pub(super) totals: Used,
    /// The amounts that calls under way may take out of the budget.
    pub(super) lent: BTreeMap<Id, Claim>,
    /// The number of calls of which it is not known whether they happened.
    pub(super) in_doubt: usize,
    pub(super) unpriced: BTreeSet<String>,
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
    /// The alias of the model that every later call goes to.
    pub(super) switched: Option<String>,
    pub(super) cancel: Option<CancelMode>,
    pub(super) paused: bool,
    /// The end that the run winds down to, and how soon; nothing new may begin.
    pub(super) stop: Option<(End, CancelMode)>,
    pub(super) end: Option<End>,
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
            EventKind::RunAdopted { epoch } => self.adopted(*epoch, before),
            EventKind::RunForked { origin, edited } => self.forked(origin, edited.as_deref()),
            EventKind::RunStarted => self.started_at = Some(event.at),
            EventKind::BeltComposed { task, tools } => self.belt_composed(*task, tools),
            EventKind::TaskStarted { turn } => self.started(turn),
            EventKind::PromptBuilt { turn, system, user } => self.opened_with(turn, system, user),
            EventKind::ChoreBegun { turn, chore, calls } => self.chore_begun(turn, *chore, calls),
            EventKind::ReflectionBegun { turn } => self.change(turn, Conversation::reflect),
            EventKind::ModelAsked { turn, model, claim, .. } => self.asked(turn, model, claim),
            EventKind::ModelRetried { turn, attempt, claim, .. } => self.retried(turn, *attempt, claim),
            EventKind::ModelReplied { turn, reply, usage, latency_ms, completeness } => {
                self.replied(turn, (reply, *completeness), usage.as_ref(), *latency_ms);
            }
            EventKind::AnswerTruncated { turn, then, in_call } => {
                self.change(turn, |turn| turn.truncated(*then, *in_call))
            }
            EventKind::AnswerEmpty { turn, then } => self.change(turn, |turn| turn.said_nothing(*then)),
            EventKind::UsageCounted { turn, used } => self.settle(turn, used),
            EventKind::ModelFailed { turn, failure, then, .. } => {
                self.model_failed(turn, failure.charged, then, &failure.to_string())
            }
            EventKind::HistoryDropped { turn, exchanges } => self.change(turn, |turn| turn.drop_exchanges(*exchanges)),
            EventKind::OutputRejected { turn, violations } => self.sent_back(turn, violations),
            EventKind::LastRoundBegun { turn } => self.change(turn, Conversation::last_round),
            EventKind::LoopNoticed { turn, tool, times } => self.change(turn, |turn| turn.noticed(tool, *times)),
            EventKind::ToolDispatched { call, lent } => self.dispatched(call, lent.as_ref()),
            EventKind::SubtaskStarted { call, title, system, user, tools, schema } => {
                self.subtask(call, title, tools);
                schema.iter().for_each(|schema| self.change(call, |turn| turn.owe(schema)));
                self.opened_with(call, system, user);
            }
            EventKind::FinishDemanded { turn } => self.change(turn, Conversation::nudge),
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
            EventKind::ReviewOpened { review, turn, timing, due, on_timeout } => {
                self.opened(*review, ReviewState::new((turn, *timing), event.at, *due, *on_timeout));
            }
            EventKind::ReviewDecided { review, decision, .. } => self.decided(*review, decision),
            EventKind::ReviewTimedOut { review, action } => self.timed_out(*review, *action),
            EventKind::ReviewClosed { review } => self.closed(*review),
            EventKind::TaskCompleted { turn } => self.completed(turn),
            EventKind::TaskFailed { turn, reason, cancelled, .. } => self.task_failed(turn, reason, *cancelled),
            EventKind::TaskSkipped { turn, reason } => self.skipped(turn, reason),
            EventKind::DirectiveGiven { directive } => self.directives.push(directive.clone()),
            EventKind::DirectiveDelivered { directive, turn, .. } => self.delivered(*directive, turn),
            EventKind::ModelSwitched { models, .. } => self.model_switched(models),
            EventKind::CancelRequested { mode, .. } => self.cancelled(*mode),
            EventKind::RunPaused { .. } => self.paused = true,
            EventKind::RunResumed { .. } => self.paused = false,
            EventKind::BudgetExceeded { .. } => self.over_budget(),
            EventKind::Chat(fact) => self.chat_applied(fact),
            EventKind::RunEnded { end } => self.end = Some(end.clone()),
        }
        self.derive(event);
    }

    /// Brings everything up to date that follows from the rest of the state.
    fn derive(&mut self, event: &Event) {
        self.note(event);
        self.park(&event.kind);
        self.set_clock();
    }

    /// Starts or stops the clock for working time, which runs while the run works.
    fn set_clock(&mut self) {
        let working = self.works();
        self.clock.set(working, self.at);
    }

    /// Returns true when no event can follow.
    pub fn ended(&self) -> bool {
        self.end.is_some()
    }

    /// Returns true when the work under way should be dropped.
    pub fn stopping(&self) -> bool {
        self.stop.as_ref().is_some_and(|(_, mode)| *mode == CancelMode::Now)
    }

    fn accepted(&mut self, fact: &EventKind) {
        let EventKind::RunAccepted { ensemble_id, spec, models, belt, copied, owner } = fact else { return };
        self.copied = *copied;
        self.owner = owner.clone();
        ensemble_id.clone_into(&mut self.ensemble_id);
        self.spec = spec.clone();
        self.models = models.clone();
        self.belt = belt.clone();
        self.own = belt.keys().cloned().collect();
        self.graph = Graph::of(spec);
        self.budget = Budget::new(&spec.limits);
        self.accepted_at = self.at;
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
                self.budget.settle(&claim, &claim);
            }
            self.change(&id, |_turn| {});
        }
    }

    fn started(&mut self, id: &Id) {
        self.graph.start(id.task_index());
        if !self.conversations.contains_key(id) {
            self.open_turn(id);
        }
        let at = self.at;
        let tools = self.spec.tasks.get(id.task_index()).map(|task| self.tools_of(id.task_index(), task));
        self.change(id, |turn| {
            turn.tools = tools.unwrap_or_default();
            turn.used.started_at = at;
            turn.phase = Phase::Prompt;
        });
    }

    pub(crate) fn open_turn(&mut self, id: &Id) {
        let Some(task) = self.spec.tasks.get(id.task_index()) else { return };
        let tools = self.tools_of(id.task_index(), task);
        let turn = Conversation::new(&task.name, id.task_index(), tools, self.at);
        self.conversations.insert(id.clone(), turn);
    }

    fn belt_composed(&mut self, task: usize, tools: &[Arc<ToolInfo>]) {
        let anew = tools.iter().filter(|tool| !self.own.contains(&tool.name));
        self.belt.extend(anew.map(|tool| (tool.name.clone(), tool.clone())));
        self.composed.insert(task, tools.to_vec());
    }

    /// Whether a name is looked up when its task begins.
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
        self.set(call, Slot::Dispatched);
        // An amount that a dead owner lent to the same call is still lent.
        if let Some(lent) = lent.filter(|_| !self.lent.contains_key(call)) {
            let _fits = self.budget.claim(lent);
            self.lent.insert(call.clone(), *lent);
        }
    }

    /// Charges the usage that another ensemble reported for a call, up to the amount that the call was lent;
    /// the run does not pay for more than that.
    fn charged(&mut self, call: &Id, spent: &Spent) {
        let lent = self.lent.remove(call).unwrap_or_default();
        let most = |used: u64, lent: u64| if lent == 0 { used } else { used.min(lent) };
        let used = spent.claim();
        let used = Claim { tokens: most(used.tokens, lent.tokens), cost: most(used.cost, lent.cost) };
        self.budget.settle(&lent, &used);
        if let Some((turn, _)) = call.parent() {
            self.count(&turn, |used| used.absorb(spent));
        }
    }

    fn subtask(&mut self, call: &Id, title: &str, tools: &[String]) {
        let _fits = self.budget.claim_subtask();
        self.claim_calls(call);
        let tools = tools.iter().filter_map(|name| self.belt.get(name)).cloned().collect();
        let (worker, delegations) = self.above(call);
        let mut turn = Conversation::new(title, worker, tools, self.at);
        turn.delegations = delegations;
        turn.memory = self.memory_above(call);
        self.set(call, Slot::Delegated);
        self.conversations.insert(call.clone(), turn);
    }

    /// Returns the worker of the conversation in which a call was made, and the number of times its work was
    /// handed on.
    fn above(&self, call: &Id) -> (usize, u32) {
        let parent = call.parent().and_then(|(parent, _)| self.conversations.get(&parent));
        parent.map_or((call.task_index(), 0), |parent| (parent.worker, parent.delegations))
    }

    fn delegated(&mut self, call: &Id, worker: usize, task: &str) {
        self.errands.push(worker);
        self.subtask(call, task, &[]);
        let tools = self.spec.tasks.get(worker).map(|task| self.tools_of(worker, task)).unwrap_or_default();
        self.change(call, |turn| {
            (turn.worker, turn.delegations, turn.tools) = (worker, turn.delegations + 1, tools);
        });
    }

    /// Stores the output of delegated work under the task of the agent that did it.
    fn delegation_ended(&mut self, call: &Id, error: Option<&str>) {
        let Some(turn) = self.conversations.get(call).filter(|_| error.is_none()) else { return };
        let how = How::Completed { output: turn.output(), parsed: None };
        let ended = Ended::of(how, self.at, turn);
        if self.spec.workflow == Workflow::Hierarchical {
            self.outputs.push(turn.worker);
            self.inherited.remove(&turn.worker);
            self.tasks.insert(turn.worker, ended);
        }
    }

    fn asked(&mut self, id: &Id, model: &str, claim: &Claim) {
        if self.models.get(model).is_none_or(|model| model.price.is_none()) {
            self.unpriced.insert(model.to_owned());
        }
        let _fits = self.budget.claim_call();
        self.hold(id, claim);
        self.change(id, |turn| model.clone_into(&mut turn.asking.model));
        self.count(id, |used| used.llm_calls += 1);
    }

    fn retried(&mut self, id: &Id, attempt: u32, claim: &Claim) {
        self.hold(id, claim);
        self.change(id, |turn| turn.asking.attempt = attempt);
    }

    /// Records a model call under way, and the amount set aside for it.
    fn hold(&mut self, id: &Id, claim: &Claim) {
        let _fits = self.budget.claim(claim);
        self.in_flight += 1;
        self.clear_retry(id);
        let at = self.at;
        self.change(id, |turn| (turn.phase, turn.asking.claim, turn.asking.since) = (Phase::Asked, *claim, at));
    }

    fn clear_retry(&mut self, id: &Id) {
        if let Some(Conversation { phase: Phase::Backoff { until }, .. }) = self.conversations.get(id) {
            self.timers.remove(&(*until, Timer::Retry(id.clone())));
        }
    }

    /// Begins a conversation; a chat's continues with its history.
    fn opened_with(&mut self, id: &Id, system: &Text, user: &Text) {
        let spec = self.spec.clone();
        let chat = spec.chat.as_ref().filter(|_| self.converses(id));
        let before = chat.map(chat::Turn::before).unwrap_or_default();
        self.change(id, |turn| turn.open(system, &before, user));
    }

    fn replied(
        &mut self,
        id: &Id,
        (reply, completeness): (&Arc<Reply>, Completeness),
        usage: Option<&Usage>,
        latency_ms: u64,
    ) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let (side_by_side, announces) = (self.spec.limits.parallel_per_turn, self.spec.chat.is_some());
        self.count(id, |used| used.llm_ms += latency_ms);
        self.change(id, |turn| {
            turn.replied(reply, completeness, side_by_side);
            if let Phase::Calling(calls) = &mut turn.phase
                && announces
            {
                calls.to_announce = calls.len();
            }
        });
        self.counted(id, usage);
    }

    fn settle(&mut self, id: &Id, used: &Claim) {
        if let Some(turn) = self.conversations.get(id) {
            self.budget.settle(&turn.asking.claim, used);
        }
    }

    fn counted(&mut self, id: &Id, usage: Option<&Usage>) {
        let Some(turn) = self.conversations.get(id) else { return };
        let price = self.models.get(&turn.asking.model).and_then(|model| model.price);
        let Some(usage) = usage.copied() else { return self.count(id, |used| used.unknown = true) };
        self.count(id, |used| used.add(&usage, price.as_ref()));
        self.change(id, |turn| turn.counted(&usage));
    }

    fn model_failed(&mut self, id: &Id, charged: bool, then: &AfterFailure, reason: &str) {
        let Some(turn) = self.conversations.get(id).filter(|turn| turn.is_asked()) else { return };
        let (claim, alias) = (turn.asking.claim, self.alias(id));
        self.in_flight = self.in_flight.saturating_sub(1);
        let used = if charged { claim } else { Claim::default() };
        self.budget.settle(&claim, &used);
        if let AfterFailure::Retry { at } = then {
            self.timers.insert((*at, Timer::Retry(id.clone())));
        }
        self.change(id, |turn| match then {
            AfterFailure::Retry { at } => turn.phase = Phase::Backoff { until: *at },
            // After a switch, the new model is asked without a step down the list of fallbacks.
            AfterFailure::Fallback { model } => {
                (turn.asking.fallback, turn.asking.attempt) = (turn.asking.fallback + usize::from(*model != alias), 0);
                turn.phase = Phase::Ask;
            }
            AfterFailure::Shorten => turn.phase = Phase::Ask,
            AfterFailure::GiveUp => turn.give_up(reason),
        });
    }

    fn sent_back(&mut self, id: &Id, violations: &[String]) {
        let Some(schema) = self.spec.tasks.get(id.task_index()).and_then(|task| task.output_schema.clone()) else {
            return;
        };
        self.change(id, |turn| {
            turn.schema_failures += 1;
            turn.tell(prompt::repair(violations, schema.json()));
            turn.phase = Phase::Ask;
        });
    }

    fn completed(&mut self, id: &Id) {
        let Some(turn) = self.close(id) else { return };
        let output = turn.output();
        self.graph.finish(id.task_index());
        self.outputs.push(id.task_index());
        let schema = self.spec.tasks.get(id.task_index()).and_then(|task| task.output_schema.as_ref());
        let parsed = schema.and_then(|schema| output::parse(output.as_str(), schema).ok());
        let how = How::Completed { output, parsed };
        self.tasks.insert(id.task_index(), Ended::of(how, self.at, &turn));
    }

    fn task_failed(&mut self, id: &Id, reason: &str, cancelled: bool) {
        let turn = self.close(id);
        let how = if cancelled { How::Cancelled } else { How::Failed { reason: reason.to_owned() } };
        let ended = turn
            .map_or_else(|| Ended::without_turn(how.clone(), self.at), |turn| Ended::of(how.clone(), self.at, &turn));
        self.tasks.insert(id.task_index(), ended);
        self.graph.fail(id.task_index());
        self.failed += usize::from(!cancelled);
        if self.spec.on_error == OnError::FailFast && !cancelled {
            let name = self.spec.tasks.get(id.task_index()).map_or("", |task| task.name.as_str());
            let error = format!("task '{name}' failed: {reason}");
            self.wind_down(End::Failed { error }, CancelMode::AfterTask);
        }
    }

    fn skipped(&mut self, id: &Id, reason: &str) {
        self.close(id);
        let how = How::Skipped { reason: reason.to_owned() };
        self.tasks.insert(id.task_index(), Ended::without_turn(how, self.at));
        self.graph.fail(id.task_index());
    }

    fn delivered(&mut self, directive: u32, id: &Id) {
        let Some(said) = self.directives.get(directive as usize).cloned() else { return };
        self.change(id, |turn| {
            turn.directives.insert(directive);
            if turn.phase == Phase::Ask {
                turn.direct(prompt::directives(&[&said]));
            }
        });
    }

    fn model_switched(&mut self, models: &[Arc<ModelInfo>]) {
        self.models.extend(models.iter().map(|model| (model.alias.clone(), model.clone())));
        self.switched = models.first().map(|model| model.alias.clone());
        let ids: Vec<Id> = self.conversations.keys().cloned().collect();
        for id in ids {
            self.clear_retry(&id);
            self.change(&id, Conversation::switch);
        }
    }

    /// Removes a conversation and everything that is indexed for it.
    pub(crate) fn close(&mut self, id: &Id) -> Option<Conversation> {
        self.clear_retry(id);
        self.wants.forget(id);
        self.conversations.remove(id)
    }

    fn over_budget(&mut self) {
        self.wind_down(End::Failed { error: "BUDGET_EXCEEDED".to_owned() }, CancelMode::Now);
    }

    fn cancelled(&mut self, mode: CancelMode) {
        self.cancel = self.cancel.max(Some(mode));
        self.wind_down(End::Cancelled, mode);
    }

    /// Starts winding down. The first reason to stop is kept; of the modes, the strongest.
    pub(crate) fn wind_down(&mut self, end: End, mode: CancelMode) {
        let (end, held) = self.stop.take().unwrap_or((end, mode));
        self.stop = Some((end, held.max(mode)));
    }

    /// Adds to the counters of a conversation and of the whole run.
    pub(crate) fn count(&mut self, id: &Id, count: impl Fn(&mut Used)) {
        count(&mut self.totals);
        if let Some(turn) = self.conversations.get_mut(id) {
            count(&mut turn.used);
        }
    }

    pub(crate) fn change(&mut self, id: &Id, change: impl FnOnce(&mut Conversation)) {
        let Some(turn) = self.conversations.get_mut(id) else { return };
        change(turn);
        let want = turn.want();
        let model = if want == Want::Model { self.alias(id) } else { String::new() };
        self.wants.note(id, want, model);
    }

    /// Returns the task whose agent works in a conversation.
    pub(crate) fn worker(&self, id: &Id) -> Option<&Task> {
        self.spec.tasks.get(self.conversations.get(id).map_or(id.task_index(), |turn| turn.worker))
    }

    /// Returns the alias of the model that a conversation asks as long as nothing fails.
    pub(crate) fn primary(&self, id: &Id) -> &String {
        let own = self.worker(id).and_then(|task| task.model.as_ref());
        self.switched.as_ref().or(own).unwrap_or(&self.spec.model)
    }

    /// Returns the alias of the model that the conversation's next model call goes to.
    pub(crate) fn alias(&self, id: &Id) -> String {
        let primary = self.primary(id);
        let fallback = self.conversations.get(id).map_or(0, |turn| turn.asking.fallback).checked_sub(1);
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
