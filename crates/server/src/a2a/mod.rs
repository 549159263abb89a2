//! `/a2a`: this server as an agent of the A2A protocol 1.0, over JSON-RPC and over REST.
//!
//! `card` says what it can do, `work` does what messages ask for, `tasks` and `list` show runs and turns as tasks,
//! `stream` tells of them as they go on, `push` has the addresses that are told of them. Requests and failures are read
//! and written by `consort_inbound::a2a`.

mod card;
mod endpoints;
mod list;
mod push;
mod stream;
mod tasks;
mod work;

use std::convert::Infallible;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodRouter};
pub(crate) use consort_inbound::a2a::{MEDIA_TYPE, PATH, SLASHED, is_path};
use consort_inbound::a2a::{error, read};
use consort_runtime::engine::Engine;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Map, Value, json};

pub(crate) use self::endpoints::endpoints;
use self::error::{A2aError, Fault};
use self::read::Fields;
use self::tasks::Shown;
use self::work::Outcome;
use crate::Site;
use crate::access::{Caller, Pass};
use crate::body;
use crate::openai::Edge;
use consort_inbound::problem::Problem;
use consort_inbound::query::Pairs;

/// The beginning of the paths for REST.
const REST: &str = "/a2a/v1";
/// The version of the protocol.
const VERSION: &str = "1.0";
/// The version that a request without one means.
const OLD_VERSION: &str = "0.3";
/// The header, or the parameter of the query, with the version.
const VERSION_HEADER: &str = "a2a-version";
/// The media type that most clients send.
const JSON: &str = "application/json";

/// The operations, by their names over JSON-RPC.
const OPERATIONS: [(&str, Operation); 11] = [
    ("SendMessage", Operation::Send),
    ("SendStreamingMessage", Operation::Stream),
    ("GetTask", Operation::Get),
    ("ListTasks", Operation::List),
    ("CancelTask", Operation::Cancel),
    ("SubscribeToTask", Operation::Subscribe),
    ("CreateTaskPushNotificationConfig", Operation::CreatePush),
    ("GetTaskPushNotificationConfig", Operation::GetPush),
    ("ListTaskPushNotificationConfigs", Operation::ListPushes),
    ("DeleteTaskPushNotificationConfig", Operation::DeletePush),
    ("GetExtendedAgentCard", Operation::Card),
];

/// An operation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    CreatePush,
    GetPush,
    ListPushes,
    DeletePush,
    Card,
}

/// The answer to an operation.
enum Reply {
    Value(Value),
    Events(BoxStream<'static, Value>),
}

/// This server as one client sees it.
#[derive(Clone)]
struct Agent {
    edge: Arc<Edge>,
    pass: Pass,
}

/// Returns the handler of the path that ends with a slash.
pub(crate) fn slashed() -> MethodRouter<Arc<Site>> {
    routing::post(rpc)
}

impl Agent {
    /// Answers an operation.
    async fn answer(&self, operation: Operation, params: &Fields) -> Result<Reply, A2aError> {
        if read::text(params, "tenant")?.is_some() {
            return Err(A2aError::wrong("tenant", "must be absent: there is one agent here"));
        }
        let whole = |history| Shown { history, artifacts: true };
        let value = match operation {
            Operation::Send => self.send(params).await?,
            Operation::Stream => return self.stream(params).await,
            Operation::Get => {
                let history = read::history(params)?;
                self.find(read::needed_id(params, "id")?).await?.json(whole(history))
            }
            Operation::List => self.list(params).await?,
            Operation::Cancel => self.cancel(read::needed_id(params, "id")?).await?.json(whole(None)),
            Operation::Subscribe => return self.subscribe(read::needed_id(params, "id")?).await,
            Operation::CreatePush => self.create_push(params).await?,
            Operation::GetPush => self.get_push(params).await?,
            Operation::ListPushes => self.list_pushes(params).await?,
            Operation::DeletePush => self.delete_push(params).await?,
            Operation::Card => card::card(&self.edge.site, &self.edge.headers, Some(&self.pass)).await,
        };
        Ok(Reply::Value(value))
    }

    /// Answers `SendMessage`: with the task once it has ended or asks something, or at once where that is wanted.
    async fn send(&self, params: &Fields) -> Result<Value, A2aError> {
        let (outcome, wish) = self.take(params).await?;
        let found = match outcome {
            Outcome::Message(message) => return Ok(json!({ "message": message })),
            Outcome::Task { found, .. } => found,
        };
        let shown = Shown { history: wish.history, artifacts: true };
        if wish.at_once || found.state().is_over() {
            return Ok(json!({ "task": found.json(shown) }));
        }
        let from = found.events();
        if !found.is_asking() {
            let work = self.follow(&found, from).await?;
            self.settled(&found.id, work).await;
        }
        Ok(json!({ "task": self.find(&found.id).await?.json(shown) }))
    }

    /// Answers `SendStreamingMessage`.
    async fn stream(&self, params: &Fields) -> Result<Reply, A2aError> {
        let (outcome, wish) = self.take(params).await?;
        match outcome {
            Outcome::Message(message) => {
                Ok(Reply::Events(futures::stream::iter([json!({ "message": message })]).boxed()))
            }
            Outcome::Task { found, is_new: true } => {
                let work = self.follow(&found, 0).await?;
                Ok(Reply::Events(self.told(&found, work, wish.history)))
            }
            Outcome::Task { found, is_new: false } => {
                let work = self.follow(&found, found.events()).await?;
                Ok(Reply::Events(self.told_from_now(&found, work, true)))
            }
        }
    }

    /// Answers `SubscribeToTask`.
    async fn subscribe(&self, id: &str) -> Result<Reply, A2aError> {
        let found = self.find(id).await?;
        if found.state().is_over() {
            let message = format!("the task {id} has ended: nothing more will happen to it");
            return Err(A2aError::new(Fault::UnsupportedOperation, message));
        }
        let work = self.follow(&found, found.events()).await?;
        Ok(Reply::Events(self.told_from_now(&found, work, false)))
    }
}

/// The parts of a request that every operation needs.
struct Asked {
    agent: Agent,
    /// The version of the protocol that it is in.
    version: String,
}

impl FromRequestParts<Arc<Site>> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Asked, Problem> {
        let missing = |_| Problem::bad_request("the request has no caller");
        let Extension(caller) = Extension::<Caller>::from_request_parts(parts, site).await.map_err(missing)?;
        let Extension(runs) = Extension::<Engine>::from_request_parts(parts, site).await.map_err(missing)?;
        let Extension(pass) = Extension::<Pass>::from_request_parts(parts, site).await.map_err(missing)?;
        let headers = parts.headers.clone();
        let Ok(pairs) = Pairs::from_request_parts(parts, site).await;
        let said = headers.get(VERSION_HEADER).and_then(|version| version.to_str().ok());
        let said = said.or_else(|| pairs.any_case(VERSION_HEADER)).map(str::trim).unwrap_or_default();
        let version = if said.is_empty() { OLD_VERSION } else { said }.to_owned();
        let edge = Arc::new(Edge { site: site.clone(), caller, runs, headers });
        Ok(Asked { agent: Agent { edge, pass }, version })
    }
}

impl Asked {
    /// Refuses any version but the one that is spoken here; the last part of a version changes nothing.
    fn check_version(&self) -> Result<(), A2aError> {
        let mut numbers = self.version.split('.');
        let is_ours = [Some("1"), Some("0")] == [numbers.next(), numbers.next()] && numbers.count() <= 1;
        let message = || {
            let old =
                if self.version == OLD_VERSION { ", which a request without the header A2A-Version means" } else { "" };
            format!("version {} of the protocol is not spoken here{old}: send `A2A-Version: {VERSION}`", self.version)
        };
        is_ours.then_some(()).ok_or_else(|| A2aError::new(Fault::VersionNotSupported, message()))
    }

    async fn answer(&self, operation: Operation, params: &Fields) -> Result<Reply, A2aError> {
        self.check_version()?;
        self.agent.answer(operation, params).await
    }
}

/// Answers a request over JSON-RPC: failures of the protocol have the status 200.
async fn rpc(State(site): State<Arc<Site>>, asked: Asked, request: Request) -> Result<Response, Problem> {
    let headers = request.headers().clone();
    let bytes = body::read(&site, request).await?;
    let (id, answered) = match call(&headers, &bytes) {
        Ok((id, operation, params)) => (id, asked.answer(operation, &params).await),
        Err(refused) => (refused.0, Err(refused.1)),
    };
    Ok(match answered {
        Ok(Reply::Value(result)) => typed(JSON, &json!({ "jsonrpc": "2.0", "id": id, "result": result })),
        Ok(Reply::Events(events)) => {
            streamed(events.map(move |event| json!({ "jsonrpc": "2.0", "id": id, "result": event })).boxed())
        }
        Err(error) => typed(JSON, &json!({ "jsonrpc": "2.0", "id": id, "error": error.rpc() })),
    })
}

/// Reads a call over JSON-RPC; the error has the id of the request, as far as it is known.
fn call(headers: &HeaderMap, bytes: &[u8]) -> Result<(Value, Operation, Fields), Box<(Value, A2aError)>> {
    let anonymous = |fault, message: String| Box::new((Value::Null, A2aError::new(fault, message)));
    if !body::json_or_untyped(headers) {
        let message = "send the body as application/json".to_owned();
        return Err(anonymous(Fault::ContentTypeNotSupported, message));
    }
    let sent = body::json(bytes);
    let sent = sent.map_err(|reason| anonymous(Fault::ParseError, format!("the body is not JSON: {reason}")))?;
    let Value::Object(sent) = sent else {
        let message = "the body must be one message of JSON-RPC: there are no batches".to_owned();
        return Err(anonymous(Fault::InvalidRequest, message));
    };
    let id = sent.get("id").cloned().unwrap_or_default();
    let id = if id.is_string() || id.is_number() { id } else { Value::Null };
    let fail = |fault, message: String| Box::new((id.clone(), A2aError::new(fault, message)));
    let method = sent.get("method").and_then(Value::as_str);
    let (Some("2.0"), Some(method)) = (sent.get("jsonrpc").and_then(Value::as_str), method) else {
        let message = "the body must have `jsonrpc` \"2.0\" and a `method`".to_owned();
        return Err(fail(Fault::InvalidRequest, message));
    };
    if id.is_null() {
        let message = "the request must have an `id`, a text or a number: there are no notifications".to_owned();
        return Err(fail(Fault::InvalidRequest, message));
    }
    let operation = OPERATIONS.iter().find(|(name, _)| *name == method).map(|(_, operation)| *operation);
    let names = || OPERATIONS.map(|(name, _)| name).join(", ");
    let unknown = || fail(Fault::MethodNotFound, format!("there is no method '{method}': there are {}", names()));
    let operation = operation.ok_or_else(unknown)?;
    let params = match sent.get("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params.clone(),
        Some(_) => return Err(fail(Fault::InvalidParams, "`params` must be an object".to_owned())),
    };
    Ok((id, operation, params))
}

/// Answers a request over REST.
async fn rest(asked: &Asked, operation: Operation, params: Result<Fields, A2aError>) -> Response {
    let answered = match params {
        Ok(params) => asked.answer(operation, &params).await,
        Err(error) => Err(error),
    };
    match answered {
        Ok(Reply::Value(value)) => typed(spoken(&asked.agent.edge.headers), &value),
        Ok(Reply::Events(events)) => streamed(events),
        Err(error) => (error.status(), typed(JSON, &error.rest())).into_response(),
    }
}

/// Returns the type that a client understands: the protocol's own, unless it speaks of plain JSON.
fn spoken(headers: &HeaderMap) -> &'static str {
    let names = |name| {
        let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
        values.collect::<Vec<_>>().join(",").to_ascii_lowercase()
    };
    let said = [names(CONTENT_TYPE), names(ACCEPT)].concat();
    if said.contains(JSON) && !said.contains(MEDIA_TYPE) { JSON } else { MEDIA_TYPE }
}

fn typed(kind: &'static str, body: &Value) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static(kind))], body.to_string()).into_response()
}

fn streamed(events: BoxStream<'static, Value>) -> Response {
    let events = events.map(|event| Ok::<_, Infallible>(Event::default().data(event.to_string())));
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
