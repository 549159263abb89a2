//! `GET /api/me`: the caller's name, owner and scopes.

use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_core::owner::Sight;
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::{Pass, Scope, Sees};
use crate::endpoint::{Endpoint, Tag, Whose, get};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/me", me)
            .named(Tag::Server, "me", "Read the caller's name and scopes")
            .needs(Scope::Read, Whose::Key)
            .answers::<Me>(StatusCode::OK, "The caller."),
    ]
}

/// The caller.
#[derive(Serialize, JsonSchema)]
struct Me {
    /// The name of its key, which its threads belong to; `local` without keys.
    name: String,
    /// The owner of the runs that it begins.
    owner: String,
    /// The scopes of its key; all scopes without keys.
    scopes: Vec<Scope>,
    /// Whether its scopes extend to the runs of all owners.
    sees: Sees,
}

async fn me(Extension(pass): Extension<Pass>) -> Json<Me> {
    let sees = match pass.sight {
        Sight::All(_) => Sees::All,
        Sight::Own(_) | Sight::Nothing => Sees::Own,
    };
    let owner = pass.sight.owner().to_string();
    let scopes = pass.scopes().to_vec();
    Json(Me { name: pass.caller.0, owner, scopes, sees })
}
