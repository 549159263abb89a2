//! `/api/runs`: listing, showing and deleting runs.

use std::collections::HashMap;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_core::choice::Choice;
use consort_core::damaged::DamagedRun;
use consort_core::id::Millis;
use consort_core::spec::Kind;
use consort_core::status::Status;
use consort_core::view::{self, RunDetail, StoredRow};
use consort_log::damage::row_fault;
use consort_log::{self as log, Row};
use consort_runtime::engine::{self, Engine, Removal};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::list::{Found, Listed, RunsQuery, Wanted};
use super::steer::{Steered, Steering};
use crate::access::{Caller, Scope};
use crate::endpoint::{Endpoint, Tag, Whose, delete, get};
use crate::once;
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::{Page, Pairs};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/runs", list)
            .named(Tag::Runs, "listRuns", "List runs, the newest first")
            .needs(Scope::Read, Whose::Runs)
            .query::<RunsQuery>()
            .query::<Page>()
            .answers::<Runs>(StatusCode::OK, "The runs that match.")
            .fails(&[Code::BadRequest]),
        get("/api/runs/{id}", detail)
            .named(Tag::Runs, "getRun", "Read a run")
            .needs(Scope::Read, Whose::Runs)
            .answers::<RunDetail<'_>>(StatusCode::OK, "The run.")
            .fails(&[Code::RunNotFound]),
        delete("/api/runs/{id}", remove)
            .named(Tag::Runs, "deleteRun", "Erase an ended run, cancel any other")
            .needs(Scope::Run, Whose::Runs)
            .answers::<Steered>(StatusCode::OK, "It is being cancelled.")
            .answers_nothing(StatusCode::NO_CONTENT, "It is gone.")
            .fails(&[Code::RunNotFound]),
    ]
}

/// Returns the engine restricted to the kind of run that an id stands for: work for other ensembles is no run of this
/// server's own, but those who see it read it and decide its reviews here.
pub(super) fn reached(runs: &Engine, run: &str) -> Engine {
    let mut kinds = Listed::WORDS.iter().map(|(_, listed)| listed.kind());
    runs.only(kinds.find(|kind| run.starts_with(kind.word())).unwrap_or(Kind::Run))
}

/// A page of runs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Runs {
    #[schemars(with = "Vec<view::Row<'_>>")]
    runs: Vec<StoredRow>,
    /// The number of runs that match; with `model`, `minCost`, `waiting` or `paused`, of those that match the rest. With
    /// `after`, of those that follow it.
    total: usize,
    /// The `after` of the next page. With `model`, `minCost`, `waiting` or `paused` a page may have fewer runs than its
    /// limit, or none, and yet another after it. Absent when there is no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

async fn list(Extension(runs): Extension<Engine>, pairs: Pairs) -> Result<Json<Runs>, Problem> {
    Ok(Json(listed(&runs, &pairs).await?))
}

/// Returns the runs that match.
pub(crate) async fn listed(runs: &Engine, pairs: &Pairs) -> Result<Runs, Problem> {
    let wanted = Wanted::read(pairs)?;
    let runs = &runs.only(wanted.kind());
    let Found { rows, total, next } = wanted.find(runs).await?;
    let unended: Vec<&str> = rows.iter().filter(|(_, row)| row.ended_at.is_none()).map(|(run, _)| &**run).collect();
    let places: HashMap<&str, usize> = unended
        .iter()
        .zip(runs.queue_places(&unended).await?)
        .filter_map(|(run, place)| Some((*run, place?)))
        .collect();
    let listed = rows.iter().map(|(run, row)| listed_run(runs, run, row, places.get(&**run).copied()));
    Ok(Runs { runs: listed.collect(), total, next })
}

/// Returns the list entry of a run; one that cannot be read is marked.
fn listed_run(runs: &Engine, run: &str, row: &Row, place: Option<usize>) -> StoredRow {
    let mut stored = StoredRow::read(&row.body);
    if let Ok(stored) = &mut stored {
        stored.belong_to(&row.owner);
    }
    let reason = stored.as_ref().err().map(|error| row_fault(&row.body, error));
    match (runs.damage(run).or(reason), stored) {
        (None, Ok(mut stored)) => {
            if let Some(place) = place {
                stored.queue(place, waited(runs, row.started_at));
            }
            if runs.stalled(run).is_some() {
                stored.stall();
            }
            stored
        }
        (reason, _) => damaged(run, row, &reason.unwrap_or_default()).listed(),
    }
}

/// Returns the part of an unreadable run that its row still holds.
fn damaged<'a>(run: &'a str, row: &'a Row, reason: &'a str) -> DamagedRun<'a> {
    let Row { status, started_at, tags, body, owner, .. } = row;
    // What is damaged may be the word itself.
    let status = Status::parse(status).unwrap_or(Status::Failed).word();
    DamagedRun { run, row: body, status, started_at: *started_at, tags, owner: owner.as_str(), reason }
}

async fn detail(Extension(runs): Extension<Engine>, Path(run): Path<String>) -> Result<Json<Value>, Problem> {
    Ok(Json(detailed(&reached(&runs, &run), &run).await?))
}

/// Returns the details of a run; of an unreadable one, the content of its row.
pub(crate) async fn detailed(runs: &Engine, run: &str) -> Result<Value, Problem> {
    let state = match runs.run(run).await {
        Ok(state) => state,
        Err(error @ engine::Error::Log(log::Error::Damaged { .. })) => {
            let (row, reason) = runs.damaged(run).await?.ok_or(error)?;
            return Ok(json!(damaged(run, &row, &reason).detail()));
        }
        Err(error) => return Err(error.into()),
    };
    let mut detail = state.detail(run);
    let place = if state.ended() { None } else { runs.queue_places(&[run]).await?.pop().flatten() };
    if let Some(place) = place {
        detail.queue(place, waited(runs, state.summary(run).started_at));
    }
    if runs.stalled(run).is_some() {
        detail.stall();
    }
    Ok(json!(detail))
}

async fn remove(
    Extension(runs): Extension<Engine>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Response, Problem> {
    Ok(match runs.remove(&run, caller.0).await? {
        Removal::Cancelling => Json(Steered { run_id: run, status: Steering::Cancelling }).into_response(),
        Removal::Erased => {
            once::forget_run(&*runs.seams().log, &run).await.map_err(engine::Error::from)?;
            StatusCode::NO_CONTENT.into_response()
        }
    })
}

/// Returns the time that a run has waited.
fn waited(runs: &Engine, started_at: Millis) -> Millis {
    runs.seams().clock.now().saturating_sub(started_at)
}
