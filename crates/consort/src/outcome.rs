//! The outcome of a run: its answer, the output of every task, and its usage.

use consort_core::event::End;
use consort_core::run;
use consort_core::view::TaskEnd;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;
use crate::work::typed;

/// The outcome of a run.
///
/// ```
/// use consort::{Ensemble, Model, Status, Task};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), consort::Error> {
/// let tasks = [Task::builder("Research tea").name("facts"), Task::builder("Write about tea").name("text")];
/// let outcome = Ensemble::run(Model::demo(), tasks).await?;
/// assert_eq!((outcome.status, outcome.tasks.len()), (Status::Completed, 2));
/// assert_eq!(outcome.answer(), outcome.output("text")?);
/// assert!(outcome.tokens.is_some_and(|tokens| tokens > 0) && outcome.cost_usd.is_none(), "the demo has no price");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The final status.
    pub status: Status,
    /// The outcomes of its tasks, in the order in which they were declared.
    pub tasks: Vec<TaskOutcome>,
    /// The number of tokens it read and wrote, when all its models reported them.
    pub tokens: Option<u64>,
    /// The cost in US dollars, when all its models have a price.
    pub cost_usd: Option<f64>,
    /// The duration of the run.
    pub duration_ms: u64,
    /// The reason why it failed, when it did.
    pub error: Option<String>,
    answer: String,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It completed all that it could do.
    Completed,
    /// A task failed, or a limit was reached.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// The outcome of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskOutcome {
    /// Its name.
    pub name: String,
    /// The final status: `COMPLETED`, `FAILED`, `CANCELLED` or `SKIPPED`.
    pub status: String,
    /// The output.
    pub output: Option<String>,
    /// The same as data, where a type was asked for.
    pub value: Option<Value>,
    /// The reason why there is no output.
    pub error: Option<String>,
    /// The text of a cut answer, where the task failed.
    pub partial_output: Option<String>,
    /// Whether the output was cut at the output limit and taken all the same.
    pub truncated: bool,
}

impl From<&End> for Status {
    fn from(end: &End) -> Status {
        match end {
            End::Completed { .. } => Status::Completed,
            End::Failed { .. } => Status::Failed,
            End::Cancelled => Status::Cancelled,
        }
    }
}

impl From<TaskEnd<'_>> for TaskOutcome {
    fn from(task: TaskEnd<'_>) -> TaskOutcome {
        TaskOutcome {
            name: task.name.to_owned(),
            status: task.status.to_owned(),
            output: task.output.map(ToString::to_string),
            value: task.parsed_output.cloned(),
            error: task.error.map(str::to_owned),
            partial_output: task.partial_output.map(ToString::to_string),
            truncated: task.truncated,
        }
    }
}

impl Outcome {
    /// Returns the outcome of a run that has ended in this way.
    pub(crate) fn of(id: &str, run: &run::Run, end: &End) -> Outcome {
        let detail = run.detail(id);
        Outcome {
            status: end.into(),
            tasks: detail.task_ends().map(TaskOutcome::from).collect(),
            tokens: detail.metrics().tokens(),
            cost_usd: detail.metrics().cost_usd(),
            duration_ms: run.took_ms(),
            error: run.error().map(str::to_owned),
            answer: run.answer().unwrap_or_default().to_owned(),
        }
    }

    /// Returns the output of the task that completed last; empty when none did.
    pub fn answer(&self) -> &str {
        &self.answer
    }

    /// Returns the output of a task.
    pub fn output(&self, task: &str) -> Result<&str, Error> {
        let found = self.task(task)?;
        let why =
            || found.error.clone().map_or_else(|| "has no output".to_owned(), |why| format!("has no output: {why}"));
        found.output.as_deref().ok_or_else(|| Error::Output { task: task.to_owned(), reason: why() })
    }

    /// Returns the output of a task, as a value of the type that was asked for with
    /// [`TaskBuilder::output`](crate::TaskBuilder::output).
    ///
    /// ```
    /// use consort::{Ensemble, Model, Task};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Report {
    ///     title: String,
    ///     stars: u8,
    /// }
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let task = Task::builder("Rate the tea").name("report").output::<Report>();
    /// let outcome = Ensemble::run(Model::demo(), [task]).await?;
    /// let report: Report = outcome.value("report")?;
    /// assert!(!report.title.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn value<T: DeserializeOwned>(&self, task: &str) -> Result<T, Error> {
        let text = self.output(task)?;
        match self.task(task)?.value.clone() {
            Some(value) => typed(task, &value.to_string()),
            None => typed(task, text),
        }
    }

    fn task(&self, name: &str) -> Result<&TaskOutcome, Error> {
        let missing = || Error::Output { task: name.to_owned(), reason: "is not a task of this run".to_owned() };
        self.tasks.iter().find(|task| task.name == name).ok_or_else(missing)
    }
}
