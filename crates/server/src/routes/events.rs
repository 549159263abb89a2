//! `GET /api/runs/{id}/events`: a run's frames, as they come or page by page.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use consort_chat::Gap;
use consort_core::request::shape::AsSent;
use consort_runtime::engine::Engine;
use schemars::JsonSchema;

use super::runs::reached;
use crate::Site;
use crate::access::Scope;
use crate::endpoint::{Endpoint, FROM, LAST_EVENT_ID, Tag, Whose, get};
use crate::sse::{Filter, first, sse};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::Pairs;
use consort_inbound::response_mode::accepts;

/// Frames in one page.
const LIMIT_MAX: usize = 1_000;
const LIMIT: usize = 100;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let stream = "Server-sent events until the run's result; a page when `Accept` is `application/json`.";
    vec![
        get("/api/runs/{id}/events", events)
            .named(Tag::Runs, "runEvents", "Read a run's events, as a stream or by page")
            .needs(Scope::Read, Whose::Runs)
            .query::<EventsQuery>()
            .takes(&[FROM, LAST_EVENT_ID])
            // What makes clients from descriptions takes the first type, and cannot read a stream.
            .answers::<Frames>(StatusCode::OK, stream)
            .streams(stream)
            .fails(&[Code::BadRequest, Code::RunNotFound, Code::StorageDamaged]),
    ]
}

/// The frames that are wanted.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by the stream or the page")]
pub(super) struct EventsQuery {
    /// The maximum number of frames, in a page.
    #[schemars(range(min = 1, max = LIMIT_MAX), extend("default" = LIMIT))]
    limit: Option<usize>,
    /// Types wanted in a stream, with commas between them; all when absent.
    events: Option<String>,
}

/// A page of frames.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "frames are JSON already when they are put into a page")]
pub(super) struct Frames {
    events: Vec<AsSent<Frame>>,
    /// Of a chat: the events that cannot be read, of turns that are damaged.
    #[schemars(skip_serializing_if = "Option::is_none")]
    damaged: Option<Vec<Gap>>,
}

/// A frame, as it is described apart.
#[derive(JsonSchema)]
struct Frame;

async fn events(
    State(site): State<Arc<Site>>,
    Extension(runs): Extension<Engine>,
    Path(run): Path<String>,
    pairs: Pairs,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let from = first(&pairs, &headers)?;
    let runs = reached(&runs, &run);
    if let Some(limit) = page_wanted(&pairs, &headers)? {
        let frames = runs.page(&run, from, limit).await?;
        return Ok(page(&frames.iter().map(|frame| frame.text().clone()).collect::<Vec<_>>(), &[]));
    }
    Ok(sse(&site, runs.tail(&run, from).await?, Filter::read(&pairs)))
}

/// Returns the number of frames that a client wants in one response; `None` for a stream.
pub(super) fn page_wanted(pairs: &Pairs, headers: &HeaderMap) -> Result<Option<usize>, Problem> {
    let wanted = accepts(headers, "application/json") && !accepts(headers, "text/event-stream");
    wanted.then(|| pairs.number("limit", 1..=LIMIT_MAX, LIMIT)).transpose()
}

/// Returns frames in one response; they are JSON already.
pub(super) fn page(frames: &[Arc<str>], damaged: &[Gap]) -> Response {
    let frames = frames.join(",");
    let body = match serde_json::to_string(damaged) {
        Ok(damaged) if damaged != "[]" => format!(r#"{{"events":[{frames}],"damaged":{damaged}}}"#),
        Ok(_) | Err(_) => format!(r#"{{"events":[{frames}]}}"#),
    };
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
