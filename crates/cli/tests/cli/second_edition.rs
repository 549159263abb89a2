//! A store as the second edition wrote it: records of version 2. The file stays as it
//! is, so that every later version is tried on it.

use serde_json::json;

use crate::binary::run;
use crate::requests::{client, copy_of, get};
use crate::served::Served;

const STORE: &str = "tests/cli/stores/second-edition.db";

fn served() -> Served {
    Served::start_in(copy_of(STORE))
}

#[tokio::test]
async fn an_ended_run_has_its_outputs_and_its_history() {
    let server = served();
    let ended = get(&server, "/api/runs?status=COMPLETED").await;
    assert_eq!((&ended["total"], &ended["runs"][0]["tags"]["team"]), (&json!(1), &json!("green")), "{ended}");
    let id = ended["runs"][0]["runId"].as_str().unwrap();
    let run = get(&server, &format!("/api/runs/{id}")).await;
    assert!(run["output"].as_str().unwrap().contains("bees"), "{run}");
    let events = get(&server, &format!("/api/runs/{id}/events")).await;
    let last = events["events"].as_array().unwrap().last().unwrap();
    assert_eq!(last["type"], "ensemble_completed", "{events}");
}

#[tokio::test]
async fn a_waiting_run_is_decided_and_ends() {
    let server = served();
    let reviews = get(&server, "/api/reviews").await;
    let review = reviews["reviews"][0]["reviewId"].as_str().unwrap();
    let id = reviews["reviews"][0]["runId"].clone();
    let path = format!("{}/api/reviews/{review}", server.url);
    let decided = client().post(path).json(&json!({ "decision": "CONTINUE" })).send().await.unwrap();
    assert!(decided.status().is_success(), "{decided:?}");
    let (status, said, words) = server.consort(&["runs", "watch", id.as_str().unwrap()]);
    assert_eq!(status, Some(0), "{said}{words}");
}

#[tokio::test]
async fn a_thread_a_collection_and_a_workflow_are_there_and_all_of_it_is_sound() {
    let server = served();
    let threads = get(&server, "/api/threads").await;
    let thread = threads["threads"][0]["id"].as_str().unwrap();
    let rows = get(&server, &format!("/api/threads/{thread}/messages")).await;
    let rows = rows["messages"].as_array().unwrap();
    assert_eq!((&rows[0]["role"], &rows[0]["content"]), (&json!("user"), &json!("what is 42 * 17?")), "{rows:?}");
    assert!(rows.last().unwrap()["content"].as_str().unwrap().contains("714"), "{rows:?}");
    let found = get(&server, "/api/collections/notes/search?q=hives").await;
    assert_eq!(found["results"][0]["title"], "Bees", "{found}");
    let workflows = get(&server, "/api/workflows").await;
    assert_eq!(workflows["workflows"][0]["name"], "Report", "{workflows}");
    let (status, said, words) = run(server.folder.path(), &["store", "check"]);
    assert_eq!(status, Some(0), "{said}{words}");
}
