//! `/api/runs/{id}/…`: what can be asked of a run while it lasts.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Extension, Json, Router};
use consort_core::decide::Command;
use consort_core::event::{CancelMode, Directive, Fact, Priority};
use consort_core::id::Millis;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::Site;
use crate::access::Caller;
use crate::body::Sent;
use crate::problem::Problem;

const MODES: &[(&str, CancelMode)] =
    &[("after_task", CancelMode::AfterTask), ("after_iteration", CancelMode::AfterIteration), ("now", CancelMode::Now)];
const PRIORITIES: &[(&str, Priority)] =
    &[("LOW", Priority::Low), ("NORMAL", Priority::Normal), ("HIGH", Priority::High)];

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/api/runs/{id}/cancel", post(cancel))
        .route("/api/runs/{id}/pause", post(pause))
        .route("/api/runs/{id}/resume", post(resume))
        .route("/api/runs/{id}/model", post(model))
        .route("/api/runs/{id}/inject", post(inject))
}

async fn cancel(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    sent: Sent,
) -> Result<Json<Value>, Problem> {
    let mode = sent.word("mode", MODES)?.unwrap_or_default();
    site.engine().command(&run, Command::Cancel { mode, by: caller.0 }).await?;
    Ok(Json(json!({ "runId": run, "status": "CANCELLING" })))
}

async fn pause(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<Value>, Problem> {
    site.engine().command(&run, Command::Pause { by: caller.0 }).await?;
    Ok(Json(json!({ "runId": run, "status": "PAUSED" })))
}

async fn resume(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<Value>, Problem> {
    site.engine().command(&run, Command::Resume { by: caller.0 }).await?;
    Ok(Json(json!({ "runId": run, "status": "RESUMED" })))
}

async fn model(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Value>, Problem> {
    let catalog = &site.server.catalog;
    if catalog.models.is_empty() {
        let message = "no models are configured";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "NOT_CONFIGURED", message));
    }
    let sent = sent?;
    let alias = sent.text("model")?;
    let models = catalog.model(alias)?;
    let events = site.engine().command(&run, Command::SwitchModel { models, by: caller.0 }).await?;
    let previous = events.iter().find_map(|event| {
        if let Fact::ModelSwitched { previous, .. } = &event.fact { Some(previous.as_str()) } else { None }
    });
    Ok(Json(json!({ "runId": run, "model": alias, "previousModel": previous, "status": "APPLIED" })))
}

async fn inject(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    sent: Sent,
) -> Result<Json<Value>, Problem> {
    let directive = directive(&sent, caller.0, site.engine().seams().clock.now())?;
    site.engine().command(&run, Command::Direct { directive: directive.clone() }).await?;
    let id = site.engine().run(&run).await?.directive_id(&run, &directive);
    Ok(Json(json!({ "directiveId": id, "status": "ACTIVE" })))
}

fn directive(sent: &Sent, from: String, now: Millis) -> Result<Directive, Problem> {
    let ttl_ms = sent.optional_text("ttl")?.map(ttl_ms).transpose()?;
    Ok(Directive {
        target: sent.optional_text("target")?.map(str::to_owned),
        content: sent.text("content")?.to_owned().into(),
        priority: sent.word("priority", PRIORITIES)?.unwrap_or_default(),
        from,
        created_at: now,
        expires_at: ttl_ms.map(|ttl_ms| now.saturating_add(ttl_ms)),
    })
}

/// A span of time as ISO 8601 (`PT10M`).
fn ttl_ms(text: &str) -> Result<Millis, Problem> {
    let span: Option<SignedDuration> = text.parse().ok();
    let millis = span.and_then(|span| Millis::try_from(span.as_millis()).ok());
    millis.ok_or_else(|| Problem::bad_request(format!("`ttl` must be a span of time such as PT10M, not '{text}'")))
}
