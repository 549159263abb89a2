//! Draws lines over the previous ones, as text for a terminal. One write per picture
//! and no line longer than the terminal is wide, so that nothing flickers and nothing
//! is left behind.

use consort_config::Env;

use super::block::{Line, Tone};
use super::drawing::{Code, Drawing, Style};

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Colours are used.
    On,
    /// Colours are not used.
    Off,
}

impl Colour {
    /// Reads the preference from the usual environment variable.
    pub(crate) fn wanted(env: &Env<'_>) -> Colour {
        let unwanted = env("NO_COLOR").is_some_and(|value| !value.trim().is_empty());
        if unwanted { Colour::Off } else { Colour::On }
    }
}

/// The lines that are currently drawn on the terminal.
#[derive(Debug)]
pub(crate) struct Painter {
    colour: Colour,
    /// The width of each drawn line.
    drawn: Vec<usize>,
}

impl Painter {
    /// Creates a painter with nothing drawn yet.
    pub(crate) fn new(colour: Colour) -> Painter {
        Painter { colour, drawn: Vec::new() }
    }

    /// Replaces the drawn lines. The cursor stays below, hidden.
    pub(crate) fn draw(&mut self, lines: &[Line], columns: usize) -> Drawing {
        let begin = Drawing::default().code(Code::Begin).then(self.back(columns));
        let put = |drawing: Drawing, line: &Line| drawing.then(self.coloured(line)).code(Code::ClearLine).text("\n");
        let picture = lines.iter().fold(begin, put);
        self.drawn = lines.iter().map(Line::width).collect();
        picture.code(Code::ClearBelow).code(Code::End)
    }

    /// Clears the drawn lines and shows the cursor in their place.
    pub(crate) fn clear(&mut self, columns: usize) -> Drawing {
        let cleared = self.back(columns).code(Code::ClearBelow).code(Code::Cursor);
        self.drawn.clear();
        cleared
    }

    /// Leaves the drawn lines and shows the cursor below them.
    pub(crate) fn leave(&mut self) -> Drawing {
        self.drawn.clear();
        Drawing::default().code(Code::Cursor)
    }

    /// Moves to the first line. A terminal that became narrower has wrapped long lines.
    fn back(&self, columns: usize) -> Drawing {
        let rows: usize = self.drawn.iter().map(|width| width.div_ceil(columns.max(1)).max(1)).sum();
        Drawing::default().code(Code::Return).code(Code::Up(rows))
    }

    /// Returns a line in its colours.
    pub(crate) fn coloured(&self, line: &Line) -> Drawing {
        let paint = |drawn: Drawing, (tone, text): &(Tone, String)| match (self.colour, style(*tone)) {
            (Colour::On, Some(style)) if !text.is_empty() => drawn.then(Drawing::of(text).styled(style)),
            (Colour::On | Colour::Off, _) => drawn.text(text),
        };
        line.0.iter().fold(Drawing::default(), paint)
    }
}

fn style(tone: Tone) -> Option<Style> {
    match tone {
        Tone::Plain => None,
        Tone::Faint => Some(Style::Faint),
        Tone::Busy => Some(Style::Cyan),
        Tone::Good => Some(Style::Green),
        Tone::Odd => Some(Style::Yellow),
        Tone::Bad => Some(Style::Red),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "\x1b[?2026h\x1b[?7l\x1b[?25l";
    const END: &str = "\x1b[?7h\x1b[?2026l";

    fn line(text: &str) -> Line {
        Line(vec![(Tone::Good, text.to_owned())])
    }

    #[test]
    fn a_picture_is_drawn_over_the_one_before_and_clears_what_is_left_of_it() {
        let mut painter = Painter::new(Colour::Off);
        let mut draw = |lines: &[Line]| painter.draw(lines, 80).for_terminal();
        assert_eq!(draw(&[line("a"), line("b")]), format!("{BEGIN}\ra\x1b[K\nb\x1b[K\n\x1b[J{END}"));
        assert_eq!(draw(&[line("c")]), format!("{BEGIN}\r\x1b[2Ac\x1b[K\n\x1b[J{END}"));
        assert_eq!(painter.clear(80).for_terminal(), "\r\x1b[1A\x1b[J\x1b[?25h");
        assert_eq!(painter.clear(80).for_terminal(), "\r\x1b[J\x1b[?25h");
    }

    #[test]
    fn a_terminal_that_became_narrower_has_more_rows_to_go_back() {
        let mut painter = Painter::new(Colour::Off);
        painter.draw(&[line("12345678"), line("")], 10);
        assert!(painter.clear(3).for_terminal().starts_with("\r\x1b[4A"));
    }

    #[test]
    fn colours_come_only_when_wanted() {
        assert_eq!(Painter::new(Colour::On).coloured(&line("x")).for_terminal(), "\x1b[32mx\x1b[0m");
        assert_eq!(Painter::new(Colour::Off).coloured(&line("x")).for_terminal(), "x");
    }
}
