//! The record that a turn leaves in its thread: rows, and the tree of its calls.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Grant, MessageView, Presence, Role, Taint, Turn, spoken};
use crate::projections::frame::chat::{MessageRow, RowCall};
use crate::projections::frame::field::Iso;
use crate::state::run::Run;
use consort_spec::id::{Id, Millis};
use consort_spec::message::{Attached, Call, Message, Reply};
use consort_spec::status::Status;
use consort_spec::text::Text;

/// One row of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The role of the author.
    pub role: Role,
    /// The kind of event, with its data.
    pub content: Text,
    /// The reply as the provider gave it, to be sent again unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Arc<Reply>>,
    /// The names of the calls the reply asks for, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
    /// The call that a tool's row answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answered>,
    /// Whether it is an error.
    #[serde(default)]
    pub is_error: bool,
    /// The partial answer before the turn failed.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub partial: Text,
    /// Whether it is an answer that was cut at the output limit.
    #[serde(default)]
    pub truncated: bool,
    /// The id of the truncated row that this one continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// The files that the user attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Attached>,
    /// The calls of the whole turn; only on its last row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Value>,
    /// The time at which it was stored.
    pub at: Millis,
}

/// The call a row answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// The public name of the call.
    pub name: String,
    /// The id of the call in the run.
    pub place: Id,
    /// The provider's id of the call.
    pub provider_id: String,
    /// The name of the tool.
    pub tool: String,
}

impl Row {
    /// Creates a row with only a text.
    pub(crate) fn of_text(role: Role, content: Text, at: Millis) -> Row {
        Row {
            role,
            content,
            reply: None,
            calls: Vec::new(),
            answers: None,
            is_error: false,
            partial: Text::default(),
            truncated: false,
            continues: None,
            files: Vec::new(),
            tree: None,
            at,
        }
    }

    /// Returns the text that readers see: for a failed turn, the partial answer and the reason of the failure.
    pub fn visible_text(&self) -> Text {
        if self.partial.is_empty() {
            return self.content.clone();
        }
        format!("{}\n\n{}", self.partial, self.content).into()
    }

    /// Returns the public id of a row; `index` is its position in its turn.
    pub fn id(turn: &str, index: usize) -> String {
        format!("{turn}-{index}")
    }

    /// Returns the row as it is listed; `index` is its position in its turn.
    pub fn view(&self, turn: &str, index: usize) -> MessageView {
        MessageView {
            id: Row::id(turn, index),
            role: self.role,
            content: self.visible_text(),
            tool_calls: self.asked_calls(),
            tool_call_id: self.answers.as_ref().map(|call| call.name.clone()),
            is_error: self.is_error,
            error: self.error().cloned(),
            truncated: self.truncated,
            continues: self.continues.clone(),
            attachments: self.files.clone(),
            turn_id: turn.to_owned(),
            execution_tree: self.tree.clone(),
            created_at: Iso(self.at),
        }
    }

    /// Returns the row as it is announced in a frame.
    pub(crate) fn message(&self, turn: &str, index: usize) -> MessageRow {
        let view = self.view(turn, index);
        MessageRow {
            id: view.id,
            role: view.role,
            content: view.content,
            tool_calls: view.tool_calls,
            tool_call_id: view.tool_call_id,
            is_error: view.is_error,
            error: view.error,
            truncated: view.truncated,
            continues: view.continues,
            attachments: view.attachments,
            execution_tree: view.execution_tree,
            created_at: view.created_at,
            ..MessageRow::default()
        }
    }

    /// Returns the reason for a failed turn.
    fn error(&self) -> Option<&Text> {
        (self.is_error && self.role == Role::Assistant).then_some(&self.content)
    }

    /// Returns the calls it asks for; none when there are none.
    fn asked_calls(&self) -> Option<Vec<RowCall>> {
        let calls = self.reply.iter().flat_map(|reply| reply.calls()).zip(&self.calls);
        let call = |(call, name): (&Call, &String)| RowCall {
            id: name.clone(),
            name: call.tool.clone(),
            args: serde_json::from_str(call.args.as_str()).unwrap_or_else(|_| json!(call.args)),
        };
        let calls: Vec<RowCall> = calls.map(call).collect();
        (!calls.is_empty()).then_some(calls)
    }
}

/// Returns rows as messages to a model: a reply without text and error texts are left out, and a call
/// without a result gets one that says so.
pub fn history<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<Message> {
    let mut messages = Vec::new();
    // The calls of the last reply that no row has answered yet, by their position.
    let mut open: Vec<(usize, &Call)> = Vec::new();
    for row in rows {
        if row.role != Role::Tool {
            messages.extend(open.drain(..).map(unanswered));
        }
        match (row.role, &row.reply, &row.answers) {
            (Role::User, _, _) => {
                messages.push(Message::User { text: row.content.clone() });
                messages.extend((!row.files.is_empty()).then(|| Message::Files { files: row.files.clone() }));
            }
            (Role::Assistant, Some(reply), _) => {
                open = reply.calls().enumerate().collect();
                messages.push(Message::Assistant(reply.clone()));
            }
            (Role::Assistant, None, _) => {
                let said = if row.is_error { &row.partial } else { &row.content };
                messages.extend((!said.is_empty()).then(|| Message::Assistant(spoken(said))));
            }
            (Role::Tool, _, Some(call)) => {
                let position = call.place.parent().map(|(_, position)| position);
                open.retain(|(index, _)| Some(*index) != position);
                messages.push(answered(row, call));
            }
            (Role::Tool, _, None) => {}
        }
    }
    messages.extend(open.into_iter().map(unanswered));
    messages
}

fn answered(row: &Row, call: &Answered) -> Message {
    Message::Tool {
        call: call.place.clone(),
        provider_id: call.provider_id.clone(),
        name: call.tool.clone(),
        text: row.content.clone(),
        is_error: row.is_error,
    }
}

fn unanswered((index, call): (usize, &Call)) -> Message {
    Message::Tool {
        call: Id::task(0).call(0, index),
        provider_id: call.provider_id.clone(),
        name: call.tool.clone(),
        text: "interrupted: it may already have taken effect; check before repeating it".into(),
        is_error: true,
    }
}

/// A turn in the list of its thread's turns, with its rows once it has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listed<'a> {
    thread: &'a str,
    turn: &'a str,
    model: &'a str,
    status: Status,
    base: u64,
    next: u64,
    presence: Presence,
    grants: &'a [Grant],
    sources: Vec<String>,
    open_approvals: usize,
    total_tokens: i64,
    cost_usd: Option<f64>,
    rows: &'a [Row],
}

/// A listed turn as it is read back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Stored {
    /// The id of the turn.
    pub turn: String,
    /// The status word.
    pub status: Status,
    /// The number of its first event in the thread.
    pub base: u64,
    /// The number that follows its last event so far.
    pub next: u64,
    /// Whether a client must stay connected for it to go on.
    #[serde(default)]
    pub presence: Presence,
    /// The permissions that the user has given for the rest of the thread.
    #[serde(default)]
    pub grants: Vec<Grant>,
    /// The sources that the thread has read so far; absent in rows of versions that did not count them.
    #[serde(default)]
    pub sources: Option<Vec<String>>,
    /// The number of questions for permission that are open.
    pub open_approvals: usize,
    /// The number of tokens used so far; -1 when some model did not report it.
    #[serde(default)]
    pub total_tokens: i64,
    /// The cost so far, in dollars, where every model has a price.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// The rows it left in the thread; empty until it has ended.
    pub rows: Vec<Row>,
}

/// Returns what a thread has read in these turns, the oldest first. A row of an earlier version does not say
/// it: there every result of a tool counts.
pub fn sources<'a>(turns: impl IntoIterator<Item = &'a Stored>) -> Vec<String> {
    let mut read = Taint::default();
    for turn in turns {
        match &turn.sources {
            Some(known) => read = Taint::of_thread(known.clone()),
            None => turn.rows.iter().filter_map(|row| row.answers.as_ref()).for_each(|call| read.read(&call.tool)),
        }
    }
    read.sources()
}

impl Run {
    /// Returns the turn as it is listed. Rows are included once the turn has ended, so that they are written
    /// once.
    pub(crate) fn turn_row<'a>(&'a self, chat: &'a Turn, run: &'a str) -> Listed<'a> {
        Listed {
            thread: &chat.thread,
            turn: run,
            model: &self.spec().model,
            status: self.status(),
            base: chat.base,
            next: chat.base + self.chat().events,
            presence: chat.presence,
            grants: &self.chat().grants,
            sources: self.chat().taint.sources(),
            open_approvals: self.chat().open.len(),
            total_tokens: self.total_tokens(),
            cost_usd: self.cost_usd(),
            rows: if self.ended() { self.rows() } else { &[] },
        }
    }
}

/// One call in the tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) parent_id: Option<String>,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    pub(crate) args_preview: String,
    pub(crate) result_preview: String,
    pub(crate) is_error: bool,
    pub(crate) duration_ms: u64,
    #[serde(skip)]
    pub(crate) place: Id,
    /// The time at which it was handed to the client, if it was.
    #[serde(skip)]
    pub(crate) begun_at: Option<Millis>,
}

impl Node {
    /// Creates a node without a result yet.
    pub(crate) fn new(id: String, name: &str, args_preview: String, place: &Id) -> Node {
        Node {
            id,
            parent_id: None,
            name: name.to_owned(),
            title: None,
            args_preview,
            result_preview: "interrupted".to_owned(),
            is_error: true,
            duration_ms: 0,
            place: place.clone(),
            begun_at: None,
        }
    }
}

/// Returns the tree as it is stored; none when nothing was called.
pub(crate) fn tree(nodes: &[Node]) -> Option<Value> {
    (!nodes.is_empty()).then(|| json!({ "version": 1, "nodes": nodes }))
}
