//! `consort workflows`: the saved workflows of a server, and runs of them.

mod show;

use std::collections::BTreeSet;

use clap::Subcommand;
use consort_config::Env;
use consort_core::request::parse;
use serde_json::{Map, Value};

use crate::client::ids::Kind;
use crate::client::{Call, Client, Failure, Target};
use crate::commands::call::{Printed, call, wrong};
use crate::commands::run::remote::{Prepared, follow};
use crate::commands::run::request;
use crate::commands::{Group, extend, input, pair};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::{Page, Record};
use crate::show::screen::Look;
use crate::show::table::{Column, Table};
use crate::show::words::{ago, grouped};
use crate::terminal::Terminal;

/// The arguments, as typed.
pub(crate) type Args = Group<Command>;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List saved workflows, the newest first
    List {
        /// Workflows to list at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500))]
        limit: Option<u16>,
        /// Workflows to skip
        #[arg(long, value_name = "N")]
        offset: Option<u64>,
    },
    /// Show a workflow: its tasks and what they read
    Show {
        /// The workflow: its id, the beginning of it, or latest
        workflow: String,
    },
    /// Run a workflow to its end; the answer goes to stdout
    Run(Run),
}

/// A run of a workflow.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  consort workflows run latest --input topic=bees > report.md\n  \
    consort workflows run workflow-0190 --input 'places:=[1, 2]' --tag team=green")]
pub(crate) struct Run {
    /// The workflow: its id, the beginning of it, or latest
    workflow: String,
    /// A value for a {variable} of the tasks, NAME:=JSON for a value that is not a string; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = input)]
    input: Vec<(String, Value)>,
    /// A label for finding the run again; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    tag: Vec<(String, String)>,
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, terminal: &Terminal, output: Output<'_>) -> anyhow::Result<Exit> {
    let target = &args.target;
    match &args.command {
        Command::List { limit, offset } => {
            let list = Call::get(&["workflows"]).with("limit", *limit).with("offset", *offset);
            call(target, env, output, &list, |answer, page| listed(answer, offset.unwrap_or_default(), page))
        }
        Command::Show { workflow } => call(target, env, output, &Call::get(&["workflows", workflow]), show::render),
        Command::Run(run) => run.run(target, (env, terminal), output),
    }
}

impl Run {
    fn run(&self, target: &Target, (env, terminal): (&Env<'_>, &Terminal), output: Output<'_>) -> anyhow::Result<Exit> {
        let client = match target.client(env) {
            Ok(client) => client,
            Err(mistake) => return wrong(output, &mistake),
        };
        let look = if target.json { Look::Frames } else { terminal.look };
        let terminal = Terminal { look, person: terminal.person.clone().filter(|_| !target.json) };
        follow(&client, async |client: &Client| self.prepare(client).await, &terminal, output)
    }

    /// Makes the request; an input of the command line that no task uses is a mistake.
    async fn prepare(&self, client: &Client) -> Result<Prepared, Failure> {
        let id = client.whole_id(Kind::Workflow, &self.workflow).await?;
        let workflow = client.read(&client.send(&Call::get(&["workflows", &id])).await?)?;
        let mistakes = self.unknown(&workflow);
        if !mistakes.is_empty() {
            return Ok(Err(mistakes));
        }
        let mut body = Map::new();
        let added = [extend(&mut body, "inputs", &self.input), extend(&mut body, "tags", &self.tag)];
        Ok(match added.into_iter().find_map(Result::err) {
            Some(mistake) => Err(vec![mistake]),
            None => Ok(Call::post(&["workflows", &id, "runs"], body.into())),
        })
    }

    fn unknown(&self, workflow: &Value) -> Vec<String> {
        // A newer server may save what this version cannot read; it checks the inputs itself.
        let Ok((document, _)) = parse(workflow) else { return Vec::new() };
        let mut known: BTreeSet<&str> = request::known(None, &document);
        known.extend(document.inputs.keys().map(String::as_str));
        request::unknown(&self.input, &known)
    }
}

fn listed(answer: Record<'_>, passed: u64, page: &Page) -> Printed {
    let mut table = Table::new(&[
        ("WORKFLOW", Column::Id),
        ("TASKS", Column::Amount),
        ("VERSION", Column::Amount),
        ("CHANGED", Column::Amount),
        ("NAME", Column::Text),
        ("ABOUT", Column::Amount),
    ]);
    for workflow in answer.list("workflows") {
        let about = [workflow.line("description"), workflow.line("damagedReason")].join("");
        table.row([
            workflow.line("id"),
            workflow.count("tasks").map(grouped).unwrap_or_default(),
            workflow.count("version").map(grouped).unwrap_or_default(),
            workflow.since("updatedAt", page).map(ago).unwrap_or_default(),
            workflow.line("name"),
            about,
        ]);
    }
    let shown = answer.list("workflows").count() as u64;
    let total = answer.count("total").unwrap_or(shown);
    let more = match (shown, total) {
        (0, 0) => "no workflows\n".to_owned(),
        (0, _) => format!("no more workflows: there are {}\n", grouped(total)),
        _ if passed + shown < total => {
            format!("{shown} of {}; --offset {} shows more\n", grouped(total), passed + shown)
        }
        _ => String::new(),
    };
    let out = if shown == 0 { String::new() } else { table.text(page.room) };
    Printed { err: more, ..Printed::out(out) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_fits_narrow_and_wide_terminals() {
        let row = |last: &str, name: &str| {
            json!({ "id": format!("workflow-0190a1b2c3d47e5f{}", last.repeat(16)),
            "name": name, "description": "What the bees did this week", "tasks": 12, "version": 3,
            "updatedAt": "2026-03-15T10:29:48.000Z" })
        };
        let answer = json!({ "total": 9, "workflows": [row("a", "Hive report"), row("b", "Honey")] });
        for room in [40, 80, 120] {
            let told = listed(Record(&answer), 2, &Page { now: 1_773_570_600_000, room: Some(room) });
            assert!(told.out.lines().all(|line| console::measure_text_width(line) <= room), "{room}: {}", told.out);
            assert!(told.out.contains("workflow-0190a1b2c3d47e5f") && told.out.contains("Honey"), "{}", told.out);
            assert_eq!(told.err, "2 of 9; --offset 4 shows more\n");
        }
    }
}
