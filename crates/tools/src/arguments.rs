//! The arguments of each built-in tool, and the error messages for those that do not fit. Runs
//! check them against the schema first; direct calls and pipelines are checked here at the latest.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The maximum number of characters of foreign text quoted in an error.
const QUOTE_MAX: usize = 120;

pub(super) fn arguments<T: DeserializeOwned>(args: Value) -> Result<T, String> {
    serde_json::from_value(args).map_err(|error| format!("the arguments do not fit: {error}"))
}

/// Returns the beginning of a text, to be quoted.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(QUOTE_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}
