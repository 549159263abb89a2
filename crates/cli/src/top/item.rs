//! The rows of the screen: what waits for a person, and the runs, as the server lists
//! them.

use crate::commands::runs::list::{doing, status_text};
use crate::show::record::{Page, Record};
use crate::show::safe::{exact, exact_json};
use crate::show::words::{dollars, preview};

/// A row of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// The id of the review, the approval or the run.
    pub(super) id: String,
    pub(super) kind: Kind,
    /// The state in one word.
    pub(super) status: String,
    /// The tasks that are done, of all.
    pub(super) tasks: String,
    pub(super) time: Time,
    /// The task, the tool, or the title of a run.
    pub(super) name: String,
    /// The question that is asked, or what the run does or waits for.
    pub(super) now: String,
    /// Everything else that is known, in lines.
    pub(super) detail: String,
}

/// The kind of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A review of this text.
    Output(String),
    /// A review before a task starts.
    Beginning,
    /// A question of an agent.
    Question,
    /// A call of a chat that waits for permission.
    Approval,
    /// A run under way.
    Active,
    /// A run that waits to be resumed.
    Paused,
    /// A run that is over.
    Ended,
}

/// The time that is shown of a row, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// It has been so since this moment, since 1970.
    Since(u64),
    /// It took this long.
    Took(u64),
    Unknown,
}

/// Returns the row of an open review.
pub(super) fn review(review: Record<'_>, now: u64) -> Item {
    let (kind, status, asked) = match review.text("timing") {
        "BEFORE_EXECUTION" => (Kind::Beginning, "review", "may it start?".to_owned()),
        "DURING_EXECUTION" => (Kind::Question, "question", review.line("prompt")),
        _ => (Kind::Output(review.text("taskOutput").to_owned()), "review", preview(review.text("taskOutput"))),
    };
    let text = match &kind {
        Kind::Question => review.text("prompt").to_owned() + &options(review),
        Kind::Beginning => review.text("taskDescription").to_owned(),
        Kind::Output(_) | Kind::Approval | Kind::Active | Kind::Paused | Kind::Ended => {
            review.text("taskOutput").to_owned()
        }
    };
    Item {
        id: review.line("reviewId"),
        detail: format!("{}\n{}", review.line("reviewId"), text),
        kind,
        status: status.to_owned(),
        tasks: String::new(),
        time: moment(review, "createdAt", now).map_or(Time::Unknown, Time::Since),
        name: review.line("taskName"),
        now: asked,
    }
}

fn options(review: Record<'_>) -> String {
    review.list("options").filter_map(|option| option.0.as_str()).map(|option| format!("\n- {option}")).collect()
}

/// Returns the row of a call that waits for permission: what is allowed is shown exactly.
pub(super) fn approval(approval: Record<'_>, now: u64) -> Item {
    let args = approval.0.get("args").map(|args| exact_json(&args.to_string())).unwrap_or_default();
    let why = Some(approval.line("message")).filter(|why| !why.is_empty()).map(|why| format!("{}\n", exact(&why)));
    Item {
        id: approval.line("approval_id"),
        kind: Kind::Approval,
        status: "approval".to_owned(),
        tasks: String::new(),
        time: moment(approval, "created_at", now).map_or(Time::Unknown, Time::Since),
        name: exact(&approval.line("tool_name")),
        now: args.clone(),
        detail: format!(
            "{} in {}\n{}{args}",
            approval.line("approval_id"),
            approval.line("thread_id"),
            why.unwrap_or_default()
        ),
    }
}

/// Returns the row of a run.
pub(super) fn run(run: Record<'_>, now: u64) -> Item {
    let id = run.line("runId");
    let status = status_text(run);
    let kind = match (run.text("status"), run.has("paused")) {
        ("ACCEPTED" | "RUNNING", true) => Kind::Paused,
        ("ACCEPTED" | "RUNNING", false) => Kind::Active,
        _ => Kind::Ended,
    };
    let since = moment(run, "waitingSince", now).or_else(|| moment(run, "startedAt", now));
    let time = match (&kind, run.count("durationMs")) {
        (Kind::Ended, took) => took.map_or(Time::Unknown, Time::Took),
        (_, _) => since.map_or(Time::Unknown, Time::Since),
    };
    let tasks = run.count("completedTasks").zip(run.count("taskCount"));
    let tasks = tasks.map(|(done, all)| format!("{done}/{all}")).unwrap_or_default();
    let name = Some(run.line("title")).filter(|title| !title.is_empty()).unwrap_or_else(|| run.line("ensemble"));
    Item { kind, status, tasks, time, name, now: doing(run), detail: run_detail(run), id }
}

fn run_detail(run: Record<'_>) -> String {
    let facts = [
        run.line("runId"),
        run.line("ensemble"),
        run.line("model"),
        run.count("totalTokens")
            .filter(|tokens| *tokens > 0)
            .map(|tokens| format!("{tokens} tokens"))
            .unwrap_or_default(),
        run.cost("costEstimate").map(dollars).unwrap_or_default(),
        run.pairs("tags"),
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let texts = ["waitingReason", "error", "outputPreview"].map(|field| run.text(field)).into_iter();
    let texts: String = texts.filter(|text| !text.is_empty()).map(|text| format!("\n{text}")).collect();
    format!("{}{texts}", facts.join(" · "))
}

/// Returns the moment in a field, in milliseconds since 1970.
fn moment(record: Record<'_>, field: &str, now: u64) -> Option<u64> {
    let past = record.since(field, &Page { now, room: None })?;
    Some(now.saturating_sub(u64::try_from(past.as_millis()).unwrap_or_default()))
}
