//! Requests that fail, in the form that OpenAI's clients understand.

use consort_core::budget::Limits;
use consort_core::chat::{Mode, Rules};
use consort_core::message::{Failure, FailureKind};

use super::*;

#[tokio::test]
async fn every_failure_has_openais_form() {
    let mut guarded = server(engine(looks_up(), Capacity::UNLIMITED), vec![about_message()]);
    guarded.access.keys =
        vec![Key::new("ci", "ci", &[Scope::Run]).unwrap(), Key::new("eye", "eye", &[Scope::Read]).unwrap()];
    let here = start(guarded).await;
    let post = |path: &str, key: &str, kind: &str| {
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Type: {kind}")
    };
    let get = |path: &str, key: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}");
    let json = "application/json";
    let long = serde_json::to_vec(&asks(&"x".repeat(5_000))).unwrap();
    let style = serde_json::to_vec(&with(asks("x"), json!({ "model": "consort/test" }))).unwrap();
    let cases: Vec<(String, Vec<u8>, u16, &str, &str)> = vec![
        (get("/v1/models", "no"), vec![], 401, "invalid_request_error", "invalid_api_key"),
        (get("/v1/models", "eye"), vec![], 403, "permission_error", "FORBIDDEN"),
        (get("/v1/nothing", "ci"), vec![], 404, "invalid_request_error", "NOT_FOUND"),
        (get(COMPLETIONS, "ci"), vec![], 405, "invalid_request_error", "METHOD_NOT_ALLOWED"),
        (post(COMPLETIONS, "ci", json), b"{".to_vec(), 400, "invalid_request_error", "BAD_REQUEST"),
        (post(COMPLETIONS, "ci", json), b"[]".to_vec(), 400, "invalid_request_error", "BAD_REQUEST"),
        (post(COMPLETIONS, "ci", "text/plain"), b"{}".to_vec(), 415, "invalid_request_error", "UNSUPPORTED_MEDIA_TYPE"),
        (post(COMPLETIONS, "ci", json), long, 413, "invalid_request_error", "PAYLOAD_TOO_LARGE"),
        (post(COMPLETIONS, "ci", json), style, 400, "invalid_request_error", "MISSING_INPUT"),
        (post(RESPONSES, "ci", json), b"{}".to_vec(), 400, "invalid_request_error", "BAD_REQUEST"),
    ];
    for (head, body, status, kind, code) in cases {
        let answer = here.send(&head, &body).await;
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["type"], &error["code"]), (status, &json!(kind), &json!(code)), "{head}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()) && error.get("param").is_some());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert!(answer.header("x-request-id").is_some());
    }
}

#[tokio::test]
async fn a_breached_budget_is_a_bad_request_and_a_failed_model_a_bad_gateway_that_is_not_sent_again() {
    let failure = Failure {
        kind: FailureKind::Refused,
        message: "no such model".to_owned(),
        retry_after_ms: None,
        status: Some(404),
        charged: false,
    };
    let model = ScriptedModel::new().otherwise(Line::new().breaks(failure));
    let here = serving(&model).await;
    let failed = here.post(COMPLETIONS, asks("x")).await;
    assert_eq!((failed.status, &failed.json()["error"]["code"]), (502, &json!("ANSWER_FAILED")), "{failed:?}");
    assert_eq!(failed.header("x-should-retry"), Some("false"));
    assert!(failed.json()["error"]["message"].as_str().unwrap().contains("no such model"));
    let chunks = data(&here.post(COMPLETIONS, with(asks("x"), json!({ "stream": true }))).await);
    assert_eq!(chunks.last().unwrap()["error"]["code"], "ANSWER_FAILED");
    let events = data(&here.post(RESPONSES, json!({ "model": "consort", "input": "x", "stream": true })).await);
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["response"]["status"]), (&json!("response.failed"), &json!("failed")));
    assert_eq!(last["response"]["error"]["code"], "ANSWER_FAILED");

    let engine = engine(looks_up(), Capacity::UNLIMITED);
    let rules = Rules { mode: Mode::Auto, limits: Limits { llm_calls: 1, ..Limits::default() }, ..Rules::default() };
    let chats = Chats::new(engine.clone(), Settings::new(&engine, rules));
    let here = start(roomy(Server { chats, ..server(engine, Vec::new()) })).await;
    for (path, request) in [(COMPLETIONS, asks("x")), (RESPONSES, json!({ "model": "consort", "input": "x" }))] {
        let breached = here.post(path, request).await;
        assert_eq!(
            (breached.status, &breached.json()["error"]["code"]),
            (400, &json!("BUDGET_EXCEEDED")),
            "{breached:?}"
        );
    }
}
