//! The body of a failed request: problem details (RFC 9457) with a code for programs and the request's id. A middleware
//! writes it for every failure, of a handler or of the framework, so no route can forget it.

mod code;
mod resource;

pub use self::code::Code;

use axum::extract::Request;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use consort_chat as chats;
use consort_core::decide::Refused;
use consort_core::fork;
use consort_core::frame::field::Iso;
use consort_core::gate::{DecidedBy, ReviewOutcome};
use consort_core::mistake::{self, Mistake};
use consort_core::status::Status;
use consort_core::text::shortened;
use consort_log as log;
use consort_runtime::engine::{self, DirectError, InstructError};
use consort_tools::{attachments, collections};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tracing::{Instrument, Span, field};

use crate::a2a;
use crate::openai;
use crate::openai::error::OpenAiError;

/// The header that names a request.
pub const REQUEST_ID: &str = "x-request-id";
/// Bytes of a name that is taken over from a client at most.
const ID_MAX: usize = 64;
/// The media type of a problem.
const PROBLEM: &str = "application/problem+json";
/// The media type of any other answer for programs.
const JSON: &str = "application/json";
/// The time that a client should wait when there is no room.
const RETRY_AFTER_MS: u64 = 5_000;

/// A problem: a status, a code for programs, a message for people, and further fields.
#[derive(Clone, Debug)]
pub struct Problem {
    status: StatusCode,
    code: Code,
    message: String,
    /// Apart, because most problems have none and every result has room for it.
    more: Box<More>,
}

/// The fields that belong to some codes.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct More {
    /// When to try again; also the header `Retry-After`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The status of the run, when it is the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_status: Option<Status>,
    /// The decision that was made before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The name of who made it; absent where nobody did, such as at a timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// The time at which it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Iso>,
    /// The turn that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Everything that is wrong with a request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<WrittenMistake>,
    /// The version there is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The fields of the request that are unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The field that is wrong, where it is reported separately from the message.
    #[serde(skip)]
    pub param: Option<String>,
}

impl More {
    /// Returns the field that is wrong: the one that was named, else that of the first mistake.
    pub fn param(&self) -> Option<&str> {
        let place = || self.mistakes.first().map(|mistake| mistake.place.as_str());
        self.param.as_deref().or_else(place).filter(|place| !place.is_empty())
    }
}

/// Something that is wrong with a request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Mistake")]
pub struct WrittenMistake {
    error: mistake::Code,
    /// A path into the request.
    place: String,
    message: String,
}

/// A problem: RFC 9457, with a code for programs. Some codes have further fields.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Problem")]
pub struct Written<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    #[schemars(range(min = 400, max = 599))]
    status: u16,
    detail: &'a str,
    error: Code,
    /// The same as `detail`.
    message: &'a str,
    /// The same as the header `X-Request-Id`.
    request_id: &'a str,
    #[serde(flatten)]
    more: &'a More,
}

impl Problem {
    /// Creates a problem with the status of its code.
    pub fn new(code: Code, message: impl Into<String>) -> Problem {
        Problem::at(code.status(), code, message)
    }

    /// Creates a problem with another status than the default of its code.
    pub fn at(status: StatusCode, code: Code, message: impl Into<String>) -> Problem {
        Problem { status, code, message: shortened(message.into()), more: Box::default() }
    }

    /// Returns the problem of a request that is no WebSocket, where only those are served.
    pub fn no_socket(path: &str, rejection: &WebSocketUpgradeRejection) -> Problem {
        let message = format!("{path} is for WebSockets: {}", rejection.body_text());
        Problem::at(rejection.status(), Code::BadRequest, message)
    }

    /// Creates the problem of a request that is wrong.
    pub fn bad_request(message: impl Into<String>) -> Problem {
        Problem::new(Code::BadRequest, message)
    }

    /// Returns the problem with the fields that belong to its code.
    pub fn with(self, more: More) -> Problem {
        Problem { more: Box::new(more), ..self }
    }

    /// Returns the problem with the time to try again.
    pub fn retried_after(mut self, wait_ms: u64) -> Problem {
        self.more.retry_after_ms = Some(wait_ms);
        self
    }

    /// Adds warnings about the request.
    pub fn warn(&mut self, warnings: &[String]) {
        self.more.warnings.extend_from_slice(warnings);
    }

    /// Returns the problem with another message.
    pub fn saying(self, message: &str) -> Problem {
        Problem { message: message.to_owned(), ..self }
    }

    /// Returns the code for programs.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the message for people.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the fields that belong to its code.
    pub fn more(&self) -> &More {
        &self.more
    }

    /// Returns the status it is answered with.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the problem for a response that has a status only.
    fn of(status: StatusCode, (method, uri): &(Method, Uri)) -> Problem {
        let path = uri.path();
        let reason = || status.canonical_reason().unwrap_or("it did not work").to_owned();
        let (code, message) = match status {
            StatusCode::NOT_FOUND => {
                (Code::NotFound, format!("there is nothing at {path}: /openapi.json lists what there is"))
            }
            StatusCode::METHOD_NOT_ALLOWED => {
                (Code::MethodNotAllowed, format!("{path} does not take {method}: the header Allow lists what it takes"))
            }
            StatusCode::PAYLOAD_TOO_LARGE => (Code::PayloadTooLarge, reason()),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => (Code::UnsupportedMediaType, reason()),
            status if status.is_client_error() => (Code::BadRequest, reason()),
            _ => (Code::InternalError, reason()),
        };
        Problem::at(status, code, message)
    }

    fn written<'a>(&'a self, request_id: &'a str) -> Written<'a> {
        Written {
            kind: "about:blank",
            title: self.status.canonical_reason().unwrap_or_default(),
            status: self.status.as_u16(),
            detail: &self.message,
            error: self.code,
            message: &self.message,
            request_id,
            more: &self.more,
        }
    }
}

/// The problem travels with the response until [`attach_problem_body`] writes it down.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// The id of a request, in its answer and in the log.
#[derive(Clone, Debug)]
pub struct RequestId(pub(crate) HeaderValue);

impl RequestId {
    /// Returns the id that the request came with, if it is a plain one, or a new one.
    fn of(request: &Request) -> RequestId {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        let is_plain = |id: &&HeaderValue| (1..=ID_MAX).contains(&id.len()) && id.as_bytes().iter().all(plain);
        if let Some(id) = request.headers().get(REQUEST_ID).filter(is_plain) {
            return RequestId(id.clone());
        }
        let id = format!("req-{}", uuid::Uuid::now_v7().simple());
        RequestId(HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("req")))
    }

    /// Returns it as text.
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

/// Names every request, and gives every failure a body.
pub async fn attach_problem_body(mut request: Request, next: Next) -> Response {
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
    let code = problem.code.word();
    if problem.status == StatusCode::SERVICE_UNAVAILABLE {
        // Whatever is away or full says so itself, once and not with each request.
        tracing::info!(request = id, code, reason = problem.message, "a request was refused for now");
    } else if problem.status.is_server_error() {
        tracing::error!(request = id, code, reason = problem.message, "a request failed");
    }
    let path = asked.1.path();
    let (body, kind) = if openai::is_path(path) {
        (json!(OpenAiError::of(&problem)), JSON)
    } else if let Some(told) = a2a::error_body(path, &problem) {
        (told, JSON)
    } else {
        (json!(problem.written(id)), PROBLEM)
    };
    *response.body_mut() = body.to_string().into();
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Some(wait_ms) = problem.more.retry_after_ms {
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
            engine::Error::Mistakes(mistakes) => mistakes.into(),
            engine::Error::NotFound(_) => Problem::new(Code::RunNotFound, message),
            engine::Error::Busy { .. } => Problem::new(Code::ConcurrencyLimit, message).retried_after(RETRY_AFTER_MS),
            engine::Error::OwnerBusy { .. } => {
                Problem::new(Code::ConcurrencyLimit, message).retried_after(RETRY_AFTER_MS)
            }
            engine::Error::OwnerSpent { retry_ms, .. } => {
                Problem::new(Code::QuotaExceeded, message).retried_after(retry_ms)
            }
            engine::Error::Draining => Problem::new(Code::Draining, message),
            engine::Error::NotOwned(_) | engine::Error::Log(log::Error::Fenced | log::Error::Claimed { .. }) => {
                Problem::new(Code::Unavailable, message)
            }
            engine::Error::Log(log::Error::Full(_) | log::Error::Unavailable(_)) => {
                Problem::new(Code::StorageUnavailable, message).retried_after(RETRY_AFTER_MS)
            }
            engine::Error::Log(log::Error::Damaged { .. }) => {
                let message = format!("{message}: it can be looked at in lists and deleted, nothing else");
                Problem::new(Code::StorageDamaged, message)
            }
        }
    }
}

impl From<InstructError> for Problem {
    fn from(error: InstructError) -> Problem {
        match error {
            InstructError::NoneActive | InstructError::NoFallback(_) => Problem::bad_request(error.to_string()),
            InstructError::Model(mistake) => mistake.into(),
            InstructError::Refused { run, error } => Problem::of_run(&run, error),
            InstructError::Engine(error) => error.into(),
        }
    }
}

impl From<DirectError> for Problem {
    fn from(error: DirectError) -> Problem {
        let code = match error {
            DirectError::NoTools => Code::NotConfigured,
            DirectError::Unknown(_) => Code::ToolNotFound,
            DirectError::AsksPerson(_) | DirectError::Class(_) => Code::Forbidden,
        };
        Problem::new(code, error.to_string())
    }
}

impl From<chats::Error> for Problem {
    fn from(error: chats::Error) -> Problem {
        let message = error.to_string();
        match error {
            chats::Error::NotFound(_) => Problem::new(Code::ThreadNotFound, message),
            chats::Error::NoGrant(_) => Problem::new(Code::GrantNotFound, message),
            chats::Error::Busy { turn } => Problem::new(Code::ThreadBusy, message)
                .with(More { turn_id: Some(turn.to_string()), ..More::default() }),
            chats::Error::Idle => Problem::new(Code::TurnNotRunning, message),
            chats::Error::Uncut => Problem::new(Code::NothingToContinue, message),
            chats::Error::Full => Problem::new(Code::ConcurrencyLimit, message).retried_after(RETRY_AFTER_MS),
            chats::Error::Mistake(mistake) => mistake.into(),
            chats::Error::Engine(error) => error.into(),
        }
    }
}

impl Problem {
    /// Returns the problem for an error of a request about a run; the message names the run.
    pub fn of_run(run: &str, error: engine::Error) -> Problem {
        let ended = if let engine::Error::Refused(Refused::Ended { status }) = &error { Some(*status) } else { None };
        let problem = Problem::from(error);
        let message = ended.map(|status| format!("Run {run} already completed with status {status}"));
        Problem { message: message.unwrap_or(problem.message), ..problem }
    }

    /// Creates the problem for a review that is decided already, with its outcome.
    pub fn resolved(review: &str, verdict: ReviewOutcome, made: DecidedBy) -> Problem {
        let message = format!("Review {review} already resolved: {verdict}{made}");
        Problem::new(Code::ReviewResolved, message).with(decided(verdict.word(), made))
    }

    fn not_forked(refused: fork::Refused, message: String) -> Problem {
        match refused {
            fork::Refused::Active => Problem::new(Code::RunActive, message),
            fork::Refused::NoRun | fork::Refused::TooNew => Problem::new(Code::Conflict, message),
            fork::Refused::Complete => Problem::new(Code::RunCompleted, message),
            fork::Refused::TooFar { .. } => Problem::bad_request(message),
            fork::Refused::Mistakes(mistakes) => mistakes.into(),
            fork::Refused::Model(refused) => Problem::refused(refused, message),
        }
    }

    fn refused(refused: Refused, message: String) -> Problem {
        let (code, more) = match refused {
            Refused::Ended { status } => (Code::RunCompleted, More { run_status: Some(status), ..More::default() }),
            Refused::Decided { verdict, made } => (Code::ReviewResolved, decided(verdict.word(), made)),
            Refused::Rejected => (Code::RejectedTooOften, More::default()),
            Refused::Stale => (Code::Conflict, More::default()),
            Refused::Answered { answer, made } => (Code::ApprovalResolved, decided(answer.word(), made)),
            Refused::NoApproval => (Code::ApprovalNotFound, More::default()),
            Refused::NoReview => (Code::ReviewNotFound, More::default()),
            Refused::BlankEdit => (Code::BadRequest, More::default()),
            Refused::Unfit(_) | Refused::UnfitArguments(_) => (Code::InvalidInput, More::default()),
            Refused::NoTarget { .. } | Refused::NotRaised(_) | Refused::TooManyDirectives => {
                (Code::BadRequest, More::default())
            }
            Refused::Unpriced(_) => (Code::InvalidModel, More::default()),
        };
        Problem::new(code, message).with(more)
    }
}

/// Returns the decision that holds, with its maker and time.
fn decided(word: &str, DecidedBy { by, at }: DecidedBy) -> More {
    let decided_by = Some(by).filter(|by| !by.is_empty());
    let decided_at = (at > 0).then_some(Iso(at));
    More { decision: Some(word.to_owned()), decided_by, decided_at, ..More::default() }
}

impl From<attachments::Error> for Problem {
    fn from(error: attachments::Error) -> Problem {
        let message = error.to_string();
        match error {
            attachments::Error::Empty => Problem::bad_request(message),
            attachments::Error::Unsupported(_) => Problem::new(Code::UnsupportedMediaType, message),
            attachments::Error::Unknown(_) => Problem::new(Code::AttachmentNotFound, message),
            attachments::Error::Used { .. } => Problem::new(Code::AttachmentUsed, message),
            attachments::Error::TooMany => Problem::new(Code::LimitReached, message),
            attachments::Error::Log(error) => engine::Error::Log(error).into(),
        }
    }
}

/// The first mistake gives the code; all of them are listed.
impl From<collections::Error> for Problem {
    fn from(error: collections::Error) -> Problem {
        let message = error.to_string();
        match error {
            collections::Error::Invalid(_) => Problem::bad_request(message),
            collections::Error::Exists(_) => Problem::new(Code::CollectionExists, message),
            collections::Error::TooMany => Problem::new(Code::LimitReached, message),
            collections::Error::Unknown { .. } => Problem::new(Code::CollectionNotFound, message),
            collections::Error::NoDocument { .. } => Problem::new(Code::DocumentNotFound, message),
            collections::Error::Unsupported(_) => Problem::new(Code::UnsupportedMediaType, message),
            collections::Error::Busy => Problem::new(Code::Unavailable, message).retried_after(RETRY_AFTER_MS),
            collections::Error::Log(error) => engine::Error::Log(error).into(),
        }
    }
}

impl From<Vec<Mistake>> for Problem {
    fn from(mistakes: Vec<Mistake>) -> Problem {
        let code = mistakes.first().map_or(Code::BadRequest, |mistake| mistake.code.into());
        let message: Vec<String> = mistakes.iter().map(Mistake::protocol_message).collect();
        let written = |Mistake { code, place, message }: Mistake| WrittenMistake { error: code, place, message };
        let mistakes = mistakes.into_iter().map(written).collect();
        Problem::new(code, message.join("; ")).with(More { mistakes, ..More::default() })
    }
}

impl From<Mistake> for Problem {
    fn from(mistake: Mistake) -> Problem {
        vec![mistake].into()
    }
}
