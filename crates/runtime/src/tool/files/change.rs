//! What a change to a file amounts to, for the model and for whoever watches.

use std::time::{Duration, Instant};

use serde_json::json;
use similar::{Algorithm, DiffOp};

use super::place::Place;
use crate::tool::Answer;

/// How long lines are compared; after that the count is a good guess.
const COMPARE_MAX: Duration = Duration::from_millis(500);

/// What happened to a file.
#[derive(Clone, Copy)]
pub(super) enum ChangeType {
    Created,
    Modified,
}

impl ChangeType {
    fn word(self) -> &'static str {
        match self {
            ChangeType::Created => "CREATED",
            ChangeType::Modified => "MODIFIED",
        }
    }
}

/// Says that `place` was changed from `before` to `after`.
pub(super) fn changed(place: &Place, change: ChangeType, before: &str, after: &str) -> Answer {
    let (added, removed) = lines(before, after);
    let text = match change {
        ChangeType::Created => format!("created `{}` with {added} lines", place.as_str()),
        ChangeType::Modified => format!("changed `{}`: {added} lines added, {removed} removed", place.as_str()),
    };
    let data = json!({ "fileChanged": { "filePath": place.as_str(), "changeType": change.word(),
        "linesAdded": added, "linesRemoved": removed } });
    Answer::Done { text, data: Some(data) }
}

/// Lines added and removed.
fn lines(before: &str, after: &str) -> (usize, usize) {
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    let deadline = Some(Instant::now() + COMPARE_MAX);
    let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &before, &after, deadline);
    ops.iter().fold((0, 0), |(added, removed), op| match op {
        DiffOp::Equal { .. } => (added, removed),
        DiffOp::Insert { new_len, .. } => (added + new_len, removed),
        DiffOp::Delete { old_len, .. } => (added, removed + old_len),
        DiffOp::Replace { old_len, new_len, .. } => (added + new_len, removed + old_len),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_what_really_differs() {
        for (before, after, expected) in [
            ("", "", (0, 0)),
            ("", "a\nb\n", (2, 0)),
            ("a\nb\nc\n", "a\nc\n", (0, 1)),
            ("a\nb\nc\n", "a\nB\nc\n", (1, 1)),
            ("b\nc\n", "a\nb\nc\n", (1, 0)),
            ("a\nb", "a\nb\n", (1, 1)),
        ] {
            assert_eq!(lines(before, after), expected, "{before:?} {after:?}");
        }
    }
}
