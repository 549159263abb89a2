//! Requests of OpenAI's clients, as they are meant here: a message, the messages before it, and the conversation that
//! it belongs to. A field that would change the answer and is not supported is refused; one that has no effect is named
//! in `warnings`.

use axum::body::Bytes;
use consort_core::chat::{CONTENT_MAX, Earlier, Role};
use consort_core::choice::Choice;
use consort_core::message::Attached;
use consort_core::model_options::{ModelOptions, ReasoningEffort};
use serde_json::{Map, Value};

use super::error::wrong;
use super::files::{self, Brought, FILE_PARTS};
use crate::problem::Problem;

/// Messages of one request: more than any conversation that a model can read.
const MESSAGES_MAX: usize = 1_000;
/// Bytes of the name of a conversation.
const NAME_MAX: usize = 200;
/// Unknown and ineffective fields that are named.
const NAMED_MAX: usize = 32;
/// The beginning of the prompts that chat UIs write titles, tags and suggestions with.
const AUXILIARY: &str = "### Task:";

/// Fields that are read, whichever of the two endpoints they belong to.
const READ: [&str; 17] = [
    "model",
    "messages",
    "input",
    "instructions",
    "stream",
    "stream_options",
    "temperature",
    "top_p",
    "seed",
    "reasoning_effort",
    "reasoning",
    "metadata",
    "conversation",
    "previous_response_id",
    "n",
    "response_format",
    "text",
];
/// Fields that say nothing about the answer.
const QUIET: [&str; 8] = [
    "user",
    "store",
    "include",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "truncation",
];
/// Fields that would change the answer and cannot be done; empty ones are as good as none.
const REFUSED: [(&str, &str); 12] = [
    ("tools", "this model calls its own tools and cannot call those of a client"),
    ("functions", "this model calls its own tools and cannot call those of a client"),
    ("tool_choice", "this model chooses among its own tools"),
    ("stop", "stop sequences are not supported"),
    ("audio", "only text is answered"),
    ("logprobs", "there are no log probabilities"),
    ("top_logprobs", "there are no log probabilities"),
    ("web_search_options", "whether it searches the web is part of the configuration"),
    ("background", "send the request without it, or begin a run with POST /api/runs"),
    ("prompt", "stored prompts are not supported"),
    ("max_tool_calls", "limits are part of the configuration, in [chat.budget]"),
    ("prediction", "predicted output is not supported"),
];

/// A request.
#[derive(Debug, Default, PartialEq)]
pub struct ClientRequest {
    /// The model as it was asked for.
    pub model: String,
    /// The message to answer.
    pub content: String,
    /// The earlier messages in this request.
    pub earlier: Vec<Earlier>,
    /// The client's instructions.
    pub instructions: Option<String>,
    /// The files as they came: those of the message, and of the messages before it.
    pub brought: Vec<Brought>,
    /// The same files, once they are stored.
    pub files: Vec<Attached>,
    /// The memory that the files take, as long as they are not stored.
    pub counted: Bytes,
    /// The conversation that it belongs to.
    pub place: ThreadChoice,
    /// The inputs of a run besides the message.
    pub metadata: Map<String, Value>,
    /// The options for the model.
    pub options: ModelOptions,
    /// Whether the answer is sent as it comes.
    pub stream: bool,
    /// Whether the last chunk of a stream tells the usage.
    pub tells_usage: bool,
    /// The fields that were ignored.
    pub warnings: Vec<String>,
}

/// The conversation that a message belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ThreadChoice {
    /// None: it is a conversation of its own.
    #[default]
    New,
    /// A thread by its id, or one under a name of the client's.
    Conversation(String),
    /// The one of this response.
    After(String),
}

type Fields = Map<String, Value>;

impl ClientRequest {
    /// Creates a message to the chat agent.
    pub fn message(content: String, place: ThreadChoice) -> ClientRequest {
        ClientRequest { content, place, ..ClientRequest::default() }
    }

    /// Drops the files as they came, which are stored already.
    pub fn forget_files(&mut self) {
        self.brought = Vec::new();
        self.counted = Bytes::new();
    }

    /// Adds files, which were uploaded before.
    pub fn with(self, files: Vec<Attached>) -> ClientRequest {
        ClientRequest { files, ..self }
    }

    /// Reads a request for a chat completion.
    pub fn completion(sent: &Fields) -> Result<ClientRequest, Problem> {
        let mut request = ClientRequest::common(sent)?;
        let messages = list(sent, "messages")?;
        request.take_messages(messages, "messages")?;
        if request.place != ThreadChoice::New {
            // The thread has them already: clients send the whole conversation every time.
            request.earlier.clear();
        }
        request.tells_usage =
            sent.get("stream_options").and_then(|options| options.get("include_usage")) == Some(&Value::Bool(true));
        request.options.reasoning_effort = effort(sent.get("reasoning_effort"), "reasoning_effort")?;
        request.checked()
    }

    /// Reads a request for a response.
    pub fn response(sent: &Fields) -> Result<ClientRequest, Problem> {
        let mut request = ClientRequest::common(sent)?;
        if let Some(instructions) = text(sent, "instructions")? {
            request.instruct(instructions);
        }
        match sent.get("input") {
            Some(Value::String(content)) => request.content.clone_from(content),
            _ => request.take_messages(list(sent, "input")?, "input")?,
        }
        if let Some(previous) = text(sent, "previous_response_id")? {
            if request.place != ThreadChoice::New {
                let message = "`previous_response_id` and `conversation` name two conversations: send one of them";
                return Err(wrong("previous_response_id", message));
            }
            request.place = ThreadChoice::After(previous.to_owned());
        }
        let reasoning = sent.get("reasoning").and_then(|reasoning| reasoning.get("effort"));
        request.options.reasoning_effort = effort(reasoning, "reasoning.effort")?;
        request.checked()
    }

    /// Returns whether it is a chat UI's own prompt, such as for a title, and no part of a conversation.
    pub fn is_auxiliary(&self) -> bool {
        self.place == ThreadChoice::New && self.earlier.is_empty() && self.content.starts_with(AUXILIARY)
    }

    /// Reads the fields that both kinds of requests have.
    fn common(sent: &Fields) -> Result<ClientRequest, Problem> {
        for (name, reason) in REFUSED {
            if sent.get(name).is_some_and(asks_for_something) {
                return Err(unsupported(name, reason));
            }
        }
        plain_text(sent)?;
        if sent.get("n").is_some_and(|n| !n.is_null() && *n != 1) {
            return Err(unsupported("n", "there is one answer: `n` must be 1"));
        }
        let model = text(sent, "model")?.filter(|model| !model.trim().is_empty());
        Ok(ClientRequest {
            model: model.ok_or_else(|| wrong("model", "`model` is required"))?.to_owned(),
            place: conversation(sent)?,
            metadata: metadata(sent)?,
            options: ModelOptions {
                temperature: number(sent, "temperature")?,
                top_p: number(sent, "top_p")?,
                seed: whole(sent, "seed")?,
                reasoning_effort: None,
            },
            stream: flag(sent, "stream")?,
            warnings: warnings(sent),
            ..ClientRequest::default()
        })
    }

    fn take_messages(&mut self, messages: &[Value], field: &str) -> Result<(), Problem> {
        if messages.len() > MESSAGES_MAX {
            return Err(wrong(field, format!("`{field}` may have {MESSAGES_MAX} entries, not {}", messages.len())));
        }
        let mut conversation = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            conversation.extend(self.take_message(message, &format!("{field}[{index}]"))?);
        }
        let last = match conversation.pop() {
            Some((Role::User, content)) => content,
            Some(_) => return Err(wrong(field, "the last message must be the user's")),
            None => return Err(wrong(field, format!("`{field}` has no message of a user"))),
        };
        self.content = if last.words.trim().is_empty() { last.marked() } else { last.words };
        self.earlier = conversation
            .iter()
            .map(|(role, content)| Earlier { role: *role, content: content.marked().into() })
            .collect();
        // A thread has those before.
        let earlier =
            conversation.into_iter().filter(|_| self.place == ThreadChoice::New).flat_map(|(_, content)| content.files);
        self.brought = files::newest(last.files, earlier.collect(), field)?;
        Ok(())
    }

    /// Reads a message: an instruction is taken, and what somebody said is returned.
    fn take_message(&mut self, message: &Value, place: &str) -> Result<Option<(Role, MessageContent)>, Problem> {
        let Value::Object(fields) = message else { return Err(wrong(place, "a message must be an object")) };
        match text(fields, "type")? {
            None | Some("message") => {}
            // What the model thought is no part of the conversation.
            Some("reasoning") => return Ok(None),
            Some(kind) => {
                return Err(wrong(place, format!("an item of type '{kind}' is not supported: send messages")));
            }
        }
        let content = MessageContent::read(fields.get("content").unwrap_or(&Value::Null), place)?;
        let role = text(fields, "role")?;
        if role != Some("user") && !content.files.is_empty() {
            return Err(wrong(place, "only messages of the user may bring files"));
        }
        match role {
            Some("system" | "developer") => {
                self.instruct(&content.words);
                Ok(None)
            }
            Some("user") => Ok(Some((Role::User, content))),
            Some("assistant") if content.words.is_empty() => Ok(None),
            Some("assistant") => Ok(Some((Role::Assistant, content))),
            Some(role) => {
                let message = format!("`role` must be system, developer, user or assistant, not '{role}'");
                Err(wrong(&format!("{place}.role"), message))
            }
            None => Err(wrong(&format!("{place}.role"), "`role` is required")),
        }
    }

    fn instruct(&mut self, text: &str) {
        if !text.trim().is_empty() {
            let all = self.instructions.take().into_iter().chain([text.to_owned()]);
            self.instructions = Some(all.collect::<Vec<_>>().join("\n\n"));
        }
    }

    fn checked(self) -> Result<ClientRequest, Problem> {
        if self.content.trim().is_empty() {
            return Err(wrong("messages", "the last message must say something"));
        }
        if self.content.len() > CONTENT_MAX {
            return Err(wrong("messages", format!("a message may have {CONTENT_MAX} bytes")));
        }
        Ok(self)
    }
}

/// The content of a message.
#[derive(Debug, Default)]
struct MessageContent {
    words: String,
    files: Vec<Brought>,
}

impl MessageContent {
    /// Reads the content of a message: a string, or parts that are texts and files.
    fn read(content: &Value, place: &str) -> Result<MessageContent, Problem> {
        let parts = match content {
            Value::Null => return Ok(MessageContent::default()),
            Value::String(text) => return Ok(MessageContent { words: text.clone(), files: Vec::new() }),
            Value::Array(parts) => parts,
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                return Err(wrong(place, "`content` must be a string or a list of parts"));
            }
        };
        let mut texts = Vec::new();
        let mut files = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let place = &format!("{place}.content[{index}]");
            let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
            let text = match kind {
                "text" | "input_text" | "output_text" => part.get("text").and_then(Value::as_str),
                "refusal" => part.get("refusal").and_then(Value::as_str),
                kind if FILE_PARTS.contains(&kind) => {
                    files.push(Brought::read(part, place)?);
                    continue;
                }
                _ => {
                    let message = format!("a part of type '{kind}' is not supported: texts, pictures and files are");
                    return Err(wrong(place, message));
                }
            };
            texts.push(text.ok_or_else(|| wrong(place, format!("a part of type '{kind}' must have a text")))?);
        }
        Ok(MessageContent { words: texts.join("\n"), files })
    }

    /// Returns the words, and a line for each file.
    fn marked(&self) -> String {
        let words = Some(self.words.clone()).filter(|words| !words.is_empty());
        words.into_iter().chain(self.files.iter().map(Brought::mark)).collect::<Vec<_>>().join("\n")
    }
}

/// Returns whether a field that cannot be done asks for something at all.
fn asks_for_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !["", "auto", "none"].contains(&text.as_str()),
        Value::Array(items) => !items.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) | Value::Object(_) => true,
    }
}

/// Refuses answers in another form than text.
fn plain_text(sent: &Fields) -> Result<(), Problem> {
    let forms = [
        ("response_format", sent.get("response_format")),
        ("text.format", sent.get("text").and_then(|text| text.get("format"))),
    ];
    for (name, form) in forms {
        let kind = form.and_then(|form| form.get("type")).and_then(Value::as_str);
        if kind.is_some_and(|kind| kind != "text") {
            let reason = "the chat answers in text; give a task of a workflow an output schema and ask for that";
            return Err(unsupported(name, reason));
        }
    }
    Ok(())
}

fn conversation(sent: &Fields) -> Result<ThreadChoice, Problem> {
    let given = match sent.get("conversation") {
        None | Some(Value::Null) => return Ok(ThreadChoice::New),
        Some(Value::Object(conversation)) => conversation.get("id").and_then(Value::as_str),
        Some(given) => given.as_str(),
    };
    let name = given.filter(|name| !name.trim().is_empty() && name.len() <= NAME_MAX);
    let message = format!("`conversation` must be an id, or {{id}}, of 1 to {NAME_MAX} characters");
    name.map(|name| ThreadChoice::Conversation(name.to_owned())).ok_or_else(|| wrong("conversation", message))
}

fn metadata(sent: &Fields) -> Result<Fields, Problem> {
    match sent.get("metadata") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(metadata)) => Ok(metadata.clone()),
        Some(_) => Err(wrong("metadata", "`metadata` must be an object")),
    }
}

/// Returns warnings about fields that change nothing.
fn warnings(sent: &Fields) -> Vec<String> {
    let is_known = |name: &str| READ.contains(&name) || QUIET.contains(&name);
    let is_refused = |name: &str| REFUSED.iter().any(|(known, _)| *known == name);
    let ineffective = sent.iter().filter(|(name, value)| !value.is_null() && !is_known(name) && !is_refused(name));
    ineffective.map(|(name, _)| format!("`{name}` has no effect")).take(NAMED_MAX).collect()
}

fn effort(given: Option<&Value>, name: &str) -> Result<Option<ReasoningEffort>, Problem> {
    let Some(given) = given.filter(|given| !given.is_null()) else { return Ok(None) };
    let words = || ReasoningEffort::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let found = ReasoningEffort::WORDS.iter().find(|(word, _)| given.as_str() == Some(word));
    let unknown = || wrong(name, format!("`{name}` must be one of {}", words()));
    found.map(|(_, effort)| Some(*effort)).ok_or_else(unknown)
}

fn text<'a>(fields: &'a Fields, name: &str) -> Result<Option<&'a str>, Problem> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(name, format!("`{name}` must be a string"))),
    }
}

fn list<'a>(fields: &'a Fields, name: &str) -> Result<&'a [Value], Problem> {
    match fields.get(name) {
        None | Some(Value::Null) => Err(wrong(name, format!("`{name}` is required"))),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(wrong(name, format!("`{name}` must be a list of messages"))),
    }
}

fn flag(fields: &Fields, name: &str) -> Result<bool, Problem> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(wrong(name, format!("`{name}` must be true or false"))),
    }
}

fn number(fields: &Fields, name: &str) -> Result<Option<f64>, Problem> {
    let given = fields.get(name).filter(|value| !value.is_null());
    let not_one = || wrong(name, format!("`{name}` must be a number"));
    given.map(|value| value.as_f64().ok_or_else(not_one)).transpose()
}

fn whole(fields: &Fields, name: &str) -> Result<Option<i64>, Problem> {
    let given = fields.get(name).filter(|value| !value.is_null());
    let not_one = || wrong(name, format!("`{name}` must be a whole number"));
    given.map(|value| value.as_i64().ok_or_else(not_one)).transpose()
}

fn unsupported(name: &str, reason: &str) -> Problem {
    wrong(name, format!("`{name}` is not supported: {reason}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn completion(sent: Value) -> Result<ClientRequest, String> {
        ClientRequest::completion(sent.as_object().unwrap()).map_err(|problem| problem.message().to_owned())
    }

    #[test]
    fn the_last_message_is_asked_and_those_before_it_are_history() {
        let content = json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "hi" },
            { "role": "assistant", "content": null }, { "role": "assistant", "content": "hello" },
            { "role": "user", "content": [{ "type": "text", "text": "how" }, { "type": "text", "text": "are you" }] }]);
        let request =
            completion(json!({ "model": "consort", "messages": content, "max_tokens": 3, "colour": 1 })).unwrap();
        assert_eq!((request.content.as_str(), request.instructions.as_deref()), ("how\nare you", Some("Be brief.")));
        assert_eq!(request.earlier.iter().map(|one| one.content.as_str()).collect::<Vec<_>>(), ["hi", "hello"]);
        assert_eq!(request.warnings, ["`max_tokens` has no effect", "`colour` has no effect"]);
        let there = completion(json!({ "model": "consort", "messages": content, "conversation": "c" })).unwrap();
        assert_eq!((there.earlier.len(), there.place), (0, ThreadChoice::Conversation("c".to_owned())));
    }

    #[test]
    fn a_chat_uis_own_prompt_is_known_by_how_it_begins() {
        let asks = |text: &str| completion(json!({ "model": "m", "messages": [{ "role": "user", "content": text }] }));
        assert!(asks("### Task:\nGenerate a title").unwrap().is_auxiliary());
        assert!(!asks("Write ### Task:").unwrap().is_auxiliary());
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name() {
        let message = json!([{ "role": "user", "content": "hi" }]);
        let sound = json!([{ "role": "user", "content": [{ "type": "input_audio", "input_audio": { "data": "x" } }] }]);
        let of_model = json!([{ "role": "assistant", "content": [{ "type": "file", "file": { "file_id": "a" } }] },
            { "role": "user", "content": "x" }]);
        let cases = [
            (json!({ "messages": message }), "`model` is required"),
            (json!({ "model": "m" }), "`messages` is required"),
            (json!({ "model": "m", "messages": [] }), "`messages` has no message of a user"),
            (json!({ "model": "m", "messages": [{ "role": "tool", "content": "x" }] }), "`role` must be"),
            (json!({ "model": "m", "messages": [{ "role": "assistant", "content": "x" }] }), "the last message must"),
            (json!({ "model": "m", "messages": sound }), "'input_audio' is not supported"),
            (json!({ "model": "m", "messages": of_model }), "only messages of the user may bring files"),
            (json!({ "model": "m", "messages": message, "tools": [{}] }), "`tools` is not supported"),
            (json!({ "model": "m", "messages": message, "n": 2 }), "`n` must be 1"),
            (json!({ "model": "m", "messages": message, "stream": "yes" }), "`stream` must be true or false"),
            (json!({ "model": "m", "messages": message, "response_format": { "type": "json_object" } }), "in text"),
            (json!({ "model": "m", "messages": message, "temperature": "hot" }), "`temperature` must be a number"),
            (json!({ "model": "m", "messages": message, "conversation": 3 }), "`conversation` must be an id"),
            (json!({ "model": "m", "messages": message, "metadata": [] }), "`metadata` must be an object"),
        ];
        for (sent, expected) in cases {
            let told = completion(sent.clone()).unwrap_err();
            assert!(told.contains(expected), "{sent}: {told}");
        }
        let harmless = json!({ "model": "m", "messages": message, "tools": [], "stop": null, "logprobs": false,
            "tool_choice": "auto", "response_format": { "type": "text" }, "n": 1 });
        assert_eq!(completion(harmless).unwrap().warnings, Vec::<String>::new());
    }

    #[test]
    fn files_come_along_and_are_named_where_they_were_sent_earlier() {
        let stored = |id: &str| json!({ "type": "file", "file": { "file_id": id } });
        let content = json!([{ "role": "user", "content": [{ "type": "text", "text": "look" }, stored("att-1")] },
            { "role": "assistant", "content": "nice" }, { "role": "user", "content": [stored("att-2")] }]);
        let sent = json!({ "model": "consort", "messages": content });
        let request = completion(sent.clone()).unwrap();
        let brought = |ids: &[&str]| ids.iter().map(|id| Brought::Stored((*id).to_owned())).collect::<Vec<_>>();
        assert_eq!((request.content.as_str(), &request.brought), ("[attached: att-2]", &brought(&["att-2", "att-1"])));
        assert_eq!(request.earlier[0].content.as_str(), "look\n[attached: att-1]");
        let there = completion(json!({ "model": "consort", "messages": content, "conversation": "c" })).unwrap();
        assert_eq!((there.earlier.len(), there.brought), (0, brought(&["att-2"])));
    }

    #[test]
    fn a_response_is_asked_with_a_text_or_with_items() {
        let read = |sent: Value| {
            ClientRequest::response(sent.as_object().unwrap()).map_err(|problem| problem.message().to_owned())
        };
        let request = read(json!({ "model": "m", "input": "hi", "instructions": "Be brief." })).unwrap();
        assert_eq!((request.content.as_str(), request.instructions.as_deref()), ("hi", Some("Be brief.")));
        let items = json!([{ "role": "user", "content": "hi" }, { "type": "reasoning", "summary": [] },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "hello" }] },
            { "role": "user", "content": [{ "type": "input_text", "text": "and?" }] }]);
        let request = read(json!({ "model": "m", "input": items, "previous_response_id": "turn-1" })).unwrap();
        assert_eq!((request.content.as_str(), request.earlier.len()), ("and?", 2));
        assert_eq!(request.place, ThreadChoice::After("turn-1".to_owned()));
        let both = json!({ "model": "m", "input": "x", "previous_response_id": "a", "conversation": "b" });
        assert!(read(both).unwrap_err().contains("two conversations"));
        let call = json!({ "model": "m", "input": [{ "type": "function_call_output", "output": "x" }] });
        assert!(read(call).unwrap_err().contains("function_call_output"));
    }
}
