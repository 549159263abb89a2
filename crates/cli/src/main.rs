//! `consort`: runs ensembles of language-model agents and lets people and
//! programs steer them. This file is the contents page: one line per command.

mod assemble;
mod commands;
mod config;
mod exit;
mod show;
mod terminal;

use std::io::{stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::Output;
use crate::exit::Exit;
use crate::terminal::Terminal;

#[derive(Parser)]
#[command(name = "consort", version, about, disable_help_subcommand = true)]
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
        /// The configuration whose store is copied; default: ./consort.toml
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Run the ensemble to its end; the answer goes to stdout
    Run(commands::run::Args),
    /// Serve the control API until a signal
    Serve(commands::serve::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    // The one place that reads the environment.
    let env = |name: &str| std::env::var(name).ok();
    let output = Output { out: &mut stdout(), err: &mut stderr() };
    let ended = match cli.command {
        Command::Init { dir } => commands::init::run(&dir, output),
        Command::Backup { to, config } => commands::backup::run(&to, config.as_deref(), &env, output),
        Command::Check { config } => commands::check::run(config.as_deref(), &env, output),
        Command::Run(args) => commands::run::run(&args, &env, &Terminal::find(&env), output),
        Command::Serve(args) => commands::serve::run(args, &env, output),
    };
    match ended {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("consort: {error:#}");
            Exit::Failed.into()
        }
    }
}
