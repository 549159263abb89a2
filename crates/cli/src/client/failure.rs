//! The failures between a terminal and a server, by what a person can do about them,
//! with the exit status for scripts.

use consort_http::innermost;
use reqwest::StatusCode;
use serde_json::Value;

use super::ids::IdError;
use crate::exit::Exit;
use crate::show::words::one_line;

/// The ways to give a key.
const HOW: &str = "give one with --key, or in CONSORT_API_KEY";

/// The reason why there is no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server is not running, or the address is wrong.
    #[error("cannot reach {url}: {reason}")]
    Unreachable {
        /// The server.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The server refused the request.
    #[error("{message} ({code})")]
    Refused {
        /// The status of the response.
        status: StatusCode,
        /// The error code, for programs.
        code: String,
        /// The error message, for people.
        message: String,
        /// The body of the response.
        body: String,
    },
    /// The address is no Consort server.
    #[error("{url} does not answer as Consort does: {reason}")]
    Strange {
        /// The server.
        url: String,
        /// The unexpected part of its response.
        reason: String,
    },
    /// The typed id does not stand for exactly one thing.
    #[error(transparent)]
    IdError(#[from] IdError),
}

impl Failure {
    pub(super) fn unreachable(url: &str, error: &reqwest::Error) -> Failure {
        let reason = if error.is_timeout() { "no answer in time".to_owned() } else { innermost(error) };
        Failure::Unreachable { url: url.to_owned(), reason }
    }

    pub(super) fn strange(url: &str, reason: &str) -> Failure {
        Failure::Strange { url: url.to_owned(), reason: reason.to_owned() }
    }

    /// Creates a refusal, in the server's own words where it has some. About keys the
    /// server speaks of headers; here it is an option and a variable.
    pub(super) fn refused(url: &str, status: StatusCode, body: String, key: Option<&str>) -> Failure {
        let problem: Value = serde_json::from_str(&body).unwrap_or_default();
        let text = |name: &str| problem.get(name).and_then(Value::as_str).map(one_line);
        let message = match (status, key) {
            (StatusCode::UNAUTHORIZED, Some(_)) => Some(format!("{url} does not take this API key: {HOW}")),
            (StatusCode::UNAUTHORIZED, None) => Some(format!("{url} wants an API key: {HOW}")),
            _ => text("message"),
        };
        match (text("error").or_else(|| text("lifecycleState")), message) {
            (Some(code), Some(message)) => Failure::Refused { status, code, message, body },
            // A probe's answer has no words.
            (Some(code), None) => Failure::Refused { status, code, message: format!("{url} takes no work now"), body },
            // A proxy answers for a server that is away.
            _ if status.is_server_error() => Failure::Unreachable { url: url.to_owned(), reason: status.to_string() },
            _ => Failure::strange(url, &status.to_string()),
        }
    }

    /// Returns whether the same request may succeed a little later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Failure::Unreachable { .. } => true,
            Failure::Refused { status, .. } => status.is_server_error(),
            Failure::Strange { .. } | Failure::IdError(_) => false,
        }
    }

    /// Returns the exit status for the shell.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::Unreachable { .. } => Exit::Unreachable,
            Failure::IdError(IdError::Ambiguous { .. } | IdError::TooMany(..)) => Exit::Usage,
            Failure::IdError(IdError::Nothing(_)) | Failure::Refused { .. } | Failure::Strange { .. } => Exit::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_takes_no_work_is_told_apart_from_one_that_is_away() {
        let refused = |body: &str| Failure::refused("u", StatusCode::SERVICE_UNAVAILABLE, body.to_owned(), None);
        let draining = refused(r#"{"status":"NOT_READY","lifecycleState":"DRAINING"}"#);
        assert_eq!((draining.to_string().as_str(), draining.exit()), ("u takes no work now (DRAINING)", Exit::Failed));
        assert_eq!(refused("<html>").exit(), Exit::Unreachable);
    }
}
