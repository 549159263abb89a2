//! Values between JSON and the expression language.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cel::ExecutionError;
use cel::objects::{Key, Map};
use serde_json::{Number, Value, json};

use super::Values;
use crate::text::cut;

/// The number of characters of an error of the evaluation that is shown: it may quote values.
const REASON_CHARS_MAX: usize = 300;
/// The number of characters of one value in it.
const VALUE_CHARS_MAX: usize = 60;

/// Returns the variables of an evaluation.
pub(super) fn variables(values: &Values<'_>) -> BTreeMap<&'static str, Value> {
    if let Some((body, headers)) = values.delivery {
        return BTreeMap::from([("body", body.clone()), ("headers", headers.clone())]);
    }
    let mut known = BTreeMap::from([("outputs", json!(values.outputs)), ("inputs", json!(values.inputs))]);
    if let Some((item, index)) = values.item {
        known.extend([("item", item.clone()), ("index", json!(index))]);
    }
    known.extend(values.round.map(|round| ("round", json!(round))));
    known
}

/// Returns a JSON value as the language has it. Whole numbers are `int` wherever they fit, so that they can
/// be added to those that are written in an expression.
pub(super) fn to_cel(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(flag) => cel::Value::Bool(*flag),
        Value::Number(number) => {
            let whole = number.as_i64().map(cel::Value::Int).or_else(|| number.as_u64().map(cel::Value::UInt));
            whole.unwrap_or_else(|| cel::Value::Float(number.as_f64().unwrap_or_default()))
        }
        Value::String(text) => cel::Value::String(Arc::new(text.clone())),
        Value::Array(items) => cel::Value::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Object(fields) => {
            let entry = |(name, value): (&String, &Value)| (Key::String(Arc::new(name.clone())), to_cel(value));
            cel::Value::Map(Map { map: Arc::new(fields.iter().map(entry).collect::<HashMap<Key, cel::Value>>()) })
        }
    }
}

/// Returns a value of the language as JSON; not all of them have a form in it.
pub(super) fn to_json(value: &cel::Value) -> Result<Value, String> {
    match value {
        cel::Value::Null => Ok(Value::Null),
        cel::Value::Bool(flag) => Ok(Value::Bool(*flag)),
        cel::Value::Int(number) => Ok(json!(number)),
        cel::Value::UInt(number) => Ok(json!(number)),
        cel::Value::Float(number) => {
            Number::from_f64(*number).map(Value::Number).ok_or_else(|| format!("{number} has no form in JSON"))
        }
        cel::Value::String(text) => Ok(Value::String(text.to_string())),
        cel::Value::List(items) => items.iter().map(to_json).collect(),
        cel::Value::Map(map) => {
            // The language's objects have no order; sorting gives them one.
            let fields: BTreeMap<String, &cel::Value> =
                map.map.iter().map(|(name, value)| (name.to_string(), value)).collect();
            let fields = fields.into_iter().map(|(name, value)| Ok((name, to_json(value)?)));
            fields.collect::<Result<_, String>>().map(Value::Object)
        }
        cel::Value::Function(..) | cel::Value::Bytes(_) | cel::Value::Opaque(_) | cel::Value::Struct(_) => {
            Err(format!("a value of type {} has no form in JSON", value.type_of()))
        }
    }
}

/// Returns the words for an evaluation that failed. The language's own errors quote values in the form of this
/// program, which nobody outside knows.
#[expect(clippy::wildcard_enum_match_arm, reason = "the library may add some, and those that are left are deprecated")]
pub(super) fn reason(error: &ExecutionError) -> String {
    let words = match error {
        ExecutionError::NoSuchKey(key) => format!("there is no `{key}`"),
        ExecutionError::UnsupportedTargetType { target } => format!("a function does not take {}", shown(target)),
        ExecutionError::NotSupportedAsMethod { method, target } => {
            format!("`{method}` does not take {}", shown(target))
        }
        ExecutionError::UnsupportedKeyType(key) => format!("{} cannot be a key", shown(key)),
        ExecutionError::ValuesNotComparable(one, other) => {
            format!("{} cannot be compared with {}", shown(one), shown(other))
        }
        ExecutionError::UnsupportedIndex(index, list) => format!("{} has no entry {}", shown(list), shown(index)),
        ExecutionError::DivisionByZero(value) => format!("{} is divided by zero", shown(value)),
        ExecutionError::RemainderByZero(value) => format!("the remainder of {} by zero", shown(value)),
        ExecutionError::Overflow(operator, one, other) => {
            format!("`{operator}` of {} and {} is too large a number", shown(one), shown(other))
        }
        ExecutionError::IndexOutOfBounds(index) => format!("the list has no entry {}", shown(index)),
        ExecutionError::DuplicateKey(key) => format!("the key {} is there twice", shown(key)),
        ExecutionError::InvalidArgumentCount { .. }
        | ExecutionError::UnexpectedType { .. }
        | ExecutionError::NoSuchOverload(_)
        | ExecutionError::UndeclaredReference(_)
        | ExecutionError::MissingArgumentOrTarget
        | ExecutionError::FunctionError { .. } => error.to_string(),
        _ => "its operators do not take these values".to_owned(),
    };
    cut(&words, REASON_CHARS_MAX)
}

/// Returns a value for people: its beginning as JSON, or else its type.
fn shown(value: &cel::Value) -> String {
    let json = to_json(value).map(|json| cut(&json.to_string(), VALUE_CHARS_MAX));
    json.unwrap_or_else(|_none| format!("a value of type {}", value.type_of()))
}
