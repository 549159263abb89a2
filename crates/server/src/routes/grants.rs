//! `/api/threads/{id}/grants`: the permissions for the rest of a chat.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_core::chat::GrantView;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Caller, Scope};
use crate::endpoint::{Endpoint, Tag, Whose, delete, get};
use consort_inbound::problem::{Code, Problem};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/threads/{id}/grants", list)
            .named(Tag::Threads, "listGrants", "List the permissions given for a chat")
            .about(
                "A grant comes from `allow_for_chat` and covers one tool to one host, as the tool was described \
                 then: one that is described otherwise is asked about again.",
            )
            .needs(Scope::Read, Whose::Key)
            .answers::<Grants>(StatusCode::OK, "The grants, the oldest first.")
            .fails(&[Code::ThreadNotFound]),
        delete("/api/threads/{id}/grants/{grant}", withdraw)
            .named(Tag::Threads, "withdrawGrant", "Revoke a permission given for a chat")
            .needs(Scope::Run, Whose::Key)
            .answers_nothing(StatusCode::NO_CONTENT, "It is asked about again, by the turn that runs too.")
            .fails(&[Code::ThreadNotFound, Code::GrantNotFound]),
    ]
}

/// The permissions that were given for the rest of a chat.
#[derive(Serialize, JsonSchema)]
struct Grants {
    grants: Vec<GrantView>,
}

async fn list(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<Grants>, Problem> {
    let chats = &site.server.chats;
    let grants = chats.grants(&caller.0, &id).await?;
    let tools = chats.catalog().tools;
    Ok(Json(Grants { grants: grants.iter().map(|grant| grant.view(&tools)).collect() }))
}

async fn withdraw(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path((id, grant)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    site.server.chats.withdraw(&caller.0, &id, &grant).await?;
    Ok(StatusCode::NO_CONTENT)
}
