//! Encodes the request: our conversation as items. A reply is sent back item by
//! item as it came, because the API ties reasoning to the items that follow it;
//! where some of it cannot be sent back, the rest is sent in portable form.

use std::borrow::Cow;
use std::collections::BTreeMap;

use consort_core::catalog::ToolInfo;
use consort_core::message::{Call, Message, Part, Reply};
use consort_core::model_options::ReasoningEffort;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::pairs::{CallResult, Ids, Open};
use crate::structured::Named;
use crate::wire::Endpoint;
use crate::{Ask, File, names};

/// The longest call id that the API accepts.
const ID_MAX: usize = 64;
/// The smallest limit on output that the API accepts.
const OUTPUT_MIN: u64 = 16;

/// The request's body.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    input: Vec<Item<'a>>,
    stream: bool,
    store: bool,
    include: [&'static str; 1],
    max_output_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
}

#[derive(Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    schema: Named<'a>,
}

#[derive(Serialize)]
struct Reasoning {
    effort: ReasoningEffort,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: Cow<'a, str>,
    description: &'a str,
    parameters: Option<&'a RawValue>,
    strict: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'static str,
        content: Content<'a>,
        #[serde(flatten)]
        native: Option<&'a Map<String, Value>>,
    },
    FunctionCall {
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: &'a str,
        #[serde(flatten)]
        native: Option<&'a Map<String, Value>>,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: &'a str,
    },
    #[serde(untagged)]
    Native(&'a Map<String, Value>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Words(Cow<'a, str>),
    Output([OutputText<'a>; 1]),
    Input(Vec<InputPart<'a>>),
}

/// The words of a user, or a file beside them.
#[derive(Serialize)]
#[serde(tag = "type")]
enum InputPart<'a> {
    #[serde(rename = "input_text")]
    Text { text: Cow<'a, str> },
    #[serde(rename = "input_image")]
    Image { image_url: String },
    #[serde(rename = "input_file")]
    File { filename: &'a str, file_data: String },
}

impl<'a> InputPart<'a> {
    fn of(file: &'a File) -> InputPart<'a> {
        match file.is_picture() {
            true => InputPart::Image { image_url: file.data_url() },
            false => InputPart::File { filename: &file.name, file_data: file.data_url() },
        }
    }
}

#[derive(Serialize)]
struct OutputText<'a> {
    r#type: &'static str,
    text: &'a str,
    annotations: [(); 0],
}

impl<'a> Body<'a> {
    /// Builds the request that sends `ask` to `endpoint`.
    pub(super) fn new(ask: &'a Ask, endpoint: &'a Endpoint) -> Body<'a> {
        let options = &endpoint.options;
        let is_serial = !options.parallel_tool_calls && !ask.tools.is_empty();
        let items = Vec::with_capacity(ask.messages.len());
        let open = Open::new();
        let ids = Ids::default();
        let mut conversation = Conversation { origin: &endpoint.origin, items, open, ids };
        for message in ask.messages.iter() {
            conversation.add(message, &ask.files);
        }
        conversation.settle();
        Body {
            model: &options.model,
            input: conversation.items,
            stream: true,
            store: false,
            include: ["reasoning.encrypted_content"],
            max_output_tokens: ask.max_output_tokens.max(OUTPUT_MIN),
            tools: ask.tools.iter().map(|tool| function(tool)).collect(),
            parallel_tool_calls: is_serial.then_some(false),
            temperature: ask.options.temperature,
            top_p: ask.options.top_p,
            reasoning: ask.options.reasoning_effort.map(|effort| Reasoning { effort }),
            text: ask
                .schema
                .as_ref()
                .map(|schema| Text { format: Format { r#type: "json_schema", schema: Named::new(schema) } }),
        }
    }
}

fn function(tool: &ToolInfo) -> Tool<'_> {
    let parameters = tool.schema.json().is_object().then(|| tool.schema.text());
    let name = names::encode(&tool.name);
    let description = tool.description.as_str();
    Tool { r#type: "function", name, description, parameters, strict: false }
}

/// The conversation being built, and the state needed to satisfy the API's rules.
struct Conversation<'a> {
    origin: &'a str,
    items: Vec<Item<'a>>,
    /// Calls of the last reply, by the ids they are sent with.
    open: Open<'a, Cow<'a, str>>,
    ids: Ids<'a>,
}

impl<'a> Conversation<'a> {
    fn add(&mut self, message: &'a Message, files: &'a BTreeMap<String, File>) {
        match message {
            Message::System { text } => self.say("system", text.as_str().into()),
            Message::User { text } => self.say("user", text.as_str().into()),
            Message::Files { files: attached } => {
                self.show(attached.iter().filter_map(|file| files.get(&file.id)).map(InputPart::of).collect());
            }
            Message::Assistant(reply) => {
                self.settle();
                let goes_back = reply.wire == self.origin && is_whole(reply);
                for part in &reply.parts {
                    let item = if goes_back { self.item(part) } else { self.portable(part) };
                    self.items.extend(item);
                }
            }
            Message::Tool { provider_id, name, text, is_error, .. } => {
                self.open.result(provider_id, name, CallResult { text: text.as_str(), is_error: *is_error });
            }
        }
    }

    fn say(&mut self, role: &'static str, words: Cow<'a, str>) {
        self.settle();
        self.items.push(Item::Message { role, content: Content::Words(words), native: None });
    }

    /// Adds files to the user's message before them, or as a message of their own after results of tools.
    fn show(&mut self, files: Vec<InputPart<'a>>) {
        if files.is_empty() {
            return;
        }
        self.settle();
        let mut input = Vec::with_capacity(files.len() + 1);
        if let Some(Item::Message { role: "user", content: Content::Words(words), .. }) = self.items.last_mut() {
            let text = std::mem::take(words);
            self.items.pop();
            input.extend((!text.is_empty()).then_some(InputPart::Text { text }));
        }
        input.extend(files);
        self.items.push(Item::Message { role: "user", content: Content::Input(input), native: None });
    }

    /// Returns a part in the form it came in.
    fn item(&mut self, part: &'a Part) -> Option<Item<'a>> {
        match part {
            Part::Text { text, native: Some(Value::Object(native)) } => {
                let output = OutputText { r#type: "output_text", text: text.as_str(), annotations: [] };
                Some(Item::Message { role: "assistant", content: Content::Output([output]), native: Some(native) })
            }
            Part::Thinking { native: Some(Value::Object(native)), .. } => Some(Item::Native(native)),
            Part::Call(call) => Some(self.call(call, call.native.as_ref().and_then(Value::as_object))),
            Part::Text { .. } | Part::Thinking { .. } => self.portable(part),
        }
    }

    /// Returns a part in portable form, as any model of ours could have written it.
    fn portable(&mut self, part: &'a Part) -> Option<Item<'a>> {
        match part {
            Part::Text { text, .. } if text.is_empty() => None,
            Part::Text { text, .. } => {
                let content = Content::Words(text.as_str().into());
                Some(Item::Message { role: "assistant", content, native: None })
            }
            Part::Thinking { .. } => None,
            Part::Call(call) => Some(self.call(call, None)),
        }
    }

    fn call(&mut self, call: &'a Call, native: Option<&'a Map<String, Value>>) -> Item<'a> {
        let call_id = self.ids.claim(call.provider_id.as_str().into(), |id| id.len() <= ID_MAX);
        self.open.call(&call.provider_id, call_id.clone());
        let args = call.args.as_str();
        let arguments = if args.is_empty() { "{}" } else { args };
        Item::FunctionCall { call_id, name: names::encode(&call.tool), arguments, native }
    }

    /// Adds a result for each call still open, before the next message.
    fn settle(&mut self) {
        let results = self.open.settle();
        self.items.extend(results.map(|(call_id, told)| Item::FunctionCallOutput { call_id, output: told.text }));
        for stray in self.open.strays() {
            let content = Content::Words(stray.into());
            self.items.push(Item::Message { role: "user", content, native: None });
        }
    }
}

/// Returns whether all of a reply can be sent back: the API refuses reasoning that came
/// without its encrypted form or led to nothing, and also the items it led to without it.
fn is_whole(reply: &Reply) -> bool {
    let is_lost = |part: &Part| matches!(part, Part::Thinking { native: None, .. });
    let leads_nowhere = matches!(reply.parts.last(), Some(Part::Thinking { .. }));
    !leads_nowhere && !reply.parts.iter().any(is_lost)
}
