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
    if accepts(&headers, "application/json") {
        let limit = pairs.number("limit", 1..=LIMIT_MAX, LIMIT)?;
        // Frames are JSON already.
        let frames = site.engine().page(&run, from, limit).await?;
        let body = format!(r#"{{"events":[{}]}}"#, frames.join(","));
        return Ok(([(CONTENT_TYPE, "application/json")], body).into_response());
    }
    Ok(sse(&site, site.engine().tail(&run, from).await?, Filter::read(&pairs)))
}
