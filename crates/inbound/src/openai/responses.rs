//! `/v1/responses`: an answer as a response, whole or as events. Messages are items of its
//! output, and what was done in between is reasoning.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::error::OpenAiError;
use super::head::{Head, Usage};
use super::request::{ClientRequest, ThreadChoice};
use super::step_writer::Piece;
use super::steps::End;

/// A response. It has every field that OpenAI's has; those without a meaning here are null.
#[derive(JsonSchema)]
#[schemars(rename = "Response", extend("additionalProperties" = true))]
#[expect(dead_code, reason = "a response is made of its events; this describes it")]
pub struct Shape {
    id: String,
    #[schemars(extend("const" = "response"))]
    object: String,
    /// When it was asked for, in seconds since 1970.
    created_at: u64,
    status: ResponseStatus,
    model: String,
    /// Messages, and what was done in between.
    output: Vec<Map<String, Value>>,
    previous_response_id: Option<String>,
    /// The parts of the request that were ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// The progress of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ResponseStatus {
    InProgress,
    Completed,
    Incomplete,
    Failed,
}

/// An event of a response, and its type.
pub type Event = (&'static str, Value);

/// A response that is being made.
pub struct Responding {
    head: Head,
    /// The fields that the request decides.
    fixed: Map<String, Value>,
    /// The items that are complete.
    output: Vec<Complete>,
    open: Option<Item>,
    /// The number of items before the message that is being written: others may stand between its parts.
    message: usize,
    /// The number of the next event.
    next: u64,
}

/// The item that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
}

/// The progress of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ItemStatus {
    InProgress,
    Completed,
    /// It was cut at the output limit, or does not count.
    Incomplete,
}

struct Item {
    kind: Kind,
    text: String,
}

/// An item that is complete.
struct Complete {
    kind: Kind,
    item: Value,
    /// Whether it counts. One that does not has its number, and is not in the response.
    counts: bool,
}

impl Responding {
    /// Creates an answer of which nothing was said.
    pub fn new(head: Head, request: &ClientRequest) -> Responding {
        Responding { fixed: fixed(request), head, output: Vec::new(), open: None, message: 0, next: 0 }
    }

    /// Returns the first events.
    pub fn begin(&mut self) -> Vec<Event> {
        let response = self.response(ResponseStatus::InProgress, None);
        vec![
            self.event("response.created", json!({ "response": response })),
            self.event("response.in_progress", json!({ "response": response })),
        ]
    }

    /// Returns the events of a piece.
    pub fn piece(&mut self, piece: &Piece) -> Vec<Event> {
        match piece {
            Piece::Thought(line) => self.say(Kind::Reasoning, &format!("{line}\n")),
            Piece::Break => self.end_message(ItemStatus::Completed),
            Piece::Voided => self.void(),
            Piece::Words(words) => self.say(Kind::Message, words),
            Piece::Ended(_) => Vec::new(),
        }
    }

    /// Returns the last events.
    pub fn end(&mut self, end: &End, usage: Usage) -> Vec<Event> {
        let is_cut = matches!(end, End::Answer { is_cut: true, .. });
        let is_message = self.open.as_ref().is_some_and(|open| open.kind == Kind::Message);
        let mut events =
            self.close_as(if is_cut && is_message { ItemStatus::Incomplete } else { ItemStatus::Completed });
        if is_cut {
            self.mark_last_message();
        }
        let (name, status, more) = match end {
            End::Answer { is_cut: true, .. } => {
                let details = json!({ "incomplete_details": { "reason": "max_output_tokens" } });
                ("response.incomplete", ResponseStatus::Incomplete, details)
            }
            End::Answer { .. } | End::Waits => ("response.completed", ResponseStatus::Completed, json!({})),
            End::Failed(problem) => {
                ("response.failed", ResponseStatus::Failed, json!({ "error": OpenAiError::of(problem).brief() }))
            }
        };
        let mut response = self.response(status, Some(usage));
        if let (Value::Object(fields), Value::Object(more)) = (&mut response, more) {
            fields.extend(more);
        }
        events.push(self.event(name, json!({ "response": response })));
        events
    }

    /// Adds words to the item of this kind, which may begin with them.
    fn say(&mut self, kind: Kind, words: &str) -> Vec<Event> {
        let mut events = Vec::new();
        if self.open.as_ref().is_none_or(|open| open.kind != kind) {
            events = self.close();
            self.open = Some(Item { kind, text: String::new() });
            events.extend(self.opened(kind));
        }
        if let Some(open) = &mut self.open {
            open.text.push_str(words);
        }
        events.push(match kind {
            Kind::Message => {
                self.at_part("response.output_text.delta", kind, json!({ "delta": words, "logprobs": [] }))
            }
            Kind::Reasoning => self.at_part("response.reasoning_summary_text.delta", kind, json!({ "delta": words })),
        });
        events
    }

    /// Closes the message; the next words are another's.
    fn end_message(&mut self, status: ItemStatus) -> Vec<Event> {
        let events = self.close_as(status);
        self.message = self.output.len();
        events
    }

    /// Closes the message, whose words do not count.
    fn void(&mut self) -> Vec<Event> {
        let first = self.message;
        let events = self.end_message(ItemStatus::Incomplete);
        let parts = self.output.iter_mut().skip(first).filter(|part| part.kind == Kind::Message);
        parts.for_each(|part| part.counts = false);
        events
    }

    /// Marks the last message as cut: what was done after it may have closed it before that was known.
    fn mark_last_message(&mut self) {
        let last = self.output.iter_mut().rev().find(|part| part.counts && part.kind == Kind::Message);
        if let Some(status) = last.and_then(|part| part.item.get_mut("status")) {
            *status = json!(ItemStatus::Incomplete);
        }
    }

    fn opened(&mut self, kind: Kind) -> Vec<Event> {
        let item = self.item(kind, ItemStatus::InProgress, None);
        let index = self.output.len();
        let part = part(kind, "");
        let added = match kind {
            Kind::Message => "response.content_part.added",
            Kind::Reasoning => "response.reasoning_summary_part.added",
        };
        vec![
            self.event("response.output_item.added", json!({ "output_index": index, "item": item })),
            self.at_part(added, kind, json!({ "part": part })),
        ]
    }

    /// Completes the open item.
    fn close(&mut self) -> Vec<Event> {
        self.close_as(ItemStatus::Completed)
    }

    /// Closes the open item with this status.
    fn close_as(&mut self, status: ItemStatus) -> Vec<Event> {
        let Some(Item { kind, text }) = self.open.take() else { return Vec::new() };
        let item = self.item(kind, status, Some(&text));
        let part = part(kind, &text);
        let [said, done] = match kind {
            Kind::Message => ["response.output_text.done", "response.content_part.done"],
            Kind::Reasoning => ["response.reasoning_summary_text.done", "response.reasoning_summary_part.done"],
        };
        let text = match kind {
            Kind::Message => json!({ "text": text, "logprobs": [] }),
            Kind::Reasoning => json!({ "text": text }),
        };
        let index = self.output.len();
        let events = vec![
            self.at_part(said, kind, text),
            self.at_part(done, kind, json!({ "part": part })),
            self.event("response.output_item.done", json!({ "output_index": index, "item": item })),
        ];
        self.output.push(Complete { kind, item, counts: true });
        events
    }

    /// Returns an item; without a text it has just begun.
    fn item(&self, kind: Kind, status: ItemStatus, text: Option<&str>) -> Value {
        let id = self.item_id(kind);
        let parts: Vec<Value> = text.map(|text| part(kind, text)).into_iter().collect();
        match kind {
            Kind::Message => {
                json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": parts })
            }
            Kind::Reasoning => json!({ "id": id, "type": "reasoning", "status": status, "summary": parts }),
        }
    }

    fn item_id(&self, kind: Kind) -> String {
        let prefix = match kind {
            Kind::Message => "msg",
            Kind::Reasoning => "rs",
        };
        format!("{prefix}_{}_{}", self.head.id, self.output.len())
    }

    /// Returns an event about the part of the open item.
    fn at_part(&mut self, name: &'static str, kind: Kind, more: Value) -> Event {
        let index = match kind {
            Kind::Message => "content_index",
            Kind::Reasoning => "summary_index",
        };
        let mut fields = json!({ "item_id": self.item_id(kind), "output_index": self.output.len(), index: 0 });
        if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
            fields.extend(more);
        }
        self.event(name, fields)
    }

    fn event(&mut self, name: &'static str, fields: Value) -> Event {
        let mut event = json!({ "type": name, "sequence_number": self.next });
        self.next += 1;
        if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
            event.extend(fields);
        }
        (name, event)
    }

    fn response(&self, status: ResponseStatus, usage: Option<Usage>) -> Value {
        let Head { id, created, model, thread, warnings } = &self.head;
        let output: Vec<&Value> = self.output.iter().filter(|item| item.counts).map(|item| &item.item).collect();
        let mut response = json!({ "id": id, "object": "response", "created_at": created, "status": status,
            "model": model, "output": output, "usage": usage.map(used) });
        if let Value::Object(fields) = &mut response {
            fields.extend(self.fixed.clone());
            fields.extend(thread.iter().map(|id| ("conversation".to_owned(), json!({ "id": id }))));
            if !warnings.is_empty() {
                fields.insert("warnings".to_owned(), json!(warnings));
            }
        }
        response
    }
}

/// Returns the fields that do not change: what was asked for, and what has no meaning here.
fn fixed(request: &ClientRequest) -> Map<String, Value> {
    let previous = match &request.place {
        ThreadChoice::After(response) => Some(response.as_str()),
        ThreadChoice::New | ThreadChoice::Conversation(_) => None,
    };
    let effort = request.options.reasoning_effort.map(|effort| effort.word());
    let fixed = json!({ "background": false, "completed_at": null, "error": null, "frequency_penalty": 0.0,
        "incomplete_details": null, "instructions": request.instructions, "max_output_tokens": null,
        "max_tool_calls": null, "metadata": request.metadata, "parallel_tool_calls": true, "presence_penalty": 0.0,
        "previous_response_id": previous, "prompt_cache_key": null, "reasoning": { "effort": effort, "summary": null },
        "safety_identifier": null, "service_tier": "default", "store": true,
        "temperature": request.options.temperature, "text": { "format": { "type": "text" } }, "tool_choice": "auto",
        "tools": [], "top_logprobs": 0, "top_p": request.options.top_p, "truncation": "disabled" });
    fixed.as_object().cloned().unwrap_or_default()
}

fn part(kind: Kind, text: &str) -> Value {
    match kind {
        Kind::Message => json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }),
        Kind::Reasoning => json!({ "type": "summary_text", "text": text }),
    }
}

fn used(usage: Usage) -> Value {
    json!({ "input_tokens": usage.input, "input_tokens_details": { "cached_tokens": usage.cached_input, "cache_write_tokens": 0 },
        "output_tokens": usage.output, "output_tokens_details": { "reasoning_tokens": usage.reasoning },
        "total_tokens": usage.total() })
}
