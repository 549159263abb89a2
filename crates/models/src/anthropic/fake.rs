//! The fake's rules: the requests that the Messages API refuses.

use std::collections::HashSet;

use axum::http::HeaderMap;
use serde_json::{Value, json};

use crate::fake::{Answer, Rules, is_name, list, text};

/// The rules of the Messages API.
pub(crate) const RULES: Rules = Rules { base: "", path: "/v1/messages", refusal };

const FIELDS: [&str; 11] = [
    "model",
    "max_tokens",
    "stream",
    "system",
    "messages",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "output_config",
    "service_tier",
];

/// Returns an error in Anthropic's form.
pub(crate) fn error(status: u16, kind: &str, message: &str) -> Answer {
    let error = json!({ "type": kind, "message": message });
    Answer::json(status, &json!({ "type": "error", "error": error, "request_id": "req_1" }))
}

fn refusal(headers: &HeaderMap, request: &Value) -> Option<Answer> {
    if !headers.contains_key("x-api-key") {
        return Some(error(401, "authentication_error", "x-api-key header is required"));
    }
    if !headers.contains_key("anthropic-version") {
        return Some(error(400, "invalid_request_error", "anthropic-version: header is required"));
    }
    let complaint = fields_complaint(request).or_else(|| conversation_complaint(list(request, "/messages")));
    complaint.map(|message| error(400, "invalid_request_error", &message))
}

fn fields_complaint(request: &Value) -> Option<String> {
    let fields = request.as_object()?;
    if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Some(format!("{unknown}: Extra inputs are not permitted"));
    }
    if request.get("max_tokens").and_then(Value::as_u64).is_none_or(|tokens| tokens == 0) {
        return Some("max_tokens: Field required".to_owned());
    }
    let is_tool =
        |tool: &Value| is_name(tool.get("name")) && tool.pointer("/input_schema/type") == Some(&"object".into());
    if !list(request, "/tools").iter().all(is_tool) {
        return Some("tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'".to_owned());
    }
    if fields.contains_key("tool_choice") && !fields.contains_key("tools") {
        return Some("tool_choice may only be specified while providing tools.".to_owned());
    }
    let mut blocks = list(request, "/messages").iter().flat_map(|message| list(message, "/content"));
    if !fields.contains_key("tools") && blocks.any(|block| text(block, "type") == "tool_use") {
        return Some("Requests which include `tool_use` or `tool_result` blocks must define tools".to_owned());
    }
    list(request, "/system").iter().find_map(text_complaint)
}

fn conversation_complaint(messages: &[Value]) -> Option<String> {
    if messages.first().is_none_or(|message| text(message, "role") != "user") {
        return Some("messages: first message must use the \"user\" role".to_owned());
    }
    if messages.last().is_some_and(|message| text(message, "role") != "user") {
        return Some("This model does not support assistant message prefill.".to_owned());
    }
    let mut open = HashSet::new();
    let mut ids = HashSet::new();
    for message in messages {
        let content = list(message, "/content");
        if content.is_empty() || !matches!(text(message, "role"), "user" | "assistant") {
            return Some("messages.0: messages must have non-empty content".to_owned());
        }
        if let Some(complaint) = results_complaint(content, std::mem::take(&mut open)) {
            return Some(complaint);
        }
        for block in content {
            if let Some(complaint) = block_complaint(block, text(message, "role")) {
                return Some(complaint);
            }
            if text(block, "type") == "tool_use" && !ids.insert(text(block, "id")) {
                return Some("messages.0.content.0: `tool_use` ids must be unique".to_owned());
            }
            if text(block, "type") == "tool_use" {
                open.insert(text(block, "id"));
            }
        }
    }
    None
}

/// Checks that a message begins with the results of all calls before it, and has no other results.
fn results_complaint(content: &[Value], mut open: HashSet<&str>) -> Option<String> {
    let is_result = |block: &&Value| text(block, "type") == "tool_result";
    for block in content.iter().take_while(is_result) {
        let id = text(block, "tool_use_id");
        if !open.remove(id) {
            return Some(format!("messages.0: unexpected `tool_use_id` found in `tool_result` blocks: {id}"));
        }
    }
    if content.iter().skip_while(is_result).any(|block| is_result(&block)) {
        return Some("messages.0: `tool_result` blocks must come first".to_owned());
    }
    let missing = "`tool_use` ids were found without `tool_result` blocks immediately after";
    (!open.is_empty()).then(|| format!("messages.0: {missing}: {open:?}"))
}

fn block_complaint(block: &Value, role: &str) -> Option<String> {
    let has = |field: &str| !text(block, field).is_empty();
    let is_legal = match (text(block, "type"), role) {
        ("text", _) => return text_complaint(block),
        ("tool_result", "user") => has("tool_use_id"),
        ("image" | "document", "user") => {
            let source = block.get("source").unwrap_or(&Value::Null);
            text(source, "type") == "base64"
                && ["media_type", "data"].iter().all(|field| !text(source, field).is_empty())
        }
        ("tool_use", "assistant") => {
            let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            let is_id = has("id") && text(block, "id").bytes().all(legal);
            is_id && is_name(block.get("name")) && block.get("input").is_some_and(Value::is_object)
        }
        ("thinking", "assistant") => has("signature") && block.get("thinking").is_some_and(Value::is_string),
        ("redacted_thinking", "assistant") => has("data"),
        _ => false,
    };
    (!is_legal).then(|| format!("messages.0.content.0: Input should be a valid block: {block}"))
}

fn text_complaint(block: &Value) -> Option<String> {
    let is_blank = text(block, "text").trim().is_empty();
    is_blank.then(|| "messages: text content blocks must contain non-whitespace text".to_owned())
}
