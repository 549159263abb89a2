//! `/api/runs`: the list, one run, and getting rid of it.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use consort_core::damaged::DamagedRun;
use consort_core::id::Millis;
use consort_log::{self as log, Query, Row};
use consort_runtime::engine::{self, Removal};
use serde_json::{Map, Value, json};

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
    let runs: Vec<Value> = page.rows.iter().map(|(run, row)| view(site, run, row)).collect();
    Ok(json!({ "runs": runs, "total": page.total }))
}

/// A run as it is listed; one that cannot be read says so.
fn view(site: &Site, run: &str, row: &Row) -> Value {
    let stored: Result<Map<String, Value>, _> = serde_json::from_str(&row.body);
    let reason = stored.as_ref().err().map(|error| format!("its row cannot be read: {error}"));
    match (site.engine().damage(run).or(reason), stored) {
        (None, Ok(stored)) => placed(site, (run, row.started_at), stored.into()),
        (reason, _) => damaged(run, row, &reason.unwrap_or_default()).listed(),
    }
}

/// What the row of a run that cannot be read still says.
fn damaged<'a>(run: &'a str, row: &'a Row, reason: &'a str) -> DamagedRun<'a> {
    let Row { status, started_at, tags, body, .. } = row;
    DamagedRun { run, row: body, status, started_at: *started_at, tags, reason }
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

/// Everything about a run; of one that cannot be read what its row says.
pub(crate) async fn detailed(site: &Site, run: &str) -> Result<Value, Problem> {
    let state = match site.engine().run(run).await {
        Ok(state) => state,
        Err(error @ engine::Error::Log(log::Error::Damaged { .. })) => {
            let (row, reason) = site.engine().damaged(run).await?.ok_or(error)?;
            return Ok(damaged(run, &row, &reason).detail());
        }
        Err(error) => return Err(error.into()),
    };
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

/// A run with its place in the queue, if it is in one, and, before it has
/// begun, how long it has been there.
fn placed(site: &Site, (run, started_at): (&str, Millis), mut view: Value) -> Value {
    if let (Some(position), Value::Object(fields)) = (site.engine().queue_position(run), &mut view) {
        let waited = site.engine().seams().clock.now().saturating_sub(started_at);
        fields.insert("queuePosition".to_owned(), position.into());
        fields.entry("queuedMs").or_insert_with(|| waited.into());
    }
    view
}
