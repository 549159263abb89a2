//! Removes secrets from what is shown of a call: values under revealing names, and words that look like
//! keys.

use serde_json::Value;

/// The replacement for a secret.
const GONE: &str = "[redacted]";
/// The parts of names whose values are secret.
const NAMES: [&str; 8] = ["password", "passwd", "secret", "token", "api_key", "apikey", "authorization", "credential"];
/// The prefixes of keys.
const PREFIXES: [&str; 8] = ["sk-", "pk-", "ghp_", "gho_", "xoxb-", "xoxp-", "AKIA", "eyJ"];
/// The minimum length of a key; shorter words are not keys.
const KEY_MIN: usize = 12;
/// The maximum number of characters of a preview, its ellipsis included.
const PREVIEW_MAX: usize = 500;

/// Returns the beginning of a text, without secrets.
pub(crate) fn preview(text: &str) -> String {
    let clean = match serde_json::from_str::<Value>(text) {
        Ok(mut value @ (Value::Object(_) | Value::Array(_))) => {
            hide(&mut value);
            value.to_string()
        }
        Ok(_) | Err(_) => words(text),
    };
    if clean.chars().count() <= PREVIEW_MAX {
        return clean;
    }
    clean.chars().take(PREVIEW_MAX - 1).chain(['…']).collect()
}

/// Returns whether a part of a text looks like a secret.
pub(crate) fn holds_secrets(text: &str) -> bool {
    words(text) != text
}

fn hide(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.to_lowercase().replace('-', "_");
                if NAMES.iter().any(|secret| name.contains(secret)) && !value.is_null() {
                    *value = GONE.into();
                } else {
                    hide(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::String(text) => *text = words(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Checks each word, also after `Bearer` and `name=`.
fn words(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut bearer = false;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        let value = word.rsplit_once(['=', ':']).map_or(word, |(_, value)| value);
        let bare = value.trim_matches(|c: char| !c.is_alphanumeric());
        let secret = bare.len() >= KEY_MIN && (bearer || PREFIXES.iter().any(|prefix| bare.starts_with(prefix)));
        if secret {
            clean.push_str(&piece.replace(bare, GONE))
        } else {
            clean.push_str(piece)
        }
        bearer = bare.eq_ignore_ascii_case("bearer");
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_stand_and_the_rest_is_left_alone() {
        let cases = [
            (r#"{"api_key":"abc","q":"tea"}"#, r#"{"api_key":"[redacted]","q":"tea"}"#),
            (r#"{"headers":{"X-Auth-Token":"abc"}}"#, r#"{"headers":{"X-Auth-Token":"[redacted]"}}"#),
            ("Authorization: Bearer abcdefghijklmnop done", "Authorization: Bearer [redacted] done"),
            ("use key=sk-abcdefghijklmnop, please", "use key=[redacted], please"),
            ("the task is done", "the task is done"),
        ];
        for (text, clean) in cases {
            assert_eq!(preview(text), clean);
        }
        assert_eq!(preview(&"é".repeat(600)).chars().count(), 500);
    }
}
