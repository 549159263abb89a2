//! `/api/runs`: listing, showing and deleting runs.

use std::collections::HashMap;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_core::choice::{AnyCase, Choice};
use consort_core::damaged::DamagedRun;
use consort_core::id::Millis;
use consort_core::spec::Kind;
use consort_core::status::Status;
use consort_core::view::{self, RunDetail, StoredRow};
use consort_log::{self as log, Query, Row};
use consort_runtime::engine::{self, Engine, Removal};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::steer::{Steered, Steering};
use crate::access::{Caller, Scope};
use crate::endpoint::{Endpoint, Tag, Whose, delete, get};
use crate::once;
use crate::problem::{Code, Problem};
use crate::query::{Page, Pairs};

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
            .named(Tag::Runs, "getRun", "Everything about a run")
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

/// The runs that are wanted.
#[derive(JsonSchema)]
struct RunsQuery {
    /// The status of the runs.
    #[schemars(with = "Option<AnyCase<Status>>")]
    status: Option<Status>,
    /// `key:value`, or `key` with any value; all given ones must match.
    #[schemars(with = "Option<Vec<String>>")]
    tag: Vec<(String, Option<String>)>,
    /// The runs of this ensemble, or work for others; the first when absent.
    #[schemars(with = "Option<AnyCase<Listed>>")]
    kind: Listed,
}

/// The kinds of runs that are listed and read.
#[derive(Clone, Copy, Default)]
enum Listed {
    #[default]
    Run,
    Peer,
}

impl Choice for Listed {
    const WORDS: &'static [(&'static str, Listed)] = &[("run", Listed::Run), ("peer", Listed::Peer)];
}

impl Listed {
    fn kind(self) -> Kind {
        match self {
            Listed::Run => Kind::Run,
            Listed::Peer => Kind::Peer,
        }
    }
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
    total: usize,
}

async fn list(Extension(runs): Extension<Engine>, pairs: Pairs) -> Result<Json<Runs>, Problem> {
    Ok(Json(listed(&runs, &pairs).await?))
}

/// Returns the runs that match.
pub(crate) async fn listed(runs: &Engine, pairs: &Pairs) -> Result<Runs, Problem> {
    let (kind, query) = query(pairs)?;
    let runs = &runs.only(kind);
    let page = runs.list(query).await?;
    let unended: Vec<&str> =
        page.rows.iter().filter(|(_, row)| row.ended_at.is_none()).map(|(run, _)| &**run).collect();
    let places: HashMap<&str, usize> = unended
        .iter()
        .zip(runs.queue_places(&unended).await?)
        .filter_map(|(run, place)| Some((*run, place?)))
        .collect();
    let listed = page.rows.iter().map(|(run, row)| listed_run(runs, run, row, places.get(&**run).copied()));
    Ok(Runs { runs: listed.collect(), total: page.total })
}

/// Returns the list entry of a run; one that cannot be read is marked.
fn listed_run(runs: &Engine, run: &str, row: &Row, place: Option<usize>) -> StoredRow {
    let mut stored = StoredRow::read(&row.body);
    if let Ok(stored) = &mut stored {
        stored.belong_to(&row.owner);
    }
    let reason = stored.as_ref().err().map(|error| format!("its row cannot be read: {error}"));
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

fn query(pairs: &Pairs) -> Result<(Kind, Query), Problem> {
    let RunsQuery { status, tag, kind } = RunsQuery::read(pairs)?;
    let Page { offset, limit } = pairs.page()?;
    let status = status.map(|status| status.word().to_owned());
    let kind = kind.kind();
    Ok((kind, Query { kind: Some(kind.word().to_owned()), status, tags: tag, offset, limit, ..Query::default() }))
}

impl RunsQuery {
    fn read(pairs: &Pairs) -> Result<RunsQuery, Problem> {
        let status = pairs.first("status").map(status).transpose()?;
        let tag: Result<Vec<_>, Problem> = pairs.all("tag").map(tag).collect();
        let kind = pairs.first("kind").map(kind).transpose()?.unwrap_or_default();
        Ok(RunsQuery { status, tag: tag?, kind })
    }
}

/// Parses `key:value`, or a `key` that matches any value.
fn tag(said: &str) -> Result<(String, Option<String>), Problem> {
    let (key, value) = said.split_once(':').map_or((said, None), |(key, value)| (key, Some(value.to_owned())));
    match key {
        "" => Err(Problem::bad_request(format!("`tag` must be `key:value` or `key`, not '{said}'"))),
        key => Ok((key.to_owned(), value)),
    }
}

fn status(said: &str) -> Result<Status, Problem> {
    let known = Status::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(said));
    known.map(|(_, status)| *status).ok_or_else(|| Problem::bad_request(format!("Unknown status: {said}")))
}

fn kind(said: &str) -> Result<Listed, Problem> {
    let known = Listed::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(said));
    known
        .map(|(_, kind)| *kind)
        .ok_or_else(|| Problem::bad_request(format!("`kind` must be run or peer, not '{said}'")))
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
