//! The duties that one server has for all go on at another when it dies: due times, and deliveries to webhooks.

use std::collections::BTreeSet;

use consort_core::owner::Owner;
use consort_runtime::schedules::Configured;
use consort_runtime::schedules::definition::Definition;
use consort_runtime::webhooks::{Secret, Webhook};

use super::*;
use crate::webhooks::receiver::{Receiver, Reply};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Takes the node with a duty out of these; returns it, and the one that is left.
async fn divided(database: &Database, duty: &str, [first, second]: [Node; 2]) -> (Node, Node) {
    if on_duty(database, duty).await == first.name { (first, second) } else { (second, first) }
}

/// Returns the due times of all runs of a schedule.
async fn dues(here: &Here, schedule: &str) -> Vec<String> {
    let runs = here.get(&format!("/api/runs?tag=schedule:{schedule}&limit=500")).await.json();
    let mut dues = Vec::new();
    for run in runs["runs"].as_array().unwrap() {
        let detail = here.get(&format!("/api/runs/{}", run["runId"].as_str().unwrap())).await.json();
        dues.push(detail["schedule"]["due"].as_str().unwrap().to_owned());
    }
    dues
}

#[tokio::test(flavor = "multi_thread")]
async fn each_due_time_begins_one_run_also_when_the_server_that_begins_them_dies() {
    let Some(database) = database().await else { return };
    let model = says("done");
    let set_up = |server: Server| {
        let inputs = json!({ "topic": "x" }).as_object().unwrap().clone();
        let definition = Definition { every_ms: Some(1_000), inputs, ..Definition::new("pulse") };
        Server { schedules: vec![Configured { definition, owner: Owner::local() }], ..server }
    };
    let mut nodes = two(&database, &model, set_up).await;
    for _death in 0..2 {
        let (busy, left) = divided(&database, "schedules", nodes).await;
        let before = dues(&left.here, "pulse").await.len();
        while dues(&left.here, "pulse").await.len() <= before {}
        let name = busy.name;
        busy.die(&database).await;
        let before = dues(&left.here, "pulse").await.len();
        while dues(&left.here, "pulse").await.len() <= before + 1 {}
        assert_eq!(on_duty(&database, "schedules").await, left.name);
        let next = Node::start(&database, name, (&model, Toolbox::default()), set_up).await;
        nodes = [left, next];
    }
    let [here, other] = nodes.each_ref().map(|node| &node.here);
    let dues = dues(here, "pulse").await;
    let distinct: BTreeSet<&String> = dues.iter().collect();
    assert_eq!(distinct.len(), dues.len(), "{dues:?}");
    let status = other.get("/api/schedules/pulse").await.json()["last"]["status"].clone();
    assert!(status == "started" || status == "skipped", "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_goes_on_at_another_server_under_the_same_id_when_the_one_that_sends_it_dies() {
    let Some(database) = database().await else { return };
    let receiver = Receiver::start(&[Reply::Hang]).await;
    let webhook = Webhook::new("ops", &receiver.url, Secret::read(SECRET).unwrap());
    let set_up = |server: Server| Server { webhooks: vec![webhook.clone()], ..server };
    let nodes = two(&database, &says("done"), set_up).await;
    let (sending, left) = divided(&database, "webhooks", nodes).await;
    // The one that does not send ends the run, and stores what is to be sent.
    let answer =
        left.here.post_with("/api/runs", "Prefer: wait=600", json!({ "inputs": { "topic": "x" } })).await.json();
    assert_eq!(answer["status"], "COMPLETED", "{answer}");
    let begun = receiver.messages(1).await;
    sending.die(&database).await;
    let messages = receiver.messages(2).await;
    assert_eq!(messages[1].header("webhook-id"), begun[0].header("webhook-id"));
    assert_eq!(messages[1].body, begun[0].body);
    assert_eq!(messages[1].json()["data"]["runId"], answer["runId"]);
    loop {
        let deliveries = left.here.get("/api/webhooks/ops/deliveries").await.json();
        assert_eq!(deliveries["total"], 1, "{deliveries}");
        if deliveries["deliveries"][0]["status"] == "delivered" {
            break;
        }
    }
}
