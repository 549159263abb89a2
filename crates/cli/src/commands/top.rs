//! `consort top`: the runs of a server on the whole terminal, with what they wait for;
//! a key that is pressed twice decides. [`crate::top`] shows it.

use std::io::{IsTerminal, stdin};

use consort_config::Env;
use serde_json::Value;

use crate::client::Target;
use crate::commands::call::{ask, wrong};
use crate::exit::Exit;
use crate::output::{Output, Reader};
use crate::show::screen::Look;
use crate::terminal::Terminal;
use crate::top::{self, Snapshot};
use crate::workers;

const KEYS: &str = "Keys:
  ↑ ↓       choose a review, an approval or a run; what is known of it is shown below
  a  r  e   approve (asked twice); reject and say what should be better; edit in $VISUAL or $EDITOR
  a  d      allow a call of a chat; deny it, both asked twice
  x         end the run at this review, asked twice
  p  c      pause or resume a run; cancel it, asked twice
  q         leave

Examples:
  consort top
  consort top --url http://127.0.0.1:7329 --key KEY
  consort top --json | jq '.reviews | length'";

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(after_help = KEYS)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, terminal: &Terminal, mut output: Output<'_>) -> anyhow::Result<Exit> {
    if args.target.json {
        let asked = ask(&args.target, env, output.lend(), async |client| Snapshot::take(client).await)?;
        let Some(snapshot) = asked else { return Ok(Exit::Usage) };
        output.out.json(&Value::from(snapshot).to_string())?;
        return Ok(Exit::Done);
    }
    // The person and the look are those of the standard error, which may be a terminal when the others are not.
    let drawable = output.out.reader() == Reader::Terminal && stdin().is_terminal();
    let Look::Block(colour) = terminal.look else { return wrong(output, NO_TERMINAL) };
    let Some(person) = terminal.person.as_ref().filter(|_| drawable) else { return wrong(output, NO_TERMINAL) };
    let client = match args.target.client(env) {
        Ok(client) => client,
        Err(mistake) => return wrong(output, &mistake),
    };
    let runtime = workers::start()?;
    let exit = runtime.block_on(top::show(&client, person, colour, output));
    // A blocking read of the keyboard must not delay the exit.
    runtime.shutdown_background();
    exit
}

const NO_TERMINAL: &str = "consort top needs a terminal: `consort runs list` and `consort reviews list` print the same \
    once, and `consort top --json` for programs";
