//! `consort store`: the folder in which everything is kept. `check` reads all of it
//! and names what is damaged.

mod copy;
mod read;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use consort_config::{Config, Env};
use consort_log::{Fault, SqliteLog};
use consort_postgres::{OpenError, PgLog, is_address};
use tokio::runtime::Builder;

use crate::exit::Exit;
use crate::output::Output;

/// The place of a store.
#[derive(Debug, clap::Args)]
pub(crate) struct StoreOptions {
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
    /// The address of the PostgreSQL that holds everything instead, where one does.
    pub(super) database: Option<String>,
    /// The folder of trace files, where one is configured.
    traces: Option<PathBuf>,
}

impl StoreOptions {
    /// Returns the folders, or the mistakes of the configuration that names them.
    pub(super) fn find(&self, env: &Env<'_>) -> Result<Folders, String> {
        match &self.data {
            Some(data) => {
                let database = data.to_str().filter(|word| is_address(word)).map(str::to_owned);
                Ok(Folders { data: data.clone(), database, traces: None })
            }
            None => {
                let config = Config::find(self.config.as_deref(), env).map_err(|mistakes| mistakes.to_string())?;
                let database = config.cluster.shared.map(|shared| shared.url);
                Ok(Folders { data: config.store, database, traces: config.server.trace_dir })
            }
        }
    }
}

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read everything that is stored and name what is damaged, also while a server runs
    Check(StoreOptions),
    /// Copy everything to an empty store, between data folders and PostgreSQL, while no server runs
    Copy(copy::Args),
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    let place = match &args.command {
        Command::Check(place) => place,
        Command::Copy(args) => return copy::run(args, output),
    };
    match place.find(env) {
        Ok(folders) => check(&folders, output),
        Err(mistakes) => {
            output.err.say(&mistakes)?;
            Ok(Exit::Usage)
        }
    }
}

fn check(folders: &Folders, output: Output<'_>) -> anyhow::Result<Exit> {
    let (place, mut found) = match &folders.database {
        Some(address) => match examine_database(address)? {
            Ok(found) => found,
            Err(error) => {
                output.err.say(&error)?;
                return Ok(if matches!(error, OpenError::Away(_)) { Exit::Unreachable } else { Exit::Usage });
            }
        },
        None => {
            let file = consort::database(&folders.data);
            if !file.exists() {
                output.err.say(format_args!("there is nothing to check: {} does not exist", file.display()))?;
                return Ok(Exit::Failed);
            }
            (file.display().to_string(), examine(&file)?)
        }
    };
    let traces = folders.traces.iter().flat_map(|folder| read::traces(folder));
    found.faults.extend(traces);
    for Fault { place, reason } in &found.faults {
        output.out.say(format_args!("damaged: {place}: {reason}"))?;
    }
    let (verdict, exit) = match found.faults.len() {
        0 => ("sound".to_owned(), Exit::Done),
        faults => (format!("damaged in {faults} places"), Exit::Failed),
    };
    output.out.say(format_args!("{place}: {verdict} ({} streams, {} records)", found.streams, found.records))?;
    Ok(exit)
}

/// Reads all of a PostgreSQL database; returns its place, and what was found.
fn examine_database(address: &str) -> anyhow::Result<Result<(String, read::Found), OpenError>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let log = match PgLog::open_within(address, copy::WAIT).await {
            Ok(log) => log,
            Err(error) => return Ok(Err(error)),
        };
        let place = format!("postgres://{}", log.place());
        let found = read::streams(&log, Vec::new()).await.with_context(|| format!("cannot read {place}"))?;
        Ok(Ok((place, found)))
    })
}

/// Reads all of a database.
pub(super) fn examine(file: &Path) -> anyhow::Result<read::Found> {
    let cannot = || format!("cannot read {}", file.display());
    let faults = SqliteLog::check(file).with_context(cannot)?;
    let log = SqliteLog::read_only(file).with_context(cannot)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(read::streams(&log, faults)).with_context(cannot)
}
