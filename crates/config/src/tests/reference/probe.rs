//! Probes of the reader: a file with one change, and the resulting message.

use std::path::Path;

use crate::fields::read_all;
use crate::typed::{self, Table, Typed};
use crate::{Config, FILE_NAME, config, notes::Notes, references};

/// A key that no table has.
const NOBODYS: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqq";
/// The message before the keys of a table.
const ALLOWED: &str = "unknown key; allowed are ";

/// A file with every section in it.
pub(super) struct Probe {
    table: Table,
    config: Config,
}

/// A table of the file: the keys that lead to it, with the index in a list.
#[derive(Clone, Default)]
pub(super) struct Place(Vec<(String, Option<usize>)>);

/// The effect of leaving a key out.
pub(super) enum Asked {
    /// It is required.
    Required,
    /// None: the value is the default.
    Same,
    /// The meaning changes.
    Different,
}

impl Place {
    /// Returns the name of the table as it is written in brackets.
    pub(super) fn header(&self) -> String {
        self.0.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(".")
    }

    fn then(&self, key: &str, item: Option<usize>) -> Place {
        Place([self.0.as_slice(), &[(key.to_owned(), item)]].concat())
    }

    /// Returns whether it is an item of a list.
    fn is_item(&self) -> bool {
        self.0.last().is_some_and(|(_, item)| item.is_some())
    }

    fn path(&self) -> String {
        self.0.iter().fold(String::new(), |path, (key, item)| {
            let path = typed::inside(&path, key);
            item.map_or(path.clone(), |item| format!("{path}[{item}]"))
        })
    }

    fn of<'a>(&self, table: &'a Table) -> &'a Table {
        self.0.iter().fold(table, |table, (key, item)| {
            let value = table.iter().find(|(name, _)| name == key).map(|(_, value)| value);
            match (value, item) {
                (Some(Typed::Table(inner)), None) => inner,
                (Some(Typed::List(items)), Some(item)) => as_table(&items[*item]),
                _ => panic!("{} is no table", self.path()),
            }
        })
    }

    /// Changes the table in a file.
    fn change(&self, table: &mut Table, change: impl FnOnce(&mut Table)) {
        let mut inner = self.of(table).clone();
        change(&mut inner);
        let mut value = Typed::Table(inner);
        for (depth, (key, item)) in self.0.iter().enumerate().rev() {
            let mut outer = Place(self.0[..depth].to_vec()).of(table).clone();
            let slot = outer.iter_mut().find(|(name, _)| name == key).map(|(_, slot)| slot).unwrap();
            match (slot, item) {
                (Typed::List(items), Some(item)) => items[*item] = value,
                (slot, _) => *slot = value,
            }
            value = Typed::Table(outer);
        }
        *table = as_table(&value).clone();
    }
}

fn as_table(value: &Typed) -> &Table {
    let Typed::Table(table) = value else { panic!("{value:?} is no table") };
    table
}

impl Probe {
    /// Creates a probe with this file, which has no mistakes.
    pub(super) fn new(text: &str) -> Probe {
        let set = |_: &str| Some("set".to_owned());
        let (table, _notes) = typed::read(text, Path::new(FILE_NAME), &set).unwrap();
        let (config, mistakes) = judged(&table);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        Probe { table, config }
    }

    /// Returns every kind of table, with its occurrences.
    pub(super) fn sections(&self) -> Vec<(String, Vec<Place>)> {
        let mut sections = Vec::new();
        self.walk(&Place::default(), "", &mut sections);
        sections.retain(|(_, places)| !self.keys(places).is_empty());
        sections
    }

    fn walk(&self, place: &Place, title: &str, sections: &mut Vec<(String, Vec<Place>)>) {
        let is_fixed = self.allowed(place).is_some();
        if is_fixed && !title.is_empty() {
            let shown = if place.is_item() { format!("[[{title}]]") } else { format!("[{title}]") };
            match sections.iter_mut().find(|(known, _)| *known == shown) {
                Some((_, places)) => places.push(place.clone()),
                None => sections.push((shown, vec![place.clone()])),
            }
        }
        for (name, value) in place.of(&self.table) {
            let shown = if is_fixed { name.as_str() } else { "<name>" };
            let title = if title.is_empty() { shown.to_owned() } else { format!("{title}.{shown}") };
            match value {
                Typed::Table(_) => self.walk(&place.then(name, None), &title, sections),
                Typed::List(items) if matches!(items.first(), Some(Typed::Table(_))) => {
                    for index in 0..items.len() {
                        self.walk(&place.then(name, Some(index)), &title, sections);
                    }
                }
                Typed::List(_) | Typed::Text(_) | Typed::Whole(_) => {}
                Typed::Decimal(_) | Typed::Flag(_) | Typed::Moment(_) => {}
            }
        }
    }

    /// Returns the keys of a kind of table that are no tables with keys of their own, in
    /// the order of the file, then those that the file does not have.
    pub(super) fn keys(&self, places: &[Place]) -> Vec<String> {
        let written = places.iter().flat_map(|place| place.of(&self.table)).map(|(name, _)| name.clone());
        let allowed = places.iter().filter_map(|place| self.allowed(place)).flatten();
        let mut keys = Vec::new();
        for key in written.chain(allowed) {
            if !keys.contains(&key) && !places.iter().any(|place| self.is_section(place, &key)) {
                keys.push(key);
            }
        }
        keys
    }

    fn is_section(&self, place: &Place, key: &str) -> bool {
        match self.value(place, key) {
            Some(Typed::Table(table)) => {
                let has_tables = table.iter().any(|(_, value)| matches!(value, Typed::Table(_)));
                self.allowed(&place.then(key, None)).is_some() || (has_tables && !key.ends_with("_schema"))
            }
            Some(Typed::List(items)) => matches!(items.first(), Some(Typed::Table(_))),
            Some(Typed::Text(_) | Typed::Whole(_) | Typed::Decimal(_) | Typed::Flag(_) | Typed::Moment(_)) | None => {
                false
            }
        }
    }

    /// Returns the value in the file.
    pub(super) fn value(&self, place: &Place, key: &str) -> Option<&Typed> {
        place.of(&self.table).iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the keys that a table may have; `None` where names are user-chosen.
    fn allowed(&self, place: &Place) -> Option<Vec<String>> {
        let mistakes = self.changed(place, |table| table.push((NOBODYS.to_owned(), Typed::Flag(true)))).1;
        let path = typed::inside(&place.path(), NOBODYS);
        let told = mistakes.iter().find(|(key, _)| *key == path)?.1.strip_prefix(ALLOWED)?;
        Some(told.split(", ").map(str::to_owned).collect())
    }

    /// Returns the type that a value must have, in the words of the reader.
    pub(super) fn kind(&self, place: &Place, key: &str) -> String {
        let date = Typed::Moment("2026-01-01".to_owned());
        let wanted = self.refusal(place, key, date.clone(), "").unwrap_or_else(|| "anything".to_owned());
        let item = self.refusal(place, key, Typed::List(vec![date]), "[0]").filter(|_| wanted == "a list");
        item.map_or(wanted, |item| format!("a list, each {}", item.trim_start_matches("a list of ")))
    }

    fn refusal(&self, place: &Place, key: &str, value: Typed, item: &str) -> Option<String> {
        let with = |table: &mut Table| {
            table.retain(|(name, _)| name != key);
            table.push((key.to_owned(), value));
        };
        let path = format!("{}{item}", typed::inside(&place.path(), key));
        let mistakes = self.changed(place, with).1;
        let told = &mistakes.iter().find(|(known, _)| *known == path)?.1;
        let told = told.strip_prefix("must be ").unwrap_or(told);
        Some(told.strip_suffix(", not a date").unwrap_or(told).to_owned())
    }

    /// Returns the effect of leaving a key out.
    pub(super) fn without(&self, place: &Place, key: &str) -> Asked {
        let (config, mistakes) = self.changed(place, |table| table.retain(|(name, _)| name != key));
        let path = typed::inside(&place.path(), key);
        match mistakes.iter().any(|(known, message)| *known == path && message == "is required") {
            true => Asked::Required,
            false if mistakes.is_empty() && config == self.config => Asked::Same,
            false => Asked::Different,
        }
    }

    fn changed(&self, place: &Place, change: impl FnOnce(&mut Table)) -> (Config, Vec<(String, String)>) {
        let mut table = self.table.clone();
        place.change(&mut table, change);
        judged(&table)
    }
}

fn judged(table: &Table) -> (Config, Vec<(String, String)>) {
    let mut notes = Notes::default();
    let read = read_all(table, &mut notes, config);
    references::check(&read, &mut notes);
    let mistakes = notes.verdict((), Path::new(FILE_NAME), "").err().map(|mistakes| mistakes.list).unwrap_or_default();
    (read, mistakes.into_iter().map(|mistake| (mistake.key, mistake.message)).collect())
}
