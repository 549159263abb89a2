//! The address of a model and the options of its connection, the same for every wire.

use std::fmt;
use std::time::Duration;

use consort_http::headers::Headers;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::extra::Extra;
use super::http;

/// The address of a model and the options of its connection.
#[derive(Clone, PartialEq)]
pub struct Options {
    /// The server's address, as the provider's own clients take it: with `/v1`
    /// for OpenAI, without for the others.
    pub base_url: String,
    /// The API key, where the server requires one.
    pub api_key: Option<String>,
    /// The name of the model on the server.
    pub model: String,
    /// Whether the model may make several calls at once, where the API has a setting for it.
    pub parallel_tool_calls: bool,
    /// The maximum time between two bytes of the server.
    pub timeout: Duration,
    /// The maximum duration of a whole call, if there is a limit.
    pub call_timeout: Option<Duration>,
    /// The headers sent with every request.
    pub headers: Headers,
    /// The fields added to the body of every request.
    pub extra: Extra,
}

/// The reason why options cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// The address is invalid.
    #[error("base_url is not an http or https address")]
    BaseUrl,
    /// The key has characters that no header may contain.
    #[error("api_key holds characters that cannot be sent")]
    ApiKey,
}

impl Options {
    /// The default time for which a server may be silent.
    pub const TIMEOUT: Duration = Duration::from_secs(120);

    /// Returns the options of a model on a server that requires no key.
    pub fn new(base_url: &str, model: &str) -> Options {
        Options {
            base_url: base_url.to_owned(),
            api_key: None,
            model: model.to_owned(),
            parallel_tool_calls: true,
            timeout: Options::TIMEOUT,
            call_timeout: None,
            headers: Headers::default(),
            extra: Extra::default(),
        }
    }

    /// Returns the address of `path` on the server.
    pub(super) fn url(&self, path: &str) -> Result<Url, OptionsError> {
        let url = format!("{}{path}", self.base_url.trim().trim_end_matches('/'));
        let url = Url::parse(&url).map_err(|_| OptionsError::BaseUrl)?;
        if matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(OptionsError::BaseUrl) }
    }

    /// Returns the server's address without possible secrets; none when it has none.
    pub fn address(&self) -> Option<String> {
        let url = Url::parse(self.base_url.trim()).ok()?;
        Some(http::named(&url).trim_end_matches('/').to_owned())
    }

    /// Returns the headers of every request: the configured ones, and the key after `lead`.
    pub(super) fn headers(&self, key_header: HeaderName, lead: &str) -> Result<HeaderMap, OptionsError> {
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        if let Some(key) = self.key() {
            let mut value = HeaderValue::try_from(format!("{lead}{key}")).map_err(|_| OptionsError::ApiKey)?;
            value.set_sensitive(true);
            headers.insert(key_header, value);
        }
        for (name, value) in self.headers.map() {
            headers.insert(name, value.clone());
        }
        Ok(headers)
    }

    /// Returns the key, if there is one.
    pub(super) fn key(&self) -> Option<&str> {
        self.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty())
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Options").field("model", &self.model).finish_non_exhaustive()
    }
}
