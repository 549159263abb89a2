//! Shows a run while it lasts: as a block that is redrawn, as lines, or as its frames.
//! It keeps the view of the run, which is the same for all three.

use std::io;
use std::time::{Duration, Instant};

use consort_core::frame::numbered::{EventFrame, RunFrame};
use consort_core::frame::run;

use super::block::{self, Size};
use super::diff;
use super::drawing::Drawing;
use super::markdown::Markdown;
use super::paint::{Colour, Painter};
use super::plain;
use super::view::View;
use super::words::span;
use crate::client::received::{Frame, Received};
use crate::output::{Output, Stream};

/// The form in which a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// As a block on a terminal.
    Block(Colour),
    /// As lines.
    Lines,
    /// As frames on the standard output.
    Frames,
}

/// A run being shown.
pub(crate) struct Screen<'a> {
    output: Output<'a>,
    look: Look,
    view: View,
    began: Instant,
    /// The time of the run's own first event, in milliseconds since 1970.
    first: Option<u64>,
    /// The time of the last one, since the first.
    last: Duration,
    /// The time that the run had lasted before it was watched.
    ahead: Duration,
    painter: Painter,
    /// Whether a question is shown in place of the block.
    covered: bool,
}

impl<'a> Screen<'a> {
    /// Creates a screen without a run.
    pub(crate) fn new(look: Look, output: Output<'a>) -> Screen<'a> {
        let colour = if let Look::Block(colour) = look { colour } else { Colour::Off };
        let painter = Painter::new(colour);
        let began = Instant::now();
        let first = None;
        let last = Duration::ZERO;
        let ahead = Duration::ZERO;
        Screen { output, look, view: View::default(), began, first, last, ahead, painter, covered: false }
    }

    /// Returns the run as it is shown.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Returns the time since the run began, as far as its events tell.
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed() + self.ahead
    }

    /// Returns the time of a frame: a late watcher sees the original times.
    fn moment(&mut self, frame: &Frame) -> Duration {
        match (frame, of_run(frame)) {
            (Frame::Live(_), _) => self.now(),
            (_, Some(RunFrame { inherited: true, .. })) => Duration::ZERO,
            (_, Some(event)) => self.moment_of(event),
            // The result has no time of its own: it follows the last event.
            (_, None) => self.last,
        }
    }

    fn moment_of(&mut self, event: &RunFrame) -> Duration {
        if matches!(event.frame, run::Frame::RunForked { .. }) {
            // The run's own clock starts here.
            self.first = None;
        }
        let at = event.at.0;
        self.last = Duration::from_millis(at.saturating_sub(*self.first.get_or_insert(at)));
        self.ahead += self.last.saturating_sub(self.now());
        self.last
    }

    /// Shows a frame.
    pub(crate) fn show(&mut self, received: &Received) -> io::Result<()> {
        if self.look == Look::Frames {
            self.output.out.json(received.text())?;
        }
        let frame = received.frame();
        if matches!(frame, Frame::Live(_)) && !self.is_drawn() {
            return Ok(());
        }
        let moment = self.moment(frame);
        self.view.apply(frame, moment);
        match self.look {
            Look::Lines if of_run(frame).is_some_and(|event| event.inherited) => Ok(()),
            Look::Lines => match plain::line(&self.view, frame) {
                Some(line) => writeln!(self.output.err, "{} {line}", span(moment)),
                None => Ok(()),
            },
            // Frames come in bursts; drawing between two of them is useless.
            Look::Block(_) | Look::Frames => Ok(()),
        }
    }

    /// Draws the block as it is now; the other looks have nothing to draw.
    pub(crate) fn draw(&mut self) -> io::Result<()> {
        if self.covered || !self.is_drawn() || self.view.tasks.is_empty() {
            return Ok(());
        }
        self.picture(size(self.output.err))
    }

    fn is_drawn(&self) -> bool {
        matches!(self.look, Look::Block(_))
    }

    fn picture(&mut self, size: Size) -> io::Result<()> {
        let lines = block::lines(&self.view, self.now(), size);
        let picture = self.painter.draw(&lines, size.width);
        self.output.err.draw(&picture)
    }

    /// Prints a message, above the block if there is one.
    pub(crate) fn say(&mut self, words: &str) -> io::Result<()> {
        self.make_room()?;
        self.output.err.say(words)?;
        self.draw()
    }

    /// Shows a question in place of the block, with the cursor after it.
    pub(crate) fn ask(&mut self, question: &str) -> io::Result<()> {
        self.ask_about(&Drawing::of(question))
    }

    /// Shows a question with a text that was formatted.
    pub(crate) fn ask_about(&mut self, question: &Drawing) -> io::Result<()> {
        self.make_room()?;
        self.covered = true;
        self.output.err.draw(question)
    }

    /// Returns an answer as it is shown.
    pub(crate) fn formatted(&self, answer: &str) -> Drawing {
        match self.look {
            Look::Block(colour) => Markdown::text(colour, answer, size(self.output.err).width),
            Look::Lines | Look::Frames => Drawing::of(format!("{answer}\n")),
        }
    }

    /// Returns the difference between two answers as it is shown.
    pub(crate) fn changes(&self, before: &str, after: &str) -> Drawing {
        let colour = if let Look::Block(colour) = self.look { colour } else { Colour::Off };
        diff::changes(before, after, colour)
    }

    /// Ends the question: the block is shown again.
    pub(crate) fn answered(&mut self) -> io::Result<()> {
        self.covered = false;
        self.draw()
    }

    /// Draws the last picture, which stays, and returns the view.
    pub(crate) fn finish(mut self) -> io::Result<View> {
        if self.is_drawn() {
            // It is not redrawn, so it may be higher than the terminal.
            self.picture(Size { height: usize::MAX, ..size(self.output.err) })?;
        }
        Ok(std::mem::take(&mut self.view))
    }

    /// Clears the block, so that something else can be written.
    fn make_room(&mut self) -> io::Result<()> {
        if self.covered || !self.is_drawn() {
            return Ok(());
        }
        let clear = self.painter.clear(size(self.output.err).width);
        self.output.err.draw(&clear)
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        // The cursor is never left hidden.
        if self.is_drawn() {
            let leave = self.painter.leave();
            let _closed = self.output.err.draw(&leave);
        }
    }
}

/// Returns the event of a run in a frame, if it is one.
fn of_run(frame: &Frame) -> Option<&RunFrame> {
    let Frame::Event(event) = frame else { return None };
    if let EventFrame::Run(event) = &**event { Some(event) } else { None }
}

/// Returns the size of the terminal; a default where it is unknown. The last column is
/// left free, because terminals differ in what follows a character in it.
pub(crate) fn size(terminal: &Stream) -> Size {
    let (width, height) = terminal.size().unwrap_or((80, 24));
    Size { width: width.saturating_sub(1), height }
}
