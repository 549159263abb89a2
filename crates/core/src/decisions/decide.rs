//! Decides which events a command causes, or refuses it with a message. People, the run's owner and ended
//! effects all use this one entry point.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chat;
use crate::chat::Answer;
use crate::decisions::answer::is_blank;
use crate::decisions::next::Grants;
use crate::decisions::output;
use crate::state::budget::{Claim, Raise};
use crate::state::calls::CallState;
use crate::state::conversation::Conversation;
use crate::state::gate::{DecidedBy, ReviewOutcome};
use crate::state::run::Run;
use consort_spec::bounds::{DIRECTIVES_BYTES_MAX, DIRECTIVES_MAX};
use consort_spec::catalog::ModelInfo;
use consort_spec::cause::Cause;
use consort_spec::event::{
    Adoption, AfterFailure, CancelMode, Decision, Directive, End, Event, EventKind, FileChange, Timing,
};
use consort_spec::id::{Id, Millis};
use consort_spec::message::{Failure, FailureKind, Outcome, Reply, Spent, Usage};
use consort_spec::mistake::listed;
use consort_spec::status::Status;
use consort_spec::text::Text;

/// The wait before the first retry; each further retry waits twice as long.
const BACKOFF_MS: u64 = 500;
const BACKOFF_MAX_MS: u64 = 30_000;
/// The longest wait a provider may ask for; if it asks for more, it is given up on.
const RETRY_AFTER_MAX_MS: u64 = 120_000;
/// The number of times a reviewer may send a task back.
const REJECTIONS_MAX: u32 = 3;

/// A request to change a run. What only its owner requests is never stored or sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after the types that document them")]
pub enum Command {
    /// Makes the caller the run's owner.
    #[serde(skip)]
    Adopt(Adoption),
    /// Ends the run because processes died while working on it; its content is not evaluated.
    #[serde(skip)]
    Poison(Adoption),
    /// Cancels the run.
    Cancel { mode: CancelMode, by: String },
    /// Pauses the run: nothing new begins.
    Pause { by: String },
    /// Resumes the run.
    Resume { by: String },
    /// Switches to this model for later calls; its fallbacks follow it in the list.
    SwitchModel { models: Vec<Arc<ModelInfo>>, by: String },
    /// Gives up the model calls that a task, or every task, waits for.
    GiveUpCall { task: Option<String>, by: String },
    /// Raises some of the run's limits.
    RaiseBudget { raise: Raise, by: String },
    /// Sends a message to the agents.
    Direct { directive: Directive },
    /// Decides an open review.
    Review { review: u32, decision: Decision, by: String },
    /// A command that only a chat's turns accept.
    Chat(chat::Command),
    /// Records the end of an effect.
    #[serde(skip)]
    Report(Report),
}

/// The error of a run that is ended because processes died while working on it.
const POISONED: &str = "POISONED";

/// The end of an effect.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named after the types that document them")]
pub enum Report {
    /// The model answered.
    Replied { conversation: Id, reply: Arc<Reply>, usage: Option<Usage>, latency_ms: u64 },
    /// The model did not answer. `dice` is a random number, for waits of random length.
    Unanswered { conversation: Id, failure: Failure, dice: u32, said: Text },
    /// The tool answered, or its time was up, which is the `cause` then. `spent` is the usage that another
    /// ensemble reports for the call; `changes` are the changes it made to files, even when the call failed.
    Returned {
        call: Id,
        outcome: Outcome,
        cause: Option<Cause>,
        duration_ms: u64,
        spent: Option<Spent>,
        changes: Vec<FileChange>,
    },
    /// The effect was dropped, or broke, before it could answer.
    Dropped { id: Id, said: Text },
}

/// The reason why a run refused a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// The run has ended; an ended log never grows.
    #[error("the run has ended: {status}")]
    Ended {
        /// The status in which it ended.
        status: Status,
    },
    /// There is no such review.
    #[error("there is no such review")]
    NoReview,
    /// The review is already decided; the first decision counts.
    #[error("the review has been decided: {verdict}{made}")]
    Decided {
        /// The decision.
        verdict: ReviewOutcome,
        /// Its maker and time.
        #[serde(default)]
        made: DecidedBy,
    },
    /// The task was already sent back the maximum number of times.
    #[error("the task has been rejected {REJECTIONS_MAX} times; approve it, edit it or end the run")]
    Rejected,
    /// The edited output breaks the task's schema.
    #[error("the edited output does not fit the task's schema: {0}")]
    Unfit(String),
    /// An edited output that says nothing: it would stand for the answer of the task.
    #[error("`revisedOutput` must say something: an empty output is no answer. To end the run here, send EXIT_EARLY")]
    BlankEdit,
    /// No task or agent of this name exists in the run.
    #[error("no task or role '{target}'. Available: {choices}")]
    NoTarget {
        /// The name that was given.
        target: String,
        /// The names that exist.
        choices: String,
    },
    /// The run keeps as many directives as it may.
    #[error("the run keeps {DIRECTIVES_MAX} directives of {DIRECTIVES_BYTES_MAX} bytes together, and takes no more")]
    TooManyDirectives,
    /// The model has no price and must not be used in a run with a cost limit.
    #[error("model '{0}' has no price, so the run's cost limit could not be kept")]
    Unpriced(String),
    /// There is no such approval.
    #[error("there is no such question for permission")]
    NoApproval,
    /// The approval is already answered; the first answer counts.
    #[error("the question has been answered: {answer}{made}")]
    Answered {
        /// The answer.
        answer: Answer,
        /// Its maker and time.
        #[serde(default)]
        made: DecidedBy,
    },
    /// A limit cannot be raised to the value that was asked for.
    #[error("{0}")]
    NotRaised(String),
    /// The changed arguments do not fit the tool.
    #[error("the changed arguments cannot be used: {0}")]
    UnfitArguments(String),
    /// No such call or request is under way (any more).
    #[error("no such call is under way")]
    Stale,
}

impl Run {
    /// Returns the events that a command causes (none when it changes nothing), or the reason why it is
    /// refused.
    pub fn decide(&self, command: Command, now: Millis) -> Result<Vec<Event>, Refused> {
        if let Some(end) = self.end() {
            return Err(Refused::Ended { status: end.status() });
        }
        let at = now.max(self.at());
        let facts = match command {
            Command::Adopt(adoption) => vec![self.adopt(adoption)],
            Command::Poison(adoption) => self.poison(adoption, at),
            Command::Cancel { mode, by } => self.cancel(mode, by),
            Command::Pause { by } if !self.paused() => vec![EventKind::RunPaused { by }],
            Command::Resume { by } if self.paused() => vec![EventKind::RunResumed { by }],
            Command::Pause { .. } | Command::Resume { .. } => Vec::new(),
            Command::SwitchModel { models, by } => self.switch(models, by)?,
            Command::GiveUpCall { task, by } => self.give_up_call(task.as_deref(), &by, at)?,
            Command::RaiseBudget { raise, by } => {
                let limits = self.spec().limits.raised(&raise).map_err(Refused::NotRaised)?;
                vec![EventKind::BudgetRaised { limits, by }]
            }
            Command::Direct { directive } => self.direct(directive)?,
            Command::Review { review, decision, by } => self.review(review, decision, by)?,
            Command::Chat(command) => self.chat_decided(command, at)?,
            Command::Report(report) => self.report(report, at)?,
        };
        Ok(facts.into_iter().map(|kind| Event { at, kind }).collect())
    }

    fn adopt(&self, Adoption { epoch, node, reason }: Adoption) -> EventKind {
        EventKind::RunAdopted { epoch: epoch.max(self.epoch() + 1), node, reason }
    }

    /// Returns all events that end a run whose validation killed its process: the same as for a run that is to
    /// stop at once and has nothing under way.
    fn poison(&self, adoption: Adoption, at: Millis) -> Vec<EventKind> {
        let mut run = self.clone();
        let mut facts = vec![self.adopt(adoption)];
        facts.iter().cloned().for_each(|kind| run.apply(&Event { at, kind }));
        run.wind_down(End::Failed { error: POISONED.to_owned() }, CancelMode::Now);
        while !run.ended() {
            let steps = run.next(at, &Grants::default()).steps;
            if steps.is_empty() {
                // Nothing else can be ended in order, so the run is ended directly.
                facts.push(EventKind::RunEnded { end: End::Failed { error: POISONED.to_owned() } });
                return facts;
            }
            for step in steps {
                run.apply(&step.event);
                facts.push(step.event.kind);
            }
        }
        facts
    }

    /// Cancels the run. One that is paused or has not begun is stopped at once: it has nothing to finish first.
    fn cancel(&self, mode: CancelMode, by: String) -> Vec<EventKind> {
        let mode =
            if self.paused() || self.epoch() == 0 || self.started_at().is_none() { CancelMode::Now } else { mode };
        if self.cancel_mode().is_some_and(|held| held >= mode) {
            return Vec::new();
        }
        vec![EventKind::CancelRequested { mode, by }]
    }

    fn switch(&self, models: Vec<Arc<ModelInfo>>, by: String) -> Result<Vec<EventKind>, Refused> {
        if self.spec().limits.cost > 0
            && let Some(unpriced) = models.iter().find(|model| model.price.is_none())
        {
            return Err(Refused::Unpriced(unpriced.alias.clone()));
        }
        let previous = self.switched().unwrap_or(&self.spec().model).clone();
        Ok(vec![EventKind::ModelSwitched { models, previous, by }])
    }

    fn direct(&self, directive: Directive) -> Result<Vec<EventKind>, Refused> {
        if let Some(target) = &directive.target {
            self.check_target(target)?;
        }
        let known = self.directives();
        let bytes =
            known.iter().map(|known| known.content.len()).sum::<usize>().saturating_add(directive.content.len());
        if known.len() >= DIRECTIVES_MAX || bytes > DIRECTIVES_BYTES_MAX {
            return Err(Refused::TooManyDirectives);
        }
        Ok(vec![EventKind::DirectiveGiven { directive }])
    }

    /// Checks that a task or an agent has this name.
    fn check_target(&self, target: &str) -> Result<(), Refused> {
        let names = || self.spec().tasks.iter().flat_map(|task| [task.name.as_str(), task.agent.role.as_str()]);
        if names().any(|name| name.eq_ignore_ascii_case(target)) {
            return Ok(());
        }
        let mut choices: Vec<&str> = names().collect();
        choices.sort_unstable();
        choices.dedup();
        Err(Refused::NoTarget { target: target.to_owned(), choices: listed(choices) })
    }

    /// Gives up the model calls of a task, under way or waiting to be tried again: each counts as failed, and the
    /// same model is not asked again for it.
    fn give_up_call(&self, target: Option<&str>, by: &str, now: Millis) -> Result<Vec<EventKind>, Refused> {
        target.map_or(Ok(()), |target| self.check_target(target))?;
        let is_meant = |id: &Id| {
            let task = self.spec().tasks.get(id.task_index());
            let names = task.map(|task| [task.name.as_str(), task.agent.role.as_str()]);
            target.is_none_or(|target| {
                names.is_some_and(|names| names.iter().any(|name| name.eq_ignore_ascii_case(target)))
            })
        };
        let waits = |conversation: &Conversation| conversation.is_asked() || conversation.is_backing_off();
        let given_up = |(id, conversation): (&Id, &Conversation)| {
            let failure = Failure {
                kind: FailureKind::Dropped,
                message: format!("given up by {by}"),
                retry_after_ms: None,
                status: None,
                charged: conversation.is_asked(),
            };
            let then = self.after(id, conversation, &failure, now);
            EventKind::ModelFailed { conversation: id.clone(), failure, then, said: Text::default() }
        };
        let meant = self
            .conversations()
            .iter()
            .filter(|(id, conversation)| is_meant(id) && waits(conversation) && !self.stopping());
        let facts: Vec<EventKind> = meant.map(given_up).collect();
        if facts.is_empty() { Err(Refused::Stale) } else { Ok(facts) }
    }

    fn review(&self, review: u32, decision: Decision, by: String) -> Result<Vec<EventKind>, Refused> {
        let state = self.reviews().get(review as usize).ok_or(Refused::NoReview)?;
        if let Some(verdict) = state.verdict {
            return Err(Refused::Decided { verdict, made: state.made.clone() });
        }
        match &decision {
            Decision::Reject { .. }
                if self
                    .conversations()
                    .get(&state.conversation)
                    .is_some_and(|conversation| conversation.rejections() >= REJECTIONS_MAX) =>
            {
                return Err(Refused::Rejected);
            }
            Decision::Edit { output } if state.timing == Timing::AfterExecution => {
                self.check_edit(&state.conversation, output.as_str())?
            }
            Decision::Continue | Decision::Edit { .. } | Decision::ExitEarly | Decision::Reject { .. } => {}
        }
        Ok(vec![EventKind::ReviewDecided { review, decision, by }])
    }

    fn check_edit(&self, conversation: &Id, edited: &str) -> Result<(), Refused> {
        if is_blank(edited) {
            return Err(Refused::BlankEdit);
        }
        let schema = self.task(conversation).and_then(|task| task.output_schema.as_ref());
        let parsed = schema.map_or(Ok(()), |schema| output::parse(edited, schema).map(drop));
        parsed.map_err(|violations| Refused::Unfit(violations.join("; ")))
    }

    fn report(&self, report: Report, now: Millis) -> Result<Vec<EventKind>, Refused> {
        match report {
            Report::Replied { conversation, reply, usage, latency_ms } if self.is_asked(&conversation) => {
                let used = self.used(&conversation, usage.as_ref());
                let counted = EventKind::UsageCounted { conversation: conversation.clone(), used };
                let completeness = self.completeness(&conversation, &reply);
                Ok(vec![EventKind::ModelReplied { conversation, reply, usage, latency_ms, completeness }, counted])
            }
            Report::Unanswered { conversation, failure, dice, said } if self.is_asked(&conversation) => {
                Ok(self.unanswered(conversation, (failure, said), now, dice))
            }
            Report::Dropped { id, said } if self.is_asked(&id) => {
                let failure = Failure {
                    kind: FailureKind::Dropped,
                    message: "stopped".to_owned(),
                    retry_after_ms: None,
                    status: None,
                    charged: true,
                };
                Ok(vec![EventKind::ModelFailed { conversation: id, failure, then: AfterFailure::GiveUp, said }])
            }
            Report::Returned { call, outcome, cause, duration_ms, spent, changes } if self.is_dispatched(&call) => {
                let charged = spent.map(|spent| EventKind::CallCharged { call: call.clone(), spent });
                let changed = |change| EventKind::FileChanged { call: call.clone(), change };
                let changes: Vec<EventKind> = changes.into_iter().map(changed).collect();
                let returned = EventKind::ToolReturned { call, outcome, duration_ms, cause };
                Ok(charged.into_iter().chain([returned]).chain(changes).collect())
            }
            Report::Dropped { id, .. } if self.is_dispatched(&id) => Ok(vec![self.given_up(&id)]),
            Report::Replied { .. } | Report::Unanswered { .. } | Report::Returned { .. } | Report::Dropped { .. } => {
                Err(Refused::Stale)
            }
        }
    }

    /// Returns the amount a call really used; when that is unknown, the amount that was set aside.
    fn used(&self, id: &Id, usage: Option<&Usage>) -> Claim {
        let Some(conversation) = self.conversations().get(id) else { return Claim::default() };
        let price = self.models().get(conversation.model()).and_then(|model| model.price);
        match usage {
            Some(usage) => Claim { tokens: usage.total(), cost: price.map_or(0, |price| price.total(usage)) },
            None => conversation.claim(),
        }
    }

    /// Handles a model call without an answer. Text already sent is kept only when the conversation ends with
    /// it.
    fn unanswered(&self, id: Id, (failure, said): (Failure, Text), now: Millis, dice: u32) -> Vec<EventKind> {
        let Some(conversation) = self.conversations().get(&id) else { return Vec::new() };
        if failure.kind == FailureKind::Overflow && conversation.droppable() > 0 {
            let dropped =
                EventKind::HistoryDropped { conversation: id.clone(), exchanges: conversation.droppable().div_ceil(2) };
            let then = AfterFailure::Shorten;
            let said = Text::default();
            return vec![EventKind::ModelFailed { conversation: id, failure, then, said }, dropped];
        }
        let earliest = now + backoff_ms(conversation.attempt(), dice);
        let then = self.after(&id, conversation, &failure, earliest.max(now + failure.retry_after_ms.unwrap_or(0)));
        let said = if then == AfterFailure::GiveUp { said } else { Text::default() };
        vec![EventKind::ModelFailed { conversation: id, failure, then, said }]
    }

    /// Returns the step after a failure: retry, fallback or giving up. A model that was switched away from in
    /// the meantime is not asked again.
    fn after(&self, id: &Id, conversation: &Conversation, failure: &Failure, at: Millis) -> AfterFailure {
        let model = self.alias(id);
        if *conversation.model() != model {
            return AfterFailure::Fallback { model };
        }
        let retries = self.models().get(conversation.model()).map_or(0, |model| model.retries);
        let patient = failure.retry_after_ms.is_none_or(|wait| wait <= RETRY_AFTER_MAX_MS);
        if failure.kind.is_retryable() && conversation.attempt() < retries && patient {
            return AfterFailure::Retry { at };
        }
        match self.fallback(id, conversation) {
            Some(model) if failure.kind != FailureKind::Overflow => AfterFailure::Fallback { model },
            Some(_) | None => AfterFailure::GiveUp,
        }
    }

    /// Returns the model to ask after the one that gave up.
    fn fallback(&self, id: &Id, conversation: &Conversation) -> Option<String> {
        self.models().get(self.primary(id))?.fallback.get(conversation.fallback()).cloned()
    }

    fn is_asked(&self, conversation: &Id) -> bool {
        self.conversations().get(conversation).is_some_and(|conversation| conversation.is_asked())
    }

    fn is_dispatched(&self, call: &Id) -> bool {
        self.slot(call).is_some_and(|(_, slot)| *slot == CallState::Dispatched)
    }
}

/// Returns a wait between half and all of a duration that doubles with each attempt.
fn backoff_ms(attempt: u32, dice: u32) -> u64 {
    let full = BACKOFF_MS.saturating_mul(1 << attempt.min(10)).min(BACKOFF_MAX_MS);
    full / 2 + full / 2 * u64::from(dice) / u64::from(u32::MAX)
}
