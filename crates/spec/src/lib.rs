//! The work that people ask for and the words in which it is recorded, as plain data and pure functions.
//!
//! # Layout
//! - `requests`: a [`draft`] or a [`request`] is filled in and checked by [`compile`], which reports every [`mistake`]
//!   at once, into a [`spec`]; models and tools come from a [`catalog`]
//! - [`event`]: the only thing stored, with the [`cause`] where something failed; [`message`]s, with an [`answer`]'s
//!   completeness; the [`chat`] part of a turn; the [`chore`]s of a task; the [`limits`] of a run and its [`status`]
//! - [`own_tool`]: the tools that a run performs itself, as models are told of them
//! - [`id`] (a place in a run), [`text`], [`time`]; a [`schema`] says what a value must look like; an [`owner`] is the
//!   name that a run belongs to; [`unknown`] names fields that nobody reads; [`queue`] and [`graph`] order work by its urgency and by what it waits on

pub mod answer;
pub mod cause;
pub mod chat;
pub mod chore;
pub mod event;
pub mod graph;
pub mod id;
pub mod json;
pub mod limits;
pub mod message;
pub mod own_tool;
pub mod owner;
pub mod queue;
mod requests;
pub mod schema;
pub mod status;
pub mod text;
pub mod time;
pub mod unknown;

pub use requests::{
    agent, attachments, bounds, branch, catalog, choice, compile, continuation, delegation, draft, dynamic, expression,
    mistake, model_options, nested, pipeline, provider, reach, registry, request, spec, template, tier, workflow,
};
