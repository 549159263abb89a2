//! Runs made from other runs: `retry` and `fork`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::client::{Call, Target};
use crate::commands::call::{Told, call, wrong};
use crate::commands::{Output, json_file, pair};
use crate::config::Env;
use crate::exit::Exit;
use crate::show::record::{Page, Record};

/// A run that begins in the middle of another one.
#[derive(Debug, clap::Args)]
#[command(after_help = "What happened before that event is taken from the record and never done again.\n\n\
    Example:\n  consort runs fork run-1a2b --seq 42 --model haiku")]
pub(crate) struct Fork {
    /// The run
    run: String,
    /// The number of the last event to take over, as `runs watch --json` prints it
    #[arg(long, value_name = "N")]
    seq: u64,
    /// The model that answers from there on
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Another value for a {variable}; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    input: Vec<(String, String)>,
    /// More edits, as JSON; what is typed beats what it says
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Fork {
    /// Does it.
    pub(super) fn run(&self, target: &Target, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
        match self.call() {
            Ok(fork) => call(target, env, output, &fork, told),
            Err(mistake) => wrong(output, &mistake),
        }
    }

    fn call(&self) -> Result<Call, String> {
        let mut body = self.file.as_deref().map_or_else(|| Ok(json!({})), json_file)?;
        let Some(edits) = body.as_object_mut() else { return Err("the edits must be a JSON object".to_owned()) };
        edits.insert("seq".to_owned(), self.seq.into());
        edits.extend(self.model.as_deref().map(|model| ("model".to_owned(), Value::from(model))));
        if !self.input.is_empty() {
            let inputs = edits.entry("inputs").or_insert_with(|| json!({})).as_object_mut();
            let inputs = inputs.ok_or("inputs: must be an object, so that --input can add to it")?;
            inputs.extend(self.input.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))));
        }
        Ok(Call::post(&["runs", &self.run, "fork"], body))
    }
}

/// The new run.
pub(super) fn told(answer: Record<'_>, _: &Page) -> Told {
    let origin = match (answer.line("retryOf"), answer.line("forkedFrom/runId"), answer.count("forkedFrom/seq")) {
        (_, from, Some(seq)) => format!(", from event {seq} of {from}"),
        (of, _, None) if !of.is_empty() => format!(", again what {of} did not finish"),
        _ => String::new(),
    };
    Told::line(format!("{}: {}{origin}", answer.line("runId"), answer.line("status").to_lowercase()))
}
