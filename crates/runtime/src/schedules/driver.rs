//! The driver: asks the plan of every schedule what to do now, does it, stores what was decided, and sleeps
//! until the next is due. A run is begun under a claim of its schedule and due time before that is stored,
//! so that neither a restart nor another process begins it a second time.

use std::convert::Infallible;

use consort_core::decide::Command;
use consort_core::event::CancelMode;
use consort_core::id::Millis;
use consort_log::{self as log, Query};

use super::plan::{Circumstances, Next, Passed, next};
use super::{Last, LastStatus, Progress, Schedule, Schedules, Source, written_timing};
use crate::meters::Meter;
use crate::start;

/// The longest sleep: other processes may have changed schedules meanwhile.
const SLEEP_MAX_MS: Millis = 30_000;
/// The longest sleep where several nodes change schedules.
const SHARED_SLEEP_MAX_MS: Millis = 1_000;
/// The sleep while a due time waits for the previous run to end.
const WAITING_MS: Millis = 500;
/// The sleep after a failure of the log or of the engine.
const RETRY_MS: Millis = 5_000;
/// Decisions about one schedule before the others get their turn.
const STEPS_MAX: usize = 256;
/// The name under which all schedules of clients are counted; no schedule has such a name.
const OF_CLIENTS: &str = "(api)";
/// The name under which a schedule cancels a run for the next one.
const BY: &str = "schedule";

impl Schedules {
    /// Begins runs when they are due. What was due since `watching_since` was not missed, even if another node was
    /// to begin it.
    pub async fn drive(self, watching_since: Millis) -> Infallible {
        self.look_ahead().await;
        let is_alone = self.0.starter.engine().is_alone();
        loop {
            let now = self.0.clock.now();
            let wake = self.look(watching_since).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "schedules cannot be looked at; trying again");
                now + RETRY_MS
            });
            // Other nodes change schedules too.
            let wake = if is_alone { wake } else { wake.min(now + SHARED_SLEEP_MAX_MS) };
            tokio::select! {
                () = self.0.changed.notified() => {}
                () = self.0.clock.until(Some(wake)) => {}
            }
        }
    }

    /// Warns of schedules of the configuration whose runs cannot begin.
    async fn look_ahead(&self) {
        for schedule in self.all().await.unwrap_or_default() {
            let definition = &schedule.definition;
            let Some(workflow) = &definition.workflow else { continue };
            let unknown = match self.0.starter.workflow(workflow).await {
                Err(error @ (start::Error::UnknownWorkflow(_) | start::Error::AmbiguousWorkflow { .. })) => error,
                Err(_) | Ok(_) => continue,
            };
            tracing::warn!(schedule = definition.name, error = %unknown, "a schedule cannot begin its runs");
            let now = self.0.clock.now();
            let found = self.stored_progress(&schedule.key).await.ok().flatten();
            let progress: Progress = found.unwrap_or_else(|| Progress::begun(definition, now));
            let last = Some(Last::failed(now, None, unknown.to_string()));
            if let Err(error) = self.0.progress.put(&schedule.key, &Progress { last, ..progress }, now).await {
                tracing::warn!(schedule = definition.name, %error, "cannot note a failed schedule");
            }
        }
    }

    /// Takes the next steps of every schedule; returns the time to look again.
    async fn look(&self, watching_since: Millis) -> Result<Millis, log::Error> {
        let mut wake = self.0.clock.now() + SLEEP_MAX_MS;
        for schedule in self.all().await? {
            if schedule.paused {
                continue;
            }
            wake = wake.min(self.tend(&schedule, watching_since).await?);
        }
        Ok(wake)
    }

    /// Takes the next steps of one schedule; returns the time to look again.
    async fn tend(&self, schedule: &Schedule, watching_since: Millis) -> Result<Millis, log::Error> {
        let name = &schedule.definition.name;
        let now = self.0.clock.now();
        let Ok(timing) = schedule.definition.timing(now) else { return Ok(now + SLEEP_MAX_MS) };
        let rules = schedule.definition.rules();
        let _turn = self.0.turn.lock().await;
        let mut progress = self.progress(schedule, now).await?;
        for _step in 0..STEPS_MAX {
            let now = self.0.clock.now();
            let is_running = self.is_running(progress.previous.as_deref()).await?;
            let circumstances = Circumstances { now, watching_since, is_running };
            let (changed, outcome) = match next(name, (&timing, &rules), &progress.decided, circumstances) {
                Next::Sleep(until) => {
                    let poll = if progress.decided.waiting.is_empty() { SLEEP_MAX_MS } else { WAITING_MS };
                    return Ok(until.unwrap_or(Millis::MAX).min(now + poll));
                }
                Next::Start { due, then } => match self.begin_due(schedule, due, now).await {
                    Some(last) => {
                        let previous = last.run.clone().or(progress.previous);
                        let outcome = Some(last.status);
                        (Progress { decided: then, previous, last: Some(last), ..progress }, outcome)
                    }
                    None => return Ok(now + RETRY_MS),
                },
                Next::Cancel { due, then } => {
                    self.cancel(progress.previous.as_deref(), (name, due)).await;
                    (Progress { decided: then, ..progress }, None)
                }
                Next::Note { passed, then } => {
                    let passed = passed.map(|passed| Last::passed(now, passed));
                    let outcome = passed.as_ref().map(|last| last.status);
                    (Progress { decided: then, last: passed.or(progress.last), ..progress }, outcome)
                }
            };
            self.0.progress.put(&schedule.key, &changed, now).await?;
            self.count(schedule, outcome);
            progress = changed;
        }
        Ok(now)
    }

    /// Counts what came of a due time, if that was decided.
    fn count(&self, schedule: &Schedule, outcome: Option<LastStatus>) {
        let Some(outcome) = outcome else { return };
        let name = match schedule.source {
            Source::Config => &schedule.definition.name,
            Source::Api => OF_CLIENTS,
        };
        let labels = [("schedule", name), ("outcome", outcome.word())];
        self.0.starter.engine().meters().add(Meter::ScheduleDue, &labels, 1);
    }

    /// Returns the progress of a schedule; a new one, or one with other due times, begins now.
    async fn progress(&self, schedule: &Schedule, now: Millis) -> Result<Progress, log::Error> {
        let definition = &schedule.definition;
        let found = self.stored_progress(&schedule.key).await?;
        if let Some(progress) = found.as_ref().filter(|progress| progress.timing == written_timing(definition)) {
            return Ok(progress.clone());
        }
        let begun = Progress::begun(definition, now);
        let begun = match found {
            Some(before) => Progress { previous: before.previous, last: before.last, ..begun },
            None => begun,
        };
        self.0.progress.put(&schedule.key, &begun, now).await?;
        Ok(begun)
    }

    /// Begins the run that is due; `None` when that may succeed a moment later.
    async fn begin_due(&self, schedule: &Schedule, due: Millis, now: Millis) -> Option<Last> {
        let name = &schedule.definition.name;
        match self.0.starter.start(schedule.start(due)).await {
            Ok(started) => {
                tracing::info!(schedule = name, due, run = %started.run, "a scheduled run was begun");
                Some(Last::started(now, due, &started))
            }
            Err(error) if error.is_passing() => {
                tracing::info!(schedule = name, due, %error, "a scheduled run waits");
                None
            }
            Err(error) => {
                tracing::warn!(schedule = name, due, %error, "a scheduled run cannot begin");
                Some(Last::failed(now, Some(due), error.to_string()))
            }
        }
    }

    /// Returns whether a run is there and has not ended.
    async fn is_running(&self, run: Option<&str>) -> Result<bool, log::Error> {
        let Some(run) = run else { return Ok(false) };
        let query = Query { stream: Some(run.to_owned()), limit: 1, ..Query::default() };
        let page = self.0.log.list(query).await?;
        Ok(page.rows.first().is_some_and(|(_, row)| row.ended_at.is_none()))
    }

    async fn cancel(&self, run: Option<&str>, (name, due): (&str, Millis)) {
        let Some(run) = run else { return };
        let command = Command::Cancel { mode: CancelMode::Now, by: BY.to_owned() };
        if let Err(error) = self.0.starter.engine().command(run, command).await {
            tracing::warn!(schedule = name, due, run, %error, "the previous run cannot be cancelled");
        }
    }
}

impl Last {
    fn failed(at: Millis, due: Option<Millis>, error: String) -> Last {
        Last { at, due, run: None, status: LastStatus::Failed, error: Some(error) }
    }

    fn passed(at: Millis, passed: Passed) -> Last {
        let (due, status) = match passed {
            Passed::Skipped(due) => (due, LastStatus::Skipped),
            Passed::Missed(due) => (due, LastStatus::Missed),
        };
        Last { at, due: Some(due), run: None, status, error: None }
    }
}
