//! The codes of problems, for programs: each with the status it is answered
//! with. The description of the API lists them from here.

use axum::http::StatusCode;
use consort_core::mistake;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use strum::IntoStaticStr;

/// The code for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, JsonSchema)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[schemars(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the words are for programs, and the description of the API lists them as they are")]
pub enum Code {
    AnswerFailed,
    ApprovalNotFound,
    ApprovalPending,
    ApprovalResolved,
    AttachmentNotFound,
    AttachmentUsed,
    BadRequest,
    BudgetExceeded,
    Cancelled,
    CircularDependency,
    CollectionExists,
    CollectionNotFound,
    ConcurrencyLimit,
    Conflict,
    DeliveryNotFound,
    DocumentNotFound,
    Draining,
    ExpressionFailed,
    Forbidden,
    GrantNotFound,
    HookNotFound,
    IdempotencyConflict,
    InternalError,
    InvalidExpression,
    InvalidInput,
    InvalidModel,
    InvalidSchema,
    InvalidTaskOverride,
    InvalidTool,
    LimitReached,
    MethodNotAllowed,
    MissingInput,
    ModelCannotSee,
    ModelNotFound,
    NothingToContinue,
    NotConfigured,
    NotFound,
    OutcomeUnknown,
    PayloadTooLarge,
    PreconditionFailed,
    PreconditionRequired,
    PreviousResponseNotFound,
    QuotaExceeded,
    RejectedTooOften,
    RequestTimeout,
    ReviewNotFound,
    ReviewResolved,
    RunActive,
    RunCompleted,
    RunNotFound,
    ScheduleNotFound,
    Starting,
    StorageDamaged,
    StorageUnavailable,
    TemplateTooLarge,
    ThreadBusy,
    ThreadNotFound,
    ToolNotFound,
    TooManyRefusals,
    TurnNotRunning,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
    VersionNotFound,
    WebhookNotFound,
    WorkflowNotFound,
    /// For sockets only.
    #[schemars(skip)]
    AlreadyAuthenticated,
    #[schemars(rename = "media_generation_unavailable")]
    #[strum(serialize = "media_generation_unavailable")]
    MediaGenerationUnavailable,
}

impl Code {
    /// Returns the word on the wire.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the status it is answered with, unless another one says more.
    pub fn status(self) -> StatusCode {
        match self {
            Code::ApprovalPending
            | Code::BadRequest
            | Code::BudgetExceeded
            | Code::CircularDependency
            | Code::ExpressionFailed
            | Code::InvalidExpression
            | Code::InvalidInput
            | Code::InvalidModel
            | Code::InvalidSchema
            | Code::InvalidTaskOverride
            | Code::InvalidTool
            | Code::MissingInput
            | Code::ModelCannotSee
            | Code::TemplateTooLarge
            | Code::MediaGenerationUnavailable => StatusCode::BAD_REQUEST,
            Code::Unauthorized => StatusCode::UNAUTHORIZED,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::ApprovalNotFound
            | Code::AttachmentNotFound
            | Code::CollectionNotFound
            | Code::DeliveryNotFound
            | Code::DocumentNotFound
            | Code::GrantNotFound
            | Code::HookNotFound
            | Code::ModelNotFound
            | Code::NotFound
            | Code::PreviousResponseNotFound
            | Code::ReviewNotFound
            | Code::RunNotFound
            | Code::ScheduleNotFound
            | Code::ThreadNotFound
            | Code::ToolNotFound
            | Code::VersionNotFound
            | Code::WebhookNotFound
            | Code::WorkflowNotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Code::ApprovalResolved
            | Code::AttachmentUsed
            | Code::Cancelled
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
            Code::ConcurrencyLimit | Code::QuotaExceeded | Code::TooManyRefusals => StatusCode::TOO_MANY_REQUESTS,
            Code::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Code::AnswerFailed => StatusCode::BAD_GATEWAY,
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
            mistake::Code::ModelCannotSee => Code::ModelCannotSee,
            mistake::Code::InvalidTaskOverride => Code::InvalidTaskOverride,
            mistake::Code::CircularDependency => Code::CircularDependency,
            mistake::Code::MissingInput => Code::MissingInput,
            mistake::Code::InvalidSchema => Code::InvalidSchema,
            mistake::Code::InvalidExpression => Code::InvalidExpression,
            mistake::Code::TemplateTooLarge => Code::TemplateTooLarge,
            mistake::Code::NotConfigured => Code::NotConfigured,
            mistake::Code::MediaGenerationUnavailable => Code::MediaGenerationUnavailable,
        }
    }
}
