//! Remembers whether the log could store the last append: while a disk is full or fails, a server reports that it is
//! not ready for work.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use consort_log::Error;
use tokio::time::Instant;

/// The time that a refused append counts when nothing was stored since: long enough for
/// probes to see it, short enough that a server without work becomes ready again.
const REMEMBERED: Duration = Duration::from_secs(10);

/// The last append that could not be stored. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StorageHealth(Arc<Mutex<Option<(Instant, String)>>>);

impl StorageHealth {
    /// Remembers the outcome of an append.
    pub(crate) fn note(&self, stored: &Result<(), Error>) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match stored {
            Ok(()) => *last = None,
            Err(error @ (Error::Full(_) | Error::Unavailable(_))) => *last = Some((Instant::now(), error.to_string())),
            // The store took nothing, but it works.
            Err(Error::Fenced | Error::Claimed { .. } | Error::Damaged { .. }) => {}
        }
    }

    /// Returns why the last append was refused, if that was lately.
    pub(crate) fn last_refusal(&self) -> Option<String> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.filter(|(at, _)| at.elapsed() < REMEMBERED).map(|(_, reason)| reason)
    }
}
