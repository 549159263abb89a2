//! Chat completions as different servers stream them.

use consort_core::message::{Part, Stop, Usage};
use serde_json::{Value, json};

use super::decode::Chat;
use crate::shapes::{Shape, call, holds, survives, text};

/// Encodes events as a stream, with its end marker.
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

/// Returns a stream with carriage returns, a comment, no end marker, and usage with the last choice.
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

/// Returns a stream of whole calls without numbers or ids, with arguments that are JSON themselves.
fn careless() -> Shape {
    let calls = json!([
        { "function": { "name": "calculator", "arguments": { "input": "1" } } },
        { "id": "", "index": null, "function": { "name": "calculator", "arguments": "" } },
    ]);
    let events = [chunk(json!({ "tool_calls": calls }), Some("stop"))];
    let parts = vec![call("call_0", "calculator", r#"{"input":"1"}"#, None), call("call_1", "calculator", "{}", None)];
    Shape { name: "careless", stream: sse(&events), parts, stop: Stop::End, usage: None }
}

/// Returns an answer that is sent whole.
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

#[test]
fn every_servers_stream_is_understood() {
    holds(|| Box::new(Chat::default()), &shapes());
}

#[test]
fn made_up_streams_end_once_and_say_what_was_wrong() {
    survives(|| Box::new(Chat::default()), &shapes());
}
