//! The parts that all wires share: an endpoint, and one call under way. A wire writes the
//! request and reads the events of the answer; this file moves the bytes between them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use consort_core::message::{Failure, FailureKind, Reply};
use consort_http::trace;
use futures::stream::{self, BoxStream, StreamExt};
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Method, Request, Url};

use super::answer::{Answer, Decoder, Progress, say};
use super::http::{self, Body, Patience};
use super::options::Options;
use super::structured::Refused;
use super::{Ask, Piece, complaint};

/// The maximum number of bytes read of an error response.
const COMPLAINT_MAX: usize = 64 * 1024;
/// Chunks that become one piece if they have arrived together: most are a word, and to show one takes longer than to read
/// it. A reader of the fastest model still sees several pieces of an answer.
const TOGETHER_MAX: usize = 32;
/// The maximum number of bytes of an error message that are stored.
const MESSAGE_MAX: usize = 2 * 1024;
/// The length in bytes below which a key is not redacted: a word like `x` is in every error message.
const KEY_MIN: usize = 6;

/// The parts that are specific to a provider's API.
pub(super) trait Wire: Send + Sync + 'static {
    /// Writes the body of the request that sends `ask` to `endpoint`.
    fn body(&self, ask: &Ask, endpoint: &Endpoint) -> serde_json::Result<Vec<u8>>;

    /// Returns the decoder of the answer to `ask`.
    fn decoder(&self, ask: &Ask) -> Box<dyn Decoder>;

    /// Records a refusal, so that the same request may be sent in another form.
    fn learn(&self, _refusal: &str) {}
}

/// A model on a server.
pub(super) struct Endpoint {
    pub(super) client: Client,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) options: Options,
    /// The origin recorded in replies: parts that only their
    /// provider understands are sent back to this origin only.
    pub(super) origin: String,
    pub(super) wire: Box<dyn Wire>,
    /// The schemas that the provider has refused.
    pub(super) refused: Refused,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.fmt(out)
    }
}

impl Endpoint {
    /// Sends a request.
    pub(super) fn stream(self: &Arc<Self>, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        let call = Call { endpoint: self.clone(), ask, phase: Phase::Asking, ready: VecDeque::new() };
        let next = |mut call: Call| async move { Some((call.next().await?, call)) };
        stream::unfold(call, next).fuse().boxed()
    }

    /// Returns the address without possible secrets.
    pub(super) fn address(&self) -> String {
        http::named(&self.url)
    }

    /// Sends the request, and sends it again without the features that the server turns
    /// out not to support: such a refusal is part of the negotiation, not an answer.
    async fn open(&self, ask: &mut Ask) -> Result<Body, Failure> {
        let _refused = ask.schema.take_if(|schema| self.refused.has(schema));
        let mut sent = self.body(ask)?;
        loop {
            let mut body = Body::open(&self.client, self.request(sent.clone()), self.patience()).await?;
            let status = body.head().status().as_u16();
            if (200..300).contains(&status) {
                return Ok(body);
            }
            let said = body.read_some(COMPLAINT_MAX).await;
            let refusal = complaint::of_answer(status, body.head().headers(), &said);
            if !matches!(status, 400 | 422) {
                return Err(refusal);
            }
            let said = String::from_utf8_lossy(&said);
            if ask.schema.take_if(|schema| self.refused.learn(schema, &said)).is_none() {
                self.wire.learn(&said);
            }
            let other = self.body(ask)?;
            if other == sent {
                return Err(refusal);
            }
            sent = other;
        }
    }

    fn body(&self, ask: &Ask) -> Result<Bytes, Failure> {
        let body = self.wire.body(ask, self).and_then(|body| self.options.extra.added_to(body));
        body.map(Bytes::from).map_err(|error| {
            http::failure(FailureKind::Refused, format!("the conversation cannot be written as JSON: {error}"))
        })
    }

    fn request(&self, body: Bytes) -> Request {
        let mut request = Request::new(Method::POST, self.url.clone());
        *request.headers_mut() = self.headers.clone();
        if let Some(trace) = trace::traceparent().and_then(|trace| HeaderValue::from_str(&trace).ok()) {
            request.headers_mut().insert(trace::HEADER, trace);
        }
        *request.body_mut() = Some(body.into());
        request
    }

    fn patience(&self) -> Patience {
        Patience { idle: self.options.timeout, whole: self.options.call_timeout }
    }

    /// Returns a failure fit to be stored: servers repeat what
    /// they were sent, the key included, and at any length.
    fn fit_to_keep(&self, mut failure: Failure) -> Failure {
        if let Some(key) = self.options.key().filter(|key| key.len() >= KEY_MIN) {
            failure.message = failure.message.replace(key, "***");
        }
        failure.message = self.options.headers.redacted(failure.message);
        failure.message.truncate(failure.message.floor_char_boundary(MESSAGE_MAX));
        failure
    }
}

/// One call under way.
struct Call {
    endpoint: Arc<Endpoint>,
    ask: Ask,
    phase: Phase,
    /// Pieces decoded and not yet taken.
    ready: VecDeque<Piece>,
}

enum Phase {
    Asking,
    Reading(Box<(Body, Answer)>),
    /// Nothing follows but the pieces that are ready, and this failure.
    Ending(Option<Failure>),
}

impl Call {
    async fn next(&mut self) -> Option<Result<Piece, Failure>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(Ok(piece));
            }
            self.phase = match std::mem::replace(&mut self.phase, Phase::Ending(None)) {
                Phase::Asking => match self.endpoint.open(&mut self.ask).await {
                    Ok(body) => Phase::Reading(Box::new((body, Answer::new(self.endpoint.wire.decoder(&self.ask))))),
                    Err(failure) => Phase::Ending(Some(failure)),
                },
                Phase::Reading(reading) => self.read(reading).await,
                Phase::Ending(failure) => return failure.map(|failure| Err(self.endpoint.fit_to_keep(failure))),
            };
        }
    }

    /// Reads until a piece is ready and nothing more has arrived with it, or until the end.
    async fn read(&mut self, mut reading: Box<(Body, Answer)>) -> Phase {
        let (body, answer) = &mut *reading;
        let mut together = 0;
        while !answer.is_done() {
            let read = if self.ready.is_empty() {
                body.read(answer.inbox()).await
            } else if together < TOGETHER_MAX
                && let Some(read) = body.read_arrived(answer.inbox()).await
            {
                together += 1;
                read
            } else {
                break;
            };
            let read = match read {
                Ok(0) => return self.end(reading.1),
                Ok(_) => answer.advance(&mut self.ready),
                Err(_) if answer.progress() >= Progress::Stopped => return self.end(reading.1),
                Err(failure) => Err(failure),
            };
            if let Err(failure) = read {
                return broken(failure, answer.progress());
            }
        }
        if !answer.is_done() {
            return Phase::Reading(reading);
        }
        let (body, answer) = *reading;
        body.end().await;
        self.finish(answer)
    }

    /// Handles the end of the server's response.
    fn end(&mut self, mut answer: Answer) -> Phase {
        match answer.end(&mut self.ready) {
            Ok(()) => self.finish(answer),
            Err(failure) => broken(failure, answer.progress()),
        }
    }

    fn finish(&mut self, answer: Answer) -> Phase {
        let progress = answer.progress();
        match answer.finish(&self.ask) {
            Ok(whole) => {
                if !whole.unsaid.is_empty() {
                    say(&mut self.ready, Piece::Delta(whole.unsaid));
                }
                let reply = Reply { wire: self.endpoint.origin.clone(), parts: whole.parts, stop: whole.stop };
                self.ready.push_back(Piece::Done(reply, whole.usage));
                Phase::Ending(None)
            }
            Err(failure) => broken(failure, progress),
        }
    }
}

/// Ends the call with a failure, which counts as charged once the answer had begun.
fn broken(failure: Failure, progress: Progress) -> Phase {
    Phase::Ending(Some(Failure { charged: progress >= Progress::Begun, ..failure }))
}
