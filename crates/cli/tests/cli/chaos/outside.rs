//! The outside of the servers: a model whose answers follow from what it is asked, tools, and the receiver of a
//! webhook. It lives in the test's process, so what it was asked and told is known even when servers are killed.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The longest time that a model or a tool takes.
const MOMENT_US: u64 = 40_000;
/// One message of a webhook in so many is not taken.
const REFUSED_EVERY: u64 = 4;
/// The rounds of a job that is to be cancelled.
const LONG_ROUNDS: usize = 8;
/// The ends of the names of our tools; a model is offered others too.
const TOOLS: [&str; 5] = ["look", "put", "pay", "order", "errand"];

/// Something that was asked of the outside.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// When it came.
    pub(crate) at: Instant,
    /// The server that asked: `main` or `pantry`.
    pub(crate) server: String,
    /// The tool, or `model`.
    pub(crate) what: String,
    pub(crate) tag: Tag,
    /// The key of a tool call.
    pub(crate) key: Option<String>,
}

/// The origin of a prompt, as written in it: `[job NAME KIND TASK]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) job: String,
    pub(crate) kind: String,
    pub(crate) task: String,
}

impl Tag {
    /// Reads the last tag of a text.
    fn find(text: &str) -> Option<Tag> {
        let words = text.rsplit_once("[job ")?.1.split_once(']')?.0;
        let [job, kind, task] = words.split(' ').collect::<Vec<_>>()[..] else { return None };
        Some(Tag { job: job.to_owned(), kind: kind.to_owned(), task: task.to_owned() })
    }

    pub(crate) fn text(&self) -> String {
        format!("[job {} {} {}]", self.job, self.kind, self.task)
    }

    /// Returns the answer that a job of this name gets in the end.
    pub(crate) fn answer(&self) -> String {
        format!("answer {} {}", self.job, self.task)
    }
}

/// A message of a webhook, each time that it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// The id in its header.
    pub(crate) id: String,
    /// The body, letter by letter.
    pub(crate) body: String,
}

/// The ledger of everything that was asked and told.
#[derive(Clone, Default)]
pub(crate) struct Ledger {
    arrivals: Arc<Mutex<Vec<Arrival>>>,
    notices: Arc<Mutex<Vec<Notice>>>,
}

impl Ledger {
    fn write(&self, arrival: Arrival) {
        self.arrivals.lock().unwrap().push(arrival);
    }

    pub(crate) fn read(&self) -> Vec<Arrival> {
        self.arrivals.lock().unwrap().clone()
    }

    /// Notes a message; returns how often it came before.
    fn note(&self, notice: Notice) -> usize {
        let mut notices = self.notices.lock().unwrap();
        let before = notices.iter().filter(|known| known.id == notice.id).count();
        notices.push(notice);
        before
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        self.notices.lock().unwrap().clone()
    }
}

/// The models and tools, while they are kept.
pub(crate) struct Outside {
    pub(crate) port: u16,
    pub(crate) ledger: Ledger,
    serving: JoinHandle<()>,
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Outside {
    pub(crate) async fn start() -> Outside {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let ledger = Ledger::default();
        let routes = Router::new()
            .route("/{server}/v1/chat/completions", post(model))
            .route("/{server}/tools/{name}", post(tool))
            .route("/{server}/notices", post(notice))
            .with_state(ledger.clone());
        let serving = tokio::spawn(async { axum::serve(listener, routes).await.unwrap() });
        Outside { port, ledger, serving }
    }

    /// Returns the part of a server's configuration that leads here.
    pub(crate) fn config(&self, server: &str) -> String {
        let at = format!("http://127.0.0.1:{}/{server}", self.port);
        let model = format!("[models.m]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{at}/v1'\n");
        let schema = "{ type = 'object', properties = { job = { type = 'string' } }, required = ['job'] }";
        let tool = |(name, effect): (&str, &str)| {
            let head = format!("[tools.http.{name}]\ndescription = 'Does {name}'\nurl = '{at}/tools/{name}'\n");
            format!("{head}effect = '{effect}'\npermission = 'safe'\ninput_schema = {schema}\n")
        };
        let tools = [("look", "read"), ("put", "idempotent"), ("pay", "once"), ("order", "once")].map(tool);
        format!("{model}{}", tools.concat())
    }

    /// Returns the webhook of a server that leads here.
    pub(crate) fn webhook(&self, server: &str) -> String {
        let url = format!("http://127.0.0.1:{}/{server}/notices", self.port);
        let events = "['run.completed', 'run.failed', 'run.cancelled', 'review.requested']";
        let retry = "['1s', '1s', '1s', '1s', '1s', '1s', '1s', '1s', '1s', '1s']";
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        format!("[[webhook]]\nname = 'ops'\nurl = '{url}'\nsecret = '{secret}'\nevents = {events}\nretry = {retry}\n")
    }
}

/// Waits a moment, always the same for the same thing.
async fn moment(thing: impl Hash) {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    tokio::time::sleep(Duration::from_micros(hasher.finish() % MOMENT_US)).await;
}

async fn tool(
    Path((server, name)): Path<(String, String)>,
    State(ledger): State<Ledger>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Json<Value> {
    let tag = Tag::find(body["input"]["job"].as_str().unwrap()).unwrap();
    let key = headers.get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
    let key = key.or_else(|| body["callId"].as_str().map(str::to_owned));
    ledger.write(Arrival { at: Instant::now(), server, what: name.clone(), tag, key: key.clone() });
    moment((name, key)).await;
    Json(json!({ "output": "it is done" }))
}

/// Notes a message, and takes it, but not each time.
async fn notice(State(ledger): State<Ledger>, headers: HeaderMap, body: String) -> StatusCode {
    let id = headers["webhook-id"].to_str().unwrap().to_owned();
    let before = ledger.note(Notice { id: id.clone(), body });
    moment((&id, before)).await;
    let mut hasher = DefaultHasher::new();
    (id, before).hash(&mut hasher);
    if hasher.finish().is_multiple_of(REFUSED_EVERY) { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK }
}

async fn model(
    Path(server): Path<String>,
    State(ledger): State<Ledger>,
    Json(body): Json<Value>,
) -> ([(HeaderName, &'static str); 1], String) {
    let (tag, round) = asked(&body);
    ledger.write(Arrival { at: Instant::now(), server, what: "model".to_owned(), tag: tag.clone(), key: None });
    moment((&tag.job, &tag.task, round)).await;
    let (delta, reason) = reply(&body, &tag, round);
    let piece = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
    ([(CONTENT_TYPE, "text/event-stream")], format!("data: {piece}\n\ndata: [DONE]\n\n"))
}

/// Returns the tag that the newest question has, and how often it was replied to.
fn asked(body: &Value) -> (Tag, usize) {
    let messages = body["messages"].as_array().unwrap();
    let tagged = |message: &Value| Tag::find(&message["content"].to_string());
    let (place, tag) =
        messages.iter().enumerate().rev().find_map(|(place, said)| Some((place, tagged(said)?))).unwrap();
    (tag, messages[place..].iter().filter(|message| message["role"] == "assistant").count())
}

/// Returns what a job's kind wants done in a round: calls of its tools, or an answer.
fn reply(body: &Value, tag: &Tag, round: usize) -> (Value, &'static str) {
    let wanted: &[&str] = match tag.kind.as_str() {
        "loop" => &["look"],
        "long" if round < LONG_ROUNDS => &TOOLS,
        "work" if round == 0 => &TOOLS,
        _ => &[],
    };
    let offered = body["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]);
    let is_wanted = |name: &str| wanted.iter().any(|wanted| name.ends_with(wanted));
    let calls = offered.filter(|tool| is_wanted(tool["name"].as_str().unwrap())).enumerate().map(|(index, tool)| {
        let named = tool["parameters"]["properties"].as_object().into_iter().flatten();
        let arguments: Value = named.map(|(name, _)| (name.clone(), Value::from(tag.text()))).collect();
        let function = json!({ "name": tool["name"], "arguments": arguments.to_string() });
        json!({ "index": index, "id": format!("call_{round}_{index}"), "type": "function", "function": function })
    });
    let calls: Vec<Value> = calls.collect();
    if calls.is_empty() {
        return (json!({ "role": "assistant", "content": tag.answer() }), "stop");
    }
    (json!({ "role": "assistant", "tool_calls": calls }), "tool_calls")
}
