//! `/api/status`, `/api/health` and `/api/lifecycle`: whether the server is
//! there and well, and how long.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use consort_core::spec::Kind;
use serde_json::{Value, json};

use crate::Site;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/api/status", get(status))
        .route("/api/health/live", get(live))
        .route("/api/health/ready", get(ready))
        .route("/api/health/startup", get(startup))
        .route("/api/lifecycle/drain", post(drain))
}

async fn status(State(site): State<Arc<Site>>) -> Json<Value> {
    let load = site.engine().load(Kind::Run);
    let streams = Arc::strong_count(&site.streams).saturating_sub(1);
    Json(json!({ "status": "running", "clients": streams, "port": site.port, "lifecycleState": lifecycle(&site),
        "activeTasks": load.active, "queueDepth": load.queued, "ensemble": site.server.ensemble.name,
        "version": env!("CARGO_PKG_VERSION"),
        "sharedCapabilities": site.server.network.shared() }))
}

async fn live() -> Json<Value> {
    Json(json!({ "status": "UP" }))
}

/// Whether it has started, which it has still when it is about to stop.
async fn startup(State(site): State<Arc<Site>>) -> (StatusCode, Json<Value>) {
    let state = lifecycle(&site);
    if *site.terms.started.borrow() {
        (StatusCode::OK, Json(json!({ "status": "STARTED", "lifecycleState": state })))
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "status": "NOT_STARTED", "lifecycleState": state })))
    }
}

async fn ready(State(site): State<Arc<Site>>) -> (StatusCode, Json<Value>) {
    match lifecycle(&site) {
        ready @ "READY" => (StatusCode::OK, Json(json!({ "status": ready, "lifecycleState": ready }))),
        state => (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "status": "NOT_READY", "lifecycleState": state }))),
    }
}

async fn drain(State(site): State<Arc<Site>>) -> Json<Value> {
    site.engine().close();
    site.drain.notify_one();
    Json(json!({ "status": "DRAINING" }))
}

fn lifecycle(site: &Site) -> &'static str {
    match (site.engine().is_draining(), *site.terms.started.borrow()) {
        (true, _) => "DRAINING",
        (false, true) => "READY",
        (false, false) => "STARTING",
    }
}
