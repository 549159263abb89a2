//! `POST /api/tools/{name}/invoke`: a tool, called by a person or a program.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Extension, Json, Router};
use consort_core::catalog::ToolInfo;
use consort_core::id::Id;
use consort_core::own_tool::OwnTool;
use consort_http::trace::{self, Trace};
use consort_runtime::effects::Seams;
use consort_runtime::meters::Meter;
use consort_tools::busy;
use consort_tools::{Answer, Invocation};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::Site;
use crate::access::Caller;
use crate::body::Sent;
use crate::problem::Problem;
use crate::routes::submit;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/tools/{name}/invoke", post(invoke))
}

async fn invoke(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    headers: HeaderMap,
    sent: Result<Sent, Problem>,
) -> Result<Json<Value>, Problem> {
    let tool = allowed(&site, &name)?;
    site.engine().check_open()?;
    let sent = sent?;
    let args = arguments(&tool, sent.object()?.get("input"))?;
    let key = format!("direct-{}", uuid::Uuid::now_v7().simple());
    let trace = submit::trace(&headers).and_then(|given| Some(Trace::parse(&given)?.at(&key, "")));
    let invocation = Invocation { run: key.as_str().into(), call: Id::task(0), key, args, account: Default::default() };
    let (began, patience) = (Instant::now(), site.server.tool_patience);
    let performed = trace::within(trace, perform(site.engine().seams(), &tool, invocation));
    let answer = timeout(patience, performed).await;
    let took = began.elapsed();
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let outcome = match &answer {
        Ok(Answer::Done { .. }) => "done",
        Ok(Answer::Failed(_)) => "failed",
        Ok(Answer::Unknown(_)) | Err(_) => "unknown",
    };
    site.engine().meters().time(Meter::ToolCall, &[("tool", &name), ("outcome", outcome)], took);
    let (status, output, data, error) = match answer {
        Ok(Answer::Done { text, data }) => ("SUCCESS", Ok(text), data, None),
        Ok(Answer::Failed(reason) | Answer::Unknown(reason)) => ("FAILED", Err(reason), None, None),
        Err(_elapsed) => ("FAILED", Err(format!("no answer within {patience:?}")), None, Some("TOOL_TIMEOUT")),
    };
    tracing::info!(tool = name, by = caller.0, status, duration_ms, "called directly");
    let (output, reason) = (output.as_ref().ok(), output.as_ref().err());
    let mut told = json!({ "tool": name, "durationMs": duration_ms, "status": status, "output": output, "data": data,
        "errorMessage": reason, "error": error });
    if let Value::Object(told) = &mut told {
        told.retain(|_, value| !value.is_null());
    }
    Ok(Json(told))
}

/// Calls a tool the way a run does: nobody else holds its lock meanwhile.
async fn perform(seams: &Seams, tool: &ToolInfo, invocation: Invocation) -> Answer {
    let _held = match &tool.lock {
        Some(name) => Some(seams.limits.lock(name).await),
        None => None,
    };
    seams.tools.perform(&tool.name, invocation).await
}

/// The tool, when there is one and it may be called directly.
fn allowed(site: &Site, name: &str) -> Result<Arc<ToolInfo>, Problem> {
    let (catalog, toolbox) = (site.catalog(), &site.engine().seams().tools);
    let known = catalog.tools.iter().find(|tool| tool.name == name).cloned();
    let Some(tool) = known.or_else(|| toolbox.find(name).map(|tool| tool.info().clone())) else {
        if site.server.catalog.tools.is_empty() && toolbox.live().next().is_none() {
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "NOT_CONFIGURED", "no tools are configured"));
        }
        return Err(Problem::new(StatusCode::NOT_FOUND, "TOOL_NOT_FOUND", catalog.unknown_tool(name)));
    };
    if tool.as_own() == Some(OwnTool::HumanInput) {
        let message = format!("the tool '{name}' may not be called directly: only a task can ask a person");
        return Err(Problem::new(StatusCode::FORBIDDEN, "FORBIDDEN", message));
    }
    if !site.server.direct.contains(&tool.permission) {
        let message = format!("the tool '{name}' may not be called directly: its class is not in `tools.direct`");
        return Err(Problem::new(StatusCode::FORBIDDEN, "FORBIDDEN", message));
    }
    Ok(tool)
}

/// What the tool is called with: a text is the arguments as JSON, or stands for
/// its only required text.
fn arguments(tool: &ToolInfo, input: Option<&Value>) -> Result<Value, Problem> {
    let invalid = |message: String| Problem::new(StatusCode::BAD_REQUEST, "INVALID_INPUT", message);
    let args = match input {
        None | Some(Value::Null) => json!({}),
        Some(Value::String(text)) => {
            let args = busy::in_place(|| tool.schema.arguments(text));
            args.ok_or_else(|| invalid("`input` must be an object, or a string that holds one".to_owned()))?
        }
        Some(object @ Value::Object(_)) => object.clone(),
        Some(_) => return Err(invalid("`input` must be an object or a string".to_owned())),
    };
    let violations = busy::in_place(|| tool.schema.violations(&args));
    if violations.is_empty() { Ok(args) } else { Err(invalid(violations.join("; "))) }
}
