//! `/api/turns`: what the caller's conversations have used, turn by turn.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Extension, Json, Router};
use consort_chat::Spent;
use consort_core::time::iso;
use serde_json::{Value, json};

use crate::Site;
use crate::access::Caller;
use crate::problem::Problem;
use crate::query::Pairs;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/turns", get(list))
}

async fn list(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    pairs: Pairs,
) -> Result<Json<Value>, Problem> {
    let (offset, limit) = pairs.page()?;
    let (turns, total) = site.server.chats.spent(&caller.0, offset, limit).await?;
    let turns: Vec<Value> = turns.iter().map(listed).collect();
    Ok(Json(json!({ "turns": turns, "total": total })))
}

fn listed(spent: &Spent) -> Value {
    let Spent { thread, started_at, ended_at, turn } = spent;
    let duration_ms = ended_at.map(|end| end.saturating_sub(*started_at));
    json!({ "turnId": turn.turn, "threadId": thread, "status": turn.status, "startedAt": iso(*started_at),
        "durationMs": duration_ms, "totalTokens": turn.total_tokens, "totalUsd": turn.cost_usd })
}
