//! A store as the first edition left it: whatever was in it is there, and goes
//! on. The file stays as it is; a store of a later version is kept beside it.

use serde_json::{Value, json};

use crate::requests::{client, copy_of, get};
use crate::served::Served;

const STORE: &str = "tests/cli/stores/first-edition.db";

const ENDED: &str = "run-01a1e0b65f49744d9e513b0aac70bc1a";
const WAITING: &str = "run-01a1e0b6803874c6bca41c9ffb839dd7";
const THREAD: &str = "thread-01a1e0b6804a7355976d8dcd42b5cfa1";
const WORKFLOW: &str = "workflow-01a1e0b6827b72c5940d067f532c83cf";

fn served() -> Served {
    Served::start_in(copy_of(STORE))
}

async fn post(server: &Served, path: &str, body: Value) -> Value {
    let answer = client().post(format!("{}{path}", server.url)).json(&body).send().await.unwrap();
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
    answer.json().await.unwrap()
}

#[tokio::test]
async fn a_run_that_had_ended_shows_its_result_and_its_history() {
    let server = served();
    let run = get(&server, &format!("/api/runs/{ENDED}")).await;
    assert_eq!(
        (&run["status"], &run["ensemble"], &run["tags"]["team"]),
        (&json!("COMPLETED"), &json!("evening"), &json!("green"))
    );
    assert_eq!(run["owner"], "local", "it was stored before there were owners");
    let listed = get(&server, "/api/runs").await;
    assert!(listed["runs"].as_array().unwrap().iter().all(|run| run["owner"] == "local"), "{listed}");
    let outputs: Vec<&Value> = run["tasks"].as_array().unwrap().iter().map(|task| &task["output"]).collect();
    assert!(outputs[0].as_str().unwrap().starts_with("# Bees\n"), "{outputs:?}");
    assert_eq!(outputs[1], "Closed today.", "the reviewer's words stand for the model's");
    assert_eq!(run["metrics"]["totalTokens"], 426, "{run}");
    let events = get(&server, &format!("/api/runs/{ENDED}/events")).await;
    let types: Vec<&str> =
        events["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types.len(), 18, "one frame for each of its events: {types:?}");
    assert_eq!(types.last(), Some(&"ensemble_completed"), "{types:?}");
}

#[tokio::test]
async fn a_run_that_waited_for_a_review_is_decided_and_ends() {
    let server = served();
    let reviews = get(&server, "/api/reviews").await;
    let open: Vec<&Value> = reviews["reviews"].as_array().unwrap().iter().map(|review| &review["reviewId"]).collect();
    assert_eq!(open, [&json!(format!("{WAITING}-review-0"))]);
    post(&server, &format!("/api/reviews/{WAITING}-review-0"), json!({ "decision": "CONTINUE" })).await;
    let (status, said, words) = server.consort(&["runs", "watch", WAITING]);
    assert_eq!(status, Some(0), "{said}{words}");
    let run = get(&server, &format!("/api/runs/{WAITING}")).await;
    assert_eq!(run["status"], "COMPLETED", "{run}");
    assert!(run["tasks"][1]["output"].as_str().unwrap().starts_with("# Program about tea\n"), "{run}");
}

#[tokio::test]
async fn a_thread_has_its_messages_and_the_calls_of_its_subtasks() {
    let server = served();
    let messages = format!("/api/threads/{THREAD}/messages");
    let rows = get(&server, &messages).await;
    let rows = rows["messages"].as_array().unwrap();
    let roles: Vec<&str> = rows.iter().map(|row| row["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant"]);
    assert_eq!(rows[0]["content"], "Please do both: 1) what is 42 * 17? 2) write about bees");
    assert!(rows[4]["content"].as_str().unwrap().contains("42 * 17 = **714**"), "{}", rows[4]);
    let tree = rows[4]["execution_tree"].to_string();
    assert!(tree.contains("run_subtask") && tree.contains("calculator"), "the calls of the subtasks are kept: {tree}");
}

#[tokio::test]
async fn a_collection_is_searched_and_a_workflow_is_read() {
    let server = served();
    let found = get(&server, "/api/collections/notes/search?q=hives").await;
    assert_eq!(found["results"][0]["title"], "Bees", "{found}");
    let workflow = get(&server, &format!("/api/workflows/{WORKFLOW}")).await;
    assert_eq!((&workflow["name"], &workflow["version"]), (&json!("Report"), &json!(1)), "{workflow}");
    assert_eq!(workflow["tasks"][0]["description"], "Write about {topic}", "{workflow}");
}
