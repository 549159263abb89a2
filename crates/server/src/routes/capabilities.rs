//! `GET /api/capabilities`: what a request can choose from.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use consort_core::catalog::{ModelInfo, Permission, ToolInfo};
use consort_core::draft::Draft;
use consort_core::dynamic::NETWORK;
use consort_core::own_tool::OwnTool;
use consort_core::template;
use consort_net::wire::{Capability, CapabilityKind};
use consort_tools::{DynamicToolProvider, Tool};
use serde_json::{Value, json};

use crate::Site;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/capabilities", get(capabilities))
}

async fn capabilities(State(site): State<Arc<Site>>) -> Json<Value> {
    Json(told(&site))
}

/// Everything there is to choose from.
pub(crate) fn told(site: &Site) -> Value {
    let catalog = &site.server.catalog;
    let direct = &site.server.direct;
    let tools = catalog.tools.iter().map(|info| tool(info, direct));
    let tools = tools.chain(site.engine().seams().tools.live().map(|found| live(&*found, direct)));
    let models = catalog.models.iter().map(|info| model(info));
    let ensemble = &site.server.ensemble;
    let tasks: Vec<Value> = ensemble.tasks.iter().map(task).collect();
    let (shared_tasks, shared_tools): (Vec<Capability>, Vec<Capability>) =
        site.server.network.shared().into_iter().partition(|shared| shared.kind == CapabilityKind::Task);
    let servers = site.engine().seams().tools.providers().filter(|provider| provider.name() != NETWORK);
    let servers: Vec<Value> = servers.map(|provider| mcp_server(&**provider)).collect();
    json!({ "tools": tools.collect::<Vec<_>>(), "models": models.collect::<Vec<_>>(), "preconfiguredTasks": tasks,
        "inputs": ensemble.inputs, "sharedTasks": shared_tasks, "sharedTools": shared_tools, "mcpServers": servers })
}

/// A server whose tools come and go, with why none of them can be called if so.
fn mcp_server(provider: &dyn DynamicToolProvider) -> Value {
    let tools: Vec<String> = provider.resolve().iter().map(|tool| tool.info().name.clone()).collect();
    let mut view = json!({ "name": provider.name(), "tools": tools });
    if let (Some(reason), Value::Object(view)) = (provider.trouble(), &mut view) {
        view.insert("unavailable".to_owned(), json!(reason));
    }
    view
}

/// A tool that comes and goes, with why it cannot be called at the moment if so.
fn live(found: &dyn Tool, direct: &[Permission]) -> Value {
    let mut view = tool(found.info(), direct);
    if let (Some(reason), Value::Object(view)) = (found.trouble(), &mut view) {
        view.insert("unavailable".to_owned(), json!(reason));
    }
    view
}

fn tool(info: &ToolInfo, direct: &[Permission]) -> Value {
    json!({ "name": info.name, "description": info.description, "permission": info.permission, "effect": info.effect,
        "inputSchema": info.schema.json(), "direct": direct.contains(&info.permission) && info.as_own() != Some(OwnTool::HumanInput) })
}

fn model(info: &ModelInfo) -> Value {
    let mut view = json!({ "alias": info.alias, "provider": info.provider, "contextTokens": info.context_tokens,
        "maxOutputTokens": info.max_output_tokens, "tools": info.tools, "parallelToolCalls": info.parallel_tool_calls,
        "retries": info.retries, "fallback": info.fallback });
    if let (Some(price), Value::Object(view)) = (info.price, &mut view) {
        view.insert("price".to_owned(), price.view());
    }
    view
}

fn task(task: &Draft) -> Value {
    let mut view = json!({ "description": task.description, "tools": task.tools, "variables": variables(task) });
    if let (Some(name), Value::Object(view)) = (&task.name, &mut view) {
        view.insert("name".to_owned(), json!(name));
    }
    view
}

/// The variables of everything that is resolved, each once, in their order.
fn variables(task: &Draft) -> Vec<&str> {
    let agent = task.agent.iter().flat_map(|agent| [Some(&agent.role), Some(&agent.goal), Some(&agent.background)]);
    let texts = [Some(&task.description), task.expected_output.as_ref(), task.additional_context.as_ref()];
    let mut names: Vec<&str> = Vec::new();
    for name in texts.into_iter().chain(agent).flatten().flat_map(|text| template::variables(text)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
