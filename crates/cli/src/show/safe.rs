//! Text that a terminal shows and never executes. Text of models, tools, peers and
//! files loses its control characters, and characters that are invisible, or that
//! change the order of others, are escaped.

use std::fmt::Write;

use consort_core::text::is_invisible;
use serde_json::Value;

/// The emoji variation selector: `❤` becomes `❤️`.
const EMOJI_STYLE: char = '\u{fe0f}';
/// The text variation selector: `❤️` becomes `❤︎`.
const TEXT_STYLE: char = '\u{fe0e}';
/// Joins emoji into one: a person and a laptop.
const JOINER: char = '\u{200d}';
/// The box around the digit of a keycap.
const KEYCAP: char = '\u{20e3}';

/// Returns the text as a terminal may show it: without control characters but
/// line ends and tabs, and with hidden characters as `\u{202e}`.
pub(crate) fn safe(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    // The character before, unless it was escaped: nothing joins an escape.
    let mut before = None;
    while let Some(sign) = signs.next() {
        let after = signs.peek().copied();
        if is_invisible(sign) && !is_part_of_emoji(sign, before, after) {
            let _infallible = write!(shown, "{}", sign.escape_unicode());
            before = None;
        } else if !sign.is_control() || matches!(sign, '\n' | '\t') {
            shown.push(sign);
            before = Some(sign);
        }
    }
    shown
}

/// Returns JSON as a terminal may show it: the same value, with hidden and control
/// characters in JSON's own escapes.
pub(crate) fn safe_json(json: &str) -> String {
    let is_odd = |sign: char| is_invisible(sign) || (sign.is_control() && sign != '\n');
    escaped(json, is_odd)
}

/// Returns JSON for an exact review: the same value, with hidden characters, unusual
/// spaces and look-alike letters in JSON's escapes.
pub(crate) fn exact_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut word = String::new();
    let mut signs = json.chars();
    while let Some(sign) = signs.next() {
        if !(sign.is_whitespace() || matches!(sign, '"' | '\\')) {
            word.push(sign);
            continue;
        }
        shown.push_str(&exact_word(&std::mem::take(&mut word)));
        shown.push_str(&exact_word(sign.encode_utf8(&mut [0; 4])));
        if sign == '\\' {
            // The `n` of a `\n` in JSON is no letter of the word behind it.
            shown.extend(signs.next().map(|sign| exact_word(sign.encode_utf8(&mut [0; 4]))));
        }
    }
    shown + &exact_word(&word)
}

/// Returns words with hidden and look-alike characters escaped, as a decision needs them.
pub(crate) fn exact(words: &str) -> String {
    let json = exact_json(&Value::String(words.to_owned()).to_string());
    json.trim_matches('"').replace("\\\"", "\"")
}

/// Escapes a word without spaces, such as an address. Letters of other scripts are
/// ordinary among their own and suspicious next to Latin ones.
fn exact_word(word: &str) -> String {
    let is_mixed = word.chars().any(|sign| sign.is_ascii_alphabetic());
    let is_odd = |sign: char| {
        let plain_space = matches!(sign, ' ' | '\n');
        is_invisible(sign)
            || sign.is_control() && sign != '\n'
            || sign.is_whitespace() && !plain_space
            || is_styled_letter(sign)
            || is_mixed && looks_like_latin(sign)
    };
    escaped(word, is_odd)
}

/// Returns the text with some characters as JSON writes them: `\u202e`.
fn escaped(text: &str, is_odd: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for sign in text.chars() {
        if is_odd(sign) {
            for unit in sign.encode_utf16(&mut [0; 2]) {
                let _infallible = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(sign);
        }
    }
    shown
}

/// Returns whether a hidden character only chooses or joins the emoji around it.
fn is_part_of_emoji(sign: char, before: Option<char>, after: Option<char>) -> bool {
    let follows_emoji = before.is_some_and(is_emoji);
    let follows_styled = follows_emoji || before == Some(EMOJI_STYLE);
    let makes_keycap = matches!(before, Some('0'..='9' | '#' | '*')) && after == Some(KEYCAP);
    match sign {
        EMOJI_STYLE => follows_emoji || makes_keycap,
        TEXT_STYLE => follows_emoji,
        JOINER => follows_styled && after.is_some_and(is_emoji),
        _ => false,
    }
}

/// Returns whether a character is of the blocks that emoji come from.
fn is_emoji(sign: char) -> bool {
    matches!(sign,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{23ff}'
        | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Returns whether a character is a styled variant of a letter: mathematical, circled, blank.
fn is_styled_letter(sign: char) -> bool {
    matches!(sign, '\u{2460}'..='\u{24ff}' | '\u{2800}' | '\u{1d400}'..='\u{1d7ff}' | '\u{1f100}'..='\u{1f1e5}')
}

/// Returns whether a character is of a script or a block with look-alikes of Latin
/// letters, digits, slashes, dots and colons.
fn looks_like_latin(sign: char) -> bool {
    matches!(sign,
        '\u{250}'..='\u{2af}' | '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{1c80}'..='\u{1c8f}'
        | '\u{1f00}'..='\u{1fff}' | '\u{2024}' | '\u{2044}' | '\u{2160}'..='\u{217f}' | '\u{2215}' | '\u{2236}'
        | '\u{29f8}' | '\u{2c60}'..='\u{2c7f}' | '\u{2c80}'..='\u{2cff}' | '\u{2de0}'..='\u{2dff}'
        | '\u{a4d0}'..='\u{a4ff}' | '\u{a640}'..='\u{a69f}' | '\u{a789}' | '\u{ab30}'..='\u{abbf}'
        | '\u{ff0e}'..='\u{ff1a}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_anybody_says_steers_a_terminal() {
        for control in (0..0xa0).filter_map(char::from_u32).filter(|sign| sign.is_control()) {
            let kept = if matches!(control, '\n' | '\t') { format!("a{control}b") } else { "ab".to_owned() };
            assert_eq!(safe(&format!("a{control}b")), kept, "{control:?}");
        }
        assert_eq!(safe("\u{1b}]52;c;ZXZpbA==\u{7}x\u{9b}2J\r\n"), "]52;c;ZXZpbA==x2J\n");
    }

    #[test]
    fn what_nobody_sees_is_escaped() {
        let hidden = "\u{ad}\u{61c}\u{180e}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{202a}\u{202e}\u{2060}\
            \u{2066}\u{2069}\u{3164}\u{fe00}\u{fe0e}\u{fe0f}\u{feff}\u{fff9}\u{e0001}\u{e0041}\u{e0100}";
        for sign in hidden.chars() {
            assert_eq!(safe(&format!("a{sign}b")), format!("a{}b", sign.escape_unicode()));
        }
        assert_eq!(safe(&safe(hidden)), safe(hidden), "once is enough");
    }

    #[test]
    fn what_people_write_stays_as_it_is() {
        let texts = [
            "Ümläute, 蜂の巣, пчёлы, 𝔘𝔫𝔦",
            "שלום عربي",
            "❤\u{fe0f} ⚠\u{fe0f} 1\u{fe0f}\u{20e3}",
            "👩\u{200d}💻 🏳\u{fe0f}\u{200d}🌈",
        ];
        for text in texts {
            assert_eq!(safe(text), text);
        }
        assert_eq!(safe("👩\u{200d}\u{200d}a\u{200d}👩"), "👩\\u{200d}\\u{200d}a\\u{200d}👩");
    }

    #[test]
    fn json_for_a_terminal_is_the_same_value() {
        let value = serde_json::json!({ "to\u{202e}": "Ada\u{9b}\u{7f}\u{e0041}\u{1b}", "n": [1, "пчёлы"] });
        let shown = safe_json(&format!("{value:#}"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        assert!(shown.contains(r"Ada\u009b\u007f\udb40\udc41\u001b") && shown.contains("пчёлы"), "{shown}");
    }

    #[test]
    fn a_look_alike_in_an_address_is_seen_and_other_languages_are_read() {
        let value = serde_json::json!({ "url": "https://p\u{430}ypal.com", "all": "http://\u{430}\u{440}.com",
            "text": "строка\nвторая\u{a0}строка", "slash": "good.com\u{2215}x", "math": "𝗉𝖺𝗒" });
        let shown = exact_json(&value.to_string());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        for part in [r"https://p\u0430ypal.com", r"http://\u0430\u0440.com", r"good.com\u2215x"] {
            assert!(shown.contains(part), "{shown}");
        }
        assert!(shown.contains(r"строка\nвторая\u00a0строка") && !shown.contains('𝗉'), "{shown}");
    }
}
