//! Describes a change to a file, for the model and for people who watch.

use std::time::{Duration, Instant};

use consort_core::event::{ChangeType, FileChange};
use similar::{Algorithm, DiffOp};

use super::path::WorkspacePath;
use crate::{Account, Answer};

/// The time limit for comparing lines; after that the count is an estimate.
const COMPARE_MAX: Duration = Duration::from_millis(500);

/// Reports that a file was created.
pub(super) fn created(account: &Account, place: &WorkspacePath, content: &str) -> Answer {
    let (added, _) = record_change(account, place, ChangeType::Created, ("", content));
    let lines = if added == 1 { "line" } else { "lines" };
    Answer::Done { text: format!("created `{}` with {added} {lines}", place.as_str()), data: None }
}

/// Reports that a file was changed from one content to another.
pub(super) fn modified(account: &Account, place: &WorkspacePath, (before, after): (&str, &str)) -> Answer {
    let (added, removed) = record_change(account, place, ChangeType::Modified, (before, after));
    let text = format!("changed `{}`: {added} lines added, {removed} removed", place.as_str());
    Answer::Done { text, data: None }
}

/// Records the change for people who watch; returns the numbers of lines added and removed.
fn record_change(
    account: &Account,
    place: &WorkspacePath,
    change_type: ChangeType,
    (before, after): (&str, &str),
) -> (u64, u64) {
    let (lines_added, lines_removed) = lines(before, after);
    account.changed(FileChange { file_path: place.as_str().to_owned(), change_type, lines_added, lines_removed });
    (lines_added, lines_removed)
}

/// Returns the numbers of lines added and removed.
fn lines(before: &str, after: &str) -> (u64, u64) {
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    let deadline = Some(Instant::now() + COMPARE_MAX);
    let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &before, &after, deadline);
    ops.iter().fold((0, 0), |(added, removed), op| match op {
        DiffOp::Equal { .. } => (added, removed),
        DiffOp::Insert { new_len, .. } => (added + *new_len as u64, removed),
        DiffOp::Delete { old_len, .. } => (added, removed + *old_len as u64),
        DiffOp::Replace { old_len, new_len, .. } => (added + *new_len as u64, removed + *old_len as u64),
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
