//! `/api/memory`: entries that runs remember for later ones, and improvements that
//! agents suggested; both can be listed and forgotten.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_core::chore;
use consort_core::frame::field::Iso;
use consort_core::view::Damage;
use consort_log as log;
use consort_runtime::engine;
use consort_tools::memory::{self, Entry, Memory};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Caller, Scope};
use crate::endpoint::{Endpoint, Tag, Whose, delete, get};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::{Page, Pairs};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/memory", scopes)
            .named(Tag::Memory, "listScopes", "List the memories of runs")
            .needs(Scope::Read, Whose::Shared)
            .query::<Page>()
            .answers::<Scopes>(StatusCode::OK, "The names things are remembered under.")
            .fails(&[Code::BadRequest]),
        get("/api/memory/{scope}", entries)
            .named(Tag::Memory, "getScope", "List the entries of a memory")
            .needs(Scope::Read, Whose::Shared)
            .answers::<Remembered>(StatusCode::OK, "The entries, the oldest first.")
            .fails(&[Code::NotFound]),
        delete("/api/memory/{scope}", forget)
            .named(Tag::Memory, "forgetScope", "Erase a memory")
            .needs(Scope::Run, Whose::Shared)
            .answers_nothing(StatusCode::NO_CONTENT, "It is forgotten.")
            .fails(&[Code::NotFound]),
        delete("/api/memory/{scope}/{key}", forget_one)
            .named(Tag::Memory, "forgetEntry", "Erase one entry of a memory")
            .needs(Scope::Run, Whose::Shared)
            .answers_nothing(StatusCode::NO_CONTENT, "It is forgotten.")
            .fails(&[Code::NotFound]),
    ]
}

/// Names that runs remember under.
#[derive(Serialize, JsonSchema)]
struct Scopes {
    scopes: Vec<ListedScope>,
    total: usize,
}

/// A name runs remember under.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Scope")]
struct ListedScope {
    scope: String,
    #[serde(rename = "type")]
    kind: ScopeKind,
    entries: u64,
    #[serde(flatten)]
    damage: Damage,
}

/// The entries under one name.
#[derive(Serialize, JsonSchema)]
struct Remembered {
    scope: String,
    #[serde(rename = "type")]
    kind: ScopeKind,
    entries: Vec<MemoryEntry>,
    #[serde(flatten)]
    damage: Damage,
}

/// Something that is remembered.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MemoryEntry {
    key: String,
    text: String,
    created_at: Iso,
}

/// The kind of entries: texts that tasks store, or critiques of reflections.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScopeKind {
    Memory,
    Reflection,
}

async fn scopes(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Json<Scopes>, Problem> {
    let Page { offset, limit } = pairs.page()?;
    let (scopes, total) = memory(&site).scopes(offset, limit).await.map_err(engine::Error::from)?;
    let row = |memory::Scope { name, entries, damage }: memory::Scope| {
        let kind = kind(&name);
        ListedScope { scope: name, kind, entries, damage: Damage::of(damage) }
    };
    Ok(Json(Scopes { scopes: scopes.into_iter().map(row).collect(), total }))
}

async fn entries(State(site): State<Arc<Site>>, Path(scope): Path<String>) -> Result<Json<Remembered>, Problem> {
    let entry = |Entry { key, text, at }: Entry| MemoryEntry { key, text, created_at: Iso(at) };
    let (entries, damage) = known(&site, &scope).await?;
    let kind = kind(&scope);
    let entries = entries.into_iter().map(entry).collect();
    Ok(Json(Remembered { scope, kind, entries, damage: Damage::of(damage) }))
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

/// Logs what was forgotten, because it cannot be looked up any more.
fn forgotten(name: &str, Caller(by): &Caller) -> StatusCode {
    tracing::info!(name, by, "forgotten");
    StatusCode::NO_CONTENT
}

/// Returns the entries of a scope, if it has any, with the reason why they cannot be
/// read, if so.
async fn known(site: &Site, scope: &str) -> Result<(Vec<Entry>, Option<String>), Problem> {
    match memory(site).entries(scope).await {
        Ok(entries) if entries.is_empty() => Err(nothing(scope)),
        Ok(entries) => Ok((entries, None)),
        Err(error @ log::Error::Damaged { .. }) => Ok((Vec::new(), Some(error.to_string()))),
        Err(error) => Err(error.into()),
    }
}

fn nothing(name: &str) -> Problem {
    Problem::new(Code::NotFound, format!("nothing is remembered as '{name}'"))
}

fn memory(site: &Site) -> Memory {
    Memory::new(site.engine().seams().log.clone())
}

fn kind(scope: &str) -> ScopeKind {
    if chore::is_reflection(scope) { ScopeKind::Reflection } else { ScopeKind::Memory }
}
