//! What whoever looks after a server relies on.

use consort_core::draft::Draft;
use consort_core::message::Usage;
use consort_core::spec::ReviewRule;
use consort_runtime::admission::Capacity;
use consort_runtime::model::{Line, ScriptedModel};
use serde_json::json;

use crate::client::{engine, server, start, task};

/// The value of a series, which must be there.
fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in {text}")).parse().unwrap()
}

#[tokio::test]
async fn what_happened_can_be_read_as_metrics_by_route_model_tool_and_state() {
    let usage = Usage { input: 7, output: 3, ..Usage::default() };
    let model = ScriptedModel::new()
        .in_task("a", 0, Line::new().calls("calculator", &json!({ "input": "1 + 1" })).uses(usage))
        .otherwise(Line::new().says("draft").uses(usage));
    let careful = Draft { review: Some(ReviewRule::Required), tools: vec!["calculator".to_owned()], ..task("a") };
    let here = start(server(engine(model, Capacity { running: 1, queued: 5 }), vec![careful])).await;
    let submit = || here.post("/api/runs", json!({ "inputs": { "topic": "x" } }));
    let run = submit().await.json()["runId"].as_str().unwrap().to_owned();
    while here.get("/api/reviews").await.json()["total"] == 0 {}
    submit().await;
    let waiting = here.get("/metrics").await;
    assert_eq!(waiting.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!(value(&waiting.body, r#"consort_queue_depth{kind="run"}"#), 1.0);
    assert_eq!(value(&waiting.body, r#"consort_runs{status="RUNNING"}"#), 1.0);
    assert_eq!(value(&waiting.body, r#"consort_model_tokens_total{model="main",direction="input"}"#), 14.0);
    let calls = r#"consort_tool_call_seconds_count{tool="calculator",outcome="done"}"#;
    assert_eq!(value(&waiting.body, calls), 1.0);
    assert_eq!(value(&waiting.body, r#"consort_model_call_seconds_count{model="main",outcome="replied"}"#), 2.0);
    assert!(value(&waiting.body, "consort_commit_seconds_count") > 3.0);

    here.post(&format!("/api/runs/{run}/cancel"), json!({ "mode": "now" })).await;
    here.get(&format!("/api/runs/{run}/events")).await;
    here.get("/nowhere/at/all").await;
    let after = here.get("/metrics").await.body;
    assert_eq!(value(&after, "consort_cancel_seconds_count"), 1.0);
    assert_eq!(value(&after, r#"consort_runs_ended_total{status="CANCELLED"}"#), 1.0);
    let requests = |method, route, status| {
        let labels = format!(r#"{{method="{method}",route="{route}",status="{status}"}}"#);
        value(&after, &format!("consort_http_requests_total{labels}"))
    };
    assert_eq!(requests("POST", "/api/runs/{id}/cancel", 200), 1.0);
    assert_eq!(requests("GET", "none", 404), 1.0);
    assert!(!after.contains(&run), "nothing is counted by run");
}
