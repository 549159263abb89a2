//! The codes of problems, for programs: each with the status it is answered
//! with. The description of the API lists them from here.

use axum::http::StatusCode;
use consort_core::mistake;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// The code for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Code {
    ApprovalNotFound,
    ApprovalResolved,
    BadRequest,
    CircularDependency,
    CollectionExists,
    CollectionNotFound,
    ConcurrencyLimit,
    Conflict,
    Draining,
    Forbidden,
    GrantNotFound,
    IdempotencyConflict,
    InternalError,
    InvalidInput,
    InvalidModel,
    InvalidSchema,
    InvalidTaskOverride,
    InvalidTool,
    LimitReached,
    MethodNotAllowed,
    MissingInput,
    NothingToContinue,
    NotConfigured,
    NotFound,
    OutcomeUnknown,
    PayloadTooLarge,
    PreconditionFailed,
    PreconditionRequired,
    RejectedTooOften,
    RequestTimeout,
    ReviewNotFound,
    ReviewResolved,
    RunActive,
    RunCompleted,
    RunNotFound,
    Starting,
    StorageDamaged,
    StorageUnavailable,
    TemplateTooLarge,
    ThreadBusy,
    ThreadNotFound,
    ToolNotFound,
    TurnNotRunning,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
    VersionNotFound,
    WorkflowNotFound,
    /// For sockets only.
    #[schemars(skip)]
    AlreadyAuthenticated,
    #[schemars(rename = "media_generation_unavailable")]
    MediaGenerationUnavailable,
}

impl Code {
    /// The word on the wire.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Code::ApprovalNotFound => "APPROVAL_NOT_FOUND",
            Code::ApprovalResolved => "APPROVAL_RESOLVED",
            Code::BadRequest => "BAD_REQUEST",
            Code::CircularDependency => "CIRCULAR_DEPENDENCY",
            Code::CollectionExists => "COLLECTION_EXISTS",
            Code::CollectionNotFound => "COLLECTION_NOT_FOUND",
            Code::ConcurrencyLimit => "CONCURRENCY_LIMIT",
            Code::Conflict => "CONFLICT",
            Code::Draining => "DRAINING",
            Code::Forbidden => "FORBIDDEN",
            Code::GrantNotFound => "GRANT_NOT_FOUND",
            Code::IdempotencyConflict => "IDEMPOTENCY_CONFLICT",
            Code::InternalError => "INTERNAL_ERROR",
            Code::InvalidInput => "INVALID_INPUT",
            Code::InvalidModel => "INVALID_MODEL",
            Code::InvalidSchema => "INVALID_SCHEMA",
            Code::InvalidTaskOverride => "INVALID_TASK_OVERRIDE",
            Code::InvalidTool => "INVALID_TOOL",
            Code::LimitReached => "LIMIT_REACHED",
            Code::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Code::MissingInput => "MISSING_INPUT",
            Code::NothingToContinue => "NOTHING_TO_CONTINUE",
            Code::NotConfigured => "NOT_CONFIGURED",
            Code::NotFound => "NOT_FOUND",
            Code::OutcomeUnknown => "OUTCOME_UNKNOWN",
            Code::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Code::PreconditionFailed => "PRECONDITION_FAILED",
            Code::PreconditionRequired => "PRECONDITION_REQUIRED",
            Code::RejectedTooOften => "REJECTED_TOO_OFTEN",
            Code::RequestTimeout => "REQUEST_TIMEOUT",
            Code::ReviewNotFound => "REVIEW_NOT_FOUND",
            Code::ReviewResolved => "REVIEW_RESOLVED",
            Code::RunActive => "RUN_ACTIVE",
            Code::RunCompleted => "RUN_COMPLETED",
            Code::RunNotFound => "RUN_NOT_FOUND",
            Code::Starting => "STARTING",
            Code::StorageDamaged => "STORAGE_DAMAGED",
            Code::StorageUnavailable => "STORAGE_UNAVAILABLE",
            Code::TemplateTooLarge => "TEMPLATE_TOO_LARGE",
            Code::ThreadBusy => "THREAD_BUSY",
            Code::ThreadNotFound => "THREAD_NOT_FOUND",
            Code::ToolNotFound => "TOOL_NOT_FOUND",
            Code::TurnNotRunning => "TURN_NOT_RUNNING",
            Code::Unauthorized => "UNAUTHORIZED",
            Code::Unavailable => "UNAVAILABLE",
            Code::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Code::VersionNotFound => "VERSION_NOT_FOUND",
            Code::WorkflowNotFound => "WORKFLOW_NOT_FOUND",
            Code::AlreadyAuthenticated => "ALREADY_AUTHENTICATED",
            Code::MediaGenerationUnavailable => "media_generation_unavailable",
        }
    }

    /// The status it is answered with, unless another one says more.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Code::BadRequest
            | Code::CircularDependency
            | Code::InvalidInput
            | Code::InvalidModel
            | Code::InvalidSchema
            | Code::InvalidTaskOverride
            | Code::InvalidTool
            | Code::MissingInput
            | Code::TemplateTooLarge
            | Code::MediaGenerationUnavailable => StatusCode::BAD_REQUEST,
            Code::Unauthorized => StatusCode::UNAUTHORIZED,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::ApprovalNotFound
            | Code::CollectionNotFound
            | Code::GrantNotFound
            | Code::NotFound
            | Code::ReviewNotFound
            | Code::RunNotFound
            | Code::ThreadNotFound
            | Code::ToolNotFound
            | Code::VersionNotFound
            | Code::WorkflowNotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Code::ApprovalResolved
            | Code::CollectionExists
            | Code::Conflict
            | Code::LimitReached
            | Code::NothingToContinue
            | Code::OutcomeUnknown
            | Code::RejectedTooOften
            | Code::ReviewResolved
            | Code::RunActive
            | Code::RunCompleted
            | Code::StorageDamaged
            | Code::ThreadBusy
            | Code::TurnNotRunning
            | Code::AlreadyAuthenticated => StatusCode::CONFLICT,
            Code::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::IdempotencyConflict => StatusCode::UNPROCESSABLE_ENTITY,
            Code::PreconditionRequired => StatusCode::PRECONDITION_REQUIRED,
            Code::ConcurrencyLimit => StatusCode::TOO_MANY_REQUESTS,
            Code::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Code::Draining | Code::NotConfigured | Code::Starting | Code::StorageUnavailable | Code::Unavailable => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl From<mistake::Code> for Code {
    fn from(code: mistake::Code) -> Code {
        match code {
            mistake::Code::BadRequest => Code::BadRequest,
            mistake::Code::InvalidTool => Code::InvalidTool,
            mistake::Code::InvalidModel => Code::InvalidModel,
            mistake::Code::InvalidTaskOverride => Code::InvalidTaskOverride,
            mistake::Code::CircularDependency => Code::CircularDependency,
            mistake::Code::MissingInput => Code::MissingInput,
            mistake::Code::InvalidSchema => Code::InvalidSchema,
            mistake::Code::TemplateTooLarge => Code::TemplateTooLarge,
            mistake::Code::NotConfigured => Code::NotConfigured,
            mistake::Code::MediaGenerationUnavailable => Code::MediaGenerationUnavailable,
        }
    }
}
