//! The places of the arguments of one operation of an OpenAPI document: path, query,
//! headers, cookies and body. Every value is encoded for its place and stays there.

use std::collections::BTreeMap;

use reqwest::Url;
use reqwest::header::{COOKIE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::HttpMethod;
use super::endpoint::Prepared;
use super::target::{Filled, LIST_MAX, encoded, short_enough, single};

/// One operation; the placeholders of its address are the arguments in its path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operation {
    /// The method.
    pub(crate) method: HttpMethod,
    /// The arguments outside of path and body, by name.
    pub(crate) parameters: BTreeMap<String, Parameter>,
    /// The body.
    pub(crate) body: Form,
}

/// The place of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    /// The name in the request.
    pub(crate) name: String,
    /// The part of the request.
    pub(crate) place: RequestPart,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestPart {
    /// A value of the query.
    Query(Style),
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

/// The way a value of the query is written that is no single text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// One value per item of a list or field of an object.
    Each,
    /// One value, with commas.
    Commas,
    /// `name[field]=value` for each field of an object.
    Brackets,
    /// One value, as JSON.
    Json,
}

/// The form of a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// There is none.
    None,
    /// The arguments without another place are its fields.
    Fields {
        /// The way it is written.
        kind: Kind,
        /// Whether it is sent without fields too.
        required: bool,
    },
    /// One argument is the whole body.
    Whole {
        /// The argument.
        argument: String,
        /// The way it is written.
        kind: Kind,
    },
}

/// The way a body is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// As JSON.
    Json,
    /// As the fields of a form.
    Form,
    /// As a text of this media type.
    Text(String),
}

/// A body, ready to be sent.
#[derive(Debug)]
pub(crate) enum Content {
    /// A JSON value.
    Json(Value),
    /// A text of this media type.
    Text {
        /// The media type.
        kind: String,
        /// The text.
        text: String,
    },
}

impl Operation {
    /// Returns the request of a call; the error says what is wrong with its arguments.
    pub(super) fn prepare(&self, filled: Filled) -> Result<Prepared, String> {
        let mut rest = filled.rest;
        let mut query = Vec::new();
        let mut cookies = Vec::new();
        let mut headers = HeaderMap::new();
        for (argument, parameter) in &self.parameters {
            let Some(value) = rest.remove(argument).filter(|value| !value.is_null()) else { continue };
            match parameter.place {
                RequestPart::Query(style) => pairs(argument, &parameter.name, style, &value, &mut query)?,
                RequestPart::Cookie => {
                    cookies.push(format!("{}={}", encoded(&parameter.name), encoded(&single(argument, &value)?)));
                }
                RequestPart::Header => {
                    let (name, value) = header(argument, &parameter.name, &value)?;
                    headers.insert(name, value);
                }
            }
        }
        if !cookies.is_empty() {
            // Encoded names and values have nothing in them that a header does not take.
            headers.extend(HeaderValue::try_from(cookies.join("; ")).ok().map(|value| (COOKIE, value)));
        }
        let url = with_query(filled.url, &query)?;
        Ok(Prepared { method: self.method.sent(), url, headers, body: self.content(rest)? })
    }

    fn content(&self, mut rest: Map<String, Value>) -> Result<Option<Content>, String> {
        match &self.body {
            Form::None => Ok(None),
            Form::Fields { required, .. } if rest.is_empty() && !required => Ok(None),
            Form::Fields { kind, .. } => written(kind, "body", Value::Object(rest)).map(Some),
            Form::Whole { argument, kind } => {
                rest.remove(argument).map(|value| written(kind, argument, value)).transpose()
            }
        }
    }
}

fn written(kind: &Kind, argument: &str, value: Value) -> Result<Content, String> {
    match (kind, value) {
        (Kind::Json, value) => Ok(Content::Json(value)),
        (Kind::Text(kind), value) => Ok(Content::Text { kind: kind.clone(), text: single(argument, &value)? }),
        (Kind::Form, Value::Object(fields)) => {
            let mut form = Vec::new();
            for (name, value) in fields {
                pairs(&name, &name, Style::Brackets, &value, &mut form)?;
            }
            Ok(Content::Text { kind: "application/x-www-form-urlencoded".to_owned(), text: form.join("&") })
        }
        (Kind::Form, _) => Err(format!("`{argument}` must be an object")),
    }
}

fn header(argument: &str, name: &str, value: &Value) -> Result<(HeaderName, HeaderValue), String> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{argument}` cannot be sent"))?;
    let value = HeaderValue::from_bytes(single(argument, value)?.as_bytes());
    Ok((name, value.map_err(|_| format!("`{argument}` must be one line without control characters"))?))
}

fn with_query(mut url: Url, query: &[String]) -> Result<Url, String> {
    if !query.is_empty() {
        url.set_query(Some(&query.join("&")));
    }
    short_enough(url.as_str())
}

/// Adds the values of an argument to a query or a form.
fn pairs(argument: &str, name: &str, style: Style, value: &Value, to: &mut Vec<String>) -> Result<(), String> {
    let mut add = |name: &str, text: &str| to.push(format!("{}={}", encoded(name), encoded(text)));
    let count = value.as_array().map_or_else(|| value.as_object().map_or(1, Map::len), Vec::len);
    if count > LIST_MAX {
        return Err(format!("`{argument}` has more than {LIST_MAX} items"));
    }
    match (value, style) {
        (Value::Array(_) | Value::Object(_), Style::Json) => add(name, &value.to_string()),
        (Value::Array(items), Style::Commas) => {
            let texts: Vec<String> = items.iter().map(|item| text(argument, item)).collect::<Result<_, _>>()?;
            add(name, &texts.join(","));
        }
        (Value::Array(items), Style::Each | Style::Brackets) => {
            for item in items {
                add(name, &text(argument, item)?);
            }
        }
        (Value::Object(fields), Style::Commas) => {
            let texts = fields.iter().map(|(field, value)| Ok(format!("{field},{}", text(argument, value)?)));
            add(name, &texts.collect::<Result<Vec<_>, String>>()?.join(","));
        }
        (Value::Object(fields), Style::Brackets) => {
            for (field, value) in fields {
                add(&format!("{name}[{field}]"), &text(argument, value)?);
            }
        }
        (Value::Object(fields), Style::Each) => {
            for (field, value) in fields {
                add(field, &text(argument, value)?);
            }
        }
        (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => add(name, &single(argument, value)?),
    }
    Ok(())
}

/// Returns a value inside of another as text; one with parts of its own as JSON.
fn text(argument: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::Array(_) | Value::Object(_) => Ok(value.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => single(argument, value),
    }
}
