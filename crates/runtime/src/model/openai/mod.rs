//! The `openai` model: any server that speaks chat completions, streamed.
//! `encode` writes the request, `decode` reads the answer, `calls` puts tool
//! calls together, `failure` understands complaints; this file moves bytes
//! between them.

mod calls;
mod decode;
mod encode;
mod failure;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use consort_core::message::{Failure, FailureKind};
use futures::stream::{self, BoxStream, StreamExt};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Request, Url};

use self::decode::Decoder;
use self::encode::Dialect;
use super::http::{Body, Patience};
use super::{Ask, Model, Piece, http};

/// The name of this wire in stored replies.
const WIRE: &str = "openai";
const PROVIDER_HOST: &str = "api.openai.com";
/// Bytes read of an answer that is a complaint.
const COMPLAINT_MAX: usize = 64 * 1024;
/// Bytes of a complaint that are kept.
const MESSAGE_MAX: usize = 2 * 1024;

/// Where the model is and how to talk to it.
#[derive(Clone)]
pub struct OpenAiOptions {
    /// The server's address, with `/v1`.
    pub base_url: String,
    /// The key, where the server wants one.
    pub api_key: Option<String>,
    /// The model's name on the server.
    pub model: String,
    /// Whether it may ask for several calls at once.
    pub parallel_tool_calls: bool,
    /// How long the server may be silent.
    pub timeout: Duration,
    /// How long a whole call may take, if there is a limit.
    pub call_timeout: Option<Duration>,
}

impl OpenAiOptions {
    /// A model on a server that wants no key.
    pub fn new(base_url: &str, model: &str) -> OpenAiOptions {
        OpenAiOptions {
            base_url: base_url.to_owned(),
            api_key: None,
            model: model.to_owned(),
            parallel_tool_calls: true,
            timeout: Duration::from_secs(120),
            call_timeout: None,
        }
    }
}

impl fmt::Debug for OpenAiOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("OpenAiOptions").field("model", &self.model).finish_non_exhaustive()
    }
}

/// Why options cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// The address is none.
    #[error("base_url is not an http or https address")]
    BaseUrl,
    /// The key holds characters that no header may.
    #[error("api_key holds characters that cannot be sent")]
    ApiKey,
}

/// A model behind chat completions.
#[derive(Clone)]
pub struct OpenAi(Arc<Endpoint>);

impl fmt::Debug for OpenAi {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("OpenAi").field(&self.0.options).finish()
    }
}

struct Endpoint {
    client: Client,
    url: Url,
    headers: HeaderMap,
    options: OpenAiOptions,
    /// What the server has been found to understand.
    dialect: Mutex<Dialect>,
}

impl OpenAi {
    /// A model reached through `client`.
    pub fn new(options: OpenAiOptions, client: Client) -> Result<OpenAi, OptionsError> {
        let url = format!("{}/chat/completions", options.base_url.trim().trim_end_matches('/'));
        let url = Url::parse(&url).map_err(|_| OptionsError::BaseUrl)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(OptionsError::BaseUrl);
        }
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        if let Some(key) = options.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty()) {
            let mut bearer = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| OptionsError::ApiKey)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        let is_provider = url.host_str() == Some(PROVIDER_HOST);
        let dialect = if is_provider { Dialect::PROVIDER } else { Dialect::COMPATIBLE };
        Ok(OpenAi(Arc::new(Endpoint { client, url, headers, options, dialect: Mutex::new(dialect) })))
    }
}

impl Model for OpenAi {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        let call = Call { endpoint: self.0.clone(), ask, phase: Phase::Asking, ready: VecDeque::new() };
        let next = |mut call: Call| async move { Some((call.next().await?, call)) };
        stream::unfold(call, next).fuse().boxed()
    }
}

impl Endpoint {
    /// Asks, and asks again without what the server turns out not to know:
    /// such a refusal is part of finding a common language, not an answer.
    async fn open(&self, ask: &Ask) -> Result<Body, Failure> {
        loop {
            let dialect = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
            let mut body = Body::open(&self.client, self.request(ask, dialect)?, self.patience()).await?;
            let status = body.head().status().as_u16();
            if (200..300).contains(&status) {
                return Ok(body);
            }
            let complaint = body.read_some(COMPLAINT_MAX).await;
            match dialect.after(&String::from_utf8_lossy(&complaint)).filter(|_| matches!(status, 400 | 422)) {
                Some(understood) => *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = understood,
                None => return Err(failure::of_answer(status, body.head().headers(), &complaint)),
            }
        }
    }

    fn request(&self, ask: &Ask, dialect: Dialect) -> Result<Request, Failure> {
        let body = encode::Body::new(ask, &self.options, dialect);
        let body = serde_json::to_vec(&body).map_err(|error| {
            http::failure(FailureKind::Refused, format!("the conversation cannot be written as JSON: {error}"))
        })?;
        let mut request = Request::new(Method::POST, self.url.clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = Some(body.into());
        Ok(request)
    }

    fn patience(&self) -> Patience {
        Patience { idle: self.options.timeout, whole: self.options.call_timeout }
    }

    /// A failure fit to be stored: servers repeat what they were sent, the key
    /// included, and at any length.
    fn fit_to_keep(&self, mut failure: Failure) -> Failure {
        if let Some(key) = self.options.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty()) {
            failure.message = failure.message.replace(key, "***");
        }
        failure.message.truncate(failure.message.floor_char_boundary(MESSAGE_MAX));
        failure
    }
}

/// One call under way.
struct Call {
    endpoint: Arc<Endpoint>,
    ask: Ask,
    phase: Phase,
    /// Pieces read and not yet taken.
    ready: VecDeque<Piece>,
}

enum Phase {
    Asking,
    Reading(Box<(Body, Decoder)>),
    /// Nothing follows but what is ready, and this.
    Ending(Option<Failure>),
}

impl Call {
    async fn next(&mut self) -> Option<Result<Piece, Failure>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(Ok(piece));
            }
            self.phase = match std::mem::replace(&mut self.phase, Phase::Ending(None)) {
                Phase::Asking => match self.endpoint.open(&self.ask).await {
                    Ok(body) => Phase::Reading(Box::new((body, Decoder::default()))),
                    Err(failure) => Phase::Ending(Some(failure)),
                },
                Phase::Reading(reading) => self.read(reading).await,
                Phase::Ending(failure) => return failure.map(|failure| Err(self.endpoint.fit_to_keep(failure))),
            };
        }
    }

    /// Reads until there is something to hand on, or nothing more.
    async fn read(&mut self, mut reading: Box<(Body, Decoder)>) -> Phase {
        let (body, decoder) = &mut *reading;
        while self.ready.is_empty() && !decoder.is_done() {
            let read = match body.read(decoder.inbox()).await {
                Ok(0) => return self.end(reading.1),
                Ok(_) => decoder.advance(&mut self.ready),
                Err(_) if decoder.has_stopped() => return self.end(reading.1),
                Err(failure) => Err(failure),
            };
            if let Err(failure) = read {
                return Phase::Ending(Some(Failure { charged: decoder.has_begun(), ..failure }));
            }
        }
        if !decoder.is_done() {
            return Phase::Reading(reading);
        }
        let (body, decoder) = *reading;
        body.end().await;
        self.finish(decoder)
    }

    /// The server has nothing more to say.
    fn end(&mut self, mut decoder: Decoder) -> Phase {
        match decoder.end(&mut self.ready) {
            Ok(()) => self.finish(decoder),
            Err(failure) => Phase::Ending(Some(Failure { charged: decoder.has_begun(), ..failure })),
        }
    }

    fn finish(&mut self, decoder: Decoder) -> Phase {
        let charged = decoder.has_begun();
        match decoder.finish(&self.ask) {
            Ok(done) => self.ready.push_back(done),
            Err(failure) => return Phase::Ending(Some(Failure { charged, ..failure })),
        }
        Phase::Ending(None)
    }
}
