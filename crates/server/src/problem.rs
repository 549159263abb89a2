//! What a failed request looks like: RFC 9457, with a code for programs and
//! the request's id. Whatever fails, here or in the framework, is dressed in
//! one place, so no route can forget it.

use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use consort_chat as chats;
use consort_core::decide::Refused;
use consort_core::fork;
use consort_core::mistake::{Code, Mistake};
use consort_log as log;
use consort_runtime::engine;
use consort_tools::collections;
use serde_json::{Map, Value, json};
use tracing::{Instrument, Span, field};

/// The header that names a request.
pub(crate) const REQUEST_ID: &str = "x-request-id";
/// Bytes of a name that is taken over from a client at most.
const ID_MAX: usize = 64;
/// What a written problem is.
const PROBLEM: &str = "application/problem+json";
/// What any other answer for programs is.
const JSON: &str = "application/json";
/// How long a client should wait when there is no room.
const RETRY_AFTER_MS: u64 = 5_000;

/// A status, a code for programs, words for people, and what belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    more: Map<String, Value>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Problem {
        Problem { status, code, message: message.into(), more: Map::new() }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
    }

    /// The same problem with one more field.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Problem {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    /// The same problem in other words.
    pub(crate) fn saying(self, message: &str) -> Problem {
        Problem { message: message.to_owned(), ..self }
    }

    /// The word for programs.
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// The words for people.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What belongs to it.
    pub(crate) fn more(&self) -> &Map<String, Value> {
        &self.more
    }

    #[cfg(test)]
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// What there is to say about an answer that says nothing itself.
    fn of(status: StatusCode, (method, uri): &(Method, Uri)) -> Problem {
        let path = uri.path();
        let reason = || status.canonical_reason().unwrap_or("it did not work").to_owned();
        let (code, message) = match status {
            StatusCode::NOT_FOUND => {
                ("NOT_FOUND", format!("there is nothing at {path}: /openapi.json lists what there is"))
            }
            StatusCode::METHOD_NOT_ALLOWED => {
                ("METHOD_NOT_ALLOWED", format!("{path} does not take {method}: the header Allow lists what it takes"))
            }
            StatusCode::PAYLOAD_TOO_LARGE => ("PAYLOAD_TOO_LARGE", reason()),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ("UNSUPPORTED_MEDIA_TYPE", reason()),
            status if status.is_client_error() => ("BAD_REQUEST", reason()),
            _ => ("INTERNAL_ERROR", reason()),
        };
        Problem::new(status, code, message)
    }

    fn body(&self, request_id: &str) -> Value {
        let mut body = json!({ "type": "about:blank", "title": self.status.canonical_reason(), "status": self.status.as_u16(),
            "detail": self.message, "error": self.code, "message": self.message, "requestId": request_id });
        if let Value::Object(body) = &mut body {
            body.extend(self.more.clone());
        }
        body
    }
}

/// The problem travels with the response until [`dress`] writes it down.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// What a request is called, in its answer and in the log.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) HeaderValue);

impl RequestId {
    /// The name it came with, if that is a plain one, or a new one.
    fn of(request: &Request) -> RequestId {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        let is_plain = |id: &&HeaderValue| (1..=ID_MAX).contains(&id.len()) && id.as_bytes().iter().all(plain);
        if let Some(id) = request.headers().get(REQUEST_ID).filter(is_plain) {
            return RequestId(id.clone());
        }
        let id = format!("req-{}", uuid::Uuid::now_v7().simple());
        RequestId(HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("req")))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

/// Names every request, and gives every failure a body.
pub(crate) async fn dress(mut request: Request, next: Next) -> Response {
    let named = request.extensions().get::<RequestId>().cloned();
    let span = if named.is_some() { Span::none() } else { tracing::info_span!("request", id = field::Empty) };
    let id = named.unwrap_or_else(|| RequestId::of(&request));
    span.record("id", id.as_str());
    request.extensions_mut().insert(id.clone());
    let asked = (request.method().clone(), request.uri().clone());
    let mut response = next.run(request).instrument(span).await;
    let failed = response.status().is_client_error() || response.status().is_server_error();
    // What says something for programs already is left as it is.
    let is_written = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == PROBLEM || kind == JSON);
    if failed && !is_written {
        response = written(response, id.as_str(), &asked);
    }
    // An answer that is repeated keeps the name of the request that was carried out.
    response.headers_mut().entry(REQUEST_ID).or_insert(id.0);
    response
}

fn written(mut response: Response, id: &str, asked: &(Method, Uri)) -> Response {
    let carried = response.extensions_mut().remove::<Problem>();
    let problem = carried.unwrap_or_else(|| Problem::of(response.status(), asked));
    if problem.status.is_server_error() {
        tracing::error!(request = id, code = problem.code, message = problem.message, "a request failed");
    }
    *response.body_mut() = problem.body(id).to_string().into();
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
    if let Some(wait_ms) = problem.more.get("retryAfterMs").and_then(Value::as_u64) {
        headers.insert(RETRY_AFTER, wait_ms.div_ceil(1000).into());
    }
    response
}

impl From<log::Error> for Problem {
    fn from(error: log::Error) -> Problem {
        engine::Error::from(error).into()
    }
}

impl From<engine::Error> for Problem {
    fn from(error: engine::Error) -> Problem {
        let message = error.to_string();
        match error {
            engine::Error::Refused(refused) => Problem::refused(refused, message),
            engine::Error::Fork(refused) => Problem::not_forked(refused, message),
            engine::Error::NotFound(_) => Problem::new(StatusCode::NOT_FOUND, "RUN_NOT_FOUND", message),
            engine::Error::Busy { .. } => Problem::new(StatusCode::TOO_MANY_REQUESTS, "CONCURRENCY_LIMIT", message)
                .with("retryAfterMs", RETRY_AFTER_MS),
            engine::Error::Draining => Problem::new(StatusCode::SERVICE_UNAVAILABLE, "DRAINING", message),
            engine::Error::NotOwned(_) | engine::Error::Log(log::Error::Fenced | log::Error::Claimed { .. }) => {
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", message)
            }
            engine::Error::Log(log::Error::Full(_) | log::Error::Unavailable(_)) => {
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "STORAGE_UNAVAILABLE", message)
                    .with("retryAfterMs", RETRY_AFTER_MS)
            }
            engine::Error::Log(log::Error::Damaged { .. }) => {
                let message = format!("{message}: it can be looked at in lists and deleted, nothing else");
                Problem::new(StatusCode::CONFLICT, "STORAGE_DAMAGED", message)
            }
        }
    }
}

impl From<chats::Error> for Problem {
    fn from(error: chats::Error) -> Problem {
        let message = error.to_string();
        match error {
            chats::Error::NotFound(_) => Problem::new(StatusCode::NOT_FOUND, "THREAD_NOT_FOUND", message),
            chats::Error::Busy { turn } => {
                Problem::new(StatusCode::CONFLICT, "THREAD_BUSY", message).with("turnId", turn)
            }
            chats::Error::Idle => Problem::new(StatusCode::CONFLICT, "TURN_NOT_RUNNING", message),
            chats::Error::Uncut => Problem::new(StatusCode::CONFLICT, "NOTHING_TO_CONTINUE", message),
            chats::Error::Full => Problem::new(StatusCode::TOO_MANY_REQUESTS, "CONCURRENCY_LIMIT", message)
                .with("retryAfterMs", RETRY_AFTER_MS),
            chats::Error::Mistake(mistake) => mistake.into(),
            chats::Error::Engine(error) => error.into(),
        }
    }
}

impl Problem {
    /// What came of asking a run for something, by its name.
    pub(crate) fn of_run(run: &str, error: engine::Error) -> Problem {
        let ended = if let engine::Error::Refused(Refused::Ended { status }) = &error { Some(*status) } else { None };
        let problem = Problem::from(error);
        let message = ended.map(|status| format!("Run {run} already completed with status {status}"));
        Problem { message: message.unwrap_or(problem.message), ..problem }
    }

    /// A review that nobody waits for any more, and what holds.
    pub(crate) fn resolved(review: &str, verdict: &str) -> Problem {
        let message = format!("Review {review} already resolved");
        Problem::new(StatusCode::CONFLICT, "REVIEW_RESOLVED", message).with("decision", verdict)
    }

    fn not_forked(refused: fork::Refused, message: String) -> Problem {
        match refused {
            fork::Refused::Active => Problem::new(StatusCode::CONFLICT, "RUN_ACTIVE", message),
            fork::Refused::NoRun => Problem::new(StatusCode::CONFLICT, "CONFLICT", message),
            fork::Refused::Complete => Problem::new(StatusCode::CONFLICT, "RUN_COMPLETED", message),
            fork::Refused::TooFar { .. } => Problem::bad_request(message),
            fork::Refused::Mistakes(mistakes) => mistakes.into(),
            fork::Refused::Model(refused) => Problem::refused(refused, message),
        }
    }

    fn refused(refused: Refused, message: String) -> Problem {
        let conflict = |code| Problem::new(StatusCode::CONFLICT, code, message.clone());
        let wrong = |code| Problem::new(StatusCode::BAD_REQUEST, code, message.clone());
        match refused {
            Refused::Ended { status } => conflict("RUN_COMPLETED").with("runStatus", status),
            Refused::Decided { verdict } => conflict("REVIEW_RESOLVED").with("decision", verdict),
            Refused::Rejected => conflict("REJECTED_TOO_OFTEN"),
            Refused::Stale => conflict("CONFLICT"),
            Refused::Answered { answer } => conflict("APPROVAL_RESOLVED").with("decision", answer),
            Refused::NoApproval => Problem::new(StatusCode::NOT_FOUND, "APPROVAL_NOT_FOUND", message),
            Refused::NoReview => Problem::new(StatusCode::NOT_FOUND, "REVIEW_NOT_FOUND", message),
            Refused::Unfit(_) => wrong("INVALID_INPUT"),
            Refused::NoTarget { .. } => wrong("BAD_REQUEST"),
            Refused::Unpriced(_) => wrong("INVALID_MODEL"),
        }
    }
}

/// The first mistake gives the code; all of them are told.
impl From<collections::Error> for Problem {
    fn from(error: collections::Error) -> Problem {
        let message = error.to_string();
        match error {
            collections::Error::Invalid(_) => Problem::bad_request(message),
            collections::Error::Exists(_) => Problem::new(StatusCode::CONFLICT, "COLLECTION_EXISTS", message),
            collections::Error::Unknown { .. } => Problem::new(StatusCode::NOT_FOUND, "COLLECTION_NOT_FOUND", message),
            collections::Error::Log(error) => engine::Error::Log(error).into(),
        }
    }
}

impl From<Vec<Mistake>> for Problem {
    fn from(mistakes: Vec<Mistake>) -> Problem {
        let code = mistakes.first().map_or(Code::BadRequest, |mistake| mistake.code);
        let status = match code {
            Code::NotConfigured => StatusCode::SERVICE_UNAVAILABLE,
            Code::BadRequest
            | Code::InvalidTool
            | Code::InvalidModel
            | Code::InvalidTaskOverride
            | Code::CircularDependency
            | Code::MissingInput
            | Code::InvalidSchema
            | Code::TemplateTooLarge
            | Code::MediaGenerationUnavailable => StatusCode::BAD_REQUEST,
        };
        let message: Vec<String> = mistakes.iter().map(Mistake::told).collect();
        let told = |mistake: &Mistake| json!({ "error": mistake.code.word(), "place": mistake.place, "message": mistake.message });
        let all: Vec<Value> = mistakes.iter().map(told).collect();
        Problem::new(status, code.word(), message.join("; ")).with("mistakes", all)
    }
}

impl From<Mistake> for Problem {
    fn from(mistake: Mistake) -> Problem {
        vec![mistake].into()
    }
}
