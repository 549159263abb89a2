//! Conversations over a socket.

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{EffectClass, ModelInfo, Permission};
use consort_core::message::{Message, Stop};
use consort_log::MemoryLog;
use consort_models::{Line, ModelCatalog, ScriptedModel, What};
use consort_runtime::admission::Capacity;
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_tools::{ScriptedTool, Toolbox};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::kinds;
use crate::client::{Here, engine, server, start};

fn message(content: &str) -> Value {
    json!({ "type": "chat_message", "request_id": "q", "content": content })
}

async fn serving(model: &ScriptedModel) -> Here {
    start(server(engine(model.clone(), Capacity::UNLIMITED), Vec::new())).await
}

/// Starts the same server with a tool that pays, once.
async fn paying(model: &ScriptedModel, pay: &ScriptedTool) -> Here {
    let models = ModelCatalog::default().with(ModelInfo::new("main", "scripted"), model.clone()).unwrap();
    let tools = Toolbox::default().with(pay.clone()).unwrap();
    let seams = Seams::new(Arc::new(MemoryLog::default()), models, tools);
    let seams = Seams { cancel_grace: Duration::ZERO, ..seams };
    start(server(Engine::new(seams), Vec::new())).await
}

fn numbers(frames: &[Value]) -> Vec<u64> {
    let stored = frames.iter().filter(|frame| frame["type"] != "chunk" || frame["done"] == true);
    stored.filter_map(|frame| frame["chat_seq"].as_u64()).collect()
}

/// Reads a turn to its end.
async fn turn(socket: &mut crate::client::Socket) -> Vec<Value> {
    let mut frames = Vec::new();
    loop {
        frames.push(socket.frame().await);
        if frames.last().is_some_and(|frame| frame["done"] == true) {
            return frames;
        }
    }
}

#[tokio::test]
async fn the_ack_comes_first_then_the_turn_and_only_those_who_take_part_are_told() {
    let here = serving(&ScriptedModel::new().otherwise(Line::new().says("hi "))).await;
    let (mut socket, _) = here.greeted().await;
    let (mut other, _) = here.greeted().await;
    let ack = socket.ask(message("hello")).await;
    let thread = &ack["thread_id"];
    let id = &ack["turn_id"];
    assert_eq!(ack, json!({ "type": "chat_ack", "request_id": "q", "thread_id": thread, "turn_id": id, "seq": 0 }));
    let frames = turn(&mut socket).await;
    assert_eq!(numbers(&frames), (0..numbers(&frames).len() as u64).collect::<Vec<_>>());
    assert!(frames.iter().all(|frame| frame["thread_id"] == *thread && frame["turn_id"] == *id));
    assert_eq!(kinds(&other.drained().await), [] as [&str; 0]);
    let unknown =
        socket.ask(json!({ "type": "chat_message", "request_id": "x", "thread_id": "no", "content": "hi" })).await;
    assert_eq!((&unknown["code"], &unknown["request_id"]), (&json!("THREAD_NOT_FOUND"), &json!("x")));
    let wrong = socket.ask(json!({ "type": "chat_message", "content": "hi", "model": "nope" })).await;
    assert_eq!(wrong["code"], "INVALID_MODEL");
    let threads = here.get("/api/threads").await.json();
    assert_eq!(threads["total"], 1, "what cannot be answered leaves nothing behind");
}

#[tokio::test]
async fn an_answer_that_was_cut_is_gone_on_with_over_the_socket() {
    let model = ScriptedModel::new()
        .when(|ask| ask.messages.len() < 3, Line::new().says("half ").stops(Stop::Length))
        .otherwise(Line::new().says("whole"));
    let here = serving(&model).await;
    let (mut socket, _) = here.greeted().await;
    let ack = socket.ask(message("hello")).await;
    let first = turn(&mut socket).await;
    let cut = first.iter().rfind(|frame| frame["type"] == "message").unwrap();
    assert_eq!((&cut["content"], &cut["truncated"]), (&json!("half "), &json!(true)));
    let going = json!({ "type": "chat_continue", "request_id": "c", "thread_id": ack["thread_id"] });
    let again = socket.ask(going.clone()).await;
    assert_eq!((&again["type"], &again["request_id"]), (&json!("chat_ack"), &json!("c")));
    let rest = turn(&mut socket).await;
    let row = rest.iter().rfind(|frame| frame["type"] == "message").unwrap();
    assert_eq!((&row["content"], &row["continues"]), (&json!("whole"), &cut["id"]));
    assert_eq!(socket.ask(going).await["code"], "NOTHING_TO_CONTINUE");
    assert_eq!(socket.ask(json!({ "type": "chat_continue" })).await["code"], "BAD_REQUEST");
}

#[tokio::test]
async fn who_comes_back_gets_what_was_missed_and_the_words_so_far_then_the_rest() {
    let go = Arc::new(Notify::new());
    let model = ScriptedModel::new().otherwise(Line::new().says("one two ").waits(&go).says("three"));
    let here = serving(&model).await;
    let (mut first, _) = here.greeted().await;
    let thread = first.ask(message("count")).await["thread_id"].clone();
    let mut seen = Vec::new();
    while !seen.iter().any(|frame: &Value| frame["type"] == "chunk") {
        seen.push(first.frame().await);
    }
    let (mut again, _) = here.greeted().await;
    let resumed = again.ask(json!({ "type": "chat_subscribe", "thread_id": thread, "last_seq": 1 })).await;
    assert_eq!((&resumed["type"], &resumed["status"]), (&json!("chat_resumed"), &json!("running")));
    let mut missed = Vec::new();
    while !missed.iter().any(|frame: &Value| frame["type"] == "chunk") {
        missed.push(again.frame().await);
    }
    let so_far = missed.last().unwrap();
    assert_eq!((&so_far["content"], &so_far["offset"]), (&json!("one two "), &json!(0)));
    let turns = again.ask(json!({ "type": "chat_turns" })).await;
    assert_eq!(turns["turns"][0]["thread_id"], thread);
    go.notify_one();
    missed.extend(turn(&mut again).await);
    let stored = numbers(&missed);
    assert_eq!(stored, (2..2 + stored.len() as u64).collect::<Vec<_>>(), "no gap, no repeat");
    let words: String =
        missed.iter().filter(|frame| frame["type"] == "chunk").filter_map(|frame| frame["content"].as_str()).collect();
    assert_eq!(words, "one two three");
}

#[tokio::test]
async fn who_claims_to_have_more_than_there_is_hears_what_comes_next() {
    let here = serving(&ScriptedModel::new().otherwise(Line::new().says("hi"))).await;
    let (mut first, _) = here.greeted().await;
    let thread = first.ask(message("one")).await["thread_id"].clone();
    let last = *numbers(&turn(&mut first).await).last().unwrap();
    let (mut again, _) = here.greeted().await;
    let resumed = again.ask(json!({ "type": "chat_subscribe", "thread_id": thread, "last_seq": last + 50 })).await;
    assert_eq!((&resumed["status"], &resumed["last_seq"]), (&json!("finished"), &json!(last)));
    let path = format!("/api/threads/{}/messages", thread.as_str().unwrap());
    here.post(&path, json!({ "content": "two" })).await;
    assert_eq!(numbers(&turn(&mut again).await).first(), Some(&(last + 1)));
}

#[tokio::test]
async fn a_call_with_an_effect_is_made_once_it_is_allowed_and_with_exactly_these_arguments() {
    let pay = ScriptedTool::new("pay")
        .effect(EffectClass::Once)
        .with_info(|info| info.permission = Permission::Network)
        .answers("paid");
    let model = ScriptedModel::new().calls("1.0", "pay", &json!({ "input": "5 EUR" })).says("1.1", "done");
    let here = paying(&model, &pay).await;
    let (mut socket, _) = here.greeted().await;
    let mut asked = message("pay 5");
    asked["permission_mode"] = json!("default");
    socket.ask(asked).await;
    let request = socket.first("tool_approval_request").await;
    assert_eq!((&request["tool_name"], &request["args"]), (&json!("pay"), &json!({ "input": "5 EUR" })));
    assert!(pay.ledger().is_empty());
    let listed = here.get("/api/approvals").await.json();
    assert_eq!((&listed["total"], &listed["approvals"][0]["approval_id"]), (&json!(1), &request["approval_id"]));
    let answer =
        json!({ "type": "tool_approval_response", "approval_id": request["approval_id"], "decision": "allow" });
    socket.say(answer.clone()).await;
    let frames = turn(&mut socket).await;
    assert!(kinds(&frames).contains(&"tool_approval_resolved"), "{:?}", kinds(&frames));
    assert_eq!(pay.args(), [json!({ "input": "5 EUR" })]);
    let summary = frames.iter().find(|frame| frame["type"] == "cost_summary").unwrap();
    let unknown = [&summary["tokens_unknown"], &summary["by_model"][0]["tokens_unknown"]];
    assert_eq!(unknown, [&json!(true); 2], "the model reports none: {summary}");
    assert_eq!(socket.ask(answer).await["code"], "APPROVAL_RESOLVED");
    // The turn has ended, and still knows who answered, how and when.
    let path = format!("/api/approvals/{}", request["approval_id"].as_str().unwrap());
    let late = here.post(&path, json!({ "decision": "deny" })).await.json();
    assert_eq!((&late["decision"], &late["decidedBy"]), (&json!("allow"), &json!("local")), "{late}");
    let told = format!("answered: allow by local at {}", late["decidedAt"].as_str().unwrap());
    assert!(late["message"].as_str().unwrap().ends_with(&told), "{late}");
    let path = path.trim_end_matches(char::is_numeric);
    let unknown = here.post(&format!("{path}99"), json!({ "decision": "deny" })).await;
    assert_eq!(unknown.problem(), (404, "APPROVAL_NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_tool_of_the_client_is_offered_in_the_editor_asked_for_and_answered() {
    let model = ScriptedModel::new().calls("1.0", "ui_add_node", &json!({ "label": "A" })).says("1.1", "added");
    let here = serving(&model).await;
    let (mut socket, _) = here.greeted().await;
    let tools = json!([{ "name": "ui_add_node", "description": "adds", "parameters": { "type": "object" } }]);
    let ack = socket.ask(json!({ "type": "ui_manifest", "tools": tools })).await;
    assert_eq!(ack["tools"], json!(["ui_add_node"]));
    let mut asked = message("add a node");
    asked["chat_context"] = json!({ "kind": "editor", "workflowId": "w" });
    socket.ask(asked).await;
    let call = socket.first("tool_call").await;
    assert_eq!((&call["name"], &call["args"]), (&json!("ui_add_node"), &json!({ "label": "A" })));
    socket.say(json!({ "type": "tool_result", "tool_call_id": call["tool_call_id"], "result": { "id": "n1" } })).await;
    turn(&mut socket).await;
    let sent = model.sent("1.1").unwrap();
    let results: Vec<String> = sent
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Tool { text, .. } => Some(text.to_string()),
            Message::System { .. } | Message::User { .. } | Message::Files { .. } | Message::Assistant(_) => None,
        })
        .collect();
    assert_eq!(results, [r#"{"id":"n1"}"#]);
    let stale = socket.ask(json!({ "type": "tool_result", "tool_call_id": "gone", "result": "x" })).await;
    assert_eq!(stale["type"], "error");
}

#[tokio::test]
async fn a_busy_thread_names_its_turn_as_frames_of_a_chat_do() {
    let model = ScriptedModel::new().otherwise(Line::new().says("x").hangs());
    let here = serving(&model).await;
    let (mut socket, _) = here.greeted().await;
    let ack = socket.ask(message("one")).await;
    model.until(What::Asked, "1.0").await;
    let mut second = message("two");
    second["thread_id"] = ack["thread_id"].clone();
    second["if_busy"] = json!("reject");
    socket.say(second).await;
    let busy = socket.first("error").await;
    assert_eq!((&busy["code"], &busy["turn_id"]), (&json!("THREAD_BUSY"), &ack["turn_id"]), "{busy}");
}

#[tokio::test]
async fn a_turn_stops_when_told_or_when_its_last_client_has_been_gone_for_a_while() {
    let model = ScriptedModel::new().otherwise(Line::new().says("x").hangs());
    let here = serving(&model).await;
    let (mut socket, _) = here.greeted().await;
    let thread = socket.ask(message("one")).await["thread_id"].clone();
    model.until(What::Asked, "1.0").await;
    socket.say(json!({ "type": "chat_stop", "thread_id": thread })).await;
    let frames = turn(&mut socket).await;
    assert!(kinds(&frames).contains(&"chat_stopped"), "{:?}", kinds(&frames));
    socket.ask(message("two")).await;
    drop(socket);
    model.until(What::Dropped, "1.0").await;
    loop {
        let running =
            |threads: &Value| threads["threads"].as_array().unwrap().iter().any(|thread| thread["running"] == true);
        if !running(&here.get("/api/threads").await.json()) {
            return;
        }
    }
}
