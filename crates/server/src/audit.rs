//! Who changed what: one line for every request that may change something, in
//! one place, so no route can forget it.

use axum::http::HeaderMap;
use axum::http::header::LOCATION;
use consort_core::frame::parse_review_id;

/// The run a request is about: the one it made, or the one it names.
pub(crate) fn run_of<'a>(path: &'a str, answer: &'a HeaderMap) -> Option<&'a str> {
    let made = answer.get(LOCATION).and_then(|place| place.to_str().ok());
    let place = made.unwrap_or(path);
    if let Some(rest) = place.strip_prefix("/api/runs/") {
        return rest.split(['/', '?']).next().filter(|run| !run.is_empty());
    }
    let review = path.strip_prefix("/api/reviews/")?;
    parse_review_id(review).map(|(run, _)| run)
}
