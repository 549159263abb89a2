//! Stopping in order: nothing new is begun, what is under way ends and is
//! recorded, and every run can go on from there wherever it is adopted next.

use std::time::Duration;

use futures::future;
use tokio::sync::watch;
use tokio::time::timeout;

use super::{Engine, Error};

impl Engine {
    /// Whether nothing new is begun any more.
    pub fn is_draining(&self) -> bool {
        *self.0.draining.borrow()
    }

    /// Refuses whatever would be new, once nothing new is begun any more.
    pub fn check_open(&self) -> Result<(), Error> {
        if self.is_draining() { Err(Error::Draining) } else { Ok(()) }
    }

    /// From now on no run is taken, no task and no call begun.
    pub fn close(&self) {
        self.0.close();
        self.0.draining.send_replace(true);
    }

    /// Closes, waits this long for what is under way, and stops the rest where
    /// it is.
    pub async fn drain(&self, within: Duration) {
        self.close();
        let runs: Vec<watch::Receiver<()>> = self.live().values().map(|live| live.over.clone()).collect();
        let all = future::join_all(runs.into_iter().map(|mut over| async move { over.changed().await }));
        if timeout(within, all).await.is_err() {
            tracing::warn!("what was under way took too long; it is settled when its runs go on");
        }
        self.stop().await;
    }
}
