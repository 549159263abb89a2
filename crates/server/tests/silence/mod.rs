//! Reviews that nobody answers, over HTTP: silence approves nothing by itself,
//! and a run that waits for a person leaves its slot to others.

use std::sync::Arc;

use consort_core::draft::Draft;
use consort_core::message::Message;
use consort_core::spec::{Kind, ReviewRule};
use consort_log::MemoryLog;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::{Capacity, Load};
use serde_json::{Value, json};

use crate::client::{Here, engine, engine_over, server, start, task};

fn careful() -> Draft {
    Draft { review: Some(ReviewRule::Required), ..task("a") }
}

async fn submitted(here: &Here, body: Value) -> String {
    let run = here.post("/api/runs", body).await.json();
    run["runId"].as_str().unwrap_or_else(|| panic!("{run}")).to_owned()
}

/// Returns the review that a run waits for.
async fn asked(here: &Here, run: &str) -> Value {
    loop {
        let mut reviews = here.get(&format!("/api/reviews?runId={run}")).await.json();
        if reviews["total"] == 1 {
            return reviews["reviews"][0].take();
        }
    }
}

#[tokio::test]
async fn a_required_review_waits_unless_the_request_says_what_silence_means() {
    let model = ScriptedModel::new().otherwise(Line::new().says("draft"));
    let mut server = server(engine(model, Capacity::UNLIMITED), vec![careful(), task("b")]);
    server.ensemble.review.timeout_ms = 20;
    let here = start(server).await;
    let body = |options: Value| json!({ "inputs": { "topic": "x" }, "options": options });

    let run = submitted(&here, body(json!({}))).await;
    let review = asked(&here, &run).await;
    assert_eq!(review["timeoutMs"], 0, "{review}");
    assert!(review.get("expiresAt").is_none() && review.get("onTimeout").is_none(), "{review}");
    let wait = here.post_with("/api/runs", "Prefer: wait=30", body(json!({ "onTimeout": "continue" }))).await.json();
    assert_eq!((&wait["status"], &wait["completedTasks"]), (&json!("COMPLETED"), &json!(2)));
    let wait = here.post_with("/api/runs", "Prefer: wait=30", body(json!({ "onTimeout": "FAIL" }))).await.json();
    assert_eq!(wait["status"], "FAILED");
    let detail = here.get(&format!("/api/runs/{run}")).await.json();
    assert_eq!((&detail["status"], &detail["waitingFor"]), (&json!("RUNNING"), &json!("review")), "and still it waits");

    let wrong = here.post("/api/runs", body(json!({ "onTimeout": "APPROVE" }))).await;
    assert_eq!(wrong.problem(), (400, "BAD_REQUEST".to_owned()));
    let message = wrong.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("options.onTimeout") && message.contains("CONTINUE, EXIT_EARLY, FAIL"), "{message}");
}

/// Creates a model that answers at once, except about `slow`, where it is silent.
fn model() -> ScriptedModel {
    let is_slow = |message: &Message| matches!(message, Message::User { text } if text.as_str().contains("about slow"));
    let silent = move |ask: &consort_models::Ask| ask.messages.iter().any(is_slow);
    ScriptedModel::new().when(silent, Line::new().hangs()).otherwise(Line::new().says("draft"))
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_leaves_its_slot_and_queues_for_one_when_it_goes_on() {
    let log = Arc::new(MemoryLog::default());
    let small = Capacity { running: 1, queued: 0 };
    let first = engine_over(log.clone(), model(), small);
    let here = start(server(first.clone(), vec![careful()])).await;
    let waiting = submitted(&here, json!({ "inputs": { "topic": "x" } })).await;
    let review = asked(&here, &waiting).await["reviewId"].as_str().unwrap().to_owned();
    let slow = submitted(&here, json!({ "inputs": { "topic": "slow" } })).await;
    let full = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await;
    assert_eq!(full.problem(), (429, "CONCURRENCY_LIMIT".to_owned()));

    let reject = json!({ "decision": "REJECT", "feedback": "again" });
    assert_eq!(here.post(&format!("/api/reviews/{review}"), reject).await.status, 200);
    let place = format!("/api/runs/{waiting}");
    let queued = |detail: &Value| {
        let fields = ["status", "waitingFor", "queuePosition"].map(|name| detail[name].clone());
        assert_eq!(fields, [json!("RUNNING"), json!("queue"), json!(0)], "{detail}");
    };
    queued(&here.get(&place).await.json());
    drop(here);
    first.stop().await;

    let second = engine_over(log, model(), small);
    assert_eq!(second.recover().await.unwrap().resumed, 2);
    let here = start(server(second.clone(), vec![careful()])).await;
    loop {
        let detail = here.get(&place).await.json();
        if detail.get("queuePosition").is_some() {
            break queued(&detail);
        }
    }
    assert_eq!(second.load(Kind::Run), Load { active: 1, queued: 1 });
    here.post(&format!("/api/runs/{slow}/cancel"), json!({ "mode": "now" })).await;
    let again = asked(&here, &waiting).await;
    assert_eq!(again["reviewId"], json!(format!("{waiting}-review-1")), "it went on when there was room");
    let approve = json!({ "decision": "APPROVE" });
    assert_eq!(here.post(&format!("/api/reviews/{waiting}-review-1"), approve).await.status, 200);
    here.get(&format!("{place}/events")).await;
    assert_eq!(here.get(&place).await.json()["status"], "COMPLETED");
    assert_eq!(second.load(Kind::Run), Load::default());
}
