//! `GET /api/runs/{id}/events`: a run's frames, as they come or page by page.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::Site;
use crate::problem::Problem;
use crate::query::Pairs;
use crate::sse::{Filter, first, sse};
use crate::wish::accepts;

/// Frames in one page.
const LIMIT_MAX: usize = 1_000;
const LIMIT: usize = 100;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/runs/{id}/events", get(events))
}

async fn events(
    State(site): State<Arc<Site>>,
    Path(run): Path<String>,
    pairs: Pairs,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let from = first(&pairs, &headers)?;
    if let Some(limit) = page_wanted(&pairs, &headers)? {
        let frames = site.engine().page(&run, from, limit).await?;
        return Ok(page(&frames.iter().map(|frame| frame.text().clone()).collect::<Vec<_>>()));
    }
    Ok(sse(&site, site.engine().tail(&run, from).await?, Filter::read(&pairs)))
}

/// How many frames a client wants in one answer, if it does not want a stream.
pub(super) fn page_wanted(pairs: &Pairs, headers: &HeaderMap) -> Result<Option<usize>, Problem> {
    let wanted = accepts(headers, "application/json") && !accepts(headers, "text/event-stream");
    wanted.then(|| pairs.number("limit", 1..=LIMIT_MAX, LIMIT)).transpose()
}

/// Frames in one answer; they are JSON already.
pub(super) fn page(frames: &[Arc<str>]) -> Response {
    let body = format!(r#"{{"events":[{}]}}"#, frames.join(","));
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
