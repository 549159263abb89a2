//! Schemas of a document as JSON Schema: what OpenAPI 3.0 writes otherwise is
//! translated, what is about documentation is dropped, and references become `$defs`.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::document::Document;
use super::plain;

/// The maximum depth of a schema, references followed; the schema made of it has the same limit.
const DEPTH_MAX: usize = 64;
/// The maximum number of schemas that one operation is made of: its schema would be too large.
const SCHEMAS_MAX: usize = 5_000;

/// Keywords whose value is kept as it is.
const KEPT: [&str; 18] = [
    "type",
    "format",
    "description",
    "enum",
    "const",
    "default",
    "required",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];
/// Keywords whose value is a schema, or a boolean.
const INNER: [&str; 4] = ["items", "additionalProperties", "not", "propertyNames"];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// The schemas of one operation.
pub(super) struct Schemas<'a, 'b> {
    document: &'b Document<'a>,
    /// The names of what was referred to.
    names: HashMap<&'a str, String>,
    definitions: Map<String, Value>,
    count: usize,
    depth: usize,
}

impl<'a, 'b> Schemas<'a, 'b> {
    /// Begins with no schemas.
    pub(super) fn new(document: &'b Document<'a>) -> Schemas<'a, 'b> {
        Schemas { document, names: HashMap::new(), definitions: Map::new(), count: 0, depth: 0 }
    }

    /// Returns everything that was referred to.
    pub(super) fn definitions(self) -> Map<String, Value> {
        self.definitions
    }

    /// Translates a schema; the error says why it cannot be used.
    pub(super) fn convert(&mut self, schema: &'a Value) -> Result<Value, String> {
        if self.depth == DEPTH_MAX {
            return Err(format!("its schema is more than {DEPTH_MAX} levels deep"));
        }
        if self.count == SCHEMAS_MAX {
            return Err(format!("its schema has more than {SCHEMAS_MAX} parts"));
        }
        self.count += 1;
        self.depth += 1;
        let converted = match schema {
            Value::Object(written) => self.object(written),
            Value::Bool(_) => Ok(schema.clone()),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err("a schema of it is no object".to_owned())
            }
        };
        self.depth -= 1;
        converted
    }

    fn object(&mut self, written: &'a Map<String, Value>) -> Result<Value, String> {
        if let Some(reference) = written.get("$ref").and_then(Value::as_str) {
            return self.reference(reference);
        }
        let mut made = Map::new();
        for (key, value) in written {
            if KEPT.contains(&key.as_str()) {
                made.insert(key.clone(), value.clone());
            } else if INNER.contains(&key.as_str()) {
                made.insert(key.clone(), self.convert(value)?);
            } else if LISTS.contains(&key.as_str()) {
                let items = value.as_array().into_iter().flatten();
                made.insert(key.clone(), items.map(|item| self.convert(item)).collect::<Result<_, _>>()?);
            }
        }
        self.properties(written, &mut made)?;
        limits(written, &mut made);
        nullable(written, &mut made);
        Ok(Value::Object(made))
    }

    fn properties(&mut self, written: &'a Map<String, Value>, made: &mut Map<String, Value>) -> Result<(), String> {
        let Some(properties) = written.get("properties").and_then(Value::as_object) else { return Ok(()) };
        let mut kept = Map::new();
        for (name, property) in properties {
            // What only answers have is not asked for.
            if property.get("readOnly") != Some(&json!(true)) {
                kept.insert(name.clone(), self.convert(property)?);
            }
        }
        if let Some(required) = made.get_mut("required").and_then(Value::as_array_mut) {
            let is_dropped = |name: &str| properties.contains_key(name) && !kept.contains_key(name);
            required.retain(|name| !name.as_str().is_some_and(is_dropped));
        }
        made.insert("properties".to_owned(), Value::Object(kept));
        Ok(())
    }

    fn reference(&mut self, reference: &'a str) -> Result<Value, String> {
        if let Some(name) = self.names.get(reference) {
            return Ok(json!({ "$ref": format!("#/$defs/{name}") }));
        }
        let target = self.document.find(reference)?;
        let name = format!("{}_{}", plain(reference.rsplit('/').next().unwrap_or_default()), self.names.len());
        // Known before it is translated, since it may refer to itself.
        self.names.insert(reference, name.clone());
        let made = self.convert(target)?;
        self.definitions.insert(name.clone(), made);
        Ok(json!({ "$ref": format!("#/$defs/{name}") }))
    }
}

/// Converts exclusive limits: in OpenAPI 3.0 such a limit is a flag beside the limit.
fn limits(written: &Map<String, Value>, made: &mut Map<String, Value>) {
    for (limit, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        match written.get(exclusive) {
            Some(Value::Bool(true)) => {
                if let Some(number) = made.remove(limit) {
                    made.insert(exclusive.to_owned(), number);
                }
            }
            Some(Value::Number(number)) => _ = made.insert(exclusive.to_owned(), Value::Number(number.clone())),
            _ => {}
        }
    }
}

/// Converts `nullable`: in OpenAPI 3.0 it is a flag beside the type.
fn nullable(written: &Map<String, Value>, made: &mut Map<String, Value>) {
    if written.get("nullable") != Some(&json!(true)) {
        return;
    }
    if let Some(Value::String(kind)) = made.get("type") {
        let kinds = json!([kind, "null"]);
        made.insert("type".to_owned(), kinds);
    }
    if let Some(values) = made.get_mut("enum").and_then(Value::as_array_mut)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}
