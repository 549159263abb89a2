//! Draws lines over the ones drawn before, as text for a terminal. One write
//! per picture and no line longer than the terminal is wide, so that nothing
//! flickers and nothing is left behind.

use super::block::{Line, Tone};

/// The terminal shows the picture only when it is whole, and cuts what is too
/// wide instead of going to the next line.
const BEGIN: &str = "\x1b[?2026h\x1b[?7l\x1b[?25l";
const END: &str = "\x1b[?7h\x1b[?2026l";
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";
const CURSOR: &str = "\x1b[?25h";

/// Whether colours are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Yes.
    On,
    /// No.
    Off,
}

/// What stands on the terminal.
#[derive(Debug)]
pub(crate) struct Painter {
    colour: Colour,
    /// The columns each drawn line takes.
    drawn: Vec<usize>,
}

impl Painter {
    /// Nothing drawn yet.
    pub(crate) fn new(colour: Colour) -> Painter {
        Painter { colour, drawn: Vec::new() }
    }

    /// Replaces what was drawn. The cursor stays below, hidden.
    pub(crate) fn draw(&mut self, lines: &[Line], columns: usize) -> String {
        let mut text = format!("{BEGIN}{}", self.back(columns));
        for line in lines {
            text.push_str(&self.coloured(line));
            text.push_str(CLEAR_LINE);
            text.push('\n');
        }
        self.drawn = lines.iter().map(Line::width).collect();
        text + CLEAR_BELOW + END
    }

    /// Takes away what was drawn and shows the cursor where it stood.
    pub(crate) fn clear(&mut self, columns: usize) -> String {
        let text = format!("{}{CLEAR_BELOW}{CURSOR}", self.back(columns));
        self.drawn.clear();
        text
    }

    /// Leaves what was drawn and shows the cursor below it.
    pub(crate) fn leave(&mut self) -> &'static str {
        self.drawn.clear();
        CURSOR
    }

    /// To the first line. A terminal that became narrower has broken long
    /// lines into several.
    fn back(&self, columns: usize) -> String {
        let rows: usize = self.drawn.iter().map(|width| width.div_ceil(columns.max(1)).max(1)).sum();
        if rows == 0 { "\r".to_owned() } else { format!("\r\x1b[{rows}A") }
    }

    /// A line as text for a terminal.
    pub(crate) fn coloured(&self, line: &Line) -> String {
        let paint = |(tone, text): &(Tone, String)| match (self.colour, code(*tone)) {
            (Colour::On, Some(code)) if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            (Colour::On | Colour::Off, _) => text.clone(),
        };
        line.0.iter().map(paint).collect()
    }
}

fn code(tone: Tone) -> Option<u8> {
    match tone {
        Tone::Plain => None,
        Tone::Faint => Some(2),
        Tone::Busy => Some(36),
        Tone::Good => Some(32),
        Tone::Odd => Some(33),
        Tone::Bad => Some(31),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line(vec![(Tone::Good, text.to_owned())])
    }

    #[test]
    fn a_picture_is_drawn_over_the_one_before_and_clears_what_is_left_of_it() {
        let mut painter = Painter::new(Colour::Off);
        assert_eq!(painter.draw(&[line("a"), line("b")], 80), format!("{BEGIN}\ra\x1b[K\nb\x1b[K\n\x1b[J{END}"));
        assert_eq!(painter.draw(&[line("c")], 80), format!("{BEGIN}\r\x1b[2Ac\x1b[K\n\x1b[J{END}"));
        assert_eq!(painter.clear(80), "\r\x1b[1A\x1b[J\x1b[?25h");
        assert_eq!(painter.clear(80), "\r\x1b[J\x1b[?25h");
    }

    #[test]
    fn a_terminal_that_became_narrower_has_more_rows_to_go_back() {
        let mut painter = Painter::new(Colour::Off);
        painter.draw(&[line("12345678"), line("")], 10);
        assert!(painter.clear(3).starts_with("\r\x1b[4A"));
    }

    #[test]
    fn colours_come_only_when_wanted() {
        assert_eq!(Painter::new(Colour::On).coloured(&line("x")), "\x1b[32mx\x1b[0m");
        assert_eq!(Painter::new(Colour::Off).coloured(&line("x")), "x");
    }
}
