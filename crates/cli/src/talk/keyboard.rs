//! The keyboard of a terminal, key by key. While this exists the terminal
//! neither collects lines nor shows what is typed; afterwards it is as before.

use std::collections::VecDeque;
use std::io::{self, Read, stdin};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tokio::task::JoinHandle;

/// Bytes taken at once; what is pasted comes in several pieces.
const CHUNK: usize = 1024;

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Sign(char),
    /// The end of a line.
    Enter,
    /// Esc, alone.
    Escape,
    /// Ctrl-D: nothing more will be typed, or delete.
    Leave,
    /// Deletes before the cursor.
    Back,
    /// Deletes at the cursor.
    Delete,
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// The line before.
    Up,
    /// The line after.
    Down,
    /// To the beginning of the line.
    Home,
    /// To its end.
    End,
    /// Ctrl-U.
    EraseBefore,
    /// Ctrl-K.
    EraseAfter,
    /// Ctrl-W.
    EraseWord,
}

/// The keyboard.
pub(crate) struct Keyboard {
    /// How the terminal was.
    before: Termios,
    /// Keys nobody has asked for yet.
    typed: VecDeque<Key>,
    /// Bytes of a character that is not whole yet.
    rest: Vec<u8>,
    /// A read that is waited for.
    reading: Option<JoinHandle<io::Result<Vec<u8>>>>,
}

impl Keyboard {
    /// Takes over the terminal's keyboard. Ctrl-C stays a signal.
    pub(crate) fn open() -> io::Result<Keyboard> {
        let before = tcgetattr(stdin())?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdin(), OptionalActions::Now, &modes)?;
        Ok(Keyboard { before, typed: VecDeque::new(), rest: Vec::new(), reading: None })
    }

    /// The next key, or `None` when there will be none. Dropping this loses nothing.
    pub(crate) async fn key(&mut self) -> Option<Key> {
        while self.typed.is_empty() {
            self.read().await?;
        }
        self.typed.pop_front()
    }

    /// Returns when Esc is pressed, also one pressed before. Whatever else is
    /// typed meanwhile is kept.
    pub(crate) async fn escape(&mut self) {
        loop {
            if let Some(at) = self.typed.iter().position(|key| *key == Key::Escape) {
                self.typed.remove(at);
                return;
            }
            if self.read().await.is_none() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// What was typed before does not count.
    pub(crate) fn forget(&mut self) {
        self.typed.clear();
    }

    async fn read(&mut self) -> Option<()> {
        let reading = self.reading.get_or_insert_with(|| tokio::task::spawn_blocking(read));
        let bytes = reading.await;
        self.reading = None;
        let bytes = bytes.ok()?.ok().filter(|bytes| !bytes.is_empty())?;
        self.rest.extend(bytes);
        let whole = whole(&self.rest);
        let bytes: Vec<u8> = self.rest.drain(..whole).collect();
        self.typed.extend(keys(&String::from_utf8_lossy(&bytes)));
        Some(())
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        let _gone = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

fn read() -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; CHUNK];
    let length = stdin().lock().read(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// How many bytes belong to whole characters.
fn whole(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
}

/// The keys in what a terminal sent.
fn keys(mut text: &str) -> Vec<Key> {
    let mut keys = Vec::new();
    while let Some(sign) = text.chars().next() {
        let (key, length) = match sign {
            '\u{1b}' => sequence(text),
            sign => (plain(sign), sign.len_utf8()),
        };
        keys.extend(key);
        text = text.get(length..).unwrap_or_default();
    }
    keys
}

fn plain(sign: char) -> Option<Key> {
    match sign {
        '\n' | '\r' => Some(Key::Enter),
        '\u{1}' => Some(Key::Home),
        '\u{2}' => Some(Key::Left),
        '\u{4}' => Some(Key::Leave),
        '\u{5}' => Some(Key::End),
        '\u{6}' => Some(Key::Right),
        '\u{8}' | '\u{7f}' => Some(Key::Back),
        '\t' => Some(Key::Sign(' ')),
        '\u{b}' => Some(Key::EraseAfter),
        '\u{e}' => Some(Key::Down),
        '\u{10}' => Some(Key::Up),
        '\u{15}' => Some(Key::EraseBefore),
        '\u{17}' => Some(Key::EraseWord),
        sign if sign.is_control() => None,
        sign => Some(Key::Sign(sign)),
    }
}

/// What begins with Esc: a key of its own, a sequence, or nothing we know.
fn sequence(text: &str) -> (Option<Key>, usize) {
    let Some(body) = text.get(1..).filter(|body| body.starts_with(['[', 'O'])) else {
        return (Some(Key::Escape), 1);
    };
    let end = body.char_indices().skip(1).find(|(_, sign)| matches!(sign, '@'..='~'));
    let Some((end, last)) = end else { return (None, text.len()) };
    let key = match (body.get(1..end).unwrap_or_default(), last) {
        ("", 'A') => Some(Key::Up),
        ("", 'B') => Some(Key::Down),
        ("", 'C') => Some(Key::Right),
        ("", 'D') => Some(Key::Left),
        ("", 'H') | ("1" | "7", '~') => Some(Key::Home),
        ("", 'F') | ("4" | "8", '~') => Some(Key::End),
        ("3", '~') => Some(Key::Delete),
        _ => None,
    };
    (key, 1 + end + last.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart_and_sequences_nobody_knows_are_passed_over() {
        assert_eq!(keys("aé\n"), [Key::Sign('a'), Key::Sign('é'), Key::Enter]);
        assert_eq!(keys("\u{1b}"), [Key::Escape]);
        assert_eq!(keys("\u{1b}[A\u{1b}OD\u{1b}[3~\u{1b}[1;5Cx"), [Key::Up, Key::Left, Key::Delete, Key::Sign('x')]);
        assert_eq!(keys("\u{1b}\u{1b}"), [Key::Escape, Key::Escape]);
        assert_eq!(keys("\u{4}\u{0}\u{7f}"), [Key::Leave, Key::Back]);
    }

    #[test]
    fn a_character_cut_in_two_waits_for_its_other_half() {
        let bytes = "ä".as_bytes();
        assert_eq!((whole(&bytes[..1]), whole(bytes), whole(b"a\xff")), (0, 2, 2));
    }
}
