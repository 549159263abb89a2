//! The state of a run for a person who watches it, as a fold over its frames. Times
//! count from the start of the run and come with each frame, because nothing here
//! reads a clock.

mod parts;

use std::time::Duration;

use consort_core::budget::Reason;
use consort_core::event::Timing;
use consort_core::frame::field::{
    Amount, CallOutcome, DeclaredTask, Exceeded, Nullable, Review as Requested, TaskPlace, Then,
};
use consort_core::frame::live::LiveFrame;
use consort_core::frame::numbered::{EventFrame, RunFrame};
use consort_core::frame::run;
use consort_core::spec::{OnTimeout, Workflow};
use consort_core::view::{self, ResultFrame, TaskOutput};

use super::instance::{self, instance};
use super::plain::decided;
use super::words::one_line;
use crate::client::received::Frame;

pub(crate) use parts::{About, Call, Conversation, Review, RunResult, State, Task};

/// The name of the manager of a hierarchy; its frames do not name it, because it is
/// not declared.
const MANAGER: &str = "manager";

/// A run as it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct View {
    /// The ensemble's name.
    pub(crate) ensemble: String,
    /// The tasks, as declared; in a hierarchy, the manager's alone.
    pub(crate) tasks: Vec<Task>,
    /// The number of the first task.
    pub(crate) first: usize,
    /// The names of all tasks, as declared, and the roles of their agents.
    pub(crate) declared: Vec<(String, String)>,
    /// The reason why the whole run is held up.
    pub(crate) hold: Option<String>,
    /// Undecided reviews, the oldest first.
    pub(crate) reviews: Vec<Review>,
    /// The last decision of a person, and who decided.
    pub(crate) last_decision: Option<String>,
    /// The limit that ended the run.
    pub(crate) breach: Option<String>,
    /// Names of tasks whose outputs were cut at the output limit.
    pub(crate) truncated: Vec<String>,
    /// Names of tasks that failed in the middle of an answer, with the partial text.
    pub(crate) partial: Vec<(String, String)>,
    /// The outcome.
    pub(crate) result: Option<RunResult>,
}

impl View {
    /// Applies a frame that came at `now`. Frames that this version cannot read are ignored.
    pub(crate) fn apply(&mut self, frame: &Frame, now: Duration) {
        match frame {
            Frame::Event(event) => match &**event {
                EventFrame::Run(event) => self.happened(event, now),
                EventFrame::Turn(_) => {}
            },
            Frame::Live(live) => match &**live {
                LiveFrame::Token { conversation, token, offset, .. } => {
                    self.change(&conversation.turn_id, |it| it.state.say(token, *offset));
                }
                LiveFrame::Chunk { .. } | LiveFrame::ToolProgress(_) => {}
            },
            Frame::Result(result) => {
                let ResultFrame::RunResult(result) = &**result;
                self.over(outcome(result, self));
            }
            Frame::Unknown => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other frames change nothing that is shown")]
    fn happened(&mut self, event: &RunFrame, now: Duration) {
        event.frame.conversation().into_iter().for_each(|place| self.arrive(place, now));
        match &event.frame {
            run::Frame::RunAccepted { ensemble, workflow, tasks, .. } => self.accepted(ensemble, *workflow, tasks),
            run::Frame::RunForked { .. } => self.forked(now),
            run::Frame::ToolCalled { conversation, call_id, outcome, tool_result, .. } => {
                self.change(&conversation.turn_id, |it| it.state.close(call_id));
                self.returned(call_id, *outcome, tool_result, now);
            }
            run::Frame::SubtaskStarted { call_id, title, .. } => self.delegated(call_id, title, now),
            run::Frame::DelegationStarted { delegation, .. } => {
                self.delegated(&delegation.delegation_id, &delegation.worker_role, now);
            }
            run::Frame::ReviewRequested(review) => self.review_opened(review, now),
            run::Frame::ReviewDecided { review_id, decision, by, .. } => {
                self.last_decision = Some(decided(*decision, by));
                self.review_over(review_id);
            }
            run::Frame::ReviewTimedOut { review_id, .. } | run::Frame::ReviewClosed { review_id } => {
                self.last_decision = None;
                self.review_over(review_id);
            }
            run::Frame::CancelRequested { .. } => self.hold = Some("stopping".to_owned()),
            run::Frame::RunPaused { .. } => self.hold = Some("paused".to_owned()),
            run::Frame::RunResumed { .. } => self.hold = None,
            run::Frame::BudgetExceeded(exceeded) => self.breach = Some(breach(exceeded)),
            run::Frame::TaskCompleted { .. } | run::Frame::TaskFailed { .. } | run::Frame::TaskSkipped { .. } => {
                self.task_over(&event.frame, now);
            }
            _ => self.went_on(event, now),
        }
    }

    /// Applies the frames that only change what a conversation is doing.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other frames change nothing that is shown")]
    fn went_on(&mut self, event: &RunFrame, now: Duration) {
        let Some(place) = event.frame.conversation() else { return };
        self.change(&place.turn_id, |it| match &event.frame {
            run::Frame::TaskStarted { .. } => {
                it.began.get_or_insert(now);
                it.state = State::Ready;
            }
            run::Frame::LlmIterationStarted { model, .. } => {
                model.clone_into(&mut it.model);
                it.state = State::Asking;
            }
            run::Frame::ModelRetried { .. } => it.state = State::Asking,
            run::Frame::ModelFailed { message, then, .. } => {
                it.state = match until_retry(event, then) {
                    Some(wait) => State::Retrying { at: now + wait, why: one_line(message) },
                    None => State::Ready,
                }
            }
            run::Frame::LlmIterationCompleted { tool_requests, .. } => {
                it.state = match tool_requests.as_ref().map_or(0, Vec::len) {
                    0 => State::Ready,
                    left => State::calling(left),
                }
            }
            run::Frame::MetricsSnapshot { input_tokens, output_tokens, cost_estimate, .. } => {
                let known = u64::try_from(*input_tokens).ok().zip(u64::try_from(*output_tokens).ok());
                it.tokens = known.map(|(read, written)| read + written);
                it.cost = cost_estimate.as_ref().and_then(|cost| cost.parse().ok());
            }
            run::Frame::ToolDispatched { call_id, tool_name, tool_arguments, .. } => {
                let what = one_line(&format!("tool {tool_name} {tool_arguments}"));
                it.state.open(Call { id: call_id.clone(), what });
            }
            run::Frame::ChoreStarted { tool_names, .. } => it.state = State::calling(tool_names.len()),
            run::Frame::ReflectionStarted { .. } => it.state = State::Ready,
            _ => {}
        });
    }

    /// Returns the number of tasks that have their output; in a hierarchy, those a worker
    /// has done.
    pub(crate) fn finished(&self) -> usize {
        if self.first > 1 {
            let is_done = |role: &str| self.conversations().any(|it| it.state == State::Done && it.name == role);
            return self.declared.iter().filter(|(_, role)| is_done(role)).count();
        }
        self.tasks.iter().filter(|task| task.conversation.state == State::Done).count()
    }

    /// Returns the tokens used so far, as far as models report them.
    pub(crate) fn tokens(&self) -> Option<u64> {
        let known: Vec<u64> = self.conversations().filter_map(|it| it.tokens).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// Returns the cost so far, where there are prices.
    pub(crate) fn cost(&self) -> Option<f64> {
        let known: Vec<f64> = self.conversations().filter_map(|it| it.cost).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// Returns the names of the tasks this one reads from that have not ended.
    pub(crate) fn waits_for<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a str> {
        let read = task.reads.iter().filter_map(|position| self.tasks.get(*position));
        read.filter(|read| !read.conversation.state.has_ended()).map(|read| read.conversation.name.as_str())
    }

    /// Returns the task that a conversation belongs to, and the conversation of this id or
    /// the nearest one above it.
    pub(crate) fn conversation(&self, id: &str) -> Option<(&Task, &Conversation)> {
        let task = self.tasks.get(self.position(id)?)?;
        let below = above(id).find_map(|id| task.subtasks.iter().find(|it| it.id == id));
        Some((task, below.unwrap_or(&task.conversation)))
    }

    fn conversations(&self) -> impl Iterator<Item = &Conversation> {
        // The tokens of a task are those of its instances.
        let own = |task: &'_ Task| task.instances().next().is_none();
        self.tasks
            .iter()
            .flat_map(move |task| own(task).then_some(&task.conversation).into_iter().chain(&task.subtasks))
    }

    fn accepted(&mut self, ensemble: &str, workflow: Workflow, declared: &[DeclaredTask]) {
        ensemble.clone_into(&mut self.ensemble);
        self.declared = declared.iter().map(|task| (task.name.clone(), one_line(&task.agent_role))).collect();
        let task = |(position, task): (usize, &DeclaredTask)| {
            let before = position.checked_sub(1).into_iter();
            let read = task.context.iter().filter_map(|number| number.checked_sub(1));
            let reads = if workflow == Workflow::Sequential { before.collect() } else { read.collect() };
            let conversation = Conversation::new(&(position + 1).to_string(), one_line(&task.name));
            Task { conversation, reads, subtasks: Vec::new() }
        };
        (self.first, self.tasks) = match workflow {
            Workflow::Hierarchical => {
                let number = declared.len() + 1;
                let conversation = Conversation::new(&number.to_string(), MANAGER.to_owned());
                (number, vec![Task { conversation, ..Task::default() }])
            }
            Workflow::Sequential | Workflow::Parallel => (1, declared.iter().enumerate().map(task).collect()),
        };
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut Conversation)) {
        self.conversation_at(id).map(change);
    }

    /// Returns the conversation of this id, or the nearest one above it.
    fn conversation_at(&mut self, id: &str) -> Option<&mut Conversation> {
        let task = self.task_of(id)?;
        let below = above(id).find_map(|id| task.subtasks.iter().position(|it| it.id == id));
        match below {
            Some(below) => task.subtasks.get_mut(below),
            None => Some(&mut task.conversation),
        }
    }

    pub(super) fn task_of(&mut self, id: &str) -> Option<&mut Task> {
        let position = self.position(id)?;
        self.tasks.get_mut(position)
    }

    /// Returns the position of the task that a conversation or a call belongs to.
    fn position(&self, id: &str) -> Option<usize> {
        instance::number(id)?.checked_sub(self.first)
    }

    /// Resets times and costs: the work so far was done by another run.
    fn forked(&mut self, now: Duration) {
        for task in &mut self.tasks {
            for it in std::iter::once(&mut task.conversation).chain(&mut task.subtasks) {
                let under_way = it.began.is_some() && !it.state.has_ended();
                it.began = under_way.then_some(now);
                it.took = None;
                it.tokens = None;
                it.cost = None;
            }
        }
    }

    /// Turns a call into a subtask.
    fn delegated(&mut self, id: &str, name: &str, now: Duration) {
        let name = one_line(name);
        let call = Call { id: id.to_owned(), what: format!("subtask {name}") };
        self.change(id, |it| it.state.open(call));
        let subtask = Conversation { state: State::Ready, began: Some(now), ..Conversation::new(id, name) };
        let Some(Task { subtasks, .. }) = self.task_of(id) else { return };
        let before = subtasks.iter().rposition(|it| instance(&it.id) == instance(id));
        subtasks.insert(before.map_or(subtasks.len(), |before| before + 1), subtask);
    }

    /// Ends the subtask that a call had become, if it had.
    fn returned(&mut self, id: &str, outcome: CallOutcome, result: &str, now: Duration) {
        let Some(task) = self.task_of(id) else { return };
        let Some(subtask) = task.subtasks.iter_mut().find(|it| it.id == id) else { return };
        subtask.took = subtask.began.map(|began| now.saturating_sub(began));
        subtask.state = match outcome {
            CallOutcome::Success => State::Done,
            CallOutcome::Failure => State::Failed(one_line(result)),
        };
    }

    fn review_opened(&mut self, review: &Requested, now: Duration) {
        let due = time_limit(review).map(|limit| now + limit);
        let then = after_timeout(review.on_timeout);
        let subject = review.task.conversation.turn_id.clone();
        let about = about(review);
        match &about {
            About::Beginning | About::Output(_) => {
                self.change(&subject, |it| it.state = State::Reviewing { due, then });
            }
            About::Question { question, .. } => {
                let call = Call { id: subject.clone(), what: format!("asks you: {}", one_line(question)) };
                self.change(&subject, |it| it.state.open(call));
            }
        }
        let id = review.review_id.clone();
        let is_cut = review.truncated;
        self.reviews.push(Review { id, subject, name: name_of(&review.task), about, due, then, is_cut });
    }

    fn review_over(&mut self, id: &str) {
        let Some(at) = self.reviews.iter().position(|review| review.id == id) else { return };
        let review = self.reviews.remove(at);
        let reviewed = self.conversation_at(&review.subject);
        let reviewed = reviewed.filter(|it| matches!(it.state, State::Reviewing { .. }));
        reviewed.into_iter().for_each(|it| it.state = State::Ready);
    }

    fn over(&mut self, result: RunResult) {
        self.hold = None;
        self.result = Some(result);
        let pending = self.tasks.iter_mut().filter(|task| task.conversation.state == State::Pending);
        pending.for_each(|task| task.conversation.state = State::Skipped("the run ended before it".to_owned()));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a task ends in one of three ways")]
    fn task_over(&mut self, frame: &run::Frame, now: Duration) {
        match frame {
            run::Frame::TaskCompleted { task, duration_ms, token_count, parsed_output, truncated, .. } => {
                if *truncated == Nullable::Value(true) {
                    self.truncated.push(name_of(task));
                }
                self.ended(task, now, State::Done);
                let Some(conversation) = self.conversation_at(&task.conversation.turn_id) else { return };
                conversation.took = Some(Duration::from_millis(*duration_ms));
                conversation.tokens = u64::try_from(*token_count).ok().or(conversation.tokens);
                conversation.parsed = parsed_output.as_option().cloned();
            }
            run::Frame::TaskFailed { task, reason, cancelled, partial_output, .. } => {
                self.partial.extend(partial_output.as_ref().map(|said| (name_of(task), said.to_string())));
                let failed = || State::Failed(one_line(reason));
                self.ended(task, now, cancelled.map_or_else(failed, |_| State::Cancelled));
            }
            run::Frame::TaskSkipped { task, reason, .. } => self.ended(task, now, State::Skipped(one_line(reason))),
            _ => {}
        }
    }

    fn ended(&mut self, task: &TaskPlace, now: Duration, state: State) {
        let Some(conversation) = self.conversation_at(&task.conversation.turn_id) else { return };
        conversation.took = conversation.began.map(|began| now.saturating_sub(began));
        conversation.parsed = None;
        conversation.state = state;
    }
}

/// Returns the id, the ids above it, and so on up to the task.
fn above(id: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(id), |id| Some(id.rsplit_once('.')?.0.rsplit_once('.')?.0))
}

fn name_of(task: &TaskPlace) -> String {
    instance::name(&task.task_name.as_deref().map(one_line).unwrap_or_default(), &task.conversation)
}

fn about(review: &Requested) -> About {
    match review.timing {
        Timing::BeforeExecution => About::Beginning,
        Timing::DuringExecution => About::Question {
            question: review.prompt.clone().unwrap_or_default(),
            options: review.options.clone().unwrap_or_default(),
        },
        Timing::AfterExecution => About::Output(review.task_output.to_string()),
    }
}

/// Returns the time that a review waits, unless it waits for ever.
pub(crate) fn time_limit(review: &Requested) -> Option<Duration> {
    Some(Duration::from_millis(review.timeout_ms)).filter(|limit| !limit.is_zero())
}

fn after_timeout(action: Option<OnTimeout>) -> &'static str {
    match action {
        Some(OnTimeout::ExitEarly) => "the run ends there",
        Some(OnTimeout::Fail) => "the task fails",
        Some(OnTimeout::Continue) | None => "the run goes on",
    }
}

/// Describes the limit that the run would have exceeded.
pub(crate) fn breach(Exceeded { reason, limit, observed }: &Exceeded) -> String {
    let reason = match reason {
        Reason::Subtasks => "subtasks",
        Reason::LlmCalls => "llm calls",
        Reason::ToolCalls => "tool calls",
        Reason::WallClock => "wall clock",
        Reason::Tokens => "tokens",
        Reason::Cost => "cost",
    };
    let number = |amount: &Amount| match amount {
        Amount::Count(count) => count.to_string(),
        Amount::Usd(dollars) => format!("{dollars:?}"),
    };
    format!("the budget for {reason} is used up: {} would pass the limit of {}", number(observed), number(limit))
}

/// Returns the time from a model's failure to the next attempt, if there is one.
pub(crate) fn until_retry(event: &RunFrame, then: &Then) -> Option<Duration> {
    match then {
        Then::Retry { at } => Some(Duration::from_millis(at.0.saturating_sub(event.at.0))),
        Then::Fallback { .. } | Then::Shorten | Then::GiveUp => None,
    }
}

/// Returns an output for the standard output: the JSON where there is a schema, else
/// the text.
fn answer(output: &TaskOutput, view: &View) -> String {
    let known = || {
        let task = view.tasks.iter().find(|task| task.conversation.name == one_line(&output.task_name))?;
        task.conversation.parsed.as_ref()
    };
    let parsed = output.parsed_output.as_ref().or_else(known);
    parsed.map_or_else(|| output.output.to_string(), ToString::to_string)
}

fn outcome(result: &view::RunResult, view: &View) -> RunResult {
    // A manager's output is not that of a task.
    let of_task = |output: &&TaskOutput| view.declared.iter().any(|(known, _)| *known == output.task_name);
    RunResult {
        status: result.status,
        answer: result.outputs.last().map(|last| answer(last, view)),
        error: result.error.clone(),
        finished: result.outputs.iter().filter(of_task).count(),
        took: Duration::from_millis(result.duration_ms),
        tokens: result.metrics.tokens(),
        cost: result.metrics.cost_usd(),
    }
}
