//! Decodes the answer: parts that come whole or, where they are text, in fragments. A part with a
//! signature stays a separate part, with all its fields, and so does any part of an unknown kind.

use std::collections::VecDeque;

use consort_core::message::{Call, Failure, FailureKind, Part, Stop, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::answer::{Decoder, Progress, Whole, Words, fits, malformed, say, unreadable};
use crate::pairs::Ids;
use crate::{Ask, Piece, complaint, http, names};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow)]
    prompt_feedback: Option<Feedback<'a>>,
    #[serde(borrow)]
    usage_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow)]
    block_reason: Option<Words<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    content: Option<Parts<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Words<'a>>,
    #[serde(borrow)]
    finish_message: Option<Words<'a>>,
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    parts: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given<'a> {
    #[serde(borrow)]
    text: Option<Words<'a>>,
    thought: Option<bool>,
    #[serde(borrow)]
    thought_signature: Option<&'a RawValue>,
    #[serde(borrow)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Option<Words<'a>>,
    #[serde(borrow)]
    name: Option<Words<'a>>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Counted {
    prompt_token_count: u64,
    tool_use_prompt_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
    cached_content_token_count: u64,
}

/// The kind of a text: a part of the answer, or reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextKind {
    Answer,
    Thought,
}

/// A part of the reply being built.
#[derive(Debug)]
enum ReplyPart {
    /// Text, which may grow unless it has a provider's own form.
    Text { kind: TextKind, text: String, native: Option<Value> },
    /// A tool call.
    Call { id: String, name: String, args: String, native: Option<Value> },
}

/// One answer being read.
#[derive(Debug, Default)]
pub(super) struct Content {
    parts: Vec<ReplyPart>,
    usage: Option<Usage>,
    stop: Option<Stop>,
    has_candidate: bool,
    size: usize,
}

impl Decoder for Content {
    fn read(&mut self, event: &str, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        let chunk: Chunk<'_> = serde_json::from_str(event).map_err(unreadable)?;
        if let Some(error) = chunk.error {
            return Err(complaint::of_event(&serde_json::from_str(error.get()).map_err(unreadable)?));
        }
        if let Some(Words(reason)) = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            return Err(http::failure(FailureKind::Refused, format!("the prompt was blocked: {reason}")));
        }
        // Counts that cannot be read are no reason to lose the answer.
        let counted = chunk.usage_metadata.and_then(|counted| serde_json::from_str(counted.get()).ok());
        self.usage = counted.map(usage).or(self.usage);
        for candidate in chunk.candidates.into_iter().flatten().filter(|candidate| candidate.index == 0) {
            self.has_candidate = true;
            for part in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
                self.add(part.get(), ready)?;
            }
            if let Some(Words(reason)) = candidate.finish_reason {
                let message = candidate.finish_message.map(|Words(message)| message).unwrap_or_default();
                self.stop = Some(stop(&reason, &message)?);
            }
        }
        fits(self.size)
    }

    fn progress(&self) -> Progress {
        match (self.stop, self.has_candidate) {
            (Some(_), _) => Progress::Stopped,
            (None, true) => Progress::Begun,
            (None, false) => Progress::Awaited,
        }
    }

    fn finish(self: Box<Self>, ask: &Ask) -> Result<Whole, Failure> {
        let Some(stop) = self.stop else { return Err(malformed("the answer holds no candidate")) };
        let mut ids = Ids::of(&ask.messages);
        let part = |kept| match kept {
            ReplyPart::Text { kind: TextKind::Answer, text, native } => Part::Text { text: text.into(), native },
            ReplyPart::Text { kind: TextKind::Thought, text, native } => Part::Thinking { text: text.into(), native },
            ReplyPart::Call { id, name, args, native } => Part::Call(Call {
                provider_id: ids.claim(id.into(), |_| true).into_owned(),
                tool: names::decode(&name, &ask.tools),
                args: args.into(),
                native,
            }),
        };
        Ok(Whole { parts: self.parts.into_iter().map(part).collect(), stop, usage: self.usage, unsaid: String::new() })
    }
}

impl Content {
    fn add(&mut self, json: &str, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        let given: Given<'_> = serde_json::from_str(json).map_err(unreadable)?;
        let is_signed = given.thought_signature.is_some_and(|signature| signature.get() != "null");
        let kind = if given.thought == Some(true) { TextKind::Thought } else { TextKind::Answer };
        match (given.function_call, given.text) {
            (Some(call), _) => {
                self.size += json.len();
                self.parts.push(called(call, json)?);
            }
            (None, Some(Words(text))) if is_signed => {
                self.size += json.len();
                announce(kind, &text, ready);
                let native = Some(form(json, "text", Value::Null)?);
                self.parts.push(ReplyPart::Text { kind, text: text.into_owned(), native });
            }
            (None, Some(Words(text))) => {
                self.size += text.len();
                announce(kind, &text, ready);
                self.grow(kind, &text);
            }
            (None, None) => {
                self.size += json.len();
                let native = serde_json::from_str::<Map<String, Value>>(json).map_err(unreadable)?;
                let unknown = (!native.is_empty()).then_some(Value::Object(native));
                let said =
                    |native| ReplyPart::Text { kind: TextKind::Thought, text: String::new(), native: Some(native) };
                self.parts.extend(unknown.map(said));
            }
        }
        Ok(())
    }

    fn grow(&mut self, kind: TextKind, more: &str) {
        match self.parts.last_mut() {
            Some(ReplyPart::Text { kind: last, text, native: None }) if *last == kind => text.push_str(more),
            Some(_) | None if more.is_empty() => {}
            Some(_) | None => self.parts.push(ReplyPart::Text { kind, text: more.to_owned(), native: None }),
        }
    }
}

fn announce(kind: TextKind, words: &str, ready: &mut VecDeque<Piece>) {
    if !words.is_empty() {
        say(
            ready,
            match kind {
                TextKind::Answer => Piece::Delta(words.to_owned()),
                TextKind::Thought => Piece::Thinking(words.to_owned()),
            },
        );
    }
}

fn called(call: FunctionCall<'_>, json: &str) -> Result<ReplyPart, Failure> {
    let Some(Words(name)) = call.name.filter(|Words(name)| !name.is_empty()) else {
        return Err(malformed("a call names no tool"));
    };
    let id = call.id.map(|Words(id)| id.into_owned()).unwrap_or_default();
    let own = if id.is_empty() { Value::Null } else { json!({ "id": id }) };
    let is_plain = own.is_null();
    let native = form(json, "functionCall", own)?;
    let native = Some(native).filter(|native| !is_plain || native.as_object().is_some_and(|fields| fields.len() > 1));
    let args = call.args.map(RawValue::get).filter(|args| *args != "null").unwrap_or_default();
    Ok(ReplyPart::Call { id, name: name.into_owned(), args: args.to_owned(), native })
}

/// Returns the provider's own form of the part, with `stand_in` where our form holds the value.
fn form(json: &str, field: &str, stand_in: Value) -> Result<Value, Failure> {
    let mut fields: Map<String, Value> = serde_json::from_str(json).map_err(unreadable)?;
    fields.insert(field.to_owned(), stand_in);
    Ok(Value::Object(fields))
}

fn stop(reason: &str, message: &str) -> Result<Stop, Failure> {
    match reason {
        "MAX_TOKENS" => Ok(Stop::Length),
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Ok(Stop::Filtered),
        "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL" => {
            Err(malformed(&format!("the model was stopped: {reason} {message}")))
        }
        _ => Ok(Stop::End),
    }
}

fn usage(counted: Counted) -> Usage {
    Usage {
        input: counted.prompt_token_count.saturating_add(counted.tool_use_prompt_token_count),
        output: counted.candidates_token_count.saturating_add(counted.thoughts_token_count),
        cached_input: counted.cached_content_token_count,
        reasoning: counted.thoughts_token_count,
    }
}
