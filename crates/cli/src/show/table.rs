//! Rows in columns. On a terminal no line is longer than the room: the widest text is
//! cut as long as it can be read, then of ids only a beginning is shown that still means
//! one, then texts are cut further, then amounts are left out, the last first, and all
//! texts but the last; a name, which people type again, is never cut. Elsewhere
//! everything is printed.

use std::collections::BTreeSet;

use super::safe::safe;
use super::words::{cut, one_line, padded, right, width};

const GAP: &str = "  ";
/// Columns that a text keeps even if there is little room.
const TEXT_MIN: usize = 6;
/// Columns below which a text is not cut as long as ids are whole: their beginnings do as well.
const TEXT_READABLE: usize = 24;

/// Characters that a beginning of an id keeps after its first word: they hold the
/// millisecond in which it was made, and more.
const BEGINNING: usize = 16;

/// The kind of content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// A name, which is never cut.
    Name,
    /// An id: every command takes its beginning.
    Id,
    /// A number or a duration.
    Amount,
    /// Text, which may be cut.
    Text,
}

/// A table being filled.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with these headings.
    pub(crate) fn new(heads: &[(&str, Column)]) -> Table {
        let head = heads.iter().map(|(head, _)| (*head).to_owned()).collect();
        Table { columns: heads.iter().map(|(_, column)| *column).collect(), rows: vec![head] }
    }

    /// Adds a row, with a cell for each heading; each cell is one line.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// Returns the table as text, without the columns that are empty.
    pub(crate) fn text(&self, room: Option<usize>) -> String {
        let Some(room) = room else { return self.laid_out(&self.widths()) };
        // Measured as a terminal shows it.
        let shown = |row: &Vec<String>| row.iter().map(|cell| safe(cell)).collect();
        let shown = Table { columns: self.columns.clone(), rows: self.rows.iter().map(shown).collect() };
        let mut widths = shown.widths();
        shown.fit(&mut widths, room);
        shown.laid_out(&widths)
    }

    fn laid_out(&self, widths: &[usize]) -> String {
        self.rows.iter().map(|row| self.line(row, widths)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            let says = self.rows.iter().skip(1).any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()));
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell));
            if says { cells.max().unwrap_or(0) } else { 0 }
        };
        (0..self.columns.len()).map(widest).collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row.iter().zip(&self.columns).zip(widths).filter(|(_, width)| **width > 0);
        let cells = cells.map(|((cell, column), width)| match column {
            Column::Name | Column::Text => padded(&cut(cell, *width), *width),
            Column::Id => padded(&cell.chars().take(*width).collect::<String>(), *width),
            Column::Amount => right(cell, *width),
        });
        let line = cells.collect::<Vec<_>>().join(GAP);
        format!("{}\n", line.trim_end())
    }

    /// Makes columns narrower until all fit, as far as that is possible.
    fn fit(&self, widths: &mut Vec<usize>, room: usize) {
        let mut shown = widths.clone();
        let mut least = TEXT_READABLE;
        while taken(widths) > room {
            if let Some(width) = self.widest_text(widths).filter(|width| **width > least) {
                *width -= 1;
            } else if least > TEXT_MIN {
                least = TEXT_MIN;
                if self.shorten_ids(&mut shown) {
                    widths.clone_from(&shown);
                }
            } else if let Some(width) = self.last_amount(&mut shown) {
                // The texts get its room, so they are cut anew.
                *width = 0;
                widths.clone_from(&shown);
            } else if let Some(width) = self.spare_text(&mut shown) {
                *width = 0;
                widths.clone_from(&shown);
            } else {
                return;
            }
        }
    }

    /// Makes the columns of ids as narrow as beginnings are; whether that changed any.
    fn shorten_ids(&self, widths: &mut [usize]) -> bool {
        let mut shorter = false;
        for (index, (column, width)) in self.columns.iter().zip(widths).enumerate() {
            let beginning = self.beginning(index);
            if *column == Column::Id && beginning < *width {
                *width = beginning;
                shorter = true;
            }
        }
        shorter
    }

    /// Returns the length of beginnings that tell all cells of a column apart.
    fn beginning(&self, column: usize) -> usize {
        let cells: Vec<&str> = self.rows.iter().filter_map(|row| row.get(column)).map(String::as_str).collect();
        let word = cells.iter().skip(1).filter_map(|cell| cell.find('-')).max().unwrap_or_default();
        let longest = cells.iter().map(|cell| cell.len()).max().unwrap_or_default();
        let apart = |length: &usize| {
            let beginnings: BTreeSet<String> = cells.iter().map(|cell| cell.chars().take(*length).collect()).collect();
            beginnings.len() == cells.len()
        };
        (word + 1 + BEGINNING..longest).find(apart).unwrap_or(longest)
    }

    fn widest_text<'a>(&self, widths: &'a mut [usize]) -> Option<&'a mut usize> {
        let columns = self.columns.iter().zip(widths);
        columns.filter(|(column, _)| **column == Column::Text).map(|(_, width)| width).max()
    }

    /// Returns the first text, unless it is the only one.
    fn spare_text<'a>(&self, widths: &'a mut [usize]) -> Option<&'a mut usize> {
        let columns = self.columns.iter().zip(widths);
        let mut texts = columns.filter(|(column, width)| **column == Column::Text && **width > 0);
        let (_, first) = texts.next()?;
        texts.next().map(|_another| first)
    }

    fn last_amount<'a>(&self, widths: &'a mut [usize]) -> Option<&'a mut usize> {
        let columns = self.columns.iter().zip(widths);
        columns.filter(|(column, width)| **column == Column::Amount && **width > 0).map(|(_, width)| width).last()
    }
}

fn taken(widths: &[usize]) -> usize {
    let shown = widths.iter().filter(|width| **width > 0);
    shown.map(|width| width + GAP.len()).sum::<usize>().saturating_sub(GAP.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let heads =
            [("RUN", Column::Name), ("TOKENS", Column::Amount), ("COST", Column::Amount), ("WHAT", Column::Text)];
        let mut table = Table::new(&heads);
        for cells in [["run-1", "1,204", "", "a long\nstory about bees"], ["run-10", "7", "", ""]] {
            table.row(cells.map(str::to_owned));
        }
        table
    }

    #[test]
    fn where_there_is_little_room_ids_are_beginnings_that_tell_them_apart() {
        let mut table = Table::new(&[("RUN", Column::Id), ("TOKENS", Column::Amount), ("WHAT", Column::Text)]);
        let ids = ["run-0190a1b2c3d47e5f8091aaaaaaaaaaaa", "run-0190a1b2c3d47e5f8092aaaaaaaaaaaa"];
        ids.iter().for_each(|id| table.row([*id, "7", "a story about bees"].map(str::to_owned)));
        let lines = |room: usize| table.text(Some(room)).lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(80)[1], format!("{}       7  a story about bees", ids[0]));
        let wide = "a story about a bee and a queen";
        let mut longer = Table::new(&[("RUN", Column::Id), ("WHAT", Column::Text)]);
        ids.iter().for_each(|id| longer.row([*id, wide].map(str::to_owned)));
        let first = |room: usize| longer.text(Some(room)).lines().nth(1).map(str::to_owned);
        assert_eq!(first(64), Some(format!("{}  a story about a bee and a…", ids[0])), "a text gives way first");
        assert_eq!(first(60), Some(format!("run-0190a1b2c3d47e5f8091  {wide}")), "as long as it can be read");
        assert_eq!(
            lines(40)[1..],
            ["run-0190a1b2c3d47e5f8091       7  a sto…", "run-0190a1b2c3d47e5f8092       7  a sto…"]
        );
        assert_eq!(lines(34)[1], "run-0190a1b2c3d47e5f8091  a story…");
    }

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        let expected = "\
RUN     TOKENS  WHAT
run-1    1,204  a long story about bees
run-10       7
";
        assert_eq!(table().text(None), expected);
    }

    #[test]
    fn on_a_terminal_texts_give_way_first_then_amounts_and_names_never() {
        let expected = "\
RUN     TOKENS  WHAT
run-1    1,204  a long st…
run-10       7
";
        assert_eq!(table().text(Some(26)), expected);
        let expected = "\
RUN     WHAT
run-1   a lon…
run-10
";
        assert_eq!(table().text(Some(14)), expected);
        assert_eq!(table().text(Some(3)), expected);
        assert_eq!(
            table().text(Some(20)).lines().nth(1),
            Some("run-1   a long stor…"),
            "the room that is left is used"
        );
    }
}
