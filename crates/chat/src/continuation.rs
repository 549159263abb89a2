//! Continuing an answer that was cut off: a turn of its own, which a person requests
//! and whose row names the row it continues.

use consort_core::chat::{Row, UserMessage};

use super::{Chats, Error, SentMessage, Waiting};

impl Chats {
    /// Continues the last answer of a thread, which was cut off. `client` identifies the
    /// client; the text of the message is fixed.
    pub async fn continue_answer(&self, owner: &str, id: &str, client: UserMessage) -> Result<SentMessage, Error> {
        let live_thread = self.0.live.live_thread(id);
        let _alone = live_thread.gate.lock().await;
        let thread = self.thread(owner, id).await?;
        if let Some(running) = self.running(id).await? {
            return Err(Error::Busy { turn: running.turn });
        }
        // A queued message comes first, and its answer will be the last one then.
        if let Some(Waiting { turn, .. }) = thread.queue.first() {
            return Err(Error::Busy { turn: turn.clone() });
        }
        let row = self.cut_row(id).await?.ok_or(Error::Uncut)?;
        let UserMessage { content, continues, .. } = UserMessage::continuing(row);
        let message = UserMessage { content, continues, ..client };
        let context = self.context(owner, &message).await?;
        self.begin_now(&live_thread, thread, message, context).await
    }

    /// Returns the id of the thread's last row, if that is an answer that was cut off.
    async fn cut_row(&self, id: &str) -> Result<Option<String>, Error> {
        let Some(last) = self.last(id).await? else { return Ok(None) };
        let row = last.rows.last().filter(|row| row.truncated);
        Ok(row.map(|_| Row::id(&last.turn, last.rows.len() - 1)))
    }
}
