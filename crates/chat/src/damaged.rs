//! Threads that cannot be read, wholly or in part: they are listed, shown and deleted
//! like any other, and do not affect other threads.

use consort_core::chat::Stored;
use consort_log as log;
use consort_runtime::engine;
use consort_runtime::thread_history::turns_of;

use super::thread::{Found, ThreadView};
use super::{Chats, Error, Thread};

impl Chats {
    /// Returns the owner's threads as clients see them, the one with the newest event
    /// first, damaged ones included; if `words` are given, in lower case, only those that
    /// mention them.
    pub async fn views(&self, owner: &str, words: Option<&str>) -> Result<Vec<ThreadView>, Error> {
        let mut views = Vec::new();
        for found in Thread::list(self.log(), Some(owner)).await? {
            match found {
                Ok(thread) if self.mentions(owner, &thread, words).await? => views.push(self.view(&thread).await?),
                Err(damaged) if says(&damaged.title, words) => views.push(damaged.view()),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(views)
    }

    /// Returns one thread of the owner as clients see it, damaged or not.
    pub async fn view_of(&self, owner: &str, id: &str) -> Result<ThreadView, Error> {
        match Thread::find(self.log(), id, owner).await? {
            None => Err(Error::NotFound(id.to_owned())),
            Some(Ok(thread)) => self.view(&thread).await,
            Some(Err(damaged)) => Ok(damaged.view()),
        }
    }

    /// Returns a thread as clients see it, with data of its turns; where they cannot be
    /// read, with the reason.
    pub async fn view(&self, thread: &Thread) -> Result<ThreadView, Error> {
        let last = match self.last(&thread.id).await {
            Ok(last) => last,
            Err(error) => return Ok(thread.view(None, None).damaged(&reason(error)?)),
        };
        let last_seq = last.as_ref().and_then(|turn| turn.next.checked_sub(1));
        let running = last.filter(|turn| !consort_runtime::thread_history::is_over(turn)).map(|turn| turn.turn);
        match running.as_deref().and_then(|turn| self.0.engine.damage(turn)) {
            // A damaged turn is never resumed, so it does not run.
            Some(reason) => Ok(thread.view(None, last_seq).damaged(&reason)),
            None => {
                let view = thread.view(running.as_deref(), last_seq);
                Ok(match self.damaged_turn(&thread.id).await? {
                    Some(reason) => view.damaged(&reason),
                    None => view,
                })
            }
        }
    }

    /// Returns the reason why a turn of a thread cannot be read, as far as it is known.
    async fn damaged_turn(&self, thread: &str) -> Result<Option<String>, Error> {
        // Nearly always nothing is damaged, and lists of threads are long.
        if self.0.engine.damaged_streams() == 0 {
            return Ok(None);
        }
        let turns = self.log().list(log::Query { limit: usize::MAX, ..turns_of(thread) }).await?.rows;
        Ok(turns.iter().find_map(|(turn, _)| self.0.engine.damage(turn)))
    }

    /// Returns whether a thread's title or any message in it contains the words.
    async fn mentions(&self, owner: &str, thread: &Thread, words: Option<&str>) -> Result<bool, Error> {
        let Some(wanted) = words.filter(|_| !says(&thread.title, words)) else { return Ok(true) };
        match self.rows(owner, &thread.id).await {
            Ok(turns) => {
                Ok(turns.iter().flat_map(|(_, rows)| rows).any(|row| says(row.content.as_str(), Some(wanted))))
            }
            Err(error) => reason(error).map(|_unreadable| false),
        }
    }

    /// Returns the owner's running turns, with their threads.
    pub async fn running_turns(&self, owner: &str) -> Result<Vec<(Thread, Stored)>, Error> {
        let mut turns = Vec::new();
        for thread in self.readable(Some(owner)).await? {
            let running = unless_damaged(self.running(&thread.id).await)?.flatten();
            turns.extend(running.map(|turn| (thread, turn)));
        }
        Ok(turns)
    }

    /// Returns whether a thread belongs to the owner, also when it cannot be read.
    pub async fn owns(&self, owner: &str, id: &str) -> Result<bool, Error> {
        Ok(Thread::find(self.log(), id, owner).await?.is_some())
    }

    /// Checks that a thread belongs to the owner, also when it cannot be read.
    pub(super) async fn check_owner(&self, owner: &str, id: &str) -> Result<(), Error> {
        let found = Thread::find(self.log(), id, owner).await?;
        found.map(drop).ok_or_else(|| Error::NotFound(id.to_owned()))
    }

    /// Returns the threads that can be read.
    pub(super) async fn readable(&self, owner: Option<&str>) -> Result<Vec<Thread>, Error> {
        Ok(Thread::list(self.log(), owner).await?.into_iter().filter_map(Found::ok).collect())
    }
}

/// Returns whether a text contains the words, if there are any.
fn says(text: &str, words: Option<&str>) -> bool {
    words.is_none_or(|words| text.to_lowercase().contains(words))
}

/// Returns the reason why something cannot be read; any other error is passed on.
pub(super) fn reason(error: Error) -> Result<String, Error> {
    if let Error::Engine(engine::Error::Log(damaged @ log::Error::Damaged { .. })) = &error {
        return Ok(damaged.to_string());
    }
    Err(error)
}

/// Returns the same outcome, or `None` where something cannot be read.
pub(super) fn unless_damaged<T>(outcome: Result<T, Error>) -> Result<Option<T>, Error> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error) => reason(error).map(|reason| {
            tracing::warn!(reason, "something that cannot be read is passed over");
            None
        }),
    }
}
