//! The address and the requests of an HTTP tool: the envelope, or a plain request as any API takes it.

use std::sync::Arc;

use consort_core::catalog::{EffectClass, plain_input};
use consort_core::schema::Schema;
use consort_http::headers::Headers;
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use serde_json::{Map, Value, json};
use strum::IntoStaticStr;

use super::operation::{Content, Operation};
use super::target::{Target, with_rest};
use super::token::ClientCredentials;

/// The methods of plain requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum HttpMethod {
    /// Reads a resource.
    Get,
    /// Does anything at all.
    Post,
    /// Creates or replaces a resource.
    Put,
    /// Changes a part of a resource.
    Patch,
    /// Removes a resource.
    Delete,
}

/// The address and the form of calls. The default has no
/// address, and every call fails. `Debug` shows only the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpEndpoint {
    shape: Shape,
    target: Target,
    pub(super) headers: Headers,
    pub(super) auth: Option<ClientCredentials>,
}

/// The form of requests and responses.
#[derive(Clone, Debug, Default, PartialEq)]
enum Shape {
    /// POST `{"input": …, "callId": …}`, answered by `{"output": …}` or `{"error": …}`.
    #[default]
    Envelope,
    /// Arguments in path, query and body, answered by anything.
    Plain(HttpMethod),
    /// Arguments where an operation of an OpenAPI document has them, answered by anything.
    Operation(Arc<Operation>),
}

/// One request, ready to be sent any number of times.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Content>,
}

/// The reason why an HTTP tool cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpToolError {
    /// The address is invalid: correct it.
    #[error("the address does not do: {0}")]
    Address(String),
    /// The client could not be created.
    #[error("no HTTP client: {0}")]
    Client(String),
}

impl HttpMethod {
    /// Returns the effect class of such a request, unless the configuration sets another.
    pub fn effect(self) -> EffectClass {
        match self {
            HttpMethod::Get => EffectClass::Read,
            HttpMethod::Put | HttpMethod::Delete => EffectClass::Idempotent,
            HttpMethod::Post | HttpMethod::Patch => EffectClass::Once,
        }
    }

    fn has_body(self) -> bool {
        match self {
            HttpMethod::Get | HttpMethod::Delete => false,
            HttpMethod::Post | HttpMethod::Put | HttpMethod::Patch => true,
        }
    }

    /// Returns the method as it is written.
    pub(crate) fn word(self) -> &'static str {
        self.into()
    }

    pub(super) fn sent(self) -> Method {
        match self {
            HttpMethod::Get => Method::GET,
            HttpMethod::Post => Method::POST,
            HttpMethod::Put => Method::PUT,
            HttpMethod::Patch => Method::PATCH,
            HttpMethod::Delete => Method::DELETE,
        }
    }
}

impl HttpEndpoint {
    /// Headers that calls carry for Consort's own purposes.
    pub const OWN_HEADERS: &[&str] = &["idempotency-key", "traceparent", "consort-epoch"];

    /// Returns an endpoint that uses the envelope.
    pub fn envelope(url: &str) -> Result<HttpEndpoint, HttpToolError> {
        let endpoint = HttpEndpoint::new(Shape::Envelope, url)?;
        if endpoint.target.has_placeholders() {
            let reason = "`{…}` needs a `method`: without one all arguments are posted together".to_owned();
            return Err(HttpToolError::Address(reason));
        }
        Ok(endpoint)
    }

    /// Returns an endpoint for plain requests; the address may contain `{…}`.
    pub fn plain(method: HttpMethod, url: &str) -> Result<HttpEndpoint, HttpToolError> {
        HttpEndpoint::new(Shape::Plain(method), url)
    }

    /// Returns the endpoint of an operation; the address may contain `{…}` with any name.
    pub(crate) fn operation(operation: Operation, url: &str) -> Result<HttpEndpoint, HttpToolError> {
        let target = Target::of_document(url).map_err(HttpToolError::Address)?;
        Ok(HttpEndpoint {
            shape: Shape::Operation(Arc::new(operation)),
            target,
            headers: Headers::default(),
            auth: None,
        })
    }

    fn new(shape: Shape, url: &str) -> Result<HttpEndpoint, HttpToolError> {
        let target = Target::parse(url).map_err(HttpToolError::Address)?;
        Ok(HttpEndpoint { shape, target, headers: Headers::default(), auth: None })
    }

    /// Adds a value to the query of every request, with `{…}` or without.
    pub fn add_query(&mut self, name: &str, value: &str) -> Result<(), String> {
        match self.shape {
            Shape::Envelope | Shape::Operation(_) => Err("belongs to a tool with a `method`".to_owned()),
            Shape::Plain(_) => self.target.add_query(name, value),
        }
    }

    /// Returns the endpoint with these headers in every request.
    pub fn with_headers(self, headers: Headers) -> HttpEndpoint {
        HttpEndpoint { headers, ..self }
    }

    /// Returns the endpoint with a token of these credentials in every request.
    pub fn with_auth(self, auth: Option<ClientCredentials>) -> HttpEndpoint {
        HttpEndpoint { auth, ..self }
    }

    /// Returns the host that calls are sent to, whatever their arguments.
    pub(crate) fn host(&self) -> Option<String> {
        self.target.host()
    }

    /// Removes a text from all responses.
    pub fn hide(&mut self, secret: &str) {
        self.headers.hide(secret);
    }

    /// Returns the effect class of a call, unless the configuration sets another.
    pub fn effect(&self) -> EffectClass {
        match &self.shape {
            Shape::Envelope => EffectClass::Once,
            Shape::Plain(method) => method.effect(),
            Shape::Operation(operation) => operation.method.effect(),
        }
    }

    /// Returns the schema of the arguments, unless the configuration sets another.
    pub fn schema(&self) -> Schema {
        Schema::new(match self.shape {
            Shape::Envelope => plain_input(),
            Shape::Plain(_) | Shape::Operation(_) => self.target.schema(),
        })
    }

    /// Checks that a schema fits the address; the error says what does not.
    pub fn check(&self, schema: &Schema) -> Result<(), String> {
        self.target.check(schema.json())
    }

    pub(super) fn is_plain(&self) -> bool {
        self.shape != Shape::Envelope
    }

    /// Returns the request of a call; the error says what is wrong with its arguments.
    pub(super) fn prepare(&self, schema: &Schema, args: &Value, key: &str) -> Result<Prepared, String> {
        let nothing = Map::new();
        let all = args.as_object().unwrap_or(&nothing);
        match &self.shape {
            Shape::Envelope => {
                let url = self.target.fill(&nothing)?.url;
                // Without a configured schema an endpoint gets the bare text of the only argument.
                let bare = *schema.json() == plain_input();
                let input = if bare { args.get("input").unwrap_or(&Value::Null) } else { args };
                let body = Content::Json(json!({ "input": input, "callId": key }));
                Ok(Prepared { method: Method::POST, url, headers: HeaderMap::new(), body: Some(body) })
            }
            Shape::Plain(method) if method.has_body() => {
                let filled = self.target.fill(all)?;
                let has_body = !filled.rest.is_empty() || self.target.leaves_over(schema.json());
                let body = has_body.then_some(Content::Json(Value::Object(filled.rest)));
                Ok(Prepared { method: method.sent(), url: filled.url, headers: HeaderMap::new(), body })
            }
            Shape::Plain(method) => {
                let filled = self.target.fill(all)?;
                let url = with_rest(filled.url, &filled.rest)?;
                Ok(Prepared { method: method.sent(), url, headers: HeaderMap::new(), body: None })
            }
            Shape::Operation(operation) => operation.prepare(self.target.fill(all)?),
        }
    }
}
