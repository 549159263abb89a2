//! Runs whose own data is being validated at the moment, one file each. The files that
//! an earlier process left behind show in whose work it died. A file is written
//! without waiting for the disk: it has to outlive the process, not the machine.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use consort_log::private;

/// Crashes in a row after which a run is not tried again.
pub const DEATHS_MAX: u8 = 3;

/// The folder of the files, and the number of crashes at which each run was suspect.
#[derive(Clone, Debug)]
pub struct Suspects(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// Read once, at the start: at most the runs that were worked on at the last crashes.
    deaths: Mutex<HashMap<String, u8>>,
}

/// Marks a run as suspect until it is dropped.
#[derive(Debug)]
pub(crate) struct Mark {
    suspects: Suspects,
    run: Arc<str>,
}

impl Suspects {
    /// Opens the folder and counts the files that an earlier process left.
    pub fn open(folder: &Path) -> io::Result<Suspects> {
        private::create_folder(folder)?;
        let mut deaths = HashMap::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let Some(run) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let count = match Note::read(&fs::read(&path)?) {
                // It was being worked on when the process died.
                Note { is_working: true, deaths } => deaths.saturating_add(1).min(DEATHS_MAX),
                Note { is_working: false, deaths } => deaths,
            };
            Note { is_working: false, deaths: count }.write(&path)?;
            deaths.insert(run.to_owned(), count);
        }
        Ok(Suspects(Arc::new(Inner { folder: folder.to_owned(), deaths: Mutex::new(deaths) })))
    }

    /// Whether the run was suspect at too many crashes in a row.
    pub(crate) fn is_poisoned(&self, run: &str) -> bool {
        self.deaths(run) >= DEATHS_MAX
    }

    /// Marks a run until the mark is dropped. If the mark cannot be written, the run works
    /// anyway.
    pub(crate) fn mark(&self, run: &Arc<str>) -> Mark {
        let note = Note { is_working: true, deaths: self.deaths(run) };
        if let Err(error) = note.write(&self.0.folder.join(&**run)) {
            tracing::warn!(%run, %error, "cannot mark a run as suspect");
        }
        Mark { suspects: self.clone(), run: run.clone() }
    }

    /// Forgets a run: its work succeeded, or it is over.
    pub(crate) fn clear(&self, run: &str) {
        self.0.deaths.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
        match fs::remove_file(self.0.folder.join(run)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(run, %error, "cannot remove the mark of a run");
            }
            Ok(()) | Err(_) => {}
        }
    }

    fn deaths(&self, run: &str) -> u8 {
        self.0.deaths.lock().unwrap_or_else(PoisonError::into_inner).get(run).copied().unwrap_or(0)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.suspects.clear(&self.run);
    }
}

/// The content of a file: always two bytes, so that it is never half written.
#[derive(Clone, Copy)]
struct Note {
    is_working: bool,
    deaths: u8,
}

impl Note {
    fn read(bytes: &[u8]) -> Note {
        match bytes {
            [word, digit] => Note { is_working: *word == b'w', deaths: digit.saturating_sub(b'0').min(DEATHS_MAX) },
            // Created, but not yet written: the process died right there.
            _ => Note { is_working: true, deaths: 0 },
        }
    }

    fn write(self, path: &Path) -> io::Result<()> {
        let word = if self.is_working { b'w' } else { b'd' };
        private::open_file(path)?.write_all(&[word, b'0' + self.deaths])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a process that dies while it works on the run.
    fn dies_at_work(folder: &Path, run: &Arc<str>) {
        std::mem::forget(Suspects::open(folder).unwrap().mark(run));
    }

    #[test]
    fn only_deaths_in_a_row_and_at_work_make_a_run_poisoned() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("suspects");
        let (run, other): (Arc<str>, Arc<str>) = ("run-1".into(), "run-2".into());
        dies_at_work(&folder, &run);
        dies_at_work(&folder, &run);
        // Crashes at which the run was not worked on do not count.
        for _ in 0..5 {
            assert!(!Suspects::open(&folder).unwrap().is_poisoned(&run));
        }
        dies_at_work(&folder, &run);
        dies_at_work(&folder, &other);
        let suspects = Suspects::open(&folder).unwrap();
        assert!(suspects.is_poisoned(&run) && !suspects.is_poisoned(&other));
        drop(suspects.mark(&run));
        assert!(!Suspects::open(&folder).unwrap().is_poisoned(&run), "it came through");
    }
}
