//! `/api/collections`: documents, and what is found in them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use consort_core::time::iso;
use consort_tools::collections::{Added, Collection, Hit, KIND};
use serde_json::{Value, json};

use crate::Site;
use crate::access::Caller;
use crate::body::Sent;
use crate::problem::Problem;
use crate::query::Pairs;

/// Passages in an answer, unless more are asked for.
const HITS: usize = 10;
/// Passages in an answer at most.
const HITS_MAX: usize = 50;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/api/collections", get(list).post(create))
        .route("/api/collections/{name}/documents", post(add))
        .route("/api/collections/{name}/search", get(search))
}

async fn list(State(site): State<Arc<Site>>) -> Result<Json<Value>, Problem> {
    let mut collections = site.server.chats.collections().list().await?;
    for collection in &mut collections {
        let known = site.engine().damage(&format!("{KIND}/{}", collection.name));
        collection.damage = collection.damage.take().or(known);
    }
    let collections: Vec<Value> = collections.iter().map(listed).collect();
    Ok(Json(json!({ "collections": collections })))
}

async fn create(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let sent = sent?;
    let now = site.engine().seams().clock.now();
    let made = site.server.chats.collections().create(sent.text("name")?, now).await?;
    tracing::info!(collection = made.name, by = caller.0, "made");
    let location = [(LOCATION, format!("/api/collections/{}/search", made.name))];
    Ok((StatusCode::CREATED, location, Json(listed(&made))).into_response())
}

async fn add(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let sent = sent?;
    let (title, content) = (sent.text("title")?, sent.text("content")?);
    let now = site.engine().seams().clock.now();
    let Added { document, embedded } = site.server.chats.collections().add(&name, title, content, now).await?;
    tracing::info!(collection = name, document, embedded, by = caller.0, "document added");
    let added = json!({ "id": document, "collection": name, "title": title, "embedded": embedded });
    Ok((StatusCode::CREATED, Json(added)).into_response())
}

async fn search(State(site): State<Arc<Site>>, Path(name): Path<String>, pairs: Pairs) -> Result<Json<Value>, Problem> {
    let max = pairs.number("limit", 1..=HITS_MAX, HITS)?;
    let query = pairs.first("q").filter(|query| !query.trim().is_empty());
    let query = query.ok_or_else(|| Problem::bad_request("`q` is required: the words to look for"))?;
    let hits = site.server.chats.collections().search(query, &[name], max, site.now()).await?;
    Ok(Json(json!({ "results": hits.iter().map(found).collect::<Vec<_>>() })))
}

fn listed(collection: &Collection) -> Value {
    let Collection { name, documents, created_at, updated_at, damage } = collection;
    let mut view =
        json!({ "name": name, "documents": documents, "createdAt": iso(*created_at), "updatedAt": iso(*updated_at) });
    if let (Value::Object(view), Some(reason)) = (&mut view, damage) {
        view.insert("damaged".to_owned(), true.into());
        view.insert("damagedReason".to_owned(), reason.as_str().into());
    }
    view
}

fn found(hit: &Hit) -> Value {
    json!({ "collection": hit.collection, "documentId": hit.document, "title": hit.title, "snippet": hit.snippet,
        "score": hit.score })
}
