//! A message as a client sends it, over HTTP or a socket.

use serde_json::{Map, Value};

use super::{CLIENT_PREFIX, Earlier, Editor, Mode};
use crate::message::Attached;
use crate::requests::attachments::ATTACHMENTS_MAX;
use crate::requests::catalog::{EffectClass, Permission, ToolInfo};
use crate::requests::mistake::{Code, Mistake};
use crate::requests::model_options::ModelOptions;
use crate::schema::Schema;
use crate::text::Text;
use crate::unknown::{UNKNOWN_MAX, ignored};

/// The maximum number of bytes of one message.
pub const CONTENT_MAX: usize = 512 * 1024;
/// The maximum number of tools one client may offer.
const CLIENT_TOOLS_MAX: usize = 128;

/// The fields of a message. Those of older clients are among them and change nothing.
const FIELDS: [&str; 13] = [
    "attachments",
    "content",
    "model",
    "media_generation",
    "chat_context",
    "workflow_id",
    "workflow_target",
    "collections",
    "memory_enabled",
    "permission_mode",
    "if_busy",
    "agent_mode",
    "tools",
];
/// The fields of `chat_context`.
const CONTEXT_FIELDS: [&str; 3] = ["kind", "workflowId", "workflow_id"];

/// The message that asks for the rest of an answer.
const GO_ON: &str = "Continue exactly where your answer was cut off, without repeating anything.";

/// A message from a person.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct UserMessage {
    /// The text.
    pub content: Text,
    /// The alias of the model to ask.
    pub model: Option<String>,
    /// The workflow that is open in the editor.
    pub editor: Option<Editor>,
    /// The saved workflow that answers instead of the chat agent.
    pub workflow: Option<String>,
    /// The collections to search for the answer.
    pub collections: Vec<String>,
    /// The ids of the files that the user attached.
    #[serde(default)]
    pub attachments: Vec<String>,
    /// The same files, once they are found.
    #[serde(default)]
    pub files: Vec<Attached>,
    /// Whether facts about the user may be recalled and new ones stored.
    pub remembers: bool,
    /// The permission mode.
    pub mode: Option<Mode>,
    /// The action while another turn runs.
    pub if_busy: IfBusy,
    /// The tools the client offers.
    #[serde(default)]
    pub client_tools: Vec<ToolInfo>,
    /// Whether a client must stay connected for it to be answered.
    #[serde(default)]
    pub presence: Presence,
    /// A warning about the message, which is answered all the same.
    #[serde(default)]
    pub odd: Option<String>,
    /// The id of the truncated row to continue.
    #[serde(default)]
    pub continues: Option<String>,
    /// The trace it came with.
    #[serde(default)]
    pub traceparent: Option<String>,
    /// The messages from before the thread began; only for a thread's first message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Earlier>,
    /// The client's own instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Text>,
    /// Whether it is answered without tools.
    #[serde(default)]
    pub without_tools: bool,
    /// The options for the model's answers.
    #[serde(default, skip_serializing_if = "ModelOptions::is_empty")]
    pub model_options: ModelOptions,
}

/// The effect of a message that arrives while another turn of its thread runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IfBusy {
    /// It stops that turn.
    #[default]
    Interrupt,
    /// It is turned down.
    Reject,
    /// It waits.
    Queue,
}

/// The placement of a new message in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// Its turn starts at once.
    Begin,
    /// The running turn is stopped, then its own starts.
    Interrupt,
    /// It is queued after the running turn and the messages that wait.
    Wait,
    /// It is refused because of this turn.
    Refuse {
        /// The id of the running turn, or else of the first that waits.
        turn: &'a str,
    },
}

impl IfBusy {
    /// Decides the placement of a new message, given the running turn and the first one that waits. A thread is
    /// also busy between two turns: waiting messages come first. Only an interruption overtakes them.
    pub fn entry<'a>(self, running: Option<&'a str>, waiting: Option<&'a str>) -> Entry<'a> {
        match (self, running.or(waiting)) {
            (_, None) => Entry::Begin,
            (IfBusy::Queue, Some(_)) => Entry::Wait,
            (IfBusy::Reject, Some(turn)) => Entry::Refuse { turn },
            (IfBusy::Interrupt, Some(_)) if running.is_some() => Entry::Interrupt,
            (IfBusy::Interrupt, Some(_)) => Entry::Begin,
        }
    }
}

/// Whether a client must stay connected for a turn to go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It goes on without a client.
    #[default]
    Free,
    /// It stops some time after its last client has left.
    Attended,
}

fn wrong(place: &str, message: impl Into<String>) -> Mistake {
    Mistake::new(Code::BadRequest, place, message)
}

impl UserMessage {
    /// Creates the message that asks for the rest of the truncated answer in this row.
    pub fn continuing(row: String) -> UserMessage {
        UserMessage { content: GO_ON.into(), continues: Some(row), ..UserMessage::default() }
    }

    /// Returns warnings about a message as it was sent: its oddities, and its unknown fields.
    /// `around` are the fields of the frame that it came in.
    pub fn warnings(&self, sent: &Value, around: &[&str]) -> Vec<String> {
        let unknown = |fields: Option<&Map<String, Value>>, place: &str, known: &[&str]| {
            let names = fields.into_iter().flat_map(Map::keys).filter(|name| !known.contains(&name.as_str()));
            let warning = |name: &String| ignored(&format!("{place}{name}"), name, known.iter().copied());
            names.map(warning).collect::<Vec<_>>()
        };
        let context = sent.get("chat_context").and_then(Value::as_object);
        let inner = unknown(context, "chat_context.", &CONTEXT_FIELDS);
        let outer = unknown(sent.as_object(), "", &[&FIELDS, around].concat());
        self.odd.iter().cloned().chain(outer).chain(inner).take(UNKNOWN_MAX).collect()
    }

    /// Reads a message. Obsolete fields of older clients are ignored.
    pub fn read(sent: &Value) -> Result<UserMessage, Mistake> {
        let fields = sent.as_object().ok_or_else(|| wrong("", "a message is a JSON object"))?;
        let medium = fields.get("media_generation").and_then(|media| media.get("mode"));
        if medium.is_some_and(|mode| !mode.is_null() && mode != "chat") {
            let message = "media_generation_unavailable: this server does not generate media";
            return Err(Mistake::new(Code::MediaGenerationUnavailable, "media_generation", message));
        }
        let content = text(fields, "content")?.filter(|content| !content.trim().is_empty());
        let content = content.ok_or_else(|| wrong("content", "`content` must say something"))?;
        if content.len() > CONTENT_MAX {
            return Err(wrong("content", format!("`content` may have {CONTENT_MAX} bytes")));
        }
        let attachments = texts(fields, "attachments")?;
        if attachments.len() > ATTACHMENTS_MAX {
            return Err(wrong("attachments", format!("a message has at most {ATTACHMENTS_MAX} attachments")));
        }
        let (editor, odd) = editor(fields)?;
        Ok(UserMessage {
            content: content.into(),
            model: text(fields, "model")?.map(str::to_owned),
            editor,
            workflow: workflow(fields)?,
            collections: texts(fields, "collections")?,
            attachments,
            files: Vec::new(),
            remembers: flag(fields, "memory_enabled")?,
            mode: mode(fields, "permission_mode")?,
            if_busy: if_busy(fields)?,
            odd,
            ..UserMessage::default()
        })
    }
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Mistake> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(name, format!("`{name}` must be a string"))),
    }
}

fn flag(fields: &Map<String, Value>, name: &str) -> Result<bool, Mistake> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(wrong(name, format!("`{name}` must be true or false"))),
    }
}

fn texts(fields: &Map<String, Value>, name: &str) -> Result<Vec<String>, Mistake> {
    let not_texts = || wrong(name, format!("`{name}` must be a list of strings"));
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(not_texts)).collect()
        }
        Some(_) => Err(not_texts()),
    }
}

/// Reads a mode by its name, if one is given.
pub fn mode(fields: &Map<String, Value>, name: &str) -> Result<Option<Mode>, Mistake> {
    let unknown = |word: &str| wrong(name, format!("`{name}` must be plan, default or auto, not '{word}'"));
    text(fields, name)?.map(|word| Mode::parse(word).ok_or_else(|| unknown(word))).transpose()
}

fn if_busy(fields: &Map<String, Value>) -> Result<IfBusy, Mistake> {
    match text(fields, "if_busy")? {
        None | Some("interrupt") => Ok(IfBusy::Interrupt),
        Some("reject") => Ok(IfBusy::Reject),
        Some("queue") => Ok(IfBusy::Queue),
        Some(word) => Err(wrong("if_busy", format!("`if_busy` must be interrupt, reject or queue, not '{word}'"))),
    }
}

/// Reads the editor, a word or an object; an unknown kind means an ordinary thread, with a warning.
fn editor(fields: &Map<String, Value>) -> Result<(Option<Editor>, Option<String>), Mistake> {
    let (kind, id) = match fields.get("chat_context") {
        None | Some(Value::Null) => return Ok((None, None)),
        Some(Value::String(kind)) => (kind.as_str(), None),
        Some(Value::Object(context)) => {
            let kind = text(context, "kind")?.unwrap_or("thread");
            (kind, text(context, "workflowId")?.or(text(context, "workflow_id")?))
        }
        Some(_) => return Err(wrong("chat_context", "`chat_context` must be an object or a string")),
    };
    let workflow = id.or(text(fields, "workflow_id")?).map(str::to_owned);
    match kind {
        "editor" => Ok((Some(Editor { workflow }), None)),
        "thread" => Ok((None, None)),
        other => Ok((None, Some(format!("`chat_context` is editor or thread, not '{other}': it counts as thread")))),
    }
}

/// Reads the workflow that answers. A bare `workflow_id` names the open workflow, not the one that answers.
fn workflow(fields: &Map<String, Value>) -> Result<Option<String>, Mistake> {
    if text(fields, "workflow_target")? != Some("workflow") {
        return Ok(None);
    }
    let id = text(fields, "workflow_id")?.map(str::to_owned);
    id.map(Some).ok_or_else(|| wrong("workflow_id", "`workflow_target` needs a `workflow_id`"))
}

/// Reads the tools a client offers, and checks each.
pub fn manifest(tools: &Value) -> Result<Vec<ToolInfo>, Mistake> {
    let tools = tools.as_array().ok_or_else(|| wrong("tools", "`tools` must be a list"))?;
    if tools.len() > CLIENT_TOOLS_MAX {
        return Err(wrong("tools", format!("a client may offer {CLIENT_TOOLS_MAX} tools")));
    }
    tools.iter().enumerate().map(|(index, tool)| client_tool(tool, &format!("tools[{index}]"))).collect()
}

fn client_tool(tool: &Value, place: &str) -> Result<ToolInfo, Mistake> {
    let fields = tool.as_object().ok_or_else(|| wrong(place, "a tool is a JSON object"))?;
    let is_name =
        |name: &&str| name.starts_with(CLIENT_PREFIX) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let name = text(fields, "name")?.filter(is_name);
    let name =
        name.ok_or_else(|| wrong(place, format!("a client's tool has a name that begins with `{CLIENT_PREFIX}`")))?;
    let description = text(fields, "description")?.unwrap_or_default();
    let schema = fields.get("parameters").filter(|schema| !schema.is_null()).cloned();
    let schema = schema.unwrap_or_else(|| serde_json::json!({ "type": "object" }));
    let schema = Schema::parse(schema).map_err(|reason| Mistake::new(Code::InvalidSchema, place, reason))?;
    Ok(ToolInfo {
        schema,
        permission: Permission::EditorMutate,
        effect: EffectClass::Once,
        parallel_safe: false,
        ..ToolInfo::new(name, description)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_read_in_every_spelling_and_old_fields_are_passed_over() {
        let say = |sent: Value| UserMessage::read(&sent).unwrap();
        let old =
            say(json!({ "content": "hi", "agent_mode": true, "tools": ["x"], "media_generation": { "mode": "chat" } }));
        assert_eq!(old, UserMessage { content: "hi".into(), ..UserMessage::default() });
        let editor = |context: Value| say(json!({ "content": "hi", "chat_context": context })).editor;
        let with = |id: &str| Some(Editor { workflow: Some(id.to_owned()) });
        assert_eq!(editor(json!({ "kind": "editor", "workflowId": "w" })), with("w"));
        assert_eq!(editor(json!({ "kind": "editor", "workflow_id": "w" })), with("w"));
        assert_eq!(editor(json!("editor")), Some(Editor::default()));
        assert_eq!((editor(json!("thread")), editor(json!({ "kind": "moon" }))), (None, None));
        let odd = |context: Value| say(json!({ "content": "hi", "chat_context": context })).odd;
        assert_eq!((odd(json!("thread")), odd(json!({ "kind": "editor" }))), (None, None));
        assert!(odd(json!({ "kind": "moon" })).unwrap().contains("moon"));
        assert_eq!(say(json!({ "content": "hi", "media_generation": { "mode": null } })).content.as_str(), "hi");
        assert_eq!(say(json!({ "content": "hi", "workflow_id": "w" })).workflow, None);
    }

    #[test]
    fn a_message_goes_behind_the_turn_that_runs_and_those_that_wait_unless_it_interrupts() {
        use IfBusy::{Interrupt, Queue, Reject};
        let idle = (None, None);
        let runs = (Some("r"), None);
        let waits = (None, Some("w"));
        let both = (Some("r"), Some("w"));
        let cases = [
            (Queue, idle, Entry::Begin),
            (Queue, runs, Entry::Wait),
            (Queue, waits, Entry::Wait),
            (Queue, both, Entry::Wait),
            (Reject, idle, Entry::Begin),
            (Reject, runs, Entry::Refuse { turn: "r" }),
            (Reject, waits, Entry::Refuse { turn: "w" }),
            (Reject, both, Entry::Refuse { turn: "r" }),
            (Interrupt, idle, Entry::Begin),
            (Interrupt, runs, Entry::Interrupt),
            (Interrupt, waits, Entry::Begin),
            (Interrupt, both, Entry::Interrupt),
        ];
        for (if_busy, (running, waiting), entry) in cases {
            assert_eq!(if_busy.entry(running, waiting), entry, "{if_busy:?} {running:?} {waiting:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let place = |sent: Value| UserMessage::read(&sent).unwrap_err().place;
        assert_eq!(place(json!({ "content": " " })), "content");
        assert_eq!(place(json!({ "content": "x", "if_busy": "maybe" })), "if_busy");
        assert_eq!(place(json!({ "content": "x", "permission_mode": "yolo" })), "permission_mode");
        assert_eq!(place(json!({ "content": "x", "collections": [1] })), "collections");
        assert_eq!(place(json!({ "content": "x", "media_generation": { "mode": "image" } })), "media_generation");
        assert_eq!(place(json!({ "content": "x", "workflow_target": "workflow" })), "workflow_id");
        for tools in [
            json!([{ "name": "calculator" }]),
            json!([{ "name": "ui_x y" }]),
            json!([{ "name": "ui_x", "parameters": { "type": "nonsense" } }]),
        ] {
            assert_eq!(manifest(&tools).unwrap_err().place, "tools[0]");
        }
        assert_eq!(manifest(&json!([{ "name": "ui_x" }])).unwrap()[0].name, "ui_x");
    }
}
