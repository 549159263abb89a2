//! `/api/memory`: what runs remember for later ones, and what agents said could
//! be better; both can be looked at and forgotten.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{delete, get};
use axum::{Extension, Json, Router};
use consort_core::chore;
use consort_core::time::iso;
use consort_log as log;
use consort_runtime::engine;
use consort_tools::memory::{Entry, Memory, Scope};
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
    let row = |Scope { name, entries, damage }: Scope| {
        with_damage(json!({ "scope": name, "type": kind(&name), "entries": entries }), damage)
    };
    let rows: Vec<Value> = scopes.into_iter().map(row).collect();
    Ok(Json(json!({ "scopes": rows, "total": total })))
}

/// The same with why it cannot be read, if it cannot.
fn with_damage(mut view: Value, damage: Option<String>) -> Value {
    if let (Value::Object(view), Some(reason)) = (&mut view, damage) {
        view.insert("damaged".to_owned(), true.into());
        view.insert("damagedReason".to_owned(), reason.into());
    }
    view
}

async fn entries(State(site): State<Arc<Site>>, Path(scope): Path<String>) -> Result<Json<Value>, Problem> {
    let entry = |entry: Entry| json!({ "key": entry.key, "text": entry.text, "createdAt": iso(entry.at) });
    let (entries, damage) = known(&site, &scope).await?;
    let entries: Vec<Value> = entries.into_iter().map(entry).collect();
    Ok(Json(with_damage(json!({ "scope": scope, "type": kind(&scope), "entries": entries }), damage)))
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

/// The entries of a name, when anything is remembered under it, or why they
/// cannot be read.
async fn known(site: &Site, scope: &str) -> Result<(Vec<Entry>, Option<String>), Problem> {
    match memory(site).entries(scope).await {
        Ok(entries) if entries.is_empty() => Err(nothing(scope)),
        Ok(entries) => Ok((entries, None)),
        Err(error @ log::Error::Damaged { .. }) => Ok((Vec::new(), Some(error.to_string()))),
        Err(error) => Err(error.into()),
    }
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
