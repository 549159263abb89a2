//! Responses as they are streamed.

use consort_core::message::{Part, Stop, Usage};
use serde_json::{Value, json};

use super::decode::Response;
use crate::shapes::{Shape, call, holds, survives};

/// Encodes events as a stream.
pub(super) fn sse(events: &[Value]) -> String {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(event).collect()
}

fn response(status: &str, usage: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "status": status, "error": null, "incomplete_details": null,
        "instructions": null, "model": "m", "output": [], "store": false, "usage": usage
    })
}

pub(super) fn created() -> Vec<Value> {
    let event =
        |kind: &str| json!({ "type": kind, "sequence_number": 0, "response": response("in_progress", Value::Null) });
    vec![event("response.created"), event("response.in_progress")]
}

pub(super) fn completed() -> Value {
    let usage = json!({
        "input_tokens": 11, "input_tokens_details": { "cached_tokens": 3 },
        "output_tokens": 7, "output_tokens_details": { "reasoning_tokens": 2 }, "total_tokens": 18
    });
    json!({ "type": "response.completed", "sequence_number": 9, "response": response("completed", usage) })
}

pub(super) fn incomplete(reason: &str) -> Value {
    let mut event = completed();
    event["type"] = "response.incomplete".into();
    event["response"]["incomplete_details"] = json!({ "reason": reason });
    event
}

pub(super) fn item(kind: &str, place: u64, item: Value) -> Value {
    let kind = format!("response.output_item.{kind}");
    json!({ "type": kind, "sequence_number": 3, "output_index": place, "item": item })
}

pub(super) fn message(text: &str) -> Value {
    let content = json!([{ "type": "output_text", "annotations": [], "logprobs": [], "text": text }]);
    json!({ "id": "msg_1", "type": "message", "status": "completed", "content": content, "role": "assistant", "phase": "final_answer" })
}

pub(super) fn function_call(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "id": format!("fc_{id}"), "type": "function_call", "status": "completed", "arguments": arguments, "call_id": id, "name": name })
}

pub(super) fn delta(kind: &str, place: u64, words: &str) -> Value {
    let kind = format!("response.{kind}.delta");
    json!({ "type": kind, "sequence_number": 4, "item_id": "x", "output_index": place, "content_index": 0, "delta": words, "obfuscation": "aZ" })
}

const USED: Option<Usage> = Some(Usage { input: 11, output: 7, cached_input: 3, reasoning: 2 });

fn words() -> Shape {
    let text = "Grüß dich \"Welt\" 🌍";
    let mut events = created();
    events.extend([
        item(
            "added",
            0,
            json!({ "id": "msg_1", "type": "message", "status": "in_progress", "content": [], "role": "assistant" }),
        ),
        delta("output_text", 0, "Grüß"),
        delta("output_text", 0, " dich \"Welt\" 🌍"),
        json!({ "type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": text }),
        item("done", 0, message(text)),
        incomplete("max_output_tokens"),
    ]);
    let native = Some(json!({ "id": "msg_1", "status": "completed", "phase": "final_answer" }));
    let parts = vec![Part::Text { text: text.into(), native }];
    Shape { name: "words", stream: sse(&events), parts, stop: Stop::Length, usage: USED }
}

pub(super) fn reasoning() -> Value {
    let summary = json!([{ "type": "summary_text", "text": "**Look**" }, { "type": "summary_text", "text": " again" }]);
    json!({ "id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": "gAAAAABo+/==" })
}

/// Returns reasoning, text and two calls, the whole items out of order.
pub(super) fn thoughts() -> Vec<Value> {
    let mut events = created();
    events.extend([
        item("added", 0, json!({ "id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA" })),
        delta("reasoning_summary_text", 0, "**Look**"),
        delta("reasoning_summary_text", 0, " again"),
        item("done", 0, reasoning()),
        item("added", 1, message("")),
        delta("output_text", 1, "Looking."),
        item("done", 1, message("Looking.")),
        item("added", 2, function_call("call_A", "net_x2E_find", "")),
        delta("function_call_arguments", 2, "{\"input\": \"ü"),
        item("added", 3, function_call("call_B", "calculator", "")),
        item("done", 3, function_call("call_B", "calculator", "{}")),
        delta("function_call_arguments", 2, "ber\"}"),
        json!({ "type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{\"input\": \"über\"}" }),
        item("done", 2, function_call("call_A", "net_x2E_find", "{\"input\": \"über\"}")),
        completed(),
    ]);
    events
}

fn thinking() -> Shape {
    let native = |id: &str| Some(json!({ "id": id, "status": "completed" }));
    let parts = vec![
        Part::Thinking { text: "**Look** again".into(), native: Some(reasoning()) },
        Part::Text {
            text: "Looking.".into(),
            native: Some(json!({ "id": "msg_1", "status": "completed", "phase": "final_answer" })),
        },
        call("call_A", "net.find", "{\"input\": \"über\"}", native("fc_call_A")),
        call("call_B", "calculator", "{}", native("fc_call_B")),
    ];
    Shape { name: "thinking", stream: sse(&thoughts()), parts, stop: Stop::End, usage: USED }
}

/// Returns unencrypted reasoning, a refusal, an item of an unknown kind.
fn odd() -> Shape {
    let content = json!([{ "type": "reasoning_text", "text": "Hm" }]);
    let open =
        json!({ "id": "rs_1", "type": "reasoning", "summary": [], "content": content, "encrypted_content": null });
    let refusal =
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "refusal", "refusal": "No." }] });
    let search = json!({ "id": "ws_1", "type": "web_search_call", "status": "completed" });
    let events = [
        delta("reasoning_text", 0, "Hm"),
        item("done", 0, open),
        delta("refusal", 1, "No."),
        item("done", 1, refusal),
        item("done", 2, search.clone()),
        incomplete("content_filter"),
    ];
    let parts = vec![
        Part::Thinking { text: "Hm".into(), native: None },
        Part::Text { text: "No.".into(), native: None },
        Part::Thinking { text: "".into(), native: Some(search) },
    ];
    Shape { name: "odd", stream: sse(&events), parts, stop: Stop::Filtered, usage: USED }
}

#[test]
fn every_stream_is_understood() {
    holds(|| Box::new(Response::default()), &[words(), thinking(), odd()]);
}

#[test]
fn made_up_streams_end_once_and_say_what_was_wrong() {
    survives(|| Box::new(Response::default()), &[words(), thinking(), odd()]);
}
