//! `consort runs list`: a line per run.

use clap::ValueEnum;

use crate::client::Call;
use crate::commands::call::Printed;
use crate::show::record::{Page, Record};
use crate::show::table::{Column, Table};
use crate::show::words::{ago, counted, dollars, grouped, span};

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  consort runs list --status failed --tag team=green --limit 10\n  \
    consort runs list --search 'winter report' --from 2026-03-01 --to 2026-03-31\n  \
    consort runs list --waiting=review")]
pub(crate) struct Args {
    /// Only runs with this status
    #[arg(long, value_enum, ignore_case = true)]
    status: Option<Status>,
    /// Only runs with this label; may be repeated, all must match
    #[arg(long, value_name = "NAME[=VALUE]")]
    tag: Vec<String>,
    /// Only runs with these words in their inputs, tasks, output, error or id
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,
    /// Only runs that started on this day or later: 2026-03-15 or 2026-03-15T10:30:00Z, in UTC
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Only runs that started on this day or earlier
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Only runs with this default model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Only runs that cost at least this much
    #[arg(long, value_name = "DOLLARS")]
    min_cost: Option<f64>,
    /// Only runs that wait, or that wait for this
    #[arg(long, value_enum, value_name = "FOR", num_args = 0..=1, require_equals = true, default_missing_value = "any")]
    waiting: Option<Waiting>,
    /// Only paused runs
    #[arg(long)]
    paused: bool,
    /// The order by start
    #[arg(long, value_enum, default_value_t)]
    order: Order,
    /// The runs of this ensemble, or work for others
    #[arg(long, value_enum, default_value_t)]
    kind: Kind,
    /// Runs to list at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: Option<u16>,
    /// Runs to skip
    #[arg(long, value_name = "N", conflicts_with_all = ["after", "model", "min_cost", "waiting", "paused"])]
    offset: Option<u64>,
    /// Go on after the end of an earlier list, which named this place
    #[arg(long, value_name = "PLACE")]
    after: Option<String>,
}

/// The thing that runs wait for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Waiting {
    Any,
    Queue,
    Resume,
    Model,
    Lock,
    Retry,
    Review,
    Approval,
    Storage,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Order {
    #[default]
    Newest,
    Oldest,
}

/// The side that the work of runs is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
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

/// Returns the word of a choice, as it is typed and sent.
fn word(choice: impl ValueEnum) -> Option<String> {
    Some(choice.to_possible_value()?.get_name().to_owned())
}

/// Returns the word of a choice that is not the usual one.
fn chosen<T: ValueEnum + Default + PartialEq>(choice: T) -> Option<String> {
    if choice == T::default() { None } else { word(choice) }
}

impl Args {
    /// Returns the request.
    pub(super) fn call(&self) -> Call {
        let status = self.status.and_then(word).map(|word| word.to_uppercase());
        let call = Call::get(&["runs"]).with("status", status).with("kind", chosen(self.kind));
        // Tags are typed with `=` as everywhere else here, and sent with a colon.
        let tags = self.tag.iter().map(|tag| tag.replacen('=', ":", 1));
        let call = tags.fold(call, |call, tag| call.with("tag", Some(tag)));
        let call = call.with("q", self.search.as_deref()).with("from", self.from.as_deref());
        let call = call.with("to", self.to.as_deref()).with("model", self.model.as_deref());
        let call = call.with("minCost", self.min_cost).with("waiting", self.waiting.and_then(word));
        let call = call.with("paused", self.paused.then_some("true")).with("order", chosen(self.order));
        call.with("limit", self.limit).with("offset", self.offset).with("after", self.after.as_deref())
    }

    /// Returns the response in words.
    pub(super) fn render(&self, answer: Record<'_>, page: &Page) -> Printed {
        let shown = answer.list("runs").count() as u64;
        let out = if shown == 0 { String::new() } else { table(answer, page).text(page.room) };
        Printed { err: self.more(answer, shown), ..Printed::out(out) }
    }

    /// Returns the end of the list in words: the way to the runs that follow.
    fn more(&self, answer: Record<'_>, shown: u64) -> String {
        let total = answer.count("total").unwrap_or(shown);
        let passed = self.offset.unwrap_or_default();
        let next = Some(answer.text("next")).filter(|next| !next.is_empty());
        match (shown, next) {
            // The server looks through so many runs for one request, and may have found none among them.
            (0, Some(next)) => format!("no such run so far; --after {next} looks further\n"),
            (_, Some(next)) if self.after.is_some() || self.looks_through() => {
                format!("{}; --after {next} shows more\n", counted(shown, "run"))
            }
            (_, Some(_)) => format!("{shown} of {}; --offset {} shows more\n", grouped(total), passed + shown),
            (0, None) if total == 0 || passed == 0 => "no runs\n".to_owned(),
            (0, None) => format!("no more runs: there are {}\n", counted(total, "such run")),
            (_, None) => String::new(),
        }
    }

    /// Returns whether the server looks at the runs one by one, so that it does not know how many match.
    fn looks_through(&self) -> bool {
        self.model.is_some() || self.min_cost.is_some() || self.waiting.is_some() || self.paused
    }
}

/// Columns of a terminal that has room for everything that is known of a run.
const WIDE_MIN: usize = 100;

fn table(answer: Record<'_>, page: &Page) -> Table {
    let mut table = Table::new(&[
        ("RUN", Column::Id),
        ("STATUS", Column::Name),
        ("TASKS", Column::Amount),
        ("STARTED", Column::Amount),
        ("TOOK", Column::Amount),
        ("TOKENS", Column::Amount),
        ("COST", Column::Amount),
        ("ABOUT", Column::Text),
        ("TAGS", Column::Text),
        ("NOW", Column::Text),
    ]);
    // What a run is about and does says more than its amounts and tags.
    let is_wide = page.room.is_none_or(|columns| columns >= WIDE_MIN);
    for run in answer.list("runs") {
        let tasks = run.count("completedTasks").zip(run.count("taskCount"));
        table.row([
            run.line("runId"),
            status_text(run),
            tasks.map(|(done, all)| format!("{done}/{all}")).unwrap_or_default(),
            run.since("startedAt", page).map(ago).unwrap_or_default(),
            run.span("durationMs").filter(|_| is_wide).map(span).unwrap_or_default(),
            run.count("totalTokens").filter(|tokens| is_wide && *tokens > 0).map(grouped).unwrap_or_default(),
            run.cost("costEstimate").filter(|_| is_wide).map(dollars).unwrap_or_default(),
            run.line("title"),
            if is_wide { run.pairs("tags") } else { String::new() },
            doing(run),
        ]);
    }
    table
}

/// Returns the status of a run in one word.
pub(crate) fn status_text(run: Record<'_>) -> String {
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
        ("retry", _) => "asks its model again",
        ("storage", _) => "waits for room on the disk",
        (other, _) => return Some(format!("waits for a {other}")),
    };
    let reason = Some(run.line("waitingReason")).filter(|reason| !reason.is_empty());
    Some(reason.map_or_else(|| words.to_owned(), |reason| format!("{words}: {reason}")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::*;
    use crate::show::words::width;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: Args,
    }

    fn typed(words: &[&str]) -> Args {
        Typed::parse_from(std::iter::once(&"list").chain(words)).args
    }

    #[test]
    fn the_list_fits_at_forty_eighty_and_a_hundred_and_twenty_columns() {
        let run = |id: &str, status: &str, task: &str| {
            json!({ "runId": id, "status": status, "taskCount": 3, "title": "How the hives came through the winter",
                "completedTasks": 1, "startedAt": "2026-03-15T10:29:48.000Z", "durationMs": 64_000, "totalTokens": 1204,
                "tags": { "team": "green", "season": "winter" }, "waitingFor": "review", "currentTask": { "name": task } })
        };
        let answer = json!({ "total": 2, "runs": [run("run-01a1ddf8e15f715ab80c8f3a822a1fe3", "RUNNING", "writer"), run("run-01a1de2d4b4d71f8ada35d1701b0e19c", "COMPLETED", "蜂の巣")] });
        let args = typed(&[]);
        for (columns, expected) in [(40, FORTY), (80, EIGHTY), (120, WIDE)] {
            let told = args.render(Record(&answer), &Page { now: 1_773_570_600_000, room: Some(columns) });
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
RUN                   STATUS     TASKS  STARTED  ABOUT            NOW
run-01a1ddf8e15f715a  running      1/3  12s ago  How the hives…   writer: waits…
run-01a1de2d4b4d71f8  completed    1/3  12s ago  How the hives…   蜂の巣: waits…
";
    const WIDE: &str = "\
RUN                   STATUS     TASKS  STARTED    TOOK  TOKENS  ABOUT              TAGS               NOW
run-01a1ddf8e15f715a  running      1/3  12s ago  1m 04s   1,204  How the hives ca…  team=green seaso…  writer: waits fo…
run-01a1de2d4b4d71f8  completed    1/3  12s ago  1m 04s   1,204  How the hives ca…  team=green seaso…  蜂の巣: waits fo…
";

    #[test]
    fn a_list_says_where_each_run_stands_and_what_it_does() {
        let answer = json!({ "total": 7, "next": "1.run-1", "runs": [
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
        let args = typed(&["--offset", "2"]);
        let page = Page { now: 1_773_570_600_000, room: None };
        let told = args.render(Record(&answer), &page);
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

    #[test]
    fn every_filter_is_sent() {
        let args = typed(&[
            "--search=winter report",
            "--from=2026-03-01",
            "--to=2026-03-31",
            "--model=swift",
            "--min-cost=0.5",
            "--waiting=review",
            "--paused",
            "--order=oldest",
            "--after=5.run-1",
            "--tag=team=green",
        ]);
        let expected = [
            ("tag", "team:green"),
            ("q", "winter report"),
            ("from", "2026-03-01"),
            ("to", "2026-03-31"),
            ("model", "swift"),
            ("minCost", "0.5"),
            ("waiting", "review"),
            ("paused", "true"),
            ("order", "oldest"),
            ("after", "5.run-1"),
        ];
        let call = expected.into_iter().fold(Call::get(&["runs"]), |call, (name, value)| call.with(name, Some(value)));
        assert_eq!(args.call(), call);
        assert_eq!(typed(&["--waiting"]).call(), Call::get(&["runs"]).with("waiting", Some("any")));
        assert_eq!(typed(&[]).call(), Call::get(&["runs"]));
    }

    #[test]
    fn the_end_of_a_list_says_how_to_go_on() {
        let page = Page { now: 1_773_570_600_000, room: None };
        let runs = json!([{ "runId": "run-1", "status": "COMPLETED" }]);
        for (words, total, next, expected) in [
            (&[][..], 7, Some("5.run-1"), "1 of 7; --offset 1 shows more\n"),
            (&["--model=swift"], 7, Some("5.run-1"), "1 run; --after 5.run-1 shows more\n"),
            (&["--after=9.run-9"], 7, Some("5.run-1"), "1 run; --after 5.run-1 shows more\n"),
            (&["--waiting"], 7, None, ""),
            (&[], 1, None, ""),
        ] {
            let answer = json!({ "total": total, "next": next, "runs": runs });
            assert_eq!(typed(words).render(Record(&answer), &page).err, expected, "{words:?}");
        }
        for (words, total, next, expected) in [
            (&[][..], 0, None, "no runs\n"),
            (&["--offset=9"], 7, None, "no more runs: there are 7 such runs\n"),
            (&["--min-cost=3"], 9_000, Some("5.run-1"), "no such run so far; --after 5.run-1 looks further\n"),
            (&["--min-cost=3"], 9_000, None, "no runs\n"),
        ] {
            let answer = json!({ "total": total, "next": next, "runs": [] });
            let told = typed(words).render(Record(&answer), &page);
            assert_eq!((told.out.as_str(), told.err.as_str()), ("", expected), "{words:?}");
        }
    }
}
