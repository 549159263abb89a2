//! A thread that begins with a message.

use std::sync::Arc;

use consort_core::chat::Say;
use consort_log as log;
use futures::stream::BoxStream;

use crate::{Chats, Error, Numbered, Said, Seat, Start};

/// A thread that has begun with a message.
pub struct Opening {
    /// The thread.
    pub thread: String,
    /// The result of sending the message.
    pub said: Said,
    /// The frames of the thread from its beginning on.
    pub frames: BoxStream<'static, Result<Numbered, log::Error>>,
    /// The subscription to its turns from before the first one began.
    pub seat: Arc<Seat>,
}

impl Chats {
    /// Creates a thread with its first message. A thread whose first message is refused is erased
    /// again: nobody has seen it.
    pub async fn open_with(&self, owner: &str, say: Say) -> Result<Opening, Error> {
        let thread = self.create(owner, None).await?.id;
        match self.follow_and_say(owner, &thread, say).await {
            Ok(opening) => Ok(opening),
            Err(refused) => {
                self.delete(owner, &thread).await?;
                Err(refused)
            }
        }
    }

    /// Follows a new thread before its message is sent, so that no word of the first turn is missed.
    async fn follow_and_say(&self, owner: &str, thread: &str, say: Say) -> Result<Opening, Error> {
        let frames = self.follow(owner, thread, Start::Now).await?;
        let seat = self.seat(thread);
        let said = self.say(owner, thread, say).await?;
        Ok(Opening { thread: thread.to_owned(), said, frames, seat })
    }
}
