//! One run, one owner. The runner holds the only [`Run`] and is the only writer of its
//! stream. Every wake-up is one decision: the event and everything the run does
//! because of it are one append. The run is ahead of the log only within a decision;
//! nothing is shown or executed before the append is acknowledged, and if it is
//! refused the runner ends and its run with it.

mod begin;
mod grants;
mod observers;
mod stop;

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use consort_core::catalog::CancelClass;
use consort_core::decide::{Command, Refused, Report};
use consort_core::event::Event;
use consort_core::id::{Id, Millis};
use consort_core::json;
use consort_core::log_lines::LogLine;
use consort_core::next::{Effect, Grants};
use consort_core::run::Run;
use consort_core::text::Text;
use consort_log::codec;
use consort_log::{Append, Error, Record, Row, Seq};
use consort_tools::busy;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{self, AbortHandle, JoinError, JoinSet};
use tokio::time::Instant;

use crate::effects::{self, Seams, Stage};
use crate::meters::{Meter, Meters};
use crate::permits::{Granted, Permits};
use crate::ring::{CommitFrames, Frame, Ring};
use crate::storage_health::StorageHealth;
use crate::suspects::{Mark, Suspects};
use crate::telemetry::{Recorder, Telemetry};
use crate::tenure::Tenure;
use crate::ticket::Ticket;
use crate::webhooks::outbox::Outbox;

use grants::used;

/// The delay before a runner tries a full disk again.
const FULL_RETRY: Duration = Duration::from_millis(500);

/// A command with the sender that waits for the events it caused.
pub(crate) struct Request {
    pub(crate) command: Command,
    /// A key that the run holds once the command is stored, so that nobody gives it again.
    pub(crate) key: Option<String>,
    pub(crate) ack: oneshot::Sender<Result<Vec<Event>, Refused>>,
}

/// The state of a runner that others can see.
#[derive(Clone)]
pub(crate) struct Window {
    pub(crate) ring: Ring,
    /// The reason why events cannot be stored at the moment.
    pub(crate) stalled: watch::Sender<Option<Error>>,
    /// Whether the run has no slot because only reviews are open.
    pub(crate) parked: Arc<AtomicBool>,
    /// Whether its first append is under way: somebody waits to hear whether it is stored.
    pub(crate) accepting: Arc<AtomicBool>,
    /// Whether the log could store the last append.
    pub(crate) storage: StorageHealth,
    /// The metrics.
    pub(crate) meters: Meters,
    /// The telemetry exporter, if any.
    pub(crate) telemetry: Option<Telemetry>,
    /// The outbox for webhooks, if there are any.
    pub(crate) outbox: Option<Outbox>,
    /// The record of runs in whose work a process dies, if it is kept.
    pub(crate) suspects: Option<Suspects>,
    /// The run, once it has ended: waiters need not read it again.
    pub(crate) end: Arc<OnceLock<Box<Run>>>,
}

pub(crate) struct Runner {
    id: Arc<str>,
    run: Run,
    /// Length of the stream.
    len: Seq,
    seams: Arc<Seams>,
    window: Window,
    requests: mpsc::Receiver<Box<Request>>,
    /// The effects of the run; dropped with it.
    effects: JoinSet<Report>,
    /// The id of each running effect, and the way to stop it.
    under_way: HashMap<task::Id, UnderWay>,
    permits: Permits,
    ticket: Ticket,
    tenure: Tenure,
    /// The decision being made.
    batch: Batch,
    timer: Option<Millis>,
    /// The time when effects that must not be dropped are dropped anyway.
    grace: Option<Millis>,
    /// The time of the first request to stop.
    cancelled: Option<Instant>,
    /// Tells running effects to stop.
    halt: watch::Sender<bool>,
    draining: Draining,
    recorder: Recorder,
    /// Held while data of the run is validated.
    mark: Option<Mark>,
    /// Whether that data is large.
    is_large: bool,
    /// The number of questions that the outbox was notified of.
    questions: usize,
}

struct UnderWay {
    id: Id,
    cancel: CancelClass,
    task: AbortHandle,
}

/// The events, frames and effects of one decision.
#[derive(Default)]
struct Batch {
    records: Vec<Record>,
    frames: Vec<Frame>,
    /// Reviews and their decisions, for the feed of reviews.
    questions: Vec<Frame>,
    effects: Vec<Effect>,
    /// Lines of a verbose run for the log of the process.
    aloud: Vec<LogLine>,
    /// Keys this decision claims.
    claims: Vec<String>,
    /// Whether every event so far was rendered.
    rendered: bool,
}

/// Becomes true when the engine is draining; clones see it too.
pub(crate) type Draining = watch::Receiver<bool>;

enum Wake {
    Reports(Vec<Report>),
    Request(Box<Request>),
    Granted(Granted),
    /// A parked run has a slot again.
    Turn,
    Timer,
    /// The engine is draining.
    Drain,
    /// The engine is gone.
    Abandoned,
}

impl Runner {
    /// Stores a new run, and begins it in the same append if it has a slot; returns when
    /// that is done.
    pub(crate) async fn accept(&mut self, events: &[Event], claims: Vec<String>) -> Result<(), Error> {
        self.batch.claims = claims;
        for event in events {
            self.take(event)?;
        }
        // The inherited part of a fork has ended, and was reported, in another run.
        self.recorder.forget();
        self.batch.aloud.clear();
        self.window.accepting.store(true, Ordering::Release);
        let accepted = if self.ticket.has_slot() { self.adopt().await } else { self.commit().await };
        self.window.accepting.store(false, Ordering::Release);
        accepted
    }

    /// Returns whether the run is still this runner's: its node was not evicted meanwhile.
    pub(crate) fn is_owner(&self) -> bool {
        self.tenure.is_current()
    }

    /// Becomes the owner and executes the open effects.
    pub(crate) async fn adopt(&mut self) -> Result<(), Error> {
        let _ended = self.decide(Command::Adopt(self.tenure.adoption.clone()))?;
        self.commit().await
    }

    /// Works until the run ends, the log refuses, or no effect runs and none is to be
    /// begun. Dropping the runner drops every effect with it.
    async fn work(&mut self) -> Result<(), Error> {
        while !self.run.ended() && !self.is_drained() {
            match self.wake().await {
                Wake::Drain => {}
                Wake::Timer | Wake::Turn => self.commit().await?,
                Wake::Abandoned => return Ok(()),
                Wake::Granted(granted) => {
                    self.permits.note(Some(granted));
                    self.commit().await?;
                }
                Wake::Reports(reports) => {
                    for report in reports {
                        let _stale = self.decide(Command::Report(report))?;
                    }
                    self.commit().await?;
                }
                Wake::Request(request) => {
                    let gives_up = matches!(request.command, Command::GiveUpCall { .. });
                    let answer = self.decide(request.command)?;
                    if gives_up {
                        self.drop_calls(answer.iter().flatten());
                    }
                    self.batch.claims.extend(request.key.filter(|_| answer.is_ok()));
                    self.commit().await?;
                    let _gone = request.ack.send(answer);
                }
            }
        }
        if self.run.ended() {
            let _set_before = self.window.end.set(Box::new(mem::take(&mut self.run)));
        }
        Ok(())
    }

    async fn wake(&mut self) -> Wake {
        let due = self.timer.into_iter().chain(self.grace).min();
        let drains = !self.is_draining();
        tokio::select! {
            Some(ended) = self.effects.join_next_with_id() => Wake::Reports(self.reports(ended)),
            request = self.requests.recv() => request.map_or(Wake::Abandoned, Wake::Request),
            granted = self.permits.granted() => Wake::Granted(granted),
            () = self.ticket.turn() => Wake::Turn,
            () = until_draining(&mut self.draining), if drains => Wake::Drain,
            () = self.seams.clock.until(due) => Wake::Timer,
        }
    }

    /// Collects all effects that have ended by now into one decision.
    fn reports(&mut self, first: Result<(task::Id, Report), JoinError>) -> Vec<Report> {
        let mut ended = vec![first];
        while let Some(more) = self.effects.try_join_next_with_id() {
            ended.push(more);
        }
        ended.into_iter().filter_map(|ended| self.report(ended)).collect()
    }

    fn report(&mut self, ended: Result<(task::Id, Report), JoinError>) -> Option<Report> {
        match ended {
            Ok((task, report)) => self.under_way.remove(&task).map(|_| self.with_partial_text(report)),
            Err(error) => self
                .under_way
                .remove(&error.id())
                .map(|UnderWay { id, .. }| self.with_partial_text(Report::Dropped { id, said: Text::default() })),
        }
    }

    /// Adds the partial text of a model call that did not finish to its report.
    fn with_partial_text(&self, report: Report) -> Report {
        match report {
            Report::Replied { ref conversation, .. } => {
                self.window.ring.take_partial_text(conversation);
                report
            }
            Report::Unanswered { conversation, failure, dice, .. } => {
                let said = self.window.ring.take_partial_text(&conversation).into();
                Report::Unanswered { conversation, failure, dice, said }
            }
            Report::Dropped { id, .. } => {
                let said = self.window.ring.take_partial_text(&id).into();
                Report::Dropped { id, said }
            }
            Report::Returned { .. } => report,
        }
    }

    fn decide(&mut self, command: Command) -> Result<Result<Vec<Event>, Refused>, Error> {
        let asks_to_stop = matches!(command, Command::Cancel { .. });
        self.suspect(&command);
        let decided = self.run.decide(command, self.seams.clock.now());
        if asks_to_stop && decided.is_ok() {
            self.cancelled.get_or_insert_with(Instant::now);
        }
        for event in decided.iter().flatten() {
            self.take(event)?;
        }
        Ok(decided)
    }

    /// Adds an event to the decision. Its frame shows the run right after it.
    fn take(&mut self, event: &Event) -> Result<(), Error> {
        self.recorder.note(&self.run, event);
        self.run.apply(event);
        let watched = self.window.ring.is_watched();
        let seq = self.len + self.batch.records.len() as Seq;
        self.batch.rendered = watched && (self.batch.rendered || self.batch.records.is_empty());
        let asks = event.kind.is_of_question() && self.window.ring.asks();
        if self.batch.rendered || asks {
            let frame = Frame::event(seq, self.run.frame(&self.id, seq, event));
            self.batch.questions.extend(asks.then(|| frame.clone()));
            self.batch.frames.extend(self.batch.rendered.then_some(frame));
        }
        self.batch.aloud.extend(self.run.aloud(event));
        self.batch.records.push(codec::encode(event).map_err(unwritable)?);
        Ok(())
    }

    /// Lets the run decide until it waits, then records, shows and executes all of it, in
    /// this order.
    async fn commit(&mut self) -> Result<(), Error> {
        let settled = if mem::take(&mut self.is_large) { busy::in_place(|| self.settle()) } else { self.settle() };
        self.mark = None;
        settled?;
        let mut batch = mem::take(&mut self.batch);
        if !batch.records.is_empty() {
            let began = Instant::now();
            self.append(&mut batch).await?;
            self.window.meters.time(Meter::Commit, &[], began.elapsed());
            self.count_end();
            for LogLine { what, place, text } in batch.aloud {
                tracing::info!(run = %self.id, place = %place, text, "{what}");
            }
            self.recorder.tell(&self.run);
            self.tell_outbox();
            self.publish(batch.rendered, batch.frames);
            self.window.ring.ask(batch.questions);
            batch.effects.into_iter().for_each(|effect| self.spawn(effect));
        }
        self.permits.give_back();
        self.park();
        self.stop();
        Ok(())
    }

    /// Gives up the slot of a run that waits only for people.
    fn park(&mut self) {
        let parked = self.run.is_parked();
        if parked && !self.ticket.is_queued() {
            self.ticket.park();
        }
        self.window.parked.store(parked, Ordering::Release);
    }

    fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    fn is_drained(&self) -> bool {
        self.is_draining() && self.effects.is_empty()
    }

    fn settle(&mut self) -> Result<(), Error> {
        // Ended effects are recorded; their consequences are left to the next owner.
        if self.is_draining() {
            self.timer = None;
            return Ok(());
        }
        let ready = self.permits.ready();
        self.permits.note(ready);
        let mut grants = Grants { slot: self.ticket.has_slot(), ..self.permits.grants() };
        loop {
            let next = self.run.next(self.seams.clock.now(), &grants);
            self.timer = next.timer;
            let waits = next.steps.is_empty();
            for step in next.steps {
                self.take(&step.event)?;
                if let Some(effect) = &step.then {
                    used(&mut grants, effect);
                }
                self.batch.effects.extend(step.then);
            }
            let looked_up = self.look_up(&next.needs, &mut grants.belts);
            let has_got_slot = self.take_slot(&next.needs);
            if waits && !looked_up && !has_got_slot && !self.permits.take(&next.needs) {
                return Ok(());
            }
            grants.slot = self.ticket.has_slot();
            if waits {
                grants = Grants { belts: grants.belts, slot: grants.slot, ..self.unused() };
            }
        }
    }

    /// Appends the decision. A disk that is full or fails is waited out, except for a run's
    /// first append; any other error ends the runner.
    async fn append(&mut self, batch: &mut Batch) -> Result<(), Error> {
        let count = batch.records.len() as Seq;
        let row = self.row()?;
        let append = Append {
            stream: self.id.clone(),
            expected: self.len,
            epoch: self.tenure.adoption.epoch,
            records: mem::take(&mut batch.records),
            row,
            claims: mem::take(&mut batch.claims),
            version: self.run.version(),
        };
        loop {
            let stored = self.seams.log.append(append.clone()).await;
            self.window.storage.note(&stored);
            match stored {
                // Nothing of a failed append is stored, so the same one can follow.
                Err(error @ (Error::Full(_) | Error::Unavailable(_))) if append.expected > 0 => {
                    tracing::warn!(run = %self.id, %error, "events cannot be stored; the run waits");
                    self.window.stalled.send_replace(Some(error));
                    tokio::time::sleep(FULL_RETRY).await;
                }
                stored => {
                    self.window.stalled.send_if_modified(|stalled| stalled.take().is_some());
                    self.len += count;
                    return stored;
                }
            }
        }
    }

    /// Returns the row that the run is listed and found by.
    fn row(&self) -> Result<Row, Error> {
        let summary = self.run.summary(&self.id);
        Ok(Row {
            kind: self.run.spec().kind.word().into(),
            status: summary.status.word().into(),
            owner: self.run.seen_by().clone(),
            started_at: summary.started_at,
            ended_at: summary.ended_at,
            tags: summary.tags.clone(),
            body: json::text(&summary.row).map_err(unwritable)?,
            // Said once at the beginning and once at the end: an index costs more than a row.
            words: (self.len == 0 || summary.ended_at.is_some()).then(|| self.run.words(&self.id).into()),
        })
    }

    fn publish(&self, rendered: bool, mut frames: Vec<Frame>) {
        if self.run.ended() && rendered {
            frames.push(Frame::result(self.run.result(&self.id)));
        }
        let slot = if rendered { CommitFrames::Frames(frames.into()) } else { CommitFrames::Unrendered };
        self.window.ring.publish(slot, self.len.saturating_sub(1));
    }

    fn spawn(&mut self, effect: Effect) {
        let id = effect.id().clone();
        let cancel = match &effect {
            Effect::Ask(_) => CancelClass::Drop,
            Effect::Call { tool, .. } => tool.cancel,
        };
        let voice = match &effect {
            Effect::Ask(question) => self.run.live_source(&self.id, &question.conversation),
            Effect::Call { id, .. } => self.run.progress_source(&self.id, id),
        };
        let stage = Stage {
            run: self.id.clone(),
            owner: self.run.owner().clone(),
            seams: self.seams.clone(),
            ring: self.window.ring.clone(),
            origin: self.run.spec().origin.clone(),
            voice: Arc::new(voice),
            meters: self.window.meters.clone(),
            halt: self.halt.subscribe(),
            trace: self.recorder.trace_of(&self.run, &effect),
            tenure: self.tenure.clone(),
        };
        let held = self.permits.spend(&effect);
        let task = self.effects.spawn(effects::perform(effect, stage, held));
        self.under_way.insert(task.id(), UnderWay { id, cancel, task });
    }
}

/// Returns when the engine is draining; never, when it is gone.
async fn until_draining(draining: &mut Draining) {
    if draining.wait_for(|told| *told).await.is_err() {
        std::future::pending().await
    }
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::Unavailable(error.to_string())
}
