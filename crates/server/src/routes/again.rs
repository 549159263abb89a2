//! `POST /api/runs/{id}/retry` and `/fork`: a new run that begins with events recorded
//! by another. A retry is of an ended run with a task that did not complete, and keeps
//! the others; a fork is of any run and keeps the events before `seq` or before a
//! `task`, or all. Both take edits: `inputs`, `tags`, `options`, `model`, `outputs`
//! of tasks that are kept, and `taskOverrides` of tasks that have not begun.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use consort_core::fork::{Keep, Wanted};
use consort_core::request::{self, shape};
use consort_core::view::RunDetail;
use consort_runtime::engine::Engine;

use super::submit::{Accepted, answer, trace};
use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, LOCATION, PREFER, TRACEPARENT, Tag, Whose, post};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::response_mode::ResponseMode;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        again_as(post("/api/runs/{id}/retry", retry), "retryRun", "Retry a run"),
        again_as(post("/api/runs/{id}/fork", fork), "forkRun", "Fork a run"),
    ]
}

/// Returns an endpoint that makes a new run out of an old one.
fn again_as(endpoint: Endpoint, id: &'static str, summary: &'static str) -> Endpoint {
    endpoint
        .named(Tag::Runs, id, summary)
        .needs(Scope::Run, Whose::Runs)
        .takes(&[PREFER, TRACEPARENT])
        .optional_body::<shape::Edits>()
        .names_unknown()
        .answers::<RunDetail<'_>>(StatusCode::OK, "What came of it, when that was waited for.")
        .streams("What came of it, when that was waited for.")
        .answers::<Accepted>(StatusCode::ACCEPTED, "A new run was taken.")
        .with(&[LOCATION])
        .fails(&[Code::BadRequest, Code::InvalidModel, Code::InvalidTaskOverride, Code::MissingInput])
        .fails(&[Code::InvalidTool, Code::TemplateTooLarge, Code::RunNotFound, Code::RunActive, Code::RunCompleted])
        .fails(&[Code::ModelCannotSee, Code::Conflict, Code::StorageDamaged, Code::ConcurrencyLimit])
}

/// A request for a new run based on an old one.
struct Asked {
    run: String,
    by: String,
    sent: Sent,
    response_mode: ResponseMode,
    /// The trace it belongs to.
    traceparent: Option<String>,
}

async fn retry(
    State(site): State<Arc<Site>>,
    (Extension(runs), Extension(caller)): (Extension<Engine>, Extension<Caller>),
    Path(run): Path<String>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Problem> {
    let asked =
        Asked { run, by: caller.0, sent, response_mode: ResponseMode::read(&headers)?, traceparent: trace(&headers) };
    again((&site, &runs), asked, |_from| Keep::Completed).await
}

async fn fork(
    State(site): State<Arc<Site>>,
    (Extension(runs), Extension(caller)): (Extension<Engine>, Extension<Caller>),
    Path(run): Path<String>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Problem> {
    let asked =
        Asked { run, by: caller.0, sent, response_mode: ResponseMode::read(&headers)?, traceparent: trace(&headers) };
    again((&site, &runs), asked, |from| from).await
}

async fn again((site, runs): (&Site, &Engine), asked: Asked, keep: fn(Keep) -> Keep) -> Result<Response, Problem> {
    let Asked { run, by, sent, response_mode, traceparent } = asked;
    let (edits, from, mut warnings) = request::parse_edits(&sent.0)?;
    let catalog = &site.server.catalog;
    let traceparent = traceparent.as_deref();
    let wanted = Wanted { keep: keep(from), edits: &edits, catalog, by: &by, traceparent };
    let (new, forked) = runs.fork(&run, &wanted).await?;
    warnings.extend(forked.warnings);
    let accepted = Accepted::new(forked.run.spec(), &warnings).after(&forked.run);
    answer((site, runs), &new, accepted, response_mode).await
}
