//! Writes a tool's schema as the API reads it: without `$schema`, and with local references replaced
//! by their targets. It is written as it is walked, so that no second tree is built for every request.

use std::cell::Cell;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// The maximum number of references followed in one schema, so
/// that references to references cannot make it grow without end.
const REFERENCES_MAX: u32 = 200;
/// The maximum nesting of references: a type may contain itself.
const NESTED_MAX: u32 = 6;

/// A schema to be written in this simple form.
pub(super) struct Plain<'a>(pub(super) &'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let followed = Cell::new(0);
        Node { value: self.0, root: self.0, nested: 0, followed: &followed }.serialize(serializer)
    }
}

/// One value of the schema.
#[derive(Clone, Copy)]
struct Node<'a> {
    value: &'a Value,
    root: &'a Value,
    nested: u32,
    followed: &'a Cell<u32>,
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Object(fields) => self.object(fields, serializer),
            Value::Array(items) => serializer.collect_seq(items.iter().map(|value| Node { value, ..*self })),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => self.value.serialize(serializer),
        }
    }
}

impl<'a> Node<'a> {
    fn object<S: Serializer>(&self, fields: &'a Map<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in fields.iter().filter(|(name, value)| !self.is_left_out(name, value)) {
            map.serialize_entry(name, &Node { value, ..*self })?;
        }
        // The fields beside a reference take precedence over those of its target.
        let mut own = vec![fields];
        let mut node = *self;
        while let Some(target) = own.last().and_then(|fields| node.follow(fields)) {
            node.nested += 1;
            let is_new = |name: &str| own.iter().all(|fields| !fields.contains_key(name));
            for (name, value) in target.iter().filter(|(name, value)| is_new(name) && !node.is_left_out(name, value)) {
                map.serialize_entry(name, &Node { value, ..node })?;
            }
            own.push(target);
        }
        map.end()
    }

    /// Returns the target of the reference in these fields, if it is followed.
    fn follow(&self, fields: &Map<String, Value>) -> Option<&'a Map<String, Value>> {
        let place = fields.get("$ref")?.as_str()?.strip_prefix('#')?;
        if self.nested >= NESTED_MAX || self.followed.get() >= REFERENCES_MAX {
            return None;
        }
        self.followed.set(self.followed.get() + 1);
        self.root.pointer(place)?.as_object()
    }

    fn is_left_out(&self, name: &str, value: &Value) -> bool {
        match name {
            // A property may have such a name; then its value is a schema.
            "$schema" | "$ref" => value.is_string(),
            "$defs" | "definitions" => value.is_object() && std::ptr::eq(self.value, self.root),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(schema: &Value) -> Value {
        serde_json::to_value(Plain(schema)).unwrap()
    }

    #[test]
    fn references_are_replaced_by_what_they_point_at() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "by": { "$ref": "#/$defs/person", "description": "Who" },
                "$schema": { "type": "string" },
            },
            "additionalProperties": false,
            "$defs": {
                "person": { "type": "object", "description": "A person", "properties": { "name": { "$ref": "#/$defs/name" } } },
                "name": { "type": "string" },
            },
        });
        let person = json!({ "description": "Who", "type": "object", "properties": { "name": { "type": "string" } } });
        let properties = json!({ "by": person, "$schema": { "type": "string" } });
        let expected = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        assert_eq!(plain(&schema), expected);
    }

    #[test]
    fn a_type_that_holds_itself_comes_to_an_end() {
        let node =
            json!({ "type": "object", "properties": { "l": { "$ref": "#/$defs/n" }, "r": { "$ref": "#/$defs/n" } } });
        let tree = json!({ "$ref": "#/$defs/n", "$defs": { "n": node } });
        assert!(plain(&tree).to_string().len() < 40_000);
        let loops = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } });
        assert_eq!(plain(&loops), json!({}));
        assert_eq!(plain(&json!({ "$ref": "#/nowhere", "type": "object" })), json!({ "type": "object" }));
    }
}
