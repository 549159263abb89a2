//! Rows in columns. On a terminal no line is longer than the room: the widest
//! column gives way. Elsewhere nothing is cut, so that other programs get all.

use super::words::{cut, one_line, padded, right, width};

const GAP: &str = "  ";
/// Columns that a cell keeps however little room there is.
const CELL_MIN: usize = 6;

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Amounts.
    Right,
}

/// A table being filled.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these heads.
    pub(crate) fn new(heads: &[(&str, Align)]) -> Table {
        let head = heads.iter().map(|(head, _)| (*head).to_owned()).collect();
        Table { align: heads.iter().map(|(_, align)| *align).collect(), rows: vec![head] }
    }

    /// Adds a row, with a cell for each head; each cell is one line.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// The table as text, without the columns that say nothing.
    pub(crate) fn text(&self, room: Option<usize>) -> String {
        let mut widths = self.widths();
        if let Some(room) = room {
            fit(&mut widths, room);
        }
        self.rows.iter().map(|row| self.line(row, &widths)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            let says = self.rows.iter().skip(1).any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()));
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell));
            if says { cells.max().unwrap_or(0) } else { 0 }
        };
        (0..self.align.len()).map(widest).collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row.iter().zip(&self.align).zip(widths).filter(|(_, width)| **width > 0);
        let cells = cells.map(|((cell, align), width)| match align {
            Align::Left => padded(&cut(cell, *width), *width),
            Align::Right => right(&cut(cell, *width), *width),
        });
        let line = cells.collect::<Vec<_>>().join(GAP);
        format!("{}\n", line.trim_end())
    }
}

/// Makes the widest column narrower until all fit.
fn fit(widths: &mut [usize], room: usize) {
    let taken = |widths: &[usize]| {
        let shown: Vec<usize> = widths.iter().copied().filter(|width| *width > 0).collect();
        shown.iter().sum::<usize>() + GAP.len() * shown.len().saturating_sub(1)
    };
    while taken(widths) > room {
        let Some(widest) = widths.iter_mut().max().filter(|width| **width > CELL_MIN) else { return };
        *widest -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let heads = [("RUN", Align::Left), ("TOKENS", Align::Right), ("COST", Align::Right), ("WHAT", Align::Left)];
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
    fn on_a_terminal_the_widest_column_gives_way() {
        let expected = "\
RUN     TOKENS  WHAT
run-1    1,204  a long st…
run-10       7
";
        assert_eq!(table().text(Some(26)), expected);
        assert!(table().text(Some(3)).lines().all(|line| width(line) <= 22), "a cell is never cut to nothing");
    }
}
