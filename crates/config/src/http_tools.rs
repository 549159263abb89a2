//! `[tools.http.*]`: tools behind an HTTP endpoint, by the envelope or, with a
//! `method`, by plain requests.

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{Permission, ToolInfo};
use consort_core::schema::Schema;
use consort_tools::{HttpEndpoint, HttpMethod, HttpToolError, http_tool_info, with_effect};

use super::auth;
use super::fields::Fields;
use super::headers::{self, from_environment};
use super::models::WEB;
use super::tools::{EFFECTS, PERMISSIONS, millis, name_of_tool};
use super::typed::Typed;
use super::values::{Parsed, address, duration, flag, object, scalar, text, word};

/// A tool behind an HTTP endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpTool {
    /// The description of the tool for runs.
    pub info: Arc<ToolInfo>,
    /// The address and the form of its calls.
    pub endpoint: HttpEndpoint,
}

const METHODS: &[(&str, HttpMethod)] = &[
    ("GET", HttpMethod::Get),
    ("POST", HttpMethod::Post),
    ("PUT", HttpMethod::Put),
    ("PATCH", HttpMethod::Patch),
    ("DELETE", HttpMethod::Delete),
];

/// Reads one `[tools.http.*]`.
pub(super) fn read(name: &str, fields: &mut Fields<'_>) -> HttpTool {
    name_of_tool(name, fields);
    let endpoint = endpoint(fields);
    let description = fields.need("description", text).unwrap_or_default();
    let effect = fields.read("effect", word(EFFECTS));
    let permission = fields.read("permission", word(PERMISSIONS)).unwrap_or(Permission::Network);
    let parallel_safe = fields.read("parallel_safe", flag).unwrap_or(true);
    let lock = fields.read("lock", text);
    let timeout_ms = millis(fields.read("timeout", duration).unwrap_or(Duration::from_secs(30)));
    let schema = schema(&endpoint, fields);
    let info = http_tool_info(name, &description, &endpoint);
    let schema = schema.unwrap_or_else(|| info.schema.clone());
    let info = ToolInfo { schema, permission, parallel_safe, lock, timeout_ms, ..info };
    let info = with_effect(info, effect.unwrap_or(endpoint.effect()));
    HttpTool { info: Arc::new(info), endpoint }
}

fn endpoint(fields: &mut Fields<'_>) -> HttpEndpoint {
    let method = fields.read("method", word(METHODS));
    // A method that does not exist is one mistake, not two.
    let is_plain = fields.has("method");
    let endpoint = fields.need("url", |value| match (is_plain, address(WEB)(value)) {
        (_, Err(reason)) if !matches!(value, Typed::Text(text) if text.meant.contains('{')) => Err(reason),
        (true, _) => made(HttpEndpoint::plain(method.unwrap_or(HttpMethod::Get), &scalar(value)?)),
        (false, _) => made(HttpEndpoint::envelope(&scalar(value)?)),
    });
    let secret = fields.read("url", |value| Ok(query_secret(value))).flatten();
    let headers = headers::read(fields, HttpEndpoint::OWN_HEADERS);
    let auth = auth::read(fields, &headers);
    let mut endpoint = endpoint.map(|endpoint| endpoint.with_headers(headers).with_auth(auth));
    if let Some((endpoint, secret)) = endpoint.as_mut().zip(secret) {
        endpoint.hide(&secret);
    }
    fields.named("query", |name, value| {
        let Some(endpoint) = &mut endpoint else { return Ok(()) };
        endpoint.add_query(name, &scalar(value)?)?;
        if let Some(secret) = from_environment(value) {
            endpoint.hide(secret);
        }
        Ok(())
    });
    endpoint.unwrap_or_default()
}

fn made(endpoint: Result<HttpEndpoint, HttpToolError>) -> Parsed<HttpEndpoint> {
    endpoint.map_err(|error| match error {
        HttpToolError::Address(reason) | HttpToolError::Client(reason) => reason,
    })
}

/// Returns the part of an address's query that came from the environment: often an API
/// key. A host name is no secret, even if it came from there.
fn query_secret(value: &Typed) -> Option<String> {
    let Typed::Text(text) = value else { return None };
    let typed = text.typed.split_once('?')?.1;
    let meant = text.meant.split_once('?')?.1;
    let query = super::typed::Text { typed: typed.to_owned(), meant: meant.to_owned() };
    from_environment(&Typed::Text(query)).map(str::to_owned)
}

fn schema(endpoint: &HttpEndpoint, fields: &mut Fields<'_>) -> Option<Schema> {
    let json = fields.read("input_schema", object)?;
    let schema = Schema::parse(json).map_err(|reason| fields.found("input_schema", reason)).ok()?;
    if let Err(reason) = endpoint.check(&schema) {
        fields.found("input_schema", reason);
    }
    Some(schema)
}
