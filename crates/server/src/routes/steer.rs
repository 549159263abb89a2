//! `/api/runs/{id}/…`: commands to a run while it lasts.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_core::choice::AnyCase;
use consort_core::decide::{Command, Refused};
use consort_core::event::{CancelMode, Directive, Event, EventKind, Priority};
use consort_core::id::Millis;
use consort_core::run::Run;
use consort_runtime::engine::{self, Engine, Instructed, Instruction};
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Caller, Pass, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, Tag, Whose, post};
use consort_inbound::problem::{Code, Problem};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/runs/{id}/cancel", cancel)
            .named(Tag::Runs, "cancelRun", "Stop a run")
            .needs(Scope::Run, Whose::Runs)
            .optional_body::<CancelRequest>()
            .answers::<Steered>(StatusCode::OK, "It will stop.")
            .fails(&[Code::BadRequest, Code::RunNotFound, Code::RunCompleted, Code::StorageDamaged]),
        post("/api/runs/{id}/pause", pause)
            .named(Tag::Runs, "pauseRun", "Pause a run")
            .needs(Scope::Run, Whose::Runs)
            .answers::<Steered>(StatusCode::OK, "It is paused.")
            .fails(&[Code::RunNotFound, Code::RunCompleted, Code::StorageDamaged]),
        post("/api/runs/{id}/resume", resume)
            .named(Tag::Runs, "resumeRun", "Resume a run")
            .needs(Scope::Run, Whose::Runs)
            .answers::<Steered>(StatusCode::OK, "It goes on.")
            .fails(&[Code::RunNotFound, Code::RunCompleted, Code::StorageDamaged]),
        post("/api/runs/{id}/model", model)
            .named(Tag::Runs, "switchModel", "Switch the model of a run")
            .needs(Scope::Run, Whose::Runs)
            .body::<ModelRequest>()
            .answers::<Switched>(StatusCode::OK, "It holds from the next model call.")
            .fails(&[Code::BadRequest, Code::InvalidModel, Code::RunNotFound, Code::RunCompleted])
            .fails(&[Code::StorageDamaged]),
        post("/api/runs/{id}/give-up", give_up)
            .named(Tag::Runs, "giveUpCall", "Give up the model calls under way")
            .about("The model calls under way and those that wait to be tried again count as failed at once: the model that follows is asked, or else the task fails.")
            .needs(Scope::Run, Whose::Runs)
            .optional_body::<GiveUpRequest>()
            .answers::<GivenUp>(StatusCode::OK, "They are given up.")
            .fails(&[Code::BadRequest, Code::RunNotFound, Code::RunCompleted, Code::Conflict, Code::StorageDamaged]),
        post("/api/runs/{id}/inject", inject)
            .named(Tag::Runs, "injectDirective", "Tell the agents of a run something")
            .needs(Scope::Run, Whose::Runs)
            .body::<InjectRequest>()
            .answers::<Injected>(StatusCode::OK, "They will be told.")
            .fails(&[Code::BadRequest, Code::RunNotFound, Code::RunCompleted, Code::StorageDamaged]),
    ]
}

/// The result of steering a run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Steered {
    pub(crate) run_id: String,
    pub(crate) status: Steering,
}

/// The new state of a run.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Steering {
    Cancelling,
    Paused,
    Resumed,
}

/// The status of a change that is applied.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Applied {
    Applied,
}

/// A request to cancel a run.
#[derive(JsonSchema)]
struct CancelRequest {
    /// The point at which it stops; after_task when absent.
    #[schemars(with = "Option<AnyCase<CancelMode>>")]
    mode: CancelMode,
}

/// A request to switch the model of a run.
#[derive(JsonSchema)]
struct ModelRequest {
    /// The alias of the model.
    model: String,
}

/// A run that asks another model.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Switched {
    run_id: String,
    pub(crate) model: String,
    pub(crate) previous_model: Option<String>,
    pub(crate) status: Applied,
}

/// The calls that are to be given up.
#[derive(JsonSchema)]
struct GiveUpRequest {
    /// The task, or the role of its agent; all when absent.
    task: Option<String>,
}

/// A run that waits no longer for its models.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GivenUp {
    run_id: String,
    /// The number of calls that were given up.
    calls: usize,
    status: Applied,
}

/// A directive to the agents of a run.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct InjectRequest {
    #[schemars(length(min = 1))]
    content: String,
    /// The role or the task it is for; all when absent.
    target: Option<String>,
    /// The importance; NORMAL when absent.
    #[schemars(with = "Option<AnyCase<Priority>>")]
    priority: Priority,
    /// The time for which it holds, as in `PT10M`.
    #[schemars(with = "Option<String>")]
    ttl: Option<Millis>,
    /// The author. Where keys are needed the author is the name of the key, and this counts as `onBehalfOf`.
    from: Option<String>,
    /// The person in whose name it is said.
    on_behalf_of: Option<String>,
}

/// The author of a directive.
pub(crate) struct Author {
    pub(crate) from: String,
    pub(crate) on_behalf_of: Option<String>,
}

impl Author {
    /// Reads the author. A client that sent a key acts under the key's name, whatever it calls
    /// itself: the name it claims is kept beside it.
    pub(crate) fn read(pass: &Pass, sent: &Sent) -> Result<Author, Problem> {
        let text = |name| Ok::<_, Problem>(sent.optional_text(name)?.map(str::to_owned));
        Ok(Author::new(pass, text("from")?, text("onBehalfOf")?))
    }

    fn new(pass: &Pass, said: Option<String>, other: Option<String>) -> Author {
        let name = pass.caller.0.clone();
        if pass.has_key() {
            let on_behalf_of = other.or(said).filter(|other| *other != name);
            return Author { from: name, on_behalf_of };
        }
        Author { from: said.unwrap_or(name), on_behalf_of: other }
    }
}

/// Something that was said to the agents of a run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Injected {
    directive_id: String,
    status: Active,
}

/// A directive that agents are told is active.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Active {
    Active,
}

async fn cancel(
    Extension(runs): Extension<Engine>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Steered>, Problem> {
    let mode = match sent.and_then(|sent| mode(&sent)) {
        Ok(mode) => mode,
        Err(wrong) => return Err(in_the_way(&runs, &run, wrong).await),
    };
    Ok(Json(cancelled(&runs, &run, mode, &caller).await?))
}

/// Sends a command to a run; returns the events that it recorded.
pub(super) async fn asked(runs: &Engine, run: &str, command: Command) -> Result<Vec<Event>, Problem> {
    runs.command(run, command).await.map_err(|error| Problem::of_run(run, error))
}

/// Returns the problem to report for a wrong request: that the run is missing or has
/// ended comes first.
pub(super) async fn in_the_way(runs: &Engine, run: &str, wrong: Problem) -> Problem {
    let ended = |run: Run| run.ended().then(|| Refused::Ended { status: run.status() }.into());
    let gone = runs.run(run).await.map_or_else(Some, ended);
    gone.map_or(wrong, |error: engine::Error| Problem::of_run(run, error))
}

/// Reads the mode of a cancellation.
pub(crate) fn mode(sent: &Sent) -> Result<CancelMode, Problem> {
    let request = CancelRequest { mode: sent.choice("mode")?.unwrap_or_default() };
    Ok(request.mode)
}

/// Asks a run to stop.
pub(crate) async fn cancelled(runs: &Engine, run: &str, mode: CancelMode, caller: &Caller) -> Result<Steered, Problem> {
    asked(runs, run, Command::Cancel { mode, by: caller.0.clone() }).await?;
    Ok(Steered { run_id: run.to_owned(), status: Steering::Cancelling })
}

async fn pause(
    Extension(runs): Extension<Engine>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<Steered>, Problem> {
    asked(&runs, &run, Command::Pause { by: caller.0 }).await?;
    Ok(Json(Steered { run_id: run, status: Steering::Paused }))
}

async fn resume(
    Extension(runs): Extension<Engine>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Result<Json<Steered>, Problem> {
    asked(&runs, &run, Command::Resume { by: caller.0 }).await?;
    Ok(Json(Steered { run_id: run, status: Steering::Resumed }))
}

async fn model(
    State(site): State<Arc<Site>>,
    Extension(runs): Extension<Engine>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Switched>, Problem> {
    if site.server.catalog.models.is_empty() {
        return Err(no_models());
    }
    let request = ModelRequest { model: sent?.text("model")?.to_owned() };
    Ok(Json(switched((&site, &runs), &run, &request.model, &caller).await?))
}

/// Switches the model of a run from now on.
pub(crate) async fn switched(
    (site, runs): (&Site, &Engine),
    run: &str,
    alias: &str,
    caller: &Caller,
) -> Result<Switched, Problem> {
    let catalog = &site.server.catalog;
    if catalog.models.is_empty() {
        return Err(no_models());
    }
    let models = catalog.model(alias)?;
    let by = caller.0.clone();
    let events = asked(runs, run, Command::SwitchModel { models, by }).await?;
    let previous = events.iter().find_map(|event| {
        if let EventKind::ModelSwitched { previous, .. } = &event.kind { Some(previous.clone()) } else { None }
    });
    let run_id = run.to_owned();
    let model = alias.to_owned();
    Ok(Switched { run_id, model, previous_model: previous, status: Applied::Applied })
}

async fn give_up(
    Extension(runs): Extension<Engine>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<GivenUp>, Problem> {
    match sent.and_then(|sent| given_up_task(&sent)) {
        Ok(GiveUpRequest { task }) => Ok(Json(given_up(&runs, &run, task, &caller).await?)),
        Err(wrong) => Err(in_the_way(&runs, &run, wrong).await),
    }
}

fn given_up_task(sent: &Sent) -> Result<GiveUpRequest, Problem> {
    Ok(GiveUpRequest { task: sent.optional_text("task")?.map(str::to_owned) })
}

/// Gives up the model calls that a run waits for.
pub(crate) async fn given_up(
    runs: &Engine,
    run: &str,
    task: Option<String>,
    caller: &Caller,
) -> Result<GivenUp, Problem> {
    let calls = asked(runs, run, Command::GiveUpCall { task, by: caller.0.clone() }).await?.len();
    Ok(GivenUp { run_id: run.to_owned(), calls, status: Applied::Applied })
}

fn no_models() -> Problem {
    Problem::new(Code::NotConfigured, "no models are configured")
}

async fn inject(
    State(site): State<Arc<Site>>,
    Extension(runs): Extension<Engine>,
    Extension(pass): Extension<Pass>,
    Path(run): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Injected>, Problem> {
    let directive = match sent.and_then(|sent| directive(&sent, &pass, site.now())) {
        Ok(directive) => directive,
        Err(wrong) => return Err(in_the_way(&runs, &run, wrong).await),
    };
    let Instructed { id, .. } = runs.instruct(Some(&run), &Instruction::Direct(directive)).await?;
    Ok(Json(Injected { directive_id: id, status: Active::Active }))
}

pub(crate) fn directive(sent: &Sent, pass: &Pass, now: Millis) -> Result<Directive, Problem> {
    let InjectRequest { content, target, priority, ttl, from, on_behalf_of } = InjectRequest::read(sent)?;
    let Author { from, on_behalf_of } = Author::new(pass, from, on_behalf_of);
    Ok(Directive {
        target,
        content: content.into(),
        priority,
        from,
        on_behalf_of,
        created_at: now,
        expires_at: ttl.map(|ttl_ms| now.saturating_add(ttl_ms)),
    })
}

impl InjectRequest {
    fn read(sent: &Sent) -> Result<InjectRequest, Problem> {
        Ok(InjectRequest {
            ttl: ttl(sent)?,
            target: sent.optional_text("target")?.map(str::to_owned),
            content: sent.text("content")?.to_owned(),
            priority: sent.choice("priority")?.unwrap_or_default(),
            from: sent.optional_text("from")?.map(str::to_owned),
            on_behalf_of: sent.optional_text("onBehalfOf")?.map(str::to_owned),
        })
    }
}

/// Reads the time that a directive stays valid.
pub(crate) fn ttl(sent: &Sent) -> Result<Option<Millis>, Problem> {
    sent.optional_text("ttl")?.map(ttl_ms).transpose()
}

/// Parses a duration as ISO 8601 (`PT10M`).
fn ttl_ms(text: &str) -> Result<Millis, Problem> {
    // The parser takes English too, which is not allowed in a `ttl`.
    let span: Option<SignedDuration> =
        Some(text).filter(|text| text.starts_with(['P', 'p'])).and_then(|text| text.parse().ok());
    let millis = span.and_then(|span| Millis::try_from(span.as_millis()).ok());
    millis.ok_or_else(|| Problem::bad_request(format!("`ttl` must be a span of time such as PT10M, not '{text}'")))
}
