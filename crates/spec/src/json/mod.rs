//! Writes values as JSON, byte by byte what `serde_json` writes. Every event, frame and request is mostly texts, and
//! nearly none of their characters has to be escaped: they are looked through eight at a time here, which is what most of
//! the work was.

#[cfg(test)]
mod tests;
mod writer;

use std::cell::Cell;
use std::fmt::{Display, Write};

use serde::Serialize;
use serde_json::Error;

use self::writer::Writer;

/// The size of the buffer that a thread keeps in bytes.
const KEPT_MAX: usize = 64 * 1024;
/// The bytes of a text that are looked at together.
const WORD: usize = 8;

thread_local! {
    /// The buffer that values are written to before their size is known: growing one for each would cost as much as
    /// writing it.
    static BUFFER: Cell<String> = const { Cell::new(String::new()) };
}

/// Does something with an empty buffer, which grows once and not for every value.
pub fn with_buffer<T>(write: impl FnOnce(&mut String) -> T) -> T {
    // Taken, so that nobody is in the way of a value that writes others while it is written.
    let mut buffer = BUFFER.take();
    buffer.clear();
    let result = write(&mut buffer);
    buffer.shrink_to(KEPT_MAX);
    BUFFER.set(buffer);
    result
}

/// Returns a value as JSON.
pub fn text<T: for<'a> From<&'a str>>(value: &(impl Serialize + ?Sized)) -> Result<T, Error> {
    with_buffer(|buffer| append(value, buffer).map(|()| T::from(buffer)))
}

/// Appends a value as JSON.
pub fn append(value: &(impl Serialize + ?Sized), to: &mut String) -> Result<(), Error> {
    value.serialize(&mut Writer::new(to))
}

/// Appends a text in quotes.
fn append_text(text: &str, to: &mut String) {
    to.reserve(text.len() + 2);
    to.push('"');
    if is_plain(text.as_bytes()) {
        to.push_str(text);
    } else {
        append_escaped(text, to);
    }
    to.push('"');
}

/// Appends the name of a field or a variant. Those of our types are words, of which nothing is escaped.
fn append_name(name: &'static str, to: &mut String) {
    debug_assert!(is_plain(name.as_bytes()), "the name {name:?} has to be escaped");
    to.reserve(name.len() + 3);
    to.push('"');
    to.push_str(name);
    to.push_str("\":");
}

/// Appends a text of which something is escaped, without its quotes.
#[inline(never)]
fn append_escaped(text: &str, to: &mut String) {
    let mut rest = text;
    while let Some(place) = first_to_escape(rest.as_bytes()) {
        let (plain, escaped) = rest.split_at(place);
        to.push_str(plain);
        let mut letters = escaped.chars();
        letters.next().into_iter().for_each(|letter| escape(letter, to));
        rest = letters.as_str();
    }
    to.push_str(rest);
}

/// Returns whether every byte of a text stands for itself in JSON.
fn is_plain(bytes: &[u8]) -> bool {
    // What is at both ends may be looked at twice, which is cheaper than one byte after the other.
    if let Some(last) = bytes.last_chunk() {
        let (words, _) = bytes.as_chunks();
        return words.iter().fold(escaped_in(*last), |found, word| found | escaped_in(*word)) == 0;
    }
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some([a, b, c, d]), Some([e, f, g, h])) => escaped_in([*a, *b, *c, *d, *e, *f, *g, *h]) == 0,
        _ => !bytes.iter().copied().any(is_escaped),
    }
}

/// Returns the place of the first byte that stands for itself nowhere in a text of JSON. All of them are ASCII.
fn first_to_escape(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks();
    let in_words = words.iter().enumerate().find_map(|(place, word)| {
        let found = escaped_in(*word);
        (found != 0).then(|| place * WORD + found.trailing_zeros() as usize / 8)
    });
    in_words.or_else(|| Some(words.len() * WORD + rest.iter().copied().position(is_escaped)?))
}

fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Returns 0 if no byte of a word is escaped; else the lowest bit that is set belongs to the first one that is. All bytes
/// are compared at once: what is taken from one that is too small is borrowed from its highest bit, and from later bytes.
fn escaped_in(word: [u8; WORD]) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGHEST: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | equal(b'"') | equal(b'\\')) & HIGHEST
}

fn escape(letter: char, to: &mut String) {
    match letter {
        '"' => to.push_str("\\\""),
        '\\' => to.push_str("\\\\"),
        '\n' => to.push_str("\\n"),
        '\r' => to.push_str("\\r"),
        '\t' => to.push_str("\\t"),
        '\u{8}' => to.push_str("\\b"),
        '\u{c}' => to.push_str("\\f"),
        other => formatted(format_args!("\\u{:04x}", u32::from(other)), to),
    }
}

fn formatted(value: impl Display, to: &mut String) {
    // Nothing refuses to be written to a text.
    let _written = write!(to, "{value}");
}
