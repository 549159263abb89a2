//! A started run: watch it, steer it, wait for it.

use std::sync::Arc;

use consort_core::decide::Command;
use consort_core::event::{CancelMode, Decision, Directive, Priority};
use consort_core::frame::parse_review_id;
use consort_runtime::engine::Engine;
use futures::StreamExt;

use crate::catalog::ModelCatalog;
use crate::error::Error;
use crate::event::{Event, Events, Review};
use crate::outcome::Outcome;

/// The default name of the person who steers, in the run's events.
const STEERED_BY: &str = "program";

/// A handle to one run. Clones steer the same run; it goes on until its
/// [`Ensemble`](crate::Ensemble) and all its handles are dropped.
///
/// ```
/// use consort::{CancelMode, Ensemble, Line, ScriptedModel, Status, Task};
/// use futures::StreamExt;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), consort::Error> {
/// let silent = ScriptedModel::new().otherwise(Line::new().says("Well…").hangs());
/// let ensemble = Ensemble::builder().model("silent", silent).task(Task::new("Talk")).build()?;
/// let run = ensemble.start(()).await?;
/// let mut events = run.events().await?;
/// while let Some(event) = events.next().await.transpose()? {
///     if event.kind() == "llm_iteration_started" {
///         run.cancel(CancelMode::Now).await?;
///     }
/// }
/// assert_eq!(run.finished().await?.status, Status::Cancelled);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Run {
    engine: Engine,
    id: Arc<str>,
    by: Arc<str>,
}

impl Run {
    pub(crate) fn new(engine: Engine, id: Arc<str>) -> Run {
        Run { engine, id, by: STEERED_BY.into() }
    }

    /// Returns its id, unique among all runs.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the same run, steered in this person's name.
    #[must_use]
    pub fn steered_by(mut self, who: &str) -> Run {
        self.by = who.into();
        self
    }

    /// Returns all events so far, then new ones as they happen.
    pub async fn events(&self) -> Result<Events, Error> {
        self.events_from(0).await
    }

    /// Returns the events from this number on, to continue where a listener left off.
    pub async fn events_from(&self, seq: u64) -> Result<Events, Error> {
        let frames = self.engine.tail(&self.id, seq).await?;
        let event = |frame| match frame {
            Ok(frame) => Ok(Event::new(frame)),
            Err(error) => Err(consort_runtime::engine::Error::Log(error).into()),
        };
        Ok(frames.map(event).boxed())
    }

    /// Cancels it, as soon as the mode says.
    pub async fn cancel(&self, mode: CancelMode) -> Result<(), Error> {
        self.command(Command::Cancel { mode, by: self.by() }).await
    }

    /// Pauses it: no new step begins until it is resumed.
    pub async fn pause(&self) -> Result<(), Error> {
        self.command(Command::Pause { by: self.by() }).await
    }

    /// Resumes it after a pause.
    pub async fn resume(&self) -> Result<(), Error> {
        self.command(Command::Resume { by: self.by() }).await
    }

    /// Switches to another of the ensemble's models from now on.
    pub async fn switch_model(&self, alias: &str) -> Result<(), Error> {
        let catalog = &self.engine.seams().models;
        let unknown = || ModelCatalog(catalog.clone()).unknown(alias);
        let models = catalog.with_fallbacks(alias).ok_or_else(unknown)?;
        self.command(Command::SwitchModel { models, by: self.by() }).await
    }

    /// Gives a directive to all its agents.
    pub async fn direct(&self, words: &str) -> Result<(), Error> {
        self.say(None, words).await
    }

    /// Gives a directive to the agent of a task, or to a role.
    pub async fn direct_to(&self, target: &str, words: &str) -> Result<(), Error> {
        self.say(Some(target.to_owned()), words).await
    }

    /// Decides a review.
    pub async fn review(&self, review: &Review, decision: Decision) -> Result<(), Error> {
        let number = parse_review_id(&review.id).filter(|(run, _)| *run == &*self.id).map(|(_, number)| number);
        let review = number.ok_or_else(|| Error::OtherReview(review.id.clone()))?;
        self.command(Command::Review { review, decision, by: self.by() }).await
    }

    /// Waits for its end and returns its outcome.
    pub async fn finished(&self) -> Result<Outcome, Error> {
        self.engine.finished(&self.id).await;
        let run = self.engine.run(&self.id).await?;
        match run.end() {
            Some(end) => Ok(Outcome::of(&self.id, &run, end)),
            None => Err(Error::Unfinished(self.id.to_string())),
        }
    }

    async fn say(&self, target: Option<String>, words: &str) -> Result<(), Error> {
        let created_at = self.engine.seams().clock.now();
        let content = words.into();
        let priority = Priority::Normal;
        let from = self.by();
        let on_behalf_of = None;
        let expires_at = None;
        let directive = Directive { target, content, priority, from, on_behalf_of, created_at, expires_at };
        self.command(Command::Direct { directive }).await
    }

    async fn command(&self, command: Command) -> Result<(), Error> {
        self.engine.command(&self.id, command).await?;
        Ok(())
    }

    fn by(&self) -> String {
        self.by.to_string()
    }
}
