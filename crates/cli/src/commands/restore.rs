//! `consort restore`: a backup as the store of a server. Only into an empty folder:
//! beside an old database's files a copy would be mixed with what they hold.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use consort_config::Env;
use consort_log::{Fault, private};

use super::store::{StoreOptions, examine};
use crate::exit::Exit;
use crate::output::{Output, Stream};

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The backup
    file: PathBuf,
    #[command(flatten)]
    place: StoreOptions,
    /// Restore a damaged backup, too
    #[arg(long)]
    damaged: bool,
}

/// Copies a backup into an empty folder and reads all of it there.
pub(crate) fn run(args: &Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    let folder = match args.place.find(env) {
        Ok(folders) => folders.data,
        Err(mistakes) => {
            output.err.say(&mistakes)?;
            return Ok(Exit::Usage);
        }
    };
    if let Some(refusal) = refusal(&args.file, &folder)? {
        output.err.say(&refusal)?;
        return Ok(Exit::Failed);
    }
    private::create_folder(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let copy = folder.join("restoring.db");
    let database = consort::database(&folder);
    let found = copied(&args.file, &copy).and_then(|()| examine(&copy));
    remove_side_files(&folder);
    let found = match found {
        Ok(found) if found.faults.is_empty() || args.damaged => found,
        unusable => {
            let _not_copied = fs::remove_file(&copy);
            return refused(&args.file, &unusable?.faults, output);
        }
    };
    fs::rename(&copy, &database)?;
    File::open(&folder)?.sync_all()?;
    report(&found.faults, output.err)?;
    let streams = found.streams;
    let records = found.records;
    output.out.say(format_args!("restored {} ({streams} streams, {records} records)", database.display()))?;
    Ok(Exit::Done)
}

/// Removes the files that any reader of a database creates; they hold nothing.
fn remove_side_files(folder: &Path) {
    for end in ["-shm", "-wal"] {
        let _not_made = fs::remove_file(folder.join(format!("restoring.db{end}")));
    }
}

/// Returns the reason why nothing is copied.
fn refusal(file: &Path, folder: &Path) -> io::Result<Option<String>> {
    if !file.is_file() {
        return Ok(Some(format!("{} does not exist", file.display())));
    }
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).exists() {
        let advice = "a server uses it, or has not ended properly: copy it with `consort backup`";
        return Ok(Some(format!("{} is no backup: {advice}", file.display())));
    }
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(mut entries) => Ok(entries
            .next()
            .map(|_first| format!("{} is not empty: name an empty folder with --data", folder.display()))),
    }
}

fn copied(from: &Path, to: &Path) -> anyhow::Result<()> {
    let copy = || {
        let mut file = private::create_file(to)?;
        io::copy(&mut File::open(from)?, &mut file)?;
        file.sync_all()
    };
    copy().with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

fn refused(file: &Path, faults: &[Fault], output: Output<'_>) -> anyhow::Result<Exit> {
    report(faults, output.err)?;
    output
        .err
        .say(format_args!("{} is damaged and was not restored; --damaged restores it as it is", file.display()))?;
    Ok(Exit::Failed)
}

fn report(faults: &[Fault], err: &mut Stream) -> io::Result<()> {
    faults.iter().try_for_each(|Fault { place, reason }| err.say(format_args!("damaged: {place}: {reason}")))
}
