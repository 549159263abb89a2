//! Decides the next steps of a run. A [`Step`] is an event and, for some, an effect: the type ensures that
//! no effect is executed before its event is stored. There is no special code for recovery after a crash:
//! an orphaned call is handled like any other call with a next step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::cause::{Cause, TaskFailure, UnfitReason};
use crate::chat;
use crate::decisions::chore::Chore;
use crate::decisions::finish;
use crate::decisions::output;
use crate::decisions::prompt::{self, Input, Opening, Revision};
use crate::decisions::subtask;
use crate::event::{CancelMode, End, Event, EventKind, Exit, Timing};
use crate::id::{Id, Millis};
use crate::message::{Message, Outcome};
use crate::requests::catalog::ToolInfo;
use crate::requests::model_options::ModelOptions;
use crate::requests::spec::{ReviewPolicy, ReviewRule, Task, Workflow};
use crate::state::budget::{Breach, Budget, Claim, Reason};
use crate::state::conversation::{Conversation, Phase};
use crate::state::gate::{self, ReviewState};
use crate::state::run::{How, Run, Timer};

/// The result of [`Run::next`]: steps to take, a timer and missing resources.
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
    pub turn: Id,
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
    /// The maximum number of tokens of the answer.
    pub max_output: u64,
    /// The options for the model's answer.
    pub options: ModelOptions,
}

impl Effect {
    /// Returns the id of the conversation or call that the effect belongs to.
    pub fn id(&self) -> &Id {
        match self {
            Effect::Ask(question) => &question.turn,
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
    steps: Vec<Step>,
    needs: Needs,
    asked: BTreeMap<String, usize>,
}

impl Plan {
    pub(crate) fn record(&mut self, fact: EventKind) {
        self.steps.push(Step { event: Event { at: self.at, kind: fact }, then: None });
    }

    pub(crate) fn act(&mut self, fact: EventKind, effect: Effect) {
        if let Effect::Ask(question) = &effect {
            *self.asked.entry(question.model.clone()).or_default() += 1;
        }
        self.steps.push(Step { event: Event { at: self.at, kind: fact }, then: Some(effect) });
    }
}

impl Plan {
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
    pub(crate) fn errands(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().filter_map(|step| {
            let EventKind::DelegationStarted { worker, .. } = &step.event.kind else { return None };
            Some(*worker)
        })
    }

    pub(crate) fn recorded(&self, is: fn(&EventKind) -> bool) -> usize {
        self.steps.iter().filter(|step| is(&step.event.kind)).count()
    }
}

impl Next {
    /// Keeps the steps that can be recorded without a slot; if others remain, a slot is requested.
    fn without_slot(self) -> Next {
        let (work, steps): (Vec<Step>, Vec<Step>) =
            self.steps.into_iter().partition(|step| step.event.kind.needs_slot());
        let slot = !work.is_empty() || self.needs != Needs::default();
        Next { steps, timer: self.timer, needs: Needs { slot, ..Needs::default() } }
    }
}

impl Run {
    /// Returns the steps to take now with the granted resources. Changes nothing; call it again after applying
    /// the steps.
    pub fn next(&self, now: Millis, grants: &Grants) -> Next {
        if self.ended() || self.epoch() == 0 {
            return Next::default();
        }
        let mut plan = Plan {
            at: now.max(self.at()),
            budget: *self.budget(),
            steps: Vec::new(),
            needs: Needs::default(),
            asked: BTreeMap::new(),
        };
        let advanced = match self.stop() {
            Some((end, CancelMode::Now)) => {
                self.wind_up(end, &mut plan);
                Ok(())
            }
            Some(_) | None => self.advance(grants, &mut plan),
        };
        if let Err(breach) = advanced {
            plan.steps.clear();
            plan.record(EventKind::BudgetExceeded { breach });
        }
        let next = Next { steps: plan.steps, timer: self.timer(plan.at), needs: plan.needs };
        if self.parked() && !grants.slot { next.without_slot() } else { next }
    }

    fn timer(&self, now: Millis) -> Option<Millis> {
        let limit = Some(self.spec().limits.wall_clock_ms).filter(|limit| *limit > 0 && !self.stopping());
        let clock = limit.and_then(|limit| self.clock().due(limit));
        // An action that is already due but not done waits for a grant, not for time.
        let first = self.timers().iter().map(|(due, _)| *due).find(|due| *due > now);
        first.into_iter().chain(clock).min()
    }

    fn advance(&self, grants: &Grants, plan: &mut Plan) -> Result<(), Breach> {
        self.check_clock(plan)?;
        self.close_reviews(plan);
        self.expire(plan);
        self.start_tasks(grants, plan);
        for (id, turn) in self.wants().attention.iter().filter_map(|id| self.conversations().get_key_value(id)) {
            self.attend(id, turn, grants, plan)?;
        }
        if !self.paused() {
            self.ask_models(grants, plan)?;
            self.take_locks(grants, plan)?;
        }
        let waits = self.holds_back() || !plan.needs.belts.is_empty();
        if plan.steps.is_empty() && self.conversations().is_empty() && !waits {
            self.finish(plan);
        }
        Ok(())
    }

    /// Whether tasks are ready and only wait for the run to be resumed.
    fn holds_back(&self) -> bool {
        self.paused() && self.stop().is_none() && self.graph().ready().next().is_some()
    }

    fn check_clock(&self, plan: &Plan) -> Result<(), Breach> {
        let (limit, observed) = (self.spec().limits.wall_clock_ms, self.clock().read(plan.at));
        if limit == 0 || observed < limit {
            return Ok(());
        }
        Err(Breach { reason: Reason::WallClock, limit, observed })
    }

    /// Closes the open reviews of a cancelled run: there is nothing left to decide.
    fn close_reviews(&self, plan: &mut Plan) {
        if let Some((End::Cancelled, _)) = self.stop() {
            self.close_questions(plan);
        }
    }

    /// Closes open reviews and approvals: no answer is needed any more.
    fn close_questions(&self, plan: &mut Plan) {
        self.open_reviews().iter().for_each(|review| plan.record(EventKind::ReviewClosed { review: *review }));
        for approval in &self.chat().open {
            let (approval, answer, by) = (*approval, chat::Answer::Closed, "stop".to_owned());
            plan.record(EventKind::Chat(chat::ChatEventKind::ApprovalAnswered { approval, answer, by }));
        }
    }

    fn expire(&self, plan: &mut Plan) {
        let now = plan.at;
        if matches!(self.stop(), Some((End::Cancelled, _))) {
            return;
        }
        for (_, timer) in self.timers().iter().take_while(|(due, _)| *due <= now) {
            match timer {
                Timer::Review(review) => {
                    let action = self.reviews().get(*review as usize).and_then(ReviewState::action);
                    action
                        .into_iter()
                        .for_each(|action| plan.record(EventKind::ReviewTimedOut { review: *review, action }));
                }
                Timer::Approval(approval) => {
                    let (approval, answer, by) = (*approval, chat::Answer::Expired, "timeout".to_owned());
                    plan.record(EventKind::Chat(chat::ChatEventKind::ApprovalAnswered { approval, answer, by }));
                }
                Timer::Client(call) => {
                    let outcome = Outcome::unknown("the client did not answer in time");
                    let duration_ms = self.chat().took(call, now);
                    plan.record(EventKind::ToolReturned { call: call.clone(), outcome, duration_ms, cause: None });
                }
                Timer::Retry(_) => {}
            }
        }
    }

    fn start_tasks(&self, grants: &Grants, plan: &mut Plan) {
        if let Some((End::Cancelled, _)) = self.stop() {
            return;
        }
        for task in self.graph().doomed() {
            let reason = match self.spec().workflow {
                Workflow::Sequential => "a task before it failed",
                Workflow::Parallel | Workflow::Hierarchical => "a task it reads from failed",
            };
            plan.record(EventKind::TaskSkipped { turn: Id::task(task), reason: reason.to_owned() });
        }
        if self.stop().is_some() || self.paused() {
            return;
        }
        for task in self.graph().ready() {
            if self.started_at().is_none() && plan.steps.is_empty() {
                plan.record(EventKind::RunStarted);
            }
            let turn = Id::task(task);
            match self.spec().tasks.get(task) {
                Some(spec) if spec.review_before => self.open_review(&turn, Timing::BeforeExecution, spec, plan),
                Some(_) | None => self.start(turn, grants, plan),
            }
        }
    }

    /// Begins a task, once the tools it may call are known.
    fn start(&self, turn: Id, grants: &Grants, plan: &mut Plan) {
        if self.compose(turn.task_index(), grants, plan) {
            plan.record(EventKind::TaskStarted { turn });
        }
    }

    pub(crate) fn open_review(&self, turn: &Id, timing: Timing, task: &Task, plan: &mut Plan) {
        let opened = plan.recorded(|fact| matches!(fact, EventKind::ReviewOpened { .. }));
        let review = u32::try_from(self.reviews().len() + opened).unwrap_or(u32::MAX);
        let (due, on_timeout) = match gate::deadline(&self.spec().review, task, timing) {
            Some((timeout, then)) => (Some(plan.at.saturating_add(timeout)), Some(then)),
            None => (None, None),
        };
        plan.record(EventKind::ReviewOpened { review, turn: turn.clone(), timing, due, on_timeout });
    }

    /// Plans the step of a conversation that needs no granted resource.
    fn attend(&self, id: &Id, turn: &Conversation, grants: &Grants, plan: &mut Plan) -> Result<(), Breach> {
        match turn.phase() {
            Phase::Start if self.stop().is_some() => {
                plan.record(EventKind::TaskSkipped {
                    turn: id.clone(),
                    reason: "the run was ended before it".to_owned(),
                });
            }
            Phase::Start if !self.paused() => self.start(id.clone(), grants, plan),
            Phase::Prompt if !self.paused() => {
                if !self.begin_chore(id, turn, &[Chore::Recall, Chore::GuardInput, Chore::Handle], plan) {
                    self.open(id, turn, plan);
                }
            }
            Phase::Unfinished(completeness) => self.settle_unfinished(id, turn, *completeness, plan),
            Phase::Calling(_) => return self.call(id, turn, grants, plan),
            Phase::Answered(text) => self.answered(id, turn, text.as_str(), plan),
            Phase::Approved(_) => self.approved(id, turn, plan),
            Phase::Skipping(reason) => plan.record(EventKind::TaskSkipped { turn: id.clone(), reason: reason.clone() }),
            Phase::Failing(failure) => self.fail(id, failure, plan),
            Phase::Start
            | Phase::Prompt
            | Phase::Ask
            | Phase::Asked
            | Phase::Backoff { .. }
            | Phase::Reviewing { .. } => {}
        }
        Ok(())
    }

    /// Writes the opening of a task's conversation, with the directives given so far.
    fn open(&self, id: &Id, turn: &Conversation, plan: &mut Plan) {
        if let Some(chat) = self.spec().chat.as_ref().filter(|_| self.converses(id)) {
            let (system, user) = (chat::system(self, chat).into(), chat.content.clone());
            return plan.record(EventKind::PromptBuilt { turn: id.clone(), system, user });
        }
        let Some(task) = self.spec().tasks.get(id.task_index()) else { return };
        let directives = self.undelivered(id, turn, plan.at);
        for (number, _) in &directives {
            plan.record(EventKind::DirectiveDelivered { directive: *number, turn: id.clone(), round: turn.round() });
        }
        let input = |position: &usize| match &self.tasks().get(position)?.how {
            How::Completed { output, .. } => {
                self.spec().tasks.get(*position).map(|task| Input { task, output: output.as_str() })
            }
            How::Failed { .. } | How::Cancelled | How::Skipped { .. } => None,
        };
        let revision = turn.revision().map(|(feedback, previous)| Revision {
            attempt: turn.rejections() + 1,
            feedback: feedback.as_str(),
            previous: previous.as_str(),
        });
        let opening = Opening {
            task,
            inputs: task.context.iter().filter_map(input).collect(),
            revision,
            directives: directives.into_iter().map(|(_, directive)| directive).collect(),
            memories: turn.memories(),
            notes: turn.notes(),
        };
        let (system, user) = (prompt::system(task).into(), prompt::user(&opening).into());
        plan.record(EventKind::PromptBuilt { turn: id.clone(), system, user });
    }

    /// Handles an answer: a task's is checked, reviewed and accepted; a subtask's goes back to the call that
    /// asked for it.
    fn answered(&self, id: &Id, turn: &Conversation, answer: &str, plan: &mut Plan) {
        if id.parent().is_some() {
            return self.answer_call(id, turn, answer, plan);
        }
        let Some(task) = self.spec().tasks.get(id.task_index()) else { return };
        if let Some(schema) = &task.output_schema
            && let Err(violations) = output::parse(answer, schema)
        {
            return self.send_back(id, turn, violations, plan);
        }
        if self.begin_chore(id, turn, &[Chore::GuardOutput], plan) {
            return;
        }
        if self.reviewed(task, plan) {
            return self.open_review(id, Timing::AfterExecution, task, plan);
        }
        self.approved(id, turn, plan);
    }

    /// Completes an approved task, after its reflection and after its output is remembered, if it has these.
    fn approved(&self, id: &Id, turn: &Conversation, plan: &mut Plan) {
        let task = self.spec().tasks.get(id.task_index());
        let reflects = task.is_some_and(|task| task.reflection && task.handler.is_none()) && turn.critique().is_none();
        if reflects && self.stop().is_none() {
            plan.record(EventKind::ReflectionBegun { turn: id.clone() });
        } else if self.stop().is_some() || !self.begin_chore(id, turn, &[Chore::Remember], plan) {
            plan.record(EventKind::TaskCompleted { turn: id.clone() });
        }
    }

    fn send_back(&self, id: &Id, turn: &Conversation, violations: Vec<String>, plan: &mut Plan) {
        let retries = self.spec().limits.schema_retries;
        if turn.schema_failures() >= retries || self.stop().is_some_and(|(_, mode)| *mode > CancelMode::AfterTask) {
            let message =
                format!("the output does not fit its schema after {retries} corrections: {}", violations.join("; "));
            return self.fail(id, &TaskFailure::new(Cause::OutputUnfit, message), plan);
        }
        plan.record(EventKind::OutputRejected { turn: id.clone(), violations });
    }

    fn answer_call(&self, id: &Id, turn: &Conversation, answer: &str, plan: &mut Plan) {
        if let (Some(_), None) = (turn.schema(), turn.finished()) {
            return self.demand(id, turn, plan);
        }
        if answer.trim().is_empty() {
            return self.fail(id, &TaskFailure::new(Cause::NoResult, "the subtask answered nothing"), plan);
        }
        if self.builds(id) {
            return self.built(id, turn, answer, plan);
        }
        let duration_ms = plan.at.saturating_sub(turn.used().started_at);
        self.end_delegation(id, turn, None, plan);
        plan.record(EventKind::ToolReturned { call: id.clone(), outcome: Outcome::Subtask, duration_ms, cause: None });
    }

    /// Reminds a subtask that answered in prose that it must return a structured result.
    fn demand(&self, id: &Id, turn: &Conversation, plan: &mut Plan) {
        if turn.nudges() < finish::NUDGES_MAX && self.stop().is_none() {
            return plan.record(EventKind::FinishDemanded { turn: id.clone() });
        }
        self.fail(id, &TaskFailure::unfit(UnfitReason::NoFinishCall, turn.unfit(), turn.violations()), plan);
    }

    fn reviewed(&self, task: &Task, plan: &Plan) -> bool {
        if matches!(self.stop(), Some((End::Cancelled, _))) {
            return false;
        }
        match (task.review, self.spec().review.policy) {
            (Some(ReviewRule::Required), _) | (None, ReviewPolicy::AfterEveryTask) => true,
            (Some(ReviewRule::Skip), _) | (None, ReviewPolicy::Never) => false,
            (None, ReviewPolicy::AfterLastTask) => {
                self.graph().left() == 1 + plan.recorded(|fact| matches!(fact, EventKind::TaskCompleted { .. }))
            }
        }
    }

    /// Records a failed task; a failed subtask becomes the failed call of its parent.
    pub(crate) fn fail(&self, id: &Id, failure: &TaskFailure, plan: &mut Plan) {
        let cause = Some(failure.cause().clone());
        match (id.parent(), self.conversations().get(id)) {
            (Some(_), Some(turn)) => {
                let duration_ms = plan.at.saturating_sub(turn.used().started_at);
                let outcome = Outcome::failed(subtask::failure(turn, failure));
                self.end_delegation(id, turn, Some(failure.reason()), plan);
                plan.record(EventKind::ToolReturned { call: id.clone(), outcome, duration_ms, cause });
            }
            (Some(_) | None, _) => {
                let cancelled = *failure.cause() == Cause::Cancelled;
                plan.record(EventKind::TaskFailed { turn: id.clone(), reason: failure.reason(), cancelled, cause });
            }
        }
    }

    /// Records the end of a delegation. A conversation was delegated if its caller's worker is another one.
    fn end_delegation(&self, id: &Id, turn: &Conversation, error: Option<String>, plan: &mut Plan) {
        let caller = id.parent().and_then(|(parent, _)| self.conversations().get(&parent));
        if caller.is_some_and(|caller| caller.worker() != turn.worker()) {
            plan.record(EventKind::DelegationEnded { call: id.clone(), error });
        }
    }

    /// Ends the run with its result when nothing is left to do.
    fn finish(&self, plan: &mut Plan) {
        let total = self.spec().team().len();
        let end = match self.stop() {
            Some((end, _)) => end.clone(),
            None if self.failed() > 0 => End::Failed { error: format!("{} of {total} tasks failed", self.failed()) },
            None => End::Completed { exit: Exit::Completed },
        };
        self.conclude(end, plan);
    }

    /// Records the last events of a run; a chat's turn first records its answer and its cost.
    fn conclude(&self, end: End, plan: &mut Plan) {
        if self.spec().chat.is_some() {
            plan.record(EventKind::Chat(chat::ChatEventKind::AnswerStored));
            plan.record(EventKind::Chat(chat::ChatEventKind::CostSummed));
        }
        plan.record(EventKind::RunEnded { end });
    }

    /// Ends a run that is to stop at once, after everything that is under way has ended.
    fn wind_up(&self, end: &End, plan: &mut Plan) {
        for (id, turn) in self.conversations() {
            self.give_up_orphans(id, turn, plan);
        }
        if !plan.steps.is_empty() || self.in_flight() > 0 {
            return;
        }
        self.close_questions(plan);
        let failure = match end {
            End::Cancelled => TaskFailure::cancelled(),
            End::Failed { error } => TaskFailure::new(Cause::RunEnded, error),
            End::Completed { .. } => TaskFailure::new(Cause::RunEnded, "the run was ended"),
        };
        // A child sorts after its parent, so going backwards ends it first.
        for (id, turn) in self.conversations().iter().rev() {
            self.give_up_calls(id, turn, plan);
            match (end, id.parent()) {
                (End::Completed { .. }, None) => {
                    plan.record(EventKind::TaskSkipped { turn: id.clone(), reason: failure.reason() });
                }
                (End::Completed { .. } | End::Failed { .. } | End::Cancelled, _) => self.fail(id, &failure, plan),
            }
        }
        self.conclude(end.clone(), plan);
    }
}
