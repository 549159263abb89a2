//! `consort runs list`: a line per run.

use clap::ValueEnum;

use crate::client::Call;
use crate::commands::call::Printed;
use crate::show::record::{Page, Record};
use crate::show::table::{Column, Table};
use crate::show::words::{ago, counted, dollars, grouped, span};

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  consort runs list --status failed --tag team=green --limit 10")]
pub(crate) struct Args {
    /// Only runs with this status
    #[arg(long, value_enum, ignore_case = true)]
    status: Option<Status>,
    /// Only runs with this label; may be repeated, all must match
    #[arg(long, value_name = "NAME[=VALUE]")]
    tag: Vec<String>,
    /// The runs of this ensemble, or work for others
    #[arg(long, value_enum, default_value_t)]
    kind: Kind,
    /// Runs to list at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: Option<u16>,
    /// Runs to pass over first
    #[arg(long, value_name = "N")]
    offset: Option<u64>,
}

/// The side that the work of runs is for.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Kind {
    #[default]
    Run,
    Peer,
}

/// The status of a run.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Status {
    Accepted,
    Running,
    Completed,
    Failed,
    Cancelled,
    Rejected,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Status::Accepted => "ACCEPTED",
            Status::Running => "RUNNING",
            Status::Completed => "COMPLETED",
            Status::Failed => "FAILED",
            Status::Cancelled => "CANCELLED",
            Status::Rejected => "REJECTED",
        }
    }
}

impl Args {
    /// Returns the request.
    pub(super) fn call(&self) -> Call {
        let kind = match self.kind {
            Kind::Run => None,
            Kind::Peer => Some("peer"),
        };
        let call = Call::get(&["runs"]).with("status", self.status.map(Status::word)).with("kind", kind);
        // Tags are typed with `=` as everywhere else here, and sent with a colon.
        let tags = self.tag.iter().map(|tag| tag.replacen('=', ":", 1));
        let call = tags.fold(call, |call, tag| call.with("tag", Some(tag)));
        call.with("limit", self.limit).with("offset", self.offset)
    }

    /// Returns the response in words.
    pub(super) fn told(&self, answer: Record<'_>, page: &Page) -> Printed {
        let shown = answer.list("runs").count() as u64;
        let total = answer.count("total").unwrap_or(shown);
        let passed = self.offset.unwrap_or_default();
        let more = match (shown, total) {
            (0, 0) => "no runs\n".to_owned(),
            (0, _) => format!("no more runs: there are {}\n", counted(total, "such run")),
            _ if passed + shown < total => {
                format!("{shown} of {}; --offset {} shows more\n", grouped(total), passed + shown)
            }
            _ => String::new(),
        };
        let out = if shown == 0 { String::new() } else { table(answer, page).text(page.room) };
        Printed { err: more, ..Printed::out(out) }
    }
}

fn table(answer: Record<'_>, page: &Page) -> Table {
    let mut table = Table::new(&[
        ("RUN", Column::Id),
        ("STATUS", Column::Name),
        ("TASKS", Column::Amount),
        ("STARTED", Column::Amount),
        ("TOOK", Column::Amount),
        ("TOKENS", Column::Amount),
        ("COST", Column::Amount),
        ("TAGS", Column::Text),
        ("NOW", Column::Text),
    ]);
    for run in answer.list("runs") {
        let tasks = run.count("completedTasks").zip(run.count("taskCount"));
        table.row([
            run.line("runId"),
            standing(run),
            tasks.map(|(done, all)| format!("{done}/{all}")).unwrap_or_default(),
            run.since("startedAt", page).map(ago).unwrap_or_default(),
            run.span("durationMs").map(span).unwrap_or_default(),
            run.count("totalTokens").filter(|tokens| *tokens > 0).map(grouped).unwrap_or_default(),
            run.cost("costEstimate").map(dollars).unwrap_or_default(),
            run.pairs("tags"),
            doing(run),
        ]);
    }
    table
}

/// Returns the status of a run in one word.
pub(crate) fn standing(run: Record<'_>) -> String {
    let status = run.line("status").to_lowercase();
    match status.as_str() {
        "accepted" | "running" if run.has("cancelRequested") => "stopping".to_owned(),
        "accepted" | "running" if run.has("paused") => "paused".to_owned(),
        "accepted" if run.has("queuePosition") => "queued".to_owned(),
        _ => status,
    }
}

/// Returns the activity of a run, the event it waits for, or the reason why it failed.
pub(crate) fn doing(run: Record<'_>) -> String {
    let task = run.line("currentTask/name");
    let waits = waits(run);
    match (task.as_str(), waits) {
        ("", None) if run.has("truncated") => "an output was cut at the output limit".to_owned(),
        ("", None) => run.line("error"),
        ("", Some(waits)) => waits,
        (_, None) => task,
        (_, Some(waits)) => format!("{task}: {waits}"),
    }
}

/// Returns the reason why nothing happens at the moment.
pub(super) fn waits(run: Record<'_>) -> Option<String> {
    let words = match (run.text("waitingFor"), run.count("queuePosition")) {
        ("", _) => return None,
        ("queue", Some(0)) => "is next in the queue",
        ("queue", Some(before)) => return Some(format!("has {} before it in the queue", counted(before, "run"))),
        ("resume", _) => "waits to be resumed",
        ("model", _) => "waits for a free model slot",
        ("lock", _) => "waits for a lock",
        ("retry", _) => "waits to ask its model again",
        ("storage", _) => "waits for room on the disk",
        (other, _) => return Some(format!("waits for a {other}")),
    };
    let reason = Some(run.line("waitingReason")).filter(|reason| !reason.is_empty());
    Some(reason.map_or_else(|| words.to_owned(), |reason| format!("{words}: {reason}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::show::words::width;

    #[test]
    fn the_list_fits_at_forty_eighty_and_a_hundred_and_twenty_columns() {
        let run = |id: &str, status: &str, task: &str| {
            json!({ "runId": id, "status": status, "taskCount": 3,
                "completedTasks": 1, "startedAt": "2026-03-15T10:29:48.000Z", "durationMs": 64_000, "totalTokens": 1204,
                "tags": { "team": "green", "season": "winter" }, "waitingFor": "review", "currentTask": { "name": task } })
        };
        let answer = json!({ "total": 2, "runs": [run("run-01a1ddf8e15f715ab80c8f3a822a1fe3", "RUNNING", "writer"), run("run-01a1de2d4b4d71f8ada35d1701b0e19c", "COMPLETED", "蜂の巣")] });
        let args = Args { status: None, tag: Vec::new(), kind: Kind::Run, limit: None, offset: None };
        for (columns, expected) in [(40, FORTY), (80, EIGHTY), (120, WIDE)] {
            let told = args.told(Record(&answer), &Page { now: 1_773_570_600_000, room: Some(columns) });
            assert_eq!(told.out, expected, "{columns} columns");
            assert!(told.out.lines().all(|line| width(line) <= columns), "{columns} columns");
        }
    }

    const FORTY: &str = "\
RUN                   STATUS     NOW
run-01a1ddf8e15f715a  running    writer…
run-01a1de2d4b4d71f8  completed  蜂の巣…
";
    const EIGHTY: &str = "\
RUN                   STATUS     TASKS  STARTED    TOOK  TOKENS  TAGS     NOW
run-01a1ddf8e15f715a  running      1/3  12s ago  1m 04s   1,204  team=g…  write…
run-01a1de2d4b4d71f8  completed    1/3  12s ago  1m 04s   1,204  team=g…  蜂の…
";
    const WIDE: &str = "\
RUN                                   STATUS     TASKS  STARTED    TOOK  TOKENS  TAGS                 NOW
run-01a1ddf8e15f715ab80c8f3a822a1fe3  running      1/3  12s ago  1m 04s   1,204  team=green season=…  writer: waits for…
run-01a1de2d4b4d71f8ada35d1701b0e19c  completed    1/3  12s ago  1m 04s   1,204  team=green season=…  蜂の巣: waits for…
";

    #[test]
    fn a_list_says_where_each_run_stands_and_what_it_does() {
        let answer = json!({ "total": 7, "runs": [
            { "runId": "run-4", "status": "RUNNING", "startedAt": "2026-03-15T10:29:48.000Z", "durationMs": null,
              "taskCount": 3, "completedTasks": 1, "tags": { "team": "green" }, "paused": false, "totalTokens": 1204,
              "currentTask": { "name": "writer", "index": 1 }, "waitingFor": "review" },
            { "runId": "run-3", "status": "RUNNING", "startedAt": "2026-03-15T10:20:00.000Z", "taskCount": 2,
              "completedTasks": 0, "tags": {}, "paused": true, "totalTokens": -1, "waitingFor": "resume" },
            { "runId": "run-2", "status": "ACCEPTED", "startedAt": "2026-03-15T10:20:00.000Z", "taskCount": 2,
              "completedTasks": 0, "tags": {}, "totalTokens": 0, "waitingFor": "queue", "queuePosition": 0 },
            { "runId": "run-1", "status": "FAILED", "startedAt": "2026-03-13T10:20:00.000Z", "durationMs": 64_000,
              "taskCount": 1, "completedTasks": 0, "tags": {}, "totalTokens": 12_345, "error": "no\nluck",
              "costEstimate": { "inputCost": 1.0, "outputCost": 0.5 } },
        ] });
        let args = Args { status: None, tag: Vec::new(), kind: Kind::Run, limit: None, offset: Some(2) };
        let page = Page { now: 1_773_570_600_000, room: None };
        let told = args.told(Record(&answer), &page);
        let expected = "\
RUN    STATUS   TASKS  STARTED    TOOK  TOKENS   COST  TAGS        NOW
run-4  running    1/3  12s ago           1,204         team=green  writer: waits for a review
run-3  paused     0/2  10m ago                                     waits to be resumed
run-2  queued     0/2  10m ago                                     is next in the queue
run-1  failed     0/1   2d ago  1m 04s  12,345  $1.50              no luck
";
        assert_eq!(told.out, expected);
        assert_eq!(told.err, "4 of 7; --offset 6 shows more\n");
    }
}
