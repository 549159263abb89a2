//! Calls that wait for a person's permission.

use consort_core::chat::{self, Answer, PendingApproval, Stored};
use consort_core::decide::{Command, Refused};
use consort_core::text::Text;
use consort_runtime::engine;
use serde_json::Value;

use crate::damaged::unless_damaged;
use crate::{Chats, Error, Thread};

impl Chats {
    /// Returns the owner's open approvals.
    pub async fn approvals(&self, owner: &str) -> Result<Vec<PendingApproval>, Error> {
        let mut open = Vec::new();
        for (thread, Stored { turn, open_approvals, .. }) in self.all_running().await? {
            if open_approvals == 0 || !matches!(Thread::find(self.log(), &thread, owner).await?, Some(Ok(_))) {
                continue;
            }
            let run = unless_damaged(self.0.engine.run(&turn).await.map_err(Error::from))?;
            open.extend(run.map(|run| run.pending_approvals(&turn)).unwrap_or_default());
        }
        Ok(open)
    }

    /// Answers an approval.
    pub async fn approve(&self, owner: &str, id: &str, answer: Answer) -> Result<(), Error> {
        self.decide(owner, id, (answer, None)).await
    }

    /// Allows a call once, with these arguments in the place of the model's.
    pub async fn allow_with(&self, owner: &str, id: &str, args: &Value) -> Result<(), Error> {
        self.decide(owner, id, (Answer::Allow, Some(args.to_string().into()))).await
    }

    async fn decide(&self, owner: &str, id: &str, (answer, args): (Answer, Option<Text>)) -> Result<(), Error> {
        let unknown = || Error::Engine(Refused::NoApproval.into());
        let (turn, approval) = chat::parse_approval_id(id).ok_or_else(unknown)?;
        let thread = self.thread_of(turn).await?.ok_or_else(unknown)?;
        Thread::load(self.log(), &thread, owner).await?.ok_or_else(unknown)?;
        let command = chat::Command::Approve { approval, answer, by: owner.to_owned(), args };
        match self.0.engine.command(turn, Command::Chat(command)).await {
            // An ended turn has no open approvals, but knows how they were answered.
            Err(engine::Error::Refused(Refused::Ended { .. })) => {
                Err(Error::Engine(self.0.engine.run(turn).await?.approval_standing(approval).into()))
            }
            other => other.map(drop).map_err(Error::from),
        }
    }
}
