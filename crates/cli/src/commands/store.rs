//! `consort store`: the folder in which everything is kept. `check` reads all of it
//! and names what is damaged.

mod read;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use consort_log::{Fault, SqliteLog};
use tokio::runtime::Builder;

use crate::config::{Config, Env};
use crate::exit::Exit;
use crate::output::Output;

/// The place of a store.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// The configuration that names the folder; default: ./consort.toml
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    config: Option<PathBuf>,
    /// The folder in which everything is kept; default: the configuration's
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// The folders of a store.
pub(super) struct Folders {
    /// The folder of the database.
    pub(super) data: PathBuf,
    /// The folder of trace files, where one is configured.
    traces: Option<PathBuf>,
}

impl Place {
    /// Returns the folders, or the mistakes of the configuration that names them.
    pub(super) fn find(&self, env: &Env<'_>) -> Result<Folders, String> {
        match &self.data {
            Some(data) => Ok(Folders { data: data.clone(), traces: None }),
            None => {
                let config = Config::find(self.config.as_deref(), env).map_err(|mistakes| mistakes.to_string())?;
                Ok(Folders { data: config.store, traces: config.server.trace_dir })
            }
        }
    }
}

/// What was typed.
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read everything that is stored and name what is damaged, also while a server runs
    Check(Place),
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    let Command::Check(place) = &args.command;
    match place.find(env) {
        Ok(folders) => check(&folders, output),
        Err(mistakes) => {
            writeln!(output.err, "{mistakes}")?;
            Ok(Exit::Usage)
        }
    }
}

fn check(folders: &Folders, output: Output<'_>) -> anyhow::Result<Exit> {
    let file = consort::database(&folders.data);
    if !file.exists() {
        writeln!(output.err, "there is nothing to check: {} does not exist", file.display())?;
        return Ok(Exit::Failed);
    }
    let mut found = examine(&file)?;
    let traces = folders.traces.iter().flat_map(|folder| read::traces(folder));
    found.faults.extend(traces);
    for Fault { place, reason } in &found.faults {
        writeln!(output.out, "damaged: {place}: {reason}")?;
    }
    let (file, streams, records) = (file.display(), found.streams, found.records);
    match found.faults.len() {
        0 => {
            writeln!(output.out, "{file}: sound ({streams} streams, {records} records)")?;
            Ok(Exit::Done)
        }
        faults => {
            writeln!(output.out, "{file}: damaged in {faults} places ({streams} streams, {records} records)")?;
            Ok(Exit::Failed)
        }
    }
}

/// Reads all of a database.
pub(super) fn examine(file: &Path) -> anyhow::Result<read::Found> {
    let cannot = || format!("cannot read {}", file.display());
    let faults = SqliteLog::check(file).with_context(cannot)?;
    let log = SqliteLog::read_only(file).with_context(cannot)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(read::streams(&log, faults)).with_context(cannot)
}
