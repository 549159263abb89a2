//! Decodes the answer: events become pieces as they arrive and a reply at the end.

use std::collections::VecDeque;
use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::message::{Call, Failure, FailureKind, Part, Stop, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::calls::Calls;
use super::delta::{Choices, Delta, TextParts};
use super::repeat::Repeated;
use super::text_calls::{self, TextCall};
use crate::answer::{Decoder, Progress, Whole, fits, malformed, say, unreadable};
use crate::pairs::Ids;
use crate::{Ask, Piece, complaint, http, names};

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Option<Choices<'a>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    /// The error of servers that send it without an `error` object.
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

impl<'a> Chunk<'a> {
    /// Returns the words of an event that says nothing else.
    fn only_words(&self) -> Option<&'a str> {
        match self {
            Chunk { choices: Some(choices), usage: None, error: None, message: None } => choices.only_words(),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Counted {
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    #[serde(default)]
    prompt_cache_hit_tokens: u64,
}

#[derive(Default, Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

/// One answer being read.
#[derive(Debug, Default)]
pub(super) struct Chat {
    /// The tools that were offered.
    tools: Arc<[Arc<ToolInfo>]>,
    text: String,
    /// The bytes of the text that were shown; the rest may be a call in words.
    shown: usize,
    thoughts: String,
    /// The name of the field in which the server sends its thinking.
    thoughts_field: Option<&'static str>,
    natives: Map<String, Value>,
    calls: Calls,
    usage: Option<Usage>,
    stop: Option<Stop>,
    has_choice: bool,
    size: usize,
    repeated: Repeated,
}

impl Decoder for Chat {
    fn read(&mut self, event: &str, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        if let Some(words) = self.repeated.words_of(event) {
            self.say(words, ready);
            return fits(self.size);
        }
        let chunk: Chunk<'_> = serde_json::from_str(event).map_err(unreadable)?;
        let only_words = chunk.only_words();
        let bare = chunk.message.filter(|_| chunk.choices.is_none()).map(|_| event);
        if let Some(error) = chunk.error.map(RawValue::get).or(bare) {
            return Err(complaint::of_event(&serde_json::from_str(error).map_err(unreadable)?));
        }
        // Counts that cannot be read are no reason to lose the answer.
        let counted = chunk.usage.and_then(|usage| serde_json::from_str(usage.get()).ok());
        self.usage = counted.map(usage).or(self.usage);
        for choice in chunk.choices.into_iter().flat_map(Choices::chosen) {
            self.has_choice = true;
            if let Some(delta) = choice.delta.or_else(|| choice.message.map(|message| *message)) {
                self.add(delta, ready).map_err(unreadable)?;
            }
            if let Some(reason) = choice.finish_reason {
                self.stop = Some(stop(&reason)?);
            }
        }
        if let Some(words) = only_words {
            self.repeated.note(event, words);
        }
        fits(self.size)
    }

    fn progress(&self) -> Progress {
        match (self.stop, self.has_choice) {
            (Some(_), _) => Progress::Stopped,
            (None, true) => Progress::Begun,
            (None, false) => Progress::Awaited,
        }
    }

    fn finish(self: Box<Self>, ask: &Ask) -> Result<Whole, Failure> {
        if !self.has_choice {
            return Err(malformed("the answer holds no choice"));
        }
        let spoken = self.spoken_parts(ask);
        let mut native = self.natives;
        if let Some(field) = self.thoughts_field.filter(|_| !native.contains_key("reasoning_details")) {
            native.insert(field.to_owned(), Value::Null);
        }
        let mut parts = Vec::new();
        if !self.thoughts.is_empty() || !native.is_empty() {
            let native = (!native.is_empty()).then_some(Value::Object(native));
            parts.push(Part::Thinking { text: self.thoughts.into(), native });
        }
        if let Some(spoken) = spoken {
            parts.extend(spoken);
            return Ok(Whole { parts, stop: self.stop.unwrap_or_default(), usage: self.usage, unsaid: String::new() });
        }
        let unsaid = self.text.get(self.shown..).unwrap_or_default().to_owned();
        if !self.text.is_empty() {
            parts.push(Part::Text { text: self.text.into(), native: None });
        }
        if !self.calls.is_empty() {
            let calls = self.calls.finish(&ask.messages, &ask.tools);
            parts.extend(calls.ok_or_else(|| malformed("a call names no tool"))?.into_iter().map(Part::Call));
        }
        Ok(Whole { parts, stop: self.stop.unwrap_or_default(), usage: self.usage, unsaid })
    }
}

impl Chat {
    /// Returns an answer of which nothing has arrived, in a conversation with these tools.
    pub(super) fn new(tools: Arc<[Arc<ToolInfo>]>) -> Chat {
        Chat { tools, ..Chat::default() }
    }

    /// Returns the parts of a reply that is calls in words, if it is.
    fn spoken_parts(&self, ask: &Ask) -> Option<Vec<Part>> {
        let said = match self.stop {
            Some(Stop::Length | Stop::Filtered) => text_calls::read_cut(&self.text, &ask.belt),
            Some(Stop::End) | None => text_calls::read(&self.text, &ask.belt),
        };
        let text_calls::Parsed { thought, calls } = said.filter(|_| self.calls.is_empty())?;
        let thought = (!thought.is_empty()).then(|| Part::Thinking { text: thought.into(), native: None });
        let mut ids = Ids::of(&ask.messages);
        let call = |call: TextCall| {
            let tool = names::decode(&call.name, &ask.belt);
            let provider_id = ids.claim("".into(), |_| true).into_owned();
            Part::Call(Call { provider_id, tool, args: call.args.into(), native: None })
        };
        let calls: Vec<Part> = calls.into_iter().map(call).collect();
        Some(thought.into_iter().chain(calls).collect())
    }

    fn add(&mut self, delta: Delta<'_>, ready: &mut VecDeque<Piece>) -> Result<(), serde_json::Error> {
        // Some servers send the same thinking in both fields.
        let (field, thoughts) = match delta.reasoning_content.unwrap_or_default() {
            TextParts(nothing) if nothing.is_empty() => ("reasoning", delta.reasoning.unwrap_or_default().0),
            TextParts(thoughts) => ("reasoning_content", thoughts),
        };
        if !thoughts.is_empty() {
            self.thoughts_field = Some(field);
            self.thoughts.push_str(&thoughts);
            self.size += thoughts.len();
            say(ready, Piece::Thinking(thoughts.into_owned()));
        }
        let said = [delta.content, delta.refusal].map(Option::unwrap_or_default);
        said.iter().for_each(|TextParts(text)| self.say(text, ready));
        for fragment in delta.tool_calls.into_iter().flatten() {
            self.size += self.calls.add(fragment)?;
        }
        self.keep("reasoning_details", delta.reasoning_details)?;
        self.keep("thinking_blocks", delta.thinking_blocks)?;
        self.keep("extra_content", delta.extra_content)?;
        self.keep("thought_signature", delta.thought_signature)
    }

    fn say(&mut self, text: &str, ready: &mut VecDeque<Piece>) {
        self.text.push_str(text);
        self.size += text.len();
        self.show(ready);
    }

    /// Shows the text that has arrived, except an end that may become a call in words.
    fn show(&mut self, ready: &mut VecDeque<Piece>) {
        // Once its beginning is shown, a reply can only be an answer; the rest needs no look.
        let is_answer = self.shown > 0 && !self.text.trim_start().starts_with('<');
        let shown = if is_answer { self.text.len() } else { text_calls::visible_len(&self.text, &self.tools) };
        if let Some(more) = self.text.get(self.shown..shown).filter(|more| !more.is_empty()) {
            say(ready, Piece::Delta(more.to_owned()));
            self.shown = shown;
        }
    }

    /// Stores a field that must be sent back; a list sent in fragments is joined.
    fn keep(&mut self, name: &str, value: Option<&RawValue>) -> Result<(), serde_json::Error> {
        let Some(raw) = value else { return Ok(()) };
        self.size += raw.get().len();
        match (self.natives.get_mut(name), serde_json::from_str(raw.get())?) {
            (Some(Value::Array(kept)), Value::Array(more)) => extend(kept, more),
            (_, Value::Array(items)) => {
                let mut kept = Vec::new();
                extend(&mut kept, items);
                self.natives.insert(name.to_owned(), kept.into());
            }
            (_, value) => drop(self.natives.insert(name.to_owned(), value)),
        }
        Ok(())
    }
}

fn extend(kept: &mut Vec<Value>, more: Vec<Value>) {
    for item in more {
        match kept.last_mut() {
            Some(last) if continues(last, &item) => join(last, item),
            Some(_) | None => kept.push(item),
        }
    }
}

fn continues(last: &Value, item: &Value) -> bool {
    let same = |name| last.get(name) == item.get(name);
    let differs = |name| item.get(name).is_some_and(|value| last.get(name).is_some_and(|known| known != value));
    item.get("text").or(item.get("summary")).or(item.get("signature")).is_some()
        && same("type")
        && same("index")
        && !differs("id")
}

fn join(last: &mut Value, item: Value) {
    let (Value::Object(last), Value::Object(item)) = (last, item) else { return };
    for (name, value) in item {
        match (last.get_mut(&name), value) {
            (Some(Value::String(known)), Value::String(more)) if name == "text" || name == "summary" => {
                known.push_str(&more);
            }
            (None | Some(Value::Null), value) => drop(last.insert(name, value)),
            (Some(_), _) => {}
        }
    }
}

fn usage(counted: Counted) -> Usage {
    let input = counted.prompt_tokens_details.unwrap_or_default();
    let output = counted.completion_tokens_details.unwrap_or_default();
    Usage {
        input: counted.prompt_tokens,
        output: counted.completion_tokens,
        cached_input: input.cached_tokens.unwrap_or(counted.prompt_cache_hit_tokens),
        reasoning: output.reasoning_tokens.unwrap_or_default(),
    }
}

fn stop(reason: &str) -> Result<Stop, Failure> {
    match reason {
        "length" | "max_tokens" => Ok(Stop::Length),
        "content_filter" => Ok(Stop::Filtered),
        "error" | "insufficient_system_resource" => {
            Err(http::failure(FailureKind::Overloaded, format!("the server gave up: {reason}")))
        }
        _ => Ok(Stop::End),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &str = r#"{"id":"a","choices":[{"index":0,"delta":{"content":"It"},"finish_reason":null}]}"#;

    /// Reads the event after another, which is remembered or not.
    fn read_after(event: &str, repeated: Option<Repeated>) -> (bool, String, Option<Stop>, String) {
        let mut chat = Chat::default();
        let mut ready = VecDeque::new();
        chat.read(EVENT, &mut ready).unwrap();
        chat.repeated = repeated.unwrap_or(std::mem::take(&mut chat.repeated));
        let is_read = chat.read(event, &mut ready).is_ok();
        let said = if is_read { format!("{ready:?} {:?} {:?}", chat.usage, chat.calls) } else { String::new() };
        (is_read, if is_read { chat.text } else { String::new() }, chat.stop, said)
    }

    #[test]
    fn made_up_events_are_read_alike_whatever_came_before() {
        let examples = [EVENT, &EVENT.replace("It", "größer"), &EVENT.replace("null", "\"stop\"")];
        consort_fuzz::text(&examples, |event| {
            assert_eq!(read_after(event, None), read_after(event, Some(Repeated::default())), "{event}");
        });
    }

    #[test]
    fn an_event_of_words_is_remembered() {
        let mut chat = Chat::default();
        chat.read(EVENT, &mut VecDeque::new()).unwrap();
        assert_eq!(chat.repeated.words_of(&EVENT.replace("It", " will")), Some(" will"));
    }
}
