//! Every route with a JSON body and every frame, sent with a field that nobody knows: the answer names it. A new one
//! that ignores it without a word fails.

use consort_runtime::admission::Capacity;
use serde_json::{Value, json};

use super::frames;
use super::matrix::{body, operations, prepare};
use super::{Side, ask, begun, first, get, greeted, guarded, post, thread, tracing};
use crate::client::{Here, Socket, engine, server, start, task};
use crate::says;

/// A field of no request.
const TYPO: &str = "tpyo";

/// Returns the key that begins things, or one of the same owner where another scope is needed.
fn key(scope: &str) -> String {
    match scope {
        "read" | "run" => first(),
        scope => format!("{:?}-{scope}", Side::Own),
    }
}

/// Returns the operations of the API whose JSON bodies have named fields, as method and path.
fn with_fields() -> Vec<(String, String)> {
    let api: Value = serde_json::from_str(include_str!("../../../../openapi.json")).unwrap();
    let mut found = Vec::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let named = schema["$ref"].as_str().and_then(|place| api.pointer(place.trim_start_matches('#')));
            if named.unwrap_or(schema)["properties"].is_object() {
                found.push((method.to_uppercase(), path.clone()));
            }
        }
    }
    found
}

#[tokio::test]
async fn every_route_names_a_field_that_it_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let here = start(tracing(folder.path())).await;
    let with_fields = with_fields();
    assert!(with_fields.len() > 20, "{with_fields:?}");
    let is_asked = |method: &str, path: &str| with_fields.iter().any(|(m, p)| m == method && p == path);
    let mut refused = Vec::new();
    for operation in operations().iter().filter(|one| is_asked(&one.method, &one.path)) {
        let asked = prepare(&here, operation, &operation.id).await;
        if ["retryRun", "forkRun"].contains(&operation.id.as_str()) {
            end(&here, asked.path().split('/').nth(3).unwrap()).await;
        }
        let mut body = body(operation, &format!("{}-made", operation.id));
        body = if body.is_null() { json!({}) } else { body };
        body[TYPO] = json!(1);
        // The key goes first: a saved workflow also wants to be told which version was changed.
        let key = format!("{}\r\nIf-Match: *", key(&operation.scope));
        let answer = ask(&here, &key, (&operation.method, asked.path()), &body).await;
        let warnings = answer.json()["warnings"].to_string();
        assert!(warnings.contains(&format!("`{TYPO}`")), "{}: {answer:?}", operation.id);
        if answer.status >= 300 {
            refused.push(operation.id.clone());
        }
    }
    // There is nothing to give up, to raise or to approve.
    let not_carried_out = ["giveUpCall", "raiseBudget", "answerApproval"];
    assert_eq!(refused, not_carried_out, "all others are carried out");
}

#[tokio::test]
async fn every_frame_of_a_client_is_answered_with_the_fields_that_were_ignored() {
    let here = start(guarded()).await;
    for (scope, _, kind) in frames::kinds().into_iter().filter(|(scope, _, _)| scope != "peer") {
        let things = frames::things(&here).await;
        for (mut frame, _) in frames::examples(&kind, &things) {
            frame[TYPO] = json!(1);
            let (mut socket, _) = greeted(&here, &key(&scope)).await;
            let frames = answers(&mut socket, &kind, frame).await;
            let named = |frame: &Value| frame["warnings"].to_string().contains(&format!("`{TYPO}`"));
            assert!(frames.iter().any(named), "`{kind}`: {frames:?}");
        }
    }
}

/// Ends a run.
async fn end(here: &Here, run: &str) {
    post(here, &first(), &format!("/api/runs/{run}/cancel"), json!({ "mode": "now" })).await;
    while get(here, &first(), &format!("/api/runs/{run}")).await.json()["status"] != "CANCELLED" {}
}

/// Sends a frame; returns everything that the client receives until it has been answered.
async fn answers(socket: &mut Socket, kind: &str, mut frame: Value) -> Vec<Value> {
    frame["type"] = json!(kind);
    socket.say(frame).await;
    socket.say(json!({ "type": "ping", "requestId": "end" })).await;
    let mut frames = vec![socket.frame().await];
    while frames.last().unwrap()["requestId"] != "end" {
        frames.push(socket.frame().await);
    }
    frames
}

async fn warnings(here: &Here, (method, path): (&str, &str), scope: &str, body: Value) -> (u16, Vec<String>) {
    let answer = ask(here, &key(scope), (method, path), &body).await;
    let warnings = answer.json()["warnings"].as_array().cloned().unwrap_or_default();
    (answer.status, warnings.iter().map(|warning| warning.as_str().unwrap().to_owned()).collect())
}

#[tokio::test]
async fn a_warning_says_what_was_meant_and_what_is_allowed() {
    let here = start(guarded()).await;
    let (run, review) = begun(&here, &first()).await;
    let thread = thread(&here, &first()).await;
    let cancel = format!("/api/runs/{run}/cancel");
    let inject = format!("/api/runs/{run}/inject");
    let change = format!("/api/threads/{thread}");
    let decide = format!("/api/reviews/{review}");
    let cases = [
        (("POST", inject.as_str()), "run", json!({ "content": "x", "tarrget": "a" }), (200, "target")),
        (
            ("PATCH", change.as_str()),
            "run",
            json!({ "title": "x", "permissionmode": "auto" }),
            (200, "permission_mode"),
        ),
        (("POST", "/api/threads"), "run", json!({ "titel": "x" }), (201, "title")),
        (("POST", "/api/collections"), "run", json!({ "naem": "x" }), (400, "name")),
        (("POST", "/api/tools/calculator/invoke"), "tools", json!({ "imput": "1 + 1", "input": "1" }), (200, "input")),
        (("POST", decide.as_str()), "review", json!({ "desicion": "CONTINUE" }), (400, "decision")),
        (("POST", cancel.as_str()), "run", json!({ "mdoe": "now" }), (200, "mode")),
    ];
    for (route, scope, body, (status, meant)) in cases {
        let (answered, warnings) = warnings(&here, route, scope, body).await;
        assert_eq!((answered, warnings.len()), (status, 1), "{route:?}: {warnings:?}");
        assert!(warnings[0].contains(&format!("did you mean `{meant}`? Allowed")), "{warnings:?}");
    }
    let plain = warnings(&here, ("POST", "/api/threads"), "run", json!({ "title": "x" })).await;
    assert_eq!(plain, (201, Vec::new()), "what is right has no warnings");
}

#[tokio::test]
async fn a_body_that_is_not_taken_and_an_answer_without_an_object_have_warnings_too() {
    let here = start(guarded()).await;
    let (run, _) = begun(&here, &first()).await;
    let head = format!(
        "POST /api/runs/{run}/pause HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json",
        first()
    );
    let paused = here.send_anything(&head, br#"{"mode":"now"}"#).await;
    let warning = json!(["unknown field `mode` was ignored: no field is allowed"]);
    assert_eq!((paused.status, &paused.json()["warnings"]), (200, &warning));

    let here = start(server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")])).await;
    let body = json!({ "inputs": { "topic": "x" }, "tasg": {} });
    let streamed = here.post_with("/api/runs", "Accept: text/event-stream", body).await;
    let warning = "299 - \"unknown field `tasg` was ignored; did you mean `tags`? Allowed are ";
    assert!(streamed.header("warning").unwrap_or_default().starts_with(warning), "{streamed:?}");
}
