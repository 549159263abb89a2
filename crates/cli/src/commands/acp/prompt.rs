//! One prompt of an editor, which is a turn: the editor follows it, is asked for the
//! permissions that the agent needs, and gets exactly one response.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use consort_core::chat::Answer;
use consort_core::frame::chat::{Approval, ChatFrame};
use consort_core::frame::live::LiveFrame;
use consort_core::frame::numbered::EventFrame;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::updates::{Plan, call, described, thought, words};
use super::{Agent, Fault};
use crate::client::events::StreamEvent;
use crate::client::received::Frame;
use crate::commands::stdio::INTERNAL_ERROR;
use crate::talk::host::TurnStart;
use crate::talk::turn_view::{End, Shown, TurnView};

/// The ids of what an editor's user may choose, with the answer of each.
const CHOICES: [(&str, &str, &str, Answer); 3] = [
    ("allow", "Allow", "allow_once", Answer::Allow),
    ("allow_for_chat", "Allow in this chat", "allow_always", Answer::AllowForChat),
    ("deny", "Deny", "reject_once", Answer::Deny),
];

/// A turn that is followed.
struct Following {
    session: String,
    folder: PathBuf,
    view: TurnView,
    plan: Plan,
    /// The failure that the turn has told of.
    failure: Option<(String, String)>,
    is_cut: bool,
}

impl Agent {
    /// Answers a prompt once its turn has ended.
    pub(super) async fn prompt(&self, session: &str, params: &Value) -> Result<Value, Fault> {
        let content = message_of(params)?;
        let cancelled = Arc::new(Notify::new());
        {
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            if sessions.prompts.contains_key(session) {
                return Err(Fault::wrong("a prompt of this session is under way: cancel it first"));
            }
            sessions.prompts.insert(session.to_owned(), cancelled.clone());
        }
        let answered = self.followed(session, content, &cancelled).await;
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).prompts.remove(session);
        answered
    }

    async fn followed(&self, session: &str, content: String, cancelled: &Notify) -> Result<Value, Fault> {
        let begun = self.place.say(session, TurnStart::Words(json!({ "content": content }), Vec::new())).await?;
        let mut events = begun.events;
        let mut following = Following {
            session: session.to_owned(),
            folder: self.folder(session),
            view: TurnView::default(),
            plan: Plan::default(),
            failure: None,
            is_cut: false,
        };
        let mut questions: FuturesUnordered<BoxFuture<'_, (String, Answer)>> = FuturesUnordered::new();
        loop {
            tokio::select! {
                event = events.next() => match event {
                    None => return following.ended(),
                    Some(event) => {
                        if let StreamEvent::Frame(received) = event? {
                            let asked = self.tell_frame(received.frame(), &mut following).await;
                            questions.extend(asked.map(|approval| self.ask(&following, approval)));
                        }
                    }
                },
                Some((approval, answer)) = questions.next(), if !questions.is_empty() => {
                    // Somebody else may have answered it first.
                    let _late = self.place.approve(&approval, answer).await;
                }
                () = cancelled.notified() => {
                    // The turn's own end is what answers the prompt.
                    self.place.stop(session).await?;
                }
            }
        }
    }

    /// Tells the editor of a frame; returns the call that it is to be asked about.
    async fn tell_frame(&self, frame: &Frame, following: &mut Following) -> Option<Approval> {
        for shown in following.view.apply(frame, Duration::ZERO) {
            if let Shown::Words(text) = shown {
                self.update(&following.session, words(&text)).await;
            }
        }
        let (updates, asked) = following.read(frame);
        for update in updates {
            self.update(&following.session, update).await;
        }
        asked
    }

    /// Asks the editor's user about a call.
    fn ask(&self, following: &Following, approval: Approval) -> BoxFuture<'_, (String, Answer)> {
        let mut asked = described((&approval.tool_call_id, &approval.tool_name), &approval.args, &following.folder);
        if let Value::Object(fields) = &mut asked {
            fields.insert("status".to_owned(), "pending".into());
            fields.insert("title".to_owned(), approval.message.clone().into());
        }
        let option =
            |(id, name, kind, _): &(&str, &str, &str, Answer)| json!({ "optionId": id, "name": name, "kind": kind });
        let options: Vec<Value> = CHOICES.iter().map(option).collect();
        let params = json!({ "sessionId": following.session, "toolCall": asked, "options": options });
        Box::pin(async move {
            let (id, response) = self.asked.question();
            self.tell(json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params }))
                .await;
            let response = response.await.unwrap_or_default();
            let chosen = response.pointer("/result/outcome/optionId").and_then(Value::as_str);
            // Declining the question, or not being able to ask it, is no permission.
            let choice = CHOICES.iter().find(|(id, ..)| Some(*id) == chosen);
            (approval.approval_id, choice.map_or(Answer::Deny, |(_, _, _, answer)| *answer))
        })
    }
}

impl Following {
    /// Returns what an editor is told of a frame, besides words, and the call it is asked about.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other frames show nothing in an editor")]
    fn read(&mut self, frame: &Frame) -> (Vec<Value>, Option<Approval>) {
        match frame {
            Frame::Live(live) => match &**live {
                LiveFrame::Chunk { level, content, thinking: Some(_), .. } if level.depth == 0 => {
                    (vec![thought(content)], None)
                }
                _ => (Vec::new(), None),
            },
            Frame::Event(event) => match &**event {
                EventFrame::Turn(turn) => self.happened(&turn.frame),
                EventFrame::Run(_) => (Vec::new(), None),
            },
            Frame::Result(_) | Frame::Unknown => (Vec::new(), None),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other frames show nothing in an editor")]
    fn happened(&mut self, frame: &ChatFrame) -> (Vec<Value>, Option<Approval>) {
        match frame {
            ChatFrame::ToolCallUpdate(update) => (vec![call(update, &self.folder)], None),
            ChatFrame::ToolApprovalRequest(approval) => (Vec::new(), Some((**approval).clone())),
            ChatFrame::TaskUpdate { event, task, .. } => (vec![self.plan.apply(*event, task)], None),
            ChatFrame::PermissionModeChanged { permission_mode: mode, .. }
            | ChatFrame::TurnStarted { permission_mode: mode, .. } => {
                (vec![json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode.word() })], None)
            }
            ChatFrame::Message(row) => {
                self.is_cut = row.truncated;
                (Vec::new(), None)
            }
            ChatFrame::Error { code, message, .. } => {
                self.failure = Some((code.clone(), message.clone()));
                (Vec::new(), None)
            }
            _ => (Vec::new(), None),
        }
    }

    /// Returns the answer to the prompt.
    fn ended(self) -> Result<Value, Fault> {
        let reason = match (self.view.end, self.failure) {
            (Some(End::Done), _) if self.is_cut => "max_tokens",
            (Some(End::Done), _) => "end_turn",
            (Some(End::Stopped), _) => "cancelled",
            (_, Some((code, _))) if code == "budget_exceeded" => "max_turn_requests",
            (_, Some((code, message))) => return Err(Fault(INTERNAL_ERROR, format!("{message} ({code})"))),
            (Some(End::Failed) | None, None) => return Err(Fault(INTERNAL_ERROR, "the turn failed".to_owned())),
        };
        Ok(json!({ "stopReason": reason }))
    }
}

/// Returns the text of a prompt; files that come with it are part of it.
fn message_of(params: &Value) -> Result<String, Fault> {
    let blocks = params.get("prompt").and_then(Value::as_array).filter(|blocks| !blocks.is_empty());
    let blocks = blocks.ok_or_else(|| Fault::wrong("`prompt` must be a list of content"))?;
    let parts: Result<Vec<String>, Fault> = blocks.iter().map(part_of).collect();
    let text = parts?.join("\n\n");
    if text.trim().is_empty() { Err(Fault::wrong("`prompt` must say something")) } else { Ok(text) }
}

fn part_of(block: &Value) -> Result<String, Fault> {
    let text = |place: &str| block.pointer(place).and_then(Value::as_str).unwrap_or_default();
    match text("/type") {
        "text" => Ok(text("/text").to_owned()),
        "resource_link" => Ok(format!("[{}]({})", text("/name"), text("/uri"))),
        "resource" if block.pointer("/resource/text").is_some() => {
            Ok(format!("{}:\n```\n{}\n```", text("/resource/uri"), text("/resource/text")))
        }
        kind => Err(Fault::wrong(format!(
            "content of the type `{kind}` is not taken: send text, resource_link or a text resource"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_come_with_a_prompt_are_part_of_it_and_pictures_are_refused() {
        let blocks = json!({ "prompt": [
            { "type": "text", "text": "look" },
            { "type": "resource", "resource": { "uri": "file:///a.txt", "text": "inside" } },
            { "type": "resource_link", "name": "b.txt", "uri": "file:///b.txt" },
        ] });
        let said = message_of(&blocks).unwrap_or_default();
        assert_eq!(said, "look\n\nfile:///a.txt:\n```\ninside\n```\n\n[b.txt](file:///b.txt)");
        for wrong in [
            json!({}),
            json!({ "prompt": [] }),
            json!({ "prompt": [{ "type": "text", "text": " " }] }),
            json!({ "prompt": [{ "type": "image", "data": "" }] }),
        ] {
            assert!(message_of(&wrong).is_err(), "{wrong}");
        }
    }
}
