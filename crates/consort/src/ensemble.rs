//! The handle to an ensemble: start runs, find them again, resume those that a crash
//! interrupted.

use std::sync::Arc;

use consort_core::compile::{Catalog, compile};
use consort_core::draft;
use consort_core::mistake::{Code, Mistake};
use consort_core::spec::Kind;
use consort_log::Query;
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_runtime::workflows::{self, Workflows};

use crate::builder::EnsembleBuilder;
use crate::catalog::{ModelCatalog, ToolCatalog};
use crate::error::{Error, Mistakes};
use crate::model::Model;
use crate::outcome::Outcome;
use crate::request::Request;
use crate::run::Run;
use crate::task::Task;

/// The alias of the only model of [`Ensemble::run`].
const ONLY_MODEL: &str = "default";

/// Tasks, and the models and tools that execute them. Clones are the same ensemble;
/// when the last of them and of its runs' handles is dropped, its runs stop where they
/// are.
///
/// ```
/// use consort::{Ensemble, Model, Task};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), consort::Error> {
/// let research = Task::builder("Research {topic}").name("research").build();
/// let ensemble = Ensemble::builder()
///     .name("newsroom")
///     .model("demo", Model::demo())
///     .tasks([research.clone(), Task::builder("Write about {topic}").reads(&research).build()])
///     .build()?;
/// let outcome = ensemble.start([("topic", "tea")]).await?.finished().await?;
/// assert!(outcome.output("research")?.to_lowercase().contains("tea"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Ensemble {
    pub(crate) engine: Engine,
    pub(crate) template: Arc<draft::Ensemble>,
    /// The models and tools that tasks can name, without tools that come and go.
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) tools: ToolCatalog,
    #[cfg(feature = "serve")]
    pub(crate) shown: Arc<crate::share::Shown>,
}

/// The result of [`Ensemble::resume_unfinished`].
#[derive(Clone)]
pub struct Resumed {
    /// Runs that go on.
    pub runs: Vec<Run>,
    /// Ids of runs that cannot go on, each with the reason; they stay as they are.
    pub damaged: Vec<(String, String)>,
}

impl Ensemble {
    /// Returns a builder of an ensemble.
    pub fn builder() -> EnsembleBuilder {
        EnsembleBuilder::default()
    }

    /// Runs some tasks with one model, in memory, to the end.
    pub async fn run<T: Into<Task>>(
        model: impl Into<Model>,
        tasks: impl IntoIterator<Item = T>,
    ) -> Result<Outcome, Error> {
        let ensemble = Ensemble::builder().model(ONLY_MODEL, model).tasks(tasks).build()?;
        ensemble.start(()).await?.finished().await
    }

    /// Starts a run: once this returns, the run is stored.
    pub async fn start(&self, request: impl Into<Request>) -> Result<Run, Error> {
        let Request(request) = request.into();
        let tasks = request.tasks.as_ref().unwrap_or(&self.template.tasks);
        let wanted = tasks.iter().filter_map(|task| Some(task.nested.as_ref()?.workflow.clone())).collect();
        let workflows = Workflows::of(&self.engine).for_catalog(wanted).await.map_err(unsaved)?;
        let catalog = Catalog { workflows, ..with_live(&self.catalog, self.engine.seams()) };
        let compiled = compile(&self.template, request, &catalog).map_err(Mistakes)?;
        let id = self.engine.submit(compiled).await?;
        Ok(Run::new(self.engine.clone(), id))
    }

    /// Returns a run of this ensemble by its id, ended or not.
    pub async fn find(&self, id: &str) -> Result<Run, Error> {
        self.engine.run(id).await?;
        Ok(Run::new(self.engine.clone(), id.into()))
    }

    /// Resumes every run that an earlier process did not finish. Build the ensemble as it
    /// was then: runs look up their models, tools and functions by name.
    ///
    /// ```
    /// use consort::{Ensemble, Model, Task};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let file = home.path().join("runs.db");
    /// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write")).keep_in(&file).build()?;
    /// let resumed = ensemble.resume_unfinished().await?;
    /// for run in &resumed.runs {
    ///     println!("{} came to: {}", run.id(), run.finished().await?.answer());
    /// }
    /// for (run, why) in &resumed.damaged {
    ///     eprintln!("{run} cannot go on: {why}");
    /// }
    /// # assert!(resumed.runs.is_empty() && resumed.damaged.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn resume_unfinished(&self) -> Result<Resumed, Error> {
        let query = Query {
            kind: Some(Kind::Run.word().to_owned()),
            ended: Some(false),
            limit: usize::MAX,
            ..Query::default()
        };
        let unfinished = self.engine.list(query).await?;
        let damaged = self.engine.recover().await?.damaged;
        let goes_on = |id: &Arc<str>| !damaged.iter().any(|(other, _)| **other == **id);
        let ids = unfinished.rows.into_iter().map(|(id, _)| id).filter(goes_on);
        Ok(Resumed { runs: ids.map(|id| Run::new(self.engine.clone(), id)).collect(), damaged })
    }

    /// Returns the engine of its runs, for programs that go beyond this crate.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns its models, by alias.
    pub fn models(&self) -> ModelCatalog {
        ModelCatalog(self.engine.seams().models.clone())
    }

    /// Returns its tools, by name.
    pub fn tools(&self) -> &ToolCatalog {
        &self.tools
    }

    /// Stops every run where it is and returns when all their work has ended. The runs are
    /// unfinished then, not cancelled.
    pub async fn stop(&self) {
        self.engine.stop().await;
    }
}

/// Returns the reason why saved workflows cannot be had.
fn unsaved(error: workflows::Error) -> Error {
    if let workflows::Error::Log(error) = error {
        return Error::Engine(error.into());
    }
    Error::Mistakes(Mistakes(vec![Mistake::new(Code::BadRequest, "tasks", error.to_string())]))
}

/// Returns the catalog with the tools that are available at this moment.
pub(crate) fn with_live(lasting: &Catalog, seams: &Seams) -> Catalog {
    let mut catalog = lasting.clone();
    catalog.tools.extend(seams.tools.live().map(|tool| tool.info().clone()));
    catalog
}
