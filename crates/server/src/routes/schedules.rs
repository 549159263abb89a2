//! `/api/schedules`: runs that begin when they are due. Those of the configuration can be paused, resumed and
//! triggered here, and not changed.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_runtime::schedules::ScheduleView;
use consort_runtime::schedules::plan::{CatchUp, Overlap};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Site;
use crate::access::{Pass, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, LOCATION, Tag, Whose, delete, get, patch, post};
use consort_inbound::problem::{Code, Problem};

/// The codes of the problems for which a run of a workflow or of the ensemble may be refused.
const UNFIT: [Code; 6] = [
    Code::BadRequest,
    Code::CircularDependency,
    Code::InvalidModel,
    Code::InvalidSchema,
    Code::InvalidTool,
    Code::TemplateTooLarge,
];

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/schedules", list)
            .named(Tag::Schedules, "listSchedules", "List schedules")
            .needs(Scope::Read, Whose::Runs)
            .answers::<Schedules>(StatusCode::OK, "All that the caller sees, by name."),
        post("/api/schedules", create)
            .named(Tag::Schedules, "createSchedule", "Create a schedule")
            .about("Its runs belong to the caller's owner, and so does its name: other owners may use the same. Missed times are made up for as `catchUp` says.")
            .needs(Scope::Run, Whose::Runs)
            .body::<ScheduleRequest>()
            .answers::<ScheduleView>(StatusCode::CREATED, "It is there.")
            .with(&[LOCATION])
            .fails(&[Code::BadRequest, Code::Conflict, Code::LimitReached]),
        get("/api/schedules/{name}", one)
            .named(Tag::Schedules, "getSchedule", "Read a schedule")
            .needs(Scope::Read, Whose::Runs)
            .answers::<ScheduleView>(StatusCode::OK, "The schedule.")
            .fails(&[Code::Conflict, Code::ScheduleNotFound]),
        patch("/api/schedules/{name}", change)
            .named(Tag::Schedules, "changeSchedule", "Change a schedule")
            .about("What is not sent stays as it is; null is the default. Of `cron` and `every` the one that is sent takes the place of the other.")
            .needs(Scope::Run, Whose::Runs)
            .body::<ScheduleChanges>()
            .answers::<ScheduleView>(StatusCode::OK, "The schedule as it is now.")
            .fails(&[Code::BadRequest, Code::Conflict, Code::ScheduleNotFound, Code::StorageDamaged]),
        delete("/api/schedules/{name}", remove)
            .named(Tag::Schedules, "deleteSchedule", "Erase a schedule")
            .needs(Scope::Run, Whose::Runs)
            .answers_nothing(StatusCode::NO_CONTENT, "It is gone; its runs stay.")
            .fails(&[Code::Conflict, Code::ScheduleNotFound]),
        post("/api/schedules/{name}/pause", pause)
            .named(Tag::Schedules, "pauseSchedule", "Pause a schedule")
            .needs(Scope::Run, Whose::Runs)
            .answers::<ScheduleView>(StatusCode::OK, "The schedule, paused.")
            .fails(&[Code::Conflict, Code::ScheduleNotFound, Code::StorageDamaged]),
        post("/api/schedules/{name}/resume", resume)
            .named(Tag::Schedules, "resumeSchedule", "Resume a schedule")
            .about("What was due while it was paused is not made up for.")
            .needs(Scope::Run, Whose::Runs)
            .answers::<ScheduleView>(StatusCode::OK, "The schedule, no longer paused.")
            .fails(&[Code::Conflict, Code::ScheduleNotFound, Code::StorageDamaged]),
        post("/api/schedules/{name}/trigger", trigger)
            .named(Tag::Schedules, "triggerSchedule", "Start a run of a schedule now")
            .about("Also while it is paused or another run of it is active; the run belongs to the schedule's owner.")
            .needs(Scope::Run, Whose::Runs)
            .answers::<Triggered>(StatusCode::ACCEPTED, "The run was begun.")
            .with(&[LOCATION])
            .fails(&UNFIT)
            .fails(&[Code::MissingInput, Code::ConcurrencyLimit, Code::Conflict, Code::ScheduleNotFound])
            .fails(&[Code::StorageDamaged]),
    ]
}

/// All schedules that the caller sees.
#[derive(Serialize, JsonSchema)]
struct Schedules {
    schedules: Vec<ScheduleView>,
}

/// A schedule that is to be made: with `cron` or with `every`.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "read as JSON, to report every mistake at once")]
struct ScheduleRequest {
    /// 1 to 64 letters, digits, `-`, `_` and `.`.
    #[schemars(length(min = 1, max = 64))]
    name: String,
    #[serde(flatten)]
    rest: ScheduleChanges,
}

/// The fields of a schedule.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "read as JSON, to report every mistake at once")]
struct ScheduleChanges {
    /// Five fields: minute, hour, day of month, month, day of week.
    cron: Option<String>,
    /// An interval of at least a second, such as `15m`, counted from the epoch.
    every: Option<String>,
    /// The time zone of the pattern; `UTC` by default.
    timezone: Option<String>,
    /// The id or the name of a saved workflow; the ensemble by default.
    workflow: Option<String>,
    inputs: Option<Map<String, Value>>,
    /// The treatment of a due time while the previous run is active; `skip` by default.
    overlap: Option<Overlap>,
    /// The times missed within `window` that are made up for; `one` by default.
    catch_up: Option<CatchUp>,
    /// The age of missed times that are still made up for; `1h` by default.
    window: Option<String>,
    /// The longest delay after a due time, different for each; `0s` by default.
    jitter: Option<String>,
}

/// A run that was begun.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Triggered {
    run_id: String,
}

async fn list(State(site): State<Arc<Site>>, Extension(pass): Extension<Pass>) -> Result<Json<Schedules>, Problem> {
    Ok(Json(Schedules { schedules: site.schedules.list(&pass.sight).await? }))
}

async fn create(
    State(site): State<Arc<Site>>,
    Extension(pass): Extension<Pass>,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let made = site.schedules.create(&sent?.0, pass.sight.owner(), &pass.caller.0).await?;
    let location = [(header::LOCATION, format!("/api/schedules/{}", made.name()))];
    Ok((StatusCode::CREATED, location, Json(made)).into_response())
}

async fn one(
    State(site): State<Arc<Site>>,
    Extension(pass): Extension<Pass>,
    Path(name): Path<String>,
) -> Result<Json<ScheduleView>, Problem> {
    Ok(Json(site.schedules.get(&pass.sight, &name).await?))
}

async fn change(
    State(site): State<Arc<Site>>,
    Extension(pass): Extension<Pass>,
    Path(name): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<ScheduleView>, Problem> {
    // Which schedule is meant comes before what is wrong with the change.
    site.schedules.get(&pass.sight, &name).await?;
    Ok(Json(site.schedules.change(&pass.sight, &name, &sent?.0, &pass.caller.0).await?))
}

async fn remove(
    State(site): State<Arc<Site>>,
    Extension(pass): Extension<Pass>,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    site.schedules.delete(&pass.sight, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn pause(
    State(site): State<Arc<Site>>,
    Extension(pass): Extension<Pass>,
    Path(name): Path<String>,
) -> Result<Json<ScheduleView>, Problem> {
    Ok(Json(site.schedules.pause(&pass.sight, &name, &pass.caller.0).await?))
}

async fn resume(
    State(site): State<Arc<Site>>,
    Extension(pass): Extension<Pass>,
    Path(name): Path<String>,
) -> Result<Json<ScheduleView>, Problem> {
    Ok(Json(site.schedules.resume(&pass.sight, &name, &pass.caller.0).await?))
}

async fn trigger(
    State(site): State<Arc<Site>>,
    Extension(pass): Extension<Pass>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let started = site.schedules.trigger(&pass.sight, &name).await?;
    let location = [(header::LOCATION, format!("/api/runs/{}", started.run))];
    Ok((StatusCode::ACCEPTED, location, Json(Triggered { run_id: started.run.to_string() })).into_response())
}
