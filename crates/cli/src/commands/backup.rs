//! `consort backup`: a consistent copy of everything stored, also while runs
//! go on. The copy is a store of its own.

use std::path::Path;

use anyhow::Context;
use consort_log::SqliteLog;

use crate::config::{Config, Env};
use crate::exit::Exit;
use crate::output::Output;

/// Copies the store of a configuration to a file that does not exist yet.
pub(crate) fn run(to: &Path, file: Option<&Path>, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    let config = match Config::find(file, env) {
        Ok(config) => config,
        Err(mistakes) => {
            writeln!(output.err, "{mistakes}")?;
            return Ok(Exit::Usage);
        }
    };
    let from = consort::database(&config.store);
    if !from.exists() {
        writeln!(output.err, "there is nothing to copy: {} does not exist", from.display())?;
        return Ok(Exit::Failed);
    }
    SqliteLog::copy(&from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    writeln!(output.out, "copied {} to {}", from.display(), to.display())?;
    Ok(Exit::Done)
}
