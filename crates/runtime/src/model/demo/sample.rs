//! The smallest value a simple JSON Schema accepts.

use serde_json::{Map, Value, json};

/// How deep a sample nests; a schema that refers to itself ends here.
const DEPTH_MAX: usize = 16;
/// Items of a list, whatever the schema asks for.
const ITEMS_MAX: u64 = 100;
/// Characters of a text, whatever the schema asks for.
const TEXT_MAX: usize = 10_000;

/// A value that satisfies `schema`, if the schema is simple.
pub(super) fn of(schema: &Value) -> Value {
    sample(schema, schema, 0)
}

fn sample(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Null;
    }
    if let Some(given) = schema.get("const").or_else(|| schema.pointer("/enum/0")) {
        return given.clone();
    }
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    let other = target.and_then(|target| root.pointer(target));
    if let Some(other) = other.or_else(|| schema.pointer("/anyOf/0")).or_else(|| schema.pointer("/oneOf/0")) {
        return sample(other, root, depth + 1);
    }
    match kind(schema) {
        "object" => object(schema, root, depth),
        "array" => array(schema, root, depth),
        "string" => json!(text(schema)),
        "integer" => number(schema, Step::Whole),
        "number" => number(schema, Step::Any),
        "boolean" => json!(true),
        _ => Value::Null,
    }
}

fn kind(schema: &Value) -> &str {
    let named = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
    named.unwrap_or(if schema.get("properties").is_some() { "object" } else { "string" })
}

/// The required properties, or all where none is said to be required.
fn object(schema: &Value, root: &Value, depth: usize) -> Value {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array);
    let names: Vec<&str> = match required {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => properties.keys().map(String::as_str).collect(),
    };
    let value = |name: &str| sample(properties.get(name).unwrap_or(&Value::Null), root, depth + 1);
    names.into_iter().map(|name| (name.to_owned(), value(name))).collect()
}

fn array(schema: &Value, root: &Value, depth: usize) -> Value {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    let count = bound("minItems").unwrap_or(1).min(bound("maxItems").unwrap_or(ITEMS_MAX)).min(ITEMS_MAX);
    let item = sample(schema.get("items").unwrap_or(&Value::Null), root, depth + 1);
    (0..count).map(|_| item.clone()).collect()
}

fn text(schema: &Value) -> String {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    let (least, most) = (bound("minLength").unwrap_or(0), bound("maxLength").unwrap_or(usize::MAX));
    let text = "demo ".chars().cycle().take(least.max(4));
    text.take(most.min(TEXT_MAX)).collect()
}

/// The first number that fits, of zero and those around the bounds.
fn number(schema: &Value, step: Step) -> Value {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let (least, above) = (bound("minimum"), bound("exclusiveMinimum"));
    let (most, below) = (bound("maximum"), bound("exclusiveMaximum"));
    let fits = |number: &f64| {
        least.is_none_or(|least| *number >= least)
            && above.is_none_or(|above| *number > above)
            && most.is_none_or(|most| *number <= most)
            && below.is_none_or(|below| *number < below)
    };
    let bounds = || [least, above, most, below].into_iter().flatten();
    let near = bounds().flat_map(|bound| [bound.ceil(), bound, bound + 1.0, bound - 1.0]);
    let middle = f64::midpoint(bounds().fold(f64::MAX, f64::min), bounds().fold(f64::MIN, f64::max));
    let mut candidates = std::iter::once(0.0).chain(near).chain([middle]).map(|number| step.apply(number));
    let number = candidates.find(fits).unwrap_or(0.0);
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

/// What lies between two numbers of a type.
#[derive(Clone, Copy)]
enum Step {
    Whole,
    Any,
}

impl Step {
    fn apply(self, number: f64) -> f64 {
        match self {
            Step::Whole => number.floor(),
            Step::Any => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use consort_core::schema::Schema;

    use super::*;

    #[test]
    fn samples_satisfy_their_schemas() {
        for schema in [
            json!({ "type": "integer", "exclusiveMinimum": 2.5 }),
            json!({ "type": "integer", "maximum": -3 }),
            json!({ "type": "integer", "minimum": 0.5, "exclusiveMaximum": 2 }),
            json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.1 }),
            json!({ "type": "number", "exclusiveMaximum": -1 }),
            json!({ "type": "string", "minLength": 12, "maxLength": 13 }),
            json!({ "type": "string", "maxLength": 1 }),
            json!({ "type": "array", "maxItems": 0 }),
            json!({ "properties": { "a": { "type": "array", "items": { "type": "null" } } } }),
            json!({ "anyOf": [{ "const": 4 }, { "type": "string" }] }),
            json!({ "enum": [["x"], null] }),
            json!({ "type": "object", "required": ["free"] }),
            json!({ "type": ["boolean", "null"] }),
        ] {
            let value = of(&schema);
            assert_eq!(Schema::new(schema.clone()).violations(&value), Vec::<String>::new(), "{schema}: {value}");
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_still_has_a_sample() {
        let schema = json!({ "type": "object", "required": ["next"], "properties": { "next": { "$ref": "#" } } });
        assert!(of(&schema).is_object());
    }
}
