//! `/api/turns`: the usage of the caller's chats, turn by turn.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_chat::Spent;
use consort_core::frame::field::Iso;
use consort_core::id::Millis;
use consort_core::status::Status;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Caller, Scope};
use crate::endpoint::{Endpoint, Tag, Whose, get};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::{Page, Pairs};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/turns", list)
            .named(Tag::Threads, "listTurns", "List turns and their usage")
            .about("The turns of all chats of the caller, the newest first. Everybody sees only their own.")
            .needs(Scope::Read, Whose::Key)
            .query::<Page>()
            .answers::<Turns>(StatusCode::OK, "A page of them.")
            .fails(&[Code::BadRequest]),
    ]
}

/// A page of turns.
#[derive(Serialize, JsonSchema)]
struct Turns {
    turns: Vec<ListedTurn>,
    total: usize,
}

/// A turn of a chat, and what it has used.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedTurn {
    turn_id: String,
    thread_id: String,
    status: Status,
    started_at: Iso,
    /// Null until it has ended.
    duration_ms: Option<Millis>,
    /// -1 when some model did not report it.
    total_tokens: i64,
    /// Null when a model has no price.
    total_usd: Option<f64>,
}

async fn list(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    pairs: Pairs,
) -> Result<Json<Turns>, Problem> {
    let Page { offset, limit } = pairs.page()?;
    let (turns, total) = site.server.chats.spent(&caller.0, offset, limit).await?;
    Ok(Json(Turns { turns: turns.into_iter().map(listed).collect(), total }))
}

fn listed(spent: Spent) -> ListedTurn {
    let Spent { thread, started_at, ended_at, turn } = spent;
    ListedTurn {
        turn_id: turn.turn,
        thread_id: thread,
        status: turn.status,
        started_at: Iso(started_at),
        duration_ms: ended_at.map(|end| end.saturating_sub(started_at)),
        total_tokens: turn.total_tokens,
        total_usd: turn.cost_usd,
    }
}
