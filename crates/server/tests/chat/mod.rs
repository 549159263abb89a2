//! Conversations through real sockets.

mod branch;
mod go_on;
mod memory;
mod spent;
mod taint;

use std::sync::Arc;

use consort_core::message::Message;
use consort_log::MemoryLog;
use consort_models::{Ask, Line, ScriptedModel, What};
use consort_runtime::admission::Capacity;
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify};

use crate::client::{Answer, Here, engine, engine_over, server, start};

const STREAM: &str = "Accept: text/event-stream";

async fn serving(model: &ScriptedModel) -> Here {
    start(server(engine(model.clone(), Capacity::UNLIMITED), Vec::new())).await
}

async fn thread(here: &Here) -> String {
    let answer = here.post("/api/threads", json!({})).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["id"].as_str().unwrap().to_owned()
}

async fn say(here: &Here, thread: &str, message: Value) -> Answer {
    here.post(&format!("/api/threads/{thread}/messages"), message).await
}

/// Says something and reads the turn to its end.
async fn converse(here: &Here, thread: &str, content: &str) -> Vec<Value> {
    let path = format!("/api/threads/{thread}/messages");
    frames(&here.post_with(&path, STREAM, json!({ "content": content })).await)
}

fn frames(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|text| serde_json::from_str(text).unwrap()).collect()
}

fn numbers(frames: &[Value]) -> Vec<u64> {
    let stored = frames.iter().filter(|frame| frame["type"] != "chunk" || frame["done"] == true);
    stored.map(|frame| frame["chat_seq"].as_u64().unwrap()).collect()
}

async fn messages(here: &Here, thread: &str) -> Vec<Value> {
    here.get(&format!("/api/threads/{thread}/messages")).await.json()["messages"].as_array().unwrap().clone()
}

/// Returns the thread, once no turn of it runs.
async fn quiet(here: &Here, thread: &str) -> Value {
    loop {
        let view = here.get(&format!("/api/threads/{thread}")).await.json();
        if view["running"] == false && view["queued"] == 0 {
            return view;
        }
    }
}

fn users_words(ask: &Ask) -> String {
    let word = |message: &Message| match message {
        Message::User { text } => Some(text.to_string()),
        Message::System { .. } | Message::Files { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
    };
    ask.messages.iter().rev().find_map(word).unwrap_or_default()
}

fn hears(words: &'static str) -> impl Fn(&Ask) -> bool + Send + Sync + 'static {
    move |ask| users_words(ask) == words
}

#[tokio::test]
async fn a_thread_is_made_named_after_its_first_message_renamed_found_exported_and_deleted() {
    let here = serving(&ScriptedModel::new().otherwise(Line::new().says("certainly"))).await;
    let id = thread(&here).await;
    converse(&here, &id, "Plan the\n garden party").await;
    let view = here.get(&format!("/api/threads/{id}")).await.json();
    assert_eq!((&view["title"], &view["running"]), (&json!("Plan the garden party"), &json!(false)));
    for (wanted, total) in [("GARDEN", 1), ("certainly", 1), ("volcano", 0)] {
        assert_eq!(here.get(&format!("/api/threads?q={wanted}")).await.json()["total"], total, "{wanted}");
    }
    let renamed = here
        .send(
            &format!("PATCH /api/threads/{id} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"),
            br#"{"title":"Party"}"#,
        )
        .await;
    assert_eq!(renamed.json()["title"], "Party");
    let export = here.get(&format!("/api/threads/{id}/export")).await;
    assert_eq!(export.body, "# Party\n\n**You:** Plan the\n garden party\n\n**Assistant:** certainly\n");
    let deleted = here.send(&format!("DELETE /api/threads/{id} HTTP/1.1\r\nHost: localhost"), b"").await;
    assert_eq!(deleted.status, 204);
    for path in ["", "/messages", "/events"] {
        assert_eq!(here.get(&format!("/api/threads/{id}{path}")).await.problem(), (404, "THREAD_NOT_FOUND".to_owned()));
    }
    assert_eq!(say(&here, &id, json!({ "content": "hi" })).await.problem().1, "THREAD_NOT_FOUND");
}

#[tokio::test]
async fn the_next_turn_is_sent_what_was_said_and_numbers_go_on_over_the_thread() {
    let model = ScriptedModel::new()
        .when(
            |ask| users_words(ask) == "what is 6*7?" && ask.round == 0,
            Line::new().calls("calculator", &json!({ "input": "6*7" })),
        )
        .when(hears("what is 6*7?"), Line::new().says("42"))
        .otherwise(Line::new().says("you asked for 6*7"));
    let here = serving(&model).await;
    let id = thread(&here).await;
    let first = converse(&here, &id, "what is 6*7?").await;
    let second = converse(&here, &id, "what did I ask?").await;
    let mut all = numbers(&first);
    all.extend(numbers(&second));
    assert_eq!(all, (0..all.len() as u64).collect::<Vec<_>>(), "dense over the thread");
    let roles: Vec<&str> = model.sent("1.0").unwrap().messages.iter().map(role).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
    let rows = messages(&here, &id).await;
    let roles: Vec<&str> = rows.iter().map(|row| row["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "assistant"]);
    let turn = rows[0]["turn_id"].as_str().unwrap();
    for path in ["", "/events", "/trace"] {
        assert_eq!(here.get(&format!("/api/runs/{turn}{path}")).await.problem().0, 404, "a turn is no run");
    }
    let call = &rows[1]["tool_calls"][0];
    assert_eq!(
        (&call["name"], &call["args"], &rows[2]["tool_call_id"]),
        (&json!("calculator"), &json!({ "input": "6*7" }), &call["id"])
    );
    assert_eq!(rows[3]["execution_tree"]["nodes"][0]["result_preview"], "42");
    let last = second.last().unwrap();
    assert_eq!((&last["type"], &last["done"]), (&json!("chunk"), &json!(true)));
    let streamed: String =
        first.iter().filter(|frame| frame["type"] == "chunk").filter_map(|frame| frame["content"].as_str()).collect();
    assert_eq!(streamed, "42");
}

fn role(message: &Message) -> &'static str {
    match message {
        Message::System { .. } => "system",
        Message::User { .. } => "user",
        Message::Files { .. } => "files",
        Message::Assistant(_) => "assistant",
        Message::Tool { .. } => "tool",
    }
}

#[tokio::test]
async fn a_busy_thread_refuses_queues_or_is_interrupted_and_another_is_not_touched() {
    let go = Arc::new(Notify::new());
    let model = ScriptedModel::new()
        .when(hears("slow"), Line::new().says("half ").hangs())
        .when(hears("gated"), Line::new().waits(&go).says("late"))
        .otherwise(Line::new().says("quick"));
    let here = serving(&model).await;
    let id = thread(&here).await;
    let other = thread(&here).await;
    let slow = say(&here, &id, json!({ "content": "slow" })).await;
    assert_eq!((slow.status, &slow.json()["seq"]), (202, &json!(0)));
    say(&here, &other, json!({ "content": "gated" })).await;
    assert_eq!(
        say(&here, &id, json!({ "content": "no", "if_busy": "reject" })).await.problem(),
        (409, "THREAD_BUSY".to_owned())
    );
    let queued = say(&here, &id, json!({ "content": "later", "if_busy": "queue" })).await;
    assert_eq!((queued.status, &queued.json()["queuePosition"]), (202, &json!(0)));
    assert_eq!(messages(&here, &id).await.len(), 1, "what waits is no row yet");
    model.until(What::Asked, "1.0").await;
    let newer = say(&here, &id, json!({ "content": "newer" })).await;
    assert_eq!(newer.status, 202, "{newer:?}");
    quiet(&here, &id).await;
    let rows = messages(&here, &id).await;
    let said: Vec<&str> = rows.iter().map(|row| row["content"].as_str().unwrap()).collect();
    assert_eq!(said[0], "slow");
    assert_eq!(said[2..], ["newer", "quick", "later", "quick"], "{said:?}");
    assert!(model.ledger().contains(&"dropped 1.0".to_owned()));
    assert_eq!(here.get(&format!("/api/threads/{other}")).await.json()["running"], true);
    go.notify_one();
    quiet(&here, &other).await;
}

#[tokio::test]
async fn a_stopped_turn_keeps_what_was_said_and_the_thread_can_be_used_again() {
    let model = ScriptedModel::new()
        .when(hears("go"), Line::new().says("I had begun ").hangs())
        .otherwise(Line::new().says("fine"));
    let here = serving(&model).await;
    let id = thread(&here).await;
    let stop = format!("/api/threads/{id}/stop");
    assert_eq!(here.post(&stop, json!({})).await.problem().0, 409);
    let path = format!("/api/threads/{id}/messages");
    let content = json!({ "content": "go" });
    let (watched, stopped) = tokio::join!(here.post_with(&path, STREAM, content), async {
        model.until(What::Asked, "1.0").await;
        loop {
            let answer = here.post(&stop, json!({})).await;
            if answer.status == 200 {
                return answer;
            }
        }
    });
    assert_eq!(stopped.json()["status"], "STOPPING");
    let kinds: Vec<String> = frames(&watched).iter().map(|frame| frame["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds[kinds.len() - 4..], ["turn_stopped", "message", "cost_summary", "chunk"], "{kinds:?}");
    quiet(&here, &id).await;
    assert!(model.ledger().contains(&"dropped 1.0".to_owned()), "the stream of the model is gone");
    converse(&here, &id, "again").await;
    assert_eq!(messages(&here, &id).await.last().unwrap()["content"], "fine");
}

#[tokio::test]
async fn eight_subtasks_are_asked_at_the_same_time_and_two_more_one_by_one() {
    let barrier = Arc::new(Barrier::new(8));
    let order = |n: usize| json!({ "title": format!("part {n}"), "instructions": format!("do {n}") });
    let root = (0..10).fold(Line::new(), |line, n| line.calls("run_subtask", &order(n)));
    let mut model = ScriptedModel::new().at("1.0", root).at("1.1", Line::new().says("all done"));
    for n in 0..8 {
        model = model.at(&format!("1.0.{n}.0"), Line::new().waits(&barrier).says(&format!("answer {n}")));
    }
    let model = model.says("1.0.8.0", "answer 8").says("1.0.9.0", "answer 9");
    let here = serving(&model).await;
    let id = thread(&here).await;
    let told = converse(&here, &id, "many things").await;
    assert_eq!(model.in_flight_max(), 8);
    let asked: Vec<String> =
        model.ledger().into_iter().filter(|line| line.contains("1.0.8.0") || line.contains("1.0.9.0")).collect();
    assert_eq!(asked, ["asked 1.0.8.0", "answered 1.0.8.0", "asked 1.0.9.0", "answered 1.0.9.0"]);
    let tree = messages(&here, &id).await.last().unwrap()["execution_tree"].clone();
    let titles: Vec<&str> =
        tree["nodes"].as_array().unwrap().iter().map(|node| node["title"].as_str().unwrap()).collect();
    assert_eq!(titles.len(), 10);
    assert!(
        told.iter()
            .filter(|frame| frame["type"] == "chunk" && frame["depth"] == 1)
            .all(|frame| frame["parent_id"].is_string())
    );
}

#[tokio::test]
async fn whoever_waits_in_line_with_a_stream_hears_the_turn_from_its_first_word() {
    let go = Arc::new(Notify::new());
    let model = ScriptedModel::new()
        .when(hears("slow"), Line::new().waits(&go).says("done"))
        .otherwise(Line::new().says("my turn"));
    let here = serving(&model).await;
    let id = thread(&here).await;
    let first = say(&here, &id, json!({ "content": "slow" })).await.json();
    let path = format!("/api/threads/{id}/messages");
    let waits = here.post_with(&path, STREAM, json!({ "content": "after", "if_busy": "queue" }));
    let goes = async {
        while here.get(&format!("/api/threads/{id}")).await.json()["queued"] == 0 {}
        go.notify_one();
    };
    let told = frames(&tokio::join!(waits, goes).0);
    assert!(told.iter().all(|frame| frame["turn_id"] == told[0]["turn_id"] && frame["turn_id"] != first["turnId"]));
    let stored = numbers(&told);
    let words: Vec<&Value> =
        told.iter().filter(|frame| frame["type"] == "chunk").map(|frame| &frame["content"]).collect();
    assert_eq!((words, &told.last().unwrap()["done"]), (vec![&json!("my turn"), &json!("")], &json!(true)));
    assert_eq!(stored, (stored[0]..=*stored.last().unwrap()).collect::<Vec<_>>());
    assert!(stored[0] > 0, "numbers go on after the turn before it");
}

#[tokio::test]
async fn what_a_thread_may_do_without_asking_holds_after_a_restart() {
    let log = Arc::new(MemoryLog::default());
    let model = ScriptedModel::new().otherwise(Line::new().says("fine"));
    let first = engine_over(log.clone(), model.clone(), Capacity::UNLIMITED);
    let here = start(server(first.clone(), Vec::new())).await;
    let id = thread(&here).await;
    let head = format!("PATCH /api/threads/{id} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json");
    assert_eq!(here.send(&head, br#"{"permission_mode":"plan"}"#).await.json()["permissionMode"], "plan");
    first.stop().await;
    drop((here, first));
    let here = start(server(engine_over(log, model, Capacity::UNLIMITED), Vec::new())).await;
    assert_eq!(here.get(&format!("/api/threads/{id}")).await.json()["permissionMode"], "plan");
}

#[tokio::test]
async fn a_turn_and_what_waits_behind_it_go_on_after_a_restart_without_a_gap() {
    let model =
        ScriptedModel::new().when(hears("slow"), Line::new().says("x").hangs()).otherwise(Line::new().says("fine"));
    let log = Arc::new(MemoryLog::default());
    let first = engine_over(log.clone(), model.clone(), Capacity::UNLIMITED);
    let here = start(server(first.clone(), Vec::new())).await;
    let id = thread(&here).await;
    say(&here, &id, json!({ "content": "slow" })).await;
    say(&here, &id, json!({ "content": "after", "if_busy": "queue" })).await;
    model.until(What::Asked, "1.0").await;
    first.close();
    let other = thread(&here).await;
    assert_eq!(say(&here, &other, json!({ "content": "x" })).await.problem(), (503, "DRAINING".to_owned()));
    first.stop().await;
    drop((here, first));
    let model = ScriptedModel::new().otherwise(Line::new().says("fine"));
    let second = engine_over(log, model, Capacity::UNLIMITED);
    second.recover().await.unwrap();
    let server = server(second, Vec::new());
    server.chats.resume().await.unwrap();
    let here = start(server).await;
    let view = quiet(&here, &id).await;
    let said: Vec<Value> = messages(&here, &id).await.into_iter().map(|row| row["content"].clone()).collect();
    assert_eq!(said, [json!("slow"), json!("fine"), json!("after"), json!("fine")]);
    let last = view["chatSeq"].as_u64().unwrap();
    let events = here.first_events(&format!("/api/threads/{id}/events?from=3"), last as usize - 2).await;
    assert_eq!(numbers(&events), (3..=last).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_turn_that_goes_on_after_a_restart_is_sent_what_was_said_before_it() {
    let model =
        ScriptedModel::new().when(hears("slow"), Line::new().hangs()).otherwise(Line::new().says("I am a parrot"));
    let log = Arc::new(MemoryLog::default());
    let first = engine_over(log.clone(), model.clone(), Capacity::UNLIMITED);
    let here = start(server(first.clone(), Vec::new())).await;
    let id = thread(&here).await;
    converse(&here, &id, "who are you?").await;
    say(&here, &id, json!({ "content": "slow" })).await;
    while model.entries().iter().filter(|entry| entry.what == What::Asked).count() < 2 {
        here.get("/api/threads").await;
    }
    first.stop().await;
    drop((here, first));
    let model = ScriptedModel::new().otherwise(Line::new().says("fine"));
    let second = engine_over(log, model.clone(), Capacity::UNLIMITED);
    second.recover().await.unwrap();
    let here = start(server(second, Vec::new())).await;
    quiet(&here, &id).await;
    let roles: Vec<&str> = model.sent("1.0").unwrap().messages.iter().map(role).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
}

#[tokio::test]
async fn what_is_wrong_with_a_message_is_said_and_nothing_is_stored() {
    let here = serving(&ScriptedModel::new()).await;
    let id = thread(&here).await;
    let cases = [
        (json!({}), "BAD_REQUEST"),
        (json!({ "content": 7 }), "BAD_REQUEST"),
        (json!({ "content": "x", "model": "nope" }), "INVALID_MODEL"),
        (json!({ "content": "x", "if_busy": "perhaps" }), "BAD_REQUEST"),
        (json!({ "content": "x", "media_generation": { "mode": "video" } }), "media_generation_unavailable"),
    ];
    for (message, code) in cases {
        assert_eq!(say(&here, &id, message.clone()).await.problem(), (400, code.to_owned()), "{message}");
    }
    assert!(messages(&here, &id).await.is_empty());
    assert_eq!(
        here.post("/api/approvals/nothing", json!({ "decision": "allow" })).await.problem(),
        (404, "APPROVAL_NOT_FOUND".to_owned())
    );
}

#[tokio::test]
async fn a_thread_is_read_page_by_page_over_all_its_turns() {
    let here = serving(&ScriptedModel::new().otherwise(Line::new().says("hi"))).await;
    let id = thread(&here).await;
    converse(&here, &id, "one").await;
    converse(&here, &id, "two").await;
    let last = quiet(&here, &id).await["chatSeq"].as_u64().unwrap();
    let page = async |thread: &str, query: &str| {
        let head =
            format!("GET /api/threads/{thread}/events?{query} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
        here.send(&head, b"").await
    };
    let whole = page(&id, "").await.json();
    assert_eq!(numbers(whole["events"].as_array().unwrap()), (0..=last).collect::<Vec<_>>());
    let some = page(&id, "from=3&limit=12").await.json();
    assert_eq!(numbers(some["events"].as_array().unwrap()), (3..15).collect::<Vec<_>>());
    assert_eq!(page(&id, &format!("from={}", last + 1)).await.json(), json!({ "events": [] }));
    assert_eq!(page(&id, "limit=0").await.status, 400);
    assert_eq!(page("no", "").await.status, 404);
}
