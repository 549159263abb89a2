//! `/api/approvals`: calls of chats that wait for a person.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_core::chat::{Answer, PendingApproval};
use consort_core::choice::{AnyCase, OneOf};
use schemars::JsonSchema;
use serde::Serialize;

use super::steer::Applied;
use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, Tag, Whose, get, post};
use crate::problem::{Code, Problem};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/approvals", list)
            .named(Tag::Threads, "listApprovals", "Calls of chats that wait for a person")
            .needs(Scope::Read, Whose::Key)
            .answers::<Approvals>(StatusCode::OK, "The open ones."),
        post("/api/approvals/{id}", answer)
            .named(Tag::Threads, "answerApproval", "Allow a call, or not")
            .needs(Scope::Review, Whose::Key)
            .body::<ApprovalRequest>()
            .answers::<Answered>(StatusCode::OK, "The answer holds.")
            .fails(&[Code::BadRequest, Code::ApprovalNotFound, Code::ApprovalResolved, Code::RunCompleted])
            .fails(&[Code::Conflict]),
    ]
}

/// The calls of a client's chats that wait for a person.
#[derive(Serialize, JsonSchema)]
struct Approvals {
    total: usize,
    approvals: Vec<PendingApproval>,
}

/// What a person says about a call.
#[derive(JsonSchema)]
struct ApprovalRequest {
    #[schemars(with = "AnyCase<Answer>")]
    decision: Answer,
}

/// A call that was answered.
#[derive(Serialize, JsonSchema)]
struct Answered {
    approval_id: String,
    #[schemars(with = "OneOf<Answer>")]
    decision: Answer,
    status: Applied,
}

impl ApprovalRequest {
    fn read(sent: &Sent) -> Result<ApprovalRequest, Problem> {
        let decision = sent.choice("decision")?.ok_or_else(|| Problem::bad_request("`decision` is required"))?;
        Ok(ApprovalRequest { decision })
    }
}

async fn list(State(site): State<Arc<Site>>, Extension(caller): Extension<Caller>) -> Result<Json<Approvals>, Problem> {
    let approvals = site.server.chats.approvals(&caller.0).await?;
    Ok(Json(Approvals { total: approvals.len(), approvals }))
}

async fn answer(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Answered>, Problem> {
    let ApprovalRequest { decision } = ApprovalRequest::read(&sent?)?;
    site.server.chats.approve(&caller.0, &id, decision).await?;
    Ok(Json(Answered { approval_id: id, decision, status: Applied::Applied }))
}
