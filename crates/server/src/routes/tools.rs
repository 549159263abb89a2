//! `POST /api/tools/{name}/invoke`: a tool, called by a person or a program.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;
use consort_runtime::engine::{DirectAnswer, DirectCall};
use consort_tools::{Answer, InputError, busy, input_arguments};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, TRACEPARENT, Tag, Whose, post};
use crate::problem::{Code, Problem};
use crate::routes::submit;

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

/// What a tool is called with.
#[derive(JsonSchema)]
struct InvokeRequest {
    /// The arguments, as the tool's schema wants them; a text is that object as JSON, or else stands for its only required text.
    #[schemars(extend("type" = ["object", "string", "null"]))]
    input: Option<Value>,
}

/// What a tool answered. A tool that failed is an answer too.
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

/// Why a tool failed, where programs should know.
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
    let tool = allowed(&site, &name)?;
    site.engine().check_open()?;
    let request = InvokeRequest { input: sent?.object()?.get("input").cloned() };
    let args = arguments(&tool, request.input.as_ref())?;
    let traceparent = submit::trace(&headers);
    let patience = site.server.tool_patience;
    let direct = DirectCall { tool: &tool, args, traceparent: traceparent.as_deref(), patience };
    let DirectAnswer { answer, took } = site.engine().call(direct).await?;
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let nothing = Invoked {
        tool: name,
        duration_ms,
        status: InvokedStatus::Failed,
        output: None,
        data: None,
        error_message: None,
        error: None,
    };
    let told = match answer {
        Some(Answer::Done { text, data }) => {
            Invoked { status: InvokedStatus::Success, output: Some(text), data, ..nothing }
        }
        Some(Answer::Failed(reason) | Answer::Unknown(reason)) => Invoked { error_message: Some(reason), ..nothing },
        None => {
            let reason = format!("no answer within {patience:?}");
            Invoked { error_message: Some(reason), error: Some(InvokedError::ToolTimeout), ..nothing }
        }
    };
    tracing::info!(tool = told.tool, by = caller.0, status = ?told.status, duration_ms, "called directly");
    Ok(Json(told))
}

/// Returns the tool, when there is one and it may be called directly.
fn allowed(site: &Site, name: &str) -> Result<Arc<ToolInfo>, Problem> {
    let (catalog, toolbox) = (site.catalog(), &site.engine().seams().tools);
    let known = catalog.tools.iter().find(|tool| tool.name == name).cloned();
    let Some(tool) = known.or_else(|| toolbox.find(name).map(|tool| tool.info().clone())) else {
        if site.server.catalog.tools.is_empty() && toolbox.live().next().is_none() {
            return Err(Problem::new(Code::NotConfigured, "no tools are configured"));
        }
        return Err(Problem::new(Code::ToolNotFound, catalog.unknown_tool(name)));
    };
    if tool.as_own() == Some(OwnTool::HumanInput) {
        let message = format!("the tool '{name}' may not be called directly: only a task can ask a person");
        return Err(Problem::new(Code::Forbidden, message));
    }
    if !site.server.direct.contains(&tool.permission) {
        let message = format!("the tool '{name}' may not be called directly: its class is not in `tools.direct`");
        return Err(Problem::new(Code::Forbidden, message));
    }
    Ok(tool)
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
