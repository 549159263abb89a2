//! A thread that begins with a message.

use std::sync::Arc;

use consort_core::chat::UserMessage;
use consort_log as log;
use futures::stream::BoxStream;

use crate::{Chats, Error, Numbered, SentMessage, Start, TurnSubscription};

/// A thread that has begun with a message.
pub struct Opening {
    /// The thread.
    pub thread: String,
    /// The result of sending the message.
    pub said: SentMessage,
    /// The frames of the thread from its beginning on.
    pub frames: BoxStream<'static, Result<Numbered, log::Error>>,
    /// The subscription to its turns from before the first one began.
    pub subscription: Arc<TurnSubscription>,
}

impl Chats {
    /// Creates a thread with its first message. A thread whose first message is refused is erased
    /// again: nobody has seen it.
    pub async fn open_with(&self, owner: &str, message: UserMessage) -> Result<Opening, Error> {
        let thread = self.create(owner, None).await?.id;
        match self.follow_and_send(owner, &thread, message).await {
            Ok(opening) => Ok(opening),
            Err(refused) => {
                self.delete(owner, &thread).await?;
                Err(refused)
            }
        }
    }

    /// Follows a new thread before its message is sent, so that no word of the first turn is missed.
    async fn follow_and_send(&self, owner: &str, thread: &str, message: UserMessage) -> Result<Opening, Error> {
        let frames = self.follow(owner, thread, Start::Now).await?;
        let subscription = self.subscribe(thread);
        let said = self.send(owner, thread, message).await?;
        Ok(Opening { thread: thread.to_owned(), said, frames, subscription })
    }
}
