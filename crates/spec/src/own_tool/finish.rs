//! The end of a subtask that must return a structured result: a call of `finish_subtask`, whose arguments
//! are the result. Prose does not end such a subtask; it is reminded, and finally it fails.

use serde_json::{Map, Value, json};

use crate::message::Outcome;
use crate::own_tool::OwnTool;
use crate::requests::catalog::{Permission, ToolInfo};
use crate::schema::Schema;

/// The number of times a subtask that answers in prose is reminded.
pub const NUDGES_MAX: u32 = 2;
/// The property that wraps a result whose schema is not an object's.
const WRAP: &str = "result";

/// Returns the description of the tool for models: it takes the result itself.
pub fn info(schema: &Schema) -> ToolInfo {
    ToolInfo {
        schema: Schema::new(arguments(schema.json())),
        permission: Permission::Subagent,
        parallel_safe: false,
        ..ToolInfo::own(OwnTool::FinishSubtask, "Ends this subtask with its result. The arguments are the result.")
    }
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object") || schema.get("properties").is_some()
}

/// Returns the schema of the arguments. Providers accept only objects. Definitions stay at the root, where
/// references find them, as do keywords that are allowed only there.
fn arguments(schema: &Value) -> Value {
    if is_object(schema) {
        return schema.clone();
    }
    let mut inner = schema.clone();
    let mut outer = Map::new();
    if let Value::Object(inner) = &mut inner {
        let rooted = ["$id", "$schema", "$defs", "definitions"].map(|name| (name, inner.remove(name)));
        outer.extend(rooted.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({ WRAP: inner }));
    outer.insert("required".to_owned(), json!([WRAP]));
    Value::Object(outer)
}

/// Returns the result a call brings, or everything that is wrong with it.
pub fn evaluate(schema: &Schema, args: &str) -> Result<String, Vec<String>> {
    let parsed: Value =
        serde_json::from_str(args).map_err(|error| vec![format!("the arguments are not JSON: {error}")])?;
    let result = if is_object(schema.json()) { Some(parsed) } else { parsed.get(WRAP).cloned() };
    let result = result.ok_or_else(|| vec![format!("/{WRAP}: is missing")])?;
    let violations = schema.violations(&result);
    if violations.is_empty() { Ok(result.to_string()) } else { Err(violations) }
}

/// Returns the answer to a result that is not accepted.
pub fn refused(violations: &[String]) -> Outcome {
    let message = "the result does not fit its schema; call finish_subtask again with all of this corrected";
    Outcome::failed(json!({ "error": "invalid_result", "message": message, "violations": violations }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_is_no_object_is_wrapped_and_unwrapped_and_keeps_its_definitions() {
        let schema = Schema::parse(
            json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.org/list",
                "type": "array", "items": { "$ref": "#/$defs/n" }, "$defs": { "n": { "type": "integer" } } }),
        )
        .unwrap();
        let info = info(&schema);
        assert!(info.schema.violations(&json!({ "result": [1, 2] })).is_empty());
        assert_eq!(info.schema.violations(&json!({ "result": ["x"] })).len(), 1);
        assert_eq!(evaluate(&schema, r#"{"result":[1]}"#).unwrap(), "[1]");
        assert!(evaluate(&schema, "[1]").is_err());
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let schema = Schema::parse(
            json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a", "b"] }),
        )
        .unwrap();
        assert_eq!(evaluate(&schema, r#"{"a":"x"}"#).unwrap_err().len(), 2);
        let result = r#"{"a":1,"b":{"error":"no error"}}"#;
        assert_eq!(evaluate(&schema, result).unwrap(), result);
    }
}
