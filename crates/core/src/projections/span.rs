//! The spans of a run, for tracing across systems. A span is a rendering of the event that ends it and of
//! the run right before that event, so no state is needed for it and a restart loses none. Names follow
//! OpenTelemetry's conventions for generative AI. The content of prompts and answers is in `span_content`,
//! and included only on request.

use crate::decisions::next::Effect;
use crate::state::conversation::Conversation;
use crate::state::run::Run;
use consort_spec::event::{End, Event, EventKind};
use consort_spec::id::{Id, Millis};
use consort_spec::message::{Failure, Outcome, Reply, Stop, Usage};
use consort_spec::provider::Provider;

/// The id of the span of a run as a whole.
pub const RUN: &str = "run";

/// An operation that took time and is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The id of the span within its run; unique in the run.
    pub place: String,
    /// The id of the parent span; none for the run's own.
    pub parent: Option<String>,
    /// The name to show.
    pub name: String,
    /// Whether an external system was called.
    pub kind: Kind,
    /// The time at which it began.
    pub start: Millis,
    /// The time at which it ended.
    pub end: Millis,
    /// The attributes.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// The error, if there was one.
    pub error: Option<String>,
}

/// The side that did the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This process.
    Internal,
    /// Another system, over the network.
    Client,
}

/// The value of an attribute of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// A text.
    Text(String),
    /// A number.
    Whole(u64),
    /// Texts, in order.
    Texts(Vec<String>),
    /// The content of a message, in full length.
    Content(String),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Attribute {
        Attribute::Text(text.to_owned())
    }
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Attribute {
        Attribute::Whole(number)
    }
}

impl Run {
    /// Returns the span that ends with `event`, which is about to be applied to this run; none when nothing
    /// ends with it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a new event happens within a span unless it is listed here")]
    pub fn span(&self, run: &str, event: &Event) -> Option<Span> {
        let at = event.at;
        let mut span = match &event.kind {
            EventKind::ModelReplied { conversation, reply, usage, .. } => {
                self.reply_span(conversation, at, reply, usage.as_ref())
            }
            EventKind::ModelFailed { conversation, failure, .. } => self.failure_span(conversation, at, failure),
            EventKind::ToolReturned { call, outcome, duration_ms, .. } => {
                self.call_span(call, at, outcome, *duration_ms)
            }
            EventKind::TaskCompleted { conversation } => self.agent_span(conversation, at),
            EventKind::TaskFailed { conversation, cancelled: true, .. } => {
                self.agent_span(conversation, at).map(|span| span.with("consort.cancelled", "true"))
            }
            EventKind::TaskSkipped { conversation, .. } => {
                self.agent_span(conversation, at).map(|span| span.with("consort.skipped", "true"))
            }
            EventKind::TaskFailed { conversation, reason, cancelled: false, .. } => {
                self.agent_span(conversation, at).map(|span| span.failed("task_failed", reason))
            }
            EventKind::RunEnded { end } => Some(self.run_span(at, end)),
            _ => None,
        }?;
        // Work that a forked run has from its origin began before the run did.
        span.start = span.start.clamp(self.accepted_at().min(at), at);
        span.attributes.push(("consort.run.id", run.into()));
        if let Some(chat) = &self.spec().chat {
            span.attributes.push(("gen_ai.conversation.id", chat.thread.as_str().into()));
        }
        Some(span)
    }

    /// Returns the id of the span that an effect under way will have.
    pub fn span_place(&self, effect: &Effect) -> String {
        match effect {
            Effect::Ask(question) => self
                .conversations()
                .get(&question.conversation)
                .map_or_else(String::new, |conversation| asked(&question.conversation, conversation)),
            Effect::Call { id, .. } => id.to_string(),
        }
    }

    fn reply_span(&self, id: &Id, at: Millis, reply: &Reply, usage: Option<&Usage>) -> Option<Span> {
        let mut span = self.chat_span(id, at)?;
        let reasons = Attribute::Texts(vec![finish_reason(reply).to_owned()]);
        span.attributes.push(("gen_ai.response.finish_reasons", reasons));
        Some(match usage {
            Some(usage) => span.using(usage),
            None => span,
        })
    }

    fn failure_span(&self, id: &Id, at: Millis, failure: &Failure) -> Option<Span> {
        Some(self.chat_span(id, at)?.failed(failure.kind.into(), &failure.to_string()))
    }

    /// Returns the span of a request to a model.
    fn chat_span(&self, id: &Id, at: Millis) -> Option<Span> {
        let conversation = self.conversations().get(id).filter(|conversation| conversation.is_asked())?;
        let (provider, model) = self.model_names(conversation.model());
        let span = Span::new(
            asked(id, conversation),
            Some(id.to_string()),
            format!("chat {model}"),
            (conversation.since(), at),
        );
        let span = Span { kind: Kind::Client, ..span };
        Some(
            span.with("gen_ai.operation.name", "chat")
                .with("gen_ai.provider.name", provider)
                .with("gen_ai.request.model", model)
                .with("consort.model", conversation.model().as_str())
                .with("consort.attempt", u64::from(conversation.attempt())),
        )
    }

    /// Returns the span of a call: of a tool, or one that became a conversation of its own.
    fn call_span(&self, id: &Id, at: Millis, outcome: &Outcome, duration_ms: u64) -> Option<Span> {
        let span = if self.conversations().contains_key(id) {
            self.agent_span(id, at)?
        } else {
            let (tool, _args) = self.asked_call(id);
            let since = id
                .parent()
                .and_then(|(conversation, _)| self.conversations().get(&conversation))
                .map_or(0, |conversation| conversation.used().started_at);
            let times = (at.saturating_sub(duration_ms).max(since), at);
            let span = Span::new(id.to_string(), Some(above(id)), format!("execute_tool {tool}"), times);
            let provider_id =
                self.slot(id).map(|(call, _)| call.provider_id.as_str()).filter(|given| !given.is_empty());
            span.with("gen_ai.operation.name", "execute_tool")
                .with("gen_ai.tool.name", tool.as_str())
                .with("gen_ai.tool.type", "function")
                .with("gen_ai.tool.call.id", provider_id.unwrap_or(id.as_str()))
        };
        let span = span.with("consort.call", id.as_str());
        Some(match outcome {
            Outcome::Answer { .. } | Outcome::Subtask => span,
            Outcome::Failed { .. } => span.failed("call_failed", "the call failed"),
            Outcome::Unknown { why } => span.failed("outcome_unknown", why),
        })
    }

    /// Returns the span of a conversation: a task's, a subtask's, or one of another agent.
    fn agent_span(&self, id: &Id, at: Millis) -> Option<Span> {
        let conversation = self.conversations().get(id)?;
        let task = self.worker(id)?;
        let times = (conversation.used().started_at, at);
        let span = Span::new(id.to_string(), Some(above(id)), format!("invoke_agent {}", task.agent.role), times)
            .with("gen_ai.operation.name", "invoke_agent")
            .with("gen_ai.agent.name", task.agent.role.as_str())
            .with("consort.task", task.name.as_str())
            .with("consort.turn", id.as_str());
        if conversation.model().is_empty() {
            return Some(span);
        }
        let (provider, _model) = self.model_names(conversation.model());
        let span = span.with("gen_ai.provider.name", provider);
        if conversation.used().unknown {
            return Some(span);
        }
        // These have names of our own: trace stores add up the attributes of the conventions, and the model calls
        // of the conversation have reported them already.
        let Usage { input, output, .. } = conversation.used().usage;
        Some(span.with("consort.usage.input_tokens", input).with("consort.usage.output_tokens", output))
    }

    fn run_span(&self, at: Millis, end: &End) -> Span {
        let name = format!("invoke_workflow {}", self.spec().name);
        let tags = self.spec().tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut span = Span::new(RUN.to_owned(), None, name, (self.accepted_at(), at))
            .with("gen_ai.operation.name", "invoke_workflow")
            .with("gen_ai.workflow.name", self.spec().name.as_str())
            .with("consort.run.kind", self.spec().kind.word())
            .with("consort.run.status", end.status().word());
        if !self.spec().tags.is_empty() {
            span.attributes.push(("consort.run.tags", Attribute::Texts(tags)));
        }
        match end {
            End::Completed { .. } | End::Cancelled => span,
            End::Failed { error } => span.failed("run_failed", error),
        }
    }

    /// Returns the provider of a model by its alias, as the conventions name it, and the name it is served
    /// under.
    fn model_names<'a>(&'a self, alias: &'a str) -> (&'a str, &'a str) {
        let known = self.models().get(alias);
        let word = known.map_or("", |model| model.provider.as_str());
        let provider = Provider::of(word).traced_as.unwrap_or(word);
        (provider, known.map_or(alias, |model| model.served_as()))
    }
}

impl Span {
    fn new(place: String, parent: Option<String>, name: String, (start, end): (Millis, Millis)) -> Span {
        Span { place, parent, name, kind: Kind::Internal, start, end, attributes: Vec::new(), error: None }
    }

    fn with(mut self, name: &'static str, value: impl Into<Attribute>) -> Span {
        self.attributes.push((name, value.into()));
        self
    }

    fn using(self, usage: &Usage) -> Span {
        self.with("gen_ai.usage.input_tokens", usage.input)
            .with("gen_ai.usage.output_tokens", usage.output)
            .with("gen_ai.usage.cache_read.input_tokens", usage.cached_input)
            .with("gen_ai.usage.reasoning.output_tokens", usage.reasoning)
    }

    fn failed(self, kind: &str, why: &str) -> Span {
        Span { error: Some(why.to_owned()), ..self.with("error.type", kind) }
    }
}

/// Returns the id of the span of a question under way: every attempt is a span of its own.
fn asked(id: &Id, conversation: &Conversation) -> String {
    format!("{id}?{}.{}", conversation.used().llm_calls, conversation.attempt())
}

/// Returns the id of the parent span of a conversation or call.
fn above(id: &Id) -> String {
    id.parent().map_or_else(|| RUN.to_owned(), |(conversation, _)| conversation.to_string())
}

pub(crate) fn finish_reason(reply: &Reply) -> &'static str {
    match reply.stop {
        Stop::End if reply.calls().next().is_some() => "tool_calls",
        Stop::End => "stop",
        Stop::Length => "length",
        Stop::Filtered => "content_filter",
    }
}
