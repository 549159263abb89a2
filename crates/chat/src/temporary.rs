//! Threads of clients that keep the conversation themselves: one for each request, erased
//! a day after it was used last; and threads under a name that the client chose.

use std::convert::Infallible;
use std::time::Duration;

use consort_core::id::Millis;

use super::thread::{CONVERSATION, OWNER, PASSING};
use super::{Chats, Error, Thread};

/// The time that a passing thread is kept after it was used last.
const KEEP_MS: Millis = 24 * 60 * 60 * 1000;
/// The interval between two searches for passing threads that can go.
const SWEEP: Duration = Duration::from_mins(10);

/// A thread, and whether a turn is its newest one.
pub struct Continued {
    /// The thread.
    pub thread: Thread,
    /// Whether no message came after that turn.
    pub is_last: bool,
}

impl Chats {
    /// Creates a thread that is erased a day after it was used last.
    pub async fn create_passing(&self, owner: &str) -> Result<Thread, Error> {
        let mut thread = Thread::new(owner, None, self.now());
        thread.passing = true;
        thread.store(self.log(), self.now()).await?;
        Ok(thread)
    }

    /// Returns the owner's thread of this name, which is created when there is none.
    pub async fn conversation(&self, owner: &str, name: &str) -> Result<Thread, Error> {
        // Of two requests that create it at the same moment the second finds it.
        let live_thread = self.0.live.live_thread(&format!("{owner}\n{name}"));
        let _alone = live_thread.gate.lock().await;
        let found = Thread::tagged(self.log(), &[(OWNER, owner), (CONVERSATION, name)]).await?;
        if let Some(thread) = found.into_iter().next() {
            return Ok(thread);
        }
        let mut thread = Thread::new(owner, None, self.now());
        thread.conversation = Some(name.to_owned());
        thread.store(self.log(), self.now()).await?;
        Ok(thread)
    }

    /// Returns the owner's thread that a turn belongs to.
    pub async fn continued(&self, owner: &str, turn: &str) -> Result<Continued, Error> {
        let missing = || Error::NotFound(turn.to_owned());
        let waits = |thread: &Thread| thread.queue.iter().any(|waiting| waiting.turn == turn);
        let id = match self.thread_of(turn).await? {
            Some(id) => id,
            // A turn that has not begun is known to its thread alone.
            None => self.threads(owner).await?.into_iter().find(waits).ok_or_else(missing)?.id,
        };
        let thread = Thread::load(self.log(), &id, owner).await?.ok_or_else(missing)?;
        let newest = match thread.queue.last() {
            Some(waiting) => Some(waiting.turn.clone()),
            None => self.last(&id).await?.map(|last| last.turn),
        };
        Ok(Continued { thread, is_last: newest.as_deref() == Some(turn) })
    }

    /// Erases the passing threads that were not used for a day; returns their number.
    pub async fn erase_passed(&self) -> Result<usize, Error> {
        let until = self.now().saturating_sub(KEEP_MS);
        let mut erased = 0;
        for thread in Thread::tagged(self.log(), &[(PASSING, "true")]).await? {
            // A turn that runs, or waits for a person, is not cut off.
            let is_busy = !thread.queue.is_empty() || self.running(&thread.id).await?.is_some();
            if thread.updated_at < until && !is_busy {
                self.delete(&thread.owner, &thread.id).await?;
                erased += 1;
            }
        }
        Ok(erased)
    }

    /// Erases passing threads as they become old, as long as it is polled.
    pub async fn sweep(&self) -> Infallible {
        let mut rounds = tokio::time::interval(SWEEP);
        loop {
            rounds.tick().await;
            if let Err(error) = self.erase_passed().await {
                tracing::warn!(%error, "cannot erase passing threads");
            }
        }
    }
}
