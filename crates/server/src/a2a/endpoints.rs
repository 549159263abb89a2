//! The endpoints of the protocol, with what each reads before it is answered.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, LAST_MODIFIED};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::error::{A2aError, Fault};
use super::read::Fields;
use super::{Asked, JSON, MEDIA_TYPE, Operation, PATH, card, rest, rpc};
use crate::Site;
use crate::access::Scope;
use crate::body::Sent;
use crate::endpoint::{Endpoint, Tag, Whose, delete, get, post};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::Pairs;

/// The time for which clients may keep the card.
const CARD_AGE: HeaderValue = HeaderValue::from_static("public, max-age=60");

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let about = "JSON-RPC of the A2A protocol 1.0. What is shared, the ensemble and the chat agent are skills; runs and \
        turns are tasks, whose contexts are threads. Needs the header `A2A-Version: 1.0`.";
    let rest_about = "The same over REST. Needs the header `A2A-Version: 1.0`.";
    let fails = |endpoint: Endpoint| {
        let endpoint = endpoint.about(rest_about).needs(Scope::Run, Whose::Key);
        endpoint.fails(&[Code::BadRequest, Code::RunNotFound, Code::ConcurrencyLimit, Code::QuotaExceeded])
    };
    let answers = |endpoint: Endpoint, description: &'static str| {
        let endpoint = endpoint.answers_as::<Map<String, Value>>(StatusCode::OK, MEDIA_TYPE, description);
        fails(endpoint.answers::<Map<String, Value>>(StatusCode::OK, description))
    };
    vec![
        get("/.well-known/agent-card.json", public_card)
            .named(Tag::A2a, "agentCard", "Get the agent card")
            .public()
            .answers::<Map<String, Value>>(StatusCode::OK, "The agent card."),
        post(PATH, rpc)
            .named(Tag::A2a, "a2a", "Speak the A2A protocol (JSON-RPC)")
            .about(about)
            .needs(Scope::Run, Whose::Key)
            .body::<Map<String, Value>>()
            .answers::<Map<String, Value>>(StatusCode::OK, "A message, or a stream of them; also for failures.")
            .streams("Messages as they come."),
        answers(post("/a2a/v1/message:send", send), "The task, or a message.")
            .named(Tag::A2a, "a2aSend", "Send a message")
            .body::<Map<String, Value>>(),
        fails(post("/a2a/v1/message:stream", stream))
            .named(Tag::A2a, "a2aStream", "Send a message and stream its task")
            .body::<Map<String, Value>>()
            .streams("The task, then its changes."),
        answers(get("/a2a/v1/tasks", list), "A page of tasks, those that changed last first.").named(
            Tag::A2a,
            "a2aTasks",
            "List the caller's tasks",
        ),
        answers(get("/a2a/v1/tasks/{id}", task), "The task.")
            .named(Tag::A2a, "a2aTask", "Get a task, or stream it (`:subscribe` after its id)")
            .streams("The task, then its changes."),
        answers(post("/a2a/v1/tasks/{id}", act), "The task.")
            .named(Tag::A2a, "a2aActOnTask", "Cancel a task (`:cancel` after its id), or stream it (`:subscribe`)")
            .optional_body::<Map<String, Value>>()
            .streams("The task, then its changes."),
        answers(post("/a2a/v1/tasks/{id}/pushNotificationConfigs", create_push), "The address.")
            .named(Tag::A2a, "a2aCreatePush", "Add an address that is notified about a task")
            .body::<Map<String, Value>>(),
        answers(get("/a2a/v1/tasks/{id}/pushNotificationConfigs", list_pushes), "The addresses.").named(
            Tag::A2a,
            "a2aPushes",
            "List the addresses that are notified about a task",
        ),
        answers(get("/a2a/v1/tasks/{id}/pushNotificationConfigs/{config}", get_push), "The address.").named(
            Tag::A2a,
            "a2aPush",
            "Get an address that is notified about a task",
        ),
        answers(delete("/a2a/v1/tasks/{id}/pushNotificationConfigs/{config}", delete_push), "It is told no more.")
            .named(Tag::A2a, "a2aDeletePush", "Delete an address that is notified about a task"),
        answers(get("/a2a/v1/extendedAgentCard", own_card), "The agent card.").named(
            Tag::A2a,
            "a2aCard",
            "Get the agent card for this caller",
        ),
    ]
}

async fn public_card(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    let card = card::card(&site, &headers, None).await.to_string();
    let tag: String = Sha256::digest(&card).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let mut answered = HeaderMap::new();
    answered.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    answered.insert(CACHE_CONTROL, CARD_AGE);
    // What is shared changes with the configuration, which is read when the server starts.
    let started = i64::try_from(site.started_at).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    let started = started.map(|at| at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string());
    let written = [(ETAG, Some(format!("\"{tag}\""))), (LAST_MODIFIED, started)];
    for (name, value) in written {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            answered.insert(name, value);
        }
    }
    (answered, card).into_response()
}

/// Reads the body of a request as parameters. The body itself is returned for the memory that it counts.
async fn body(site: &Arc<Site>, request: Request) -> (Result<Fields, A2aError>, Bytes) {
    match Sent::from_request(request, site).await.map(Sent::into_parts) {
        Ok((Value::Object(fields), body)) => (Ok(fields), body),
        Ok((_, body)) => (Err(A2aError::new(Fault::InvalidParams, "the body must be a JSON object")), body),
        Err(problem) => (Err(problem.into()), Bytes::new()),
    }
}

/// Returns the query as parameters.
fn query(pairs: &Pairs) -> Fields {
    pairs.iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

/// Adds what the path names, which beats what else was sent.
fn named<const N: usize>(mut params: Fields, names: [(&str, &str); N]) -> Fields {
    for (name, value) in names {
        params.insert(name.to_owned(), json!(value));
    }
    params
}

async fn send(State(site): State<Arc<Site>>, asked: Asked, request: Request) -> Response {
    let (params, _body) = body(&site, request).await;
    rest(&asked, Operation::Send, params).await
}

async fn stream(State(site): State<Arc<Site>>, asked: Asked, request: Request) -> Response {
    let (params, _body) = body(&site, request).await;
    rest(&asked, Operation::Stream, params).await
}

async fn list(asked: Asked, pairs: Pairs) -> Response {
    rest(&asked, Operation::List, Ok(query(&pairs))).await
}

async fn task(asked: Asked, Path(id): Path<String>, pairs: Pairs) -> Response {
    let (operation, id) = match id.strip_suffix(":subscribe") {
        Some(id) => (Operation::Subscribe, id),
        None => (Operation::Get, id.as_str()),
    };
    rest(&asked, operation, Ok(named(query(&pairs), [("id", id)]))).await
}

async fn act(
    State(site): State<Arc<Site>>,
    asked: Asked,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let known = [(":cancel", Operation::Cancel), (":subscribe", Operation::Subscribe)];
    let wanted = known.into_iter().find_map(|(verb, operation)| Some((id.strip_suffix(verb)?, operation)));
    let Some((id, operation)) = wanted else {
        let message = "a task is changed by POST with `:cancel` or `:subscribe` after its id".to_owned();
        return Err(Problem::new(Code::NotFound, message));
    };
    let (params, _body) = body(&site, request).await;
    let params = params.map(|params| named(params, [("id", id)]));
    Ok(rest(&asked, operation, params).await)
}

async fn create_push(
    State(site): State<Arc<Site>>,
    asked: Asked,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let (params, _body) = body(&site, request).await;
    let params = params.map(|params| named(params, [("taskId", &id)]));
    rest(&asked, Operation::CreatePush, params).await
}

async fn list_pushes(asked: Asked, Path(id): Path<String>, pairs: Pairs) -> Response {
    rest(&asked, Operation::ListPushes, Ok(named(query(&pairs), [("taskId", &id)]))).await
}

async fn get_push(asked: Asked, Path((id, config)): Path<(String, String)>, pairs: Pairs) -> Response {
    let params = named(query(&pairs), [("taskId", &id), ("id", &config)]);
    rest(&asked, Operation::GetPush, Ok(params)).await
}

async fn delete_push(asked: Asked, Path((id, config)): Path<(String, String)>, pairs: Pairs) -> Response {
    let params = named(query(&pairs), [("taskId", &id), ("id", &config)]);
    rest(&asked, Operation::DeletePush, Ok(params)).await
}

async fn own_card(asked: Asked, pairs: Pairs) -> Response {
    rest(&asked, Operation::Card, Ok(query(&pairs))).await
}
