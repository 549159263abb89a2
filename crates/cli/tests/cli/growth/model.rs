//! A model that means harm: it asks for subtasks whose results no schema may describe, and says more than anybody
//! reads. It lives in the test's process.

use axum::http::HeaderName;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum::{Json, Router};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::compiled::bombs;
use super::target::Target;

/// The bytes of an answer that is too long.
const LONG: usize = 40 * 1024 * 1024;

/// The model, while it is kept.
pub(super) struct HostileModel {
    port: u16,
    serving: JoinHandle<()>,
}

impl Drop for HostileModel {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl HostileModel {
    pub(super) async fn start() -> HostileModel {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let routes = Router::new().route("/v1/chat/completions", post(answer));
        let serving = tokio::spawn(async { axum::serve(listener, routes).await.unwrap() });
        HostileModel { port, serving }
    }

    /// Returns its block of a configuration.
    pub(super) fn config(&self) -> String {
        let url = format!("http://127.0.0.1:{}/v1", self.port);
        format!("[models.hostile]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{url}'\nretries = 0\n")
    }
}

async fn answer(Json(asked): Json<Value>) -> ([(HeaderName, &'static str); 1], String) {
    let messages = asked["messages"].as_array().unwrap();
    let is_first = messages.iter().all(|message| message["role"] != "assistant");
    let is_about = |word: &str| messages.iter().any(|message| message["content"].to_string().contains(word));
    let call = |(index, bomb): (usize, Value)| {
        let arguments = json!({ "title": "t", "instructions": "i", "output_schema": bomb }).to_string();
        let function = json!({ "name": "run_subtask", "arguments": arguments });
        json!({ "index": index, "id": format!("call_{index}"), "type": "function", "function": function })
    };
    let (delta, reason) = if is_about("Talk") {
        (json!({ "role": "assistant", "content": "x".repeat(LONG) }), "stop")
    } else if is_first {
        let calls: Vec<Value> = bombs().into_iter().enumerate().map(call).collect();
        (json!({ "role": "assistant", "tool_calls": calls }), "tool_calls")
    } else {
        (json!({ "role": "assistant", "content": "done" }), "stop")
    };
    let piece = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
    ([(CONTENT_TYPE, "text/event-stream")], format!("data: {piece}\n\ndata: [DONE]\n\n"))
}

/// Runs a task with the model; returns the run as it ended.
async fn run(target: &Target, description: &str) -> Value {
    let task = json!({ "description": description, "model": "hostile", "tools": ["run_subtask"] });
    let request = target.request(Method::POST, "/api/runs").header("prefer", "wait=100");
    let (status, run) = target.send(request.json(&json!({ "tasks": [task] }))).await;
    assert_eq!(status, 200, "{run}");
    run
}

/// Lets the model ask for subtasks with schemas that explode: it is told so, and the run goes on.
pub(super) async fn subtasks(target: &Target) {
    let run = run(target, "Split it").await;
    assert_eq!(run["status"], "COMPLETED", "{run}");
    let path = format!("/api/runs/{}/events?limit=1000", run["runId"].as_str().unwrap());
    let request = target.request(Method::GET, &path).header("accept", "application/json");
    let (_, page) = target.send(request).await;
    let is_told =
        |event: &&Value| event["type"] == "tool_called" && event.to_string().contains("invalid_output_schema");
    assert_eq!(page["events"].as_array().unwrap().iter().filter(is_told).count(), bombs().len());
}

/// Lets the model say more than anybody reads.
pub(super) async fn long_answers(target: &Target) {
    let run = run(target, "Talk").await;
    assert_eq!(run["status"], "FAILED", "{run}");
}
