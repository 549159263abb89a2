//! `/api/runs/{id}/budget`: raises the limits of a run, which whoever runs the server has set.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_core::budget::Raise;
use consort_core::catalog::NanoUsd;
use consort_core::decide::Command;
use consort_core::event::EventKind;
use consort_core::view::LimitsView;
use consort_runtime::engine::Engine;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::steer::{Applied, asked, in_the_way};
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, Tag, Whose, post};
use consort_inbound::problem::{Code, Problem};

/// The number of nano-USD in a US dollar.
const NANOS_PER_USD: f64 = 1e9;
/// The largest cost that can be asked for, in US dollars; more would not fit the counters exactly.
const USD_MAX: f64 = 1e6;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/runs/{id}/budget", raise)
            .named(Tag::Runs, "raiseBudget", "Raise the budget of a run")
            .about("Each limit must be more than the one there is. A run that has passed one has ended: a retry has a budget of its own.")
            .needs(Scope::Admin, Whose::Runs)
            .body::<BudgetRequest>()
            .answers::<Raised>(StatusCode::OK, "The limits hold from now on.")
            .fails(&[Code::BadRequest, Code::RunNotFound, Code::RunCompleted, Code::StorageDamaged]),
    ]
}

/// The limits to raise; the others stay as they are.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "read as JSON, to report a number that is none")]
pub(crate) struct BudgetRequest {
    max_total_subtasks: Option<u64>,
    max_total_llm_calls: Option<u64>,
    max_total_tool_calls: Option<u64>,
    max_wall_clock_ms: Option<u64>,
    max_total_tokens: Option<u64>,
    max_cost_usd: Option<f64>,
}

/// A run that may use more.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Raised {
    run_id: String,
    limits: LimitsView,
    status: Applied,
}

async fn raise(
    Extension(runs): Extension<Engine>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Raised>, Problem> {
    match sent.and_then(|sent| read(&sent)) {
        Ok(raise) => Ok(Json(raised(&runs, &run, raise, &caller).await?)),
        Err(wrong) => Err(in_the_way(&runs, &run, wrong).await),
    }
}

/// Raises limits of a run.
pub(crate) async fn raised(runs: &Engine, run: &str, raise: Raise, caller: &Caller) -> Result<Raised, Problem> {
    let events = asked(runs, run, Command::RaiseBudget { raise, by: caller.0.clone() }).await?;
    let limits = events
        .iter()
        .find_map(|event| if let EventKind::BudgetRaised { limits, .. } = &event.kind { Some(*limits) } else { None });
    let limits = limits.unwrap_or_default();
    Ok(Raised { run_id: run.to_owned(), limits: LimitsView::from(&limits), status: Applied::Applied })
}

/// Reads the limits to raise.
pub(crate) fn read(sent: &Sent) -> Result<Raise, Problem> {
    let fields = sent.object()?;
    let whole = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            value.as_u64().map(Some).ok_or_else(|| Problem::bad_request(format!("`{name}` must be a whole number")))
        }
    };
    let raise = Raise {
        subtasks: whole("maxTotalSubtasks")?,
        llm_calls: whole("maxTotalLlmCalls")?,
        tool_calls: whole("maxTotalToolCalls")?,
        wall_clock_ms: whole("maxWallClockMs")?,
        tokens: whole("maxTotalTokens")?,
        cost: fields.get("maxCostUsd").filter(|usd| !usd.is_null()).map(nanos).transpose()?,
    };
    if raise == Raise::default() {
        return Err(Problem::bad_request(
            "name a limit to raise: maxTotalTokens, maxCostUsd, maxTotalLlmCalls, maxTotalToolCalls, maxTotalSubtasks or maxWallClockMs",
        ));
    }
    Ok(raise)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the amount is positive and small enough")]
fn nanos(usd: &Value) -> Result<NanoUsd, Problem> {
    let usd = usd.as_f64().filter(|usd| *usd > 0.0 && *usd <= USD_MAX);
    let wrong = || Problem::bad_request(format!("`maxCostUsd` must be a number above 0 and at most {USD_MAX}"));
    Ok((usd.ok_or_else(wrong)? * NANOS_PER_USD).round() as NanoUsd)
}
