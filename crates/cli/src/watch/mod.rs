//! Watches a run to its end, in this process or on a server (`host`): shows its
//! frames, asks the person in front of it for reviews, and stops it when they press
//! Ctrl-C. `ending` reports the outcome, `remote` is all of this for a run on a
//! server.

pub(crate) mod ending;
mod host;
mod remote;
mod review;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use consort_core::event::Decision;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use self::host::Decided;
pub(crate) use self::host::Host;
pub(crate) use self::remote::watch_there;
pub(crate) use self::review::edit;
use self::review::{Keyboard, Question, RULE};
use crate::client::events::StreamEvent;
use crate::show::drawing::Drawing;
use crate::show::screen::Screen;
use crate::terminal::Person;

/// The interval between redraws when nothing happens.
const TICK: Duration = Duration::from_millis(100);

/// The result of watching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchOutcome {
    /// The run is over.
    ToTheEnd,
    /// The run is over, because Ctrl-C stopped it.
    AsAsked,
    /// The user left before the run had stopped.
    Left,
    /// The run waits for a review that no one here decides.
    Undecided,
    /// The run ended early, because it could not be stored.
    Stopped,
}

/// The effect of Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CtrlC {
    /// Stops the run; again, leaves at once.
    Stops,
    /// Leaves; the run goes on.
    Leaves,
}

/// A run being watched.
pub(crate) struct Watch<'a, 'b> {
    host: Host<'a>,
    screen: &'a mut Screen<'b>,
    person: Option<&'a Person>,
    interrupts: Interrupts,
    ctrl_c: CtrlC,
    stopping: Stopping,
    keyboard: Keyboard,
    question: Option<Question>,
    /// The review decided last, until its frame has come.
    decided: Option<String>,
    /// The reason why events cannot be stored at the moment.
    stalled: Option<String>,
    /// The hints that were printed about reviews that cannot be decided here.
    hints: Vec<String>,
    /// The output of each task that was last shown here for a review.
    reviewed: BTreeMap<String, String>,
}

/// Whether the run was asked to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stopping {
    No,
    Yes,
}

enum Wake {
    Event(Option<anyhow::Result<StreamEvent>>),
    Interrupt,
    Line(Option<String>),
    Tick,
    /// No task works on the run any more.
    Over,
}

/// A stream of Ctrl-C presses, from now on.
pub(crate) type Interrupts = BoxStream<'static, ()>;

/// Starts to listen for Ctrl-C, which then no longer ends the process. It listens all
/// the time: one pressed while another is handled counts.
pub(crate) fn interrupts() -> Interrupts {
    let press = |mut pressed: Signal| async move { pressed.recv().await.map(|()| ((), pressed)) };
    match signal(SignalKind::interrupt()) {
        Ok(pressed) => stream::unfold(pressed, press).boxed(),
        // The signal is not caught then, so it ends the process as usual.
        Err(_) => stream::pending().boxed(),
    }
}

impl<'a, 'b> Watch<'a, 'b> {
    /// Creates a watch of this run.
    pub(crate) fn new(
        host: Host<'a>,
        screen: &'a mut Screen<'b>,
        person: Option<&'a Person>,
        (interrupts, ctrl_c): (Interrupts, CtrlC),
    ) -> Watch<'a, 'b> {
        Watch {
            host,
            screen,
            person,
            interrupts,
            ctrl_c,
            stopping: Stopping::No,
            keyboard: Keyboard::default(),
            question: None,
            decided: None,
            stalled: None,
            hints: Vec::new(),
            reviewed: BTreeMap::new(),
        }
    }

    /// Watches the run to its end.
    pub(crate) async fn follow(mut self) -> anyhow::Result<WatchOutcome> {
        let mut events = self.host.event_stream().await?;
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut owned = true;
        loop {
            let asking = self.question.is_some();
            let wake = tokio::select! {
                event = events.next() => Wake::Event(event),
                Some(()) = self.interrupts.next() => Wake::Interrupt,
                line = self.keyboard.line(), if asking => Wake::Line(line),
                _ = tick.tick() => Wake::Tick,
                () = self.host.let_go(), if owned => Wake::Over,
            };
            match wake {
                Wake::Event(None) => return Ok(self.over()),
                Wake::Event(Some(event)) => self.apply(event?)?,
                Wake::Interrupt => {
                    if let Some(left) = self.stop().await? {
                        return Ok(left);
                    }
                }
                Wake::Line(line) => self.typed(line).await?,
                Wake::Tick => self.tick()?,
                Wake::Over => {
                    owned = false;
                    if !self.host.has_ended().await? {
                        return Ok(WatchOutcome::Stopped);
                    }
                }
            }
            self.ask()?;
            if self.is_undecided() {
                return Ok(WatchOutcome::Undecided);
            }
        }
    }

    /// Returns whether waiting here is useless: no person can be asked, and no open review has a
    /// time limit.
    fn is_undecided(&self) -> bool {
        let reviews = &self.screen.view().reviews;
        let endless = !reviews.is_empty() && reviews.iter().all(|review| review.due.is_none());
        self.person.is_none() && endless && self.host.needs_person()
    }

    fn over(&self) -> WatchOutcome {
        match self.stopping {
            Stopping::No => WatchOutcome::ToTheEnd,
            Stopping::Yes => WatchOutcome::AsAsked,
        }
    }

    fn apply(&mut self, event: StreamEvent) -> io::Result<()> {
        match event {
            StreamEvent::Frame(frame) => self.screen.show(&frame),
            StreamEvent::Disconnected(reason) => {
                self.screen.say(&format!("the connection is lost ({reason}); trying again"))
            }
            StreamEvent::Reconnected => self.screen.say("connected again"),
        }
    }

    fn tick(&mut self) -> io::Result<()> {
        let stalled = self.host.stalled();
        if stalled != self.stalled {
            match &stalled {
                Some(reason) => self.screen.say(&format!("the run waits, because it cannot be stored: {reason}"))?,
                None => self.screen.say("the run goes on")?,
            }
            self.stalled = stalled;
        }
        if self.person.is_none() {
            self.hint()?;
        }
        self.screen.draw()
    }

    /// Asks the run to stop at once; a second request leaves without waiting.
    async fn stop(&mut self) -> anyhow::Result<Option<WatchOutcome>> {
        if self.stopping == Stopping::Yes || self.ctrl_c == CtrlC::Leaves {
            return Ok(Some(WatchOutcome::Left));
        }
        self.stopping = Stopping::Yes;
        if self.question.take().is_some() {
            self.screen.ask("\n")?;
            self.screen.answered()?;
        }
        self.screen.say("stopping; Ctrl-C again leaves at once")?;
        tokio::select! {
            stopped = self.host.cancel() => stopped.map(|()| None),
            Some(()) = self.interrupts.next() => Ok(Some(WatchOutcome::Left)),
        }
    }

    /// Shows the next question, or removes one that was answered elsewhere.
    fn ask(&mut self) -> io::Result<()> {
        let reviews = &self.screen.view().reviews;
        let open = |id: &str| reviews.iter().any(|review| review.id == id);
        if self.decided.as_deref().is_some_and(|id| !open(id)) {
            self.decided = None;
        }
        if self.question.as_ref().is_some_and(|question| !open(&question.review)) {
            self.question = None;
            let how = self.screen.view().last_decision.as_ref().map(|how| format!(": {how}")).unwrap_or_default();
            self.screen.ask(&format!("\nThis review is over{how}.\n"))?;
            return self.screen.answered();
        }
        if self.person.is_none() {
            return match self.host {
                Host::Here(..) => self.hint(),
                // The server may still be replaying reviews that were decided long ago.
                Host::There(..) => Ok(()),
            };
        }
        let next = reviews.iter().find(|review| self.decided.as_deref() != Some(review.id.as_str()));
        let free = self.question.is_none() && self.stopping == Stopping::No;
        let Some(review) = next.filter(|_| free) else { return Ok(()) };
        self.keyboard.forget();
        let question = Question::new(review);
        let earlier =
            review::output(review).and_then(|output| self.reviewed.insert(review.name.clone(), output.to_owned()));
        let formatted = |output: &str| {
            let shown = self.screen.formatted(output);
            let Some(earlier) = earlier.filter(|earlier| earlier.trim_end() != output) else { return shown };
            let changes = self.screen.changes(earlier.trim_end(), output);
            shown.text(format!("{RULE}\nSince the last review of it:\n")).then(changes)
        };
        let opening = question.opening(review, self.screen.now(), formatted);
        self.question = Some(question);
        self.screen.ask_about(&opening)
    }

    /// Prints once how to decide a review that cannot be decided here.
    fn hint(&mut self) -> io::Result<()> {
        let hints = self.screen.view().reviews.iter().map(|review| self.host.review_hint(review));
        let Some(hint) = hints.into_iter().find(|hint| !self.hints.contains(hint)) else { return Ok(()) };
        self.screen.say(&hint)?;
        self.hints.push(hint);
        Ok(())
    }

    /// Handles a line that was typed.
    async fn typed(&mut self, line: Option<String>) -> anyhow::Result<()> {
        let Some(question) = &mut self.question else { return Ok(()) };
        let Some(line) = line else {
            // A user who leaves decides nothing: the review stays open.
            (self.question, self.person) = (None, None);
            self.screen.ask("\n")?;
            return Ok(self.screen.answered()?);
        };
        match question.handle_line(&line) {
            review::LineOutcome::Ask(words) => Ok(self.screen.ask(words)?),
            review::LineOutcome::Decided(decision) => self.decide(decision).await,
            review::LineOutcome::Edit(text) => self.edit(text).await,
        }
    }

    async fn edit(&mut self, text: String) -> anyhow::Result<()> {
        let Some(question) = &mut self.question else { return Ok(()) };
        let Some(editor) = self.person.and_then(|person| person.editor.clone()) else {
            let words = question.type_text();
            return Ok(self.screen.ask(words)?);
        };
        let before = text.clone();
        let edited = tokio::task::spawn_blocking(move || review::edit(&editor, &text)).await?;
        // Ctrl-C was meant for the editor.
        while self.interrupts.next().now_or_never().flatten().is_some() {}
        match edited {
            Ok(text) => {
                let changes = self.screen.changes(before.trim_end(), text.trim_end());
                self.screen.ask_about(&Drawing::of("Your changes:\n").then(changes))?;
                self.decide(Decision::Edit { output: text.trim_end().into() }).await
            }
            Err(error) => self.refused(&error.to_string()),
        }
    }

    async fn decide(&mut self, decision: Decision) -> anyhow::Result<()> {
        let Some(question) = &self.question else { return Ok(()) };
        match self.host.decide(&question.review, decision).await? {
            Decided::Yes => {
                self.decided = self.question.take().map(|question| question.review);
                Ok(self.screen.answered()?)
            }
            Decided::No(why) => self.refused(&why),
        }
    }

    /// Prints the reason why an answer is refused, and asks again.
    fn refused(&mut self, why: &str) -> anyhow::Result<()> {
        let Some(question) = &mut self.question else { return Ok(()) };
        question.again();
        let words = format!("{why}\n{}", question.choices());
        Ok(self.screen.ask(&words)?)
    }
}
