//! Shows a chat: the answer on the standard output, styled and as it comes on
//! a terminal, complete otherwise; everything else on the standard error. Lines that
//! still change are drawn below and redrawn.

use std::io;
use std::time::{Duration, Instant};

use super::editor::Editor;
use super::prompt::Rows;
use super::turn_view::{Role, Shown, TurnView};
use crate::client::received::Received;
use crate::output::{Output, Reader};
use crate::show::block::{Line, Tone, spinning};
use crate::show::drawing::{Code, Drawing};
use crate::show::markdown::Markdown;
use crate::show::paint::{Colour, Painter};
use crate::show::safe::safe;
use crate::show::screen::{Look, size};
use crate::show::words::{cut, width};
use crate::show::wrap::wrapped;

/// Rows for the cursor and for the text above the drawn lines.
const SPARE: usize = 2;

/// The form of the answer.
#[derive(Clone, Debug)]
enum Answer {
    /// Line by line, styled.
    Live(Markdown),
    /// Once it is complete, unchanged.
    Whole,
}

/// A chat being shown.
pub(super) struct Screen<'a> {
    output: Output<'a>,
    look: Look,
    answer: Answer,
    /// The text of an incomplete line, or of an incomplete answer.
    unfinished: String,
    painter: Painter,
    began: Instant,
    /// The message being typed, as it is shown.
    typed: Option<Rows>,
    pastes: PasteMarking,
}

/// Whether the terminal marks pastes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PasteMarking {
    Marked,
    Unmarked,
}

impl<'a> Screen<'a> {
    /// Creates an empty screen.
    pub(super) fn new(look: Look, output: Output<'a>) -> Screen<'a> {
        let colour = if let Look::Block(colour) = look { colour } else { Colour::Off };
        let live = output.out.reader() == Reader::Terminal && look != Look::Frames;
        let answer = if live { Answer::Live(Markdown::new(colour)) } else { Answer::Whole };
        let unfinished = String::new();
        let painter = Painter::new(colour);
        let began = Instant::now();
        let typed = None;
        let pastes = PasteMarking::Unmarked;
        Screen { output, look, answer, unfinished, painter, began, typed, pastes }
    }

    /// Returns the time since the chat began.
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Applies a frame to the story and shows the result.
    pub(super) fn apply(&mut self, received: &Received, view: &mut TurnView) -> io::Result<()> {
        let shown = view.apply(received.frame(), self.now());
        if self.look == Look::Frames {
            self.output.out.json(received.text())?;
            return self.output.out.flush();
        }
        shown.into_iter().try_for_each(|shown| self.show(shown))
    }

    fn show(&mut self, shown: Shown) -> io::Result<()> {
        match (shown, &mut self.answer) {
            (Shown::Words(words), _) => {
                self.unfinished.push_str(&words);
                self.whole_lines()
            }
            (Shown::Said(_), Answer::Live(_)) => self.rest(),
            (Shown::Said(Role::Aside), Answer::Whole) => {
                let aside = std::mem::take(&mut self.unfinished);
                self.say(aside.trim_end())
            }
            (Shown::Said(Role::Answer), Answer::Whole) => {
                self.unfinished.clear();
                Ok(())
            }
            (Shown::Void, Answer::Live(_)) => self.rest(),
            (Shown::Void, Answer::Whole) => {
                self.unfinished.clear();
                Ok(())
            }
            (Shown::Line(line), _) => {
                self.make_room()?;
                let rows = match self.look {
                    Look::Block(_) => line.broken(size(self.output.err).width),
                    Look::Lines | Look::Frames => vec![line],
                };
                let put = |drawn: Drawing, row| drawn.then(self.painter.coloured(row)).text("\n");
                self.output.err.draw(&rows.iter().fold(Drawing::default(), put))
            }
        }
    }

    /// Shows the complete lines, without waiting for the end of a text.
    fn whole_lines(&mut self) -> io::Result<()> {
        let Answer::Live(markdown) = &mut self.answer else { return Ok(()) };
        let Some(end) = self.unfinished.rfind('\n') else { return Ok(()) };
        let lines: String = self.unfinished.drain(..=end).collect();
        let columns = size(self.output.out).width;
        let put = |styled: Drawing, line| styled.then(markdown.line(line, columns));
        let styled = lines.lines().fold(Drawing::default(), put);
        self.make_room()?;
        self.output.out.draw(&styled)
    }

    /// Shows the rest of a text, and begins another one.
    fn rest(&mut self) -> io::Result<()> {
        if !self.unfinished.is_empty() {
            self.unfinished.push('\n');
        }
        self.whole_lines()?;
        let Answer::Live(markdown) = &mut self.answer else { return Ok(()) };
        let left = markdown.end(size(self.output.out).width);
        self.make_room()?;
        self.output.out.draw(&left)
    }

    /// Ends the turn: text that was not shown line by line is shown now.
    pub(super) fn finish(&mut self, view: &TurnView) -> io::Result<()> {
        self.rest()?;
        self.make_room()?;
        let answer = view.answer.as_deref().filter(|answer| !answer.is_empty() && self.look != Look::Frames);
        if let (Answer::Whole, Some(answer)) = (&self.answer, answer) {
            let newline = if answer.ends_with('\n') { "" } else { "\n" };
            write!(self.output.out, "{answer}{newline}")?;
        }
        self.unfinished.clear();
        self.output.out.flush()
    }

    /// Draws the changing part: the current line, and the active calls.
    pub(super) fn draw(&mut self, view: &TurnView) -> io::Result<()> {
        if !matches!(self.look, Look::Block(_)) {
            return Ok(());
        }
        let size = size(self.output.err);
        let live = matches!(self.answer, Answer::Live(_));
        let said = wrapped(&safe(if live { &self.unfinished } else { "" }), size.width);
        let said = said.into_iter().map(|line| Line(vec![(Tone::Plain, line)]));
        let calls = view.calls.lines(self.now()).into_iter().map(|line| fitted(line, size.width));
        let mut lines: Vec<Line> = said.chain(calls).collect();
        if lines.is_empty() {
            lines.push(Line(vec![(Tone::Busy, spinning(self.now()).to_owned())]));
        }
        let hidden = lines.len().saturating_sub(size.height.saturating_sub(SPARE).max(1));
        let picture = self.painter.draw(lines.get(hidden..).unwrap_or_default(), size.width);
        self.output.err.draw(&picture)
    }

    /// Prints a message on a line of its own.
    pub(super) fn say(&mut self, words: &str) -> io::Result<()> {
        self.make_room()?;
        self.output.err.say(words)
    }

    /// Prints a less important message.
    pub(super) fn whisper(&mut self, words: &str) -> io::Result<()> {
        self.show(super::turn_view::note(Tone::Faint, words))
    }

    /// Asks the terminal to mark pastes, until this is dropped.
    pub(super) fn mark_pastes(&mut self) -> io::Result<()> {
        if matches!(self.look, Look::Block(_)) {
            self.pastes = PasteMarking::Marked;
            self.output.err.draw(&Drawing::default().code(Code::MarkPastes))?;
        }
        Ok(())
    }

    /// Shows the message being typed after a prompt.
    pub(super) fn prompt(&mut self, prompt: &str, editor: &Editor) -> io::Result<()> {
        let size = size(self.output.err);
        let rows = Rows::lay_out(prompt, (&editor.before(), &editor.after()), size);
        let clear = self.typed.take().map_or_else(start_of_line, |rows| rows.clear(size.width));
        self.output.err.draw(&clear.then(rows.drawing()))?;
        self.typed = Some(rows);
        Ok(())
    }

    /// Returns whether a prompt is shown.
    pub(super) fn is_prompting(&self) -> bool {
        self.typed.is_some()
    }

    /// Ends the message being typed, which stays on the screen.
    pub(super) fn entered(&mut self) -> io::Result<()> {
        let leave = self.typed.take().map_or_else(|| Drawing::of("\n"), |rows| rows.leave());
        self.output.err.draw(&leave)
    }

    /// Clears the drawn part, so that something else can be written.
    pub(super) fn make_room(&mut self) -> io::Result<()> {
        if let Some(rows) = self.typed.take() {
            let clear = rows.clear(size(self.output.err).width);
            return self.output.err.draw(&clear);
        }
        if !matches!(self.look, Look::Block(_)) {
            return Ok(());
        }
        let clear = self.painter.clear(size(self.output.err).width);
        self.output.err.draw(&clear)
    }

    /// Returns the available columns.
    pub(super) fn columns(&self) -> usize {
        size(self.output.err).width
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        // The terminal is always restored.
        if matches!(self.look, Look::Block(_)) {
            let leave = match self.pastes {
                PasteMarking::Marked => self.painter.leave().code(Code::UnmarkPastes),
                PasteMarking::Unmarked => self.painter.leave(),
            };
            let _closed = self.output.err.draw(&leave);
        }
    }
}

/// Clears the cursor's line.
fn start_of_line() -> Drawing {
    Drawing::default().code(Code::Return).code(Code::ClearLine)
}

/// Returns a line cut to this width.
fn fitted(line: Line, columns: usize) -> Line {
    let mut room = columns;
    let fit = |(tone, text): (Tone, String)| {
        let text = cut(&safe(&text), room);
        room -= width(&text).min(room);
        (tone, text)
    };
    Line(line.0.into_iter().map(fit).collect())
}
