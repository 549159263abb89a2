//! Decodes the answer: blocks that begin, grow and end, sent as pieces while
//! they grow and returned as the parts of a reply at the end. Thinking is
//! stored with its signature, and so is any block of an unknown kind.

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
    r#type: Words<'a>,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    text: Option<Words<'a>>,
    #[serde(borrow)]
    thinking: Option<Words<'a>>,
    #[serde(borrow)]
    signature: Option<Words<'a>>,
    #[serde(borrow)]
    partial_json: Option<Words<'a>>,
    #[serde(borrow)]
    stop_reason: Option<Words<'a>>,
}

#[derive(Deserialize)]
struct Start<'a> {
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

/// Token counts so far; each event that has one counts from the beginning.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Counted {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<Details>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    thinking_tokens: u64,
}

/// One block as it grows.
#[derive(Debug)]
enum Block {
    Text(String),
    Thinking { text: String, native: Map<String, Value> },
    Call { args: String, native: Map<String, Value> },
    Unknown(Map<String, Value>),
}

/// One answer being read.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// Blocks with their numbers, in the order they began.
    blocks: Vec<(u64, Block)>,
    counted: Option<Counted>,
    stop: Option<Stop>,
    progress: Progress,
    size: usize,
}

impl Decoder for Message {
    fn read(&mut self, event: &str, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        let event: Event<'_> = serde_json::from_str(event).map_err(unreadable)?;
        match &*event.r#type.0 {
            "message_start" => {
                self.progress = self.progress.max(Progress::Begun);
                let start = event.message.and_then(|message| serde_json::from_str::<Start<'_>>(message.get()).ok());
                self.count(start.and_then(|start| start.usage));
            }
            "content_block_start" => self.begin(event.index, event.content_block, ready)?,
            "content_block_delta" => self.grow(event.index, event.delta.unwrap_or_default(), ready)?,
            "message_delta" => {
                self.count(event.usage);
                if let Some(Words(reason)) = event.delta.and_then(|delta| delta.stop_reason) {
                    self.stop = Some(stop(&reason));
                    self.progress = self.progress.max(Progress::Stopped);
                }
            }
            "message_stop" if self.stop.is_some() => self.progress = Progress::Done,
            "error" => {
                let error = event.error.map(|error| serde_json::from_str(error.get())).transpose();
                return Err(complaint::of_event(&error.map_err(unreadable)?.unwrap_or_default()));
            }
            // Pings, ends of blocks, and event kinds that may be added later.
            _ => {}
        }
        fits(self.size)
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn finish(self: Box<Self>, ask: &Ask) -> Result<Whole, Failure> {
        let Some(stop) = self.stop else { return Err(malformed("the answer holds no message")) };
        let mut ids = Ids::of(&ask.messages);
        let mut parts = Vec::with_capacity(self.blocks.len());
        for (_, block) in self.blocks {
            match block {
                Block::Text(text) if text.is_empty() => {}
                Block::Text(text) => parts.push(Part::Text { text: text.into(), native: None }),
                Block::Thinking { text, native } => parts.push(thought(text, native)),
                Block::Call { args, native } => parts.push(Part::Call(call(args, native, &mut ids, ask)?)),
                Block::Unknown(native) => {
                    parts.push(Part::Thinking { text: "".into(), native: Some(Value::Object(native)) });
                }
            }
        }
        Ok(Whole { parts, stop, usage: self.counted.map(usage), unsaid: String::new() })
    }
}

impl Message {
    fn begin(&mut self, index: u64, block: Option<&RawValue>, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        let Some(block) = block else { return Err(malformed("a block holds nothing")) };
        self.size += block.get().len();
        self.progress = self.progress.max(Progress::Begun);
        let mut native: Map<String, Value> = serde_json::from_str(block.get()).map_err(unreadable)?;
        let block = match native.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = words(native.remove("text"));
                if !text.is_empty() {
                    say(ready, Piece::Delta(text.clone()));
                }
                Block::Text(text)
            }
            Some("thinking") => Block::Thinking { text: words(native.insert("thinking".into(), Value::Null)), native },
            Some("tool_use") => Block::Call { args: String::new(), native },
            Some(_) => Block::Unknown(native),
            None => return Err(malformed("a block is of no type")),
        };
        self.blocks.push((index, block));
        Ok(())
    }

    fn grow(&mut self, index: u64, delta: Delta<'_>, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        let block = self.blocks.iter_mut().rfind(|(at, _)| *at == index);
        let Some((_, block)) = block else { return Err(malformed("a piece belongs to no block")) };
        match (block, delta) {
            (Block::Text(text), Delta { text: Some(Words(more)), .. }) => {
                self.size += more.len();
                text.push_str(&more);
                say(ready, Piece::Delta(more.into_owned()));
            }
            (Block::Thinking { text, .. }, Delta { thinking: Some(Words(more)), .. }) => {
                self.size += more.len();
                text.push_str(&more);
                say(ready, Piece::Thinking(more.into_owned()));
            }
            (Block::Thinking { native, .. }, Delta { signature: Some(Words(more)), .. }) => {
                self.size += more.len();
                sign(native, &more);
            }
            (Block::Call { args, .. }, Delta { partial_json: Some(Words(more)), .. }) => {
                self.size += more.len();
                args.push_str(&more);
            }
            // Pieces of unknown blocks, and unknown kinds of pieces.
            (Block::Text(_) | Block::Thinking { .. } | Block::Call { .. } | Block::Unknown(_), _) => {}
        }
        Ok(())
    }

    /// Records the token counts; counts that cannot be read are no reason to lose the answer.
    fn count(&mut self, usage: Option<&RawValue>) {
        let Some(new) = usage.and_then(|usage| serde_json::from_str::<Counted>(usage.get()).ok()) else { return };
        let old = self.counted.unwrap_or_default();
        self.counted = Some(Counted {
            input_tokens: new.input_tokens.max(old.input_tokens),
            cache_creation_input_tokens: new.cache_creation_input_tokens.max(old.cache_creation_input_tokens),
            cache_read_input_tokens: new.cache_read_input_tokens.max(old.cache_read_input_tokens),
            output_tokens: new.output_tokens.max(old.output_tokens),
            output_tokens_details: new.output_tokens_details.or(old.output_tokens_details),
        });
    }
}

fn words(value: Option<Value>) -> String {
    if let Some(Value::String(words)) = value { words } else { String::new() }
}

fn sign(native: &mut Map<String, Value>, more: &str) {
    match native.get_mut("signature") {
        Some(Value::String(signature)) => signature.push_str(more),
        Some(_) | None => drop(native.insert("signature".to_owned(), more.into())),
    }
}

/// Returns a thinking part. One that was cut has no signature, and the API would refuse its native form.
fn thought(text: String, native: Map<String, Value>) -> Part {
    let is_signed = native.get("signature").and_then(Value::as_str).is_some_and(|signature| !signature.is_empty());
    Part::Thinking { text: text.into(), native: is_signed.then_some(Value::Object(native)) }
}

fn call(args: String, mut native: Map<String, Value>, ids: &mut Ids<'_>, ask: &Ask) -> Result<Call, Failure> {
    native.shift_remove("type");
    let id = words(native.shift_remove("id"));
    let name = words(native.shift_remove("name"));
    if name.is_empty() {
        return Err(malformed("a call names no tool"));
    }
    // The whole input may come at once, with the beginning of its block.
    let input = native.shift_remove("input").filter(|input| args.is_empty() && *input != Value::Object(Map::new()));
    Ok(Call {
        provider_id: ids.claim(id.into(), |_| true).into_owned(),
        tool: names::decode(&name, &ask.tools),
        args: input.map_or(args, |input| input.to_string()).into(),
        native: (!native.is_empty()).then_some(Value::Object(native)),
    })
}

fn usage(counted: Counted) -> Usage {
    let cached_input = counted.cache_read_input_tokens.unwrap_or_default();
    let input = [counted.input_tokens, counted.cache_creation_input_tokens].into_iter().flatten();
    Usage {
        input: input.fold(cached_input, u64::saturating_add),
        output: counted.output_tokens.unwrap_or_default(),
        cached_input,
        reasoning: counted.output_tokens_details.unwrap_or_default().thinking_tokens,
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Filtered,
        _ => Stop::End,
    }
}
