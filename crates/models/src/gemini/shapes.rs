//! Contents as they are streamed.

use consort_core::message::{Part, Stop, Usage};
use serde_json::{Value, json};

use super::decode::Content;
use crate::shapes::{Shape, call, holds, survives, text};

/// Encodes events as a stream; Google's lines end with carriage returns.
pub(super) fn sse(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect()
}

pub(super) fn chunk(parts: Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
    if let Some(reason) = finish {
        candidate["finishReason"] = reason.into();
    }
    let usage = json!({
        "promptTokenCount": 11, "candidatesTokenCount": 5, "thoughtsTokenCount": 2, "cachedContentTokenCount": 3,
        "totalTokenCount": 18, "promptTokensDetails": [{ "modality": "TEXT", "tokenCount": 11 }]
    });
    json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r" })
}

const USED: Option<Usage> = Some(Usage { input: 11, output: 7, cached_input: 3, reasoning: 2 });

fn words() -> Shape {
    let mut other = chunk(json!([{ "text": "another candidate" }]), None);
    other["candidates"][0]["index"] = 1.into();
    let events = [
        chunk(json!([{ "text": "Grüß" }]), None),
        other,
        chunk(json!([{ "text": " dich" }, { "text": " \"Welt\" 🌍" }]), None),
        chunk(json!([{ "text": "" }]), Some("MAX_TOKENS")),
    ];
    let parts = vec![text("Grüß dich \"Welt\" 🌍")];
    Shape { name: "words", stream: sse(&events), parts, stop: Stop::Length, usage: USED }
}

/// Returns a reply with thoughts, signatures on every kind of part,
/// calls with and without ids, and a part of an unknown kind.
pub(super) fn thoughts() -> Vec<Value> {
    let found = json!({ "name": "net_x2E_find", "args": { "input": "über" }, "id": "fc-1" });
    vec![
        chunk(json!([{ "text": "**Looking**\n", "thought": true }]), None),
        chunk(json!([{ "text": "around", "thought": true }]), None),
        chunk(json!([{ "thoughtSignature": "dGhvdWdodA==", "text": "signed", "thought": true }]), None),
        chunk(json!([{ "text": "Let me see." }]), None),
        chunk(json!([{ "text": " Now.", "thoughtSignature": "d29yZHM=" }]), None),
        chunk(json!([{ "text": " So:" }]), None),
        chunk(json!([{ "functionCall": found, "thoughtSignature": "CpkBAVSoXO4+/w==" }]), None),
        chunk(
            json!([{ "functionCall": { "name": "calculator", "args": {} } }, { "functionCall": { "name": "calculator" } }]),
            None,
        ),
        chunk(json!([{ "text": "", "thoughtSignature": "ZW5k" }]), Some("STOP")),
    ]
}

fn thinking() -> Shape {
    let parts = vec![
        Part::Thinking { text: "**Looking**\naround".into(), native: None },
        Part::Thinking {
            text: "signed".into(),
            native: Some(json!({ "thoughtSignature": "dGhvdWdodA==", "text": null, "thought": true })),
        },
        text("Let me see."),
        Part::Text { text: " Now.".into(), native: Some(json!({ "text": null, "thoughtSignature": "d29yZHM=" })) },
        text(" So:"),
        call(
            "fc-1",
            "net.find",
            r#"{"input":"über"}"#,
            Some(json!({ "functionCall": { "id": "fc-1" }, "thoughtSignature": "CpkBAVSoXO4+/w==" })),
        ),
        call("call_1", "calculator", "{}", None),
        call("call_2", "calculator", "{}", None),
        Part::Text { text: "".into(), native: Some(json!({ "text": null, "thoughtSignature": "ZW5k" })) },
    ];
    Shape { name: "thinking", stream: sse(&thoughts()), parts, stop: Stop::End, usage: USED }
}

fn odd() -> Shape {
    let code = json!({ "executableCode": { "language": "PYTHON", "code": "1" } });
    let mut last = chunk(json!([]), Some("SAFETY"));
    last["candidates"][0].as_object_mut().unwrap().remove("content");
    let events = [chunk(json!([{}, code, { "text": "So" }]), None), last];
    let unknown = Part::Thinking { text: "".into(), native: Some(code) };
    Shape { name: "odd", stream: sse(&events), parts: vec![unknown, text("So")], stop: Stop::Filtered, usage: USED }
}

#[test]
fn every_stream_is_understood() {
    holds(|| Box::new(Content::default()), &[words(), thinking(), odd()]);
}

#[test]
fn made_up_streams_end_once_and_say_what_was_wrong() {
    survives(|| Box::new(Content::default()), &[words(), thinking(), odd()]);
}
