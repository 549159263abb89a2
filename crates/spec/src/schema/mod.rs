//! A JSON Schema, compiled at its first use and only once. Equality and storage use only the JSON.

use std::fmt::{self, Write};
use std::sync::{Arc, OnceLock};

use jsonschema::{PatternOptions, Validator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::requests::bounds::{
    PATTERN_BYTES_MAX, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX, SCHEMA_WRAPPING, VIOLATION_BYTES_MAX, VIOLATIONS_MAX,
};

mod graph;
mod pattern;
mod steps;
#[cfg(test)]
mod tests;
mod weight;

/// A schema.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Schema {
    json: Arc<Value>,
    #[serde(skip)]
    compiled: Arc<OnceLock<Result<Compiled, String>>>,
    /// Its text, written once: a tool's schema is part of every request to a model that may call it.
    #[serde(skip)]
    text: Arc<OnceLock<Box<RawValue>>>,
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text().serialize(serializer)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Schema) -> bool {
        self.json == other.json
    }
}

impl Schema {
    /// Creates a schema of our own, or one that was checked before. It is compiled within the same limits as
    /// one from outside.
    pub fn new(json: Value) -> Schema {
        Schema { json: Arc::new(json), compiled: Arc::default(), text: Arc::default() }
    }

    /// Parses a schema from outside: it must be within every limit of [`crate::requests::bounds`] and have local
    /// references only, and it is compiled. The error is for people.
    pub fn parse(json: Value) -> Result<Schema, String> {
        if !json.is_object() && !json.is_boolean() {
            return Err("a schema is a JSON object".to_owned());
        }
        within(&json, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX)?;
        let schema = Schema::new(json);
        match schema.compiled() {
            Ok(_) => Ok(schema),
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Returns the schema as JSON.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Returns the schema as JSON text.
    pub fn text(&self) -> &RawValue {
        // A value that was read or built as JSON can be written.
        self.text.get_or_init(|| to_raw_value(&*self.json).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// Returns the length of its text in bytes.
    pub fn bytes(&self) -> usize {
        self.text().get().len()
    }

    fn compiled(&self) -> &Result<Compiled, String> {
        self.compiled.get_or_init(|| Compiled::new(&self.json))
    }

    /// Returns all violations of `value`, each with its path; none when it fits.
    pub fn violations(&self, value: &Value) -> Vec<String> {
        match self.compiled() {
            Ok(compiled) => compiled.violations(value),
            Err(reason) => vec![format!("the schema itself cannot be used: {reason}")],
        }
    }

    /// Returns the arguments that a text stands for: an object as JSON that fits, or else the value of the only
    /// required property, when that is a string.
    pub fn arguments(&self, text: &str) -> Option<Value> {
        let object = serde_json::from_str(text).ok().filter(Value::is_object);
        match (object, self.only_string()) {
            (Some(object), Some(_)) if self.violations(&object).is_empty() => Some(object),
            (_, Some(name)) => Some(serde_json::json!({ name: text })),
            (object, None) => object,
        }
    }

    /// Returns the name of the only required property, when it is a string: the one that a bare text stands
    /// for.
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

/// A compiled schema, with the data needed to compute the cost of a use.
struct Compiled {
    validator: Validator,
    graph: graph::Graph,
    weights: Vec<weight::Weight>,
    total: steps::Total,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Compiled").finish_non_exhaustive()
    }
}

impl Compiled {
    fn new(json: &Value) -> Result<Compiled, String> {
        let (bytes, depth) = SCHEMA_WRAPPING;
        within(json, SCHEMA_BYTES_MAX + bytes, SCHEMA_DEPTH_MAX + depth)?;
        let graph = graph::read(json)?;
        let sizes = pattern::sizes(&graph)?;
        let weights = weight::weigh(&graph, &sizes)?;
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
        let options = jsonschema::draft202012::options().with_pattern_options(patterns).should_validate_formats(false);
        let validator = options.build(json).map_err(|error| bounded(&error))?;
        let total = steps::Total::new(&graph, &weights);
        Ok(Compiled { validator, graph, weights, total })
    }

    fn violations(&self, value: &Value) -> Vec<String> {
        if !steps::may_check(&self.graph, &self.weights, &self.total, value) {
            return vec![format!("{}: it is too large or too deep to be held against this schema", place(""))];
        }
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        if !steps::may_list(&self.graph, &self.weights, value) {
            return vec![format!("{}: it does not fit, and is too large to say where", place(""))];
        }
        let errors = self.validator.iter_errors(value).take(VIOLATIONS_MAX);
        errors.map(|error| format!("{}: {}", place(error.instance_path().as_str()), bounded(&error))).collect()
    }
}

fn within(json: &Value, bytes: usize, depth: usize) -> Result<(), String> {
    // The depth is checked first: the text of a deep value is made by recursion.
    if is_deeper(json, depth) {
        return Err(format!("the schema is nested more than {SCHEMA_DEPTH_MAX} levels deep"));
    }
    if json.to_string().len() > bytes {
        return Err(format!("the schema is longer than {SCHEMA_BYTES_MAX} bytes"));
    }
    Ok(())
}

fn is_deeper(value: &Value, depth: usize) -> bool {
    let inside = |inner: &Value| depth == 0 || is_deeper(inner, depth - 1);
    match value {
        Value::Array(items) => depth == 0 || items.iter().any(inside),
        Value::Object(fields) => depth == 0 || fields.values().any(inside),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns the message of an error, cut where it becomes long.
fn bounded(error: &impl fmt::Display) -> String {
    let mut text = Bounded(String::new());
    match write!(text, "{error}") {
        Ok(()) => text.0,
        Err(fmt::Error) => text.0 + "…",
    }
}

struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = VIOLATION_BYTES_MAX.saturating_sub(self.0.len());
        let end = text.floor_char_boundary(room.min(text.len()));
        self.0.push_str(text.get(..end).unwrap_or_default());
        if end < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}
