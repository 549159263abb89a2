//! Every frame that a client can send, by a key of every scope of the run's owner, of another
//! owner, and of one that sees all; and what each of them hears meanwhile.

use consort_server::access::Scope;
use serde_json::{Value, json};

use super::{Side, begun, first, get, greeted, guarded, thread};
use crate::client::{Here, Socket, start};

/// Codes and words for things that are missing.
const MISSING: [&str; 4] = ["RUN_NOT_FOUND", "REVIEW_NOT_FOUND", "THREAD_NOT_FOUND", "NOT_FOUND"];

/// Returns the frames that a client can send, with the scope that a key must have and the ownership of the things they
/// are about.
pub(super) fn kinds() -> Vec<(String, String, String)> {
    let frames: Value = serde_json::from_str(include_str!("../../../../schemas/frames.json")).unwrap();
    let defined = frames["$defs"].as_object().unwrap().iter();
    let sent = defined.filter_map(|(name, frame)| Some((name.strip_prefix("client.")?.to_owned(), frame)));
    let text = |kind: &str, frame: &Value, name: &str| {
        let said = frame[name].as_str().map(str::to_owned);
        said.unwrap_or_else(|| panic!("{kind} does not say its {name}"))
    };
    sent.map(|(kind, frame)| (text(&kind, frame, "x-scope"), text(&kind, frame, "x-owner"), kind)).collect()
}

/// The things of the key that begins them, which frames ask for.
pub(super) struct Things {
    run: String,
    review: String,
    thread: String,
}

/// Frames of a type about things of the owner `a`; the second shows by this text that it was seen, if it does.
pub(super) fn examples(kind: &str, Things { run, review, thread }: &Things) -> Vec<(Value, Option<String>)> {
    let seen = |text: &String| Some(text.clone());
    match kind {
        "run_control" => vec![(json!({ "runId": run, "action": "cancel", "mode": "now" }), seen(run))],
        "review_decision" => vec![(json!({ "reviewId": review, "decision": "CONTINUE" }), seen(review))],
        "directive" => vec![(json!({ "runId": run, "content": "go on" }), seen(run))],
        "subscribe" => vec![(json!({ "runId": run, "from": 0 }), seen(run))],
        "state_query" => {
            vec![(json!({ "query": "run_detail", "runId": run }), seen(run)), (json!({ "query": "runs" }), seen(run))]
        }
        "run_request" => vec![(json!({ "inputs": { "topic": "x" } }), None)],
        "chat_message" => vec![(json!({ "thread_id": thread, "content": "hello" }), seen(thread))],
        "chat_subscribe" => vec![(json!({ "thread_id": thread, "last_seq": -1 }), seen(thread))],
        "set_permission_mode" => vec![(json!({ "thread_id": thread, "permission_mode": "plan" }), seen(thread))],
        "chat_stop" | "chat_continue" => vec![(json!({ "thread_id": thread }), None)],
        "tool_result" => vec![(json!({ "thread_id": thread, "tool_call_id": "none", "result": "x" }), None)],
        "tool_approval_response" => vec![(json!({ "approval_id": "none", "decision": "deny" }), None)],
        "ui_manifest" => vec![(json!({ "tools": [] }), None)],
        "auth" => vec![(json!({ "key": "x" }), None)],
        "ping" | "chat_turns" | "capability_query" => vec![(json!({}), None)],
        "peer_hello" => vec![(json!({ "ensemble": "other" }), None)],
        "tool_request" => vec![(json!({ "requestId": "t", "from": "x", "tool": "none" }), None)],
        "task_request" => vec![(json!({ "requestId": "t", "from": "x", "task": "none" }), None)],
        "request_cancel" | "task_accepted" => vec![(json!({ "requestId": "none" }), None)],
        "task_progress" => vec![(json!({ "requestId": "none" }), None)],
        "task_response" | "tool_response" => vec![(json!({ "requestId": "none", "status": "COMPLETED" }), None)],
        "capacity_update" => vec![(
            json!({ "ensemble": "x", "status": "available", "currentLoad": 0.0, "maxConcurrent": 1, "shareable": true }),
            None,
        )],
        kind => panic!("say here what a `{kind}` is sent with"),
    }
}

/// Frames that ask for a thread and are refused as missing to all keys but its own.
const ABOUT_A_THREAD: [&str; 6] =
    ["chat_message", "chat_subscribe", "set_permission_mode", "chat_stop", "chat_continue", "tool_result"];

/// Sends a frame; returns everything that the client receives until it has been answered.
async fn told(socket: &mut Socket, kind: &str, mut frame: Value) -> Vec<Value> {
    frame["type"] = json!(kind);
    socket.say(frame).await;
    socket.drained().await
}

/// Returns the codes and words of answers.
fn words(frames: &[Value]) -> Vec<&str> {
    let word = |name: &'static str| frames.iter().filter_map(move |frame| frame[name].as_str());
    word("code").chain(word("error")).chain(word("status")).collect()
}

pub(super) async fn things(here: &Here) -> Things {
    let (run, review) = begun(here, &first()).await;
    let thread = thread(here, &first()).await;
    Things { run, review, thread }
}

fn allows(scope: Scope, needed: &str) -> bool {
    needed == "read" || scope.word() == needed || scope == Scope::Admin
}

#[tokio::test]
async fn every_frame_reaches_what_its_key_may_see_and_nothing_else() {
    let here = start(guarded()).await;
    for (needed, whose, kind) in kinds() {
        for scope in Scope::ALL {
            for side in Side::EACH {
                let key = side.key(scope);
                let things = things(&here).await;
                for (frame, seen) in examples(&kind, &things) {
                    let (mut socket, _) = greeted(&here, &key).await;
                    let frames = told(&mut socket, &kind, frame).await;
                    let what = format!("`{kind}` with the key {key}: {frames:?}");
                    let words = words(&frames);
                    if !allows(scope, &needed) {
                        assert!(words.contains(&"FORBIDDEN"), "{what}");
                        continue;
                    }
                    assert!(!words.contains(&"FORBIDDEN"), "{what}");
                    let sees = match whose.as_str() {
                        // A new run is the caller's own.
                        "runs" => side.sees(scope) || kind == "run_request",
                        "key" => key == first() || !ABOUT_A_THREAD.contains(&kind.as_str()),
                        _ => true,
                    };
                    let is_missing = words.iter().any(|word| MISSING.contains(word));
                    let holds = |text: &String| frames.iter().any(|frame| frame.to_string().contains(text.as_str()));
                    match seen {
                        Some(text) if sees => assert!(holds(&text) && !is_missing, "{what}"),
                        Some(text) => assert!(is_missing || !holds(&text), "{what}"),
                        None => assert!(sees != is_missing || kind == "tool_approval_response", "{what}"),
                    }
                    if kind == "run_request" {
                        let run = frames.iter().find_map(|frame| frame["runId"].as_str()).unwrap();
                        let made = get(&here, &Side::All.key(Scope::Read), &format!("/api/runs/{run}")).await.json();
                        assert_eq!(made["owner"], side.owner(), "{what}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn hello_and_everything_after_it_hold_the_runs_that_are_seen() {
    let here = start(guarded()).await;
    let (before, _) = begun(&here, &first()).await;
    let mut watchers = Vec::new();
    for side in Side::EACH {
        for scope in Scope::ALL {
            let (socket, hello) = greeted(&here, &side.key(scope)).await;
            // Another ensemble is told who this one is, and of no runs.
            let sees = side.sees(scope) && scope != Scope::Peer;
            assert_eq!(hello.to_string().contains(&before), sees, "{side:?} {scope:?}");
            watchers.push((side, scope, sees, socket));
        }
    }
    let (run, review) = begun(&here, &first()).await;
    let (mut decider, _) = greeted(&here, &Side::Own.key(Scope::Review)).await;
    decider.say(json!({ "type": "review_decision", "reviewId": review, "decision": "CONTINUE" })).await;
    decider.first("review_decision_ack").await;
    decider.first("ensemble_completed").await;
    for (side, scope, sees, mut socket) in watchers {
        let frames = socket.drained().await;
        let holds = frames.iter().any(|frame| frame.to_string().contains(&run));
        assert_eq!(holds, sees, "{side:?} {scope:?}: {frames:?}");
        let (_, hello) = greeted(&here, &side.key(scope)).await;
        assert_eq!(hello.to_string().contains(&run), sees, "{side:?} {scope:?}");
    }
}
