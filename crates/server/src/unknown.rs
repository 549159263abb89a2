//! Unknown fields of requests: whatever the schema of a body does not have is named in `warnings` of the answer, for
//! every endpoint and frame alike. What is sent is still accepted, as if the field were absent.

use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use axum::body::{self, Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, WARNING};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use consort_core::unknown::{UNKNOWN_MAX, ignored};
use serde_json::Value;
use tokio::time::timeout;

use crate::body::is_json;
use consort_inbound::problem::Problem;

/// The field of answers that names what was ignored.
const WARNINGS: &str = "warnings";
/// Bytes of a body that is looked at although none is taken; a larger one is no mistake in a request.
const UNASKED_MAX: u64 = 4 * 1024;
/// The time within which such a body must arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// The fields that a request may have, from the schema of its type.
#[derive(Debug)]
pub(crate) struct Expected(LazyLock<Value>);

/// The properties of an object, and the schema of those that have any name.
#[derive(Default)]
struct Properties<'a> {
    named: Vec<(&'a str, &'a Value)>,
    other: Option<&'a Value>,
    /// Whether anything is allowed.
    is_open: bool,
}

impl Expected {
    /// Creates it from a schema without references, which is made when it is needed first.
    pub(crate) const fn new(schema: fn() -> Value) -> Expected {
        Expected(LazyLock::new(schema))
    }

    /// Returns a warning for each field that is not described, except for these names of the object itself.
    pub(crate) fn unknown(&self, sent: &Value, except: &[&str]) -> Vec<String> {
        let mut warnings = Vec::new();
        let fields = sent.as_object().into_iter().flatten().filter(|(name, _)| !except.contains(&name.as_str()));
        compare_fields(&[&self.0], fields, "", &mut warnings);
        warnings
    }
}

/// Adds a warning for each field that none of the schemas has.
fn compare(schemas: &[&Value], sent: &Value, place: &str, warnings: &mut Vec<String>) {
    match sent {
        Value::Object(fields) => compare_fields(schemas, fields.iter(), place, warnings),
        Value::Array(items) => {
            let schemas: Vec<&Value> = parts(schemas).into_iter().filter_map(|schema| schema.get("items")).collect();
            if !schemas.is_empty() {
                let each = items.iter().enumerate();
                each.for_each(|(index, item)| compare(&schemas, item, &format!("{place}[{index}]"), warnings));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn compare_fields<'a>(
    schemas: &[&Value],
    fields: impl Iterator<Item = (&'a String, &'a Value)>,
    place: &str,
    warnings: &mut Vec<String>,
) {
    let Properties { named, other, is_open } = properties(schemas);
    for (name, value) in fields {
        if warnings.len() >= UNKNOWN_MAX {
            return;
        }
        let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        let described = named.iter().filter(|(known, _)| known == name).map(|(_, schema)| *schema);
        let described: Vec<&Value> = described.chain(other).collect();
        match described.as_slice() {
            [] if is_open => {}
            [] => warnings.push(ignored(&place, name, named.iter().map(|(known, _)| *known))),
            schemas => compare(schemas, value, &place, warnings),
        }
    }
}

/// Returns the schemas, and those that they are made of.
fn parts<'a>(schemas: &[&'a Value]) -> Vec<&'a Value> {
    let mut all = schemas.to_vec();
    let mut next = 0;
    while let Some(schema) = all.get(next).copied() {
        let choices = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)?.as_array());
        all.extend(choices.flatten());
        next += 1;
    }
    all
}

/// Returns the properties that an object of these schemas may have.
fn properties<'a>(schemas: &[&'a Value]) -> Properties<'a> {
    let mut all = Properties::default();
    for schema in parts(schemas) {
        let Some(fields) = schema.as_object() else {
            all.is_open |= *schema == Value::Bool(true);
            continue;
        };
        let named = fields.get("properties").and_then(Value::as_object);
        let new = named.into_iter().flatten().filter(|(name, _)| all.named.iter().all(|(known, _)| known != name));
        let new: Vec<(&str, &Value)> = new.map(|(name, schema)| (name.as_str(), schema)).collect();
        all.named.extend(new);
        let other = fields.get("additionalProperties").filter(|other| other.is_object());
        all.other = all.other.or(other);
        // A schema that says nothing of properties allows any, unless it is no object or a choice of others.
        let is_object = fields.get("type").is_none_or(|kind| {
            *kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
        });
        let says = ["properties", "allOf", "anyOf", "oneOf", "required"].iter().any(|name| fields.contains_key(*name));
        all.is_open |= is_object && !says && other.is_none();
    }
    all
}

/// The warnings about one request, which its reader notes and its answer carries.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    expected: Arc<Expected>,
    warnings: Arc<OnceLock<Vec<String>>>,
}

impl Noted {
    /// Notes the fields of a body that are unknown.
    pub(crate) fn note(&self, sent: &Value) {
        // A body is read once.
        let _again = self.warnings.set(self.expected.unknown(sent, &[]));
    }
}

/// Answers with warnings about the fields of the request that are unknown.
pub(crate) async fn warn(State(expected): State<Arc<Expected>>, mut request: Request, next: Next) -> Response {
    let warnings = Arc::default();
    request.extensions_mut().insert(Noted { expected, warnings: Arc::clone(&warnings) });
    let response = next.run(request).await;
    match warnings.get() {
        Some(warnings) if !warnings.is_empty() => with(response, warnings).await,
        Some(_) | None => response,
    }
}

/// Answers a request that takes no body with warnings about the fields of one that was sent all the same.
pub(crate) async fn warn_of_body(request: Request, next: Next) -> Response {
    let size = request.body().size_hint().exact();
    if !size.is_some_and(|size| (1..=UNASKED_MAX).contains(&size)) {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let read = timeout(PATIENCE, body::to_bytes(body, usize::MAX)).await;
    let sent = read.ok().and_then(Result::ok).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let names = sent.as_ref().and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name);
    let warnings: Vec<String> = names.take(UNKNOWN_MAX).map(|name| ignored(name, name, [])).collect();
    let response = next.run(Request::from_parts(head, Body::empty())).await;
    if warnings.is_empty() { response } else { with(response, &warnings).await }
}

/// Adds warnings to an answer: to its object, or else, where it has none, as a header.
async fn with(response: Response, warnings: &[String]) -> Response {
    let (mut head, body) = response.into_parts();
    // A problem is written later.
    if let Some(problem) = head.extensions.get_mut::<Problem>() {
        problem.warn(warnings);
        return Response::from_parts(head, body);
    }
    if !is_json(&head.headers) {
        head.headers.extend(headers(warnings));
        return Response::from_parts(head, body);
    }
    // The body was made here and is in memory.
    let bytes = body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(&bytes) else {
        head.headers.extend(headers(warnings));
        return Response::from_parts(head, Body::from(bytes));
    };
    let noted = fields.entry(WARNINGS).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(noted) = noted {
        noted.extend(warnings.iter().map(|warning| Value::from(warning.as_str())));
    }
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, Body::from(Value::from(fields).to_string()))
}

/// Returns warnings as headers, in the form of RFC 7234, for answers that have no object.
pub(crate) fn headers(warnings: &[String]) -> HeaderMap {
    let header = |warning: &String| {
        let quoted = warning.replace(['"', '\\'], "'");
        let plain: String = quoted.chars().map(|sign| if (' '..='~').contains(&sign) { sign } else { '?' }).collect();
        HeaderValue::from_str(&format!("299 - \"{plain}\"")).ok().map(|value| (WARNING, value))
    };
    warnings.iter().filter_map(header).fold(HeaderMap::new(), |mut headers, (name, value)| {
        headers.append(name, value);
        headers
    })
}

#[cfg(test)]
mod tests {
    use consort_core::frame::schema::sent;
    use consort_core::request::shape::RunRequest;
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_at_any_depth_are_compared_with_the_schema_and_maps_take_any_name() {
        let expected = Expected::new(sent::<RunRequest>);
        let sent = json!({ "inputs": { "any": { "thing": 1 } }, "tags": { "any": "thing" },
            "tasks": [{ "description": "x", "outputSchema": { "type": "object" }, "modle": 1,
                "modelOptions": { "temprature": 1 } }],
            "taskOverrides": { "any": { "tools": { "drop": [] } } }, "dryRn": true });
        let warnings = expected.unknown(&sent, &[]);
        let expected = [
            "unknown field `tasks[0].modle` was ignored; did you mean `model`? Allowed",
            "unknown field `tasks[0].modelOptions.temprature` was ignored; did you mean `temperature`? Allowed",
            "unknown field `taskOverrides.any.tools.drop` was ignored; allowed are add, remove",
            "unknown field `dryRn` was ignored; did you mean `dryRun`? Allowed",
        ];
        assert_eq!(warnings.len(), expected.len(), "{warnings:#?}");
        for (warning, expected) in warnings.iter().zip(expected) {
            assert!(warning.starts_with(expected), "{warning}");
        }
    }

    #[test]
    fn a_schema_of_anything_has_no_unknown_fields() {
        for schema in [|| json!(true), || json!({}), || json!({ "type": "object" })] {
            assert_eq!(Expected::new(schema).unknown(&json!({ "a": { "b": 1 } }), &[]), [""; 0]);
        }
        let none = Expected::new(|| json!({ "type": "object", "properties": {} }));
        assert_eq!(
            none.unknown(&json!({ "a": 1, "b": 1 }), &["b"]),
            ["unknown field `a` was ignored: no field is allowed"]
        );
    }
}
