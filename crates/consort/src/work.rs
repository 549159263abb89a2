//! The input of your own functions that do a task or check one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;

/// A task, as its handler sees it.
///
/// ```
/// use consort::{Ensemble, Task, Work};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), consort::Error> {
/// let load = Task::builder("Load").name("load").handler(|_work| async { Ok::<_, String>(vec![3, 4, 5]) }).build();
/// let add = |work: Work| async move { work.value::<Vec<i64>>("load").map(|prices| prices.iter().sum::<i64>()) };
/// let total = Task::builder("Add up").name("total").reads(&load).handler(add);
/// let outcome = Ensemble::builder().tasks([load, total.build()]).build()?.start(()).await?.finished().await?;
/// assert_eq!(outcome.value::<i64>("total")?, 12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Work {
    /// The task's description.
    pub description: String,
    /// The description of the expected answer.
    pub expected_output: String,
    /// The outputs of the tasks it reads, by their names.
    #[serde(rename = "context")]
    pub outputs: BTreeMap<String, String>,
    /// The inputs of the run.
    pub inputs: BTreeMap<String, Value>,
    /// Unique to this task of this run, and the same when it is executed again after a crash.
    #[serde(skip)]
    pub key: String,
}

impl Work {
    /// Returns the output of a task that it reads.
    pub fn output(&self, task: &str) -> Result<&str, Error> {
        let missing =
            || Error::Output { task: task.to_owned(), reason: "is not among the tasks this one reads".into() };
        self.outputs.get(task).map(String::as_str).ok_or_else(missing)
    }

    /// Returns the output of a task that it reads, as a value of a type.
    pub fn value<T: DeserializeOwned>(&self, task: &str) -> Result<T, Error> {
        typed(task, self.output(task)?)
    }
}

/// Parses text as a value; an error names the task whose output does not fit.
pub(crate) fn typed<T: DeserializeOwned>(task: &str, text: &str) -> Result<T, Error> {
    let unfit = |error| Error::Output { task: task.to_owned(), reason: format!("put out something else: {error}") };
    serde_json::from_str(text).map_err(unfit)
}
