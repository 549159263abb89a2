//! Retrying and forking: a new run out of the record of another.

use std::sync::Arc;

use consort_core::catalog::EffectClass;
use consort_core::draft::Draft;
use consort_core::message::{Failure, FailureKind, Message};
use consort_core::spec::ReviewRule;
use consort_log::{Log, MemoryLog, SqliteLog};
use consort_models::{Line, ScriptedModel};
use consort_postgres::PgLog;
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use consort_test_postgres::database;
use consort_tools::ScriptedTool;
use serde_json::{Value, json};

use crate::client::{Here, engine_with, server, start, task};

/// Creates a model: task A reads nothing and pays, task B fails when it is about `bad`.
fn model() -> ScriptedModel {
    let failure = Failure {
        kind: FailureKind::Refused,
        message: "no".into(),
        retry_after_ms: None,
        status: None,
        charged: false,
    };
    let is_bad = |message: &Message| matches!(message, Message::User { text } if text.as_str().contains("b about bad"));
    ScriptedModel::new()
        .calls("1.0", "pay", &json!({ "input": "3" }))
        .says("1.1", "paid")
        .when(move |ask| ask.messages.iter().any(is_bad), Line::new().breaks(failure))
        .otherwise(Line::new().says("fine"))
}

fn pay() -> ScriptedTool {
    ScriptedTool::new("pay").effect(EffectClass::Once).answers("done")
}

fn tasks() -> Vec<Draft> {
    vec![Draft { tools: vec!["pay".to_owned()], ..task("a") }, task("b")]
}

async fn wait(here: &Here, path: &str, body: Value) -> Value {
    let answer = here.post_with(path, "Prefer: wait=30", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// Returns the seq of the first event of a kind.
async fn seq_of(here: &Here, run: &str, kind: &str) -> u64 {
    let head = format!("GET /api/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    let events = here.send(&head, b"").await.json();
    let found = events["events"].as_array().unwrap().iter().position(|frame| frame["type"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {events}")) as u64
}

#[tokio::test]
async fn a_failed_run_is_retried_from_the_failed_task_with_other_inputs() {
    let tool = pay();
    let model = model();
    let here =
        start(server(engine_with(Arc::default(), model.clone(), tool.clone(), Capacity::UNLIMITED), tasks())).await;
    let failed = wait(&here, "/api/runs", json!({ "inputs": { "topic": "bad" }, "tags": { "team": "red" } })).await;
    assert_eq!(failed["status"], "FAILED");
    let old = failed["runId"].as_str().unwrap();
    let retry = format!("/api/runs/{old}/retry");
    let accepted = here.post(&retry, json!({ "inputs": { "topic": "good" }, "colour": 1 })).await;
    let json = accepted.json();
    assert_eq!((accepted.status, &json["status"], &json["tasks"]), (202, &json!("ACCEPTED"), &json!(2)));
    assert_eq!((&json["retryOf"], &json["workflow"]), (&json!(old), &json!("SEQUENTIAL")));
    let warnings = json["warnings"].as_array().unwrap();
    assert!(warnings.len() == 1 && warnings[0].as_str().unwrap().starts_with("unknown field `colour` was ignored; "));
    let place = accepted.header("location").unwrap().to_owned();
    here.get(&format!("{place}/events")).await;
    let done = here.get(&place).await.json();
    assert_eq!((&done["status"], &done["retryOf"]), (&json!("COMPLETED"), &json!(old)));
    assert_eq!((&done["tasks"][0]["output"], &done["tasks"][1]["output"]), (&json!("paid"), &json!("fine")));
    assert_eq!(done["tasks"][0]["description"], "Do a about bad", "what is done stays as it was");
    assert_eq!((&done["tasks"][1]["description"], &done["tags"]), (&json!("Do b about good"), &json!({"team": "red"})));
    assert_eq!(done["metrics"]["llmCalls"], 1, "only its own work counts");
    assert_eq!(tool.ledger().iter().filter(|line| line.starts_with("began")).count(), 1);

    let task = &done["tasks"][0];
    let own = &done["tasks"][1];
    assert_eq!((&task["inherited"], own.get("inherited")), (&json!(true), None), "{done}");
    assert!(own["startedAt"].as_str() >= done["startedAt"].as_str(), "{done}");
    let head = format!("GET {place}/events HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    let events = here.send(&head, b"").await.json();
    let events = events["events"].as_array().unwrap();
    let copied = events.iter().position(|frame| frame["type"] == "run_forked").unwrap();
    let marked = |frame: &&Value| frame["inherited"] == true;
    assert_eq!((events.iter().take_while(marked).count(), events.iter().filter(marked).count()), (copied, copied));
    let trace = here.get(&format!("{place}/trace")).await.json();
    assert_eq!((&trace["startedAt"], &trace["metrics"]["llmCallCount"]), (&done["startedAt"], &json!(1)));
    let traced = |task: usize| trace["taskTraces"][task].get("inherited");
    assert_eq!((traced(0), traced(1)), (Some(&json!(true)), None));
    let (_, hello) = here.greeted().await;
    assert_eq!(hello["startedAt"], done["startedAt"], "a late client is told the time of the new run");

    let listed = here.get("/api/runs?limit=1").await.json();
    assert_eq!(listed["runs"][0]["retryOf"], *old);
    let again = format!("/api/runs/{}/retry", done["runId"].as_str().unwrap());
    assert_eq!(here.post(&again, json!({})).await.problem(), (409, "RUN_COMPLETED".to_owned()));
    assert_eq!(here.post("/api/runs/nothing/retry", json!({})).await.problem(), (404, "RUN_NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_run_is_forked_where_a_task_began() {
    let here = start(server(engine_with(Arc::default(), model(), pay(), Capacity::UNLIMITED), tasks())).await;
    let done = wait(&here, "/api/runs", json!({ "inputs": { "topic": "x" } })).await;
    let fork = format!("/api/runs/{}/fork", done["runId"].as_str().unwrap());
    let forked = wait(&here, &fork, json!({ "task": "B" })).await;
    assert_eq!((&forked["status"], &forked["tasks"][0]["inherited"]), (&json!("COMPLETED"), &json!(true)));
    assert_eq!((forked["tasks"][1].get("inherited"), &forked["metrics"]["llmCalls"]), (None, &json!(1)));
    for (wrong, about) in [
        (json!({ "task": "z" }), "Unknown task 'z'. Available: [a, b]"),
        (json!({ "task": "b", "seq": 3 }), "says where to begin, as `seq` does; give one of them"),
    ] {
        let refused = here.post(&fork, wrong).await;
        assert_eq!(refused.status, 400);
        assert!(refused.json()["message"].as_str().unwrap().contains(about), "{refused:?}");
    }
}

#[tokio::test]
async fn a_dry_run_of_a_retry_or_a_fork_says_what_would_run_and_stores_nothing() {
    let here = start(server(engine_with(Arc::default(), model(), pay(), Capacity::UNLIMITED), tasks())).await;
    let failed = wait(&here, "/api/runs", json!({ "inputs": { "topic": "bad" } })).await;
    let run = failed["runId"].as_str().unwrap();
    for (way, task) in [("retry", Value::Null), ("fork", json!("b"))] {
        let path = format!("/api/runs/{run}/{way}");
        let edits = json!({ "dryRun": true, "task": task, "inputs": { "topic": "good" }, "colour": 1 });
        let told = here.post(&path, edits).await;
        let json = told.json();
        assert_eq!((told.status, &json["dryRun"], &json["workflow"]), (200, &json!(true), &json!("SEQUENTIAL")));
        assert_eq!(json["tasks"][1]["description"], "Do b about good", "{json}");
        assert!(json["warnings"][0].as_str().unwrap().contains("`colour`"), "{json}");
        assert_eq!(here.post(&path, json!({ "dryRun": "yes" })).await.problem(), (400, "BAD_REQUEST".to_owned()));
    }
    assert_eq!(here.get("/api/runs").await.json()["total"], 1, "no run was made");
}

/// Returns an engine over any log.
fn over(log: &Arc<dyn Log>, model: &ScriptedModel, tool: &ScriptedTool) -> Engine {
    let seams = engine_with(Arc::default(), model.clone(), tool.clone(), Capacity::UNLIMITED).seams().clone();
    Engine::new(seams.over(log.clone()))
}

#[tokio::test]
async fn a_fork_with_an_edited_output_goes_on_with_it_in_memory() {
    edits_an_output(Arc::new(MemoryLog::default())).await;
}

#[tokio::test]
async fn a_fork_with_an_edited_output_goes_on_with_it_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    edits_an_output(Arc::new(SqliteLog::open(&folder.path().join("log.db")).unwrap())).await;
}

#[tokio::test]
async fn a_fork_with_an_edited_output_goes_on_with_it_in_postgresql() {
    let Some(database) = database().await else { return };
    edits_an_output(Arc::new(PgLog::open(database.url()).await.unwrap())).await;
}

/// Edits the output of a task that is kept: refused where it is too late, read by the task after it, and told with
/// the name of its requester, by this process and the next one.
async fn edits_an_output(log: Arc<dyn Log>) {
    let tool = pay();
    let model = model();
    let reading = vec![tasks().remove(0), Draft { context: vec!["$a".to_owned()], ..task("b") }];
    let engine = over(&log, &model, &tool);
    let here = start(server(engine.clone(), reading.clone())).await;
    let done = wait(&here, "/api/runs", json!({ "inputs": { "topic": "x" } })).await;
    let run = done["runId"].as_str().unwrap();
    let fork = format!("/api/runs/{run}/fork");
    for (body, about) in [
        (json!({ "outputs": { "z": "x" } }), "outputs.z: Unknown task 'z'. Available: [a, b]"),
        (json!({ "outputs": { "a": " " } }), "outputs.a: must not be blank"),
        (json!({ "outputs": { "a": 3 } }), "outputs.a: must be a string, not a number"),
        (json!({ "outputs": {} }), "outputs: must have 1 to 1000 entries"),
        (json!({ "outputs": { "b": "x" }, "task": "b" }), "outputs.b: it has no output in what is kept of the run."),
    ] {
        let refused = here.post(&fork, body).await;
        assert_eq!(refused.status, 400);
        assert!(refused.json()["message"].as_str().unwrap().contains(about), "{refused:?}");
    }
    let late =
        here.post(&fork, json!({ "outputs": { "a": "x" }, "seq": seq_of(&here, run, "ensemble_completed").await }));
    let late = late.await.json()["message"].as_str().unwrap().to_owned();
    let before = json!({ "outputs": { "a": "unpaid" } });
    let forked = wait(&here, &fork, before).await;
    let seq = &forked["forkedFrom"]["seq"];
    assert!(late.contains(&format!("'b' has begun with its present output; fork with `seq` {seq} or less")), "{late}");
    assert_eq!((&forked["status"], &forked["metrics"]["llmCalls"]), (&json!("COMPLETED"), &json!(1)));
    let a = &forked["tasks"][0];
    assert_eq!(
        (&a["output"], &a["outputEditedBy"], &a["inherited"]),
        (&json!("unpaid"), &json!("local"), &json!(true))
    );
    assert_eq!(tool.ledger().iter().filter(|line| line.starts_with("began")).count(), 1, "a is not done again");
    let asked = format!("{:?}", model.sent("2.0").unwrap().messages);
    assert!(asked.contains("unpaid") && !asked.contains("\"paid"), "{asked}");

    // Another process reads the same from the log.
    let new = forked["runId"].as_str().unwrap().to_owned();
    drop(here);
    engine.stop().await;
    let here = start(server(over(&log, &model, &tool), reading)).await;
    let stored = here.get(&format!("/api/runs/{new}")).await.json();
    assert_eq!(stored["tasks"], forked["tasks"]);
    let head = format!("GET /api/runs/{new}/events HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    let events = here.send(&head, b"").await.json();
    let edited = events["events"].as_array().unwrap().iter().find(|frame| frame["type"] == "run_forked").unwrap();
    assert_eq!(
        (&edited["editedOutputs"][0]["taskName"], &edited["editedOutputs"][0]["by"]),
        (&json!("a"), &json!("local"))
    );
}

#[tokio::test]
async fn a_run_is_forked_anywhere_and_nothing_before_that_is_done_again() {
    let tool = pay();
    let log = Arc::new(MemoryLog::default());
    let engine = engine_with(log.clone(), model(), tool.clone(), Capacity::UNLIMITED);
    let careful = vec![Draft { review: Some(ReviewRule::Required), ..tasks().remove(0) }, task("b")];
    let here = start(server(engine.clone(), careful)).await;
    let run = here.post("/api/runs", json!({ "inputs": { "topic": "bad" } })).await.json();
    let run = run["runId"].as_str().unwrap();
    while here.get(&format!("/api/reviews?runId={run}")).await.json()["total"] == 0 {}
    assert_eq!(here.post(&format!("/api/runs/{run}/retry"), json!({})).await.problem(), (409, "RUN_ACTIVE".into()));

    let fork = format!("/api/runs/{run}/fork");
    let seq = seq_of(&here, run, "tool_called").await;
    let bodies = [
        json!({ "seq": 999 }),
        json!({ "seq": -1 }),
        json!({ "tasks": [] }),
        json!({ "options": { "workflow": "PARALLEL" } }),
    ];
    for body in bodies {
        assert_eq!(here.post(&fork, body.clone()).await.problem(), (400, "BAD_REQUEST".to_owned()), "{body}");
    }
    let late = json!({ "seq": seq, "taskOverrides": { "a": { "description": "x" } } });
    assert_eq!(here.post(&fork, late).await.problem(), (400, "INVALID_TASK_OVERRIDE".to_owned()));
    assert_eq!(here.post(&fork, json!({ "model": "huge" })).await.problem(), (400, "INVALID_MODEL".to_owned()));

    // The call had begun and its answer comes after: it is taken from the record.
    let edits = json!({ "seq": seq, "model": "spare", "taskOverrides": { "b": { "description": "Say {word}" } },
        "inputs": { "word": "hello" }, "options": { "reviewPolicy": "NEVER" } });
    let forked = here.post(&fork, edits).await.json();
    assert_eq!(forked["forkedFrom"], json!({ "runId": run, "seq": seq }));
    let new = forked["runId"].as_str().unwrap();
    while here.get(&format!("/api/reviews?runId={new}")).await.json()["total"] == 0 {}
    drop(here);
    engine.stop().await;

    let second = engine_with(log, model(), tool.clone(), Capacity::UNLIMITED);
    assert_eq!(second.recover().await.unwrap().resumed, 2);
    let here = start(server(second, tasks())).await;
    here.post(&format!("/api/reviews/{new}-review-0"), json!({ "decision": "CONTINUE" })).await;
    here.get(&format!("/api/runs/{new}/events")).await;
    let done = here.get(&format!("/api/runs/{new}")).await.json();
    assert_eq!((&done["status"], &done["forkedFrom"]["seq"]), (&json!("COMPLETED"), &json!(seq)));
    assert_eq!((&done["tasks"][1]["description"], &done["model"]), (&json!("Say hello"), &json!("spare")));
    assert_eq!(tool.ledger().iter().filter(|line| line.starts_with("began")).count(), 1, "paid once");
    assert_eq!(here.get(&format!("/api/runs/{run}")).await.json()["pendingReviews"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_fork_waits_in_the_queue_like_any_run_and_can_be_cancelled_there() {
    let silent = ScriptedModel::new().otherwise(Line::new().hangs());
    let engine = engine_with(Arc::default(), silent, pay(), Capacity { running: 1, queued: 1 });
    let here = start(server(engine, vec![task("b")])).await;
    let run = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json();
    let fork = format!("/api/runs/{}/fork", run["runId"].as_str().unwrap());
    let queued = here.post(&fork, json!({})).await.json();
    assert_eq!((&queued["status"], &queued["queuePosition"]), (&json!("ACCEPTED"), &json!(0)));
    assert_eq!(here.post(&fork, json!({})).await.problem(), (429, "CONCURRENCY_LIMIT".to_owned()));
    let place = format!("/api/runs/{}", queued["runId"].as_str().unwrap());
    let waiting = here.get(&place).await.json();
    assert_eq!((&waiting["status"], &waiting["queuePosition"]), (&json!("ACCEPTED"), &json!(0)));
    here.post(&format!("{place}/cancel"), json!({})).await;
    assert_eq!(here.get(&place).await.json()["status"], "CANCELLED");
}
