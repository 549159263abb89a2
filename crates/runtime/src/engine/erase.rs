//! Erasing runs: one by one, or the oldest of a kind.

use consort_core::decide::{Command, Refused};
use consort_core::event::CancelMode;
use consort_core::spec::Kind;
use consort_log::{self as log, Order, Query};

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
    /// Erases ended runs of a kind beyond the newest `keep`; returns their number.
    pub async fn retain(&self, kind: Kind, keep: usize) -> Result<usize, Error> {
        let ended = |limit| Query {
            kind: Some(kind.word().to_owned()),
            ended: Some(true),
            order: Order::OldestEnd,
            limit,
            ..Query::default()
        };
        let excess = self.list(ended(0)).await?.total.saturating_sub(keep);
        if excess == 0 {
            return Ok(0);
        }
        let streams = self.list(ended(excess)).await?.rows.into_iter().map(|(stream, _)| stream).collect();
        self.forget(streams).await?;
        Ok(excess)
    }

    /// Erases an ended run.
    pub async fn erase(&self, run: &str) -> Result<(), Error> {
        if self.row(run).await?.ended_at.is_none() {
            return Err(Error::NotOwned(run.to_owned()));
        }
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
    pub async fn forget(&self, streams: Vec<std::sync::Arc<str>>) -> Result<(), Error> {
        self.seams().log.erase(streams.clone()).await?;
        self.0.damage.forget(&streams);
        Ok(())
    }
}
