//! Decides clients' commands for a running turn.

use serde_json::Value;

use super::{Answer, ChatEventKind, Command, Mode, Reason};
use crate::decisions::decide::Refused;
use crate::state::calls::CallState;
use crate::state::chat::Approval;
use crate::state::run::Run;
use consort_spec::event::EventKind;
use consort_spec::id::Millis;
use consort_spec::message::Outcome;
use consort_spec::text::Text;

impl Run {
    /// Returns the reason why a question of a turn that has ended takes no answer.
    pub fn approval_standing(&self, approval: u32) -> Refused {
        match self.chat().approvals.get(approval as usize) {
            None => Refused::NoApproval,
            Some(asked) => {
                Refused::Answered { answer: asked.answer.unwrap_or(Answer::Closed), made: asked.made.clone() }
            }
        }
    }

    pub(crate) fn chat_decided(&self, command: Command, now: Millis) -> Result<Vec<EventKind>, Refused> {
        if self.spec().chat.is_none() {
            return Err(Refused::Stale);
        }
        let facts = match command {
            Command::Approve { approval, answer, by, args } => self.approve(approval, (answer, args), &by)?,
            Command::Withdraw { grant, by } => self.withdraw(grant, by),
            Command::SetMode { mode, by } => self.set_mode(mode, &by),
            Command::Returned { call, result, is_error } => {
                return self.client_returned(&call, (result, is_error), now);
            }
        };
        Ok(facts.into_iter().map(EventKind::Chat).collect())
    }

    fn approve(
        &self,
        approval: u32,
        (answer, args): (Answer, Option<Text>),
        by: &str,
    ) -> Result<Vec<ChatEventKind>, Refused> {
        let asked = self.chat().approvals.get(approval as usize).ok_or(Refused::NoApproval)?;
        if let Some(answer) = asked.answer {
            return Err(Refused::Answered { answer, made: asked.made.clone() });
        }
        if let Some(args) = &args {
            self.check_arguments(asked, answer, args.as_str())?;
        }
        let grant = asked.grants().filter(|_| answer == Answer::AllowForChat);
        let is_covered = |other: &u32| {
            let other = self.chat().approvals.get(*other as usize).and_then(Approval::grants);
            grant.is_some() && other == grant
        };
        let alike = |other: &&u32| **other != approval && is_covered(other);
        let answered = |approval: u32, answer: Answer, args: Option<Text>| ChatEventKind::ApprovalAnswered {
            approval,
            answer,
            by: by.to_owned(),
            args,
        };
        // Allowing a tool to a host answers every open question about the two.
        let others = self.chat().open.iter().filter(alike).map(|other| answered(*other, Answer::Allow, None));
        Ok(std::iter::once(answered(approval, answer, args)).chain(others).collect())
    }

    /// Checks the arguments that a person wants a call to be made with.
    fn check_arguments(&self, asked: &Approval, answer: Answer, args: &str) -> Result<(), Refused> {
        if answer != Answer::Allow {
            return Err(Refused::UnfitArguments(format!("only a call that is allowed once takes any, not {answer}")));
        }
        let (call, _) = self.slot(&asked.call).ok_or(Refused::NoApproval)?;
        let args: Value = serde_json::from_str(args).map_err(|error| Refused::UnfitArguments(error.to_string()))?;
        if !args.is_object() {
            return Err(Refused::UnfitArguments("they must be a JSON object".to_owned()));
        }
        let tool = self.belt().get(&call.tool).ok_or(Refused::Stale)?;
        let violations = tool.schema.violations(&args);
        if violations.is_empty() { Ok(()) } else { Err(Refused::UnfitArguments(violations.join("; "))) }
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
            args: None,
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
            Some((_, CallState::AtClient { .. })) => {
                let outcome =
                    if is_error { Outcome::failed(result.shared()) } else { Outcome::answer(result.shared()) };
                let duration_ms = self.chat().took(call, now);
                Ok(vec![EventKind::ToolReturned { call: call.clone(), outcome, duration_ms, cause: None }])
            }
            Some(_) | None => Err(Refused::Stale),
        }
    }
}
