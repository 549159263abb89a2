//! `consort backup`: a consistent copy of everything stored, also while runs
//! go on. The copy is a store of its own.

use std::path::Path;

use anyhow::Context;
use consort_config::Env;
use consort_log::SqliteLog;

use super::store::StoreOptions;
use crate::exit::Exit;
use crate::output::Output;

/// Copies a store to a file that does not exist yet.
pub(crate) fn run(to: &Path, place: &StoreOptions, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    let folders = match place.find(env) {
        Ok(folders) => folders,
        Err(mistakes) => {
            output.err.say(&mistakes)?;
            return Ok(Exit::Usage);
        }
    };
    if folders.database.is_some() {
        let advice = "pg_dump makes a copy of it, and `consort store copy` moves everything to a folder";
        output.err.say(format_args!("everything is kept in a PostgreSQL: {advice}"))?;
        return Ok(Exit::Usage);
    }
    let from = consort::database(&folders.data);
    if !from.exists() {
        output.err.say(format_args!("there is nothing to copy: {} does not exist", from.display()))?;
        return Ok(Exit::Failed);
    }
    SqliteLog::copy(&from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    output.out.say(format_args!("copied {} to {}", from.display(), to.display()))?;
    Ok(Exit::Done)
}
