//! The model against a server on a real socket.

use std::sync::Arc;

use consort_core::message::{FailureKind, Part, Reply, Stop};
use consort_fuzz::judge;
use consort_http::client;
use serde_json::{Value, json};

use super::Anthropic;
use super::fake::{RULES, error};
use super::shapes::{begin, delta, end, sse, start, stop, thoughts};
use crate::conformance::{CALLS, Scene, WORDS, all, ask, ask_on, reply, result};
use crate::fake::Answer;
use crate::wired::{KEY, Wired, called, options, said, system, user, with_files, words as text_part};
use crate::{Ask, BodyShape, Options, Piece, names};

const WIRE: Wired = Wired {
    rules: RULES,
    model: |options| Arc::new(Anthropic::new(options, client().unwrap()).unwrap()),
    plays,
    hello: || Answer::stream(sse(&[words(1), stop("end_turn")].concat())),
};

/// Returns the first events of a text answer, up to the first `count` words.
fn words(count: usize) -> Vec<Value> {
    let words = WORDS.iter().take(count).map(|word| delta(0, "text_delta", "text", word));
    [start(), begin(0, json!({ "type": "text", "text": "" }))].into_iter().chain(words).collect()
}

fn calls() -> Vec<Value> {
    let call = |(at, (id, name, args)): (usize, &(&str, &str, &str))| {
        let at = at as u64;
        let name = names::encode(name);
        let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
        [begin(at, block), delta(at, "input_json_delta", "partial_json", args), end(at)]
    };
    CALLS.iter().enumerate().flat_map(call).collect()
}

fn plays(scene: Scene) -> Answer {
    match scene {
        Scene::Words => Answer::stream(sse(&[words(3), vec![end(0)], stop("end_turn")].concat())),
        Scene::Calls => Answer::stream(sse(&[vec![start()], calls(), stop("tool_use")].concat())),
        Scene::Overloaded => error(529, "overloaded_error", "Overloaded"),
        Scene::Cut | Scene::Held => Answer::stream(sse(&words(1))),
    }
}

#[tokio::test]
async fn it_does_what_every_model_must() {
    WIRE.conforms().await;
}

#[tokio::test]
async fn a_conversation_is_sent_mended_in_turns() {
    let request = WIRE
        .sent(vec![
            system("Be brief."),
            system(" "),
            said("openai", vec![called("same", "net.find", "[1]"), called("functions.x:0", "calculator", "")]),
            result("functions.x:0", "calculator", " \n"),
            result("stray", "net.find", "late"),
            user("Go on."),
            user(""),
            said("openai", vec![text_part(" ")]),
            user("And?"),
            said("openai", vec![called("same", "calculator", "{ \"input\" :1.0}")]),
            result("same", "calculator", "2"),
            said("openai", vec![text_part("Two.")]),
        ])
        .await;
    let missing = "This call has no result: it was stopped before it answered.";
    let text = |text: &str| json!({ "type": "text", "text": text });
    let tool_use =
        |id: &str, name: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    let expected = json!([
        { "role": "user", "content": [text("Go on.")] },
        { "role": "assistant", "content": [
            tool_use("same", "net_x2E_find", json!({ "unreadable": "[1]" })), tool_use("call_1", "calculator", json!({})) ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "same", "content": missing, "is_error": true },
            { "type": "tool_result", "tool_use_id": "call_1", "is_error": false },
            text("Result of `net.find`:\nlate"), text("Go on."), text("And?") ] },
        { "role": "assistant", "content": [tool_use("call_2", "calculator", json!({ "input": 1.0 }))] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "call_2", "content": "2", "is_error": false } ] },
        { "role": "assistant", "content": [text("Two.")] },
        { "role": "user", "content": [marked(text("Go on."))] },
    ]);
    assert_eq!(request["messages"], expected);
    assert_eq!(request["system"], json!([marked(text("Be brief."))]));
    assert_eq!((&request["max_tokens"], &request["stream"]), (&json!(100), &json!(true)));
    assert_eq!(request["tools"][0]["name"], "net_x2E_find");
    assert_eq!(request["tools"][0]["input_schema"]["required"], json!(["input"]));
}

/// Returns a block with the mark of what is kept in the cache.
fn marked(mut block: Value) -> Value {
    block["cache_control"] = json!({ "type": "ephemeral" });
    block
}

#[tokio::test]
async fn the_cache_is_told_the_end_of_tools_instructions_and_a_conversation_that_goes_on() {
    let messages = Arc::new(vec![system("Be brief."), system("Be kind."), user("Hello.")]);
    let places = |request: &Value| {
        let text = request.to_string();
        let at = |pointer: &str| request.pointer(pointer).is_some_and(|block| block.get("cache_control").is_some());
        let marks = text.matches("cache_control").count();
        (marks, at("/tools/1"), at("/system/1"), at("/messages/0/content/0"))
    };
    let with_tools = WIRE.asked(Ask { messages: messages.clone(), ..ask() }).await;
    assert_eq!(with_tools["tools"].as_array().map(Vec::len), Some(2), "{with_tools}");
    assert_eq!(places(&with_tools), (3, true, true, true), "{with_tools}");
    let alone = WIRE.asked(Ask { messages, tools: Arc::new([]), ..ask() }).await;
    assert_eq!(places(&alone), (1, false, true, false), "one question is not worth keeping: {alone}");
    let calls = Reply { wire: "openai".to_owned(), parts: vec![called("a", "calculator", "{}")], stop: Stop::End };
    let on = WIRE.asked(ask_on(&calls)).await;
    let last = on["messages"].as_array().unwrap().last().unwrap()["content"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["type"], &last["cache_control"]), (&json!("tool_result"), &json!({ "type": "ephemeral" })));
}

#[tokio::test]
async fn thoughts_go_back_byte_for_byte_and_in_order() {
    let body = WIRE.sent_back(Answer::stream(sse(&thoughts()))).await;
    let expected = concat!(
        r#"{"role":"assistant","content":["#,
        r#"{"type":"thinking","thinking":"Let me see\n\"it\"","signature":"EqQBCgIYAhIM+/=="},"#,
        r#"{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix/LafPsn4a"},"#,
        r#"{"type":"text","text":"Looking."},"#,
        r#"{"type":"tool_use","id":"toolu_A","name":"net_x2E_find","input":{"input": "über"},"caller":{"type":"direct"}},"#,
        r#"{"type":"thinking","thinking":"","signature":"c2ln"},"#,
        r#"{"type":"tool_use","id":"toolu_B","name":"calculator","input":{},"caller":{"type":"direct"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_A","content":"done","is_error":false},"#,
    );
    assert!(body.contains(expected), "{body}");
}

#[tokio::test]
async fn another_models_reply_is_sent_in_words_and_calls_only() {
    let native = || Some(json!({ "type": "thinking", "thinking": null, "signature": "s" }));
    let parts = || vec![Part::Thinking { text: "deep".into(), native: native() }, called("a", "calculator", "{}")];
    for wire in ["openai", "anthropic/other", "gemini/m"] {
        let request = WIRE.sent(vec![user("Go on."), said(wire, parts()), result("a", "calculator", "2")]).await;
        assert_eq!(request["messages"][1]["content"].as_array().map(Vec::len), Some(1), "{request}");
    }
}

#[tokio::test]
async fn calls_can_be_asked_for_one_at_a_time() {
    let fake = WIRE.fake([]).await;
    let model = (WIRE.model)(Options { parallel_tool_calls: false, ..options(&fake) });
    reply(&*model, ask()).await;
    reply(&*model, Ask { tools: Arc::new([]), ..ask() }).await;
    let requests = fake.requests();
    assert_eq!(requests[0]["tool_choice"], json!({ "type": "auto", "disable_parallel_tool_use": true }));
    assert_eq!((requests[1].get("tools"), requests[1].get("tool_choice")), (None, None));
    assert_eq!(fake.headers()[0]["x-api-key"], KEY);
}

#[tokio::test]
async fn a_question_without_tools_still_names_those_that_were_called() {
    let calls = ["a", "b"].map(|id| called(id, "net.find", "{}")).to_vec();
    let asked = Reply { wire: "openai".to_owned(), parts: calls, stop: Stop::End };
    let request = WIRE.asked(Ask { tools: Arc::new([]), ..ask_on(&asked) }).await;
    let tool = marked(json!({ "name": "net_x2E_find", "input_schema": { "type": "object" } }));
    assert_eq!(request["tools"], json!([tool]));
    assert_eq!(request["tool_choice"], json!({ "type": "none" }));
    judge("anthropic", &[request]);
}

#[tokio::test]
async fn complaints_become_failures_of_the_right_kind() {
    for (status, code, message, kind) in [
        (400, "invalid_request_error", "max_tokens: too large", FailureKind::Refused),
        (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum", FailureKind::Overflow),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            FailureKind::Overflow,
        ),
        (400, "invalid_request_error", "Your credit balance is too low to use the API.", FailureKind::Refused),
        (401, "authentication_error", "invalid x-api-key", FailureKind::Unauthorized),
        (403, "permission_error", "no", FailureKind::Unauthorized),
        (404, "not_found_error", "model: m", FailureKind::Refused),
        (413, "request_too_large", "Request exceeds the maximum size", FailureKind::Overflow),
        (429, "rate_limit_error", "slow down", FailureKind::RateLimited),
        (500, "api_error", "Internal server error", FailureKind::Overloaded),
        (529, "overloaded_error", "Overloaded", FailureKind::Overloaded),
    ] {
        let failure = WIRE.failure(error(status, code, message)).await;
        assert_eq!((failure.kind, failure.charged), (kind, false), "{status} {code}");
        assert_eq!(failure.message, format!("HTTP {status}: {message}"));
    }
    let limited = error(429, "rate_limit_error", "slow down").header("retry-after", "7");
    assert_eq!(WIRE.failure(limited).await.retry_after_ms, Some(7000));
}

#[tokio::test]
async fn complaints_in_the_middle_are_failures_that_may_cost() {
    for (code, kind) in [
        ("overloaded_error", FailureKind::Overloaded),
        ("rate_limit_error", FailureKind::RateLimited),
        ("api_error", FailureKind::Overloaded),
        ("timeout_error", FailureKind::Timeout),
        ("invalid_request_error", FailureKind::Refused),
        ("billing_error", FailureKind::Refused),
        ("authentication_error", FailureKind::Unauthorized),
    ] {
        let event = json!({ "type": "error", "error": { "type": code, "message": "so it is" } });
        let failed = WIRE.failure(Answer::stream(sse(&[words(1), vec![event.clone()]].concat()))).await;
        assert_eq!((failed.kind, failed.charged, &*failed.message), (kind, true, "so it is"), "{code}");
        assert!(!WIRE.failure(Answer::stream(sse(&[event]))).await.charged);
    }
}

#[tokio::test]
async fn stop_reasons_are_understood() {
    for (reason, expected) in [
        ("end_turn", Stop::End),
        ("stop_sequence", Stop::End),
        ("pause_turn", Stop::End),
        ("model_context_window_exceeded", Stop::Length),
        ("refusal", Stop::Filtered),
    ] {
        let fake = WIRE.fake([Answer::stream(sse(&[words(1), stop(reason)].concat()))]).await;
        let said = all(&*WIRE.model(&fake), ask()).await;
        assert!(matches!(said.last(), Some(Ok(Piece::Done(reply, _))) if reply.stop == expected), "{said:?}");
    }
}

#[tokio::test]
async fn its_requests_are_what_the_providers_own_client_sends() {
    WIRE.judged("anthropic", Answer::stream(sse(&thoughts()))).await;
}

#[tokio::test]
async fn options_headers_and_extra_fields_are_sent_in_the_providers_words() {
    let body = WIRE.optional(BodyShape::Messages).await;
    assert_eq!((&body["temperature"], &body["top_p"], &body["seed"]), (&json!(0.5), &json!(0.9), &json!(null)));
    assert_eq!(body["output_config"], json!({ "effort": "high" }));
}

#[tokio::test]
async fn a_schema_is_told_in_the_providers_words_until_it_refuses_it() {
    let told = WIRE.schema_at(BodyShape::Messages, "/output_config/format").await;
    let schema =
        json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "additionalProperties": false });
    assert_eq!(told, json!({ "type": "json_schema", "schema": schema }));
}

#[tokio::test]
async fn files_are_sent_as_images_and_documents_beside_the_words() {
    let request = WIRE.asked(with_files()).await;
    let source = |kind: &str| json!({ "type": "base64", "media_type": kind, "data": "AAEC" });
    let expected = json!([
        { "type": "text", "text": "Look." },
        { "type": "image", "source": source("image/png") },
        { "type": "document", "source": source("application/pdf"), "title": "b.bin",
            "cache_control": { "type": "ephemeral" } },
    ]);
    assert_eq!(request["messages"][0]["content"], expected);
}
