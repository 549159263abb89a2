//! The fake's rules: the requests that the Responses API refuses when it stores nothing.

use std::collections::HashSet;

use axum::http::HeaderMap;
use serde_json::Value;

use crate::fake::{Answer, Rules, is_name, list, text};
use crate::openai::fake::error;

/// The rules of the Responses API.
pub(crate) const RULES: Rules = Rules { base: "/v1", path: "/v1/responses", refusal };

const FIELDS: [&str; 13] = [
    "model",
    "input",
    "stream",
    "store",
    "include",
    "max_output_tokens",
    "tools",
    "parallel_tool_calls",
    "temperature",
    "top_p",
    "reasoning",
    "text",
    "service_tier",
];

fn refusal(_: &HeaderMap, request: &Value) -> Option<Answer> {
    let complaint = fields_complaint(request).or_else(|| items_complaint(list(request, "/input")));
    complaint.map(|message| error(400, "invalid_value", &message))
}

fn fields_complaint(request: &Value) -> Option<String> {
    if let Some(unknown) = request.as_object()?.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Some(format!("Unknown parameter: '{unknown}'."));
    }
    if request.get("max_output_tokens").and_then(Value::as_u64).is_some_and(|tokens| tokens < 16) {
        return Some("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16".to_owned());
    }
    let is_tool = |tool: &Value| text(tool, "type") == "function" && is_name(tool.get("name"));
    let named = list(request, "/tools").iter().all(is_tool);
    (!named).then(|| "Invalid 'tools[0].name': string does not match pattern '^[a-zA-Z0-9_-]+$'.".to_owned())
}

fn items_complaint(items: &[Value]) -> Option<String> {
    if items.is_empty() {
        return Some("One of \"input\" or \"previous_response_id\" must be provided.".to_owned());
    }
    let mut open = HashSet::new();
    for (place, item) in items.iter().enumerate() {
        let next = items.get(place + 1).map_or("", |next| text(next, "type"));
        if let Some(complaint) = item_complaint(item, next, &mut open) {
            return Some(complaint);
        }
    }
    open.iter().next().map(|id| format!("No tool output found for function call {id}."))
}

fn item_complaint<'a>(item: &'a Value, next: &str, open: &mut HashSet<&'a str>) -> Option<String> {
    let call_id = text(item, "call_id");
    match text(item, "type") {
        "message" => message_complaint(item),
        "function_call" => {
            let is_whole = is_name(item.get("name")) && item.get("arguments").is_some_and(Value::is_string);
            let is_legal = is_whole && (1..=64).contains(&call_id.len()) && open.insert(call_id);
            (!is_legal).then(|| format!("Invalid function call: {item}"))
        }
        "function_call_output" => {
            let stray = format!("No tool call found for function call output with call_id {call_id}.");
            (!open.remove(call_id)).then_some(stray)
        }
        "reasoning" if text(item, "encrypted_content").is_empty() => Some(format!(
            "Item with id '{}' not found. Items are not persisted when `store` is set to false.",
            text(item, "id")
        )),
        "reasoning" => {
            let lonely = format!(
                "Item '{}' of type 'reasoning' was provided without its required following item.",
                text(item, "id")
            );
            (!matches!(next, "message" | "function_call" | "reasoning")).then_some(lonely)
        }
        other => Some(format!("Invalid value: '{other}'.")),
    }
}

fn message_complaint(item: &Value) -> Option<String> {
    let role = text(item, "role");
    let is_output =
        |part: &Value| text(part, "type") == "output_text" && part.get("annotations").is_some_and(Value::is_array);
    let has = |part: &Value, field: &str| !text(part, field).is_empty();
    let is_input = |part: &Value| match text(part, "type") {
        "input_text" => has(part, "text"),
        "input_image" => has(part, "image_url"),
        "input_file" => has(part, "filename") && has(part, "file_data"),
        _ => false,
    };
    let is_legal = match item.get("content") {
        Some(Value::String(_)) => matches!(role, "system" | "user" | "assistant"),
        Some(Value::Array(parts)) if role == "user" => parts.iter().all(is_input),
        Some(Value::Array(parts)) => role == "assistant" && parts.iter().all(is_output) && item.get("id").is_some(),
        Some(_) | None => false,
    };
    (!is_legal).then(|| format!("Invalid message: {item}"))
}
