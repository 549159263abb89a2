//! The JSON schemas of frames, made from their types: the definitions of
//! `schemas/frames.json`, from which clients make types of their own.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::projections::frame::chat::ChatFrame;
use crate::projections::frame::live::LiveFrame;
use crate::projections::frame::numbered::{ChatEvent, RunEvent};
use crate::projections::frame::run::Frame;
use crate::projections::view::ResultFrame;
use consort_spec::choice::WORDS;

/// Marks a field that is written as `null`, although it may be left out too.
pub(super) const NULLABLE: &str = "nullable";
/// Frames of events that have a frame of another type in a chat.
const RUNS_ONLY: [&str; 6] =
    ["run_accepted", "run_adopted", "run_forked", "ensemble_started", "ensemble_completed", "tool_called"];

/// Returns the schemas of the frames that core makes, by their names (`server.<type>`), and of the fields that all
/// frames of events have in common.
pub fn definitions() -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("RunEvent".to_owned(), of::<RunEvent>());
    all.insert("ChatEvent".to_owned(), of::<ChatEvent>());
    let event = json!({ "description": "A stored frame: of a run, or of a turn of a chat.",
        "anyOf": [reference("RunEvent"), reference("ChatEvent")] });
    all.insert("Event".to_owned(), event);
    let chat = variants::<ChatFrame>();
    let in_chats = |kind: &str| !RUNS_ONLY.contains(&kind) && chat.iter().all(|(own, _)| own != kind);
    for (kind, frame) in variants::<Frame>() {
        let place = if in_chats(&kind) { "Event" } else { "RunEvent" };
        add(&mut all, &format!("server.{kind}"), placed(place, frame));
    }
    for (kind, frame) in chat {
        add(&mut all, &format!("server.{kind}"), placed("ChatEvent", frame));
    }
    for (kind, frame) in variants::<LiveFrame>().into_iter().chain(variants::<ResultFrame>()) {
        add(&mut all, &format!("server.{kind}"), frame);
    }
    all
}

/// Adds a shape of a type of frames; a few types have more than one.
pub fn add(all: &mut Map<String, Value>, name: &str, frame: Value) {
    match all.get_mut(name) {
        None => {
            all.insert(name.to_owned(), frame);
        }
        Some(known) => {
            let shapes = known.as_object_mut().and_then(|known| known.get_mut("anyOf")?.as_array_mut());
            match shapes {
                Some(shapes) => shapes.push(frame),
                None => *known = json!({ "anyOf": [known.take(), frame] }),
            }
        }
    }
}

/// Returns the schemas of a tagged enum's variants, by their tags.
pub fn variants<T: JsonSchema>() -> Vec<(String, Value)> {
    let schema = of::<T>();
    let each = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    // A variant without a tag stands for frames that are described elsewhere.
    each.filter_map(|frame| Some((frame.pointer("/properties/type/const")?.as_str()?.to_owned(), frame.clone())))
        .collect()
}

/// Returns the schema of a type as it is written, whole and without references.
pub fn of<T: JsonSchema>() -> Value {
    let mut schema = whole::<T>(SchemaSettings::draft2020_12().for_serialize());
    simplify(&mut schema, Writer::Server);
    schema
}

/// Returns the schema of a type as it is read from clients, whole and without references.
pub fn sent<T: JsonSchema>() -> Value {
    let mut schema = whole::<T>(SchemaSettings::draft2020_12().for_deserialize());
    simplify(&mut schema, Writer::Client);
    schema
}

fn whole<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    Schema::to_value(settings.into_generator().into_root_schema_for::<T>())
}

/// The side that writes a frame. A client may write `null` for an absent field; the server omits the field instead,
/// unless the field is marked with [`NULLABLE`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Client,
    Server,
}

/// Adds the fields that all frames of this kind have.
fn placed(place: &str, mut frame: Value) -> Value {
    let description = frame.as_object_mut().and_then(|frame| frame.shift_remove("description"));
    json!({ "description": description, "allOf": [reference(place), frame] })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Leaves out everything that says nothing to a reader of JSON.
fn simplify(schema: &mut Value, writer: Writer) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Value::Object(fields) = schema else { return };
    for name in ["$schema", "title", "default", NULLABLE] {
        fields.shift_remove(name);
    }
    // The width of a number is not seen in JSON.
    if fields.get("format").is_some_and(|format| format != "date-time") {
        fields.shift_remove("format");
    }
    if fields.contains_key("const") {
        fields.shift_remove("type");
    }
    if let Some(choice) = fields.shift_remove("oneOf") {
        fields.extend(simplified(choice));
    }
    if let Some(Value::Array(words)) = fields.shift_remove(WORDS) {
        explain(fields, &words);
    }
    if writer == Writer::Server {
        drop_nulls(fields);
    }
    for (name, field) in fields.iter_mut() {
        match (name.as_str(), field) {
            ("properties", Value::Object(each)) => each.values_mut().for_each(|each| simplify(each, writer)),
            ("items" | "additionalProperties", field) => simplify(field, writer),
            ("anyOf" | "allOf", Value::Array(each)) => each.iter_mut().for_each(|each| simplify(each, writer)),
            _ => {}
        }
    }
}

/// Lists the words that a field takes.
fn explain(fields: &mut Map<String, Value>, words: &[Value]) {
    let listed = words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    let before = fields.get("description").and_then(Value::as_str).map(|text| format!("{text} ")).unwrap_or_default();
    fields.insert("description".to_owned(), format!("{before}One of {listed}, in any case.").into());
}

/// Simplifies a choice: one between words becomes an `enum`.
fn simplified(choice: Value) -> Map<String, Value> {
    let each = choice.as_array().into_iter().flatten();
    let words: Option<Vec<Value>> = each.map(|each| each.get("const").cloned()).collect();
    match words {
        Some(words) => Map::from_iter([("type".to_owned(), "string".into()), ("enum".to_owned(), words.into())]),
        None => Map::from_iter([("anyOf".to_owned(), choice)]),
    }
}

/// Removes `null` from fields that may be left out: instead of being null they are absent.
fn drop_nulls(object: &mut Map<String, Value>) {
    let required: Vec<String> =
        object.get("required").and_then(|names| serde_json::from_value(names.clone()).ok()).unwrap_or_default();
    let fields = object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    for (_, field) in fields.filter(|(name, field)| !required.contains(name) && field.get(NULLABLE).is_none()) {
        let Value::Object(field) = field else { continue };
        if let Some(Value::Array(types)) = field.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                field.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(choice)) = field.get_mut("anyOf") {
            choice.retain(|each| each.get("type").is_none_or(|kind| kind != "null"));
            if let [Value::Object(only)] = choice.as_slice() {
                let mut only = only.clone();
                field.shift_remove("anyOf");
                only.extend(std::mem::take(field));
                *field = only;
            }
        }
    }
}
