//! `/api/collections`: documents, and searches in them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_core::frame::field::Iso;
use consort_core::view::Damage;
use consort_tools::collections::{Collection, Hit, KIND, PassagePlace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, LOCATION, Tag, Whose, delete, get, post};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::Pairs;

/// The default number of passages in a response.
const HITS: usize = 10;
/// The maximum number of passages in a response.
const HITS_MAX: usize = 50;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/collections", list)
            .named(Tag::Collections, "listCollections", "List collections")
            .needs(Scope::Read, Whose::Shared)
            .answers::<Collections>(StatusCode::OK, "All of them."),
        post("/api/collections", create)
            .named(Tag::Collections, "createCollection", "Create a collection")
            .needs(Scope::Run, Whose::Shared)
            .body::<CollectionRequest>()
            .answers::<CollectionView>(StatusCode::CREATED, "It is there.")
            .with(&[LOCATION])
            .fails(&[Code::BadRequest, Code::CollectionExists, Code::LimitReached]),
        get("/api/collections/{name}", one)
            .named(Tag::Collections, "getCollection", "Read a collection")
            .needs(Scope::Read, Whose::Shared)
            .answers::<CollectionView>(StatusCode::OK, "It, also when it cannot be read.")
            .fails(&[Code::CollectionNotFound]),
        delete("/api/collections/{name}", remove)
            .named(Tag::Collections, "deleteCollection", "Erase a collection with its documents")
            .needs(Scope::Run, Whose::Shared)
            .answers_nothing(StatusCode::NO_CONTENT, "It is gone.")
            .fails(&[Code::CollectionNotFound]),
        get("/api/collections/{name}/search", search)
            .named(Tag::Collections, "searchCollection", "Search the passages of a collection")
            .needs(Scope::Read, Whose::Shared)
            .query::<Search>()
            .answers::<Hits>(StatusCode::OK, "The best ones first.")
            .fails(&[Code::BadRequest, Code::CollectionNotFound]),
    ]
}

/// All collections.
#[derive(Serialize, JsonSchema)]
struct Collections {
    collections: Vec<CollectionView>,
}

/// Documents to be searched.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Collection")]
struct CollectionView {
    name: String,
    documents: u64,
    created_at: Iso,
    updated_at: Iso,
    #[serde(flatten)]
    damage: Damage,
}

/// A collection that is to be made.
#[derive(JsonSchema)]
struct CollectionRequest {
    name: String,
}

#[derive(JsonSchema)]
struct Search {
    /// The words to look for.
    #[schemars(length(min = 1))]
    q: String,
    /// The maximum number of passages.
    #[schemars(with = "Option<usize>", range(min = 1, max = HITS_MAX), extend("default" = HITS))]
    limit: usize,
}

/// Passages that were found.
#[derive(Serialize, JsonSchema)]
struct Hits {
    results: Vec<HitView>,
}

/// A passage that was found.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Hit")]
struct HitView {
    collection: String,
    document_id: u64,
    title: String,
    /// The page it is on, from 1, in documents with pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    /// The line it begins in, from 1, in documents without pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    snippet: String,
    score: f64,
}

async fn list(State(site): State<Arc<Site>>) -> Result<Json<Collections>, Problem> {
    let collections = site.server.chats.collections().list().await?;
    Ok(Json(Collections { collections: collections.into_iter().map(|one| listed(damaged(&site, one))).collect() }))
}

/// Adds the damage that was found when the server looked through the store.
fn damaged(site: &Site, mut collection: Collection) -> Collection {
    let known = site.engine().damage(&format!("{KIND}/{}", collection.name));
    collection.damage = collection.damage.take().or(known);
    collection
}

async fn one(State(site): State<Arc<Site>>, Path(name): Path<String>) -> Result<Json<CollectionView>, Problem> {
    let found = site.server.chats.collections().get(&name).await?;
    Ok(Json(listed(damaged(&site, found))))
}

async fn remove(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    site.server.chats.collections().delete(&name).await?;
    site.engine().repaired(&format!("{KIND}/{name}"));
    tracing::info!(collection = name, by = caller.0, "deleted");
    Ok(StatusCode::NO_CONTENT)
}

async fn create(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let request = CollectionRequest { name: sent?.text("name")?.to_owned() };
    let made = site.server.chats.collections().create(&request.name, site.now()).await?;
    tracing::info!(collection = made.name, by = caller.0, "made");
    let location = [(header::LOCATION, format!("/api/collections/{}", made.name))];
    Ok((StatusCode::CREATED, location, Json(listed(made))).into_response())
}

async fn search(State(site): State<Arc<Site>>, Path(name): Path<String>, pairs: Pairs) -> Result<Json<Hits>, Problem> {
    let Search { q, limit } = Search::read(&pairs)?;
    let hits = site.server.chats.collections().search(&q, &[name], limit, site.now()).await?;
    Ok(Json(Hits { results: hits.into_iter().map(found).collect() }))
}

impl Search {
    fn read(pairs: &Pairs) -> Result<Search, Problem> {
        let limit = pairs.number("limit", 1..=HITS_MAX, HITS)?;
        let q = pairs.first("q").filter(|query| !query.trim().is_empty());
        let q = q.ok_or_else(|| Problem::bad_request("`q` is required: the words to look for"))?;
        Ok(Search { q: q.to_owned(), limit })
    }
}

fn listed(collection: Collection) -> CollectionView {
    let Collection { name, documents, created_at, updated_at, damage } = collection;
    CollectionView {
        name,
        documents,
        created_at: Iso(created_at),
        updated_at: Iso(updated_at),
        damage: Damage::of(damage),
    }
}

fn found(hit: Hit) -> HitView {
    let Hit { collection, document, title, place, snippet, score } = hit;
    let (page, line) = match place {
        PassagePlace::Page(page) => (Some(page), None),
        PassagePlace::Line(line) => (None, Some(line)),
    };
    HitView { collection, document_id: document, title, page, line, snippet, score }
}
