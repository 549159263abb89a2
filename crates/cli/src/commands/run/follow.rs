//! Watches a run to its end: shows its frames, asks the person in front of it
//! for reviews, and stops it when they press Ctrl-C.

use std::io;
use std::time::Duration;

use consort_core::decide::{Command, Refused};
use consort_core::event::{CancelMode, Decision};
use consort_core::frame::parse_review_id;
use consort_runtime::engine::{Engine, Error};
use consort_runtime::{log, ring};
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use tokio::time::{MissedTickBehavior, interval};

use super::review::{self, Heard, Keyboard, Question};
use crate::show::screen::Screen;
use crate::terminal::Person;

/// How often the picture changes when nothing happens.
const TICK: Duration = Duration::from_millis(100);
/// Who acts here, as the run's events name them.
const LOCAL: &str = "local";

/// How the watching ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// The run is over.
    ToTheEnd,
    /// Somebody would not wait for that.
    Left,
    /// The run stopped in the middle, because it could not be stored.
    Stopped,
}

/// A run being watched.
pub(super) struct Watch<'a, 'b> {
    engine: &'a Engine,
    run: &'a str,
    screen: &'a mut Screen<'b>,
    person: Option<&'a Person>,
    interrupts: Interrupts,
    stopping: Stopping,
    keyboard: Keyboard,
    question: Option<Question>,
    /// The review decided last, until its frame has come.
    decided: Option<String>,
    /// Why nothing can be stored just now.
    stalled: Option<String>,
    /// Whether it was said that nobody can decide reviews here.
    excused: bool,
}

/// Whether the run was asked to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stopping {
    No,
    Yes,
}

enum Wake {
    Frame(Option<Result<ring::Frame, log::Error>>),
    Interrupt,
    Line(Option<String>),
    Tick,
    /// Nobody works on the run any more.
    Over,
}

/// Each Ctrl-C, from now on.
pub(super) type Interrupts = BoxStream<'static, ()>;

/// Begins to listen for Ctrl-C, which then no longer ends the process.
pub(super) fn interrupts() -> Interrupts {
    let press = |()| async { tokio::signal::ctrl_c().await.ok().map(|()| ((), ())) };
    let presses = stream::unfold((), press).boxed().peekable();
    let mut presses = Box::pin(presses);
    // Listening begins when it is first asked for.
    let _not_yet = presses.as_mut().peek().now_or_never();
    presses
}

/// Stops a run at once and waits until it has ended.
pub(super) async fn cancel(engine: &Engine, run: &str) {
    if engine.command(run, cancel_now()).await.is_ok() {
        engine.finished(run).await;
    }
}

fn cancel_now() -> Command {
    Command::Cancel { mode: CancelMode::Now, by: LOCAL.to_owned() }
}

impl<'a, 'b> Watch<'a, 'b> {
    /// Of this run.
    pub(super) fn new(
        (engine, run): (&'a Engine, &'a str),
        screen: &'a mut Screen<'b>,
        person: Option<&'a Person>,
        interrupts: Interrupts,
    ) -> Watch<'a, 'b> {
        let (stopping, keyboard) = (Stopping::No, Keyboard::default());
        let (question, decided, stalled, excused) = (None, None, None, false);
        Watch { engine, run, screen, person, interrupts, stopping, keyboard, question, decided, stalled, excused }
    }

    /// Watches to the end.
    pub(super) async fn follow(mut self) -> anyhow::Result<Watched> {
        let mut frames = self.engine.tail(self.run, 0).await?;
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut owned = true;
        loop {
            let asking = self.question.is_some();
            let wake = tokio::select! {
                frame = frames.next() => Wake::Frame(frame),
                Some(()) = self.interrupts.next() => Wake::Interrupt,
                line = self.keyboard.line(), if asking => Wake::Line(line),
                _ = tick.tick() => Wake::Tick,
                () = self.engine.finished(self.run), if owned => Wake::Over,
            };
            match wake {
                Wake::Frame(None) => return Ok(Watched::ToTheEnd),
                Wake::Frame(Some(frame)) => self.screen.show(&frame?)?,
                Wake::Interrupt => {
                    if let Some(left) = self.stop().await? {
                        return Ok(left);
                    }
                }
                Wake::Line(line) => self.heard(line).await?,
                Wake::Tick => self.tick()?,
                Wake::Over => {
                    owned = false;
                    if self.engine.run(self.run).await?.end().is_none() {
                        return Ok(Watched::Stopped);
                    }
                }
            }
            self.ask()?;
        }
    }

    fn tick(&mut self) -> io::Result<()> {
        let stalled = self.engine.stalled(self.run);
        if stalled != self.stalled {
            match &stalled {
                Some(reason) => self.screen.say(&format!("the run waits, because it cannot be stored: {reason}"))?,
                None => self.screen.say("the run goes on")?,
            }
            self.stalled = stalled;
        }
        self.screen.draw()
    }

    /// Asks the run to stop at once; whoever asks again does not wait for that.
    async fn stop(&mut self) -> anyhow::Result<Option<Watched>> {
        if self.stopping == Stopping::Yes {
            return Ok(Some(Watched::Left));
        }
        self.stopping = Stopping::Yes;
        if self.question.take().is_some() {
            self.screen.ask("\n")?;
            self.screen.answered()?;
        }
        self.screen.say("stopping; Ctrl-C again leaves at once")?;
        tokio::select! {
            stopped = self.engine.command(self.run, cancel_now()) => match stopped {
                Ok(_) | Err(Error::Refused(Refused::Ended { .. }) | Error::NotOwned(_)) => Ok(None),
                Err(error) => Err(error.into()),
            },
            Some(()) = self.interrupts.next() => Ok(Some(Watched::Left)),
        }
    }

    /// Opens the next question, or takes away one that answered itself.
    fn ask(&mut self) -> io::Result<()> {
        let reviews = &self.screen.view().reviews;
        let open = |id: &str| reviews.iter().any(|review| review.id == id);
        if self.decided.as_deref().is_some_and(|id| !open(id)) {
            self.decided = None;
        }
        if self.question.as_ref().is_some_and(|question| !open(&question.review)) {
            self.question = None;
            self.screen.ask("\nThis review is over.\n")?;
            return self.screen.answered();
        }
        if self.person.is_none() && !self.excused && !reviews.is_empty() {
            self.excused = true;
            return self.screen.say("Nobody can be asked here, so reviews wait until their time is up.");
        }
        let next = reviews.iter().find(|review| self.decided.as_deref() != Some(review.id.as_str()));
        let free = self.question.is_none() && self.person.is_some() && self.stopping == Stopping::No;
        let Some(review) = next.filter(|_| free) else { return Ok(()) };
        let question = Question::new(review);
        let opening = question.opening(review, self.screen.now());
        self.question = Some(question);
        self.screen.ask(&opening)
    }

    /// What follows from a line that was typed.
    async fn heard(&mut self, line: Option<String>) -> anyhow::Result<()> {
        let Some(question) = &mut self.question else { return Ok(()) };
        let Some(line) = line else {
            // Nobody types any more: the review waits for its time to pass.
            (self.question, self.person) = (None, None);
            return Ok(self.screen.answered()?);
        };
        match question.hear(&line) {
            Heard::Ask(words) => Ok(self.screen.ask(words)?),
            Heard::Decided(decision) => self.decide(decision).await,
            Heard::Edit(text) => self.edit(text).await,
        }
    }

    async fn edit(&mut self, text: String) -> anyhow::Result<()> {
        let Some(question) = &mut self.question else { return Ok(()) };
        let Some(editor) = self.person.and_then(|person| person.editor.clone()) else {
            let words = question.type_text();
            return Ok(self.screen.ask(words)?);
        };
        let edited = tokio::task::spawn_blocking(move || review::edit(&editor, &text)).await?;
        // Ctrl-C was meant for the editor.
        while self.interrupts.next().now_or_never().flatten().is_some() {}
        match edited {
            Ok(text) => self.decide(Decision::Edit { output: text.trim_end().into() }).await,
            Err(error) => self.refused(&error.to_string()),
        }
    }

    async fn decide(&mut self, decision: Decision) -> anyhow::Result<()> {
        let Some(question) = &self.question else { return Ok(()) };
        let Some((_, review)) = parse_review_id(&question.review) else { return Ok(()) };
        let command = Command::Review { review, decision, by: LOCAL.to_owned() };
        match self.engine.command(self.run, command).await {
            Ok(_) => {
                self.decided = self.question.take().map(|question| question.review);
                Ok(self.screen.answered()?)
            }
            Err(Error::Refused(refused)) => self.refused(&refused.to_string()),
            Err(error) => Err(error.into()),
        }
    }

    /// Says why an answer does not count, and asks again.
    fn refused(&mut self, why: &str) -> anyhow::Result<()> {
        let Some(question) = &mut self.question else { return Ok(()) };
        question.again();
        let words = format!("{why}\n{}", question.choices());
        Ok(self.screen.ask(&words)?)
    }
}
