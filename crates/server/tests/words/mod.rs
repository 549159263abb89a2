//! Tests the exact wording of the protocol: messages, fields that are absent, fields that are null.

use std::sync::Arc;

use consort_core::draft::Draft;
use consort_core::own_tool::OwnTool;
use consort_core::spec::{Review, ReviewRule};
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::client::{engine, server, start, task};
use crate::{ended, reviewed, says, talking};

#[tokio::test]
async fn a_refused_request_has_the_words_of_the_protocol_and_its_place_beside_them() {
    let here = talking().await;
    let circle = json!([{ "name": "a", "description": "x", "context": ["$b"] }, { "name": "b", "description": "y", "context": ["$a"] }]);
    let inputs = json!({ "topic": "x" });
    for (body, code, message, place) in [
        (json!({ "tasks": circle }), "CIRCULAR_DEPENDENCY", "Tasks form a cycle: a → b → a", "tasks[0].context"),
        (
            json!({ "tasks": [{ "description": "x", "model": "huge" }] }),
            "INVALID_MODEL",
            "Unknown model 'huge'. Available: [main, spare]",
            "tasks[0].model",
        ),
        (
            json!({ "inputs": inputs, "taskOverrides": { "cook": { "maxIterations": 1 } } }),
            "INVALID_TASK_OVERRIDE",
            "No task matching 'cook'. Available: [a, b]",
            "taskOverrides.cook",
        ),
    ] {
        let refused = here.post("/api/runs", body).await;
        assert_eq!(refused.problem(), (400, code.to_owned()));
        let problem = refused.json();
        assert_eq!((&problem["message"], &problem["mistakes"][0]["place"]), (&json!(message), &json!(place)));
    }
    let unknown = here.post("/api/runs", json!({ "tasks": [{ "description": "x", "tools": ["fly"] }] })).await.json();
    let told = here.get("/api/capabilities").await.json();
    let names: Vec<&str> =
        told["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let message = format!("Unknown tool 'fly'. Available: [{}]", names.join(", "));
    assert_eq!(unknown["message"], message);
    assert_eq!(here.post("/api/tools/fly/invoke", json!({})).await.json()["message"], message);
}

#[tokio::test]
async fn what_has_ended_says_so_by_its_name() {
    let (here, run, review) = reviewed().await;
    let decide = format!("/api/reviews/{review}");
    assert_eq!(here.post(&decide, json!({ "decision": "CONTINUE" })).await.status, 200);
    let late = here.post(&decide, json!({ "decision": "EXIT_EARLY" })).await.json();
    let at = late["decidedAt"].as_str().unwrap();
    let told = json!(format!("Review {review} already resolved: CONTINUE by local at {at}"));
    assert_eq!((&late["message"], &late["decision"], &late["decidedBy"]), (&told, &json!("CONTINUE"), &json!("local")));
    here.get(&format!("/api/runs/{run}/events")).await;
    let late = here.post(&format!("/api/runs/{run}/cancel"), json!({})).await.json();
    assert_eq!(late["message"], format!("Run {run} already completed with status COMPLETED"));
}

#[tokio::test]
async fn a_directive_lasts_for_a_span_in_iso_8601_and_a_tag_has_a_key() {
    let (here, run, _) = reviewed().await;
    let path = format!("/api/runs/{run}/inject");
    let inject = |ttl: &str| here.post(&path, json!({ "content": "x", "ttl": ttl }));
    for bad in ["10 minutes", "10m", "-PT1M", ""] {
        assert_eq!(inject(bad).await.problem(), (400, "BAD_REQUEST".to_owned()), "{bad}");
    }
    assert_eq!(inject("PT10M").await.status, 200);
    for bad in ["tag=", "tag=:x"] {
        assert_eq!(here.get(&format!("/api/runs?{bad}")).await.problem(), (400, "BAD_REQUEST".to_owned()));
    }
}

#[tokio::test]
async fn a_run_on_a_model_without_a_price_never_claims_to_cost_nothing() {
    let gate = Arc::new(Notify::new());
    let slow = ScriptedModel::new().otherwise(Line::new().waits(&gate).says("done"));
    let here = start(server(engine(slow, Capacity::UNLIMITED), vec![task("a")])).await;
    let run = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json()["runId"].clone();
    let path = format!("/api/runs/{}", run.as_str().unwrap());
    let under_way = here.get(&path).await.json();
    assert_eq!((&under_way["status"], &under_way["metrics"]["unpriced"]), (&json!("RUNNING"), &json!(["main"])));
    assert_eq!((under_way.get("costEstimate"), under_way["metrics"].get("costEstimate")), (None, None));
    gate.notify_one();
    here.get(&format!("{path}/events")).await;
    assert_eq!(here.get(&path).await.json()["metrics"]["unpriced"], json!(["main"]));
}

#[tokio::test]
async fn a_review_without_a_timeout_does_not_say_when_it_expires() {
    let careful = Draft { review: Some(ReviewRule::Required), ..task("a") };
    let mut patient = server(engine(says("draft"), Capacity::UNLIMITED), vec![careful]);
    patient.ensemble.review = Review { timeout_ms: 0, ..Review::default() };
    let here = start(patient).await;
    here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await;
    let review = loop {
        let reviews = here.get("/api/reviews").await.json();
        if reviews["total"] == 1 {
            break reviews["reviews"][0].clone();
        }
    };
    assert_eq!((&review["timeoutMs"], review.get("expiresAt")), (&json!(0), None), "{review}");
}

#[tokio::test]
async fn a_call_without_data_has_a_structured_result_of_null() {
    let calls = says("two").calls("1.0", "calculator", &json!({ "input": "1 + 1" }));
    let sums = Draft { tools: vec!["calculator".to_owned()], ..task("a") };
    let here = start(server(engine(calls, Capacity::UNLIMITED), vec![sums])).await;
    let run = ended(&here).await;
    let head = format!("GET /api/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    let events = here.send(&head, b"").await.json();
    let called = events["events"].as_array().unwrap().iter().find(|frame| frame["type"] == "tool_called").unwrap();
    assert_eq!((&called["toolResult"], called.get("structuredResult")), (&json!("2"), Some(&Value::Null)));
}

#[tokio::test]
async fn a_person_can_be_asked_by_a_task_where_the_catalog_says_so_and_never_directly() {
    let asking = json!({ "dryRun": true, "tasks": [{ "description": "x", "tools": ["human_input"] }] });
    let here = talking().await;
    assert_eq!(here.post("/api/runs", asking.clone()).await.problem(), (400, "INVALID_TOOL".to_owned()));
    let mut open = server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")]);
    open.catalog.tools.push(OwnTool::HumanInput.info());
    let here = start(open).await;
    assert_eq!(here.post("/api/runs", asking).await.status, 200);
    let tools = here.get("/api/capabilities").await.json()["tools"].clone();
    let asks = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "human_input").unwrap();
    assert_eq!(asks["direct"], false);
    let called = here.post("/api/tools/human_input/invoke", json!({ "input": "Really?" })).await;
    assert_eq!(called.problem(), (403, "FORBIDDEN".to_owned()));
}
