//! From a configuration to what does its work: a request compiled into a run
//! (`plan`), and an engine over the configured `models`, `tools` and store.

mod mcp;
mod models;
mod network;
mod plan;
mod telemetry;
mod tools;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use consort_chat::{Chats, Settings};
use consort_core::chat::Rules;
use consort_core::compile::{Catalog, Compiled};
use consort_core::dynamic::NETWORK;
use consort_log::clock::Clock;
use consort_log::{self as log, Log, MemoryLog, SqliteLog};
use consort_models as model;
use consort_models::OptionsError;
use consort_net::serve::pool;
use consort_runtime::admission::{Capacity, Keep, Pool, Pools};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_runtime::limits::Limits;
use consort_runtime::suspects::Suspects;
use consort_runtime::traces::Traces;
use consort_tools::collections::Collections;
use consort_tools::memory::Memory;
use consort_tools::{self as tool, HttpToolError, SearchCollections, Toolbox};

pub(crate) use self::mcp::{START_MAX, connect, warnings};
use self::models::{embedder, model_limit, models, shared_rate};
pub(crate) use self::network::{network, offer};
pub(crate) use self::plan::{catalog, ensemble, plan};
pub(crate) use self::telemetry::flush;
pub(crate) use self::tools::tools;
use crate::config::{Config, Model};

/// The file that holds everything, in the store's folder.
const FILE: &str = "consort.db";
/// The folder in it that says whose work a process died in.
const SUSPECTS: &str = "suspects";
/// Turns that are looked through at the same time for what is worth remembering:
/// few, because nobody waits for it.
const MININGS_MAX: usize = 4;

/// Where runs are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// Nowhere: they are forgotten with the process.
    Memory,
    /// In this folder.
    Folder(PathBuf),
}

/// Why there is no engine, by what is to be corrected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The folder, or whoever else uses it.
    #[error("cannot use the data folder {}: {reason}", folder.display())]
    Store {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A model's entry.
    #[error("models.{alias}: {reason}")]
    Model {
        /// The model.
        alias: String,
        /// What is wrong.
        reason: OptionsError,
    },
    /// The model for vectors.
    #[error("chat.embeddings: {0}")]
    Embeddings(OptionsError),
    /// A tool's entry.
    #[error("tools: {0}")]
    Tool(#[from] HttpToolError),
    /// A pipeline's entry.
    #[error("tools.pipeline.{name}: {reason}")]
    Pipeline {
        /// The pipeline.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// An MCP server's entry.
    #[error(transparent)]
    Mcp(#[from] tool::mcp::Error),
    /// Two tools have one name.
    #[error(transparent)]
    Toolbox(#[from] tool::Unfit),
    /// Two models have one alias.
    #[error(transparent)]
    Catalog(#[from] model::Unfit),
    /// The folder of the file tools.
    #[error("cannot use the workspace {}: {reason}", folder.display())]
    Workspace {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The folder of traces.
    #[error("cannot use the folder for traces {}: {reason}", folder.display())]
    Traces {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The collector's entry.
    #[error("telemetry: {0}")]
    Telemetry(#[from] consort_runtime::telemetry::Error),
    /// The machine: nothing can be sent from it.
    #[error("no HTTP client: {0}")]
    Client(String),
}

/// What a run needs beside its configuration.
pub(crate) struct Surroundings {
    /// What agents can call.
    pub(crate) tools: Toolbox,
    /// What time it is.
    pub(crate) clock: Clock,
    /// How fast the demo model speaks.
    pub(crate) pace: Duration,
}

/// The engine for one run.
pub(crate) fn engine(config: &Config, run: &Compiled, store: &Store, with: Surroundings) -> Result<Engine, Error> {
    let used = config.models.iter().filter(|model| run.models.contains_key(&model.info.alias));
    let engine = Engine::new(seams(config, used, store, with)?.0);
    telemetry::connect(config, &engine)?;
    Ok(engine)
}

/// The engine for every run of a server, and the documents its tools search.
pub(crate) fn server_engine(
    config: &Config,
    store: &Store,
    with: Surroundings,
) -> Result<(Engine, Collections), Error> {
    let server = &config.server;
    let capacity = Capacity { running: server.max_concurrent_runs, queued: server.max_queued_runs };
    let runs = Pool { capacity, keep: Keep::Newest(server.max_retained_completed_runs) };
    let turns = Capacity { running: config.chat.max_concurrent_turns, queued: usize::MAX };
    let turns = Pool { capacity: turns, keep: Keep::All };
    let minings = Capacity { running: MININGS_MAX, queued: usize::MAX };
    let minings = Pool { capacity: minings, keep: Keep::All };
    let pools = Pools { runs, turns, peers: pool(config.network.max_concurrent), minings };
    let (seams, collections) = seams(config, config.models.iter(), store, with)?;
    let engine = Engine::limited(seams, pools);
    if let Some(folder) = &server.trace_dir {
        let unusable = |error: std::io::Error| Error::Traces { folder: folder.clone(), reason: error.to_string() };
        engine.export_to(Traces::open(folder).map_err(unusable)?);
    }
    if let Store::Folder(folder) = store {
        let unusable = |error: std::io::Error| Error::Store { folder: folder.clone(), reason: error.to_string() };
        engine.suspect(Suspects::open(&folder.join(SUSPECTS)).map_err(unusable)?);
    }
    telemetry::connect(config, &engine)?;
    Ok((engine, collections))
}

/// Conversations as the configuration wants them.
pub(crate) fn chats(
    config: &Config,
    (engine, collections): (Engine, Collections),
    catalog: Catalog,
) -> Result<Chats, Error> {
    let chat = &config.chat;
    let approval_timeout_ms = u64::try_from(chat.approval_timeout.as_millis()).unwrap_or(u64::MAX);
    let rules = Rules {
        model: chat.model.clone(),
        classes: chat.classes.clone(),
        workflow_registry: chat.workflow_registry,
        limits: chat.limits,
        mode: chat.permission_mode,
        approval_timeout_ms,
    };
    let (workspace, detach_grace) = (tools::workspace(config)?, chat.detach_grace);
    let providers = chat.mcp.iter().cloned().chain([NETWORK.to_owned()]).collect();
    Ok(Chats::new(engine, Settings { rules, catalog, providers, workspace, detach_grace, collections }))
}

fn seams<'a>(
    config: &Config,
    used: impl Iterator<Item = &'a Model>,
    store: &Store,
    with: Surroundings,
) -> Result<(Seams, Collections), Error> {
    let limit = |model: &Model| (model.info.alias.clone(), model_limit(model));
    let rate = config.template.as_ref().and_then(|template| template.rate);
    let log = open(store)?;
    let collections = Collections::new(log.clone()).with_embedder(embedder(config)?);
    let search = SearchCollections::new(collections.clone(), with.clock);
    let (recall, remember) = tool::memory_tools(&Memory::new(log.clone()), with.clock);
    let seams = Seams {
        models: models(used, with.pace)?,
        tools: with.tools.with(recall)?.with(remember)?.with(search)?,
        limits: Limits::new(config.models.iter().map(limit), rate.and_then(shared_rate)),
        log,
        clock: with.clock,
        cancel_grace: config.server.cancel_grace,
    };
    Ok((seams, collections))
}

/// The file in the store's folder that holds everything.
pub(crate) fn store_file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

fn open(store: &Store) -> Result<Arc<dyn Log>, Error> {
    let folder = match store {
        Store::Memory => return Ok(Arc::new(MemoryLog::default())),
        Store::Folder(folder) => folder,
    };
    let unusable = |reason: String| Error::Store { folder: folder.clone(), reason };
    std::fs::create_dir_all(folder).map_err(|error| unusable(error.to_string()))?;
    let log = SqliteLog::open(&store_file(folder));
    Ok(Arc::new(log.map_err(|error: log::Error| unusable(error.to_string()))?))
}

#[cfg(test)]
mod tests {
    use consort_core::draft::{Draft, Request};
    use consort_core::mistake::Mistake;
    use consort_tools::Tool;

    use super::*;

    fn config(text: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("consort.toml");
        std::fs::write(&path, text).unwrap();
        Config::load(&path, &|_| None).unwrap()
    }

    fn plan(config: &Config, request: Request) -> Result<Compiled, Vec<Mistake>> {
        super::plan(config, &tools(config, Clock::system()).unwrap(), request)
    }

    fn build(config: &Config, run: &Compiled) -> Result<Engine, Error> {
        let clock = Clock::system();
        engine(config, run, &Store::Memory, Surroundings { tools: tools(config, clock)?, clock, pace: Duration::ZERO })
    }

    fn said(mistakes: Vec<Mistake>) -> Vec<String> {
        mistakes.iter().map(ToString::to_string).collect()
    }

    const MODELS: &str = "[models.a]\nprovider = 'demo'\nmodel = 'm'\nfallback = ['b', 'c']\n\
        [models.b]\nprovider = 'gemini'\nmodel = 'm'\n[models.c]\nprovider = 'demo'\nmodel = 'm'\n";

    #[test]
    fn tools_that_are_elsewhere_are_told_apart_from_tools_that_do_not_exist() {
        let tools = "['calculator', 'memory_read', 'kitchen.stock', 'datetime']";
        let task = format!(
            "[ensemble]\nname = 'x'\n[[ensemble.task]]\ndescription = 'y'\ntools = {tools}\nhandler = 'json'\n"
        );
        let config = config(&format!("{MODELS}{task}"));
        let elsewhere = "is a tool of another ensemble, which only a server can use: `consort serve`";
        let mistakes = said(plan(&config, Request::default()).unwrap_err());
        assert_eq!(mistakes, [format!("tasks[0].tools[2]: `kitchen.stock` {elsewhere}")]);
    }

    #[test]
    fn a_task_may_list_what_the_run_does_itself() {
        let given = ["memory_list", "memory_read", "memory_write", "read_result", "run_subtask", "search_collections"];
        let task = format!("[ensemble]\nname = 'x'\n[[ensemble.task]]\ndescription = 'y'\ntools = {given:?}\n");
        let run = plan(&config(&format!("{MODELS}[run.budget]\nmax_depth = 1\n{task}")), Request::default()).unwrap();
        assert_eq!(run.belt.keys().collect::<Vec<_>>(), given);
    }

    #[tokio::test]
    async fn a_tool_that_may_be_on_a_server_that_is_away_is_told_with_the_reason() {
        let task = "[ensemble]\nname = 'x'\n[[ensemble.task]]\ndescription = 'y'\ntools = ['append_line']\n";
        let config = config(&format!("{MODELS}[mcp.files]\ncommand = 'no-such-program'\n{task}"));
        let (servers, tools) = connect(&config, &|_| None, Toolbox::default()).unwrap();
        servers.settled(START_MAX).await;
        let mistakes = said(super::plan(&config, &tools, Request::default()).unwrap_err());
        let away = "the MCP server `files` is not available: it could not be started: ";
        let expected = format!("tasks[0].tools[0]: there is no tool `append_line` at the moment; {away}");
        assert!(mistakes.len() == 1 && mistakes[0].starts_with(&expected), "{mistakes:?}");
    }

    #[test]
    fn tasks_of_a_request_obey_the_file_even_without_an_ensemble() {
        let config =
            config(&format!("{MODELS}[run.budget]\nmax_total_llm_calls = 7\n[server]\nreview_timeout = '9s'\n"));
        let tasks = Some(vec![Draft { description: "y".to_owned(), ..Draft::default() }]);
        let spec = plan(&config, Request { tasks, ..Request::default() }).unwrap().spec;
        assert_eq!((spec.name.as_str(), spec.limits.llm_calls, spec.review.timeout_ms), ("run", 7, 9_000));
        let nothing = said(plan(&config, Request::default()).unwrap_err());
        assert_eq!(nothing, ["no ensemble is configured: send `tasks` of your own"]);
    }

    #[test]
    fn an_engine_has_what_its_run_uses_and_a_key_that_cannot_be_sent_is_told() {
        let http = "[tools.http.stock]\ndescription = 'd'\nurl = 'http://127.0.0.1:1/x'\neffect = 'read'\nlock = 'l'\n\
            [tools.http.other]\ndescription = 'd'\nurl = 'http://127.0.0.1:1/y'\n";
        let task = "[ensemble]\nname = 'x'\n[[ensemble.task]]\ndescription = 'y'\ntools = ['stock', 'calculator', 'human_input']\n";
        let good = config(&format!("{MODELS}{http}{task}"));
        let run = plan(&good, Request::default()).unwrap();
        let built = build(&good, &run).unwrap();
        let names: Vec<&str> = built.seams().tools.names().collect();
        let always = ["memory_recall", "memory_store", "search_collections"];
        let expected = [&["calculator", "datetime", "json", "http_fetch", "stock", "other"][..], &always].concat();
        assert_eq!(names, expected, "without a workspace there are no file tools, without a service no search");
        let stock = built.seams().tools.get("stock").unwrap().info();
        assert_eq!(stock, &good.tools.http[0].info, "the tool is what the run was told it is");

        let key = "[models.a]\nprovider = 'openai'\nmodel = 'm'\napi_key = \"a\\u0001b\"\n";
        let bad = config(&format!("{key}{}", task.replace("'stock', ", "")));
        let run = plan(&bad, Request::default()).unwrap();
        let error = build(&bad, &run).err().unwrap();
        assert_eq!(error.to_string(), "models.a: api_key holds characters that cannot be sent");
    }
}
