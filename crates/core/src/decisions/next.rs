//! What to do now. A [`Step`] is an event and, for some, an effect: the type
//! says that nothing is done before the fact that it will be done is stored.
//! There is no code here for the time after a crash: an orphaned call is a
//! call that wants something, like any other.

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

/// What `next` has to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Next {
    /// Record these, then do what they call for. Empty: wait.
    pub steps: Vec<Step>,
    /// Ask again at this time at the latest.
    pub timer: Option<Millis>,
    /// What could be done if it were granted.
    pub needs: Needs,
}

/// One fact to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Stored first.
    pub event: Event,
    /// Done once it is stored.
    pub then: Option<Effect>,
}

/// Something only the outside world can do; each ends in one report.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask a model. Uses up one granted slot of it.
    Ask(Box<Question>),
    /// Call a tool. Uses up the granted lock, if it has one.
    Call {
        /// The call's place, and part of the key of an idempotent one.
        id: Id,
        /// What to call.
        tool: Arc<ToolInfo>,
        /// What to call it with: fits the tool's schema.
        args: Value,
        /// What it may use; absent: no limit.
        lent: Option<Claim>,
        /// Whether an owner before this one had made the call.
        again: bool,
    },
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Who asks.
    pub turn: Id,
    /// The task it asks for.
    pub task: String,
    /// Whom.
    pub model: String,
    /// The how-manieth question of the turn, from 0.
    pub round: u32,
    /// The how-manieth attempt at it, from 0.
    pub attempt: u32,
    /// The conversation so far.
    pub messages: Arc<Vec<Message>>,
    /// What may be called.
    pub tools: Arc<[Arc<ToolInfo>]>,
    /// Tokens the answer may have.
    pub max_output: u64,
    /// How it is to answer.
    pub options: ModelOptions,
}

impl Effect {
    /// The turn or call this is done for.
    pub fn id(&self) -> &Id {
        match self {
            Effect::Ask(question) => &question.turn,
            Effect::Call { id, .. } => id,
        }
    }
}

/// What the run must hold before it may act: model slots and locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// How many turns want to ask each model.
    pub models: BTreeMap<String, usize>,
    /// Locks that calls want.
    pub locks: BTreeSet<String>,
    /// Names of tools to look up.
    pub belts: BTreeSet<String>,
    /// Whether a parked run has work to go on with, for which it needs a slot again.
    pub slot: bool,
}

/// What the run holds: slots not yet used, locks not yet used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grants {
    /// Free slots by model.
    pub models: BTreeMap<String, usize>,
    /// Locks.
    pub locks: BTreeSet<String>,
    /// What names stand for that were looked up.
    pub belts: BTreeMap<String, Vec<Arc<ToolInfo>>>,
    /// Whether it holds a slot among the runs of its kind; only a parked run
    /// goes without.
    pub slot: bool,
}

/// Steps being collected. Claims made in one pass count against each other.
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
    /// How often this pass asks the model.
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

    /// Who was handed work in this pass.
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
    /// Keeps what can be recorded without a slot; for the rest one is needed.
    fn without_slot(self) -> Next {
        let (work, steps): (Vec<Step>, Vec<Step>) =
            self.steps.into_iter().partition(|step| step.event.kind.needs_slot());
        let slot = !work.is_empty() || self.needs != Needs::default();
        Next { steps, timer: self.timer, needs: Needs { slot, ..Needs::default() } }
    }
}

impl Run {
    /// What should happen now, with what is granted. Changes nothing; ask again
    /// after applying it.
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
        // What is due already and not yet done waits for a grant, not for time.
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

    /// Whether tasks wait for nothing but the run to be resumed.
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

    /// A cancelled run has nothing left to decide.
    fn close_reviews(&self, plan: &mut Plan) {
        if let Some((End::Cancelled, _)) = self.stop() {
            self.close_questions(plan);
        }
    }

    /// Nobody needs to answer any more.
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

    /// Begins a task, once it is known what it may call.
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

    /// What a turn wants that needs nothing from outside.
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

    /// Writes a task's opening, with whatever people have said to it so far.
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

    /// A task's answer is checked, reviewed and taken; a subtask's goes back to
    /// the call that asked for it.
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

    /// The output stands: what there is to learn from it is kept, then it is taken.
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

    /// Prose does not end a subtask that owes a structured result.
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

    /// A failed task is recorded; a failed subtask is its parent's business.
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

    /// Whether a turn was handed over shows in that its caller is somebody else.
    fn end_delegation(&self, id: &Id, turn: &Conversation, error: Option<String>, plan: &mut Plan) {
        let caller = id.parent().and_then(|(parent, _)| self.conversations().get(&parent));
        if caller.is_some_and(|caller| caller.worker() != turn.worker()) {
            plan.record(EventKind::DelegationEnded { call: id.clone(), error });
        }
    }

    /// Nothing is left to do: says how it went.
    fn finish(&self, plan: &mut Plan) {
        let total = self.spec().team().len();
        let end = match self.stop() {
            Some((end, _)) => end.clone(),
            None if self.failed() > 0 => End::Failed { error: format!("{} of {total} tasks failed", self.failed()) },
            None => End::Completed { exit: Exit::Completed },
        };
        self.conclude(end, plan);
    }

    /// The last facts of a run; a chat is told what is left of the turn first.
    fn conclude(&self, end: End, plan: &mut Plan) {
        if self.spec().chat.is_some() {
            plan.record(EventKind::Chat(chat::ChatEventKind::AnswerStored));
            plan.record(EventKind::Chat(chat::ChatEventKind::CostSummed));
        }
        plan.record(EventKind::RunEnded { end });
    }

    /// Ends a run that is to stop at once, but only when nothing of it is under
    /// way any more.
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
