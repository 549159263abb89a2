//! Why work failed, as a value. Decisions and views read the cause; the words
//! beside it are for people and models. Logs of the first edition hold the words
//! alone, and [`EventKind::upgrade`] is the one place that understands those.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::EventKind;
use crate::message::Outcome;

/// The words for a task that a cancel stopped.
pub(crate) const CANCELLED: &str = "Cancelled";

/// Why a task, a subtask or a call of an own tool failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The run was cancelled.
    Cancelled,
    /// The run ended for another reason.
    RunEnded,
    /// There was no answer within the permitted model calls.
    IterationLimit,
    /// The answer was cut at the output limit.
    OutputTruncated,
    /// The model answered nothing.
    EmptyAnswer,
    /// The model could not be asked, or did not answer.
    Model,
    /// The output of a task never fit its schema.
    OutputUnfit,
    /// A guardrail refused the input or the output.
    Guardrail,
    /// The tool that does a task without a model failed.
    Handler,
    /// Nobody reviewed the task in time.
    ReviewTimedOut,
    /// A subtask answered nothing.
    NoResult,
    /// A subtask never gave the structured result it owed.
    ResultUnfit(Unfit),
    /// The structured result a call handed over does not fit its schema.
    ResultRefused {
        /// Everything that is wrong with it.
        violations: Vec<String>,
    },
}

/// How a subtask failed to give the structured result it owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfit {
    /// What ended it.
    pub reason: UnfitReason,
    /// Results that were refused.
    pub attempts: u32,
    /// Everything that was wrong with the last of them.
    pub violations: Vec<String>,
}

/// What ends a subtask without its structured result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnfitReason {
    /// Too many results were refused.
    SchemaRetriesExhausted,
    /// It kept answering in prose.
    NoFinishCall,
    /// It made all the model calls it may make.
    IterationLimit,
}

impl Cause {
    /// The code that clients and models are told; none when the words say it all.
    pub(crate) fn code(&self) -> Option<&'static str> {
        match self {
            Cause::Cancelled => Some("cancelled"),
            Cause::IterationLimit => Some("iteration_limit"),
            Cause::OutputTruncated => Some("output_truncated"),
            Cause::EmptyAnswer => Some("empty_answer"),
            Cause::NoResult => Some("subtask_no_result"),
            Cause::ResultUnfit(_) => Some("schema_not_satisfied"),
            Cause::ResultRefused { .. } => Some("invalid_result"),
            Cause::RunEnded
            | Cause::Model
            | Cause::OutputUnfit
            | Cause::Guardrail
            | Cause::Handler
            | Cause::ReviewTimedOut => None,
        }
    }

    /// The word that begins the reason of a failed task; none when it is told
    /// without one.
    fn heading(&self) -> Option<&'static str> {
        match self {
            Cause::IterationLimit => Some("MAX_ITERATIONS"),
            Cause::OutputTruncated => Some("OUTPUT_TRUNCATED"),
            Cause::EmptyAnswer => Some("EMPTY_ANSWER"),
            Cause::NoResult => Some("subtask_no_result"),
            Cause::ResultUnfit(_) => Some("schema_not_satisfied"),
            Cause::Cancelled
            | Cause::RunEnded
            | Cause::Model
            | Cause::OutputUnfit
            | Cause::Guardrail
            | Cause::Handler
            | Cause::ReviewTimedOut
            | Cause::ResultRefused { .. } => None,
        }
    }

    /// The cause that the first edition recorded as the beginning of a reason.
    fn of_reason(reason: &str) -> Option<Cause> {
        let (heading, rest) = reason.split_once(": ")?;
        let plain = [Cause::IterationLimit, Cause::OutputTruncated, Cause::EmptyAnswer, Cause::NoResult];
        let unfit = || serde_json::from_str(rest).ok().map(Cause::ResultUnfit);
        let cause = plain.into_iter().find(|cause| cause.heading() == Some(heading));
        cause.or_else(|| unfit().filter(|cause| cause.heading() == Some(heading)))
    }

    /// The cause that the first edition told a model as the result of a call.
    fn of_result(told: &str) -> Option<Cause> {
        #[derive(Deserialize)]
        struct Told {
            error: String,
            #[serde(default)]
            violations: Vec<String>,
        }
        let Told { error, violations } = serde_json::from_str(told).ok()?;
        Some(Cause::ResultRefused { violations }).filter(|cause| cause.code() == Some(&error))
    }
}

impl EventKind {
    /// Adds the cause to a failure that the first edition recorded in words.
    pub fn upgrade(&mut self) {
        if let EventKind::TaskFailed { reason, cancelled, cause: cause @ None, .. } = self {
            *cause = if *cancelled { Some(Cause::Cancelled) } else { Cause::of_reason(reason) };
        } else if let EventKind::ToolReturned { outcome: Outcome::Failed { text }, cause: cause @ None, .. } = self {
            *cause = Cause::of_result(text.as_str());
        }
    }
}

/// A failure of a task or a subtask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskFailure {
    cause: Cause,
    message: String,
}

impl TaskFailure {
    /// A failure for this cause, in these words.
    pub(crate) fn new(cause: Cause, message: impl Into<String>) -> TaskFailure {
        TaskFailure { cause, message: message.into() }
    }

    /// What a cancel does to a task.
    pub(crate) fn cancelled() -> TaskFailure {
        TaskFailure::new(Cause::Cancelled, CANCELLED)
    }

    /// A subtask ends without the structured result it owed.
    pub(crate) fn unfit(reason: UnfitReason, attempts: u32, violations: &[String]) -> TaskFailure {
        let unfit = Unfit { reason, attempts, violations: violations.to_vec() };
        TaskFailure::new(Cause::ResultUnfit(unfit), "the subtask gave no result that fits its schema")
    }

    /// Why.
    pub(crate) fn cause(&self) -> &Cause {
        &self.cause
    }

    /// The same in words, for whoever asked for a subtask.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The same in words, as it is recorded: headed by what kind of failure it is.
    pub(crate) fn reason(&self) -> String {
        match (&self.cause, self.cause.heading()) {
            (Cause::ResultUnfit(unfit), Some(heading)) => format!("{heading}: {}", unfit.fields()),
            (_, Some(heading)) => format!("{heading}: {}", self.message),
            (_, None) => self.message.clone(),
        }
    }
}

impl Unfit {
    /// What a model is told of it.
    pub(crate) fn fields(&self) -> Value {
        json!({ "reason": self.reason, "attempts": self.attempts, "violations": self.violations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::id::Id;

    fn read(event: &str) -> EventKind {
        serde_json::from_str::<Event>(event).unwrap().kind
    }

    #[test]
    fn a_failed_task_of_the_first_edition_is_read_with_its_cause() {
        let unfit = Unfit { reason: UnfitReason::NoFinishCall, attempts: 2, violations: vec!["/a: is missing".into()] };
        for failure in [
            TaskFailure::new(Cause::IterationLimit, "no answer after 3 model calls"),
            TaskFailure::new(Cause::OutputTruncated, "the answer was cut"),
            TaskFailure::new(Cause::EmptyAnswer, "nothing"),
            TaskFailure::new(Cause::NoResult, "the subtask answered nothing"),
            TaskFailure::unfit(unfit.reason, unfit.attempts, &unfit.violations),
            TaskFailure::cancelled(),
        ] {
            let cancelled = *failure.cause() == Cause::Cancelled;
            let old = json!({ "at": 1, "fact": { "task_failed": {
                "turn": "1", "reason": failure.reason(), "cancelled": cancelled } } });
            let cause = Some(failure.cause().clone());
            let now = EventKind::TaskFailed { turn: Id::task(0), reason: failure.reason(), cancelled, cause };
            assert_eq!(read(&old.to_string()), now);
        }
    }

    #[test]
    fn words_that_only_look_like_a_cause_are_left_alone() {
        for reason in ["refused: MAX_ITERATIONS: no", "schema_not_satisfied: because", "Cancelled by the weather"] {
            let mut fact =
                EventKind::TaskFailed { turn: Id::task(0), reason: reason.to_owned(), cancelled: false, cause: None };
            let before = fact.clone();
            fact.upgrade();
            assert_eq!(fact, before);
        }
        let returned = |text: &str| EventKind::returned(&Id::task(0), Outcome::failed(text));
        for text in ["no", "{\"error\":\"not_found\"}", "{\"violations\":[]}"] {
            let mut fact = returned(text);
            fact.upgrade();
            assert_eq!(fact, returned(text));
        }
    }

    #[test]
    fn a_refused_result_of_the_first_edition_is_read_with_its_violations() {
        let told = json!({ "error": "invalid_result", "message": "m", "violations": ["/a: is missing"] }).to_string();
        let old = json!({ "at": 1, "fact": { "tool_returned": {
            "call": "1.0.0", "outcome": { "result": "failed", "text": told }, "duration_ms": 0 } } });
        let EventKind::ToolReturned { cause, .. } = read(&old.to_string()) else { panic!("{old}") };
        assert_eq!(cause, Some(Cause::ResultRefused { violations: vec!["/a: is missing".to_owned()] }));
    }
}
