//! The answer to a frame that could not be handled.

use consort_log as log;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Echo;
use consort_inbound::problem::{Code, More, Problem};

/// An error, and its subject.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Failure {
    /// The code, for programs.
    #[schemars(with = "String")]
    code: Code,
    /// The message, for people.
    message: String,
    #[serde(flatten)]
    more: More,
    #[serde(flatten)]
    subject: Subject,
}

/// The ids that an error repeats of the frame it is about.
#[derive(Default, Serialize, JsonSchema)]
struct Subject {
    /// The id from the request.
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    request_id: Option<Echo>,
    /// The id from the request, in the spelling of the chat's frames.
    #[serde(rename = "request_id", skip_serializing_if = "Option::is_none")]
    chat_request_id: Option<Echo>,
    /// The run.
    #[serde(rename = "runId", skip_serializing_if = "Option::is_none")]
    run_id: Option<Echo>,
    /// The thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<Echo>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<Echo>,
}

impl Failure {
    /// Returns the error frame for a problem with a frame.
    pub(crate) fn of(problem: &Problem, frame: &Value) -> Box<Failure> {
        let echo = |name| Echo::of(frame, name);
        let subject = Subject {
            request_id: echo("requestId"),
            chat_request_id: echo("request_id"),
            run_id: echo("runId"),
            thread_id: echo("thread_id"),
            // A problem may name a turn itself, in the spelling of REST.
            turn_id: echo("turn_id").or_else(|| Some(Echo(problem.more().turn_id.clone()?.into()))),
        };
        let message = problem.message().to_owned();
        let more = problem.more().clone();
        Box::new(Failure { code: problem.code(), message, more, subject })
    }

    /// Creates an error of the connection itself.
    pub(crate) fn new(code: Code, message: String) -> Box<Failure> {
        let more = More::default();
        Box::new(Failure { code, message, more, subject: Subject::default() })
    }

    /// Creates the error for frames that cannot be read from the log.
    pub(crate) fn storage(error: &log::Error) -> Box<Failure> {
        let code = match error {
            log::Error::Damaged { .. } => Code::StorageDamaged,
            log::Error::Fenced | log::Error::Claimed { .. } | log::Error::Full(_) | log::Error::Unavailable(_) => {
                Code::StorageUnavailable
            }
        };
        Failure::new(code, error.to_string())
    }

    /// Adds the unknown fields of the frame.
    pub(crate) fn warned(mut self: Box<Failure>, warnings: &[String]) -> Box<Failure> {
        self.more.warnings = warnings.to_vec();
        self
    }

    /// Adds the run that it is about.
    pub(crate) fn in_run(mut self: Box<Failure>, run: &str) -> Box<Failure> {
        self.subject.run_id = Some(Echo(run.into()));
        self
    }

    /// Adds the thread that it is about.
    pub(crate) fn in_thread(mut self: Box<Failure>, thread: &str) -> Box<Failure> {
        self.subject.thread_id = Some(Echo(thread.into()));
        self
    }
}
