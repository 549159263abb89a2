//! `consort run`: one run to its end, `local` in this process or `remote` on a server.
//! The answer goes to the standard output and everything else to the standard error.
//! Where a server uses the same data folder, the run goes there. `request` reads the
//! request, `served` serves a local run to others.

mod local;
pub(crate) mod remote;
pub(crate) mod request;
mod served;

use std::path::PathBuf;

use consort_config::{Config, Env};
use serde_json::Value;

use crate::commands::{input, pair, running_server};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::screen::Look;
use crate::terminal::Terminal;

const EXAMPLES: &str = "Examples:
  consort run --input topic=bees > program.md
  consort run --attach plan.pdf --attach photo.png
  consort run --input 'n:=3' --input 'places:=[1, 2]'
  consort run --url http://127.0.0.1:7329 --file request.json --tag team=green";

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The configuration; default: ./consort.toml, else the built-in demo
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    config: Option<PathBuf>,
    /// Run it on the server at this address; $CONSORT_URL is not used here
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Let others see and steer it at this port of this machine while it lasts
    #[arg(long, value_name = "PORT", conflicts_with = "url")]
    serve: Option<u16>,
    /// The server's API key, where one serves the run; default: $CONSORT_API_KEY
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// A value for a {variable} of the tasks, NAME:=JSON for a value that is not a string; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = input)]
    input: Vec<(String, Value)>,
    /// A file for every task without its own: a picture, a PDF, a DOCX file or a text; may be repeated
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
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
    if let Some(url) = &args.url {
        return remote::run(args, url, (env, &terminal), output);
    }
    let config = match Config::find(args.config.as_deref(), env) {
        Ok(config) => config,
        Err(mistakes) => return wrong(output, &[mistakes.to_string()]),
    };
    // Without a file nothing is kept, so nothing is shared with a server.
    let folder = Config::file(args.config.as_deref()).map(|_| config.store.as_path());
    match (folder.and_then(running_server::server), args.serve) {
        (Some(url), Some(_)) => {
            let mistake = format!("{} is served at {url}, where all see it: leave out --serve", config.store.display());
            wrong(output, &[mistake])
        }
        (Some(url), None) => {
            if look != Look::Frames {
                output.err.say(running_server::note(&config.store, &url, "the run"))?;
            }
            remote::run(args, &url, (env, &terminal), output)
        }
        (None, _) if args.key.is_some() => wrong(output, &[running_server::needless_key(&config.store)]),
        (None, _) => local::run(args, &config, (env, &terminal), output),
    }
}

fn wrong(output: Output<'_>, mistakes: &[String]) -> anyhow::Result<Exit> {
    for mistake in mistakes {
        output.err.say(mistake)?;
    }
    Ok(Exit::Usage)
}
