//! `/api/threads`: chats over HTTP. The same turns run over `/ws`.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_chat::{FramePage, MessageState, SentMessage, Start, ThreadView, TurnSubscription};
use consort_core::chat::{self, MessageRequest, MessageView, Mode, Role, Row, UserMessage};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Site;
use crate::access::{Caller, Pass, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, FROM, LAST_EVENT_ID, LOCATION, TRACEPARENT, Tag, Whose, delete, get, patch, post};
use crate::once::Streamed;
use crate::routes::events::{EventsQuery, Frames, page, page_wanted};
use crate::routes::submit::trace;
use crate::sse::{Filter, chat_sse, first};
use crate::unknown;
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::Pairs;
use consort_inbound::response_mode::accepts;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/threads", list)
            .named(Tag::Threads, "listThreads", "List chats, the newest first")
            .needs(Scope::Read, Whose::Key)
            .query::<ThreadsQuery>()
            .answers::<Threads>(StatusCode::OK, "Your threads."),
        post("/api/threads", create)
            .named(Tag::Threads, "createThread", "Begin a chat")
            .needs(Scope::Run, Whose::Key)
            .optional_body::<ThreadRequest>()
            .answers::<ThreadView>(StatusCode::CREATED, "It is there.")
            .with(&[LOCATION])
            .fails(&[Code::BadRequest, Code::ThreadNotFound]),
        get("/api/threads/{id}", one)
            .named(Tag::Threads, "getThread", "Read a chat")
            .needs(Scope::Read, Whose::Key)
            .answers::<ThreadView>(StatusCode::OK, "The thread.")
            .fails(&[Code::ThreadNotFound]),
        patch("/api/threads/{id}", change)
            .named(Tag::Threads, "changeThread", "Rename a chat, or change its permission mode")
            .needs(Scope::Run, Whose::Key)
            .body::<ThreadChange>()
            .answers::<ThreadView>(StatusCode::OK, "The thread.")
            .fails(&[Code::BadRequest, Code::ThreadNotFound, Code::StorageDamaged]),
        delete("/api/threads/{id}", erase)
            .named(Tag::Threads, "deleteThread", "Erase a chat")
            .needs(Scope::Run, Whose::Key)
            .answers_nothing(StatusCode::NO_CONTENT, "It is gone.")
            .fails(&[Code::ThreadNotFound]),
        get("/api/threads/{id}/messages", messages)
            .named(Tag::Threads, "listMessages", "List the messages of a chat")
            .needs(Scope::Read, Whose::Key)
            .answers::<Messages>(StatusCode::OK, "Every row, the oldest first.")
            .fails(&[Code::ThreadNotFound]),
    ]
    .into_iter()
    .chain(turn_endpoints())
    .collect()
}

/// Returns the endpoints about turns of a chat.
fn turn_endpoints() -> Vec<Endpoint> {
    let frames = "Server-sent events; they go on until the client leaves. A page when `Accept` is `application/json`.";
    vec![
        post("/api/threads/{id}/messages", say)
            .named(Tag::Threads, "say", "Send a message")
            .needs(Scope::Run, Whose::Key)
            .takes(&[TRACEPARENT])
            .body::<MessageRequest>()
            .names_unknown()
            .streams(
                "The turn's frames, when `Accept` is `text/event-stream`; where it must wait, from when it begins.",
            )
            .answers::<SaidView>(StatusCode::ACCEPTED, "It was taken.")
            .fails(&[Code::BadRequest, Code::InvalidModel, Code::MediaGenerationUnavailable, Code::ModelCannotSee])
            .fails(&[Code::ThreadNotFound])
            .fails(&[Code::ThreadBusy, Code::StorageDamaged, Code::ConcurrencyLimit]),
        get("/api/threads/{id}/events", events)
            .named(Tag::Threads, "threadEvents", "Read a chat's events, as a stream or by page")
            .needs(Scope::Read, Whose::Key)
            .query::<EventsQuery>()
            .takes(&[FROM, LAST_EVENT_ID])
            // What makes clients from descriptions takes the first type, and cannot read a stream.
            .answers::<Frames>(StatusCode::OK, frames)
            .streams(frames)
            .fails(&[Code::BadRequest, Code::ThreadNotFound]),
        post("/api/threads/{id}/continue", go_on)
            .named(Tag::Threads, "continueThread", "Continue an answer that was cut")
            .about(
                "Begins a turn like a message does; its answer has `continues`, the id of the row that was cut. \
                 409 `NOTHING_TO_CONTINUE` when the last answer was not cut, 409 `THREAD_BUSY` while a turn runs.",
            )
            .needs(Scope::Run, Whose::Key)
            .takes(&[TRACEPARENT])
            .streams("The turn's frames, when `Accept` is `text/event-stream`.")
            .answers::<SaidView>(StatusCode::ACCEPTED, "It was taken.")
            .fails(&[Code::ThreadNotFound, Code::NothingToContinue, Code::ThreadBusy]),
        post("/api/threads/{id}/stop", stop)
            .named(Tag::Threads, "stopTurn", "Stop the turn under way")
            .needs(Scope::Run, Whose::Key)
            .answers::<Stopped>(StatusCode::OK, "It will stop.")
            .fails(&[Code::ThreadNotFound, Code::TurnNotRunning]),
        get("/api/threads/{id}/export", export)
            .named(Tag::Threads, "exportThread", "Export a chat as Markdown")
            .needs(Scope::Read, Whose::Key)
            .answers_text("text/markdown", "What people and the model said.")
            .fails(&[Code::ThreadNotFound]),
    ]
}

/// The chats that are wanted.
#[derive(JsonSchema)]
struct ThreadsQuery {
    /// Words in the title or in anything said.
    q: Option<String>,
}

/// The chats of a client.
#[derive(Serialize, JsonSchema)]
struct Threads {
    total: usize,
    threads: Vec<ThreadView>,
}

/// A chat that is to begin.
#[derive(JsonSchema)]
struct ThreadRequest {
    title: Option<String>,
    /// Begins it with what was said in another chat, which stays as it is.
    #[schemars(rename = "branch_of")]
    branch: Option<BranchRequest>,
}

/// The place in another chat at which one branches off.
#[derive(JsonSchema)]
struct BranchRequest {
    /// The other chat.
    #[schemars(rename = "thread_id")]
    thread: String,
    /// The turn of it before which the new one branches off.
    before: String,
}

/// Changes to a chat.
#[derive(JsonSchema)]
#[schemars(extend("anyOf" = [{ "required": ["title"] }, { "required": ["permission_mode"] }]))]
struct ThreadChange {
    title: Option<String>,
    #[schemars(rename = "permission_mode")]
    mode: Option<Mode>,
}

/// Everything that was said in a chat.
#[derive(Serialize, JsonSchema)]
struct Messages {
    messages: Vec<MessageView>,
}

/// An accepted message: its turn has begun, or waits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Said")]
pub(crate) struct SaidView {
    thread_id: String,
    turn_id: String,
    /// The first `chat_seq` of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// The number of messages before it in the queue, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_position: Option<usize>,
    /// The parts of the message that were ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A turn that was stopped.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Stopped {
    thread_id: String,
    turn_id: String,
    status: Stopping,
}

/// The status of a turn that was asked to stop.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Stopping {
    Stopping,
}

async fn create(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let ThreadRequest { title, branch } = ThreadRequest::read(&sent?)?;
    let chats = &site.server.chats;
    let thread = match branch {
        None => chats.create(&caller.0, title.as_deref()).await?,
        Some(BranchRequest { thread, before }) => {
            let branch = chats.branch(&caller.0, &thread, &before).await?;
            match title {
                None => branch,
                Some(title) => chats.rename(&caller.0, &branch.id, &title).await?,
            }
        }
    };
    let location = [(header::LOCATION, format!("/api/threads/{}", thread.id))];
    Ok((StatusCode::CREATED, location, Json(chats.view(&thread).await?)).into_response())
}

async fn list(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    pairs: Pairs,
) -> Result<Json<Threads>, Problem> {
    let q = pairs.first("q").map(str::to_lowercase).filter(|wanted| !wanted.trim().is_empty());
    let wanted = ThreadsQuery { q };
    let threads = site.server.chats.views(&caller.0, wanted.q.as_deref()).await?;
    Ok(Json(Threads { total: threads.len(), threads }))
}

async fn one(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<ThreadView>, Problem> {
    Ok(Json(site.server.chats.view_of(&caller.0, &id).await?))
}

/// Renames a thread, or changes what it may do without approval.
async fn change(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<ThreadView>, Problem> {
    let ThreadChange { title, mode } = ThreadChange::read(&sent?)?;
    let chats = &site.server.chats;
    let mut thread = chats.thread(&caller.0, &id).await?;
    if let Some(title) = title {
        thread = chats.rename(&caller.0, &id, &title).await?;
    }
    if let Some(mode) = mode {
        thread = chats.set_mode(&caller.0, &id, mode).await?;
    }
    Ok(Json(chats.view(&thread).await?))
}

impl ThreadRequest {
    fn read(sent: &Sent) -> Result<ThreadRequest, Problem> {
        let title = sent.optional_text("title")?.map(str::to_owned);
        let named = sent.object()?.get("branch_of").filter(|named| !named.is_null());
        Ok(ThreadRequest { title, branch: named.map(BranchRequest::read).transpose()? })
    }
}

impl BranchRequest {
    fn read(named: &Value) -> Result<BranchRequest, Problem> {
        let text = |name: &str| {
            let text = named.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            let missing = || Problem::bad_request(format!("`branch_of.{name}` is required, as text"));
            text.map(str::to_owned).ok_or_else(missing)
        };
        Ok(BranchRequest { thread: text("thread_id")?, before: text("before")? })
    }
}

impl ThreadChange {
    /// Reads the changes. A title is required where there is no other change.
    fn read(sent: &Sent) -> Result<ThreadChange, Problem> {
        let mode = chat::mode(sent.object()?, "permission_mode")?;
        let title = match mode {
            Some(_) => sent.optional_text("title")?,
            None => Some(sent.text("title")?),
        };
        Ok(ThreadChange { title: title.map(str::to_owned), mode })
    }
}

async fn erase(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    site.server.chats.delete(&caller.0, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn messages(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<Messages>, Problem> {
    let turns = site.server.chats.rows(&caller.0, &id).await?;
    let views = |(turn, rows): &(String, Vec<Row>)| {
        rows.iter().enumerate().map(|(index, row)| row.view(turn, index)).collect::<Vec<MessageView>>()
    };
    Ok(Json(Messages { messages: turns.iter().flat_map(views).collect() }))
}

async fn say(
    State(site): State<Arc<Site>>,
    Extension(pass): Extension<Pass>,
    Path(id): Path<String>,
    headers: HeaderMap,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let sent = sent?;
    let say = UserMessage { traceparent: trace(&headers), ..heard(&site, &pass, &sent).await? };
    let warnings = say.warnings(&sent.0, &[]);
    let chats = &site.server.chats;
    let subscription = chats.subscribe(&id);
    let said = chats.send(&pass.caller.0, &id, say).await?;
    answered(&site, &pass.caller, (&id, warnings), (subscription, said), &headers).await
}

/// Continues the last answer, which was cut off.
async fn go_on(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let client = UserMessage { traceparent: trace(&headers), ..UserMessage::default() };
    let subscription = site.server.chats.subscribe(&id);
    let said = site.server.chats.continue_answer(&caller.0, &id, client).await?;
    answered(&site, &caller, (&id, Vec::new()), (subscription, said), &headers).await
}

/// Streams the turn's frames where they are wanted, else responds that it was accepted.
async fn answered(
    site: &Arc<Site>,
    caller: &Caller,
    (id, warnings): (&str, Vec<String>),
    (subscription, said): (Arc<TurnSubscription>, SentMessage),
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let accepted = accepted(id, &said, warnings);
    if !accepts(headers, "text/event-stream") {
        return Ok((StatusCode::ACCEPTED, Json(accepted)).into_response());
    }
    let warnings = unknown::headers(&accepted.warnings);
    let repeated = Streamed(json!(accepted));
    let chats = &site.server.chats;
    let frames = match said.place {
        MessageState::Begun { seq } => chats.turn(&subscription, &said.turn, seq).await?,
        MessageState::Waits { .. } => chats.queued_turn(&caller.0, id, (subscription, said.turn)),
    };
    Ok((warnings, Extension(repeated), chat_sse(site, frames, Filter::All)).into_response())
}

/// Streams all frames of a turn, from its first, once it begins.
pub(crate) async fn streamed(site: &Site, caller: &Caller, thread: &str, turn: Arc<str>) -> Result<Response, Problem> {
    let chats = &site.server.chats;
    chats.thread(&caller.0, thread).await?;
    let frames = chats.queued_turn(&caller.0, thread, (chats.subscribe(thread), turn));
    Ok(chat_sse(site, frames, Filter::All))
}

/// Fields of older clients, which are ignored.
const PASSED_OVER: [&str; 2] = ["agent_mode", "tools"];

/// Reads a message from a request, and finds the files it names.
pub(crate) async fn heard(site: &Site, pass: &Pass, sent: &Sent) -> Result<UserMessage, Problem> {
    for field in PASSED_OVER.into_iter().filter(|field| sent.0.get(field).is_some()) {
        tracing::debug!(field, "a field of a message changes nothing any more");
    }
    let mut say = UserMessage::read(&sent.0)?;
    say.files = site.engine().seen_with(pass.sight.clone()).attached(&say.attachments).await?;
    Ok(say)
}

/// Returns the response about an accepted message.
pub(crate) fn accepted(thread: &str, said: &SentMessage, warnings: Vec<String>) -> SaidView {
    let (seq, queue_position) = match said.place {
        MessageState::Begun { seq } => (Some(seq), None),
        MessageState::Waits { position } => (None, Some(position)),
    };
    SaidView { thread_id: thread.to_owned(), turn_id: said.turn.to_string(), seq, queue_position, warnings }
}

async fn events(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    pairs: Pairs,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let from = first(&pairs, &headers)?;
    let chats = &site.server.chats;
    if let Some(limit) = page_wanted(&pairs, &headers)? {
        let FramePage { frames, damaged } = chats.page(&caller.0, &id, from, limit).await?;
        return Ok(page(&frames, &damaged));
    }
    Ok(chat_sse(&site, chats.follow(&caller.0, &id, Start::Seq(from)).await?, Filter::read(&pairs)))
}

async fn stop(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<Stopped>, Problem> {
    let turn = site.server.chats.stop(&caller.0, &id).await?;
    Ok(Json(Stopped { thread_id: id, turn_id: turn.to_string(), status: Stopping::Stopping }))
}

async fn export(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let thread = site.server.chats.thread(&caller.0, &id).await?;
    let turns = site.server.chats.rows(&caller.0, &id).await?;
    let said = turns.iter().flat_map(|(_, rows)| rows).filter_map(paragraph);
    let text = std::iter::once(format!("# {}", thread.title)).chain(said).collect::<Vec<_>>().join("\n\n");
    Ok(([(CONTENT_TYPE, "text/markdown; charset=utf-8")], text + "\n").into_response())
}

/// Returns a message of a person or the model as text; messages of tools are left out.
fn paragraph(row: &Row) -> Option<String> {
    let who = match row.role {
        Role::User => "You",
        Role::Assistant => "Assistant",
        Role::Tool => return None,
    };
    let shown = row.visible_text();
    (!shown.is_empty()).then(|| format!("**{who}:** {shown}"))
}
