//! A run as lines for a file: each frame that is worth a line becomes one, and each
//! line names its task, so that it can be searched for.

use super::frame::Frame;
use super::view::{RunResult, Status, View};
use super::words::{counted, cut, dollars, one_line, soon, span, until};

/// Maximal columns of a tool's arguments or result; the frames hold all of it.
const QUOTE_MAX: usize = 200;

/// Returns the line of a frame that was just applied to the view.
pub(crate) fn line(view: &View, frame: &Frame) -> Option<String> {
    let ensemble = &view.ensemble;
    match frame.kind() {
        "run_accepted" => {
            let count = counted(view.declared.len() as u64, "task");
            Some(format!("{ensemble}: {} started, {count}", frame.text("runId")))
        }
        "run_forked" => {
            let origin = [frame.text("retryOf"), frame.text("forkedFrom/runId")].concat();
            let done = format!("{} of {}", view.finished(), counted(view.declared.len() as u64, "task"));
            Some(format!("{ensemble}: {} goes on from {origin}, {done} done there", frame.text("runId")))
        }
        "cancel_requested" => Some(format!("{ensemble}: stopping")),
        "run_paused" => Some(format!("{ensemble}: paused")),
        "run_resumed" => Some(format!("{ensemble}: resumed")),
        "budget_exceeded" => view.breach.as_ref().map(|breach| format!("{ensemble}: {breach}")),
        "review_decided" => Some(format!("{ensemble}: review decided: {}", frame.text("decision"))),
        "delegation_started" => {
            let (by, to) = (frame.text("delegatingAgentRole"), frame.text("workerRole"));
            Some(format!("{ensemble}: {by} hands work to {to}: {}", quoted(frame.text("taskDescription"))))
        }
        "delegation_failed" => {
            Some(format!("{ensemble}: {} did not do it: {}", frame.text("workerRole"), one_line(frame.text("reason"))))
        }
        "review_timed_out" => Some(format!("{ensemble}: nobody reviewed in time: {}", frame.text("action"))),
        "run_result" => view.result.as_ref().map(|result| format!("{ensemble}: {}", ended(view, result))),
        _ => Some(format!("{}: {}", name(view, frame)?, happened(view, frame)?)),
    }
}

/// Describes an event of a task or a subtask.
fn happened(view: &View, frame: &Frame) -> Option<String> {
    let tool = || one_line(frame.text("toolName"));
    Some(match frame.kind() {
        "task_started" => "started".to_owned(),
        "llm_iteration_started" => format!("asks {}", frame.text("model")),
        "model_retried" => format!("asks {} again", frame.text("model")),
        "model_failed" => format!("model failed: {}; {}", one_line(frame.text("message")), then(frame)),
        "history_dropped" => "leaves out the oldest messages, which no longer fit".to_owned(),
        "output_rejected" => "the answer does not fit its schema and is sent back".to_owned(),
        "answer_truncated" => truncated(frame).to_owned(),
        "answer_empty" if frame.text("then") == "continue" => "the model said nothing and is asked again".to_owned(),
        "answer_empty" => "the model said nothing".to_owned(),
        "loop_noticed" => format!("calls {} again and again and is told so", tool()),
        "tool_dispatched" => format!("tool {} {}", tool(), quoted(frame.text("toolArguments"))),
        "chore_started" => chore(frame.text("chore")).to_owned(),
        "reflection_started" => "looks back on its work".to_owned(),
        "subtask_started" => format!("subtask {}", one_line(frame.text("title"))),
        "tool_called" => match (frame.text("outcome"), frame.span("durationMs").unwrap_or_default()) {
            ("SUCCESS", took) => format!("tool {} answered in {}", tool(), span(took)),
            (_, took) => format!("tool {} failed in {}: {}", tool(), span(took), quoted(frame.text("toolResult"))),
        },
        "review_requested" if frame.text("timing") == "DURING_EXECUTION" => {
            format!("asks a person: {}", one_line(frame.text("prompt")))
        }
        "review_requested" => match frame.span("timeoutMs").filter(|wait| !wait.is_zero()) {
            Some(wait) => format!("waits for a review; in {} {}", until(wait), view.reviews.last()?.then),
            None => "waits for a review".to_owned(),
        },
        "task_completed" => completed(view, frame),
        "task_failed" if frame.value("cancelled").is_some() => "cancelled".to_owned(),
        "task_failed" => format!("failed: {}", one_line(frame.text("reason"))),
        "task_skipped" => format!("skipped: {}", one_line(frame.text("reason"))),
        _ => return None,
    })
}

/// Returns the task's name, with the subtask's title where it is about one.
fn name(view: &View, frame: &Frame) -> Option<String> {
    let (task, turn) = view.turn(frame)?;
    let below = (turn.id != task.turn.id).then_some(turn.name.as_str());
    Some(below.map_or_else(|| turn.name.clone(), |title| format!("{} > {title}", task.turn.name)))
}

fn quoted(text: &str) -> String {
    cut(&one_line(text), QUOTE_MAX)
}

/// Describes the handling of a reply that was cut off.
fn truncated(frame: &Frame) -> &'static str {
    match (frame.text("then"), frame.value("inCall").is_some()) {
        ("continue", true) => "the reply was cut inside a tool call and is asked for again",
        ("continue", false) => "the answer was cut at the output limit and is continued",
        ("accept", _) => "the answer was cut at the output limit and is taken as it is",
        (_, true) => "the reply was cut inside a tool call",
        (_, false) => "the answer was cut at the output limit",
    }
}

/// Describes an action that a run does for a task by itself.
fn chore(word: &str) -> &str {
    match word {
        "recall" => "recalls what earlier runs remembered",
        "guard_input" => "is checked before it begins",
        "handle" => "is done by a tool",
        "guard_output" => "has its output checked",
        "remember" => "remembers its output",
        other => other,
    }
}

fn then(frame: &Frame) -> String {
    match (frame.text("then/action"), frame.wait("then/at")) {
        ("retry", Some(wait)) => format!("retry in {}", soon(wait)),
        ("fallback", _) => format!("asks {} instead", frame.text("then/model")),
        ("shorten", _) => "asks again with fewer messages".to_owned(),
        _ => "gives up".to_owned(),
    }
}

fn completed(view: &View, frame: &Frame) -> String {
    let took = span(frame.span("durationMs").unwrap_or_default());
    let turn = view.turn(frame).map(|(_, turn)| turn);
    let tokens = turn.and_then(|turn| turn.tokens).map(|tokens| counted(tokens, "token"));
    let cost = turn.and_then(|turn| turn.cost).map(dollars);
    let used: String = [tokens, cost].into_iter().flatten().map(|used| format!(", {used}")).collect();
    let cut = if frame.value("truncated").is_some() { ", cut at the output limit" } else { "" };
    format!("done in {took}{used}{cut}")
}

/// Describes the end of the run, in one line.
pub(crate) fn ended(view: &View, result: &RunResult) -> String {
    let status = match result.status {
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Cancelled => "cancelled",
    };
    let tasks = format!("{} of {}", result.finished, counted(view.declared.len() as u64, "task"));
    let tokens = result.tokens.map(|tokens| counted(tokens, "token"));
    let used = [tokens, result.cost.map(dollars)];
    let used: String = used.into_iter().flatten().map(|used| format!(", {used}")).collect();
    format!("{status} after {}, {tasks} done{used}", span(result.took))
}
