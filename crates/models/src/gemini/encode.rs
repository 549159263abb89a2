//! Encodes the request: our conversation as the contents of a user and a model. The
//! results of a reply's calls are one content, in the order of the calls, because
//! calls may have no ids. Signatures are sent back on the same parts they came with.

use std::borrow::Cow;
use std::collections::BTreeMap;

use consort_core::catalog::ToolInfo;
use consort_core::message::{Call, Message, Part, Reply};
use consort_core::model_options::{ModelOptions, ReasoningEffort};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::schema::Plain;
use crate::native::{Arguments, Native};
use crate::pairs::{CallResult, Open};
use crate::turns::{Speaker, Turn, Turns};
use crate::wire::Endpoint;
use crate::{Ask, File, names};

/// The signature that the API accepts for a call it did
/// not make; without one its newer models refuse the call.
const FOREIGN: &str = "skip_thought_signature_validator";

/// The request's body.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<System<'a>>,
    contents: Vec<Turn<Block<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    generation_config: Generation<'a>,
}

#[derive(Serialize)]
struct System<'a> {
    parts: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Function<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Function<'a> {
    name: Cow<'a, str>,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters_json_schema: Option<Plain<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Generation<'a> {
    max_output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Plain<'a>>,
}

/// The amount of thinking: a level, or a number of tokens for models that do not know levels.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Thinking {
    ThinkingLevel(&'static str),
    ThinkingBudget(u32),
}

impl<'a> Generation<'a> {
    fn of(ask: &'a Ask, model: &str) -> Generation<'a> {
        let ModelOptions { temperature, top_p, seed, reasoning_effort } = ask.options;
        let thinking_config = reasoning_effort.and_then(|effort| thinking(effort, model));
        // The API takes a schema or tools, not both.
        let schema = ask.schema.as_ref().filter(|_| ask.tools.is_empty());
        Generation {
            max_output_tokens: ask.max_output_tokens,
            temperature,
            top_p,
            seed,
            thinking_config,
            response_mime_type: schema.map(|_| "application/json"),
            response_json_schema: schema.map(|schema| Plain(schema.json())),
        }
    }
}

/// Returns the provider's level for an effort, or the number of tokens the provider
/// says it equals; none for efforts without a level, which `check` has refused.
fn thinking(effort: ReasoningEffort, model: &str) -> Option<Thinking> {
    let (level, tokens) = match effort {
        ReasoningEffort::Minimal => ("MINIMAL", 1_024),
        ReasoningEffort::Low => ("LOW", 1_024),
        ReasoningEffort::Medium => ("MEDIUM", 8_192),
        ReasoningEffort::High => ("HIGH", 24_576),
        ReasoningEffort::None | ReasoningEffort::Xhigh | ReasoningEffort::Max => return None,
    };
    let is_old = model.contains("gemini-2");
    Some(if is_old { Thinking::ThinkingBudget(tokens) } else { Thinking::ThinkingLevel(level) })
}

impl Serialize for Turn<Block<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(serializer, "model", "parts")
    }
}

/// A part of a content.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
    },
    File {
        inline_data: InlineData<'a>,
    },
    NativeText(Native<'a, &'a str>),
    Call {
        function_call: FunctionCall<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'static str>,
    },
    NativeCall(Native<'a, FunctionCall<'a>>),
    Result {
        function_response: FunctionResponse<'a>,
    },
}

/// The bytes of a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    args: Arguments<'a>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Response<'a> {
    Output(&'a str),
    Error(&'a str),
}

impl<'a> Body<'a> {
    /// Builds the request that sends `ask` to `endpoint`.
    pub(super) fn new(ask: &'a Ask, endpoint: &'a Endpoint) -> Body<'a> {
        let turns = Turns::new();
        let open = Open::new();
        let mut conversation = Conversation { origin: &endpoint.origin, system: Vec::new(), turns, open };
        for message in ask.messages.iter() {
            conversation.add(message, &ask.files);
        }
        conversation.settle();
        let tools = Tools { function_declarations: ask.tools.iter().map(|tool| function(tool)).collect() };
        Body {
            system_instruction: Some(conversation.system)
                .filter(|parts| !parts.is_empty())
                .map(|parts| System { parts }),
            contents: conversation.turns.finish(|words| Block::Text { text: words.into() }),
            tools: (!ask.tools.is_empty()).then_some([tools]),
            generation_config: Generation::of(ask, &endpoint.options.model),
        }
    }
}

fn function(tool: &ToolInfo) -> Function<'_> {
    let schema = Some(tool.schema.json()).filter(|schema| schema.is_object());
    let name = names::encode(&tool.name);
    Function { name, description: &tool.description, parameters_json_schema: schema.map(Plain) }
}

/// The conversation being built, and the state needed to satisfy the API's rules.
struct Conversation<'a> {
    origin: &'a str,
    system: Vec<Block<'a>>,
    turns: Turns<Block<'a>>,
    /// Calls of the last reply, by their own ids and their names.
    open: Open<'a, (Option<&'a str>, Cow<'a, str>)>,
}

impl<'a> Conversation<'a> {
    fn add(&mut self, message: &'a Message, files: &'a BTreeMap<String, File>) {
        match message {
            Message::System { text } => self.system.extend(words(text.as_str())),
            Message::User { text } => {
                self.settle();
                self.say(Speaker::User, words(text.as_str()));
            }
            Message::Files { files: attached } => {
                self.settle();
                self.turns.show(attached, files, |file| {
                    let inline_data = InlineData { mime_type: &file.media_type, data: &file.base64 };
                    Block::File { inline_data }
                });
            }
            Message::Assistant(reply) => {
                self.settle();
                self.reply(reply);
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

    fn reply(&mut self, reply: &'a Reply) {
        let is_own = reply.wire == self.origin;
        // Only the first of a reply's calls needs a signature.
        let mut signature = Some(FOREIGN).filter(|_| !is_own);
        for part in &reply.parts {
            let block = match part {
                Part::Text { text, native: Some(Value::Object(json)) }
                | Part::Thinking { text, native: Some(Value::Object(json)) }
                    if is_own =>
                {
                    Some(Block::NativeText(Native { json, field: "text", filling: text.as_str() }))
                }
                Part::Text { text, .. } => words(text.as_str()),
                Part::Thinking { .. } => None,
                Part::Call(call) => Some(match call.native.as_ref().and_then(Value::as_object).filter(|_| is_own) {
                    Some(native) => self.own_call(call, native),
                    None => self.call(call, signature.take()),
                }),
            };
            self.say(Speaker::Model, block);
        }
    }

    fn own_call(&mut self, call: &'a Call, json: &'a Map<String, Value>) -> Block<'a> {
        let id = json.get("functionCall").and_then(|call| call.get("id")?.as_str());
        Block::NativeCall(Native { json, field: "functionCall", filling: self.open_call(call, id) })
    }

    fn call(&mut self, call: &'a Call, thought_signature: Option<&'static str>) -> Block<'a> {
        Block::Call { function_call: self.open_call(call, None), thought_signature }
    }

    fn open_call(&mut self, call: &'a Call, id: Option<&'a str>) -> FunctionCall<'a> {
        let name = names::encode(&call.tool);
        self.open.call(&call.provider_id, (id, name.clone()));
        FunctionCall { id, name, args: Arguments::of(call.args.as_str()) }
    }

    /// Adds a result for each call still open, before the next message.
    fn settle(&mut self) {
        for ((id, name), result) in self.open.settle() {
            let response = if result.is_error { Response::Error(result.text) } else { Response::Output(result.text) };
            let function_response = FunctionResponse { id, name, response };
            self.turns.say(Speaker::User, Block::Result { function_response });
        }
        for stray in self.open.strays() {
            self.turns.say(Speaker::User, Block::Text { text: stray.into() });
        }
    }
}

fn words(text: &str) -> Option<Block<'_>> {
    (!text.trim().is_empty()).then_some(Block::Text { text: text.into() })
}
