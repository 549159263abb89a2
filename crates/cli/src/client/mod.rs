//! The control API from a terminal: a [`Call`] is a request as a value, and
//! [`Client::send`] returns its response. `target` holds the server options, `failure`
//! the errors, [`ids`] the ids as people type them; [`events`] follows a run, `socket`
//! tells that something changed.

pub(crate) mod events;
mod failure;
pub(crate) mod ids;
mod mcp;
pub(crate) mod received;
mod socket;
mod target;

use std::time::Duration;

use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;
use url::Url;

pub(crate) use self::failure::Failure;
pub(crate) use self::target::Target;

/// The timeout of a response: longer than any tool called directly may take.
const CALL_MAX: Duration = Duration::from_secs(60);

/// A server address with the client's key.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    key: Option<String>,
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    method: Method,
    path: Vec<String>,
    query: Vec<(&'static str, String)>,
    body: Option<Body>,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq)]
enum Body {
    Json(Value),
    File(Upload),
}

/// A file to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Upload {
    /// The media type.
    pub(crate) kind: String,
    /// The name, without a folder.
    pub(crate) name: String,
    /// The content.
    pub(crate) bytes: Vec<u8>,
}

impl Call {
    /// Creates a GET request for this path below `/api`.
    pub(crate) fn get(path: &[&str]) -> Call {
        Call::new(Method::GET, path, None)
    }

    /// Creates a POST request to this path below `/api`.
    pub(crate) fn post(path: &[&str], body: Value) -> Call {
        Call::new(Method::POST, path, Some(Body::Json(body)))
    }

    /// Creates a PATCH request to this path below `/api`.
    pub(crate) fn patch(path: &[&str], body: Value) -> Call {
        Call::new(Method::PATCH, path, Some(Body::Json(body)))
    }

    /// Creates a POST request with a file to this path below `/api`.
    pub(crate) fn post_file(path: &[&str], file: Upload) -> Call {
        Call::new(Method::POST, path, Some(Body::File(file)))
    }

    /// Creates a PUT request with a file to this path below `/api`.
    pub(crate) fn put_file(path: &[&str], file: Upload) -> Call {
        Call::new(Method::PUT, path, Some(Body::File(file)))
    }

    /// Creates a DELETE request to this path below `/api`.
    pub(crate) fn delete(path: &[&str]) -> Call {
        Call::new(Method::DELETE, path, None)
    }

    fn new(method: Method, path: &[&str], body: Option<Body>) -> Call {
        Call { method, path: path.iter().map(|part| (*part).to_owned()).collect(), query: Vec::new(), body }
    }

    /// Returns the id that it is about, empty when it is about none.
    pub(crate) fn id(&self) -> &str {
        self.path.get(1).map(String::as_str).unwrap_or_default()
    }

    /// Adds a query parameter, if it has a value.
    pub(crate) fn with(mut self, name: &'static str, value: Option<impl ToString>) -> Call {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }
}

impl Client {
    /// Returns the server's address as people write it.
    pub(crate) fn url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Sends a request; returns the body of the response unchanged.
    pub(crate) async fn send(&self, call: &Call) -> Result<String, Failure> {
        let request = self.request(call).timeout(CALL_MAX);
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let response = self.accepted(response).await?;
        response.text().await.map_err(|error| self.unreachable(&error))
    }

    fn request(&self, call: &Call) -> RequestBuilder {
        let mut request = self.http.request(call.method.clone(), self.address(call));
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        match &call.body {
            Some(Body::Json(body)) => request.json(body),
            Some(Body::File(Upload { kind, name, bytes })) => {
                // Any name, also one that no header can hold: RFC 8187.
                let encoded: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
                let disposition = format!("attachment; filename*=UTF-8''{}", encoded.replace('+', "%20"));
                let typed = request.header(CONTENT_TYPE, kind).header(CONTENT_DISPOSITION, disposition);
                typed.body(bytes.clone())
            }
            None => request,
        }
    }

    fn address(&self, call: &Call) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("api").extend(&call.path);
        }
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        url
    }

    /// Returns the response, unless it is a refusal.
    async fn accepted(&self, response: Response) -> Result<Response, Failure> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = response.text().await.map_err(|error| self.unreachable(&error))?;
        Err(Failure::refused(self.url(), status, body, self.key.as_deref()))
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        Failure::unreachable(self.url(), error)
    }

    /// Parses a response as JSON; an empty body is `null`.
    pub(crate) fn read(&self, text: &str) -> Result<Value, Failure> {
        if text.is_empty() {
            return Ok(Value::Null);
        }
        let strange = |error: serde_json::Error| Failure::strange(self.url(), &error.to_string());
        serde_json::from_str(text).map_err(strange)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_and_a_server_may_live_below_a_path() {
        let target = Target::at("http://127.0.0.1:1/team/", Some("k"));
        let client = target.client(&|_| None).unwrap();
        let call = Call::get(&["runs", "a/b c"]).with("tag", Some("x:1&2")).with("limit", None::<u64>);
        assert_eq!(client.address(&call).as_str(), "http://127.0.0.1:1/team/api/runs/a%2Fb%20c?tag=x%3A1%262");
        assert_eq!(client.url(), "http://127.0.0.1:1/team");
    }
}
