//! The frame that follows the last event of a run: its result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::detail::Metrics;
use super::is_false;
use crate::state::run::{Run, TaskOutcome};
use consort_spec::id::Millis;
use consort_spec::json;
use consort_spec::status::Status;
use consort_spec::text::Text;

/// The frame that ends a run's frames. It is made anew from the run whenever it
/// is asked for, so it is not stored and has no number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResultFrame {
    /// The result of a run; it follows the last event.
    RunResult(RunResult),
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// The run.
    pub run_id: String,
    /// The final status.
    pub status: Status,
    /// The outputs of its tasks, in the order in which they completed.
    pub outputs: Vec<TaskOutput>,
    /// The duration of the run.
    pub duration_ms: Millis,
    /// The usage of the run.
    pub metrics: Metrics,
    /// The output of the run: the last of `outputs`, in a hierarchy the manager's answer; null unless it completed.
    pub output: Option<Text>,
    /// `output` as data, when its task has a schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsed_output: Option<Value>,
    /// The reason why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The note about a run whose own output was cut.
const ANSWER_CUT: &str = "The answer was cut at the output limit of the model: it is not complete.";
/// The note about a run that completed with the cut output of a task before its last one.
const TASK_CUT: &str = "The output of a task was cut at the output limit of its model: it is not complete.";

/// The output of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskOutput {
    /// The name of the task.
    pub task_name: String,
    /// The output.
    pub output: Text,
    /// The duration of the task.
    pub duration_ms: Millis,
    /// The output as data, when the task has a schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsed_output: Option<Value>,
    /// Whether the output was cut at the output limit and accepted as it is.
    #[serde(default, skip_serializing_if = "is_false")]
    pub truncated: bool,
    /// The task ended in the run that this one goes on from.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schemars(extend("const" = true))]
    pub inherited: bool,
    /// The requester who gave it another output when this run was made of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_edited_by: Option<String>,
}

impl ResultFrame {
    /// The type of the frame.
    pub const KIND: &'static str = "run_result";

    /// Returns the frame as it is sent.
    pub fn text(&self) -> String {
        // A frame holds nothing that JSON cannot write.
        json::text(self).unwrap_or_default()
    }
}

impl Run {
    /// Returns the frame that follows the last event: the result of the run.
    pub fn result(&self, run: &str) -> ResultFrame {
        let (output, parsed_output) = self.final_output();
        ResultFrame::RunResult(RunResult {
            run_id: run.to_owned(),
            status: self.status(),
            outputs: self.outputs().iter().filter_map(|task| self.task_output(*task)).collect(),
            duration_ms: self.duration_ms(self.at()),
            metrics: self.metrics(),
            output: output.cloned(),
            parsed_output: parsed_output.cloned(),
            error: self.error().map(str::to_owned),
        })
    }

    /// Returns the sentence for clients of a run that completed although an output was cut and accepted as it is: half
    /// an answer is not called done without it.
    pub fn cut_note(&self) -> Option<&'static str> {
        let is_done = self.status() == Status::Completed && self.truncated();
        let is_last = || match &self.spec().chat {
            Some(_) => self.rows().last().is_some_and(|row| row.truncated),
            None => self.last_ended().is_some_and(|ended| ended.truncated),
        };
        is_done.then(|| if is_last() { ANSWER_CUT } else { TASK_CUT })
    }

    fn task_output(&self, index: usize) -> Option<TaskOutput> {
        let task = self.spec().tasks.get(index)?;
        let ended = self.tasks().get(&index)?;
        let TaskOutcome::Completed { output, parsed } = &ended.outcome else { return None };
        Some(TaskOutput {
            task_name: task.name.clone(),
            output: output.clone(),
            duration_ms: ended.duration_ms(),
            parsed_output: parsed.clone(),
            truncated: ended.truncated,
            inherited: self.inherited().contains(&index),
            output_edited_by: self.output_edited_by(index).map(str::to_owned),
        })
    }
}
