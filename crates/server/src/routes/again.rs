//! `POST /api/runs/{id}/retry` and `/fork`: a new run that begins with what
//! another one has recorded. A retry is of an ended run with a task that did
//! not complete, and keeps the others; a fork is of any run and keeps what
//! stands before `seq` or before a `task`, or everything. Both take edits: `inputs`, `tags`,
//! `options`, `model`, and `taskOverrides` of tasks that have not begun.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use axum::{Extension, Router};
use consort_core::fork::{Keep, Wanted};
use consort_core::request;
use serde_json::json;

use super::submit::{accepted, answer, trace};
use crate::Site;
use crate::access::Caller;
use crate::body::Sent;
use crate::problem::Problem;
use crate::wish::Wish;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/runs/{id}/retry", post(retry)).route("/api/runs/{id}/fork", post(fork))
}

/// A request for a new run out of an old one.
struct Asked {
    run: String,
    by: String,
    sent: Sent,
    wish: Wish,
    /// The trace it belongs to.
    traceparent: Option<String>,
}

async fn retry(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Problem> {
    let asked = Asked { run, by: caller.0, sent, wish: Wish::read(&headers)?, traceparent: trace(&headers) };
    again(&site, asked, |_from| Keep::Completed).await
}

async fn fork(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Problem> {
    let asked = Asked { run, by: caller.0, sent, wish: Wish::read(&headers)?, traceparent: trace(&headers) };
    again(&site, asked, |from| from).await
}

async fn again(site: &Site, asked: Asked, keep: fn(Keep) -> Keep) -> Result<Response, Problem> {
    let Asked { run, by, sent, wish, traceparent } = asked;
    let (edits, from, mut warnings) = request::parse_edits(&sent.0)?;
    let (catalog, traceparent) = (&site.server.catalog, traceparent.as_deref());
    let wanted = Wanted { keep: keep(from), edits: &edits, catalog, by: &by, traceparent };
    let (new, forked) = site.engine().fork(&run, &wanted).await?;
    warnings.extend(forked.warnings);
    let mut told = accepted(forked.run.spec(), &warnings);
    if let Some(origin) = json!(forked.run.descent()).as_object() {
        told.extend(origin.clone());
    }
    answer(site, &new, told, wish).await
}
