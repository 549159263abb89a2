//! `/api/memory`: what runs remember for later ones, and what agents said could
//! be better; both can be looked at and forgotten.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{delete, get};
use axum::{Extension, Json, Router};
use consort_core::chore;
use consort_core::time::iso;
use consort_runtime::engine;
use consort_runtime::memory::{Entry, Memory};
use serde_json::{Value, json};

use crate::Site;
use crate::access::Caller;
use crate::problem::Problem;
use crate::query::Pairs;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/api/memory", get(scopes))
        .route("/api/memory/{scope}", get(entries).delete(forget))
        .route("/api/memory/{scope}/{key}", delete(forget_one))
}

async fn scopes(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Json<Value>, Problem> {
    let (offset, limit) = pairs.page()?;
    let (scopes, total) = memory(&site).scopes(offset, limit).await.map_err(engine::Error::from)?;
    let row = |(scope, entries): (String, u64)| json!({ "scope": scope, "type": kind(&scope), "entries": entries });
    let rows: Vec<Value> = scopes.into_iter().map(row).collect();
    Ok(Json(json!({ "scopes": rows, "total": total })))
}

async fn entries(State(site): State<Arc<Site>>, Path(scope): Path<String>) -> Result<Json<Value>, Problem> {
    let entry = |entry: Entry| json!({ "key": entry.key, "text": entry.text, "createdAt": iso(entry.at) });
    let entries: Vec<Value> = known(&site, &scope).await?.into_iter().map(entry).collect();
    Ok(Json(json!({ "scope": scope, "type": kind(&scope), "entries": entries })))
}

async fn forget(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(scope): Path<String>,
) -> Result<StatusCode, Problem> {
    let was_there = memory(&site).forget(&scope).await.map_err(engine::Error::from)?;
    was_there.then_some(()).ok_or_else(|| nothing(&scope))?;
    Ok(forgotten(&scope, &caller))
}

async fn forget_one(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path((scope, key)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let was_there = memory(&site).forget_one(&scope, &key, site.now()).await.map_err(engine::Error::from)?;
    let name = format!("{scope}/{key}");
    was_there.then_some(()).ok_or_else(|| nothing(&name))?;
    Ok(forgotten(&name, &caller))
}

/// The log says what was forgotten, which nobody can look up any more.
fn forgotten(name: &str, Caller(by): &Caller) -> StatusCode {
    tracing::info!(name, by, "forgotten");
    StatusCode::NO_CONTENT
}

/// The entries of a name, when anything is remembered under it.
async fn known(site: &Site, scope: &str) -> Result<Vec<Entry>, Problem> {
    let entries = memory(site).entries(scope).await.map_err(engine::Error::from)?;
    Some(entries).filter(|entries| !entries.is_empty()).ok_or_else(|| nothing(scope))
}

fn nothing(name: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "NOT_FOUND", format!("nothing is remembered as '{name}'"))
}

fn memory(site: &Site) -> Memory {
    Memory::new(site.engine().seams().log.clone())
}

fn kind(scope: &str) -> &'static str {
    if chore::is_reflection(scope) { "reflection" } else { "memory" }
}
