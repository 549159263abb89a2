//! `/api/runs/{id}/trace`, and `/api/files` and `/api/file`: the folder with the
//! traces of ended runs, in the form that trace viewers read.

use std::io;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_core::trace;
use consort_runtime::engine::{Engine, SeenTraces};
use consort_runtime::traces::TraceFile;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::access::Scope;
use crate::endpoint::{Endpoint, Tag, Whose, get};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::Pairs;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/runs/{id}/trace", of_run)
            .named(Tag::Runs, "runTrace", "Export the trace of a run")
            .needs(Scope::Read, Whose::Runs)
            .answers::<trace::Trace<'_>>(StatusCode::OK, "The trace.")
            .fails(&[Code::RunNotFound]),
        get("/api/files", files)
            .named(Tag::Files, "listTraces", "List the trace files of ended runs")
            .needs(Scope::Read, Whose::Runs)
            .answers::<Files>(StatusCode::OK, "Trace files.")
            .fails_at(StatusCode::NOT_FOUND, Code::NotConfigured),
        get("/api/file", file)
            .named(Tag::Files, "readTrace", "Download a trace file")
            .needs(Scope::Read, Whose::Runs)
            .query::<FileQuery>()
            .answers::<Value>(StatusCode::OK, "Its content.")
            .fails(&[Code::BadRequest, Code::NotFound])
            .fails_at(StatusCode::NOT_FOUND, Code::NotConfigured),
    ]
}

/// The files in the folder of traces.
#[derive(Serialize, JsonSchema)]
struct Files {
    files: Vec<ListedFile>,
    directory: String,
}

/// A file in the folder of traces.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedFile {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    size_bytes: u64,
}

/// The file that is wanted.
#[derive(JsonSchema)]
struct FileQuery {
    /// As it is listed.
    name: String,
}

async fn of_run(Extension(runs): Extension<Engine>, Path(run): Path<String>) -> Result<Json<Value>, Problem> {
    Ok(Json(trace::trace(&runs.history(&run).await?)))
}

async fn files(Extension(runs): Extension<Engine>) -> Result<Json<Files>, Problem> {
    let traces = traces(&runs)?;
    let row =
        |TraceFile { name, kind, bytes }: TraceFile| ListedFile { name, kind: kind.to_owned(), size_bytes: bytes };
    let files = traces.list().await.map_err(unreadable)?.into_iter().map(row).collect();
    Ok(Json(Files { files, directory: traces.path().display().to_string() }))
}

async fn file(Extension(runs): Extension<Engine>, pairs: Pairs) -> Result<Response, Problem> {
    let traces = traces(&runs)?;
    let name = pairs.first("name").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Problem::bad_request("`name` is required"))?;
    let FileQuery { name } = FileQuery { name: name.to_owned() };
    if name.contains(['/', '\\']) || name.contains("..") {
        return Err(Problem::bad_request("`name` is the name of a file, not a path"));
    }
    let text = traces.read(&name).await.map_err(unreadable)?;
    let missing = || Problem::new(Code::NotFound, format!("there is no trace '{name}'"));
    Ok(([(CONTENT_TYPE, "application/json")], text.ok_or_else(missing)?).into_response())
}

fn traces(runs: &Engine) -> Result<SeenTraces<'_>, Problem> {
    let absent = || Problem::at(StatusCode::NOT_FOUND, Code::NotConfigured, "no `trace_dir` is configured");
    runs.traces().ok_or_else(absent)
}

fn unreadable(error: io::Error) -> Problem {
    let message = format!("the folder of traces cannot be read: {error}");
    Problem::new(Code::StorageUnavailable, message)
}
