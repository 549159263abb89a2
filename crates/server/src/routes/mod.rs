//! One file per resource.

pub(crate) mod approvals;
mod capabilities;
mod events;
pub(crate) mod metrics;
mod reviews;
mod runs;
mod status;
mod steer;
mod submit;
pub(crate) mod threads;
mod tools;

use std::sync::Arc;

use axum::Router;

use crate::Site;

/// Every route there is.
pub(crate) fn all() -> Router<Arc<Site>> {
    Router::new()
        .merge(approvals::routes())
        .merge(capabilities::routes())
        .merge(events::routes())
        .merge(metrics::routes())
        .merge(reviews::routes())
        .merge(runs::routes())
        .merge(status::routes())
        .merge(steer::routes())
        .merge(submit::routes())
        .merge(threads::routes())
        .merge(tools::routes())
}
