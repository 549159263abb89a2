//! Results that are too long for a model are not lost: the model gets the beginning and a handle, and reads
//! the rest with `read_result`.

use serde_json::{Value, json};

use crate::state::run::Run;
use consort_spec::message::Outcome;
use consort_spec::text::Text;

/// The number of bytes read at once when the model gives none.
const LIMIT: u64 = 20_000;

impl Run {
    /// Returns whether this run has the result that a call asks for.
    pub fn keeps_result(&self, args: &Value) -> bool {
        self.cut().contains_key(handle(args))
    }

    /// Returns the requested part of a kept result.
    pub fn read_result(&self, args: &Value) -> Outcome {
        part(args, |handle| self.cut().get(handle))
    }
}

/// Returns the handle that a call names.
pub fn handle(args: &Value) -> &str {
    args.get("handle").and_then(Value::as_str).unwrap_or_default()
}

fn part<'a>(args: &Value, kept: impl Fn(&str) -> Option<&'a Text>) -> Outcome {
    let handle = handle(args);
    let Some(whole) = kept(handle) else {
        return Outcome::failed(format!("there is no cut result with the handle '{handle}'"));
    };
    let number = |name: &str, default: u64| {
        usize::try_from(args.get(name).and_then(Value::as_u64).unwrap_or(default)).unwrap_or(usize::MAX)
    };
    let text = whole.as_str();
    let from = text.floor_char_boundary(number("offset", 0).min(text.len()));
    // At least one character, so that reading always makes progress.
    let least = text.ceil_char_boundary(from.saturating_add(1).min(text.len()));
    let to = text.floor_char_boundary(from.saturating_add(number("limit", LIMIT)).min(text.len())).max(least);
    let part = text.get(from..to).unwrap_or_default();
    Outcome::answer(json!({ "offset": from, "next_offset": (to < text.len()).then_some(to), "total_bytes": text.len(), "content": part }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_read_piece_by_piece_without_a_gap() {
        let whole = Text::from("äöü".repeat(5));
        let kept = |handle: &str| (handle == "h").then_some(&whole);
        let mut read = String::new();
        let mut offset = 0;
        loop {
            let Outcome::Answer { text, .. } = part(&json!({ "handle": "h", "offset": offset, "limit": 5 }), kept)
            else {
                panic!()
            };
            let told: Value = serde_json::from_str(text.as_str()).unwrap();
            read.push_str(told["content"].as_str().unwrap());
            match told["next_offset"].as_u64() {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(read, whole.as_str());
        assert!(matches!(part(&json!({ "handle": "x" }), kept), Outcome::Failed { .. }));
    }
}
