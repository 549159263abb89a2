//! One file per resource: its endpoints, with the types of their requests and answers.

mod admin;
mod again;
pub(crate) mod approvals;
pub(crate) mod attachments;
pub(crate) mod budget;
pub(crate) mod capabilities;
mod cluster;
mod collections;
pub(crate) mod describe;
mod documents;
mod events;
mod facts;
mod grants;
pub(crate) mod hooks;
pub(crate) mod list;
mod me;
mod memory;
pub(crate) mod metrics;
mod network;
pub(crate) mod reviews;
pub(crate) mod runs;
mod schedules;
mod search;
mod status;
pub(crate) mod steer;
pub(crate) mod submit;
pub(crate) mod threads;
mod tools;
mod traces;
mod turns;
mod webhooks;
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
use crate::{a2a, mcp, node_link, openai};

/// The credentials that each route needs, by its path and method.
static NEEDS: LazyLock<HashMap<(&'static str, Method), Needs>> =
    LazyLock::new(|| endpoints().into_iter().map(|one| ((one.path, one.method), one.needs)).collect());

/// Returns every endpoint there is, in the order of the description.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let groups = [
        runs::endpoints(),
        submit::endpoints(),
        steer::endpoints(),
        budget::endpoints(),
        again::endpoints(),
        events::endpoints(),
        reviews::endpoints(),
        approvals::endpoints(),
        threads::endpoints(),
        grants::endpoints(),
        turns::endpoints(),
        attachments::endpoints(),
        openai::endpoints(),
        mcp::endpoints(),
        a2a::endpoints(),
        collections::endpoints(),
        documents::endpoints(),
        tools::endpoints(),
        capabilities::endpoints(),
        network::endpoints(),
        facts::endpoints(),
        me::endpoints(),
        memory::endpoints(),
        traces::endpoints(),
        workspace::endpoints(),
        search::endpoints(),
        status::endpoints(),
        admin::endpoints(),
        cluster::endpoints(),
        metrics::endpoints(),
        describe::endpoints(),
        ws::endpoints(),
        node_link::endpoints(),
        workflows::endpoints(),
        schedules::endpoints(),
        webhooks::endpoints(),
        hooks::endpoints(),
    ];
    groups.into_iter().flatten().collect()
}

/// Returns the router with every route.
pub(crate) fn all() -> Router<Arc<Site>> {
    let routed = |router: Router<Arc<Site>>, endpoint: Endpoint| router.route(endpoint.path, endpoint.routed());
    // Unknown paths need the same access as known ones.
    let nowhere = ["/api", "/api/", "/api/{*rest}", "/v1", "/v1/", "/v1/{*rest}", "/a2a/{*rest}"].into_iter();
    let router = nowhere.fold(Router::new(), |router, path| router.route(path, nothing()));
    // Some clients end the address of an interface with a slash.
    let router = router.route(a2a::SLASHED, a2a::slashed());
    endpoints().into_iter().fold(router, routed)
}

/// Returns the credentials that a request must send, by the route it has taken. An unknown path needs the lowest scope
/// for reading or for changing something.
pub(crate) fn needs(method: &Method, route: Option<&MatchedPath>) -> Needs {
    let method = if method == Method::HEAD { Method::GET } else { method.clone() };
    let least = if method == Method::GET { Scope::Read } else { Scope::Run };
    let path = NEEDS.keys().map(|(path, _)| *path).find(|path| route.is_some_and(|route| route.as_str() == *path));
    path.and_then(|path| NEEDS.get(&(path, method))).copied().unwrap_or(Needs::Scope(least))
}

fn nothing() -> MethodRouter<Arc<Site>> {
    any(async || StatusCode::NOT_FOUND)
}
