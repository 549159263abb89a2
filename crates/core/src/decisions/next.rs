//! Decides the next steps of a run. A [`Step`] is an event and, for some, an effect: the type ensures that
//! no effect is executed before its event is stored. There is no special code for recovery after a crash:
//! an orphaned call is handled like any other call with a next step.

mod plan;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::chat;
use crate::decisions::answer::is_blank;
use crate::decisions::chore::Chore;
use crate::decisions::finish;
use crate::decisions::output;
use crate::decisions::prompt::{self, Input, Opening, Revision};
use crate::decisions::subtask;
use crate::state::budget::{Breach, Reason};
use crate::state::conversation::{Conversation, Phase};
use crate::state::flow::Due;
use crate::state::gate::{self, ReviewState};
use crate::state::run::{Run, Timer};
use consort_spec::catalog::ToolInfo;
use consort_spec::cause::{Cause, SkipCause, TaskFailure, UnfitReason};
use consort_spec::event::{CancelMode, End, EventKind, Exit, Key, Subject, Timing};
use consort_spec::id::{Id, Millis, Place};
use consort_spec::message::Outcome;
use consort_spec::reach::Provider;
use consort_spec::spec::{ReviewPolicy, ReviewRule, Task};

pub(crate) use plan::Plan;
pub use plan::{Effect, Grants, Needs, Next, Question, Step, Terms};

/// Returns the event of a task that the end of the run leaves out.
fn skipped(id: &Id, reason: &str) -> EventKind {
    EventKind::TaskSkipped { conversation: id.clone(), reason: reason.to_owned(), cause: Some(SkipCause::Ended) }
}

impl Next {
    /// Keeps the steps that can be recorded without a slot; if others remain, a slot is requested.
    fn without_slot(self) -> Next {
        let (work, steps): (Vec<Step>, Vec<Step>) =
            self.steps.into_iter().partition(|step| gate::needs_slot(&step.event.kind));
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
        for (id, conversation) in self.wants().attention.iter().filter_map(|id| self.conversations().get_key_value(id))
        {
            self.attend(id, conversation, grants, plan)?;
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

    /// Returns whether tasks are ready and only wait for the run to be resumed.
    fn holds_back(&self) -> bool {
        self.paused() && self.stop().is_none() && self.flow().begins()
    }

    fn check_clock(&self, plan: &Plan) -> Result<(), Breach> {
        let limit = self.spec().limits.wall_clock_ms;
        let observed = self.clock().read(plan.at);
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
            let approval = *approval;
            let answer = chat::Answer::Closed;
            let by = "stop".to_owned();
            plan.record(EventKind::Chat(chat::ChatEventKind::ApprovalAnswered { approval, answer, by, args: None }));
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
                    let approval = *approval;
                    let answer = chat::Answer::Expired;
                    let by = "timeout".to_owned();
                    let kind = chat::ChatEventKind::ApprovalAnswered { approval, answer, by, args: None };
                    plan.record(EventKind::Chat(kind));
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

    /// Plans what is due, task by task and group by group.
    fn start_tasks(&self, grants: &Grants, plan: &mut Plan) {
        let is_cancelled = matches!(self.stop(), Some((End::Cancelled, _)));
        let may_begin = self.stop().is_none() && !self.paused();
        if may_begin && self.flow().begins() && self.started_at().is_none() {
            plan.record(EventKind::RunStarted);
        }
        for (place, due) in self.flow().due() {
            match due {
                Due::Gather => self.gather(*place, plan),
                Due::Skip(cause) if !is_cancelled => plan.record(self.skips(*place, *cause)),
                Due::Fail(failure) if !is_cancelled => self.fail(&place.id(), failure, plan),
                Due::Begin { passed } if may_begin => self.begin(*place, *passed, grants, plan),
                Due::Skip(_) | Due::Fail(_) | Due::Begin { .. } => {}
            }
        }
        if may_begin {
            self.flow().gates().iter().for_each(|group| self.open_gate(*group, plan));
        }
    }

    /// Begins work whose condition holds, or evaluates an expression of it.
    fn begin(&self, place: Place, passed: bool, grants: &Grants, plan: &mut Plan) {
        let conversation = place.id();
        let Some(task) = self.spec().tasks.get(place.task) else { return };
        let own_list = task.for_each.as_ref().filter(|_| place.item.is_none());
        match (&task.when, own_list) {
            (Some(when), _) if !passed => self.evaluate(Subject::Task { conversation }, (Key::When, when), place, plan),
            (_, Some(each)) => self.evaluate(Subject::Task { conversation }, (Key::ForEach, &each.list), place, plan),
            _ if task.review_before => self.open_review(&conversation, Timing::BeforeExecution, task, plan),
            _ => self.start(conversation, grants, plan),
        }
    }

    /// Begins a task, once the tools it may call are known.
    pub(crate) fn start(&self, conversation: Id, grants: &Grants, plan: &mut Plan) {
        if self.compose(conversation.task_index(), grants, plan) {
            plan.record(EventKind::TaskStarted { conversation });
        }
    }

    /// Records the tools that a task's names resolve to; false while the lookup is not done.
    pub(crate) fn compose(&self, task: usize, grants: &Grants, plan: &mut Plan) -> bool {
        let Some(spec) = self.spec().tasks.get(task) else { return true };
        let names: Vec<&String> = spec.tools.iter().filter(|name| self.is_looked_up(name)).collect();
        if names.is_empty() {
            return true;
        }
        let unknown: Vec<&&String> = names.iter().filter(|name| !grants.belts.contains_key(**name)).collect();
        unknown.iter().for_each(|name| plan.need_belt(name));
        if !unknown.is_empty() {
            return false;
        }
        let found = names.iter().filter_map(|name| grants.belts.get(*name)).flatten();
        let mut tools: BTreeMap<&str, Arc<ToolInfo>> = BTreeMap::new();
        for tool in found {
            // A tool that the task names is that peer's, also where a pattern stands for it too.
            let is_named = tools.get(tool.name.as_str()).is_some_and(|known| known.reach.provider == Provider::Named);
            if !is_named {
                tools.insert(&tool.name, tool.clone());
            }
        }
        plan.record(EventKind::BeltComposed { task, tools: tools.into_values().collect() });
        true
    }

    pub(crate) fn open_review(&self, conversation: &Id, timing: Timing, task: &Task, plan: &mut Plan) {
        let opened = plan.recorded(|kind| matches!(kind, EventKind::ReviewOpened { .. }));
        let review = u32::try_from(self.reviews().len() + opened).unwrap_or(u32::MAX);
        let (due, on_timeout) = match gate::deadline(&self.spec().review, task, timing) {
            Some((timeout, then)) => (Some(plan.at.saturating_add(timeout)), Some(then)),
            None => (None, None),
        };
        plan.record(EventKind::ReviewOpened { review, conversation: conversation.clone(), timing, due, on_timeout });
    }

    /// Plans the step of a conversation that needs no granted resource.
    fn attend(&self, id: &Id, conversation: &Conversation, grants: &Grants, plan: &mut Plan) -> Result<(), Breach> {
        match conversation.phase() {
            Phase::Start if self.stop().is_some() => {
                plan.record(skipped(id, SkipCause::Ended.reason(false)));
            }
            Phase::Start if !self.paused() => self.start(id.clone(), grants, plan),
            Phase::Prompt if !self.paused() => {
                if !self.begin_chore(id, conversation, &[Chore::Recall, Chore::GuardInput, Chore::Handle], plan) {
                    self.open(id, conversation, plan);
                }
            }
            Phase::Unfinished(completeness) => self.settle_unfinished(id, conversation, *completeness, plan),
            Phase::Calling(_) => return self.call(id, conversation, grants, plan),
            Phase::Answered(text) => self.answered(id, conversation, text.as_str(), plan),
            Phase::Approved(_) => self.approved(id, conversation, plan),
            Phase::Skipping(reason) => plan.record(skipped(id, reason)),
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
    fn open(&self, id: &Id, conversation: &Conversation, plan: &mut Plan) {
        if let Some(chat) = self.spec().chat.as_ref().filter(|_| self.converses(id)) {
            let system = chat::system(self, chat).into();
            let user = chat.content.clone();
            return plan.record(EventKind::PromptBuilt { conversation: id.clone(), system, user });
        }
        let Some(task) = self.task(id) else { return };
        let directives = self.undelivered(id, conversation, plan.at);
        for (number, _) in &directives {
            plan.record(EventKind::DirectiveDelivered {
                directive: *number,
                conversation: id.clone(),
                round: conversation.round(),
            });
        }
        let revision = conversation.revision().map(|(feedback, previous)| Revision {
            attempt: conversation.rejections() + 1,
            feedback: feedback.as_str(),
            previous: previous.as_str(),
        });
        let opening = Opening {
            task,
            inputs: self.inputs_of(id, task).map(|(task, output)| Input { task, output: output.as_str() }).collect(),
            revision,
            directives: directives.into_iter().map(|(_, directive)| directive).collect(),
            memories: conversation.memories(),
            notes: conversation.notes(),
        };
        let system = prompt::system(task).into();
        let user = prompt::user(&opening).into();
        plan.record(EventKind::PromptBuilt { conversation: id.clone(), system, user });
    }

    /// Handles an answer: a task's is checked, reviewed and accepted; a subtask's goes back to the call that
    /// asked for it.
    fn answered(&self, id: &Id, conversation: &Conversation, answer: &str, plan: &mut Plan) {
        if id.parent().is_some() {
            return self.answer_call(id, conversation, answer, plan);
        }
        let Some(task) = self.task(id) else { return };
        if let Some(schema) = &task.output_schema
            && let Err(violations) = output::parse(answer, schema)
        {
            return self.send_back(id, conversation, violations, plan);
        }
        if self.begin_chore(id, conversation, &[Chore::GuardOutput], plan) {
            return;
        }
        if self.reviewed(id, task, plan) {
            return self.open_review(id, Timing::AfterExecution, task, plan);
        }
        self.approved(id, conversation, plan);
    }

    /// Completes an approved task, after its reflection and after its output is remembered, if it has these.
    fn approved(&self, id: &Id, conversation: &Conversation, plan: &mut Plan) {
        let task = self.task(id);
        let reflects =
            task.is_some_and(|task| task.reflection && task.handler.is_none()) && conversation.critique().is_none();
        if reflects && self.stop().is_none() {
            plan.record(EventKind::ReflectionBegun { conversation: id.clone() });
        } else if self.stop().is_some() || !self.begin_chore(id, conversation, &[Chore::Remember], plan) {
            plan.record(EventKind::TaskCompleted { conversation: id.clone() });
        }
    }

    fn send_back(&self, id: &Id, conversation: &Conversation, violations: Vec<String>, plan: &mut Plan) {
        let retries = self.spec().limits.schema_retries;
        if conversation.schema_failures() >= retries
            || self.stop().is_some_and(|(_, mode)| *mode > CancelMode::AfterTask)
        {
            let message =
                format!("the output does not fit its schema after {retries} corrections: {}", violations.join("; "));
            return self.fail(id, &TaskFailure::new(Cause::OutputUnfit, message), plan);
        }
        plan.record(EventKind::OutputRejected { conversation: id.clone(), violations });
    }

    fn answer_call(&self, id: &Id, conversation: &Conversation, answer: &str, plan: &mut Plan) {
        if let (Some(_), None) = (conversation.schema(), conversation.finished()) {
            return self.demand(id, conversation, plan);
        }
        if is_blank(answer) {
            return self.fail(id, &TaskFailure::new(Cause::NoResult, "the subtask answered nothing"), plan);
        }
        if self.builds(id) {
            return self.built(id, conversation, answer, plan);
        }
        let duration_ms = plan.at.saturating_sub(conversation.used().started_at);
        self.end_delegation(id, conversation, None, plan);
        plan.record(EventKind::ToolReturned { call: id.clone(), outcome: Outcome::Subtask, duration_ms, cause: None });
    }

    /// Reminds a subtask that answered in prose that it must return a structured result.
    fn demand(&self, id: &Id, conversation: &Conversation, plan: &mut Plan) {
        if conversation.nudges() < finish::NUDGES_MAX && self.stop().is_none() {
            return plan.record(EventKind::FinishDemanded { conversation: id.clone() });
        }
        self.fail(
            id,
            &TaskFailure::unfit(UnfitReason::NoFinishCall, conversation.unfit(), conversation.violations()),
            plan,
        );
    }

    fn reviewed(&self, id: &Id, task: &Task, plan: &Plan) -> bool {
        if matches!(self.stop(), Some((End::Cancelled, _))) {
            return false;
        }
        match (task.review, self.spec().review.policy) {
            (Some(ReviewRule::Required), _) | (None, ReviewPolicy::AfterEveryTask) => true,
            (Some(ReviewRule::Skip), _) | (None, ReviewPolicy::Never) => false,
            (None, ReviewPolicy::AfterLastTask) => {
                let ends_unit = |conversation: &Id| {
                    conversation.site().is_whole() && self.spec().group_of(conversation.task_index()).is_none()
                };
                let ended = plan.recorded(
                    |kind| matches!(kind, EventKind::TaskCompleted { conversation } if ends_unit(conversation)),
                );
                self.spec().is_last_of_unit(id.task_index()) && self.flow().left() == 1 + ended
            }
        }
    }

    /// Records a failed task; a failed subtask becomes the failed call of its parent.
    pub(crate) fn fail(&self, id: &Id, failure: &TaskFailure, plan: &mut Plan) {
        let cause = Some(failure.cause().clone());
        match (id.parent(), self.conversations().get(id)) {
            (Some(_), Some(conversation)) => {
                let duration_ms = plan.at.saturating_sub(conversation.used().started_at);
                let outcome = Outcome::failed(subtask::failure(conversation, failure));
                self.end_delegation(id, conversation, Some(failure.reason()), plan);
                plan.record(EventKind::ToolReturned { call: id.clone(), outcome, duration_ms, cause });
            }
            (Some(_) | None, _) => {
                let cancelled = *failure.cause() == Cause::Cancelled;
                plan.record(EventKind::TaskFailed {
                    conversation: id.clone(),
                    reason: failure.reason(),
                    cancelled,
                    cause,
                });
            }
        }
    }

    /// Records the end of a delegation. A conversation was delegated if its caller's worker is another one.
    fn end_delegation(&self, id: &Id, conversation: &Conversation, error: Option<String>, plan: &mut Plan) {
        let caller = id.parent().and_then(|(parent, _)| self.conversations().get(&parent));
        if caller.is_some_and(|caller| caller.worker() != conversation.worker()) {
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
        for (id, conversation) in self.conversations().iter() {
            self.give_up_orphans(id, conversation, plan);
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
        for (id, conversation) in self.conversations().iter().rev() {
            self.give_up_calls(id, conversation, plan);
            match (end, id.parent()) {
                (End::Completed { .. }, None) => {
                    plan.record(skipped(id, &failure.reason()));
                }
                (End::Completed { .. } | End::Failed { .. } | End::Cancelled, _) => self.fail(id, &failure, plan),
            }
        }
        self.conclude(end.clone(), plan);
    }
}
