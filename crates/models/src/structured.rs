//! The schema of an answer in the forms that providers take it in, and those that were refused: the
//! conversation says the schema too, so a request without it still gets the answer.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use consort_core::schema::Schema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Provider;

/// The name of a schema; it means nothing, and OpenAI requires one.
const NAME: &str = "answer";
/// The maximum number of refused schemas that are remembered for one model.
const REFUSED_MAX: usize = 64;
/// The fields that a schema is sent in, in lower case; a refusal that names one is about the schema or about
/// the field itself.
const FIELDS: [&str; 10] = [
    "response_format",
    "json_schema",
    "text.format",
    "'text'",
    "output_config",
    "output_format",
    "response_json_schema",
    "responsejsonschema",
    "response_mime_type",
    "responsemimetype",
];
/// Keywords that OpenAI takes in a schema that it follows strictly.
const STRICT: [&str; 10] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "description",
    "title",
    "anyOf",
];
/// Keywords that Anthropic does not take; the answer is checked against the whole schema anyway.
const UNTOLD: [&str; 15] = [
    "$schema",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "default",
    "examples",
];

/// The ways in which a model is told the schema of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StructuredOutput {
    /// By the provider at its own address, in the prompt elsewhere: another server may not know the field, or
    /// take it and not obey it.
    #[default]
    Auto,
    /// By the provider, and in the prompt.
    Native,
    /// In the prompt alone.
    Prompt,
}

impl StructuredOutput {
    /// All of them, by the words that files use.
    pub const WORDS: &[(&str, StructuredOutput)] =
        &[("auto", StructuredOutput::Auto), ("native", StructuredOutput::Native), ("prompt", StructuredOutput::Prompt)];

    /// Returns whether a provider at this address is told schemas.
    pub fn is_native(self, provider: Provider, base_url: &str) -> bool {
        let is_served = provider != Provider::Demo;
        match self {
            StructuredOutput::Auto => is_served && base_url.trim_end_matches('/') == provider.base_url(),
            StructuredOutput::Native => is_served,
            StructuredOutput::Prompt => false,
        }
    }
}

/// A schema as OpenAI takes it.
#[derive(Serialize)]
pub(super) struct Named<'a> {
    name: &'static str,
    schema: &'a Value,
    strict: bool,
}

impl<'a> Named<'a> {
    /// Returns the schema, to be followed strictly where OpenAI can.
    pub(super) fn new(schema: &'a Schema) -> Named<'a> {
        Named { name: NAME, schema: schema.json(), strict: is_strict(schema.json()) }
    }
}

/// Returns whether every object of a schema is closed and complete, and nothing else is asked for.
fn is_strict(schema: &Value) -> bool {
    let Value::Object(fields) = schema else { return false };
    if !fields.keys().all(|key| STRICT.contains(&key.as_str())) {
        return false;
    }
    let empty = Map::new();
    let properties = fields.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> =
        fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let is_object = fields.get("type").is_some_and(|kind| kind == "object") || !properties.is_empty();
    let is_closed = fields.get("additionalProperties") == Some(&json!(false));
    let is_complete = properties.keys().all(|name| required.contains(&name.as_str()));
    let inner = properties.values().chain(fields.get("items"));
    let any = fields.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    (!is_object || (is_closed && is_complete)) && inner.chain(any).all(is_strict)
}

/// Returns the schema as Anthropic takes it: objects are closed, and limits are left out.
pub(super) fn closed(schema: &Schema) -> Value {
    close(schema.json())
}

fn close(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut made = Map::new();
    for (key, value) in fields.iter().filter(|(key, _)| !UNTOLD.contains(&key.as_str())) {
        let value = match (key.as_str(), value) {
            // Here the keys are names, not keywords.
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                Value::Object(named.iter().map(|(name, inner)| (name.clone(), close(inner))).collect())
            }
            ("items" | "not" | "if" | "then" | "else", inner) => close(inner),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                Value::Array(items.iter().map(close).collect())
            }
            (_, value) => value.clone(),
        };
        made.insert(key.clone(), value);
    }
    let is_object = fields.get("type").is_some_and(|kind| kind == "object") || fields.contains_key("properties");
    if is_object && !fields.contains_key("additionalProperties") {
        made.insert("additionalProperties".to_owned(), json!(false));
    }
    Value::Object(made)
}

/// The part of a request that a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Complaint {
    /// This schema; another may be taken.
    Schema,
    /// The field that schemas are sent in: the server does not know it.
    Field,
    /// Something else.
    Other,
}

impl Complaint {
    /// Returns what a refusal is about. Names of fields are cut out first, so that one with `schema` in its
    /// name is not taken for a word about the schema.
    fn of(refusal: &str) -> Complaint {
        let refusal = refusal.to_lowercase();
        let rest = FIELDS.iter().fold(refusal.clone(), |rest, field| rest.replace(field, ""));
        if rest.contains("schema") {
            Complaint::Schema
        } else if rest.len() < refusal.len() {
            Complaint::Field
        } else {
            Complaint::Other
        }
    }
}

/// The schemas that a model's provider is not sent again, because it has refused them.
#[derive(Debug, Default)]
pub(super) struct Refused(Mutex<Refusals>);

#[derive(Debug, Default)]
struct Refusals {
    /// Whether the server does not know the field that schemas are sent in.
    all: bool,
    /// The schemas that were refused, oldest first.
    schemas: VecDeque<Schema>,
}

impl Refused {
    /// Returns whether this schema is left to the prompt.
    pub(super) fn has(&self, schema: &Schema) -> bool {
        let refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.all || refusals.schemas.contains(schema)
    }

    /// Remembers a refusal of a request with this schema, if it is about the schema; returns whether it is.
    /// The oldest schema is forgotten when there are too many.
    pub(super) fn learn(&self, schema: &Schema, refusal: &str) -> bool {
        let complaint = Complaint::of(refusal);
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match complaint {
            Complaint::Other => return false,
            Complaint::Field => refusals.all = true,
            Complaint::Schema => {
                if refusals.schemas.len() == REFUSED_MAX {
                    refusals.schemas.pop_front();
                }
                refusals.schemas.push_back(schema.clone());
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_followed_strictly_where_every_object_is_closed_and_complete() {
        let closed = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"],
            "additionalProperties": false });
        assert!(is_strict(&closed));
        for (pointer, value) in [
            ("/additionalProperties", json!(true)),
            ("/required", json!([])),
            ("/properties/a", json!({ "type": "object" })),
            ("/properties/a", json!({ "type": "string", "pattern": "a" })),
        ] {
            let mut other = closed.clone();
            *other.pointer_mut(pointer).unwrap() = value;
            assert!(!is_strict(&other), "{other}");
        }
    }

    #[test]
    fn objects_are_closed_and_limits_are_left_out_and_names_are_no_keywords() {
        let schema = json!({ "type": "object", "properties": {
            "minimum": { "type": "integer", "minimum": 3 },
            "list": { "type": "array", "items": { "properties": {} } } } });
        let expected = json!({ "type": "object", "additionalProperties": false, "properties": {
            "minimum": { "type": "integer" },
            "list": { "type": "array", "items": { "properties": {}, "additionalProperties": false } } } });
        assert_eq!(closed(&Schema::new(schema)), expected);
    }

    #[test]
    fn a_refusal_is_about_a_schema_about_the_field_or_about_something_else() {
        let told = |refusal: &str| {
            let refused = Refused::default();
            let schema = Schema::new(json!({ "type": "object" }));
            let is_about = refused.learn(&schema, refusal);
            (is_about, refused.has(&schema), refused.has(&Schema::new(json!({ "type": "object", "title": "other" }))))
        };
        let schema = (true, true, false);
        let field = (true, true, true);
        let other = (false, false, false);
        for (refusal, expected) in [
            ("Invalid schema for response_format 'answer': 'required' is missing", schema),
            ("output_config.format.schema: For 'integer' type, property 'minimum' is not supported", schema),
            ("Unrecognized request argument supplied: response_format", field),
            ("Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.", field),
            ("'response_format' of type 'json_schema' is not supported with this model", field),
            ("Unknown parameter: 'text'.", field),
            ("output_config: Extra inputs are not permitted", field),
            ("the conversation is too long", other),
        ] {
            assert_eq!(told(refusal), expected, "{refusal}");
        }
    }
}
