//! What a run shows while it works: one event for everything that happened,
//! and words of models as they come.

use consort_core::event::Timing;
use consort_core::frame;
use consort_core::frame::live::LiveFrame;
use consort_core::frame::numbered::EventFrame;
use consort_runtime::ring::Frame;
use futures::stream::BoxStream;

use crate::error::Error;

/// Events in the order they happened, until the run is over.
pub type Events = BoxStream<'static, Result<Event, Error>>;

/// One thing that happened.
///
/// ```
/// use consort::{Ensemble, Model, Task};
/// use futures::StreamExt;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), consort::Error> {
/// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write about tea")).build()?;
/// let run = ensemble.start(()).await?;
/// let (mut events, mut last) = (run.events().await?, 0);
/// while let Some(event) = events.next().await.transpose()? {
///     // Words are told as they are said; whoever comes later finds them in the answer.
///     print!("{}", event.token().unwrap_or_default());
///     last = event.seq().unwrap_or(last);
/// }
/// // Whoever was cut off goes on behind the last number they have seen.
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
    /// Its name, unique among all runs.
    pub id: String,
    /// The task it is about.
    pub task_name: String,
    /// What the task has put out so far; empty before it starts.
    pub output: String,
    /// What an agent asks, when it was an agent who asked.
    pub prompt: Option<String>,
    /// Before, while or after the task is done.
    pub timing: Timing,
}

impl Event {
    pub(crate) fn new(frame: Frame) -> Event {
        Event(frame)
    }

    /// Its number in the run, from 0; words of a model and the result have none.
    pub fn seq(&self) -> Option<u64> {
        match &self.0 {
            Frame::Event { seq, .. } => Some(*seq),
            Frame::Delta { .. } | Frame::Result { .. } => None,
        }
    }

    /// The type of the event: `task_started`, `tool_called`, `token`, `run_result`, …
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// Everything it says, as JSON text for a wire.
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// Everything it says, as a value; none for words of a model and for the result.
    pub fn frame(&self) -> Option<&frame::run::Frame> {
        match &self.0 {
            Frame::Event { frame, .. } => match &**frame {
                EventFrame::Run(event) => Some(&event.frame),
                EventFrame::Turn(_) => None,
            },
            Frame::Delta { .. } | Frame::Result { .. } => None,
        }
    }

    /// The task it is about, if it is about one.
    pub fn task(&self) -> Option<&str> {
        self.frame()?.task()?.task_name.as_deref()
    }

    /// The words, when a model is talking.
    pub fn token(&self) -> Option<&str> {
        match &self.0 {
            Frame::Delta { frame, .. } => match &**frame {
                LiveFrame::Token { token, .. } => Some(token),
                LiveFrame::Chunk { .. } | LiveFrame::ToolProgress(_) => None,
            },
            Frame::Event { .. } | Frame::Result { .. } => None,
        }
    }

    /// The question, when a person is asked one.
    pub fn review(&self) -> Option<Review> {
        let frame::run::Frame::ReviewRequested(review) = self.frame()? else { return None };
        Some(Review {
            id: review.review_id.clone(),
            task_name: review.task.task_name.clone().unwrap_or_default(),
            output: review.task_output.to_string(),
            prompt: review.prompt.clone(),
            timing: review.timing,
        })
    }
}
