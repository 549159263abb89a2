//! Classifies the error of a server as a [`Failure`]. Servers agree on
//! little but the status, so their codes and messages are examined too.

use std::time::{Duration, SystemTime};

use consort_core::message::{Failure, FailureKind};
use consort_http::retry_after;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::http::failure;

/// Phrases by which servers say that a conversation is too long.
const OVERFLOW: [&str; 11] = [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    "exceeds the maximum number of tokens",
    "request_too_large",
];
/// Phrases by which servers say that the account is empty.
const EMPTY_ACCOUNT: [&str; 4] =
    ["insufficient_quota", "billing_hard_limit", "insufficient balance", "credit balance is too low"];
/// Phrases by which servers say that the key is wrong, where the status does not.
const WRONG_KEY: [&str; 2] = ["invalid_api_key", "api key not valid"];

/// The message of a failure for which the server gave no reason.
const SILENT: &str = "the server did not say why";

/// Codes of requests that a server refuses to answer.
const REFUSAL_CODES: [&str; 7] =
    ["invalid_request", "invalid_prompt", "badrequest", "content_filter", "policy", "not_found", "billing"];

/// Returns the failure for an error response.
pub(super) fn of_answer(status: u16, headers: &HeaderMap, body: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(body);
    let json = serde_json::from_str::<Value>(&text).ok();
    // A stream that was requested as a list has its error in a list.
    let json = json.as_ref().map(|json| json.get(0).unwrap_or(json));
    let complaint = json.map(|json| Complaint::read(json.get("error").unwrap_or(json)));
    let complaint = complaint.filter(|complaint| !complaint.message.is_empty());
    let complaint = complaint.unwrap_or_else(|| Complaint { message: text.trim().to_owned(), ..Complaint::default() });
    let mut failure = complaint.failure(Some(status));
    failure.retry_after_ms = retry_after::read(headers, SystemTime::now()).or(failure.retry_after_ms);
    failure
}

/// Returns the failure for an error in the middle of a stream.
pub(super) fn of_event(error: &Value) -> Failure {
    Complaint::read(error).failure(None)
}

#[derive(Debug, Default)]
struct Complaint {
    message: String,
    /// The error codes, in lower case.
    codes: String,
    /// The code that is an HTTP status.
    status: Option<u16>,
    retry_after_ms: Option<u64>,
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
            codes: format!("{} {} {}", text("code"), text("type"), text("status")).to_lowercase(),
            status: number.and_then(|number| u16::try_from(number).ok()),
            retry_after_ms: error.get("details").and_then(Value::as_array).and_then(|details| delay(details)),
        }
    }

    fn failure(self, status: Option<u16>) -> Failure {
        let kind = self.kind(status.or(self.status));
        let complaint =
            [self.message.trim(), self.codes.trim(), SILENT].into_iter().find(|complaint| !complaint.is_empty());
        let mut message = complaint.unwrap_or_default().to_owned();
        if let Some(status) = status {
            message = format!("HTTP {status}: {message}");
        }
        Failure { retry_after_ms: self.retry_after_ms, status, ..failure(kind, message) }
    }

    fn kind(&self, status: Option<u16>) -> FailureKind {
        let words = self.message.to_lowercase();
        let says =
            |phrases: &[&str]| phrases.iter().any(|phrase| self.codes.contains(phrase) || words.contains(phrase));
        match status {
            Some(401 | 403) => FailureKind::Unauthorized,
            Some(402) => FailureKind::Refused,
            _ if says(&EMPTY_ACCOUNT) => FailureKind::Refused,
            _ if says(&WRONG_KEY) => FailureKind::Unauthorized,
            Some(429) => FailureKind::RateLimited,
            Some(413) => FailureKind::Overflow,
            _ if says(&OVERFLOW) => FailureKind::Overflow,
            Some(408) => FailureKind::Timeout,
            // A conflict or a request that came too early may be retried.
            Some(409 | 425 | 500..) => FailureKind::Overloaded,
            Some(_) => FailureKind::Refused,
            None => self.kind_by_code(),
        }
    }

    fn kind_by_code(&self) -> FailureKind {
        let code = |phrases: &[&str]| phrases.iter().any(|phrase| self.codes.contains(phrase));
        if code(&["rate_limit", "too_many_requests"]) {
            FailureKind::RateLimited
        } else if code(&["authentication", "permission"]) {
            FailureKind::Unauthorized
        } else if code(&REFUSAL_CODES) {
            FailureKind::Refused
        } else if code(&["timeout"]) {
            FailureKind::Timeout
        } else {
            FailureKind::Overloaded
        }
    }
}

/// Returns the delay that an error's details ask for, in milliseconds: `"retryDelay": "34.5s"`.
fn delay(details: &[Value]) -> Option<u64> {
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds = delay.strip_suffix('s')?.parse().ok()?;
    u64::try_from(Duration::try_from_secs_f64(seconds).ok()?.as_millis()).ok()
}
