//! Going on with an answer that was cut: a turn of its own, which a person asks
//! for and whose row names the row it continues.

use consort_core::chat::{Row, Say};

use super::{Chats, Error, Said, Waiting};

impl Chats {
    /// Goes on with the last answer of a thread, which was cut. `client` says
    /// who asks: the words are ours.
    pub async fn go_on(&self, owner: &str, id: &str, client: Say) -> Result<Said, Error> {
        let conversation = self.0.live.conversation(id);
        let _alone = conversation.gate.lock().await;
        let thread = self.thread(owner, id).await?;
        if let Some(running) = self.running(id).await? {
            return Err(Error::Busy { turn: running.turn });
        }
        // What waits comes next, and its answer is the last one then.
        if let Some(Waiting { turn, .. }) = thread.queue.first() {
            return Err(Error::Busy { turn: turn.clone() });
        }
        let row = self.cut_row(id).await?.ok_or(Error::Uncut)?;
        let Say { content, continues, .. } = Say::go_on(row);
        self.begin_now(&conversation, thread, Say { content, continues, ..client }).await
    }

    /// The id of the thread's last row, if that is an answer that was cut.
    async fn cut_row(&self, id: &str) -> Result<Option<String>, Error> {
        let Some(last) = self.last(id).await? else { return Ok(None) };
        let row = last.rows.last().filter(|row| row.truncated);
        Ok(row.map(|_| Row::id(&last.turn, last.rows.len() - 1)))
    }
}
