//! Runs made from other runs: `retry` and `fork`.

use std::path::PathBuf;

use consort_config::Env;
use serde_json::{Map, Value, json};

use crate::client::{Call, Target};
use crate::commands::call::{Printed, call, wrong};
use crate::commands::{extend, input, json_file, pair};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::{Page, Record};

/// A run that does again what another one did not finish.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  consort runs retry run-1a2b --model haiku")]
pub(crate) struct Retry {
    /// The run: its id, the beginning of it, or latest
    run: String,
    #[command(flatten)]
    edits: Edits,
}

/// A run that begins in the middle of another one.
#[derive(Debug, clap::Args)]
#[command(after_help = "What is kept is taken from the record and never done again.\n\n\
    Examples:\n  consort runs fork run-1a2b --task program --input topic=wasps\n  \
    consort runs fork run-1a2b --seq 42\n  consort runs fork run-1a2b --output outline=@outline.md")]
pub(crate) struct Fork {
    /// The run: its id, the beginning of it, or latest
    run: String,
    /// Keep what stands before this event, as `runs watch --json` numbers them; default: everything, or with
    /// --output what stands before the first task that reads it
    #[arg(long, value_name = "N", conflicts_with = "task")]
    seq: Option<u64>,
    /// Keep what happened before this task began
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    #[command(flatten)]
    edits: Edits,
}

/// The changes for the new run.
#[derive(Debug, clap::Args)]
struct Edits {
    /// The model that answers in the new run
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Another value for a {variable}; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = input)]
    input: Vec<(String, Value)>,
    /// Another output of a task that is kept, which the tasks after it read; TASK=@FILE reads it from a file. May be
    /// repeated
    #[arg(long, value_name = "TASK=TEXT", value_parser = pair)]
    output: Vec<(String, String)>,
    /// Edits as JSON, such as `taskOverrides`; options on the command line count first
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Retry {
    /// Executes the command.
    pub(super) fn run(&self, target: &Target, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
        match self.edits.body() {
            Ok(body) => call(target, env, output, &Call::post(&["runs", &self.run, "retry"], body.into()), render),
            Err(mistake) => wrong(output, &mistake),
        }
    }
}

impl Fork {
    /// Executes the command.
    pub(super) fn run(&self, target: &Target, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
        match self.edits.body() {
            Ok(mut body) => {
                body.extend(self.seq.map(|seq| ("seq".to_owned(), seq.into())));
                body.extend(self.task.as_deref().map(|task| ("task".to_owned(), task.into())));
                call(target, env, output, &Call::post(&["runs", &self.run, "fork"], body.into()), render)
            }
            Err(mistake) => wrong(output, &mistake),
        }
    }
}

impl Edits {
    fn body(&self) -> Result<Map<String, Value>, String> {
        let file = self.file.as_deref().map_or_else(|| Ok(json!({})), json_file)?;
        let Value::Object(mut body) = file else { return Err("the edits must be a JSON object".to_owned()) };
        body.extend(self.model.as_deref().map(|model| ("model".to_owned(), Value::from(model))));
        extend(&mut body, "inputs", &self.input)?;
        let outputs = self.output.iter().map(|(task, text)| Ok((task.clone(), output_text(task, text)?)));
        extend(&mut body, "outputs", &outputs.collect::<Result<Vec<_>, String>>()?)?;
        Ok(body)
    }
}

/// Returns the text of an output: as it was typed, or the contents of the file that was named.
fn output_text(task: &str, typed: &str) -> Result<String, String> {
    let Some(path) = typed.strip_prefix('@') else { return Ok(typed.to_owned()) };
    std::fs::read_to_string(path).map_err(|error| format!("--output {task}=@{path}: {error}"))
}

/// Returns the text about the new run.
pub(super) fn render(answer: Record<'_>, _: &Page) -> Printed {
    let origin = match (answer.line("retryOf"), answer.line("forkedFrom/runId"), answer.count("forkedFrom/seq")) {
        (_, from, Some(seq)) => format!(", from event {seq} of {from}"),
        (of, _, None) if !of.is_empty() => format!(", again what {of} did not finish"),
        _ => String::new(),
    };
    Printed::line(format!("{}: {}{origin}", answer.line("runId"), answer.line("status").to_lowercase()))
}
