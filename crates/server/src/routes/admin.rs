//! `/api/admin`: the work of the server's operator.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Caller, Scope};
use crate::endpoint::{Endpoint, Tag, Whose, post};
use consort_inbound::problem::{Code, Problem};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/admin/compact", compact)
            .named(Tag::Server, "compact", "Remove deleted data from the disk")
            .needs(Scope::Admin, Whose::Shared)
            .answers::<Compacted>(StatusCode::OK, "They are gone.")
            .fails(&[Code::StorageUnavailable]),
    ]
}

/// A store without what was deleted from it.
#[derive(Serialize, JsonSchema)]
struct Compacted {
    status: CompactedStatus,
}

/// The status of a store that was compacted.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum CompactedStatus {
    Compacted,
}

async fn compact(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Compacted>, Problem> {
    site.engine().compact().await?;
    tracing::info!(by = caller.0, "compacted");
    Ok(Json(Compacted { status: CompactedStatus::Compacted }))
}
