//! The A2A protocol as values: `read` reads requests, `error` is the form of failures.

pub mod error;
pub mod read;

use serde_json::{Value, json};

use self::error::A2aError;
use crate::problem::Problem;

/// The path of the endpoint for JSON-RPC.
pub const PATH: &str = "/a2a";
/// The same path as some clients write it.
pub const SLASHED: &str = "/a2a/";
/// The media type of the protocol.
pub const MEDIA_TYPE: &str = "application/a2a+json";

/// Returns whether this is a path of the protocol.
pub fn is_path(path: &str) -> bool {
    path.strip_prefix(PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns a problem as the protocol tells it, on its paths.
pub fn error_body(path: &str, problem: &Problem) -> Option<Value> {
    let error = A2aError::of(problem);
    if path == PATH || path == SLASHED {
        return Some(json!({ "jsonrpc": "2.0", "id": null, "error": error.rpc() }));
    }
    is_path(path).then(|| error.rest())
}
