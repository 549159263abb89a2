//! The events of a run: one for every step, and tokens of models as they come.

use consort_core::event::Timing;
use consort_core::frame;
use consort_core::frame::live::LiveFrame;
use consort_core::frame::numbered::EventFrame;
use consort_runtime::ring::Frame;
use futures::stream::BoxStream;

use crate::error::Error;

/// Events in the order they happened, until the run is over.
pub type Events = BoxStream<'static, Result<Event, Error>>;

/// One event of a run.
///
/// ```
/// use consort::{Ensemble, Model, Task};
/// use futures::StreamExt;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), consort::Error> {
/// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write about tea")).build()?;
/// let run = ensemble.start(()).await?;
/// let mut events = run.events().await?;
/// let mut last = 0;
/// while let Some(event) = events.next().await.transpose()? {
///     // Tokens are sent live; later subscribers find them in the answer.
///     print!("{}", event.token().unwrap_or_default());
///     last = event.seq().unwrap_or(last);
/// }
/// // A client that was disconnected resumes after the last number it has seen.
/// assert_eq!(run.events_from(last + 1).await?.count().await, 1, "only the result is left");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Event(Frame);

/// A question to a person: answer it with [`Run::review`](crate::Run::review).
///
/// ```
/// use consort::{Decision, Ensemble, Model, ReviewRule, Task};
/// use futures::StreamExt;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), consort::Error> {
/// let notice = Task::builder("Write a notice").review(ReviewRule::Required);
/// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(notice).build()?;
/// let run = ensemble.start(()).await?.steered_by("Ada");
/// let mut events = run.events().await?;
/// while let Some(event) = events.next().await.transpose()? {
///     if let Some(review) = event.review() {
///         run.review(&review, Decision::Edit { output: "Closed today.".into() }).await?;
///     }
/// }
/// assert_eq!(run.finished().await?.answer(), "Closed today.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Its id, unique among all runs.
    pub id: String,
    /// The task it is about.
    pub task_name: String,
    /// The output of the task so far; empty before it starts.
    pub output: String,
    /// Whether that output was cut at the output limit of the model and accepted as it is.
    pub truncated: bool,
    /// The question of the agent, when an agent asked for the review.
    pub prompt: Option<String>,
    /// Whether it is before, during or after the task.
    pub timing: Timing,
}

impl Event {
    pub(crate) fn new(frame: Frame) -> Event {
        Event(frame)
    }

    /// Returns its number in the run, from 0; tokens of a model and the result have none.
    pub fn seq(&self) -> Option<u64> {
        match &self.0 {
            Frame::Event { seq, .. } => Some(*seq),
            Frame::Delta { .. } | Frame::Result { .. } => None,
        }
    }

    /// Returns the type of the event: `task_started`, `tool_called`, `token`, `run_result`, …
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// Returns the whole event as JSON text.
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// Returns the whole event as a value; `None` for tokens of a model and for the result.
    pub fn frame(&self) -> Option<&frame::run::Frame> {
        match &self.0 {
            Frame::Event { frame, .. } => match &**frame {
                EventFrame::Run(event) => Some(&event.frame),
                EventFrame::Turn(_) => None,
            },
            Frame::Delta { .. } | Frame::Result { .. } => None,
        }
    }

    /// Returns the task it is about, if it is about one.
    pub fn task(&self) -> Option<&str> {
        self.frame()?.task()?.task_name.as_deref()
    }

    /// Returns the text of a token event.
    pub fn token(&self) -> Option<&str> {
        match &self.0 {
            Frame::Delta { frame, .. } => match &**frame {
                LiveFrame::Token { token, .. } => Some(token),
                LiveFrame::Chunk { .. } | LiveFrame::ToolProgress(_) => None,
            },
            Frame::Event { .. } | Frame::Result { .. } => None,
        }
    }

    /// Returns the review, when the event asks for one.
    pub fn review(&self) -> Option<Review> {
        let frame::run::Frame::ReviewRequested(review) = self.frame()? else { return None };
        Some(Review {
            id: review.review_id.clone(),
            task_name: review.task.task_name.clone().unwrap_or_default(),
            output: review.task_output.to_string(),
            truncated: review.truncated,
            prompt: review.prompt.clone(),
            timing: review.timing,
        })
    }
}
