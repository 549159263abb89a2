//! Streams as different servers send them, decoded to whole replies, split at
//! every byte, and with each of their fields missing in turn.

use std::collections::VecDeque;

use consort_core::message::{Call, Failure, Part, Reply, Stop, Usage};
use serde_json::{Value, json};

use super::decode::Decoder;
use crate::model::conformance::{ask, deltas};
use crate::model::{Ask, Piece};

struct Shape {
    name: &'static str,
    stream: String,
    parts: Vec<Part>,
    stop: Stop,
    usage: Option<Usage>,
}

/// Events as a stream, with its end.
fn sse(events: &[Value]) -> String {
    let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    format!("{events}data: [DONE]\n\n")
}

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-9", "object": "chat.completion.chunk", "created": 1_760_000_000, "model": "m",
        "service_tier": "default", "system_fingerprint": "fp_1", "obfuscation": "aZ",
        "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]
    })
}

fn text(text: &str) -> Part {
    Part::Text { text: text.into(), native: None }
}

fn call(id: &str, tool: &str, args: &str, native: Option<Value>) -> Part {
    Part::Call(Call { provider_id: id.to_owned(), tool: tool.to_owned(), args: args.into(), native })
}

fn openai_text() -> Shape {
    let used = json!({
        "id": "chatcmpl-9", "object": "chat.completion.chunk", "model": "m", "choices": [],
        "usage": {
            "prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29,
            "prompt_tokens_details": { "cached_tokens": 4, "audio_tokens": 0 },
            "completion_tokens_details": { "reasoning_tokens": 6, "audio_tokens": 0 }
        }
    });
    let events = [
        chunk(json!({ "role": "assistant", "content": "", "refusal": null }), None),
        chunk(json!({ "content": "Grüß" }), None),
        chunk(json!({ "content": " dich \"Welt\" 🌍" }), None),
        chunk(json!({}), Some("stop")),
        used,
    ];
    let usage = Some(Usage { input: 19, output: 10, cached_input: 4, reasoning: 6 });
    let parts = vec![text("Grüß dich \"Welt\" 🌍")];
    Shape { name: "OpenAI text", stream: sse(&events), parts, stop: Stop::End, usage }
}

fn openai_calls() -> Shape {
    let piece = |index: u32, args: &str| {
        chunk(json!({ "tool_calls": [{ "index": index, "function": { "arguments": args } }] }), None)
    };
    let first = |index: u32, id: &str, name: &str| {
        let function = json!({ "name": name, "arguments": "" });
        json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": function }] })
    };
    let events = [
        chunk(json!({ "role": "assistant", "content": null }), None),
        chunk(first(0, "call_AAA", "net_x2E_find"), None),
        piece(0, "{\"input\""),
        chunk(first(1, "call_BBB", "calculator"), None),
        piece(1, "{\"input\":"),
        piece(0, ":\"über\"}"),
        piece(1, "\"1+1\"}"),
        chunk(json!({}), Some("tool_calls")),
    ];
    let parts = vec![
        call("call_AAA", "net.find", r#"{"input":"über"}"#, None),
        call("call_BBB", "calculator", r#"{"input":"1+1"}"#, None),
    ];
    Shape { name: "OpenAI calls", stream: sse(&events), parts, stop: Stop::End, usage: None }
}

/// Carriage returns, a comment, no end marker, usage with the last choice.
fn llama_cpp() -> Shape {
    let mut last = chunk(json!({}), Some("length"));
    last["usage"] = json!({ "completion_tokens": 2, "prompt_tokens": 5, "total_tokens": 7 });
    last["timings"] = json!({ "prompt_n": 5, "predicted_ms": 12.5 });
    let events =
        [chunk(json!({ "role": "assistant", "content": null }), None), chunk(json!({ "content": "Hi" }), None), last];
    let events: String = events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect();
    let usage = Some(Usage { input: 5, output: 2, ..Usage::default() });
    Shape {
        name: "llama.cpp",
        stream: format!(":\r\n\r\n{events}"),
        parts: vec![text("Hi")],
        stop: Stop::Length,
        usage,
    }
}

fn deepseek() -> Shape {
    let mut last = chunk(json!({ "content": "", "reasoning_content": null }), Some("stop"));
    last["usage"] = json!({
        "prompt_tokens": 8, "completion_tokens": 9, "prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 2,
        "completion_tokens_details": { "reasoning_tokens": 5 }
    });
    let events = [
        chunk(json!({ "role": "assistant", "content": null, "reasoning_content": "" }), None),
        chunk(json!({ "content": null, "reasoning_content": "Let me" }), None),
        chunk(json!({ "content": null, "reasoning_content": " see" }), None),
        chunk(json!({ "content": "Four", "reasoning_content": null }), None),
        last,
    ];
    let thinking = Part::Thinking { text: "Let me see".into(), native: Some(json!({ "reasoning_content": null })) };
    let usage = Some(Usage { input: 8, output: 9, cached_input: 6, reasoning: 5 });
    Shape { name: "DeepSeek", stream: sse(&events), parts: vec![thinking, text("Four")], stop: Stop::End, usage }
}

/// Thoughts with signatures, whole calls with fields of their own, comments.
fn openrouter() -> Shape {
    let detail = |fields: Value| json!({ "content": "", "reasoning": "Hm", "reasoning_details": [fields] });
    let found = json!({
        "index": 0, "id": "toolu_1", "type": "function", "function": { "name": "calculator", "arguments": "{}" },
        "extra_content": { "google": { "thought_signature": "c2ln" } }
    });
    let events = [
        chunk(
            detail(json!({ "type": "reasoning.text", "text": "Hm", "format": "anthropic-claude-v1", "index": 0 })),
            None,
        ),
        chunk(
            detail(json!({ "type": "reasoning.text", "text": "Hm", "format": "anthropic-claude-v1", "index": 0 })),
            None,
        ),
        chunk(json!({ "reasoning_details": [{ "type": "reasoning.text", "signature": "sig==", "index": 0 }] }), None),
        chunk(json!({ "reasoning_details": [{ "type": "reasoning.encrypted", "data": "x", "index": 1 }] }), None),
        chunk(json!({ "content": null, "tool_calls": [found] }), None),
        chunk(json!({ "content": "" }), Some("tool_calls")),
    ];
    let whole = json!({ "type": "reasoning.text", "text": "HmHm", "format": "anthropic-claude-v1", "index": 0, "signature": "sig==" });
    let native = json!({ "reasoning_details": [whole, { "type": "reasoning.encrypted", "data": "x", "index": 1 }] });
    let extra = json!({ "extra_content": { "google": { "thought_signature": "c2ln" } } });
    let parts = vec![
        Part::Thinking { text: "HmHm".into(), native: Some(native) },
        call("toolu_1", "calculator", "{}", Some(extra)),
    ];
    let stream = format!(": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n{}", sse(&events));
    Shape { name: "OpenRouter", stream, parts, stop: Stop::End, usage: None }
}

/// Whole calls without numbers or ids, arguments that are JSON themselves.
fn careless() -> Shape {
    let calls = json!([
        { "function": { "name": "calculator", "arguments": { "input": "1" } } },
        { "id": "", "index": null, "function": { "name": "calculator", "arguments": "" } },
    ]);
    let events = [chunk(json!({ "tool_calls": calls }), Some("stop"))];
    let parts = vec![call("call_0", "calculator", r#"{"input":"1"}"#, None), call("call_1", "calculator", "", None)];
    Shape { name: "careless", stream: sse(&events), parts, stop: Stop::End, usage: None }
}

/// An answer sent whole.
fn whole() -> Shape {
    let message = json!({ "role": "assistant", "content": "All at once", "refusal": null, "annotations": [] });
    let answer = json!({
        "id": "chatcmpl-9", "object": "chat.completion", "choices": [
            { "index": 0, "message": message, "finish_reason": "content_filter" },
            { "index": 1, "message": message, "finish_reason": "stop" }
        ],
        "usage": { "prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": null }
    });
    let usage = Some(Usage { input: 1, output: 2, ..Usage::default() });
    let stream = format!("\n{answer:#}\n");
    Shape { name: "whole", stream, parts: vec![text("All at once")], stop: Stop::Filtered, usage }
}

fn shapes() -> [Shape; 7] {
    [openai_text(), openai_calls(), llama_cpp(), deepseek(), openrouter(), careless(), whole()]
}

/// What the decoder says when the bytes come in these chunks.
fn decode(chunks: &[&[u8]], ask: &Ask) -> Vec<Result<Piece, Failure>> {
    let (mut said, mut decoder) = (Vec::new(), Decoder::default());
    let mut ready = VecDeque::new();
    for chunk in chunks {
        decoder.inbox().extend_from_slice(chunk);
        let result = decoder.advance(&mut ready);
        said.extend(ready.drain(..).map(Ok));
        match result {
            Err(failure) => return [said, vec![Err(failure)]].concat(),
            Ok(()) if decoder.is_done() => break,
            Ok(()) => {}
        }
    }
    let result = if decoder.is_done() { Ok(()) } else { decoder.end(&mut ready) };
    said.extend(ready.drain(..).map(Ok));
    said.push(result.and_then(|()| decoder.finish(ask)));
    said
}

#[test]
fn each_shape_is_understood_whole_and_split_at_every_byte() {
    let ask = ask();
    for shape in shapes() {
        let reply = Reply { wire: "openai".to_owned(), parts: shape.parts, stop: shape.stop };
        let done = Ok(Piece::Done(reply.clone(), shape.usage));
        for at in 0..=shape.stream.len() {
            let (front, back) = shape.stream.as_bytes().split_at(at);
            let said = decode(&[front, back], &ask);
            assert_eq!(said.last(), Some(&done), "{} split at {at}", shape.name);
            assert_eq!(deltas(&said), reply.text(), "{} split at {at}", shape.name);
        }
    }
}

#[test]
fn a_stream_cut_at_any_byte_gives_a_reply_or_a_failure_and_never_half_a_reply() {
    let ask = ask();
    for shape in shapes() {
        let whole = decode(&[shape.stream.as_bytes()], &ask);
        for at in 0..shape.stream.len() {
            let said = decode(&[&shape.stream.as_bytes()[..at]], &ask);
            match said.last() {
                Some(Ok(Piece::Done(reply, _))) => {
                    let Some(Ok(Piece::Done(expected, _))) = whole.last() else { panic!("{} has no end", shape.name) };
                    assert_eq!(reply, expected, "{} cut at {at}", shape.name);
                }
                Some(Err(failure)) => assert!(failure.kind.is_retryable(), "{} cut at {at}: {failure}", shape.name),
                Some(Ok(_)) | None => panic!("{} cut at {at} has no end", shape.name),
            }
        }
    }
}

/// The value with each of its fields and items left out, or changed to
/// something senseless, in turn.
fn damaged(value: &Value) -> Vec<Value> {
    let mut variants = vec![json!(-7.5), json!({ "?": [null] }), json!(["?"]), json!("?"), Value::Null];
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let mut without = fields.clone();
                without.remove(name);
                variants.push(Value::Object(without));
                for changed in damaged(inner) {
                    let mut with = fields.clone();
                    with.insert(name.clone(), changed);
                    variants.push(Value::Object(with));
                }
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                for changed in damaged(inner) {
                    let mut with = items.clone();
                    with[at] = changed;
                    variants.push(Value::Array(with));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    variants
}

#[test]
fn a_damaged_field_never_does_worse_than_a_failure() {
    let ask = ask();
    for shape in shapes() {
        let events: Vec<&str> = shape.stream.split_terminator("\n\n").collect();
        for (at, event) in events.iter().enumerate() {
            let Some(json) = event.strip_prefix("data: ").and_then(|json| serde_json::from_str(json).ok()) else {
                continue;
            };
            for variant in damaged(&json) {
                let mut stream: Vec<String> = events.iter().map(|event| format!("{event}\n\n")).collect();
                stream[at] = format!("data: {variant}\n\n");
                let said = decode(&[stream.concat().as_bytes()], &ask);
                let ends = said.iter().filter(|piece| matches!(piece, Err(_) | Ok(Piece::Done(..)))).count();
                assert_eq!(ends, 1, "{}: {variant}", shape.name);
            }
        }
    }
}
