//! Steers the running turn of a thread: the permission mode, and results of the client's calls.

use consort_core::chat::{self, Mode};
use consort_core::decide::Command;
use consort_core::spec::Kind;
use consort_core::text::Text;
use consort_log::Query;

use super::{Chats, Error, Thread, unless_over};

impl Chats {
    /// Returns the id of the thread that a turn is in. Its row says that: the
    /// turn is not replayed for it.
    pub(super) async fn thread_of(&self, turn: &str) -> Result<Option<String>, Error> {
        let kind = Some(Kind::Turn.word().to_owned());
        let query = Query { kind, stream: Some(turn.to_owned()), limit: 1, ..Query::default() };
        let row = self.log().list(query).await?.rows.into_iter().next();
        Ok(row.and_then(|(_, row)| row.tags.get("thread").cloned()))
    }

    /// Changes the permission mode of the running turn and of later ones; returns the thread with the new mode.
    pub async fn set_mode(&self, owner: &str, id: &str, mode: Mode) -> Result<Thread, Error> {
        let live_thread = self.0.live.live_thread(id);
        let _alone = live_thread.gate.lock().await;
        let mut thread = self.thread(owner, id).await?;
        let mode = mode.min(self.0.settings.rules.mode);
        thread.mode = Some(mode);
        thread.store(self.log(), self.now()).await?;
        if let Some(running) = self.running(id).await? {
            let command = chat::Command::SetMode { mode, by: owner.to_owned() };
            unless_over(self.0.engine.command(&running.turn, Command::Chat(command)).await)?;
        }
        Ok(thread)
    }

    /// Passes the result of a call that the client made to the turn that waits for it.
    pub async fn returned(
        &self,
        owner: &str,
        id: &str,
        call: &str,
        (result, is_error): (Text, bool),
    ) -> Result<(), Error> {
        self.thread(owner, id).await?;
        let running = self.running(id).await?.ok_or(Error::Idle)?;
        let command = chat::Command::Returned { call: call.to_owned(), result, is_error };
        self.0.engine.command(&running.turn, Command::Chat(command)).await?;
        Ok(())
    }
}
