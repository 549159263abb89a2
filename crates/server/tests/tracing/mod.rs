//! The trace a submission names goes with every call of its run; `telemetry`:
//! what a collector is told of it.

mod telemetry;

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Uri};
use axum::response::IntoResponse;
use consort_core::catalog::{ModelInfo, Permission, ToolInfo};
use consort_core::draft::Draft;
use consort_http::client;
use consort_http::trace::Trace;
use consort_models::openai::{Api, OpenAi};
use consort_models::{ModelCatalog, Options};
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use consort_tools::{HttpEndpoint, HttpTool, http_client, http_tool_info};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::client::{engine, server, start, task};
use crate::says;

const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const CALLS: &str = r#"{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"check","arguments":"{\"input\":\"salt\"}"}}]}"#;

/// Paths that were asked for, with the traces they were asked within.
type Seen = Arc<Mutex<Vec<(String, Option<String>)>>>;

/// Answers as a model that calls a tool once and then answers, and as the tool.
async fn answer(State(seen): State<Seen>, headers: HeaderMap, uri: Uri) -> impl IntoResponse {
    let trace = headers.get("traceparent").map(|trace| trace.to_str().unwrap().to_owned());
    let is_first = seen.lock().unwrap().is_empty();
    seen.lock().unwrap().push((uri.path().to_owned(), trace));
    if uri.path() == "/check" {
        return ([(CONTENT_TYPE, "application/json")], json!({ "output": "plenty" }).to_string());
    }
    let (delta, reason) = if is_first { (CALLS, "tool_calls") } else { (r#"{"content":"done"}"#, "stop") };
    let usage = r#"{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}"#;
    let chunk = format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":"{reason}"}}],"usage":{usage}}}"#);
    ([(CONTENT_TYPE, "text/event-stream")], format!("data: {chunk}\n\ndata: [DONE]\n\n"))
}

/// Creates an engine whose model and tool are outside, a task that uses both, and the record of their requests.
async fn checking(owned: &mut JoinSet<()>) -> (Engine, Vec<Draft>, Seen) {
    let seen = Seen::default();
    let outside = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", outside.local_addr().unwrap());
    let app = Router::new().fallback(answer).with_state(seen.clone());
    owned.spawn(async move { axum::serve(outside, app).await.unwrap() });
    let mut seams = engine(says("x"), Capacity::UNLIMITED).seams().clone();
    let model = OpenAi::new(Options::new(&url, "gpt-9"), Api::Chat, client().unwrap()).unwrap();
    let info = ModelInfo { model: "gpt-9".to_owned(), ..ModelInfo::new("main", "openai") };
    seams.models = ModelCatalog::default().with(info, model).unwrap();
    let endpoint = HttpEndpoint::envelope(&format!("{url}/check")).unwrap();
    let info = ToolInfo { permission: Permission::Safe, ..http_tool_info("check", "Checks the stock", &endpoint) };
    let tool = HttpTool::new(http_client().unwrap(), Arc::new(info), endpoint);
    seams.tools = seams.tools.with(tool).unwrap();
    (Engine::new(seams), vec![Draft { tools: vec!["check".to_owned()], ..task("a") }], seen)
}

#[tokio::test]
async fn models_and_http_tools_are_told_the_trace_of_the_submission_each_with_a_span_of_its_own() {
    let mut owned = JoinSet::new();
    let (engine, tasks, seen) = checking(&mut owned).await;
    let here = start(server(engine, tasks)).await;
    let body = || json!({ "inputs": { "topic": "x" } });
    let ended = here.post_with("/api/runs", &format!("Prefer: wait=30\r\ntraceparent: {GIVEN}"), body()).await;
    assert_eq!(ended.json()["status"], "COMPLETED", "{ended:?}");

    let asked = std::mem::take(&mut *seen.lock().unwrap());
    let (paths, traces): (Vec<String>, Vec<Option<String>>) = asked.into_iter().unzip();
    assert_eq!(paths, ["/chat/completions", "/check", "/chat/completions"]);
    let mut traces: Vec<String> = traces.into_iter().map(Option::unwrap).collect();
    let id = |trace: &str| Trace::parse(trace).unwrap().id().to_owned();
    assert!(traces.iter().all(|trace| id(trace) == id(GIVEN) && trace != GIVEN), "{traces:?}");
    traces.dedup();
    assert_eq!(traces.len(), 3, "a span for each call");

    here.post_with("/api/tools/check/invoke", &format!("traceparent: {GIVEN}"), json!({ "input": "salt" })).await;
    let thread = here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    let stream = format!("Accept: text/event-stream\r\ntraceparent: {GIVEN}");
    here.post_with(&format!("/api/threads/{thread}/messages"), &stream, json!({ "content": "hi" })).await;
    let asked = std::mem::take(&mut *seen.lock().unwrap());
    assert!(asked.len() >= 2 && asked[0].0 == "/check", "{asked:?}");
    assert!(asked.iter().all(|(_, trace)| id(trace.as_ref().unwrap()) == id(GIVEN)), "{asked:?}");

    let run = ended.json()["runId"].as_str().unwrap().to_owned();
    here.post_with(&format!("/api/runs/{run}/fork"), "Prefer: wait=30", json!({ "seq": 3 })).await;
    here.post_with("/api/runs", "Prefer: wait=30\r\ntraceparent: 00-junk", body()).await;
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    assert!(seen.len() >= 4, "{seen:?}");
    assert!(seen.iter().all(|(_, trace)| trace.is_none()), "neither what is no trace nor the old run's is passed on");
}
