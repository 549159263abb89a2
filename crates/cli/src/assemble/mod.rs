//! From a configuration to the library's builder, which puts everything
//! together; and a request compiled against what the file names (`plan`).

mod cluster;
mod mcp;
mod models;
mod plan;
mod tools;

use std::path::PathBuf;
use std::time::Duration;

use consort::{Ensemble, EnsembleBuilder, ServerBuilder};
use consort_chat::Chats;
use consort_config::{self as config, Builtin, Config, Share, ShareKind};
use consort_core::compile::Compiled;
use consort_core::dynamic::NETWORK;
use consort_core::own_tool::OwnTool;
use consort_log::cluster::{JoinError, Joined};
use consort_models::OptionsError;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_tools::{self as tool, HttpToolError, Toolbox};

pub(crate) use self::cluster::{Known, join};
pub(crate) use self::mcp::{START_MAX, connect, warnings};
use self::models::embedder;
pub(crate) use self::models::model;
use self::plan::ensemble;
pub(crate) use self::plan::plan;
pub(crate) use self::tools::{sandbox, tools};

/// The time that sending the last spans of a process may take.
const FLUSH_MAX: Duration = Duration::from_secs(5);

/// The hint when a folder cannot be used.
pub(crate) const NOT_KEPT: &str =
    "nothing can be kept (several commands can use one folder while `consort serve` does)";

/// The storage of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// In memory: lost with the process.
    Memory,
    /// In this folder.
    Folder(PathBuf),
}

/// The reason why there is no engine, by the entry that must be corrected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The folder cannot be used, or another process uses it.
    #[error("cannot use the data folder {}: {reason}", folder.display())]
    Store {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The command works in this process, and everything is kept in a database that servers share.
    #[error(
        "cluster.url: servers share this database, and a command of its own cannot work on it: start one with `consort serve` and give its address with --url"
    )]
    Shared,
    /// An entry of the file that the library refuses.
    #[error(transparent)]
    Refused(consort::Error),
    /// The embedding model.
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
        /// The reason.
        reason: String,
    },
    /// An OpenAPI document.
    #[error("{key}: {reason}")]
    OpenApi {
        /// The key of the file.
        key: String,
        /// The reason.
        reason: String,
    },
    /// An MCP server's entry.
    #[error(transparent)]
    Mcp(#[from] tool::mcp::Error),
    /// Two tools have one name.
    #[error(transparent)]
    Toolbox(#[from] tool::Unfit),
    /// The folder of the file tools.
    #[error("cannot use the workspace {}: {reason}", folder.display())]
    Workspace {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The nodes that share a database.
    #[error(transparent)]
    Cluster(#[from] JoinError),
    /// The machine has no working HTTP client.
    #[error("no HTTP client: {0}")]
    Client(String),
}

impl From<consort::Error> for Error {
    fn from(error: consort::Error) -> Error {
        if let consort::Error::Store { path, reason } = &error {
            return Error::Store { folder: path.clone(), reason: reason.clone() };
        }
        Error::Refused(error)
    }
}

/// The parts that a run needs besides its configuration.
pub(crate) struct RunParts {
    /// The tools that agents can call.
    pub(crate) tools: Toolbox,
    /// The delay between tokens of the demo model.
    pub(crate) pace: Duration,
    /// The nodes that this one is one of.
    pub(crate) known: Known,
}

/// Builds the engine for one run, with the models it may ask.
pub(crate) fn engine(config: &Config, run: &Compiled, store: &Store, with: &RunParts) -> Result<Engine, Error> {
    let used = config.models.iter().filter(|model| run.models.contains_key(&model.info.alias));
    Ok(with_models(builder(config, store, with)?, used, with.pace).build()?.engine().clone())
}

fn with_models<'a>(
    builder: EnsembleBuilder,
    models: impl Iterator<Item = &'a config::Model>,
    pace: Duration,
) -> EnsembleBuilder {
    models.fold(builder, |builder, entry| builder.model(&entry.info.alias, model(entry, pace)))
}

/// Creates the chat service from the configuration.
pub(crate) fn chats(config: &Config, store: &Store, with: &RunParts) -> Result<Chats, Error> {
    Ok(host(config, store, with)?.chats()?)
}

/// Builds a server over everything the configuration names, for this machine alone.
pub(crate) fn server(config: &Config, store: &Store, with: &RunParts) -> Result<Server, Error> {
    let server = host(config, store, with)?.direct(config.tools.direct.iter().copied());
    let server = server.drain_timeout(config.server.drain_timeout).unbound()?;
    Ok(Server { push_reach: tools::reach(config), ..server })
}

/// Creates the builder of a server with all settings of the configuration.
fn host(config: &Config, store: &Store, with: &RunParts) -> Result<ServerBuilder, Error> {
    let server = &config.server;
    let chat = &config.chat;
    let builder = with_models(builder(config, store, with)?, config.models.iter(), with.pace)
        .max_concurrent_runs(server.max_concurrent_runs, server.max_queued_runs)
        .max_retained_runs(server.max_retained_completed_runs)
        .max_concurrent_turns(chat.max_concurrent_turns)
        .max_concurrent_requests(config.network.max_concurrent);
    let builder = server.trace_dir.iter().fold(builder, |builder, folder| builder.trace_dir(folder));
    let providers = chat.mcp.iter().cloned().chain([NETWORK.to_owned()]);
    let host = shared(config, with, builder).build()?.server();
    let host = config.schedules.iter().cloned().fold(host, ServerBuilder::schedule);
    let host = config.webhooks.iter().cloned().fold(host, ServerBuilder::webhook);
    let host = config.hooks.iter().cloned().fold(host, ServerBuilder::hook);
    let host = host.chat(chat.rules.clone()).detach_grace(chat.detach_grace).chat_providers(providers);
    let host = config.openai.aux_model.iter().fold(host, |host, alias| host.aux_model(alias));
    Ok(tools::workspace(config)?.into_iter().fold(host, ServerBuilder::chat_workspace))
}

/// Creates the builder that every ensemble of this configuration begins with.
fn builder(config: &Config, store: &Store, with: &RunParts) -> Result<EnsembleBuilder, Error> {
    let builder = Ensemble::builder()
        .template(ensemble(config))
        .toolbox(&with.tools)
        .cancel_grace(config.server.cancel_grace)
        .network(config.network.options.clone());
    let builder = match (store, &with.known) {
        (Store::Memory, _) => builder,
        (Store::Folder(folder), Known::Among(joined)) => builder.keep_shared(Joined::clone(joined), folder),
        (Store::Folder(folder), Known::Alone(identity)) => builder.keep_in_folder(folder).known_as(identity.clone()),
        (Store::Folder(_), Known::Unknown) if config.cluster.shared.is_some() => {
            return Err(Error::Shared);
        }
        (Store::Folder(folder), Known::Unknown) => builder.keep_in_folder(folder),
    };
    let rate = config.template.as_ref().and_then(|template| template.rate);
    let builder = rate.into_iter().fold(builder, EnsembleBuilder::rate);
    let builder = embedder(config)?.into_iter().fold(builder, EnsembleBuilder::embedder);
    let builder = config.telemetry.clone().into_iter().fold(builder, EnsembleBuilder::telemetry);
    let asks = config.tools.builtin.contains(&Builtin::HumanInput);
    Ok(if asks { builder } else { builder.without_human_input() })
}

/// Lets peers use what the file shares. A tool that only a server of the file
/// may have is not shared: it comes and goes.
fn shared(config: &Config, with: &RunParts, builder: EnsembleBuilder) -> EnsembleBuilder {
    let is_there = |share: &&Share| match share.kind {
        ShareKind::Tool => {
            let own = [OwnTool::HumanInput, OwnTool::SearchCollections].map(OwnTool::name);
            with.tools.get(&share.target).is_some() || own.contains(&share.target.as_str())
        }
        ShareKind::Task | ShareKind::Workflow => true,
    };
    let shares = config.template.iter().flat_map(|template| &template.shares).filter(is_there);
    shares.fold(builder, |builder, share| {
        let tags = share.tags.iter().map(String::as_str);
        let builder = match share.kind {
            ShareKind::Tool => builder.share_tool_as(&share.name, &share.target, tags),
            ShareKind::Task => builder.share_task_as(&share.name, &share.target, tags),
            ShareKind::Workflow => builder.share_workflow_as(&share.name, &share.target),
        };
        builder.share_owner(&share.name, &share.owner)
    })
}

/// Sends what is left to the collector before the process ends.
pub(crate) async fn flush(engine: &Engine) {
    if let Some(telemetry) = engine.telemetry() {
        telemetry.close(FLUSH_MAX).await;
    }
}

#[cfg(test)]
mod tests {
    use consort_core::draft::{Draft, Request};
    use consort_core::mistake::Mistake;
    use consort_tools::{Needs, Tool};

    use super::*;

    fn config(text: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("consort.toml");
        std::fs::write(&path, text).unwrap();
        Config::load(&path, &|_| None).unwrap()
    }

    fn plan(config: &Config, request: Request) -> Result<Compiled, Vec<Mistake>> {
        super::plan(config, &tools(config).unwrap(), request)
    }

    fn build(config: &Config, run: &Compiled) -> Result<Engine, Error> {
        engine(
            config,
            run,
            &Store::Memory,
            &RunParts { tools: tools(config)?, pace: Duration::ZERO, known: Known::Unknown },
        )
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
        let free = Builtin::ALL.iter().filter(|builtin| matches!(builtin.needs(), Needs::Nothing | Needs::Web));
        let free: Vec<&str> = free.map(|builtin| builtin.name()).collect();
        let expected = [&free[..], &["stock", "other"], &always].concat();
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
