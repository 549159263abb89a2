//! Reads the fields of a JSON object, and notes every mistake and every unknown field.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{ENTRIES_MAX, TASKS_MAX};
use crate::requests::choice::Choice;
use crate::requests::mistake::{Code, Mistake};
use crate::requests::template::Inputs;
use crate::unknown::{UNKNOWN_MAX, ignored};

/// The mistakes and warnings found while reading.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) mistakes: Vec<Mistake>,
    pub(super) warnings: Vec<String>,
}

/// One JSON object being read. `null` counts as absent.
pub(super) struct Fields<'a> {
    pub(super) object: &'a Map<String, Value>,
    path: String,
    pub(super) known: Vec<&'static str>,
    notes: &'a mut Notes,
}

impl<'a> Fields<'a> {
    pub(super) fn of(json: &'a Value, path: &str, notes: &'a mut Notes) -> Option<Fields<'a>> {
        let Value::Object(object) = json else {
            let message = format!("must be an object, not {}", kind(json));
            notes.mistakes.push(Mistake::new(Code::BadRequest, path, message));
            return None;
        };
        Some(Fields { object, path: path.to_owned(), known: Vec::new(), notes })
    }

    pub(super) fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        self.object.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn place(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(super) fn mistake(&mut self, name: &str, message: impl Into<String>) {
        let place = self.place(name);
        self.notes.mistakes.push(Mistake::new(Code::BadRequest, place, message));
    }

    /// Reports a required field as missing, unless it already has another mistake.
    pub(super) fn missing(&mut self, name: &'static str) {
        if self.object.get(name).is_none_or(Value::is_null) {
            self.mistake(name, "is required");
        }
    }

    pub(super) fn expected<T>(&mut self, name: &'static str, what: &str, value: &Value) -> Option<T> {
        self.mistake(name, format!("must be {what}, not {}", kind(value)));
        None
    }

    pub(super) fn text(&mut self, name: &'static str) -> Option<String> {
        let value = self.get(name)?;
        match value.as_str() {
            Some(text) if text.trim().is_empty() => {
                self.mistake(name, "must not be blank");
                None
            }
            Some(text) => Some(text.to_owned()),
            None => self.expected(name, "a string", value),
        }
    }

    /// Reads an expression; its mistakes are reported when its names are resolved.
    pub(super) fn expression(&mut self, name: &'static str) -> Option<String> {
        let value = self.get(name)?;
        value.as_str().map(str::to_owned).or_else(|| self.expected(name, "a string", value))
    }

    /// Returns a value that `parse` can read, or a mistake that says what was expected.
    pub(super) fn read<T>(&mut self, name: &'static str, what: &str, parse: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.get(name)?;
        parse(value).or_else(|| self.expected(name, what, value))
    }

    /// Returns a number that `parse` can read, or a mistake that repeats it.
    fn numeric<T>(&mut self, name: &'static str, what: &str, parse: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.get(name)?;
        if let (None, Value::Number(number)) = (parse(value), value) {
            self.mistake(name, format!("must be {what}, not {number}"));
            return None;
        }
        parse(value).or_else(|| self.expected(name, what, value))
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Option<bool> {
        self.read(name, "true or false", Value::as_bool)
    }

    /// Reads a number above zero; a string of digits is accepted.
    pub(super) fn count(&mut self, name: &'static str) -> Option<u32> {
        self.numeric(name, &format!("a whole number from 1 to {}", u32::MAX), |value| {
            let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
            u32::try_from(number).ok().filter(|number| *number > 0)
        })
    }

    pub(super) fn number(&mut self, name: &'static str) -> Option<f64> {
        self.read(name, "a number", Value::as_f64)
    }

    pub(super) fn whole(&mut self, name: &'static str) -> Option<i64> {
        self.numeric(name, "a whole number of 64 bits", Value::as_i64)
    }

    /// Reads a position, from 0.
    pub(super) fn position(&mut self, name: &'static str) -> Option<u64> {
        self.numeric(name, "a whole number of at least 0", Value::as_u64)
    }

    /// Reads a length, or -1 for no limit.
    pub(super) fn length(&mut self, name: &'static str) -> Option<i64> {
        self.numeric(name, "a whole number of at least -1", |value| value.as_i64().filter(|length| *length >= -1))
    }

    pub(super) fn word<T: Choice>(&mut self, name: &'static str) -> Option<T> {
        let value = self.get(name)?;
        let found = value.as_str().and_then(|text| T::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)));
        if found.is_none() {
            let allowed: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
            self.mistake(name, format!("must be one of {}, not {value}", allowed.join(", ")));
        }
        found.map(|(_, meaning)| *meaning)
    }

    pub(super) fn any(&mut self, name: &'static str) -> Option<Value> {
        self.get(name).cloned()
    }

    /// Reads a list of names, none of them blank.
    pub(super) fn names(&mut self, name: &'static str) -> Vec<String> {
        let Some(value) = self.get(name) else { return Vec::new() };
        let Value::Array(items) = value else {
            return self.expected(name, "a list of strings", value).unwrap_or_default();
        };
        if items.len() > ENTRIES_MAX.max(TASKS_MAX) {
            self.mistake(name, "is too long");
            return Vec::new();
        }
        let name_of = |item: &Value| item.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let names: Vec<Option<String>> = items.iter().map(name_of).collect();
        if let Some(bad) = names.iter().position(Option::is_none) {
            self.mistake(&format!("{name}[{bad}]"), "must be a string that is not blank");
        }
        names.into_iter().flatten().collect()
    }

    /// Reads a list of tasks, each by its name or its position: `$name`, `$0`.
    pub(super) fn references(&mut self, name: &'static str) -> Vec<String> {
        let references = self.names(name);
        if let Some((bad, reference)) = references.iter().enumerate().find(|(_, text)| !text.starts_with('$')) {
            self.mistake(&format!("{name}[{bad}]"), format!("must begin with `$`, as in `${reference}` or `$0`"));
        }
        references
    }

    /// Reads texts by name; scalars become text, objects and lists do not.
    pub(super) fn strings(&mut self, name: &'static str) -> BTreeMap<String, String> {
        let mut strings = BTreeMap::new();
        let Some(value) = self.get(name) else { return strings };
        let Value::Object(entries) = value else {
            return self.expected(name, "an object", value).unwrap_or_default();
        };
        if entries.len() > ENTRIES_MAX {
            self.mistake(name, format!("must have at most {ENTRIES_MAX} entries"));
        }
        for (key, value) in entries {
            match scalar(value) {
                Some(text) => drop(strings.insert(key.clone(), text)),
                None => self.mistake(&format!("{name}.{key}"), format!("must be a string, not {}", kind(value))),
            }
        }
        strings
    }

    /// Reads texts by name, none of them blank or longer than so many bytes.
    pub(super) fn texts(&mut self, name: &'static str, max: usize) -> BTreeMap<String, String> {
        let Some(value) = self.get(name) else { return BTreeMap::new() };
        let Value::Object(entries) = value else {
            return self.expected(name, "an object", value).unwrap_or_default();
        };
        if entries.is_empty() || entries.len() > ENTRIES_MAX {
            self.mistake(name, format!("must have 1 to {ENTRIES_MAX} entries"));
            return BTreeMap::new();
        }
        let mut texts = BTreeMap::new();
        for (key, value) in entries {
            match value.as_str() {
                Some(text) if !text.trim().is_empty() && text.len() <= max => {
                    drop(texts.insert(key.clone(), text.to_owned()));
                }
                Some(text) if text.len() > max => {
                    self.mistake(&format!("{name}.{key}"), format!("must have at most {max} bytes, not {}", text.len()))
                }
                Some(_blank) => self.mistake(&format!("{name}.{key}"), "must not be blank"),
                None => self.mistake(&format!("{name}.{key}"), format!("must be a string, not {}", kind(value))),
            }
        }
        texts
    }

    /// Reads an object of values by name, of any type.
    pub(super) fn values(&mut self, name: &'static str) -> Inputs {
        let Some(value) = self.get(name) else { return Inputs::new() };
        let Value::Object(entries) = value else {
            return self.expected(name, "an object", value).unwrap_or_default();
        };
        if entries.len() > ENTRIES_MAX {
            self.mistake(name, format!("must have at most {ENTRIES_MAX} entries"));
        }
        entries.clone().into_iter().collect()
    }

    pub(super) fn object<T>(&mut self, name: &'static str, read: fn(&mut Fields<'_>) -> T) -> Option<T> {
        let value = self.get(name)?;
        let place = self.place(name);
        Fields::of(value, &place, self.notes).map(|mut fields| read(&mut fields))
    }

    pub(super) fn list<T>(&mut self, name: &'static str, max: usize, read: fn(&mut Fields<'_>) -> T) -> Option<Vec<T>> {
        let value = self.get(name)?;
        let Value::Array(items) = value else { return self.expected(name, "a list", value) };
        if items.len() > max {
            self.mistake(name, format!("must have at most {max} entries, not {}", items.len()));
            return None;
        }
        let place = self.place(name);
        let mut item = |(index, item): (usize, &Value)| {
            Fields::of(item, &format!("{place}[{index}]"), self.notes).map(|mut fields| read(&mut fields))
        };
        Some(items.iter().enumerate().filter_map(&mut item).collect())
    }

    pub(super) fn map<T>(&mut self, name: &'static str, read: fn(&mut Fields<'_>) -> T) -> Option<Vec<(String, T)>> {
        let value = self.get(name)?;
        let Value::Object(entries) = value else { return self.expected(name, "an object", value) };
        let place = self.place(name);
        let mut entry = |(key, value): (&String, &Value)| {
            let fields = Fields::of(value, &format!("{place}.{key}"), self.notes);
            fields.map(|mut fields| (key.clone(), read(&mut fields)))
        };
        Some(entries.iter().filter_map(&mut entry).collect())
    }

    /// Adds a warning for each unknown field.
    pub(super) fn finish(&mut self) {
        self.finish_beside(&[]);
    }

    /// Adds a warning for each unknown field but these, which are of no request's own.
    pub(super) fn finish_beside(&mut self, around: &[&str]) {
        let is_known = |key: &str| self.known.contains(&key) || around.contains(&key);
        let unknown = self.object.keys().filter(|key| !is_known(key));
        let warning = |key: &String| ignored(&self.place(key), key, self.known.iter().copied());
        let warnings: Vec<String> = unknown.take(UNKNOWN_MAX).map(warning).collect();
        self.notes.warnings.extend(warnings);
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
