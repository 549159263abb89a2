//! `/ws` through real sockets.

mod arrival;
mod chat;
mod door;
mod fold;
mod late;
mod peers;
mod rough;
mod runs;
mod steer;

use serde_json::{Value, json};

/// Returns a request for a run about something.
fn request(id: &str) -> Value {
    json!({ "type": "run_request", "requestId": id, "inputs": { "topic": "x" } })
}

/// Returns the types of frames, in their order.
fn kinds(frames: &[Value]) -> Vec<&str> {
    frames.iter().filter_map(|frame| frame["type"].as_str()).collect()
}

/// Returns the numbers of the frames of one run, in their order.
fn seqs(frames: &[Value], run: &Value) -> Vec<u64> {
    frames.iter().filter(|frame| frame["runId"] == *run).filter_map(|frame| frame["seq"].as_u64()).collect()
}

/// Checks that numbers begin at 0 and are in order, with none missing and none twice.
fn assert_dense(seqs: &[u64]) {
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>());
}
