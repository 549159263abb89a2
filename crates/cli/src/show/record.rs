//! Reads responses of the server. Fields may be missing: a missing one reads as an
//! empty value, never as an error.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::words::one_line;

/// The context in which a response is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The time, in milliseconds since 1970.
    pub(crate) now: u64,
    /// The available columns, on a terminal.
    pub(crate) room: Option<usize>,
}

/// A JSON value being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a>(pub(crate) &'a Value);

impl<'a> Record<'a> {
    fn field(self, pointer: &str) -> Option<&'a Value> {
        self.0.pointer(&format!("/{pointer}")).filter(|value| !value.is_null())
    }

    /// Returns whether there is such a field, and it is not false.
    pub(crate) fn has(self, pointer: &str) -> bool {
        self.field(pointer).is_some_and(|value| *value != Value::Bool(false))
    }

    /// Returns a text as it is, empty when there is none.
    pub(crate) fn text(self, pointer: &str) -> &'a str {
        self.field(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a text in one line, empty when there is none.
    pub(crate) fn line(self, pointer: &str) -> String {
        one_line(self.text(pointer))
    }

    /// Returns a number that is not negative: -1 stands for unknown.
    pub(crate) fn count(self, pointer: &str) -> Option<u64> {
        self.field(pointer).and_then(Value::as_u64)
    }

    /// Returns a duration given in milliseconds.
    pub(crate) fn span(self, pointer: &str) -> Option<Duration> {
        self.count(pointer).map(Duration::from_millis)
    }

    /// Returns the time since the timestamp in this field.
    pub(crate) fn since(self, pointer: &str, page: &Page) -> Option<Duration> {
        Some(Duration::from_millis(page.now.saturating_sub(millis(self.text(pointer))?)))
    }

    /// Returns the time until the timestamp in this field.
    pub(crate) fn until(self, pointer: &str, page: &Page) -> Option<Duration> {
        Some(Duration::from_millis(millis(self.text(pointer))?.saturating_sub(page.now)))
    }

    /// Returns a cost estimate in dollars.
    pub(crate) fn cost(self, pointer: &str) -> Option<f64> {
        let part = |name: &str| self.field(&format!("{pointer}/{name}")).and_then(Value::as_f64);
        Some(part("inputCost")? + part("outputCost")?)
    }

    /// Returns a list, empty when there is none.
    pub(crate) fn list(self, pointer: &str) -> impl Iterator<Item = Record<'a>> {
        self.field(pointer).and_then(Value::as_array).into_iter().flatten().map(Record)
    }

    /// Returns the texts of a list, with a separator.
    pub(crate) fn joined(self, pointer: &str) -> String {
        let words: Vec<String> = self.list(pointer).filter_map(|word| word.0.as_str()).map(one_line).collect();
        words.join(", ")
    }

    /// Returns an object as `name=value`, in its order.
    pub(crate) fn pairs(self, pointer: &str) -> String {
        let pairs = self.field(pointer).and_then(Value::as_object).into_iter().flatten();
        let pair = |(name, value): (&String, &Value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            one_line(&format!("{name}={value}"))
        };
        pairs.map(pair).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the milliseconds since 1970 of `2026-03-15T10:30:00.250Z`.
fn millis(moment: &str) -> Option<u64> {
    let moment: Timestamp = moment.parse().ok()?;
    u64::try_from(moment.as_millisecond()).ok()
}
