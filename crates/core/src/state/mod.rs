//! The state of a run: a fold over its events. Only `Run::apply` changes it; the other rooms read it through methods.

pub mod budget;
pub(crate) mod calls;
pub(crate) mod chat;
pub mod conversation;
pub(crate) mod duty;
pub(crate) mod ended;
pub(crate) mod fan;
pub(crate) mod flow;
pub mod gate;
mod gathering;
mod history;
pub(crate) mod inherit;
pub mod memory;
mod read;
pub mod run;
pub(crate) mod stopwatch;
pub(crate) mod unfinished;
pub(crate) mod waiting;

pub(crate) use consort_spec::graph;
