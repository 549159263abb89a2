//! `openapi.json`, made of the endpoints. A test compares it with the file in
//! the repository, from which clients are made.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use super::describe::{HEADERS, PARAMETERS, path_parameters};
use super::schemas::{Components, Schemas, query_parameters};
use super::{Answer, Endpoint, JSON, Needs, Operation, Tag};
use crate::a2a;
use crate::openai::{self, OpenAiError};
use consort_inbound::problem::{Code, Written};

/// Answers that tests got, by method and path, then by status.
const EXAMPLES: &str = include_str!("../../../../schemas/examples.json");
/// The description of the API, in two sentences.
const ABOUT: &str = "Runs ensembles of language-model agents and lets people and programs steer them while they run. \
    Failures are problem details (RFC 9457). Unknown fields may be added to answers.";
/// Characters of a line, where a value fits on one.
const WIDTH: usize = 110;
/// The answer with a problem, whatever it is.
const PROBLEM: &str = "#/components/responses/Problem";
/// The same in the form of OpenAI's API.
const OPENAI_ERROR: &str = "#/components/responses/OpenAiError";

/// The same in the form of the A2A protocol.
const A2A_ERROR: &str = "#/components/responses/A2aError";

/// The description of an API.
pub(crate) struct Document {
    pub(crate) text: String,
    /// Names of schemas that mean two things.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test looks at it"))]
    pub(crate) clashes: Vec<String>,
}

/// Describes the endpoints.
pub(crate) fn document(endpoints: &[Endpoint]) -> Document {
    let mut schemas = Schemas::new();
    let examples: Value = serde_json::from_str(EXAMPLES).unwrap_or_default();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in endpoints {
        let examples = examples.get(format!("{} {}", endpoint.method, endpoint.path)).unwrap_or(&Value::Null);
        let described = endpoint.described(&mut schemas, examples);
        let item = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        if let Value::Object(methods) = item {
            methods.insert(endpoint.method.as_str().to_lowercase(), described);
        }
    }
    let problem = schemas.answered::<Written<'_>>();
    let openai = schemas.answered::<OpenAiError<'_>>();
    let a2a = schemas.answered::<Map<String, Value>>();
    let components = schemas.components();
    let paths = components.spelled_out(paths.into());
    let Components { mut schemas, clashes, .. } = components;
    describe_warnings(
        &mut schemas,
        endpoints.iter().filter(|endpoint| endpoint.warns() || endpoint.takes_nothing()),
        &paths,
    );
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "Consort", "version": env!("CARGO_PKG_VERSION"), "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0" } },
        "servers": [{ "url": "/" }],
        "security": [{}, { "key": [] }],
        "tags": Tag::ALL.map(Tag::described),
        "paths": paths,
        "components": { "securitySchemes": security(), "parameters": parameters(), "headers": headers(),
            "responses": { "Problem": { "description": "It did not work.",
                "content": { "application/problem+json": { "schema": problem } } },
                "OpenAiError": { "description": "It did not work.", "content": { JSON: { "schema": openai } } },
                "A2aError": { "description": "It did not work.", "content": { JSON: { "schema": a2a } } } },
            "schemas": schemas },
    });
    Document { text: written(&document, 0) + "\n", clashes }
}

/// Describes the `warnings` of answers to requests whose unknown fields are named.
fn describe_warnings<'a>(
    schemas: &mut Map<String, Value>,
    endpoints: impl Iterator<Item = &'a Endpoint>,
    paths: &Value,
) {
    let mut names = Vec::new();
    for endpoint in endpoints {
        let method = endpoint.method.as_str().to_lowercase();
        let answers = paths.get(endpoint.path).and_then(|methods| methods.get(method)?.get("responses")?.as_object());
        let contents = answers.into_iter().flatten().filter_map(|(_, answer)| answer.get("content")?.get(JSON));
        let references = contents.filter_map(|content| content.get("schema")?.get("$ref")?.as_str());
        names.extend(references.filter_map(|reference| reference.rsplit('/').next()));
    }
    let about = "The fields of the request that were ignored, because they are unknown.";
    let described = json!({ "type": "array", "items": { "type": "string" }, "description": about });
    for name in names {
        let properties = schemas.get_mut(name).and_then(|schema| schema.get_mut("properties")?.as_object_mut());
        if let Some(properties) = properties {
            properties.entry("warnings").or_insert_with(|| described.clone());
        }
    }
}

fn security() -> Value {
    json!({ "key": { "type": "http", "scheme": "bearer",
        "description": "Needed where keys are configured; `x-scope` says what a key must allow, and `x-owner` \
            whose things it is about: `shared` by all keys, the `runs` that the key sees (others are missing), or the \
            `key`'s own." } })
}

fn parameters() -> Map<String, Value> {
    PARAMETERS.iter().map(|parameter| (parameter.component.to_owned(), parameter.described())).collect()
}

fn headers() -> Map<String, Value> {
    HEADERS.iter().map(|header| (header.name.to_owned(), header.described())).collect()
}

impl Endpoint {
    fn described(&self, schemas: &mut Schemas, examples: &Value) -> Value {
        let Operation { id, tag, summary, description, .. } = &self.operation;
        let mut described = Map::new();
        let mut say = |name: &str, value: Value| described.insert(name.to_owned(), value);
        say("operationId", (*id).into());
        say("tags", json!([tag.words().0]));
        say("summary", (*summary).into());
        description.map(|text| say("description", text.into()));
        match self.needs {
            Needs::Nothing => say("security", json!([{}])),
            Needs::Scope(scope) => {
                say("x-scope", scope.word().into());
                say("x-owner", self.whose.word().into())
            }
        };
        let parameters = self.parameters(schemas);
        if !parameters.is_empty() {
            say("parameters", parameters.into());
        }
        if let Some(body) = &self.operation.body {
            let kinds: &[&str] = if a2a::is_path(self.path) { &[JSON, a2a::MEDIA_TYPE] } else { &[JSON] };
            let schema = body.schema.map(|schema| json!({ "schema": object(schema(schemas)) }));
            let json = schema.iter().flat_map(|schema| kinds.iter().map(|kind| ((*kind).to_owned(), schema.clone())));
            let file =
                |kind: &&str| ((*kind).to_owned(), json!({ "schema": { "type": "string", "format": "binary" } }));
            let content: Map<String, Value> = json.chain(body.files.iter().map(file)).collect();
            say("requestBody", json!({ "required": body.required, "content": content }));
        }
        say("responses", self.responses(schemas, examples).into());
        described.into()
    }

    fn parameters(&self, schemas: &mut Schemas) -> Vec<Value> {
        let mut parameters = path_parameters(self.path);
        for fields in &self.operation.query {
            parameters.extend(query_parameters(&fields(schemas)));
        }
        parameters.extend(self.operation.parameters.iter().map(|parameter| parameter.reference()));
        parameters
    }

    fn responses(&self, schemas: &mut Schemas, examples: &Value) -> Map<String, Value> {
        let mut responses = Map::new();
        for answer in &self.operation.answers {
            let status = answer.status.as_str();
            responses.insert(status.to_owned(), answer.described(schemas, examples.get(status)));
        }
        let mut problems: BTreeMap<String, Vec<Code>> = BTreeMap::new();
        for (status, code) in &self.operation.problems {
            problems.entry(status.as_str().to_owned()).or_default().push(*code);
        }
        // Any other status means a malformed request, or a failure of the server.
        for status in ["4XX", "503"] {
            problems.entry(status.to_owned()).or_default();
        }
        // Where 429 has codes of its own, a client that was refused too often gets another.
        let busy = StatusCode::TOO_MANY_REQUESTS.as_str();
        problems.entry(busy.to_owned()).and_modify(|codes| codes.push(Code::TooManyRefusals));
        for (status, codes) in problems {
            responses.entry(status).or_insert_with(|| problem(self.path, &codes));
        }
        responses
    }
}

/// Returns the answer with one of some problems.
fn problem(path: &str, codes: &[Code]) -> Value {
    let reference = match path {
        path if openai::is_path(path) => OPENAI_ERROR,
        path if a2a::is_path(path) => A2A_ERROR,
        _ => PROBLEM,
    };
    let words: Vec<String> = codes.iter().map(|code| format!("`{}`", code.word())).collect();
    match words.is_empty() {
        true => json!({ "$ref": reference }),
        false => json!({ "$ref": reference, "description": words.join(", ") }),
    }
}

impl Answer {
    fn described(&self, schemas: &mut Schemas, example: Option<&Value>) -> Value {
        let mut described = json!({ "description": self.description });
        let Value::Object(fields) = &mut described else { return described };
        if !self.headers.is_empty() {
            let headers = self.headers.iter().map(|header| (header.name.to_owned(), header.reference()));
            fields.insert("headers".to_owned(), headers.collect::<Map<_, _>>().into());
        }
        let mut contents = Map::new();
        for (kind, schema) in &self.contents {
            let mut content = json!({ "schema": schema(schemas) });
            if let (JSON, Some(example), Value::Object(content)) = (*kind, example, &mut content) {
                content.insert("example".to_owned(), example.clone());
            }
            contents.insert((*kind).to_owned(), content);
        }
        if !contents.is_empty() {
            fields.insert("content".to_owned(), contents.into());
        }
        described
    }
}

/// Returns JSON in which every value that fits on one line is on one line.
pub(super) fn written(value: &Value, indent: usize) -> String {
    let flat = value.to_string();
    let inner = " ".repeat(indent + 2);
    let outer = " ".repeat(indent);
    match value {
        _ if flat.chars().count() + indent <= WIDTH => flat,
        Value::Object(fields) => {
            let line = |(name, field): (&String, &Value)| {
                format!("{inner}{}: {}", Value::from(name.as_str()), written(field, indent + 2))
            };
            format!("{{\n{}\n{outer}}}", fields.iter().map(line).collect::<Vec<_>>().join(",\n"))
        }
        Value::Array(items) => {
            let lines = items.iter().map(|item| format!("{inner}{}", written(item, indent + 2)));
            format!("[\n{}\n{outer}]", lines.collect::<Vec<_>>().join(",\n"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => flat,
    }
}

/// Returns a schema as an object: anything is `{}`, which more readers of descriptions know than `true`.
fn object(schema: Value) -> Value {
    if schema == Value::Bool(true) { json!({}) } else { schema }
}
