//! Decodes the answer: items that are announced, stream their text, and then come whole. The pieces
//! are made of the text, the reply of the whole items; reasoning is stored as the item it came as.

use std::collections::VecDeque;

use consort_core::message::{Call, Failure, Part, Stop, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::answer::{Decoder, Progress, Whole, Words, fits, malformed, say, unreadable};
use crate::pairs::Ids;
use crate::{Ask, Piece, complaint, names};

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    r#type: Option<Words<'a>>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(default)]
    output_index: u64,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<Outcome<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The event fields about the response as a whole; its items came before.
#[derive(Deserialize)]
struct Outcome<'a> {
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    incomplete_details: Option<Incomplete<'a>>,
}

#[derive(Deserialize)]
struct Incomplete<'a> {
    #[serde(borrow)]
    reason: Option<Words<'a>>,
}

#[derive(Deserialize)]
struct Counted {
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    input_tokens_details: Option<Details>,
    output_tokens_details: Option<Details>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: u64,
    reasoning_tokens: u64,
}

/// One answer being read.
#[derive(Debug, Default)]
pub(super) struct Response {
    /// Whole items with their positions.
    items: Vec<(u64, Map<String, Value>)>,
    usage: Option<Usage>,
    stop: Option<Stop>,
    has_begun: bool,
    size: usize,
}

impl Decoder for Response {
    fn read(&mut self, event: &str, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        let json = event;
        let event: Event<'_> = serde_json::from_str(json).map_err(unreadable)?;
        let kind = event.r#type.map(|Words(kind)| kind).unwrap_or_default();
        match &*kind {
            "response.output_text.delta" | "response.refusal.delta" => self.say(event.delta, Piece::Delta, ready)?,
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.say(event.delta, Piece::Thinking, ready)?;
            }
            "response.output_item.added" => self.has_begun = true,
            "response.output_item.done" => self.keep(event.output_index, event.item)?,
            "response.completed" | "response.incomplete" | "response.failed" => {
                let Some(outcome) = event.response else { return Err(malformed("the answer has no outcome")) };
                self.end(&kind, outcome)?;
            }
            // An error is an event of its own, or bare as it is without a stream.
            "error" | "" => {
                let error: Value = serde_json::from_str(event.error.map_or(json, RawValue::get)).map_err(unreadable)?;
                return Err(complaint::of_event(&error));
            }
            _ => {}
        }
        fits(self.size)
    }

    fn progress(&self) -> Progress {
        match (self.stop, self.has_begun) {
            (Some(_), _) => Progress::Done,
            (None, true) => Progress::Begun,
            (None, false) => Progress::Awaited,
        }
    }

    fn finish(mut self: Box<Self>, ask: &Ask) -> Result<Whole, Failure> {
        let Some(stop) = self.stop else { return Err(malformed("the answer holds no response")) };
        self.items.sort_by_key(|(place, _)| *place);
        let mut ids = Ids::of(&ask.messages);
        let parts = self.items.into_iter().map(|(_, item)| part(item, &mut ids, ask)).collect::<Result<_, _>>()?;
        Ok(Whole { parts, stop, usage: self.usage, unsaid: String::new() })
    }
}

impl Response {
    fn say(
        &mut self,
        delta: Option<&RawValue>,
        piece: fn(String) -> Piece,
        ready: &mut VecDeque<Piece>,
    ) -> Result<(), Failure> {
        let Some(delta) = delta else { return Ok(()) };
        let words: String = serde_json::from_str(delta.get()).map_err(unreadable)?;
        self.size += words.len();
        say(ready, piece(words));
        Ok(())
    }

    fn keep(&mut self, place: u64, item: Option<&RawValue>) -> Result<(), Failure> {
        let Some(item) = item else { return Err(malformed("an item holds nothing")) };
        self.has_begun = true;
        self.size += item.get().len();
        self.items.push((place, serde_json::from_str(item.get()).map_err(unreadable)?));
        Ok(())
    }

    fn end(&mut self, kind: &str, outcome: Outcome<'_>) -> Result<(), Failure> {
        // Counts that cannot be read are no reason to lose the answer.
        let counted = outcome.usage.and_then(|counted| serde_json::from_str(counted.get()).ok());
        self.usage = counted.map(usage).or(self.usage);
        if kind == "response.failed" {
            let error = outcome.error.map(|error| serde_json::from_str(error.get())).transpose();
            return Err(complaint::of_event(&error.map_err(unreadable)?.unwrap_or_default()));
        }
        let reason = outcome.incomplete_details.and_then(|details| details.reason);
        self.stop = Some(match reason.as_ref().map(|Words(reason)| &**reason) {
            Some("content_filter") => Stop::Filtered,
            Some(_) => Stop::Length,
            None => Stop::End,
        });
        Ok(())
    }
}

fn part(mut item: Map<String, Value>, ids: &mut Ids<'_>, ask: &Ask) -> Result<Part, Failure> {
    match item.get("type").and_then(Value::as_str) {
        Some("message") => {
            let text = joined(item.get("content"));
            for portable in ["type", "role", "content"] {
                item.shift_remove(portable);
            }
            Ok(Part::Text { text: text.into(), native: (!item.is_empty()).then_some(Value::Object(item)) })
        }
        Some("function_call") => call(item, ids, ask).map(Part::Call),
        Some("reasoning") => {
            let summary = joined(item.get("summary"));
            let thoughts = joined(item.get("content"));
            let text = if summary.is_empty() { thoughts } else { summary };
            let can_go_back = item.get("encrypted_content").is_some_and(Value::is_string);
            Ok(Part::Thinking { text: text.into(), native: can_go_back.then_some(Value::Object(item)) })
        }
        Some(_) => Ok(Part::Thinking { text: "".into(), native: Some(Value::Object(item)) }),
        None => Err(malformed("an item is of no type")),
    }
}

fn call(mut item: Map<String, Value>, ids: &mut Ids<'_>, ask: &Ask) -> Result<Call, Failure> {
    item.shift_remove("type");
    let mut take = |name| if let Some(Value::String(text)) = item.shift_remove(name) { text } else { String::new() };
    let id = take("call_id");
    let name = take("name");
    let args = take("arguments");
    if name.is_empty() {
        return Err(malformed("a call names no tool"));
    }
    Ok(Call {
        provider_id: ids.claim(id.into(), |_| true).into_owned(),
        tool: names::decode(&name, &ask.tools),
        args: args.into(),
        native: (!item.is_empty()).then_some(Value::Object(item)),
    })
}

/// Returns the text of all contents that have some.
fn joined(contents: Option<&Value>) -> String {
    let words = |content: &Value| Some(content.get("text").or(content.get("refusal"))?.as_str()?.to_owned());
    contents.and_then(Value::as_array).into_iter().flatten().filter_map(words).collect()
}

fn usage(counted: Counted) -> Usage {
    let input = counted.input_tokens_details.unwrap_or_default();
    let output = counted.output_tokens_details;
    Usage {
        input: counted.input_tokens,
        output: counted.output_tokens,
        cached_input: input.cached_tokens,
        reasoning: output.unwrap_or_default().reasoning_tokens,
    }
}
