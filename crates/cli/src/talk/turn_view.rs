//! A turn folded from its frames: the part to show now, and the outcome. Frames of a
//! server and of this process are the same, so this is the one place that interprets
//! them.

use std::time::Duration;

use consort_core::answer::FollowUp;
use consort_core::chat::{self, Mode};
use consort_core::frame::chat::{self as frame, CallStatus, ChatFrame, Level, MessageRow, ThenWord, ToolCallUpdate};
use consort_core::frame::live::LiveFrame;
use consort_core::frame::numbered::EventFrame;
use consort_core::frame::run;
use consort_core::status::Status;

use super::calls::{Call, Calls, State};
use super::usage::Cost;
use crate::client::received::Frame;
use crate::show::block::{Line, Tone};
use crate::show::view::breach;
use crate::show::words::one_line;

/// A turn so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnView {
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
    /// The reason for the question, where it is not the call's own effect.
    pub(crate) why: Option<String>,
    /// The host, MCP server or peer that the arguments go to.
    pub(crate) host: String,
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

impl TurnView {
    /// Applies the next frame, which came at `now`. Frames that this version cannot read
    /// are ignored.
    pub(crate) fn apply(&mut self, frame: &Frame, now: Duration) -> Vec<Shown> {
        match frame {
            Frame::Event(event) => match &**event {
                EventFrame::Turn(event) => self.happened(&event.frame, now),
                EventFrame::Run(_) => Vec::new(),
            },
            Frame::Live(live) => match &**live {
                LiveFrame::Chunk { level, call_id, content, offset, thinking, .. } => {
                    let is_answer = level.depth == 0 && thinking.is_none();
                    if is_answer { self.spoke(call_id, content, *offset) } else { Vec::new() }
                }
                LiveFrame::Token { .. } | LiveFrame::ToolProgress(_) => Vec::new(),
            },
            Frame::Result(_) | Frame::Unknown => Vec::new(),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other frames show nothing by themselves")]
    fn happened(&mut self, frame: &ChatFrame, now: Duration) -> Vec<Shown> {
        match frame {
            ChatFrame::LlmCompleted { level, content, .. } if level.depth == 0 => self.settle(content, Role::Answer),
            ChatFrame::Message(row) if row.role == chat::Role::Assistant => self.stored(row),
            ChatFrame::LlmVoided { level, message, then, .. } => self.voided(level, message, *then),
            ChatFrame::AnswerTruncated { then: FollowUp::Continue, in_call: true, .. } => {
                vec![note(Tone::Odd, "the reply was cut inside a tool call or JSON; it is asked for again")]
            }
            ChatFrame::AnswerTruncated { then: FollowUp::Continue, in_call: false, .. } => {
                vec![note(Tone::Odd, "an answer was cut at the output limit; it is continued")]
            }
            ChatFrame::AnswerEmpty { then: FollowUp::Continue, .. } => {
                vec![note(Tone::Odd, "the model said nothing; it is asked again")]
            }
            ChatFrame::TurnAdopted { epoch, .. } if *epoch > 1 => {
                self.void(note(Tone::Odd, "the server was started again; the turn goes on"))
            }
            ChatFrame::ToolCallUpdate(update) => self.called(update, now),
            ChatFrame::Error { code, message, .. } => vec![note(Tone::Bad, &format!("error: {message} ({code})"))],
            ChatFrame::TurnStopped {} => vec![note(Tone::Odd, "stopped")],
            ChatFrame::GrantWithdrawn { by, .. } => {
                vec![note(Tone::Faint, &format!("{by} revoked what was allowed in this chat"))]
            }
            ChatFrame::PermissionModeChanged { permission_mode, .. } => {
                self.mode = Some(*permission_mode);
                vec![note(Tone::Faint, &format!("mode: {}", permission_mode.word()))]
            }
            ChatFrame::Run(frame) => match &**frame {
                run::Frame::BudgetExceeded(exceeded) => vec![note(Tone::Bad, &breach(exceeded))],
                _ => Vec::new(),
            },
            _ => {
                self.noted(frame);
                Vec::new()
            }
        }
    }

    /// Applies the frames that are not shown by themselves.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other frames change nothing that is shown")]
    fn noted(&mut self, frame: &ChatFrame) {
        match frame {
            ChatFrame::Chunk { status, .. } => self.end = Some(end(*status)),
            ChatFrame::ToolApprovalRequest(approval) => self.asked(approval),
            ChatFrame::ToolApprovalResolved { approval_id, .. } => {
                self.approvals.retain(|open| open.id != *approval_id);
            }
            ChatFrame::TurnStarted { permission_mode, .. } => self.mode = Some(*permission_mode),
            ChatFrame::CostSummary(summary) => self.cost = Some(Cost::read(summary)),
            // The end of a turn or a subtask is reported by another frame than a cut or an
            // empty reply.
            _ => {}
        }
    }

    /// Adds text as it comes. A client that reconnects gets the beginning again, so the
    /// part that was shown already is left out.
    fn spoke(&mut self, call: &str, words: &str, offset: usize) -> Vec<Shown> {
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

    fn stored(&mut self, row: &MessageRow) -> Vec<Shown> {
        // The reason of the failure was shown before: the received text stays.
        if row.is_error {
            let heard = self.speech.take().map(|speech| speech.said).filter(|said| !said.is_empty());
            self.answer = heard;
            return self.answer.iter().map(|_| Shown::Said(Role::Answer)).collect();
        }
        let mut shown = self.stored_words(row);
        if row.truncated {
            shown.push(note(Tone::Odd, "the answer was cut at the output limit; /continue goes on with it"));
        }
        shown
    }

    fn stored_words(&mut self, row: &MessageRow) -> Vec<Shown> {
        let content = row.content.as_str();
        let role = if row.tool_calls.as_ref().is_none_or(Vec::is_empty) { Role::Answer } else { Role::Aside };
        if role == Role::Answer {
            self.answer = Some(content.to_owned());
        }
        let known = self.speech.is_none() && self.said == content;
        if known { Vec::new() } else { self.settle(content, role) }
    }

    fn voided(&mut self, level: &Level, message: &str, then: ThenWord) -> Vec<Shown> {
        let then = match then {
            ThenWord::Retry => "; it is asked again",
            ThenWord::Fallback => "; another model is asked",
            ThenWord::Shorten => "; it is asked again with less",
            // The text stays, and another frame reports the end of the turn.
            ThenWord::GiveUp => return Vec::new(),
        };
        let line = note(Tone::Odd, &format!("the model failed: {message}{then}"));
        if level.depth == 0 { self.void(line) } else { vec![line] }
    }

    fn void(&mut self, line: Shown) -> Vec<Shown> {
        let heard = self.speech.take().is_some_and(|speech| !speech.said.is_empty());
        heard.then_some(Shown::Void).into_iter().chain([line]).collect()
    }

    fn called(&mut self, update: &ToolCallUpdate, now: Duration) -> Vec<Shown> {
        if update.status == CallStatus::Start {
            self.calls.begin(Call::read(update, now));
            return Vec::new();
        }
        let state = match update.is_error {
            Some(true) => State::Failed(one_line(update.result.as_deref().unwrap_or_default())),
            Some(false) | None => State::Done,
        };
        let took = Duration::from_millis(update.duration_ms.unwrap_or_default());
        let ended = self.calls.end(&update.tool_call_id, state, took);
        ended.into_iter().map(Shown::Line).collect()
    }

    fn asked(&mut self, approval: &frame::Approval) {
        self.approvals.push(Approval {
            id: approval.approval_id.clone(),
            tool: one_line(&approval.tool_name),
            args: format!("{:#}", approval.args),
            why: (approval.reason != chat::Reason::Effect).then(|| one_line(&approval.message)),
            host: approval.host.as_deref().map(one_line).unwrap_or_default(),
            within: self.calls.above(&approval.tool_call_id),
        });
        self.calls.waits(&approval.tool_call_id);
    }
}

fn end(status: Status) -> End {
    match status {
        Status::Completed => End::Done,
        Status::Cancelled => End::Stopped,
        Status::Failed | Status::Accepted | Status::Running | Status::Rejected => End::Failed,
    }
}

/// Returns a line of its own.
pub(super) fn note(tone: Tone, text: &str) -> Shown {
    Shown::Line(Line(vec![(tone, one_line(text))]))
}
