//! Several servers over one PostgreSQL, through HTTP: what they share counts once. A model and a tool outside of them
//! count how often they are used at the same moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use consort_test_postgres::{Database, database};
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::served::Served;
use crate::store::client;

/// The longest time for anything here: machines that run tests are busy.
const PATIENCE: Duration = Duration::from_secs(180);
/// The pause between two looks at a condition: a loop without one would keep the servers from the processor.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The world outside the nodes, which counts what reaches it.
#[derive(Clone)]
pub(crate) struct Outside {
    counts: Arc<Mutex<Counts>>,
    /// Whether the model answers.
    answers: Arc<watch::Sender<bool>>,
}

#[derive(Default)]
struct Counts {
    asked: (usize, usize),
    passed: (usize, usize),
    /// The descriptions of the tasks that the model was asked about, in their order.
    tasks: Vec<String>,
    /// The keys and epochs of the calls, in their order.
    calls: Vec<(String, u64)>,
}

impl Outside {
    pub(crate) async fn start(answers: bool) -> (Outside, u16) {
        let outside = Outside { counts: Arc::default(), answers: Arc::new(watch::Sender::new(answers)) };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let routes = Router::new().route("/v1/chat/completions", post(model)).route("/door", post(door));
        let routes = routes.with_state(outside.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        (outside, port)
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap()
    }

    /// Checks that every call that may happen once did, and that none came from an owner that was replaced; returns the
    /// newest epoch of each run. Not that one at a time had the lock: a node that is killed or stands still leaves its
    /// call with this side, which may still be at it when the next one has the lock.
    pub(crate) fn check_calls(&self) -> BTreeMap<String, u64> {
        let counts = self.counts();
        let mut newest = BTreeMap::new();
        for (key, epoch) in &counts.calls {
            let run = key.split('/').next().unwrap().to_owned();
            let before = newest.insert(run, *epoch).unwrap_or_default();
            assert!(*epoch >= before, "{key} came from epoch {epoch} after {before}");
        }
        let calls: BTreeSet<&String> = counts.calls.iter().map(|(key, _)| key).collect();
        assert_eq!(calls.len(), counts.calls.len(), "a call that may happen once came twice");
        newest
    }
}

fn enter(count: &mut (usize, usize)) {
    count.0 += 1;
    count.1 = count.1.max(count.0);
}

async fn model(State(outside): State<Outside>, Json(asked): Json<Value>) -> impl IntoResponse {
    let messages = asked["messages"].as_array().unwrap();
    let task =
        messages.iter().rev().find(|message| message["role"] == "user").map(|message| message["content"].to_string());
    {
        let mut counts = outside.counts();
        enter(&mut counts.asked);
        counts.tasks.push(task.unwrap_or_default());
    }
    outside.answers.subscribe().wait_for(|answers| *answers).await.unwrap();
    tokio::time::sleep(Duration::from_millis(150)).await;
    outside.counts().asked.0 -= 1;
    let is_door = |tool: &Value| tool["function"]["name"] == "door";
    let is_offered = asked["tools"].as_array().is_some_and(|tools| tools.iter().any(is_door));
    let is_first = is_offered && !messages.iter().any(|message| message["role"] == "tool");
    let delta = if is_first {
        let call = json!({ "name": "door", "arguments": "{}" });
        json!({ "role": "assistant", "tool_calls": [{ "index": 0, "id": "c", "type": "function", "function": call }] })
    } else {
        json!({ "role": "assistant", "content": "through" })
    };
    let end = if is_first { "tool_calls" } else { "stop" };
    let piece = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": end }] });
    ([("content-type", "text/event-stream")], format!("data: {piece}\n\ndata: [DONE]\n\n"))
}

async fn door(State(outside): State<Outside>, headers: HeaderMap) -> &'static str {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    {
        let mut counts = outside.counts();
        enter(&mut counts.passed);
        counts.calls.push((text("idempotency-key"), text("consort-epoch").parse().unwrap()));
    }
    tokio::time::sleep(Duration::from_millis(150)).await;
    outside.counts().passed.0 -= 1;
    "done"
}

pub(crate) fn config(database: &Database, name: &str, port: u16, more: &str) -> String {
    format!(
        "[models.m]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{port}/v1'\nmax_concurrency = 2\n\
        [tools.http.door]\ndescription = 'A door'\nmethod = 'POST'\nurl = 'http://127.0.0.1:{port}/door'\neffect = 'once'\n\
        lock = 'door'\ntimeout = '5s'\n\
        [cluster]\nurl = '{}'\nsecret = 'not told'\nlease = '1s'\nname = '{name}'\n{more}",
        database.url()
    )
}

async fn servers(database: &Database, port: u16, more: &str) -> [Served; 2] {
    ["first", "second"].map(|name| Served::start(Some(&config(database, name, port, more))))
}

async fn get(server: &Served, path: &str) -> (u16, Value) {
    let request = client().get(format!("{}{path}", server.url)).header("accept", "application/json");
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

/// Sends a request, under a key if there is one.
pub(crate) async fn send(server: &Served, path: &str, body: &Value, key: Option<&str>) -> (u16, Value) {
    let mut request = client().post(format!("{}{path}", server.url)).json(body);
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

pub(crate) async fn until(server: &Served, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let (status, answer) = get(server, path).await;
        if status == 200 && wanted(&answer) {
            return answer;
        }
        assert!(Instant::now() < end, "{path}: {status} {answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub(crate) fn work(name: &str, options: Value) -> Value {
    json!({ "tasks": [{ "name": "a", "description": name, "tools": ["door"] }], "options": options })
}

async fn begin(server: &Served, name: &str, options: Value) -> String {
    let (status, answer) = send(server, "/api/runs", &work(name, options), None).await;
    assert_eq!(status, 202, "{answer}");
    answer["runId"].as_str().unwrap().to_owned()
}

pub(crate) async fn ended(server: &Served, runs: &[String]) {
    for run in runs {
        until(server, &format!("/api/runs/{run}"), |run| run["status"] == "COMPLETED").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_slots_of_a_model_the_lock_of_a_tool_and_the_places_for_runs_count_once_for_all_servers() {
    let Some(database) = database().await else { return };
    let (outside, port) = Outside::start(true).await;
    let servers = servers(&database, port, "max_concurrent_runs = 3\n[server]\nmax_queued_runs = 100\n").await;
    let mut runs = Vec::new();
    for place in 0..10 {
        runs.push(begin(&servers[place % 2], "pass", json!({})).await);
    }
    let mut most = 0;
    for run in &runs {
        let path = format!("/api/runs/{run}");
        until(&servers[0], &path, |run| run["status"] == "COMPLETED").await;
        let (_, listed) = get(&servers[1], "/api/runs?status=running&limit=100").await;
        most = most.max(listed["total"].as_u64().unwrap());
    }
    assert!(most <= 3, "{most} runs at once");
    let counts = outside.counts();
    assert!(counts.asked.1 <= 2, "{} questions at once", counts.asked.1);
    assert_eq!(counts.passed.1, 1, "one at a time through the door");
    let calls: BTreeSet<&String> = counts.calls.iter().map(|(key, _)| key).collect();
    assert_eq!((calls.len(), counts.calls.len()), (10, 10), "each call once");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_wait_in_one_line_and_every_server_tells_the_same_place() {
    let Some(database) = database().await else { return };
    let (outside, port) = Outside::start(false).await;
    let servers = servers(&database, port, "[server]\nmax_concurrent_runs = 1\nmax_queued_runs = 4\n").await;
    let mut runs = vec![begin(&servers[0], "busy", json!({})).await, begin(&servers[1], "busy", json!({})).await];
    for run in &runs {
        until(&servers[0], &format!("/api/runs/{run}"), |run| run["status"] == "RUNNING").await;
    }
    let mut waiting = Vec::new();
    for (place, priority) in ["LOW", "normal", "CRITICAL", "HIGH"].into_iter().enumerate() {
        waiting.push(begin(&servers[place % 2], priority, json!({ "priority": priority })).await);
    }
    let (status, refused) = send(&servers[1], "/api/runs", &work("one more", json!({})), None).await;
    assert_eq!((status, refused["error"].as_str()), (429, Some("CONCURRENCY_LIMIT")), "{refused}");
    let (status, refused) = send(&servers[1], "/api/runs", &work("x", json!({ "priority": "soon" })), None).await;
    assert!(status == 400 && refused.to_string().contains("CRITICAL"), "{refused}");
    for server in &servers {
        for (run, place) in waiting.iter().zip([3, 2, 0, 1]) {
            let (_, detail) = get(server, &format!("/api/runs/{run}")).await;
            assert_eq!(detail["queuePosition"], place, "{detail}");
        }
        let (_, listed) = get(server, "/api/runs?status=accepted").await;
        let mut places: Vec<u64> =
            listed["runs"].as_array().unwrap().iter().map(|run| run["queuePosition"].as_u64().unwrap()).collect();
        places.sort();
        assert_eq!(places, [0, 1, 2, 3]);
        let (_, status) = get(server, "/api/status").await;
        assert_eq!(status["queueDepth"], 4, "{status}");
    }
    outside.answers.send_replace(true);
    runs.extend(waiting);
    ended(&servers[1], &runs).await;
    let counts = outside.counts();
    let first = |name: &str| counts.tasks.iter().position(|task| task.contains(name)).unwrap();
    assert!(first("CRITICAL") < first("normal") && first("HIGH") < first("LOW") && first("CRITICAL") < first("LOW"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_sent_to_two_servers_at_once_is_done_once() {
    let Some(database) = database().await else { return };
    let (_outside, port) = Outside::start(true).await;
    let servers = servers(&database, port, "[server]\nmax_queued_runs = 100\n").await;
    for number in 0..8 {
        let key = format!("key-{number}");
        let work = work("pass", json!({}));
        let sent = servers.iter().map(|server| send(server, "/api/runs", &work, Some(&key)));
        let answers = join_all(sent).await;
        assert_eq!(answers[0].0, 202, "{answers:?}");
        assert_eq!(answers[0], answers[1]);
        let thread = json!({ "title": "bees" });
        let sent = servers.iter().map(|server| send(server, "/api/threads", &thread, Some(&key)));
        let answers = join_all(sent).await;
        assert_eq!((answers[0].0, &answers[0].1["id"]), (201, &answers[1].1["id"]), "{answers:?}");
    }
    let (_, listed) = get(&servers[0], "/api/runs?limit=100").await;
    assert_eq!(listed["total"], 8);
    let (_, threads) = get(&servers[1], "/api/threads").await;
    assert_eq!(threads["total"], 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_at_whichever_server_its_messages_come_and_its_turns_never_overlap() {
    let Some(database) = database().await else { return };
    let (outside, port) = Outside::start(true).await;
    let servers = servers(&database, port, "[chat]\nclasses = []\n").await;
    let (_, thread) = send(&servers[0], "/api/threads", &json!({}), None).await;
    let path = format!("/api/threads/{}/messages", thread["id"].as_str().unwrap());
    for number in 0..6 {
        let said = json!({ "content": format!("number {number}"), "if_busy": "queue" });
        let (status, answer) = send(&servers[number % 2], &path, &said, None).await;
        assert_eq!(status, 202, "{answer}");
    }
    let of = |answer: &Value, role: &str| -> Vec<String> {
        let rows = answer["messages"].as_array().unwrap().iter().filter(|row| row["role"] == role);
        rows.map(|row| row["content"].as_str().unwrap().to_owned()).collect()
    };
    let rows = until(&servers[1], &path, |answer| of(answer, "assistant").len() == 6).await;
    let said: Vec<String> = (0..6).map(|number| format!("number {number}")).collect();
    assert_eq!(of(&rows, "user"), said, "in the order in which they came");
    assert_eq!(outside.counts().asked.1, 1, "one turn at a time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stood_still_sends_nothing_for_runs_that_another_has() {
    let Some(database) = database().await else { return };
    let (outside, port) = Outside::start(true).await;
    let [first, second] = servers(&database, port, "").await;
    let mut runs = Vec::new();
    for _ in 0..5 {
        runs.push(begin(&first, "pass", json!({})).await);
    }
    while outside.counts().calls.is_empty() {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    first.stand_still();
    ended(&second, &runs).await;
    first.wake_up();
    // It is back in service, and has sent nothing that was another's to send.
    ended(&first, &runs).await;
    let newest = outside.check_calls();
    assert!(newest.values().any(|epoch| *epoch > 1), "the second one took nothing over: {newest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_one_server_gets_the_words_of_a_run_of_another_and_a_wrong_secret_gets_no_link() {
    let Some(database) = database().await else { return };
    let (_outside, port) = Outside::start(true).await;
    let [first, second] = servers(&database, port, "").await;
    until(&first, "/api/status", |status| status["links"] == "all").await;
    until(&second, "/api/status", |status| status["links"] == "all").await;
    let run = begin(&first, "pass", json!({})).await;
    let request = client().get(format!("{}/api/runs/{run}/events", second.url)).header("accept", "text/event-stream");
    let frames = tokio::time::timeout(PATIENCE, request.send().await.unwrap().text()).await.unwrap().unwrap();
    assert!(frames.contains("\"type\":\"token\"") && frames.contains("run_result"), "{frames}");
    let stranger = config(&database, "third", port, "").replace("not told", "another");
    let third = Served::start(Some(&stranger));
    until(&third, "/api/cluster", |answer| answer["nodes"].as_array().unwrap().len() == 3).await;
    until(&first, "/api/status", |status| status["links"] == "some").await;
    let (_, status) = get(&third, "/api/status").await;
    assert_eq!(status["links"], "none");
    let (status, refused) = get(&third, "/cluster/link").await;
    assert!(status == 400 || status == 426, "{refused}");
}
