//! `json {json, query}`: looks things up in JSON and turns it into other JSON,
//! in the language of jq. The interpreter is a library's; the values and the
//! limits are ours, so that no query takes long, grows large or recurses deeply.

mod functions;
mod meter;
#[cfg(test)]
mod tests;
mod value;

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::ToolInfo;
use consort_core::schema::Schema;
use futures::future::BoxFuture;
use jaq_core::data::HasLut;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, DataT, Filter, Lut, Vars};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::{arguments, short};
use super::own_thread::on_own_thread;
use super::{Answer, Invocation, Tool};
use meter::{metered, step};
use value::Val;

/// The maximum size of the JSON in bytes.
const INPUT_MAX: usize = 1024 * 1024;
/// The maximum size of a query in bytes.
const QUERY_MAX: usize = 4 * 1024;
/// The maximum size of all results together in bytes.
const OUTPUT_MAX: usize = 256 * 1024;
/// The time limit of a query.
const TIME_MAX: Duration = Duration::from_secs(2);
/// The definitions available to queries besides the interpreter's own filters.
const DEFINITIONS: &str = include_str!("definitions.jq");

/// The tool that queries JSON.
#[derive(Clone, Debug)]
pub struct Json(Arc<ToolInfo>);

#[derive(Deserialize)]
struct Args {
    json: Value,
    query: String,
}

impl Default for Json {
    fn default() -> Json {
        let about = "Looks things up in JSON, or turns it into other JSON, with a jq query: `.items[].name`, \
                     `map(select(.price > 10)) | length`, `group_by(.city) | map({city: .[0].city, n: length})`. \
                     Answers with one result per line.";
        let schema =
            Schema::new(json!({ "type": "object", "required": ["json", "query"], "additionalProperties": false,
            "properties": {
                "json": { "description": "The JSON, as text or as it is" },
                "query": { "type": "string" } } }));
        Json(Arc::new(ToolInfo { schema, ..ToolInfo::new("json", about) }))
    }
}

impl Tool for Json {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.0
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(async move { answer(invocation.args).await.unwrap_or_else(Answer::Failed) })
    }
}

async fn answer(args: Value) -> Result<Answer, String> {
    let Args { json, query } = arguments(args)?;
    let input = input(json)?;
    if query.len() > QUERY_MAX {
        return Err(format!("the query is longer than {QUERY_MAX} bytes"));
    }
    let work = move |patience| metered(patience, || results(&query, &input));
    let found = on_own_thread("json", meter::STACK_BYTES, TIME_MAX, work).await?;
    let text = found.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    Ok(match <[Value; 1]>::try_from(found) {
        Ok([Value::String(text)]) => Answer::Done { text, data: None },
        Ok([one]) => Answer::Done { text, data: Some(one) },
        Err(none) if none.is_empty() => Answer::Done { text: "(no results)".to_owned(), data: Some(json!([])) },
        Err(many) => Answer::Done { text, data: Some(many.into()) },
    })
}

fn input(json: Value) -> Result<Value, String> {
    match &json {
        Value::String(text) if text.len() > INPUT_MAX => Err(format!("the JSON is longer than {INPUT_MAX} bytes")),
        Value::String(text) => serde_json::from_str(text).map_err(|error| format!("`json` is not JSON: {error}")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Ok(json),
    }
}

/// The interpreter's type parameters for our values and data.
enum Query {}

/// The compiled query. It is copied at every step of the interpreter, which is
/// where steps are counted.
struct Metered<'a>(&'a Lut<Query>);

impl DataT for Query {
    type V<'a> = Val;
    type Data<'a> = Metered<'a>;
}

impl Clone for Metered<'_> {
    fn clone(&self) -> Self {
        step();
        Metered(self.0)
    }
}

impl<'a> HasLut<'a, Query> for Metered<'a> {
    fn lut(&self) -> &'a Lut<Query> {
        self.0
    }
}

/// Returns jq's spelling of the path `$.a.b[0]` or `a.b[0]`.
/// A single word is not a path: it may be an unknown filter.
fn path(query: &str) -> Option<String> {
    let rooted = query.strip_prefix('$').filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let names = rooted.or_else(|| Some(query).filter(|query| query.contains(['.', '['])))?.trim_start_matches('.');
    let plain = |letter: char| letter.is_alphanumeric() || "_.[]\"-".contains(letter);
    names.chars().all(plain).then(|| format!(".{names}"))
}

fn results(query: &str, input: &Value) -> Result<Vec<Value>, String> {
    let filter = compiled(query).or_else(|refused| path(query).and_then(|path| compiled(&path).ok()).ok_or(refused))?;
    let context = Ctx::<Query>::new(Metered(&filter.lut), Vars::new([]));
    let mut found = Vec::new();
    let mut size = 0;
    for result in filter.id.run((context, Val::from(input))) {
        let failed = |error: String| format!("the query failed: {}", short(&error));
        let ended = |_| "the query failed: it was ended".to_owned();
        let value = result.map_err(|end| end.get_err().map_or_else(ended, |error| failed(error.to_string())))?;
        size += value.to_string().len();
        if size > OUTPUT_MAX {
            return Err(format!("the results are longer than {OUTPUT_MAX} bytes; narrow the query"));
        }
        found.push(value.json());
    }
    Ok(found)
}

fn compiled(query: &str) -> Result<Filter<Query>, String> {
    let definitions = load::parse(DEFINITIONS, |parser| parser.defs()).unwrap_or_default();
    let arena = Arena::default();
    let loader = Loader::new(jaq_core::defs().chain(definitions));
    let modules = loader.load(&arena, File { code: query, path: () });
    let modules =
        modules.map_err(|errors| errors.first().map_or_else(String::new, |(_, error)| unreadable(query, error)))?;
    let compiler = Compiler::default().with_funs(jaq_core::funs().chain(functions::functions()));
    compiler.compile(modules).map_err(|errors| {
        let unknown = errors.into_iter().flat_map(|(_, unknown)| unknown);
        let names = unknown.map(|(name, what)| format!("the {} `{name}` is not known here", what.as_str()));
        names.collect::<Vec<_>>().join("; ")
    })
}

/// Describes the place where a query cannot be parsed.
fn unreadable(query: &str, error: &load::Error<&str>) -> String {
    let (expected, rest) = match error {
        load::Error::Io(_) => return "other files cannot be imported here".to_owned(),
        load::Error::Lex(errors) => errors.first().map(|(expected, rest)| (expected.as_str(), *rest)),
        load::Error::Parse(errors) => errors.first().map(|(expected, rest)| (expected.as_str(), *rest)),
    }
    .unwrap_or_default();
    let place = if rest.is_empty() { "at its end".to_owned() } else { format!("at `{}`", short(rest)) };
    format!("`{}` is not a query: {expected} is expected {place}", short(query))
}
