//! A run or a turn as a task of the A2A protocol, and the messages that its webhooks get. Everything is computed from
//! the events of the run, so that a task is the same after a restart and on every node.

use serde_json::{Map, Value, json};

use crate::chat::{ChatEventKind, Role};
use crate::projections::announcement::{Announcement, Topic};
use crate::projections::frame::field::Iso;
use crate::projections::view::{ResultFrame, RunResult, TaskOutput};
use crate::state::run::Run;
use consort_spec::event::{Event, EventKind};
use consort_spec::id::Millis;
use consort_spec::status::Status;

/// The tag of a run with the context that a client began it in.
pub const CONTEXT_TAG: &str = "a2a_context";
/// The id of the artifact that holds the result.
pub const RESULT: &str = "result";
/// The error of a run that would have passed a limit of its budget.
const BUDGET: &str = "BUDGET_EXCEEDED";

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It is stored and waits for its turn.
    Submitted,
    /// It is being worked on.
    Working,
    /// It waits for an answer.
    InputRequired,
    /// It is done.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Canceled,
    /// It would have passed a limit.
    Rejected,
    /// It waits for credentials; no task of ours does.
    AuthRequired,
}

impl TaskState {
    /// Every state, by its word.
    pub const WORDS: [(&'static str, TaskState); 8] = [
        ("TASK_STATE_SUBMITTED", TaskState::Submitted),
        ("TASK_STATE_WORKING", TaskState::Working),
        ("TASK_STATE_INPUT_REQUIRED", TaskState::InputRequired),
        ("TASK_STATE_COMPLETED", TaskState::Completed),
        ("TASK_STATE_FAILED", TaskState::Failed),
        ("TASK_STATE_CANCELED", TaskState::Canceled),
        ("TASK_STATE_REJECTED", TaskState::Rejected),
        ("TASK_STATE_AUTH_REQUIRED", TaskState::AuthRequired),
    ];

    /// Returns the state of this word.
    pub fn parse(word: &str) -> Option<TaskState> {
        TaskState::WORDS.iter().find(|(known, _)| *known == word).map(|(_, state)| *state)
    }

    /// Returns its word.
    pub fn word(self) -> &'static str {
        TaskState::WORDS.iter().find(|(_, state)| *state == self).map_or("TASK_STATE_UNSPECIFIED", |(word, _)| word)
    }

    /// Returns whether nothing more will happen.
    pub fn is_over(self) -> bool {
        matches!(self, TaskState::Completed | TaskState::Failed | TaskState::Canceled | TaskState::Rejected)
    }
}

/// A run or a turn as a task.
#[derive(Clone, Copy, Debug)]
pub struct A2aTask<'a> {
    /// The run or the turn.
    pub run: &'a Run,
    /// Its id.
    pub id: &'a str,
    /// The context that it belongs to.
    pub context: &'a str,
}

impl A2aTask<'_> {
    /// Returns its state.
    pub fn state(&self) -> TaskState {
        match self.run.status() {
            Status::Accepted => TaskState::Submitted,
            Status::Running if self.run.open_questions(self.id).is_empty() => TaskState::Working,
            Status::Running => TaskState::InputRequired,
            Status::Completed => TaskState::Completed,
            Status::Cancelled => TaskState::Canceled,
            Status::Rejected => TaskState::Rejected,
            Status::Failed if self.has_passed_a_limit() => TaskState::Rejected,
            Status::Failed => TaskState::Failed,
        }
    }

    /// Returns its status: the state, what it asks or why it failed, and the time.
    pub fn status(&self) -> Value {
        let state = self.state();
        let mut status = Map::new();
        status.insert("state".to_owned(), json!(state.word()));
        let parts = match state {
            TaskState::InputRequired => self.asked(),
            TaskState::Failed | TaskState::Rejected => vec![json!({ "text": self.failure() })],
            TaskState::Completed => self.run.cut_note().map(|note| json!({ "text": note })).into_iter().collect(),
            TaskState::Submitted | TaskState::Working | TaskState::Canceled | TaskState::AuthRequired => Vec::new(),
        };
        if !parts.is_empty() {
            let id = format!("{}-status", self.id);
            status.insert("message".to_owned(), message((&id, "ROLE_AGENT"), (self.id, self.context), parts));
        }
        status.insert("timestamp".to_owned(), json!(Iso(self.run.at())));
        Value::Object(status)
    }

    /// Returns what was made: the output of each task that completed; the last one of a completed run is its result.
    pub fn artifacts(&self) -> Vec<Value> {
        if self.run.spec().chat.is_some() {
            let last = self.run.rows().iter().rev().find(|row| row.role == Role::Assistant);
            let answer = last.filter(|row| !row.is_error && self.run.ended());
            let made =
                answer.map(|row| marked(artifact((RESULT, RESULT), row.visible_text().as_str(), None), row.truncated));
            return made.into_iter().collect();
        }
        let ResultFrame::RunResult(RunResult { outputs, output, .. }) = self.run.result(self.id);
        let count = outputs.len();
        let made = outputs.iter().enumerate().map(|(index, made)| {
            let TaskOutput { task_name, output: text, parsed_output, truncated, .. } = made;
            let is_result = output.is_some() && index + 1 == count;
            let id = if is_result { RESULT.to_owned() } else { format!("task-{}", index + 1) };
            marked(artifact((&id, task_name), text.as_str(), parsed_output.as_ref()), *truncated)
        });
        made.collect()
    }

    /// Returns the messages that were exchanged, the oldest first.
    pub fn history(&self) -> Vec<Value> {
        let spec = self.run.spec();
        let parts = match &spec.chat {
            Some(conversation) => vec![json!({ "text": conversation.content.as_str() })],
            None => vec![json!({ "data": spec.inputs, "mediaType": "application/json" })],
        };
        let id = format!("{}-message", self.id);
        vec![message((&id, "ROLE_USER"), (self.id, self.context), parts)]
    }

    /// Returns the task with everything that is known of it.
    pub fn json(&self) -> Value {
        let task = json!({ "id": self.id, "contextId": self.context, "status": self.status(),
            "artifacts": self.artifacts(), "history": self.history() });
        marked(task, self.is_cut())
    }

    /// Returns whether it completed with an output that was cut.
    pub fn is_cut(&self) -> bool {
        self.run.cut_note().is_some()
    }

    /// Returns the event that its status has changed.
    pub fn status_update(&self) -> Value {
        let update = json!({ "taskId": self.id, "contextId": self.context, "status": self.status() });
        json!({ "statusUpdate": marked(update, self.is_cut()) })
    }

    /// Returns whether it failed because a limit of its budget would have been passed.
    fn has_passed_a_limit(&self) -> bool {
        self.run.chat().breach.is_some() || self.run.error().is_some_and(|error| error.contains(BUDGET))
    }

    /// Returns the reason why it failed.
    fn failure(&self) -> String {
        let row = self.run.rows().iter().rev().find(|row| row.role == Role::Assistant && row.is_error);
        let error = self.run.error().map(str::to_owned);
        error.or_else(|| row.map(|row| row.visible_text().to_string())).unwrap_or_else(|| "it failed".to_owned())
    }

    fn asked(&self) -> Vec<Value> {
        let questions = self.run.open_questions(self.id);
        let parts = questions.iter().flat_map(|question| {
            let form = json!({ "id": question.id, "answer": question.schema });
            [json!({ "text": question.message }), json!({ "data": form, "mediaType": "application/json" })]
        });
        parts.collect()
    }
}

/// Returns a message of the protocol.
pub fn message((id, role): (&str, &str), (task, context): (&str, &str), parts: Vec<Value>) -> Value {
    json!({ "messageId": id, "contextId": context, "taskId": task, "role": role, "parts": parts })
}

/// Returns an artifact with a text and, where there is any, the same as data.
pub fn artifact((id, name): (&str, &str), text: &str, data: Option<&Value>) -> Value {
    let data = data.map(|data| json!({ "data": data, "mediaType": "application/json" }));
    let parts: Vec<Value> = std::iter::once(json!({ "text": text })).chain(data).collect();
    json!({ "artifactId": id, "name": name, "parts": parts })
}

/// Returns a task, an artifact or an event with the mark that an output was cut at the output limit, if one was.
pub fn marked(mut shown: Value, is_cut: bool) -> Value {
    if let (Value::Object(fields), true) = (&mut shown, is_cut) {
        fields.insert("metadata".to_owned(), json!({ "truncated": true }));
    }
    shown
}

/// Returns the messages that a webhook of a task gets for its events from `since` on, and the run.
pub fn pushes((id, context): (&str, &str), events: &[Event], since: Millis) -> (Vec<Announcement>, Run) {
    let mut run = Run::default();
    let mut announcements = Vec::new();
    for (seq, event) in events.iter().enumerate() {
        run.apply(event);
        // The copied events belong to another task.
        let is_own = run.events() > run.copied() && event.at >= since;
        let Some(topic) = topic(event).filter(|_| is_own) else { continue };
        let body = A2aTask { run: &run, id, context }.status_update();
        announcements.push(Announcement { seq: seq as u64, at: event.at, topic, body });
    }
    (announcements, run)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other event changes the state of a task for its client")]
fn topic(event: &Event) -> Option<Topic> {
    match &event.kind {
        EventKind::RunEnded { end } => Some(end.into()),
        EventKind::ReviewOpened { .. } => Some(Topic::ReviewRequested),
        EventKind::Chat(ChatEventKind::ApprovalAsked { .. }) => Some(Topic::ApprovalRequested),
        _ => None,
    }
}
