//! `POST /api/runs/{id}/retry` and `/fork`: a new run that begins with events recorded
//! by another. A retry is of an ended run with a task that did not complete, and keeps
//! the others; a fork is of any run and keeps the events before `seq` or before a
//! `task`, or all. Both take edits: `inputs`, `tags`, `options`, `model`, `outputs`
//! of tasks that are kept, and `taskOverrides` of tasks that have not begun.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};

use consort_core::fork::{Again, Keep, Wanted};
use consort_core::request::{self, shape};
use consort_runtime::engine::Engine;

use super::submit::{Accepted, OUTCOME, Outcome, answer, rehearsal, trace};
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
        .answers::<Outcome<'_>>(StatusCode::OK, OUTCOME)
        .streams(OUTCOME)
        .answers::<Accepted>(StatusCode::ACCEPTED, "A new run was taken.")
        .with(&[LOCATION])
        .fails(&[Code::BadRequest, Code::InvalidModel, Code::InvalidTaskOverride, Code::MissingInput])
        .fails(&[Code::InvalidTool, Code::TemplateTooLarge, Code::RunNotFound, Code::RunActive, Code::RunCompleted])
        .fails(&[Code::ModelCannotSee, Code::Conflict, Code::StorageDamaged, Code::ConcurrencyLimit])
}

/// The parts of a request for a new run, beside its body.
type Parts = (State<Arc<Site>>, (Extension<Engine>, Extension<Caller>), Path<String>, HeaderMap);

async fn retry(parts: Parts, sent: Sent) -> Result<Response, Problem> {
    again(parts, &sent, |_from| Keep::Completed).await
}

async fn fork(parts: Parts, sent: Sent) -> Result<Response, Problem> {
    again(parts, &sent, |from| from).await
}

async fn again(parts: Parts, sent: &Sent, keep: fn(Keep) -> Keep) -> Result<Response, Problem> {
    let (State(site), (Extension(runs), Extension(caller)), Path(run), headers) = parts;
    let response_mode = ResponseMode::read(&headers)?;
    let Again { edits, keep: from, dry_run, mut warnings } = request::parse_again(&sent.0)?;
    let catalog = &site.server.catalog;
    let traceparent = trace(&headers);
    let wanted =
        Wanted { keep: keep(from), edits: &edits, catalog, by: &caller.0, traceparent: traceparent.as_deref() };
    if dry_run {
        let forked = runs.rehearse_fork(&run, &wanted).await?;
        warnings.extend(forked.warnings);
        return Ok(Json(rehearsal(forked.run.spec(), &warnings)).into_response());
    }
    let (new, forked) = runs.fork(&run, &wanted).await?;
    warnings.extend(forked.warnings);
    let accepted = Accepted::new(forked.run.spec(), &warnings).after(&forked.run);
    answer((&site, &runs), &new, accepted, response_mode).await
}
