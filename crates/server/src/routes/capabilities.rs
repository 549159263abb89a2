//! `GET /api/capabilities`: the models, tools and roles a request can choose from.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use consort_core::catalog::{EffectClass, ModelInfo, Permission, ToolInfo};
use consort_core::draft::Draft;
use consort_core::dynamic::NETWORK;
use consort_core::template::{self, Inputs};
use consort_core::view::PriceView;
use consort_net::wire::{Capability, CapabilityKind};
use consort_tools::DynamicToolProvider;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Site;
use crate::access::Scope;
use crate::endpoint::{Endpoint, Tag, Whose, get};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/capabilities", capabilities)
            .named(Tag::Tools, "capabilities", "List the models, tools and limits there are")
            .needs(Scope::Read, Whose::Shared)
            .answers::<Capabilities>(StatusCode::OK, "Tools, models, tasks and what is shared."),
    ]
}

/// Everything that a request can choose from.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Capabilities {
    tools: Vec<ToolView>,
    models: Vec<ModelView>,
    preconfigured_tasks: Vec<TaskView>,
    /// The default values of template variables.
    inputs: Inputs,
    shared_tasks: Vec<Capability>,
    shared_tools: Vec<Capability>,
    /// Servers whose tools come and go.
    mcp_servers: Vec<McpServer>,
}

/// A tool that agents can be given.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Tool")]
struct ToolView {
    name: String,
    description: String,
    permission: Permission,
    effect: EffectClass,
    /// A JSON Schema.
    input_schema: Value,
    /// Whether it may be called directly.
    direct: bool,
    /// The reason why it cannot be called at the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
}

/// A model that agents can ask.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Model")]
struct ModelView {
    alias: String,
    provider: String,
    context_tokens: u64,
    max_output_tokens: u64,
    tools: bool,
    parallel_tool_calls: bool,
    retries: u32,
    fallback: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<PriceView>,
}

/// A configured task.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PreconfiguredTask")]
struct TaskView {
    description: String,
    tools: Vec<String>,
    /// The variables in its texts.
    variables: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

/// A server whose tools come and go.
#[derive(Serialize, JsonSchema)]
struct McpServer {
    name: String,
    /// Names of its tools.
    tools: Vec<String>,
    /// The reason why none of them can be called at the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
}

async fn capabilities(State(site): State<Arc<Site>>) -> Json<Capabilities> {
    Json(told(&site))
}

/// Returns everything that a request can choose from.
pub(crate) fn told(site: &Site) -> Capabilities {
    let catalog = &site.server.catalog;
    let direct = &site.server.direct;
    let toolbox = &site.engine().seams().tools;
    let configured = catalog.tools.iter().map(|info| tool(info, direct, None));
    let live = toolbox.live().map(|found| tool(found.info(), direct, found.trouble()));
    let network = toolbox.providers().filter(|provider| provider.name() == NETWORK);
    let peers = network.flat_map(|provider| provider.resolve());
    let peers = peers.map(|found| tool(found.info(), direct, found.trouble()));
    let ensemble = &site.server.ensemble;
    let (shared_tasks, shared_tools): (Vec<Capability>, Vec<Capability>) =
        site.server.network.shared().into_iter().partition(|shared| shared.kind == CapabilityKind::Task);
    let servers = toolbox.providers().filter(|provider| provider.name() != NETWORK);
    Capabilities {
        tools: configured.chain(live).chain(peers).collect(),
        models: catalog.models.iter().map(|info| model(info)).collect(),
        preconfigured_tasks: ensemble.tasks.iter().map(task).collect(),
        inputs: ensemble.inputs.clone(),
        shared_tasks,
        shared_tools,
        mcp_servers: servers.map(|provider| mcp_server(&**provider)).collect(),
    }
}

/// Returns the view of an MCP server, with the reason why its tools cannot be called,
/// if so.
fn mcp_server(provider: &dyn DynamicToolProvider) -> McpServer {
    let tools = provider.resolve().iter().map(|tool| tool.info().name.clone()).collect();
    McpServer { name: provider.name().to_owned(), tools, unavailable: provider.trouble() }
}

/// Returns the view of a tool, with the reason why it cannot be called at the moment, if there is one.
fn tool(info: &ToolInfo, direct: &[Permission], unavailable: Option<String>) -> ToolView {
    ToolView {
        name: info.name.clone(),
        description: info.description.clone(),
        permission: info.permission,
        effect: info.effect,
        input_schema: info.schema.json().clone(),
        direct: info.check_direct(direct).is_ok(),
        unavailable,
    }
}

fn model(info: &ModelInfo) -> ModelView {
    ModelView {
        alias: info.alias.clone(),
        provider: info.provider.clone(),
        context_tokens: info.context_tokens,
        max_output_tokens: info.max_output_tokens,
        tools: info.tools,
        parallel_tool_calls: info.parallel_tool_calls,
        retries: info.retries,
        fallback: info.fallback.clone(),
        price: info.price.map(PriceView::from),
    }
}

fn task(task: &Draft) -> TaskView {
    TaskView {
        description: task.description.clone(),
        tools: task.tools.clone(),
        variables: variables(task).into_iter().map(str::to_owned).collect(),
        name: task.name.clone(),
    }
}

/// Returns the variables of all texts that are resolved, each once, in their order.
pub(crate) fn variables(task: &Draft) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in task.texts().flat_map(template::variables) {
        // What a list brings is no input.
        let of_item = task.each.list.is_some() && template::is_of_item(name);
        if !of_item && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
