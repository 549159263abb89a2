//! Decides clients' commands for a running turn.

use super::{Answer, ChatEventKind, Command, Mode};
use crate::decisions::decide::Refused;
use crate::event::EventKind;
use crate::id::Millis;
use crate::message::Outcome;
use crate::state::calls::Slot;
use crate::state::run::Run;
use crate::text::Text;

impl Run {
    pub(crate) fn chat_decided(&self, command: Command, now: Millis) -> Result<Vec<EventKind>, Refused> {
        if self.spec().chat.is_none() {
            return Err(Refused::Stale);
        }
        let facts = match command {
            Command::Approve { approval, answer, by } => self.approve(approval, answer, &by)?,
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
        let tool = self.asks_about(approval).filter(|_| answer == Answer::AllowForChat);
        let alike = |other: &&u32| **other != approval && tool.is_some() && self.asks_about(**other) == tool;
        let answered =
            |approval: u32, answer: Answer| ChatEventKind::ApprovalAnswered { approval, answer, by: by.to_owned() };
        // Allowing a tool answers every open question about it.
        let others = self.chat().open.iter().filter(alike).map(|other| answered(*other, Answer::Allow));
        Ok(std::iter::once(answered(approval, answer)).chain(others).collect())
    }

    /// Returns the tool that a question is about.
    fn asks_about(&self, approval: u32) -> Option<&str> {
        let asked = self.chat().approvals.get(approval as usize)?;
        self.slot(&asked.call).map(|(call, _)| call.tool.as_str())
    }

    /// Sets the mode. A mode that allows everything answers every open question.
    fn set_mode(&self, mode: Mode, by: &str) -> Vec<ChatEventKind> {
        let open = self.chat().open.iter().filter(|_| mode == Mode::Auto);
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
