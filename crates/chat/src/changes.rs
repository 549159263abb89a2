//! The changes of a thread: something has happened in it, at this node or, where several share the log, at another.

use tokio::sync::watch;

use super::Chats;

/// Changes whenever something may have happened in a thread.
pub(super) struct ThreadChanges {
    /// Turns and refusals of this process.
    here: watch::Receiver<u64>,
    /// The changes that are stored of the thread; a turn that begins at another node makes them too.
    stored: Option<watch::Receiver<u64>>,
}

impl Chats {
    /// Returns the changes of a thread.
    pub(super) fn changes(&self, thread: &str) -> ThreadChanges {
        let stored = (!self.0.engine.is_alone()).then(|| self.log().news(thread));
        ThreadChanges { here: self.0.live.live_thread(thread).news(), stored }
    }
}

impl ThreadChanges {
    /// Forgets what has happened until now.
    pub(super) fn mark_unchanged(&mut self) {
        self.here.mark_unchanged();
        if let Some(stored) = &mut self.stored {
            stored.mark_unchanged();
        }
    }

    /// Returns when something has happened; false when nothing will any more.
    pub(super) async fn changed(&mut self) -> bool {
        let Some(stored) = &mut self.stored else { return self.here.changed().await.is_ok() };
        tokio::select! {
            changed = self.here.changed() => changed.is_ok(),
            changed = stored.changed() => changed.is_ok(),
        }
    }
}
