//! Tests the traces of a run, over HTTP and in a folder.

use std::sync::Arc;

use consort_core::draft::Draft;
use consort_models::ScriptedModel;
use consort_runtime::admission::Capacity;
use consort_runtime::traces::Traces;
use consort_tools::ScriptedTool;
use serde_json::{Value, json};

use crate::client::{Here, engine_with, server, start, task};

fn model() -> ScriptedModel {
    let model = ScriptedModel::new().calls("1.0", "look", &json!({ "input": "up" })).says("1.1", "sunny");
    model.says("2.0", "take a hat")
}

async fn here(folder: Option<&std::path::Path>) -> Here {
    let look = ScriptedTool::new("look").answers("blue sky");
    let engine = engine_with(Arc::default(), model(), look, Capacity::UNLIMITED);
    if let Some(folder) = folder {
        engine.export_to(Traces::open(folder).unwrap());
    }
    start(server(engine, vec![Draft { tools: vec!["look".to_owned()], ..task("a") }, task("b")])).await
}

/// Completes a run with this capture mode; returns its trace.
async fn traced(here: &Here, capture: &str) -> Value {
    let body = json!({ "inputs": { "topic": "x" }, "options": { "captureMode": capture } });
    let run = here.post_with("/api/runs", "Prefer: wait=30", body).await.json();
    assert_eq!(run["status"], "COMPLETED");
    here.get(&format!("/api/runs/{}/trace", run["runId"].as_str().unwrap())).await.json()
}

#[tokio::test]
async fn a_trace_tells_who_said_and_did_what_and_as_much_as_was_asked_for() {
    let here = here(None).await;
    let off = traced(&here, "OFF").await;
    let standard = traced(&here, "STANDARD").await;
    let full = traced(&here, "DETAILED").await;
    let task = &full["taskTraces"][0];
    assert_eq!((&full["schemaVersion"], &full["captureMode"]), (&json!("1.1"), &json!("FULL")));
    assert_eq!((&full["workflow"], &full["inputs"]), (&json!("SEQUENTIAL"), &json!({ "topic": "x" })));
    assert_eq!(full["agents"][0]["toolNames"], json!(["look"]));
    assert_eq!((&task["taskDescription"], &task["finalOutput"]), (&json!("Do a about x"), &json!("sunny")));
    assert!(task["prompts"]["userPrompt"].as_str().unwrap().contains("Do a about x"));
    let rounds = task["llmInteractions"].as_array().unwrap();
    let kinds: Vec<&Value> = rounds.iter().map(|round| &round["responseType"]).collect();
    assert_eq!(kinds, [&json!("TOOL_CALLS"), &json!("FINAL_ANSWER")]);
    let call = &rounds[0]["toolCalls"][0];
    assert_eq!(
        (&call["toolName"], &call["result"], &call["outcome"]),
        (&json!("look"), &json!("blue sky"), &json!("SUCCESS"))
    );
    assert_eq!((&task["metrics"]["toolCallCount"], &full["metrics"]["llmCallCount"]), (&json!(1), &json!(3)));
    assert!(full["totalDuration"].as_str().unwrap().starts_with("PT"));

    let parts = |trace: &Value| {
        let round = &trace["taskTraces"][0]["llmInteractions"][1];
        let first = &trace["taskTraces"][0]["llmInteractions"][0]["toolCalls"][0];
        (round["messages"].as_array().unwrap().len(), first["parsedInput"].clone())
    };
    assert_eq!(parts(&off), (0, Value::Null));
    assert_eq!(parts(&standard), (4, Value::Null));
    assert_eq!(parts(&full), (4, json!({ "input": "up" })));
    assert_eq!(here.get("/api/runs/nothing/trace").await.problem(), (404, "RUN_NOT_FOUND".to_owned()));
    assert_eq!(here.get("/api/files").await.status, 404, "no folder is configured");
}

#[tokio::test]
async fn an_ended_run_leaves_its_files_and_only_those_can_be_read() {
    let world = tempfile::tempdir().unwrap();
    let folder = world.path().join("traces");
    std::fs::write(world.path().join("secret.trace.json"), "{}").unwrap();
    let here = here(Some(&folder)).await;
    std::fs::write(folder.join("notes.txt"), "x").unwrap();
    std::os::unix::fs::symlink("../secret.trace.json", folder.join("link.trace.json")).unwrap();
    let trace = traced(&here, "OFF").await;
    let id = trace["ensembleId"].as_str().unwrap();
    let listed = loop {
        let listed = here.get("/api/files").await.json();
        if listed["files"].as_array().unwrap().len() == 2 {
            break listed;
        }
    };
    let names: Vec<(&Value, &Value)> =
        listed["files"].as_array().unwrap().iter().map(|file| (&file["name"], &file["type"])).collect();
    let expected =
        [(json!(format!("{id}.dag.json")), json!("dag")), (json!(format!("{id}.trace.json")), json!("trace"))];
    assert_eq!(names, expected.iter().map(|(name, kind)| (name, kind)).collect::<Vec<_>>());
    assert_eq!(here.get(&format!("/api/file?name={id}.trace.json")).await.json(), trace);
    let dag = here.get(&format!("/api/file?name={id}.dag.json")).await.json();
    assert_eq!((&dag["type"], &dag["criticalPath"]), (&json!("dag"), &json!(["0", "1"])));
    assert_eq!(dag["tasks"][1]["dependsOn"], json!(["0"]));
    for bad in ["", "..%2Fsecret.trace.json", "a%2Fb.trace.json", "a%5Cb.trace.json"] {
        assert_eq!(
            here.get(&format!("/api/file?name={bad}")).await.problem(),
            (400, "BAD_REQUEST".to_owned()),
            "{bad}"
        );
    }
    for absent in ["other.trace.json", "notes.txt", "link.trace.json"] {
        assert_eq!(here.get(&format!("/api/file?name={absent}")).await.status, 404, "{absent}");
    }
}

#[tokio::test]
async fn a_deleted_run_takes_its_traces_with_it_and_frees_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let here = here(Some(folder.path())).await;
    let key = "Idempotency-Key: k\r\nPrefer: wait=30";
    let body = json!({ "inputs": { "topic": "x" } });
    let first = here.post_with("/api/runs", key, body.clone()).await.json();
    assert_eq!(first["status"], "COMPLETED", "{first}");
    while here.get("/api/files").await.json()["files"].as_array().unwrap().len() < 2 {}
    let path = format!("/api/runs/{}", first["runId"].as_str().unwrap());
    let gone = here.send(&format!("DELETE {path} HTTP/1.1\r\nHost: localhost"), b"").await;
    assert_eq!(gone.status, 204, "{gone:?}");
    assert_eq!(here.get("/api/files").await.json()["files"], json!([]));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let second = here.post_with("/api/runs", key, body).await;
    assert_eq!(second.status, 200, "{second:?}");
    assert!(second.json()["runId"] != first["runId"], "its key begins a new run");
}
