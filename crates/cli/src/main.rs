//! `consort`: runs ensembles of language-model agents and lets people and
//! programs steer them. This file is the contents page: one line per command.

mod assemble;
mod client;
mod commands;
mod exit;
mod output;
mod show;
mod talk;
mod terminal;
mod top;
mod watch;
mod workers;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use crate::client::Failure;
use crate::exit::Exit;
use crate::output::{Output, Stream};
use crate::terminal::Terminal;

/// The name of the program.
const NAME: &str = "consort";

const EXAMPLES: &str = "Examples:
  consort run --input topic=bees     the built-in demo, offline, nothing kept
  consort chat                       a chat, with the demo or with your models
  consort init && consort check      an ensemble of your own
  consort serve                      then, in another terminal: consort runs list

Exit status: 0 done, 1 the run or the call failed, 2 wrong usage or configuration,
3 the server cannot be reached, 130 interrupted.";

const COMPLETIONS: &str = "Examples:
  consort completions bash > ~/.local/share/bash-completion/completions/consort
  consort completions zsh > \"${fpath[1]}/_consort\"
  consort completions fish > ~/.config/fish/completions/consort.fish";

#[derive(Parser)]
#[command(name = NAME, version, about, disable_help_subcommand = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a commented starter consort.toml
    Init {
        /// The folder to write it to, made if needed
        #[arg(default_value = ".")]
        dir: PathBuf,
    },
    /// Check a configuration, naming file, line and key of each mistake
    Check {
        /// The file; default: ./consort.toml, else the built-in demo
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Show the ensemble as a graph: tasks, models, tools, what reads what
        #[arg(long)]
        explain: bool,
        /// Print the JSON Schema of the file instead, for editors
        #[arg(long, conflicts_with_all = ["config", "explain"])]
        schema: bool,
    },
    /// Copy everything stored to a file, also while runs go on
    Backup {
        /// The file to write, which must not exist yet
        to: PathBuf,
        #[command(flatten)]
        place: commands::store::StoreOptions,
    },
    /// Restore a backup, into an empty folder only
    Restore(commands::restore::Args),
    /// Check what is stored, or copy it to another store
    Store(commands::store::Args),
    /// Run the ensemble to its end; the answer goes to stdout
    Run(commands::run::Args),
    /// Talk to an assistant that has the configured models and tools
    Chat(commands::chat::Args),
    /// Serve the control API until Ctrl-C; runs that were cut off go on
    Serve(commands::serve::Args),
    /// Watch a server full-screen, and decide what waits for you
    Top(commands::top::Args),
    /// See and steer the runs of a server
    Runs(commands::runs::Args),
    /// Decide what waits for a person
    Reviews(commands::reviews::Args),
    /// See, pause and trigger the schedules of a server
    Schedules(commands::schedules::Args),
    /// See the messages that were sent to other programs, and send them again
    Webhooks(commands::webhooks::Args),
    /// See the chats of a server, or erase one
    Threads(commands::threads::Args),
    /// See the saved workflows of a server, or run one
    Workflows(commands::workflows::Args),
    /// Ask the configured models what they can do
    #[command(disable_help_subcommand = true)]
    Models {
        #[command(subcommand)]
        command: commands::models::Command,
    },
    /// List the tools of a server, or call one
    Tools(commands::tools::Args),
    /// Put documents into the collections of a server, and search them
    Collections(commands::collections::Args),
    /// List the models, tasks and tools of a server
    Capabilities(client::Target),
    /// List the other ensembles a server knows
    Network(client::Target),
    /// Offer a server's tools to an MCP client, over standard input and output
    Mcp(commands::stdio::Args),
    /// Serve as the agent of an editor (Agent Client Protocol), over standard input and output
    Acp(commands::stdio::Args),
    /// Report whether a server takes work: exit status 0 yes, 1 no, 3 not reachable
    Health(client::Target),
    /// Make keys for a server
    #[command(disable_help_subcommand = true)]
    Keys {
        #[command(subcommand)]
        command: commands::keys::Command,
    },
    /// Print a script that completes commands and ids in your shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print ids of a server, for completions
    #[command(hide = true)]
    Ids {
        /// The things that have them
        things: commands::completions::Things,
        #[command(flatten)]
        target: client::Target,
    },
    /// Write the man pages of all commands
    #[command(hide = true)]
    Man {
        /// The folder to write them to, made if needed
        dir: PathBuf,
    },
}

fn main() -> ExitCode {
    let mut out = Stream::stdout();
    let mut err = Stream::stderr();
    // What is read by a program stays as it is written; what is read by a person fits the terminal.
    let columns = out.size().map_or(0, |(columns, _)| columns);
    let parsed = Cli::command().term_width(columns).try_get_matches();
    let ended = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => run(cli.command, Output { out: &mut out, err: &mut err }),
        // These texts are our own, so they may keep clap's colours.
        Err(help) if matches!(help.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => help.exit(),
        Err(mistake) => {
            // The message repeats the command line, which may have been copied from anywhere.
            err.prose(&mistake.render().to_string()).map(|()| Exit::Usage).map_err(Into::into)
        }
    };
    match ended {
        Ok(exit) => exit.into(),
        // The reader of the output has closed it, as in `| head`.
        Err(error) if error.downcast_ref().is_some_and(is_broken_pipe) => Exit::Failed.into(),
        Err(error) => {
            let _nobody_reads = err.say(format_args!("{NAME}: {error:#}"));
            error.downcast_ref().map_or(Exit::Failed, Failure::exit).into()
        }
    }
}

fn run(command: Command, output: Output<'_>) -> anyhow::Result<Exit> {
    // The one place that reads the environment.
    let env = |name: &str| std::env::var(name).ok();
    let terminal = Terminal::find(&env, output.err.reader());
    match command {
        Command::Init { dir } => commands::init::run(&dir, output),
        Command::Backup { to, place } => commands::backup::run(&to, &place, &env, output),
        Command::Restore(args) => commands::restore::run(&args, &env, output),
        Command::Store(args) => commands::store::run(&args, &env, output),
        Command::Check { schema: true, .. } => commands::check::schema(output),
        Command::Check { config, explain, schema: false } => {
            let say = if explain { commands::check::Say::Graph } else { commands::check::Say::Verdict };
            commands::check::run(config.as_deref(), say, &env, output)
        }
        Command::Run(args) => commands::run::run(&args, &env, &terminal, output),
        Command::Chat(args) => commands::chat::run(&args, &env, &terminal, output),
        Command::Serve(args) => commands::serve::run(args, &env, output),
        Command::Top(args) => commands::top::run(&args, &env, &terminal, output),
        Command::Runs(args) => commands::runs::run(&args, &env, &terminal, output),
        Command::Reviews(args) => commands::reviews::run(&args, &env, output),
        Command::Schedules(args) => commands::schedules::run(&args, &env, output),
        Command::Webhooks(args) => commands::webhooks::run(&args, &env, output),
        Command::Threads(args) => commands::threads::run(&args, &env, output),
        Command::Workflows(args) => commands::workflows::run(&args, &env, &terminal, output),
        Command::Models { command } => commands::models::run(&command, &env, output),
        Command::Tools(args) => commands::tools::run(&args, &env, output),
        Command::Collections(args) => commands::collections::run(&args, &env, output),
        Command::Capabilities(target) => commands::capabilities::run(&target, &env, output),
        Command::Network(target) => commands::network::run(&target, &env, output),
        Command::Mcp(args) => commands::mcp::run(&args, &env, output),
        Command::Acp(args) => commands::acp::run(&args, &env, output),
        Command::Health(target) => commands::health::run(&target, &env, output),
        Command::Man { dir } => commands::man::run(&dir, Cli::command(), output),
        Command::Keys { command } => commands::keys::run(&command, output),
        Command::Completions { shell } => commands::completions::run(shell, Cli::command(), output),
        Command::Ids { things, target } => commands::completions::ids(things, &target, &env, output),
    }
}

fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}
