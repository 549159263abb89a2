//! The nodes that a server tells of; without a database it is the only one.

use serde_json::{Value, json};

use crate::binary::run;
use crate::requests::client;
use crate::served::Served;

const MODEL: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'demo'\n";

async fn get(server: &Served, path: &str) -> Value {
    client()
        .get(format!("{}{path}", server.url))
        .header("accept", "application/json")
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_server_without_a_database_is_the_only_node_and_runs_say_its_name() {
    let server = Served::start(Some(&format!("{MODEL}[cluster]\nname = 'kitchen'\n")));
    let nodes = get(&server, "/api/cluster").await;
    let version = env!("CARGO_PKG_VERSION");
    let expected = json!({ "name": "kitchen", "address": server.url, "version": version, "leaseUntil": null,
        "draining": false, "runs": 0 });
    assert_eq!(nodes, json!({ "nodes": [expected] }));
    assert_eq!(get(&server, "/api/status").await["links"], "all");
    let body = json!({ "tasks": [{ "name": "a", "description": "Write" }] });
    let request = client().post(format!("{}/api/runs", server.url)).header("prefer", "wait=60").json(&body);
    let done: Value = request.send().await.unwrap().json().await.unwrap();
    let events = get(&server, &format!("/api/runs/{}/events", done["runId"].as_str().unwrap())).await;
    let adopted = events["events"].as_array().unwrap().iter().find(|event| event["type"] == "run_adopted").unwrap();
    assert_eq!(
        (&adopted["node"], &adopted["reason"], &adopted["epoch"]),
        (&json!("kitchen"), &json!("begun"), &json!(1))
    );
}

#[test]
fn a_database_without_a_secret_is_a_mistake_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("{MODEL}[cluster]\nurl = 'postgres://db/consort'\n");
    std::fs::write(folder.path().join("consort.toml"), config).unwrap();
    for args in [["check"].as_slice(), &["serve", "--port", "0"]] {
        let (status, _, said) = run(folder.path(), args);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("cluster.secret: is required"), "{said}");
    }
}

#[test]
fn a_command_that_would_work_by_itself_is_told_to_use_a_server_that_shares_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "{MODEL}[cluster]\nurl = 'postgres://nobody:hidden@127.0.0.1:1/consort'\nsecret = 's'\n\
        [ensemble]\nname = 'e'\n[[ensemble.task]]\nname = 'a'\ndescription = 'Write'\n"
    );
    std::fs::write(folder.path().join("consort.toml"), config).unwrap();
    for args in [["run"].as_slice(), &["chat", "hello"]] {
        let (status, _, said) = run(folder.path(), args);
        assert_eq!(status, Some(2), "{args:?}: {said}");
        assert!(said.contains("--url") && said.contains("consort serve") && !said.contains("hidden"), "{said}");
    }
    assert!(!folder.path().join("consort-data").exists(), "nothing is kept beside the database");
}
