//! A task as events: the task itself first, then each change, until it has ended. Words are sent as they come; what was
//! made is sent whole at the end where they were not.

use std::collections::VecDeque;

use consort_core::a2a::{RESULT, TaskState, marked, message};
use consort_core::frame::field::Iso;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};

use super::Agent;
use super::tasks::{Found, Shown};
use crate::openai::{End, Piece, Step, StepWriter, Work};

/// A task whose events are sent.
struct TaskEvents {
    agent: Agent,
    task: String,
    context: String,
    /// Its steps; none once the last event was made.
    steps: Option<BoxStream<'static, Step>>,
    writer: StepWriter,
    /// The words of the result that were sent.
    sent: String,
    /// Whether the next words replace those that were sent.
    replaces: bool,
    /// Whether it was told that the task is being worked on.
    works: bool,
    /// Whether the stream ends when the task asks something.
    ends_at_questions: bool,
    ready: VecDeque<Value>,
}

impl Agent {
    /// Returns the events of a task that a message has begun or continued.
    pub(super) fn told(&self, found: &Found, work: Work, history: Option<usize>) -> BoxStream<'static, Value> {
        let first = json!({ "task": found.accepted(history) });
        self.events(found, work, first, true)
    }

    /// Returns the events of a task from now on, until it ends or, where that is wanted, asks something.
    pub(super) fn told_from_now(
        &self,
        found: &Found,
        work: Work,
        ends_at_questions: bool,
    ) -> BoxStream<'static, Value> {
        let first = json!({ "task": found.json(Shown { history: None, artifacts: true }) });
        if found.state().is_over() || (ends_at_questions && found.is_asking()) {
            return stream::iter([first]).boxed();
        }
        self.events(found, work, first, ends_at_questions)
    }

    fn events(&self, found: &Found, work: Work, first: Value, ends_at_questions: bool) -> BoxStream<'static, Value> {
        let telling = TaskEvents {
            agent: self.clone(),
            task: found.id.clone(),
            context: found.context.clone(),
            steps: Some(work.steps.take_until(self.edge.site.closed()).boxed()),
            writer: StepWriter::default(),
            sent: String::new(),
            replaces: true,
            works: false,
            ends_at_questions,
            ready: VecDeque::from([first]),
        };
        let counted = self.edge.site.streams.clone();
        let events = stream::unfold((telling, counted), |(mut telling, counted)| async move {
            let event = telling.next().await?;
            Some((event, (telling, counted)))
        });
        events.boxed()
    }

    /// Waits until a task has ended or asks something, or the server stops.
    pub(super) async fn settled(&self, task: &str, work: Work) {
        let mut steps = work.steps.take_until(self.edge.site.closed()).boxed();
        while let Some(step) = steps.next().await {
            match step {
                Step::Ended(_) => return,
                Step::Waits(_) if self.asks(task).await => return,
                Step::Waits(_)
                | Step::Round
                | Step::Voided
                | Step::Continues
                | Step::Words { .. }
                | Step::Said(_)
                | Step::Thought(_) => {}
            }
        }
    }

    /// Returns whether a task asks something now: a step may tell of what was answered meanwhile.
    async fn asks(&self, task: &str) -> bool {
        self.find(task).await.is_ok_and(|found| found.is_asking())
    }
}

impl TaskEvents {
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let step = self.steps.as_mut()?.next().await?;
            self.take(step).await;
        }
    }

    async fn take(&mut self, step: Step) {
        if !self.works && !matches!(step, Step::Ended(_)) {
            self.works = true;
            self.status(TaskState::Working, None);
        }
        match step {
            Step::Ended(end) => self.end(end).await,
            Step::Waits(_) => self.asked().await,
            step @ (Step::Round
            | Step::Voided
            | Step::Continues
            | Step::Words { .. }
            | Step::Said(_)
            | Step::Thought(_)) => {
                for piece in self.writer.take(step) {
                    self.piece(piece);
                }
            }
        }
    }

    fn piece(&mut self, piece: Piece) {
        match piece {
            Piece::Thought(line) => self.status(TaskState::Working, Some(line)),
            Piece::Break | Piece::Voided => {
                self.replaces = true;
                self.sent.clear();
            }
            Piece::Words(words) => {
                self.sent.push_str(&words);
                let appends = !std::mem::replace(&mut self.replaces, false);
                let artifact = json!({ "artifactId": RESULT, "name": RESULT, "parts": [{ "text": words }] });
                self.artifact(artifact, (appends, false));
            }
            // Ends are taken before they come here.
            Piece::Ended(_) => {}
        }
    }

    /// Tells what the task asks, if it still does.
    async fn asked(&mut self) {
        let Ok(found) = self.agent.find(&self.task).await else { return };
        if !found.is_asking() {
            return;
        }
        self.ready.push_back(found.status_update());
        if self.ends_at_questions {
            self.steps = None;
        }
    }

    /// Tells what was made and how the task ended.
    async fn end(&mut self, end: End) {
        self.steps = None;
        let Ok(found) = self.agent.find(&self.task).await else {
            // A message that waited and was refused has left nothing.
            let reason = match end {
                End::Failed(problem) => problem.message().to_owned(),
                End::Answer { .. } | End::Waits => "it is not there any more".to_owned(),
            };
            return self.status(TaskState::Failed, Some(reason));
        };
        for artifact in found.artifacts() {
            let is_result = artifact.get("artifactId").and_then(Value::as_str) == Some(RESULT);
            let text = artifact.pointer("/parts/0/text").and_then(Value::as_str).unwrap_or_default();
            if is_result && !self.sent.is_empty() && text == self.sent {
                // The text was sent: only what it is as data follows, or that nothing does.
                let data = artifact.pointer("/parts/1").cloned().unwrap_or_else(|| json!({ "text": "" }));
                let rest = json!({ "artifactId": RESULT, "name": RESULT, "parts": [data] });
                self.artifact(marked(rest, artifact.get("metadata").is_some()), (true, true));
            } else {
                self.artifact(artifact, (false, true));
            }
        }
        self.ready.push_back(found.status_update());
    }

    fn artifact(&mut self, artifact: Value, (append, last_chunk): (bool, bool)) {
        let update = json!({ "taskId": self.task, "contextId": self.context, "artifact": artifact, "append": append,
            "lastChunk": last_chunk });
        self.ready.push_back(json!({ "artifactUpdate": update }));
    }

    fn status(&mut self, state: TaskState, line: Option<String>) {
        let at = Iso(self.agent.edge.site.now());
        let mut status = json!({ "state": state.word(), "timestamp": at });
        if let (Some(line), Value::Object(fields)) = (line, &mut status) {
            let id = uuid::Uuid::new_v4().to_string();
            let told = message((&id, "ROLE_AGENT"), (&self.task, &self.context), vec![json!({ "text": line })]);
            fields.insert("message".to_owned(), told);
        }
        let update = json!({ "taskId": self.task, "contextId": self.context, "status": status });
        self.ready.push_back(json!({ "statusUpdate": update }));
    }
}
