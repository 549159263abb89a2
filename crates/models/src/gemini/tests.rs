//! The model against a server on a real socket.

use std::sync::Arc;

use consort_core::message::{Call, FailureKind, Message, Part};
use consort_http::client;
use serde_json::{Value, json};

use super::fake::{RULES, error};
use super::shapes::{chunk, sse, thoughts};
use super::{Gemini, url};
use crate::conformance::{CALLS, Scene, WORDS, result};
use crate::fake::Answer;
use crate::wired::{Wired, called, said, system, user, with_files};
use crate::{BodyShape, Options, names};

const WIRE: Wired =
    Wired { rules: RULES, model: |options| Arc::new(Gemini::new(options, client().unwrap()).unwrap()), plays, hello };

fn hello() -> Answer {
    Answer::stream(sse(&[chunk(json!([{ "text": "Hello" }]), Some("STOP"))]))
}

fn plays(scene: Scene) -> Answer {
    let word = |word: &&str| chunk(json!([{ "text": word }]), None);
    let call = |(id, name, args): &(&str, &str, &str)| {
        let args: Value = serde_json::from_str(args).unwrap();
        json!({ "functionCall": { "id": id, "name": names::encode(name), "args": args } })
    };
    match scene {
        Scene::Words => {
            let words: Vec<Value> = WORDS.iter().map(word).collect();
            Answer::stream(sse(&[words, vec![chunk(json!([{ "text": "" }]), Some("STOP"))]].concat()))
        }
        Scene::Calls => Answer::stream(sse(&[chunk(CALLS.iter().map(call).collect::<Vec<_>>().into(), Some("STOP"))])),
        Scene::Overloaded => error(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        Scene::Cut | Scene::Held => Answer::stream(sse(&[word(&WORDS[0])])),
    }
}

#[tokio::test]
async fn it_does_what_every_model_must() {
    WIRE.conforms().await;
}

#[tokio::test]
async fn a_conversation_is_sent_mended_with_results_in_the_order_of_the_calls() {
    let failed = Message::Tool {
        call: "1.0.1".into(),
        provider_id: "b".to_owned(),
        name: "calculator".to_owned(),
        text: "no".into(),
        is_error: true,
    };
    let calls = vec![
        called("a", "net.find", ""),
        called("b", "calculator", "{\"input\": 1.0}"),
        called("c", "calculator", "half"),
    ];
    let request = WIRE
        .sent(vec![
            system("Be brief."),
            said("openai", calls),
            failed,
            result("a", "net.find", "found"),
            result("stray", "net.find", "late"),
            user(""),
        ])
        .await;
    let call = |name: &str, args: Value| json!({ "functionCall": { "name": name, "args": args } });
    let mut first = call("net_x2E_find", json!({}));
    first["thoughtSignature"] = "skip_thought_signature_validator".into();
    let told = |name: &str, response: Value| json!({ "functionResponse": { "name": name, "response": response } });
    let missing = "This call has no result: it was stopped before it answered.";
    let expected = json!([
        { "role": "user", "parts": [{ "text": "Go on." }] },
        { "role": "model", "parts": [
            first, call("calculator", json!({ "input": 1.0 })), call("calculator", json!({ "unreadable": "half" })) ] },
        { "role": "user", "parts": [
            told("net_x2E_find", json!({ "output": "found" })), told("calculator", json!({ "error": "no" })),
            told("calculator", json!({ "error": missing })), { "text": "Result of `net.find`:\nlate" } ] },
    ]);
    assert_eq!(request["contents"], expected);
    assert_eq!(request["systemInstruction"], json!({ "parts": [{ "text": "Be brief." }] }));
    assert_eq!(request["generationConfig"], json!({ "maxOutputTokens": 100 }));
    let tool = &request["tools"][0]["functionDeclarations"][0];
    assert_eq!((&tool["name"], &tool["parametersJsonSchema"]["required"]), (&json!("net_x2E_find"), &json!(["input"])));
}

#[tokio::test]
async fn signatures_go_back_byte_for_byte_on_their_own_parts() {
    let body = WIRE.sent_back(Answer::stream(sse(&thoughts()))).await;
    let expected = concat!(
        r#"{"role":"model","parts":["#,
        r#"{"thoughtSignature":"dGhvdWdodA==","text":"signed","thought":true},"#,
        r#"{"text":"Let me see."},"#,
        r#"{"text":" Now.","thoughtSignature":"d29yZHM="},"#,
        r#"{"text":" So:"},"#,
        r#"{"functionCall":{"id":"fc-1","name":"net_x2E_find","args":{"input":"über"}},"thoughtSignature":"CpkBAVSoXO4+/w=="},"#,
        r#"{"functionCall":{"name":"calculator","args":{}}},"#,
        r#"{"functionCall":{"name":"calculator","args":{}}},"#,
        r#"{"text":"","thoughtSignature":"ZW5k"}]},"#,
        r#"{"role":"user","parts":["#,
        r#"{"functionResponse":{"id":"fc-1","name":"net_x2E_find","response":{"output":"done"}}},"#,
        r#"{"functionResponse":{"name":"calculator","response":{"output":"done"}}},"#,
    );
    assert!(body.contains(expected), "{body}");
}

#[tokio::test]
async fn another_models_reply_is_sent_in_words_and_calls_only() {
    let native = Some(json!({ "functionCall": { "id": "x" }, "thoughtSignature": "theirs" }));
    let parts = vec![
        Part::Thinking { text: "deep".into(), native: native.clone() },
        Part::Text { text: "Yes.".into(), native: Some(json!({ "text": null, "thoughtSignature": "theirs" })) },
        Part::Call(Call { provider_id: "x".into(), tool: "calculator".into(), args: "{}".into(), native }),
    ];
    for wire in ["anthropic/m", "gemini/other"] {
        let request = WIRE.sent(vec![user("Go on."), said(wire, parts.clone()), result("x", "calculator", "2")]).await;
        let text = request.to_string();
        assert!(text.contains("Yes.") && !text.contains("theirs") && !text.contains("deep"), "{text}");
        assert_eq!(request["contents"][1]["parts"][1]["functionCall"].get("id"), None);
    }
}

#[tokio::test]
async fn complaints_become_failures_of_the_right_kind() {
    let too_long = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).";
    for (status, code, message, kind) in [
        (400, "INVALID_ARGUMENT", "Please use a valid role", FailureKind::Refused),
        (400, "INVALID_ARGUMENT", too_long, FailureKind::Overflow),
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", FailureKind::Unauthorized),
        (400, "FAILED_PRECONDITION", "User location is not supported", FailureKind::Refused),
        (403, "PERMISSION_DENIED", "no", FailureKind::Unauthorized),
        (404, "NOT_FOUND", "models/m is not found", FailureKind::Refused),
        (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", FailureKind::RateLimited),
        (500, "INTERNAL", "An internal error has occurred", FailureKind::Overloaded),
        (503, "UNAVAILABLE", "The model is overloaded", FailureKind::Overloaded),
    ] {
        let failure = WIRE.failure(error(status, code, message)).await;
        assert_eq!((failure.kind, failure.charged), (kind, false), "{status} {code}");
        assert_eq!(failure.message, format!("HTTP {status}: {message}"));
    }
}

#[tokio::test]
async fn a_wait_is_read_from_the_details() {
    let info = json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.074s" });
    let quota = json!({ "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [] });
    let error = json!({ "error": { "code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [quota, info] } });
    for complaint in [error.clone(), json!([error])] {
        let failure = WIRE.failure(Answer::json(429, &complaint)).await;
        assert_eq!((failure.kind, failure.retry_after_ms), (FailureKind::RateLimited, Some(34_074)));
    }
    let failure = WIRE.failure(Answer::stream(sse(&[chunk(json!([{ "text": "Hi" }]), None), error]))).await;
    assert_eq!((failure.kind, failure.charged), (FailureKind::RateLimited, true));
}

#[tokio::test]
async fn a_blocked_prompt_is_refused_and_a_spoiled_call_may_be_asked_for_again() {
    let feedback = json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" }, "usageMetadata": { "promptTokenCount": 4 } });
    let blocked = WIRE.failure(Answer::stream(sse(&[feedback]))).await;
    assert_eq!((blocked.kind, blocked.charged), (FailureKind::Refused, false));
    assert!(blocked.message.contains("PROHIBITED_CONTENT"));
    let spoiled = WIRE.failure(Answer::stream(sse(&[chunk(json!([]), Some("MALFORMED_FUNCTION_CALL"))]))).await;
    assert_eq!((spoiled.kind, spoiled.charged), (FailureKind::Malformed, true));
}

#[test]
fn a_models_name_becomes_its_address() {
    let address = |base, model| url(&Options::new(base, model)).unwrap().to_string();
    let tail = ":streamGenerateContent?alt=sse";
    assert_eq!(address("http://host/", "m-2.5"), format!("http://host/v1beta/models/m-2.5{tail}"));
    assert_eq!(address("http://host/gate", "tunedModels/m"), format!("http://host/gate/v1beta/tunedModels/m{tail}"));
    assert_eq!(address("http://host", "m?x#y"), format!("http://host/v1beta/models/m%3Fx%23y{tail}"));
}

#[tokio::test]
async fn its_requests_are_what_the_providers_own_client_sends() {
    WIRE.judged("gemini", Answer::stream(sse(&thoughts()))).await;
}

#[tokio::test]
async fn options_headers_and_extra_fields_are_sent_in_the_providers_words() {
    let body = WIRE.optional(BodyShape::Content).await;
    let config = &body["generationConfig"];
    assert_eq!((&config["temperature"], &config["topP"], &config["seed"]), (&json!(0.5), &json!(0.9), &json!(7)));
    assert_eq!(config["thinkingConfig"], json!({ "thinkingLevel": "HIGH" }));
}

#[tokio::test]
async fn a_schema_is_told_in_the_providers_words_until_it_refuses_it() {
    let told = WIRE.schema_at(BodyShape::Content, "/generationConfig/responseJsonSchema").await;
    assert_eq!(told["type"], "object");
    let told = WIRE.schema_at(BodyShape::Content, "/generationConfig/responseMimeType").await;
    assert_eq!(told, "application/json");
}

#[tokio::test]
async fn files_are_sent_inline_beside_the_words() {
    let request = WIRE.asked(with_files()).await;
    let inline = |kind: &str| json!({ "inlineData": { "mimeType": kind, "data": "AAEC" } });
    let expected = json!([{ "text": "Look." }, inline("image/png"), inline("application/pdf")]);
    assert_eq!(request["contents"][0]["parts"], expected);
}
