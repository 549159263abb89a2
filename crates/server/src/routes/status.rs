//! `/api/status`, `/api/health` and `/api/lifecycle`: the server's state, health and
//! uptime.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use consort_core::spec::Kind;
use consort_net::wire::Capability;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::Scope;
use crate::endpoint::{Endpoint, Tag, Whose, get, post};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/status", status)
            .named(Tag::Server, "status", "Read the state of the server")
            .needs(Scope::Read, Whose::Shared)
            .answers::<Status>(StatusCode::OK, "It runs."),
        get("/api/health/live", live)
            .named(Tag::Server, "live", "Check that the server answers")
            .public()
            .answers::<Live>(StatusCode::OK, "It does."),
        get("/api/health/ready", ready)
            .named(Tag::Server, "ready", "Check that the server accepts work")
            .public()
            .answers::<Health>(StatusCode::OK, "It does.")
            .answers::<Health>(StatusCode::SERVICE_UNAVAILABLE, "It does not."),
        get("/api/health/startup", startup)
            .named(Tag::Server, "startup", "Check that the server has started")
            .public()
            .answers::<Health>(StatusCode::OK, "It has.")
            .answers::<Health>(StatusCode::SERVICE_UNAVAILABLE, "It has not."),
        post("/api/lifecycle/drain", drain)
            .named(Tag::Server, "drain", "Finish active runs, accept nothing new, and stop")
            .needs(Scope::Admin, Whose::Shared)
            .answers::<Drained>(StatusCode::OK, "It will."),
    ]
}

/// The status of the server.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Status {
    status: Running,
    clients: usize,
    port: u16,
    lifecycle_state: Lifecycle,
    active_tasks: usize,
    queue_depth: usize,
    ensemble: String,
    version: &'static str,
    shared_capabilities: Vec<Capability>,
    /// The direct links to the other nodes; what a node without one does is seen half a second later, and without
    /// the words of its models.
    links: Links,
}

/// The nodes to which there is a link.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Links {
    All,
    Some,
    None,
}

/// The status of a server that is running.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Running {
    Running,
}

/// The lifecycle of a server.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Lifecycle {
    Starting,
    Ready,
    Draining,
}

/// Whether the server answers.
#[derive(Serialize, JsonSchema)]
struct Live {
    status: Up,
}

/// The status of a server that answers.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Up {
    Up,
}

/// Whether the server takes work.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Health {
    status: HealthStatus,
    lifecycle_state: Lifecycle,
    /// The reason why it takes no work although it has started: nothing can be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The answer to a probe.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum HealthStatus {
    Started,
    NotStarted,
    Ready,
    NotReady,
}

/// A server that is about to stop.
#[derive(Serialize, JsonSchema)]
struct Drained {
    status: Draining,
}

/// The status of a server that was asked to stop.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Draining {
    Draining,
}

async fn status(State(site): State<Arc<Site>>) -> Json<Status> {
    let load = site.engine().load(Kind::Run);
    Json(Status {
        status: Running::Running,
        clients: Arc::strong_count(&site.streams).saturating_sub(1),
        port: site.port,
        lifecycle_state: lifecycle(&site),
        active_tasks: load.active,
        queue_depth: site.engine().queue_length().await.unwrap_or(load.queued),
        ensemble: site.server.ensemble.name.clone(),
        version: env!("CARGO_PKG_VERSION"),
        shared_capabilities: site.server.network.shared(),
        links: links(&site).await,
    })
}

/// A node without others lacks no link; others are reached through the store, too.
async fn links(site: &Site) -> Links {
    let Ok(nodes) = site.engine().nodes().await else { return Links::None };
    let seams = site.engine().seams();
    let own = seams.cluster.id();
    let mut linked = nodes.iter().filter(|node| node.id != own).map(|node| seams.links.has(&node.id));
    match (linked.clone().all(|is| is), linked.any(|is| is)) {
        (true, _) => Links::All,
        (false, true) => Links::Some,
        (false, false) => Links::None,
    }
}

async fn live() -> Json<Live> {
    Json(Live { status: Up::Up })
}

/// Responds whether the server has started, which stays true while it is stopping.
async fn startup(State(site): State<Arc<Site>>) -> (StatusCode, Json<Health>) {
    let lifecycle_state = lifecycle(&site);
    let (code, status) = match *site.terms.started.borrow() {
        true => (StatusCode::OK, HealthStatus::Started),
        false => (StatusCode::SERVICE_UNAVAILABLE, HealthStatus::NotStarted),
    };
    (code, Json(Health { status, lifecycle_state, reason: None }))
}

async fn ready(State(site): State<Arc<Site>>) -> (StatusCode, Json<Health>) {
    let lifecycle_state = lifecycle(&site);
    // Deleting something needs no readiness, so a client that makes room is let in.
    let reason = site.engine().no_room().map(|reason| format!("nothing can be stored: {reason}"));
    let (code, status) = match (lifecycle_state, &reason) {
        (Lifecycle::Ready, None) => (StatusCode::OK, HealthStatus::Ready),
        (Lifecycle::Ready, Some(_)) | (Lifecycle::Starting | Lifecycle::Draining, _) => {
            (StatusCode::SERVICE_UNAVAILABLE, HealthStatus::NotReady)
        }
    };
    (code, Json(Health { status, lifecycle_state, reason }))
}

async fn drain(State(site): State<Arc<Site>>) -> Json<Drained> {
    site.engine().close();
    site.drain.notify_one();
    Json(Drained { status: Draining::Draining })
}

fn lifecycle(site: &Site) -> Lifecycle {
    match (site.engine().is_draining(), *site.terms.started.borrow()) {
        (true, _) => Lifecycle::Draining,
        (false, true) => Lifecycle::Ready,
        (false, false) => Lifecycle::Starting,
    }
}
