//! From a configuration to what does its work: a request compiled against what
//! this version has, and an engine with the models, tools and store of a run.
//! What a file may name and this version does not have is a mistake only for
//! the runs that need it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{ModelInfo, ToolInfo};
use consort_core::compile::{Catalog, Compiled, compile};
use consort_core::draft::{Draft, Ensemble, Request};
use consort_core::mistake::{Code, Mistake};
use consort_core::spec::{Review, Spec, Task};
use consort_core::subtask;
use consort_runtime::clock::Clock;
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_runtime::limits::{self, Limits, ModelLimit};
use consort_runtime::log::{self, Log, MemoryLog, SqliteLog};
use consort_runtime::memory::Memory;
use consort_runtime::model::openai::{OpenAi, OpenAiOptions, OptionsError};
use consort_runtime::model::{self, DemoModel, ModelCatalog};
use consort_runtime::tool::{self, Calculator, HttpTool, HttpToolError, HttpToolOptions, Tool, Toolbox};

use crate::config::{Builtin, Config, GIVEN, Model, Provider, Rate, is_remote};

/// The file that holds everything, in the store's folder.
const FILE: &str = "consort.db";
/// How a run is called that has no ensemble.
const NAMELESS: &str = "run";

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
    /// A tool's entry.
    #[error("tools: {0}")]
    Tool(#[from] HttpToolError),
    /// Two tools have one name.
    #[error(transparent)]
    Toolbox(#[from] tool::Unfit),
    /// Two models have one alias.
    #[error(transparent)]
    Catalog(#[from] model::Unfit),
    /// The machine: nothing can be sent from it.
    #[error("no HTTP client: {0}")]
    Client(String),
}

/// Turns a request into a run of the configured ensemble, or of its own tasks.
pub(crate) fn plan(config: &Config, request: Request) -> Result<Compiled, Vec<Mistake>> {
    let template = config.template.as_ref();
    let ensemble = template.map_or_else(|| nameless(config), |template| template.ensemble.clone());
    let absent = absent_tools(config, &ensemble, &request);
    let mut compiled = compile(&ensemble, request, &catalog(config, absent.keys()))?;
    let mistakes = needed_but_absent(config, &compiled.spec, &absent);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    compiled.warnings.extend(absent_fallbacks(config, &compiled));
    Ok(compiled)
}

/// The engine for one run; `pace` is how fast the demo model speaks.
pub(crate) fn engine(config: &Config, run: &Compiled, store: &Store, pace: Duration) -> Result<Engine, Error> {
    let used = config.models.iter().filter(|model| run.models.contains_key(&model.info.alias));
    let limit = |model: &Model| (model.info.alias.clone(), model_limit(model));
    let rate = config.template.as_ref().and_then(|template| template.rate);
    let (log, clock) = (open(store)?, Clock::system());
    Ok(Engine::new(Seams {
        models: models(used, pace)?,
        tools: toolbox(config, run, &Memory::new(log.clone()), clock)?,
        limits: Limits::new(config.models.iter().map(limit), rate.and_then(shared_rate)),
        log,
        clock,
        cancel_grace: config.server.cancel_grace,
    }))
}

/// What holds for requests that bring their own tasks when there is no ensemble.
fn nameless(config: &Config) -> Ensemble {
    let review = Review {
        timeout_ms: u64::try_from(config.server.review_timeout.as_millis()).unwrap_or(u64::MAX),
        on_timeout: config.server.on_timeout,
        ..Review::default()
    };
    Ensemble { name: NAMELESS.to_owned(), review, limits: config.run_limits, ..Ensemble::default() }
}

/// The tools that are named and that this version does not have, and why.
fn absent_tools(config: &Config, ensemble: &Ensemble, request: &Request) -> BTreeMap<String, String> {
    let tasks = ensemble.tasks.iter().chain(request.tasks.iter().flatten());
    let changes = request.overrides.iter().flatten();
    let changed = changes.flat_map(|(_, change)| change.add_tools.iter().chain(&change.remove_tools));
    let named = tasks.flat_map(|task: &Draft| {
        task.tools.iter().chain(&task.handler).chain(&task.input_guardrails).chain(&task.output_guardrails)
    });
    named.chain(changed).filter_map(|name| Some((name.clone(), absent_tool(config, name)?))).collect()
}

/// Everything that may be named, present or not, so that naming what is absent
/// is told apart from naming what does not exist.
fn catalog<'a>(config: &Config, absent: impl Iterator<Item = &'a String>) -> Catalog {
    let mut tools: Vec<Arc<ToolInfo>> = Vec::new();
    if config.tools.builtin.contains(&Builtin::Calculator) {
        tools.push(Calculator::default().info().clone());
    }
    tools.extend(config.tools.http.iter().map(|tool| tool.info.clone()));
    tools.extend(absent.map(|name| Arc::new(ToolInfo::new(name, ""))));
    Catalog { models: config.models.iter().map(|model| present(config, &model.info)).collect(), tools }
}

/// The model as it falls back in this version.
fn present(config: &Config, info: &Arc<ModelInfo>) -> Arc<ModelInfo> {
    let mut info = ModelInfo::clone(info);
    info.fallback.retain(|alias| provider(config, alias).is_none_or(is_present));
    Arc::new(info)
}

fn provider(config: &Config, alias: &str) -> Option<Provider> {
    config.models.iter().find(|model| model.info.alias == alias).map(|model| model.provider)
}

fn is_present(provider: Provider) -> bool {
    match provider {
        Provider::OpenAi | Provider::Demo => true,
        Provider::Anthropic | Provider::Gemini => false,
    }
}

/// Why a tool that the file allows is not there.
fn absent_tool(config: &Config, name: &str) -> Option<String> {
    let not_yet = |what: &str| Some(format!("{what} not in this version of Consort yet"));
    let builtin = Builtin::named(name).filter(|builtin| config.tools.builtin.contains(builtin));
    let servers: Vec<&str> = config.mcp.iter().map(|server| server.name.as_str()).collect();
    match builtin {
        // People are asked by the run itself.
        Some(Builtin::Calculator | Builtin::HumanInput) => None,
        Some(_) => not_yet(&format!("the tool `{name}` is")),
        None if name == subtask::RUN || config.tools.names().any(|known| known == name) => None,
        None if GIVEN.contains(&name) => not_yet(&format!("the tool `{name}` is")),
        None if is_remote(name) => not_yet(&format!("`{name}` is a tool of another ensemble; those are")),
        None if Builtin::named(name).is_some() || servers.is_empty() => None,
        None => not_yet(&format!("`{name}` can only be a tool of an MCP server ({}); those are", servers.join(", "))),
    }
}

/// What the run cannot do without and this version does not have.
fn needed_but_absent(config: &Config, spec: &Spec, absent: &BTreeMap<String, String>) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for (index, task) in spec.tasks.iter().enumerate() {
        let alias = task.model.as_ref().unwrap_or(&spec.model);
        let provider = provider(config, alias).filter(|provider| !is_present(*provider) && task.handler.is_none());
        if let Some(provider) = provider.map(Provider::word) {
            let message = format!(
                "the provider `{provider}` of the model `{alias}` is not in this version of Consort yet; \
                 there are `openai` and `demo`"
            );
            mistakes.push(Mistake::new(Code::InvalidModel, format!("tasks[{index}].model"), message));
        }
        for (key, name) in tools_of(task) {
            if let Some(message) = absent.get(name) {
                mistakes.push(Mistake::new(Code::InvalidTool, format!("tasks[{index}].{key}"), message));
            }
        }
    }
    mistakes
}

/// Every tool a task names, and by which key.
fn tools_of(task: &Task) -> impl Iterator<Item = (String, &str)> {
    let lists = [
        ("tools", &task.tools),
        ("input_guardrails", &task.input_guardrails),
        ("output_guardrails", &task.output_guardrails),
    ];
    let listed = lists.into_iter().flat_map(|(key, names)| {
        names.iter().enumerate().map(move |(index, name)| (format!("{key}[{index}]"), name.as_str()))
    });
    listed.chain(task.handler.as_deref().map(|name| ("handler".to_owned(), name)))
}

fn absent_fallbacks(config: &Config, run: &Compiled) -> Vec<String> {
    let used = config.models.iter().filter(|model| run.models.contains_key(&model.info.alias));
    let pairs = used.flat_map(|model| model.info.fallback.iter().map(move |alias| (&model.info.alias, alias)));
    let absent = pairs.filter_map(|(from, to)| {
        let provider = provider(config, to).filter(|provider| !is_present(*provider))?;
        let provider = provider.word();
        Some(format!("`{from}` cannot fall back to `{to}`: the provider `{provider}` is not in this version yet"))
    });
    absent.collect()
}

fn models<'a>(used: impl Iterator<Item = &'a Model>, pace: Duration) -> Result<ModelCatalog, Error> {
    let client = model::client().map_err(|error| Error::Client(error.to_string()))?;
    let mut catalog = ModelCatalog::default();
    for model in used {
        let info = ModelInfo::clone(&model.info);
        catalog = match model.provider {
            Provider::Demo => catalog.with(info, DemoModel::default().paced(pace))?,
            Provider::OpenAi => {
                let open_ai = OpenAi::new(open_ai(model), client.clone());
                catalog
                    .with(info, open_ai.map_err(|reason| Error::Model { alias: model.info.alias.clone(), reason })?)?
            }
            // A plan with one of these in use was refused.
            Provider::Anthropic | Provider::Gemini => catalog,
        };
    }
    Ok(catalog)
}

fn open_ai(model: &Model) -> OpenAiOptions {
    OpenAiOptions {
        api_key: model.api_key.as_ref().map(|key| key.reveal().to_owned()),
        parallel_tool_calls: model.info.parallel_tool_calls,
        timeout: model.timeout,
        ..OpenAiOptions::new(model.base_url.as_str(), &model.model)
    }
}

fn toolbox(config: &Config, run: &Compiled, memory: &Memory, clock: Clock) -> Result<Toolbox, Error> {
    let used = |info: &ToolInfo| run.belt.contains_key(&info.name);
    let (recall, remember) = tool::memory_tools(memory, clock);
    let mut toolbox = Toolbox::default().with(recall)?.with(remember)?;
    let calculator = Calculator::default();
    if used(calculator.info()) {
        toolbox = toolbox.with(calculator)?;
    }
    let mut http = config.tools.http.iter().filter(|tool| used(&tool.info)).peekable();
    if http.peek().is_none() {
        return Ok(toolbox);
    }
    let client = tool::http_client()?;
    for tool in http {
        let ToolInfo { name, description, schema, permission, effect, parallel_safe, lock, timeout_ms, .. } =
            ToolInfo::clone(&tool.info);
        let options = HttpToolOptions {
            input_schema: Some(schema),
            permission,
            effect,
            parallel_safe,
            lock,
            timeout_ms,
            ..HttpToolOptions::new(&name, &description, tool.url.as_str())
        };
        toolbox = toolbox.with(HttpTool::new(client.clone(), options)?)?;
    }
    Ok(toolbox)
}

fn model_limit(model: &Model) -> ModelLimit {
    let slots = u32::try_from(model.max_concurrency).ok().and_then(NonZeroU32::new);
    ModelLimit { max_concurrency: slots.unwrap_or(NonZeroU32::MAX), rate: model.rate.and_then(shared_rate) }
}

fn shared_rate(rate: Rate) -> Option<limits::Rate> {
    NonZeroU32::new(rate.count).map(|requests| limits::Rate { requests, per: rate.per })
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
    use super::*;

    fn config(text: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("consort.toml");
        std::fs::write(&path, text).unwrap();
        Config::load(&path, &|_| None).unwrap()
    }

    fn said(mistakes: Vec<Mistake>) -> Vec<String> {
        mistakes.iter().map(ToString::to_string).collect()
    }

    const MODELS: &str = "[models.a]\nprovider = 'demo'\nmodel = 'm'\nfallback = ['b', 'c']\n\
        [models.b]\nprovider = 'gemini'\nmodel = 'm'\n[models.c]\nprovider = 'demo'\nmodel = 'm'\n";

    #[test]
    fn a_fallback_that_is_not_there_is_left_out_with_a_warning() {
        let task = "[ensemble]\nname = 'x'\n[[ensemble.task]]\ndescription = 'y'\n";
        let compiled = plan(&config(&format!("{MODELS}{task}")), Request::default()).unwrap();
        assert_eq!(compiled.models.keys().collect::<Vec<_>>(), ["a", "c"]);
        let warning = "`a` cannot fall back to `b`: the provider `gemini` is not in this version yet";
        assert_eq!(compiled.warnings, [warning]);
    }

    #[test]
    fn tools_that_are_elsewhere_are_told_apart_from_tools_that_do_not_exist() {
        let tools = "['calculator', 'memory_read', 'kitchen.stock', 'append_line', 'datetime']";
        let task = format!(
            "[ensemble]\nname = 'x'\n[[ensemble.task]]\ndescription = 'y'\ntools = {tools}\nhandler = 'json'\n"
        );
        let config = config(&format!("{MODELS}[mcp.files]\ncommand = 'x'\n{task}"));
        let expected = [
            "tasks[0].tools[1]: the tool `memory_read` is not in this version of Consort yet",
            "tasks[0].tools[2]: `kitchen.stock` is a tool of another ensemble; those are not in this version of Consort yet",
            "tasks[0].tools[3]: `append_line` can only be a tool of an MCP server (files); those are not in this version of Consort yet",
            "tasks[0].tools[4]: the tool `datetime` is not in this version of Consort yet",
            "tasks[0].handler: the tool `json` is not in this version of Consort yet",
        ];
        assert_eq!(said(plan(&config, Request::default()).unwrap_err()), expected);
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
        let built = engine(&good, &run, &Store::Memory, Duration::ZERO).unwrap();
        assert_eq!(
            built.seams().tools.names().skip(2).collect::<Vec<_>>(),
            ["calculator", "stock"],
            "after memory's two"
        );
        let stock = built.seams().tools.get("stock").unwrap().info();
        assert_eq!(stock, &good.tools.http[0].info, "the tool is what the run was told it is");

        let key = "[models.a]\nprovider = 'openai'\nmodel = 'm'\napi_key = \"a\\u0001b\"\n";
        let bad = config(&format!("{key}{}", task.replace("'stock', ", "")));
        let run = plan(&bad, Request::default()).unwrap();
        let error = engine(&bad, &run, &Store::Memory, Duration::ZERO).err().unwrap();
        assert_eq!(error.to_string(), "models.a: api_key holds characters that cannot be sent");
    }
}
