//! `POST /api/tools/{name}/invoke`: a tool, called by a person or a program.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use consort_core::catalog::ToolInfo;
use consort_runtime::engine::{DirectAnswer, DirectCall};
use consort_tools::{Answer, InputError, busy, input_arguments};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, TRACEPARENT, Tag, Whose, post};
use crate::routes::submit;
use consort_inbound::problem::{Code, Problem};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/tools/{name}/invoke", invoke)
            .named(Tag::Tools, "invokeTool", "Call a tool directly")
            .needs(Scope::Tools, Whose::Shared)
            .takes(&[TRACEPARENT])
            .optional_body::<InvokeRequest>()
            .answers::<Invoked>(StatusCode::OK, "What it answered.")
            .fails(&[Code::BadRequest, Code::InvalidInput, Code::Forbidden, Code::ToolNotFound]),
    ]
}

/// The input of a tool.
#[derive(JsonSchema)]
struct InvokeRequest {
    /// The arguments, as the tool's schema wants them; a text is that object as JSON, or else stands for its only required text.
    #[schemars(extend("type" = ["object", "string", "null"]))]
    input: Option<Value>,
}

/// The answer of a tool. A tool that failed is an answer too.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Invoked {
    tool: String,
    duration_ms: u64,
    status: InvokedStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// The output as data.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
    /// `TOOL_TIMEOUT` when it took too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<InvokedError>,
}

/// Whether a tool did what it was called for.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum InvokedStatus {
    Success,
    Failed,
}

/// The reason why a tool failed, where programs should know it.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum InvokedError {
    ToolTimeout,
}

async fn invoke(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    headers: HeaderMap,
    sent: Result<Sent, Problem>,
) -> Result<Json<Invoked>, Problem> {
    let tool = site.starter.direct_tool(&name, &site.server.direct)?;
    site.engine().check_open()?;
    let request = InvokeRequest { input: sent?.object()?.get("input").cloned() };
    let args = arguments(&tool, request.input.as_ref())?;
    let traceparent = submit::trace(&headers);
    let patience = site.server.tool_patience;
    let direct = DirectCall { tool: &tool, args, traceparent: traceparent.as_deref(), patience };
    let DirectAnswer { answer, took } = site.engine().call(direct).await?;
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let told = invoked((name, duration_ms), answer, || format!("no answer within {patience:?}"));
    tracing::info!(tool = told.tool, by = caller.0, status = ?told.status, duration_ms, "called directly");
    Ok(Json(told))
}

/// Returns the response about an answer, or about one that did not come in time.
fn invoked((tool, duration_ms): (String, u64), answer: Option<Answer>, late: impl FnOnce() -> String) -> Invoked {
    let failed = |reason: String, error: Option<InvokedError>| Invoked {
        tool: tool.clone(),
        duration_ms,
        status: InvokedStatus::Failed,
        output: None,
        data: None,
        error_message: Some(reason),
        error,
    };
    match answer {
        Some(Answer::Done { text, data }) => Invoked {
            tool,
            duration_ms,
            status: InvokedStatus::Success,
            output: Some(text),
            data,
            error_message: None,
            error: None,
        },
        Some(Answer::Failed(reason) | Answer::Unknown(reason)) => failed(reason, None),
        Some(Answer::Late { why, .. }) => failed(why, Some(InvokedError::ToolTimeout)),
        None => failed(late(), Some(InvokedError::ToolTimeout)),
    }
}

/// Returns the arguments of the call, which fit the tool's schema.
fn arguments(tool: &ToolInfo, input: Option<&Value>) -> Result<Value, Problem> {
    let invalid = |message: &str| Problem::new(Code::InvalidInput, message);
    let args = input_arguments(tool, input).map_err(|error| match error {
        InputError::NoObject => invalid("`input` must be an object, or a string that holds one"),
        InputError::OtherType => invalid("`input` must be an object or a string"),
    })?;
    let violations = busy::in_place(|| tool.schema.violations(&args));
    if violations.is_empty() { Ok(args) } else { Err(invalid(&violations.join("; "))) }
}
