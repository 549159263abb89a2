//! `consort runs`: the runs of a server, watched and steered from a terminal.

mod continuation;
pub(crate) mod list;
mod show;
mod steer;
mod watch;

use clap::Subcommand;
use consort_config::Env;
use serde_json::json;

use crate::client::Call;
use crate::commands::Group;
use crate::commands::call::{call, call_about};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::Terminal;

/// The arguments, as typed.
pub(crate) type Args = Group<Command>;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List runs, the newest first
    List(list::Args),
    /// Show one run: its tasks, their outputs, what it waits for
    Show {
        /// The run: its id, the beginning of it, or latest
        run: String,
    },
    /// Watch a run to its end; the answer goes to stdout, Ctrl-C only leaves
    Watch {
        /// The run: its id, the beginning of it, or latest
        run: String,
    },
    /// Stop a run; what has finished is kept
    Cancel {
        /// The run: its id, the beginning of it, or latest
        run: String,
        /// The point at which it stops
        #[arg(long, value_enum, ignore_case = true, default_value_t = steer::Mode::AfterTask)]
        mode: steer::Mode,
    },
    /// Hold a run: nothing new begins until it is resumed
    Pause {
        /// The run: its id, the beginning of it, or latest
        run: String,
    },
    /// Let a paused run go on
    Resume {
        /// The run: its id, the beginning of it, or latest
        run: String,
    },
    /// Switch the model of a run, from its next model call on
    Model {
        /// The run: its id, the beginning of it, or latest
        run: String,
        /// The model's name, as `consort capabilities` lists it
        model: String,
    },
    /// Give up the model calls a run waits for: their fallback is asked, or else the task fails
    GiveUp {
        /// The run: its id, the beginning of it, or latest
        run: String,
        /// Only the calls of this task; default: all
        #[arg(long, value_name = "NAME")]
        task: Option<String>,
    },
    /// Tell the agents of a run something; they read it at their next step
    Inject(steer::Words),
    /// Do again what a failed or cancelled run did not finish
    Retry(continuation::Retry),
    /// Start a new run from the middle of another one
    Fork(continuation::Fork),
    /// Erase a run that has ended; one that has not is stopped at once
    Rm {
        /// The run: its id, the beginning of it, or latest
        run: String,
    },
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, terminal: &Terminal, output: Output<'_>) -> anyhow::Result<Exit> {
    let target = &args.target;
    let post = |run: &str, verb: &str| Call::post(&["runs", run, verb], json!({}));
    match &args.command {
        Command::List(list) => call(target, env, output, &list.call(), |answer, page| list.render(answer, page)),
        Command::Show { run } => call(target, env, output, &Call::get(&["runs", run]), show::render),
        Command::Watch { run } => watch::run(target, run, (env, terminal), output),
        Command::Cancel { run, mode } => call(target, env, output, &mode.cancel(run), steer::status),
        Command::Pause { run } => call(target, env, output, &post(run, "pause"), steer::status),
        Command::Resume { run } => call(target, env, output, &post(run, "resume"), steer::status),
        Command::Model { run, model } => call(target, env, output, &steer::model(run, model), steer::switched),
        Command::GiveUp { run, task } => {
            call(target, env, output, &steer::give_up(run, task.as_deref()), steer::given_up)
        }
        Command::Inject(words) => call(target, env, output, &words.call(), steer::injected),
        Command::Retry(retry) => retry.run(target, env, output),
        Command::Fork(fork) => fork.run(target, env, output),
        Command::Rm { run } => {
            let erase = Call::delete(&["runs", run]);
            call_about(target, env, output, &erase, |run, answer, _| steer::removed(run, answer))
        }
    }
}
