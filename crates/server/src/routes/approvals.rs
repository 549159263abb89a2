//! `/api/approvals`: calls of chats that wait for a person.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use consort_core::chat::Answer;
use serde_json::{Value, json};

use crate::Site;
use crate::access::Caller;
use crate::body::Sent;
use crate::problem::Problem;

/// What a person can answer.
pub(crate) const ANSWERS: &[(&str, Answer)] =
    &[("allow", Answer::Allow), ("allow_for_chat", Answer::AllowForChat), ("deny", Answer::Deny)];

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/approvals", get(list)).route("/api/approvals/{id}", post(answer))
}

async fn list(State(site): State<Arc<Site>>, Extension(caller): Extension<Caller>) -> Result<Json<Value>, Problem> {
    let approvals = site.server.chats.approvals(&caller.0).await?;
    Ok(Json(json!({ "total": approvals.len(), "approvals": approvals })))
}

async fn answer(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Value>, Problem> {
    let answer = sent?.word("decision", ANSWERS)?.ok_or_else(|| Problem::bad_request("`decision` is required"))?;
    site.server.chats.approve(&caller.0, &id, answer).await?;
    Ok(Json(json!({ "approval_id": id, "decision": answer.word(), "status": "APPLIED" })))
}
