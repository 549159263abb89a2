//! `GET /v1/models`: the models that can be asked.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::begin::CHAT;
use crate::Site;
use crate::access::Scope;
use crate::endpoint::{Endpoint, Tag, Whose, get};
use consort_inbound::problem::Problem;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/v1/models", list)
            .named(Tag::OpenAi, "listModels", "List the models of OpenAI's API")
            .needs(Scope::Run, Whose::Shared)
            .answers::<ModelList>(StatusCode::OK, "The chat agent, the ensemble and the saved workflows."),
    ]
}

/// The models.
#[derive(Serialize, JsonSchema)]
struct ModelList {
    #[schemars(extend("const" = "list"))]
    object: &'static str,
    data: Vec<ListedModel>,
}

/// A model.
#[derive(Serialize, JsonSchema)]
struct ListedModel {
    /// The name to ask it by.
    id: String,
    #[schemars(extend("const" = "model"))]
    object: &'static str,
    /// When it was saved, or the server started, in seconds since 1970.
    created: u64,
    #[schemars(extend("const" = "consort"))]
    owned_by: &'static str,
}

impl ListedModel {
    fn new(id: String, created_ms: u64) -> ListedModel {
        ListedModel { id, object: "model", created: created_ms / 1000, owned_by: "consort" }
    }
}

async fn list(State(site): State<Arc<Site>>) -> Result<Json<ModelList>, Problem> {
    let ensemble = &site.server.ensemble;
    let own = (!ensemble.tasks.is_empty()).then(|| ensemble.name.clone());
    let workflows = site.workflows().names().await?;
    // A name that means two things stands for neither: those have their ids.
    let is_unique = |name: &str| {
        own.as_deref() != Some(name) && workflows.iter().filter(|workflow| workflow.name == name).count() == 1
    };
    let mut data = vec![ListedModel::new(CHAT.to_owned(), site.started_at)];
    data.extend(own.iter().map(|name| ListedModel::new(format!("{CHAT}/{name}"), site.started_at)));
    for workflow in &workflows {
        let name = if is_unique(&workflow.name) { &workflow.name } else { &workflow.id };
        data.push(ListedModel::new(format!("{CHAT}/{name}"), workflow.created_at));
    }
    Ok(Json(ModelList { object: "list", data }))
}
