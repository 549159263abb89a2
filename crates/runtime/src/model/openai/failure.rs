//! What a server says when it will not answer, as a [`Failure`]. Servers
//! agree on little but the status, so their codes and words are looked at too.

use std::time::SystemTime;

use consort_core::message::{Failure, FailureKind};
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::model::http::failure;
use crate::model::retry_after;

/// How servers say that a conversation is too long.
const OVERFLOW: [&str; 8] = [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
];
/// How they say that the account is empty.
const EMPTY_ACCOUNT: [&str; 3] = ["insufficient_quota", "billing_hard_limit", "insufficient balance"];

/// A complaint in place of an answer.
pub(super) fn of_answer(status: u16, headers: &HeaderMap, body: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(body);
    let said =
        serde_json::from_str::<Value>(&text).ok().map(|json| Complaint::read(json.get("error").unwrap_or(&json)));
    let said = said.filter(|said| !said.message.is_empty());
    let said = said.unwrap_or_else(|| Complaint { message: text.trim().to_owned(), ..Complaint::default() });
    let mut failure = said.failure(Some(status));
    failure.retry_after_ms = retry_after::read(headers, SystemTime::now());
    failure
}

/// A complaint in the middle of an answer.
pub(super) fn of_event(error: &Value) -> Failure {
    Complaint::read(error).failure(None)
}

#[derive(Debug, Default)]
struct Complaint {
    message: String,
    /// The codes it came with, in lower case.
    codes: String,
    /// A code that is a status.
    status: Option<u16>,
}

impl Complaint {
    fn read(error: &Value) -> Complaint {
        if let Some(message) = error.as_str() {
            return Complaint { message: message.to_owned(), ..Complaint::default() };
        }
        let text = |name| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = error.get("code").and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
        Complaint {
            message: text("message").to_owned(),
            codes: format!("{} {}", text("code"), text("type")).to_lowercase(),
            status: number.and_then(|number| u16::try_from(number).ok()),
        }
    }

    fn failure(self, status: Option<u16>) -> Failure {
        let kind = self.kind(status.or(self.status));
        let mut message = if self.message.is_empty() { self.codes.trim().to_owned() } else { self.message };
        if let Some(status) = status {
            message = format!("HTTP {status}: {message}");
        }
        failure(kind, message)
    }

    fn kind(&self, status: Option<u16>) -> FailureKind {
        let words = self.message.to_lowercase();
        let says =
            |phrases: &[&str]| phrases.iter().any(|phrase| self.codes.contains(phrase) || words.contains(phrase));
        match status {
            Some(401 | 403) => FailureKind::Unauthorized,
            Some(402) => FailureKind::Refused,
            _ if says(&EMPTY_ACCOUNT) => FailureKind::Refused,
            Some(429) => FailureKind::RateLimited,
            Some(413) => FailureKind::Overflow,
            _ if says(&OVERFLOW) => FailureKind::Overflow,
            Some(408) => FailureKind::Timeout,
            // A conflict or a request that came too early may be repeated.
            Some(409 | 425 | 500..) => FailureKind::Overloaded,
            Some(_) => FailureKind::Refused,
            None => self.kind_by_code(),
        }
    }

    fn kind_by_code(&self) -> FailureKind {
        let code = |phrase| self.codes.contains(phrase);
        if code("rate_limit") {
            FailureKind::RateLimited
        } else if code("authentication") || code("permission") || code("invalid_api_key") {
            FailureKind::Unauthorized
        } else if code("invalid_request") || code("badrequest") || code("content_filter") {
            FailureKind::Refused
        } else {
            FailureKind::Overloaded
        }
    }
}
