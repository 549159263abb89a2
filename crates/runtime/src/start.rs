//! Starts a run of the ensemble or of a saved workflow: the one function behind schedules, hooks and every
//! other edge that begins runs without sending tasks of its own.

use std::sync::Arc;

use consort_core::catalog::{Permission, ToolInfo};
use consort_core::compile::{Catalog, Compiled};
use consort_core::draft::Ensemble;
use consort_core::mistake::Mistake;
use consort_core::nested;
use consort_core::own_tool::{NotDirect, OwnTool};
use consort_core::owner::{Owner, Sight};
use consort_core::request::{self, Submission};
use consort_core::spec::{BegunBy, Kind};
use consort_log as log;
use consort_tools::busy;
use serde_json::Value;

use crate::engine::{self, DirectError, Engine, NewRun};
use crate::workflows::{self, Saved, Workflows};

/// Starts runs of one ensemble and of the workflows saved beside it. Cheap to clone.
#[derive(Clone)]
pub struct Starter {
    engine: Engine,
    ensemble: Arc<Ensemble>,
    catalog: Arc<Catalog>,
}

/// A run to be started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The id or the name of a saved workflow; the ensemble when absent.
    pub workflow: Option<String>,
    /// The rest of the request, as `POST /api/runs` takes it: inputs, tags, options.
    pub request: Value,
    /// The owner of the run.
    pub owner: Owner,
    /// A key that only one run may hold: another start with the same key finds that run.
    pub claim: Option<String>,
    /// The schedule or hook that began it, when no caller did.
    pub begun_by: Option<BegunBy>,
    /// The behaviour when all slots and the queue are full.
    pub when_full: WhenFull,
}

/// The behaviour when all slots and the queue are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The run is refused.
    Refuse,
    /// The run waits all the same.
    Queue,
}

/// A run that was started, now or before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The run.
    pub run: Arc<str>,
    /// Whether an earlier start with the same claim began it.
    pub is_repeated: bool,
}

/// The reason why no run was started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No saved workflow has this id or name.
    #[error("there is no saved workflow `{0}`: give the id or the name of one")]
    UnknownWorkflow(String),
    /// Several saved workflows have this name.
    #[error("{count} saved workflows are called `{name}`: give the id of one")]
    AmbiguousWorkflow {
        /// The name.
        name: String,
        /// The number of workflows of that name.
        count: usize,
    },
    /// The request does not compile.
    #[error("{}", joined(.0))]
    Mistakes(Vec<Mistake>),
    /// The run cannot be accepted.
    #[error(transparent)]
    Engine(#[from] engine::Error),
}

fn joined(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl From<log::Error> for Error {
    fn from(error: log::Error) -> Error {
        Error::Engine(error.into())
    }
}

impl Error {
    /// Returns whether the same start may succeed a moment later.
    pub fn is_passing(&self) -> bool {
        match self {
            Error::UnknownWorkflow(_) | Error::AmbiguousWorkflow { .. } | Error::Mistakes(_) => false,
            Error::Engine(error) => match error {
                engine::Error::Busy { .. }
                | engine::Error::OwnerBusy { .. }
                | engine::Error::OwnerSpent { .. }
                | engine::Error::Draining
                | engine::Error::NotOwned(_) => true,
                engine::Error::Log(error) => !matches!(error, log::Error::Damaged { .. }),
                engine::Error::Refused(_)
                | engine::Error::NotFound(_)
                | engine::Error::Fork(_)
                | engine::Error::Mistakes(_) => false,
            },
        }
    }
}

impl Starter {
    /// Creates a starter for an ensemble. The catalog holds what requests may name, besides the tools that
    /// come and go.
    pub fn new(engine: &Engine, ensemble: &Ensemble, catalog: &Catalog) -> Starter {
        Starter {
            engine: engine.only(Kind::Run),
            ensemble: Arc::new(ensemble.clone()),
            catalog: Arc::new(catalog.clone()),
        }
    }

    /// Returns the engine with the runs of all owners.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the catalog that requests can choose from at this moment.
    pub fn catalog(&self) -> Catalog {
        let mut catalog = Catalog::clone(&self.catalog);
        let tools = &self.engine.seams().tools;
        let stored = tools.get(OwnTool::SearchCollections.name()).cloned();
        catalog.tools.extend(tools.live().chain(stored).map(|tool| tool.info().clone()));
        catalog
    }

    /// Returns a tool that may be called without a run, where tools of these classes may be.
    pub fn direct_tool(&self, name: &str, classes: &[Permission]) -> Result<Arc<ToolInfo>, DirectError> {
        let catalog = self.catalog();
        let toolbox = &self.engine.seams().tools;
        let known = catalog.tools.iter().find(|tool| tool.name == name).cloned();
        let Some(tool) = known.or_else(|| toolbox.find(name).map(|tool| tool.info().clone())) else {
            if self.catalog.tools.is_empty() && toolbox.live().next().is_none() {
                return Err(DirectError::NoTools);
            }
            return Err(DirectError::Unknown(catalog.unknown_tool(name)));
        };
        match tool.check_direct(classes) {
            Ok(()) => Ok(tool),
            Err(NotDirect::AsksPerson) => Err(DirectError::AsksPerson(name.to_owned())),
            Err(NotDirect::Class) => Err(DirectError::Class(name.to_owned())),
        }
    }

    /// Returns the newest version of the saved workflow with this id, or the only one with this name.
    pub async fn workflow(&self, wanted: &str) -> Result<Saved, Error> {
        Workflows::of(&self.engine).find(wanted).await.map_err(|error| unsaved(error, wanted))
    }

    /// Starts a run, or finds the one that an earlier start with the same claim began. The version of a
    /// workflow is fixed here.
    pub async fn start(&self, start: Start) -> Result<Started, Error> {
        if let Some(run) = self.begun(start.claim.as_deref()).await? {
            return Ok(Started { run, is_repeated: true });
        }
        let mut compiled = self.compile(start.workflow.as_deref(), &start.request).await?;
        compiled.spec.begun_by = start.begun_by;
        let new_run = NewRun::new(compiled).claiming(start.claim.clone());
        let new_run = match start.when_full {
            WhenFull::Refuse => new_run,
            WhenFull::Queue => new_run.beyond_queue(),
        };
        match self.engine.seen_with(Sight::Own(start.owner)).submit(new_run).await {
            Ok(run) => Ok(Started { run, is_repeated: false }),
            // Another start with the same claim was faster.
            Err(error @ engine::Error::Log(log::Error::Claimed { .. })) => {
                let run = self.begun(start.claim.as_deref()).await?;
                run.map(|run| Started { run, is_repeated: true }).ok_or_else(|| error.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Compiles the run that a start would begin.
    pub async fn compile(&self, workflow: Option<&str>, request: &Value) -> Result<Compiled, Error> {
        let Some(wanted) = workflow else { return self.read(request).await };
        let saved = self.workflow(wanted).await?;
        let request = saved.entry.document.request(request).map_err(|mistake| Error::Mistakes(vec![mistake]))?;
        let mut compiled = self.read(&request).await?;
        compiled.spec.name.clone_from(&saved.entry.document.name);
        compiled.spec.tags.extend(saved.tags());
        Ok(compiled)
    }

    async fn read(&self, request: &Value) -> Result<Compiled, Error> {
        let wanted = nested::wanted(request, &self.ensemble);
        let workflows = Workflows::of(&self.engine).for_catalog(wanted).await.map_err(|error| unsaved(error, ""))?;
        let catalog = Catalog { workflows, ..self.catalog() };
        let read = || request::read(request, &self.ensemble, &catalog);
        let read = if request::takes_long(request) { busy::in_place(read) } else { read() };
        match read.map_err(Error::Mistakes)? {
            Submission::Run(compiled) | Submission::DryRun(compiled) => Ok(compiled),
        }
    }

    async fn begun(&self, claim: Option<&str>) -> Result<Option<Arc<str>>, Error> {
        match claim {
            Some(claim) => Ok(self.engine.holder(claim).await?),
            None => Ok(None),
        }
    }
}

/// Returns the reason why a saved workflow cannot be run.
fn unsaved(error: workflows::Error, wanted: &str) -> Error {
    match error {
        workflows::Error::Log(error) => error.into(),
        workflows::Error::Ambiguous { name, count } => Error::AmbiguousWorkflow { name, count },
        // Deleted since it was found.
        workflows::Error::NotFound(_)
        | workflows::Error::NoVersion(_)
        | workflows::Error::Stale { .. }
        | workflows::Error::Full(_) => Error::UnknownWorkflow(wanted.to_owned()),
    }
}
