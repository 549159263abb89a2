//! The tools a run provides by itself: their names, their audience, their implementation and their
//! descriptions for models. Names are parsed in [`OwnTool::parse`] alone; wherever one of these tools is
//! treated differently from the tools of a catalog, the code matches on this enum.

mod describe;
pub mod finish;
pub mod human;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde_json::json;

use crate::requests::catalog::{Permission, ToolInfo};
use crate::requests::delegation;
use crate::schema::Schema;

/// The reason why a tool may not be called without a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotDirect {
    /// It asks a person, which only a task can.
    AsksPerson,
    /// Its class is not allowed.
    Class,
}

/// A tool that comes with every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OwnTool {
    /// Starts a subtask.
    RunSubtask,
    /// Lists the entries that the agents of the run have written for each other.
    MemoryList,
    /// Reads such entries.
    MemoryRead,
    /// Writes one entry.
    MemoryWrite,
    /// Reads a result that was cut.
    ReadResult,
    /// Plans a workflow.
    BuildWorkflow,
    /// Ends a subtask that must return a structured result.
    FinishSubtask,
    /// Hands work to another agent of the team.
    Delegate,
    /// Hands out work, for the manager of a hierarchical ensemble.
    DelegateTask,
    /// Asks a person.
    HumanInput,
    /// Finds entries that earlier runs remembered.
    MemoryRecall,
    /// Remembers an entry for later runs.
    MemoryStore,
    /// Searches the documents in collections.
    SearchCollections,
}

/// The tasks, subtasks or chats that may be given an own tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every task that lists it, and every chat.
    Everyone,
    /// Tasks that list it, where the configuration offers it; not in chats, where a person is already present.
    Tasks,
    /// Tasks of agents that may delegate; no task lists it.
    Team,
    /// A subtask that must return a structured result; no task lists it.
    OwingSubtask,
    /// A chat with an open workflow; no task lists it.
    Editor,
    /// The run itself, for tasks that have a memory or reflect; no model calls it.
    Run,
}

/// The component that performs a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Performer {
    /// The run, as part of its decisions.
    Run,
    /// A tool of the toolbox.
    Toolbox,
}

impl OwnTool {
    /// All own tools; a chat is offered its tools in this order.
    pub const ALL: [OwnTool; 13] = [
        OwnTool::RunSubtask,
        OwnTool::MemoryList,
        OwnTool::MemoryRead,
        OwnTool::MemoryWrite,
        OwnTool::ReadResult,
        OwnTool::BuildWorkflow,
        OwnTool::FinishSubtask,
        OwnTool::Delegate,
        OwnTool::DelegateTask,
        OwnTool::HumanInput,
        OwnTool::MemoryRecall,
        OwnTool::MemoryStore,
        OwnTool::SearchCollections,
    ];

    /// Returns the own tool of this name.
    pub fn parse(name: &str) -> Option<OwnTool> {
        OwnTool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Returns the name it is listed and called by.
    pub const fn name(self) -> &'static str {
        match self {
            OwnTool::RunSubtask => "run_subtask",
            OwnTool::FinishSubtask => "finish_subtask",
            OwnTool::Delegate => "delegate",
            OwnTool::DelegateTask => "delegateTask",
            OwnTool::HumanInput => "human_input",
            OwnTool::BuildWorkflow => "build_workflow",
            OwnTool::MemoryList => "memory_list",
            OwnTool::MemoryRead => "memory_read",
            OwnTool::MemoryWrite => "memory_write",
            OwnTool::ReadResult => "read_result",
            OwnTool::MemoryRecall => "memory_recall",
            OwnTool::MemoryStore => "memory_store",
            OwnTool::SearchCollections => "search_collections",
        }
    }

    /// Returns the tasks or chats that may be given it.
    pub const fn audience(self) -> Audience {
        match self {
            OwnTool::RunSubtask
            | OwnTool::MemoryList
            | OwnTool::MemoryRead
            | OwnTool::MemoryWrite
            | OwnTool::ReadResult
            | OwnTool::SearchCollections => Audience::Everyone,
            OwnTool::HumanInput => Audience::Tasks,
            OwnTool::Delegate | OwnTool::DelegateTask => Audience::Team,
            OwnTool::FinishSubtask => Audience::OwingSubtask,
            OwnTool::BuildWorkflow => Audience::Editor,
            OwnTool::MemoryRecall | OwnTool::MemoryStore => Audience::Run,
        }
    }

    /// Returns the component that performs it.
    pub const fn performer(self) -> Performer {
        match self {
            OwnTool::RunSubtask
            | OwnTool::FinishSubtask
            | OwnTool::Delegate
            | OwnTool::DelegateTask
            | OwnTool::HumanInput
            | OwnTool::BuildWorkflow
            | OwnTool::MemoryList
            | OwnTool::MemoryRead
            | OwnTool::MemoryWrite
            | OwnTool::ReadResult => Performer::Run,
            OwnTool::MemoryRecall | OwnTool::MemoryStore | OwnTool::SearchCollections => Performer::Toolbox,
        }
    }

    /// Returns whether every task may list it, whatever the catalog holds.
    pub fn is_given(self) -> bool {
        self.audience() == Audience::Everyone && self.performer() == Performer::Run
    }

    /// Returns its description for models and its effect class, which is made once. The arguments of
    /// [`OwnTool::FinishSubtask`] and of delegations are narrowed where they are offered, to the expected result and
    /// the existing roles.
    pub fn info(self) -> Arc<ToolInfo> {
        static INFOS: LazyLock<BTreeMap<OwnTool, Arc<ToolInfo>>> =
            LazyLock::new(|| OwnTool::ALL.into_iter().map(|tool| (tool, Arc::new(tool.described()))).collect());
        INFOS.get(&self).cloned().unwrap_or_else(|| Arc::new(self.described()))
    }

    fn described(self) -> ToolInfo {
        match self {
            OwnTool::RunSubtask => describe::subtask(),
            OwnTool::FinishSubtask => finish::info(&Schema::new(json!({ "type": "object" }))),
            OwnTool::Delegate | OwnTool::DelegateTask => delegation::info(self, &[]),
            OwnTool::HumanInput => human::info(),
            OwnTool::BuildWorkflow => describe::build(),
            OwnTool::MemoryList => describe::memory_list(),
            OwnTool::MemoryRead => describe::memory_read(),
            OwnTool::MemoryWrite => describe::memory_write(),
            OwnTool::ReadResult => describe::result(),
            OwnTool::MemoryRecall => describe::memory_recall(),
            OwnTool::MemoryStore => describe::memory_store(),
            OwnTool::SearchCollections => describe::search(),
        }
    }
}

impl ToolInfo {
    /// Creates an own tool that reads and may run in parallel to others.
    pub(crate) fn own(tool: OwnTool, description: &str) -> ToolInfo {
        ToolInfo::new(tool.name(), description)
    }

    /// Returns the own tool that this is, if it is one.
    pub fn as_own(&self) -> Option<OwnTool> {
        OwnTool::parse(&self.name)
    }

    /// Checks whether it may be called without a run, where tools of these classes may be.
    pub fn check_direct(&self, classes: &[Permission]) -> Result<(), NotDirect> {
        if self.as_own() == Some(OwnTool::HumanInput) {
            return Err(NotDirect::AsksPerson);
        }
        if classes.contains(&self.permission) { Ok(()) } else { Err(NotDirect::Class) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_own_tool_is_found_by_its_name_and_tells_models_that_name() {
        for tool in OwnTool::ALL {
            assert_eq!(OwnTool::parse(tool.name()), Some(tool));
            assert_eq!(tool.info().name, tool.name());
            assert_eq!(tool.info().as_own(), Some(tool));
        }
        let names: std::collections::BTreeSet<&str> = OwnTool::ALL.map(OwnTool::name).into_iter().collect();
        assert_eq!(names.len(), OwnTool::ALL.len());
        assert_eq!(OwnTool::parse("calculator"), None);
    }
}
