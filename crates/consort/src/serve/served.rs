//! A running server.

use std::net::SocketAddr;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::error::Error;

/// A running server. Dropping it ends it at once; [`Served::stop`] lets active work
/// end first.
#[must_use = "dropping it ends the server"]
pub struct Served {
    pub(super) address: SocketAddr,
    pub(super) stop: oneshot::Sender<()>,
    pub(super) task: Owned,
}

/// The task that serves; aborted when dropped.
pub(super) struct Owned(pub(super) JoinHandle<Result<(), Error>>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Served {
    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its URL for a browser.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops it: no new work is accepted, not even from the program itself, active work
    /// may end, and then streams and links are closed.
    pub async fn stop(self) -> Result<(), Error> {
        let _ended_already = self.stop.send(());
        ended(self.task).await
    }

    /// Waits until a client drains the server, which also ends the ensemble.
    pub async fn finished(self) -> Result<(), Error> {
        let _kept = self.stop;
        ended(self.task).await
    }
}

async fn ended(mut task: Owned) -> Result<(), Error> {
    (&mut task.0).await.map_err(|error| Error::Serve(error.to_string()))?
}
