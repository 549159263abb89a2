//! A provider on a real socket that says what it is told to, byte by byte
//! where that matters, keeps what it was sent, notices when the caller hangs
//! up, and refuses what the real one refuses. It depends on nothing of ours,
//! so that other tests and the bench can include this file.

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
    /// These bytes, as one chunk.
    Send(Vec<u8>),
    /// Nothing until the gate is opened with `notify_one`.
    Wait(Arc<Notify>),
    /// The connection breaks.
    Break,
}

/// An answer of the script.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) steps: Vec<Step>,
}

impl Answer {
    /// A stream of these bytes.
    pub(crate) fn stream(bytes: impl Into<Vec<u8>>) -> Answer {
        Answer::new(200, "text/event-stream", bytes)
    }

    /// A stream of these events.
    pub(crate) fn events(events: &[Value]) -> Answer {
        Answer::stream(events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>())
    }

    /// Any answer.
    pub(crate) fn new(status: u16, content_type: &str, bytes: impl Into<Vec<u8>>) -> Answer {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Answer { status, headers, steps: vec![Step::Send(bytes.into())] }
    }

    /// A complaint.
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

/// What a provider insists on.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// What a client takes as `base_url`, after the host.
    pub(crate) base: &'static str,
    /// What is asked for, after the host.
    pub(crate) path: &'static str,
    /// Why it would refuse a request, in its own form.
    pub(crate) refusal: fn(&HeaderMap, &Value) -> Option<Answer>,
}

#[derive(Default)]
struct Script {
    answers: VecDeque<Answer>,
    /// What is said when the script is empty.
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

    /// What a client takes as `base_url`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}{}", self.address, self.stage.rules.base)
    }

    /// Adds an answer to the script.
    pub(crate) fn will(&self, answer: Answer) {
        self.stage.script().answers.push_back(answer);
    }

    /// What is answered when the script is empty.
    pub(crate) fn otherwise(&self, answer: Answer) {
        self.stage.script().otherwise = Some(answer);
    }

    /// The bodies received, the refused ones included.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.bodies().iter().map(|body| serde_json::from_slice(body).unwrap_or_default()).collect()
    }

    /// The same, byte for byte.
    pub(crate) fn bodies(&self) -> Vec<Bytes> {
        self.stage.script().requests.iter().map(|(_, body)| body.clone()).collect()
    }

    /// The headers received.
    pub(crate) fn headers(&self) -> Vec<HeaderMap> {
        self.stage.script().requests.iter().map(|(headers, _)| headers.clone()).collect()
    }

    /// How many connections requests came through.
    pub(crate) fn connections(&self) -> usize {
        self.stage.script().callers.len()
    }

    /// Waits until callers have hung up on this many answers.
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
                // What was sent before leaves the server only when we pause.
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

/// An answer being sent; dropped before its end, somebody hung up.
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

/// Whether this is a name every provider takes for a tool.
pub(crate) fn is_name(name: Option<&Value>) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    name.and_then(Value::as_str).is_some_and(|name| (1..=64).contains(&name.len()) && name.bytes().all(legal))
}

/// The list at this place, or nothing.
pub(crate) fn list<'a>(json: &'a Value, pointer: &str) -> &'a [Value] {
    json.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The text in this field, or nothing.
pub(crate) fn text<'a>(json: &'a Value, field: &str) -> &'a str {
    json.get(field).and_then(Value::as_str).unwrap_or_default()
}
