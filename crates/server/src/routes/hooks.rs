//! `POST /hooks/{name}`: other programs begin runs. A hook has a check of its own instead of a key.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use consort_runtime::hooks::Received;
use consort_runtime::hooks::verify;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Site;
use crate::endpoint::{Endpoint, LOCATION, Tag, post};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::refusals::{Reason, Refusal};

/// The beginning of the addresses of hooks, which know a repeated request by its delivery.
pub(crate) const PREFIX: &str = "/hooks/";

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/hooks/{name}", receive)
            .named(Tag::Webhooks, "receiveHook", "Start a run through a configured hook")
            .about(
                "No key is needed: the hook's `verify` says how a sender proves who it is. The same delivery \
                 (`webhook-id`, `X-GitHub-Delivery`, Slack's `event_id`, else `Idempotency-Key`) answers the same run.",
            )
            .public()
            .body::<Value>()
            .answers::<Answered>(
                StatusCode::OK,
                "Nothing was begun: the hook's condition is false, or a sender asked whether this is a hook.",
            )
            .answers::<Begun>(StatusCode::ACCEPTED, "The run was begun, now or by the same delivery before.")
            .with(&[LOCATION])
            .fails(&[Code::BadRequest, Code::ExpressionFailed, Code::HookNotFound, Code::Unauthorized])
            .fails(&[Code::CircularDependency, Code::InvalidModel, Code::InvalidSchema, Code::InvalidTool])
            .fails(&[Code::MissingInput, Code::TemplateTooLarge, Code::ConcurrencyLimit, Code::QuotaExceeded]),
    ]
}

/// A run that was begun.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "HookBegun")]
struct Begun {
    run_id: String,
}

/// The answer to a sender when no run was begun.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "HookAnswer")]
enum Answered {
    /// The hook's condition is false.
    Skipped {
        #[schemars(extend("const" = true))]
        skipped: bool,
    },
    /// The words that the sender wants back.
    Challenge { challenge: String },
}

async fn receive(
    State(site): State<Arc<Site>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let read = async {
        let bytes = crate::body::read(&site, request).await?;
        let headers = texts(&headers);
        let received = site.hooks.receive(&name, verify::Request { headers: &headers, bytes: &bytes }).await;
        received.map_err(Problem::from)
    };
    match read.await {
        Ok(Received::Begun(run)) => {
            let location = [(header::LOCATION, format!("/api/runs/{run}"))];
            (StatusCode::ACCEPTED, location, Json(Begun { run_id: run.to_string() })).into_response()
        }
        Ok(Received::Skipped) => Json(Answered::Skipped { skipped: true }).into_response(),
        Ok(Received::Challenge(challenge)) => Json(Answered::Challenge { challenge }).into_response(),
        Err(problem) => {
            let is_unproven = problem.code() == Code::Unauthorized;
            let mut response = problem.into_response();
            if is_unproven {
                // Counted and slowed like any other wrong secret.
                response.extensions_mut().insert(Refusal { reason: Reason::Unauthorized, is_known: false });
            }
            response
        }
    }
}

/// Returns headers by their names in lower case; several of one name are joined, and what is no text is left out.
fn texts(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let Ok(value) = value.to_str() else { continue };
        let text = texts.entry(name.as_str().to_owned()).or_default();
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(value);
    }
    texts
}
