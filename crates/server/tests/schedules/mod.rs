//! Schedules: who may make and change them, what they say, and that each due time begins one run.

use std::collections::BTreeSet;
use std::sync::Arc;

use consort_core::owner::Owner;
use consort_log::MemoryLog;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::{Capacity, Pools};
use consort_runtime::engine::Engine;
use consort_runtime::schedules::Configured;
use consort_runtime::schedules::definition::Definition;
use consort_server::Server;
use serde_json::{Value, json};

use crate::client::{Answer, Here, engine, engine_over, server, start, task};
use crate::says;

/// Creates a server over a log, of which all runs are kept.
fn keeping(log: &Arc<MemoryLog>, schedules: Vec<Configured>) -> Server {
    let seams = engine_over(log.clone(), says("done"), Capacity::UNLIMITED).seams().clone();
    Server { schedules, ..server(Engine::limited(seams, Pools::default()), vec![task("a")]) }
}

fn configured(name: &str, every_ms: u64) -> Configured {
    let inputs = json!({ "topic": "x" }).as_object().unwrap().clone();
    let definition = Definition { every_ms: Some(every_ms), inputs, ..Definition::new(name) };
    Configured { definition, owner: Owner::local() }
}

async fn ask(here: &Here, method: &str, path: &str, body: Value) -> Answer {
    let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json");
    let sent = if body.is_null() { String::new() } else { body.to_string() };
    here.send(&head, sent.as_bytes()).await
}

/// Returns the due times of all runs of a schedule.
async fn dues(here: &Here, schedule: &str) -> Vec<String> {
    let runs = here.get(&format!("/api/runs?tag=schedule:{schedule}&limit=500")).await.json();
    let mut dues = Vec::new();
    for run in runs["runs"].as_array().unwrap() {
        let detail = here.get(&format!("/api/runs/{}", run["runId"].as_str().unwrap())).await.json();
        assert_eq!(detail["schedule"]["name"], schedule, "{detail}");
        dues.push(detail["schedule"]["due"].as_str().unwrap().to_owned());
    }
    dues
}

#[tokio::test]
async fn a_schedule_is_made_read_changed_and_erased() {
    let here = start(server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")])).await;
    let made = json!({ "name": "weekly", "cron": "0 8 * * MON", "timezone": "Europe/Berlin",
        "inputs": { "topic": "bees" }, "catchUp": "all", "window": "2h" });
    let answer = here.post("/api/schedules", made.clone()).await;
    assert_eq!((answer.status, answer.header("location")), (201, Some("/api/schedules/weekly")));
    let row = answer.json();
    assert_eq!(row["next"].as_array().unwrap().len(), 5, "{row}");
    let told = ["cron", "every", "timezone", "catchUp", "window", "overlap", "paused", "source", "last", "owner"];
    let told: Vec<&Value> = told.iter().map(|field| &row[field]).collect();
    let expected = json!(["0 8 * * MON", null, "Europe/Berlin", "all", "2h", "skip", false, "api", null, "local"]);
    assert_eq!(json!(told), expected);
    assert_eq!(here.post("/api/schedules", made).await.problem(), (409, "CONFLICT".to_owned()));

    let changed = ask(&here, "PATCH", "/api/schedules/weekly", json!({ "every": "15m", "overlap": "queue" })).await;
    let changed = changed.json();
    assert_eq!(
        (&changed["cron"], &changed["every"], &changed["overlap"]),
        (&Value::Null, &json!("15m"), &json!("queue"))
    );
    assert_eq!(changed["inputs"], json!({ "topic": "bees" }), "what is not sent stays");
    let listed = here.get("/api/schedules").await.json();
    assert_eq!(listed["schedules"][0]["every"], "15m", "{listed}");
    assert_eq!(ask(&here, "DELETE", "/api/schedules/weekly", Value::Null).await.status, 204);
    let missing = (404, "SCHEDULE_NOT_FOUND".to_owned());
    assert_eq!(here.get("/api/schedules/weekly").await.problem(), missing);
    assert_eq!(ask(&here, "DELETE", "/api/schedules/weekly", Value::Null).await.problem(), missing);
    assert_eq!(here.post("/api/schedules/weekly/trigger", json!({})).await.problem(), missing);
    let again = here.post("/api/schedules", json!({ "name": "weekly", "every": "1h" })).await;
    assert_eq!(again.status, 201, "a name can be used again");
    assert!(again.json()["warnings"][0].as_str().unwrap().contains("topic"), "an input is missing: {again:?}");
}

#[tokio::test]
async fn a_wrong_schedule_is_refused_with_every_reason() {
    let here = start(server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")])).await;
    let cases = [
        (json!({ "name": "a", "cron": "0 0 8 * * MON" }), "cron: must have five fields"),
        (json!({ "name": "a", "cron": "61 8 * * MON" }), "cron: is no pattern"),
        (json!({ "name": "a", "cron": "0 0 30 2 *" }), "never comes"),
        (json!({ "name": "a", "cron": "0 8 * * *", "timezone": "Mars/Olympus" }), "no time zone `Mars/Olympus`"),
        (json!({ "name": "a", "cron": "0 8 * * *", "every": "5m" }), "not both"),
        (json!({ "name": "a" }), "needs one of them"),
        (json!({ "name": "a", "every": "10ms" }), "from \"1s\""),
        (json!({ "name": "a/b", "every": "5m" }), "must be a name"),
        (json!({ "name": "a", "every": "5m", "overlap": "stop" }), "one of skip, queue, cancel_previous"),
        (json!({ "name": "a", "every": "5m", "owner": "b" }), "owner: is no field of a schedule"),
        (json!({ "name": "a", "every": "5m", "workflow": "nowhere" }), "there is no saved workflow `nowhere`"),
    ];
    for (body, reason) in cases {
        let answer = here.post("/api/schedules", body.clone()).await;
        assert_eq!(answer.problem(), (400, "BAD_REQUEST".to_owned()), "{body}");
        assert!(answer.body.replace("\\\"", "\"").contains(reason), "{body}: {answer:?}");
    }
    let one = json!({ "name": "Report", "tasks": [{ "description": "Write" }] });
    here.post("/api/workflows", one.clone()).await;
    let by_name = json!({ "name": "named", "every": "1h", "workflow": "Report" });
    assert_eq!(here.post("/api/schedules", by_name).await.status, 201);
    here.post("/api/workflows", one).await;
    let ambiguous = here.post("/api/schedules", json!({ "name": "a", "every": "1h", "workflow": "Report" })).await;
    assert_eq!(ambiguous.status, 400);
    assert!(ambiguous.body.contains("2 saved workflows are called"), "{ambiguous:?}");
    assert_eq!(here.get("/api/schedules").await.json()["schedules"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_schedule_of_the_file_is_paused_and_triggered_but_not_changed() {
    let log = Arc::new(MemoryLog::default());
    let file = || vec![configured("nightly", 3_600_000)];
    let here = start(keeping(&log, file())).await;
    let conflict = (409, "CONFLICT".to_owned());
    assert_eq!(ask(&here, "PATCH", "/api/schedules/nightly", json!({ "every": "2h" })).await.problem(), conflict);
    assert_eq!(ask(&here, "DELETE", "/api/schedules/nightly", Value::Null).await.problem(), conflict);
    assert_eq!(here.post("/api/schedules", json!({ "name": "nightly", "every": "2h" })).await.problem(), conflict);
    let paused = here.post("/api/schedules/nightly/pause", json!({})).await.json();
    assert_eq!((&paused["paused"], &paused["source"]), (&json!(true), &json!("config")));

    let triggered = here.post("/api/schedules/nightly/trigger", json!({})).await;
    assert_eq!(triggered.status, 202, "also while it is paused: {triggered:?}");
    let run = triggered.json()["runId"].as_str().unwrap().to_owned();
    let detail = here.get(&format!("/api/runs/{run}")).await.json();
    assert_eq!((&detail["schedule"]["name"], &detail["owner"]), (&json!("nightly"), &json!("local")), "{detail}");
    drop(here);

    let here = start(keeping(&log, file())).await;
    let row = here.get("/api/schedules/nightly").await.json();
    assert_eq!((&row["paused"], &row["last"]["runId"]), (&json!(true), &json!(run)), "both survive a restart: {row}");
    let resumed = here.post("/api/schedules/nightly/resume", json!({})).await.json();
    assert_eq!(resumed["paused"], false);
}

#[tokio::test]
async fn each_due_time_begins_one_run_also_with_two_servers_and_restarts() {
    let log = Arc::new(MemoryLog::default());
    let file = || vec![configured("pulse", 1_000)];
    let other = start(keeping(&log, file())).await;
    for _restart in 0..3 {
        let here = start(keeping(&log, file())).await;
        let before = dues(&other, "pulse").await.len();
        while dues(&other, "pulse").await.len() < before + 2 {}
        drop(here);
    }
    let dues = dues(&other, "pulse").await;
    let distinct: BTreeSet<&String> = dues.iter().collect();
    assert_eq!(distinct.len(), dues.len(), "{dues:?}");
    assert!(dues.iter().all(|due| due.ends_with(".000Z")), "on the second, from the epoch: {dues:?}");
    let row = other.get("/api/schedules/pulse").await.json();
    assert_eq!(row["last"]["status"], "started", "{row}");
    let counted = "consort_schedule_due_total{schedule=\"pulse\",outcome=\"started\"} ";
    while !other.get("/metrics").await.body.contains(counted) {}
}

#[tokio::test]
async fn a_due_time_queues_beyond_what_may_wait_and_is_skipped_while_its_run_lasts() {
    let hanging = ScriptedModel::new().otherwise(Line::new().hangs());
    let full = engine(hanging, Capacity { running: 1, queued: 0 });
    let here = start(server(full, vec![task("a")])).await;
    let inputs = json!({ "topic": "x" });
    assert_eq!(here.post("/api/runs", json!({ "inputs": inputs })).await.status, 202);
    assert_eq!(here.post("/api/runs", json!({ "inputs": inputs })).await.status, 429);
    here.post("/api/schedules", json!({ "name": "pulse", "every": "1s", "inputs": inputs })).await;
    let last = async || here.get("/api/schedules/pulse").await.json()["last"].clone();
    while last().await["status"] != "started" {}
    let run = last().await["runId"].as_str().unwrap().to_owned();
    assert_eq!(here.get(&format!("/api/runs/{run}")).await.json()["waitingFor"], "queue");
    assert_eq!(here.post("/api/schedules/pulse/trigger", json!({})).await.status, 429, "a person can try again");
    while last().await["status"] != "skipped" {}
    for outcome in ["started", "skipped"] {
        let counted = format!("consort_schedule_due_total{{schedule=\"(api)\",outcome=\"{outcome}\"}} ");
        while !here.get("/metrics").await.body.contains(&counted) {}
    }
}

#[tokio::test]
async fn a_missing_workflow_of_the_file_is_a_failed_last_from_the_start() {
    let mut lost = configured("lost", 3_600_000);
    lost.definition.workflow = Some("nowhere".to_owned());
    let here = start(keeping(&Arc::default(), vec![lost])).await;
    let row = async || here.get("/api/schedules/lost").await.json();
    while row().await["last"].is_null() {}
    let last = row().await["last"].clone();
    assert_eq!(last["status"], "failed");
    assert!(last["error"].as_str().unwrap().contains("there is no saved workflow `nowhere`"), "{last}");
    let refused = here.post("/api/schedules/lost/trigger", json!({})).await;
    assert_eq!(refused.problem(), (400, "BAD_REQUEST".to_owned()));
}
