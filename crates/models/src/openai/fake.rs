//! The fake's rules: the requests that chat completions refuse.

use std::collections::HashSet;

use axum::http::HeaderMap;
use serde_json::{Value, json};

use crate::fake::{Answer, Rules, is_name, list, text};

/// The rules of chat completions.
pub(crate) const RULES: Rules = Rules { base: "/v1", path: "/v1/chat/completions", refusal };

/// Returns an error in OpenAI's form.
pub(crate) fn error(status: u16, code: &str, message: &str) -> Answer {
    let error = json!({ "message": message, "type": "invalid_request_error", "param": null, "code": code });
    Answer::json(status, &json!({ "error": error }))
}

fn refusal(_: &HeaderMap, request: &Value) -> Option<Answer> {
    complaint(request).map(|message| error(400, "invalid_value", &message))
}

/// Returns the reason why the real API would refuse this request.
fn complaint(request: &Value) -> Option<String> {
    let tools = list(request, "/tools");
    let badly_named = tools.iter().find(|tool| !is_name(tool.pointer("/function/name")));
    if badly_named.is_some() {
        return Some("Invalid 'tools[0].function.name': string does not match pattern".to_owned());
    }
    if tools.is_empty() && request.get("parallel_tool_calls").is_some() {
        return Some("'parallel_tool_calls' is only allowed when 'tools' are specified".to_owned());
    }
    let messages = list(request, "/messages");
    if messages.is_empty() {
        return Some("'messages' is empty".to_owned());
    }
    let mut open = HashSet::new();
    for message in messages {
        if let Some(refusal) = line_complaint(message, &mut open) {
            return Some(refusal);
        }
    }
    (!open.is_empty()).then(|| unanswered(&open))
}

fn line_complaint(message: &Value, open: &mut HashSet<String>) -> Option<String> {
    let role = text(message, "role");
    if role == "tool" {
        let id = text(message, "tool_call_id");
        let stray = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'";
        return (!open.remove(id)).then(|| stray.to_owned());
    }
    if !open.is_empty() {
        return Some(unanswered(open));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let has_words = message.get("content").is_some_and(Value::is_string);
    let is_part = |part: &Value| match text(part, "type") {
        "text" => !text(part, "text").is_empty(),
        "image_url" => part.pointer("/image_url/url").is_some_and(Value::is_string),
        "file" => part.pointer("/file/file_data").is_some_and(Value::is_string),
        _ => false,
    };
    let has_parts = message.get("content").and_then(Value::as_array).is_some_and(|parts| parts.iter().all(is_part));
    match role {
        "system" | "user" if has_words => None,
        "user" if has_parts => None,
        "assistant" if has_words || calls.is_some() => {
            calls.into_iter().flatten().find_map(|call| open_call(call, open))
        }
        _ => Some(format!("Invalid value: '{role}', or a message without content")),
    }
}

fn open_call(call: &Value, open: &mut HashSet<String>) -> Option<String> {
    let id = text(call, "id").to_owned();
    let function = text(call, "type") == "function";
    let arguments = call.pointer("/function/arguments").is_some_and(Value::is_string);
    let is_legal = function && arguments && is_name(call.pointer("/function/name")) && (1..=40).contains(&id.len());
    (!is_legal || !open.insert(id)).then(|| format!("Invalid tool call: {call}"))
}

fn unanswered(open: &HashSet<String>) -> String {
    format!("An assistant message with 'tool_calls' must be followed by tool messages. Missing: {open:?}")
}
