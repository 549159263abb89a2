//! A request compiled against the available models and tools. A name that is valid but
//! unavailable is a mistake only for the runs that need it.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_config::{Builtin, Config, is_given, millis};
use consort_core::catalog::ToolInfo;
use consort_core::compile::{Catalog, Compiled, compile};
use consort_core::draft::{Draft, Ensemble, Request};
use consort_core::dynamic::{Dynamic, NETWORK};
use consort_core::mistake::{Code, Mistake};
use consort_core::own_tool::OwnTool;
use consort_core::spec::{Review, Spec, Task};
use consort_tools::Toolbox;

/// The name of a run without an ensemble.
const NAMELESS: &str = "run";

/// Turns a request into a run of the configured ensemble, or of its own tasks.
pub(crate) fn plan(config: &Config, tools: &Toolbox, request: Request) -> Result<Compiled, Vec<Mistake>> {
    let ensemble = ensemble(config);
    let absent = absent_tools(tools, &ensemble, &request);
    let mut catalog = catalog_with(config, tools, absent.keys());
    catalog.tools.push(stored());
    let compiled = compile(&ensemble, request, &catalog)?;
    let mistakes = needed_but_absent(&compiled.spec, &absent);
    if mistakes.is_empty() { Ok(compiled) } else { Err(mistakes) }
}

/// Returns the ensemble that requests run: the configured one, or one without tasks.
pub(super) fn ensemble(config: &Config) -> Ensemble {
    let template = config.template.as_ref();
    template.map_or_else(|| nameless(config), |template| template.ensemble.clone())
}

/// Returns the catalog that requests can always choose from.
fn catalog(config: &Config, tools: &Toolbox) -> Catalog {
    let models = config.models.iter().map(|model| model.info.clone());
    let asks = config.tools.builtin.contains(&Builtin::HumanInput).then(|| OwnTool::HumanInput.info());
    let mut catalog = tools.catalog(models);
    catalog.tools.extend(asks);
    catalog
}

/// Returns the defaults for requests that bring their own tasks when there is no ensemble.
fn nameless(config: &Config) -> Ensemble {
    let review = Review {
        timeout_ms: millis(config.server.review_timeout),
        on_timeout: config.server.on_timeout,
        ..Review::default()
    };
    Ensemble { name: NAMELESS.to_owned(), review, limits: config.run_limits, ..Ensemble::default() }
}

/// Returns the tools that are named and unavailable, each with the reason.
fn absent_tools(tools: &Toolbox, ensemble: &Ensemble, request: &Request) -> BTreeMap<String, String> {
    let tasks = ensemble.tasks.iter().chain(request.tasks.iter().flatten());
    let changes = request.overrides.iter().flatten();
    let changed = changes.flat_map(|(_, change)| change.add_tools.iter().chain(&change.remove_tools));
    let named = tasks.flat_map(|task: &Draft| {
        task.tools.iter().chain(&task.handler).chain(&task.input_guardrails).chain(&task.output_guardrails)
    });
    let named = named.chain(changed).filter(|name| tools.find(name).is_none() && **name != stored().name);
    named.filter_map(|name| Some((name.clone(), absent_tool(tools, name)?))).collect()
}

/// Returns everything that may be named, available or not, so that an unavailable name
/// is distinguished from an unknown one.
fn catalog_with<'a>(config: &Config, tools: &Toolbox, absent: impl Iterator<Item = &'a String>) -> Catalog {
    let absent = absent.map(|name| Arc::new(ToolInfo::new(name, "")));
    let mut catalog = catalog(config, tools);
    catalog.tools.extend(tools.live().map(|tool| tool.info().clone()).chain(absent));
    catalog
}

/// Returns the tool that comes with the store, and so without any configuration.
fn stored() -> Arc<ToolInfo> {
    OwnTool::SearchCollections.info()
}

/// Returns the reason why a tool that the file allows is unavailable.
fn absent_tool(tools: &Toolbox, name: &str) -> Option<String> {
    let group = Dynamic::parse(name).map(Dynamic::provider);
    let troubles: Vec<String> = tools.providers().filter_map(|provider| provider.trouble()).collect();
    match group {
        // The run does it itself; a tool that is switched off is unknown.
        _ if Builtin::named(name).is_some() || is_given(name) => None,
        Some(None | Some(NETWORK)) => {
            Some(format!("`{name}` is a tool of another ensemble, which only a server can use: `consort serve`"))
        }
        // Only the existence of such a provider is known, not its tools.
        Some(Some(_)) => None,
        None if troubles.is_empty() => None,
        None => Some(format!("there is no tool `{name}` at the moment; {}", troubles.join("; "))),
    }
}

/// Returns a mistake for each tool that the run needs and that is unavailable.
fn needed_but_absent(spec: &Spec, absent: &BTreeMap<String, String>) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for (index, task) in spec.tasks.iter().enumerate() {
        for (key, name) in tools_of(task) {
            if let Some(message) = absent.get(name) {
                mistakes.push(Mistake::new(Code::InvalidTool, format!("tasks[{index}].{key}"), message));
            }
        }
    }
    mistakes
}

/// Returns every tool that a task names, with its key.
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
