//! Whether the log had room lately: a full disk is everybody's concern, also of those
//! who ask a server whether it takes work.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The time that a refused append counts when nothing was stored since: long enough for
/// probes to see it, short enough that a server nobody sends work to becomes ready again.
const REMEMBERED: Duration = Duration::from_secs(10);

/// The last refusal for want of room. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room(Arc<Mutex<Option<(Instant, String)>>>);

impl Room {
    /// Remembers that an append was refused, and why.
    pub(crate) fn note_refused(&self, reason: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), reason.to_owned()));
    }

    /// Remembers that an append was stored.
    pub(crate) fn note_stored(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Returns why the last append was refused, if that was lately.
    pub(crate) fn refused(&self) -> Option<String> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.filter(|(at, _)| at.elapsed() < REMEMBERED).map(|(_, reason)| reason)
    }
}
