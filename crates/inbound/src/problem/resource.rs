//! The problems of errors about saved workflows, schedules, hooks, webhooks and the workspace.

use consort_runtime::webhooks::outbox;
use consort_runtime::{hooks, schedules, start, workflows};
use consort_tools::Hidden;

use super::{Code, More, Problem};

impl From<workflows::Error> for Problem {
    fn from(error: workflows::Error) -> Problem {
        let message = error.to_string();
        match error {
            workflows::Error::NotFound(_) => Problem::new(Code::WorkflowNotFound, message),
            workflows::Error::Ambiguous { .. } => Problem::bad_request(message),
            workflows::Error::NoVersion(_) => Problem::new(Code::VersionNotFound, message),
            workflows::Error::Stale { current } => {
                Problem::new(Code::PreconditionFailed, message).with(More { version: Some(current), ..More::default() })
            }
            workflows::Error::Full(_) => Problem::new(Code::LimitReached, message),
            workflows::Error::Log(error) => error.into(),
        }
    }
}

impl From<schedules::Error> for Problem {
    fn from(error: schedules::Error) -> Problem {
        let message = error.to_string();
        match error {
            schedules::Error::NotFound(_) => Problem::new(Code::ScheduleNotFound, message),
            schedules::Error::Exists(_) | schedules::Error::Ambiguous { .. } | schedules::Error::Configured(_) => {
                Problem::new(Code::Conflict, message)
            }
            schedules::Error::Full => Problem::new(Code::LimitReached, message),
            schedules::Error::Mistakes(mistakes) => mistakes.into(),
            schedules::Error::Start(error) => error.into(),
            schedules::Error::Log(error) => error.into(),
        }
    }
}

impl From<start::Error> for Problem {
    fn from(error: start::Error) -> Problem {
        let message = error.to_string();
        match error {
            start::Error::UnknownWorkflow(_) | start::Error::AmbiguousWorkflow { .. } => Problem::bad_request(message),
            start::Error::Mistakes(mistakes) => mistakes.into(),
            start::Error::Engine(error) => error.into(),
        }
    }
}

impl From<hooks::Error> for Problem {
    fn from(error: hooks::Error) -> Problem {
        let message = error.to_string();
        match error {
            hooks::Error::NotFound(_) => Problem::new(Code::HookNotFound, message),
            hooks::Error::Unproven(_) => Problem::new(Code::Unauthorized, message),
            hooks::Error::Unreadable(_) => Problem::bad_request(message),
            hooks::Error::Expression { .. } => Problem::new(Code::ExpressionFailed, message),
            hooks::Error::Start(error) => error.into(),
        }
    }
}

impl From<outbox::Error> for Problem {
    fn from(error: outbox::Error) -> Problem {
        let message = error.to_string();
        match error {
            outbox::Error::NoWebhook(_) => Problem::new(Code::WebhookNotFound, message),
            outbox::Error::NotFound(_) => Problem::new(Code::DeliveryNotFound, message),
            outbox::Error::Log(error) => error.into(),
        }
    }
}

impl From<Hidden> for Problem {
    fn from(hidden: Hidden) -> Problem {
        let code = match &hidden {
            Hidden::Outside(_) => Code::Forbidden,
            Hidden::Missing | Hidden::NotFolder | Hidden::NotFile => Code::NotFound,
            Hidden::TooLarge => Code::PayloadTooLarge,
            Hidden::NotText => Code::UnsupportedMediaType,
            Hidden::Unreadable(_) => Code::StorageUnavailable,
        };
        Problem::new(code, hidden.to_string())
    }
}
