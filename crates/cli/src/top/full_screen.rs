//! The whole terminal, until this is dropped: then it is as it was, however the program
//! goes on.

use std::io;
use std::sync::Once;

use super::board::Board;
use super::page;
use crate::output::Stream;
use crate::show::block::Line;
use crate::show::drawing::{Code, Drawing};
use crate::show::paint::{Colour, Painter};
use crate::show::screen::size;

/// The terminal.
pub(super) struct FullScreen<'a> {
    out: &'a mut Stream,
    painter: Painter,
}

impl<'a> FullScreen<'a> {
    /// Takes over the terminal.
    pub(super) fn open(colour: Colour, out: &'a mut Stream) -> io::Result<FullScreen<'a>> {
        static ONCE: Once = Once::new();
        ONCE.call_once(tell_panics_outside);
        let mut screen = FullScreen { out, painter: Painter::new(colour) };
        screen.enter()?;
        Ok(screen)
    }

    /// Shows the board.
    pub(super) fn draw(&mut self, board: &Board, now: u64) -> io::Result<()> {
        let lines = page::lines(board, now, size(self.out));
        let picture = self.picture(&lines);
        self.out.draw(&picture)
    }

    fn picture(&self, lines: &[Line]) -> Drawing {
        let mut picture = Drawing::default().code(Code::Begin).code(Code::TopLeft);
        for (index, line) in lines.iter().enumerate() {
            // A line end after the last row would move everything up.
            let end = if index == 0 { "" } else { "\n" };
            picture = picture.text(end).then(self.painter.coloured(line)).code(Code::ClearLine);
        }
        picture.code(Code::ClearBelow).code(Code::End)
    }

    /// Takes over the terminal again.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        self.out.draw(&Drawing::default().code(Code::EnterFullScreen))
    }

    /// Gives the terminal back for a while.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        self.out.draw(&left())
    }
}

impl Drop for FullScreen<'_> {
    fn drop(&mut self) {
        let _closed = self.leave();
    }
}

fn left() -> Drawing {
    Drawing::default().code(Code::End).code(Code::LeaveFullScreen).code(Code::Cursor)
}

/// Lets the words of a panic stand on the screen that stays.
fn tell_panics_outside() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let _closed = Stream::stdout().draw(&left());
        before(panic);
    }));
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::show::block::Tone;

    const LEFT: &str = "\x1b[?7h\x1b[?2026l\x1b[?1049l\x1b[?25h";

    fn screen(out: &mut Stream) -> FullScreen<'_> {
        let mut screen = FullScreen { out, painter: Painter::new(Colour::Off) };
        screen.enter().unwrap();
        screen
    }

    #[test]
    fn the_terminal_is_given_back_also_by_a_panic() {
        let mut out = Stream::memory(crate::output::Reader::Terminal);
        drop(screen(&mut out));
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let _screen = screen(&mut out);
            std::panic::resume_unwind(Box::new("a panic"));
        }));
        assert!(ended.is_err());
        assert_eq!(out.text(), format!("\x1b[?1049h{LEFT}").repeat(2));
    }

    #[test]
    fn a_picture_begins_at_the_top_and_clears_what_is_left_of_the_last_one() {
        let mut out = Stream::memory(crate::output::Reader::Terminal);
        let line = |text: &str| Line(vec![(Tone::Good, text.to_owned())]);
        let picture = screen(&mut out).picture(&[line("a"), line("b\u{1b}[2J")]);
        let begin = "\x1b[?2026h\x1b[?7l\x1b[?25l\x1b[H";
        assert_eq!(picture.for_terminal(), format!("{begin}a\x1b[K\nb[2J\x1b[K\x1b[J\x1b[?7h\x1b[?2026l"));
    }
}
