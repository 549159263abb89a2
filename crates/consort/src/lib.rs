//! Ensembles of language-model agents, in your own program.
//!
//! Describe the tasks and the models that may be used; the rest is a run: tasks in
//! their order, tools called, every step stored, and all of it steerable while it
//! happens.
//!
//! ```
//! use consort::{Ensemble, Model, Task};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), consort::Error> {
//! let outcome = Ensemble::run(Model::demo(), [Task::new("Write a greeting")]).await?;
//! assert!(outcome.answer().contains("greeting"));
//! # Ok(())
//! # }
//! ```
//!
//! Beyond that: [`Ensemble::builder`] sets models, tools, limits and the file that
//! stores runs; [`Task::builder`] describes a task in detail; [`Ensemble::start`]
//! returns a [`Run`] to watch and to steer, and [`Run::finished`] its [`Outcome`]. The
//! folder `examples` beside this crate holds whole programs.
//!
//! # Layout, in reading order
//! - `ensemble`: the handle; `builder`: its parts; `resources`: the folders and the web
//!   it may touch; `operation`: the store of its runs, and limits
//! - `task`: one task; `group`: several together; `work`: the input of your own task functions
//! - `model`, `function`: models and tools; `catalog`: both by name
//! - `request`: the input of one run; `run`: a started run; `event`: its events;
//!   `outcome`: its result
//! - `serve`: all of it over HTTP, and `share`: the capabilities for other ensembles,
//!   both with the feature `serve`
//! - `error`: the errors of all of these
//! - [`seam`]: the traits behind models and tools, to write your own

mod builder;
mod catalog;
mod ensemble;
mod error;
mod event;
mod function;
mod group;
mod model;
mod operation;
mod outcome;
mod request;
mod resources;
mod run;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod share;
mod task;
mod work;

pub use builder::EnsembleBuilder;
pub use catalog::{ModelCatalog, ToolCatalog, Unknown};
pub use ensemble::{Ensemble, Resumed};
pub use error::{Error, Mistakes};
pub use event::{Event, Events, Review};
pub use function::{FunctionTool, ToolSet, tool};
pub use group::Group;
pub use model::Model;
pub use operation::database;
pub use outcome::{Outcome, Status, TaskOutcome};
pub use request::Request;
pub use run::Run;
#[cfg(feature = "serve")]
pub use serve::{Served, ServerBuilder};
pub use task::{Task, TaskBuilder};
pub use work::Work;

pub use consort_core::agent::Agent;
#[cfg(feature = "serve")]
pub use consort_core::announcement::Topic as WebhookTopic;
pub use consort_core::branch::OnMaxRounds;
pub use consort_core::budget::Limits;
pub use consort_core::catalog::{CancelClass, EffectClass, ModelInfo, Permission, Price, ToolInfo};
#[cfg(feature = "serve")]
pub use consort_core::chat::{Mode, Rules as ChatRules};
pub use consort_core::decide::Refused;
pub use consort_core::event::{CancelMode, Decision, Timing};
pub use consort_core::frame::field as frame_field;
pub use consort_core::frame::run::Frame;
pub use consort_core::mistake::{Code, Mistake};
pub use consort_core::model_options::{ModelOptions, ReasoningEffort};
#[cfg(feature = "serve")]
pub use consort_core::owner::Owner;
pub use consort_core::spec::{
    CaptureMode, OnError, OnTimeout, OnTruncated, Review as ReviewSettings, ReviewPolicy, ReviewRule, Workflow,
};
pub use consort_models::{DemoModel, Line, ScriptedModel, StructuredOutput};
#[cfg(feature = "serve")]
pub use consort_runtime::engine::Quota;
pub use consort_runtime::hooks::{Hook, verify::Verify as HookVerify};
pub use consort_runtime::limits::{Rate, parse_rate};
#[cfg(feature = "serve")]
pub use consort_runtime::schedules::{
    Configured as Schedule, definition::Definition as ScheduleDefinition, plan::CatchUp, plan::Overlap,
};
#[cfg(feature = "serve")]
pub use consort_runtime::webhooks::{Secret as WebhookSecret, Webhook};
#[cfg(feature = "serve")]
pub use consort_server::access::{Scope, Sees};
pub use consort_tools::{Calculator, DateTime, DynamicToolProvider, Json, Pipeline, PipelineError, ScriptedTool, Step};

/// The traits behind models and tools, for those you write yourself. To make a tool
/// from a function, [`tool`] is easier.
///
/// ```
/// use std::sync::Arc;
///
/// use consort::seam::{Answer, Ask, Failure, Invocation, Message, Model, Part, Piece, Reply, Stop, Tool};
/// use consort::{Ensemble, Task, ToolInfo};
/// use futures::future::BoxFuture;
/// use futures::stream::{self, BoxStream, StreamExt};
///
/// /// Says back what it was told.
/// struct Parrot;
///
/// impl Model for Parrot {
///     fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
///         let told = ask.messages.iter().rev().find_map(|message| match message {
///             Message::User { text } => Some(text.clone()),
///             _ => None,
///         });
///         let text = told.unwrap_or_default();
///         let parts = vec![Part::Text { text: text.clone(), native: None }];
///         let reply = Reply { wire: "parrot".to_owned(), parts, stop: Stop::End };
///         stream::iter([Ok(Piece::Delta(text.as_str().to_owned())), Ok(Piece::Done(reply, None))]).boxed()
///     }
/// }
///
/// /// Always knows the same.
/// struct Oracle(Arc<ToolInfo>);
///
/// impl Tool for Oracle {
///     fn info(&self) -> &Arc<ToolInfo> {
///         &self.0
///     }
///
///     fn call(&self, _invocation: Invocation) -> BoxFuture<'_, Answer> {
///         Box::pin(async { Answer::Done { text: "42".to_owned(), data: None } })
///     }
/// }
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), consort::Error> {
/// let oracle = Oracle(Arc::new(ToolInfo::new("oracle", "Knows the answer")));
/// let task = Task::builder("Polly wants a cracker").tool("oracle");
/// let ensemble = Ensemble::builder().model("parrot", Parrot).tool(oracle).task(task).build()?;
/// let outcome = ensemble.start(()).await?.finished().await?;
/// assert!(outcome.answer().contains("Polly wants a cracker"));
/// # Ok(())
/// # }
/// ```
pub mod seam {
    pub use consort_core::draft::Ensemble as Template;
    pub use consort_core::event::{ChangeType, FileChange};
    pub use consort_core::message::{Call, Failure, FailureKind, Message, Part, Reply, Stop, Usage};
    pub use consort_models::openai::Api;
    pub use consort_models::{Ask, Embedder, Model, Options as ModelReach, Piece, Provider};
    pub use consort_runtime::engine::Error as EngineError;
    pub use consort_runtime::telemetry::{Options as TelemetryOptions, Protocol as TelemetryProtocol};
    pub use consort_tools::{Account, Answer, Invocation, Progress, Tool, Toolbox};
}

/// The programs of the user's guide, tested with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
mod guide {}
