//! The files that each run has read, so that a run does not overwrite content it has not
//! seen. Bounded: the oldest entry is dropped first, and the file then has to be read again.

use std::collections::VecDeque;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::path::WorkspacePath;

/// The maximum number of runs remembered; many more than run at once.
const RUNS_MAX: usize = 256;
/// The maximum number of files remembered of each run; an agent rarely works on more.
const FILES_MAX: usize = 256;

/// A hash that tells one content from another.
pub(super) type Print = [u8; 32];

pub(super) fn print(content: &[u8]) -> Print {
    Sha256::digest(content).into()
}

/// The files one run has read, the latest last.
type Files = VecDeque<(String, Print)>;

/// Runs, the latest last.
#[derive(Default)]
pub(super) struct Seen(VecDeque<(Arc<str>, Files)>);

impl Seen {
    pub(super) fn note(&mut self, run: &Arc<str>, place: &WorkspacePath, print: Print) {
        let known = self.0.iter().position(|(name, _)| name == run);
        let (run, mut files) =
            known.and_then(|index| self.0.remove(index)).unwrap_or_else(|| (run.clone(), VecDeque::new()));
        files.retain(|(path, _)| path != place.as_str());
        files.push_back((place.as_str().to_owned(), print));
        files.drain(..files.len().saturating_sub(FILES_MAX));
        self.0.push_back((run, files));
        self.0.drain(..self.0.len().saturating_sub(RUNS_MAX));
    }

    pub(super) fn get(&self, run: &str, place: &WorkspacePath) -> Option<Print> {
        let (_, files) = self.0.iter().find(|(name, _)| **name == *run)?;
        files.iter().find(|(path, _)| path == place.as_str()).map(|(_, print)| *print)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_files_and_runs_are_forgotten_first() {
        let mut seen = Seen::default();
        let place = |name: usize| WorkspacePath::parse(&format!("f{name}")).unwrap();
        let first: Arc<str> = "first".into();
        let second: Arc<str> = "second".into();
        for name in 0..=FILES_MAX {
            seen.note(&first, &place(name), print(b"x"));
        }
        assert_eq!(seen.get("first", &place(0)), None);
        assert_eq!(seen.get("first", &place(1)), Some(print(b"x")));
        assert_eq!(seen.get("second", &place(1)), None);
        seen.note(&second, &place(1), print(b"y"));
        seen.note(&first, &place(1), print(b"z"));
        for run in 0..RUNS_MAX - 1 {
            seen.note(&format!("run {run}").into(), &place(1), print(b"x"));
        }
        assert_eq!(seen.get("second", &place(1)), None);
        assert_eq!(seen.get("first", &place(1)), Some(print(b"z")));
    }
}
