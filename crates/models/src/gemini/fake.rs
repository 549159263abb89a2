//! The refusals of the Gemini API, as its newer models give them.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use crate::fake::{Answer, Rules, list, text};

/// The rules of `streamGenerateContent`, for a model called `m`.
pub(crate) const RULES: Rules = Rules { base: "", path: "/v1beta/models/m:streamGenerateContent?alt=sse", refusal };

const FIELDS: [&str; 5] = ["systemInstruction", "contents", "tools", "generationConfig", "cachedContent"];
const PART_FIELDS: [&str; 6] =
    ["inlineData", "text", "thought", "thoughtSignature", "functionCall", "functionResponse"];

/// Returns a complaint in Google's form.
pub(crate) fn error(code: u16, status: &str, message: &str) -> Answer {
    Answer::json(code, &json!({ "error": { "code": code, "message": message, "status": status } }))
}

fn refusal(headers: &HeaderMap, request: &Value) -> Option<Answer> {
    if !headers.contains_key("x-goog-api-key") {
        return Some(error(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers."));
    }
    let complaint = unknown(request, &FIELDS)
        .or_else(|| list(request, "/tools/0/functionDeclarations").iter().find_map(tool_complaint))
        .or_else(|| list(request, "/systemInstruction/parts").iter().find_map(part_complaint))
        .or_else(|| conversation_complaint(list(request, "/contents")));
    complaint.map(|message| error(400, "INVALID_ARGUMENT", &message))
}

fn unknown(json: &Value, known: &[&str]) -> Option<String> {
    let name = json.as_object()?.keys().find(|name| !known.contains(&name.as_str()))?;
    Some(format!("Invalid JSON payload received. Unknown name \"{name}\": Cannot find field."))
}

fn tool_complaint(tool: &Value) -> Option<String> {
    let name = text(tool, "name");
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.len() <= 64
        && name.bytes().all(legal);
    let refused =
        (!is_name).then(|| format!("Invalid function name: {name}. Must start with a letter or an underscore."));
    refused.or_else(|| unknown(tool, &["name", "description", "parametersJsonSchema"]))
}

fn part_complaint(part: &Value) -> Option<String> {
    let data = ["text", "inlineData", "functionCall", "functionResponse"]
        .iter()
        .filter(|name| part.get(**name).is_some())
        .count();
    let has_words = part.get("text").is_none_or(|text| text != "") || part.get("thoughtSignature").is_some();
    let is_whole = |kind: &str, body: &str| {
        part.get(kind).is_none_or(|call| !text(call, "name").is_empty() && call.get(body).is_some_and(Value::is_object))
    };
    let is_file = |file: &Value| ["mimeType", "data"].iter().all(|field| !text(file, field).is_empty());
    let is_legal = data == 1
        && has_words
        && part.get("inlineData").is_none_or(is_file)
        && is_whole("functionCall", "args")
        && is_whole("functionResponse", "response");
    let empty = || format!("contents.parts must not be empty: {part}");
    unknown(part, &PART_FIELDS).or_else(|| (!is_legal).then(empty))
}

fn conversation_complaint(contents: &[Value]) -> Option<String> {
    if contents.last().is_none_or(|content| text(content, "role") != "user") {
        return Some("Please ensure that multiturn requests end with a user role or a function response.".to_owned());
    }
    let question =
        contents.iter().rposition(|content| list(content, "/parts").iter().any(|part| part.get("text").is_some()));
    let mut before: Option<&Value> = None;
    for (place, content) in contents.iter().enumerate() {
        let parts = list(content, "/parts");
        if parts.is_empty() || !matches!(text(content, "role"), "user" | "model") {
            return Some("Please use a valid role: user, model.".to_owned());
        }
        let complaint = parts.iter().find_map(part_complaint).or_else(|| turn_complaint(content, before));
        if complaint.is_some() {
            return complaint;
        }
        let first = parts.iter().find(|part| part.get("functionCall").is_some());
        if Some(place) > question && first.is_some_and(|call| text(call, "thoughtSignature").is_empty()) {
            return Some("Function call is missing a thought_signature in functionCall parts.".to_owned());
        }
        before = Some(content);
    }
    None
}

fn named<'a>(content: Option<&'a Value>, kind: &str) -> Vec<(&'a str, &'a str)> {
    let parts = content.map(|content| list(content, "/parts")).unwrap_or_default();
    parts.iter().filter_map(|part| part.get(kind)).map(|call| (text(call, "name"), text(call, "id"))).collect()
}

/// Returns the complaint about calls that do not follow the user, or that are not answered at once, all of them and in
/// their order.
fn turn_complaint(content: &Value, before: Option<&Value>) -> Option<String> {
    let is_user = |content: &Value| text(content, "role") == "user";
    if !named(Some(content), "functionCall").is_empty() && !before.is_some_and(is_user) {
        return Some("Please ensure that function call turn comes immediately after a user turn.".to_owned());
    }
    let equal = named(before, "functionCall") == named(Some(content), "functionResponse");
    let uneven =
        "Please ensure that the number of function response parts is equal to the number of function call parts";
    (!equal).then(|| format!("{uneven} of the function call turn."))
}
