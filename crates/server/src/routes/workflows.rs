//! `/api/workflows`: task graphs that are saved, version by version, and run
//! like tasks of a request. Who saves says which version was changed.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::{ETAG, IF_MATCH, LOCATION};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use consort_core::submission::{self, Submission};
use consort_core::workflow::Document;
use consort_runtime::workflows::{Error, Expected, Saved};
use serde_json::{Value, json};

use super::submit;
use crate::Site;
use crate::access::Caller;
use crate::body::Sent;
use crate::problem::Problem;
use crate::query::Pairs;
use crate::wish::Wish;

/// Versions listed at once; each is read whole.
const VERSIONS_MAX: u64 = 100;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/api/workflows", get(list).post(create))
        .route("/api/workflows/{id}", get(one).put(update).delete(delete))
        .route("/api/workflows/{id}/history", get(history))
        .route("/api/workflows/{id}/versions/{version}", get(version))
        .route("/api/workflows/{id}/runs", post(run))
}

async fn create(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let (document, warnings) = read(&site, &sent?)?;
    let saved = site.workflows().create(document, &caller.0).await?;
    let location = [(LOCATION, format!("/api/workflows/{}", saved.id))];
    Ok((StatusCode::CREATED, location, shown(&saved, &warnings)).into_response())
}

async fn list(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Json<Value>, Problem> {
    let (offset, limit) = pairs.page()?;
    let (workflows, total) = site.workflows().list(offset, limit).await?;
    Ok(Json(json!({ "workflows": workflows, "total": total })))
}

async fn one(State(site): State<Arc<Site>>, Path(id): Path<String>) -> Result<Response, Problem> {
    Ok(shown(&site.workflows().get(&id).await?, &[]))
}

async fn update(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let current = site.workflows().get(&id).await?.version;
    let expected = expected(&headers, current)?.ok_or_else(|| unconditional(current))?;
    let (document, warnings) = read(&site, &sent?)?;
    let saved = site.workflows().update(&id, expected, document, &caller.0).await?;
    Ok(shown(&saved, &warnings))
}

async fn delete(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    // Its number alone: what cannot be read must be possible to delete.
    let current = site.workflows().newest(&id).await?;
    let expected = if current == 0 { None } else { expected(&headers, current)? };
    let expected = expected.unwrap_or(Expected::Any);
    site.workflows().delete(&id, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn history(State(site): State<Arc<Site>>, Path(id): Path<String>, pairs: Pairs) -> Result<Json<Value>, Problem> {
    let (offset, limit) = (pairs.number("offset", 0..=u64::MAX, 0)?, pairs.number("limit", 1..=VERSIONS_MAX, 50)?);
    let (versions, total) = site.workflows().history(&id, offset, limit).await?;
    Ok(Json(json!({ "versions": versions, "total": total })))
}

async fn version(State(site): State<Arc<Site>>, Path((id, version)): Path<(String, u64)>) -> Result<Response, Problem> {
    Ok(shown(&site.workflows().version(&id, version).await?, &[]))
}

async fn run(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let (sent, wish) = (sent?, Wish::read(&headers)?);
    let saved = site.workflows().get(&id).await?;
    let request = saved.entry.document.request(&sent.0)?;
    match submit::compiled(&request, || submission::read(&request, &site.server.ensemble, &site.catalog()))? {
        Submission::DryRun(compiled) => Ok(Json(submit::rehearsal(&compiled)).into_response()),
        Submission::Run(mut compiled) => {
            compiled.spec.name.clone_from(&saved.entry.document.name);
            compiled.spec.tags.extend(saved.tags());
            submit::started(&site, compiled, &headers, wish).await
        }
    }
}

/// The graph that was sent, and what is odd about it.
fn read(site: &Site, sent: &Sent) -> Result<(Document, Vec<String>), Problem> {
    let read = || Document::read(&sent.0, &site.server.ensemble, &site.catalog());
    Ok(submit::compiled(&sent.0, read)?)
}

/// A version with its tag.
fn shown(saved: &Saved, warnings: &[String]) -> Response {
    let mut view = saved.view();
    if let (Value::Object(view), false) = (&mut view, warnings.is_empty()) {
        view.insert("warnings".to_owned(), json!(warnings));
    }
    ([(ETAG, format!("\"{}\"", saved.version))], Json(view)).into_response()
}

/// The version `If-Match` names, when it is there and can be the current one.
fn expected(headers: &HeaderMap, current: u64) -> Result<Option<Expected>, Problem> {
    let Some(given) = headers.get(IF_MATCH) else { return Ok(None) };
    let tags: Vec<&str> = given.to_str().unwrap_or_default().split(',').map(str::trim).collect();
    let tag = format!("\"{current}\"");
    match tags.iter().find(|known| **known == "*" || **known == tag) {
        Some(&"*") => Ok(Some(Expected::Any)),
        Some(_) => Ok(Some(Expected::Version(current))),
        None => Err(Error::Stale { current }.into()),
    }
}

fn unconditional(current: u64) -> Problem {
    let message = "say in `If-Match` which version was changed, as its ETag says it";
    Problem::new(StatusCode::PRECONDITION_REQUIRED, "PRECONDITION_REQUIRED", message).with("version", current)
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let message = error.to_string();
        match error {
            Error::NotFound(_) => Problem::new(StatusCode::NOT_FOUND, "WORKFLOW_NOT_FOUND", message),
            Error::NoVersion(_) => Problem::new(StatusCode::NOT_FOUND, "VERSION_NOT_FOUND", message),
            Error::Stale { current } => {
                Problem::new(StatusCode::PRECONDITION_FAILED, "PRECONDITION_FAILED", message).with("version", current)
            }
            Error::Full(_) => Problem::new(StatusCode::CONFLICT, "LIMIT_REACHED", message),
            Error::Log(error) => error.into(),
        }
    }
}
