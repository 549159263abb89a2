//! Seam 2, language models: one conversation in, a stream of pieces out.

mod answer;
pub mod anthropic;
mod catalog;
mod complaint;
#[cfg(test)]
mod conformance;
mod demo;
mod embeddings;
mod extra;
#[cfg(test)]
mod fake;
pub mod gemini;
mod http;
pub mod names;
mod native;
pub mod openai;
mod options;
mod pairs;
mod provider;
pub mod script;
mod scripted;
#[cfg(test)]
mod shapes;
mod sse;
mod turns;
mod wire;
#[cfg(test)]
mod wired;

use std::sync::Arc;

pub use catalog::{ModelCatalog, Unfit};
pub use demo::DemoModel;
pub use embeddings::{BATCH_MAX, Embedder, Vector};
pub use extra::{BodyShape, Extra};
pub use options::{Options, OptionsError};
pub use provider::{OWN_HEADERS, Provider};
pub use scripted::{Entry, Line, ScriptedModel, What};

use consort_core::catalog::ToolInfo;
use consort_core::id::Id;
use consort_core::message::{Failure, Message, Reply, Usage};
use consort_core::model_options::ModelOptions;
use futures::stream::BoxStream;

/// One question.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The run that asks.
    pub run: Arc<str>,
    /// The turn that asks.
    pub turn: Id,
    /// The task's name, for scripts and traces.
    pub task: Arc<str>,
    /// The how-manieth question of the turn, from 0.
    pub round: u32,
    /// The how-manieth attempt at this question, from 0.
    pub attempt: u32,
    /// The conversation so far.
    pub messages: Arc<Vec<Message>>,
    /// The tools that may be called; none in a turn's last round.
    pub tools: Arc<[Arc<ToolInfo>]>,
    /// Tokens the answer may have at most.
    pub max_output_tokens: u64,
    /// How it is to answer.
    pub options: ModelOptions,
}

/// A part of the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Words as they come, for people who watch; never stored.
    Delta(String),
    /// Thoughts as they come, likewise.
    Thinking(String),
    /// The whole reply and what it used, if the provider said; nothing follows.
    Done(Reply, Option<Usage>),
}

/// Answers conversations.
pub trait Model: Send + Sync + 'static {
    /// Asks once, without retrying. Dropping the stream ends the call at the
    /// provider too. A stream that ends without `Done` was cut.
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>>;
}
