//! The builder of an ensemble. Nothing is checked before `build`, which then reports
//! all mistakes.

use std::collections::BTreeSet;
use std::sync::Arc;

use consort_core::budget::Limits;
use consort_core::catalog::SavedWorkflows;
use consort_core::compile::{Catalog, compile};
use consort_core::draft;
use consort_core::dynamic::{NETWORK, is_plain};
use consort_core::mistake::{Code, Mistake};
use consort_core::own_tool::OwnTool;
use consort_core::spec::{OnError, Review, ReviewPolicy, Workflow};
use consort_log::clock::Clock;
use consort_models as model;
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_runtime::limits::{self, Rate};
use consort_tools::collections::Collections;
use consort_tools::memory::Memory;
use consort_tools::{DynamicToolProvider, SearchCollections, Tool, Toolbox, memory_tools};
use serde_json::Value;

use crate::catalog::ToolCatalog;
use crate::ensemble::{Ensemble, with_live};
use crate::error::{Error, Mistakes};
use crate::function::ToolSet;
use crate::group::Group;
use crate::model::Model;
use crate::operation::Operation;
use crate::resources::Resources;
#[cfg(feature = "serve")]
use crate::share::Shown;
use crate::task::{Plan, Task};

/// The name of an ensemble that was given none.
const NAMELESS: &str = "ensemble";

/// Builds an ensemble.
///
/// ```
/// use consort::{Calculator, Ensemble, Limits, Model, OnError, Task};
///
/// # fn main() -> Result<(), consort::Error> {
/// let ensemble = Ensemble::builder()
///     .name("accounts")
///     .model("demo", Model::demo())
///     .tool(Calculator::default())
///     .task(Task::builder("What is {sum}?").tool("calculator"))
///     .input("sum", "6 * 7")
///     .limits(Limits { llm_calls: 10, ..Limits::default() })
///     .on_error(OnError::ContinueOnError)
///     .build()?;
/// assert!(ensemble.models().contains("demo") && ensemble.tools().contains("calculator"));
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct EnsembleBuilder {
    template: draft::Ensemble,
    models: Vec<(String, Model)>,
    tools: ToolCatalog,
    providers: Vec<Arc<dyn DynamicToolProvider>>,
    /// Providers that are taken as they are.
    given: Vec<Arc<dyn DynamicToolProvider>>,
    tasks: Vec<Task>,
    rate: Option<Rate>,
    /// Whether the template is taken as it is.
    is_given: bool,
    /// Whether tasks cannot ask people.
    asks_nobody: bool,
    pub(crate) operation: Operation,
    pub(crate) outside: Resources,
    #[cfg(feature = "serve")]
    pub(crate) sharing: crate::share::Sharing,
}

impl EnsembleBuilder {
    /// Sets the name.
    #[must_use]
    pub fn name(self, name: &str) -> EnsembleBuilder {
        self.with(|template| template.name = name.to_owned())
    }

    /// Adds a model under an alias; the first one is used unless a task names another.
    #[must_use]
    pub fn model(mut self, alias: &str, model: impl Into<Model>) -> EnsembleBuilder {
        self.models.push((alias.to_owned(), model.into()));
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> EnsembleBuilder {
        self.tools = self.tools.with(tool);
        self
    }

    /// Adds all tools of one value.
    #[must_use]
    pub fn tool_set(self, set: impl ToolSet) -> EnsembleBuilder {
        Arc::new(set).tools().into_iter().fold(self, EnsembleBuilder::tool)
    }

    /// Adds all tools of a catalog.
    #[must_use]
    pub fn tool_catalog(mut self, tools: &ToolCatalog) -> EnsembleBuilder {
        self.tools.0.extend(tools.0.iter().cloned());
        self
    }

    /// Adds tools that come and go while the program runs. A task lists one by its name,
    /// all as `<provider>:*`, those with a tag as `<provider>:#tag`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// use consort::seam::Tool;
    /// use consort::{DynamicToolProvider, Ensemble, Model, Task, tool};
    ///
    /// /// The oven can be used while it is hot.
    /// #[derive(Clone, Default)]
    /// struct PeerRunFactory(Arc<AtomicBool>);
    ///
    /// impl DynamicToolProvider for PeerRunFactory {
    ///     fn name(&self) -> &str {
    ///         "kitchen"
    ///     }
    ///
    ///     fn resolve(&self) -> Vec<Arc<dyn Tool>> {
    ///         let bake = tool("bake", "Bakes bread", |(): ()| async { Ok::<_, String>("a loaf") }).tag("bread");
    ///         if self.0.load(Ordering::Relaxed) { vec![Arc::new(bake)] } else { Vec::new() }
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), consort::Error> {
    /// let kitchen = PeerRunFactory::default();
    /// let ensemble = Ensemble::builder()
    ///     .model("demo", Model::demo())
    ///     .tool_provider(kitchen.clone())
    ///     .task(Task::builder("Make breakfast").tool("kitchen:#bread"))
    ///     .build()?;
    /// // From now on, tasks that begin find the oven.
    /// kitchen.0.store(true, Ordering::Relaxed);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn tool_provider(mut self, provider: impl DynamicToolProvider) -> EnsembleBuilder {
        self.providers.push(Arc::new(provider));
        self
    }

    /// Adds the tools of a toolbox, its providers included.
    #[must_use]
    pub fn toolbox(mut self, toolbox: &Toolbox) -> EnsembleBuilder {
        self.tools.0.extend(toolbox.names().filter_map(|name| toolbox.get(name)).cloned());
        self.given.extend(toolbox.providers().cloned());
        self
    }

    /// Keeps tasks from asking people: there is no `human_input`.
    #[must_use]
    pub fn without_human_input(mut self) -> EnsembleBuilder {
        self.asks_nobody = true;
        self
    }

    /// Takes over a template that was read from somewhere, in place of
    /// all earlier settings of the ensemble. It is taken as it is: runs
    /// tell what is wrong with it, and it may have no tasks, for runs that bring
    /// their own.
    #[must_use]
    pub fn template(mut self, template: draft::Ensemble) -> EnsembleBuilder {
        self.template = template;
        self.is_given = true;
        self
    }

    /// Adds a task.
    #[must_use]
    pub fn task(mut self, task: impl Into<Task>) -> EnsembleBuilder {
        self.tasks.push(task.into());
        self
    }

    /// Adds tasks, in this order.
    #[must_use]
    pub fn tasks<T: Into<Task>>(self, tasks: impl IntoIterator<Item = T>) -> EnsembleBuilder {
        tasks.into_iter().fold(self, EnsembleBuilder::task)
    }

    /// Sets the order in which tasks run. By default a task starts as soon as the outputs
    /// it reads are there; when no task reads another, they run one after the other.
    #[must_use]
    pub fn workflow(self, workflow: Workflow) -> EnsembleBuilder {
        self.with(|template| template.workflow = Some(workflow))
    }

    /// Sets the effect of a failed task on the others.
    #[must_use]
    pub fn on_error(self, on_error: OnError) -> EnsembleBuilder {
        self.with(|template| template.on_error = on_error)
    }

    /// Sets the default value of a template variable, for runs that bring none.
    #[must_use]
    pub fn input(self, name: &str, value: impl Into<Value>) -> EnsembleBuilder {
        self.with(|template| _ = template.inputs.insert(name.to_owned(), value.into()))
    }

    /// Adds a group of its tasks.
    #[must_use]
    pub fn group(self, group: Group) -> EnsembleBuilder {
        self.with(|template| template.groups.push(group.0))
    }

    /// Limits the usage of one run.
    #[must_use]
    pub fn limits(self, limits: Limits) -> EnsembleBuilder {
        self.with(|template| template.limits = limits)
    }

    /// Sets the tasks whose output a person reviews.
    #[must_use]
    pub fn review(self, policy: ReviewPolicy) -> EnsembleBuilder {
        self.with(|template| template.review.policy = policy)
    }

    /// Sets the review policy, the timeout of reviews, and the action after it.
    #[must_use]
    pub fn review_settings(self, review: Review) -> EnsembleBuilder {
        self.with(|template| template.review = review)
    }

    /// Sets the depth to which agents may delegate work to each other; 3 by default.
    #[must_use]
    pub fn max_delegation_depth(self, depth: u32) -> EnsembleBuilder {
        self.with(|template| template.max_delegation_depth = Some(depth))
    }

    /// Sets the number of delegations in one run, by a manager or from agent to agent; ten
    /// for each task by default.
    #[must_use]
    pub fn max_delegations(self, times: u32) -> EnsembleBuilder {
        self.with(|template| template.max_delegations = Some(times))
    }

    /// Sets the number of delegations to the same agent in one run; by default only the
    /// total is limited.
    #[must_use]
    pub fn max_delegations_per_agent(self, times: u32) -> EnsembleBuilder {
        self.with(|template| template.max_delegations_per_agent = Some(times))
    }

    /// Limits the rate of model calls of all its runs together.
    ///
    /// ```
    /// use consort::{Ensemble, Error, Model, Task, parse_rate};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = Model::demo().rate(parse_rate("600/min")?);
    /// let ensemble = Ensemble::builder().model("demo", model).rate(parse_rate("10/s")?).task(Task::new("Write")).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn rate(mut self, rate: Rate) -> EnsembleBuilder {
        self.rate = Some(rate);
        self
    }

    /// Returns the ensemble, or all its mistakes. Template variables without a value are
    /// no mistake yet: a run may bring them.
    pub fn build(mut self) -> Result<Ensemble, Error> {
        let clock = Clock::system();
        let (log, suspects) = self.operation.open()?;
        let limit = |(alias, model): &(String, Model)| Some((alias.clone(), model.limit()?));
        let limits = limits::Limits::new(self.models.iter().filter_map(limit), self.rate);
        #[cfg(feature = "serve")]
        let model_hosts: Vec<String> = self.models.iter().filter_map(|(_, model)| model.host()).collect();
        let (models, mut mistakes) = ready(std::mem::take(&mut self.models));
        let plan = Plan::new(std::mem::take(&mut self.tasks));
        let outside = std::mem::take(&mut self.outside).open();
        mistakes.extend(plan.mistakes.into_iter().chain(outside.mistakes));
        self.tools.0.extend(outside.tools.0);
        let collections = Collections::new(log.clone()).with_embedder(self.operation.embedder.take());
        let (recall, remember) = memory_tools(&Memory::new(log.clone()), clock);
        let own = plan.tools.into_iter().fold(self.tools.clone().with(recall).with(remember), ToolCatalog::with);
        let (tools, Mistakes(unfit)) = own.with(SearchCollections::new(collections.clone(), clock)).toolbox();
        mistakes.extend(unfit);
        mistakes.extend(misnamed(&self.providers));
        let mut template = std::mem::take(&mut self.template);
        if !plan.drafts.is_empty() {
            template.tasks = plan.drafts;
        }
        if template.name.is_empty() {
            template.name = NAMELESS.to_owned();
        }
        let providers = std::mem::take(&mut self.given).into_iter().chain(std::mem::take(&mut self.providers));
        let tools = providers.fold(tools, Toolbox::with_provider);
        #[cfg(feature = "serve")]
        let network = self.sharing.network(&template.name);
        #[cfg(feature = "serve")]
        let tools = tools.with_provider(network.tools());
        let cancel_grace = self.operation.cancel_grace();
        let seams = Seams { limits, clock, cancel_grace, ..Seams::new(log, models, tools) };
        let engine = Engine::limited(self.operation.among(seams), self.operation.pools());
        outside.traces.into_iter().for_each(|traces| engine.export_to(traces));
        suspects.into_iter().for_each(|suspects| engine.suspect(suspects));
        let untold = self.operation.connect(&engine).err();
        mistakes.extend(untold.map(|error| Mistake::new(Code::BadRequest, "telemetry", error.to_string())));
        let mut catalog = engine.seams().catalog();
        catalog.tools.extend((!self.asks_nobody).then(|| OwnTool::HumanInput.info()));
        if !self.is_given {
            mistakes.extend(wrong(&template, &with_live(&catalog, engine.seams())));
        }
        #[cfg(feature = "serve")]
        let shares = self.sharing.shares(&template, &catalog).unwrap_or_else(|unshared| {
            mistakes.extend(unshared);
            Vec::new()
        });
        if !mistakes.is_empty() {
            return Err(Mistakes(mistakes).into());
        }
        Ok(Ensemble {
            engine,
            template: Arc::new(template),
            catalog: Arc::new(catalog),
            tools: self.tools,
            #[cfg(feature = "serve")]
            shown: Arc::new(Shown {
                network,
                shares,
                workflows: self.sharing.workflows(),
                collections,
                workspace: outside.workspace,
                model_hosts,
                max_concurrent: self.operation.max_concurrent_requests(),
            }),
        })
    }

    fn with(mut self, change: impl FnOnce(&mut draft::Ensemble)) -> EnsembleBuilder {
        change(&mut self.template);
        self
    }
}

/// Returns the models that can be used, and the mistakes of the others.
fn ready(models: Vec<(String, Model)>) -> (model::ModelCatalog, Vec<Mistake>) {
    let mut catalog = model::ModelCatalog::default();
    let mut mistakes = Vec::new();
    let aliases: Vec<String> = models.iter().map(|(alias, _)| alias.clone()).collect();
    for (alias, model) in models {
        let mut wrong = |message| mistakes.push(Mistake::new(Code::InvalidModel, format!("models.{alias}"), message));
        for missing in model.fallbacks().iter().filter(|fallback| !aliases.contains(fallback)) {
            wrong(format!("falls back to '{missing}', which does not exist"));
        }
        match model.ready(&alias).and_then(|(info, model)| catalog.clone().with(info, model).map_err(|e| e.to_string()))
        {
            Ok(larger) => catalog = larger,
            Err(reason) => wrong(reason),
        }
    }
    (catalog, mistakes)
}

/// Returns the mistakes of providers whose names tasks could not use.
fn misnamed(providers: &[Arc<dyn DynamicToolProvider>]) -> Vec<Mistake> {
    let mut taken = BTreeSet::from([NETWORK]);
    let wrong = |provider: &Arc<dyn DynamicToolProvider>, message: &str| {
        Mistake::new(Code::InvalidTool, "tool_providers", format!("'{}' {message}", provider.name()))
    };
    let mut mistakes = Vec::new();
    for provider in providers {
        if !is_plain(provider.name()) {
            mistakes.push(wrong(provider, "is no name for a provider: only letters, digits, `_` and `-` are"));
        } else if !taken.insert(provider.name()) {
            mistakes.push(wrong(provider, "is the name of another provider"));
        }
    }
    mistakes
}

/// Returns the mistakes that every run would have.
fn wrong(template: &draft::Ensemble, catalog: &Catalog) -> Vec<Mistake> {
    let catalog = Catalog { workflows: SavedWorkflows::Later, ..catalog.clone() };
    let mistakes = compile(template, draft::Request::default(), &catalog).err().unwrap_or_default();
    mistakes.into_iter().filter(|mistake| mistake.code != Code::MissingInput).collect()
}
