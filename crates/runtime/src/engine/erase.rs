//! Erasing runs, with their traces and attachments.

use std::sync::Arc;

use consort_core::decide::{Command, Refused};
use consort_core::event::{CancelMode, EventKind};
use consort_core::spec::Kind;
use consort_log::{self as log, codec};

use super::sight::is_of;
use super::{Engine, Error};

/// The result of removing a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The run is being stopped.
    Cancelling,
    /// The run was erased.
    Erased,
}

impl Engine {
    /// Erases an ended run.
    pub async fn erase(&self, run: &str) -> Result<(), Error> {
        if self.row(run).await?.ended_at.is_none() {
            return Err(Error::NotOwned(run.to_owned()));
        }
        // Its traces may be about to be written.
        self.finished(run).await;
        self.forget(vec![run.into()]).await
    }

    /// Stops a run at once, or erases it when it has ended or cannot be read: such a run
    /// is never resumed.
    pub async fn remove(&self, run: &str, by: String) -> Result<Removal, Error> {
        match self.command(run, Command::Cancel { mode: CancelMode::Now, by }).await {
            Ok(_) => Ok(Removal::Cancelling),
            Err(Error::Refused(Refused::Ended { .. })) => self.erase(run).await.map(|()| Removal::Erased),
            Err(Error::Log(log::Error::Damaged { .. })) => {
                self.forget(vec![run.into()]).await.map(|()| Removal::Erased)
            }
            Err(error) => Err(error),
        }
    }

    /// Erases streams, and everything known about them.
    pub async fn forget(&self, streams: Vec<Arc<str>>) -> Result<(), Error> {
        let traces = self.names_of_traces(&streams).await;
        self.seams().log.erase(streams.clone()).await?;
        if let Err(error) = self.attachments().forget_uses(&streams).await {
            tracing::warn!(%error, "cannot erase the attachments of erased runs: they are erased later");
        }
        if let Some(outbox) = self.0.outbox.get().filter(|outbox| outbox.may_push()) {
            for task in &streams {
                if let Err(error) = outbox.forget_pushes(task).await {
                    tracing::warn!(%error, "cannot erase the addresses that were told of an erased run");
                }
            }
        }
        self.0.damage.forget(&streams);
        if let Some(suspects) = self.0.suspects.get() {
            streams.iter().for_each(|stream| suspects.clear(stream));
        }
        if let Some(folder) = self.0.traces.get()
            && let Err(error) = folder.remove(traces).await
        {
            tracing::warn!(%error, "cannot remove the traces of erased runs");
        }
        Ok(())
    }

    /// Returns the names that the traces of these runs have, as far as the runs can be read.
    async fn names_of_traces(&self, streams: &[Arc<str>]) -> Vec<String> {
        let mut names = Vec::new();
        if self.0.traces.get().is_none() {
            return names;
        }
        for stream in streams.iter().filter(|stream| is_of(Kind::Run, stream)) {
            let first = self.seams().log.read(stream, 0, 1).await.unwrap_or_default();
            let event = first.first().map(|record| codec::decode(record, (stream, 0)));
            match event {
                Some(Ok(event)) => {
                    if let EventKind::RunAccepted { ensemble_id, .. } = event.kind {
                        names.push(ensemble_id);
                    }
                }
                Some(Err(_)) | None => {
                    tracing::warn!(run = %stream, "the traces of a run that cannot be read are not known");
                }
            }
        }
        names
    }
}
