//! Messages as they are streamed.

use consort_core::message::{Part, Stop, Usage};
use serde_json::{Value, json};

use super::decode::Message;
use crate::shapes::{Shape, call, holds, survives, text};

/// Encodes events as a stream.
pub(super) fn sse(events: &[Value]) -> String {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(event).collect()
}

pub(super) fn start() -> Value {
    let usage = json!({
        "input_tokens": 3, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 1,
        "cache_creation": { "ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 0 }, "service_tier": "standard"
    });
    let message = json!({
        "id": "msg_01", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": usage
    });
    json!({ "type": "message_start", "message": message })
}

pub(super) fn begin(index: u64, block: Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

pub(super) fn delta(index: u64, kind: &str, field: &str, words: &str) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": { "type": kind, field: words } })
}

pub(super) fn end(index: u64) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

pub(super) fn stop(reason: &str) -> Vec<Value> {
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    let usage = json!({ "output_tokens": 7, "output_tokens_details": { "thinking_tokens": 2 } });
    vec![json!({ "type": "message_delta", "delta": delta, "usage": usage }), json!({ "type": "message_stop" })]
}

const USED: Option<Usage> = Some(Usage { input: 11, output: 7, cached_input: 3, reasoning: 2 });

fn words() -> Shape {
    let mut events = vec![
        start(),
        begin(0, json!({ "type": "text", "text": "" })),
        json!({ "type": "ping" }),
        delta(0, "text_delta", "text", "Grüß"),
        delta(0, "text_delta", "text", " dich \"Welt\" 🌍"),
        end(0),
    ];
    events.extend(stop("max_tokens"));
    let parts = vec![text("Grüß dich \"Welt\" 🌍")];
    Shape { name: "words", stream: sse(&events), parts, stop: Stop::Length, usage: USED }
}

/// Thoughts between words and calls, one of them hidden, and one without words.
pub(super) fn thoughts() -> Vec<Value> {
    let thinking = |index| begin(index, json!({ "type": "thinking", "thinking": "", "signature": "" }));
    let tool = |index, id, name| {
        let caller = json!({ "type": "direct" });
        begin(index, json!({ "type": "tool_use", "id": id, "name": name, "input": {}, "caller": caller }))
    };
    let mut events = vec![
        start(),
        thinking(0),
        delta(0, "thinking_delta", "thinking", "Let me"),
        delta(0, "thinking_delta", "thinking", " see\n\"it\""),
        delta(0, "signature_delta", "signature", "EqQBCgIYAhIM+/=="),
        end(0),
        begin(1, json!({ "type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a" })),
        end(1),
        begin(2, json!({ "type": "text", "text": "" })),
        delta(2, "text_delta", "text", "Looking."),
        end(2),
        tool(3, "toolu_A", "net_x2E_find"),
        delta(3, "input_json_delta", "partial_json", ""),
        delta(3, "input_json_delta", "partial_json", "{\"input\": \"ü"),
        delta(3, "input_json_delta", "partial_json", "ber\"}"),
        end(3),
        thinking(4),
        delta(4, "signature_delta", "signature", "c2ln"),
        end(4),
        tool(5, "toolu_B", "calculator"),
        delta(5, "input_json_delta", "partial_json", "{}"),
        end(5),
    ];
    events.extend(stop("tool_use"));
    events
}

fn thinking() -> Shape {
    let thinking = |text: &str, native| Part::Thinking { text: text.into(), native: Some(native) };
    let caller = || Some(json!({ "caller": { "type": "direct" } }));
    let parts = vec![
        thinking(
            "Let me see\n\"it\"",
            json!({ "type": "thinking", "thinking": null, "signature": "EqQBCgIYAhIM+/==" }),
        ),
        thinking("", json!({ "type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a" })),
        text("Looking."),
        call("toolu_A", "net.find", "{\"input\": \"über\"}", caller()),
        thinking("", json!({ "type": "thinking", "thinking": null, "signature": "c2ln" })),
        call("toolu_B", "calculator", "{}", caller()),
    ];
    Shape { name: "thinking", stream: sse(&thoughts()), parts, stop: Stop::End, usage: USED }
}

/// Returns a stream with a thought that is cut before its signature, an input that comes at once, and a refusal.
fn odd() -> Shape {
    let mut events = vec![
        start(),
        begin(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, "thinking_delta", "thinking", "Half"),
        begin(1, json!({ "type": "text", "text": "" })),
        begin(2, json!({ "type": "text", "text": "At once." })),
        begin(3, json!({ "type": "tool_use", "id": "", "name": "calculator", "input": { "input": "1" } })),
    ];
    events.extend(stop("refusal"));
    let half = Part::Thinking { text: "Half".into(), native: None };
    let parts = vec![half, text("At once."), call("call_0", "calculator", r#"{"input":"1"}"#, None)];
    Shape { name: "odd", stream: sse(&events), parts, stop: Stop::Filtered, usage: USED }
}

#[test]
fn every_stream_is_understood() {
    holds(|| Box::new(Message::default()), &[words(), thinking(), odd()]);
}

#[test]
fn made_up_streams_end_once_and_say_what_was_wrong() {
    survives(|| Box::new(Message::default()), &[words(), thinking(), odd()]);
}
