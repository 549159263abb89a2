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
mod structured;
mod turns;
mod wire;
#[cfg(test)]
mod wired;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use catalog::{ModelCatalog, Unfit};
pub use demo::DemoModel;
pub use embeddings::{BATCH_MAX, Embedder, Vector};
pub use extra::{BodyShape, Extra};
pub use options::{Options, OptionsError};
pub use provider::{OWN_HEADERS, Provider};
pub use scripted::{Entry, Line, ScriptedModel, What};
pub use structured::StructuredOutput;

use consort_core::catalog::ToolInfo;
use consort_core::id::Id;
use consort_core::message::{Failure, Message, Reply, Usage};
use consort_core::model_options::ModelOptions;
use consort_core::schema::Schema;
use futures::stream::BoxStream;

/// One request to a model.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The run that makes the request.
    pub run: Arc<str>,
    /// The conversation that makes the request.
    pub conversation: Id,
    /// The task's name, for scripts and traces.
    pub task: Arc<str>,
    /// The round of the conversation, from 0.
    pub round: u32,
    /// The attempt at this request, from 0.
    pub attempt: u32,
    /// The conversation so far.
    pub messages: Arc<Vec<Message>>,
    /// The tools that may be called; none in the last round.
    pub tools: Arc<[Arc<ToolInfo>]>,
    /// All tools of the conversation, which a call in words may name.
    pub belt: Arc<[Arc<ToolInfo>]>,
    /// The maximum number of tokens of the answer.
    pub max_output_tokens: u64,
    /// The options of the answer, such as its temperature.
    pub options: ModelOptions,
    /// The schema of the answer, where the provider is told it. The conversation says it too, so that
    /// nothing is lost where a provider refuses it.
    pub schema: Option<Schema>,
    /// The bytes of the files in the conversation that are sent as they are, by their ids.
    pub files: Arc<BTreeMap<String, File>>,
}

/// A file that is sent as it is: a picture or a PDF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The name of the file.
    pub name: String,
    /// The type of the file.
    pub media_type: String,
    /// The bytes, in base64.
    pub base64: Arc<str>,
}

impl File {
    /// Returns whether it is a picture.
    fn is_picture(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// Returns the file as an address.
    fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.base64)
    }
}

/// A part of the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Text as it arrives, for people who watch; never stored.
    Delta(String),
    /// Reasoning as it arrives, which is never stored either.
    Thinking(String),
    /// The whole reply and its usage, if the provider reported it; nothing follows.
    Done(Reply, Option<Usage>),
}

/// A language model that answers conversations.
pub trait Model: Send + Sync + 'static {
    /// Sends one request, without retrying. Dropping the stream ends the
    /// call at the provider too. A stream that ends without `Done` was cut.
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>>;

    /// Returns the address it is asked at, without secrets; none when it is in this process.
    fn address(&self) -> Option<String> {
        None
    }
}
