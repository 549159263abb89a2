//! One file per resource.

mod again;
pub(crate) mod approvals;
pub(crate) mod capabilities;
mod collections;
pub(crate) mod describe;
mod events;
mod facts;
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

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{MethodRouter, any};

use crate::Site;
use crate::ws;

/// Every route there is.
pub(crate) fn all() -> Router<Arc<Site>> {
    Router::new()
        .merge(again::routes())
        .merge(approvals::routes())
        .merge(capabilities::routes())
        .merge(collections::routes())
        .merge(describe::routes())
        .merge(events::routes())
        .merge(facts::routes())
        .merge(memory::routes())
        .merge(metrics::routes())
        .merge(network::routes())
        .merge(reviews::routes())
        .merge(runs::routes())
        .merge(status::routes())
        .merge(steer::routes())
        .merge(submit::routes())
        .merge(threads::routes())
        .merge(tools::routes())
        .merge(traces::routes())
        .merge(turns::routes())
        .merge(workflows::routes())
        .merge(workspace::routes())
        .merge(ws::routes())
        // What is not there is behind the same door as what is.
        .route("/api", nothing())
        .route("/api/", nothing())
        .route("/api/{*rest}", nothing())
}

fn nothing() -> MethodRouter<Arc<Site>> {
    any(async || StatusCode::NOT_FOUND)
}
