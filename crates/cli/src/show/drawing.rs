//! Content for a terminal: text, and the few codes of ours that the terminal executes.
//! A code is never made of text, so no text can be one.

use std::fmt;

use super::safe::safe;

/// Text and codes, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawing(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Code(Code),
}

/// A command to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Shows nothing until the picture is complete, cuts lines that are too wide instead
    /// of wrapping them, and hides the cursor.
    Begin,
    /// Shows the picture.
    End,
    /// Clears the rest of the line.
    ClearLine,
    /// Clears everything from here on.
    ClearBelow,
    /// Shows the cursor.
    Cursor,
    /// Moves to the beginning of the line.
    Return,
    /// Moves up this many lines.
    Up(usize),
    /// Moves down this many lines.
    Down(usize),
    /// Moves right this many columns.
    Right(usize),
    /// Changes the style of text.
    Style(Style),
    /// Turns bracketed paste on.
    MarkPastes,
    /// Turns bracketed paste off.
    UnmarkPastes,
    /// Moves to the first column of the first row.
    TopLeft,
    /// Shows an empty screen, and keeps the one before.
    EnterFullScreen,
    /// Shows the screen from before.
    LeaveFullScreen,
}

/// The style of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// The default style.
    Reset,
    /// Bold.
    Bold,
    /// Less bright.
    Faint,
    /// Italic.
    Italic,
    /// Underlined.
    Underlined,
    /// Red.
    Red,
    /// Green.
    Green,
    /// Yellow.
    Yellow,
    /// Blue.
    Blue,
    /// Magenta.
    Magenta,
    /// Cyan.
    Cyan,
}

impl Drawing {
    /// Creates a drawing of text only.
    pub(crate) fn of(text: impl Into<String>) -> Drawing {
        Drawing::default().text(text)
    }

    /// Appends text.
    #[must_use]
    pub(crate) fn text(mut self, text: impl Into<String>) -> Drawing {
        self.0.push(Piece::Text(text.into()));
        self
    }

    /// Appends a code.
    #[must_use]
    pub(crate) fn code(mut self, code: Code) -> Drawing {
        self.0.push(Piece::Code(code));
        self
    }

    /// Appends another drawing.
    #[must_use]
    pub(crate) fn then(mut self, other: Drawing) -> Drawing {
        self.0.extend(other.0);
        self
    }

    /// Returns the drawing in a style.
    #[must_use]
    pub(crate) fn styled(self, style: Style) -> Drawing {
        Drawing::default().code(Code::Style(style)).then(self).code(Code::Style(Style::Reset))
    }

    /// Returns the bytes for a terminal: the only codes in them are ours.
    pub(crate) fn for_terminal(&self) -> String {
        let sent = |piece: &Piece| match piece {
            Piece::Text(text) => safe(text),
            Piece::Code(code) => code.to_string(),
        };
        self.0.iter().map(sent).collect()
    }

    /// Returns the text for a file or a pipe, unchanged.
    pub(crate) fn for_program(&self) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Code(_) => None,
        };
        self.0.iter().filter_map(text).collect()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Code::Begin => f.write_str("\x1b[?2026h\x1b[?7l\x1b[?25l"),
            Code::End => f.write_str("\x1b[?7h\x1b[?2026l"),
            Code::ClearLine => f.write_str("\x1b[K"),
            Code::ClearBelow => f.write_str("\x1b[J"),
            Code::Cursor => f.write_str("\x1b[?25h"),
            Code::Return => f.write_str("\r"),
            // Terminals treat 0 as 1.
            Code::Up(0) | Code::Down(0) | Code::Right(0) => Ok(()),
            Code::Up(rows) => write!(f, "\x1b[{rows}A"),
            Code::Down(rows) => write!(f, "\x1b[{rows}B"),
            Code::Right(columns) => write!(f, "\x1b[{columns}C"),
            Code::Style(style) => write!(f, "\x1b[{}m", style.number()),
            Code::MarkPastes => f.write_str("\x1b[?2004h"),
            Code::UnmarkPastes => f.write_str("\x1b[?2004l"),
            Code::TopLeft => f.write_str("\x1b[H"),
            Code::EnterFullScreen => f.write_str("\x1b[?1049h"),
            Code::LeaveFullScreen => f.write_str("\x1b[?1049l"),
        }
    }
}

impl Style {
    fn number(self) -> u8 {
        match self {
            Style::Reset => 0,
            Style::Bold => 1,
            Style::Faint => 2,
            Style::Italic => 3,
            Style::Underlined => 4,
            Style::Red => 31,
            Style::Green => 32,
            Style::Yellow => 33,
            Style::Blue => 34,
            Style::Magenta => 35,
            Style::Cyan => 36,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_our_codes_and_no_text_and_a_file_gets_text_alone() {
        let drawing = Drawing::of("a\u{1b}[2J\u{202e}").styled(Style::Bold).code(Code::Up(2)).code(Code::Right(0));
        assert_eq!(drawing.for_terminal(), "\x1b[1ma[2J\\u{202e}\x1b[0m\x1b[2A");
        assert_eq!(drawing.for_program(), "a\u{1b}[2J\u{202e}");
    }
}
