//! Workflows through real sockets: saved, run, built in a chat and answering
//! in one; and tools of the client, which is asked and may be away.

use std::sync::Arc;

use consort_chat::{Error, Start};
use consort_core::chat::{UserMessage, manifest};
use consort_log::MemoryLog;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_server::Server;
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::client::{Answer, Here, engine, engine_over, server, start};

async fn here(model: ScriptedModel) -> Here {
    start(server(engine(model, Capacity::UNLIMITED), Vec::new())).await
}

fn says(text: &str) -> ScriptedModel {
    ScriptedModel::new().otherwise(Line::new().says(text))
}

fn report() -> Value {
    json!({ "name": "report", "tasks": [
        { "name": "read", "description": "Read about {message}", "tools": ["calculator"], "position": { "x": 10, "y": 20 } },
        { "name": "write", "description": "Write it up", "context": ["$read"] }] })
}

async fn put(here: &Here, path: &str, header: &str, body: &Value) -> Answer {
    let head = format!("PUT {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{header}");
    here.send(&head, body.to_string().as_bytes()).await
}

async fn delete(here: &Here, path: &str, header: &str) -> Answer {
    here.send(&format!("DELETE {path} HTTP/1.1\r\nHost: localhost\r\n{header}"), b"").await
}

/// Saves a workflow; returns its path and its id.
async fn saved(here: &Here) -> (String, String) {
    let answer = here.post_with("/api/workflows", "Idempotency-Key: w", report()).await;
    assert_eq!((answer.status, answer.header("etag")), (201, Some("\"1\"")), "{answer:?}");
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(answer.header("location"), Some(format!("/api/workflows/{id}").as_str()));
    (format!("/api/workflows/{id}"), id)
}

#[tokio::test]
async fn who_waits_for_a_workflow_that_goes_away_meanwhile_is_told() {
    let go = Arc::new(Notify::new());
    let here = here(ScriptedModel::new().otherwise(Line::new().waits(&go).says("done"))).await;
    let (path, id) = saved(&here).await;
    let thread = here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    let messages = format!("/api/threads/{thread}/messages");
    here.post(&messages, json!({ "content": "slow" })).await;
    let (mut socket, _) = here.greeted().await;
    socket.ask(json!({ "type": "chat_subscribe", "thread_id": thread })).await;
    let message = json!({ "content": "report", "if_busy": "queue", "workflow_target": "workflow", "workflow_id": id });
    let waits = here.post_with(&messages, "Accept: text/event-stream", message);
    let goes = async {
        while here.get(&format!("/api/threads/{thread}")).await.json()["queued"] == 0 {}
        assert_eq!(delete(&here, &path, "X-Test: 1").await.status, 204);
        go.notify_one();
    };
    let (streamed, ()) = tokio::join!(waits, goes);
    let told = socket.first("error").await;
    assert_eq!((&told["code"], &told["thread_id"]), (&json!("BAD_REQUEST"), &json!(thread)));
    assert!(told["message"].as_str().unwrap().contains(&id), "{told}");
    assert_eq!(streamed.body.trim(), format!("event: error\ndata: {told}"));
    let view = here.get(&format!("/api/threads/{thread}")).await.json();
    assert_eq!((&view["queued"], &view["running"]), (&json!(0), &json!(false)));
}

#[tokio::test]
async fn a_workflow_is_saved_version_by_version_and_nobody_overwrites_what_they_have_not_seen() {
    let here = here(says("done")).await;
    let (path, id) = saved(&here).await;
    let shown = here.get(&path).await;
    assert_eq!((shown.header("etag"), &shown.json()["tasks"]), (Some("\"1\""), &report()["tasks"]));

    let mut changed = shown.json();
    changed["name"] = "better report".into();
    assert_eq!(put(&here, &path, "X-Test: 1", &changed).await.problem(), (428, "PRECONDITION_REQUIRED".to_owned()));
    let second = put(&here, &path, "If-Match: \"1\"", &changed).await;
    assert_eq!((second.status, second.header("etag")), (200, Some("\"2\"")), "{second:?}");
    assert_eq!(second.json().get("warnings"), None, "what was shown may be sent back");
    for stale in ["\"1\"", "2", "nonsense"] {
        let refused = put(&here, &path, &format!("If-Match: {stale}"), &changed).await;
        assert_eq!(refused.problem(), (412, "PRECONDITION_FAILED".to_owned()));
        assert_eq!(refused.json()["version"], 2, "it says which version there is");
    }
    assert_eq!(put(&here, &path, "If-Match: *", &changed).await.json()["version"], 3);

    let history = here.get(&format!("{path}/history?limit=2")).await.json();
    assert_eq!((&history["total"], &history["versions"][0]["version"]), (&json!(3), &json!(3)));
    assert_eq!(history["versions"].as_array().unwrap().len(), 2);
    let first = here.get(&format!("{path}/versions/1")).await;
    assert_eq!((first.header("etag"), &first.json()["name"]), (Some("\"1\""), &json!("report")));
    for (version, status) in [("4", 404), ("0", 404), ("x", 400)] {
        assert_eq!(here.get(&format!("{path}/versions/{version}")).await.problem().0, status);
    }
    let list = here.get("/api/workflows").await.json();
    assert_eq!(
        (&list["total"], &list["workflows"][0]["id"], &list["workflows"][0]["tasks"]),
        (&json!(1), &json!(id), &json!(2))
    );

    assert_eq!(delete(&here, &path, "If-Match: \"1\"").await.problem().0, 412);
    assert_eq!(delete(&here, &path, "X-Test: 1").await.status, 204);
    assert_eq!(here.get(&path).await.problem(), (404, "WORKFLOW_NOT_FOUND".to_owned()));
    assert_eq!(put(&here, &path, "If-Match: \"3\"", &changed).await.problem().0, 404);
}

#[tokio::test]
async fn of_many_who_save_at_once_one_wins() {
    let here = here(says("done")).await;
    let (path, _) = saved(&here).await;
    let body = report();
    let all = (0..8).map(|_| put(&here, &path, "If-Match: \"1\"", &body));
    let answers = futures::future::join_all(all).await;
    let count = |status| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(200), count(412)), (1, 7), "{answers:?}");
    assert_eq!(here.get(&path).await.json()["version"], 2);
}

#[tokio::test]
async fn what_is_wrong_with_a_workflow_is_told_with_its_place() {
    let here = here(says("done")).await;
    let with = |more: Value| json!({ "name": "w", "tasks": [{ "name": "a", "description": "x", "tools": more["tools"], "model": more["model"], "context": more["context"], "position": more["position"] }] });
    let cases = [
        (json!({ "tasks": [] }), "BAD_REQUEST", "name"),
        (with(json!({ "tools": ["fly"] })), "INVALID_TOOL", "tasks[0].tools[0]"),
        (with(json!({ "model": "huge" })), "INVALID_MODEL", "tasks[0].model"),
        (with(json!({ "context": ["$a"] })), "CIRCULAR_DEPENDENCY", "tasks[0].context"),
        (with(json!({ "position": 3 })), "BAD_REQUEST", "tasks[0].position"),
    ];
    for (body, code, place) in cases {
        let answer = here.post("/api/workflows", body).await;
        assert_eq!(answer.problem(), (400, code.to_owned()), "{answer:?}");
        assert_eq!(answer.json()["mistakes"][0]["place"], place);
    }
    assert_eq!(here.get("/api/workflows").await.json()["total"], 0);
    assert_eq!(here.post("/api/workflows/nothing/runs", json!({})).await.problem().0, 404);
}

#[tokio::test]
async fn a_workflow_is_run_with_inputs_and_its_run_says_which_version_it_was() {
    let here = here(says("done")).await;
    let (path, id) = saved(&here).await;
    let runs = format!("{path}/runs");
    assert_eq!(here.post(&runs, json!({})).await.problem(), (400, "MISSING_INPUT".to_owned()));
    assert_eq!(here.post(&runs, json!({ "tasks": [] })).await.problem(), (400, "BAD_REQUEST".to_owned()));
    let wanted = json!({ "inputs": { "message": "bees" }, "tags": { "team": "red" } });
    let run = here.post_with(&runs, "Prefer: wait=30", wanted.clone()).await;
    let json = run.json();
    assert_eq!(
        (run.status, &json["status"], &json["workflow"]),
        (200, &json!("COMPLETED"), &json!("PARALLEL")),
        "{run:?}"
    );
    assert_eq!(json["tags"], json!({ "team": "red", "workflow": id, "workflowVersion": "1" }));
    assert_eq!(here.get(&format!("/api/runs?tag=workflow:{id}")).await.json()["total"], 1);
    let dry = here.post(&runs, json!({ "inputs": { "message": "bees" }, "dryRun": true })).await.json();
    assert_eq!(dry["tasks"][0]["description"], "Read about bees");
}

async fn thread(here: &Here) -> String {
    here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned()
}

/// Sends a message; returns all frames of its turn.
async fn turn(here: &Here, thread: &str, message: Value) -> Vec<Value> {
    let path = format!("/api/threads/{thread}/messages");
    let answer = here.post_with(&path, "Accept: text/event-stream", message).await;
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data:"));
    data.map(|data| serde_json::from_str(data.trim()).unwrap()).collect()
}

fn of_kind<'a>(frames: &'a [Value], kind: &str) -> Vec<&'a Value> {
    frames.iter().filter(|frame| frame["type"] == kind).collect()
}

#[tokio::test]
async fn a_chat_in_the_editor_builds_a_workflow_the_client_can_save() {
    let graph = json!({ "name": "w", "description": "Counts", "tasks": [{ "name": "count", "description": "Count", "tools": ["calculator"] }] });
    let broken = json!({ "name": "w", "description": "Counts", "tasks": [{ "name": "count", "description": "Count", "tools": ["abacus"] }] });
    let model = ScriptedModel::new()
        .calls("1.0", "build_workflow", &json!({ "objective": "count" }))
        .calls("1.0.0.0", "finish_subtask", &broken)
        .calls("1.0.0.1", "finish_subtask", &graph)
        .says("1.1", "built");
    let here = here(model).await;
    let thread = thread(&here).await;
    let frames = turn(&here, &thread, json!({ "content": "build", "chat_context": { "kind": "editor" } })).await;
    let call = &of_kind(&frames, "tool_call_update")[0]["tool_call_id"];
    let planning = of_kind(&frames, "planning_update");
    let statuses: Vec<&Value> = planning.iter().map(|frame| &frame["status"]).collect();
    assert_eq!(statuses, ["start", "failed", "end"], "{frames:?}");
    let planned = of_kind(&frames, "task_update");
    assert_eq!((planned.len(), &planned[0]["task"]["name"]), (1, &json!("count")));
    assert!(planning.iter().chain(&planned).all(|frame| frame["parent_id"] == *call && frame["depth"] == 1));
    let ends = of_kind(&frames, "tool_call_update");
    let end = ends.iter().find(|frame| frame["tool_call_id"] == *call && frame["status"] == "end").unwrap();
    let told: Value = serde_json::from_str(end["result"].as_str().unwrap()).unwrap();
    assert_eq!((&told["nodes"], &told["edges"], &told["summary"]), (&json!(1), &json!(0), &json!("Counts")));
    assert_eq!(here.post("/api/workflows", end["data"].clone()).await.status, 201, "the graph can be saved as it is");
    let numbers: Vec<u64> = frames.iter().filter_map(|frame| frame["chat_seq"].as_u64()).collect();
    assert!(of_kind(&frames, "cost_summary")[0]["llm_calls"] == 4 && numbers.is_sorted(), "the planner's calls count");
}

#[tokio::test]
async fn a_saved_workflow_answers_instead_of_the_model_of_the_chat() {
    let model = ScriptedModel::new().says("1.0", "notes").says("2.0", "the report");
    let here = here(model).await;
    let (_, id) = saved(&here).await;
    let thread = thread(&here).await;
    let message =
        json!({ "content": "bees", "workflow_target": "workflow", "workflow_id": id, "chat_context": "editor" });
    let frames = turn(&here, &thread, message).await;
    let steps: Vec<String> = of_kind(&frames, "task_update")
        .iter()
        .map(|frame| format!("{} {}", frame["event"].as_str().unwrap(), frame["task"]["name"].as_str().unwrap()))
        .collect();
    assert_eq!(steps, ["started read", "completed read", "started write", "completed write"]);
    assert_eq!(of_kind(&frames, "message").last().unwrap()["content"], "the report");
    let rows = here.get(&format!("/api/threads/{thread}/messages")).await.json();
    let said: Vec<&Value> = rows["messages"].as_array().unwrap().iter().map(|row| &row["content"]).collect();
    assert_eq!(said, ["bees", "the report"]);
    let path = format!("/api/threads/{thread}/messages");
    let unknown = json!({ "content": "x", "workflow_target": "workflow", "workflow_id": "gone" });
    assert_eq!(here.post(&path, unknown).await.problem(), (400, "BAD_REQUEST".to_owned()));
}

const ME: &str = "me";

/// Creates the server of a process over a log.
fn life(log: &Arc<MemoryLog>) -> Server {
    let paste = json!({ "input": "node" });
    let model = ScriptedModel::new().calls("1.0", "ui_paste", &paste).says("1.1", "pasted");
    server(engine_over(log.clone(), model, Capacity::UNLIMITED), Vec::new())
}

fn offering(tools: &Value) -> UserMessage {
    let message = json!({ "content": "paste it", "chat_context": "editor" });
    UserMessage { client_tools: manifest(tools).unwrap(), ..UserMessage::read(&message).unwrap() }
}

/// Follows the thread until a frame of this type.
async fn until(server: &Server, thread: &str, kind: &str) -> Value {
    let mut frames = server.chats.follow(ME, thread, Start::Seq(0)).await.unwrap();
    while let Some(frame) = frames.next().await {
        let frame: Value = serde_json::from_str(&frame.unwrap().text).unwrap();
        if frame["type"] == kind {
            return frame;
        }
    }
    panic!("no {kind}")
}

/// Starts a turn that waits for the client; returns the thread and the call.
async fn pasting(server: &Server) -> (String, String) {
    let thread = server.chats.create(ME, None).await.unwrap().id;
    let say = offering(&json!([{ "name": "ui_paste", "description": "pastes" }]));
    server.chats.send(ME, &thread, say).await.unwrap();
    let call = until(server, &thread, "tool_call").await;
    assert_eq!((&call["name"], &call["args"]), (&json!("ui_paste"), &json!({ "input": "node" })));
    (thread, call["tool_call_id"].as_str().unwrap().to_owned())
}

/// Returns the texts of a turn's tool row and of its answer.
async fn said(server: &Server, thread: &str) -> Vec<String> {
    until(server, thread, "cost_summary").await;
    let rows = server.chats.rows(ME, thread).await.unwrap();
    rows[0].1.iter().skip(2).map(|row| row.content.to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_of_the_client_is_answered_after_a_restart_and_only_once() {
    let log: Arc<MemoryLog> = Arc::default();
    let first = life(&log);
    let (thread, call) = pasting(&first).await;
    first.engine.stop().await;
    drop(first);
    let second = life(&log);
    assert_eq!(second.engine.recover().await.unwrap().resumed, 1);
    let other = second.chats.returned("somebody", &thread, &call, ("no".into(), false)).await;
    assert!(matches!(other, Err(Error::NotFound(_))), "{other:?}");
    second.chats.returned(ME, &thread, &call, ("it is there".into(), false)).await.unwrap();
    assert!(second.chats.returned(ME, &thread, &call, ("twice".into(), false)).await.is_err());
    assert_eq!(said(&second, &thread).await, ["it is there", "pasted"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_answers_is_given_up_and_the_thread_goes_on() {
    let server = life(&Arc::default());
    let (thread, call) = pasting(&server).await;
    let said = said(&server, &thread).await;
    assert!(said[0].starts_with("outcome unknown: the client did not answer in time"), "{said:?}");
    assert_eq!(said[1], "pasted");
    let late = server.chats.returned(ME, &thread, &call, ("late".into(), false)).await;
    assert!(matches!(late, Err(Error::Idle)), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_offers_tools_of_its_own_and_replaces_none_of_the_servers() {
    for name in ["calculator", "build_workflow", "run_subtask"] {
        assert!(manifest(&json!([{ "name": name }])).is_err(), "{name}");
    }
    let server = life(&Arc::default());
    let thread = server.chats.create(ME, None).await.unwrap().id;
    let outside = UserMessage { editor: None, ..offering(&json!([{ "name": "ui_paste" }])) };
    server.chats.send(ME, &thread, outside).await.unwrap();
    assert!(said(&server, &thread).await[0].contains("there is no tool called `ui_paste`"), "only in the editor");
}

#[tokio::test]
async fn a_task_may_be_done_by_a_saved_workflow() {
    let here = here(says("done")).await;
    let (path, id) = saved(&here).await;
    let run = |task: Value| {
        let tasks = json!([task, { "name": "last", "description": "End", "context": ["$part"] }]);
        here.post_with("/api/runs", "Prefer: wait=60", json!({ "tasks": tasks, "inputs": { "topic": "tea" } }))
    };
    let part = json!({ "name": "part", "workflow": "report", "inputs": { "message": "{topic}" } });
    let ended = run(part.clone()).await.json();
    let names: Value = ended["tasks"].as_array().unwrap().iter().map(|task| task["name"].clone()).collect();
    let expected = json!(["part/read", "part/write", "last"]);
    assert_eq!((&ended["status"], names), (&json!("COMPLETED"), expected), "{ended}");
    assert_eq!(ended["tasks"][0]["description"], "Read about tea");

    let nobody = json!({ "name": "part", "workflow": "nobody" });
    let refused = run(nobody.clone()).await;
    assert_eq!(refused.problem(), (400, "BAD_REQUEST".to_owned()));
    assert!(refused.body.contains("tasks[0].workflow: there is no saved workflow `nobody`"), "{refused:?}");
    assert_eq!(run(json!({ "name": "part", "workflow": id })).await.problem(), (400, "MISSING_INPUT".to_owned()));
    let outer = json!({ "name": "outer", "tasks": [part] });
    let outer = here.post("/api/workflows", outer).await.json()["id"].as_str().unwrap().to_owned();
    let unknown = here.post("/api/workflows", json!({ "name": "odd", "tasks": [nobody] })).await;
    assert_eq!(unknown.problem(), (400, "BAD_REQUEST".to_owned()));
    let body = json!({ "inputs": { "topic": "tea" }, "dryRun": true });
    let planned = here.post(&format!("/api/workflows/{outer}/runs"), body.clone()).await.json();
    assert_eq!(planned["tasks"][1]["name"], "part/write", "{planned}");

    here.post("/api/workflows", report()).await;
    let twice = run(json!({ "name": "part", "workflow": "report" })).await;
    assert_eq!(twice.problem(), (400, "BAD_REQUEST".to_owned()));
    assert!(twice.body.contains("2 saved workflows are called `report`"), "{twice:?}");
    assert_eq!(delete(&here, &path, "X-Test: 1").await.status, 204);
    let planned = here.post(&format!("/api/workflows/{outer}/runs"), body).await.json();
    assert_eq!(planned["tasks"][1]["name"], "part/write", "the other one has the name alone now: {planned}");
}
