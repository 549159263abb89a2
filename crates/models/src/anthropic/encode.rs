//! Encodes the request: our conversation as alternating messages of a user and an
//! assistant. Results come first in the message that follows their calls, the model's
//! thinking is sent back as it came, and blank text, which the API refuses, is left out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use consort_core::catalog::ToolInfo;
use consort_core::message::{Call, Message, Part, Reply};
use consort_core::model_options::ReasoningEffort;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::native::{Arguments, Native};
use crate::pairs::{CallResult, Ids, Open};
use crate::turns::{Speaker, Turn, Turns};
use crate::wire::Endpoint;
use crate::{Ask, File, names, structured};

/// The longest id the API is known to take.
const ID_MAX: usize = 64;

/// The request's body.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<Block<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
}

#[derive(Serialize)]
struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<ReasoningEffort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format>,
}

#[derive(Serialize)]
struct Format {
    r#type: &'static str,
    schema: Value,
}

impl OutputConfig {
    fn of(ask: &Ask) -> Option<OutputConfig> {
        let format =
            ask.schema.as_ref().map(|schema| Format { r#type: "json_schema", schema: structured::closed(schema) });
        let effort = ask.options.reasoning_effort;
        (effort.is_some() || format.is_some()).then_some(OutputConfig { effort, format })
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

/// The mark at the end of a part that the provider keeps in its cache, so that a later request that
/// begins alike is cheaper. A request may have four.
#[derive(Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheControl {
    Ephemeral,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice {
    Auto { disable_parallel_tool_use: bool },
    None,
}

impl Serialize for Turn<Block<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(serializer, "assistant", "content")
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Document {
        source: Source<'a>,
        title: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Arguments<'a>,
        #[serde(flatten)]
        native: Option<&'a Map<String, Value>>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "is_blank")]
        content: &'a str,
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    #[serde(untagged)]
    Native(Native<'a, &'a str>),
}

/// The bytes of a file.
#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

impl<'a> Block<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Block<'a> {
        Block::Text { text: text.into(), cache_control: None }
    }

    /// Marks it as the end of what is kept. The user's turns, which are marked, end with text, a file or a result.
    fn mark(&mut self) {
        match self {
            Block::Text { cache_control, .. }
            | Block::Image { cache_control, .. }
            | Block::Document { cache_control, .. }
            | Block::ToolResult { cache_control, .. } => {
                *cache_control = Some(CacheControl::Ephemeral);
            }
            Block::ToolUse { .. } | Block::Native(_) => {}
        }
    }

    fn file(file: &'a File) -> Block<'a> {
        let source = Source { r#type: "base64", media_type: &file.media_type, data: &file.base64 };
        if file.is_picture() {
            Block::Image { source, cache_control: None }
        } else {
            Block::Document { source, title: &file.name, cache_control: None }
        }
    }
}

impl<'a> Body<'a> {
    /// Builds the request that sends `ask` to `endpoint`.
    pub(super) fn new(ask: &'a Ask, endpoint: &'a Endpoint) -> Body<'a> {
        let conversation = Conversation::of(ask, endpoint);
        let is_serial = !endpoint.options.parallel_tool_calls;
        let (tools, tool_choice) = if ask.tools.is_empty() {
            // The tools of calls in the conversation must be declared.
            let tools: Vec<_> = conversation.called.into_iter().map(undescribed).collect();
            let choice = (!tools.is_empty()).then_some(Choice::None);
            (tools, choice)
        } else {
            let choice = is_serial.then_some(Choice::Auto { disable_parallel_tool_use: true });
            (ask.tools.iter().map(|tool| described(tool)).collect(), choice)
        };
        let mut body = Body {
            model: &endpoint.options.model,
            max_tokens: ask.max_output_tokens,
            stream: true,
            system: conversation.system,
            messages: conversation.turns.finish(|words| Block::Text { text: words.into(), cache_control: None }),
            tools,
            tool_choice,
            temperature: ask.options.temperature,
            top_p: ask.options.top_p,
            output_config: OutputConfig::of(ask),
        };
        body.mark();
        body
    }

    /// Marks what later requests begin with: tools and instructions, which other conversations of the same
    /// agent share, and the conversation so far where it goes on, because keeping costs more than reading.
    fn mark(&mut self) {
        if let Some(tool) = self.tools.last_mut() {
            tool.cache_control = Some(CacheControl::Ephemeral);
        }
        if let Some(block) = self.system.last_mut() {
            block.mark();
        }
        let goes_on = !self.tools.is_empty() || self.messages.len() > 1;
        if let Some(block) = self.messages.last_mut().and_then(|turn| turn.blocks.last_mut()).filter(|_| goes_on) {
            block.mark();
        }
    }
}

fn described(tool: &ToolInfo) -> Tool<'_> {
    Tool {
        name: names::encode(&tool.name),
        description: &tool.description,
        input_schema: typed(tool.schema.json()),
        cache_control: None,
    }
}

/// Declares a tool that was called earlier and may no longer be called.
fn undescribed(name: Cow<'_, str>) -> Tool<'_> {
    Tool { name, description: "", input_schema: Cow::Owned(json!({ "type": "object" })), cache_control: None }
}

/// Returns the schema with `"type": "object"`, which the API requires.
fn typed(schema: &Value) -> Cow<'_, Value> {
    if schema.get("type").is_some_and(|kind| kind == "object") {
        return Cow::Borrowed(schema);
    }
    let mut fields = schema.as_object().cloned().unwrap_or_default();
    fields.insert("type".to_owned(), "object".into());
    Cow::Owned(Value::Object(fields))
}

/// The conversation being built, and the state needed to satisfy the API's rules.
struct Conversation<'a> {
    origin: &'a str,
    system: Vec<Block<'a>>,
    turns: Turns<Block<'a>>,
    /// Calls of the last reply, by the ids they are sent with.
    open: Open<'a, Cow<'a, str>>,
    ids: Ids<'a>,
    /// The tools that were called.
    called: Vec<Cow<'a, str>>,
}

impl<'a> Conversation<'a> {
    fn of(ask: &'a Ask, endpoint: &'a Endpoint) -> Conversation<'a> {
        let mut conversation = Conversation {
            origin: &endpoint.origin,
            system: Vec::new(),
            turns: Turns::new(),
            open: Open::new(),
            ids: Ids::default(),
            called: Vec::new(),
        };
        for message in ask.messages.iter() {
            conversation.add(message, &ask.files);
        }
        conversation.settle();
        conversation
    }

    fn add(&mut self, message: &'a Message, files: &'a BTreeMap<String, File>) {
        match message {
            Message::System { text } => self.system.extend(words(text.as_str())),
            Message::User { text } => {
                self.settle();
                self.say(Speaker::User, words(text.as_str()));
            }
            Message::Files { files: attached } => {
                self.settle();
                self.turns.show(attached, files, Block::file);
            }
            Message::Assistant(reply) => {
                self.settle();
                for part in &reply.parts {
                    let block = self.block(part, reply);
                    self.say(Speaker::Model, block);
                }
            }
            Message::Tool { provider_id, name, text, is_error, .. } => {
                self.open.result(provider_id, name, CallResult { text: text.as_str(), is_error: *is_error });
            }
        }
    }

    fn say(&mut self, speaker: Speaker, block: Option<Block<'a>>) {
        if let Some(block) = block {
            self.turns.say(speaker, block);
        }
    }

    fn block(&mut self, part: &'a Part, reply: &Reply) -> Option<Block<'a>> {
        let is_own = reply.wire == self.origin;
        match part {
            Part::Text { text, .. } => words(text.as_str()),
            Part::Thinking { text, native: Some(Value::Object(json)) } if is_own => {
                Some(Block::Native(Native { json, field: "thinking", filling: text.as_str() }))
            }
            Part::Thinking { .. } => None,
            Part::Call(call) => Some(self.call(call, call.native.as_ref().filter(|_| is_own))),
        }
    }

    fn call(&mut self, call: &'a Call, native: Option<&'a Value>) -> Block<'a> {
        let id = self.ids.claim(call.provider_id.as_str().into(), is_id);
        self.open.call(&call.provider_id, id.clone());
        let name = names::encode(&call.tool);
        let input = Arguments::of(call.args.as_str());
        if !self.called.contains(&name) {
            self.called.push(name.clone());
        }
        Block::ToolUse { id, name, input, native: native.and_then(Value::as_object) }
    }

    /// Adds a result for each call still open, before the next message.
    fn settle(&mut self) {
        for (tool_use_id, CallResult { text, is_error }) in self.open.settle() {
            let result = Block::ToolResult { tool_use_id, content: text, is_error, cache_control: None };
            self.turns.say(Speaker::User, result);
        }
        for stray in self.open.strays() {
            self.turns.say(Speaker::User, Block::text(stray));
        }
    }
}

fn words(text: &str) -> Option<Block<'_>> {
    (!is_blank(text)).then_some(Block::text(text))
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn is_id(id: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    id.len() <= ID_MAX && id.bytes().all(is_legal)
}
