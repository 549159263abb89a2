//! `/api/runs`: the list, one run, and getting rid of it.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use consort_core::id::Millis;
use consort_runtime::engine::Removal;
use consort_runtime::log::Query;
use serde_json::{Value, json};

use crate::Site;
use crate::access::Caller;
use crate::problem::Problem;
use crate::query::Pairs;

/// Where a run can stand.
pub(super) const STATUSES: [&str; 6] = ["ACCEPTED", "RUNNING", "COMPLETED", "FAILED", "CANCELLED", "REJECTED"];

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/runs", get(list)).route("/api/runs/{id}", get(detail).delete(remove))
}

async fn list(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Json<Value>, Problem> {
    Ok(Json(listed(&site, &pairs).await?))
}

/// The runs that match.
pub(crate) async fn listed(site: &Site, pairs: &Pairs) -> Result<Value, Problem> {
    let page = site.engine().list(query(pairs)?).await?;
    let row = |(run, row): &(Arc<str>, consort_runtime::log::Row)| {
        placed(site, (run, row.started_at), serde_json::from_str(&row.body).unwrap_or_default())
    };
    let runs: Vec<Value> = page.rows.iter().map(row).collect();
    Ok(json!({ "runs": runs, "total": page.total }))
}

fn query(pairs: &Pairs) -> Result<Query, Problem> {
    let status = pairs.first("status").map(status).transpose()?;
    let tags: Result<Vec<_>, Problem> = pairs.all("tag").map(tag).collect();
    let (offset, limit) = pairs.page()?;
    Ok(Query { kind: Some("run".to_owned()), status, tags: tags?, offset, limit, ..Query::default() })
}

/// `key:value`, or a `key` whatever its value.
fn tag(said: &str) -> Result<(String, Option<String>), Problem> {
    let (key, value) = said.split_once(':').map_or((said, None), |(key, value)| (key, Some(value.to_owned())));
    match key {
        "" => Err(Problem::bad_request(format!("`tag` must be `key:value` or `key`, not '{said}'"))),
        key => Ok((key.to_owned(), value)),
    }
}

fn status(said: &str) -> Result<String, Problem> {
    let known = STATUSES.iter().find(|status| status.eq_ignore_ascii_case(said));
    known.map(|status| (*status).to_owned()).ok_or_else(|| Problem::bad_request(format!("Unknown status: {said}")))
}

async fn detail(State(site): State<Arc<Site>>, Path(run): Path<String>) -> Result<Json<Value>, Problem> {
    Ok(Json(detailed(&site, &run).await?))
}

/// Everything about a run.
pub(crate) async fn detailed(site: &Site, run: &str) -> Result<Value, Problem> {
    let state = site.engine().run(run).await?;
    Ok(placed(site, (run, state.summary(run).started_at), state.detail(run)))
}

async fn remove(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Response, Problem> {
    Ok(match site.engine().remove(&run, caller.0).await? {
        Removal::Cancelling => Json(json!({ "runId": run, "status": "CANCELLING" })).into_response(),
        Removal::Erased => StatusCode::NO_CONTENT.into_response(),
    })
}

/// A run with its place in the queue, if it is in one, and how long it has
/// been there.
fn placed(site: &Site, (run, started_at): (&str, Millis), mut view: Value) -> Value {
    if let (Some(position), Value::Object(fields)) = (site.engine().queue_position(run), &mut view) {
        let waited = site.engine().seams().clock.now().saturating_sub(started_at);
        fields.insert("queuePosition".to_owned(), position.into());
        fields.insert("queuedMs".to_owned(), waited.into());
    }
    view
}
