//! The files agents work on: that they change, and what people see of them.

use std::path::Path;
use std::sync::Arc;

use consort_chat::{Chats, Settings};
use consort_core::draft::Draft;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_server::access::Reach;
use consort_tools::{Workspace, WriteFile};
use serde_json::{Value, json};

use crate::client::{Here, engine_with, server, start, task};

async fn here(folder: &Path, reach: Reach) -> Here {
    let workspace = Workspace::open(folder).unwrap();
    let model = ScriptedModel::new().calls("1.0", "write_file", &json!({ "path": "n/a.md", "content": "one\ntwo\n" }));
    let model = model.otherwise(Line::new().says("done"));
    let engine = engine_with(Arc::default(), model, WriteFile::new(&workspace), Capacity::UNLIMITED);
    let mut server = server(engine, vec![Draft { tools: vec!["write_file".to_owned()], ..task("a") }]);
    let settings = Settings { workspace: Some(workspace), ..server.chats.settings().clone() };
    (server.chats, server.access.reach) = (Chats::new(server.engine.clone(), settings), reach);
    start(server).await
}

#[tokio::test]
async fn a_changed_file_is_an_event_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let here = here(folder.path(), Reach::Loopback).await;
    let run = here.post_with("/api/runs", "Prefer: wait=30", json!({ "inputs": { "topic": "x" } })).await.json();
    let head = format!(
        "GET /api/runs/{}/events?limit=100 HTTP/1.1\r\nHost: localhost\r\nAccept: application/json",
        run["runId"].as_str().unwrap()
    );
    let events = here.send(&head, b"").await.json();
    let events = events["events"].as_array().unwrap();
    let at = events.iter().position(|frame| frame["type"] == "file_changed").unwrap();
    let called = &events[at - 1];
    let changed = &events[at];
    assert_eq!((&called["type"], &called["toolName"]), (&json!("tool_called"), &json!("write_file")));
    assert_eq!((&changed["filePath"], &changed["changeType"]), (&json!("n/a.md"), &json!("CREATED")));
    assert_eq!((&changed["linesAdded"], &changed["linesRemoved"]), (&json!(2), &json!(0)));
    assert_eq!((&changed["agentRole"], &changed["timestamp"]), (&called["agentRole"], &changed["at"]));
    assert_eq!(here.get("/api/workspace/file?path=n/a.md").await.body, "one\ntwo\n");
}

#[tokio::test]
async fn people_see_the_workspace_and_nothing_beside_it() {
    let world = tempfile::tempdir().unwrap();
    let root = world.path().join("workspace");
    std::fs::create_dir_all(root.join("notes")).unwrap();
    std::fs::write(world.path().join("secret"), "x").unwrap();
    std::fs::write(root.join("plan.md"), "ä plan").unwrap();
    std::fs::write(root.join("picture"), [0xff, 0xfe]).unwrap();
    std::fs::write(root.join("huge"), vec![b'x'; 1_048_577]).unwrap();
    std::os::unix::fs::symlink("../secret", root.join("link")).unwrap();
    std::os::unix::fs::symlink("round", root.join("round")).unwrap();
    let here = here(&root, Reach::Loopback).await;
    let mut listed = here.get("/api/workspace/files").await.json();
    let rows = listed.as_array_mut().unwrap();
    rows.sort_by_key(|row| row["name"].to_string());
    let kinds: Vec<(&Value, &Value)> = rows.iter().map(|row| (&row["name"], &row["type"])).collect();
    let expected = ["huge", "link", "notes", "picture", "plan.md", "round"].map(|name| json!(name));
    assert_eq!(kinds.iter().map(|(name, _)| (*name).clone()).collect::<Vec<_>>(), expected);
    assert_eq!((kinds[2].1, &rows[4]["size"]), (&json!("directory"), &json!(7)));
    assert!(rows[4]["lastModified"].is_string() && rows[1].get("size").is_none(), "what cannot be seen has no size");
    assert_eq!(here.get("/api/workspace/files?path=notes").await.json(), json!([]));
    let plan = here.get("/api/workspace/file?path=plan.md").await;
    assert_eq!((plan.header("content-type"), plan.body.as_str()), (Some("text/plain; charset=utf-8"), "ä plan"));

    let cases = [
        ("files?path=nowhere", 404, "NOT_FOUND"),
        ("files?path=plan.md", 404, "NOT_FOUND"),
        ("file?path=notes", 404, "NOT_FOUND"),
        ("file?path=nowhere.md", 404, "NOT_FOUND"),
        ("file", 400, "BAD_REQUEST"),
        ("file?path=picture", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("file?path=huge", 413, "PAYLOAD_TOO_LARGE"),
        ("file?path=link", 403, "FORBIDDEN"),
        ("file?path=round", 404, "NOT_FOUND"),
        ("files?path=round/notes", 404, "NOT_FOUND"),
        ("file?path=../secret", 403, "FORBIDDEN"),
        ("file?path=../nowhere", 403, "FORBIDDEN"),
        ("files?path=..", 403, "FORBIDDEN"),
        ("file?path=/etc/passwd", 403, "FORBIDDEN"),
        ("file?path=notes%2F..%2F..%2Fsecret", 403, "FORBIDDEN"),
        ("file?path=%252e%252e/secret", 403, "FORBIDDEN"),
    ];
    for (path, status, code) in cases {
        let answer = here.get(&format!("/api/workspace/{path}")).await;
        assert_eq!(answer.problem(), (status, code.to_owned()), "{path}");
    }
}

#[tokio::test]
async fn the_workspace_is_only_for_this_machine_and_only_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let open = here(folder.path(), Reach::Network).await;
    assert_eq!(open.get("/api/workspace/files").await.problem(), (403, "FORBIDDEN".to_owned()));
    let without = crate::talking().await;
    assert_eq!(without.get("/api/workspace/files").await.problem(), (404, "NOT_CONFIGURED".to_owned()));
}
