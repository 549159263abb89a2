//! A small value that a simple JSON Schema accepts, filled with the words and
//! the numbers of a task.

use consort_core::schema::Schema;
use serde_json::{Map, Value, json};

/// How deep a sample nests; a schema that refers to itself ends here.
const DEPTH_MAX: usize = 16;
/// Items of a list when the schema does not care.
const ITEMS: u64 = 2;
/// Items of a list, whatever the schema asks for.
const ITEMS_MAX: u64 = 100;
/// Characters of a text, whatever the schema asks for.
const TEXT_MAX: usize = 10_000;

/// Values of a sample, whatever the schema asks for: lists of lists of a hundred
/// grow fast.
const VALUES_MAX: u32 = 2_000;
/// Values that are tried against their schema, which is compiled for each.
const TRIALS_MAX: u32 = 50;

/// What texts that follow a pattern or a format usually are.
const USUAL: [&str; 16] = [
    "2026-01-31",
    "2026-01-31T12:00:00Z",
    "12:00",
    "12:00:00Z",
    "ada@example.org",
    "https://example.org/",
    "00000000-0000-4000-8000-000000000000",
    "demo",
    "Demo",
    "DEMO",
    "demo-1",
    "AB-123",
    "12345",
    "1.0.0",
    "#336699",
    "127.0.0.1",
];
/// Formats, and which of the usual texts has them.
const FORMATS: [(&str, usize); 8] =
    [("date", 0), ("date-time", 1), ("time", 3), ("email", 4), ("uri", 5), ("url", 5), ("uuid", 6), ("ipv4", 15)];
/// Names of texts that are a title.
const TITLES: [&str; 5] = ["title", "name", "headline", "subject", "topic"];

/// What a value is filled with.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    /// What the task is about.
    pub(super) title: String,
    /// What there is to say, in order.
    pub(super) points: Vec<String>,
    /// The numbers that were found, in order.
    pub(super) numbers: Vec<f64>,
}

/// A value that satisfies `schema`, if the schema is simple.
pub(super) fn of(schema: &Value, words: &Words) -> Value {
    Filler { root: schema, words, said: 0, counted: 0, values: VALUES_MAX, trials: TRIALS_MAX }.sample(schema, "", 0)
}

/// Goes through a schema and uses up the words on the way.
struct Filler<'a> {
    root: &'a Value,
    words: &'a Words,
    said: usize,
    counted: usize,
    /// How many more values there may be.
    values: u32,
    /// How many more may be tried.
    trials: u32,
}

impl Filler<'_> {
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
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "string" => json!(self.text(schema, name)),
            "integer" => self.number(schema, Step::Whole),
            "number" => self.number(schema, Step::Any),
            "boolean" => json!(true),
            _ => Value::Null,
        }
    }

    /// The required properties, or all where none is said to be required.
    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = schema.get("required").and_then(Value::as_array);
        let names: Vec<&str> = match required {
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
        let count = bound("minItems").unwrap_or(1).max(ITEMS.min(bound("maxItems").unwrap_or(ITEMS))).min(ITEMS_MAX);
        let free = Value::Null;
        let item = schema.get("items").unwrap_or(&free);
        (0..count.min(bound("maxItems").unwrap_or(count))).map(|_| self.sample(item, name, depth + 1)).collect()
    }

    fn text(&mut self, schema: &Value, name: &str) -> String {
        let format = schema.get("format").and_then(Value::as_str);
        let formatted = format.and_then(|format| FORMATS.iter().find(|(name, _)| *name == format));
        if let Some(usual) = formatted.and_then(|(_, at)| USUAL.get(*at)) {
            return (*usual).to_owned();
        }
        let is_title = TITLES.iter().any(|title| name.to_lowercase().contains(title));
        let point = self.words.points.get(self.said % self.words.points.len().max(1));
        let free = if is_title { &self.words.title } else { point.unwrap_or(&self.words.title) };
        self.said += usize::from(!is_title);
        let text = fitted(schema, free);
        if schema.get("pattern").is_none() || !self.may_try() {
            return text;
        }
        let check = Schema::new(schema.clone());
        let mut candidates = std::iter::once(text.as_str()).chain(USUAL);
        candidates.find(|text| check.violations(&json!(text)).is_empty()).unwrap_or(&text).to_owned()
    }

    fn may_try(&mut self) -> bool {
        let may = self.trials > 0;
        self.trials = self.trials.saturating_sub(1);
        may
    }

    /// The next number that was found, where it fits.
    fn number(&mut self, schema: &Value, step: Step) -> Value {
        let check = Schema::new(schema.clone());
        let found = self.words.numbers.get(self.counted).map(|number| whole(*number));
        self.counted += 1;
        let found = found.filter(|_| self.may_try());
        found.filter(|number| check.violations(number).is_empty()).unwrap_or_else(|| number(schema, step))
    }
}

/// The schema that another stands for.
fn other<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Value> {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    let choice = |name: &str| {
        let choices = schema.get(name)?.as_array()?;
        choices.iter().find(|choice| kind(choice) != "null").or_else(|| choices.first())
    };
    target.and_then(|target| root.pointer(target)).or_else(|| choice("anyOf")).or_else(|| choice("oneOf"))
}

fn kind(schema: &Value) -> &str {
    let named = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
    named.unwrap_or(if schema.get("properties").is_some() { "object" } else { "string" })
}

/// A text, as long as it must be and no longer than it may be.
fn fitted(schema: &Value, text: &str) -> String {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    let (least, most) = (bound("minLength").unwrap_or(0), bound("maxLength").unwrap_or(TEXT_MAX).min(TEXT_MAX));
    let text = if text.is_empty() { "demo" } else { text };
    let length = text.chars().count().max(least).min(most);
    format!("{text} ").chars().cycle().take(length).collect()
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
    whole(number)
}

/// A number as people write it: without a fraction where there is none.
fn whole(number: f64) -> Value {
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
            json!({ "anyOf": [{ "type": "null" }, { "type": "integer", "multipleOf": 5 }] }),
            json!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }),
            json!({ "type": "string", "pattern": "^[^@]+@[^@]+$" }),
            json!({ "type": "string", "pattern": "^[A-Z]{2,5}$", "maxLength": 5 }),
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "uniqueItems": true }),
        ] {
            let points = vec!["Sweet".to_owned(), "Sour".to_owned()];
            let value = of(&schema, &Words { title: "Tea".to_owned(), points, numbers: vec![7.0] });
            assert_eq!(Schema::new(schema.clone()).violations(&value), Vec::<String>::new(), "{schema}: {value}");
        }
    }

    #[test]
    fn a_schema_that_asks_for_lists_of_lists_gets_a_part_of_them() {
        let mut schema = json!({ "type": "integer" });
        for _ in 0..10 {
            schema = json!({ "type": "array", "minItems": 100, "items": schema });
        }
        assert!(of(&schema, &Words::default()).to_string().len() < 1_000_000);
    }

    #[test]
    fn a_schema_that_refers_to_itself_still_has_a_sample() {
        let schema = json!({ "type": "object", "required": ["next"], "properties": { "next": { "$ref": "#" } } });
        assert!(of(&schema, &Words::default()).is_object());
    }
}
