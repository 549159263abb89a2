//! The API through real sockets.

#[cfg(test)]
mod a2a;
#[cfg(test)]
mod again;
#[cfg(test)]
mod answers;
#[cfg(test)]
mod attachments;
#[cfg(test)]
mod bombs;
#[cfg(test)]
mod branches;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod client;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod drain;
#[cfg(test)]
mod filters;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod made_up;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod oidc;
#[cfg(test)]
mod once;
#[cfg(test)]
mod openai;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod outcome;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod quotas;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod room;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod search;
#[cfg(test)]
mod silence;
#[cfg(test)]
mod small_print;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod tracing;
#[cfg(test)]
mod webhooks;
#[cfg(test)]
mod words;
#[cfg(test)]
mod workflows;
#[cfg(test)]
mod workspace;
#[cfg(test)]
mod ws;

use std::sync::Arc;
use std::time::Duration;

use consort_core::draft::Draft;
use consort_core::spec::{Kind, ReviewRule};
use consort_log::MemoryLog;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::{Capacity, Load};
use consort_server::access::{Key, Scope};
use consort_tools::ScriptedTool;
use consort_tools::memory::{Entry, Memory};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::client::{Here, engine, engine_over, engine_with, server, start, task};

fn says(text: &str) -> ScriptedModel {
    ScriptedModel::new().otherwise(Line::new().says(text))
}

async fn talking() -> Here {
    start(server(engine(says("done"), Capacity::UNLIMITED), vec![task("a"), task("b")])).await
}

/// Completes a run; returns its id.
#[cfg(test)]
async fn ended(here: &Here) -> String {
    let answer = here.post_with("/api/runs", "Prefer: wait=30", json!({ "inputs": { "topic": "x" } })).await;
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("COMPLETED")), "{answer:?}");
    answer.json()["runId"].as_str().unwrap().to_owned()
}

/// Starts a run whose first task waits for a person; returns the server, the run and the review.
#[cfg(test)]
async fn reviewed() -> (Here, String, String) {
    let careful = Draft { review: Some(ReviewRule::Required), ..task("a") };
    let here = start(server(engine(says("draft"), Capacity { running: 1, queued: 1 }), vec![careful])).await;
    let run = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json()["runId"].clone();
    let run = run.as_str().unwrap().to_owned();
    loop {
        let reviews = here.get(&format!("/api/reviews?runId={run}")).await.json();
        if reviews["total"] == 1 {
            return (here, run, reviews["reviews"][0]["reviewId"].as_str().unwrap().to_owned());
        }
    }
}

/// Starts a server with room for one run, which never ends, and a second run that waits.
#[cfg(test)]
async fn busy() -> (Here, String) {
    let model = ScriptedModel::new().otherwise(Line::new().hangs());
    let here = start(server(engine(model, Capacity { running: 1, queued: 1 }), vec![task("a")])).await;
    let run = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json()["runId"].clone();
    (here, run.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn every_failure_is_a_problem_with_a_code_and_the_requests_id() {
    let here = talking().await;
    let post = |kind: &str| format!("POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}");
    let deep = "[".repeat(2000);
    let cases: Vec<(String, &[u8], u16, &str)> = vec![
        ("GET /api/nowhere HTTP/1.1\r\nHost: localhost".into(), b"", 404, "NOT_FOUND"),
        ("PUT /api/runs HTTP/1.1\r\nHost: localhost".into(), b"", 405, "METHOD_NOT_ALLOWED"),
        (post("text/plain"), b"{}", 415, "UNSUPPORTED_MEDIA_TYPE"),
        (post("application/json"), &[b' '; 5000], 413, "PAYLOAD_TOO_LARGE"),
        (post("application/json"), b"{\"inputs\": {\"topic\": \"\xff\"}}", 400, "BAD_REQUEST"),
        (post("application/json"), deep.as_bytes(), 400, "BAD_REQUEST"),
        (post("application/json"), b"[1]", 400, "BAD_REQUEST"),
        (post("application/json"), b"{}", 400, "MISSING_INPUT"),
        ("GET /api/runs?limit=501 HTTP/1.1\r\nHost: localhost".into(), b"", 400, "BAD_REQUEST"),
        ("GET /api/runs?status=odd HTTP/1.1\r\nHost: localhost".into(), b"", 400, "BAD_REQUEST"),
        ("GET /api/runs/nothing HTTP/1.1\r\nHost: localhost".into(), b"", 404, "RUN_NOT_FOUND"),
        ("GET /api/runs/%ff HTTP/1.1\r\nHost: localhost".into(), b"", 400, "BAD_REQUEST"),
        ("GET /api/runs?tag=%zz HTTP/1.1\r\nHost: localhost".into(), b"", 400, "BAD_REQUEST"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example".into(), b"", 400, "BAD_REQUEST"),
        ("GET /api/ HTTP/1.1\r\nHost: localhost".into(), b"", 404, "NOT_FOUND"),
        ("GET /api/runs/nothing/events HTTP/1.1\r\nHost: localhost".into(), b"", 404, "RUN_NOT_FOUND"),
        ("POST /api/reviews/nothing HTTP/1.1\r\nHost: localhost".into(), b"{", 404, "REVIEW_NOT_FOUND"),
        ("POST /api/runs/nothing/inject HTTP/1.1\r\nHost: localhost".into(), b"{", 404, "RUN_NOT_FOUND"),
        ("POST /api/runs/nothing/cancel HTTP/1.1\r\nHost: localhost".into(), b"{", 404, "RUN_NOT_FOUND"),
        ("GET /api/runs HTTP/1.1\r\nHost: evil.example".into(), b"", 403, "FORBIDDEN"),
    ];
    for (head, body, status, code) in cases {
        assert_eq!(here.send(&head, body).await.problem(), (status, code.to_owned()), "{head}");
    }
}

#[tokio::test]
async fn a_refusal_says_what_is_allowed() {
    let here = talking().await;
    let deep = "[".repeat(2000);
    let post = "POST /api/runs HTTP/1.1\r\nHost: localhost";
    let cases: Vec<(&str, &[u8], &str)> = vec![
        ("GET /api/nowhere HTTP/1.1\r\nHost: localhost", b"", "nothing at /api/nowhere: /openapi.json lists"),
        ("PUT /api/runs HTTP/1.1\r\nHost: localhost", b"", "/api/runs does not take PUT: the header Allow"),
        (post, &[b' '; 5000], "larger than this server takes: 4096 bytes"),
        ("GET /ws HTTP/1.1\r\nHost: localhost", b"", "/ws is for WebSockets: Connection header did not include"),
        ("GET / HTTP/1.0", b"", "the Host header must name it"),
        (post, deep.as_bytes(), "nested deeper than 127 levels at line 1"),
    ];
    for (head, body, words) in cases {
        let answer = here.send(head, body).await;
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(words), "{head}: {message}");
    }
    assert_eq!(
        here.send("PUT /api/runs HTTP/1.1\r\nHost: localhost", b"").await.header("allow"),
        Some("GET,HEAD,POST")
    );
}

#[tokio::test]
async fn a_run_is_accepted_with_its_place_and_can_be_waited_for_listed_and_erased() {
    let here = talking().await;
    let body = json!({ "inputs": { "topic": "x" }, "tags": { "team": "red" }, "colour": 1 });
    let accepted = here.post("/api/runs", body).await;
    let json = accepted.json();
    assert_eq!((accepted.status, &json["status"], &json["tasks"]), (202, &json!("ACCEPTED"), &json!(2)));
    assert_eq!(json["workflow"], "SEQUENTIAL");
    let warnings = json["warnings"].as_array().unwrap();
    assert!(warnings.len() == 1 && warnings[0].as_str().unwrap().starts_with("unknown field `colour` was ignored; "));
    let place = format!("/api/runs/{}", json["runId"].as_str().unwrap());
    assert_eq!(accepted.header("location"), Some(place.as_str()));

    let other = ended(&here).await;
    let page = here.get("/api/runs?limit=1&offset=0").await.json();
    assert_eq!((&page["total"], &page["runs"][0]["runId"]), (&json!(2), &json!(other)));
    let red = here.get("/api/runs?tag=team:red&tag=team").await.json();
    assert_eq!((&red["total"], &red["runs"][0]["runId"]), (&json!(1), &json["runId"]));
    assert_eq!(here.get("/api/runs?tag=team:blue").await.json()["total"], 0);

    let head = format!("DELETE /api/runs/{other} HTTP/1.1\r\nHost: localhost");
    assert_eq!(here.send(&head, b"").await.status, 204);
    assert_eq!(here.get(&format!("/api/runs/{other}")).await.problem(), (404, "RUN_NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_dry_run_tells_what_would_run_and_stores_nothing() {
    let here = talking().await;
    let tasks = json!([{ "name": "x", "description": "Write {a}" }, { "description": "Read", "context": ["$x"] }]);
    let told = here.post("/api/runs", json!({ "dryRun": true, "inputs": { "a": "it" }, "tasks": tasks })).await;
    let json = told.json();
    assert_eq!((told.status, &json["workflow"]), (200, &json!("PARALLEL")));
    assert_eq!((&json["tasks"][0]["description"], &json["tasks"][1]["context"]), (&json!("Write it"), &json!(["x"])));
    assert_eq!(here.get("/api/runs").await.json()["total"], 0);
}

#[tokio::test]
async fn without_an_ensemble_only_requests_with_tasks_are_taken() {
    let here = start(server(engine(says("done"), Capacity::UNLIMITED), Vec::new())).await;
    assert_eq!(here.post("/api/runs", json!({ "inputs": 3 })).await.problem(), (503, "NOT_CONFIGURED".to_owned()));
    let tasks = json!({ "tasks": [{ "description": "x", "model": "huge" }] });
    assert_eq!(here.post("/api/runs", tasks).await.problem(), (400, "INVALID_MODEL".to_owned()));
    assert_eq!(here.post("/api/runs", json!({ "tasks": [{ "description": "x" }] })).await.status, 202);
}

#[tokio::test]
async fn a_stream_numbers_every_event_resumes_after_any_and_ends_with_the_result() {
    let here = talking().await;
    let submit = "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream";
    let live = here.send(submit, br#"{"inputs":{"topic":"x"}}"#).await;
    assert_eq!((live.status, live.header("content-type")), (200, Some("text/event-stream")));
    let place = live.header("location").unwrap().to_owned();
    let ids =
        |body: &str| body.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect::<Vec<u64>>();
    let all = ids(&live.body);
    assert_eq!(all, (0..all.len() as u64).collect::<Vec<_>>());
    let last = live.body.trim_end().rsplit("\n\n").next().unwrap();
    assert!(last.contains("event: run_result") && !last.contains("id: "), "{last}");

    let events = format!("{place}/events");
    assert_eq!(ids(&here.get(&format!("{events}?from=3")).await.body), all[3..]);
    let head = format!("GET {events}?from=0 HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 4");
    assert_eq!(ids(&here.send(&head, b"").await.body), all[5..], "the header beats the query");
    let past = here.get(&format!("{events}?from=9999")).await.body;
    assert!(ids(&past).is_empty() && past.contains("event: run_result"));
    let some = here.get(&format!("{events}?events=task_started,task_completed")).await.body;
    let kinds: Vec<&str> = some.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(kinds, ["task_started", "task_completed", "task_started", "task_completed", "run_result"]);
    for junk in ["from=-1", "from=x"] {
        assert_eq!(here.get(&format!("{events}?{junk}")).await.status, 400);
    }
    let head = format!("GET {events} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream");
    assert_eq!(ids(&here.send(&head, b"").await.body), all, "who can follow a stream is sent one");
    let head = format!("GET {events}?from=1&limit=2 HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    let page = here.send(&head, b"").await.json();
    let seqs: Vec<&Value> = page["events"].as_array().unwrap().iter().map(|frame| &frame["seq"]).collect();
    assert_eq!(seqs, [&json!(1), &json!(2)]);
}

#[tokio::test]
async fn a_run_is_steered_while_it_lasts_and_refuses_everything_afterwards() {
    let (here, run, review) = reviewed().await;
    let verb = |verb: &str| format!("/api/runs/{run}/{verb}");
    let switched = here.post(&verb("model"), json!({ "model": "spare" })).await.json();
    assert_eq!((&switched["previousModel"], &switched["status"]), (&json!("main"), &json!("APPLIED")));
    assert_eq!(
        here.post(&verb("model"), json!({ "model": "huge" })).await.problem(),
        (400, "INVALID_MODEL".to_owned())
    );
    let told =
        here.post(&verb("inject"), json!({ "content": "hurry", "ttl": "PT1M", "priority": "high" })).await.json();
    assert_eq!(told, json!({ "directiveId": format!("{run}-directive-0"), "status": "ACTIVE" }));
    for bad in [json!({}), json!({ "content": "x", "target": "nobody" }), json!({ "content": "x", "ttl": "soon" })] {
        assert_eq!(here.post(&verb("inject"), bad).await.problem(), (400, "BAD_REQUEST".to_owned()));
    }
    assert_eq!(here.post(&verb("pause"), json!({})).await.json()["status"], "PAUSED");
    assert_eq!(here.get(&format!("/api/runs/{run}")).await.json()["paused"], true);
    assert_eq!(here.post(&verb("resume"), json!({})).await.json()["status"], "RESUMED");
    assert_eq!(here.post(&verb("cancel"), json!({ "mode": "later" })).await.status, 400);
    assert_eq!(here.post(&verb("give-up"), json!({ "task": "nobody" })).await.problem().0, 400);
    for (body, word) in [
        (json!({}), "maxTotalTokens"),
        (json!({ "maxTotalTokens": "many" }), "whole number"),
        (json!({ "maxCostUsd": -1 }), "above 0"),
        (json!({ "maxTotalTokens": 9 }), "no limit"),
    ] {
        let answer = here.post(&verb("budget"), body).await;
        assert_eq!(answer.problem(), (400, "BAD_REQUEST".to_owned()));
        assert!(answer.json()["message"].as_str().unwrap().contains(word), "{answer:?}");
    }
    assert_eq!(
        here.post(&verb("give-up"), json!({})).await.problem(),
        (409, "CONFLICT".to_owned()),
        "no model is asked"
    );

    let decide = format!("/api/reviews/{review}");
    assert_eq!(here.post(&decide, json!({ "decision": "EDIT" })).await.status, 400);
    let edit = json!({ "decision": "edit", "revisedOutput": "better" });
    assert_eq!(here.post(&decide, edit).await.json()["status"], "APPLIED");
    let late = here.post(&decide, json!({ "decision": "CONTINUE" })).await;
    assert_eq!((late.problem().1.as_str(), &late.json()["decision"]), ("REVIEW_RESOLVED", &json!("EDIT")));
    here.get(&format!("/api/runs/{run}/events")).await;
    assert_eq!(here.get(&format!("/api/runs/{run}")).await.json()["tasks"][0]["output"], "better");
    for verb in ["cancel", "pause", "resume", "inject", "give-up", "budget"].map(verb) {
        // Also when something is wrong with the request.
        assert_eq!(here.post(&verb, json!({ "mode": "later" })).await.problem(), (409, "RUN_COMPLETED".to_owned()));
    }
}

#[tokio::test]
async fn a_full_server_queues_then_refuses_and_the_next_one_starts_when_there_is_room() {
    let (here, first) = busy().await;
    let submit = || here.post("/api/runs", json!({ "inputs": { "topic": "y" } }));
    let queued = submit().await.json();
    assert_eq!(queued["queuePosition"], 0);
    let queued = queued["runId"].as_str().unwrap().to_owned();
    let waiting = here.get(&format!("/api/runs/{queued}")).await.json();
    assert_eq!((&waiting["status"], &waiting["queuePosition"]), (&json!("ACCEPTED"), &json!(0)));
    assert!(waiting["queuedMs"].is_u64() && waiting["startedAt"].is_string(), "{waiting}");
    let refused = submit().await;
    assert_eq!(refused.problem(), (429, "CONCURRENCY_LIMIT".to_owned()));
    assert_eq!((refused.header("retry-after"), &refused.json()["retryAfterMs"]), (Some("5"), &json!(5000)));

    here.post(&format!("/api/runs/{queued}/cancel"), json!({})).await;
    assert_eq!(here.get(&format!("/api/runs/{queued}")).await.json()["status"], "CANCELLED");
    let next = submit().await.json()["runId"].as_str().unwrap().to_owned();
    let head = format!("DELETE /api/runs/{first} HTTP/1.1\r\nHost: localhost");
    assert_eq!(here.send(&head, b"").await.json()["status"], "CANCELLING");
    while here.get(&format!("/api/runs/{next}")).await.json()["status"] != "RUNNING" {}
    let begun = here.get(&format!("/api/runs/{next}")).await.json();
    assert!(begun["queuedMs"].is_u64() && begun.get("queuePosition").is_none(), "{begun}");
}

#[tokio::test]
async fn a_request_sent_again_with_its_key_gets_the_first_run_even_on_a_full_server() {
    let (here, _) = busy().await;
    let send = |topic: &str| {
        let body = json!({ "inputs": { "topic": topic } });
        here.post_with("/api/runs", "Idempotency-Key: k-1", body)
    };
    let (one, two) = tokio::join!(send("x"), send("x"));
    assert_eq!((one.status, one.json()), (202, two.json()));
    assert_eq!(send("x").await.json()["runId"], one.json()["runId"], "there is no room for another");
    assert_eq!(send("y").await.problem(), (422, "IDEMPOTENCY_CONFLICT".to_owned()));
    assert_eq!(here.get("/api/runs").await.json()["total"], 2);
}

#[tokio::test]
async fn a_queued_run_keeps_its_place_when_the_server_starts_again() {
    let log = Arc::new(MemoryLog::default());
    let small = Capacity { running: 1, queued: 1 };
    let silent = ScriptedModel::new().otherwise(Line::new().hangs());
    let first = engine_over(log.clone(), silent.clone(), small);
    let here = start(server(first.clone(), vec![task("a")])).await;
    let submit = || here.post("/api/runs", json!({ "inputs": { "topic": "x" } }));
    let _ = submit().await;
    let queued = submit().await.json()["runId"].as_str().unwrap().to_owned();
    drop(here);
    first.stop().await;
    let second = engine_over(log, silent, small);
    assert_eq!(second.recover().await.unwrap().resumed, 2);
    assert_eq!((second.load(Kind::Run), second.queue_position(&queued)), (Load { active: 1, queued: 1 }, Some(0)));
}

#[tokio::test]
async fn a_tool_is_called_directly_within_its_class_and_says_how_it_failed() {
    let mut closed = server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")]);
    closed.direct.clear();
    let closed = start(closed).await;
    let here = talking().await;
    let asked = here.post("/api/tools/calculator/invoke", json!({ "input": "What is 42 * 17?" })).await.json();
    assert_eq!(
        (&asked["status"], &asked["output"], &asked["tool"]),
        (&json!("SUCCESS"), &json!("714"), &json!("calculator"))
    );
    let failed = here.post("/api/tools/broken/invoke", json!({ "input": "x" })).await;
    assert_eq!((failed.status, &failed.json()["errorMessage"]), (200, &json!("no such shelf")));
    assert_eq!(here.post("/api/tools/calculator/invoke", json!({})).await.problem(), (400, "INVALID_INPUT".to_owned()));
    assert_eq!(here.post("/api/tools/fly/invoke", json!({})).await.problem(), (404, "TOOL_NOT_FOUND".to_owned()));
    let forbidden = closed.post("/api/tools/calculator/invoke", json!({ "input": "1" })).await;
    assert_eq!(forbidden.problem(), (403, "FORBIDDEN".to_owned()));
}

#[tokio::test]
async fn a_direct_call_waits_for_the_tools_lock_and_no_longer_than_its_caller_does() {
    let gate = Arc::new(Notify::new());
    let door = ScriptedTool::new("door").locks("door").waits(&gate).answers("through");
    let mut hasty = server(engine_with(Arc::default(), says("x"), door.clone(), Capacity::UNLIMITED), vec![task("a")]);
    hasty.tool_patience = Duration::from_secs(5);
    let here = start(hasty).await;
    let enter = || here.post("/api/tools/door/invoke", json!({ "input": "x" }));
    let (one, two) = tokio::join!(enter(), enter());
    for late in [one, two] {
        assert_eq!((late.status, &late.json()["error"]), (200, &json!("TOOL_TIMEOUT")), "{late:?}");
        assert_eq!((&late.json()["status"], late.json()["errorMessage"].is_string()), (&json!("FAILED"), true));
    }
    assert_eq!(door.most_at_once(), 1, "one waited for the lock of the other");
    gate.notify_one();
    assert_eq!(enter().await.json()["output"], "through", "a caller who left gave the lock back");
}

#[tokio::test]
async fn what_runs_remember_is_listed_and_can_be_forgotten() {
    let engine = engine(says("x"), Capacity::UNLIMITED);
    let memory = Memory::new(engine.seams().log.clone());
    let here = start(server(engine, vec![task("a")])).await;
    let entry = |key: &str, text: &str| Entry { key: key.to_owned(), at: 0, text: text.to_owned() };
    for (scope, key, text) in [("bees", "1", "dance"), ("bees", "2", "honey"), ("reflection/test/a", "1", "be brief")] {
        memory.store(scope, &entry(key, text)).await.unwrap();
    }
    let listed = here.get("/api/memory").await.json();
    let mut rows = listed["scopes"].as_array().unwrap().clone();
    rows.sort_by_key(|row| row["scope"].to_string());
    let row = |scope: &str, kind: &str, entries: u32| json!({ "scope": scope, "type": kind, "entries": entries });
    assert_eq!(rows, [row("bees", "memory", 2), row("reflection/test/a", "reflection", 1)]);
    assert_eq!(here.get("/api/memory?limit=1").await.json()["total"], 2);
    let bees = here.get("/api/memory/bees").await.json();
    let first = json!({ "key": "1", "text": "dance", "createdAt": "1970-01-01T00:00:00.000Z" });
    assert_eq!((&bees["entries"][0], bees["entries"].as_array().unwrap().len()), (&first, 2));
    let forget = "DELETE /api/memory/reflection%2Ftest%2Fa HTTP/1.1\r\nHost: localhost";
    assert_eq!(here.send(forget, b"").await.status, 204);
    assert_eq!(here.send(forget, b"").await.problem(), (404, "NOT_FOUND".to_owned()));
    assert_eq!(here.get("/api/memory").await.json()["total"], 1);
    let forget = |path: &str| format!("DELETE /api/memory/{path} HTTP/1.1\r\nHost: localhost");
    for (path, status) in [("bees/3", 404), ("bees/1", 204), ("bees/1", 404)] {
        assert_eq!(here.send(&forget(path), b"").await.status, status, "{path}");
    }
    assert_eq!(here.get("/api/memory").await.json()["scopes"], json!([row("bees", "memory", 1)]));
    assert_eq!(here.get("/api/memory/bees").await.json()["entries"][0]["text"], "honey");
    assert_eq!(here.send(&forget("bees/2"), b"").await.status, 204);
    assert_eq!(here.get("/api/memory").await.json()["total"], 0, "nothing is left to be listed");
    assert_eq!(here.send(&forget("bees"), b"").await.status, 204, "and what was forgotten is erased");
    assert_eq!(here.get("/api/memory/nothing").await.problem(), (404, "NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn capabilities_and_status_say_what_there_is() {
    let here = talking().await;
    let all = here.get("/api/capabilities").await.json();
    let spare = json!({ "alias": "spare", "provider": "scripted", "contextTokens": 200_000, "maxOutputTokens": 8_192,
        "tools": true, "parallelToolCalls": true, "retries": 3, "fallback": [] });
    assert_eq!((&all["models"][1], &all["inputs"]), (&spare, &json!({})));
    let calculator = all["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "calculator").unwrap();
    let class = (&calculator["permission"], &calculator["effect"], &calculator["direct"]);
    assert_eq!(class, (&json!("safe"), &json!("read"), &json!(true)));
    assert_eq!(calculator["inputSchema"]["required"], json!(["input"]));
    let task = json!({ "description": "Do a about {topic}", "tools": [], "variables": ["topic"], "name": "a" });
    assert_eq!((&all["preconfiguredTasks"][0], &all["sharedTools"]), (&task, &json!([])));
    let status = here.get("/api/status").await.json();
    assert_eq!((&status["port"], &status["lifecycleState"]), (&json!(here.address.port()), &json!("READY")));
    assert_eq!(here.get("/api/health/live").await.json(), json!({ "status": "UP" }));
    assert_eq!(here.get("/api/health/ready").await.status, 200);
}

#[tokio::test]
async fn keys_are_needed_where_there_are_some_and_pages_are_told_what_they_may_read() {
    let mut guarded = server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")]);
    guarded.access.keys.push(Key::new("ci", "abc", &[Scope::Run]).unwrap());
    let here = start(guarded).await;
    assert_eq!(here.get("/api/runs").await.problem(), (401, "UNAUTHORIZED".to_owned()));
    for probe in ["live", "ready", "startup"] {
        assert_eq!(here.get(&format!("/api/health/{probe}")).await.status, 200, "a probe has no secret");
    }
    let read =
        "GET /api/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer abc\r\nOrigin: http://localhost:5173";
    let answer = here.send(read, b"").await;
    let allowed = answer.header("access-control-allow-origin");
    assert_eq!((answer.status, allowed), (200, Some("http://localhost:5173")));
    let invoke = "POST /api/tools/calculator/invoke HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer abc";
    assert_eq!(here.send(invoke, b"{}").await.problem(), (403, "FORBIDDEN".to_owned()));
    let preflight = "OPTIONS /api/runs HTTP/1.1\r\nHost: localhost\r\nAccess-Control-Request-Method: POST\r\nOrigin: ";
    assert_eq!(here.send(&format!("{preflight}http://localhost:1"), b"").await.status, 204);
    let refused = here.send(&format!("{preflight}http://evil.example"), b"").await;
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_send_whatever_is_described() {
    let here = talking().await;
    let openapi: Value = serde_json::from_str(include_str!("../../../openapi.json")).unwrap();
    let asked = "OPTIONS /api/workflows/x HTTP/1.1\r\nHost: localhost\r\nAccess-Control-Request-Method: PUT";
    let answer = here.send(&format!("{asked}\r\nOrigin: http://localhost:1"), b"").await;
    let listed = |name: &str| answer.header(name).unwrap().split(", ").map(str::to_lowercase).collect::<Vec<_>>();
    let methods = listed("access-control-allow-methods");
    let headers = listed("access-control-allow-headers");
    for method in openapi["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().keys()) {
        assert!(methods.contains(method), "{method} is not among {methods:?}");
    }
    for parameter in openapi["components"]["parameters"].as_object().unwrap().values() {
        let name = parameter["name"].as_str().unwrap().to_lowercase();
        assert!(parameter["in"] != "header" || headers.contains(&name), "{name} is not among {headers:?}");
    }
    let read = "GET /api/runs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:1";
    let told = here.send(read, b"").await;
    assert!(told.header("access-control-expose-headers").unwrap().contains("etag"), "{told:?}");
}

#[tokio::test]
async fn documents_are_put_into_collections_and_found_by_their_words() {
    let here = talking().await;
    let made = here.post("/api/collections", json!({ "name": "kitchen" })).await;
    assert_eq!((made.status, &made.json()["documents"]), (201, &json!(0)), "{made:?}");
    let soup = json!({ "title": "Soup", "content": "Boil water.\n\nAdd salt." });
    let added = here.post("/api/collections/kitchen/documents", soup.clone()).await;
    let expected = json!({ "id": 1, "collection": "kitchen", "title": "Soup", "embedded": false });
    assert_eq!((added.status, added.json()), (201, expected));
    let listed = here.get("/api/collections").await.json();
    assert_eq!(
        (&listed["collections"][0]["name"], &listed["collections"][0]["documents"]),
        (&json!("kitchen"), &json!(1))
    );
    let found = here.get("/api/collections/kitchen/search?q=salty%20water&limit=3").await.json();
    let hit = &found["results"][0];
    assert_eq!((&hit["title"], &hit["documentId"], &hit["snippet"]), (&json!("Soup"), &json!(1), &soup["content"]));
    assert_eq!(here.get("/api/collections/kitchen/search?q=flour").await.json(), json!({ "results": [] }));

    for (answer, problem) in [
        (here.post("/api/collections", json!({ "name": "kitchen" })).await, (409, "COLLECTION_EXISTS")),
        (here.post("/api/collections", json!({ "name": "../x" })).await, (400, "BAD_REQUEST")),
        (here.post("/api/collections", json!({})).await, (400, "BAD_REQUEST")),
        (here.post("/api/collections/cellar/documents", soup).await, (404, "COLLECTION_NOT_FOUND")),
        (here.post("/api/collections/kitchen/documents", json!({ "title": "t" })).await, (400, "BAD_REQUEST")),
        (here.get("/api/collections/cellar/search?q=salt").await, (404, "COLLECTION_NOT_FOUND")),
        (here.get("/api/collections/kitchen/search").await, (400, "BAD_REQUEST")),
        (here.get("/api/collections/kitchen/search?q=salt&limit=0").await, (400, "BAD_REQUEST")),
    ] {
        assert_eq!(answer.problem(), (problem.0, problem.1.to_owned()));
    }
}
