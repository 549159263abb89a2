//! The audit log: one line for every request that may change something, written in one
//! place, so no route can forget it. A repeated response changes nothing and has no
//! line.

use axum::Extension;
use axum::extract::{MatchedPath, Request};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use consort_core::frame::parse_review_id;

use crate::access::Caller;
use crate::problem::RequestId;

/// A change that a client asked for, and its outcome.
pub struct Change<'a> {
    /// The request's id, which its response has too.
    pub request_id: &'a str,
    /// The name of the client that asked for it.
    pub caller: &'a str,
    /// The method, or `WS`.
    pub method: &'a str,
    /// The route, or the type of the frame.
    pub route: &'a str,
    /// The subject of the change: an address, or the id in the frame.
    pub subject: Option<&'a str>,
    /// The run that it is about, or that it has made.
    pub run: Option<&'a str>,
    /// The status of the response.
    pub status: &'a str,
}

impl Change<'_> {
    /// Writes the audit line.
    pub fn record(&self) {
        let Change { request_id, caller, method, route, subject, run, status } = self;
        tracing::info!(target: "audit", request_id, caller, method, route, subject, run, status, "a change was asked for");
    }
}

/// Writes a line for every request that may change something.
pub async fn layer(
    Extension(id): Extension<RequestId>,
    Extension(caller): Extension<Caller>,
    request: Request,
    next: Next,
) -> Response {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let route =
        request.extensions().get::<MatchedPath>().map_or("unknown".to_owned(), |route| route.as_str().to_owned());
    let response = next.run(request).await;
    if ![Method::GET, Method::HEAD, Method::OPTIONS].contains(&method) {
        Change {
            request_id: id.as_str(),
            caller: &caller.0,
            method: method.as_str(),
            route: &route,
            subject: Some(&path),
            run: run_of(&path, response.headers()),
            status: response.status().as_str(),
        }
        .record();
    }
    response
}

/// Returns the run that a request is about: the one it made, or the one it names.
pub fn run_of<'a>(path: &'a str, answer: &'a HeaderMap) -> Option<&'a str> {
    let made = answer.get(LOCATION).and_then(|place| place.to_str().ok());
    if let Some(rest) = made.unwrap_or(path).strip_prefix("/api/runs/") {
        return rest.split(['/', '?']).next().filter(|run| !run.is_empty());
    }
    let review = path.strip_prefix("/api/reviews/")?;
    parse_review_id(review).map(|(run, _)| run)
}
