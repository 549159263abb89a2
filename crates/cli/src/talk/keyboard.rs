//! The keyboard of a terminal, key by key. While this exists the terminal neither
//! buffers lines nor echoes keys; afterwards it is as before.

use std::collections::VecDeque;
use std::io::{self, Read, stdin};
use std::time::Instant;

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcsetattr,
};
use tokio::task::JoinHandle;

/// Bytes read at once; a paste comes in several pieces.
const CHUNK: usize = 1024;

/// Bytes of one paste that are buffered before they are passed on: a terminal that
/// never marks the end of a paste must not fill the memory.
const PASTE_PIECE: usize = 64 * 1024;
/// The maximum number of bytes of an incomplete sequence; those we know are shorter.
const SEQUENCE_MAX: usize = 32;
/// The marks that a terminal sends before and after a paste.
const PASTE_BEGIN: &str = "\u{1b}[200~";
const PASTE_END: &str = "\u{1b}[201~";

/// A key that was pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Sign(char),
    /// Text that was pasted, with its lines.
    Paste(String),
    /// Enter.
    Enter,
    /// Esc, alone.
    Escape,
    /// Ctrl-D: end of input, or delete.
    Leave,
    /// Backspace: deletes before the cursor.
    Back,
    /// Deletes at the cursor.
    Delete,
    /// The left arrow.
    Left,
    /// The right arrow.
    Right,
    /// The up arrow.
    Up,
    /// The down arrow.
    Down,
    /// Home: to the beginning of the line.
    Home,
    /// End: to the end of the line.
    End,
    /// Ctrl-U: deletes to the start of the line.
    EraseBefore,
    /// Ctrl-K: deletes to the end of the line.
    EraseAfter,
    /// Ctrl-W: deletes the word before the cursor.
    EraseWord,
    /// Tab: completes the word before the cursor.
    Tab,
    /// Ctrl-Left or Alt-B: to the beginning of the word.
    WordLeft,
    /// Ctrl-Right or Alt-F: to the end of the word.
    WordRight,
    /// Alt-Enter: a new line in the message.
    NewLine,
    /// Ctrl-R: the last message that contains what was typed.
    Search,
}

/// The keyboard.
pub(crate) struct Keyboard {
    /// The terminal's settings before.
    before: Termios,
    /// The terminal's settings while keys are read.
    modes: Termios,
    /// Keys that have not been read yet.
    typed: VecDeque<Key>,
    /// Decodes the bytes of the terminal into keys.
    decoder: Decoder,
    /// The pending read.
    reading: Option<JoinHandle<io::Result<Piece>>>,
    /// The moment at which the last bytes were read.
    read_at: Instant,
}

/// Bytes that were read at once.
struct Piece {
    bytes: Vec<u8>,
    /// The moment at which they were read.
    at: Instant,
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
        let typed = VecDeque::new();
        let decoder = Decoder::default();
        Ok(Keyboard { before, modes, typed, decoder, reading: None, read_at: Instant::now() })
    }

    /// Returns the next key, or `None` when there will be none. Cancel safe.
    pub(crate) async fn key(&mut self) -> Option<Key> {
        while self.typed.is_empty() {
            self.read().await?;
        }
        self.typed.pop_front()
    }

    /// Returns the moment at which the last key was read, which may be some time before it was asked for.
    pub(crate) fn read_at(&self) -> Instant {
        self.read_at
    }

    /// Discards the keys that were typed before, also those that the terminal still has.
    pub(crate) fn discard(&mut self) -> io::Result<()> {
        self.typed.clear();
        Ok(tcflush(stdin(), QueueSelector::IFlush)?)
    }

    /// Returns when Esc is pressed, also one pressed before. Other keys that are typed
    /// meanwhile are kept.
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

    /// Gives the terminal to another program, which must not be while a key is being read.
    pub(crate) fn lend(&mut self) -> io::Result<()> {
        Ok(tcsetattr(stdin(), OptionalActions::Now, &self.before)?)
    }

    /// Takes the terminal back; what was typed meanwhile was for the other program.
    pub(crate) fn take_back(&mut self) -> io::Result<()> {
        self.typed.clear();
        Ok(tcsetattr(stdin(), OptionalActions::Flush, &self.modes)?)
    }

    /// Discards the keys that were typed before.
    pub(crate) fn forget(&mut self) {
        self.typed.clear();
    }

    async fn read(&mut self) -> Option<()> {
        let reading = self.reading.get_or_insert_with(|| tokio::task::spawn_blocking(read));
        let bytes = reading.await;
        self.reading = None;
        let Piece { bytes, at } = bytes.ok()?.ok().filter(|piece| !piece.bytes.is_empty())?;
        self.read_at = at;
        self.typed.extend(self.decoder.decode(&bytes));
        Some(())
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        let _gone = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

fn read() -> io::Result<Piece> {
    let mut bytes = vec![0; CHUNK];
    let length = stdin().lock().read(&mut bytes)?;
    bytes.truncate(length);
    Ok(Piece { bytes, at: Instant::now() })
}

/// Decodes bytes into keys; they come in pieces that end anywhere.
#[derive(Clone, Debug, Default)]
struct Decoder {
    /// Bytes of an incomplete character or sequence.
    rest: Vec<u8>,
    /// The paste so far, until its end has come.
    paste: Option<String>,
}

impl Decoder {
    /// Returns the keys in the bytes of a terminal.
    fn decode(&mut self, bytes: &[u8]) -> Vec<Key> {
        // A full piece may have been cut inside a sequence; others end where the terminal paused.
        let is_cut = bytes.len() == CHUNK;
        self.rest.extend(bytes);
        let whole = whole(&self.rest);
        let bytes: Vec<u8> = self.rest.drain(..whole).collect();
        let text = String::from_utf8_lossy(&bytes);
        let mut left = text.as_ref();
        let mut keys = Vec::new();
        while let Some(sign) = left.chars().next() {
            let read = match (&mut self.paste, sign) {
                (Some(pasted), _) => paste(pasted, left, &mut keys),
                (None, _) if left.starts_with(PASTE_BEGIN) => {
                    self.paste = Some(String::new());
                    Extent::Whole(PASTE_BEGIN.len())
                }
                (None, '\u{1b}') if is_cut && left.len() == 1 => Extent::More,
                (None, '\u{1b}') => sequence(left, &mut keys),
                (None, sign) => {
                    keys.extend(plain(sign));
                    Extent::Whole(sign.len_utf8())
                }
            };
            match read {
                Extent::Whole(length) => left = left.get(length..).unwrap_or_default(),
                Extent::PasteEnded(length) => {
                    self.paste = None;
                    left = left.get(length..).unwrap_or_default();
                }
                Extent::More => {
                    // The undecoded start of this piece comes before the incomplete rest.
                    self.rest.splice(0..0, left.bytes());
                    break;
                }
            }
        }
        keys
    }
}

/// The extent of a decoded text.
enum Extent {
    /// This many bytes.
    Whole(usize),
    /// This many bytes, which end the paste.
    PasteEnded(usize),
    /// Nothing: the text is incomplete.
    More,
}

/// Adds text to the paste; emits it as a key when it is over or has become long.
fn paste(pasted: &mut String, left: &str, keys: &mut Vec<Key>) -> Extent {
    let end = left.find(PASTE_END);
    // The last bytes may be the start of the end mark.
    let open =
        (1..PASTE_END.len()).rev().find(|length| PASTE_END.get(..*length).is_some_and(|part| left.ends_with(part)));
    let length = end.unwrap_or(left.len() - open.unwrap_or(0));
    pasted.push_str(left.get(..length).unwrap_or_default());
    if end.is_some() || pasted.len() > PASTE_PIECE {
        keys.push(Key::Paste(std::mem::take(pasted).replace("\r\n", "\n").replace('\r', "\n")));
    }
    match (end, length) {
        (Some(at), _) => Extent::PasteEnded(at + PASTE_END.len()),
        (None, 0) => Extent::More,
        (None, length) => Extent::Whole(length),
    }
}

/// Returns the number of bytes that belong to complete characters.
fn whole(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
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
        '\t' => Some(Key::Tab),
        '\u{b}' => Some(Key::EraseAfter),
        '\u{e}' => Some(Key::Down),
        '\u{10}' => Some(Key::Up),
        '\u{12}' => Some(Key::Search),
        '\u{15}' => Some(Key::EraseBefore),
        '\u{17}' => Some(Key::EraseWord),
        sign if sign.is_control() => None,
        sign => Some(Key::Sign(sign)),
    }
}

/// Decodes a text that begins with Esc: the key itself, a known sequence, or an
/// unknown one.
fn sequence(text: &str, keys: &mut Vec<Key>) -> Extent {
    let Some(body) = text.get(1..).filter(|body| body.starts_with(['[', 'O'])) else {
        let (key, length) = with_alt(text.chars().nth(1)).map_or((Key::Escape, 1), |key| (key, 2));
        keys.push(key);
        return Extent::Whole(length);
    };
    let end = body.char_indices().skip(1).find(|(_, sign)| matches!(sign, '@'..='~'));
    let Some((end, last)) = end else {
        return if text.len() < SEQUENCE_MAX { Extent::More } else { Extent::Whole(text.len()) };
    };
    keys.extend(match (body.get(1..end).unwrap_or_default(), last) {
        ("", 'A') => Some(Key::Up),
        ("", 'B') => Some(Key::Down),
        ("", 'C') => Some(Key::Right),
        ("", 'D') => Some(Key::Left),
        ("", 'H') | ("1" | "7", '~') => Some(Key::Home),
        ("", 'F') | ("4" | "8", '~') => Some(Key::End),
        ("3", '~') => Some(Key::Delete),
        ("1;5" | "1;3", 'C') => Some(Key::WordRight),
        ("1;5" | "1;3", 'D') => Some(Key::WordLeft),
        _ => None,
    });
    Extent::Whole(1 + end + last.len_utf8())
}

/// Returns the key that is Alt with this one, which a terminal sends as Esc and the key in one piece.
fn with_alt(sign: Option<char>) -> Option<Key> {
    match sign? {
        'b' => Some(Key::WordLeft),
        'f' => Some(Key::WordRight),
        '\r' | '\n' => Some(Key::NewLine),
        '\u{8}' | '\u{7f}' => Some(Key::EraseWord),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        Decoder::default().decode(text.as_bytes())
    }

    fn pasted(text: &str) -> Key {
        Key::Paste(text.to_owned())
    }

    #[test]
    fn keys_are_told_apart_and_sequences_nobody_knows_are_passed_over() {
        assert_eq!(keys("aé\n"), [Key::Sign('a'), Key::Sign('é'), Key::Enter]);
        assert_eq!(keys("\u{1b}"), [Key::Escape]);
        assert_eq!(keys("\u{1b}[A\u{1b}OD\u{1b}[3~\u{1b}[1;9Cx"), [Key::Up, Key::Left, Key::Delete, Key::Sign('x')]);
        assert_eq!(keys("\u{1b}[1;5C\u{1b}[1;3D\u{1b}b"), [Key::WordRight, Key::WordLeft, Key::WordLeft]);
        assert_eq!(keys("\u{1b}\r\u{1b}\u{7f}\t\u{12}"), [Key::NewLine, Key::EraseWord, Key::Tab, Key::Search]);
        assert_eq!(keys("\u{1b}a"), [Key::Escape, Key::Sign('a')]);
        assert_eq!(keys("\u{1b}\u{1b}"), [Key::Escape, Key::Escape]);
        assert_eq!(keys("\u{4}\u{0}\u{7f}"), [Key::Leave, Key::Back]);
        assert_eq!(keys(&format!("\u{1b}[{}x", "1".repeat(SEQUENCE_MAX))), [], "no sequence is as long");
    }

    #[test]
    fn what_is_pasted_is_one_key_whatever_is_in_it() {
        let text = "a\u{1b}[200~one\rtwo\r\n\u{1b}[A\u{4}three\u{1b}[201~b\n";
        let expected = [Key::Sign('a'), pasted("one\ntwo\n\u{1b}[A\u{4}three"), Key::Sign('b'), Key::Enter];
        assert_eq!(keys(text), expected);
        // Byte by byte, as it may come; the Esc of the marks comes with something after it.
        let mut decoder = Decoder::default();
        let mut pieces = vec![&text.as_bytes()[..3]];
        pieces.extend(text.as_bytes()[3..].chunks(1));
        let keys: Vec<Key> = pieces.into_iter().flat_map(|piece| decoder.decode(piece)).collect();
        assert_eq!(keys, expected);
    }

    #[test]
    fn a_paste_without_an_end_is_handed_on_piece_by_piece() {
        let mut decoder = Decoder::default();
        decoder.decode(PASTE_BEGIN.as_bytes());
        let piece = "x".repeat(CHUNK);
        let handed: usize = (0..PASTE_PIECE / CHUNK * 3).map(|_| decoder.decode(piece.as_bytes()).len()).sum();
        assert_eq!(handed, 2);
        assert!(decoder.paste.is_some_and(|left| left.len() <= PASTE_PIECE + CHUNK));
    }

    #[test]
    fn a_mark_cut_by_the_end_of_a_full_piece_is_still_one() {
        let mut decoder = Decoder::default();
        let first = format!("{}\u{1b}", "x".repeat(CHUNK - 1));
        assert_eq!(decoder.decode(first.as_bytes()).len(), CHUNK - 1);
        assert_eq!(decoder.decode(b"[200~a\nb\x1b[201~"), [pasted("a\nb")]);
    }

    #[test]
    fn a_character_cut_in_two_waits_for_its_other_half() {
        let bytes = "ä".as_bytes();
        assert_eq!((whole(&bytes[..1]), whole(bytes), whole(b"a\xff")), (0, 2, 2));
    }
}
