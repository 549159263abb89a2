//! The difference between two texts, line by line, in colours.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp};

use super::drawing::{Drawing, Style};
use super::paint::Colour;

/// Unchanged lines that are shown around a change.
const CONTEXT: usize = 2;
/// Lines of a difference that are shown; more are no help in deciding.
const LINES_MAX: usize = 200;
/// The time after which a difference may be longer than it need be: somebody waits for it.
const COMPARE_MAX: Duration = Duration::from_millis(200);

/// Returns the lines that differ, with some around them, each with its line end.
pub(crate) fn changes(before: &str, after: &str, colour: Colour) -> Drawing {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let deadline = Some(Instant::now() + COMPARE_MAX);
    let operations = similar::capture_diff_slices_deadline(Algorithm::Myers, &before, &after, deadline);
    let mut lines = Vec::new();
    for (index, group) in similar::group_diff_ops(operations, CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push("⋯".to_owned());
        }
        lines.extend(group.iter().flat_map(|operation| marked(operation, &before, &after)));
    }
    let more = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    if more > 0 {
        lines.push(format!("⋯ {more} more lines"));
    }
    lines.iter().fold(Drawing::default(), |drawn, text| {
        let text = match colour {
            Colour::On => line(text),
            Colour::Off => Drawing::of(text),
        };
        drawn.then(text).text("\n")
    })
}

/// Returns the lines of one change: those that are gone, then those that are new.
fn marked(operation: &DiffOp, before: &[&str], after: &[&str]) -> Vec<String> {
    let old = operation.old_range();
    let new = operation.new_range();
    let lines = |mark: char, lines: Option<&[&str]>| {
        lines.unwrap_or_default().iter().map(move |line| format!("{mark}{line}")).collect::<Vec<_>>()
    };
    match operation {
        DiffOp::Equal { .. } => lines(' ', before.get(old)),
        DiffOp::Delete { .. } => lines('-', before.get(old)),
        DiffOp::Insert { .. } => lines('+', after.get(new)),
        DiffOp::Replace { .. } => [lines('-', before.get(old)), lines('+', after.get(new))].concat(),
    }
}

/// Returns a line of a difference in its colour.
pub(super) fn line(line: &str) -> Drawing {
    let style = match line.chars().next() {
        Some('+') => Style::Green,
        Some('-') => Style::Red,
        Some('@') => Style::Cyan,
        Some('⋯') => Style::Faint,
        Some(_) | None => return Drawing::of(line),
    };
    Drawing::of(line).styled(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_shown_with_a_little_around_it() {
        let before: Vec<String> = (1..=20).map(|number| format!("line {number}\n")).collect();
        let mut after = before.clone();
        after[1] = "line two\n".to_owned();
        after[18] = "\u{1b}[2Jline nineteen\n".to_owned();
        let shown = |colour| changes(&before.concat(), &after.concat(), colour).for_terminal();
        let plain = " line 1\n-line 2\n+line two\n line 3\n line 4\n⋯\n line 17\n line 18\n-line 19\n+[2Jline nineteen\n line 20\n";
        assert_eq!(shown(Colour::Off), plain);
        assert!(shown(Colour::On).contains("\x1b[31m-line 2\x1b[0m\n\x1b[32m+line two\x1b[0m\n"));
        assert_eq!(changes("same", "same", Colour::On), Drawing::default());
        let long = "x\n".repeat(3 * LINES_MAX);
        assert!(changes("", &long, Colour::Off).for_terminal().ends_with("⋯ 400 more lines\n"));
    }
}
