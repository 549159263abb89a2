//! Schemas, patterns and templates that would take all time or memory there
//! is, through every door: each is refused with a code, and the server is well.

use std::time::{Duration, Instant};

use consort_runtime::admission::Capacity;
use consort_server::Server;
use serde_json::{Map, Value, json};

use crate::client::{Here, engine, server, start, task};
use crate::says;

/// The longest time for a refusal, on a busy machine and without optimisation: what explodes takes far longer.
const PATIENCE: Duration = Duration::from_secs(120);
/// Memory the whole process may grow by while it refuses.
const GROWTH_MAX: u64 = 200 * 1024 * 1024;

async fn here() -> Here {
    let server = server(engine(says("done"), Capacity::UNLIMITED), vec![task("a"), task("b")]);
    let sockets = consort_server::ws::Sockets { max_frame_bytes: 1024 * 1024, ..server.sockets };
    start(Server { max_body_bytes: 1024 * 1024, sockets, ..server }).await
}

/// Returns fifty definitions of which each holds the one before twice.
fn ladder(keyword: &str) -> Value {
    let rung = |at: usize| {
        let below = json!({ "$ref": format!("#/$defs/d{}", at - 1) });
        (format!("d{at}"), json!({ keyword: [below, below] }))
    };
    let rungs = (1..=50).map(rung).chain([("d0".to_owned(), json!({ "type": "string" }))]);
    json!({ "$ref": "#/$defs/d50", "$defs": rungs.collect::<Map<String, Value>>() })
}

fn bombs() -> [Value; 5] {
    [
        ladder("allOf"),
        ladder("anyOf"),
        json!({ "type": "object", "properties": { "a": { "pattern": r"(\w{200}){200}" } } }),
        json!({ "patternProperties": { "((((a{99}){99}){99}){99}){99}": {} } }),
        json!({ "pattern": r"\d".repeat(30_000) }),
    ]
}

/// Bytes this process has in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Checks that a server is well after an attack.
async fn well(here: &Here, began: Instant, before: u64) {
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    assert_eq!(here.get("/api/health/ready").await.status, 200);
    assert!(resident().saturating_sub(before) < GROWTH_MAX, "{} after {before}", resident());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_that_explodes_is_refused_wherever_a_request_may_bring_one() {
    let here = here().await;
    let before = resident();
    for bomb in bombs() {
        let own = json!({ "tasks": [{ "name": "a", "description": "x", "outputSchema": bomb }] });
        let dry = json!({ "dryRun": true, "tasks": [{ "description": "x", "outputSchema": bomb }] });
        let saved = json!({ "name": "w", "tasks": [{ "name": "a", "description": "x", "outputSchema": bomb }] });
        for (path, body) in [("/api/runs", own), ("/api/runs", dry), ("/api/workflows", saved)] {
            let began = Instant::now();
            let answer = here.post(path, body).await;
            assert_eq!((answer.status, &answer.json()["error"]), (400, &json!("INVALID_SCHEMA")), "{answer:?}");
            well(&here, began, before).await;
        }
    }
    assert_eq!(here.get("/api/runs").await.json()["total"], 0);
}

#[tokio::test]
async fn a_schema_is_refused_as_such_at_any_depth() {
    let here = here().await;
    let (mut socket, _) = here.greeted().await;
    for levels in [33, 62, 70, 1_000] {
        let begin = r#"{"properties":{"a":"#.repeat(levels);
        let end = "}}".repeat(levels);
        let tasks = format!(r#"[{{"name":"a","description":"x","outputSchema":{begin}{{}}{end}}}]"#);
        for (path, body) in [
            ("/api/runs", format!(r#"{{"tasks":{tasks}}}"#)),
            ("/api/workflows", format!(r#"{{"name":"w","tasks":{tasks}}}"#)),
        ] {
            let answer = here.send(&format!("POST {path} HTTP/1.1\r\nHost: localhost"), body.as_bytes()).await;
            assert_eq!(answer.problem(), (400, "INVALID_SCHEMA".to_owned()), "{levels}: {answer:?}");
        }
        socket.say_text(&format!(r#"{{"type":"run_request","requestId":"r{levels}","tasks":{tasks}}}"#)).await;
        let ack = socket.first("run_ack").await;
        assert_eq!((&ack["requestId"], &ack["status"]), (&json!(format!("r{levels}")), &json!("REJECTED")), "{ack}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_that_explodes_is_refused_of_a_clients_own_tools() {
    let here = here().await;
    let before = resident();
    let (mut socket, _) = here.greeted().await;
    for bomb in bombs() {
        let began = Instant::now();
        let tools = json!([{ "name": "ui_add", "description": "adds", "parameters": bomb }]);
        let answer = socket.ask(json!({ "type": "ui_manifest", "tools": tools })).await;
        assert_eq!((&answer["type"], &answer["code"]), (&json!("error"), &json!("INVALID_SCHEMA")), "{answer}");
        well(&here, began, before).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn templates_that_grow_without_measure_are_refused_before_they_are_filled_in() {
    let here = here().await;
    let before = resident();
    let one = json!([{ "description": "{a}".repeat(10_000) }]);
    let many: Vec<Value> =
        (0..200).map(|at| json!({ "name": format!("t{at}"), "description": "{a}{a}{a}{a}" })).collect();
    for (tasks, length) in [(one, 30_000), (json!(many), 100_000)] {
        for dry in [false, true] {
            let began = Instant::now();
            let body = json!({ "tasks": tasks, "inputs": { "a": "x".repeat(length) }, "dryRun": dry });
            let answer = here.post("/api/runs", body).await;
            assert_eq!((answer.status, &answer.json()["error"]), (400, &json!("TEMPLATE_TOO_LARGE")));
            assert!(answer.body.len() < 100_000, "{}", answer.body.len());
            well(&here, began, before).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_mistakes_that_each_name_everything_there_is_are_told_within_measure() {
    let here = here().await;
    let before = resident();
    let began = Instant::now();
    let context: Vec<String> = (0..5_000).map(|at| format!("$no-such-{at}")).collect();
    let tasks: Vec<Value> = (0..9_000).map(|_| json!({ "description": "the same words again and again" })).collect();
    let tasks: Vec<Value> = [json!({ "description": "x", "context": context })].into_iter().chain(tasks).collect();
    let answer = here.post("/api/runs", json!({ "tasks": tasks })).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["mistakes"].as_array().unwrap().len(), 100);
    assert!(answer.body.len() < 4 * 1024 * 1024, "{}", answer.body.len());
    well(&here, began, before).await;
}
