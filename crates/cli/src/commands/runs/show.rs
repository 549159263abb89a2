//! `consort runs show`: the details of one run that people ask for first.

use super::list::{status_text, waits};
use crate::commands::call::Printed;
use crate::commands::reviews;
use crate::show::record::{Page, Record};
use crate::show::safe::safe;
use crate::show::table::{Column, Table};
use crate::show::words::{ago, counted, dollars, grouped, span};
use crate::show::wrap::wrapped;

/// The columns of the names of a head's lines.
const NAMES: usize = 10;
/// The lines of a head that are ids.
const IDS: [&str; 3] = ["run", "retries", "forked"];

/// Returns the response in words: a head, the tasks, open reviews, the output.
pub(super) fn render(run: Record<'_>, page: &Page) -> Printed {
    let mut parts = vec![head(run, page), tasks(run, page)];
    parts.extend(run.list("pendingReviews").map(|review| reviews::paragraph(review, page)));
    parts.extend(run.list("tasks").filter(|task| task.has("output")).map(|task| output(task, page)));
    parts.extend(run.list("tasks").filter(|task| task.has("partialOutput")).map(|task| partial(task, page)));
    let error = Some(run.line("error")).filter(|error| !error.is_empty());
    parts.extend(error.map(|error| format!("{}\n", fitted(&format!("It failed: {error}"), page))));
    Printed::out(parts.join("\n"))
}

fn head(run: Record<'_>, page: &Page) -> String {
    let started = run.since("startedAt", page).map(|past| format!("started {}", ago(past)));
    let took = run.span("durationMs").map(|took| format!("took {}", span(took)));
    let tokens = run.count("totalTokens").filter(|tokens| *tokens > 0).map(|tokens| counted(tokens, "token"));
    let cost = run.cost("costEstimate").map(dollars);
    let facts: Vec<String> = [started, took, tokens, cost].into_iter().flatten().collect();
    let waits = waits(run).map(|waits| format!(", {waits}")).unwrap_or_default();
    let retried = Some(run.line("retryOf")).filter(|of| !of.is_empty());
    let forked = Some(run.line("forkedFrom/runId")).filter(|from| !from.is_empty());
    let forked = forked.map(|from| format!("{from}, event {}", run.count("forkedFrom/seq").unwrap_or_default()));
    let lines = [
        ("run", run.line("runId")),
        ("status", format!("{}{waits}", status_text(run))),
        ("ensemble", format!("{}, {}", run.line("ensemble"), run.line("workflow").to_lowercase())),
        ("model", run.line("model")),
        ("time", facts.join(", ")),
        ("inputs", run.pairs("inputs")),
        ("tags", run.pairs("tags")),
        ("retries", retried.unwrap_or_default()),
        ("forked", forked.unwrap_or_default()),
    ];
    let said = lines.into_iter().filter(|(_, value)| !value.is_empty());
    let value_room = page.room.map(|columns| columns.saturating_sub(NAMES));
    let shown = |name: &str, value: &str| match value_room {
        // An id stays whole, because people copy it.
        Some(columns) if !IDS.contains(&name) => wrapped(&safe(value), columns).join(&format!("\n{:NAMES$}", "")),
        Some(_) | None => value.to_owned(),
    };
    said.map(|(name, value)| format!("{name:<9} {}\n", shown(name, &value))).collect()
}

/// Returns a text that is broken between words where a terminal would break it anywhere.
fn fitted(text: &str, page: &Page) -> String {
    page.room.map_or_else(|| text.to_owned(), |columns| wrapped(&safe(text), columns).join("\n"))
}

fn tasks(run: Record<'_>, page: &Page) -> String {
    let mut table = Table::new(&[
        ("TASK", Column::Name),
        ("STATUS", Column::Name),
        ("TOOK", Column::Amount),
        ("TOKENS", Column::Amount),
        ("TOOL CALLS", Column::Amount),
        ("WHY", Column::Text),
    ]);
    for task in run.list("tasks") {
        // Inherited tasks took no time of this run.
        let inherited = task.has("inherited");
        let own = |count: Option<u64>| count.filter(|count| *count > 0 && !inherited);
        let took = task.span("durationMs").or_else(|| task.since("startedAt", page)).filter(|_| !inherited);
        let calls = own(task.count("toolCallCount"));
        let mark = if inherited { ", inherited" } else { "" };
        table.row([
            task.line("name"),
            format!("{}{mark}", task.line("status").to_lowercase()),
            took.map(span).unwrap_or_default(),
            own(task.count("tokenCount")).map(grouped).unwrap_or_default(),
            calls.map(grouped).unwrap_or_default(),
            [task.line("error"), task.line("reason")].join(""),
        ]);
    }
    table.text(page.room)
}

fn output(task: Record<'_>, page: &Page) -> String {
    let cut = if task.has("truncated") { ", cut at the output limit" } else { "" };
    let by = Some(task.line("outputEditedBy")).filter(|by| !by.is_empty());
    let edited = by.map(|by| format!(", output edited by {by}")).unwrap_or_default();
    format!("── {}{cut}{edited} ──\n{}\n", task.line("name"), fitted(task.text("output").trim_end(), page))
}

/// Returns the partial answer of a failed task.
fn partial(task: Record<'_>, page: &Page) -> String {
    format!("── {}, as far as it came ──\n{}\n", task.line("name"), fitted(task.text("partialOutput").trim_end(), page))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_task_that_another_run_did_has_no_time_of_this_one() {
        let answer = json!({ "tasks": [
            { "name": "a", "status": "COMPLETED", "durationMs": 32_000, "tokenCount": 99, "toolCallCount": 1, "inherited": true },
            { "name": "b", "status": "COMPLETED", "durationMs": 1400, "tokenCount": 7, "toolCallCount": 0 } ] });
        let expected = "\
TASK  STATUS                TOOK  TOKENS
a     completed, inherited
b     completed             1.4s       7
";
        assert_eq!(tasks(Record(&answer), &Page { now: 0, room: None }), expected);
    }

    #[test]
    fn a_run_reads_from_where_it_stands_to_what_came_out() {
        let answer = json!({ "runId": "run-1", "ensemble": "evening", "status": "RUNNING", "workflow": "SEQUENTIAL",
            "startedAt": "2026-03-15T10:29:48.000Z", "durationMs": null, "totalTokens": 1204, "model": "demo",
            "waitingFor": "review", "inputs": { "topic": "bees" }, "tags": {}, "tasks": [
                { "name": "research", "status": "COMPLETED", "durationMs": 1600, "tokenCount": 221, "toolCallCount": 2,
                  "output": "Bees\u{1b}[2J are\nsocial.\n" },
                { "name": "program", "status": "WAITING", "startedAt": "2026-03-15T10:29:50.000Z", "tokenCount": 983,
                  "toolCallCount": 0 } ],
            "pendingReviews": [{ "reviewId": "run-1-review-0", "taskName": "program", "timing": "AFTER_EXECUTION",
                "taskOutput": "18:00 Bees", "expiresAt": "2026-03-15T10:34:50.000Z", "onTimeout": "CONTINUE" }] });
        let expected = "\
run       run-1
status    running, waits for a review
ensemble  evening, sequential
model     demo
time      started 12s ago, 1,204 tokens
inputs    topic=bees

TASK      STATUS      TOOK  TOKENS  TOOL CALLS
research  completed   1.6s     221           2
program   waiting    10.0s     983

Review run-1-review-0 of `program`; in 4m 50s the run goes on.
  18:00 Bees
consort reviews decide run-1-review-0 approve

── research ──
Bees\u{1b}[2J are
social.
";
        let page = Page { now: 1_773_570_600_000, room: None };
        assert_eq!(render(Record(&answer), &page).out, expected);
    }
}
