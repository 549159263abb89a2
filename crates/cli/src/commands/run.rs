//! `consort run`: one run to its end, `local` in this process or `remote` on a server.
//! The answer goes to the standard output and everything else to the standard error.
//! `request` reads the request, `shown` serves a local run to others.

mod local;
mod remote;
mod request;
mod shown;

use std::path::PathBuf;

use crate::commands::pair;
use crate::config::Env;
use crate::exit::Exit;
use crate::output::Output;
use crate::show::screen::Look;
use crate::terminal::Terminal;

const EXAMPLES: &str = "Examples:
  consort run --input topic=bees > program.md
  consort run --url http://127.0.0.1:7329 --file request.json --tag team=green";

/// What was typed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The configuration; default: ./consort.toml, else the built-in demo
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    config: Option<PathBuf>,
    /// Run it on the server at this address; only if typed, whatever $CONSORT_URL says
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Let others see and steer it at this port of this machine while it lasts
    #[arg(long, value_name = "PORT", conflicts_with = "url")]
    serve: Option<u16>,
    /// The server's API key; default: $CONSORT_API_KEY
    #[arg(long, value_name = "KEY", requires = "url")]
    key: Option<String>,
    /// A value for a {variable} of the tasks; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    input: Vec<(String, String)>,
    /// A label for finding the run again; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    tag: Vec<(String, String)>,
    /// A request as JSON: inputs, changes to tasks, or tasks of its own
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print every frame as a line of JSON instead of the answer
    #[arg(long)]
    json: bool,
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, terminal: &Terminal, output: Output<'_>) -> anyhow::Result<Exit> {
    let look = if args.json { Look::Frames } else { terminal.look };
    let terminal = Terminal { look, person: terminal.person.clone().filter(|_| !args.json) };
    match &args.url {
        Some(url) => remote::run(args, url, (env, &terminal), output),
        None => local::run(args, env, &terminal, output),
    }
}

fn wrong(output: Output<'_>, mistakes: &[String]) -> anyhow::Result<Exit> {
    for mistake in mistakes {
        writeln!(output.err, "{mistake}")?;
    }
    Ok(Exit::Usage)
}
