//! The outside of three servers: a model and a tool that count who is with them at the same moment. A call whose server is
//! killed is over here at once, because its connection is.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::watch;

/// The longest time of an answer that is to be stopped.
const SLOW: Duration = Duration::from_secs(120);

/// The uses of something: those at this moment, and the most at once.
#[derive(Clone, Default)]
pub(super) struct Uses(Arc<Mutex<(usize, usize)>>);

/// A use that lasts until it is dropped.
struct Use(Uses);

impl Uses {
    fn begin(&self) -> Use {
        let mut uses = self.0.lock().unwrap();
        uses.0 += 1;
        uses.1 = uses.1.max(uses.0);
        Use(self.clone())
    }

    pub(super) fn most(&self) -> usize {
        self.0.lock().unwrap().1
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.0.0.lock().unwrap().0 -= 1;
    }
}

/// The model and the tool, with their ledger.
#[derive(Clone)]
pub(super) struct Outside {
    pub(super) port: u16,
    /// Whether the model answers.
    pub(super) answers: Arc<watch::Sender<bool>>,
    inner: Arc<Inner>,
}

struct Inner {
    /// The time that an answer and a call take.
    pause: Duration,
    asked: Uses,
    passed: Uses,
    /// The questions to the model in their order: when each came, and what it was about.
    questions: Mutex<Vec<(Instant, String)>>,
    /// The keys and epochs of the calls, in their order.
    calls: Mutex<Vec<(String, u64)>>,
    /// The answers of each conversation.
    talks: Mutex<HashMap<String, Uses>>,
}

impl Outside {
    /// Starts them; the model answers when `answers` says so.
    pub(super) async fn start(pause: Duration, answers: bool) -> Outside {
        let inner = Inner {
            pause,
            asked: Uses::default(),
            passed: Uses::default(),
            questions: Mutex::default(),
            calls: Mutex::default(),
            talks: Mutex::default(),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let outside = Outside { port, answers: Arc::new(watch::Sender::new(answers)), inner: Arc::new(inner) };
        let routes = Router::new().route("/v1/chat/completions", post(model)).route("/door", post(door));
        let routes = routes.with_state(outside.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        outside
    }

    pub(super) fn questions(&self) -> MutexGuard<'_, Vec<(Instant, String)>> {
        self.inner.questions.lock().unwrap()
    }

    /// Returns the most questions, and the most calls, that were there at once.
    pub(super) fn most(&self) -> (usize, usize) {
        (self.inner.asked.most(), self.inner.passed.most())
    }

    /// Returns the most answers of one conversation that were under way at once.
    pub(super) fn most_of_a_talk(&self) -> usize {
        self.inner.talks.lock().unwrap().values().map(Uses::most).max().unwrap_or_default()
    }

    pub(super) fn calls(&self) -> usize {
        self.inner.calls.lock().unwrap().len()
    }

    /// Returns the most questions that came within a second.
    pub(super) fn most_in_a_second(&self) -> usize {
        let questions = self.questions();
        let times: Vec<Instant> = questions.iter().map(|(at, _)| *at).collect();
        let within = |(place, from): (usize, &Instant)| {
            times[place..].iter().take_while(|at| **at - *from < Duration::from_secs(1)).count()
        };
        times.iter().enumerate().map(within).max().unwrap_or_default()
    }

    /// Checks that every call that may happen once did, and that none came from an owner that was replaced.
    pub(super) fn check_calls(&self) {
        let calls = self.inner.calls.lock().unwrap();
        let mut newest: BTreeMap<&str, u64> = BTreeMap::new();
        for (key, epoch) in calls.iter() {
            let before = newest.insert(key.split('/').next().unwrap(), *epoch).unwrap_or_default();
            assert!(*epoch >= before, "{key} came from epoch {epoch} after {before}");
        }
        let keys: BTreeSet<&String> = calls.iter().map(|(key, _)| key).collect();
        assert_eq!(keys.len(), calls.len(), "a call that may happen once came twice");
    }

    /// Returns the part of a server's configuration that leads here, with more settings of the model.
    pub(super) fn config(&self, model: &str) -> String {
        let port = self.port;
        format!(
            "[models.m]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{port}/v1'\n{model}\n\
            [tools.http.door]\ndescription = 'A door'\nmethod = 'POST'\nurl = 'http://127.0.0.1:{port}/door'\n\
            effect = 'once'\nlock = 'door'\ntimeout = '2s'\n"
        )
    }
}

/// Returns the word behind another one in brackets: `[talk WORD]` names a conversation, `[pause MS]` the time of an answer.
fn tagged(text: &str, tag: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("[{tag} "))?;
    Some(rest.split_once(']')?.0.to_owned())
}

async fn model(State(outside): State<Outside>, Json(asked): Json<Value>) -> impl IntoResponse {
    let messages = asked["messages"].as_array().unwrap();
    let is_user = |message: &Value| message["role"] == "user";
    let place = messages.iter().rposition(is_user).unwrap_or_default();
    let about = messages[place]["content"].to_string();
    let inner = &outside.inner;
    outside.questions().push((Instant::now(), about.clone()));
    let _asked = inner.asked.begin();
    if about.contains("slow") {
        // It is stopped: the connection of the one who asked ends, and this with it.
        tokio::time::sleep(SLOW).await;
    }
    let talk = tagged(&about, "talk").map(|talk| inner.talks.lock().unwrap().entry(talk).or_default().begin());
    outside.answers.subscribe().wait_for(|answers| *answers).await.unwrap();
    let pause = tagged(&about, "pause").map_or(inner.pause, |text| Duration::from_millis(text.parse().unwrap()));
    tokio::time::sleep(pause).await;
    drop(talk);
    let is_called = messages[place..].iter().any(|message| message["role"] == "tool");
    let calls = about.contains("door") && !is_called;
    let delta = if calls {
        let call = json!({ "name": "door", "arguments": "{}" });
        json!({ "role": "assistant", "tool_calls": [{ "index": 0, "id": "c", "type": "function", "function": call }] })
    } else {
        json!({ "role": "assistant", "content": "through" })
    };
    let end = if calls { "tool_calls" } else { "stop" };
    let piece = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": end }] });
    ([("content-type", "text/event-stream")], format!("data: {piece}\n\ndata: [DONE]\n\n"))
}

async fn door(State(outside): State<Outside>, headers: HeaderMap) -> &'static str {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    let inner = &outside.inner;
    let _passed = inner.passed.begin();
    let epoch = text("consort-epoch").parse().unwrap();
    inner.calls.lock().unwrap().push((text("idempotency-key"), epoch));
    tokio::time::sleep(inner.pause).await;
    "done"
}
