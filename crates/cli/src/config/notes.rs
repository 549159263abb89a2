//! What is found wrong while a file is read. A mistake names a key; where the
//! key stands was recorded when the file was parsed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::mistake::{Mistake, Mistakes, Position};

/// Shorter values of variables are no secrets, and hiding them would garble words.
const HIDDEN_MIN: usize = 4;

/// Mistakes so far, and what is needed to place them.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The folder that relative paths are relative to.
    folder: PathBuf,
    /// The byte at which each key stands.
    places: HashMap<String, usize>,
    /// Strings with variables: what they mean, and what was typed.
    expanded: Vec<(String, String)>,
    /// Keys and what is wrong with them.
    mistakes: Vec<(String, String)>,
}

impl Notes {
    /// Notes on a file in this folder.
    pub(crate) fn new(folder: &Path) -> Notes {
        Notes { folder: folder.to_owned(), ..Notes::default() }
    }

    /// A path as the file means it.
    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Records where a key stands.
    pub(crate) fn place(&mut self, key: &str, byte: usize) {
        self.places.entry(key.to_owned()).or_insert(byte);
    }

    /// True when the file has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// Records what a string with variables means.
    pub(crate) fn expanded(&mut self, meant: &str, typed: &str) {
        self.expanded.push((meant.to_owned(), typed.to_owned()));
    }

    /// True when there is a mistake about this key.
    pub(crate) fn faulty(&self, key: &str) -> bool {
        self.mistakes.iter().any(|(known, _)| known == key)
    }

    /// Notes a mistake, unless the key has one: what follows from it is noise.
    pub(crate) fn mistake(&mut self, key: impl Into<String>, message: impl Into<String>) {
        let key = key.into();
        if !self.faulty(&key) {
            self.mistakes.push((key, message.into()));
        }
    }

    /// Notes mistakes somebody else found, who does not know what must stay hidden.
    pub(crate) fn found(&mut self, mistakes: impl IntoIterator<Item = (String, String)>) {
        let fresh: Vec<_> = mistakes.into_iter().filter(|(key, _)| !self.faulty(key)).collect();
        let hidden = fresh.into_iter().map(|(key, message)| (key, self.hide(message)));
        let hidden: Vec<_> = hidden.collect();
        self.mistakes.extend(hidden);
    }

    /// What was read, if there was nothing wrong with it.
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

    /// Where a key stands; a missing one is looked for where its table is.
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
