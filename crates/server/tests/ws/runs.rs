//! Runs over a socket: submitted, watched, asked about.

use serde_json::{Value, json};

use super::peers::sharing;
use super::{assert_dense, kinds, request, seqs};
use crate::client::start;
use crate::{busy, ended, reviewed, says, talking};

#[tokio::test]
async fn a_submitter_hears_the_ack_first_then_every_event_in_order_then_the_result() {
    let here = talking().await;
    let (mut other, _) = here.greeted().await;
    let (mut named, _) = here.greeted().await;
    let ack = named.ask(json!({ "type": "subscribe", "events": ["run_result"] })).await;
    assert_eq!(ack, json!({ "type": "subscribe_ack", "events": ["run_result"] }));
    let (mut socket, hello) = here.greeted().await;
    assert_eq!((&hello["snapshotTrace"], &hello["recentIterations"]), (&json!([]), &json!([])));
    let about = (&hello["ensemble"], &hello["realm"], &hello["version"], &hello["sharedCapabilities"]);
    assert_eq!(about, (&json!("test"), &Value::Null, &json!(env!("CARGO_PKG_VERSION")), &json!([])));

    let ack = socket.ask(request("r-1")).await;
    let run = &ack["runId"];
    let accepted = json!({ "type": "run_ack", "requestId": "r-1", "runId": run, "status": "ACCEPTED", "tasks": 2,
        "workflow": "SEQUENTIAL" });
    assert_eq!(ack, accepted);
    let frames = socket.until("run_result").await;
    let result = frames.last().unwrap();
    assert_eq!((&result["runId"], &result["status"], &result["seq"]), (run, &json!("COMPLETED"), &Value::Null));
    assert_dense(&seqs(&frames, run));
    assert!(frames.iter().all(|frame| frame["runId"] == *run));
    let token = frames.iter().position(|frame| frame["type"] == "token").unwrap();
    let before: Vec<&str> = kinds(&frames[..token]).into_iter().filter(|kind| kind.starts_with("llm")).collect();
    assert_eq!(before, ["llm_iteration_started"], "words come between the two ends of their call");

    let seen = other.until("ensemble_completed").await;
    assert_eq!(seqs(&seen, run), seqs(&frames, run));
    assert_eq!(kinds(&other.drained().await), [] as [&str; 0], "a result is the submitter's");
    assert_eq!(named.frame().await, *result);
}

#[tokio::test]
async fn what_cannot_run_is_rejected_with_a_reason_and_nothing_is_stored() {
    let (here, _) = busy().await;
    let (mut socket, _) = here.greeted().await;
    let rejected = |frame: Value| (frame["status"].clone(), frame["error"].clone(), frame["tasks"].clone());
    let cases = [
        (json!({ "inputs": {} }), "MISSING_INPUT"),
        (json!({ "tasks": [] }), "BAD_REQUEST"),
        (json!({ "taskOverrides": {} }), "BAD_REQUEST"),
        (json!({ "tasks": [{ "description": "x", "model": "huge" }] }), "INVALID_MODEL"),
        (json!({ "tasks": [{ "description": "x", "tools": ["fly"] }] }), "INVALID_TOOL"),
        (json!({ "taskOverrides": { "nobody": {} }, "inputs": { "topic": "x" } }), "INVALID_TASK_OVERRIDE"),
    ];
    for (mut frame, code) in cases {
        frame["type"] = json!("run_request");
        frame["requestId"] = json!("q");
        let ack = socket.ask(frame).await;
        assert_eq!(rejected(ack.clone()), (json!("REJECTED"), json!(code), json!(0)), "{ack}");
        assert_eq!((&ack["type"], &ack["requestId"], &ack["runId"]), (&json!("run_ack"), &json!("q"), &Value::Null));
        assert!(ack["message"].as_str().is_some_and(|message| !message.is_empty()), "{ack}");
    }
    let queued = socket.ask(request("1")).await;
    assert_eq!(queued["status"], "ACCEPTED");
    socket.say(request("2")).await;
    let full = loop {
        let frame = socket.frame().await;
        if frame["requestId"] == "2" {
            break frame;
        }
    };
    assert_eq!(rejected(full.clone()), (json!("REJECTED"), json!("CONCURRENCY_LIMIT"), json!(0)), "{full}");
    assert_eq!(full["retryAfterMs"], 5000);
    let path = format!("/api/runs/{}", full["runId"].as_str().unwrap());
    assert_eq!(here.get(&path).await.status, 404);
    let dry = json!({ "type": "run_request", "dryRun": true, "inputs": { "topic": "x" } });
    socket.say(dry).await;
    let told = socket.first("run_ack").await;
    assert_eq!((&told["dryRun"], &told["tasks"], &told["runId"]), (&json!(true), &json!(1), &Value::Null));
}

#[tokio::test]
async fn questions_have_the_answers_of_the_routes() {
    let here = talking().await;
    let run = ended(&here).await;
    let (mut socket, _) = here.greeted().await;
    let cases = [
        (json!({ "query": "runs" }), "/api/runs".to_owned()),
        (
            json!({ "query": "runs", "filter": { "status": "completed", "limit": 1, "offset": "0" } }),
            "/api/runs?limit=1".to_owned(),
        ),
        (json!({ "query": "runs", "filter": { "tag": ["team:red"] } }), "/api/runs?tag=team:red".to_owned()),
        (json!({ "query": "runs", "filter": { "q": "nobody" } }), "/api/runs?q=nobody".to_owned()),
        (json!({ "query": "runs", "filter": { "from": "2000-01-01", "order": "oldest" } }), "/api/runs".to_owned()),
        (json!({ "query": "runs", "filter": { "to": "2000-01-01" } }), "/api/runs?to=2000-01-01".to_owned()),
        (json!({ "query": "runs", "filter": { "model": "none" } }), "/api/runs?model=none".to_owned()),
        (json!({ "query": "runs", "filter": { "minCost": 0.5 } }), "/api/runs?minCost=0.5".to_owned()),
        (json!({ "query": "runs", "filter": { "waiting": "review" } }), "/api/runs?waiting=review".to_owned()),
        (json!({ "query": "runs", "filter": { "paused": true, "kind": "run" } }), "/api/runs?paused=true".to_owned()),
        (json!({ "query": "runs", "filter": { "after": format!("0.{run}") } }), format!("/api/runs?after=0.{run}")),
        (json!({ "query": "run_detail", "runId": run }), format!("/api/runs/{run}")),
        (json!({ "query": "capabilities" }), "/api/capabilities".to_owned()),
    ];
    for (mut question, path) in cases {
        question["type"] = json!("state_query");
        question["requestId"] = json!(7);
        let answer = socket.ask(question).await;
        let data = here.get(&path).await.json();
        assert_eq!(answer, json!({ "type": "state_response", "requestId": 7, "data": data }));
    }
    let wrong = [
        (json!({}), "BAD_REQUEST"),
        (json!({ "query": "weather" }), "BAD_REQUEST"),
        (json!({ "query": "run_detail" }), "BAD_REQUEST"),
        (json!({ "query": "run_detail", "runId": "run-0" }), "RUN_NOT_FOUND"),
        (json!({ "query": "runs", "filter": { "status": "odd" } }), "BAD_REQUEST"),
        (json!({ "query": "runs", "filter": { "colour": "red" } }), "BAD_REQUEST"),
        (json!({ "query": "runs", "filter": { "waiting": "long" } }), "BAD_REQUEST"),
        (json!({ "query": "runs", "filter": { "paused": "perhaps" } }), "BAD_REQUEST"),
        (json!({ "query": "runs", "filter": { "from": "2026-02-30" } }), "BAD_REQUEST"),
        (json!({ "query": "runs", "filter": { "after": [["a"]] } }), "BAD_REQUEST"),
        (json!({ "query": "runs", "filter": [] }), "BAD_REQUEST"),
    ];
    for (mut question, code) in wrong {
        question["type"] = json!("state_query");
        question["requestId"] = json!("q");
        let answer = socket.ask(question).await;
        assert_eq!(
            (&answer["type"], &answer["code"], &answer["requestId"]),
            (&json!("error"), &json!(code), &json!("q")),
            "{answer}"
        );
    }
    assert_eq!(socket.ask(json!({ "type": "ping" })).await, json!({ "type": "pong" }));
}

#[tokio::test]
async fn shared_capabilities_are_found_by_every_filter_at_once() {
    let here = start(sharing(says("x"))).await;
    let (mut socket, hello) = here.greeted().await;
    let cook = &hello["sharedCapabilities"][1];
    let cook = (&cook["name"], &cook["description"], &cook["type"], &cook["tags"]);
    assert_eq!(cook, (&json!("cook"), &json!("Do cook with {context}"), &json!("TASK"), &json!(["food", "hot"])));
    let cases = [
        (json!({}), 2),
        (json!({ "tag": "food" }), 2),
        (json!({ "tag": "Food" }), 0),
        (json!({ "capabilityName": "cook", "tag": "hot", "capabilityType": "TASK" }), 1),
        (json!({ "toolName": "cook", "capabilityType": "TOOL" }), 0),
        (json!({ "toolName": "cook", "capabilityName": "stock" }), 0),
    ];
    for (mut query, count) in cases {
        query["type"] = json!("capability_query");
        query["requestId"] = json!("c");
        let answer = socket.ask(query.clone()).await;
        assert_eq!((&answer["type"], &answer["requestId"]), (&json!("capability_response"), &json!("c")));
        assert_eq!(
            (&answer["ensemble"], answer["capabilities"].as_array().unwrap().len()),
            (&json!("test"), count),
            "{query}"
        );
    }
    let wrong = socket.ask(json!({ "type": "capability_query", "capabilityType": "SONG" })).await;
    assert_eq!(wrong["code"], "BAD_REQUEST");
}

#[tokio::test]
async fn a_subscription_shows_only_what_it_names_and_never_holds_back_answers() {
    let here = talking().await;
    let (mut socket, _) = here.greeted().await;
    let other = ended(&here).await;
    socket.until("ensemble_completed").await;
    let only = json!({ "type": "subscribe", "events": ["task_started", "never_heard_of"], "runId": "run-0" });
    let ack = json!({ "type": "subscribe_ack", "events": ["task_started", "never_heard_of"], "runId": "run-0" });
    assert_eq!(socket.ask(only).await, ack);
    assert_eq!(socket.ask(request("r")).await["type"], "run_ack");
    assert_eq!(kinds(&socket.until("run_result").await), ["run_result"], "another run, but one's own result");

    let types = json!({ "type": "subscribe", "events": ["task_started", "task_completed"] });
    socket.ask(types).await;
    socket.ask(request("r")).await;
    let kinds_seen = ["task_started", "task_completed", "task_started", "task_completed", "run_result"];
    assert_eq!(kinds(&socket.until("run_result").await), kinds_seen);

    let all = json!({ "type": "subscribe", "events": ["*"], "runId": other });
    assert_eq!(socket.ask(all).await, json!({ "type": "subscribe_ack", "events": ["*"] }));
    let run = socket.ask(request("r")).await["runId"].clone();
    assert_dense(&seqs(&socket.until("run_result").await, &run));
}

#[tokio::test]
async fn a_client_that_comes_back_goes_on_where_it_was_each_event_once() {
    let (here, run, review) = reviewed().await;
    let page =
        format!("GET /api/runs/{run}/events?from=0&limit=1000 HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    let stored = here.send(&page, b"").await.json()["events"].as_array().unwrap().clone();
    let (mut socket, _) = here.greeted().await;
    let ack = socket.ask(json!({ "type": "subscribe", "events": ["*"], "runId": run, "from": 2 })).await;
    assert_eq!(ack, json!({ "type": "subscribe_ack", "events": ["*"], "runId": run }));
    for frame in &stored[2..] {
        assert_eq!(socket.frame().await, *frame);
    }
    socket.say(json!({ "type": "review_decision", "reviewId": review, "decision": "CONTINUE" })).await;
    let rest: Vec<Value> = socket.until("run_result").await;
    let numbers = seqs(&rest, &json!(run));
    let first = stored.len() as u64;
    assert_eq!(numbers, (first..first + numbers.len() as u64).collect::<Vec<_>>());

    let end = first + numbers.len() as u64;
    let past = socket.ask(json!({ "type": "subscribe", "runId": run, "from": end + 5 })).await;
    assert_eq!(past["type"], "subscribe_ack");
    assert_eq!(kinds(&socket.until("run_result").await), ["run_result"], "an ended run has nothing but its result");
    for wrong in [json!({ "runId": run, "from": -1 }), json!({ "from": 0 }), json!({ "runId": "run-0", "from": 0 })] {
        let mut frame = wrong;
        frame["type"] = json!("subscribe");
        assert_eq!(socket.ask(frame).await["type"], "error");
    }
}
