//! What a run *is*, as plain data and pure functions: nothing here waits, reads a
//! clock, touches a socket or makes up an id.
//!
//! # Rooms, in the order of a run
//! - `requests`: what people ask for. A [`draft`] or a [`request`] is filled in
//!   and checked by [`compile`], which reports every [`mistake`] at once, into a
//!   [`spec`]; models and tools come from a [`catalog`].
//! - `state`: where a run stands. [`run`] is the fold over its events, with a
//!   conversation for each task and subtask under way. Only `Run::apply` changes
//!   it; its fields are private to the room.
//! - `decisions`: what to do now. [`next`] names events and the effects they call
//!   for, [`decide`] what a request does to a run, [`own_tool`] the tools a run
//!   performs itself; [`fork`] makes a new run out of the record of another.
//! - [`chat`]: what only turns of a chat have.
//! - `shown`: a run as others see it. [`frame`] has one frame per event, [`view`]
//!   lists and details, [`trace`] and [`span`] what it did and how long that took.
//!
//! All of them speak in an [`id`] (a place in a run), [`text`], [`time`],
//! [`message`]s and [`event`]s, the only thing stored, with the [`cause`] where
//! something failed; a [`schema`] is what a value must look like; an [`owner`] is
//! whose run it is.

pub mod cause;
pub mod chat;
mod decisions;
pub mod event;
pub mod id;
pub mod message;
pub mod owner;
mod requests;
pub mod schema;
mod shown;
mod state;
pub mod status;
#[cfg(test)]
mod tests;
pub mod text;
pub mod time;

pub use decisions::{
    answer, build, chore, decide, delegation, edit, finish, fork, human, next, own_tool, queue, result, subtask, tier,
};
pub use requests::{
    agent, bounds, catalog, choice, compile, draft, dynamic, mistake, model_options, pipeline, reach, request, spec,
    submission, template, workflow,
};
pub use shown::{aloud, dag, damaged, frame, span, trace, view, voice};
pub use state::{budget, conversation, gate, memory, run};
