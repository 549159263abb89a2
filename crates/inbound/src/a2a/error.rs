//! Failures as the A2A protocol tells them: with a code over JSON-RPC, with a status over REST, and in both with details
//! for programs.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::problem::{Code, Problem};

/// The domain of the protocol's own reasons.
const DOMAIN: &str = "a2a-protocol.org";
/// The domain of the other reasons.
const OWN_DOMAIN: &str = "consort";
/// The code over JSON-RPC of what the protocol has no code for.
const SERVER_ERROR: i32 = -32000;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words are those of the protocol")]
pub enum Fault {
    TaskNotFound,
    TaskNotCancelable,
    UnsupportedOperation,
    ContentTypeNotSupported,
    VersionNotSupported,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    /// A problem that the protocol has no word for.
    Other(StatusCode, Code),
}

/// A failure.
#[derive(Clone, Debug)]
pub struct A2aError {
    fault: Fault,
    message: String,
    /// The field that is wrong.
    field: Option<String>,
}

impl A2aError {
    /// Creates a failure that is about no field.
    pub fn new(fault: Fault, message: impl Into<String>) -> A2aError {
        A2aError { fault, message: message.into(), field: None }
    }

    /// Creates the failure for a field that is wrong.
    pub fn wrong(field: &str, message: impl std::fmt::Display) -> A2aError {
        A2aError {
            field: Some(field.to_owned()),
            ..A2aError::new(Fault::InvalidParams, format!("`{field}` {message}"))
        }
    }

    /// Returns the failure for a field of an object that is itself a field.
    pub fn within(self, place: &str) -> A2aError {
        let Some(field) = &self.field else { return self };
        let whole = format!("{place}.{field}");
        let message = self.message.replacen(&format!("`{field}`"), &format!("`{whole}`"), 1);
        A2aError { field: Some(whole), message, ..self }
    }

    /// Creates the failure for a task that is not there, or not the caller's.
    pub fn no_task(id: &str) -> A2aError {
        A2aError::new(Fault::TaskNotFound, format!("there is no task {id}"))
    }

    /// Returns the failure over JSON-RPC.
    pub fn rpc(&self) -> Value {
        json!({ "code": self.fault.code(), "message": self.message, "data": self.details() })
    }

    /// Returns the failure over REST.
    pub fn rest(&self) -> Value {
        let (status, word) = self.fault.status();
        json!({ "error": { "code": status.as_u16(), "status": word, "message": self.message,
            "details": self.details() } })
    }

    /// Returns the status over REST.
    pub fn status(&self) -> StatusCode {
        self.fault.status().0
    }

    fn details(&self) -> Vec<Value> {
        let (reason, domain) = match self.fault.reason() {
            Ok(reason) => (reason, DOMAIN),
            Err(reason) => (reason, OWN_DOMAIN),
        };
        let info = json!({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": domain });
        let field = self.field.as_ref().map(|field| {
            let violation = json!({ "field": field, "description": self.message });
            json!({ "@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation] })
        });
        std::iter::once(info).chain(field).collect()
    }
}

impl Fault {
    /// Returns the code over JSON-RPC.
    fn code(self) -> i32 {
        match self {
            Fault::TaskNotFound => -32001,
            Fault::TaskNotCancelable => -32002,
            Fault::UnsupportedOperation => -32004,
            Fault::ContentTypeNotSupported => -32005,
            Fault::VersionNotSupported => -32009,
            Fault::InvalidParams => -32602,
            Fault::InvalidRequest => -32600,
            Fault::MethodNotFound => -32601,
            Fault::ParseError => -32700,
            Fault::Other(status, _) if status == StatusCode::INTERNAL_SERVER_ERROR => -32603,
            Fault::Other(..) => SERVER_ERROR,
        }
    }

    /// Returns the status over REST, and its word.
    fn status(self) -> (StatusCode, &'static str) {
        match self {
            Fault::TaskNotFound => (StatusCode::NOT_FOUND, "NOT_FOUND"),
            Fault::TaskNotCancelable | Fault::UnsupportedOperation | Fault::VersionNotSupported => {
                (StatusCode::BAD_REQUEST, "FAILED_PRECONDITION")
            }
            Fault::ContentTypeNotSupported => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "INVALID_ARGUMENT"),
            Fault::InvalidParams | Fault::InvalidRequest | Fault::ParseError => {
                (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT")
            }
            Fault::MethodNotFound => (StatusCode::NOT_FOUND, "UNIMPLEMENTED"),
            Fault::Other(status, _) => (status, word(status)),
        }
    }

    /// Returns the reason for programs: the protocol's own, or else ours.
    fn reason(self) -> Result<&'static str, &'static str> {
        match self {
            Fault::TaskNotFound => Ok("TASK_NOT_FOUND"),
            Fault::TaskNotCancelable => Ok("TASK_NOT_CANCELABLE"),
            Fault::UnsupportedOperation => Ok("UNSUPPORTED_OPERATION"),
            Fault::ContentTypeNotSupported => Ok("CONTENT_TYPE_NOT_SUPPORTED"),
            Fault::VersionNotSupported => Ok("VERSION_NOT_SUPPORTED"),
            Fault::InvalidParams => Err("INVALID_PARAMS"),
            Fault::InvalidRequest => Err("INVALID_REQUEST"),
            Fault::MethodNotFound => Err("METHOD_NOT_FOUND"),
            Fault::ParseError => Err("PARSE_ERROR"),
            Fault::Other(_, code) => Err(code.word()),
        }
    }
}

/// Returns the word of a status in Google's model of errors.
fn word(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
        StatusCode::FORBIDDEN => "PERMISSION_DENIED",
        StatusCode::NOT_FOUND => "NOT_FOUND",
        StatusCode::CONFLICT => "ABORTED",
        StatusCode::TOO_MANY_REQUESTS => "RESOURCE_EXHAUSTED",
        StatusCode::SERVICE_UNAVAILABLE => "UNAVAILABLE",
        StatusCode::METHOD_NOT_ALLOWED => "UNIMPLEMENTED",
        status if status.is_client_error() => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    }
}

impl A2aError {
    /// Returns a problem as the protocol tells it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the status tells the kind of all other codes")]
    pub fn of(problem: &Problem) -> A2aError {
        let fault = match problem.code() {
            Code::RunNotFound => Fault::TaskNotFound,
            Code::UnsupportedMediaType => Fault::ContentTypeNotSupported,
            // There is nothing at the path, whatever was sent.
            Code::NotFound => Fault::Other(problem.status(), Code::NotFound),
            code => match problem.status() {
                // Something that was named is wrong, or is not there.
                StatusCode::BAD_REQUEST
                | StatusCode::NOT_FOUND
                | StatusCode::CONFLICT
                | StatusCode::UNPROCESSABLE_ENTITY => Fault::InvalidParams,
                status => Fault::Other(status, code),
            },
        };
        let field = problem.more().param().map(str::to_owned);
        A2aError { field, ..A2aError::new(fault, problem.message()) }
    }
}

impl<E: Into<Problem>> From<E> for A2aError {
    fn from(error: E) -> A2aError {
        A2aError::of(&error.into())
    }
}
