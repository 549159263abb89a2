//! Every answer and every frame this client gets, in any test, is held against
//! `openapi.json` and `schemas/frames.json`: a status, a field or a type nobody
//! described fails the test that saw it. With `CONSORT_EXAMPLES` set to a
//! folder, answers are kept there (see `scripts/examples`).

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::Answer;

/// Bytes of an example at most.
const EXAMPLE_MAX: usize = 2_500;

static OPENAPI: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../openapi.json")).unwrap());
static FRAMES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../schemas/frames.json")).unwrap());
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Codes any operation may answer with: the request or the server is not as it should be.
const ANYWHERE: [&str; 14] = [
    "BAD_REQUEST",
    "UNAUTHORIZED",
    "FORBIDDEN",
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "REQUEST_TIMEOUT",
    "PAYLOAD_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "IDEMPOTENCY_CONFLICT",
    "OUTCOME_UNKNOWN",
    "STORAGE_DAMAGED",
    "STORAGE_UNAVAILABLE",
    "STARTING",
    "DRAINING",
];

/// An operation, with how its path is written in the description.
struct Operation {
    method: String,
    path: &'static str,
    described: &'static Value,
}

/// Holds an answer against the description of what was asked.
pub(crate) fn check_answer(head: &str, sent: &[u8], answer: &Answer) {
    let Some(operation) = operation(head) else {
        // Everything else is a page of the web UI.
        assert!(
            answer.status >= 400 || !(head.contains(" /api/") || head.contains(" /v1/")) || head.starts_with("OPTIONS"),
            "nobody described {head}: {answer:?}"
        );
        return;
    };
    let kind = answer.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
    if kind.is_empty() && answer.status >= 400 {
        // What is no request at all is answered before there is a route.
        return;
    }
    let (status, response) = response(&operation, answer.status);
    for name in response["headers"].as_object().into_iter().flat_map(|headers| headers.keys()) {
        assert!(answer.header(name).is_some(), "{head}: {status} without {name}: {answer:?}");
    }
    let Some(contents) = response["content"].as_object() else {
        assert!(answer.body.is_empty() || answer.status == 101, "{head}: a body nobody described: {answer:?}");
        return;
    };
    let range = format!("{}/*", kind.split('/').next().unwrap_or_default());
    let content = contents
        .get(kind)
        .or_else(|| contents.get(&range))
        .unwrap_or_else(|| panic!("{head}: {status} is described without {kind:?}"));
    match kind {
        "text/event-stream" if ["/v1/", "/mcp", "/a2a"].iter().any(|path| operation.path.starts_with(path)) => {
            chunks(&answer.body);
        }
        "text/event-stream" => events(&answer.body),
        // A file is served as it was sent, whatever it is.
        "application/json" if operation.path == "/api/attachments/{id}" && answer.status == 200 => {}
        "application/json" | "application/problem+json" => {
            assert_fits(&OPENAPI, &content["schema"], &answer.json(), head);
            check_code(&operation, &status, answer);
            record(&operation, &status, answer);
        }
        _ => {}
    }
    // Over JSON-RPC what is refused is answered with 200 too.
    if answer.status < 300 && operation.path != "/a2a" && !matches!(sent, b"" | b"{}") {
        let typed = head.lines().find_map(|line| line.strip_prefix("Content-Type: ")).unwrap_or("application/json");
        let kind = typed.split(';').next().unwrap();
        let contents = &operation.described["requestBody"]["content"];
        let range = format!("{}/*", kind.split('/').next().unwrap());
        let body = &contents.get(kind).unwrap_or(&contents[range.as_str()])["schema"];
        if body["format"] == "binary" {
            return;
        }
        assert!(body.is_object(), "{head}: a body was taken that nobody described");
        assert_fits(&OPENAPI, body, &serde_json::from_slice(sent).unwrap(), head);
    }
}

/// Holds the code of a problem against those the operation names for its status.
fn check_code(operation: &Operation, status: &str, answer: &Answer) {
    let body = answer.json();
    let (Some(code), Some(named)) =
        (body["error"].as_str(), operation.described["responses"][status]["description"].as_str())
    else {
        return;
    };
    let is_named = answer.status < 400 || named.contains(&format!("`{code}`")) || ANYWHERE.contains(&code);
    assert!(is_named, "{} {}: {status} is described with {named}, not {code}", operation.method, operation.path);
}

/// Holds a frame of the server against the description of its type.
pub(crate) fn check_frame(frame: &Value) {
    let kind = frame["type"].as_str().unwrap_or_else(|| panic!("a frame without a type: {frame}"));
    let name = format!("server.{kind}");
    assert!(FRAMES["$defs"].get(&name).is_some(), "nobody described the frame {frame}");
    assert_fits(&FRAMES, &json!({ "$ref": format!("#/$defs/{name}"), "unevaluatedProperties": false }), frame, kind);
    frame["snapshotTrace"].as_array().into_iter().flatten().for_each(check_frame);
}

fn events(body: &str) {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.for_each(|text| check_frame(&serde_json::from_str(text).unwrap()));
}

/// Events of a protocol of others, which are described by them.
fn chunks(body: &str) {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.for_each(|text| assert!(serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()), "{text}"));
}

fn operation(head: &str) -> Option<Operation> {
    let mut words = head.split(' ');
    let method = words.next()?.to_lowercase();
    let path = words.next()?.split('?').next()?;
    let paths = OPENAPI["paths"].as_object().unwrap();
    let exact = paths.get_key_value(path);
    let (path, methods) = exact.or_else(|| paths.iter().find(|(described, _)| leads_to(described, path)))?;
    Some(Operation { described: methods.get(&method)?, path, method })
}

/// Returns whether a described path, with its variables, is this one.
fn leads_to(described: &str, path: &str) -> bool {
    let one: Vec<&str> = described.split('/').collect();
    let other: Vec<&str> = path.split('/').collect();
    one.len() == other.len() && one.iter().zip(&other).all(|(one, other)| one.starts_with('{') || one == other)
}

/// Returns the description of a status, or that of its class.
fn response(operation: &Operation, status: u16) -> (String, &'static Value) {
    let responses = operation.described["responses"].as_object().unwrap();
    let names = [status.to_string(), format!("{}XX", status / 100)];
    let found = names.into_iter().find_map(|name| responses.get(&name).map(|response| (name, response)));
    let (name, response) =
        found.unwrap_or_else(|| panic!("{} {} is not described with {status}", operation.method, operation.path));
    match response["$ref"].as_str() {
        Some(place) => (name, OPENAPI.pointer(place.trim_start_matches('#')).unwrap()),
        None => (name, response),
    }
}

fn assert_fits(document: &Value, schema: &Value, value: &Value, about: &str) {
    let validator = validator(document, schema);
    let wrong: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(wrong.is_empty(), "{about} does not fit {schema}:\n{}\n{value:#}", wrong.join("\n"));
}

/// Returns the validator of a schema, with the definitions that it refers to.
fn validator(document: &Value, schema: &Value) -> Arc<Validator> {
    let mut validators = VALIDATORS.lock().unwrap();
    let known = validators.entry(schema.to_string());
    let compile = || {
        let mut whole = schema.clone();
        for part in ["components", "$defs"] {
            whole.as_object_mut().unwrap().extend(document.get(part).map(|defined| (part.to_owned(), defined.clone())));
        }
        Arc::new(jsonschema::validator_for(&whole).unwrap())
    };
    known.or_insert_with(compile).clone()
}

/// Keeps an answer for the description, unless a better one is there.
fn record(operation: &Operation, status: &str, answer: &Answer) {
    let Ok(folder) = std::env::var("CONSORT_EXAMPLES") else { return };
    let name = format!("{}{}-{status}.json", operation.method, operation.path.replace('/', "+"));
    let file = Path::new(&folder).join(name);
    let kept = std::fs::read_to_string(&file).map_or(0, |text| text.len());
    let Operation { method, path, .. } = operation;
    let text = json!({ "method": method, "path": path, "status": status, "body": answer.json() }).to_string();
    if answer.status < 300 && answer.body.len() <= EXAMPLE_MAX && text.len() > kept {
        std::fs::write(file, text).unwrap();
    }
}

#[test]
fn examples_fit_what_they_are_examples_of() {
    let mut examples = 0;
    for (path, methods) in OPENAPI["paths"].as_object().unwrap() {
        for response in methods.as_object().unwrap().values().flat_map(|one| one["responses"].as_object().unwrap()) {
            for content in response.1["content"].as_object().into_iter().flat_map(|contents| contents.values()) {
                if let Some(example) = content.get("example") {
                    examples += 1;
                    assert_fits(&OPENAPI, &content["schema"], example, path);
                }
            }
        }
    }
    assert!(examples > 20, "only {examples} answers have an example: run scripts/examples");
}
