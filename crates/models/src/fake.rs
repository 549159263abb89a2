//! A scripted provider on a real socket. It sends its script, byte by byte where that matters, records
//! the requests, notices when a caller closes the connection, and refuses what the real provider
//! refuses. It depends on nothing of ours, so that other tests and the bench can include this file.

#![allow(dead_code, missing_docs)]

use std::collections::{HashSet, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use axum::routing::post;
use futures::stream;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// One step of an answer.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends these bytes as one chunk.
    Send(Vec<u8>),
    /// Sends nothing until the gate is opened with `notify_one`.
    Wait(Arc<Notify>),
    /// Breaks the connection.
    Break,
}

/// A scripted answer.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) steps: Vec<Step>,
}

impl Answer {
    /// Returns a stream of these bytes.
    pub(crate) fn stream(bytes: impl Into<Vec<u8>>) -> Answer {
        Answer::new(200, "text/event-stream", bytes)
    }

    /// Returns a stream of these events.
    pub(crate) fn events(events: &[Value]) -> Answer {
        Answer::stream(events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>())
    }

    /// Returns an answer with this status, content type and body.
    pub(crate) fn new(status: u16, content_type: &str, bytes: impl Into<Vec<u8>>) -> Answer {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Answer { status, headers, steps: vec![Step::Send(bytes.into())] }
    }

    /// Returns an error response.
    pub(crate) fn json(status: u16, complaint: &Value) -> Answer {
        Answer::new(status, "application/json", complaint.to_string())
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Answer {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn then(mut self, step: Step) -> Answer {
        self.steps.push(step);
        self
    }
}

/// The rules that a provider's requests must follow.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// The path of the client's `base_url`, after the host.
    pub(crate) base: &'static str,
    /// The path of the request, after the host.
    pub(crate) path: &'static str,
    /// Returns the provider's error response for a request that it would refuse.
    pub(crate) refusal: fn(&HeaderMap, &Value) -> Option<Answer>,
}

#[derive(Default)]
struct Script {
    answers: VecDeque<Answer>,
    /// The answer when the script is empty.
    otherwise: Option<Answer>,
    requests: Vec<(HeaderMap, Bytes)>,
    callers: HashSet<SocketAddr>,
}

struct Stage {
    rules: Rules,
    script: Mutex<Script>,
    hang_ups: watch::Sender<usize>,
}

impl Stage {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server; it stops when dropped.
pub(crate) struct Fake {
    address: SocketAddr,
    stage: Arc<Stage>,
    server: JoinHandle<io::Result<()>>,
}

impl Fake {
    pub(crate) async fn start(rules: Rules) -> io::Result<Fake> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let stage = Arc::new(Stage { rules, script: Mutex::default(), hang_ups: watch::Sender::new(0) });
        let app = Router::new().fallback(post(answer)).with_state(stage.clone());
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        let server = tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(Fake { address, stage, server })
    }

    /// Returns the client's `base_url`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}{}", self.address, self.stage.rules.base)
    }

    /// Adds an answer to the script.
    pub(crate) fn will(&self, answer: Answer) {
        self.stage.script().answers.push_back(answer);
    }

    /// Sets the answer for when the script is empty.
    pub(crate) fn otherwise(&self, answer: Answer) {
        self.stage.script().otherwise = Some(answer);
    }

    /// Returns the bodies received, the refused ones included.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.bodies().iter().map(|body| serde_json::from_slice(body).unwrap_or_default()).collect()
    }

    /// Returns the bodies received, byte for byte.
    pub(crate) fn bodies(&self) -> Vec<Bytes> {
        self.stage.script().requests.iter().map(|(_, body)| body.clone()).collect()
    }

    /// Returns the headers received.
    pub(crate) fn headers(&self) -> Vec<HeaderMap> {
        self.stage.script().requests.iter().map(|(headers, _)| headers.clone()).collect()
    }

    /// Returns the number of connections that requests came through.
    pub(crate) fn connections(&self) -> usize {
        self.stage.script().callers.len()
    }

    /// Waits until callers have closed the connection during this many answers.
    pub(crate) async fn hung_up(&self, count: usize) {
        let mut hang_ups = self.stage.hang_ups.subscribe();
        // The sender lives as long as we do.
        let _ = hang_ups.wait_for(|seen| *seen >= count).await;
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    State(stage): State<Arc<Stage>>,
    ConnectInfo(caller): ConnectInfo<SocketAddr>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let refused = if uri == stage.rules.path {
        (stage.rules.refusal)(&headers, &request)
    } else {
        Some(Answer::new(404, "text/plain", format!("nothing at {uri}")))
    };
    let answer = {
        let mut script = stage.script();
        script.requests.push((headers, body));
        script.callers.insert(caller);
        refused.or_else(|| script.answers.pop_front()).or_else(|| script.otherwise.clone())
    };
    let answer = answer.unwrap_or_else(|| Answer::new(500, "text/plain", "the script is empty"));
    play(answer, Open { stage, ended: false })
}

fn play(answer: Answer, open: Open) -> Response {
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(name, value);
    }
    let steps = VecDeque::from(answer.steps);
    let body = Body::from_stream(stream::unfold((steps, open), step));
    response.body(body).unwrap_or_else(|_| {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}

type Playing = (VecDeque<Step>, Open);

async fn step((mut steps, mut open): Playing) -> Option<(io::Result<Bytes>, Playing)> {
    loop {
        match steps.pop_front() {
            Some(Step::Send(bytes)) => return Some((Ok(bytes.into()), (steps, open))),
            Some(Step::Wait(gate)) => gate.notified().await,
            Some(Step::Break) => {
                // Earlier chunks leave the server only when this task yields.
                tokio::task::yield_now().await;
                open.ended = true;
                return Some((Err(io::ErrorKind::ConnectionReset.into()), (steps, open)));
            }
            None => {
                open.ended = true;
                return None;
            }
        }
    }
}

/// An answer being sent; if it is dropped before its end, the caller closed the connection.
struct Open {
    stage: Arc<Stage>,
    ended: bool,
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.ended {
            self.stage.hang_ups.send_modify(|count| *count += 1);
        }
    }
}

/// Returns whether every provider accepts this name for a tool.
pub(crate) fn is_name(name: Option<&Value>) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    name.and_then(Value::as_str).is_some_and(|name| (1..=64).contains(&name.len()) && name.bytes().all(legal))
}

/// Returns the list at this pointer, or an empty one.
pub(crate) fn list<'a>(json: &'a Value, pointer: &str) -> &'a [Value] {
    json.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the text in this field, or an empty one.
pub(crate) fn text<'a>(json: &'a Value, field: &str) -> &'a str {
    json.get(field).and_then(Value::as_str).unwrap_or_default()
}
