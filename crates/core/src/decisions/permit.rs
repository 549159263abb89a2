//! Decides whether a call may be made as it is, waits for a person, or is refused; and on which terms it is
//! made.

use serde_json::{Value, json};

use crate::chat::{self, Carried, ChatEventKind, Reason, Verdict};
use crate::decisions::call::not_made;
use crate::decisions::next::{Plan, Terms};
use crate::decisions::subtask;
use crate::event::EventKind;
use crate::id::Id;
use crate::requests::catalog::ToolInfo;
use crate::requests::reach::Target;
use crate::state::calls::CallState;
use crate::state::run::Run;

/// The answer to a run's call that would write a file that prompts are built from.
const NOT_IN_RUNS: &str = "prompts are built from this file, so only a person or a chat, after asking, may write it";

impl Run {
    /// Returns whether a call waits for a person, or is refused.
    pub(crate) fn asks_first(&self, id: &Id, call: (&ToolInfo, &Value), slot: &CallState, plan: &mut Plan) -> bool {
        let (tool, args) = call;
        let Some(chat) = &self.spec().chat else {
            let instructs = tool.writes_prompts(args);
            if instructs {
                plan.record(not_made(id, format!("not_allowed: {NOT_IN_RUNS}")));
            }
            return instructs;
        };
        if *slot != CallState::Waiting {
            return false;
        }
        let target = tool.target(args);
        let host = target.as_ref().map(Target::name);
        let granted = self.chat().grants.iter().any(|grant| grant.covers(tool, host));
        let carried =
            target.filter(|target| !granted && self.is_leak(chat, target)).map(|target| self.carried(id, &target));
        let mode = self.chat().mode;
        let leaks = carried.is_some();
        let instructs = tool.writes_prompts(args);
        let executes = chat.executes;
        match chat::verdict(&chat::Asked { mode, tool, granted, leaks, instructs, executes }) {
            Verdict::Go => return false,
            Verdict::Blocked(reason) => plan.record(not_made(id, blocked(reason, carried.as_ref()))),
            Verdict::Ask(reason) => {
                let carried = carried.filter(|_| reason == Reason::Taint);
                let is_asked = |fact: &EventKind| matches!(fact, EventKind::Chat(ChatEventKind::ApprovalAsked { .. }));
                let number = self.chat().approvals.len() + plan.recorded(is_asked);
                let approval = u32::try_from(number).unwrap_or(u32::MAX);
                let due = (chat.approval_timeout_ms > 0).then(|| plan.at.saturating_add(chat.approval_timeout_ms));
                let call = id.clone();
                plan.record(EventKind::Chat(ChatEventKind::ApprovalAsked { approval, call, due, reason, carried }));
            }
        }
        true
    }

    /// Returns whether a tainted thread would send to a host that is not allowed.
    fn is_leak(&self, chat: &chat::Turn, target: &Target) -> bool {
        let listed = |name: &String| chat.allowed_hosts.contains(name);
        let is_allowed = match target {
            Target::Configured(_) => true,
            Target::Named(name) => listed(name),
            Target::Host(host) => listed(host) || chat::is_said(host, &chat.history, &chat.content),
        };
        !self.chat().taint.is_empty() && !is_allowed
    }

    /// Returns what a call would carry to a place.
    fn carried(&self, id: &Id, target: &Target) -> Carried {
        let bytes = self.slot(id).map_or(0, |(call, _)| call.args.as_str().len() as u64);
        Carried { host: target.name().to_owned(), bytes, taint: self.chat().taint.clone() }
    }

    /// Returns the terms on which a call is made, which a new owner of the run finds again in its events.
    pub(crate) fn terms(&self, id: &Id) -> Terms {
        let allowed = |asked: &crate::state::chat::Approval| {
            asked.call == *id && asked.reason == Reason::Instructions && asked.answer.is_some_and(chat::Answer::allows)
        };
        Terms { may_instruct: self.chat().approvals.iter().any(allowed), exact: self.spec().chat.is_some() }
    }
}

/// Returns the refusal of a call in plan mode, for the model.
fn blocked(reason: Reason, carried: Option<&Carried>) -> String {
    let why = match (reason, carried) {
        (Reason::Taint, Some(carried)) => {
            format!("in plan mode nothing is sent to hosts that are not allowed: {}", carried.words())
        }
        (Reason::Taint | Reason::Effect | Reason::Instructions, _) => {
            "in plan mode nothing that has an effect is done".to_owned()
        }
    };
    subtask::error("blocked_in_plan_mode", json!({ "message": format!("{why}; say what you would do") }))
}
