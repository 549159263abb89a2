//! `/api/approvals`: calls of chats that wait for a person.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_chat::Chats;
use consort_core::chat::{Answer, PendingApproval};
use consort_core::choice::{AnyCase, OneOf};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::steer::Applied;
use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, Tag, Whose, get, post};
use consort_inbound::problem::{Code, Problem};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/approvals", list)
            .named(Tag::Threads, "listApprovals", "List the tool calls that wait for permission")
            .needs(Scope::Read, Whose::Key)
            .answers::<Approvals>(StatusCode::OK, "The open ones."),
        post("/api/approvals/{id}", answer)
            .named(Tag::Threads, "answerApproval", "Allow or deny a tool call")
            .needs(Scope::Review, Whose::Key)
            .body::<ApprovalRequest>()
            .answers::<Answered>(StatusCode::OK, "The answer holds.")
            .fails(&[Code::BadRequest, Code::ApprovalNotFound, Code::ApprovalResolved, Code::RunCompleted])
            .fails(&[Code::Conflict, Code::InvalidInput]),
    ]
}

/// The calls of a client's chats that wait for a person.
#[derive(Serialize, JsonSchema)]
struct Approvals {
    total: usize,
    approvals: Vec<PendingApproval>,
}

/// A person's answer to a question for permission.
#[derive(JsonSchema)]
pub(crate) struct ApprovalRequest {
    #[schemars(with = "AnyCase<Answer>")]
    pub(crate) decision: Answer,
    /// The arguments to make the call with, in the place of the model's; only with `allow`.
    #[schemars(with = "Option<Map<String, Value>>")]
    args: Option<Value>,
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
    pub(crate) fn read(sent: &Sent) -> Result<ApprovalRequest, Problem> {
        let decision = sent.choice("decision")?.ok_or_else(|| Problem::bad_request("`decision` is required"))?;
        let args = sent.0.get("args").filter(|args| !args.is_null()).cloned();
        match &args {
            Some(args) if !args.is_object() => Err(Problem::bad_request("`args` must be a JSON object")),
            Some(_) if decision != Answer::Allow => {
                let message = format!("`args` go with the decision `allow` only, not with `{decision}`");
                Err(Problem::bad_request(message))
            }
            Some(_) | None => Ok(ApprovalRequest { decision, args }),
        }
    }

    /// Answers the question of this id.
    pub(crate) async fn give(&self, chats: &Chats, caller: &Caller, id: &str) -> Result<(), Problem> {
        match &self.args {
            Some(args) => chats.allow_with(&caller.0, id, args).await?,
            None => chats.approve(&caller.0, id, self.decision).await?,
        }
        Ok(())
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
    let request = ApprovalRequest::read(&sent?)?;
    request.give(&site.server.chats, &caller, &id).await?;
    Ok(Json(Answered { approval_id: id, decision: request.decision, status: Applied::Applied }))
}
