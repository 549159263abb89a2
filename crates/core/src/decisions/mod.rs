//! What to do now ([`next`]) and what a request does ([`decide`]), as events and
//! effects that somebody else records and performs. Nothing here changes a run.

pub mod answer;
pub(crate) mod ask;
pub mod build;
pub(crate) mod call;
pub mod chore;
pub(crate) mod compose;
pub mod decide;
pub mod delegation;
pub mod edit;
pub mod finish;
pub mod fork;
pub mod human;
pub mod next;
pub(crate) mod output;
pub mod own_tool;
pub(crate) mod permit;
pub(crate) mod prompt;
pub mod queue;
pub mod result;
pub mod subtask;
pub mod tier;
