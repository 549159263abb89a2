//! What a run *is*, as plain data and pure functions: nothing here waits,
//! reads a clock, touches a socket or makes up an id.
//!
//! # Layout, in reading order
//! - [`id`]: places as names; [`text`]: text that may be large; [`time`]
//! - what people ask for: [`draft`] as written, [`request`] as JSON,
//!   [`template`] and [`agent`] filled in by [`compile`], which reports every
//!   [`mistake`] at once and gives a [`spec`]; [`submission`] is both in order
//! - what a run may use: [`catalog`] of models and tools, [`dynamic`] tools that
//!   come and go, a [`pipeline`] of several, [`schema`], [`budget`]; [`bounds`] on
//!   what others hand over
//! - [`message`]: what models say; [`event`]: what happened, the only thing stored,
//!   and the [`cause`] where something failed
//! - [`run`]: the fold, with its parts `graph` (what is ready), [`turn`] (one
//!   conversation), `calls` (of one reply), [`chore`]s (calls of the run's own), `settling` (how they
//!   end), `gate` (reviews), `stopwatch`; [`chat`]: what only turns of a chat have
//! - [`next`]: what to do now, with `ask` (models), `call` (tools and
//!   [`subtask`]s with how they [`finish`], another agent: [`delegation`], or a
//!   person: [`human`], a graph: [`build`]; what turns share: [`memory`], [`result`]s: all of them [`own_tool`]s), `prompt` and `output`;
//!   [`answer`]: replies that are none yet
//! - [`workflow`]: a task graph that is saved
//! - [`decide`]: what a request does to the run; [`tier`]: which model a control
//!   directive means; [`queue`]: who is next when many wait; [`fork`]: a new run
//!   out of the record of another, with [`edit`]s
//! - [`view`]: a run as others see it; [`frame`]: one frame per event; [`voice`]:
//!   what is only shown live; for reading afterwards a [`trace`], and a [`dag`] of
//!   the tasks; [`aloud`]: the lines of a verbose run in the log of its process;
//!   [`span`]: what took how long, for systems that collect that

pub mod agent;
pub mod aloud;
pub mod answer;
mod ask;
pub mod bounds;
pub mod budget;
pub mod build;
mod call;
mod calls;
pub mod catalog;
pub mod cause;
pub mod chat;
pub mod choice;
pub mod chore;
pub mod compile;
pub mod dag;
pub mod damaged;
pub mod decide;
pub mod delegation;
pub mod draft;
pub mod dynamic;
pub mod edit;
mod ended;
pub mod event;
pub mod finish;
pub mod fork;
pub mod frame;
pub mod gate;
mod graph;
pub mod human;
pub mod id;
pub mod memory;
pub mod message;
pub mod mistake;
pub mod model_options;
pub mod next;
mod output;
pub mod own_tool;
pub mod pipeline;
mod prompt;
pub mod queue;
pub mod request;
pub mod result;
pub mod run;
pub mod schema;
mod settling;
pub mod span;
mod span_content;
pub mod spec;
pub mod status;
mod stopwatch;
pub mod submission;
pub mod subtask;
pub mod template;
#[cfg(test)]
mod tests;
pub mod text;
pub mod tier;
pub mod time;
pub mod trace;
pub mod turn;
pub mod view;
pub mod voice;
pub mod workflow;
