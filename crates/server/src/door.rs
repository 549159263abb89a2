//! The middleware in front of every route: it applies
//! [`Access`](crate::access::Access) and adds the CORS headers that browsers need.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
    WWW_AUTHENTICATE,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;

use crate::Site;
use crate::access::{Caller, Foreign, Pass, SocketClient};
use crate::endpoint::{self, Needs};
use crate::{mcp, routes, ws};
use consort_inbound::event_stream::is_event_stream;
use consort_inbound::head;
use consort_inbound::problem::{Code, Problem, REQUEST_ID};
use consort_inbound::refusals::{Reason, Refusal, Source};

/// The approximate time that picking up runs takes at startup.
const STARTING_RETRY_MS: u64 = 1_000;

/// Every method that some endpoint takes.
static ALLOWED_METHODS: LazyLock<String> = LazyLock::new(|| {
    let endpoints = routes::endpoints();
    let methods: BTreeSet<&str> = endpoints.iter().map(|endpoint| endpoint.method.as_str()).collect();
    methods.into_iter().collect::<Vec<_>>().join(", ")
});

/// Every header that some endpoint reads.
static ALLOWED_HEADERS: LazyLock<String> = LazyLock::new(|| {
    let read: BTreeSet<String> = endpoint::header_parameters().map(str::to_lowercase).collect();
    let read = read.iter().map(String::as_str);
    ["authorization", "content-type", REQUEST_ID].into_iter().chain(read).collect::<Vec<_>>().join(", ")
});

/// Lets a request in, and tells a page of an allowed origin that it may read
/// the answer.
pub(crate) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let source = Source::of(&request);
    if let Err(refused) = check(&site, &request) {
        return site.refusals.answer(&source, *refused).await;
    }
    if !*site.terms.started.borrow() && !request.uri().path().starts_with("/api/health/") {
        return starting().into_response();
    }
    let origin = request.headers().get(ORIGIN).cloned();
    let preflight =
        request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let response = if preflight { permitted() } else { admitted(&site, request, &source, next).await };
    let mut response = site.refusals.answer(&source, response).await;
    response.headers_mut().append(VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let exposed = HeaderValue::from_static("etag, location, retry-after, x-request-id");
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    response
}

/// Admits requests for the pages of the UI: any whose host and origin are allowed.
pub(crate) async fn watch(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    match check(&site, &request) {
        Ok(()) => next.run(request).await,
        Err(refused) => {
            let source = Source::of(&request);
            site.refusals.answer(&source, *refused).await
        }
    }
}

/// Checks everything that does not depend on the key; an error is the response.
fn check(site: &Site, request: &Request) -> Result<(), Box<Response>> {
    head::check(request).map_err(|problem| Box::new(problem.into_response()))?;
    let access = site.terms.access.borrow();
    access.check_source(request.headers()).map_err(|foreign| {
        let reason = match foreign {
            Foreign::Host => Reason::Host,
            Foreign::Origin => Reason::Origin,
        };
        let problem = Problem::new(Code::Forbidden, foreign.to_string());
        Box::new(refused(problem, Refusal { reason, is_known: access.knows(request.headers()) }))
    })
}

async fn admitted(site: &Site, mut request: Request, source: &Source, next: Next) -> Response {
    let prepared = site.terms.access.borrow().prepare_for(request.headers());
    prepared.await;
    if request.uri().path() == ws::PATH {
        let client = site.terms.access.borrow().socket_client(request.headers());
        return match client {
            Ok(client) => {
                if matches!(client, SocketClient::Known(_)) {
                    source.authorise();
                }
                next.run(identified(site, request, (client, source.clone()))).await
            }
            Err(problem) => refused_key(site, &request, problem),
        };
    }
    let scope = match routes::needs(request.method(), request.extensions().get::<MatchedPath>()) {
        // A browser that opens a page cannot send a key, and a probe has none.
        Needs::Nothing => {
            request.extensions_mut().insert(Caller("anybody".to_owned()));
            request.extensions_mut().insert(site.engine().clone());
            return next.run(request).await;
        }
        Needs::Scope(scope) => scope,
    };
    let admitted = site.terms.access.borrow().admit(scope, request.headers());
    match admitted {
        Ok(pass) => {
            source.authorise();
            let extensions = request.extensions_mut();
            extensions.insert(pass.caller.clone());
            extensions.insert(site.runs(&pass));
            extensions.insert(pass.clone());
            until_revoked(site, pass, next.run(request).await)
        }
        Err(problem) => refused_key(site, &request, problem),
    }
}

/// Attaches the identity, as far as it is known, to a request that opens a socket.
fn identified(site: &Site, mut request: Request, (client, source): (SocketClient, Source)) -> Request {
    let caller = match &client {
        SocketClient::Known(pass) => pass.caller.clone(),
        SocketClient::Unknown => Caller("unknown".to_owned()),
    };
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(site.engine().clone());
    request.extensions_mut().insert((client, source));
    request
}

/// Refuses a request for its key.
fn refused_key(site: &Site, request: &Request, problem: Problem) -> Response {
    let reason = if problem.code() == Code::Unauthorized { Reason::Unauthorized } else { Reason::Forbidden };
    let mut response =
        refused(problem, Refusal { reason, is_known: site.terms.access.borrow().knows(request.headers()) });
    if response.status() == StatusCode::UNAUTHORIZED && request.uri().path() == mcp::PATH {
        mcp::challenge(site, request.headers(), None, &mut response);
    }
    response
}

fn refused(problem: Problem, refusal: Refusal) -> Response {
    let mut response = problem.into_response();
    response.extensions_mut().insert(refusal);
    if response.status() == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn starting() -> Problem {
    let message = "the server is starting: runs from before are picked up first";
    Problem::new(Code::Starting, message).retried_after(STARTING_RETRY_MS)
}

/// Ends a streamed response when the client that opened it would not be admitted any more.
fn until_revoked(site: &Site, pass: Pass, response: Response) -> Response {
    if !is_event_stream(response.headers()) {
        return response;
    }
    let (head, body) = response.into_parts();
    let body = body.into_data_stream().take_until(site.revoked(pass));
    Response::from_parts(head, Body::from_stream(body))
}

/// Answers the CORS preflight request of a browser.
fn permitted() -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS.as_str()),
        (ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS.as_str()),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}
