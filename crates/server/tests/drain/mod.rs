//! A server that is told to stop ends in order.

use std::sync::Arc;
use std::time::Duration;

use consort_log::MemoryLog;
use consort_models::{Entry, Line, ScriptedModel, What};
use consort_runtime::admission::Capacity;
use consort_server::access::Reach;
use serde_json::json;
use tokio::sync::Notify;

use crate::client::{Here, engine_over, server, start, task};

const DRAIN: &str = "/api/lifecycle/drain";

async fn submitted(here: &Here) -> String {
    let run = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json();
    run["runId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_is_under_way_ends_nothing_new_begins_and_the_rest_goes_on_later() {
    let log = Arc::new(MemoryLog::default());
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().at("1.0", Line::new().waits(&gate).says("first")).says("2.0", "second");
    let capacity = Capacity { running: 1, queued: 1 };
    let here = start(server(engine_over(log.clone(), model.clone(), capacity), vec![task("a"), task("b")])).await;
    let run = submitted(&here).await;
    let queued = submitted(&here).await;
    model.until(What::Asked, "1.0").await;
    let told = here.post(DRAIN, json!({})).await;
    assert_eq!((told.status, told.json()), (200, json!({ "status": "DRAINING" })));
    let refused = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await;
    assert_eq!(refused.problem(), (503, "DRAINING".to_owned()));
    let again = here.post(&format!("/api/runs/{run}/fork"), json!({})).await;
    assert_eq!(again.problem(), (503, "DRAINING".to_owned()));
    let called = here.post("/api/tools/calculator/invoke", json!({ "input": "1+1" })).await;
    assert_eq!(called.problem(), (503, "DRAINING".to_owned()));
    let (mut socket, _) = here.greeted().await;
    let ack = socket.ask(json!({ "type": "run_request", "inputs": { "topic": "x" } })).await;
    assert_eq!((&ack["status"], &ack["error"]), (&json!("REJECTED"), &json!("DRAINING")));
    drop(socket);
    let ready = here.get("/api/health/ready").await;
    assert_eq!((ready.status, &ready.json()["lifecycleState"]), (503, &json!("DRAINING")));
    assert_eq!(here.get("/api/status").await.json()["lifecycleState"], "DRAINING");
    assert_eq!(here.get("/api/health/live").await.status, 200);
    assert_eq!(here.get(&format!("/api/runs/{run}")).await.json()["status"], "RUNNING");
    gate.notify_one();
    here.ended().await;
    assert_eq!(model.ledger(), ["asked 1.0", "answered 1.0"], "no task was begun");

    let later = engine_over(log, model.clone(), capacity);
    assert_eq!(later.recover().await.unwrap().resumed, 2);
    let here = start(server(later, Vec::new())).await;
    here.get(&format!("/api/runs/{run}/events")).await;
    let done = here.get(&format!("/api/runs/{run}")).await.json();
    assert_eq!((&done["status"], &done["tasks"][0]["output"]), (&json!("COMPLETED"), &json!("first")));
    let mine = |entry: &&Entry| entry.what == What::Asked && entry.place == "1.0" && *entry.ask.run == run;
    assert_eq!(model.entries().iter().filter(mine).count(), 1, "what was answered is not asked again");
    assert_eq!(here.get(&format!("/api/runs/{queued}")).await.status, 200);
}

#[tokio::test]
async fn a_stream_of_a_server_that_stops_ends_with_the_request_to_connect_again() {
    let model = ScriptedModel::new().at("1.0", Line::new().hangs());
    let mut hasty = server(engine_over(Arc::new(MemoryLog::default()), model, Capacity::UNLIMITED), vec![task("a")]);
    hasty.drain_timeout = Duration::from_secs(1);
    let here = start(hasty).await;
    let events = format!("/api/runs/{}/events", submitted(&here).await);
    let (streamed, _) = tokio::join!(here.get(&events), here.post(DRAIN, json!({})));
    assert!(streamed.body.ends_with(": reconnect\n\n"), "{}", streamed.body);
    here.ended().await;
}

#[tokio::test]
async fn what_takes_too_long_is_left_as_it_is() {
    let log = Arc::new(MemoryLog::default());
    let model = ScriptedModel::new().at("1.0", Line::new().hangs());
    let mut hasty = server(engine_over(log.clone(), model.clone(), Capacity::UNLIMITED), vec![task("a")]);
    hasty.drain_timeout = Duration::from_millis(50);
    let here = start(hasty).await;
    submitted(&here).await;
    model.until(What::Asked, "1.0").await;
    here.post(DRAIN, json!({})).await;
    here.ended().await;
    assert_eq!(model.ledger(), ["asked 1.0", "dropped 1.0"]);
    let later = engine_over(log, model, Capacity::UNLIMITED);
    assert_eq!(later.recover().await.unwrap().resumed, 1);
}

#[tokio::test]
async fn only_this_machine_may_stop_a_server_without_keys() {
    let mut open = server(engine_over(Arc::default(), ScriptedModel::new(), Capacity::UNLIMITED), vec![task("a")]);
    open.access.reach = Reach::Network;
    let here = start(open).await;
    assert_eq!(here.post(DRAIN, json!({})).await.problem(), (403, "FORBIDDEN".to_owned()));
    assert_eq!(here.get("/api/health/ready").await.status, 200);
}
