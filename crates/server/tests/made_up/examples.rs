//! Good examples of everything that can be sent, made of the description of the API: a
//! new route or frame is among them without being named here.

use serde_json::{Map, Value, json};

/// The largest depth of an example; deeper parts are left out.
const DEPTH_MAX: usize = 8;
/// It ends the server, as it should.
const ENDS: &str = "/api/lifecycle/drain";

/// Returns each route that takes a body, with ids in its path, and a body for it.
pub(super) fn bodies(run: &str, thread: &str) -> Vec<(String, String)> {
    let api = described(include_str!("../../../../openapi.json"));
    let with_body = operations(&api).into_iter().filter(|(_, path, _)| *path != ENDS);
    let bodies = with_body.filter_map(|(method, path, operation)| {
        let schema = operation.pointer("/requestBody/content/application~1json/schema")?;
        let body = example(schema, &api, 0).unwrap_or_default();
        Some((format!("{} {}", method.to_uppercase(), named(path, run, thread)), body.to_string()))
    });
    bodies.collect()
}

/// Returns each path that can be read, with its whole query.
pub(super) fn queries(run: &str, thread: &str) -> Vec<String> {
    let api = described(include_str!("../../../../openapi.json"));
    let read = operations(&api).into_iter().filter(|(method, _, _)| *method == "get");
    let queries = read.map(|(_, path, operation)| {
        let pairs = parameters(operation, &api, "query").into_iter().map(|(name, value)| format!("{name}={value}"));
        let pairs = pairs.collect::<Vec<_>>().join("&");
        let path = named(path, run, thread);
        if pairs.is_empty() { path } else { format!("{path}?{pairs}") }
    });
    queries.collect()
}

/// Returns each header that any route takes.
pub(super) fn headers() -> Vec<String> {
    let api = described(include_str!("../../../../openapi.json"));
    let operations = operations(&api);
    let headers = operations.iter().flat_map(|(_, _, operation)| parameters(operation, &api, "header"));
    let mut headers: Vec<String> = headers.map(|(name, value)| format!("{name}: {value}")).collect();
    headers.sort();
    headers.dedup();
    headers
}

/// Returns each frame that a client can send.
pub(super) fn frames() -> Vec<String> {
    let frames = described(include_str!("../../../../schemas/frames.json"));
    let all = frames["$defs"].as_object().unwrap().iter();
    let sent = all.filter(|(name, _)| name.starts_with("client."));
    sent.filter_map(|(_, schema)| Some(example(schema, &frames, 0)?.to_string())).collect()
}

fn described(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns every operation: its method, its path and its description.
fn operations(api: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = api["paths"].as_object().unwrap().iter();
    let methods = paths.flat_map(|(path, item)| item.as_object().unwrap().iter().map(move |(m, o)| (m, path, o)));
    methods.map(|(method, path, operation)| (method.as_str(), path.as_str(), operation)).collect()
}

/// Puts ids into a path.
fn named(path: &str, run: &str, thread: &str) -> String {
    let id = match path {
        path if path.starts_with("/api/runs/") => run,
        path if path.starts_with("/api/threads/") => thread,
        _ => "none",
    };
    let parts = path.split('/').map(|part| match part {
        "{id}" => id,
        part if part.starts_with('{') => "none",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Returns the parameters of an operation that stand in this place.
fn parameters(operation: &Value, api: &Value, place: &str) -> Vec<(String, String)> {
    let all = operation["parameters"].as_array().into_iter().flatten().map(|parameter| resolved(parameter, api));
    let wanted = all.filter(|parameter| parameter["in"] == place);
    let pair = |parameter: &Value| {
        let value = match example(&parameter["schema"], api, 0)? {
            Value::String(text) => text,
            Value::Array(items) => items.first()?.as_str().unwrap_or("x").to_owned(),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => other.to_string(),
        };
        Some((parameter["name"].as_str()?.to_owned(), value))
    };
    wanted.filter_map(pair).collect()
}

/// Follows a reference.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let place = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
    place.and_then(|place| root.pointer(place)).unwrap_or(schema)
}

/// Returns a value that fits a schema, as far as schemas here go.
fn example(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    if depth > DEPTH_MAX {
        return None;
    }
    let schema = resolved(schema, root);
    let given = [&schema["const"], &schema["enum"][0], &schema["examples"][0], &schema["default"]];
    if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
        return Some(given.clone());
    }
    for either in ["anyOf", "oneOf"] {
        let mut some = schema[either].as_array().into_iter().flatten();
        if let Some(one) = some.find(|one| one["type"] != "null") {
            return example(one, root, depth + 1);
        }
    }
    let all = schema["allOf"].as_array().into_iter().flatten();
    let mut fields: Map<String, Value> = Map::new();
    for part in all.filter_map(|part| example(part, root, depth + 1)) {
        fields.extend(part.as_object().cloned().unwrap_or_default());
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        fields.extend(example(field, root, depth + 1).map(|value| (name.clone(), value)));
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"].as_array()?.iter().find_map(Value::as_str));
    match kind {
        _ if !fields.is_empty() => Some(Value::Object(fields)),
        Some("object") => {
            let other = &schema["additionalProperties"];
            Some(example(other, root, depth + 1).filter(|_| other.is_object()).map_or(json!({}), |x| json!({ "a": x })))
        }
        Some("array") => Some(Value::Array(example(&schema["items"], root, depth + 1).into_iter().collect())),
        Some("integer" | "number") => Some(schema.get("minimum").cloned().unwrap_or(json!(1))),
        Some("boolean") => Some(json!(true)),
        Some("string") => Some(json!("x")),
        Some(_) | None => Some(json!("x")),
    }
}
