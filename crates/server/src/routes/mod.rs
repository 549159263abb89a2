//! One file per resource: its endpoints, what they take and what they answer.

mod admin;
mod again;
mod approvals;
pub(crate) mod capabilities;
mod collections;
pub(crate) mod describe;
mod events;
mod facts;
mod grants;
mod me;
mod memory;
pub(crate) mod metrics;
mod network;
pub(crate) mod reviews;
pub(crate) mod runs;
mod status;
pub(crate) mod steer;
pub(crate) mod submit;
pub(crate) mod threads;
mod tools;
mod traces;
mod turns;
mod workflows;
mod workspace;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::MatchedPath;
use axum::http::{Method, StatusCode};
use axum::routing::{MethodRouter, any};

use crate::Site;
use crate::access::Scope;
use crate::endpoint::{Endpoint, Needs};
use crate::ws;

/// What each route needs, by its path and method.
static NEEDS: LazyLock<HashMap<(&'static str, Method), Needs>> =
    LazyLock::new(|| endpoints().into_iter().map(|one| ((one.path, one.method), one.needs)).collect());

/// Every endpoint there is, in the order of the description.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let groups = [
        runs::endpoints(),
        submit::endpoints(),
        steer::endpoints(),
        again::endpoints(),
        events::endpoints(),
        reviews::endpoints(),
        approvals::endpoints(),
        threads::endpoints(),
        grants::endpoints(),
        turns::endpoints(),
        collections::endpoints(),
        tools::endpoints(),
        capabilities::endpoints(),
        network::endpoints(),
        facts::endpoints(),
        me::endpoints(),
        memory::endpoints(),
        traces::endpoints(),
        workspace::endpoints(),
        status::endpoints(),
        admin::endpoints(),
        metrics::endpoints(),
        describe::endpoints(),
        ws::endpoints(),
        workflows::endpoints(),
    ];
    groups.into_iter().flatten().collect()
}

/// Returns the router with every route.
pub(crate) fn all() -> Router<Arc<Site>> {
    let routed = |router: Router<Arc<Site>>, endpoint: Endpoint| router.route(endpoint.path, endpoint.router);
    // Unknown paths need the same access as known ones.
    let nowhere = ["/api", "/api/", "/api/{*rest}"].into_iter();
    let router = nowhere.fold(Router::new(), |router, path| router.route(path, nothing()));
    endpoints().into_iter().fold(router, routed)
}

/// What a request must show, by the route it has taken. What is no route needs
/// what looking or changing something needs at least.
pub(crate) fn needs(method: &Method, route: Option<&MatchedPath>) -> Needs {
    let method = if method == Method::HEAD { Method::GET } else { method.clone() };
    let least = if method == Method::GET { Scope::Read } else { Scope::Run };
    let path = NEEDS.keys().map(|(path, _)| *path).find(|path| route.is_some_and(|route| route.as_str() == *path));
    path.and_then(|path| NEEDS.get(&(path, method))).copied().unwrap_or(Needs::Scope(least))
}

fn nothing() -> MethodRouter<Arc<Site>> {
    any(async || StatusCode::NOT_FOUND)
}
