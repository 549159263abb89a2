//! A request for a run that continues the record of another: the part that is kept, and the changes.

use std::collections::BTreeMap;

use crate::requests::draft::Request;

/// The part of a record that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The events of completed tasks.
    Completed,
    /// The events before this seq; all when absent.
    Before(Option<u64>),
    /// The events before the task of this name began.
    BeforeTask(String),
}

/// A request for such a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Again {
    /// The changes.
    pub edits: Edits,
    /// The part that is kept.
    pub keep: Keep,
    /// Whether to only report what would run.
    pub dry_run: bool,
    /// Warnings about unknown fields.
    pub warnings: Vec<String>,
}

/// The changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edits {
    /// Inputs, tags, options and changes to tasks that have not begun.
    pub request: Request,
    /// The alias of the model that every later call goes to.
    pub model: Option<String>,
    /// Other outputs of tasks that are kept, by their names.
    pub outputs: BTreeMap<String, String>,
}
