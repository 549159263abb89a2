//! Encodes the request: our conversation as chat-completions messages, written directly from
//! the stored form. Whatever the API would refuse is repaired here and only here: calls without
//! a result get one, results without a call become the user's words, ids are made unique.

use std::borrow::Cow;
use std::collections::BTreeMap;

use consort_core::catalog::ToolInfo;
use consort_core::message::{Call, Message, Part, Reply};
use consort_core::model_options::{ModelOptions, ReasoningEffort};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::CHAT;
use crate::options::Options;
use crate::pairs::{CallResult, Ids, Open};
use crate::structured::Named;
use crate::{Ask, File, names};

const PROVIDER_HOST: &str = "api.openai.com";
/// The longest id that every server accepts.
const ID_MAX: usize = 40;

/// The optional features that a server supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Whether the request may ask for usage.
    pub(super) stream_options: bool,
    /// Whether the limit on output goes by its newer name, `max_completion_tokens`.
    pub(super) max_completion_tokens: bool,
    /// Whether replies have fields of the server's own that may be sent back.
    pub(super) natives: bool,
}

impl Dialect {
    /// The features that OpenAI itself supports.
    pub(super) const PROVIDER: Dialect = Dialect { stream_options: true, max_completion_tokens: true, natives: false };
    /// The features that compatible servers support until one says otherwise.
    pub(super) const COMPATIBLE: Dialect =
        Dialect { stream_options: true, max_completion_tokens: false, natives: true };

    /// Returns the features of the server on this host.
    pub(super) fn spoken_at(host: Option<&str>) -> Dialect {
        if host == Some(PROVIDER_HOST) { Dialect::PROVIDER } else { Dialect::COMPATIBLE }
    }

    /// Returns the features that remain after a server refused a request with
    /// this message; all of them if the message is about something else.
    pub(super) fn after(self, refusal: &str) -> Dialect {
        if self.stream_options && refusal.contains("stream_options") {
            return Dialect { stream_options: false, ..self };
        }
        let newer = refusal.contains("max_completion_tokens");
        Dialect { max_completion_tokens: self.max_completion_tokens || newer, ..self }
    }
}

/// The request's body.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: Vec<Line<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(flatten)]
    options: Sampling,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: Named<'a>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Line<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Cow<'a, str>,
    },
    /// A user's words with files.
    #[serde(rename = "user")]
    Parts {
        content: Vec<UserPart<'a>>,
    },
    Assistant {
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
        #[serde(flatten)]
        native: BTreeMap<&'a str, Field<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: &'a str,
    },
}

/// The words of a user, or a file beside them.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum UserPart<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
    File { file: FileData<'a> },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
struct FileData<'a> {
    filename: &'a str,
    file_data: String,
}

impl<'a> UserPart<'a> {
    fn of(file: &'a File) -> UserPart<'a> {
        match file.is_picture() {
            true => UserPart::ImageUrl { image_url: ImageUrl { url: file.data_url() } },
            false => UserPart::File { file: FileData { filename: &file.name, file_data: file.data_url() } },
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Field<'a> {
    Words(&'a str),
    Json(&'a Value),
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: FunctionCall<'a>,
    #[serde(flatten)]
    native: Option<&'a Map<String, Value>>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a RawValue>,
}

impl<'a> Body<'a> {
    /// Builds the request that sends `ask` to a server that supports `dialect`.
    pub(super) fn new(ask: &'a Ask, options: &'a Options, dialect: Dialect) -> Body<'a> {
        let limit = Some(ask.max_output_tokens);
        let is_serial = !options.parallel_tool_calls && !ask.tools.is_empty();
        Body {
            model: &options.model,
            messages: Conversation::lines(ask, dialect),
            stream: true,
            stream_options: dialect.stream_options.then_some(StreamOptions { include_usage: true }),
            max_tokens: limit.filter(|_| !dialect.max_completion_tokens),
            max_completion_tokens: limit.filter(|_| dialect.max_completion_tokens),
            tools: ask.tools.iter().map(|tool| function(tool)).collect(),
            parallel_tool_calls: is_serial.then_some(false),
            response_format: ask
                .schema
                .as_ref()
                .map(|schema| ResponseFormat { r#type: "json_schema", json_schema: Named::new(schema) }),
            options: Sampling::of(&ask.options),
        }
    }
}

/// The options of the answer, in the terms of chat completions.
#[derive(Serialize)]
struct Sampling {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<ReasoningEffort>,
}

impl Sampling {
    fn of(options: &ModelOptions) -> Sampling {
        let ModelOptions { temperature, top_p, seed, reasoning_effort } = *options;
        Sampling { temperature, top_p, seed, reasoning_effort }
    }
}

fn function(tool: &ToolInfo) -> Tool<'_> {
    let function = Function {
        name: names::encode(&tool.name),
        description: &tool.description,
        parameters: tool.schema.json().is_object().then(|| tool.schema.text()),
    };
    Tool { r#type: "function", function }
}

/// The conversation being built, and the state needed to satisfy the API's rules.
struct Conversation<'a> {
    dialect: Dialect,
    /// Whether no user message follows the message being added.
    is_current: bool,
    lines: Vec<Line<'a>>,
    /// Calls of the last reply, by the ids they are sent with.
    open: Open<'a, Cow<'a, str>>,
    ids: Ids<'a>,
}

impl<'a> Conversation<'a> {
    fn lines(ask: &'a Ask, dialect: Dialect) -> Vec<Line<'a>> {
        let messages = &ask.messages;
        let mut conversation = Conversation {
            dialect,
            is_current: false,
            lines: Vec::with_capacity(messages.len()),
            open: Open::new(),
            ids: Ids::default(),
        };
        let question = messages.iter().rposition(|message| matches!(message, Message::User { .. }));
        for (place, message) in messages.iter().enumerate() {
            conversation.is_current = Some(place) > question;
            conversation.add(message, &ask.files);
        }
        conversation.settle();
        conversation.lines
    }

    fn add(&mut self, message: &'a Message, files: &'a BTreeMap<String, File>) {
        match message {
            Message::System { text } => self.say(Line::System { content: text.as_str() }),
            Message::User { text } => self.say(Line::User { content: text.as_str().into() }),
            Message::Files { files: attached } => {
                self.show(attached.iter().filter_map(|file| files.get(&file.id)).map(UserPart::of).collect());
            }
            Message::Assistant(reply) => {
                self.settle();
                let line = self.reply(reply);
                self.lines.push(line);
            }
            Message::Tool { provider_id, name, text, is_error, .. } => {
                self.open.result(provider_id, name, CallResult { text: text.as_str(), is_error: *is_error });
            }
        }
    }

    fn say(&mut self, line: Line<'a>) {
        self.settle();
        self.lines.push(line);
    }

    /// Adds files to the user's message before them, or as a message of their own after results of tools.
    fn show(&mut self, files: Vec<UserPart<'a>>) {
        if files.is_empty() {
            return;
        }
        self.settle();
        let mut content = Vec::with_capacity(files.len() + 1);
        if let Some(Line::User { content: words }) = self.lines.last_mut() {
            let text = std::mem::take(words);
            self.lines.pop();
            content.extend((!text.is_empty()).then_some(UserPart::Text { text }));
        }
        content.extend(files);
        self.lines.push(Line::Parts { content });
    }

    fn reply(&mut self, reply: &'a Reply) -> Line<'a> {
        let tool_calls: Vec<_> = reply.calls().map(|call| self.call(call, reply)).collect();
        let words = words(reply);
        // `content` is null when there is no text beside calls; without calls null is refused.
        let content = if words.is_empty() && !tool_calls.is_empty() { None } else { Some(words) };
        let native = if self.takes_natives(reply) { self.natives(reply) } else { BTreeMap::new() };
        Line::Assistant { content, tool_calls, native }
    }

    fn call(&mut self, call: &'a Call, reply: &Reply) -> ToolCall<'a> {
        let id = self.ids.claim(call.provider_id.as_str().into(), |id| id.len() <= ID_MAX);
        self.open.call(&call.provider_id, id.clone());
        let args = call.args.as_str();
        let function =
            FunctionCall { name: names::encode(&call.tool), arguments: if args.is_empty() { "{}" } else { args } };
        let native = call.native.as_ref().and_then(Value::as_object).filter(|_| self.takes_natives(reply));
        ToolCall { id, r#type: "function", function, native }
    }

    /// Adds a result for each call still open, before the next message.
    fn settle(&mut self) {
        let results = self.open.settle();
        self.lines.extend(results.map(|(id, result)| Line::Tool { tool_call_id: id, content: result.text }));
        self.lines.extend(self.open.strays().map(|words| Line::User { content: words.into() }));
    }

    fn takes_natives(&self, reply: &Reply) -> bool {
        self.dialect.natives && reply.wire == CHAT
    }

    /// Returns the message's own fields. A null stands for the thinking itself,
    /// which servers want back only until the calls it led to are answered.
    fn natives(&self, reply: &'a Reply) -> BTreeMap<&'a str, Field<'a>> {
        let thinks_on = self.is_current && reply.calls().next().is_some();
        let mut fields = BTreeMap::new();
        for part in &reply.parts {
            let Part::Thinking { text, native: Some(Value::Object(native)) } = part else { continue };
            for (name, value) in native {
                if !value.is_null() {
                    fields.insert(name.as_str(), Field::Json(value));
                } else if thinks_on {
                    fields.insert(name.as_str(), Field::Words(text.as_str()));
                }
            }
        }
        fields
    }
}

fn words(reply: &Reply) -> Cow<'_, str> {
    let mut texts = reply.parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.as_str()),
        Part::Thinking { .. } | Part::Call(_) => None,
    });
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only),
        (Some(_), Some(_)) => Cow::Owned(reply.text()),
    }
}
