//! `/api/facts`: the facts that are remembered about the caller, to be listed and
//! erased. A caller sees only their own.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_chat::facts::{DamagedFact, Fact};
use consort_core::frame::field::Iso;
use consort_core::view::Damage;
use consort_runtime::engine;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Caller, Scope};
use crate::endpoint::{Endpoint, Tag, Whose, delete, get};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::{Page, Pairs};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/facts", list)
            .named(Tag::Memory, "listFacts", "List the facts about the caller")
            .about(
                "Facts from chats whose messages asked for it with `memory_enabled`, the newest first. \
                 Everybody sees only their own.",
            )
            .needs(Scope::Read, Whose::Key)
            .query::<Page>()
            .answers::<Facts>(StatusCode::OK, "The facts.")
            .fails(&[Code::BadRequest]),
        delete("/api/facts", forget_all)
            .named(Tag::Memory, "forgetFacts", "Erase all facts about the caller")
            .needs(Scope::Run, Whose::Key)
            .answers::<Forgotten>(StatusCode::OK, "How many facts there were."),
        delete("/api/facts/{id}", forget)
            .named(Tag::Memory, "forgetFact", "Erase one fact")
            .needs(Scope::Run, Whose::Key)
            .answers_nothing(StatusCode::NO_CONTENT, "Its bytes are gone.")
            .fails(&[Code::NotFound]),
    ]
}

/// The facts that are remembered about the caller.
#[derive(Serialize, JsonSchema)]
struct Facts {
    facts: Vec<RememberedFact>,
    total: usize,
}

/// Something that is remembered about the caller.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RememberedFact {
    id: String,
    text: String,
    /// The thread in which it was said.
    thread_id: String,
    turn_id: String,
    created_at: Iso,
    #[serde(flatten)]
    damage: Damage,
}

/// The result of forgetting facts.
#[derive(Serialize, JsonSchema)]
struct Forgotten {
    forgotten: usize,
}

async fn list(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    pairs: Pairs,
) -> Result<Json<Facts>, Problem> {
    let Page { offset, limit } = pairs.page()?;
    let facts = site.server.chats.facts().all(&caller.0).await.map_err(engine::Error::from)?;
    let total = facts.len();
    Ok(Json(Facts { facts: facts.into_iter().skip(offset).take(limit).map(listed).collect(), total }))
}

async fn forget(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let was_there = site.server.chats.facts().forget(&caller.0, &id).await.map_err(engine::Error::from)?;
    let unknown = || Problem::new(Code::NotFound, format!("no fact with ID {id} is remembered"));
    was_there.then_some(StatusCode::NO_CONTENT).ok_or_else(unknown)
}

async fn forget_all(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Forgotten>, Problem> {
    let forgotten = site.server.chats.facts().forget_all(&caller.0).await.map_err(engine::Error::from)?;
    Ok(Json(Forgotten { forgotten }))
}

fn listed(fact: Result<Fact, DamagedFact>) -> RememberedFact {
    match fact {
        Ok(Fact { id, text, source, at }) => RememberedFact {
            id,
            text,
            thread_id: source.thread,
            turn_id: source.turn,
            created_at: Iso(at),
            damage: Damage::default(),
        },
        Err(DamagedFact { id, at, reason }) => RememberedFact {
            id,
            text: String::new(),
            thread_id: String::new(),
            turn_id: String::new(),
            created_at: Iso(at),
            damage: Damage::of(Some(reason)),
        },
    }
}
