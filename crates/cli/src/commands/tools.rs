//! `consort tools`: the tools of a server, listed and called directly.

use clap::Subcommand;
use consort_config::Env;
use serde_json::{Value, json};

use crate::client::Call;
use crate::commands::Group;
use crate::commands::call::{Printed, call, wrong};
use crate::commands::capabilities;
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::{Page, Record};

/// The arguments, as typed.
pub(crate) type Args = Group<Command>;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools agents can use
    List,
    /// Call a tool; what it answers goes to stdout
    #[command(after_help = "Examples:\n  consort tools invoke calculator \"3 * 25\"\n  \
        consort tools invoke datetime --json-input '{\"timezone\": \"Europe/Paris\"}'")]
    Invoke {
        /// The tool
        name: String,
        /// Its arguments as JSON, or the value of its only required text
        #[arg(conflicts_with = "json_input")]
        input: Option<String>,
        /// Its arguments, as a JSON object
        #[arg(long, value_name = "JSON")]
        json_input: Option<String>,
    },
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    match &args.command {
        Command::List => call(&args.target, env, output, &Call::get(&["capabilities"]), |answer, page| {
            Printed::out(capabilities::tools(answer).text(page.room))
        }),
        Command::Invoke { name, input, json_input } => match arguments(input.as_deref(), json_input.as_deref()) {
            Ok(input) => {
                let invoke = Call::post(&["tools", name, "invoke"], json!({ "input": input }));
                call(&args.target, env, output, &invoke, render)
            }
            Err(mistake) => wrong(output, &mistake),
        },
    }
}

fn arguments(text: Option<&str>, json: Option<&str>) -> Result<Value, String> {
    match (text, json) {
        (Some(text), _) => Ok(text.into()),
        (None, Some(json)) => serde_json::from_str(json).map_err(|error| format!("--json-input is not JSON: {error}")),
        (None, None) => Ok(json!({})),
    }
}

fn render(answer: Record<'_>, _: &Page) -> Printed {
    let output = answer.text("output");
    match answer.text("status") {
        "SUCCESS" => Printed::line(output),
        _ => {
            let reason = format!("{} failed: {}\n", answer.line("tool"), answer.line("errorMessage"));
            Printed { out: String::new(), err: reason, exit: Exit::Failed }
        }
    }
}
