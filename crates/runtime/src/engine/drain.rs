//! Draining: no new work is begun, active work ends and is recorded, and every run can
//! be resumed from there by the next process.

use std::time::Duration;

use futures::future;
use tokio::sync::watch;
use tokio::time::timeout;

use super::{Engine, Error};

impl Engine {
    /// Returns whether the engine is draining.
    pub fn is_draining(&self) -> bool {
        *self.0.draining.borrow()
    }

    /// Returns an error for new work while the engine is draining.
    pub fn check_open(&self) -> Result<(), Error> {
        if self.is_draining() { Err(Error::Draining) } else { Ok(()) }
    }

    /// Starts draining: no run is accepted, no task and no call is begun.
    pub fn close(&self) {
        self.0.close();
        self.0.draining.send_replace(true);
    }

    /// Starts draining, waits this long for active work, and stops the rest where it is.
    pub async fn drain(&self, within: Duration) {
        self.close();
        let cluster = &self.seams().cluster;
        if let Err(error) = cluster.drain().await {
            tracing::warn!(%error, "other nodes do not know that this one is about to stop");
        }
        let runs: Vec<watch::Receiver<()>> = self.live().values().map(|live| live.over.clone()).collect();
        let all = future::join_all(runs.into_iter().map(|mut over| async move { over.changed().await }));
        if timeout(within, all).await.is_err() {
            tracing::warn!("what was under way took too long; it is settled when its runs go on");
        }
        self.stop().await;
        self.hand_over_all().await;
        self.seams().limits.leave().await;
    }
}
