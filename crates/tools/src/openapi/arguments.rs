//! The arguments of an operation: its parameters and the properties of its body, side by side.
//! A body that is no object, or whose names clash with a parameter, is one argument, `body`.

use std::collections::BTreeMap;

use consort_core::schema::Schema;
use consort_http::headers::Headers;
use serde_json::{Map, Value, json};

use super::document::{Document, Found};
use super::schema::Schemas;
use crate::HttpEndpoint;
use crate::http::operation::{Form, Kind, Parameter, RequestPart, Style};

/// Parameters that OpenAPI itself leaves to the client, in lower case.
const NOT_PARAMETERS: [&str; 3] = ["accept", "authorization", "content-type"];

/// The arguments of an operation.
pub(super) struct Arguments {
    /// The schema of all of them.
    pub(super) schema: Schema,
    /// The places of those outside of path and body.
    pub(super) parameters: BTreeMap<String, Parameter>,
    /// The body.
    pub(super) body: Form,
}

/// The arguments read so far.
struct Reading<'a, 'b> {
    document: &'b Document<'a>,
    schemas: Schemas<'a, 'b>,
    properties: Map<String, Value>,
    required: Vec<String>,
    parameters: BTreeMap<String, Parameter>,
    /// Whether there may be other arguments, which go into the body.
    is_open: bool,
}

/// Reads the arguments of an operation; the error says why it cannot be offered.
pub(super) fn read<'a>(document: &Document<'a>, found: &Found<'a>) -> Result<Arguments, String> {
    let mut reading = Reading {
        document,
        schemas: Schemas::new(document),
        properties: Map::new(),
        required: Vec::new(),
        parameters: BTreeMap::new(),
        is_open: false,
    };
    let stated = stated(document, found)?;
    reading.path(found.path, &stated)?;
    for parameter in &stated {
        reading.parameter(parameter)?;
    }
    let body = reading.body(found.operation)?;
    let mut schema = json!({
        "type": "object",
        "properties": reading.properties,
        "required": reading.required,
        "additionalProperties": reading.is_open,
    });
    let definitions = reading.schemas.definitions();
    if let (Some(schema), false) = (schema.as_object_mut(), definitions.is_empty()) {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Ok(Arguments { schema: Schema::parse(schema)?, parameters: reading.parameters, body })
}

/// Returns the parameters of an operation; its own replace those of its path.
fn stated<'a>(document: &Document<'a>, found: &Found<'a>) -> Result<Vec<&'a Value>, String> {
    let mut stated: Vec<&Value> = Vec::new();
    let key = |parameter: &'a Value| (parameter.get("name"), parameter.get("in"));
    for described in [found.operation, found.item] {
        for parameter in described.get("parameters").and_then(Value::as_array).into_iter().flatten() {
            let parameter = document.resolve(parameter)?;
            if !stated.iter().any(|known| key(known) == key(parameter)) {
                stated.push(parameter);
            }
        }
    }
    Ok(stated)
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn is_true(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

impl<'a> Reading<'a, '_> {
    /// Reads the placeholders of the path, whether they are described or not.
    fn path(&mut self, path: &str, stated: &[&'a Value]) -> Result<(), String> {
        for part in path.split('{').skip(1) {
            let name = part.split('}').next().unwrap_or_default();
            let stated = stated.iter().find(|known| word(known, "in") == "path" && word(known, "name") == name);
            let schema = stated.map_or_else(|| Ok(json!({ "type": "string" })), |known| self.schema_of(known))?;
            if self.properties.insert(name.to_owned(), schema).is_none() {
                self.required.push(name.to_owned());
            }
        }
        Ok(())
    }

    fn parameter(&mut self, parameter: &'a Value) -> Result<(), String> {
        let name = word(parameter, "name");
        let place = match word(parameter, "in") {
            "query" => RequestPart::Query(style(parameter)),
            "cookie" => RequestPart::Cookie,
            "header" if NOT_PARAMETERS.contains(&name.to_lowercase().as_str()) => return Ok(()),
            "header" => RequestPart::Header,
            _ => return Ok(()),
        };
        if name.is_empty() {
            return Err("a parameter of it has no name".to_owned());
        }
        if place == RequestPart::Header {
            let allowed = Headers::default().set(name, "", HttpEndpoint::OWN_HEADERS);
            allowed.map_err(|reason| format!("its header `{}`: {reason}", super::escaped_name(name)))?;
        }
        let clashes = self.properties.contains_key(name);
        let argument = if clashes { format!("{}_{name}", word(parameter, "in")) } else { name.to_owned() };
        let schema = self.schema_of(parameter)?;
        if self.properties.insert(argument.clone(), schema).is_some() {
            return Err(format!("two arguments of it are called `{}`", super::escaped_name(&argument)));
        }
        if is_true(parameter, "required") {
            self.required.push(argument.clone());
        }
        self.parameters.insert(argument, Parameter { name: name.to_owned(), place });
        Ok(())
    }

    /// Returns the schema of a parameter, with the parameter's description.
    fn schema_of(&mut self, parameter: &'a Value) -> Result<Value, String> {
        let content = parameter.get("content").and_then(Value::as_object).and_then(|content| content.values().next());
        let written = parameter.get("schema").or_else(|| content?.get("schema"));
        let mut schema = written.map_or_else(|| Ok(json!({})), |written| self.schemas.convert(written))?;
        let said = parameter.get("description").filter(|said| said.is_string());
        if let (Some(schema), Some(said)) = (schema.as_object_mut(), said) {
            schema.insert("description".to_owned(), said.clone());
        }
        Ok(schema)
    }

    fn body(&mut self, operation: &'a Value) -> Result<Form, String> {
        let Some(described) = operation.get("requestBody") else { return Ok(Form::None) };
        let described = self.document.resolve(described)?;
        let Some(content) = described.get("content").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
            return Ok(Form::None);
        };
        let is_required = is_true(described, "required");
        let Some((kind, written)) = chosen(content) else {
            return match is_required {
                true => Err("it takes only multipart bodies".to_owned()),
                false => Ok(Form::None),
            };
        };
        let nothing = &Value::Null;
        let schema = written.get("schema").unwrap_or(nothing);
        match &kind {
            Kind::Json | Kind::Form => {
                if self.fields(self.document.resolve(schema)?, is_required)? {
                    return Ok(Form::Fields { kind, required: is_required });
                }
                let schema = if schema.is_null() { json!({}) } else { self.schemas.convert(schema)? };
                self.whole(schema, kind, is_required)
            }
            Kind::Text(_) => self.whole(json!({ "type": "string" }), kind, is_required),
        }
    }

    /// Makes the properties of an object arguments; false where it is no plain object or a name clashes.
    fn fields(&mut self, schema: &'a Value, is_required: bool) -> Result<bool, String> {
        let is_object = match schema.get("type") {
            None => true,
            Some(Value::String(kind)) => kind == "object",
            Some(kinds) => *kinds == json!(["object"]),
        };
        let is_plain = ["allOf", "anyOf", "oneOf", "not"].iter().all(|key| schema.get(key).is_none());
        let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
            return Ok(false);
        };
        let writable: Vec<_> = properties.iter().filter(|(_, property)| !is_true(property, "readOnly")).collect();
        let clashes = writable.iter().any(|(name, _)| self.properties.contains_key(*name));
        if !is_object || !is_plain || clashes || is_true(schema, "nullable") {
            return Ok(false);
        }
        for (name, property) in &writable {
            let property = self.schemas.convert(property)?;
            self.properties.insert((*name).clone(), property);
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let required = required.filter(|name| is_required && writable.iter().any(|(known, _)| known == name));
        self.required.extend(required.map(str::to_owned));
        self.is_open = schema.get("additionalProperties").is_some_and(|more| *more != json!(false));
        Ok(true)
    }

    fn whole(&mut self, schema: Value, kind: Kind, is_required: bool) -> Result<Form, String> {
        let argument = if self.properties.contains_key("body") { "request_body" } else { "body" }.to_owned();
        if self.properties.insert(argument.clone(), schema).is_some() {
            return Err("there is no name left for its body".to_owned());
        }
        if is_required {
            self.required.push(argument.clone());
        }
        Ok(Form::Whole { argument, kind })
    }
}

fn style(parameter: &Value) -> Style {
    let explode = parameter.get("explode").and_then(Value::as_bool);
    match word(parameter, "style") {
        _ if parameter.get("content").is_some() => Style::Json,
        "deepObject" => Style::Brackets,
        "" | "form" if explode.unwrap_or(true) => Style::Each,
        _ => Style::Commas,
    }
}

/// Returns the body to send among those an operation takes: JSON, a form, or any text.
fn chosen(content: &Map<String, Value>) -> Option<(Kind, &Value)> {
    let essence = |name: &str| name.split(';').next().unwrap_or_default().trim().to_lowercase();
    let find = |fits: &dyn Fn(&str) -> bool| content.iter().find(|(name, _)| fits(&essence(name)));
    let json = find(&|name| name == "application/json" || name.ends_with("+json") || name == "*/*");
    let form = || find(&|name| name == "application/x-www-form-urlencoded");
    let text = || find(&|name| !name.starts_with("multipart/") && !name.contains('*'));
    json.map(|(_, written)| (Kind::Json, written))
        .or_else(|| form().map(|(_, written)| (Kind::Form, written)))
        .or_else(|| text().map(|(name, written)| (Kind::Text(essence(name)), written)))
}
