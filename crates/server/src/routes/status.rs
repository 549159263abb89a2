//! `/api/status` and `/api/health`: whether the server is there and well.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use consort_core::spec::Kind;
use serde_json::{Value, json};

use crate::Site;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/api/status", get(status))
        .route("/api/health/live", get(live))
        .route("/api/health/ready", get(ready))
        .route("/api/health/startup", get(ready))
}

async fn status(State(site): State<Arc<Site>>) -> Json<Value> {
    let load = site.engine().load(Kind::Run);
    let streams = Arc::strong_count(&site.streams).saturating_sub(1);
    Json(json!({ "status": "running", "clients": streams, "port": site.port, "lifecycleState": lifecycle(&site),
        "activeTasks": load.active, "queueDepth": load.queued, "ensemble": site.server.ensemble.name,
        "version": env!("CARGO_PKG_VERSION") }))
}

async fn live() -> Json<Value> {
    Json(json!({ "status": "UP" }))
}

async fn ready(State(site): State<Arc<Site>>) -> (StatusCode, Json<Value>) {
    match lifecycle(&site) {
        ready @ "READY" => (StatusCode::OK, Json(json!({ "status": ready, "lifecycleState": ready }))),
        state => (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "status": "NOT_READY", "lifecycleState": state }))),
    }
}

/// Nothing is served before runs are recovered, so what answers is ready or
/// about to stop.
fn lifecycle(site: &Site) -> &'static str {
    if site.open.has_changed().is_ok() { "READY" } else { "DRAINING" }
}
