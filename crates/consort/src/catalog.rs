//! Models and tools by name. A failed lookup lists the names that exist.

use std::sync::Arc;

use consort_core::catalog::{ModelInfo, ToolInfo};
use consort_core::mistake::{Code, Mistake};
use consort_models as model;
use consort_tools::{Builtin, Means, Needs, Tool, Toolbox};

use crate::error::Mistakes;
use crate::seam;

/// The error for a name that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} '{name}'. Available: [{}]", known.join(", "))]
pub struct Unknown {
    /// `model` or `tool`.
    pub what: &'static str,
    /// The name that was looked up.
    pub name: String,
    /// The names that exist.
    pub known: Vec<String>,
}

/// The models of an ensemble, by alias.
///
/// ```
/// use consort::{Ensemble, Model, Task};
///
/// # fn main() -> Result<(), consort::Error> {
/// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write")).build()?;
/// let models = ensemble.models();
/// assert!(models.contains("demo") && models.find("gpt").is_none());
/// assert_eq!(models.list()[0].provider, "demo");
/// let error = models.resolve("gpt").err().map(|error| error.to_string());
/// assert_eq!(error.as_deref(), Some("there is no model 'gpt'. Available: [demo]"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ModelCatalog(pub(crate) model::ModelCatalog);

impl ModelCatalog {
    /// Returns the model of this alias, or an error that lists the aliases.
    pub fn resolve(&self, alias: &str) -> Result<&Arc<dyn seam::Model>, Unknown> {
        self.find(alias).ok_or_else(|| self.unknown(alias))
    }

    /// Returns the model of this alias, if there is one.
    pub fn find(&self, alias: &str) -> Option<&Arc<dyn seam::Model>> {
        self.0.find(alias)
    }

    /// Returns the properties of each model, in the order they were given.
    pub fn list(&self) -> Vec<Arc<ModelInfo>> {
        self.0.infos().cloned().collect()
    }

    /// Returns whether there is a model of this alias.
    pub fn contains(&self, alias: &str) -> bool {
        self.find(alias).is_some()
    }

    pub(crate) fn unknown(&self, alias: &str) -> Unknown {
        let known = self.0.infos().map(|info| info.alias.clone()).collect();
        Unknown { what: "model", name: alias.to_owned(), known }
    }
}

/// Tools by name, to be shared between ensembles.
///
/// ```
/// use consort::ToolCatalog;
///
/// let tools = ToolCatalog::builtin();
/// assert!(tools.contains("calculator"));
/// assert!(tools.list().iter().any(|tool| tool.name == "json"));
/// let error = tools.resolve("abacus").err().map(|error| error.to_string()).unwrap_or_default();
/// assert!(error.starts_with("there is no tool 'abacus'. Available: [calculator, datetime, json"));
/// ```
#[derive(Clone, Default)]
pub struct ToolCatalog(pub(crate) Vec<Arc<dyn Tool>>);

impl ToolCatalog {
    /// Creates a catalog of these tools.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> ToolCatalog {
        ToolCatalog(tools.into_iter().collect())
    }

    /// Returns the tools that need nothing from outside: `calculator`, `datetime`, `json`.
    pub fn builtin() -> ToolCatalog {
        let free = Builtin::ALL.iter().copied().filter(|builtin| builtin.needs() == Needs::Nothing);
        // A tool that needs nothing can always be built.
        ToolCatalog(free.filter_map(|builtin| builtin.build(&Means::default()).ok().flatten()).collect())
    }

    /// Returns the same catalog with one more tool.
    #[must_use]
    pub fn with(mut self, tool: impl Tool) -> ToolCatalog {
        self.0.push(Arc::new(tool));
        self
    }

    /// Returns the tool of this name, or an error that lists the names.
    pub fn resolve(&self, name: &str) -> Result<&Arc<dyn Tool>, Unknown> {
        let known = || self.0.iter().map(|tool| tool.info().name.clone()).collect();
        self.find(name).ok_or_else(|| Unknown { what: "tool", name: name.to_owned(), known: known() })
    }

    /// Returns the tool of this name, if there is one.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.0.iter().find(|tool| tool.info().name == name)
    }

    /// Returns the properties of each tool, in the order they were given.
    pub fn list(&self) -> Vec<Arc<ToolInfo>> {
        self.0.iter().map(|tool| tool.info().clone()).collect()
    }

    /// Returns whether there is a tool of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns the toolbox that executes calls. Invalid tools are left out and reported.
    pub(crate) fn toolbox(&self) -> (Toolbox, Mistakes) {
        let mut toolbox = Toolbox::default();
        let mut mistakes = Vec::new();
        for tool in &self.0 {
            match toolbox.clone().with(tool.clone()) {
                Ok(larger) => toolbox = larger,
                Err(unfit) => mistakes.push(Mistake::new(Code::InvalidTool, "tools", unfit.to_string())),
            }
        }
        (toolbox, Mistakes(mistakes))
    }
}
