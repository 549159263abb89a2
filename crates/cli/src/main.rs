//! `consort`: runs ensembles of language-model agents and lets people and
//! programs steer them. This file is the contents page: one line per command.

mod assemble;
mod client;
mod commands;
mod config;
mod exit;
mod output;
mod show;
mod talk;
mod terminal;
mod watch;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::client::Failure;
use crate::exit::Exit;
use crate::output::{Output, Stream};
use crate::terminal::Terminal;

/// The name of the program.
const NAME: &str = "consort";

const EXAMPLES: &str = "Examples:
  consort run --input topic=bees     the built-in demo, offline, nothing kept
  consort chat                       a conversation, with the demo or with your models
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
    },
    /// Copy everything stored to a file, also while runs go on
    Backup {
        /// The file to write, which must not exist yet
        to: PathBuf,
        #[command(flatten)]
        place: commands::store::Place,
    },
    /// Make a backup the store of a server: into an empty folder only
    Restore(commands::restore::Args),
    /// Check the folder in which everything is kept
    Store(commands::store::Args),
    /// Run the ensemble to its end; the answer goes to stdout
    Run(commands::run::Args),
    /// Talk to an assistant that has the configured models and tools
    Chat(commands::chat::Args),
    /// Serve the control API until Ctrl-C; runs that were cut off go on
    Serve(commands::serve::Args),
    /// See and steer the runs of a server
    Runs(commands::runs::Args),
    /// Decide what waits for a person
    Reviews(commands::reviews::Args),
    /// List the tools of a server, or call one
    Tools(commands::tools::Args),
    /// List the models, tasks and tools of a server
    Capabilities(client::Target),
    /// List the other ensembles a server knows
    Network(client::Target),
    /// Say whether a server takes work: exit status 0 yes, 1 no, 3 not there
    Health(client::Target),
    /// Make keys for a server
    #[command(disable_help_subcommand = true)]
    Keys {
        #[command(subcommand)]
        command: commands::keys::Command,
    },
    /// Print a script that completes commands in your shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the man pages of all commands
    #[command(hide = true)]
    Man {
        /// The folder to write them to, made if needed
        dir: PathBuf,
    },
}

fn main() -> ExitCode {
    let (mut out, mut err) = (Stream::stdout(), Stream::stderr());
    let ended = match Cli::try_parse() {
        Ok(cli) => run(cli.command, Output { out: &mut out, err: &mut err }),
        // These texts are our own, so they may keep clap's colours.
        Err(help) if matches!(help.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => help.exit(),
        Err(mistake) => {
            // The message repeats the command line, which may have been copied from anywhere.
            write!(err, "{}", mistake.render()).map(|()| Exit::Usage).map_err(Into::into)
        }
    };
    match ended {
        Ok(exit) => exit.into(),
        // The reader of the output has closed it, as in `| head`.
        Err(error) if error.downcast_ref().is_some_and(is_broken_pipe) => Exit::Failed.into(),
        Err(error) => {
            let _nobody_reads = writeln!(err, "{NAME}: {error:#}");
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
        Command::Check { config } => commands::check::run(config.as_deref(), &env, output),
        Command::Run(args) => commands::run::run(&args, &env, &terminal, output),
        Command::Chat(args) => commands::chat::run(&args, &env, &terminal, output),
        Command::Serve(args) => commands::serve::run(args, &env, output),
        Command::Runs(args) => commands::runs::run(&args, &env, &terminal, output),
        Command::Reviews(args) => commands::reviews::run(&args, &env, output),
        Command::Tools(args) => commands::tools::run(&args, &env, output),
        Command::Capabilities(target) => commands::capabilities::run(&target, &env, output),
        Command::Network(target) => commands::network::run(&target, &env, output),
        Command::Health(target) => commands::health::run(&target, &env, output),
        Command::Man { dir } => commands::man::run(&dir, Cli::command(), output),
        Command::Keys { command } => commands::keys::run(&command, output),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
            write!(output.out, "{}", String::from_utf8_lossy(&script))?;
            Ok(Exit::Done)
        }
    }
}

fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}
