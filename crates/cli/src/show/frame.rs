//! Reads frames. They are JSON, and fields may be missing: a missing one reads as an
//! empty value, never as an error.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

/// A frame of a run.
pub(crate) struct Frame(Value);

impl Frame {
    /// Reads a frame.
    pub(crate) fn parse(text: &str) -> serde_json::Result<Frame> {
        serde_json::from_str(text).map(Frame)
    }

    /// Returns the type of the frame.
    pub(crate) fn kind(&self) -> &str {
        self.text("type")
    }

    /// Returns a value of the frame, by its JSON pointer without the first slash.
    pub(crate) fn value(&self, pointer: &str) -> Option<&Value> {
        self.0.pointer(&format!("/{pointer}"))
    }

    /// Whether it was inherited from the run that this one continues.
    pub(crate) fn is_inherited(&self) -> bool {
        self.value("inherited").is_some_and(|value| *value == Value::Bool(true))
    }

    /// Returns a text, empty when there is none.
    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.value(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a number that is not negative: -1 stands for unknown.
    pub(crate) fn count(&self, pointer: &str) -> Option<u64> {
        self.value(pointer).and_then(Value::as_u64)
    }

    /// Returns a list, empty when there is none.
    pub(crate) fn list(&self, pointer: &str) -> &[Value] {
        self.value(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns a duration given in milliseconds.
    pub(crate) fn span(&self, pointer: &str) -> Option<Duration> {
        self.count(pointer).map(Duration::from_millis)
    }

    /// Returns US dollars given as a number or as text.
    pub(crate) fn dollars(&self, pointer: &str) -> Option<f64> {
        let value = self.value(pointer)?;
        value.as_f64().or_else(|| value.as_str()?.parse().ok())
    }

    /// Returns the time of the event, in milliseconds since 1970.
    pub(crate) fn at(&self) -> Option<u64> {
        millis(self.text("at"))
    }

    /// Returns the duration from the frame's own time to another time in it.
    pub(crate) fn wait(&self, pointer: &str) -> Option<Duration> {
        let (from, to) = (self.at()?, millis(self.text(pointer))?);
        Some(Duration::from_millis(to.saturating_sub(from)))
    }
}

/// Returns the milliseconds since 1970 of `2026-03-15T10:30:00.250Z`.
pub(crate) fn millis(moment: &str) -> Option<u64> {
    let moment: Timestamp = moment.parse().ok()?;
    u64::try_from(moment.as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_measured_from_the_frame_even_over_midnight() {
        let wait = |at: &str, then: &str| {
            Frame(serde_json::json!({ "at": at, "then": { "at": then } })).wait("then/at").map(|wait| wait.as_millis())
        };
        assert_eq!(wait("2026-03-15T10:30:00.250Z", "2026-03-15T10:30:03.750Z"), Some(3500));
        assert_eq!(wait("2026-03-15T23:59:59.000Z", "2026-03-16T00:00:01.000Z"), Some(2000));
        assert_eq!(wait("2026-03-15T10:30:00.250Z", "soon"), None);
    }
}
