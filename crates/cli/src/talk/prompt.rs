//! The message being typed as rows of a terminal: after its prompt, wrapped where a
//! row is full, and only the rows around the cursor when there are too many.

use crate::show::block::Size;
use crate::show::drawing::{Code, Drawing};
use crate::show::safe::safe;
use crate::show::words::width;

/// The prefix of further lines of a message.
const NEXT_LINE: &str = "… ";
/// The prefix of the rest of a wrapped line.
const BROKEN: &str = "  ";
/// The replacement of a tab, whose width would depend on its position.
const TAB: &str = "    ";
/// Rows that stay free for the text above.
const SPARE: usize = 2;

/// A message laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    rows: Vec<String>,
    /// The row of the cursor.
    row: usize,
    /// The column of the cursor.
    column: usize,
}

impl Rows {
    /// Lays out the text before and after the cursor in this room.
    pub(super) fn lay_out(prompt: &str, (before, after): (&str, &str), size: Size) -> Rows {
        let mut rows = vec![prompt.to_owned()];
        fill(&mut rows, before, size.width);
        let row = rows.len() - 1;
        let column = rows.last().map_or(0, |row| width(row));
        fill(&mut rows, after, size.width);
        let room = size.height.saturating_sub(SPARE).max(1);
        let hidden = (row + 1).saturating_sub(room);
        let rows: Vec<String> = rows.into_iter().skip(hidden).take(room).collect();
        Rows { rows, row: row - hidden, column }
    }

    /// Draws it from the first row on; the cursor stays at its position.
    pub(super) fn drawing(&self) -> Drawing {
        let text = Drawing::default().code(Code::Cursor).text(self.rows.join("\n"));
        text.code(Code::Up(self.below())).code(Code::Return).code(Code::Right(self.column))
    }

    /// Moves from the cursor to the first row, which may have been wrapped in a terminal
    /// that is narrower now, and clears everything.
    pub(super) fn clear(&self, columns: usize) -> Drawing {
        let above = self.rows.iter().take(self.row);
        let up = above.map(|row| width(row).div_ceil(columns.max(1)).max(1)).sum();
        Drawing::default().code(Code::Return).code(Code::Up(up)).code(Code::ClearBelow)
    }

    /// Moves from the cursor to the row below everything.
    pub(super) fn leave(&self) -> Drawing {
        Drawing::default().code(Code::Down(self.below())).text("\n")
    }

    fn below(&self) -> usize {
        self.rows.len().saturating_sub(self.row + 1)
    }
}

/// Appends text to the last row.
fn fill(rows: &mut Vec<String>, text: &str, columns: usize) {
    let text = safe(text).replace('\t', TAB);
    let mut used = rows.last().map_or(0, |row| width(row));
    for sign in text.chars() {
        if sign == '\n' {
            rows.push(NEXT_LINE.to_owned());
            used = width(NEXT_LINE);
            continue;
        }
        let wide = if sign.is_ascii() { 1 } else { width(sign.encode_utf8(&mut [0; 4])) };
        if used + wide > columns {
            rows.push(BROKEN.to_owned());
            used = width(BROKEN);
        }
        used += wide;
        rows.iter_mut().last().into_iter().for_each(|row| row.push(sign));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(before: &str, after: &str, width: usize, height: usize) -> (Vec<String>, usize, usize) {
        let Rows { rows, row, column } = Rows::lay_out("› ", (before, after), Size { width, height });
        (rows, row, column)
    }

    #[test]
    fn lines_stand_below_each_other_and_long_ones_are_broken() {
        let rows = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
        assert_eq!(laid_out("", "", 20, 24), (rows(&["› "]), 0, 2));
        assert_eq!(laid_out("one\ntw", "o\nthree", 20, 24), (rows(&["› one", "… two", "… three"]), 1, 4));
        assert_eq!(laid_out("abcdefgh", "ij", 6, 24), (rows(&["› abcd", "  efgh", "  ij"]), 1, 6));
        assert_eq!(laid_out("蜂の巣", "", 7, 24), (rows(&["› 蜂の", "  巣"]), 1, 4));
        assert_eq!(laid_out("a\tb\u{1b}[2J\u{202e}", "", 40, 24), (rows(&["› a    b[2J\\u{202e}"]), 0, 19));
    }

    #[test]
    fn only_the_rows_around_the_cursor_are_drawn_when_there_are_too_many() {
        let text = "1\n2\n3\n4\n5\n6";
        let (rows, row, _) = laid_out(text, "\n7", 20, 5);
        assert_eq!((rows.join(" "), row), ("… 4 … 5 … 6".to_owned(), 2));
        let (rows, row, _) = laid_out("1", "\n2\n3\n4\n5", 20, 5);
        assert_eq!((rows.join(" "), row), ("› 1 … 2 … 3".to_owned(), 0));
    }

    #[test]
    fn the_cursor_goes_where_the_text_goes_on() {
        let rows = Rows::lay_out("› ", ("a\nb", "c\nd"), Size { width: 20, height: 24 });
        assert_eq!(rows.drawing().for_terminal(), "\x1b[?25h› a\n… bc\n… d\x1b[1A\r\x1b[3C");
        assert_eq!(rows.clear(20).for_terminal(), "\r\x1b[1A\x1b[J");
        assert_eq!(rows.leave().for_terminal(), "\x1b[1B\n");
    }
}
