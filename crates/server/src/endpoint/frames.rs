//! `schemas/frames.json`, made from the types of frames: core's, those of the
//! socket itself and what clients send. The frames of events are components of
//! `openapi.json` as well.

use consort_core::frame::schema::{add, definitions, variants};
use serde_json::{Map, Value, json};

use super::document::written;
use crate::ws::answer::Answer;
use crate::ws::{sent_shapes, told_shapes};

/// The description of the file, in a few sentences.
const ABOUT: &str = "What goes over `/ws`, and as server-sent events. `server.*` are sent by the server, `client.*` \
    to it. Unknown fields may be added.";
/// The beginning of the names of frames that the server sends.
const SERVER: &str = "server.";

/// Returns the text of the file.
pub(crate) fn frames() -> String {
    let mut all = definitions();
    for (kind, frame) in variants::<Answer>() {
        add(&mut all, &format!("{SERVER}{kind}"), frame);
    }
    for (kind, shape) in told_shapes() {
        add(&mut all, &format!("{SERVER}{kind}"), typed(kind, shape));
    }
    for (kind, shape) in sent_shapes() {
        add(&mut all, &format!("client.{kind}"), typed(kind, shape));
    }
    let mut defined = Map::new();
    defined.insert("ServerFrame".to_owned(), any_of("A frame of the server.", &all, SERVER));
    defined.insert("ClientFrame".to_owned(), any_of("A frame of a client.", &all, "client."));
    defined.extend(all);
    let file = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Frames of Consort",
        "description": ABOUT, "anyOf": [reference("ServerFrame"), reference("ClientFrame")], "$defs": defined });
    written(&file, 0) + "\n"
}

/// Returns the frames of events as components, and `Frame`, which is any of them.
pub(super) fn components(place: &str) -> Map<String, Value> {
    let mut components = Map::new();
    let mut mapping = Map::new();
    for (name, mut schema) in definitions() {
        point_to(&mut schema, place);
        let name = match name.strip_prefix(SERVER) {
            Some(kind) => {
                let component = format!("{}Frame", pascal(kind));
                mapping.insert(kind.to_owned(), format!("#{place}/{component}").into());
                component
            }
            None => name,
        };
        components.insert(name, schema);
    }
    let each: Vec<Value> = mapping.values().map(|name| json!({ "$ref": name })).collect();
    let frame = json!({ "description": "A frame of an event, or of something under way; `type` says which.",
        "oneOf": each, "discriminator": { "propertyName": "type", "mapping": mapping } });
    components.insert("Frame".to_owned(), frame);
    components
}

/// Refers to components instead of definitions.
fn point_to(schema: &mut Value, place: &str) {
    match schema {
        Value::Array(parts) => parts.iter_mut().for_each(|part| point_to(part, place)),
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get_mut("$ref") {
                *target = target.replace("#/$defs", &format!("#{place}"));
            }
            fields.values_mut().for_each(|part| point_to(part, place));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns a word in Pascal case: `task_started` is `TaskStarted`.
fn pascal(kind: &str) -> String {
    let word = |word: &str| word.get(..1).unwrap_or_default().to_uppercase() + word.get(1..).unwrap_or_default();
    kind.split('_').map(word).collect()
}

/// Returns a frame of this type.
fn typed(kind: &str, mut shape: Value) -> Value {
    let Value::Object(fields) = &mut shape else { return shape };
    let mut properties = Map::from_iter([("type".to_owned(), json!({ "const": kind }))]);
    let mut required = vec![Value::from("type")];
    if let Some(Value::Object(own)) = fields.shift_remove("properties") {
        properties.extend(own);
    }
    if let Some(Value::Array(own)) = fields.shift_remove("required") {
        required.extend(own);
    }
    fields.insert("required".to_owned(), required.into());
    fields.insert("properties".to_owned(), properties.into());
    shape
}

fn any_of(description: &str, all: &Map<String, Value>, side: &str) -> Value {
    let each: Vec<Value> = all.keys().filter(|name| name.starts_with(side)).map(|name| reference(name)).collect();
    json!({ "description": description, "anyOf": each })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}
