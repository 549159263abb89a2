//! The two outputs of a command, and the only way to write to them. Each knows whether
//! it is a terminal: a terminal gets text without control characters and the codes of
//! a [`Drawing`], a file or a pipe gets text as it is and no codes.

use std::fmt::{Arguments, Display};
use std::io::{self, IsTerminal, Write};

use console::Term;

use crate::show::drawing::Drawing;
use crate::show::safe::{safe, safe_json};
use crate::show::wrap::broken;

/// The outputs of a command: its result goes to `out`, everything else to `err`.
pub(crate) struct Output<'a> {
    /// The result.
    pub(crate) out: &'a mut Stream,
    /// Everything else.
    pub(crate) err: &'a mut Stream,
}

impl Output<'_> {
    /// Lends the same outputs for a while.
    pub(crate) fn lend(&mut self) -> Output<'_> {
        Output { out: self.out, err: self.err }
    }
}

/// One output.
pub(crate) struct Stream {
    to: To,
    reader: Reader,
}

enum To {
    Stdout(io::Stdout),
    Stderr(io::Stderr),
    #[cfg(test)]
    Memory(Vec<u8>),
}

/// The kind of reader of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A terminal, which would execute control codes in a text.
    Terminal,
    /// A file, or a program behind a pipe.
    Program,
}

impl Reader {
    /// Returns the kind of a stream.
    pub(crate) fn of(stream: &impl IsTerminal) -> Reader {
        if stream.is_terminal() { Reader::Terminal } else { Reader::Program }
    }

    /// Returns text and codes in the form for this reader.
    pub(crate) fn drawn(self, drawing: &Drawing) -> String {
        match self {
            Reader::Terminal => drawing.for_terminal(),
            Reader::Program => drawing.for_program(),
        }
    }

    /// Returns JSON in the form for this reader.
    pub(crate) fn json(self, json: &str) -> String {
        match self {
            Reader::Terminal => safe_json(json),
            Reader::Program => json.to_owned(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "every other file writes through the streams of this one")]
impl Stream {
    /// Returns the standard output.
    pub(crate) fn stdout() -> Stream {
        let stdout = io::stdout();
        Stream { reader: Reader::of(&stdout), to: To::Stdout(stdout) }
    }

    /// Returns the standard error.
    pub(crate) fn stderr() -> Stream {
        let stderr = io::stderr();
        Stream { reader: Reader::of(&stderr), to: To::Stderr(stderr) }
    }

    /// Returns the columns and the rows of its terminal, if they are known.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        let term = match self.to {
            To::Stdout(_) => Term::stdout(),
            To::Stderr(_) => Term::stderr(),
            #[cfg(test)]
            To::Memory(_) => return None,
        };
        let size = term.size_checked().filter(|(_, columns)| *columns > 0 && self.reader == Reader::Terminal);
        size.map(|(rows, columns)| (usize::from(columns), usize::from(rows)))
    }
}

impl Stream {
    /// Returns the kind of its reader.
    pub(crate) fn reader(&self) -> Reader {
        self.reader
    }

    /// Writes text; `write!` and `writeln!` call this.
    pub(crate) fn write_fmt(&mut self, text: Arguments<'_>) -> io::Result<()> {
        self.put(&Drawing::of(text.to_string()))
    }

    /// Writes a sentence on a line of its own; a terminal gets it broken between words.
    pub(crate) fn say(&mut self, sentence: impl Display) -> io::Result<()> {
        self.prose(&format!("{sentence}\n"))
    }

    /// Writes sentences; a terminal gets them broken between words.
    pub(crate) fn prose(&mut self, text: &str) -> io::Result<()> {
        match self.size() {
            // Broken as it is shown: what is hidden or escaped has another width.
            Some((columns, _)) => write!(self, "{}", broken(&safe(text), columns)),
            None => write!(self, "{text}"),
        }
    }

    /// Writes text and codes.
    pub(crate) fn draw(&mut self, drawing: &Drawing) -> io::Result<()> {
        self.put(drawing)?;
        self.flush()
    }

    /// Writes JSON on a line: the same value for a terminal and for a program.
    pub(crate) fn json(&mut self, json: &str) -> io::Result<()> {
        self.raw(&(self.reader.json(json) + "\n"))
    }

    /// Writes buffered text.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.to.writer().flush()
    }

    fn put(&mut self, drawing: &Drawing) -> io::Result<()> {
        self.raw(&self.reader.drawn(drawing))
    }

    fn raw(&mut self, text: &str) -> io::Result<()> {
        self.to.writer().write_all(text.as_bytes())
    }
}

impl To {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            To::Stdout(stdout) => stdout,
            To::Stderr(stderr) => stderr,
            #[cfg(test)]
            To::Memory(bytes) => bytes,
        }
    }
}

#[cfg(test)]
impl Stream {
    /// Creates an output that a test reads.
    pub(crate) fn memory(reader: Reader) -> Stream {
        Stream { to: To::Memory(Vec::new()), reader }
    }

    /// Returns the text that was written to it.
    pub(crate) fn text(&self) -> String {
        let To::Memory(bytes) = &self.to else { panic!("only memory can be read") };
        String::from_utf8(bytes.clone()).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "a\u{1b}[2J\u{202e}b";

    #[test]
    fn a_terminal_gets_what_it_cannot_obey_and_a_pipe_what_was_said() {
        let mut terminal = Stream::memory(Reader::Terminal);
        let mut pipe = Stream::memory(Reader::Program);
        for stream in [&mut terminal, &mut pipe] {
            writeln!(stream, "{SAID}").unwrap();
            stream.draw(&Drawing::of(SAID)).unwrap();
            stream.json(&serde_json::json!({ "said": SAID }).to_string()).unwrap();
        }
        let shown = "a[2J\\u{202e}b";
        assert_eq!(terminal.text(), format!("{shown}\n{shown}{{\"said\":\"a\\u001b[2J\\u202eb\"}}\n"));
        assert_eq!(pipe.text(), format!("{SAID}\n{SAID}{{\"said\":\"a\\u001b[2J\u{202e}b\"}}\n"));
    }
}
