//! Schedules: who may make and change them, what they say, and that each due time begins one run.

use std::collections::BTreeSet;
use std::sync::Arc;

use consort_core::owner::Owner;
use consort_log::{MemoryLog, SqliteLog};
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::{Capacity, Pools};
use consort_runtime::engine::Engine;
use consort_runtime::schedules::Configured;
use consort_runtime::schedules::definition::Definition;
use consort_server::Server;
use consort_server::access::{Key, Scope, Sees};
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
        (json!({ "name": "a", "every": "5m", "workflow": "nowhere" }), "there is no saved workflow `nowhere`"),
    ];
    for (body, reason) in cases {
        let answer = here.post("/api/schedules", body.clone()).await;
        assert_eq!(answer.problem(), (400, "BAD_REQUEST".to_owned()), "{body}");
        assert!(answer.body.replace("\\\"", "\"").contains(reason), "{body}: {answer:?}");
    }
    let odd = here.post("/api/schedules", json!({ "name": "odd", "every": "1h", "owner": "b" })).await;
    assert_eq!((odd.status, &odd.json()["owner"]), (201, &json!("local")));
    assert!(odd.body.contains("unknown field `owner` was ignored"), "{odd:?}");
    assert_eq!(ask(&here, "PATCH", "/api/schedules/odd", json!({ "colour": 1 })).await.status, 200);
    assert_eq!(ask(&here, "DELETE", "/api/schedules/odd", Value::Null).await.status, 204);
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

#[tokio::test]
async fn a_name_belongs_to_its_owner_and_nobody_learns_of_anothers() {
    let log = Arc::new(MemoryLog::default());
    let shared = Configured { owner: Owner::named("c").unwrap(), ..configured("weekly", 3_600_000) };
    let mut guarded = keeping(&log, vec![shared]);
    let key = |name: &str, owner: &str, sees: Sees| Key {
        sees,
        ..Key::of(Owner::named(owner).unwrap(), (name, name), &[Scope::Read, Scope::Run])
    };
    guarded.access.keys = vec![key("ann", "a", Sees::Own), key("bob", "b", Sees::Own), key("eve", "e", Sees::All)];
    let here = start(guarded).await;
    let ask = async |key: &str, method: &str, path: &str, body: Value| {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json"
        );
        let sent = if body.is_null() { String::new() } else { body.to_string() };
        here.send(&head, sent.as_bytes()).await
    };
    let made = |every: &str| json!({ "name": "weekly", "every": every, "inputs": { "topic": "x" } });
    assert_eq!(ask("bob", "GET", "/api/schedules/weekly", Value::Null).await.status, 404);
    for (key, every) in [("ann", "7h"), ("bob", "8h")] {
        assert_eq!(ask(key, "POST", "/api/schedules", made(every)).await.status, 201, "{key}");
        let again = ask(key, "POST", "/api/schedules", made(every)).await;
        assert_eq!(again.problem(), (409, "CONFLICT".to_owned()), "{key}");
        let one = ask(key, "GET", "/api/schedules/weekly", Value::Null).await.json();
        assert_eq!((&one["every"], &one["source"]), (&json!(every), &json!("api")), "{key}");
        let listed = ask(key, "GET", "/api/schedules", Value::Null).await.json();
        assert_eq!(listed["schedules"].as_array().unwrap().len(), 1, "{key}");
    }
    // Whoever sees all of them is told whose they are, and nothing is done to any.
    for (method, path) in [("GET", ""), ("DELETE", ""), ("POST", "/pause"), ("POST", "/trigger")] {
        let answer = ask("eve", method, &format!("/api/schedules/weekly{path}"), Value::Null).await;
        assert_eq!(answer.problem(), (409, "CONFLICT".to_owned()), "{method} {path}");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("each of a, b, c has a schedule"), "{message}");
    }
    for key in ["ann", "bob"] {
        let begun = ask(key, "POST", "/api/schedules/weekly/trigger", Value::Null).await;
        assert_eq!(begun.status, 202, "{begun:?}");
        let last = ask(key, "GET", "/api/schedules/weekly", Value::Null).await.json()["last"].clone();
        assert_eq!(last["runId"], begun.json()["runId"], "each has its own progress");
    }
    assert_eq!(ask("ann", "POST", "/api/schedules/weekly/pause", Value::Null).await.status, 200);
    assert_eq!(ask("ann", "DELETE", "/api/schedules/weekly", Value::Null).await.status, 204);
    let left = ask("bob", "GET", "/api/schedules/weekly", Value::Null).await.json();
    assert_eq!((&left["paused"], &left["every"]), (&json!(false), &json!("8h")));
}

#[tokio::test]
async fn a_paused_schedule_of_the_configuration_stays_so_when_its_state_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let over = |path: &std::path::Path| {
        let log = Arc::new(SqliteLog::open(path).unwrap());
        let seams = engine_over(Arc::default(), says("done"), Capacity::UNLIMITED).seams().clone().over(log.clone());
        let schedules = vec![configured("often", 1_000)];
        (Server { schedules, ..server(Engine::limited(seams, Pools::default()), vec![task("a")]) }, log)
    };
    let paths = ["row.db", "both.db"].map(|name| folder.path().join(name));
    {
        let (server, log) = over(&folder.path().join("first.db"));
        let here = start(server).await;
        assert_eq!(ask(&here, "POST", "/api/schedules/often/pause", Value::Null).await.status, 200);
        for path in &paths {
            log.backup(path).await.unwrap();
        }
    }
    for (path, is_lost) in paths.iter().zip([false, true]) {
        let db = rusqlite::Connection::open(path).unwrap();
        let stream = "(SELECT id FROM streams WHERE name = 'schedule/often')";
        db.execute_batch(&format!("UPDATE streams SET body = replace(body, 'true', 'false') WHERE id = {stream}"))
            .unwrap();
        if is_lost {
            db.execute_batch(&format!("UPDATE records SET body = body || ' ' WHERE stream = {stream}")).unwrap();
        }
        drop(db);
        let (server, _log) = over(path);
        let here = start(server).await;
        let one = here.get("/api/schedules/often").await.json();
        assert_eq!((&one["paused"], one["damaged"] == true), (&json!(true), is_lost), "{one}");
        assert_eq!(
            ask(&here, "POST", "/api/schedules/often/trigger", Value::Null).await.status,
            if is_lost { 409 } else { 202 }
        );
        let resumed = ask(&here, "POST", "/api/schedules/often/resume", Value::Null).await;
        assert_eq!((resumed.status, &resumed.json()["paused"]), (200, &json!(false)), "{resumed:?}");
        assert!(here.get("/api/schedules/often").await.json().get("damaged").is_none());
    }
}
