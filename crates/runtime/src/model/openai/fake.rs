//! A chat-completions server on a real socket that says what it is told to,
//! byte by byte where that matters, keeps what it was sent, notices when the
//! caller hangs up, and refuses what the real API refuses. It depends on
//! nothing of ours, so that other tests and the bench can include this file.

#![allow(dead_code, missing_docs)]

use std::collections::{HashSet, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::post;
use futures::stream;
use serde_json::{Value, json};
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

    /// A complaint in the API's own form.
    pub(crate) fn error(status: u16, code: &str, message: &str) -> Answer {
        let error = json!({ "error": { "message": message, "type": "invalid_request_error", "code": code } });
        Answer::new(status, "application/json", error.to_string())
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

#[derive(Default)]
struct Script {
    answers: VecDeque<Answer>,
    /// What is said when the script is empty.
    otherwise: Option<Answer>,
    requests: Vec<(HeaderMap, Value)>,
    callers: HashSet<SocketAddr>,
}

struct Stage {
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
    pub(crate) async fn start() -> io::Result<Fake> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let stage = Arc::new(Stage { script: Mutex::default(), hang_ups: watch::Sender::new(0) });
        let app = Router::new().route("/v1/chat/completions", post(answer)).with_state(stage.clone());
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        let server = tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(Fake { address, stage, server })
    }

    /// What a client takes as `base_url`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
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
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let refused = complaint(&request).map(|message| Answer::error(400, "invalid_value", &message));
    let answer = {
        let mut script = stage.script();
        script.requests.push((headers, request));
        script.callers.insert(caller);
        refused.or_else(|| script.answers.pop_front()).or_else(|| script.otherwise.clone())
    };
    let answer = answer.unwrap_or_else(|| Answer::error(500, "no_line", "the script is empty"));
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

/// Why the real API would refuse this request.
pub(crate) fn complaint(request: &Value) -> Option<String> {
    let list = |name: &str| request.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let tools = list("tools");
    let badly_named = tools.iter().find(|tool| !is_name(tool.pointer("/function/name")));
    if badly_named.is_some() {
        return Some("Invalid 'tools[0].function.name': string does not match pattern".to_owned());
    }
    if tools.is_empty() && request.get("parallel_tool_calls").is_some() {
        return Some("'parallel_tool_calls' is only allowed when 'tools' are specified".to_owned());
    }
    let messages = list("messages");
    if messages.is_empty() {
        return Some("'messages' is empty".to_owned());
    }
    let mut open = HashSet::new();
    for message in &messages {
        if let Some(refusal) = line_complaint(message, &mut open) {
            return Some(refusal);
        }
    }
    (!open.is_empty()).then(|| unanswered(&open))
}

fn line_complaint(message: &Value, open: &mut HashSet<String>) -> Option<String> {
    let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
    if role == "tool" {
        let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
        let stray = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'";
        return (!open.remove(id)).then(|| stray.to_owned());
    }
    if !open.is_empty() {
        return Some(unanswered(open));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let has_words = message.get("content").is_some_and(Value::is_string);
    match role {
        "system" | "user" if has_words => None,
        "assistant" if has_words || calls.is_some() => {
            calls.into_iter().flatten().find_map(|call| open_call(call, open))
        }
        _ => Some(format!("Invalid value: '{role}', or a message without content")),
    }
}

fn open_call(call: &Value, open: &mut HashSet<String>) -> Option<String> {
    let id = call.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let function = call.get("type").and_then(Value::as_str) == Some("function");
    let arguments = call.pointer("/function/arguments").is_some_and(Value::is_string);
    let is_legal = function && arguments && is_name(call.pointer("/function/name")) && (1..=40).contains(&id.len());
    (!is_legal || !open.insert(id)).then(|| format!("Invalid tool call: {call}"))
}

fn unanswered(open: &HashSet<String>) -> String {
    format!("An assistant message with 'tool_calls' must be followed by tool messages. Missing: {open:?}")
}

fn is_name(name: Option<&Value>) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    name.and_then(Value::as_str).is_some_and(|name| (1..=64).contains(&name.len()) && name.bytes().all(legal))
}
