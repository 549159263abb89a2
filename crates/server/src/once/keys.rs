//! Locks of idempotency keys: requests with the same key wait for each other, and
//! their work is owned here, so that it outlives their connections.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as Turns, OwnedMutexGuard, oneshot};
use tokio::task::JoinSet;
use tracing::Instrument;

/// The keys that are in use at the moment.
#[derive(Default)]
pub(crate) struct Keys {
    /// One for each request that holds or waits for a key, so at most one for each connection.
    turns: Mutex<HashMap<String, Arc<Turns<()>>>>,
    /// The tasks of running requests; dropped with the server.
    doing: Mutex<JoinSet<()>>,
}

impl Keys {
    /// Waits until no other request holds this key.
    pub(super) async fn turn(&self, key: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            turns.entry(key.to_owned()).or_default().clone()
        };
        turn.lock_owned().await
    }

    /// Runs work to its end, even when its client is gone.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (done, waiting) = oneshot::channel();
        let mut doing = self.doing.lock().unwrap_or_else(PoisonError::into_inner);
        while doing.try_join_next().is_some() {}
        let work = async move {
            let _gone = done.send(work.await);
        };
        doing.spawn(work.in_current_span());
        waiting
    }

    /// Aborts the work that is still running.
    pub(crate) fn stop(&self) {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}
