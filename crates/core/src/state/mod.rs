//! The state of a run: a fold over its events. Only `Run::apply` changes it; the other rooms read it through methods.

pub mod budget;
pub(crate) mod calls;
pub(crate) mod chat;
pub(crate) mod chore_under_way;
pub mod conversation;
pub(crate) mod ended;
pub(crate) mod fan_out;
pub(crate) mod flow;
pub mod gate;
mod history;
pub(crate) mod inherit;
mod instances;
pub mod memory;
mod read;
pub mod run;
pub(crate) mod stopwatch;
pub(crate) mod unfinished;
pub(crate) mod waiting;

pub(crate) use consort_spec::graph;
