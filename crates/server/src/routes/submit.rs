//! `POST /api/runs`: a run, answered at once, when it has ended, or with
//! everything that happens in it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Json, Router};
use consort_core::compile::Compiled;
use consort_core::run::Run;
use consort_core::spec::{Spec, Task};
use consort_core::submission::{self, Submission};
use consort_http::trace;
use consort_log as log;
use consort_runtime::engine;
use consort_tools::busy;
use serde_json::{Map, Value, json};

use crate::Site;
use crate::body::Sent;
use crate::once::Once;
use crate::problem::Problem;
use crate::sse::{Filter, sse};
use crate::wish::Wish;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/runs", post(submit))
}

async fn submit(
    State(site): State<Arc<Site>>,
    once: Option<Extension<Once>>,
    headers: HeaderMap,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let (sent, wish) = (sent?, Wish::read(&headers)?);
    let from = From { once: once.map(|Extension(once)| once), traceparent: trace(&headers) };
    match take(&site, &sent, from).await? {
        Taken::Rehearsal(told) => Ok(Json(told).into_response()),
        Taken::Run { run, accepted } => answer(&site, &run, accepted, wish).await,
    }
}

/// Where a request comes from.
#[derive(Default)]
pub(crate) struct From {
    /// What it claims, when it may be sent again.
    pub(crate) once: Option<Once>,
    /// The trace it belongs to.
    pub(crate) traceparent: Option<String>,
}

/// What came of a request.
pub(crate) enum Taken {
    /// Nothing was to be run: what would be.
    Rehearsal(Value),
    /// A run, and what is said about it.
    Run { run: Arc<str>, accepted: Map<String, Value> },
}

/// Starts what a request asks for.
pub(crate) async fn take(site: &Site, sent: &Sent, from: From) -> Result<Taken, Problem> {
    let server = &site.server;
    let read = compiled(&sent.0, || submission::read(&sent.0, &server.ensemble, &site.catalog()));
    // A run that was made before counts, whatever has been configured since.
    if let Some(run) = first(site, from.once.as_ref()).await? {
        let (spec, warnings) = match read {
            Ok(Submission::Run(compiled) | Submission::DryRun(compiled)) => (Some(compiled.spec), compiled.warnings),
            Err(_since) => (None, Vec::new()),
        };
        let accepted = match (server.engine.run(&run).await, spec) {
            (Ok(first), _) => accepted(first.spec(), &warnings),
            // It cannot be read any more, but what was asked for can.
            (Err(engine::Error::Log(log::Error::Damaged { .. })), Some(spec)) => accepted(&spec, &warnings),
            (Err(error), _) => return Err(error.into()),
        };
        return Ok(Taken::Run { run, accepted });
    }
    let mut compiled = match read? {
        Submission::DryRun(compiled) => return Ok(Taken::Rehearsal(rehearsal(&compiled))),
        Submission::Run(compiled) => compiled,
    };
    compiled.spec.traceparent = from.traceparent;
    let accepted = accepted(&compiled.spec, &compiled.warnings);
    let run = match from.once {
        Some(once) => once.submit(site, compiled).await?,
        None => server.engine.submit(compiled).await?,
    };
    Ok(Taken::Run { run, accepted })
}

/// Reads what brings schemas without keeping the thread from others.
pub(super) fn compiled<T>(sent: &Value, read: impl FnOnce() -> T) -> T {
    if submission::brings_schemas(sent) { busy::in_place(read) } else { read() }
}

/// A run of what was compiled already, answered as it is wished for.
pub(super) async fn started(
    site: &Site,
    mut compiled: Compiled,
    headers: &HeaderMap,
    wish: Wish,
) -> Result<Response, Problem> {
    compiled.spec.traceparent = trace(headers);
    let accepted = accepted(&compiled.spec, &compiled.warnings);
    let run = site.engine().submit(compiled).await?;
    answer(site, &run, accepted, wish).await
}

/// The trace a run belongs to; what is not a whole one is none.
pub(super) fn trace(headers: &HeaderMap) -> Option<String> {
    let given = headers.get(trace::HEADER)?.to_str().ok()?;
    trace::Trace::parse(given).map(|_| given.to_owned())
}

/// The run the same request made before.
async fn first(site: &Site, once: Option<&Once>) -> Result<Option<Arc<str>>, Problem> {
    match once {
        Some(once) => once.first(site.engine()).await,
        None => Ok(None),
    }
}

/// Tells about a run that was taken, as it is wished.
pub(super) async fn answer(
    site: &Site,
    run: &str,
    mut accepted: Map<String, Value>,
    wish: Wish,
) -> Result<Response, Problem> {
    let location = [(LOCATION, format!("/api/runs/{run}"))];
    let detail = match wish {
        Wish::Accepted => None,
        Wish::Ended(within) => ended(site, run, within).await?,
        Wish::Stream => return streamed(site, run).await,
    };
    Ok(match detail {
        Some(detail) => (location, Json(detail)).into_response(),
        None => {
            accepted.insert("runId".to_owned(), run.into());
            if let Some(position) = site.engine().queue_position(run) {
                accepted.insert("queuePosition".to_owned(), position.into());
            }
            (StatusCode::ACCEPTED, location, Json(accepted)).into_response()
        }
    })
}

/// All frames of a run, from its first.
pub(crate) async fn streamed(site: &Site, run: &str) -> Result<Response, Problem> {
    let frames = site.engine().tail(run, 0).await?;
    Ok(([(LOCATION, format!("/api/runs/{run}"))], sse(site, frames, Filter::All)).into_response())
}

/// The run's detail, if it ends in time and before the server does.
async fn ended(site: &Site, run: &str, within: Duration) -> Result<Option<Value>, Problem> {
    let look = |state: &Run| state.ended().then(|| state.detail(run));
    tokio::select! {
        found = tokio::time::timeout(within, site.engine().at_its_end(run, look)) => Ok(found.ok().transpose()?.flatten()),
        () = site.closed() => Ok(None),
    }
}

/// What is said about a run that was taken.
pub(super) fn accepted(spec: &Spec, warnings: &[String]) -> Map<String, Value> {
    let mut accepted = Map::new();
    accepted.insert("runId".to_owned(), Value::Null);
    accepted.insert("status".to_owned(), "ACCEPTED".into());
    accepted.insert("tasks".to_owned(), spec.team().len().into());
    accepted.insert("workflow".to_owned(), spec.workflow.word().into());
    if !warnings.is_empty() {
        accepted.insert("warnings".to_owned(), json!(warnings));
    }
    accepted
}

/// What would run.
pub(super) fn rehearsal(Compiled { spec, warnings, .. }: &Compiled) -> Value {
    let tasks: Vec<Value> = spec.team().iter().map(|task| rehearsed(spec, task)).collect();
    json!({ "dryRun": true, "tasks": tasks, "workflow": spec.workflow.word(), "warnings": warnings })
}

fn rehearsed(spec: &Spec, task: &Task) -> Value {
    let context: Vec<&str> =
        task.context.iter().filter_map(|index| spec.tasks.get(*index)).map(|task| task.name.as_str()).collect();
    json!({ "name": task.name, "description": task.description, "expectedOutput": task.expected_output,
        "agentRole": task.agent.role, "model": task.model.as_ref().unwrap_or(&spec.model), "tools": task.tools,
        "context": context })
}
