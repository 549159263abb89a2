//! What can go wrong between a terminal and a server, by what a person can do
//! about it, and the exit status that tells a script the same.

use std::error::Error;

use reqwest::StatusCode;
use serde_json::Value;

use crate::exit::Exit;
use crate::show::words::one_line;

/// The ways to give a key.
const HOW: &str = "give one with --key, or in CONSORT_API_KEY";

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Start the server, or name the right one.
    #[error("cannot reach {url}: {reason}")]
    Unreachable {
        /// The server.
        url: String,
        /// What happened.
        reason: String,
    },
    /// Ask for something else.
    #[error("{message} ({code})")]
    Refused {
        /// The status of the answer.
        status: StatusCode,
        /// What went wrong, for programs.
        code: String,
        /// What went wrong, for people.
        message: String,
        /// The answer as it came.
        body: String,
    },
    /// Name a server of Consort.
    #[error("{url} does not answer as Consort does: {reason}")]
    Strange {
        /// The server.
        url: String,
        /// What is odd about it.
        reason: String,
    },
}

impl Failure {
    pub(super) fn unreachable(url: &str, error: &reqwest::Error) -> Failure {
        let reason = if error.is_timeout() { "no answer in time".to_owned() } else { innermost(error) };
        Failure::Unreachable { url: url.to_owned(), reason }
    }

    pub(super) fn strange(url: &str, reason: &str) -> Failure {
        Failure::Strange { url: url.to_owned(), reason: reason.to_owned() }
    }

    /// A refusal, in the server's own words where it has some. About keys it
    /// speaks of headers; here it is an option and a variable.
    pub(super) fn refused(url: &str, status: StatusCode, body: String, key: Option<&str>) -> Failure {
        let problem: Value = serde_json::from_str(&body).unwrap_or_default();
        let text = |name: &str| problem.get(name).and_then(Value::as_str).map(one_line);
        let message = match (status, key) {
            (StatusCode::UNAUTHORIZED, Some(_)) => Some(format!("{url} does not take this API key: {HOW}")),
            (StatusCode::UNAUTHORIZED, None) => Some(format!("{url} wants an API key: {HOW}")),
            _ => text("message"),
        };
        match (text("error"), message) {
            (Some(code), Some(message)) => Failure::Refused { status, code, message, body },
            // Something stands before the server, which is away.
            _ if status.is_server_error() => Failure::Unreachable { url: url.to_owned(), reason: status.to_string() },
            _ => Failure::strange(url, &status.to_string()),
        }
    }

    /// Whether the same request may succeed a little later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Failure::Unreachable { .. } => true,
            Failure::Refused { status, .. } => status.is_server_error(),
            Failure::Strange { .. } => false,
        }
    }

    /// What the shell is told.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::Unreachable { .. } => Exit::Unreachable,
            Failure::Refused { .. } | Failure::Strange { .. } => Exit::Failed,
        }
    }
}

/// The cause below all others: the ones above it only say that there is one.
pub(super) fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    cause.to_string()
}
