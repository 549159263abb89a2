//! A small value that a simple JSON Schema accepts, filled with the words and
//! the numbers of a task.

use consort_core::schema::Schema;
use serde_json::{Map, Value, json};

/// Levels of a sample; a schema that refers to itself ends here.
const DEPTH_MAX: usize = 16;
/// The number of items of a list when the schema does not say.
const ITEMS: u64 = 2;
/// Values of a sample, whatever the schema asks for: lists of lists grow fast.
const VALUES_MAX: u32 = 500;
/// The maximum length of a text in characters, whatever the schema asks for.
const TEXT_MAX: u64 = 10_000;

/// The words and numbers a value is filled with.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleValues {
    /// The topic of the task.
    pub(super) title: String,
    /// The points to make, in order.
    pub(super) points: Vec<String>,
    /// The numbers that were found, in order.
    pub(super) numbers: Vec<f64>,
}

/// Returns a value that satisfies `schema`, if the schema is simple.
pub(super) fn of(schema: &Value, filling: &SampleValues) -> Value {
    SampleWriter { root: schema, filling, said: 0, counted: 0, values: VALUES_MAX }.sample(schema, "", 0)
}

/// Goes through a schema and uses up the filling on the way.
struct SampleWriter<'a> {
    root: &'a Value,
    filling: &'a SampleValues,
    said: usize,
    counted: usize,
    /// The number of values that may still be made.
    values: u32,
}

impl SampleWriter<'_> {
    fn sample(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
        if depth > DEPTH_MAX || self.values == 0 {
            return Value::Null;
        }
        self.values -= 1;
        if let Some(given) = schema.get("const").or_else(|| schema.pointer("/enum/0")) {
            return given.clone();
        }
        if let Some(other) = other(schema, self.root) {
            return self.sample(other, name, depth + 1);
        }
        let named = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
        match named.unwrap_or(if schema.get("properties").is_some() { "object" } else { "string" }) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "string" => json!(self.text(schema, name)),
            "integer" | "number" => self.number(schema),
            "boolean" => json!(true),
            _ => Value::Null,
        }
    }

    /// Returns an object with the required properties, or with all where none is required.
    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let names: Vec<&str> = match schema.get("required").and_then(Value::as_array) {
            Some(names) => names.iter().filter_map(Value::as_str).collect(),
            None => properties.keys().map(String::as_str).collect(),
        };
        let mut fields = Map::new();
        for name in names {
            let value = self.sample(properties.get(name).unwrap_or(&Value::Null), name, depth + 1);
            fields.insert(name.to_owned(), value);
        }
        Value::Object(fields)
    }

    fn array(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
        let count = ITEMS.max(bound("minItems").unwrap_or(0)).min(bound("maxItems").unwrap_or(u64::MAX));
        let item = schema.get("items").unwrap_or(&Value::Null);
        (0..count.min(VALUES_MAX.into())).map(|_| self.sample(item, name, depth + 1)).collect()
    }

    /// Returns a title or the next point, within the length limits of the schema.
    fn text(&mut self, schema: &Value, name: &str) -> String {
        match schema.get("format").and_then(Value::as_str) {
            Some("date") => return "2026-01-31".to_owned(),
            Some("date-time") => return "2026-01-31T12:00:00Z".to_owned(),
            Some("email") => return "ada@example.org".to_owned(),
            Some("uri") => return "https://example.org/".to_owned(),
            Some(_) | None => {}
        }
        let is_title = super::words::has_any(&name.to_lowercase(), "title|name|headline|subject|topic");
        let point = self.filling.points.get(self.said % self.filling.points.len().max(1)).filter(|_| !is_title);
        self.said += usize::from(!is_title);
        let text = Some(point.unwrap_or(&self.filling.title)).filter(|text| !text.is_empty());
        let text = text.map_or("demo", String::as_str);
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
        let least = bound("minLength").unwrap_or(0).max(text.chars().count() as u64);
        let length = least.min(bound("maxLength").unwrap_or(TEXT_MAX)).min(TEXT_MAX);
        format!("{text} ").chars().cycle().take(usize::try_from(length).unwrap_or(0)).collect()
    }

    /// Returns the next number that was found where it fits, else the first that does of zero and those around the
    /// bounds.
    fn number(&mut self, schema: &Value) -> Value {
        let check = Schema::new(schema.clone());
        let found = self.filling.numbers.get(self.counted).copied();
        self.counted += 1;
        let bounds = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];
        let bounds = bounds.iter().filter_map(|name| schema.get(name).and_then(Value::as_f64));
        let near = bounds.flat_map(|bound| [bound.ceil(), bound.floor(), bound + 1.0, bound - 1.0]);
        let mut candidates = found.into_iter().chain([0.0]).chain(near).map(whole);
        candidates.find(|number| check.violations(number).is_empty()).unwrap_or_else(|| json!(0))
    }
}

/// Returns the schema that this one refers to.
fn other<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Value> {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    let choices = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    let is_null = |choice: &Value| choice.get("type").is_some_and(|kind| kind == "null");
    let choice = choices.and_then(|choices| choices.iter().find(|choice| !is_null(choice)));
    target.and_then(|target| root.pointer(target)).or(choice)
}

/// Returns a number as people write it: without a fraction where there is none.
fn whole(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_satisfy_their_schemas() {
        for schema in [
            json!({ "type": "integer", "exclusiveMinimum": 2.5 }),
            json!({ "type": "integer", "maximum": -3 }),
            json!({ "type": "integer", "minimum": 0.5, "exclusiveMaximum": 2 }),
            json!({ "type": "number", "exclusiveMaximum": -1 }),
            json!({ "type": "string", "minLength": 12, "maxLength": 13 }),
            json!({ "type": "string", "maxLength": 1 }),
            json!({ "type": "array", "maxItems": 0 }),
            json!({ "properties": { "a": { "type": "array", "items": { "type": "null" } } } }),
            json!({ "anyOf": [{ "const": 4 }, { "type": "string" }] }),
            json!({ "enum": [["x"], null] }),
            json!({ "type": "object", "required": ["free"] }),
            json!({ "type": ["boolean", "null"] }),
            json!({ "anyOf": [{ "type": "null" }, { "type": "integer", "multipleOf": 5 }] }),
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "uniqueItems": true }),
        ] {
            let points = vec!["Sweet".to_owned(), "Sour".to_owned()];
            let value = of(&schema, &SampleValues { title: "Tea".to_owned(), points, numbers: vec![7.0] });
            assert_eq!(Schema::new(schema.clone()).violations(&value), Vec::<String>::new(), "{schema}: {value}");
        }
    }

    #[test]
    fn a_schema_that_asks_for_lists_of_lists_gets_a_part_of_them() {
        let mut schema = json!({ "type": "integer" });
        for _ in 0..10 {
            schema = json!({ "type": "array", "minItems": 100, "items": schema });
        }
        assert!(of(&schema, &SampleValues::default()).to_string().len() < 1_000_000);
    }

    #[test]
    fn a_schema_that_refers_to_itself_still_has_a_sample() {
        let schema = json!({ "type": "object", "required": ["next"], "properties": { "next": { "$ref": "#" } } });
        assert!(of(&schema, &SampleValues::default()).is_object());
    }
}
