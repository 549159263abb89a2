//! The state of a task of another agent, put together from its answers and events. Pure.

use serde_json::Value;

use crate::limits::{RESULT_MAX, WORDS_MAX, cut};

/// Artifacts of one task that are put together; further ones are left out.
const ARTIFACTS_MAX: usize = 256;

/// A task, or a message, as far as the agent has reported it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReportedTask {
    /// The id of the task.
    pub(crate) task: Option<String>,
    state: String,
    /// The words of the status.
    status_text: String,
    /// The texts of the artifacts, in the order in which they came.
    artifacts: Vec<(String, String)>,
    /// The text of a message that came instead of a task.
    message: Option<String>,
    /// The bytes of all artifacts.
    size: usize,
    /// Whether the agent has marked what it made as cut at a limit.
    is_cut: bool,
}

/// The end of a task, for the model that asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Done(String),
    Failed(String),
    /// It needs an answer to go on.
    Asks(String),
}

impl ReportedTask {
    /// Takes an answer or an event; returns what is new to say about the progress.
    pub(crate) fn take(&mut self, event: &Value) -> Option<String> {
        if let Some(message) = event.get("message") {
            self.message = Some(text(message));
        } else if let Some(task) = event.get("task") {
            self.snapshot(task);
        } else if let Some(update) = event.get("statusUpdate") {
            self.name(update.get("taskId"));
            self.is_cut |= is_cut(update);
            return self.status(update.get("status"));
        } else if let Some(update) = event.get("artifactUpdate") {
            self.name(update.get("taskId"));
            let appends = update.get("append") == Some(&Value::Bool(true));
            if let Some(artifact) = update.get("artifact") {
                self.artifact(artifact, appends);
            }
        }
        None
    }

    /// Takes a whole task.
    pub(crate) fn snapshot(&mut self, task: &Value) {
        self.name(task.get("id"));
        self.is_cut |= is_cut(task);
        self.status(task.get("status"));
        for artifact in task.get("artifacts").and_then(Value::as_array).into_iter().flatten() {
            self.artifact(artifact, false);
        }
    }

    fn name(&mut self, id: Option<&Value>) {
        if let (None, Some(id)) = (&self.task, id.and_then(Value::as_str)) {
            self.task = Some(id.to_owned());
        }
    }

    fn status(&mut self, status: Option<&Value>) -> Option<String> {
        let status = status?;
        self.state = status.get("state").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.status_text = cut(status.get("message").map(text).unwrap_or_default(), WORDS_MAX);
        Some(self.status_text.clone()).filter(|status_text| !status_text.is_empty())
    }

    fn artifact(&mut self, artifact: &Value, appends: bool) {
        let id = artifact.get("artifactId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let new = text(artifact);
        // A result is cut anyway, so what is beyond it need not be kept.
        if self.size > RESULT_MAX {
            return;
        }
        self.size += new.len();
        let is_full = self.artifacts.len() >= ARTIFACTS_MAX;
        match self.artifacts.iter_mut().find(|(known, _)| *known == id) {
            Some((_, kept)) if appends => kept.push_str(&new),
            Some((_, kept)) => {
                self.size = self.size.saturating_sub(kept.len());
                *kept = new;
            }
            None if is_full => {}
            None => self.artifacts.push((id, new)),
        }
    }

    /// Returns the verdict, once there is one.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        if let Some(message) = &self.message {
            return Some(Verdict::Done(cut(message.clone(), RESULT_MAX)));
        }
        let status_text =
            || if self.status_text.is_empty() { "it gave no reason".to_owned() } else { self.status_text.clone() };
        match self.state.strip_prefix("TASK_STATE_")? {
            "COMPLETED" => {
                let texts: Vec<&str> = self.artifacts.iter().map(|(_, text)| text.as_str()).collect();
                let made = cut(texts.join("\n\n"), RESULT_MAX);
                // Half an answer does not pass for a whole one.
                let note = if self.is_cut { self.status_text.as_str() } else { "" };
                Some(Verdict::Done(match (made.is_empty(), note) {
                    (true, _) => self.status_text.clone(),
                    (false, "") => made,
                    (false, note) => format!("{made}\n\n[{note}]"),
                }))
            }
            "FAILED" => Some(Verdict::Failed(format!("the task failed: {}", status_text()))),
            "CANCELED" => Some(Verdict::Failed("the task was cancelled".to_owned())),
            "REJECTED" => Some(Verdict::Failed(format!("the agent did not take the task on: {}", status_text()))),
            "AUTH_REQUIRED" => Some(Verdict::Failed(format!("the agent needs other credentials: {}", status_text()))),
            "INPUT_REQUIRED" => Some(Verdict::Asks(status_text())),
            _ => None,
        }
    }
}

/// Returns whether a task or an event is marked as cut at a limit.
fn is_cut(marked: &Value) -> bool {
    marked.pointer("/metadata/truncated") == Some(&Value::Bool(true))
}

/// Returns the texts of a message or an artifact; data as JSON.
fn text(holder: &Value) -> String {
    let parts = holder.get("parts").and_then(Value::as_array).into_iter().flatten();
    let texts = parts.filter_map(|part| match (part.get("text"), part.get("data")) {
        (Some(Value::String(text)), _) => Some(text.clone()),
        (_, Some(data)) => Some(data.to_string()),
        _ => part.get("url").and_then(Value::as_str).map(str::to_owned),
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn artifact(id: &str, text: &str, append: bool) -> Value {
        json!({ "artifactUpdate": { "taskId": "t", "artifact": { "artifactId": id, "parts": [{ "text": text }] }, "append": append } })
    }

    fn status(state: &str, status_text: &str) -> Value {
        json!({ "statusUpdate": { "taskId": "t", "status": { "state": format!("TASK_STATE_{state}"), "message": { "parts": [{ "text": status_text }] } } } })
    }

    #[test]
    fn words_are_put_together_and_a_whole_replaces_them() {
        let mut task = ReportedTask::default();
        task.take(&json!({ "task": { "id": "t", "status": { "state": "TASK_STATE_SUBMITTED" } } }));
        assert_eq!(task.take(&status("WORKING", "reading")), Some("reading".to_owned()));
        for event in [
            artifact("a", "one ", false),
            artifact("a", "two", true),
            artifact("b", "x", false),
            artifact("b", "three", false),
        ] {
            task.take(&event);
        }
        assert_eq!(task.verdict(), None);
        task.take(&status("COMPLETED", ""));
        assert_eq!(
            (task.task.as_deref(), task.verdict()),
            (Some("t"), Some(Verdict::Done("one two\n\nthree".to_owned())))
        );
    }

    #[test]
    fn every_end_is_told_apart_and_a_question_is_no_end() {
        for (state, verdict) in [
            ("FAILED", Verdict::Failed("the task failed: no".to_owned())),
            ("CANCELED", Verdict::Failed("the task was cancelled".to_owned())),
            ("REJECTED", Verdict::Failed("the agent did not take the task on: no".to_owned())),
            ("AUTH_REQUIRED", Verdict::Failed("the agent needs other credentials: no".to_owned())),
            ("INPUT_REQUIRED", Verdict::Asks("no".to_owned())),
            ("COMPLETED", Verdict::Done("no".to_owned())),
        ] {
            let mut task = ReportedTask::default();
            task.take(&status(state, "no"));
            assert_eq!(task.verdict(), Some(verdict));
        }
        let mut task = ReportedTask::default();
        task.take(&json!({ "message": { "parts": [{ "text": "hi" }, { "data": { "a": 1 } }] } }));
        assert_eq!(task.verdict(), Some(Verdict::Done("hi\n{\"a\":1}".to_owned())));
    }

    #[test]
    fn half_an_answer_is_told_with_the_words_that_say_so_and_other_words_of_an_end_are_left_out() {
        for (metadata, expected) in [(json!({ "truncated": true }), "half\n\n[it was cut]"), (json!({}), "half")] {
            let mut task = ReportedTask::default();
            task.take(&artifact("a", "half", false));
            let mut end = status("COMPLETED", "it was cut");
            end["statusUpdate"]["metadata"] = metadata.clone();
            task.take(&end);
            assert_eq!(task.verdict(), Some(Verdict::Done(expected.to_owned())));
            let mut task = ReportedTask::default();
            let status = &end["statusUpdate"]["status"];
            let artifacts = json!([{ "artifactId": "a", "parts": [{ "text": "half" }] }]);
            task.snapshot(&json!({ "id": "t", "status": status, "artifacts": artifacts, "metadata": metadata }));
            assert_eq!(task.verdict(), Some(Verdict::Done(expected.to_owned())));
        }
    }

    #[test]
    fn a_flood_of_artifacts_is_cut() {
        let mut task = ReportedTask::default();
        for index in 0..1000 {
            task.take(&artifact(&index.to_string(), &"x".repeat(10_000), false));
        }
        task.take(&status("COMPLETED", ""));
        let Some(Verdict::Done(text)) = task.verdict() else { panic!() };
        assert!(text.len() < 2 * RESULT_MAX && task.artifacts.len() <= ARTIFACTS_MAX, "{}", text.len());
    }
}
