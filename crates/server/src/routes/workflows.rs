//! `/api/workflows`: task graphs that are saved, version by version, and run like
//! tasks of a request. A client that saves names the version that it changed.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_core::request::shape;
use consort_core::request::{self, Submission};
use consort_core::workflow::Document;
use consort_runtime::engine::Engine;
use consort_runtime::workflows::{Error, Expected, ListedWorkflow, Saved, WorkflowVersion, WorkflowView};
use schemars::JsonSchema;
use serde::Serialize;

use super::submit;
use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::{ETAG, Endpoint, IF_MATCH, LOCATION, NEEDED_IF_MATCH, Tag, Whose, delete, get, post, put};
use consort_inbound::problem::{Code, More, Problem};
use consort_inbound::query::{Page, Pairs};
use consort_inbound::response_mode::ResponseMode;

/// Versions listed at once; each is read whole.
const VERSIONS_MAX: u64 = 100;
/// Versions listed unless more are asked for.
const VERSIONS: u64 = 50;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let invalid = [Code::BadRequest, Code::CircularDependency, Code::InvalidModel, Code::InvalidSchema];
    let more = [Code::InvalidTool, Code::InvalidExpression, Code::TemplateTooLarge];
    vec![
        get("/api/workflows", list)
            .named(Tag::Workflows, "listWorkflows", "List saved workflows")
            .needs(Scope::Read, Whose::Shared)
            .query::<Page>()
            .answers::<Workflows>(StatusCode::OK, "A page of them.")
            .fails(&[Code::BadRequest]),
        post("/api/workflows", create)
            .named(Tag::Workflows, "createWorkflow", "Save a new workflow")
            .needs(Scope::Run, Whose::Shared)
            .body::<shape::WorkflowDocument>()
            .names_unknown()
            .answers::<WorkflowView<'_>>(StatusCode::CREATED, "Its first version.")
            .with(&[LOCATION, ETAG])
            .fails(&invalid)
            .fails(&more)
            .fails(&[Code::LimitReached]),
        get("/api/workflows/{id}", one)
            .named(Tag::Workflows, "getWorkflow", "Read the newest version of a workflow")
            .needs(Scope::Read, Whose::Shared)
            .answers::<WorkflowView<'_>>(StatusCode::OK, "The workflow.")
            .with(&[ETAG])
            .fails(&[Code::WorkflowNotFound]),
        put("/api/workflows/{id}", update)
            .named(Tag::Workflows, "saveWorkflow", "Save a new version of a workflow")
            .needs(Scope::Run, Whose::Shared)
            .takes(&[NEEDED_IF_MATCH])
            .body::<shape::WorkflowDocument>()
            .names_unknown()
            .answers::<WorkflowView<'_>>(StatusCode::OK, "The new version.")
            .with(&[ETAG])
            .fails(&invalid)
            .fails(&more)
            .fails(&[Code::WorkflowNotFound, Code::PreconditionFailed, Code::PreconditionRequired]),
        delete("/api/workflows/{id}", erase)
            .named(Tag::Workflows, "deleteWorkflow", "Erase a workflow")
            .needs(Scope::Run, Whose::Shared)
            .takes(&[IF_MATCH])
            .answers_nothing(StatusCode::NO_CONTENT, "It is gone.")
            .fails(&[Code::WorkflowNotFound, Code::PreconditionFailed]),
        get("/api/workflows/{id}/history", history)
            .named(Tag::Workflows, "workflowHistory", "List the versions of a workflow")
            .needs(Scope::Read, Whose::Shared)
            .query::<VersionsQuery>()
            .answers::<Versions>(StatusCode::OK, "Its versions, the newest first.")
            .fails(&[Code::BadRequest, Code::WorkflowNotFound]),
        get("/api/workflows/{id}/versions/{version}", version)
            .named(Tag::Workflows, "getVersion", "Read one version of a workflow")
            .needs(Scope::Read, Whose::Shared)
            .answers::<WorkflowView<'_>>(StatusCode::OK, "The workflow as it was.")
            .with(&[ETAG])
            .fails(&[Code::WorkflowNotFound, Code::VersionNotFound]),
        submit::runs_it(post("/api/workflows/{id}/runs", run))
            .named(Tag::Workflows, "runWorkflow", "Run a workflow")
            .optional_body::<shape::WorkflowRun>()
            .names_unknown()
            .fails(&[Code::WorkflowNotFound]),
    ]
}

/// A page of saved workflows.
#[derive(Serialize, JsonSchema)]
struct Workflows {
    workflows: Vec<ListedWorkflow>,
    total: usize,
}

/// A page of the versions of a workflow.
#[derive(Serialize, JsonSchema)]
struct Versions {
    versions: Vec<WorkflowVersion>,
    total: u64,
}

/// The versions that are wanted.
#[derive(JsonSchema)]
struct VersionsQuery {
    /// The maximum number of versions.
    #[schemars(with = "Option<u64>", range(min = 1, max = VERSIONS_MAX), extend("default" = VERSIONS))]
    limit: u64,
    /// The number of versions to skip.
    #[schemars(with = "Option<u64>", extend("default" = 0))]
    offset: u64,
}

async fn create(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let (document, warnings) = read(&site, &sent?).await?;
    let saved = site.workflows().create(document, &caller.0).await?;
    let location = [(header::LOCATION, format!("/api/workflows/{}", saved.id))];
    Ok((StatusCode::CREATED, location, shown(&saved, &warnings)).into_response())
}

async fn list(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Json<Workflows>, Problem> {
    let Page { offset, limit } = pairs.page()?;
    let (workflows, total) = site.workflows().list(offset, limit).await?;
    Ok(Json(Workflows { workflows, total }))
}

async fn one(State(site): State<Arc<Site>>, Path(id): Path<String>) -> Result<Response, Problem> {
    Ok(shown(&site.workflows().get(&id).await?, &[]))
}

async fn update(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let current = site.workflows().get(&id).await?.version;
    let expected = expected(&headers, current)?.ok_or_else(|| unconditional(current))?;
    let (document, warnings) = read(&site, &sent?).await?;
    let saved = site.workflows().update(&id, expected, document, &caller.0).await?;
    Ok(shown(&saved, &warnings))
}

async fn erase(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    // Only its number: a version that cannot be read must still be possible to delete.
    let current = site.workflows().newest(&id).await?;
    let expected = if current == 0 { None } else { expected(&headers, current)? };
    let expected = expected.unwrap_or(Expected::Any);
    site.workflows().delete(&id, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn history(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    pairs: Pairs,
) -> Result<Json<Versions>, Problem> {
    let offset = pairs.number("offset", 0..=u64::MAX, 0)?;
    let wanted = VersionsQuery { offset, limit: pairs.number("limit", 1..=VERSIONS_MAX, VERSIONS)? };
    let (versions, total) = site.workflows().history(&id, wanted.offset, wanted.limit).await?;
    Ok(Json(Versions { versions, total }))
}

async fn version(State(site): State<Arc<Site>>, Path((id, version)): Path<(String, u64)>) -> Result<Response, Problem> {
    Ok(shown(&site.workflows().version(&id, version).await?, &[]))
}

async fn run(
    State(site): State<Arc<Site>>,
    Extension(runs): Extension<Engine>,
    Path(id): Path<String>,
    headers: HeaderMap,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let sent = sent?;
    let response_mode = ResponseMode::read(&headers)?;
    let saved = site.workflows().get(&id).await?;
    let request = saved.entry.document.request(&sent.0)?;
    let catalog = site.catalog_for(&request).await?;
    match submit::compiled(&request, || request::read(&request, &site.server.ensemble, &catalog))? {
        Submission::DryRun(compiled) => {
            runs.check_attachments(&compiled).await?;
            Ok(Json(submit::rehearsal(&compiled.spec, &compiled.warnings)).into_response())
        }
        Submission::Run(mut compiled) => {
            compiled.spec.name.clone_from(&saved.entry.document.name);
            compiled.spec.tags.extend(saved.tags());
            submit::started((&site, &runs), compiled, &headers, response_mode).await
        }
    }
}

/// Reads the graph that was sent; returns it with its warnings.
async fn read(site: &Site, sent: &Sent) -> Result<(Document, Vec<String>), Problem> {
    let catalog = site.catalog_for(&sent.0).await?;
    let read = || Document::read(&sent.0, &site.server.ensemble, &catalog);
    Ok(submit::compiled(&sent.0, read)?)
}

/// Responds with a version and its tag.
fn shown(saved: &Saved, warnings: &[String]) -> Response {
    ([(header::ETAG, format!("\"{}\"", saved.version))], Json(saved.view(warnings))).into_response()
}

/// Returns the version that `If-Match` names, when it is there and can be the current one.
fn expected(headers: &HeaderMap, current: u64) -> Result<Option<Expected>, Problem> {
    let Some(given) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let tags: Vec<&str> = given.to_str().unwrap_or_default().split(',').map(str::trim).collect();
    let tag = format!("\"{current}\"");
    match tags.iter().find(|known| **known == "*" || **known == tag) {
        Some(&"*") => Ok(Some(Expected::Any)),
        Some(_) => Ok(Some(Expected::Version(current))),
        None => Err(Error::Stale { current }.into()),
    }
}

fn unconditional(current: u64) -> Problem {
    let message = "say in `If-Match` which version was changed, as its ETag says it";
    Problem::new(Code::PreconditionRequired, message).with(More { version: Some(current), ..More::default() })
}
