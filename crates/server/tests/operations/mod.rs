//! Tests the endpoints that the operator of a server relies on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use consort_core::draft::Draft;
use consort_core::message::{Message, Usage};
use consort_core::spec::ReviewRule;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_server::Terms;
use futures::future::join_all;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::client::{engine, server, start, start_as, task};

/// Returns the value of a series, which must be there.
fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in {text}")).parse().unwrap()
}

#[tokio::test]
async fn what_happened_can_be_read_as_metrics_by_route_model_tool_and_state() {
    let usage = Usage { input: 7, output: 3, ..Usage::default() };
    let is_slow = |message: &Message| matches!(message, Message::User { text } if text.as_str().contains("about y"));
    let model = ScriptedModel::new()
        .when(move |ask| ask.messages.iter().any(is_slow), Line::new().hangs())
        .when(|ask| ask.round == 0, Line::new().calls("calculator", &json!({ "input": "1 + 1" })).uses(usage))
        .otherwise(Line::new().says("draft").uses(usage));
    let careful = Draft { review: Some(ReviewRule::Required), tools: vec!["calculator".to_owned()], ..task("a") };
    let here = start(server(engine(model, Capacity { running: 1, queued: 5 }), vec![careful])).await;
    let submit = |topic: &str| here.post("/api/runs", json!({ "inputs": { "topic": topic } }));
    let run = submit("x").await.json()["runId"].as_str().unwrap().to_owned();
    while here.get("/api/reviews").await.json()["total"] == 0 {}
    // The first one waits for a person and has no slot, the third one for the second.
    let _two = (submit("y").await, submit("y").await);
    let waiting = here.get("/metrics").await;
    assert_eq!(waiting.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!(value(&waiting.body, r#"consort_queue_depth{kind="run"}"#), 1.0);
    assert_eq!(value(&waiting.body, r#"consort_runs_active{kind="run"}"#), 1.0);
    assert_eq!(value(&waiting.body, r#"consort_runs{status="RUNNING"}"#), 2.0);
    assert_eq!(value(&waiting.body, r#"consort_model_tokens_total{model="main",direction="input"}"#), 14.0);
    assert!(!waiting.body.contains("consort_model_calls_uncounted_total{"), "every reply told its tokens");
    let calls = r#"consort_tool_call_seconds_count{tool="calculator",outcome="done"}"#;
    assert_eq!(value(&waiting.body, calls), 1.0);
    assert_eq!(value(&waiting.body, r#"consort_model_call_seconds_count{model="main",outcome="replied"}"#), 2.0);
    assert!(value(&waiting.body, "consort_commit_seconds_count") > 3.0);

    here.post(&format!("/api/runs/{run}/cancel"), json!({ "mode": "now" })).await;
    here.get(&format!("/api/runs/{run}/events")).await;
    here.get("/api/nowhere/at/all").await;
    let after = here.get("/metrics").await.body;
    assert_eq!(value(&after, "consort_cancel_seconds_count"), 1.0);
    assert_eq!(value(&after, r#"consort_runs_ended_total{status="CANCELLED"}"#), 1.0);
    let requests = |method, route, status| {
        let labels = format!(r#"{{method="{method}",route="{route}",status="{status}"}}"#);
        value(&after, &format!("consort_http_requests_total{labels}"))
    };
    assert_eq!(requests("POST", "/api/runs/{id}/cancel", 200), 1.0);
    assert_eq!(requests("GET", "/api/{*rest}", 404), 1.0);
    assert!(!after.contains(&run), "nothing is counted by run");
}

/// Sends the beginning of a request, and reads whatever comes back until the
/// server closes.
async fn begin(address: SocketAddr, text: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_stream_ends_when_its_client_is_gone() {
    let model = ScriptedModel::new().otherwise(Line::new().hangs());
    let here = start(server(engine(model, Capacity::UNLIMITED), vec![task("a")])).await;
    let run = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json()["runId"].clone();
    let path = format!("/api/runs/{}/events", run.as_str().unwrap());
    let streams = async || value(&here.get("/metrics").await.body, "consort_streams_open");
    let mut socket = TcpStream::connect(here.address).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.read_exact(&mut [0; 64]).await.unwrap();
    assert_eq!(streams().await, 1.0);
    drop(socket);
    while streams().await > 0.0 {}
}

#[tokio::test]
async fn a_stream_is_the_last_response_of_its_connection_in_the_form_that_its_client_reads() {
    let model = ScriptedModel::new().otherwise(Line::new().says("done"));
    let here = start(server(engine(model, Capacity::UNLIMITED), vec![task("a")])).await;
    let run = here.post_with("/api/runs", "Prefer: wait=30", json!({ "inputs": { "topic": "x" } })).await;
    let path = format!("/api/runs/{}/events", run.json()["runId"].as_str().unwrap());
    let asked = |version: &str| {
        let headers = "Host: localhost\r\nOrigin: http://localhost\r\nAccept: text/event-stream";
        format!("GET {path} HTTP/{version}\r\n{headers}\r\n\r\n")
    };
    let twice = begin(here.address, &asked("1.1").repeat(2)).await;
    let (head, body) = twice.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    for wanted in ["connection: close", "transfer-encoding: chunked", "access-control-allow-origin: http://localhost"] {
        assert!(head.contains(wanted), "{wanted} is not in {head}");
    }
    assert_eq!(body.matches("event: run_result").count(), 1);
    assert!(body.ends_with("\r\n0\r\n\r\n") && !body.contains("HTTP/1.1"), "{body}");
    let plain = begin(here.address, &asked("1.0")).await;
    let (head, body) = plain.split_once("\r\n\r\n").unwrap();
    assert!(!head.contains("chunked") && body.starts_with("event: ") && body.ends_with("\n\n"), "{plain}");
}

// Time stands still until everybody waits, and then passes at once.
#[tokio::test(start_paused = true)]
async fn who_sends_too_slowly_is_cut_off_and_others_are_served_meanwhile() {
    let here = start(server(engine(ScriptedModel::new(), Capacity::UNLIMITED), vec![task("a")])).await;
    let began = Instant::now();
    let head = "POST /api/runs HTTP/1.1\r\nHost: localhost\r\n";
    let silent: Vec<_> = (0..100).map(|_| begin(here.address, "")).collect();
    let slow = async {
        let body = format!("{head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{{");
        let keyed = format!("{head}Idempotency-Key: k\r\nContent-Length: 9\r\n\r\n{{");
        tokio::join!(
            begin(here.address, head),
            begin(here.address, &body),
            begin(here.address, &keyed),
            join_all(silent)
        )
    };
    let ((unfinished, body, keyed, silent), status) = tokio::join!(slow, here.get("/api/status"));
    assert_eq!(status.status, 200);
    assert!(unfinished.is_empty() || unfinished.starts_with("HTTP/1.1 408"), "{unfinished}");
    for late in [body, keyed] {
        assert!(late.starts_with("HTTP/1.1 408") && late.contains(r#""error":"REQUEST_TIMEOUT""#), "{late}");
    }
    assert!(silent.iter().all(String::is_empty));
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_client_that_has_said_its_last_word_is_still_answered() {
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().otherwise(Line::new().waits(&gate).says("done"));
    let here = start(server(engine(model, Capacity::UNLIMITED), vec![task("a")])).await;
    let body = r#"{"inputs":{"topic":"x"}}"#;
    let head = "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nPrefer: wait=30";
    let mut socket = TcpStream::connect(here.address).await.unwrap();
    let whole = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    socket.write_all(whole.as_bytes()).await.unwrap();
    socket.shutdown().await.unwrap();
    while here.get("/api/runs?status=RUNNING").await.json()["total"] == 0 {}
    gate.notify_one();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""status":"COMPLETED""#), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn nobody_is_waited_for_who_announces_more_than_is_taken() {
    let here = start(server(engine(ScriptedModel::new(), Capacity::UNLIMITED), vec![task("a")])).await;
    let began = Instant::now();
    for more in ["", "Idempotency-Key: k\r\n", "Expect: 100-continue\r\n"] {
        let head = format!("POST /api/runs HTTP/1.1\r\nHost: localhost\r\n{more}Content-Length: 9999999999\r\n\r\n");
        let refused = begin(here.address, &head).await;
        assert!(refused.starts_with("HTTP/1.1 413") && refused.contains("4096 bytes"), "{refused}");
    }
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test]
async fn while_runs_are_picked_up_the_server_is_alive_and_not_ready() {
    let server = server(engine(ScriptedModel::new(), Capacity::UNLIMITED), vec![task("a")]);
    let (_same, access) = watch::channel(server.access.clone());
    let (starting, started) = watch::channel(false);
    let here = start_as(server, Terms { access, started }).await;
    let state = async |path: &str| {
        let answer = here.get(path).await;
        (answer.status, answer.json()["status"].clone(), answer.json()["lifecycleState"].clone())
    };
    assert_eq!(here.get("/api/health/live").await.json(), json!({ "status": "UP" }));
    assert_eq!(state("/api/health/startup").await, (503, json!("NOT_STARTED"), json!("STARTING")));
    assert_eq!(state("/api/health/ready").await, (503, json!("NOT_READY"), json!("STARTING")));
    let refused = here.post("/api/runs", json!({})).await;
    assert_eq!((refused.problem(), refused.header("retry-after")), ((503, "STARTING".to_owned()), Some("1")));
    starting.send_replace(true);
    assert_eq!(state("/api/health/startup").await, (200, json!("STARTED"), json!("READY")));
    assert_eq!(state("/api/health/ready").await, (200, json!("READY"), json!("READY")));
}
