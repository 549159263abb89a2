//! Step two, the meaning: reads one table, key by key. Every reader is total: a
//! mistake is noted, a default takes its place, and reading goes on. Unknown keys are
//! mistakes as well.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use consort_core::unknown::alike;

use super::notes::Notes;
use super::typed::{Entries, Typed, inside};
use super::values::{Parsed, refused, text};

/// Minimal characters of a key to suggest one that contains it.
const PART_CHARS: usize = 4;

/// One table being read.
pub(crate) struct Fields<'a> {
    table: &'a Entries,
    path: String,
    known: Vec<&'static str>,
    missing: Vec<&'static str>,
    notes: &'a mut Notes,
}

/// Reads a whole file.
pub(crate) fn read_all<T>(table: &Entries, notes: &mut Notes, read: impl FnOnce(&mut Fields<'_>) -> T) -> T {
    read_table(table, String::new(), notes, read)
}

fn read_table<T>(table: &Entries, path: String, notes: &mut Notes, read: impl FnOnce(&mut Fields<'_>) -> T) -> T {
    let mut fields = Fields { table, path, known: Vec::new(), missing: Vec::new(), notes };
    let value = read(&mut fields);
    fields.finish();
    value
}

impl<'a> Fields<'a> {
    /// Returns the value of a key.
    pub(crate) fn read<T>(&mut self, key: &'static str, parse: impl Fn(&Typed) -> Parsed<T>) -> Option<T> {
        let parsed = parse(self.get(key)?);
        self.judge(inside(&self.path, key), parsed)
    }

    /// Returns the value of a required key.
    pub(crate) fn need<T>(&mut self, key: &'static str, parse: impl Fn(&Typed) -> Parsed<T>) -> Option<T> {
        if self.get(key).is_none() {
            self.missing.push(key);
        }
        self.read(key, parse)
    }

    /// Returns a path, relative to the file.
    pub(crate) fn path(&mut self, key: &'static str) -> Option<PathBuf> {
        self.read(key, text).map(|path| self.notes.beside(&path))
    }

    /// Returns the path of a file whose content is part of the configuration.
    pub(crate) fn source(&mut self, key: &'static str) -> Option<PathBuf> {
        let path = self.path(key)?;
        self.notes.read.push(path.clone());
        Some(path)
    }

    /// Returns this path, relative to the file, as one of a file whose content is part of the configuration.
    pub(crate) fn source_at(&mut self, written: &str) -> PathBuf {
        let path = self.notes.beside(written);
        self.notes.read.push(path.clone());
        path
    }

    /// Returns the folder of the file.
    pub(crate) fn folder(&self) -> PathBuf {
        self.notes.beside("")
    }

    /// Returns the values of a list.
    pub(crate) fn each<T>(&mut self, key: &'static str, parse: impl Fn(&Typed) -> Parsed<T>) -> Option<Vec<T>> {
        let items = self.list(key)?;
        let place = inside(&self.path, key);
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            values.extend(self.judge(format!("{place}[{index}]"), parse(item)));
        }
        Some(values)
    }

    /// Returns names that refer to other entries. A bad one leaves a gap, so that the
    /// others keep their positions.
    pub(crate) fn names(&mut self, key: &'static str, parse: impl Fn(&Typed) -> Parsed<String>) -> Vec<String> {
        let place = inside(&self.path, key);
        let mut names = Vec::new();
        for (index, item) in self.list(key).unwrap_or_default().iter().enumerate() {
            names.push(self.judge(format!("{place}[{index}]"), parse(item)).unwrap_or_default());
        }
        names
    }

    /// Returns values by user-chosen names.
    pub(crate) fn map<T>(&mut self, key: &'static str, parse: impl Fn(&Typed) -> Parsed<T>) -> BTreeMap<String, T> {
        let mut values = BTreeMap::new();
        self.named(key, |name, value| {
            values.insert(name.to_owned(), parse(value)?);
            Ok(())
        });
        values
    }

    /// Reads values by user-chosen names in the order of the file, and checks the names as
    /// well.
    pub(crate) fn named(&mut self, key: &'static str, mut take: impl FnMut(&str, &Typed) -> Parsed<()>) {
        let place = inside(&self.path, key);
        for (name, value) in self.inner(key).unwrap_or_default() {
            self.judge(inside(&place, name), take(name, value));
        }
    }

    /// Reads a table that has a meaning only when it is present.
    pub(crate) fn table<T>(&mut self, key: &'static str, read: impl FnOnce(&mut Fields<'_>) -> T) -> Option<T> {
        let table = self.inner(key)?;
        Some(read_table(table, inside(&self.path, key), self.notes, read))
    }

    /// Reads a table that means the same absent and empty.
    pub(crate) fn section<T>(&mut self, key: &'static str, read: impl FnOnce(&mut Fields<'_>) -> T) -> T {
        let table = self.inner(key).unwrap_or_default();
        read_table(table, inside(&self.path, key), self.notes, read)
    }

    /// Reads a list of tables.
    pub(crate) fn tables<T>(&mut self, key: &'static str, read: impl Fn(&mut Fields<'_>) -> T) -> Vec<T> {
        let place = inside(&self.path, key);
        let mut values = Vec::new();
        if let Some(Typed::Table(_)) = self.get(key) {
            self.notes
                .mistake(place.clone(), format!("must be a list, not a table: begin each entry with [[{place}]]"));
            return values;
        }
        for (index, item) in self.list(key).unwrap_or_default().iter().enumerate() {
            let place = format!("{place}[{index}]");
            values.push(match self.judge(place.clone(), as_table(item)) {
                Some(table) => read_table(table, place, self.notes, &read),
                // A placeholder, or the others would move up.
                None => read_table(&[], place, &mut Notes::default(), &read),
            });
        }
        values
    }

    /// Reads a required list of tables, where a bare string stands for a table with this
    /// one key.
    pub(crate) fn need_tables_or_text<T>(
        &mut self,
        key: &'static str,
        only: &str,
        read: impl Fn(&mut Fields<'_>) -> T,
    ) -> Vec<T> {
        if !self.has(key) {
            self.missing.push(key);
        }
        let place = inside(&self.path, key);
        let mut values = Vec::new();
        for (index, item) in self.list(key).unwrap_or_default().iter().enumerate() {
            let place = format!("{place}[{index}]");
            values.push(match self.judge(place.clone(), table_or_text(item, only)) {
                Some(table) => read_table(&table, place, self.notes, &read),
                // A placeholder, or the others would move up.
                None => read_table(&[], place, &mut Notes::default(), &read),
            });
        }
        values
    }

    /// Reads tables by user-chosen names, in the order of the file.
    pub(crate) fn entries<T>(&mut self, key: &'static str, read: impl Fn(&str, &mut Fields<'_>) -> T) -> Vec<T> {
        self.entries_as(key, |value| as_table(value).map(Cow::Borrowed), read)
    }

    /// Reads tables by user-chosen names, where a bare string stands for a table with this
    /// one key.
    pub(crate) fn entries_or_text<T>(
        &mut self,
        key: &'static str,
        only: &str,
        read: impl Fn(&str, &mut Fields<'_>) -> T,
    ) -> Vec<T> {
        self.entries_as(key, |value| table_or_text(value, only), read)
    }

    fn entries_as<T>(
        &mut self,
        key: &'static str,
        table: impl Fn(&'a Typed) -> Parsed<Cow<'a, Entries>>,
        read: impl Fn(&str, &mut Fields<'_>) -> T,
    ) -> Vec<T> {
        let place = inside(&self.path, key);
        let mut values = Vec::new();
        for (name, value) in self.inner(key).unwrap_or_default() {
            let place = inside(&place, name);
            let table = self.judge(place.clone(), table(value));
            values.extend(table.map(|table| read_table(&table, place, self.notes, |fields| read(name, fields))));
        }
        values
    }

    /// Notes a mistake about a key.
    pub(crate) fn mistake(&mut self, key: &str, message: impl Into<String>) {
        self.notes.mistake(inside(&self.path, key), message);
    }

    /// Notes a mistake about a place below this table.
    pub(crate) fn mistake_at(&mut self, place: &str, message: impl Into<String>) {
        self.notes.mistake(format!("{}.{place}", self.path), message);
    }

    /// Notes a mistake whose message may hold secrets, which are hidden.
    pub(crate) fn found(&mut self, key: &str, message: String) {
        self.notes.found([(inside(&self.path, key), message)]);
    }

    /// Notes such a mistake about an item of a list.
    pub(crate) fn found_in(&mut self, list: &str, index: usize, message: String) {
        self.notes.found([(format!("{}[{index}]", inside(&self.path, list)), message)]);
    }

    /// Notes a mistake about the table as a whole.
    pub(crate) fn mistake_here(&mut self, message: impl Into<String>) {
        self.notes.mistake(self.path.as_str(), message);
    }

    /// Returns true when the table has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.iter().any(|(name, _)| name == key)
    }

    fn get(&mut self, key: &'static str) -> Option<&'a Typed> {
        self.known.push(key);
        self.table.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn inner(&mut self, key: &'static str) -> Option<&'a Entries> {
        let table = as_table(self.get(key)?);
        self.judge(inside(&self.path, key), table)
    }

    fn list(&mut self, key: &'static str) -> Option<&'a [Typed]> {
        let value = self.get(key)?;
        let Typed::List(items) = value else { return self.judge(inside(&self.path, key), refused(value, "a list")) };
        Some(items)
    }

    fn judge<T>(&mut self, place: String, parsed: Parsed<T>) -> Option<T> {
        parsed.map_err(|message| self.notes.mistake(place, message)).ok()
    }

    /// Notes unknown keys, then missing ones, unless they were misspelt.
    fn finish(mut self) {
        for (name, _) in self.table {
            if self.known.contains(&name.as_str()) {
                continue;
            }
            let message = match self.nearest(name) {
                Some(meant) => {
                    self.missing.retain(|key| *key != meant);
                    format!("unknown key; did you mean `{meant}`?")
                }
                None => format!("unknown key; allowed are {}", self.allowed()),
            };
            self.mistake(name, message);
        }
        for key in std::mem::take(&mut self.missing) {
            self.mistake(key, "is required");
        }
    }

    fn nearest(&self, name: &str) -> Option<&'static str> {
        let is_part = |key: &&&'static str| name.len() >= PART_CHARS && (key.contains(name) || name.contains(**key));
        alike(name, self.known.iter().copied()).or_else(|| self.known.iter().find(is_part).copied())
    }

    fn allowed(&self) -> String {
        let mut keys = self.known.clone();
        keys.sort_unstable();
        keys.dedup();
        keys.join(", ")
    }
}

fn table_or_text<'a>(value: &'a Typed, only: &str) -> Parsed<Cow<'a, Entries>> {
    match value {
        Typed::Text(_) => Ok(Cow::Owned(vec![(only.to_owned(), value.clone())])),
        Typed::Table(table) => Ok(Cow::Borrowed(table.as_slice())),
        Typed::Whole(_) | Typed::Decimal(_) | Typed::Flag(_) | Typed::Moment(_) | Typed::List(_) => {
            refused(value, "a string or a table")
        }
    }
}

fn as_table(value: &Typed) -> Parsed<&Entries> {
    let Typed::Table(table) = value else { return refused(value, "a table") };
    Ok(table)
}
