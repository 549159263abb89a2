//! What this ensemble lets others use.

use serde_json::{Value, json};

/// One thing others may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// What it is called here.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What sort of thing it is.
    pub kind: Sort,
    /// Labels to find it by.
    pub tags: Vec<String>,
}

/// What sort of thing is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A task of the ensemble.
    Task,
    /// A tool of its catalog.
    Tool,
}

impl Sort {
    /// The words on the wire.
    pub(crate) const WORDS: [(&str, Sort); 2] = [("TASK", Sort::Task), ("TOOL", Sort::Tool)];

    fn word(self) -> &'static str {
        match self {
            Sort::Task => "TASK",
            Sort::Tool => "TOOL",
        }
    }
}

impl Capability {
    /// As peers are told about it.
    pub(crate) fn json(&self) -> Value {
        json!({ "name": self.name, "description": self.description, "type": self.kind.word(), "tags": self.tags })
    }
}
