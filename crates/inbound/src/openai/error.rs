//! Failures in the form that OpenAI's clients understand: `{error: {message, type, param,
//! code}}`.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::problem::{Code, More, Problem};

/// A failure as OpenAI's API tells it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OpenAiError")]
pub struct OpenAiError<'a> {
    error: ErrorBody<'a>,
}

/// The error.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OpenAiErrorDetail")]
struct ErrorBody<'a> {
    message: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The field that is wrong.
    param: Option<&'a str>,
    code: &'static str,
}

impl<'a> OpenAiError<'a> {
    /// Returns a problem as OpenAI's API tells it.
    pub fn of(problem: &'a Problem) -> OpenAiError<'a> {
        let kind = match problem.status() {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            StatusCode::FORBIDDEN => "permission_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        // The two codes that clients look at; every other one has the word it has elsewhere.
        let code = problem.code();
        let known = [(Code::Unauthorized, "invalid_api_key"), (Code::ModelNotFound, "model_not_found")];
        let code = known.iter().find(|(own, _)| *own == code).map_or(code.word(), |(_, word)| word);
        OpenAiError { error: ErrorBody { message: problem.message(), kind, param: problem.more().param(), code } }
    }

    /// Returns it as a response has it.
    pub(super) fn brief(&self) -> Value {
        json!({ "code": self.error.code, "message": self.error.message })
    }
}

/// Returns the problem of a field that is wrong.
pub fn wrong(field: &str, message: impl Into<String>) -> Problem {
    Problem::bad_request(message).with(More { param: Some(field.to_owned()), ..More::default() })
}
