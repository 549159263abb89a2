//! Decides clients' commands for a running turn.

use super::{Answer, ChatEventKind, Command, Mode, Reason};
use crate::decisions::decide::Refused;
use crate::event::EventKind;
use crate::id::Millis;
use crate::message::Outcome;
use crate::state::calls::Slot;
use crate::state::chat::Approval;
use crate::state::run::Run;
use crate::text::Text;

impl Run {
    pub(crate) fn chat_decided(&self, command: Command, now: Millis) -> Result<Vec<EventKind>, Refused> {
        if self.spec().chat.is_none() {
            return Err(Refused::Stale);
        }
        let facts = match command {
            Command::Approve { approval, answer, by } => self.approve(approval, answer, &by)?,
            Command::Withdraw { grant, by } => self.withdraw(grant, by),
            Command::SetMode { mode, by } => self.set_mode(mode, &by),
            Command::Returned { call, result, is_error } => {
                return self.client_returned(&call, (result, is_error), now);
            }
        };
        Ok(facts.into_iter().map(EventKind::Chat).collect())
    }

    fn approve(&self, approval: u32, answer: Answer, by: &str) -> Result<Vec<ChatEventKind>, Refused> {
        let asked = self.chat().approvals.get(approval as usize).ok_or(Refused::NoApproval)?;
        if let Some(answer) = asked.answer {
            return Err(Refused::Answered { answer });
        }
        let grant = asked.grants().filter(|_| answer == Answer::AllowForChat);
        let is_covered = |other: &u32| {
            let other = self.chat().approvals.get(*other as usize).and_then(Approval::grants);
            grant.is_some() && other == grant
        };
        let alike = |other: &&u32| **other != approval && is_covered(other);
        let answered =
            |approval: u32, answer: Answer| ChatEventKind::ApprovalAnswered { approval, answer, by: by.to_owned() };
        // Allowing a tool to a host answers every open question about the two.
        let others = self.chat().open.iter().filter(alike).map(|other| answered(*other, Answer::Allow));
        Ok(std::iter::once(answered(approval, answer)).chain(others).collect())
    }

    fn withdraw(&self, grant: String, by: String) -> Vec<ChatEventKind> {
        let known = self.chat().grants.iter().any(|known| known.id == grant);
        known.then_some(ChatEventKind::GrantWithdrawn { grant, by }).into_iter().collect()
    }

    /// Sets the mode. A mode that allows everything answers every open question that a mode can answer.
    fn set_mode(&self, mode: Mode, by: &str) -> Vec<ChatEventKind> {
        let is_answered = |approval: &&u32| {
            let asked = self.chat().approvals.get(**approval as usize);
            mode == Mode::Auto && asked.is_some_and(|asked| asked.reason != Reason::Instructions)
        };
        let open = self.chat().open.iter().filter(is_answered);
        let allow = |approval: &u32| ChatEventKind::ApprovalAnswered {
            approval: *approval,
            answer: Answer::Allow,
            by: by.to_owned(),
        };
        std::iter::once(ChatEventKind::ModeSet { mode, by: by.to_owned() }).chain(open.map(allow)).collect()
    }

    fn client_returned(
        &self,
        name: &str,
        (result, is_error): (Text, bool),
        now: Millis,
    ) -> Result<Vec<EventKind>, Refused> {
        let call = self.chat().named(name).ok_or(Refused::Stale)?;
        match self.slot(call) {
            Some((_, Slot::AtClient { .. })) => {
                let outcome =
                    if is_error { Outcome::failed(result.shared()) } else { Outcome::answer(result.shared()) };
                let duration_ms = self.chat().took(call, now);
                Ok(vec![EventKind::ToolReturned { call: call.clone(), outcome, duration_ms, cause: None }])
            }
            Some(_) | None => Err(Refused::Stale),
        }
    }
}
