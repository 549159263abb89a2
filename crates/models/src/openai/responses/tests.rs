//! The model against a server on a real socket.

use std::sync::Arc;

use consort_core::message::{Call, FailureKind, Part};
use consort_http::client;
use serde_json::{Value, json};

use super::fake::RULES;
use super::shapes::{completed, created, delta, function_call, item, message, reasoning, sse, thoughts};
use crate::conformance::{CALLS, Scene, WORDS, ask, result};
use crate::fake::Answer;
use crate::openai::fake::error;
use crate::openai::{Api, OpenAi};
use crate::wired::{Wired, said, system, user, with_files, words as text_part};
use crate::{Ask, BodyShape, names};

const WIRE: Wired = Wired {
    rules: RULES,
    model: |options| Arc::new(OpenAi::new(options, Api::Responses, client().unwrap()).unwrap()),
    plays,
    hello,
};

/// Returns the first events of a text answer, up to the first `count` words.
fn words(count: usize) -> Vec<Value> {
    let words = WORDS.iter().take(count).map(|word| delta("output_text", 0, word));
    created().into_iter().chain([item("added", 0, message(""))]).chain(words).collect()
}

fn hello() -> Answer {
    Answer::stream(sse(&[words(1), vec![item("done", 0, message(WORDS[0])), completed()]].concat()))
}

fn plays(scene: Scene) -> Answer {
    let call = |(at, (id, name, args)): (usize, &(&str, &str, &str))| {
        item("done", at as u64, function_call(id, &names::encode(name), args))
    };
    match scene {
        Scene::Words => {
            let end = vec![item("done", 0, message(&WORDS.concat())), completed()];
            Answer::stream(sse(&[words(3), end].concat()))
        }
        Scene::Calls => {
            let calls = CALLS.iter().enumerate().map(call).collect();
            Answer::stream(sse(&[created(), calls, vec![completed()]].concat()))
        }
        Scene::Overloaded => error(503, "server_is_overloaded", "come back later"),
        Scene::Cut | Scene::Held => Answer::stream(sse(&words(1))),
    }
}

#[tokio::test]
async fn it_does_what_every_model_must() {
    WIRE.conforms().await;
}

fn called(id: &str, native: Option<Value>) -> Part {
    Part::Call(Call { provider_id: id.into(), tool: "net.find".into(), args: "".into(), native })
}

fn thinking(native: Option<Value>) -> Part {
    Part::Thinking { text: "deep".into(), native }
}

#[tokio::test]
async fn a_conversation_is_sent_mended_item_by_item() {
    let messages = vec![
        system("Be brief."),
        user("Go on."),
        said("openai", vec![text_part("Yes."), called("same", None), called(&"x".repeat(65), None)]),
        result(&"x".repeat(65), "net.find", "found"),
        result("stray", "net.find", "late"),
    ];
    let request = WIRE.asked(Ask { messages: Arc::new(messages), max_output_tokens: 5, ..ask() }).await;
    let missing = "This call has no result: it was stopped before it answered.";
    let call = |id: &str| json!({ "type": "function_call", "call_id": id, "name": "net_x2E_find", "arguments": "{}" });
    let expected = json!([
        { "type": "message", "role": "system", "content": "Be brief." },
        { "type": "message", "role": "user", "content": "Go on." },
        { "type": "message", "role": "assistant", "content": "Yes." },
        call("same"),
        call("call_1"),
        { "type": "function_call_output", "call_id": "same", "output": missing },
        { "type": "function_call_output", "call_id": "call_1", "output": "found" },
        { "type": "message", "role": "user", "content": "Result of `net.find`:\nlate" },
    ]);
    assert_eq!(request["input"], expected);
    assert_eq!((&request["store"], &request["stream"]), (&json!(false), &json!(true)));
    assert_eq!(request["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(request["max_output_tokens"], 16);
    let tool = &request["tools"][0];
    assert_eq!((&tool["name"], &tool["strict"]), (&json!("net_x2E_find"), &json!(false)));
}

#[tokio::test]
async fn reasoning_goes_back_byte_for_byte_with_what_it_led_to() {
    let body = WIRE.sent_back(Answer::stream(sse(&thoughts()))).await;
    let expected = [
        reasoning().to_string(),
        concat!(
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Looking.","annotations":[]}],"#,
            r#""id":"msg_1","status":"completed","phase":"final_answer"}"#
        )
        .to_owned(),
        concat!(
            r#"{"type":"function_call","call_id":"call_A","name":"net_x2E_find","arguments":"{\"input\": \"über\"}","#,
            r#""id":"fc_call_A","status":"completed"}"#
        )
        .to_owned(),
    ];
    assert!(body.contains(&expected.join(",")), "{body}");
}

#[tokio::test]
async fn what_cannot_go_back_whole_goes_in_words_and_calls_only() {
    let id = |id: &str| Some(json!({ "id": id, "status": "completed" }));
    let text = Part::Text { text: "Yes.".into(), native: id("msg_1") };
    let all = vec![thinking(Some(reasoning())), text.clone(), called("a", id("fc_1"))];
    let lost = vec![thinking(None), text.clone(), called("a", id("fc_1"))];
    let lonely = vec![called("a", id("fc_1")), text, thinking(Some(reasoning()))];
    for (wire, parts) in [
        ("openai", all.clone()),
        ("openai-responses/other", all),
        ("openai-responses/m", lost),
        ("openai-responses/m", lonely),
    ] {
        let request = WIRE.sent(vec![said(wire, parts), result("a", "net.find", "2")]).await;
        let input = request["input"].to_string();
        assert!(input.contains("Yes.") && !input.contains("\"id\"") && !input.contains("reasoning"), "{input}");
    }
}

#[tokio::test]
async fn complaints_are_understood_wherever_they_come() {
    let failed = |code: &str| {
        let error = json!({ "code": code, "message": "so it is" });
        json!({ "type": "response.failed", "response": { "id": "resp_1", "status": "failed", "error": error } })
    };
    let event = |code: &str| json!({ "type": "error", "code": code, "message": "so it is", "param": null });
    let nested = |kind: &str| json!({ "type": "error", "error": { "type": kind, "message": "so it is" } });
    for (complaint, kind) in [
        (failed("server_error"), FailureKind::Overloaded),
        (failed("rate_limit_exceeded"), FailureKind::RateLimited),
        (failed("invalid_prompt"), FailureKind::Refused),
        (event("context_length_exceeded"), FailureKind::Overflow),
        (event("insufficient_quota"), FailureKind::Refused),
        (nested("too_many_requests"), FailureKind::RateLimited),
        (json!({ "error": { "code": "server_error", "message": "so it is" } }), FailureKind::Overloaded),
    ] {
        let failed = WIRE.failure(Answer::stream(sse(&[words(1), vec![complaint.clone()]].concat()))).await;
        assert_eq!((failed.kind, failed.charged, &*failed.message), (kind, true, "so it is"), "{complaint}");
    }
    let failed = WIRE.failure(error(429, "rate_limit_exceeded", "slow down").header("retry-after-ms", "70")).await;
    assert_eq!((failed.kind, failed.retry_after_ms), (FailureKind::RateLimited, Some(70)));
    let failed = WIRE.failure(error(400, "context_length_exceeded", "too long")).await;
    assert_eq!((failed.kind, failed.charged), (FailureKind::Overflow, false));
}

#[tokio::test]
async fn a_stream_that_ends_without_an_outcome_was_cut() {
    let cut = WIRE.failure(Answer::stream(sse(&[words(1), vec![item("done", 0, message(WORDS[0]))]].concat()))).await;
    assert_eq!((cut.kind, cut.charged), (FailureKind::Network, true));
}

#[tokio::test]
async fn its_requests_are_what_the_providers_own_client_sends() {
    WIRE.judged("openai-responses", Answer::stream(sse(&thoughts()))).await;
}

#[tokio::test]
async fn options_headers_and_extra_fields_are_sent_in_the_providers_words() {
    let body = WIRE.optional(BodyShape::Responses).await;
    assert_eq!((&body["temperature"], &body["top_p"], &body["seed"]), (&json!(0.5), &json!(0.9), &json!(null)));
    assert_eq!(body["reasoning"], json!({ "effort": "high" }));
}

#[tokio::test]
async fn a_schema_is_told_in_the_providers_words_until_it_refuses_it() {
    let told = WIRE.schema_at(BodyShape::Responses, "/text/format").await;
    assert_eq!(
        (&told["type"], &told["name"], &told["strict"]),
        (&json!("json_schema"), &json!("answer"), &json!(false))
    );
    assert_eq!(told["schema"]["type"], "object");
}

#[tokio::test]
async fn files_are_sent_as_input_of_a_user() {
    let request = WIRE.asked(with_files()).await;
    let expected = json!([
        { "type": "input_text", "text": "Look." },
        { "type": "input_image", "image_url": "data:image/png;base64,AAEC" },
        { "type": "input_file", "filename": "b.bin", "file_data": "data:application/pdf;base64,AAEC" },
    ]);
    assert_eq!(request["input"].as_array().unwrap().last().unwrap()["content"], expected);
}
