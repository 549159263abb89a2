//! Tool names as every provider allows them: 1 to 64 of `A-Z a-z 0-9 _ -`, a letter or
//! `_` first. A legal name stays as it is. Any other is escaped, `net.find` becomes
//! `net_x2E_find`; where that grows too long, its beginning and a digest of the whole
//! replace it. The three forms never overlap, so no two names get the same spelling.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use sha2::{Digest, Sha256};

/// The maximum length of a name that all providers accept, in characters.
const LENGTH_MAX: usize = 64;
/// The number of bytes of a digest: enough that a second name with the same digest cannot be found.
const DIGEST_BYTES: usize = 12;
const DIGEST_MARK: &str = "_h";

/// Returns the provider's spelling of `name`.
pub fn encode(name: &str) -> Cow<'_, str> {
    let legal = name.starts_with(is_first) && name.len() <= LENGTH_MAX && name.bytes().all(is_legal);
    if legal && !has_escape(name) && !is_digest(name) {
        return Cow::Borrowed(name);
    }
    let escaped = escape(name);
    // A legal name can get here only by looking encoded; without an escape in
    // it, it looked like a digest.
    let plain = escaped.len() <= LENGTH_MAX && has_escape(&escaped) && !is_digest(&escaped);
    Cow::Owned(if plain { escaped } else { digest(name) })
}

/// Returns the name among `tools` that is spelled `spelling`; the
/// name of a tool that was not offered stays as the model wrote it.
pub fn decode(spelling: &str, tools: &[Arc<ToolInfo>]) -> String {
    let meant = tools.iter().find(|tool| encode(&tool.name) == spelling);
    meant.map_or(spelling, |tool| &tool.name).to_owned()
}

fn is_legal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_first(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_'
}

/// Writes each illegal character as `_x<hex>_`, and an underscore before an
/// `x` likewise, so that every `_x` left in the text is an escape.
fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len() + 8);
    let mut rest = name.chars().peekable();
    while let Some(letter) = rest.next() {
        let ambiguous = letter == '_' && rest.peek() == Some(&'x');
        let fits = letter.is_ascii() && is_legal(letter as u8) && (!escaped.is_empty() || is_first(letter));
        if fits && !ambiguous {
            escaped.push(letter);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "_x{:X}_", u32::from(letter));
        }
    }
    escaped
}

fn has_escape(name: &str) -> bool {
    name.match_indices("_x").any(|(at, mark)| {
        let code = name.get(at + mark.len()..).and_then(|rest| rest.split_once('_')).map_or("", |(code, _)| code);
        !code.is_empty() && code.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
    })
}

fn is_digest(name: &str) -> bool {
    let digits = name.rsplit_once(DIGEST_MARK).map_or("", |(_, digits)| digits);
    digits.len() == 2 * DIGEST_BYTES && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn digest(name: &str) -> String {
    let readable = LENGTH_MAX - DIGEST_MARK.len() - 2 * DIGEST_BYTES;
    let legal = |letter: char| if letter.is_ascii() && is_legal(letter as u8) { letter } else { '_' };
    let mut short: String = name.chars().take(readable).map(legal).collect();
    if !short.starts_with(is_first) {
        short.replace_range(..usize::from(!short.is_empty()), "_");
    }
    short.push_str(DIGEST_MARK);
    for byte in Sha256::digest(name.as_bytes()).iter().take(DIGEST_BYTES) {
        // Writing to a string cannot fail.
        let _ = write!(short, "{byte:02x}");
    }
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns names built from the pieces that could confuse the spelling.
    fn name() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("_x".to_owned()),
            Just("_x2E_".to_owned()),
            Just("_h".to_owned()),
            Just("0123456789abcdef01234567".to_owned()),
            Just(".".to_owned()),
            "[0-9-]{1,70}",
            "[a-zA-Z0-9_-]{1,12}",
            "[xX_2Eeh.5F]{1,12}",
            any::<char>().prop_map(String::from),
        ];
        proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    fn offered(names: &[String]) -> Vec<Arc<ToolInfo>> {
        names.iter().map(|name| Arc::new(ToolInfo::new(name, ""))).collect()
    }

    proptest! {
        #[test]
        fn every_spelling_is_legal(name in name()) {
            let spelling = encode(&name);
            prop_assert!((1..=LENGTH_MAX).contains(&spelling.len()));
            prop_assert!(spelling.bytes().all(is_legal) && spelling.starts_with(is_first));
        }

        #[test]
        fn each_offered_name_comes_back(names in proptest::collection::vec(name(), 1..12)) {
            let tools = offered(&names);
            for name in &names {
                prop_assert_eq!(&decode(&encode(name), &tools), name);
            }
        }

        #[test]
        fn a_name_and_the_spelling_of_a_name_never_share_a_spelling(name in name()) {
            let spelling = encode(&name).into_owned();
            if spelling != name {
                prop_assert_ne!(encode(&spelling), spelling.as_str());
            }
        }
    }

    #[test]
    fn legal_names_stay_and_others_stay_readable() {
        let long = "a.".repeat(60);
        for (name, spelling) in [
            ("web_search", "web_search"),
            ("next_xray", "next_xray"),
            ("net.find", "net_x2E_find"),
            ("a/b c", "a_x2F_b_x20_c"),
            ("net_x2E_find", "net_x5F_x2E_find"),
            ("größe", "gr_xF6__xDF_e"),
            ("3d-print", "_x33_d-print"),
        ] {
            assert_eq!(encode(name), spelling);
        }
        assert!(encode(&long).starts_with("a_a_a_a_"));
        assert_ne!(encode(&long), encode(&"a.".repeat(61)));
        assert!(is_digest(&encode("")));
    }

    #[test]
    fn a_name_nobody_offered_stays_as_written() {
        assert_eq!(decode("made_up", &offered(&["real".to_owned()])), "made_up");
    }
}
