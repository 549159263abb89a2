//! `/api/runs/{id}/…`: what can be asked of a run while it lasts.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Extension, Json, Router};
use consort_core::decide::{Command, Refused};
use consort_core::event::{CancelMode, Directive, Event, Fact, Priority};
use consort_core::id::Millis;
use consort_core::run::Run;
use consort_runtime::engine;
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
    sent: Result<Sent, Problem>,
) -> Result<Json<Value>, Problem> {
    let mode = match sent.and_then(|sent| mode(&sent)) {
        Ok(mode) => mode,
        Err(wrong) => return Err(in_the_way(&site, &run, wrong).await),
    };
    Ok(Json(cancelled(&site, &run, mode, &caller).await?))
}

/// Asks a run for something; what it recorded of that.
async fn asked(site: &Site, run: &str, command: Command) -> Result<Vec<Event>, Problem> {
    site.engine().command(run, command).await.map_err(|error| Problem::of_run(run, error))
}

/// What is wrong with a request; before that comes that no run could take it.
async fn in_the_way(site: &Site, run: &str, wrong: Problem) -> Problem {
    let ended = |run: Run| run.ended().then(|| Refused::Ended { status: run.status() }.into());
    let gone = site.engine().run(run).await.map_or_else(Some, ended);
    gone.map_or(wrong, |error: engine::Error| Problem::of_run(run, error))
}

/// How soon a run is to stop.
pub(crate) fn mode(sent: &Sent) -> Result<CancelMode, Problem> {
    Ok(sent.word("mode", MODES)?.unwrap_or_default())
}

/// Asks a run to stop.
pub(crate) async fn cancelled(site: &Site, run: &str, mode: CancelMode, caller: &Caller) -> Result<Value, Problem> {
    asked(site, run, Command::Cancel { mode, by: caller.0.clone() }).await?;
    Ok(json!({ "runId": run, "status": "CANCELLING" }))
}

async fn pause(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<Value>, Problem> {
    asked(&site, &run, Command::Pause { by: caller.0 }).await?;
    Ok(Json(json!({ "runId": run, "status": "PAUSED" })))
}

async fn resume(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<Value>, Problem> {
    asked(&site, &run, Command::Resume { by: caller.0 }).await?;
    Ok(Json(json!({ "runId": run, "status": "RESUMED" })))
}

async fn model(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Value>, Problem> {
    if site.server.catalog.models.is_empty() {
        return Err(no_models());
    }
    let sent = sent?;
    Ok(Json(switched(&site, &run, sent.text("model")?, &caller).await?))
}

/// Makes a run ask another model from now on.
pub(crate) async fn switched(site: &Site, run: &str, alias: &str, caller: &Caller) -> Result<Value, Problem> {
    let catalog = &site.server.catalog;
    if catalog.models.is_empty() {
        return Err(no_models());
    }
    let models = catalog.model(alias)?;
    let by = caller.0.clone();
    let events = asked(site, run, Command::SwitchModel { models, by }).await?;
    let previous = events.iter().find_map(|event| {
        if let Fact::ModelSwitched { previous, .. } = &event.fact { Some(previous.as_str()) } else { None }
    });
    Ok(json!({ "runId": run, "model": alias, "previousModel": previous, "status": "APPLIED" }))
}

fn no_models() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "NOT_CONFIGURED", "no models are configured")
}

async fn inject(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Value>, Problem> {
    let directive = match sent.and_then(|sent| directive(&sent, caller.0, site.now())) {
        Ok(directive) => directive,
        Err(wrong) => return Err(in_the_way(&site, &run, wrong).await),
    };
    let id = given(&site, &run, &directive).await?;
    Ok(Json(json!({ "directiveId": id, "status": "ACTIVE" })))
}

/// Says something to the agents of a run; the id it has there.
pub(crate) async fn given(site: &Site, run: &str, directive: &Directive) -> Result<String, Problem> {
    asked(site, run, Command::Direct { directive: directive.clone() }).await?;
    Ok(site.engine().run(run).await?.directive_id(run, directive).unwrap_or_default())
}

pub(crate) fn directive(sent: &Sent, from: String, now: Millis) -> Result<Directive, Problem> {
    let ttl_ms = ttl(sent)?;
    Ok(Directive {
        target: sent.optional_text("target")?.map(str::to_owned),
        content: sent.text("content")?.to_owned().into(),
        priority: sent.word("priority", PRIORITIES)?.unwrap_or_default(),
        from,
        on_behalf_of: sent.optional_text("onBehalfOf")?.map(str::to_owned),
        created_at: now,
        expires_at: ttl_ms.map(|ttl_ms| now.saturating_add(ttl_ms)),
    })
}

/// How long what was sent matters.
pub(crate) fn ttl(sent: &Sent) -> Result<Option<Millis>, Problem> {
    sent.optional_text("ttl")?.map(ttl_ms).transpose()
}

/// A span of time as ISO 8601 (`PT10M`).
fn ttl_ms(text: &str) -> Result<Millis, Problem> {
    // The parser takes English too, which is not what a `ttl` is written in.
    let span: Option<SignedDuration> =
        Some(text).filter(|text| text.starts_with(['P', 'p'])).and_then(|text| text.parse().ok());
    let millis = span.and_then(|span| Millis::try_from(span.as_millis()).ok());
    millis.ok_or_else(|| Problem::bad_request(format!("`ttl` must be a span of time such as PT10M, not '{text}'")))
}
