//! An engine and the ensemble that it runs repeatedly.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::anyhow;
use consort_core::catalog::ModelInfo;
use consort_core::compile::{Catalog, compile};
use consort_core::draft::{Draft, Each, Ensemble, Request};
use consort_log::{Log, Query};
use consort_models::{Model, ModelCatalog};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_runtime::limits::{Limits, ModelLimit};
use consort_tools::Toolbox;

use crate::instant::InstantTool;

/// The tool that the first of three tasks calls: the name of one that comes with the program.
pub(crate) const TOOL: &str = "calculator";
const ALIAS: &str = "model";

/// An ensemble on its own engine. Clones share the engine.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) engine: Engine,
    pub(crate) ensemble: Arc<Ensemble>,
    pub(crate) catalog: Arc<Catalog>,
}

impl Stage {
    /// Returns a stage with this many concurrent model calls over all runs.
    pub(crate) fn new(
        ensemble: Ensemble,
        log: Arc<dyn Log>,
        model: impl Model,
        slots: NonZeroU32,
    ) -> anyhow::Result<Stage> {
        Stage::with_tools(ensemble, log, model, slots, Toolbox::default().with(InstantTool::new(TOOL))?)
    }

    /// Returns a stage with other tools.
    pub(crate) fn with_tools(
        ensemble: Ensemble,
        log: Arc<dyn Log>,
        model: impl Model,
        slots: NonZeroU32,
        tools: Toolbox,
    ) -> anyhow::Result<Stage> {
        let models = ModelCatalog::default().with(ModelInfo::new(ALIAS, "openai"), model)?;
        let limit = ModelLimit { max_concurrency: slots, rate: None };
        let limits = Limits::new([(ALIAS.to_owned(), limit)], None);
        let engine = Engine::new(Seams { limits, ..Seams::new(log, models, tools) });
        let catalog = engine.seams().catalog();
        Ok(Stage { engine, ensemble: Arc::new(ensemble), catalog: Arc::new(catalog) })
    }

    /// Runs the ensemble once, from the request to its end.
    pub(crate) async fn run(&self) -> anyhow::Result<()> {
        let compiled = compile(&self.ensemble, Request::default(), &self.catalog);
        let compiled = compiled.map_err(|mistakes| anyhow!("the ensemble has mistakes: {mistakes:?}"))?;
        // In a box, so that what waits for the run does not keep room for its beginning.
        let run = Box::pin(self.engine.submit(compiled)).await?;
        self.engine.finished(&run).await;
        Ok(())
    }

    /// Returns the number of completed runs; for use after measuring, because it reads the log.
    pub(crate) async fn completed(&self) -> anyhow::Result<usize> {
        let query = Query { status: Some("COMPLETED".to_owned()), ..Query::default() };
        Ok(self.engine.list(query).await?.total)
    }
}

/// Returns three tasks in a row; the first calls a tool, so there are four model calls.
pub(crate) fn three_tasks() -> Ensemble {
    let tasks = vec![
        Draft { tools: vec![TOOL.to_owned()], ..task("look", "Find out what the weather will be like today.") },
        Draft { context: vec!["$look".to_owned()], ..task("think", "Decide what to do with such a day.") },
        Draft { context: vec!["$think".to_owned()], ..task("say", "Write an invitation to it, in two sentences.") },
    ];
    Ensemble { name: "three tasks".to_owned(), tasks, ..Ensemble::default() }
}

/// Returns an ensemble of one task.
pub(crate) fn one_task() -> Ensemble {
    let tasks = vec![task("look", "Find out what the weather will be like today.")];
    Ensemble { name: "one task".to_owned(), tasks, ..Ensemble::default() }
}

/// Returns one task, `width` that read it, and one that reads all of those.
pub(crate) fn wide(width: usize) -> Ensemble {
    let first = task("first", "Find out what the weather will be like today.");
    let middle = (0..width).map(|number| Draft {
        context: vec!["$first".to_owned()],
        ..task(&format!("middle-{number}"), "Say what the weather means for one village.")
    });
    let context = (0..width).map(|number| format!("$middle-{number}")).collect();
    let last = Draft { context, ..task("last", "Sum up what it means for all villages.") };
    let tasks = std::iter::once(first).chain(middle).chain([last]).collect();
    Ensemble { name: "wide".to_owned(), tasks, ..Ensemble::default() }
}

/// Returns the same work as [`wide`], with one task that is done for each item of a list.
pub(crate) fn items(width: usize) -> Ensemble {
    let first = task("first", "Find out what the weather will be like today.");
    let limit = u32::try_from(width).ok();
    let each = Each { list: Some("inputs.villages".to_owned()), max_items: limit, max_parallel: limit };
    let middle = task("middle", "Say what the weather means for the village {item}.");
    let middle = Draft { context: vec!["$first".to_owned()], each, ..middle };
    let context = vec!["$middle".to_owned()];
    let last = Draft { context, ..task("last", "Sum up what it means for all villages.") };
    let villages: Vec<String> = (0..width).map(|number| format!("middle-{number}")).collect();
    let inputs = [("villages".to_owned(), villages.into())].into();
    Ensemble { name: "items".to_owned(), tasks: vec![first, middle, last], inputs, ..Ensemble::default() }
}

/// Returns a task of this name.
pub(crate) fn task(name: &str, description: &str) -> Draft {
    Draft { name: Some(name.to_owned()), description: description.to_owned(), ..Draft::default() }
}
