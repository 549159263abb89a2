//! `consort workflows`: saved workflows of a server, and runs of them.

use serde_json::{Value, json};

use crate::requests::client;
use crate::served::Served;

const DEMO: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n";

/// Saves a workflow.
async fn save(server: &Served, workflow: &Value) -> String {
    let saved = client().post(format!("{}/api/workflows", server.url)).json(workflow).send().await;
    let saved: Value = saved.unwrap().json().await.unwrap();
    saved["id"].as_str().unwrap_or_else(|| panic!("{saved}")).to_owned()
}

fn report() -> Value {
    json!({ "name": "Report", "description": "About hives", "inputs": { "place": "here" }, "tasks": [
        { "name": "first", "description": "Write about {topic} in {place}" },
        { "name": "second", "description": "Judge it", "context": ["$first"], "when": "inputs.n > 2" } ] })
}

#[tokio::test]
async fn workflows_are_listed_and_shown() {
    let server = Served::start(Some(DEMO));
    assert_eq!(server.consort(&["workflows", "list"]), (Some(0), String::new(), "no workflows\n".to_owned()));
    let id = save(&server, &report()).await;
    let table = server.said(&["workflows", "list"]);
    let row = table.lines().nth(1).unwrap();
    assert!(row.starts_with(&format!("{id}      2        1  ")) && row.ends_with("Report  About hives"), "{table}");
    assert_eq!(server.json(&["workflows", "list"])["workflows"][0]["id"], *id);

    let shown = server.said(&["workflows", "show", "workflow-"]);
    assert!(shown.starts_with(&format!("workflow  {id}\nname      Report\nabout     About hives\n")), "{shown}");
    let line = |name: &str| shown.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    assert!(line("first ").ends_with("  Write about {topic} in {place}"), "{shown}");
    assert!(shown.contains("\nsecond  reads first; when inputs.n > 2  Judge it\n"), "{shown}");
    let other = save(&server, &report()).await;
    assert_eq!(server.json(&["workflows", "show", "latest"])["id"], *other);
    let (status, _, words) = server.consort(&["workflows", "show", "workflow-"]);
    assert_eq!((status, words.contains("is the beginning of 2 workflows:\n")), (Some(2), true), "{words}");
    let (status, _, words) = server.consort(&["workflows", "show", "nope"]);
    assert_eq!((status, words.ends_with("(WORKFLOW_NOT_FOUND)\n")), (Some(1), true), "{words}");
    assert_eq!(server.consort(&["workflows", "list", "--limit", "0"]).0, Some(2));
}

#[tokio::test]
async fn a_workflow_runs_as_the_ensemble_does() {
    let server = Served::start(Some(DEMO));
    save(&server, &report()).await;
    let run = |args: &[&str]| server.consort(&[&["workflows", "run", "latest"], args].concat());
    let (status, answer, words) = run(&["--input", "topic=bees", "--input", "n:=3", "--tag", "team=green"]);
    assert_eq!((status, answer.is_empty()), (Some(0), false), "{words}");
    assert!(words.contains(" second: "), "the tasks are told as they go: {words}");
    let listed = server.json(&["runs", "list", "--tag", "team=green"]);
    let run_id = listed["runs"][0]["runId"].as_str().unwrap();
    let inputs = &server.json(&["runs", "show", run_id])["inputs"];
    assert_eq!((&inputs["topic"], &inputs["n"]), (&json!("bees"), &json!(3)), "{inputs}");

    let (status, frames, words) = run(&["--input", "topic=bees", "--input", "n:=1", "--json"]);
    assert_eq!((status, words.as_str()), (Some(0), ""));
    assert!(frames.lines().any(|line| line.contains(r#""type":"task_skipped""#)), "{frames}");
    assert!(frames.lines().last().unwrap().contains(r#""type":"run_result""#), "{frames}");

    let (status, _, words) = run(&["--input", "topci=bees", "--input", "n:=1"]);
    let expected = "inputs.topci: no task uses it; did you mean `topic`?\n";
    assert_eq!((status, words.as_str()), (Some(2), expected));
    let (status, _, words) = run(&["--input", "n:=[1"]);
    assert_eq!((status, words.contains("is not JSON")), (Some(2), true), "{words}");
    let (status, _, words) = server.consort(&["workflows", "run", "workflow-x"]);
    assert_eq!((status, words.ends_with("(WORKFLOW_NOT_FOUND)\n")), (Some(1), true), "{words}");
}
