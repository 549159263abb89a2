//! `/v1/chat/completions`: an answer as a chat completion, whole or in chunks.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::head::{Head, Usage};
use super::step_writer::Piece;
use super::steps::End;

/// A chat completion.
#[derive(Serialize, JsonSchema)]
pub struct ChatCompletion {
    id: String,
    #[schemars(extend("const" = "chat.completion"))]
    object: &'static str,
    /// When it was asked for, in seconds since 1970.
    created: u64,
    model: String,
    choices: Vec<Choice>,
    usage: CompletionUsage,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<Conversation>,
    /// The parts of the request that were ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// The answer; there is one.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CompletionChoice")]
struct Choice {
    index: u32,
    message: Message,
    finish_reason: FinishReason,
    logprobs: Option<()>,
}

/// The message of the model.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CompletionMessage")]
struct Message {
    #[schemars(extend("const" = "assistant"))]
    role: &'static str,
    content: String,
    refusal: Option<()>,
    /// The work that was done for the answer: a line for each tool call or task.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
}

/// The reason why the answer ends.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FinishReason {
    Stop,
    Length,
}

/// The chat that an answer belongs to.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CompletionConversation")]
struct Conversation {
    /// The id of its thread.
    id: String,
}

/// The tokens of everything that was done for the answer.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub(super) struct CompletionUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

/// The part of the prompt that was read from a cache.
#[derive(Clone, Copy, Serialize, JsonSchema)]
struct PromptDetails {
    cached_tokens: u64,
}

/// The part of the answer that was reasoning.
#[derive(Clone, Copy, Serialize, JsonSchema)]
struct CompletionDetails {
    reasoning_tokens: u64,
}

impl From<Usage> for CompletionUsage {
    fn from(usage: Usage) -> CompletionUsage {
        CompletionUsage {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.total(),
            prompt_tokens_details: PromptDetails { cached_tokens: usage.cached_input },
            completion_tokens_details: CompletionDetails { reasoning_tokens: usage.reasoning },
        }
    }
}

/// A chat completion that is being made.
pub struct Completion {
    head: Head,
    /// Whether the last chunk of a stream tells the usage.
    tells_usage: bool,
    reasoning: String,
    /// The words of the last message.
    message: String,
}

impl Completion {
    /// Creates an answer of which nothing was said.
    pub fn new(head: Head, tells_usage: bool) -> Completion {
        Completion { head, tells_usage, reasoning: String::new(), message: String::new() }
    }

    /// Returns the first chunk.
    pub fn begin(&self) -> Value {
        self.chunk(json!({ "role": "assistant", "content": "" }), None)
    }

    /// Returns the chunk of a piece.
    pub fn piece(&mut self, piece: &Piece) -> Option<Value> {
        match piece {
            Piece::Thought(line) => {
                let line = format!("{line}\n");
                self.reasoning.push_str(&line);
                Some(self.chunk(json!({ "reasoning_content": line }), None))
            }
            Piece::Break | Piece::Voided => {
                self.message.clear();
                Some(self.chunk(json!({ "content": "\n\n" }), None))
            }
            Piece::Words(words) => {
                self.message.push_str(words);
                Some(self.chunk(json!({ "content": words }), None))
            }
            Piece::Ended(_) => None,
        }
    }

    /// Returns the last chunks of an answer.
    pub fn end(&self, end: &End, usage: Usage) -> Vec<Value> {
        let mut chunks = vec![self.chunk(json!({}), Some(finish_reason(end)))];
        if self.tells_usage {
            let mut last = self.chunk(json!({}), None);
            if let Value::Object(fields) = &mut last {
                fields.insert("choices".to_owned(), json!([]));
                fields.insert("usage".to_owned(), json!(CompletionUsage::from(usage)));
            }
            chunks.push(last);
        }
        chunks
    }

    /// Returns the whole completion.
    pub fn whole(self, end: End, usage: Usage) -> ChatCompletion {
        let finish_reason = finish_reason(&end);
        let content = match end {
            End::Answer { text, .. } => text,
            End::Waits | End::Failed(_) => self.message,
        };
        let reasoning_content = Some(self.reasoning).filter(|lines| !lines.is_empty());
        let message = Message { role: "assistant", content, refusal: None, reasoning_content };
        ChatCompletion {
            id: self.head.id,
            object: "chat.completion",
            created: self.head.created,
            model: self.head.model,
            choices: vec![Choice { index: 0, message, finish_reason, logprobs: None }],
            usage: usage.into(),
            conversation: self.head.thread.map(|id| Conversation { id }),
            warnings: self.head.warnings,
        }
    }

    fn chunk(&self, delta: Value, finish_reason: Option<FinishReason>) -> Value {
        let Head { id, created, model, .. } = &self.head;
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": null });
        let mut chunk = json!({ "id": id, "object": "chat.completion.chunk", "created": created, "model": model,
            "choices": [choice] });
        if let (true, Value::Object(fields)) = (self.tells_usage, &mut chunk) {
            fields.insert("usage".to_owned(), Value::Null);
        }
        chunk
    }
}

fn finish_reason(end: &End) -> FinishReason {
    match end {
        End::Answer { is_cut: true, .. } => FinishReason::Length,
        End::Answer { is_cut: false, .. } | End::Waits | End::Failed(_) => FinishReason::Stop,
    }
}
