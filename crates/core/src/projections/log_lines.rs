//! The log lines of a verbose run: prompts, replies, and calls, whose results are cut to the configured
//! length.

use crate::state::run::Run;
use consort_spec::event::{Event, EventKind};
use consort_spec::id::Id;

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The kind of line: `prompt`, `reply` or `tool`.
    pub what: &'static str,
    /// The id of the conversation or call it belongs to.
    pub place: Id,
    /// The text.
    pub text: String,
}

impl Run {
    /// Returns the log line for an event, which was just applied to this run; none unless the run is verbose.
    pub fn aloud(&self, event: &Event) -> Option<LogLine> {
        let kind = Some(&event.kind).filter(|_| self.spec().options.verbose)?;
        prompt(kind).or_else(|| reply(kind)).or_else(|| self.tool(kind))
    }

    fn tool(&self, kind: &EventKind) -> Option<LogLine> {
        let EventKind::ToolReturned { call, outcome, .. } = kind else { return None };
        let (name, args) = self.asked_call(call);
        let (_, result, _) = self.result_words(call, outcome);
        let result = cut(result, self.spec().options.tool_log_truncate);
        Some(LogLine { what: "tool", place: call.clone(), text: format!("{name} {args} -> {result}") })
    }
}

fn prompt(kind: &EventKind) -> Option<LogLine> {
    let (EventKind::PromptBuilt { conversation, system, user }
    | EventKind::SubtaskStarted { call: conversation, system, user, .. }
    | EventKind::DelegationStarted { call: conversation, system, user, .. }) = kind
    else {
        return None;
    };
    Some(LogLine {
        what: "prompt",
        place: conversation.clone(),
        text: format!("{}\n\n{}", system.as_str(), user.as_str()),
    })
}

fn reply(kind: &EventKind) -> Option<LogLine> {
    let EventKind::ModelReplied { conversation, reply, .. } = kind else { return None };
    let calls = reply.calls().map(|call| format!("{} {}", call.tool, call.args.as_str()));
    let words = Some(reply.text()).filter(|text| !text.is_empty());
    let text = words.into_iter().chain(calls).collect::<Vec<_>>().join("\n");
    Some(LogLine { what: "reply", place: conversation.clone(), text })
}

/// Returns the first characters of a text, with the total number when it was cut.
fn cut(text: String, max: Option<usize>) -> String {
    match max.and_then(|max| text.char_indices().nth(max)) {
        Some((at, _)) => format!("{}… [{} characters]", text.get(..at).unwrap_or_default(), text.chars().count()),
        None => text,
    }
}
