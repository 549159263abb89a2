//! Looks at the events of runs, and stores what webhooks are told of them. While the log fails, what could not be looked
//! at is owed: it is looked at again until it is stored, and nothing passes over it meanwhile.

use std::convert::Infallible;
use std::time::Duration;

use consort_core::announcement::announcements;
use consort_core::id::Millis;
use consort_core::spec::Kind;
use consort_log::{self as log, Query};

use super::outbox::{KEEP_MS, Outbox};
use crate::engine::{self, Engine};

/// The delay after a failure of the log, as short as that of runs.
pub(super) const LOG_RETRY: Duration = Duration::from_millis(500);

impl Outbox {
    /// Stores the announcements of a run as deliveries; those that are stored already stay as they are. Where the log
    /// fails it is done later.
    pub(crate) async fn note(&self, engine: &Engine, run: &str) {
        let noted = self.try_note(engine, run).await;
        let is_owed = noted.as_ref().is_err_and(is_of_storage);
        match noted {
            Err(error) if is_owed => tracing::warn!(run, %error, "webhooks are told of a run later"),
            Err(error) => tracing::error!(run, %error, "cannot store what webhooks are told of a run"),
            Ok(()) => {}
        }
        self.set_owed(run, is_owed);
    }

    async fn try_note(&self, engine: &Engine, run: &str) -> Result<(), engine::Error> {
        let since = self.clock().now().saturating_sub(KEEP_MS);
        let noted = match self.note_since(engine, run, since).await {
            Ok(()) if self.may_push() => self.note_pushes(engine, run).await,
            noted => noted,
        };
        match noted {
            // A turn that waits for its own turn has no events yet, and a run that was refused never has any.
            Err(engine::Error::NotFound(_)) => Ok(()),
            noted => noted,
        }
    }

    async fn note_since(&self, engine: &Engine, run: &str, since: Millis) -> Result<(), engine::Error> {
        if self.webhooks().is_empty() {
            return Ok(());
        }
        let events = engine.history(run).await?;
        let (told, state) = announcements(run, &events, since);
        for announcement in &told {
            for webhook in self.webhooks().iter().filter(|webhook| webhook.wants(announcement.topic, &state)) {
                self.store(&webhook.name, (run, &state), announcement).await?;
            }
        }
        Ok(())
    }

    /// Looks at runs that have asked a person something, and at those that are owed, as long as there are any.
    pub(super) async fn note_asked(self, engine: Engine) -> Infallible {
        loop {
            for run in self.take_asking() {
                self.note(&engine, &run).await;
            }
            if self.is_owing() {
                tokio::time::sleep(LOG_RETRY).await;
            } else {
                self.asked().await;
            }
        }
    }

    /// Finds what an earlier process has left: deliveries that wait, and events that it did not look at.
    pub(super) async fn catch_up(&self, engine: &Engine) -> Result<(), engine::Error> {
        self.find_waiting().await?;
        self.catch_up_pushes(engine).await?;
        if self.webhooks().is_empty() {
            return Ok(());
        }
        let Some(at) = self.cursor().await? else { return Ok(self.advance().await?) };
        for kind in [Kind::Run, Kind::Turn] {
            let of = Query { kind: Some(kind.word().to_owned()), ..Query::default() };
            for (run, row) in self.rows(of).await? {
                if row.ended_at.is_some_and(|ended_at| ended_at < at) {
                    continue;
                }
                match self.note_since(engine, &run, at).await {
                    Err(error) if is_of_storage(&error) => return Err(error),
                    Err(error) => tracing::error!(%run, %error, "cannot store what webhooks are told of a run"),
                    Ok(()) => {}
                }
            }
        }
        Ok(self.advance().await?)
    }
}

/// Returns whether the same may succeed later, once the log works again.
pub(super) fn is_of_storage(error: &engine::Error) -> bool {
    matches!(error, engine::Error::Log(log::Error::Full(_) | log::Error::Unavailable(_)))
}
