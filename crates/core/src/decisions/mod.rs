//! The decisions: the next steps of a run ([`next`]) and the effect of a request ([`decide`]), as events and effects
//! that the caller records and performs. Nothing here changes a run.

pub mod answer;
pub(crate) mod ask;
pub(crate) mod branch;
pub mod build;
pub(crate) mod call;
pub mod chore;
pub mod decide;
pub mod delegation;
pub mod edit;
pub(crate) mod edit_output;
pub mod fork;
pub mod next;
pub(crate) mod output;
pub mod pace;
pub(crate) mod prompt;
pub(crate) mod record;
pub mod result;
pub mod share;
pub mod subtask;
pub mod tier;

pub(crate) use consort_spec::own_tool::{finish, human};
pub use consort_spec::{own_tool, queue};
