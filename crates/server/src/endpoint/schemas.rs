//! Schemas of requests and answers, made from the types: each named one is a component. Forms of the derive that
//! clients do not expect are replaced: a choice of words is an `enum`, a field that may be left out is not nullable.

use consort_core::choice::WORDS;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::frames::components;

/// The place of components.
const COMPONENTS: &str = "/components/schemas";
/// Formats that say nothing beside `minimum`.
const NUMBER_FORMATS: [&str; 12] =
    ["uint", "uint8", "uint16", "uint32", "uint64", "int", "int8", "int16", "int32", "int64", "float", "double"];

/// Makes the schema of a type.
pub(super) type SchemaOf = fn(&mut Schemas) -> Value;

/// The schemas that a description refers to.
pub(super) struct Schemas {
    sent: SchemaGenerator,
    answered: SchemaGenerator,
}

/// The side that writes a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Client,
    Server,
}

impl Schemas {
    pub(super) fn new() -> Schemas {
        let mut settings = SchemaSettings::draft2020_12();
        settings.definitions_path = COMPONENTS.into();
        settings.meta_schema = None;
        Schemas {
            sent: settings.clone().for_deserialize().into_generator(),
            answered: settings.for_serialize().into_generator(),
        }
    }

    /// Returns the schema of a type that a client sends.
    pub(super) fn sent<T: JsonSchema>(&mut self) -> Value {
        tidy(self.sent.subschema_for::<T>().to_value(), Writer::Client)
    }

    /// Returns the schema of the fields that a client sends, without a component for them.
    pub(super) fn fields<T: JsonSchema>(&mut self) -> Value {
        tidy(T::json_schema(&mut self.sent).to_value(), Writer::Client)
    }

    /// Returns the schema of a type that the server answers with.
    pub(super) fn answered<T: JsonSchema>(&mut self) -> Value {
        nothing_said(tidy(self.answered.subschema_for::<T>().to_value(), Writer::Server))
    }

    /// Returns the schema of one event of a stream.
    pub(super) fn event(&mut self) -> Value {
        reference("ServerSentEvent")
    }

    /// Returns every schema that has a name.
    pub(super) fn components(mut self) -> Components {
        let mut components = Components { schemas: frames(), words: Map::new(), clashes: Vec::new() };
        let sent = self.sent.take_definitions(true).into_iter().map(|named| (named, Writer::Client));
        let answered = self.answered.take_definitions(true).into_iter().map(|named| (named, Writer::Server));
        for ((name, schema), writer) in sent.chain(answered) {
            components.add(name, tidy(schema, writer));
        }
        let schemas = std::mem::take(&mut components.schemas);
        let spelled = schemas.into_iter().map(|(name, schema)| (name, components.spelled_out(schema)));
        components.schemas = spelled.collect();
        components.schemas.sort_keys();
        components
    }
}

/// Schemas by their names.
pub(super) struct Components {
    pub(super) schemas: Map<String, Value>,
    /// Those that are nothing but a list of words: they are written where they are used.
    words: Map<String, Value>,
    /// Names that mean two things.
    pub(super) clashes: Vec<String>,
}

impl Components {
    fn add(&mut self, name: String, schema: Value) {
        // The generator counts where two types of one writer have the same name.
        let is_counted = name.ends_with(|last: char| last.is_ascii_digit());
        let known = self.schemas.get(&name).or_else(|| self.words.get(&name));
        if is_counted || known.is_some_and(|known| *known != schema) {
            self.clashes.push(name.clone());
        }
        let schemas = if word(&schema).is_some() { &mut self.words } else { &mut self.schemas };
        schemas.insert(name, schema);
    }

    /// Returns a schema in which references to lists of words are replaced by the words.
    pub(super) fn spelled_out(&self, mut schema: Value) -> Value {
        match &mut schema {
            Value::Array(parts) => parts.iter_mut().for_each(|part| *part = self.spelled_out(part.take())),
            Value::Object(fields) => {
                fields.values_mut().for_each(|part| *part = self.spelled_out(part.take()));
                let name = fields.get("$ref").and_then(Value::as_str).and_then(|place| place.rsplit('/').next());
                if let Some(Value::Object(named)) = name.and_then(|name| self.words.get(name)) {
                    let mut spelled = named.clone();
                    fields.remove("$ref");
                    spelled.extend(std::mem::take(fields));
                    *fields = spelled;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        schema
    }
}

/// Returns the parameters that the fields of a query are.
pub(super) fn query_parameters(fields: &Value) -> Vec<Value> {
    let required = fields.get("required").and_then(Value::as_array);
    let properties = fields.get("properties").and_then(Value::as_object).into_iter().flatten();
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        forbid_null(&mut schema);
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let is_required = required.is_some_and(|names| names.iter().any(|needed| needed == name.as_str()));
        json!({ "name": name, "in": "query", "required": is_required, "schema": schema, "description": description })
    };
    properties.map(parameter).collect()
}

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#{COMPONENTS}/{name}") })
}

/// Returns the schemas of frames, which are made apart.
fn frames() -> Map<String, Value> {
    let mut all = components(COMPONENTS);
    let event = json!({ "type": "object", "description": "One event of a stream.", "required": ["data"],
        "properties": {
            "data": { "type": "string", "contentMediaType": "application/json",
                "contentSchema": reference("Frame"), "description": "The frame, or an `error` that ends the stream." },
            "event": { "type": "string", "description": "The frame's type." },
            "id": { "type": "string", "description": "The event's number; what is not stored has none." } } });
    all.insert("ServerSentEvent".to_owned(), event);
    all
}

/// Returns a schema in the form that clients expect.
fn tidy(mut schema: Value, writer: Writer) -> Value {
    match &mut schema {
        Value::Array(parts) => parts.iter_mut().for_each(|part| *part = tidy(part.take(), writer)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|part| *part = tidy(part.take(), writer));
            tidy_object(fields, writer);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    schema
}

fn tidy_object(fields: &mut Map<String, Value>, writer: Writer) {
    allow_anything(fields);
    if fields.get("format").and_then(Value::as_str).is_some_and(|format| NUMBER_FORMATS.contains(&format)) {
        fields.remove("format");
    }
    if let Some(Value::String(description)) = fields.get_mut("description") {
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if let Some(Value::Array(words)) = fields.remove(WORDS) {
        explain(fields, &words);
    }
    join_words(fields);
    if writer == Writer::Server {
        // It is for who reads what others left out; the server leaves nothing out for it.
        fields.remove("default");
        let required = fields.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|known| known == name));
        let properties = fields.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
        // What has no value is left out, where it may be.
        properties.filter(|(name, _)| !is_required(name)).for_each(|(_, property)| forbid_null(property));
    }
}

/// Removes schemas that allow anything: such a schema is left out or empty.
fn allow_anything(fields: &mut Map<String, Value>) {
    if fields.get("additionalProperties") == Some(&Value::Bool(true)) {
        fields.remove("additionalProperties");
    }
    let properties = fields.get("properties").is_some_and(Value::is_object).then_some("properties");
    let properties = properties.and_then(|name| fields.get_mut(name)).and_then(Value::as_object_mut);
    for property in properties.into_iter().flatten().map(|(_, property)| property) {
        *property = nothing_said(property.take());
    }
    if let Some(items) = fields.get_mut("items") {
        *items = nothing_said(items.take());
    }
}

/// Returns an empty schema for one that is only `true`.
fn nothing_said(schema: Value) -> Value {
    if schema == Value::Bool(true) { json!({}) } else { schema }
}

/// Lists the words that a field takes.
fn explain(fields: &mut Map<String, Value>, words: &[Value]) {
    let listed = words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    let before = fields.get("description").and_then(Value::as_str).map(|text| format!("{text} ")).unwrap_or_default();
    fields.insert("description".to_owned(), format!("{before}One of {listed}, in any case.").into());
    fields.insert("examples".to_owned(), words.iter().take(1).cloned().collect());
}

/// Turns a choice of constants into a list of words.
fn join_words(fields: &mut Map<String, Value>) {
    let choices = fields.get("oneOf").and_then(Value::as_array);
    let words = choices.map(|choices| choices.iter().map(word).collect::<Option<Vec<Vec<Value>>>>());
    if let Some(Some(words)) = words {
        fields.remove("oneOf");
        fields.insert("type".to_owned(), "string".into());
        fields.insert("enum".to_owned(), words.concat().into());
    }
    if let Some([only]) = fields.get("enum").and_then(Value::as_array).map(Vec::as_slice) {
        let only = only.clone();
        fields.remove("enum");
        fields.insert("const".to_owned(), only);
    }
}

/// Returns the words of a schema that takes nothing else.
fn word(schema: &Value) -> Option<Vec<Value>> {
    let is_text = schema.get("type").is_some_and(|kind| kind == "string");
    let constant = schema.get("const").map(|word| vec![word.clone()]);
    constant.or_else(|| schema.get("enum")?.as_array().cloned()).filter(|_| is_text)
}

fn forbid_null(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            fields.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(words)) = fields.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            fields.remove("anyOf");
            fields.extend(only.into_iter().filter(|(name, _)| name != "description").collect::<Vec<_>>());
        }
    }
}
