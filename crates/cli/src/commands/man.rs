//! `consort man`: writes the manual, a page for each command, made from the same
//! description that `--help` prints.

use std::path::Path;

use anyhow::Context;

use crate::exit::Exit;
use crate::output::Output;

/// Writes the pages of this command and of those below it into a folder, made if needed.
pub(crate) fn run(dir: &Path, command: clap::Command, output: Output<'_>) -> anyhow::Result<Exit> {
    let wrong = || format!("cannot write man pages to {}", dir.display());
    std::fs::create_dir_all(dir).with_context(wrong)?;
    clap_mangen::generate_to(command, dir).with_context(wrong)?;
    output.out.say(format_args!("wrote man pages to {}", dir.display()))?;
    Ok(Exit::Done)
}
