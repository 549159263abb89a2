//! `/api/threads`: conversations over HTTP. The same turns run over `/ws`.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use consort_chat::{Place, Said, Seat, Start, Thread};
use consort_core::chat::{self, Role, Row, Say};
use serde_json::{Value, json};

use crate::Site;
use crate::access::Caller;
use crate::body::Sent;
use crate::once::Streamed;
use crate::problem::Problem;
use crate::query::Pairs;
use crate::routes::events::{page, page_wanted};
use crate::routes::submit::trace;
use crate::sse::{Filter, chat_sse, first};
use crate::wish::accepts;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/api/threads", get(list).post(create))
        .route("/api/threads/{id}", get(one).patch(change).delete(delete))
        .route("/api/threads/{id}/messages", get(messages).post(say))
        .route("/api/threads/{id}/events", get(events))
        .route("/api/threads/{id}/continue", post(go_on))
        .route("/api/threads/{id}/stop", post(stop))
        .route("/api/threads/{id}/export", get(export))
}

/// A thread as clients see it.
pub(crate) async fn view(site: &Site, thread: &Thread) -> Result<Value, Problem> {
    Ok(site.server.chats.view(thread).await?)
}

async fn create(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let sent = sent?;
    let thread = site.server.chats.create(&caller.0, sent.optional_text("title")?).await?;
    let location = [(LOCATION, format!("/api/threads/{}", thread.id))];
    Ok((StatusCode::CREATED, location, Json(view(&site, &thread).await?)).into_response())
}

async fn list(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    pairs: Pairs,
) -> Result<Json<Value>, Problem> {
    let wanted = pairs.first("q").map(str::to_lowercase).filter(|wanted| !wanted.trim().is_empty());
    let threads = site.server.chats.views(&caller.0, wanted.as_deref()).await?;
    Ok(Json(json!({ "total": threads.len(), "threads": threads })))
}

async fn one(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(site.server.chats.view_of(&caller.0, &id).await?))
}

/// Calls a thread something else, or changes what it may do without asking.
async fn change(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Value>, Problem> {
    let sent = sent?;
    let chats = &site.server.chats;
    let mode = chat::mode(sent.object()?, "permission_mode")?;
    let title = match mode {
        Some(_) => sent.optional_text("title")?,
        None => Some(sent.text("title")?),
    };
    let mut thread = chats.thread(&caller.0, &id).await?;
    if let Some(title) = title {
        thread = chats.rename(&caller.0, &id, title).await?;
    }
    if let Some(mode) = mode {
        thread = chats.set_mode(&caller.0, &id, mode).await?;
    }
    Ok(Json(view(&site, &thread).await?))
}

async fn delete(
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
) -> Result<Json<Value>, Problem> {
    let turns = site.server.chats.rows(&caller.0, &id).await?;
    let views = |(turn, rows): &(String, Vec<Row>)| {
        rows.iter().enumerate().map(|(index, row)| row.view(turn, index)).collect::<Vec<Value>>()
    };
    Ok(Json(json!({ "messages": turns.iter().flat_map(views).collect::<Vec<_>>() })))
}

async fn say(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    sent: Result<Sent, Problem>,
) -> Result<Response, Problem> {
    let say = Say { traceparent: trace(&headers), ..heard(&sent?)? };
    let chats = &site.server.chats;
    let seat = chats.seat(&id);
    let said = chats.say(&caller.0, &id, say).await?;
    answered(&site, &caller, &id, (seat, said), &headers).await
}

/// Goes on with the last answer, which was cut.
async fn go_on(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let client = Say { traceparent: trace(&headers), ..Say::default() };
    let seat = site.server.chats.seat(&id);
    let said = site.server.chats.go_on(&caller.0, &id, client).await?;
    answered(&site, &caller, &id, (seat, said), &headers).await
}

/// The turn's frames where they are wanted, else that it was taken.
async fn answered(
    site: &Arc<Site>,
    caller: &Caller,
    id: &str,
    (seat, said): (Arc<Seat>, Said),
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    if !accepts(headers, "text/event-stream") {
        return Ok((StatusCode::ACCEPTED, Json(accepted(id, &said))).into_response());
    }
    let repeated = Streamed(accepted(id, &said));
    let chats = &site.server.chats;
    let frames = match said.place {
        Place::Begun { seq } => chats.turn(&seat, &said.turn, seq).await?,
        Place::Waits { .. } => chats.turn_in_line(&caller.0, id, (seat, said.turn)),
    };
    Ok((Extension(repeated), chat_sse(site, frames, Filter::All)).into_response())
}

/// All frames of a turn, from its first, once it begins.
pub(crate) async fn streamed(site: &Site, caller: &Caller, thread: &str, turn: Arc<str>) -> Result<Response, Problem> {
    let chats = &site.server.chats;
    chats.thread(&caller.0, thread).await?;
    let frames = chats.turn_in_line(&caller.0, thread, (chats.seat(thread), turn));
    Ok(chat_sse(site, frames, Filter::All))
}

/// Fields of older clients, which change nothing any more.
const PASSED_OVER: [&str; 2] = ["agent_mode", "tools"];

/// A message as it was sent.
pub(crate) fn heard(sent: &Sent) -> Result<Say, Problem> {
    for field in PASSED_OVER.into_iter().filter(|field| sent.0.get(field).is_some()) {
        tracing::debug!(field, "a field of a message changes nothing any more");
    }
    Ok(Say::read(&sent.0)?)
}

/// What is said about a message that was taken.
pub(crate) fn accepted(thread: &str, said: &Said) -> Value {
    match said.place {
        Place::Begun { seq } => json!({ "threadId": thread, "turnId": said.turn, "seq": seq }),
        Place::Waits { position } => json!({ "threadId": thread, "turnId": said.turn, "queuePosition": position }),
    }
}

async fn events(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    pairs: Pairs,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (from, chats) = (first(&pairs, &headers)?, &site.server.chats);
    if let Some(limit) = page_wanted(&pairs, &headers)? {
        return Ok(page(&chats.page(&caller.0, &id, from, limit).await?));
    }
    Ok(chat_sse(&site, chats.follow(&caller.0, &id, Start::Seq(from)).await?, Filter::read(&pairs)))
}

async fn stop(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let turn = site.server.chats.stop(&caller.0, &id).await?;
    Ok(Json(json!({ "threadId": id, "turnId": turn, "status": "STOPPING" })))
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

/// What people and the model said; tools speak through them.
fn paragraph(row: &Row) -> Option<String> {
    let who = match row.role {
        Role::User => "You",
        Role::Assistant => "Assistant",
        Role::Tool => return None,
    };
    let shown = row.shown();
    (!shown.is_empty()).then(|| format!("**{who}:** {shown}"))
}
