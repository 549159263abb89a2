//! Decides which calls of a chat are made, wait for a person, or are refused. The permission class of a
//! tool decides whether it is offered at all; the mode decides about each call.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::requests::catalog::{EffectClass, Permission, ToolInfo};

/// What may be done without asking, least first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing that has an effect, not even when asked.
    Plan,
    /// Whatever stays in the workspace.
    #[default]
    Default,
    /// Everything.
    Auto,
}

impl Mode {
    /// Returns the word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Plan => "plan",
            Mode::Default => "default",
            Mode::Auto => "auto",
        }
    }

    /// Returns the mode of this name.
    pub fn parse(word: &str) -> Option<Mode> {
        [Mode::Plan, Mode::Default, Mode::Auto].into_iter().find(|mode| mode.word() == word)
    }
}

/// How a question for permission ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// This call may be made.
    Allow,
    /// This tool may be called for the rest of the thread.
    AllowForChat,
    /// It may not.
    Deny,
    /// Nobody answered in time: it may not.
    Expired,
    /// The turn was stopped: there is nothing to answer any more.
    Closed,
}

impl fmt::Display for Answer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

impl Answer {
    /// Returns the word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Allow => "allow",
            Answer::AllowForChat => "allow_for_chat",
            Answer::Deny => "deny",
            Answer::Expired => "expired",
            Answer::Closed => "closed",
        }
    }

    /// Returns the answer of this name, if a person can give it.
    pub fn parse(word: &str) -> Option<Answer> {
        [Answer::Allow, Answer::AllowForChat, Answer::Deny].into_iter().find(|answer| answer.word() == word)
    }

    /// Whether the call may be made.
    pub fn allows(self) -> bool {
        match self {
            Answer::Allow | Answer::AllowForChat => true,
            Answer::Deny | Answer::Expired | Answer::Closed => false,
        }
    }
}

/// The decision about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The call is made.
    Go,
    /// A person is asked first.
    Ask,
    /// The call is refused.
    Blocked,
}

/// Decides about a call. Effects that the user can see and undo need no question.
pub(crate) fn verdict(mode: Mode, tool: &ToolInfo, allowed: &BTreeSet<String>) -> Verdict {
    let inside = match tool.permission {
        Permission::Knowledge | Permission::Subagent => return Verdict::Go,
        Permission::WorkspaceWrite | Permission::EditorMutate => true,
        Permission::Safe | Permission::Network | Permission::Secrets => false,
    };
    match (mode, tool.effect) {
        (_, EffectClass::Read) | (Mode::Auto, _) => Verdict::Go,
        (Mode::Plan, EffectClass::Idempotent | EffectClass::Once) => Verdict::Blocked,
        (Mode::Default, EffectClass::Idempotent | EffectClass::Once) => {
            if inside || allowed.contains(&tool.name) {
                Verdict::Go
            } else {
                Verdict::Ask
            }
        }
    }
}

/// Returns the kind of access, to show with the question for permission.
pub(crate) fn category(tool: &ToolInfo) -> &'static str {
    match (tool.effect, tool.permission) {
        (EffectClass::Read, _) => "read",
        (_, Permission::WorkspaceWrite | Permission::EditorMutate | Permission::Knowledge) => "write",
        (_, Permission::Safe | Permission::Network | Permission::Subagent | Permission::Secrets) => "external",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_effects_outside_the_workspace_are_asked_about_and_plan_refuses_all() {
        let tool = |permission, effect| ToolInfo { permission, effect, ..ToolInfo::new("t", "") };
        let none = BTreeSet::new();
        let cases = [
            (Mode::Default, Permission::Network, EffectClass::Read, Verdict::Go),
            (Mode::Default, Permission::Network, EffectClass::Once, Verdict::Ask),
            (Mode::Default, Permission::Network, EffectClass::Idempotent, Verdict::Ask),
            (Mode::Default, Permission::WorkspaceWrite, EffectClass::Once, Verdict::Go),
            (Mode::Default, Permission::EditorMutate, EffectClass::Once, Verdict::Go),
            (Mode::Plan, Permission::WorkspaceWrite, EffectClass::Idempotent, Verdict::Blocked),
            (Mode::Plan, Permission::WorkspaceWrite, EffectClass::Read, Verdict::Go),
            (Mode::Plan, Permission::Knowledge, EffectClass::Once, Verdict::Go),
            (Mode::Auto, Permission::Secrets, EffectClass::Once, Verdict::Go),
        ];
        for (mode, permission, effect, expected) in cases {
            assert_eq!(verdict(mode, &tool(permission, effect), &none), expected, "{mode:?} {permission:?} {effect:?}");
        }
        let allowed = BTreeSet::from(["t".to_owned()]);
        assert_eq!(verdict(Mode::Default, &tool(Permission::Network, EffectClass::Once), &allowed), Verdict::Go);
        assert_eq!(verdict(Mode::Plan, &tool(Permission::Network, EffectClass::Once), &allowed), Verdict::Blocked);
    }
}
