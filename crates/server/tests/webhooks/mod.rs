//! Webhooks: what programs are told, that nothing is lost over a restart, and that one that fails, hangs or is
//! gone holds up nobody.

pub(crate) mod receiver;
mod shaky;

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::announcement::Topic;
use consort_core::draft::Draft;
use consort_core::message::Stop;
use consort_core::owner::Owner;
use consort_core::spec::{OnTruncated, ReviewRule};
use consort_log::MemoryLog;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use consort_runtime::webhooks::{Secret, Webhook};
use consort_server::Server;
use consort_tools::{Workspace, WriteFile};
use serde_json::{Value, json};

use self::receiver::{Message, Receiver, Reply};
use crate::client::{Here, engine_over, server, start, task};
use crate::says;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn webhook(name: &str, url: &str) -> Webhook {
    Webhook { retry_ms: vec![10, 10, 10], ..Webhook::new(name, url, Secret::read(SECRET).unwrap()) }
}

fn telling(log: &Arc<MemoryLog>, webhooks: Vec<Webhook>) -> Server {
    let engine = engine_over(log.clone(), says("done"), Capacity::UNLIMITED);
    Server { webhooks, ..server(engine, vec![task("a")]) }
}

async fn run(here: &Here, tags: Value) -> String {
    let body = json!({ "inputs": { "topic": "x" }, "tags": tags });
    let answer = here.post_with("/api/runs", "Prefer: wait=30", body).await;
    assert_eq!(answer.json()["status"], "COMPLETED", "{answer:?}");
    answer.json()["runId"].as_str().unwrap().to_owned()
}

/// Holds a message against its signature, as a receiver does.
fn check(message: &Message) {
    let id = message.header("webhook-id");
    let at = message.header("webhook-timestamp");
    let signed = Secret::read(SECRET).unwrap().sign(id, at.parse().unwrap(), message.body.as_bytes());
    assert!(!id.is_empty() && message.header("webhook-signature") == signed, "{message:?}");
}

/// Returns the deliveries of a webhook, once the newest has this status.
async fn settled(here: &Here, webhook: &str, status: &str) -> Vec<Value> {
    loop {
        let answer = here.get(&format!("/api/webhooks/{webhook}/deliveries")).await.json();
        let deliveries = answer["deliveries"].as_array().unwrap().clone();
        if deliveries.first().is_some_and(|delivery| delivery["status"] == status) {
            return deliveries;
        }
    }
}

#[tokio::test]
async fn a_run_that_ended_is_told_of_with_the_same_id_until_it_is_taken() {
    let receiver = Receiver::start(&[Reply::Status(500), Reply::Status(302)]).await;
    let here = start(telling(&Arc::default(), vec![webhook("ops", &receiver.url)])).await;
    let run = run(&here, json!({ "team": "a" })).await;
    let messages = receiver.messages(3).await;
    messages.iter().for_each(check);
    let body = messages[0].json();
    assert_eq!((&body["type"], &body["data"]["runId"]), (&json!("run.completed"), &json!(run)), "{body}");
    assert_eq!((&body["data"]["status"], &body["data"]["tags"]["team"]), (&json!("COMPLETED"), &json!("a")));
    assert!(body["timestamp"].as_str().unwrap().ends_with('Z') && body["data"].get("truncated").is_none());
    for message in &messages {
        assert_eq!(
            (message.header("webhook-id"), &message.body),
            (messages[0].header("webhook-id"), &messages[0].body)
        );
    }
    let deliveries = settled(&here, "ops", "delivered").await;
    assert_eq!(deliveries.len(), 1);
    let statuses: Vec<&Value> =
        deliveries[0]["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["status"]).collect();
    assert_eq!(statuses, [500, 302, 204]);
    assert_eq!((&deliveries[0]["runId"], &deliveries[0]["nextAt"]), (&json!(run), &Value::Null));
    let metrics = here.get("/metrics").await.body;
    for (outcome, count) in [("pending", 2), ("delivered", 1)] {
        let line = format!("consort_webhook_attempts_total{{webhook=\"ops\",outcome=\"{outcome}\"}} {count}\n");
        assert!(metrics.contains(&line), "{line}: {metrics}");
    }
    assert!(metrics.contains("consort_webhook_waiting{webhook=\"ops\"} 0\n"), "{metrics}");
    let listed = here.get("/api/webhooks").await;
    assert_eq!(listed.json()["webhooks"][0]["name"], "ops");
    assert!(!listed.body.contains("whsec_") && !listed.body.contains("hidden"), "{listed:?}");
}

#[tokio::test]
async fn a_run_that_accepted_half_an_answer_is_told_of_with_the_mark() {
    let receiver = Receiver::start(&[]).await;
    let model = ScriptedModel::new().otherwise(Line::new().says("half").stops(Stop::Length));
    let engine = engine_over(Arc::default(), model, Capacity::UNLIMITED);
    let brief = Draft { on_truncated: OnTruncated::Accept, ..task("a") };
    let webhooks = vec![webhook("ops", &receiver.url)];
    let here = start(Server { webhooks, ..server(engine, vec![brief]) }).await;
    run(&here, json!({})).await;
    let told = receiver.messages(1).await[0].json();
    assert_eq!((&told["type"], &told["data"]["truncated"]), (&json!("run.completed"), &json!(true)), "{told}");
}

#[tokio::test]
async fn what_nobody_takes_is_dead_until_somebody_asks_for_it_again() {
    let receiver = Receiver::start(&[Reply::Status(410)]).await;
    let here = start(telling(&Arc::default(), vec![webhook("ops", &receiver.url)])).await;
    run(&here, json!({})).await;
    let dead = settled(&here, "ops", "dead").await;
    let id = dead[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(dead[0]["attempts"].as_array().unwrap().len(), 1, "410 is final");
    let counted = "consort_webhook_attempts_total{webhook=\"ops\",outcome=\"dead\"} 1\n";
    assert!(here.get("/metrics").await.body.contains(counted));
    assert_eq!(here.get("/api/webhooks/ops/deliveries?status=dead").await.json()["total"], 1);
    let again = here.post(&format!("/api/deliveries/{id}/redeliver"), json!({})).await;
    assert_eq!((again.status, &again.json()["status"]), (202, &json!("pending")));
    let delivered = settled(&here, "ops", "delivered").await;
    assert_eq!(delivered[0]["attempts"].as_array().unwrap().len(), 2);
    let messages = receiver.messages(2).await;
    assert_eq!(messages[0].header("webhook-id"), messages[1].header("webhook-id"));
    let missing = here.post("/api/deliveries/none/redeliver", json!({})).await;
    assert_eq!(missing.problem(), (404, "DELIVERY_NOT_FOUND".to_owned()));
    assert_eq!(here.get("/api/webhooks/none/deliveries").await.problem(), (404, "WEBHOOK_NOT_FOUND".to_owned()));
    assert_eq!(here.get("/api/webhooks/ops/deliveries?status=odd").await.problem(), (400, "BAD_REQUEST".to_owned()));
}

#[tokio::test]
async fn a_receiver_that_hangs_holds_up_no_other_and_each_is_told_what_it_wants() {
    let hanging = Receiver::start(&[Reply::Hang; 9]).await;
    let other = Receiver::start(&[]).await;
    let tags = BTreeMap::from([("team".to_owned(), "a".to_owned())]);
    let webhooks = vec![
        webhook("hanging", &hanging.url),
        Webhook { tags, ..webhook("tagged", &other.url) },
        Webhook { topics: vec![Topic::RunFailed], ..webhook("failures", &other.url) },
        Webhook { owner: Some(Owner::named("team-b").unwrap()), ..webhook("foreign", &other.url) },
    ];
    let here = start(telling(&Arc::default(), webhooks)).await;
    run(&here, json!({})).await;
    let tagged = run(&here, json!({ "team": "a" })).await;
    let messages = other.messages(1).await;
    assert_eq!(messages[0].json()["data"]["runId"], tagged);
    settled(&here, "tagged", "delivered").await;
    assert_eq!(other.count(), 1, "the others are not told");
    hanging.messages(2).await;
    let waiting = here.get("/api/webhooks/hanging/deliveries").await.json();
    assert_eq!(waiting["deliveries"][0]["status"], "pending");
}

#[tokio::test]
async fn a_review_is_told_of_while_it_waits() {
    let receiver = Receiver::start(&[]).await;
    let engine = engine_over(Arc::default(), says("draft"), Capacity::UNLIMITED);
    let careful = Draft { review: Some(ReviewRule::Required), ..task("a") };
    let here = start(Server { webhooks: vec![webhook("ops", &receiver.url)], ..server(engine, vec![careful]) }).await;
    let run = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json()["runId"].clone();
    let asked = receiver.messages(1).await[0].json();
    assert_eq!((&asked["type"], &asked["data"]["runId"]), (&json!("review.requested"), &run), "{asked}");
    assert_eq!(asked["data"]["review"]["taskOutput"], "draft");
    let review = asked["data"]["reviewId"].as_str().unwrap();
    here.post(&format!("/api/reviews/{review}"), json!({ "decision": "APPROVE" })).await;
    let ended = receiver.messages(2).await[1].json();
    assert_eq!((&ended["type"], &ended["data"]["runId"]), (&json!("run.completed"), &run));
}

#[tokio::test]
async fn a_question_of_a_chat_is_told_of() {
    let receiver = Receiver::start(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let steer = Line::new().calls("write_file", &json!({ "path": "AGENTS.md", "content": "obey" }));
    let model = ScriptedModel::new().when(|ask| ask.round == 0, steer).otherwise(Line::new().says("done"));
    let mut seams = engine_over(Arc::default(), model, Capacity::UNLIMITED).seams().clone();
    seams.tools = seams.tools.with(WriteFile::new(&workspace)).unwrap();
    let webhooks = vec![webhook("ops", &receiver.url)];
    let here = start(Server { webhooks, ..server(Engine::new(seams), vec![task("a")]) }).await;
    let thread = here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    here.post(&format!("/api/threads/{thread}/messages"), json!({ "content": "go" })).await;
    let asked = receiver.messages(1).await[0].json();
    assert_eq!((&asked["type"], &asked["data"]["threadId"]), (&json!("approval.requested"), &json!(thread)), "{asked}");
    let open = here.get("/api/approvals").await.json();
    assert_eq!(asked["data"]["approvalId"], open["approvals"][0]["approval_id"], "{open}");
}

#[tokio::test]
async fn nothing_is_lost_when_the_server_or_the_receiver_was_away() {
    let log = Arc::new(MemoryLog::default());
    let receiver = Receiver::start(&[]).await;
    let url = receiver.url.clone();
    drop(receiver);
    let patient = || Webhook { retry_ms: vec![100; 20], ..webhook("ops", &url) };
    let here = start(telling(&log, vec![patient()])).await;
    let first = run(&here, json!({})).await;
    settled(&here, "ops", "pending").await;
    drop(here);
    // A process that dies between the end of a run and its delivery leaves the same behind as one
    // that knows no webhooks.
    let here = start(telling(&log, Vec::new())).await;
    let second = run(&here, json!({})).await;
    drop(here);

    let address = url.trim_start_matches("http://").split('/').next().unwrap().to_owned();
    let receiver = Receiver::start_at(&address, &[]).await;
    let here = start(telling(&log, vec![patient()])).await;
    let told: Vec<Value> =
        receiver.messages(2).await.iter().map(|message| message.json()["data"]["runId"].clone()).collect();
    assert!(told.contains(&json!(first)) && told.contains(&json!(second)), "{told:?}");
    settled(&here, "ops", "delivered").await;
    assert_eq!(here.get("/api/webhooks/ops/deliveries").await.json()["total"], 2, "each event is told of once");
}
