//! One file per resource.

mod capabilities;
mod events;
mod reviews;
mod runs;
mod status;
mod steer;
mod submit;
mod tools;

use std::sync::Arc;

use axum::Router;

use crate::Site;

/// Every route there is.
pub(crate) fn all() -> Router<Arc<Site>> {
    Router::new()
        .merge(capabilities::routes())
        .merge(events::routes())
        .merge(reviews::routes())
        .merge(runs::routes())
        .merge(status::routes())
        .merge(steer::routes())
        .merge(submit::routes())
        .merge(tools::routes())
}
