//! The answers to frames about runs: a run that was requested, a command for one, a directive.

use consort_core::spec::Workflow;
use schemars::JsonSchema;
use serde::Serialize;

use super::Echo;
use crate::routes::steer::Applied;
use crate::routes::submit::RehearsedTask;
use consort_inbound::problem::{Code, More};

/// The answer to a request for a run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunAck {
    /// The id from the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<Echo>,
    /// The id of the run; one for which there was no room has an id and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// Whether it was accepted.
    pub(crate) status: RunAckStatus,
    /// Whether it was a dry run: nothing was started.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dry_run: bool,
    /// The number of tasks.
    pub(crate) tasks: usize,
    /// The order of its tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workflow: Option<Workflow>,
    /// The tasks that would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_tasks: Option<Vec<RehearsedTask>>,
    /// The parts of the request that were ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warnings: Option<Vec<String>>,
    /// The reason why it was not accepted, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Code>,
    /// The reason why it was not accepted, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(flatten)]
    pub(crate) more: More,
}

/// Whether a run was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum RunAckStatus {
    Accepted,
    Rejected,
}

impl RunAckStatus {
    pub(crate) fn word(self) -> &'static str {
        match self {
            RunAckStatus::Accepted => "ACCEPTED",
            RunAckStatus::Rejected => "REJECTED",
        }
    }
}

/// The result of steering a run.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Controlled {
    /// It asks another model.
    #[serde(rename_all = "camelCase")]
    Switched {
        /// The alias of the model it asks now.
        model: String,
        /// The alias of the one it asked before.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous_model: Option<String>,
        /// The change is applied.
        status: Applied,
    },
    /// Anything else.
    Told {
        /// The result.
        status: ControlStatus,
        /// The alias that is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
}

/// The result of steering a run, as one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ControlStatus {
    Cancelling,
    Paused,
    Resumed,
    GivenUp,
    Raised,
    NotFound,
    Rejected,
    InvalidModel,
    InvalidAction,
    NotConfigured,
}

impl Controlled {
    /// Returns the result as one word.
    pub(crate) fn word(&self) -> &'static str {
        let Controlled::Told { status, .. } = self else { return "APPLIED" };
        match status {
            ControlStatus::Cancelling => "CANCELLING",
            ControlStatus::Paused => "PAUSED",
            ControlStatus::Resumed => "RESUMED",
            ControlStatus::GivenUp => "GIVEN_UP",
            ControlStatus::Raised => "RAISED",
            ControlStatus::NotFound => "NOT_FOUND",
            ControlStatus::Rejected => "REJECTED",
            ControlStatus::InvalidModel => "INVALID_MODEL",
            ControlStatus::InvalidAction => "INVALID_ACTION",
            ControlStatus::NotConfigured => "NOT_CONFIGURED",
        }
    }
}

/// The result of a directive.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Directed {
    /// It was given.
    #[serde(rename_all = "camelCase")]
    Given {
        /// Its id, in the first run it was given to.
        directive_id: String,
        /// It was given.
        status: Given,
    },
    /// It was not.
    #[serde(rename_all = "camelCase")]
    Refused {
        /// It was not given.
        status: Refused,
        /// The reason, for programs.
        error: Code,
        /// The reason, for people.
        message: String,
        /// There is none.
        directive_id: (),
    },
}

/// The status of a directive that was given.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Given {
    Accepted,
}

/// The status of a directive that was not given.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Refused {
    Rejected,
}
