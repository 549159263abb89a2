//! The model against a server on a real socket.

use std::sync::Arc;
use std::time::Duration;

use consort_core::message::{Call, FailureKind, Message, Part};
use consort_http::client;
use futures::future::FutureExt;
use futures::stream::StreamExt;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::encode::Dialect;
use super::fake::{RULES, error};
use super::{Api, OpenAi};
use crate::conformance::{CALLS, Scene, WORDS, all, ask, deltas, reply, result};
use crate::fake::{Answer, Step};
use crate::wired::{KEY, Wired, options, said, system, user, with_files, words as text_part};
use crate::{Ask, BodyShape, Model, Options, OptionsError, Piece, names};

const WIRE: Wired = Wired { rules: RULES, model: |options| Arc::new(model(options)), plays, hello };

fn model(options: Options) -> OpenAi {
    OpenAi::new(options, Api::Chat, client().unwrap()).unwrap()
}

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
}

fn words() -> Vec<Value> {
    WORDS.iter().map(|word| chunk(json!({ "content": word }), None)).collect()
}

fn used() -> Value {
    json!({ "choices": [], "usage": {
        "prompt_tokens": 11, "completion_tokens": 7,
        "prompt_tokens_details": { "cached_tokens": 3 }, "completion_tokens_details": { "reasoning_tokens": 2 }
    }})
}

fn done() -> Step {
    Step::Send(b"data: [DONE]\n\n".to_vec())
}

fn hello() -> Answer {
    Answer::events(&[chunk(json!({ "content": "Hello" }), Some("stop"))]).then(done())
}

fn plays(scene: Scene) -> Answer {
    let call = |(at, (id, name, args)): (usize, &(&str, &str, &str))| {
        let function = json!({ "name": names::encode(name), "arguments": args });
        json!({ "index": at, "id": id, "type": "function", "function": function })
    };
    match scene {
        Scene::Words => Answer::events(&[words(), vec![chunk(json!({}), Some("stop")), used()]].concat()).then(done()),
        Scene::Calls => {
            let calls: Vec<Value> = CALLS.iter().enumerate().map(call).collect();
            Answer::events(&[chunk(json!({ "tool_calls": calls }), Some("tool_calls"))]).then(done())
        }
        Scene::Overloaded => error(503, "overloaded", "come back later"),
        Scene::Cut | Scene::Held => Answer::events(&words()[..1]),
    }
}

#[tokio::test]
async fn it_does_what_every_model_must() {
    WIRE.conforms().await;
}

/// Returns a conversation with all cases that need care.
fn history(wire: &str) -> Vec<Message> {
    let call =
        |id: &str, tool: &str, native| Call { provider_id: id.into(), tool: tool.into(), args: "".into(), native };
    let thinking = |text: &str, native| Part::Thinking { text: text.into(), native: Some(native) };
    let details = json!({ "reasoning_details": [{ "type": "reasoning.text", "signature": "s" }] });
    let extra = json!({ "extra_content": { "signature": "t" } });
    vec![
        system("Be brief."),
        said(
            wire,
            vec![thinking("old", json!({ "reasoning_content": null })), Part::Call(call("same", "calculator", None))],
        ),
        result("same", "net.find", "2"),
        user("Go on."),
        said(wire, vec![thinking("deep", details), text_part("Yes.")]),
        said(
            wire,
            vec![
                thinking("new", json!({ "reasoning_content": null })),
                Part::Call(call("same", "net.find", Some(extra))),
                Part::Call(call("", "calculator", None)),
            ],
        ),
        result("same", "net.find", "found"),
        result("stray", "net.find", "late"),
    ]
}

/// Returns the request body that a model with one call at a time sends for it.
async fn sent_by_a_serial_model(ask: Ask) -> Value {
    let fake = WIRE.fake([]).await;
    let model = model(Options { parallel_tool_calls: false, ..options(&fake) });
    reply(&model, Ask { messages: Arc::new(history("openai")), ..ask }).await;
    fake.requests().remove(0)
}

#[tokio::test]
async fn a_conversation_is_sent_mended_with_the_servers_own_fields() {
    let request = WIRE.sent(history("openai")).await;
    let function = |name: &str| json!({ "name": name, "arguments": "{}" });
    let missing = "This call has no result: it was stopped before it answered.";
    let expected = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "assistant", "content": null,
          "tool_calls": [{ "id": "same", "type": "function", "function": function("calculator") }] },
        { "role": "tool", "tool_call_id": "same", "content": "2" },
        { "role": "user", "content": "Go on." },
        { "role": "assistant", "content": "Yes.",
          "reasoning_details": [{ "type": "reasoning.text", "signature": "s" }] },
        { "role": "assistant", "content": null, "reasoning_content": "new", "tool_calls": [
            { "id": "call_1", "type": "function", "function": function("net_x2E_find"),
              "extra_content": { "signature": "t" } },
            { "id": "call_2", "type": "function", "function": function("calculator") } ] },
        { "role": "tool", "tool_call_id": "call_1", "content": "found" },
        { "role": "tool", "tool_call_id": "call_2", "content": missing },
        { "role": "user", "content": "Result of `net.find`:\nlate" },
    ]);
    assert_eq!(request["messages"], expected);
}

#[tokio::test]
async fn another_wires_reply_is_sent_without_its_own_fields() {
    let request = WIRE.sent(history("anthropic")).await.to_string();
    for private in ["reasoning", "signature", "deep", "old", "new"] {
        assert!(!request.contains(private), "{private} in {request}");
    }
    assert!(request.contains("Yes.") && request.contains("net_x2E_find"));
}

#[tokio::test]
async fn tools_and_limits_are_sent_as_the_server_knows_them() {
    let request = sent_by_a_serial_model(ask()).await;
    assert_eq!(request["tools"][0]["function"]["name"], "net_x2E_find");
    assert_eq!(request["tools"][0]["function"]["parameters"]["required"], json!(["input"]));
    let rest = |name: &str| request[name].clone();
    assert_eq!((rest("parallel_tool_calls"), rest("max_tokens")), (json!(false), json!(100)));
    assert_eq!((rest("stream"), rest("stream_options")), (json!(true), json!({ "include_usage": true })));
    let bare = sent_by_a_serial_model(Ask { tools: Arc::new([]), ..ask() }).await;
    assert_eq!((bare.get("tools"), bare.get("parallel_tool_calls")), (None, None));
}

#[tokio::test]
async fn what_a_server_does_not_know_is_left_out_from_then_on() {
    let unknown = error(400, "unknown", "Unrecognized request argument supplied: stream_options");
    let other = error(400, "unsupported", "'max_tokens' is not supported. Use 'max_completion_tokens' instead.");
    let fake = WIRE.fake([unknown, other]).await;
    let model = model(options(&fake));
    for _ in 0..2 {
        let said = all(&model, ask()).await;
        assert!(matches!(said.last(), Some(Ok(Piece::Done(_, None)))), "{said:?}");
    }
    let requests = fake.requests();
    let sent: Vec<_> = requests
        .iter()
        .map(|request| (request.get("stream_options").is_some(), request.get("max_tokens").is_some()))
        .collect();
    assert_eq!(sent, [(true, true), (false, true), (false, false), (false, false)]);
}

#[tokio::test]
async fn complaints_become_failures_of_the_right_kind() {
    for (status, code, message, kind) in [
        (401, "invalid_api_key", "no", FailureKind::Unauthorized),
        (403, "forbidden", "no", FailureKind::Unauthorized),
        (402, "payment", "no", FailureKind::Refused),
        (429, "rate_limit_exceeded", "slow down", FailureKind::RateLimited),
        (429, "insufficient_quota", "pay first", FailureKind::Refused),
        (408, "timeout", "slow", FailureKind::Timeout),
        (409, "conflict", "busy", FailureKind::Overloaded),
        (500, "server_error", "oops", FailureKind::Overloaded),
        (529, "overloaded", "full", FailureKind::Overloaded),
        (400, "context_length_exceeded", "too long", FailureKind::Overflow),
        (400, "x", "This model's maximum context length is 8192 tokens.", FailureKind::Overflow),
        (500, "x", "the request exceeds the available context size", FailureKind::Overflow),
        (413, "x", "too large", FailureKind::Overflow),
        (404, "model_not_found", "no such model", FailureKind::Refused),
        (302, "moved", "elsewhere", FailureKind::Refused),
    ] {
        let failure = WIRE.failure(error(status, code, message)).await;
        assert_eq!((failure.kind, failure.charged), (kind, false), "{status} {code}");
        assert_eq!(failure.message, format!("HTTP {status}: {message}"));
    }
}

#[tokio::test]
async fn a_wait_the_server_asks_for_is_kept() {
    let limited = || error(429, "rate_limit_exceeded", "slow down");
    assert_eq!(WIRE.failure(limited().header("retry-after", "2")).await.retry_after_ms, Some(2000));
    assert_eq!(WIRE.failure(limited().header("retry-after-ms", "70")).await.retry_after_ms, Some(70));
    assert_eq!(WIRE.failure(limited()).await.retry_after_ms, None);
}

#[tokio::test]
async fn complaints_are_cut_and_never_hold_the_key() {
    let late = WIRE.failure(Answer::new(500, "text/plain", format!("{}{KEY}", "a".repeat(2030)))).await;
    assert!(!late.message.contains("sk-"), "{}", late.message);
    let failure = WIRE.failure(Answer::new(500, "text/plain", format!("{KEY} {}", "ä".repeat(3000)))).await;
    assert!(failure.message.len() <= 2 * 1024 && failure.message.contains("*** ä"), "{}", failure.message);
    let fake = WIRE.fake([]).await;
    let model = model(options(&fake));
    all(&model, ask()).await;
    assert_eq!(fake.headers()[0]["authorization"], format!("Bearer {KEY}"));
    assert!(!format!("{model:?} {:?}", options(&fake)).contains(KEY));
}

#[tokio::test]
async fn complaints_in_the_middle_are_failures_that_may_cost() {
    for (event, kind) in [
        (json!({ "error": { "message": "full", "code": 502 } }), FailureKind::Overloaded),
        (json!({ "error": { "message": "slow", "type": "rate_limit_error" } }), FailureKind::RateLimited),
        (json!({ "error": "gone" }), FailureKind::Overloaded),
        (json!({ "object": "error", "message": "bad", "type": "BadRequestError", "code": 400 }), FailureKind::Refused),
        (json!({ "choices": [{ "delta": {}, "finish_reason": "error" }] }), FailureKind::Overloaded),
        (json!({ "choices": "none" }), FailureKind::Malformed),
    ] {
        let failure = WIRE.failure(Answer::events(&[words(), vec![event.clone()]].concat())).await;
        assert_eq!((failure.kind, failure.charged), (kind, true), "{event}");
    }
    let page = WIRE.failure(Answer::new(200, "text/html", "<html>Sign in</html>")).await;
    assert_eq!((page.kind, page.charged), (FailureKind::Malformed, false));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_network_failure() {
    let fake = WIRE.fake([]).await;
    let options = options(&fake);
    drop(fake);
    tokio::task::yield_now().await;
    let said = all(&model(options), ask()).await;
    let [Err(failure)] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!((failure.kind, failure.charged), (FailureKind::Network, false));
}

#[tokio::test]
async fn silence_and_a_call_that_takes_too_long_are_timeouts() {
    let timed_out = async |timeout: Duration, call_timeout: Option<Duration>| {
        let fake = WIRE.fake([]).await;
        fake.will(Answer::events(&words()[..1]).then(Step::Wait(Arc::new(Notify::new()))));
        let said = all(&model(Options { timeout, call_timeout, ..options(&fake) }), ask()).await;
        assert_eq!(deltas(&said), WORDS[0]);
        let Some(Err(failure)) = said.last() else { panic!("{said:?}") };
        assert_eq!((failure.kind, failure.charged), (FailureKind::Timeout, true));
    };
    // Long enough for the first words to arrive on a busy machine.
    let short = Duration::from_secs(5);
    futures::join!(timed_out(short, None), timed_out(Duration::MAX, Some(short)));
}

#[tokio::test]
async fn words_are_handed_on_before_the_answer_is_complete() {
    let fake = WIRE.fake([]).await;
    let gate = Arc::new(Notify::new());
    let split =
        Answer::events(&words()[..1]).then(Step::Send(b"data: {\"choi".to_vec())).then(Step::Wait(gate.clone()));
    fake.will(split.then(Step::Send(b"ces\":[{\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n".to_vec())));
    let mut stream = model(options(&fake)).stream(ask());
    assert_eq!(stream.next().await, Some(Ok(Piece::Delta(WORDS[0].to_owned()))));
    gate.notify_one();
    assert!(matches!(stream.next().await, Some(Ok(Piece::Done(_, None)))));
    assert_eq!((stream.next().await, stream.next().await), (None, None));
}

#[tokio::test]
async fn a_long_answer_begins_word_by_word_and_what_arrives_together_is_one_piece_then() {
    let fake = WIRE.fake([]).await;
    let word = |number: usize| Answer::events(&[chunk(json!({ "content": format!("{number} ") }), None)]).steps;
    let steps = (0..400).flat_map(word).chain([done()]).collect();
    fake.will(Answer { steps, ..hello() });
    let pieces = all(&model(options(&fake)), ask()).await;
    let said: Vec<&str> = pieces
        .iter()
        .filter_map(|piece| if let Ok(Piece::Delta(text)) = piece { Some(&**text) } else { None })
        .collect();
    assert_eq!(said.concat(), (0..400).map(|number| format!("{number} ")).collect::<String>());
    assert_eq!(said[..10].concat(), "0 1 2 3 4 5 6 7 8 9 ", "the first come one by one: {said:?}");
    assert!(said.len() < 400, "{} pieces", said.len());
}

#[tokio::test]
async fn a_call_dropped_before_it_is_answered_hangs_up_too() {
    let fake = WIRE.fake([]).await;
    let silent = Answer { steps: vec![Step::Wait(Arc::new(Notify::new()))], ..hello() };
    fake.will(silent);
    let mut stream = model(options(&fake)).stream(ask());
    assert!(stream.next().now_or_never().is_none());
    while fake.requests().is_empty() {
        assert!(futures::poll!(stream.next()).is_pending());
        tokio::task::yield_now().await;
    }
    drop(stream);
    fake.hung_up(1).await;
}

#[tokio::test]
async fn a_finished_stream_needs_no_end_marker_and_an_unfinished_one_is_cut() {
    let finished = WIRE.fake([]).await;
    finished.will(Answer::events(&[chunk(json!({ "content": "Hello" }), Some("stop"))]));
    let said = all(&model(options(&finished)), ask()).await;
    assert!(matches!(said.last(), Some(Ok(Piece::Done(..)))));
    let cut = WIRE.failure(Answer::events(&words())).await;
    assert_eq!((cut.kind, cut.charged), (FailureKind::Network, true));
    let broken = WIRE.failure(Answer::events(&words()).then(Step::Break)).await;
    assert_eq!((broken.kind, broken.charged), (FailureKind::Network, true));
    assert_eq!(broken.message, "the connection ended in the middle of the answer");
}

#[tokio::test]
async fn an_id_that_came_before_is_replaced() {
    let fake = WIRE.fake([]).await;
    let call = json!({ "index": 0, "id": "same", "function": { "name": "calculator", "arguments": "{}" } });
    fake.will(Answer::events(&[chunk(json!({ "tool_calls": [call] }), Some("tool_calls"))]).then(done()));
    let said = all(&model(options(&fake)), Ask { messages: Arc::new(history("openai")), ..ask() }).await;
    let Some(Ok(Piece::Done(reply, _))) = said.last() else { panic!("{said:?}") };
    let ids: Vec<_> = reply.calls().map(|call| call.provider_id.as_str()).collect();
    assert_eq!(ids, ["call_2"]);
}

#[tokio::test]
async fn a_call_in_words_is_a_call_also_where_none_may_be_made_any_more_and_not_where_there_never_were_tools() {
    let fake = WIRE.fake([]).await;
    let model = model(options(&fake));
    let words = "<tool_call>{\"name\":\"calculator\",\"arguments\":{}}</tool_call>";
    for (belt, calls) in [(ask().belt, 1), (Arc::default(), 0)] {
        fake.will(Answer::events(&[chunk(json!({ "content": words }), Some("stop"))]).then(done()));
        let said = all(&model, Ask { tools: Arc::new([]), belt, ..ask() }).await;
        let Some(Ok(Piece::Done(reply, _))) = said.last() else { panic!("{said:?}") };
        assert_eq!(reply.calls().count(), calls, "{reply:?}");
    }
}

#[tokio::test]
async fn a_reply_without_end_is_refused() {
    let fake = WIRE.fake([]).await;
    let word = chunk(json!({ "content": "a".repeat(1024 * 1024) }), None);
    fake.will(Answer::events(&vec![word; 33]));
    let said = all(&model(options(&fake)), ask()).await;
    let Some(Err(failure)) = said.last() else { panic!("no failure") };
    assert_eq!((failure.kind, failure.charged), (FailureKind::Malformed, true));
}

#[tokio::test]
async fn one_connection_serves_call_after_call() {
    let fake = WIRE.fake([]).await;
    let model = model(options(&fake));
    for _ in 0..3 {
        all(&model, ask()).await;
    }
    assert_eq!(fake.connections(), 1);
}

#[test]
fn the_provider_itself_is_spoken_to_in_its_own_dialect() {
    assert_eq!(Dialect::spoken_at(Some("api.openai.com")), Dialect::PROVIDER);
    assert_eq!(Dialect::spoken_at(Some("127.0.0.1")), Dialect::COMPATIBLE);
}

#[tokio::test]
async fn options_that_cannot_work_are_refused() {
    let refused = |base_url: &str, key: &str| {
        let options = Options { api_key: Some(key.to_owned()), ..Options::new(base_url, "m") };
        OpenAi::new(options, Api::Chat, client().unwrap()).err()
    };
    assert_eq!(refused("not an address", "k"), Some(OptionsError::BaseUrl));
    assert_eq!(refused("ftp://host/v1", "k"), Some(OptionsError::BaseUrl));
    assert_eq!(refused("http://host/v1", "a\nb"), Some(OptionsError::ApiKey));
    assert_eq!(refused("http://host/v1/", "k\n"), None);
}

#[tokio::test]
async fn its_requests_are_what_the_providers_own_client_sends() {
    let calls = json!([
        { "index": 0, "id": "a", "function": { "name": "net_x2E_find", "arguments": "{}" } },
        { "index": 1, "id": "b", "function": { "name": "calculator", "arguments": "" } },
    ]);
    let said = chunk(json!({ "content": "Looking.", "tool_calls": calls }), Some("tool_calls"));
    WIRE.judged("openai-chat", Answer::events(&[said]).then(done())).await;
}

#[tokio::test]
async fn options_headers_and_extra_fields_are_sent_in_the_providers_words() {
    let body = WIRE.optional(BodyShape::Chat).await;
    assert_eq!((&body["temperature"], &body["top_p"], &body["seed"]), (&json!(0.5), &json!(0.9), &json!(7)));
    assert_eq!(body["reasoning_effort"], "high");
}

#[tokio::test]
async fn a_schema_is_told_in_the_providers_words_until_it_refuses_it() {
    let told = WIRE.schema_at(BodyShape::Chat, "/response_format").await;
    assert_eq!((&told["type"], &told["json_schema"]["strict"]), (&json!("json_schema"), &json!(false)));
    assert_eq!(told["json_schema"]["schema"]["properties"]["n"], json!({ "type": "integer", "minimum": 1 }));
}

#[tokio::test]
async fn files_are_sent_as_parts_of_the_users_message() {
    let request = WIRE.asked(with_files()).await;
    let messages = request["messages"].as_array().unwrap();
    let expected = json!({ "role": "user", "content": [
        { "type": "text", "text": "Look." },
        { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAEC" } },
        { "type": "file", "file": { "filename": "b.bin", "file_data": "data:application/pdf;base64,AAEC" } },
    ] });
    assert_eq!(messages.last(), Some(&expected));
}
