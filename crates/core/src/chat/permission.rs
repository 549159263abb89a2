//! Decides which calls are made, wait for a person, or are refused, and on which terms they are made. In a chat
//! the permission class of a tool decides whether it is offered at all; the mode decides about each call.

use serde_json::{Value, json};

use crate::chat::{Answer, Carried, ChatEventKind, Mode, Reason, Turn, is_said};
use crate::decisions::call::not_made;
use crate::decisions::next::{Plan, Terms};
use crate::decisions::subtask;
use crate::state::calls::CallState;
use crate::state::run::Run;
use consort_spec::catalog::{EffectClass, Permission, ToolInfo};
use consort_spec::event::EventKind;
use consort_spec::id::{Id, Millis};
use consort_spec::reach::{EffectClassSource, Target};

/// The answer to a run's call that would write a file that prompts are built from.
const NOT_IN_RUNS: &str = "prompts are built from this file, so only a person or a chat, after asking, may write it";

/// The decision about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The call is made.
    Go,
    /// A person is asked first.
    Ask(Reason),
    /// The call is refused.
    Blocked(Reason),
}

/// A call to decide about.
pub(crate) struct CallRequest<'a> {
    pub(crate) mode: Mode,
    pub(crate) tool: &'a ToolInfo,
    /// Whether the user has allowed this tool to this host for the rest of the thread.
    pub(crate) granted: bool,
    /// Whether it would carry data of a tainted thread to a host that is not allowed.
    pub(crate) leaks: bool,
    /// Whether it would write a file that prompts are built from.
    pub(crate) instructs: bool,
    /// Whether the configuration lets chats run programs without asking.
    pub(crate) executes: bool,
}

/// Decides about a call. Effects that the user can see and undo need no question.
pub(crate) fn verdict(asked: &CallRequest<'_>) -> Verdict {
    let CallRequest { mode, tool, granted, leaks, instructs, executes } = *asked;
    match mode {
        Mode::Plan if instructs => return Verdict::Blocked(Reason::Instructions),
        // No mode and no grant covers what later turns, of other people too, are told to do.
        Mode::Default | Mode::Auto if instructs => return Verdict::Ask(Reason::Instructions),
        Mode::Plan if leaks => return Verdict::Blocked(Reason::Taint),
        Mode::Default if leaks => return Verdict::Ask(Reason::Taint),
        Mode::Plan | Mode::Default | Mode::Auto => {}
    }
    let inside = match tool.permission {
        Permission::Knowledge | Permission::Subagent => return Verdict::Go,
        Permission::WorkspaceWrite | Permission::EditorMutate => true,
        Permission::Safe | Permission::Network | Permission::Secrets => false,
        Permission::Execute => return program_verdict(mode, executes || granted),
    };
    match (mode, believed(mode, tool)) {
        (_, EffectClass::Read) | (Mode::Auto, _) => Verdict::Go,
        (Mode::Plan, EffectClass::Idempotent | EffectClass::Once) => Verdict::Blocked(Reason::Effect),
        (Mode::Default, EffectClass::Idempotent | EffectClass::Once) => {
            if inside || granted {
                Verdict::Go
            } else {
                Verdict::Ask(Reason::Effect)
            }
        }
    }
}

/// Decides about a call that runs a program. No mode covers it: the configuration does, or a person.
fn program_verdict(mode: Mode, is_allowed: bool) -> Verdict {
    match mode {
        Mode::Plan => Verdict::Blocked(Reason::Effect),
        Mode::Default | Mode::Auto if is_allowed => Verdict::Go,
        Mode::Default | Mode::Auto => Verdict::Ask(Reason::Effect),
    }
}

/// Returns the effect class as far as it is believed: in plan mode a stranger's word does not count.
fn believed(mode: Mode, tool: &ToolInfo) -> EffectClass {
    match (mode, tool.reach.effect_by) {
        (Mode::Plan, EffectClassSource::Stranger) => EffectClass::Once,
        (Mode::Plan | Mode::Default | Mode::Auto, EffectClassSource::Operator | EffectClassSource::Stranger) => {
            tool.effect
        }
    }
}

/// Returns the kind of access, to show with the question for permission.
pub(crate) fn category(tool: &ToolInfo) -> &'static str {
    match (tool.effect, tool.permission) {
        (EffectClass::Read, _) => "read",
        (_, Permission::WorkspaceWrite | Permission::EditorMutate | Permission::Knowledge) => "write",
        (
            _,
            Permission::Safe | Permission::Network | Permission::Subagent | Permission::Secrets | Permission::Execute,
        ) => "external",
    }
}

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
        match verdict(&CallRequest { mode, tool, granted, leaks, instructs, executes }) {
            Verdict::Go => return false,
            Verdict::Blocked(reason) => plan.record(not_made(id, blocked(reason, carried.as_ref()))),
            Verdict::Ask(reason) => {
                let carried = carried.filter(|_| reason == Reason::Taint);
                self.ask_for_approval(id, chat.approval_timeout_ms, (reason, carried), plan);
            }
        }
        true
    }

    fn ask_for_approval(
        &self,
        id: &Id,
        timeout_ms: Millis,
        (reason, carried): (Reason, Option<Carried>),
        plan: &mut Plan,
    ) {
        let is_asked = |kind: &EventKind| matches!(kind, EventKind::Chat(ChatEventKind::ApprovalAsked { .. }));
        let number = self.chat().approvals.len() + plan.recorded(is_asked);
        let approval = u32::try_from(number).unwrap_or(u32::MAX);
        let due = (timeout_ms > 0).then(|| plan.at.saturating_add(timeout_ms));
        let call = id.clone();
        plan.record(EventKind::Chat(ChatEventKind::ApprovalAsked { approval, call, due, reason, carried }));
    }

    /// Returns whether a tainted thread would send to a host that is not allowed.
    fn is_leak(&self, chat: &Turn, target: &Target) -> bool {
        let listed = |name: &String| chat.allowed_hosts.contains(name);
        let is_allowed = match target {
            Target::Configured(_) => true,
            Target::Named(name) => listed(name),
            Target::Host(host) => listed(host) || is_said(host, chat),
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
            asked.call == *id && asked.reason == Reason::Instructions && asked.answer.is_some_and(Answer::allows)
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

#[cfg(test)]
mod tests {
    use super::*;
    use consort_spec::reach::Reach;

    fn tool(permission: Permission, effect: EffectClass) -> ToolInfo {
        ToolInfo { permission, effect, ..ToolInfo::new("t", "") }
    }

    fn asked(mode: Mode, tool: &ToolInfo) -> CallRequest<'_> {
        CallRequest { mode, tool, granted: false, leaks: false, instructs: false, executes: false }
    }

    #[test]
    fn only_effects_outside_the_workspace_are_asked_about_and_plan_refuses_all() {
        let ask = Verdict::Ask(Reason::Effect);
        let blocked = Verdict::Blocked(Reason::Effect);
        let cases = [
            (Mode::Default, Permission::Network, EffectClass::Read, Verdict::Go),
            (Mode::Default, Permission::Network, EffectClass::Once, ask),
            (Mode::Default, Permission::Network, EffectClass::Idempotent, ask),
            (Mode::Default, Permission::WorkspaceWrite, EffectClass::Once, Verdict::Go),
            (Mode::Default, Permission::EditorMutate, EffectClass::Once, Verdict::Go),
            (Mode::Plan, Permission::WorkspaceWrite, EffectClass::Idempotent, blocked),
            (Mode::Plan, Permission::WorkspaceWrite, EffectClass::Read, Verdict::Go),
            (Mode::Plan, Permission::Knowledge, EffectClass::Once, Verdict::Go),
            (Mode::Auto, Permission::Secrets, EffectClass::Once, Verdict::Go),
        ];
        for (mode, permission, effect, expected) in cases {
            let tool = tool(permission, effect);
            assert_eq!(verdict(&asked(mode, &tool)), expected, "{mode:?} {permission:?} {effect:?}");
        }
        let once = tool(Permission::Network, EffectClass::Once);
        assert_eq!(verdict(&CallRequest { granted: true, ..asked(Mode::Default, &once) }), Verdict::Go);
        assert_eq!(verdict(&CallRequest { granted: true, ..asked(Mode::Plan, &once) }), blocked);
    }

    #[test]
    fn a_program_is_asked_about_in_every_mode_unless_the_file_or_a_grant_covers_it_and_plan_refuses_it() {
        let program = tool(Permission::Execute, EffectClass::Once);
        let ask = Verdict::Ask(Reason::Effect);
        for (mode, unlisted) in
            [(Mode::Default, ask), (Mode::Auto, ask), (Mode::Plan, Verdict::Blocked(Reason::Effect))]
        {
            assert_eq!(verdict(&asked(mode, &program)), unlisted, "{mode:?}");
            let covered = if mode == Mode::Plan { unlisted } else { Verdict::Go };
            assert_eq!(verdict(&CallRequest { executes: true, ..asked(mode, &program) }), covered, "{mode:?}");
            assert_eq!(verdict(&CallRequest { granted: true, ..asked(mode, &program) }), covered, "{mode:?}");
        }
    }

    #[test]
    fn a_leak_asks_by_default_is_refused_in_plan_and_goes_on_in_auto_whatever_the_class() {
        for permission in [Permission::Network, Permission::Safe, Permission::Knowledge, Permission::WorkspaceWrite] {
            for effect in [EffectClass::Read, EffectClass::Once] {
                let tool = tool(permission, effect);
                let leaks = |mode| verdict(&CallRequest { leaks: true, ..asked(mode, &tool) });
                assert_eq!(leaks(Mode::Plan), Verdict::Blocked(Reason::Taint));
                assert_eq!(leaks(Mode::Default), Verdict::Ask(Reason::Taint));
                assert_eq!(leaks(Mode::Auto), Verdict::Go);
            }
        }
    }

    #[test]
    fn what_instructs_later_turns_is_asked_about_in_every_mode_and_no_grant_covers_it() {
        let write = tool(Permission::WorkspaceWrite, EffectClass::Idempotent);
        let instructs = |mode| verdict(&CallRequest { granted: true, instructs: true, ..asked(mode, &write) });
        assert_eq!(instructs(Mode::Plan), Verdict::Blocked(Reason::Instructions));
        assert_eq!(instructs(Mode::Default), Verdict::Ask(Reason::Instructions));
        assert_eq!(instructs(Mode::Auto), Verdict::Ask(Reason::Instructions));
    }

    #[test]
    fn a_strangers_word_that_a_tool_only_reads_counts_in_default_and_not_in_plan() {
        let reach = Reach { effect_by: EffectClassSource::Stranger, ..Reach::default() };
        let hinted = ToolInfo { reach, ..tool(Permission::Network, EffectClass::Read) };
        assert_eq!(verdict(&asked(Mode::Default, &hinted)), Verdict::Go);
        assert_eq!(verdict(&asked(Mode::Plan, &hinted)), Verdict::Blocked(Reason::Effect));
        let vouched = tool(Permission::Network, EffectClass::Read);
        assert_eq!(verdict(&asked(Mode::Plan, &vouched)), Verdict::Go);
    }
}
