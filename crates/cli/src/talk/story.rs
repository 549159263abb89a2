//! A turn folded from its frames: the part to show now, and the outcome. Frames of a
//! server and of this process are the same, so this is the one place that interprets
//! them.

use std::time::Duration;

use consort_core::chat::Mode;
use serde_json::Value;

use super::calls::{Call, Calls, State};
use super::tally::Cost;
use crate::show::block::{Line, Tone};
use crate::show::frame::Frame;
use crate::show::view::breach;
use crate::show::words::one_line;

/// A turn so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Story {
    /// The current text of the model, until it is complete.
    speech: Option<Speech>,
    /// The last complete text.
    said: String,
    /// Calls that are shown while they last.
    pub(crate) calls: Calls,
    /// Open approvals.
    pub(crate) approvals: Vec<Approval>,
    /// The last text of the assistant that was stored.
    pub(crate) answer: Option<String>,
    /// The usage of the turn.
    pub(crate) cost: Option<Cost>,
    /// The actions that it may do without approval.
    pub(crate) mode: Option<Mode>,
    /// The end of the turn.
    pub(crate) end: Option<End>,
}

#[derive(Clone, Debug, Default)]
struct Speech {
    call: String,
    said: String,
}

/// A call that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Approval {
    /// Its public id.
    pub(crate) id: String,
    /// The tool.
    pub(crate) tool: String,
    /// The exact arguments, over several lines.
    pub(crate) args: String,
    /// The subtasks around it, outermost first.
    pub(crate) within: Vec<String>,
}

/// The final state of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It has an answer.
    Done,
    /// It has none, or only a part of one.
    Failed,
    /// It was stopped.
    Stopped,
}

/// An update of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// More text of the assistant.
    Words(String),
    /// The text is complete.
    Said(Role),
    /// The text is void: the model is called again.
    Void,
    /// A line about an event.
    Line(Line),
}

/// The role of a text of the assistant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A text before tool calls.
    Aside,
    /// The answer.
    Answer,
}

impl Story {
    /// Applies the next frame, which came at `now`.
    pub(crate) fn apply(&mut self, frame: &Frame, now: Duration) -> Vec<Shown> {
        let root = frame.count("depth").unwrap_or(0) == 0;
        match frame.kind() {
            "chunk" if frame.flag("done") => {
                self.end = Some(end(frame.text("status")));
                Vec::new()
            }
            "chunk" if root && !frame.flag("thinking") => self.spoke(frame),
            "llm_completed" if root => self.settle(frame.text("content"), Role::Answer),
            "message" if frame.text("role") == "assistant" => self.stored(frame),
            "llm_voided" => self.voided(frame),
            "answer_truncated" | "answer_empty" => self.unanswered(frame),
            "turn_adopted" if frame.count("epoch") > Some(1) => {
                self.void(note(Tone::Odd, "the server was started again; the turn goes on"))
            }
            "tool_call_update" => self.called(frame, now),
            "tool_approval_request" => self.asked(frame),
            "tool_approval_resolved" => {
                self.approvals.retain(|open| open.id != frame.text("approval_id"));
                Vec::new()
            }
            "turn_started" => {
                self.mode = Mode::parse(frame.text("permission_mode"));
                Vec::new()
            }
            "permission_mode_changed" => {
                self.mode = Mode::parse(frame.text("permission_mode"));
                vec![note(Tone::Faint, &format!("mode: {}", frame.text("permission_mode")))]
            }
            "budget_exceeded" => vec![note(Tone::Bad, &breach(frame))],
            "error" => vec![note(Tone::Bad, &format!("error: {} ({})", frame.text("message"), frame.text("code")))],
            "turn_stopped" => vec![note(Tone::Odd, "stopped")],
            "cost_summary" => {
                self.cost = Some(Cost::read(frame));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Adds text as it comes. A client that reconnects gets the beginning again, so the
    /// part that was shown already is left out.
    fn spoke(&mut self, frame: &Frame) -> Vec<Shown> {
        let (call, words) = (frame.text("call_id"), frame.text("content"));
        let offset = frame.count("offset").and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
        let mut shown = Vec::new();
        if self.speech.as_ref().is_some_and(|speech| speech.call != call && !speech.said.is_empty()) {
            shown.push(Shown::Void);
        }
        let speech = match &mut self.speech {
            Some(speech) if speech.call == call => speech,
            other => other.insert(Speech { call: call.to_owned(), said: String::new() }),
        };
        let fresh = speech.said.len().checked_sub(offset).and_then(|heard| words.get(heard..)).unwrap_or_default();
        speech.said.push_str(fresh);
        shown.extend((!fresh.is_empty()).then(|| Shown::Words(fresh.to_owned())));
        shown
    }

    /// Completes a text, which may be longer than the part that was received.
    fn settle(&mut self, whole: &str, role: Role) -> Vec<Shown> {
        let heard = self.speech.take().map(|speech| speech.said).unwrap_or_default();
        whole.clone_into(&mut self.said);
        let mut shown = Vec::new();
        let rest = whole.strip_prefix(heard.as_str()).unwrap_or_else(|| {
            shown.push(Shown::Void);
            whole
        });
        shown.extend((!rest.is_empty()).then(|| Shown::Words(rest.to_owned())));
        shown.extend((!whole.is_empty()).then_some(Shown::Said(role)));
        shown
    }

    fn stored(&mut self, frame: &Frame) -> Vec<Shown> {
        // The reason of the failure was shown before: the received text stays.
        if frame.flag("is_error") {
            let heard = self.speech.take().map(|speech| speech.said).filter(|said| !said.is_empty());
            self.answer = heard;
            return self.answer.iter().map(|_| Shown::Said(Role::Answer)).collect();
        }
        let mut shown = self.stored_words(frame);
        if frame.flag("truncated") {
            shown.push(note(Tone::Odd, "the answer was cut at the output limit; /continue goes on with it"));
        }
        shown
    }

    fn stored_words(&mut self, frame: &Frame) -> Vec<Shown> {
        let content = frame.text("content");
        let role = if frame.list("tool_calls").is_empty() { Role::Answer } else { Role::Aside };
        if role == Role::Answer {
            self.answer = Some(content.to_owned());
        }
        let known = self.speech.is_none() && self.said == content;
        if known { Vec::new() } else { self.settle(content, role) }
    }

    fn voided(&mut self, frame: &Frame) -> Vec<Shown> {
        let then = match frame.text("then") {
            "retry" => "; it is asked again",
            "fallback" => "; another model is asked",
            "shorten" => "; it is asked again with less",
            // The text stays, and another frame reports the end of the turn.
            _ => return Vec::new(),
        };
        let line = note(Tone::Odd, &format!("the model failed: {}{then}", frame.text("message")));
        if frame.count("depth") == Some(0) { self.void(line) } else { vec![line] }
    }

    /// Handles a reply that is no answer; a cut one of the root is shown with its row.
    fn unanswered(&mut self, frame: &Frame) -> Vec<Shown> {
        let line = match (frame.kind(), frame.text("then"), frame.flag("in_call")) {
            ("answer_empty", "continue", _) => "the model said nothing; it is asked again",
            ("answer_truncated", "continue", true) => "the reply was cut inside a tool call; it is asked for again",
            ("answer_truncated", "continue", false) => "an answer was cut at the output limit; it is continued",
            // Another frame reports the end of the turn or the subtask.
            _ => return Vec::new(),
        };
        vec![note(Tone::Odd, line)]
    }

    fn void(&mut self, line: Shown) -> Vec<Shown> {
        let heard = self.speech.take().is_some_and(|speech| !speech.said.is_empty());
        heard.then_some(Shown::Void).into_iter().chain([line]).collect()
    }

    fn called(&mut self, frame: &Frame, now: Duration) -> Vec<Shown> {
        let id = frame.text("tool_call_id");
        if frame.text("status") == "start" {
            self.calls.begin(Call::read(frame, now));
            return Vec::new();
        }
        let state = match frame.flag("is_error") {
            true => State::Failed(one_line(frame.text("result"))),
            false => State::Done,
        };
        let took = frame.span("duration_ms").unwrap_or_default();
        let ended = self.calls.end(id, state, took);
        ended.into_iter().map(Shown::Line).collect()
    }

    fn asked(&mut self, frame: &Frame) -> Vec<Shown> {
        let call = frame.text("tool_call_id");
        let args = frame.value("args").map(|args| format!("{args:#}")).unwrap_or_default();
        self.approvals.push(Approval {
            id: frame.text("approval_id").to_owned(),
            tool: one_line(frame.text("tool_name")),
            args,
            within: self.calls.above(call),
        });
        self.calls.waits(call);
        Vec::new()
    }
}

fn end(status: &str) -> End {
    match status {
        "COMPLETED" => End::Done,
        "CANCELLED" => End::Stopped,
        _ => End::Failed,
    }
}

/// Returns a line of its own.
pub(super) fn note(tone: Tone, text: &str) -> Shown {
    Shown::Line(Line(vec![(tone, one_line(text))]))
}

impl Frame {
    fn flag(&self, name: &str) -> bool {
        self.value(name).and_then(Value::as_bool).unwrap_or_default()
    }
}
