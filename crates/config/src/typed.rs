//! Step one, the text: the file as a tree that keeps the order of the file and the
//! text of its numbers. Variables are replaced here, and the position of every key is
//! noted.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::mistake::{Mistake, Mistakes, Position};
use super::notes::Notes;
use super::variables::{Env, expand};

/// A value of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Typed {
    /// A string.
    Text(Text),
    /// A whole number.
    Whole(i64),
    /// A number with a fraction or an exponent, as it was written.
    Decimal(String),
    /// True or false.
    Flag(bool),
    /// A date or a time, as it was written.
    Moment(String),
    /// A list of values.
    List(Vec<Typed>),
    /// A table of values.
    Table(Table),
}

/// A string of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    /// The string as it was typed, which messages may quote.
    pub(crate) typed: String,
    /// The string with its variables replaced.
    pub(crate) meant: String,
}

/// Values by name, in the order of the file.
pub(crate) type Table = Vec<(String, Typed)>;
/// A table, borrowed.
pub(crate) type Entries = [(String, Typed)];

impl Typed {
    /// Returns the type of the value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Typed::Text(_) => "a string",
            Typed::Whole(_) => "a whole number",
            Typed::Decimal(_) => "a decimal number",
            Typed::Flag(_) => "a boolean",
            Typed::Moment(_) => "a date",
            Typed::List(_) => "a list",
            Typed::Table(_) => "a table",
        }
    }
}

/// Returns the key of a value inside a table, as messages show it.
pub(crate) fn inside(table: &str, name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { format!("{name:?}") };
    if table.is_empty() { name } else { format!("{table}.{name}") }
}

/// Reads a file. Bad syntax is reported alone, because the meaning of the rest would
/// be a guess.
pub(crate) fn read(text: &str, file: &Path, env: &Env<'_>) -> Result<(Table, Notes), Mistakes> {
    let (tree, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(bad_syntax(&errors, file, text));
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut reader = Reader { env, notes: Notes::new(folder) };
    let table = reader.table(tree.get_ref(), "");
    Ok((table, reader.notes))
}

fn bad_syntax(errors: &[toml::de::Error], file: &Path, text: &str) -> Mistakes {
    let mistake = |error: &toml::de::Error| Mistake {
        position: error.span().map(|span| Position::of(span.start, text)),
        key: String::new(),
        message: error.message().to_owned(),
    };
    let mut list: Vec<Mistake> = errors.iter().map(mistake).collect();
    list.sort_by_key(|mistake| mistake.position);
    list.dedup();
    Mistakes { file: file.to_owned(), list }
}

struct Reader<'a> {
    env: &'a Env<'a>,
    notes: Notes,
}

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>, path: &str) -> Table {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        let mut read = Table::with_capacity(entries.len());
        for (name, value) in entries {
            let place = inside(path, name.get_ref());
            self.notes.place(&place, name.span().start);
            read.push((name.get_ref().to_string(), self.value(value.get_ref(), &place)));
        }
        read
    }

    fn list(&mut self, items: &[Spanned<DeValue<'_>>], path: &str) -> Vec<Typed> {
        let mut read = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let place = format!("{path}[{index}]");
            self.notes.place(&place, item.span().start);
            read.push(self.value(item.get_ref(), &place));
        }
        read
    }

    fn value(&mut self, value: &DeValue<'_>, path: &str) -> Typed {
        match value {
            DeValue::String(text) => self.text(text, path),
            DeValue::Integer(number) => self.whole(number, path),
            DeValue::Float(number) => Typed::Decimal(number.as_str().to_owned()),
            DeValue::Boolean(flag) => Typed::Flag(*flag),
            DeValue::Datetime(moment) => Typed::Moment(moment.to_string()),
            DeValue::Array(items) => Typed::List(self.list(items, path)),
            DeValue::Table(table) => Typed::Table(self.table(table, path)),
        }
    }

    fn text(&mut self, typed: &str, path: &str) -> Typed {
        let meant = match expand(typed, self.env) {
            Ok(meant) => meant,
            Err(message) => {
                self.notes.mistake(path, message);
                typed.to_owned()
            }
        };
        if meant != typed {
            self.notes.expanded(&meant, typed);
        }
        Typed::Text(Text { typed: typed.to_owned(), meant })
    }

    fn whole(&mut self, number: &DeInteger<'_>, path: &str) -> Typed {
        let whole = i64::from_str_radix(number.as_str(), number.radix());
        if whole.is_err() {
            self.notes.mistake(path, "is too large a number");
        }
        Typed::Whole(whole.unwrap_or_default())
    }
}
