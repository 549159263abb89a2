//! `POST /api/runs`: a new run. The response comes at once, when the run has ended, or
//! as a stream of its events.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_core::compile::Compiled;
use consort_core::json;
use consort_core::request::shape;
use consort_core::request::{self, Submission};
use consort_core::run::Run;
use consort_core::spec::{Spec, Task, Workflow};
use consort_core::text;
use consort_core::view::{Descent, RunDetail};
use consort_http::trace;
use consort_log as log;
use consort_runtime::engine::{self, Engine};
use consort_tools::busy;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Site;
use crate::access::Scope;
use crate::body::Sent;
use crate::endpoint::{Endpoint, LOCATION, PREFER, TRACEPARENT, Tag, Whose, post};
use crate::once::Once;
use crate::sse::{Filter, sse};
use crate::unknown;
use consort_inbound::problem::{Code, Problem};
use consort_inbound::response_mode::ResponseMode;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        runs_it(post("/api/runs", submit).named(Tag::Runs, "submitRun", "Start a run"))
            .optional_body::<shape::RunRequest>()
            .names_unknown()
            .fails(&[Code::InvalidTaskOverride, Code::IdempotencyConflict]),
    ]
}

/// The description of what is answered with 200.
pub(super) const OUTCOME: &str = "What came of it: the run when it ended in time, its frames when `Accept` is \
    `text/event-stream`, what would run when `dryRun` is true.";

/// Describes an endpoint that starts a run and answers in the way that the request prefers.
pub(super) fn runs_it(endpoint: Endpoint) -> Endpoint {
    endpoint
        .needs(Scope::Run, Whose::Runs)
        .takes(&[PREFER, TRACEPARENT])
        .answers::<Outcome<'_>>(StatusCode::OK, OUTCOME)
        .streams(OUTCOME)
        .answers::<Accepted>(StatusCode::ACCEPTED, "It was taken.")
        .with(&[LOCATION])
        .fails(&[Code::BadRequest, Code::CircularDependency, Code::InvalidModel, Code::InvalidSchema])
        .fails(&[Code::InvalidTool, Code::InvalidExpression, Code::MissingInput, Code::TemplateTooLarge])
        .fails(&[Code::ModelCannotSee, Code::ConcurrencyLimit, Code::QuotaExceeded])
}

/// The result of a request for a run.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
#[expect(dead_code, reason = "the run is read before it is known which of them is answered")]
pub(super) enum Outcome<'a> {
    /// The run.
    Run(Box<RunDetail<'a>>),
    /// The run that would be started.
    Rehearsal(Rehearsal),
}

/// An accepted run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Accepted {
    run_id: String,
    status: AcceptedStatus,
    pub(crate) tasks: usize,
    pub(crate) workflow: Workflow,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    #[serde(flatten)]
    #[schemars(with = "Descent<'_>")]
    descent: Map<String, Value>,
    /// The number of runs before it in the queue, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_position: Option<usize>,
}

/// The status of an accepted run.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum AcceptedStatus {
    Accepted,
}

/// The run that would be started.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rehearsal {
    #[schemars(extend("const" = true))]
    dry_run: bool,
    pub(crate) tasks: Vec<RehearsedTask>,
    pub(crate) workflow: Workflow,
    pub(crate) warnings: Vec<String>,
}

/// A task that would run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RehearsedTask {
    name: String,
    description: String,
    expected_output: String,
    agent_role: String,
    model: String,
    tools: Vec<String>,
    context: Vec<String>,
    /// The condition under which it would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<String>,
    /// The list of items for each of which it would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    for_each: Option<String>,
    /// The group it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
}

impl Accepted {
    /// Returns the response about an accepted run.
    pub(super) fn new(spec: &Spec, warnings: &[String]) -> Accepted {
        Accepted {
            run_id: String::new(),
            status: AcceptedStatus::Accepted,
            tasks: spec.team().len(),
            workflow: spec.workflow,
            warnings: warnings.iter().cloned().map(text::shortened).collect(),
            descent: Map::new(),
            queue_position: None,
        }
    }

    /// Adds the run that this one goes on from.
    pub(super) fn after(self, run: &Run) -> Accepted {
        let descent = json!(run.descent()).as_object().cloned().unwrap_or_default();
        Accepted { descent, ..self }
    }

    /// Adds the id of the run and its position in the queue.
    pub(crate) fn named(self, run: &str, queue_position: Option<usize>) -> Accepted {
        Accepted { run_id: run.to_owned(), queue_position, ..self }
    }
}

async fn submit(
    State(site): State<Arc<Site>>,
    Extension(runs): Extension<Engine>,
    once: Option<Extension<Once>>,
    headers: HeaderMap,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let sent = sent?;
    let response_mode = ResponseMode::read(&headers)?;
    let from = From { once: once.map(|Extension(once)| once), traceparent: trace(&headers) };
    match take((&site, &runs), &sent, from).await? {
        Taken::Rehearsal(told) => Ok(Json(told).into_response()),
        Taken::Run { run, accepted } => answer((&site, &runs), &run, accepted, response_mode).await,
    }
}

/// The origin of a request.
#[derive(Default)]
pub(crate) struct From {
    /// The idempotency key, when the request has one.
    pub(crate) once: Option<Once>,
    /// The trace that the run belongs to.
    pub(crate) traceparent: Option<String>,
}

/// The outcome of a submission.
pub(crate) enum Taken {
    /// A dry run: the plan that would be executed.
    Rehearsal(Rehearsal),
    /// A run, and the fields of the response about it.
    Run { run: Arc<str>, accepted: Accepted },
}

/// Starts the run that a request asks for; it belongs to the caller's owner.
pub(crate) async fn take((site, runs): (&Site, &Engine), sent: &Sent, from: From) -> Result<Taken, Problem> {
    let server = &site.server;
    let catalog = site.catalog_for(&sent.0).await?;
    let read = || compiled(&sent.0, || request::read(&sent.0, &server.ensemble, &catalog));
    // A run that was made before counts, even if the configuration has changed since.
    if let Some(run) = first(runs, from.once.as_ref()).await? {
        let (spec, warnings) = match read() {
            Ok(Submission::Run(compiled) | Submission::DryRun(compiled)) => (Some(compiled.spec), compiled.warnings),
            Err(_since) => (None, Vec::new()),
        };
        let accepted = match (runs.run(&run).await, spec) {
            (Ok(first), _) => Accepted::new(first.spec(), &warnings),
            // The run cannot be read any more, but its specification can.
            (Err(engine::Error::Log(log::Error::Damaged { .. })), Some(spec)) => Accepted::new(&spec, &warnings),
            (Err(error), _) => return Err(error.into()),
        };
        return Ok(Taken::Run { run, accepted });
    }
    let mut compiled = match read()? {
        Submission::DryRun(compiled) => {
            runs.check_attachments(&compiled).await?;
            return Ok(Taken::Rehearsal(rehearsal(&compiled.spec, &compiled.warnings)));
        }
        Submission::Run(compiled) => compiled,
    };
    compiled.spec.traceparent = from.traceparent;
    let accepted = Accepted::new(&compiled.spec, &compiled.warnings);
    let run = match from.once {
        Some(once) => once.submit((site, runs), compiled).await?,
        None => runs.submit(compiled).await?,
    };
    Ok(Taken::Run { run, accepted })
}

/// Compiles a request; one that may take long is compiled without blocking the thread for others.
pub(super) fn compiled<T>(sent: &Value, read: impl FnOnce() -> T) -> T {
    if request::takes_long(sent) { busy::in_place(read) } else { read() }
}

/// Starts a run that was compiled already, and responds in the wanted mode.
pub(super) async fn started(
    (site, runs): (&Site, &Engine),
    mut compiled: Compiled,
    headers: &HeaderMap,
    response_mode: ResponseMode,
) -> Result<Response, Problem> {
    compiled.spec.traceparent = trace(headers);
    let accepted = Accepted::new(&compiled.spec, &compiled.warnings);
    let run = runs.submit(compiled).await?;
    answer((site, runs), &run, accepted, response_mode).await
}

/// Returns the trace that a run belongs to; an incomplete header counts as none.
pub(crate) fn trace(headers: &HeaderMap) -> Option<String> {
    let given = headers.get(trace::HEADER)?.to_str().ok()?;
    trace::Trace::parse(given).map(|_| given.to_owned())
}

/// Returns the run that the same request made before.
async fn first(runs: &Engine, once: Option<&Once>) -> Result<Option<Arc<str>>, Problem> {
    match once {
        Some(once) => once.first(runs).await,
        None => Ok(None),
    }
}

/// Responds about an accepted run in the wanted mode.
pub(super) async fn answer(
    (site, runs): (&Site, &Engine),
    run: &str,
    accepted: Accepted,
    response_mode: ResponseMode,
) -> Result<Response, Problem> {
    let location = [(header::LOCATION, format!("/api/runs/{run}"))];
    let detail = match response_mode {
        ResponseMode::Accepted => None,
        ResponseMode::Ended(within) => ended((site, runs), (run, &accepted.warnings), within).await?,
        ResponseMode::Stream => {
            return Ok((unknown::headers(&accepted.warnings), streamed((site, runs), run).await?).into_response());
        }
    };
    Ok(match detail {
        Some(detail) => (location, [(header::CONTENT_TYPE, "application/json")], detail).into_response(),
        None => {
            let place = runs.queue_places(&[run]).await?.pop().flatten();
            let accepted = accepted.named(run, place);
            (StatusCode::ACCEPTED, location, Json(accepted)).into_response()
        }
    })
}

/// Streams all frames of a run, from its first.
pub(crate) async fn streamed((site, runs): (&Site, &Engine), run: &str) -> Result<Response, Problem> {
    let frames = runs.tail(run, 0).await?;
    Ok(([(header::LOCATION, format!("/api/runs/{run}"))], sse(site, frames, Filter::All)).into_response())
}

/// Returns the run's details as JSON text, if it ends in time and before the server does.
async fn ended(
    (site, runs): (&Site, &Engine),
    (run, warnings): (&str, &[String]),
    within: Duration,
) -> Result<Option<String>, Problem> {
    let look = |state: &Run| state.ended().then(|| json::text(&state.detail(run).warned(warnings)));
    let found = tokio::select! {
        found = tokio::time::timeout(within, runs.at_its_end(run, look)) => found.ok().transpose()?.flatten(),
        () = site.closed() => None,
    };
    found.transpose().map_err(|error| Problem::new(Code::InternalError, error.to_string()))
}

/// Returns the plan that would be executed.
pub(super) fn rehearsal(spec: &Spec, warnings: &[String]) -> Rehearsal {
    let tasks = spec.team().iter().enumerate().map(|(index, task)| rehearsed(spec, index, task)).collect();
    Rehearsal {
        dry_run: true,
        tasks,
        workflow: spec.workflow,
        warnings: warnings.iter().cloned().map(text::shortened).collect(),
    }
}

fn rehearsed(spec: &Spec, index: usize, task: &Task) -> RehearsedTask {
    let group = spec.groups.iter().find(|group| group.tasks.contains(&index));
    let context = task.context.iter().filter_map(|index| spec.tasks.get(*index)).map(|task| task.name.clone());
    RehearsedTask {
        name: task.name.clone(),
        description: task.description.clone(),
        expected_output: task.expected_output.clone(),
        agent_role: task.agent.role.clone(),
        model: task.model.as_ref().unwrap_or(&spec.model).clone(),
        tools: task.tools.clone(),
        context: context.collect(),
        when: task.when.as_ref().map(|when| when.source.clone()),
        for_each: task.for_each.as_ref().map(|each| each.list.source.clone()),
        group: group.map(|group| group.name.clone()),
    }
}
