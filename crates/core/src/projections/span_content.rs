//! Prompts, answers, arguments and results for spans, in the JSON of OpenTelemetry's conventions. They are
//! exported only where the configuration asks for them, and long ones are cut.

use serde_json::{Value, json};

use crate::projections::span::{Attribute, finish_reason};
use crate::state::run::Run;
use consort_spec::event::{Event, EventKind};
use consort_spec::id::Id;
use consort_spec::message::{Attached, Call, Message, Outcome, Part, Reply};

/// The number of bytes of one attribute; collectors refuse requests of some megabytes.
const CONTENT_MAX: usize = 64 * 1024;
/// The number of bytes of one text in it, so that one long result does not hide the rest.
const TEXT_MAX: usize = 16 * 1024;

impl Run {
    /// Returns the content of the span that ends with `event`, which is about to be applied to this run; empty
    /// when no such span ends with it.
    pub fn span_content(&self, event: &Event) -> Vec<(&'static str, Attribute)> {
        let attributes = if let EventKind::ModelReplied { conversation, reply, .. } = &event.kind {
            let mut attributes = self.asked_content(conversation);
            attributes.push(("gen_ai.output.messages", json!([answer(reply)])));
            attributes
        } else if let EventKind::ModelFailed { conversation, .. } = &event.kind {
            self.asked_content(conversation)
        } else if let EventKind::ToolReturned { call, outcome, .. } = &event.kind {
            self.call_content(call, outcome)
        } else {
            Vec::new()
        };
        let written =
            |value: Value| Attribute::Content(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        attributes.into_iter().map(|(name, value)| (name, written(value))).collect()
    }

    fn asked_content(&self, conversation: &Id) -> Vec<(&'static str, Value)> {
        let Some(conversation) = self.conversations().get(conversation).filter(|conversation| conversation.is_asked())
        else {
            return Vec::new();
        };
        let rules: Vec<Value> = conversation.messages().iter().filter_map(rule).collect();
        let input = newest(conversation.messages().iter().filter_map(message));
        let mut attributes = vec![("gen_ai.input.messages", Value::Array(input))];
        if !rules.is_empty() {
            attributes.push(("gen_ai.system_instructions", Value::Array(newest(rules.into_iter()))));
        }
        attributes
    }

    /// Returns the content of a call. For a call that was a conversation of its own, that conversation's span
    /// has it.
    fn call_content(&self, call: &Id, outcome: &Outcome) -> Vec<(&'static str, Value)> {
        if self.conversations().contains_key(call) {
            return Vec::new();
        }
        let (_tool, args) = self.asked_call(call);
        let result = match outcome {
            Outcome::Answer { text, .. } | Outcome::Failed { text } => cut(text.as_str()),
            Outcome::Unknown { why } => cut(why),
            Outcome::Subtask => String::new(),
        };
        vec![("gen_ai.tool.call.arguments", cut(&args).into()), ("gen_ai.tool.call.result", result.into())]
    }
}

/// Returns the last messages that fit, in their order.
fn newest(messages: impl DoubleEndedIterator<Item = Value>) -> Vec<Value> {
    let mut left = CONTENT_MAX;
    let fits = |message: &Value| match left.checked_sub(message.to_string().len()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let mut kept: Vec<Value> = messages.rev().take_while(fits).collect();
    kept.reverse();
    kept
}

fn rule(message: &Message) -> Option<Value> {
    if let Message::System { text } = message { Some(words(text.as_str())) } else { None }
}

fn message(message: &Message) -> Option<Value> {
    match message {
        Message::System { .. } => None,
        Message::User { text } => Some(json!({ "role": "user", "parts": [words(text.as_str())] })),
        Message::Files { files } => {
            let part = |file: &Attached| json!({ "type": "file", "name": file.name, "mime_type": file.media_type });
            Some(json!({ "role": "user", "parts": files.iter().map(part).collect::<Vec<_>>() }))
        }
        Message::Assistant(reply) => Some(answer(reply)),
        Message::Tool { provider_id, text, .. } => {
            let part = json!({ "type": "tool_call_response", "id": provider_id, "response": cut(text.as_str()) });
            Some(json!({ "role": "tool", "parts": [part] }))
        }
    }
}

fn answer(reply: &Reply) -> Value {
    let parts: Vec<Value> = reply.parts.iter().map(part).collect();
    json!({ "role": "assistant", "parts": parts, "finish_reason": finish_reason(reply) })
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text, .. } => words(text.as_str()),
        Part::Thinking { text, .. } => json!({ "type": "reasoning", "content": cut(text.as_str()) }),
        Part::Call(Call { provider_id, tool, args, .. }) => {
            // The arguments as the model wrote them, where they are not JSON.
            let args = cut(args.as_str());
            let args = serde_json::from_str(&args).unwrap_or(Value::String(args));
            json!({ "type": "tool_call", "id": provider_id, "name": tool, "arguments": args })
        }
    }
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "content": cut(text) })
}

fn cut(text: &str) -> String {
    match text.get(..text.floor_char_boundary(TEXT_MAX)) {
        Some(start) if start.len() < text.len() => format!("{start}…"),
        Some(_) | None => text.to_owned(),
    }
}
