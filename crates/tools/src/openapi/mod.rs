//! Tools from an OpenAPI 3 document: each operation is one, `<name>_<operationId>`. The document may
//! come from a stranger: its size, references and schemas have limits, it cannot send calls or credentials
//! to a server that the configuration does not name, and an operation that cannot be offered is left out and reported.

mod arguments;
mod document;
mod fetch;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::ToolInfo;
use consort_core::dynamic::is_plain;
use consort_http::headers::Headers;
use reqwest::Url;
use serde_json::Value;

use self::arguments::Arguments;
use self::document::{Document, Found};
pub use self::fetch::fetch;
use crate::http::operation::Operation;
use crate::{ClientCredentials, HttpEndpoint, http_tool_info, with_effect};

/// The maximum number of tools of one document: a model is shown all of them.
pub const OPERATIONS_MAX: usize = 200;
/// The maximum size of a document in bytes; the largest that are published have a third of it.
pub const DOCUMENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The maximum number of characters of a tool's description.
const DESCRIPTION_MAX: usize = 1_024;
/// The maximum number of characters of an operationId.
const ID_MAX: usize = 128;

/// The configured options of an API.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiOptions {
    /// The name, with which the names of its tools begin.
    pub name: String,
    /// The operationIds or tags to offer, with `*` for any characters; empty: all.
    pub include: Vec<String>,
    /// The address of the API; absent: the one in the document.
    pub url: Option<String>,
    /// Headers of every request.
    pub headers: Headers,
    /// The credentials to get a token with, which all its tools share.
    pub auth: Option<ClientCredentials>,
    /// The maximum duration of a call.
    pub timeout: Duration,
}

/// The tools of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApiTools {
    /// The tools, in the order of the document.
    pub tools: Vec<ApiTool>,
    /// The operations that are not offered, each with the reason.
    pub left_out: Vec<String>,
}

/// An operation as a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiTool {
    /// The description of the tool.
    pub info: Arc<ToolInfo>,
    /// The address and the form of its calls.
    pub endpoint: HttpEndpoint,
}

/// The reason why a document gives no tools, by the key that must be corrected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenApiError {
    /// The document cannot be fetched: it may be there later.
    #[error("{0}")]
    Away(String),
    /// The document.
    #[error("{0}")]
    Spec(String),
    /// The address of the API.
    #[error("{0}")]
    Url(String),
    /// A pattern of `include`.
    #[error("{reason}")]
    Include {
        /// The position in the list.
        index: usize,
        /// The reason.
        reason: String,
    },
}

impl OpenApiError {
    /// Returns the key of the configuration that it is about.
    pub fn key(&self) -> String {
        match self {
            OpenApiError::Away(_) | OpenApiError::Spec(_) => "spec".to_owned(),
            OpenApiError::Url(_) => "url".to_owned(),
            OpenApiError::Include { index, .. } => format!("include[{index}]"),
        }
    }
}

/// Returns the tools of a document; `from` is its address, if it was fetched.
pub fn api_tools(bytes: &[u8], from: Option<&Url>, options: &ApiOptions) -> Result<ApiTools, OpenApiError> {
    let json = parsed(bytes)?;
    let document = Document::new(&json, from, options.url.as_deref())?;
    let wanted = included(document.operations()?, &options.include)?;
    if wanted.len() > OPERATIONS_MAX {
        let count = wanted.len();
        let message = format!("has {count} operations; at most {OPERATIONS_MAX} are offered: choose with `include`");
        return Err(OpenApiError::Spec(message));
    }
    let mut offered = ApiTools::default();
    let mut taken = HashSet::new();
    for found in &wanted {
        let left_out = |reason: String| format!("`{}` is left out: {reason}", escaped_name(&found.id));
        match tool(&document, found, options) {
            Ok(tool) if taken.insert(tool.info.name.clone()) => offered.tools.push(tool),
            Ok(tool) => {
                offered.left_out.push(left_out(format!("another operation is called `{}` too", tool.info.name)))
            }
            Err(reason) => offered.left_out.push(left_out(reason)),
        }
    }
    match (offered.tools.is_empty(), offered.left_out.first()) {
        (true, Some(first)) => Err(OpenApiError::Spec(format!("no operation of it can be offered: {first}"))),
        (true, None) => Err(OpenApiError::Spec("has no operations".to_owned())),
        (false, _) => Ok(offered),
    }
}

fn parsed(bytes: &[u8]) -> Result<Value, OpenApiError> {
    if bytes.len() > DOCUMENT_BYTES_MAX {
        return Err(OpenApiError::Spec(format!("is longer than {DOCUMENT_BYTES_MAX} bytes")));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let start = bytes.trim_ascii_start();
        let is_yaml = start.starts_with(b"openapi:") || start.starts_with(b"---") || start.starts_with(b"#");
        let hint = if is_yaml { "; it looks like YAML: convert it to JSON first" } else { "" };
        OpenApiError::Spec(format!("is not JSON: {error}{hint}"))
    })
}

/// Returns the operations that the patterns choose, each of which must choose one.
fn included<'a>(all: Vec<Found<'a>>, patterns: &[String]) -> Result<Vec<Found<'a>>, OpenApiError> {
    let chosen = |pattern: &str, found: &Found<'_>| {
        matches(pattern, &found.id) || found.tags.iter().any(|tag| matches(pattern, tag))
    };
    for (index, pattern) in patterns.iter().enumerate() {
        if !all.iter().any(|found| chosen(pattern, found)) {
            let names = all.iter().flat_map(|found| found.tags.iter().copied().chain([found.id.as_str()]));
            let meant = nearest(pattern, names).map(|name| format!("; did you mean `{}`?", escaped_name(name)));
            let meant = meant.unwrap_or_else(|| format!("; its tags are {}", tags(&all)));
            let reason = format!("matches no operationId and no tag of the document{meant}");
            return Err(OpenApiError::Include { index, reason });
        }
    }
    let wanted = |found: &Found<'_>| patterns.is_empty() || patterns.iter().any(|pattern| chosen(pattern, found));
    Ok(all.into_iter().filter(wanted).collect())
}

/// The number of tags that a message lists.
const TAGS_SHOWN: usize = 20;

fn tags(all: &[Found<'_>]) -> String {
    let mut tags: Vec<&str> = all.iter().flat_map(|found| found.tags.iter().copied()).collect();
    tags.sort_unstable();
    tags.dedup();
    match tags.as_slice() {
        [] => "none".to_owned(),
        tags => tags.iter().take(TAGS_SHOWN).map(|tag| escaped_name(tag)).collect::<Vec<_>>().join(", "),
    }
}

/// The longest name that is compared with a mistyped one, and the edits per character that still count.
const COMPARED_MAX: usize = 64;
const CHARS_PER_EDIT: usize = 3;

fn nearest<'a>(pattern: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let edits_max = (pattern.chars().count() / CHARS_PER_EDIT).max(1);
    let short = names.filter(|name| name.len() <= COMPARED_MAX && pattern.len() <= COMPARED_MAX);
    let near = short.map(|name| (strsim::damerau_levenshtein(pattern, name), name));
    near.filter(|(edits, _)| *edits <= edits_max).min().map(|(_, name)| name)
}

/// Returns whether a text fits a pattern, in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(inner) = text.strip_suffix(end) else { return false };
    text = inner;
    // The first occurrence of each part is the best one: it leaves most for the others.
    for part in middle.split('*').filter(|part| !part.is_empty()) {
        let Some((_, after)) = text.split_once(part) else { return false };
        text = after;
    }
    true
}

fn tool(document: &Document<'_>, found: &Found<'_>, options: &ApiOptions) -> Result<ApiTool, String> {
    let name = format!("{}_{}", options.name, plain(&found.id));
    if found.id.chars().count() > ID_MAX || !is_plain(&name) {
        return Err(format!("an operationId has 1 to {ID_MAX} characters"));
    }
    let Arguments { schema, parameters, body } = arguments::read(document, found)?;
    let operation = Operation { method: found.method, parameters, body };
    let endpoint = HttpEndpoint::operation(operation, &document.address(found)?).map_err(|error| error.to_string())?;
    document.check_host(endpoint.host().as_deref())?;
    let endpoint = endpoint.with_headers(options.headers.clone()).with_auth(options.auth.clone());
    let info = http_tool_info(&name, &found.description(), &endpoint);
    let timeout_ms = u64::try_from(options.timeout.as_millis()).unwrap_or(u64::MAX);
    let info = with_effect(ToolInfo { schema, timeout_ms, ..info }, endpoint.effect());
    Ok(ApiTool { info: Arc::new(info), endpoint })
}

/// Returns the name with `_` for every character that a tool's name cannot have.
fn plain(id: &str) -> String {
    id.chars().map(|sign| if sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-') { sign } else { '_' }).collect()
}

/// Returns a name of the document for a message.
fn escaped_name(name: &str) -> String {
    name.chars().filter(|sign| !sign.is_control()).take(ID_MAX).collect()
}
