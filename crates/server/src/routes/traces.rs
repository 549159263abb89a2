//! `/api/runs/{id}/trace`, and `/api/files` and `/api/file`: the folder that
//! ended runs leave their traces in, as trace viewers read it.

use std::io;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use consort_core::trace;
use consort_runtime::traces::{TraceFile, Traces};
use serde_json::{Value, json};

use crate::Site;
use crate::problem::Problem;
use crate::query::Pairs;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/api/runs/{id}/trace", get(of_run))
        .route("/api/files", get(files))
        .route("/api/file", get(file))
}

async fn of_run(State(site): State<Arc<Site>>, Path(run): Path<String>) -> Result<Json<Value>, Problem> {
    Ok(Json(trace::trace(&site.engine().history(&run).await?)))
}

async fn files(State(site): State<Arc<Site>>) -> Result<Json<Value>, Problem> {
    let traces = traces(&site)?;
    let row = |file: TraceFile| json!({ "name": file.name, "type": file.kind, "sizeBytes": file.bytes });
    let files: Vec<Value> = traces.list().await.map_err(unreadable)?.into_iter().map(row).collect();
    Ok(Json(json!({ "files": files, "directory": traces.path().display().to_string() })))
}

async fn file(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Response, Problem> {
    let traces = traces(&site)?;
    let name = pairs.first("name").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Problem::bad_request("`name` is required"))?;
    if name.contains(['/', '\\']) || name.contains("..") {
        return Err(Problem::bad_request("`name` is the name of a file, not a path"));
    }
    let text = traces.read(name).await.map_err(unreadable)?;
    let missing = || Problem::new(StatusCode::NOT_FOUND, "NOT_FOUND", format!("there is no trace '{name}'"));
    Ok(([(CONTENT_TYPE, "application/json")], text.ok_or_else(missing)?).into_response())
}

fn traces(site: &Site) -> Result<&Traces, Problem> {
    let absent = || Problem::new(StatusCode::NOT_FOUND, "NOT_CONFIGURED", "no `trace_dir` is configured");
    site.engine().traces().ok_or_else(absent)
}

fn unreadable(error: io::Error) -> Problem {
    let message = format!("the folder of traces cannot be read: {error}");
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "STORAGE_UNAVAILABLE", message)
}
