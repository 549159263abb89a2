//! `GET /api/capabilities`: what a request can choose from.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use consort_core::draft::Draft;
use consort_core::template;
use consort_net::wire::{Capability, CapabilityKind};
use consort_runtime::tool::Tool;
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
    let tools = catalog.tools.iter().map(|tool| json!({ "name": tool.name, "description": tool.description }));
    let tools = tools.chain(site.engine().seams().tools.live().map(|tool| live(&*tool)));
    let models = catalog.models.iter().map(|model| json!({ "alias": model.alias, "provider": model.provider }));
    let tasks: Vec<Value> = site.server.ensemble.tasks.iter().map(task).collect();
    let (shared_tasks, shared_tools): (Vec<Capability>, Vec<Capability>) =
        site.server.network.shared().into_iter().partition(|shared| shared.kind == CapabilityKind::Task);
    json!({ "tools": tools.collect::<Vec<_>>(), "models": models.collect::<Vec<_>>(),
        "preconfiguredTasks": tasks, "sharedTasks": shared_tasks, "sharedTools": shared_tools })
}

/// A tool that comes and goes, with why it cannot be called at the moment if so.
fn live(tool: &dyn Tool) -> Value {
    let mut view = json!({ "name": tool.info().name, "description": tool.info().description });
    if let (Some(reason), Value::Object(view)) = (tool.trouble(), &mut view) {
        view.insert("unavailable".to_owned(), json!(reason));
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
