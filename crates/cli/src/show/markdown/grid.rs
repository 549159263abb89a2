//! A table of Markdown in rows of a terminal: its columns fit, and what is too long for
//! one is broken between words.

use super::spans::{Spans, inline};
use crate::show::drawing::{Drawing, Style};

/// Columns that every cell keeps; a table that does not fit with so little is shown as written.
const CELL_MIN: usize = 3;
/// The rule between two columns.
const GAP: &str = " │ ";

/// The side of its column on which a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Middle,
}

/// Returns the table in these lines, if they are one and it fits.
pub(super) fn grid(lines: &[String], columns: usize) -> Option<Drawing> {
    let (head, rest) = lines.split_first()?;
    let (rule, body) = rest.split_first()?;
    let sides: Vec<Side> = cells(rule).into_iter().map(side).collect::<Option<_>>()?;
    let texts = |line: &String| -> Vec<Spans> {
        let mut cells: Vec<Spans> = cells(line).into_iter().map(|cell| inline(&cell.replace("\\|", "|"))).collect();
        cells.resize(sides.len(), Spans::default());
        cells
    };
    let head: Vec<Spans> = texts(head).into_iter().map(|cell| cell.styled(Style::Bold)).collect();
    let body: Vec<Vec<Spans>> = body.iter().map(texts).collect();
    let widest = |column: usize| {
        let cells = std::iter::once(&head).chain(&body).filter_map(|row| row.get(column));
        cells.map(Spans::width).max().unwrap_or(0).max(CELL_MIN)
    };
    let widths = fitted((0..sides.len()).map(widest).collect(), columns)?;
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    let rule = Drawing::of(rule.join("─┼─")).styled(Style::Faint).text("\n");
    let drawn = row(&head, &sides, &widths).then(rule);
    Some(body.iter().fold(drawn, |drawn, cells| drawn.then(row(cells, &sides, &widths))))
}

/// Splits a line into cells; a `\|` is part of one.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').filter(|inner| !inner.ends_with('\\')).unwrap_or(line);
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, _) in line.match_indices('|') {
        if !line.get(..at).is_some_and(|before| before.ends_with('\\')) {
            cells.push(line.get(start..at).unwrap_or_default().trim());
            start = at + 1;
        }
    }
    cells.push(line.get(start..).unwrap_or_default().trim());
    cells
}

/// Reads a cell of the rule below the head.
fn side(cell: &str) -> Option<Side> {
    let dashes = cell.trim_start_matches(':').trim_end_matches(':');
    let is_rule = !dashes.is_empty() && dashes.chars().all(|sign| sign == '-');
    is_rule.then_some(match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Side::Middle,
        (false, true) => Side::Right,
        (_, false) => Side::Left,
    })
}

/// Makes the widest columns narrower until all fit.
fn fitted(mut widths: Vec<usize>, columns: usize) -> Option<Vec<usize>> {
    let gaps = widths.len().saturating_sub(1) * GAP.chars().count();
    while widths.iter().sum::<usize>() + gaps > columns {
        let widest = widths.iter_mut().max()?;
        if *widest <= CELL_MIN {
            return None;
        }
        *widest -= 1;
    }
    Some(widths)
}

/// Draws a row, which has as many lines as its longest cell.
fn row(cells: &[Spans], sides: &[Side], widths: &[usize]) -> Drawing {
    let wrapped: Vec<Vec<Spans>> = cells.iter().zip(widths).map(|(cell, width)| cell.wrapped(*width)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let mut drawn = Drawing::default();
    for line in 0..height {
        for (at, ((cell, side), width)) in wrapped.iter().zip(sides).zip(widths).enumerate() {
            let text = cell.get(line).cloned().unwrap_or_default();
            let free = width.saturating_sub(text.width());
            let before = match side {
                Side::Left => 0,
                Side::Right => free,
                Side::Middle => free / 2,
            };
            let is_last = at + 1 == wrapped.len();
            let gap = if at == 0 { Drawing::default() } else { Drawing::of(GAP).styled(Style::Faint) };
            let after = if is_last { 0 } else { free - before };
            drawn = drawn.then(gap).text(" ".repeat(before)).then(text.drawing()).text(" ".repeat(after));
        }
        drawn = drawn.text("\n");
    }
    drawn
}
