//! Mistakes found while a file is read. A mistake names a key; the position of the key
//! was recorded when the file was parsed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::mistake::{Mistake, Mistakes, Position};

/// Shorter values of variables are no secrets, and hiding them would garble other words.
const HIDDEN_MIN: usize = 4;

/// The mistakes so far, with the data to locate them.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The folder that relative paths are relative to.
    folder: PathBuf,
    /// The byte position of each key.
    places: HashMap<String, usize>,
    /// Strings with variables: the expanded text, and the typed one.
    expanded: Vec<(String, String)>,
    /// The files that were read besides this one.
    pub(super) read: Vec<PathBuf>,
    /// Keys with their mistakes.
    mistakes: Vec<(String, String)>,
}

impl Notes {
    /// Creates notes on a file in this folder.
    pub(crate) fn new(folder: &Path) -> Notes {
        Notes { folder: folder.to_owned(), ..Notes::default() }
    }

    /// Returns a path relative to the file's folder.
    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Records the position of a key.
    pub(crate) fn place(&mut self, key: &str, byte: usize) {
        self.places.entry(key.to_owned()).or_insert(byte);
    }

    /// Returns true when the file has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// Records the expansion of a string with variables.
    pub(crate) fn expanded(&mut self, meant: &str, typed: &str) {
        self.expanded.push((meant.to_owned(), typed.to_owned()));
    }

    /// Returns true when there is a mistake about this key.
    pub(crate) fn faulty(&self, key: &str) -> bool {
        self.mistakes.iter().any(|(known, _)| known == key)
    }

    /// Notes a mistake, unless the key has one already: consequences of the first are noise.
    pub(crate) fn mistake(&mut self, key: impl Into<String>, message: impl Into<String>) {
        let key = key.into();
        if !self.faulty(&key) {
            self.mistakes.push((key, message.into()));
        }
    }

    /// Notes mistakes whose messages may hold secrets, which are hidden.
    pub(crate) fn found(&mut self, mistakes: impl IntoIterator<Item = (String, String)>) {
        let fresh: Vec<_> = mistakes.into_iter().filter(|(key, _)| !self.faulty(key)).collect();
        let hidden = fresh.into_iter().map(|(key, message)| (key, self.hide(message)));
        let hidden: Vec<_> = hidden.collect();
        self.mistakes.extend(hidden);
    }

    /// Returns the value, if there were no mistakes.
    pub(crate) fn verdict<T>(self, value: T, file: &Path, text: &str) -> Result<T, Mistakes> {
        if self.mistakes.is_empty() {
            return Ok(value);
        }
        let mut placed: Vec<(usize, String, String)> =
            self.mistakes.iter().map(|(key, message)| (self.byte(key), key.clone(), message.clone())).collect();
        placed.sort_by_key(|(byte, _, _)| *byte);
        let mistake = |(byte, key, message)| Mistake { position: Some(Position::of(byte, text)), key, message };
        Err(Mistakes { file: file.to_owned(), list: placed.into_iter().map(mistake).collect() })
    }

    /// Returns the position of a key; a missing one is located at its table.
    fn byte(&self, key: &str) -> usize {
        let mut known = key;
        loop {
            if let Some(byte) = self.places.get(known) {
                return *byte;
            }
            match known.rfind(['.', '[']).and_then(|end| known.get(..end)) {
                Some(outer) => known = outer,
                None => return 0,
            }
        }
    }

    fn hide(&self, message: String) -> String {
        let secrets = self.expanded.iter().filter(|(meant, _)| meant.len() >= HIDDEN_MIN);
        secrets.fold(message, |message, (meant, typed)| message.replace(meant, typed))
    }
}
