//! Rows in columns. On a terminal no line is longer than the room: the widest text is
//! cut, then amounts are left out, the last first; a name, which people type again, is
//! never cut. Elsewhere everything is printed.

use super::safe::safe;
use super::words::{cut, one_line, padded, right, width};

const GAP: &str = "  ";
/// Columns that a text keeps even if there is little room.
const TEXT_MIN: usize = 6;

/// The kind of content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// A name, which is never cut.
    Name,
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
            Column::Amount => right(cell, *width),
        });
        let line = cells.collect::<Vec<_>>().join(GAP);
        format!("{}\n", line.trim_end())
    }

    /// Makes columns narrower until all fit, as far as that is possible.
    fn fit(&self, widths: &mut Vec<usize>, room: usize) {
        let mut shown = widths.clone();
        while taken(widths) > room {
            if let Some(width) = self.widest_text(widths).filter(|width| **width > TEXT_MIN) {
                *width -= 1;
            } else if let Some(width) = self.last_amount(&mut shown) {
                // The texts get its room, so they are cut anew.
                *width = 0;
                widths.clone_from(&shown);
            } else {
                return;
            }
        }
    }

    fn widest_text<'a>(&self, widths: &'a mut [usize]) -> Option<&'a mut usize> {
        let columns = self.columns.iter().zip(widths);
        columns.filter(|(column, _)| **column == Column::Text).map(|(_, width)| width).max()
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
