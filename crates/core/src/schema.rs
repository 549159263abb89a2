//! A JSON Schema, compiled when first used and never again. Equality and
//! storage know only the JSON.

use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of a schema somebody else supplies.
const BYTES_MAX: usize = 64 * 1024;
/// How deep such a schema may nest.
const DEPTH_MAX: usize = 64;
/// Violations listed at once; more would not help anybody.
const VIOLATIONS_MAX: usize = 20;

/// A schema.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema {
    json: Arc<Value>,
    #[serde(skip)]
    compiled: Arc<OnceLock<Option<Validator>>>,
    #[serde(skip)]
    bytes: Arc<OnceLock<usize>>,
}

impl PartialEq for Schema {
    fn eq(&self, other: &Schema) -> bool {
        self.json == other.json
    }
}

impl Schema {
    /// A schema of our own.
    pub fn new(json: Value) -> Schema {
        Schema { json: Arc::new(json), compiled: Arc::default(), bytes: Arc::default() }
    }

    /// A schema from outside: small, local references only, and compilable.
    pub fn parse(json: Value) -> Result<Schema, String> {
        if !json.is_object() && !json.is_boolean() {
            return Err("a schema is a JSON object".to_owned());
        }
        if json.to_string().len() > BYTES_MAX {
            return Err(format!("the schema is longer than {BYTES_MAX} bytes"));
        }
        if depth(&json) > DEPTH_MAX {
            return Err(format!("the schema is nested more than {DEPTH_MAX} levels deep"));
        }
        if let Some(reference) = remote_reference(&json) {
            return Err(format!("only local references are allowed, not `{reference}`"));
        }
        let schema = Schema::new(json);
        let compiled = build(&schema.json)?;
        let _fresh = schema.compiled.set(Some(compiled));
        Ok(schema)
    }

    /// The schema as JSON.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// How long it is as text.
    pub(crate) fn bytes(&self) -> usize {
        *self.bytes.get_or_init(|| self.json.to_string().len())
    }

    /// Everything `value` does wrong, each with its path; nothing when it fits.
    pub fn violations(&self, value: &Value) -> Vec<String> {
        let validator = self.compiled.get_or_init(|| build(&self.json).ok());
        let Some(validator) = validator else { return vec!["the schema itself cannot be used".to_owned()] };
        let errors = validator.iter_errors(value).take(VIOLATIONS_MAX);
        errors.map(|error| format!("{}: {error}", place(error.instance_path().as_str()))).collect()
    }

    /// The name of the only required property, when it is a string: what a
    /// bare text stands for.
    pub fn only_string(&self) -> Option<&str> {
        let required = self.json.get("required")?.as_array()?;
        let [name] = required.as_slice() else { return None };
        let name = name.as_str()?;
        (self.json.pointer(&format!("/properties/{name}/type"))?.as_str()? == "string").then_some(name)
    }
}

fn place(path: &str) -> &str {
    if path.is_empty() { "(the whole value)" } else { path }
}

fn build(json: &Value) -> Result<Validator, String> {
    jsonschema::draft202012::new(json).map_err(|error| error.to_string())
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn remote_reference(value: &Value) -> Option<&str> {
    match value {
        Value::Array(items) => items.iter().find_map(remote_reference),
        Value::Object(fields) => fields.iter().find_map(|(key, value)| {
            let target = value.as_str().filter(|target| key == "$ref" && !target.starts_with('#'));
            target.or_else(|| remote_reference(value))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_violation_is_listed_with_its_path() {
        let schema = Schema::parse(json!({ "type": "object", "required": ["name"],
            "properties": { "name": { "type": "string" }, "age": { "type": "integer" } } }));
        let violations = schema.unwrap().violations(&json!({ "age": "old" }));
        assert_eq!(violations.len(), 2, "{violations:?}");
        assert!(violations.iter().any(|v| v.starts_with("/age: ")), "{violations:?}");
    }

    #[test]
    fn schemas_that_cannot_or_must_not_be_used_are_refused() {
        let mut deep = json!({ "type": "string" });
        for _ in 0..70 {
            deep = json!({ "properties": { "x": deep } });
        }
        let long = json!({ "description": "x".repeat(BYTES_MAX) });
        for bad in [json!({ "type": "strin" }), json!({ "$ref": "http://127.0.0.1/x" }), json!(3), deep, long] {
            assert!(Schema::parse(bad.clone()).is_err(), "{}", bad.to_string().len());
        }
    }
}
