//! Fields and words that clients rely on and that are easily lost, through real sockets.

use std::sync::Arc;

use consort_chat::{Chats, Settings};
use consort_core::budget::Limits;
use consort_core::catalog::EffectClass;
use consort_core::chat::{Mode, Rules};
use consort_core::draft::Draft;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_tools::ScriptedTool;
use serde_json::{Value, json};

use crate::client::{Here, engine, engine_with, server, start, task};
use crate::says;

/// Returns the events of a run of the ensemble, once it has ended.
async fn events(here: &Here) -> Vec<Value> {
    let run = here.post_with("/api/runs", "Prefer: wait=30", json!({ "inputs": { "topic": "x" } })).await.json();
    let run = run["runId"].as_str().unwrap().to_owned();
    let asked = format!("GET /api/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    here.send(&asked, b"").await.json()["events"].as_array().unwrap().clone()
}

fn first<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    events.iter().find(|event| event["type"] == kind).unwrap_or_else(|| panic!("no {kind}: {events:?}"))
}

#[tokio::test]
async fn a_tool_that_outlives_its_own_limit_is_a_tool_timeout_called_directly_and_in_a_run() {
    for (effect, outcome) in [(EffectClass::Read, "failed"), (EffectClass::Once, "unknown")] {
        let slow = ScriptedTool::new("slow").effect(effect).with_info(|info| info.timeout_ms = 30).hangs();
        let model = ScriptedModel::new().calls("1.0", "slow", &json!({ "input": "x" })).says("1.1", "it was slow");
        let draft = Draft { tools: vec!["slow".to_owned()], ..task("a") };
        let here = start(server(engine_with(Arc::default(), model, slow, Capacity::UNLIMITED), vec![draft])).await;
        let direct = here.post("/api/tools/slow/invoke", json!({ "input": "x" })).await.json();
        assert_eq!((&direct["status"], &direct["error"]), (&json!("FAILED"), &json!("TOOL_TIMEOUT")));
        assert_eq!(direct["errorMessage"], "no answer within 30ms");
        let events = events(&here).await;
        let called = first(&events, "tool_called");
        assert_eq!((&called["outcome"], &called["error"]), (&json!("FAILURE"), &json!("TOOL_TIMEOUT")), "{called}");
        let metrics = here.get("/metrics").await.body;
        let count = format!("consort_tool_call_seconds_count{{tool=\"slow\",outcome=\"{outcome}\"}} 2");
        assert!(metrics.contains(&count), "{metrics}");
    }
    let broken = ScriptedModel::new().calls("1.0", "broken", &json!({ "input": "x" })).says("1.1", "so be it");
    let draft = Draft { tools: vec!["broken".to_owned()], ..task("a") };
    let here = start(server(engine(broken, Capacity::UNLIMITED), vec![draft])).await;
    let events = events(&here).await;
    assert_eq!(first(&events, "tool_called").get("error"), None, "another failure is no timeout");
}

#[tokio::test]
async fn tokens_that_nobody_counted_are_minus_one() {
    let here = start(server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")])).await;
    let events = events(&here).await;
    let completed = first(&events, "llm_iteration_completed");
    assert_eq!((&completed["inputTokens"], &completed["outputTokens"]), (&json!(-1), &json!(-1)), "{completed}");
    let detail = here.get("/api/runs").await.json()["runs"][0]["runId"].as_str().map(|run| format!("/api/runs/{run}"));
    let metrics = &here.get(&detail.unwrap()).await.json()["metrics"];
    assert_eq!((&metrics["inputTokens"], &metrics["outputTokens"]), (&json!(-1), &json!(-1)), "{metrics}");
}

#[tokio::test]
async fn names_that_a_model_makes_up_add_no_series() {
    let model = ScriptedModel::new()
        .at("1.0", Line::new().calls("made-up-tool", &json!({})).calls("ghost.find", &json!({})))
        .says("1.1", "never mind");
    let draft = Draft { tools: vec!["calculator".to_owned()], ..task("a") };
    let here = start(server(engine(model, Capacity::UNLIMITED), vec![draft])).await;
    events(&here).await;
    for name in ["ghost.look", "nobody", "network:*"] {
        here.post(&format!("/api/tools/{name}/invoke"), json!({ "input": "x" })).await;
    }
    let metrics = here.get("/metrics").await.body;
    for name in ["made-up-tool", "ghost", "nobody", "network:"] {
        assert!(!metrics.contains(name), "{name}: {metrics}");
    }
}

/// Returns warnings without the lists of what is allowed.
fn begun_with(warnings: &Value) -> Vec<String> {
    let warnings = warnings.as_array().unwrap().iter().map(|warning| warning.as_str().unwrap());
    warnings.map(|warning| warning.split(';').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn unknown_fields_of_a_run_are_named_in_warnings_also_when_its_end_is_waited_for() {
    let here = start(server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")])).await;
    let odd = json!({ "inputs": { "topic": "x" }, "colour": "red" });
    let ended = here.post_with("/api/runs", "Prefer: wait=30", odd).await;
    assert_eq!(ended.status, 200);
    assert_eq!(begun_with(&ended.json()["warnings"]), ["unknown field `colour` was ignored"]);
    let path = format!("/api/runs/{}", ended.json()["runId"].as_str().unwrap());
    assert_eq!(here.get(&path).await.json().get("warnings"), None);
}

#[tokio::test]
async fn no_answer_repeats_a_name_of_any_length() {
    let here = start(server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")])).await;
    let long = "L".repeat(3_500);
    let named = |field: &str| json!({ "tasks": [{ "name": "a", "description": "x", field: &long }] });
    let bodies = [
        named("model"),
        json!({ "tasks": [{ "name": "a", "description": "x", "tools": [&long] }] }),
        json!({ "tasks": [{ "name": "a", "description": "x", "context": [&long] }] }),
        json!({ "tasks": [{ "name": "a", "description": format!("{{{long}}}") }] }),
        json!({ "taskOverrides": { &long: {} } }),
        json!({ "inputs": { "topic": "x" }, &long: 1 }),
    ];
    for body in bodies {
        let answer = here.post("/api/runs", body).await;
        assert!(answer.body.len() < 9_000, "{}: {} bytes", answer.status, answer.body.len());
        assert!(answer.body.contains('…'), "{}", answer.body);
    }
    let (mut socket, _) = here.greeted().await;
    socket.say(json!({ "type": "state_query", "requestId": "q", "query": &long })).await;
    assert!(socket.first("error").await.to_string().len() < 3_000);
}

#[tokio::test]
async fn unknown_fields_of_a_message_are_named_in_warnings() {
    let here = start(server(engine(says("x"), Capacity::UNLIMITED), Vec::new())).await;
    let thread = here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/threads/{thread}/messages");
    let odd = json!({ "content": "Hi", "colour": "red", "agent_mode": true,
        "chat_context": { "kind": "poem", "room": 3 } });
    let taken = here.post(&path, odd.clone()).await;
    let expected = [
        "`chat_context` is editor or thread, not 'poem': it counts as thread",
        "unknown field `colour` was ignored",
        "unknown field `chat_context.room` was ignored",
    ];
    assert_eq!((taken.status, begun_with(&taken.json()["warnings"])), (202, expected.map(str::to_owned).to_vec()));
    assert_eq!(here.post(&path, json!({ "content": "Hi" })).await.json().get("warnings"), None);

    let (mut socket, _) = here.greeted().await;
    let mut frame = odd;
    frame
        .as_object_mut()
        .unwrap()
        .extend([("type".to_owned(), json!("chat_message")), ("requestId".to_owned(), json!("q"))]);
    socket.say(frame).await;
    assert_eq!(begun_with(&socket.first("chat_ack").await["warnings"]), expected);
}

#[tokio::test]
async fn thoughts_carry_their_offset_and_the_answer_its_own() {
    let model = ScriptedModel::new().otherwise(Line::new().thinks("Hmm, ").thinks("yes.").says("Hello"));
    let here = start(server(engine(model, Capacity::UNLIMITED), Vec::new())).await;
    let thread = here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/threads/{thread}/messages");
    let stream = "Accept: text/event-stream";
    let answer = here.post_with(&path, stream, json!({ "content": "Hi" })).await;
    let frames = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let frames: Vec<Value> = frames.map(|text| serde_json::from_str(text).unwrap()).collect();
    let mut thought = String::new();
    let mut said = String::new();
    for chunk in frames.iter().filter(|frame| frame["type"] == "chunk" && frame["done"] != true) {
        let text = if chunk["thinking"] == true { &mut thought } else { &mut said };
        assert_eq!(chunk["offset"], text.len(), "{chunk}");
        text.push_str(chunk["content"].as_str().unwrap());
    }
    assert_eq!((thought.as_str(), said.as_str()), ("Hmm, yes.", "Hello"));
}

#[tokio::test]
async fn what_a_turn_used_is_within_its_limits_when_one_of_them_ended_it() {
    let calls = (0..4).fold(Line::new(), |line, at| line.calls("calculator", &json!({ "input": format!("{at}+1") })));
    let model = ScriptedModel::new().otherwise(calls);
    let engine = engine(model, Capacity::UNLIMITED);
    let limits = Limits {
        depth: 3,
        iterations_per_level: 20,
        parallel_per_turn: 8,
        tool_calls: 6,
        llm_calls: 3,
        ..Limits::default()
    };
    let rules = Rules { limits, mode: Mode::Auto, ..Rules::default() };
    let mut serving = server(engine.clone(), Vec::new());
    serving.chats = Chats::new(engine.clone(), Settings::new(&engine, rules));
    let here = start(serving).await;
    let thread = here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/threads/{thread}/messages");
    let stream = "Accept: text/event-stream";
    let answer = here.post_with(&path, stream, json!({ "content": "Hi" })).await;
    let frames = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let frames: Vec<Value> = frames.map(|text| serde_json::from_str(text).unwrap()).collect();
    first(&frames, "budget_exceeded");
    let summary = first(&frames, "cost_summary");
    assert!(summary["tool_calls"].as_u64().unwrap() <= 6 && summary["llm_calls"].as_u64().unwrap() <= 3, "{summary}");
}
