//! Runs whose own data is being validated at the moment, as records of one file. The
//! records that an earlier process left behind show in whose work it died. They are
//! written without waiting for the disk: they have to outlive the process, not the machine.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use consort_log::private;

/// Crashes in a row after which a run is not tried again.
pub const DEATHS_MAX: u8 = 3;
/// The file of the records, in a folder of its own.
const FILE: &str = "marks";
/// The bytes of a record: a run is marked and forgotten with one small write, and no file is created for it.
const RECORD: usize = 128;
/// The first byte of a record of a run that is being worked on.
const AT_WORK: u8 = b'w';
/// The first byte of a record of a run that was being worked on when an earlier process died.
const DIED: u8 = b'd';
/// The first byte of a record that is free.
const FREE: u8 = b' ';

/// The file of the records, and the number of crashes at which each run was suspect.
#[derive(Clone, Debug)]
pub struct Suspects(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: File,
    records: Mutex<Records>,
}

/// The records of the file, and the runs that have them.
#[derive(Debug, Default)]
struct Records {
    /// Read once, at the start: at most the runs that were worked on at the last crashes.
    died: HashMap<String, Entry>,
    /// Records that are used again; there are no more than runs that were ever marked at the same time.
    free: Vec<u64>,
    /// The number of records in the file.
    count: u64,
}

/// The record of a run, and the number of crashes it tells of.
#[derive(Clone, Copy, Debug)]
struct Entry {
    record: u64,
    deaths: u8,
}

/// Marks a run as suspect until it is dropped.
#[derive(Debug)]
pub(crate) struct Mark {
    suspects: Suspects,
    record: u64,
}

impl Suspects {
    /// Opens the folder and counts what an earlier process left.
    pub fn open(folder: &Path) -> io::Result<Suspects> {
        private::create_folder(folder)?;
        let path = folder.join(FILE);
        let mut deaths = left_in(&path)?;
        let files = files_of_runs(folder)?;
        for (run, file) in &files {
            let count = Note::read(&fs::read(file)?).counted();
            let known = deaths.entry(run.clone()).or_default();
            *known = count.max(*known);
        }
        let mut records = Records::default();
        let mut content = Vec::new();
        for (run, deaths) in deaths {
            content.extend_from_slice(&(Note { is_working: false, deaths }).record(&run));
            records.died.insert(run, Entry { record: records.count, deaths });
            records.count += 1;
        }
        // A crash in the middle leaves the records as they were, so that none is counted twice.
        let next = folder.join(format!("{FILE}.next"));
        let file = private::open_file(&next)?;
        file.set_len(0)?;
        file.write_all_at(&content, 0)?;
        fs::rename(&next, &path)?;
        for (_, file) in files {
            fs::remove_file(file)?;
        }
        Ok(Suspects(Arc::new(Inner { file, records: Mutex::new(records) })))
    }

    /// Returns whether the run was suspect at too many crashes in a row.
    pub(crate) fn is_poisoned(&self, run: &str) -> bool {
        self.records(|records| records.died.get(run).is_some_and(|entry| entry.deaths >= DEATHS_MAX))
    }

    /// Marks a run until the mark is dropped. If the mark cannot be written, the run works
    /// anyway.
    pub(crate) fn mark(&self, run: &Arc<str>) -> Mark {
        let entry = self.records(|records| {
            records.died.remove(&**run).unwrap_or_else(|| Entry { record: records.take(), deaths: 0 })
        });
        let note = Note { is_working: true, deaths: entry.deaths };
        self.write(entry.record, &note.record(run));
        Mark { suspects: self.clone(), record: entry.record }
    }

    /// Forgets a run that is over.
    pub(crate) fn clear(&self, run: &str) {
        if let Some(entry) = self.records(|records| records.died.remove(run)) {
            self.give_back(entry.record);
        }
    }

    fn give_back(&self, record: u64) {
        self.write(record, &[FREE]);
        self.records(|records| records.free.push(record));
    }

    fn write(&self, record: u64, bytes: &[u8]) {
        if let Err(error) = self.0.file.write_all_at(bytes, record * RECORD as u64) {
            tracing::warn!(%error, "cannot mark a run as suspect");
        }
    }

    fn records<T>(&self, use_them: impl FnOnce(&mut Records) -> T) -> T {
        use_them(&mut self.0.records.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Records {
    fn take(&mut self) -> u64 {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.suspects.give_back(self.record);
    }
}

/// Reads the crashes of each run from the file of records.
fn left_in(path: &Path) -> io::Result<HashMap<String, u8>> {
    let content = match fs::read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut deaths = HashMap::new();
    for record in content.chunks_exact(RECORD) {
        let Some((note, run)) = record.split_at_checked(2) else { continue };
        // A record that was never written, or is free.
        if !matches!(note.first(), Some(&(AT_WORK | DIED))) {
            continue;
        }
        let run = String::from_utf8_lossy(run).trim_end_matches(['\0', ' ', '\n']).to_owned();
        let known: &mut u8 = deaths.entry(run).or_default();
        *known = Note::read(note).counted().max(*known);
    }
    Ok(deaths)
}

/// Lists the files of an earlier version, which had one for each run.
fn files_of_runs(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(run) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !run.starts_with(FILE) {
            files.push((run.to_owned(), path));
        }
    }
    Ok(files)
}

/// The first two bytes of a record.
#[derive(Clone, Copy)]
struct Note {
    is_working: bool,
    deaths: u8,
}

impl Note {
    fn read(bytes: &[u8]) -> Note {
        match bytes {
            [word, digit] => Note { is_working: *word == AT_WORK, deaths: digit.saturating_sub(b'0').min(DEATHS_MAX) },
            // A file of an earlier version that was created, but not yet written.
            _ => Note { is_working: true, deaths: 0 },
        }
    }

    /// Counts a crash if the run was being worked on.
    fn counted(self) -> u8 {
        if self.is_working { self.deaths.saturating_add(1).min(DEATHS_MAX) } else { self.deaths }
    }

    /// Returns the record of a run, in bytes that are written at once.
    fn record(self, run: &str) -> [u8; RECORD] {
        let mut record = [b' '; RECORD];
        let word = if self.is_working { AT_WORK } else { DIED };
        let bytes = [word, b'0' + self.deaths].into_iter().chain(run.bytes());
        for (byte, given) in record.iter_mut().zip(bytes) {
            *byte = given;
        }
        if let Some(last) = record.last_mut() {
            *last = b'\n';
        }
        record
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
        let run: Arc<str> = "run-1".into();
        let other: Arc<str> = "run-2".into();
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

    #[test]
    fn records_are_used_again_and_files_of_an_earlier_version_are_counted() {
        let home = tempfile::tempdir().unwrap();
        let suspects = Suspects::open(home.path()).unwrap();
        let runs: Vec<Arc<str>> = (0..100).map(|number| Arc::from(format!("run-{number}"))).collect();
        for run in &runs {
            let _both = (suspects.mark(run), suspects.mark(&"run-x".into()));
        }
        let file = home.path().join(FILE);
        assert_eq!(file.metadata().unwrap().len(), 2 * RECORD as u64);
        fs::write(home.path().join("run-7"), "w2").unwrap();
        let suspects = Suspects::open(home.path()).unwrap();
        assert!(suspects.is_poisoned("run-7") && !suspects.is_poisoned("run-8"));
        assert!(!home.path().join("run-7").exists());
        suspects.clear("run-7");
        assert!(!Suspects::open(home.path()).unwrap().is_poisoned("run-7"));
    }
}
