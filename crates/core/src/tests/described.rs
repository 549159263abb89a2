//! Checks that every frame made in any of these tests fits `schemas/frames.json`.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::projections::frame::numbered::EventFrame;

/// The number of frames of one type that are checked: there are thousands of histories, and their frames
/// repeat.
const LOOKS_MAX: usize = 500;

static FRAMES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../schemas/frames.json")).unwrap());
static SEEN: LazyLock<Mutex<HashMap<String, Seen>>> = LazyLock::new(Mutex::default);

/// A type of frames.
struct Seen {
    validator: Arc<Validator>,
    times: usize,
}

/// Checks a frame against the schema of its type.
pub(super) fn check(text: &str) {
    let frame: Value = serde_json::from_str(text).unwrap();
    let typed: EventFrame = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(typed.text(), text, "a frame that is read is the frame that was written");
    let Some(validator) = next(frame["type"].as_str().unwrap()) else { return };
    let wrong: Vec<String> =
        validator.iter_errors(&frame).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{}\n{frame:#}", wrong.join("\n"));
}

/// Returns the schema for the next frame of a type, unless enough were checked.
fn next(kind: &str) -> Option<Arc<Validator>> {
    let mut seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let kind = seen.entry(kind.to_owned()).or_insert_with(|| Seen { validator: compiled(kind).into(), times: 0 });
    kind.times += 1;
    (kind.times <= LOOKS_MAX).then(|| kind.validator.clone())
}

fn compiled(kind: &str) -> Validator {
    let name = format!("server.{kind}");
    assert!(FRAMES["$defs"].get(&name).is_some(), "nobody described frames of the type {kind}");
    let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": FRAMES["$defs"], "unevaluatedProperties": false });
    jsonschema::validator_for(&schema).unwrap()
}

/// Returns a frame as clients read it.
pub(super) fn json(frame: &EventFrame) -> Value {
    let json: Value = serde_json::from_str(&frame.text()).unwrap();
    assert_eq!(json, frame.json());
    assert_eq!(frame.json().to_string(), frame.text(), "in the same order");
    json
}
