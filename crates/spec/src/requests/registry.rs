//! The models and tools that the planner of a workflow may use, as a turn records them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::own_tool::OwnTool;
use crate::requests::catalog::{ModelInfo, SavedWorkflows, ToolInfo};
use crate::requests::compile::Catalog;

/// The number of characters of a tool's description that the planner is shown.
const ABOUT_CHARS: usize = 160;

/// The models and tools that the tasks of a workflow can choose from, as a planner sees them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Registry {
    models: Vec<String>,
    /// The names and descriptions of the tools.
    tools: Vec<(String, String)>,
}

impl Registry {
    /// Creates the registry of a catalog.
    pub fn of(catalog: &Catalog) -> Registry {
        let about = |tool: &Arc<ToolInfo>| {
            (tool.name.clone(), tool.description.chars().take(ABOUT_CHARS).collect::<String>().replace('\n', " "))
        };
        Registry {
            models: catalog.models.iter().map(|model| model.alias.clone()).collect(),
            tools: catalog.tools.iter().map(about).collect(),
        }
    }

    /// Returns the catalog for the compiler, which uses only names.
    pub fn catalog(&self) -> Catalog {
        Catalog {
            models: self.models.iter().map(|alias| Arc::new(ModelInfo::new(alias, ""))).collect(),
            tools: self.tools.iter().map(|(name, about)| Arc::new(ToolInfo::new(name, about))).collect(),
            providers: Vec::new(),
            workflows: SavedWorkflows::default(),
        }
    }

    /// Returns the instructions for the planner.
    pub fn prompt(&self) -> String {
        let tools: Vec<String> = self.tools.iter().map(|(name, about)| format!("- {name}: {about}")).collect();
        let tools = if tools.is_empty() { "(none)".to_owned() } else { tools.join("\n") };
        format!(
            "You plan workflows: graphs of tasks, each done by an agent of its own that sees nothing but its task and \
             the outputs of the tasks it reads. Split the objective into as few tasks as do it well, say in each \
             everything its agent needs, let tasks that do not need each other run side by side, and give a task only \
             the tools it needs.\n\nTools there are:\n{tools}\n\nModels there are: {}\n\n\
             End by calling {}: its arguments are the workflow. Prose is not read.",
            self.models.join(", "),
            OwnTool::FinishSubtask.name()
        )
    }
}
