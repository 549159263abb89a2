//! A run as plain data and pure functions: nothing here waits, reads a clock, touches a socket or makes up an id.
//!
//! # Rooms, in the order of a run
//! - the crate `consort-spec`: the work that people ask for. A [`draft`]
//!   or a [`request`] is filled in and checked by [`compile`], which reports every
//!   [`mistake`] at once, into a [`spec`]; models and tools come from a [`catalog`].
//! - `state`: the state of a run. [`run`] is the fold over its events, with a
//!   conversation for each task and subtask under way. Only `Run::apply` changes
//!   it; its fields are private to the room.
//! - `decisions`: the next steps. [`next`] names events and the effects they call
//!   for, [`decide`] the events that a request leads to, [`own_tool`] the tools a run
//!   performs itself; [`fork`] makes a new run out of the record of another.
//! - [`chat`]: the parts that only turns of a chat have.
//! - `projections`: a run as others see it. [`frame`] has one frame per event, [`view`]
//!   lists and details, [`trace`] and [`span`] the work it did and the time that took.
//!
//! All of them use the words of `consort-spec`, which are named here too: an [`id`] (a place in a run), [`text`],
//! [`time`], [`message`]s and [`event`]s, the only thing stored, with the [`cause`] where something failed; a [`schema`]
//! says what a value must look like; an [`owner`] is the name that a run belongs to.

pub mod chat;
mod decisions;
mod projections;
mod state;
#[cfg(test)]
mod tests;

pub use consort_spec::{
    agent, attachments, bounds, branch, catalog, cause, choice, compile, draft, dynamic, event, expression, id, json,
    message, mistake, model_options, nested, owner, pipeline, reach, request, schema, spec, status, template, text,
    time, unknown, workflow,
};
pub use decisions::{
    answer, build, chore, decide, delegation, edit, fork, next, own_tool, pace, queue, result, share, subtask, tier,
};
pub use projections::{a2a, announcement, dag, damaged, frame, live_source, log_lines, question, span, trace, view};
pub use state::{budget, conversation, gate, memory, run};
