//! `consort schedules`: the runs of a server that begin when they are due.

use clap::Subcommand;
use consort_config::Env;
use serde_json::json;

use crate::client::Call;
use crate::commands::Group;
use crate::commands::call::{Printed, call};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::{Page, Record};
use crate::show::table::{Column, Table};
use crate::show::words::{ago, until};

/// The arguments, as typed.
pub(crate) type Args = Group<Command>;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the schedules, each with its last result and its next time
    List,
    /// Start a run of a schedule at once
    Trigger {
        /// The schedule
        name: String,
    },
    /// Pause a schedule: it starts no runs until it is resumed
    Pause {
        /// The schedule
        name: String,
    },
    /// Resume a paused schedule; runs that were due in the meantime are not started
    Resume {
        /// The schedule
        name: String,
    },
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    let post = |name: &str, what: &str| Call::post(&["schedules", name, what], json!({}));
    match &args.command {
        Command::List => call(&args.target, env, output, &Call::get(&["schedules"]), render),
        Command::Trigger { name } => call(&args.target, env, output, &post(name, "trigger"), triggered),
        Command::Pause { name } => call(&args.target, env, output, &post(name, "pause"), changed),
        Command::Resume { name } => call(&args.target, env, output, &post(name, "resume"), changed),
    }
}

fn triggered(answer: Record<'_>, _: &Page) -> Printed {
    Printed::line(answer.line("runId"))
}

fn changed(answer: Record<'_>, page: &Page) -> Printed {
    let name = answer.line("name");
    if answer.has("paused") {
        return Printed::line(format!("{name}: paused"));
    }
    let next = answer.until("next/0", page).map(|left| format!(", next in {}", until(left))).unwrap_or_default();
    Printed::line(format!("{name}: goes on{next}"))
}

fn render(answer: Record<'_>, page: &Page) -> Printed {
    let mut table = Table::new(&[
        ("SCHEDULE", Column::Name),
        ("WHEN", Column::Text),
        ("RUNS", Column::Text),
        ("NEXT", Column::Amount),
        ("LAST", Column::Amount),
        ("OUTCOME", Column::Text),
    ]);
    for schedule in answer.list("schedules") {
        let next = schedule.until("next/0", page).map(until).unwrap_or_default();
        table.row([
            schedule.line("name"),
            when(schedule),
            Some(schedule.line("workflow"))
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "the ensemble".to_owned()),
            if schedule.has("paused") { "paused".to_owned() } else { next },
            schedule.since("last/at", page).map(ago).unwrap_or_default(),
            outcome(schedule),
        ]);
    }
    match answer.list("schedules").next() {
        Some(_) => Printed::out(table.text(page.room)),
        None => Printed { err: "no schedules\n".to_owned(), ..Printed::out("") },
    }
}

fn when(schedule: Record<'_>) -> String {
    let cron = schedule.line("cron");
    let every = schedule.line("every");
    if cron.is_empty() { format!("every {every}") } else { format!("{cron} {}", schedule.line("timezone")) }
}

fn outcome(schedule: Record<'_>) -> String {
    match schedule.text("last/status") {
        "started" => schedule.line("last/runId"),
        "failed" => format!("failed: {}", schedule.line("last/error")),
        other => other.to_owned(),
    }
}
