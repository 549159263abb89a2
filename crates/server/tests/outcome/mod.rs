//! Tests the output of a run, in every place where it can be read.

use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use serde_json::{Value, json};

use crate::client::{Here, engine, server, start, task};

/// Runs a request and returns its output: from the run's detail over HTTP and over the socket, and from its result.
async fn outputs(here: &Here, body: Value) -> [Value; 3] {
    let detail = here.post_with("/api/runs", "Prefer: wait=30", body).await.json();
    let run = detail["runId"].as_str().unwrap_or_else(|| panic!("{detail}"));
    let (mut socket, _) = here.greeted().await;
    let asked = socket.ask(json!({ "type": "state_query", "query": "run_detail", "runId": run })).await;
    let events = here.get(&format!("/api/runs/{run}/events")).await.body;
    let result = events.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let result: Value = serde_json::from_str(result).unwrap();
    assert_eq!(result["type"], "run_result");
    let told = |value: &Value| json!([value.get("output"), value.get("parsedOutput")]);
    [told(&detail), told(&asked["data"]), told(&result)]
}

#[tokio::test]
async fn every_run_has_its_output_in_the_detail_the_manager_s_included() {
    let model = ScriptedModel::new().says("3.0", "all done").otherwise(Line::new().says(r#"{"n": 1}"#));
    let here = start(server(engine(model, Capacity::UNLIMITED), vec![task("a")])).await;
    let tasks = json!([{ "name": "a", "description": "Do a" }, { "name": "b", "description": "Do b" }]);
    let managed = json!({ "tasks": tasks, "options": { "workflow": "HIERARCHICAL" } });
    assert_eq!(
        outputs(&here, managed).await,
        [json!(["all done", null]), json!(["all done", null]), json!(["all done", null])]
    );

    let schema = json!({ "type": "object", "required": ["n"] });
    let structured = json!({ "tasks": [{ "name": "a", "description": "Do a", "outputSchema": schema }] });
    let parsed = json!([r#"{"n": 1}"#, { "n": 1 }]);
    assert_eq!(outputs(&here, structured).await, [parsed.clone(), parsed.clone(), parsed]);
    let wanting = json!({ "type": "object", "required": ["m"] });
    let failing = json!({ "tasks": [{ "name": "a", "description": "Do a", "outputSchema": wanting }] });
    assert_eq!(outputs(&here, failing).await, [json!([null, null]), json!([null, null]), json!([null, null])]);
}
