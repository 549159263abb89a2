//! What a client may ask of a turn that runs, and what comes of it.

use super::{Answer, Command, Fact, Mode};
use crate::calls::Slot;
use crate::decide::Refused;
use crate::event::Fact as Any;
use crate::message::Outcome;
use crate::run::Run;
use crate::text::Text;

impl Run {
    pub(crate) fn chat_decided(&self, command: Command) -> Result<Vec<Any>, Refused> {
        if self.spec.chat.is_none() {
            return Err(Refused::Stale);
        }
        let facts = match command {
            Command::Approve { approval, answer, by } => vec![self.approve(approval, answer, by)?],
            Command::SetMode { mode, by } => self.set_mode(mode, &by),
            Command::Returned { call, result, is_error } => return self.client_returned(&call, result, is_error),
        };
        Ok(facts.into_iter().map(Any::Chat).collect())
    }

    fn approve(&self, approval: u32, answer: Answer, by: String) -> Result<Fact, Refused> {
        let asked = self.chat.approvals.get(approval as usize).ok_or(Refused::NoApproval)?;
        match asked.answer {
            Some(answer) => Err(Refused::Answered { answer: answer.word() }),
            None => Ok(Fact::ApprovalAnswered { approval, answer, by }),
        }
    }

    /// Whoever allows everything has answered every question that is open.
    fn set_mode(&self, mode: Mode, by: &str) -> Vec<Fact> {
        let open = self.chat.open.iter().filter(|_| mode == Mode::Auto);
        let allow =
            |approval: &u32| Fact::ApprovalAnswered { approval: *approval, answer: Answer::Allow, by: by.to_owned() };
        std::iter::once(Fact::ModeSet { mode, by: by.to_owned() }).chain(open.map(allow)).collect()
    }

    fn client_returned(&self, name: &str, result: Text, is_error: bool) -> Result<Vec<Any>, Refused> {
        let call = self.chat.named(name).ok_or(Refused::Stale)?;
        match self.slot(call) {
            Some((_, Slot::AtClient { .. })) => {
                let outcome =
                    if is_error { Outcome::failed(result.shared()) } else { Outcome::answer(result.shared()) };
                Ok(vec![Any::ToolReturned { call: call.clone(), outcome, duration_ms: 0 }])
            }
            Some(_) | None => Err(Refused::Stale),
        }
    }
}
