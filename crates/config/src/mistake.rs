//! Everything wrong with a configuration file, each mistake with the line,
//! the column and the key it is about, in the order of the file.

use std::fmt;
use std::path::{Path, PathBuf};

/// All mistakes of a file; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    /// The file, as it was named.
    pub file: PathBuf,
    /// The mistakes, in the order of the file.
    pub list: Vec<Mistake>,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The position; absent when it is about the file as a whole.
    pub position: Option<Position>,
    /// The key it is about (`ensemble.task[1].tools[0]`); empty for bad syntax.
    pub key: String,
    /// The mistake, and the allowed values.
    pub message: String,
}

/// A position in a text, counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// Returns the position of a byte of the text.
    pub(crate) fn of(byte: usize, text: &str) -> Position {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        Position { line, column: before.chars().count() - before.get(..line_start).unwrap_or("").chars().count() + 1 }
    }
}

impl Mistakes {
    /// Creates the mistake of naming a file that cannot be read.
    pub(crate) fn unreadable(file: &Path, reason: &std::io::Error) -> Mistakes {
        let message = format!("cannot be read: {reason}");
        let list = vec![Mistake { position: None, key: String::new(), message }];
        Mistakes { file: file.to_owned(), list }
    }
}

impl std::error::Error for Mistakes {}

impl fmt::Display for Mistakes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mistake in &self.list {
            write!(out, "{}:", self.file.display())?;
            if let Some(Position { line, column }) = mistake.position {
                write!(out, "{line}:{column}:")?;
            }
            if !mistake.key.is_empty() {
                write!(out, " {}:", mistake.key)?;
            }
            writeln!(out, " {}", mistake.message)?;
        }
        match self.list.len() {
            1 => out.write_str("1 mistake"),
            count => write!(out, "{count} mistakes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters_not_bytes() {
        let text = "a = 'ü'\nß = 'x'\n";
        let at = |needle: &str| Position::of(text.find(needle).unwrap(), text);
        assert_eq!(at("a"), Position { line: 1, column: 1 });
        assert_eq!(at("= 'x'"), Position { line: 2, column: 3 });
    }
}
