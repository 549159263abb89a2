//! Tasks: runs and turns of the caller, as they are found and shown. A turn that waits for the one before it is known to
//! its thread alone.

use std::time::Duration;

use consort_chat as chats;
use consort_core::a2a::{A2aTask, CONTEXT_TAG, TaskState, marked, message};
use consort_core::decide::{Command, Refused};
use consort_core::event::CancelMode;
use consort_core::frame::field::Iso;
use consort_core::id::Millis;
use consort_core::owner::{Owner, Sight};
use consort_core::run::Run;
use consort_runtime::engine::{self, Engine};
use serde_json::{Map, Value, json};

use super::Agent;
use super::error::{A2aError, Fault};
use crate::openai::Work;

/// The time that a cancelled task may take to end before it is shown as it is.
const CANCEL_PATIENCE: Duration = Duration::from_secs(5);
/// The beginning of the ids of turns; any other task is a run.
const TURN: &str = "turn-";

/// Returns whether this is the id of a turn.
pub(super) fn is_turn(id: &str) -> bool {
    id.starts_with(TURN)
}

/// A task that was found.
pub(super) struct Found {
    pub(super) id: String,
    pub(super) context: String,
    /// The thread of a turn.
    pub(super) thread: Option<String>,
    pub(super) stage: Stage,
}

/// The progress of a task.
pub(super) enum Stage {
    /// It has begun.
    Begun(Box<Run>),
    /// It waits for the turn before it.
    Waiting { content: String, at: Millis },
}

/// The parts of a task that are shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// Messages of the history at most.
    pub(super) history: Option<usize>,
    pub(super) artifacts: bool,
}

impl Found {
    pub(super) fn state(&self) -> TaskState {
        self.begun().map_or(TaskState::Submitted, |task| task.state())
    }

    /// Returns whether it waits for an answer.
    pub(super) fn is_asking(&self) -> bool {
        self.state() == TaskState::InputRequired
    }

    /// Returns the time of its last change.
    pub(super) fn at(&self) -> Millis {
        match &self.stage {
            Stage::Begun(run) => run.at(),
            Stage::Waiting { at, .. } => *at,
        }
    }

    /// Returns the number of its events.
    pub(super) fn events(&self) -> u64 {
        match &self.stage {
            Stage::Begun(run) => run.events(),
            Stage::Waiting { .. } => 0,
        }
    }

    /// Returns the event that its status has changed.
    pub(super) fn status_update(&self) -> Value {
        match self.begun() {
            Some(task) => task.status_update(),
            None => {
                json!({ "statusUpdate": { "taskId": self.id, "contextId": self.context, "status": self.submitted() } })
            }
        }
    }

    /// Returns what was made.
    pub(super) fn artifacts(&self) -> Vec<Value> {
        self.begun().map(|task| task.artifacts()).unwrap_or_default()
    }

    /// Returns the task as it is now.
    pub(super) fn json(&self, shown: Shown) -> Value {
        let mut task = self.head();
        if let Some(begun) = self.begun() {
            task.insert("status".to_owned(), begun.status());
            let artifacts = begun.artifacts();
            if shown.artifacts && !artifacts.is_empty() {
                task.insert("artifacts".to_owned(), json!(artifacts));
            }
        }
        let history = self.history();
        let kept = shown.history.unwrap_or(history.len()).min(history.len());
        if kept > 0 {
            let newest: Vec<&Value> = history.iter().skip(history.len() - kept).collect();
            task.insert("history".to_owned(), json!(newest));
        }
        marked(Value::Object(task), self.begun().is_some_and(|begun| begun.is_cut()))
    }

    /// Returns the task as it was when it began.
    pub(super) fn accepted(&self, history: Option<usize>) -> Value {
        let mut task = self.head();
        if history != Some(0) {
            task.insert("history".to_owned(), json!(self.history()));
        }
        Value::Object(task)
    }

    fn head(&self) -> Map<String, Value> {
        let head = json!({ "id": self.id, "contextId": self.context, "status": self.submitted() });
        head.as_object().cloned().unwrap_or_default()
    }

    fn submitted(&self) -> Value {
        let at = match &self.stage {
            Stage::Begun(run) => run.summary(&self.id).started_at,
            Stage::Waiting { at, .. } => *at,
        };
        json!({ "state": TaskState::Submitted.word(), "timestamp": Iso(at) })
    }

    fn history(&self) -> Vec<Value> {
        match &self.stage {
            Stage::Begun(_) => self.begun().map(|task| task.history()).unwrap_or_default(),
            Stage::Waiting { content, .. } => {
                let id = format!("{}-message", self.id);
                vec![message((&id, "ROLE_USER"), (&self.id, &self.context), vec![json!({ "text": content })])]
            }
        }
    }

    fn begun(&self) -> Option<A2aTask<'_>> {
        match &self.stage {
            Stage::Begun(run) => Some(A2aTask { run, id: &self.id, context: &self.context }),
            Stage::Waiting { .. } => None,
        }
    }
}

impl Agent {
    /// Returns the turns of all threads: whose a turn is was asked of its thread.
    pub(super) fn turns(&self) -> Engine {
        self.edge.site.server.chats.engine().seen_with(Sight::All(Owner::local()))
    }

    /// Returns a task of the caller.
    pub(super) async fn find(&self, id: &str) -> Result<Found, A2aError> {
        if !is_turn(id) {
            let run = self.edge.runs.run(id).await.map_err(|error| missing(id, error))?;
            let context = run.spec().tags.get(CONTEXT_TAG).cloned().unwrap_or_else(|| id.to_owned());
            return Ok(Found { id: id.to_owned(), context, thread: None, stage: Stage::Begun(Box::new(run)) });
        }
        let found = self.edge.site.server.chats.continued(&self.edge.caller.0, id).await;
        let thread = match found {
            Ok(continued) => continued.thread,
            Err(chats::Error::NotFound(_)) => return Err(A2aError::no_task(id)),
            Err(error) => return Err(error.into()),
        };
        let context = thread.context().to_owned();
        let stage = match self.turns().run(id).await {
            Ok(run) => Stage::Begun(Box::new(run)),
            Err(engine::Error::NotFound(_)) => {
                let waiting = thread.queue.iter().find(|waiting| waiting.turn == id);
                let waiting = waiting.ok_or_else(|| A2aError::no_task(id))?;
                Stage::Waiting { content: waiting.message.content.to_string(), at: thread.updated_at }
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Found { id: id.to_owned(), context, thread: Some(thread.id), stage })
    }

    /// Follows a task from this event on.
    pub(super) async fn follow(&self, found: &Found, from: u64) -> Result<Work, A2aError> {
        match &found.thread {
            None => Ok(self.edge.run_after(found.id.as_str().into(), from).await?),
            Some(thread) => Ok(self.edge.turn_after(thread, found.id.as_str().into(), from)),
        }
    }

    /// Cancels a task, and returns it as it is then.
    pub(super) async fn cancel(&self, id: &str) -> Result<Found, A2aError> {
        let found = self.find(id).await?;
        let fixed = |why: String| A2aError::new(Fault::TaskNotCancelable, why);
        if found.state().is_over() {
            return Err(fixed(format!("the task {id} has ended: it is {}", found.state().word())));
        }
        if matches!(found.stage, Stage::Waiting { .. }) {
            return Err(fixed(format!("the task {id} waits for the one before it: cancel that one first")));
        }
        let command = Command::Cancel { mode: CancelMode::Now, by: self.edge.caller.0.clone() };
        let engine = if is_turn(id) { self.turns() } else { self.edge.runs.clone() };
        match engine.command(id, command).await {
            Ok(_) => {}
            Err(engine::Error::Refused(Refused::Ended { .. })) => {
                return Err(fixed(format!("the task {id} has ended meanwhile")));
            }
            Err(error) => return Err(error.into()),
        }
        // A task that takes longer to stop is shown as it is.
        let _stopped = tokio::time::timeout(CANCEL_PATIENCE, engine.at_its_end(id, |_| ())).await;
        self.find(id).await
    }
}

fn missing(id: &str, error: engine::Error) -> A2aError {
    if matches!(error, engine::Error::NotFound(_)) { A2aError::no_task(id) } else { error.into() }
}
