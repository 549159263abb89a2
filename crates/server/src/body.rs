//! Request bodies: a JSON object, or nothing, which means an empty one.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use consort_core::choice::Choice;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::Site;
use crate::problem::{Code, Problem};

/// The time within which a body must arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request body, parsed as JSON.
#[derive(Debug)]
pub(crate) struct Sent(pub(crate) Value);

impl FromRequest<Arc<Site>> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<Sent, Problem> {
        let typed = json_or_untyped(request.headers());
        let bytes = read(site, request).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Sent(Value::Object(Map::new())));
        }
        if !typed {
            let message = "send the body as application/json";
            return Err(Problem::new(Code::UnsupportedMediaType, message));
        }
        json(&bytes).map(Sent).map_err(|error| Problem::bad_request(format!("Invalid JSON body: {error}")))
    }
}

/// Parses JSON, or returns the reason why it cannot be parsed.
pub(crate) fn json(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes).map_err(|error| {
        let told = error.to_string();
        // The parser's own words for its maximal nesting.
        told.replace("recursion limit exceeded", "nested deeper than 127 levels")
    })
}

/// Reads the whole body, within the server's limit. A body that announces more is
/// refused at once.
pub(crate) async fn read(site: &Site, request: Request) -> Result<Bytes, Problem> {
    let max = site.server.max_body_bytes;
    let too_large = || {
        let message = format!("the body is larger than this server takes: {max} bytes");
        Problem::new(Code::PayloadTooLarge, message)
    };
    if request.body().size_hint().lower() > max as u64 {
        return Err(too_large());
    }
    let slow = |_elapsed| {
        let message = format!("the body did not come within {PATIENCE:?}");
        Problem::new(Code::RequestTimeout, message)
    };
    let read = timeout(PATIENCE, Bytes::from_request(request, &())).await.map_err(slow)?;
    read.map_err(|rejection| match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        _ => Problem::bad_request("the body broke off, or is not chunked as it should be"),
    })
}

impl Sent {
    /// Returns a required field: text that is not blank.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Problem> {
        let text = self.optional_text(name)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| Problem::bad_request(format!("`{name}` is required")))
    }

    /// Returns a text field that may be absent.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&str>, Problem> {
        match self.object()?.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Problem::bad_request(format!("`{name}` must be a string"))),
        }
    }

    /// One of the words of `T`, whatever their case.
    pub(crate) fn choice<T: Choice>(&self, name: &str) -> Result<Option<T>, Problem> {
        self.word(name, T::WORDS)
    }

    /// Returns the meaning of a field that must be one of these words, ignoring case.
    pub(crate) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, Problem> {
        let Some(said) = self.optional_text(name)? else { return Ok(None) };
        let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(said.trim()));
        let allowed = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let wrong = || Problem::bad_request(format!("`{name}` must be one of {}, not '{said}'", allowed()));
        found.map(|(_, meaning)| Some(*meaning)).ok_or_else(wrong)
    }

    pub(crate) fn object(&self) -> Result<&Map<String, Value>, Problem> {
        self.0.as_object().ok_or_else(|| Problem::bad_request("the body must be a JSON object"))
    }
}

fn json_or_untyped(headers: &HeaderMap) -> bool {
    let Some(given) = headers.get(CONTENT_TYPE) else { return true };
    let essence = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
