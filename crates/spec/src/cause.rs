//! The cause of a failure, as a value that decisions and views read; the words beside it are for people and models.
//! Logs of the first edition hold only the words, and [`EventKind::upgrade`] is the one place that understands those.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::EventKind;
use crate::message::Outcome;

/// The words for a task that a cancel stopped.
pub const CANCELLED: &str = "Cancelled";

/// The cause of a failed task, subtask or call.
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
    /// The tool that was called took longer than its own limit.
    ToolTimeout,
    /// Nobody reviewed the task in time.
    ReviewTimedOut,
    /// An expression of the task, or of its group, could not be evaluated.
    ExpressionFailed,
    /// The list that the task is done for has more items than it may have.
    TooManyItems,
    /// The condition that ends the rounds of its group never came.
    MaxRounds,
    /// The texts of the task are too long with the item it is done for.
    TemplateTooLarge,
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

/// The cause of a skipped task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipCause {
    /// Its condition does not hold: tasks that read it go on without it.
    Condition,
    /// A task that it needs has no output.
    Upstream,
    /// The run ended before it.
    Ended,
}

impl SkipCause {
    /// Returns the reason for people.
    pub fn reason(self, is_sequence: bool) -> &'static str {
        match self {
            SkipCause::Condition => "its condition does not hold",
            SkipCause::Upstream if is_sequence => BEFORE_FAILED,
            SkipCause::Upstream => READ_FAILED,
            SkipCause::Ended => "the run was ended before it",
        }
    }
}

/// The words of a task that is skipped because another failed: the one before it, or one that it reads.
const BEFORE_FAILED: &str = "a task before it failed";
const READ_FAILED: &str = "a task it reads from failed";

/// The failure of a subtask to give the structured result it owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfit {
    /// The event that ended it.
    pub reason: UnfitReason,
    /// Results that were refused.
    pub attempts: u32,
    /// Everything that was wrong with the last of them.
    pub violations: Vec<String>,
}

/// The event that ends a subtask without its structured result.
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
    /// Returns the code for clients and models; none when there are only words.
    pub fn code(&self) -> Option<&'static str> {
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
            | Cause::ToolTimeout
            | Cause::ReviewTimedOut
            | Cause::ExpressionFailed
            | Cause::TooManyItems
            | Cause::MaxRounds
            | Cause::TemplateTooLarge => None,
        }
    }

    /// Returns the word that begins the reason of a failed task; none when it has no heading.
    fn heading(&self) -> Option<&'static str> {
        match self {
            Cause::IterationLimit => Some("MAX_ITERATIONS"),
            Cause::OutputTruncated => Some("OUTPUT_TRUNCATED"),
            Cause::EmptyAnswer => Some("EMPTY_ANSWER"),
            Cause::ExpressionFailed => Some("EXPRESSION_FAILED"),
            Cause::TooManyItems => Some("TOO_MANY_ITEMS"),
            Cause::MaxRounds => Some("MAX_ROUNDS"),
            Cause::TemplateTooLarge => Some("TEMPLATE_TOO_LARGE"),
            Cause::NoResult => Some("subtask_no_result"),
            Cause::ResultUnfit(_) => Some("schema_not_satisfied"),
            Cause::Cancelled
            | Cause::RunEnded
            | Cause::Model
            | Cause::OutputUnfit
            | Cause::Guardrail
            | Cause::Handler
            | Cause::ToolTimeout
            | Cause::ReviewTimedOut
            | Cause::ResultRefused { .. } => None,
        }
    }

    /// Returns the cause that the first edition recorded as the beginning of a reason.
    fn of_reason(reason: &str) -> Option<Cause> {
        let (heading, rest) = reason.split_once(": ")?;
        let plain = [Cause::IterationLimit, Cause::OutputTruncated, Cause::EmptyAnswer, Cause::NoResult];
        let unfit = || serde_json::from_str(rest).ok().map(Cause::ResultUnfit);
        let cause = plain.into_iter().find(|cause| cause.heading() == Some(heading));
        cause.or_else(|| unfit().filter(|cause| cause.heading() == Some(heading)))
    }

    /// Returns the cause that the first edition gave a model as the result of a call.
    fn of_result(text: &str) -> Option<Cause> {
        #[derive(Deserialize)]
        struct ErrorResult {
            error: String,
            #[serde(default)]
            violations: Vec<String>,
        }
        let ErrorResult { error, violations } = serde_json::from_str(text).ok()?;
        Some(Cause::ResultRefused { violations }).filter(|cause| cause.code() == Some(&error))
    }
}

impl EventKind {
    /// Adds the cause to a failure that the first edition recorded in words.
    pub fn upgrade(&mut self) {
        if let EventKind::TaskSkipped { reason, cause: cause @ None, .. } = self {
            let upstream = [BEFORE_FAILED, READ_FAILED].contains(&reason.as_str());
            *cause = Some(if upstream { SkipCause::Upstream } else { SkipCause::Ended });
        } else if let EventKind::TaskFailed { reason, cancelled, cause: cause @ None, .. } = self {
            *cause = if *cancelled { Some(Cause::Cancelled) } else { Cause::of_reason(reason) };
        } else if let EventKind::ToolReturned { outcome: Outcome::Failed { text }, cause: cause @ None, .. } = self {
            *cause = Cause::of_result(text.as_str());
        }
    }
}

/// A failure of a task or a subtask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFailure {
    cause: Cause,
    message: String,
}

impl TaskFailure {
    /// Creates a failure for this cause, in these words.
    pub fn new(cause: Cause, message: impl Into<String>) -> TaskFailure {
        TaskFailure { cause, message: message.into() }
    }

    /// Creates the failure of a task that a cancel stopped.
    pub fn cancelled() -> TaskFailure {
        TaskFailure::new(Cause::Cancelled, CANCELLED)
    }

    /// Creates the failure of a subtask that ends without the structured result it owed.
    pub fn unfit(reason: UnfitReason, attempts: u32, violations: &[String]) -> TaskFailure {
        let unfit = Unfit { reason, attempts, violations: violations.to_vec() };
        TaskFailure::new(Cause::ResultUnfit(unfit), "the subtask gave no result that fits its schema")
    }

    /// Returns the cause.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// Returns the message for the agent or person that asked for the subtask.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the reason as it is recorded: the message after a heading that names the kind of failure.
    pub fn reason(&self) -> String {
        match (&self.cause, self.cause.heading()) {
            (Cause::ResultUnfit(unfit), Some(heading)) => format!("{heading}: {}", unfit.fields()),
            (_, Some(heading)) => format!("{heading}: {}", self.message),
            (_, None) => self.message.clone(),
        }
    }
}

impl Unfit {
    /// Returns the fields that a model is shown of it.
    pub fn fields(&self) -> Value {
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
            let now = EventKind::TaskFailed { conversation: Id::task(0), reason: failure.reason(), cancelled, cause };
            assert_eq!(read(&old.to_string()), now);
        }
    }

    #[test]
    fn words_that_only_look_like_a_cause_are_left_alone() {
        for reason in ["refused: MAX_ITERATIONS: no", "schema_not_satisfied: because", "Cancelled by the weather"] {
            let mut kind = EventKind::TaskFailed {
                conversation: Id::task(0),
                reason: reason.to_owned(),
                cancelled: false,
                cause: None,
            };
            let before = kind.clone();
            kind.upgrade();
            assert_eq!(kind, before);
        }
        let returned = |text: &str| EventKind::returned(&Id::task(0), Outcome::failed(text));
        for text in ["no", "{\"error\":\"not_found\"}", "{\"violations\":[]}"] {
            let mut kind = returned(text);
            kind.upgrade();
            assert_eq!(kind, returned(text));
        }
    }

    #[test]
    fn a_refused_result_of_the_first_edition_is_read_with_its_violations() {
        let text = json!({ "error": "invalid_result", "message": "m", "violations": ["/a: is missing"] }).to_string();
        let old = json!({ "at": 1, "fact": { "tool_returned": {
            "call": "1.0.0", "outcome": { "result": "failed", "text": text }, "duration_ms": 0 } } });
        let EventKind::ToolReturned { cause, .. } = read(&old.to_string()) else { panic!("{old}") };
        assert_eq!(cause, Some(Cause::ResultRefused { violations: vec!["/a: is missing".to_owned()] }));
    }
}
