//! The permissions that a user has given for the rest of a thread. The turns hold them; a grant that is taken back
//! between turns is noted in the thread until the next turn begins.

use consort_core::chat::{self, Grant};
use consort_core::decide::Command;

use super::damaged::unless_damaged;
use super::{Chats, Error, unless_over};

impl Chats {
    /// Returns what is allowed for the rest of a thread, the oldest first.
    pub async fn grants(&self, owner: &str, id: &str) -> Result<Vec<Grant>, Error> {
        let thread = self.thread(owner, id).await?;
        let Some(last) = self.last(id).await? else { return Ok(Vec::new()) };
        // The row of a turn that runs may be older than its events.
        let run = unless_damaged(self.0.engine.run(&last.turn).await.map_err(Error::from))?;
        let grants = run.map_or(last.grants, |run| run.grants().to_vec());
        Ok(thread.still_granted(&grants))
    }

    /// Takes a grant back: the running turn asks again from its next call on, and so do those to come.
    pub async fn withdraw(&self, owner: &str, id: &str, grant: &str) -> Result<(), Error> {
        let live_thread = self.0.live.live_thread(id);
        let _alone = live_thread.gate.lock().await;
        if !self.grants(owner, id).await?.iter().any(|known| known.id == grant) {
            return Err(Error::NoGrant(grant.to_owned()));
        }
        // Noted first: a process that dies in between has taken it back.
        let mut thread = self.thread(owner, id).await?;
        thread.withdrawn.push(grant.to_owned());
        thread.store(self.log(), self.now()).await?;
        if let Some(running) = self.running(id).await? {
            let command = chat::Command::Withdraw { grant: grant.to_owned(), by: owner.to_owned() };
            unless_over(self.0.engine.command(&running.turn, Command::Chat(command)).await)?;
        }
        Ok(())
    }
}
