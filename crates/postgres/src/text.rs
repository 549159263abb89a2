//! Texts as PostgreSQL takes them: it has no NUL, so that one is escaped, and words
//! are given to its index as this program splits them, not as its parser would.

use std::borrow::Cow;
use std::collections::BTreeSet;

use consort_log::words;

/// The character that begins an escape.
const ESCAPE: char = '\u{10}';
/// The maximum length of a word in the index in characters: PostgreSQL takes at most 2 kB.
const WORD_MAX: usize = 200;
/// The maximum size of all words of a text: PostgreSQL takes at most 1 MB.
const WORDS_BYTES: usize = 512 * 1024;

/// Returns a text that can be stored; different texts stay different.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for sign in text.chars() {
        match sign {
            '\0' => escaped.extend([ESCAPE, '0']),
            ESCAPE => escaped.extend([ESCAPE, '1']),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// Returns the text that was escaped.
pub(crate) fn unescape(stored: &str) -> Cow<'_, str> {
    if !stored.contains(ESCAPE) {
        return Cow::Borrowed(stored);
    }
    let mut text = String::with_capacity(stored.len());
    let mut signs = stored.chars();
    while let Some(sign) = signs.next() {
        match sign {
            ESCAPE => text.push(if signs.next() == Some('0') { '\0' } else { ESCAPE }),
            other => text.push(other),
        }
    }
    Cow::Owned(text)
}

/// Returns the words of a text as a `tsvector`.
pub(crate) fn vector(text: &str) -> String {
    let mut size = 0;
    let fits = |word: &String| {
        size += word.len();
        size <= WORDS_BYTES
    };
    let words: BTreeSet<String> = words::split(text).map(|word| cut(&word)).take_while(fits).collect();
    words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
}

/// Returns the `tsquery` for texts in which each of these words begins a word; none for no words.
pub(crate) fn query(wanted: &str) -> Option<String> {
    let words: Vec<String> = words::wanted(wanted).iter().map(|word| format!("'{}':*", cut(word))).collect();
    (!words.is_empty()).then(|| words.join(" & "))
}

/// Returns the part of a word that is compared. It consists of letters and digits and needs no quotes inside.
fn cut(word: &str) -> String {
    word.chars().take(WORD_MAX).filter(|sign| *sign != '\'' && *sign != '\\').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_and_holds_no_nul_meanwhile() {
        for text in ["", "plain", "a\0b", "\u{10}", "\u{10}0", "\0\u{10}1\0"] {
            let stored = escape(text);
            assert!(!stored.contains('\0'), "{text:?}");
            assert_eq!(unescape(&stored), text);
        }
    }

    #[test]
    fn words_are_quoted_once_each_and_queries_match_their_beginnings() {
        assert_eq!(vector("Boil WATER, boil it"), "'boil' 'it' 'water'");
        assert_eq!(query("wat' | !boil").as_deref(), Some("'wat':* & 'boil':*"));
        assert_eq!(query(" - "), None);
        assert!(vector(&"x".repeat(5_000)).len() < 2_000);
        assert!(vector(&(0..200_000).map(|n| format!("{n} ")).collect::<String>()).len() < 2 * 1024 * 1024);
    }
}
