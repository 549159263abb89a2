//! `/api/facts`: what is remembered about the caller, to be looked at and
//! erased. Nobody sees what is remembered about somebody else.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{delete, get};
use axum::{Extension, Json, Router};
use consort_chat::facts::{DamagedFact, Fact};
use consort_core::time::iso;
use consort_runtime::engine;
use serde_json::{Value, json};

use crate::Site;
use crate::access::Caller;
use crate::problem::Problem;
use crate::query::Pairs;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/facts", get(list).delete(forget_all)).route("/api/facts/{id}", delete(forget))
}

async fn list(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    pairs: Pairs,
) -> Result<Json<Value>, Problem> {
    let (offset, limit) = pairs.page()?;
    let facts = site.server.chats.facts().all(&caller.0).await.map_err(engine::Error::from)?;
    let rows: Vec<Value> = facts.iter().skip(offset).take(limit).map(listed).collect();
    Ok(Json(json!({ "facts": rows, "total": facts.len() })))
}

async fn forget(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let was_there = site.server.chats.facts().forget(&caller.0, &id).await.map_err(engine::Error::from)?;
    let unknown = || Problem::new(StatusCode::NOT_FOUND, "NOT_FOUND", format!("no fact with ID {id} is remembered"));
    was_there.then_some(StatusCode::NO_CONTENT).ok_or_else(unknown)
}

async fn forget_all(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Value>, Problem> {
    let forgotten = site.server.chats.facts().forget_all(&caller.0).await.map_err(engine::Error::from)?;
    Ok(Json(json!({ "forgotten": forgotten })))
}

fn listed(fact: &Result<Fact, DamagedFact>) -> Value {
    match fact {
        Ok(Fact { id, text, source, at }) => {
            json!({ "id": id, "text": text, "threadId": source.thread, "turnId": source.turn, "createdAt": iso(*at) })
        }
        Err(DamagedFact { id, at, reason }) => json!({ "id": id, "text": "", "threadId": "", "turnId": "",
            "createdAt": iso(*at), "damaged": true, "damagedReason": reason }),
    }
}
