//! A run as lines for a file: each frame that is worth a line becomes one, and each
//! line names its task, so that it can be searched for.

use std::time::Duration;

use consort_core::answer::FollowUp;
use consort_core::chore::Chore;
use consort_core::event::Timing;
use consort_core::frame::field::{CallOutcome, DecisionWord, Nullable, Review, Then};
use consort_core::frame::numbered::{EventFrame, RunFrame};
use consort_core::frame::run;
use consort_core::status::Status;

use super::view::{RunResult, View, breach, time_limit, until_retry};
use super::words::{counted, cut, dollars, one_line, soon, span, until};
use crate::client::received::Frame;

/// The maximum number of columns of a tool's arguments or result; the frames hold all of it.
const QUOTE_MAX: usize = 200;

/// Returns the line of a frame that was just applied to the view.
pub(crate) fn line(view: &View, frame: &Frame) -> Option<String> {
    match frame {
        Frame::Event(event) => match &**event {
            EventFrame::Run(event) => of_run(view, event),
            EventFrame::Turn(_) => None,
        },
        Frame::Result(_) => view.result.as_ref().map(|result| format!("{}: {}", view.ensemble, ended(view, result))),
        Frame::Live(_) | Frame::Unknown => None,
    }
}

/// Describes an event of the whole run, or else of a task or a subtask.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other events are of a task or a subtask, or have no line")]
fn of_run(view: &View, event: &RunFrame) -> Option<String> {
    let run = &event.run_id;
    let happened = match &event.frame {
        run::Frame::RunAccepted { .. } => {
            format!("{run} started, {}", counted(view.declared.len() as u64, "task"))
        }
        run::Frame::RunForked(descent) => format!("{run} goes on from {}", forked(view, descent)),
        run::Frame::CancelRequested { .. } => "stopping".to_owned(),
        run::Frame::RunPaused { .. } => "paused".to_owned(),
        run::Frame::RunResumed { .. } => "resumed".to_owned(),
        run::Frame::BudgetRaised { by, .. } => format!("{by} raised the budget"),
        run::Frame::BudgetExceeded(exceeded) => breach(exceeded),
        run::Frame::ReviewDecided { decision, by, .. } => format!("review decided: {}", decided(*decision, by)),
        run::Frame::ReviewTimedOut { action, .. } => format!("nobody reviewed in time: {}", action.word()),
        run::Frame::DelegationStarted { delegation, task_description } => {
            let by = delegation.delegating_agent_role.as_deref().unwrap_or_default();
            format!("{by} hands work to {}: {}", delegation.worker_role, quoted(task_description))
        }
        run::Frame::DelegationFailed { delegation, reason } => {
            format!("{} did not do it: {}", delegation.worker_role, one_line(reason))
        }
        _ => {
            let id = &event.frame.conversation()?.turn_id;
            return Some(format!("{}: {}", name(view, id)?, of_task(view, event)?));
        }
    };
    Some(format!("{}: {happened}", view.ensemble))
}

/// Describes the run that a run continues.
fn forked(view: &View, descent: &run::Descent) -> String {
    let run::Descent { retry_of, forked_from, edited_outputs } = descent;
    let fork = forked_from.as_ref().map(|origin| &origin.run_id);
    let origin = retry_of.as_ref().or(fork).map(String::as_str).unwrap_or_default();
    let declared = counted(view.declared.len() as u64, "task");
    let edited =
        edited_outputs.iter().map(|edited| format!(", output of {} edited by {}", edited.task_name, edited.by));
    format!("{origin}, {} of {declared} done there{}", view.finished(), edited.collect::<String>())
}

/// Describes an event of a task or a subtask.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other events have no line")]
fn of_task(view: &View, event: &RunFrame) -> Option<String> {
    Some(match &event.frame {
        run::Frame::TaskStarted { .. } => "started".to_owned(),
        run::Frame::LlmIterationStarted { model, .. } => format!("asks {model}"),
        run::Frame::ModelRetried { call, .. } => format!("asks {} again", call.model.as_deref().unwrap_or_default()),
        run::Frame::ModelFailed { message, then, .. } => {
            format!("model failed: {}; {}", one_line(message), after_failure(event, then))
        }
        run::Frame::HistoryDropped { .. } => "leaves out the oldest messages, which no longer fit".to_owned(),
        run::Frame::OutputRejected { .. } => "the answer does not fit its schema and is sent back".to_owned(),
        run::Frame::AnswerTruncated { then, in_call, .. } => truncated(*then, in_call.is_some()).to_owned(),
        run::Frame::AnswerEmpty { then: FollowUp::Continue, .. } => {
            "the model said nothing and is asked again".to_owned()
        }
        run::Frame::AnswerEmpty { .. } => "the model said nothing".to_owned(),
        run::Frame::LoopNoticed { tool_name, .. } => {
            format!("calls {} again and again and is told so", one_line(tool_name))
        }
        run::Frame::ToolDispatched { tool_name, tool_arguments, .. } => {
            format!("tool {} {}", one_line(tool_name), quoted(tool_arguments))
        }
        run::Frame::ChoreStarted { chore, .. } => chore_words(*chore).to_owned(),
        run::Frame::ReflectionStarted { .. } => "looks back on its work".to_owned(),
        run::Frame::SubtaskStarted { title, .. } => format!("subtask {}", one_line(title)),
        run::Frame::ToolCalled { tool_name, duration_ms, outcome, tool_result, .. } => {
            let tool = one_line(tool_name);
            let took = span(Duration::from_millis(*duration_ms));
            match outcome {
                CallOutcome::Success => format!("tool {tool} answered in {took}"),
                CallOutcome::Failure => format!("tool {tool} failed in {took}: {}", quoted(tool_result)),
            }
        }
        run::Frame::ReviewRequested(review) => review_requested(view, review)?,
        run::Frame::TaskCompleted { task, duration_ms, truncated, .. } => {
            let cut = if *truncated == Nullable::Value(true) { ", cut at the output limit" } else { "" };
            let took = span(Duration::from_millis(*duration_ms));
            format!("done in {took}{}{cut}", used(view, &task.conversation.turn_id))
        }
        run::Frame::TaskFailed { cancelled: Some(_), .. } => "cancelled".to_owned(),
        run::Frame::TaskFailed { reason, .. } => format!("failed: {}", one_line(reason)),
        run::Frame::TaskSkipped { reason, .. } => format!("skipped: {}", one_line(reason)),
        _ => return None,
    })
}

/// Returns the task's name, with the subtask's title where it is about one.
fn name(view: &View, id: &str) -> Option<String> {
    let (task, conversation) = view.conversation(id)?;
    let root = task.root(id);
    let below = (conversation.id != root.id).then_some(conversation.name.as_str());
    let whole = |title| format!("{} > {title}", root.name);
    Some(below.map_or_else(|| root.name.clone(), whole))
}

fn review_requested(view: &View, review: &Review) -> Option<String> {
    Some(match (review.timing, time_limit(review)) {
        (Timing::DuringExecution, _) => {
            format!("asks a person: {}", one_line(review.prompt.as_deref().unwrap_or_default()))
        }
        (Timing::BeforeExecution | Timing::AfterExecution, Some(wait)) => {
            format!("waits for a review; in {} {}", until(wait), view.reviews.last()?.then)
        }
        (Timing::BeforeExecution | Timing::AfterExecution, None) => "waits for a review".to_owned(),
    })
}

fn quoted(text: &str) -> String {
    cut(&one_line(text), QUOTE_MAX)
}

/// Describes the handling of a reply that was cut off.
fn truncated(then: FollowUp, in_call: bool) -> &'static str {
    match (then, in_call) {
        (FollowUp::Continue, true) => "the reply was cut inside a tool call or JSON and is asked for again",
        (FollowUp::Continue, false) => "the answer was cut at the output limit and is continued",
        (FollowUp::Accept, _) => "the answer was cut at the output limit and is taken as it is",
        (FollowUp::Fail, true) => "the reply was cut inside a tool call or JSON",
        (FollowUp::Fail, false) => "the answer was cut at the output limit",
    }
}

/// Describes an action that a run does for a task by itself.
fn chore_words(chore: Chore) -> &'static str {
    match chore {
        Chore::Recall => "recalls what earlier runs remembered",
        Chore::GuardInput => "is checked before it begins",
        Chore::Handle => "is done by a tool",
        Chore::GuardOutput => "has its output checked",
        Chore::Remember => "remembers its output",
    }
}

fn after_failure(event: &RunFrame, then: &Then) -> String {
    match then {
        Then::Retry { .. } => format!("retry in {}", soon(until_retry(event, then).unwrap_or_default())),
        Then::Fallback { model } => format!("asks {model} instead"),
        Then::Shorten => "asks again with fewer messages".to_owned(),
        Then::GiveUp => "gives up".to_owned(),
    }
}

/// Returns the usage of a task that has ended, each part after a comma.
fn used(view: &View, id: &str) -> String {
    let conversation = view.conversation(id).map(|(_, conversation)| conversation);
    let tokens = conversation.and_then(|it| it.tokens).map(|tokens| counted(tokens, "token"));
    let cost = conversation.and_then(|it| it.cost).map(dollars);
    [tokens, cost].into_iter().flatten().map(|used| format!(", {used}")).collect()
}

/// Describes the end of the run, in one line.
pub(crate) fn ended(view: &View, result: &RunResult) -> String {
    let status = match result.status {
        Status::Completed => "completed",
        Status::Failed | Status::Accepted | Status::Running | Status::Rejected => "failed",
        Status::Cancelled => "cancelled",
    };
    let tasks = format!("{} of {}", result.finished, counted(view.declared.len() as u64, "task"));
    let tokens = result.tokens.map(|tokens| counted(tokens, "token"));
    let used = [tokens, result.cost.map(dollars)];
    let used: String = used.into_iter().flatten().map(|used| format!(", {used}")).collect();
    format!("{status} after {}, {tasks} done{used}", span(result.took))
}

/// Returns the decision of a review, and who decided.
pub(super) fn decided(decision: DecisionWord, by: &str) -> String {
    let by = one_line(by);
    if by.is_empty() { decision.word().to_owned() } else { format!("{} by {by}", decision.word()) }
}
