//! The work behind an answer: runs, decisions that wait for a person, repetition, restarts.

use consort_core::catalog::{EffectClass, Permission};
use consort_core::message::{Failure, FailureKind, Message, Stop};
use consort_core::spec::{OnTruncated, ReviewRule};
use consort_tools::ScriptedTool;
use tokio::sync::Notify;

use super::*;
use crate::client::engine_with;
use crate::says;

/// Creates a tool that needs permission.
fn pays() -> ScriptedTool {
    ScriptedTool::new("pay")
        .effect(EffectClass::Once)
        .with_info(|info| info.permission = Permission::Network)
        .answers("paid")
}

#[tokio::test]
async fn a_run_gets_the_message_and_the_metadata_as_inputs_and_its_output_is_the_answer() {
    let model = ScriptedModel::new().otherwise(Line::new().says("written"));
    let here = serving(&model).await;
    let request = json!({ "model": "consort/test", "metadata": { "style": "verse" },
        "messages": [{ "role": "user", "content": "before" }, { "role": "user", "content": "a song" }] });
    let answer = here.post(COMPLETIONS, request.clone()).await;
    assert_eq!(said(&answer), "written");
    let run = answer.json()["id"].as_str().unwrap().to_owned();
    let detail = here.get(&format!("/api/runs/{run}")).await.json();
    assert_eq!(detail["inputs"], json!({ "message": "a song", "style": "verse" }));
    let streamed = data(&here.post(COMPLETIONS, with(request, json!({ "stream": true }))).await);
    assert_eq!(deltas(&streamed, "content"), "written");
    assert_eq!(deltas(&streamed, "reasoning_content"), "one: begun\none: done\n");
    let taken = json!({ "model": "consort/test", "input": "x", "metadata": { "message": "y", "style": "z" } });
    assert_eq!(here.post(RESPONSES, taken).await.json()["error"]["param"], "metadata");
    let placed = json!({ "model": "consort/test", "input": "x", "conversation": "c", "metadata": { "style": "z" } });
    assert_eq!(here.post(RESPONSES, placed).await.json()["error"]["param"], "conversation");
}

#[tokio::test]
async fn a_saved_workflow_is_asked_by_its_name() {
    let here = serving(&says("report")).await;
    let tasks = json!([{ "name": "a", "description": "Report on {message}" }]);
    let saved = here.post("/api/workflows", json!({ "name": "hive report", "tasks": tasks })).await.json();
    for name in ["hive report", saved["id"].as_str().unwrap()] {
        let answer = here.post(COMPLETIONS, with(asks("bees"), json!({ "model": format!("consort/{name}") }))).await;
        assert_eq!(said(&answer), "report");
        let run = here.get(&format!("/api/runs/{}", answer.json()["id"].as_str().unwrap())).await.json();
        assert_eq!((&run["ensemble"], &run["tags"]["workflow"]), (&json!("hive report"), &saved["id"]));
    }
}

#[tokio::test]
async fn a_review_is_told_in_words_with_a_link_and_the_run_waits_for_it() {
    let careful = Draft { review: Some(ReviewRule::Required), ..about_message() };
    let here = start(roomy(server(engine(says("draft"), Capacity::UNLIMITED), vec![careful]))).await;
    let request = json!({ "model": "consort/test", "input": "a song", "metadata": { "style": "verse" } });
    let answer = here.post(RESPONSES, request).await.json();
    let text = answer["output"].as_array().unwrap().last().unwrap()["content"][0]["text"].as_str().unwrap().to_owned();
    let run = answer["id"].as_str().unwrap();
    let reviews = here.get(&format!("/api/reviews?runId={run}")).await.json();
    let review = reviews["reviews"][0]["reviewId"].as_str().unwrap();
    assert!(text.contains(&format!("http://localhost/reviews/{review}")) && text.contains("draft"), "{text}");
    let decided = here.post(&format!("/api/reviews/{review}"), json!({ "decision": "CONTINUE" })).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    while here.get(&format!("/api/runs/{run}")).await.json()["status"] != "COMPLETED" {}
}

#[tokio::test]
async fn a_call_that_waits_for_permission_is_told_with_a_link_and_holds_back_the_next_message() {
    let tool = pays();
    let model = ScriptedModel::new()
        .at("1.0", Line::new().calls("pay", &json!({ "input": "5" })))
        .at("1.1", Line::new().says("it is paid"));
    let engine = engine_with(Arc::default(), model, tool.clone(), Capacity::UNLIMITED);
    let here = start(asking(engine)).await;
    let first = here.post(COMPLETIONS, with(asks("pay"), json!({ "conversation": "bills" }))).await;
    let thread = first.json()["conversation"]["id"].as_str().unwrap().to_owned();
    let link = format!("http://localhost/chat/{thread}");
    let asked = format!("Call pay with these arguments?\n\n`pay {{\"input\":\"5\"}}`\n\nDecide at {link}");
    assert!(said(&first).contains(&asked), "{first:?}");
    assert_eq!(first.json()["choices"][0]["finish_reason"], "stop");
    let held = here.post(COMPLETIONS, with(asks("well?"), json!({ "conversation": "bills" }))).await;
    let error = &held.json()["error"];
    assert_eq!((held.status, &error["code"]), (400, &json!("APPROVAL_PENDING")));
    assert!(error["message"].as_str().unwrap().contains(&link));
    let approval = here.get("/api/approvals").await.json()["approvals"][0]["approval_id"].as_str().unwrap().to_owned();
    here.post(&format!("/api/approvals/{approval}"), json!({ "decision": "allow" })).await;
    while here.get(&format!("/api/threads/{thread}")).await.json()["running"] != false {}
    let rows = here.get(&format!("/api/threads/{thread}/messages")).await.json();
    assert_eq!(rows["messages"].as_array().unwrap().last().unwrap()["content"], "it is paid");
}

#[tokio::test]
async fn a_message_waits_for_the_one_before_it() {
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new()
        .when(|ask| conversation(ask).len() == 2, Line::new().waits(&gate).says("first"))
        .otherwise(Line::new().says("second"));
    let here = serving(&model).await;
    let ask = async || said(&here.post(COMPLETIONS, with(asks("x"), json!({ "conversation": "c" }))).await);
    let opens = async {
        while model.ledger().is_empty() || here.get("/api/threads").await.json()["threads"][0]["queued"] != 1 {
            tokio::task::yield_now().await;
        }
        gate.notify_one();
    };
    let (one, two, ()) = tokio::join!(ask(), ask(), opens);
    let mut answers = [one, two];
    answers.sort();
    assert_eq!(answers, ["first", "second"]);
}

#[tokio::test]
async fn a_request_sent_again_with_its_key_is_carried_out_once_also_after_a_restart() {
    let log = Arc::new(MemoryLog::default());
    let tool = pays();
    let model = ScriptedModel::new()
        .at("1.0", Line::new().calls("pay", &json!({ "input": "5" })))
        .at("1.1", Line::new().says("it is paid"));
    let first = engine_with(log.clone(), model.clone(), tool.clone(), Capacity::UNLIMITED);
    let here = start(roomy(server(first.clone(), Vec::new()))).await;
    let ask = async |here: &Here, key: &str, stream: bool| {
        let request = with(asks("pay"), json!({ "stream": stream }));
        here.post_with(COMPLETIONS, &format!("Idempotency-Key: {key}"), request).await
    };
    let whole = ask(&here, "whole", false).await;
    assert_eq!((said(&whole).as_str(), ask(&here, "whole", false).await.body), ("it is paid", whole.body.clone()));
    let streamed = data(&ask(&here, "streamed", true).await);
    let other = here.post_with(COMPLETIONS, "Idempotency-Key: whole", asks("other")).await;
    assert_eq!((other.status, &other.json()["error"]["code"]), (422, &json!("IDEMPOTENCY_CONFLICT")));

    drop(here);
    first.stop().await;
    let second = engine_with(log, model, tool.clone(), Capacity::UNLIMITED);
    second.recover().await.unwrap();
    let here = start(roomy(server(second, Vec::new()))).await;
    assert_eq!(ask(&here, "whole", false).await.body, whole.body);
    let again = data(&ask(&here, "streamed", true).await);
    assert_eq!(deltas(&again, "content"), deltas(&streamed, "content"));
    assert_eq!(again[0]["id"], streamed[0]["id"]);
    assert_eq!(tool.args().len(), 2, "once each");
}

#[tokio::test]
async fn an_answer_goes_on_without_its_client() {
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().otherwise(Line::new().waits(&gate).says("done"));
    let here = serving(&model).await;
    let request = with(asks("x"), json!({ "stream": true, "conversation": "c" })).to_string();
    let head = format!(
        "POST {COMPLETIONS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        request.len()
    );
    let mut socket = tokio::net::TcpStream::connect(here.address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut socket, format!("{head}{request}").as_bytes()).await.unwrap();
    while model.ledger().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(socket);
    gate.notify_one();
    let thread = here.get("/api/threads").await.json()["threads"][0]["id"].as_str().unwrap().to_owned();
    while here.get(&format!("/api/threads/{thread}")).await.json()["running"] != false {}
    let rows = here.get(&format!("/api/threads/{thread}/messages")).await.json();
    assert_eq!(rows["messages"][1]["content"], "done");
}

#[tokio::test]
async fn half_an_answer_is_incomplete_in_its_status_and_in_its_item() {
    let cut = Line::new().says("half").stops(Stop::Length);
    let here = serving(&ScriptedModel::new().otherwise(cut)).await;
    let request = json!({ "model": "consort", "input": "hi" });
    let whole = here.post(RESPONSES, request.clone()).await.json();
    assert_eq!(whole["status"], "incomplete");
    let item = &whole["output"][0];
    assert_eq!((&item["type"], &item["status"]), (&json!("message"), &json!("incomplete")), "{whole}");
    let events = data(&here.post(RESPONSES, with(request, json!({ "stream": true }))).await);
    let done = events.iter().find(|event| event["type"] == "response.output_item.done").unwrap();
    assert_eq!(done["item"]["status"], "incomplete", "{done}");
    let end = events.last().unwrap();
    assert_eq!((&end["type"], &end["response"]["output"][0]), (&json!("response.incomplete"), &done["item"]));
}

#[tokio::test]
async fn the_message_that_was_cut_is_incomplete_whatever_was_done_after_it() {
    let short = Draft { on_truncated: OnTruncated::Accept, ..about_message() };
    let model = ScriptedModel::new().otherwise(Line::new().says("half").stops(Stop::Length));
    let here = start(roomy(server(engine(model, Capacity::UNLIMITED), vec![short]))).await;
    let request = json!({ "model": "consort/test", "input": "a song", "metadata": { "style": "verse" } });
    for stream in [false, true] {
        let answer = here.post(RESPONSES, with(request.clone(), json!({ "stream": stream }))).await;
        let response = if stream { data(&answer).pop().unwrap()["response"].clone() } else { answer.json() };
        let items: Vec<_> = response["output"].as_array().unwrap().iter().collect();
        let status =
            |kind: &str| items.iter().filter(|item| item["type"] == kind).map(|item| &item["status"]).next_back();
        assert_eq!(status("message"), Some(&json!("incomplete")), "{response}");
        assert_eq!(status("reasoning"), Some(&json!("completed")), "{response}");
    }
}

/// Returns the texts of the messages of a response.
fn messages(response: &Value) -> Vec<&str> {
    let items = response["output"].as_array().unwrap().iter().filter(|item| item["type"] == "message");
    items.map(|item| item["content"][0]["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_words_of_a_model_that_failed_are_no_part_of_a_response() {
    let failure = Failure {
        kind: FailureKind::Overloaded,
        message: "busy".to_owned(),
        retry_after_ms: Some(1),
        status: None,
        charged: false,
    };
    let model = ScriptedModel::new()
        .when(|ask| ask.attempt == 0, Line::new().says("half an answer").breaks(failure))
        .otherwise(Line::new().says("whole"));
    let here = serving(&model).await;
    for asked in ["consort", "consort/test"] {
        let request = json!({ "model": asked, "input": "hi" });
        let request = if asked == "consort" { request } else { with(request, json!({ "metadata": { "style": "z" } })) };
        let response = here.post(RESPONSES, request.clone()).await.json();
        assert_eq!(messages(&response), ["whole"], "{response}");
        let events = data(&here.post(RESPONSES, with(request, json!({ "stream": true }))).await);
        assert_eq!(messages(&events.last().unwrap()["response"]), ["whole"], "{events:?}");
        let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
        let done: Vec<_> = done.map(|event| &event["item"]).filter(|item| item["type"] == "message").collect();
        let said = |item: &Value| (item["content"][0]["text"].clone(), item["status"].clone());
        let expected = [(json!("half an answer"), json!("incomplete")), (json!("whole"), json!("completed"))];
        assert_eq!(done.into_iter().map(said).collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn what_the_model_of_a_run_says_before_a_tool_call_is_no_part_of_the_answer() {
    let model = ScriptedModel::new()
        .at("1.0", Line::new().says("let me see").calls("calculator", &json!({ "input": "2 + 2" })))
        .otherwise(Line::new().says("it is 4"));
    let able = Draft { tools: vec!["calculator".to_owned()], ..about_message() };
    let here = start(roomy(server(engine(model, Capacity::UNLIMITED), vec![able]))).await;
    let request = json!({ "model": "consort/test", "input": "2 + 2?", "metadata": { "style": "verse" } });
    assert_eq!(messages(&here.post(RESPONSES, request.clone()).await.json()), ["it is 4"]);
    let events = data(&here.post(RESPONSES, with(request, json!({ "stream": true }))).await);
    assert_eq!(messages(&events.last().unwrap()["response"]), ["it is 4"], "{events:?}");
}

#[tokio::test]
async fn an_answer_that_was_cut_and_continued_is_sent_once() {
    let is_continued = |ask: &Ask| ask.messages.iter().any(|message| matches!(message, Message::Assistant(_)));
    let model = ScriptedModel::new()
        .when(is_continued, Line::new().says("and the end."))
        .otherwise(Line::new().says("The beginning ").stops(Stop::Length));
    let here = serving(&model).await;
    let style = json!({ "metadata": { "style": "verse" }, "model": "consort/test" });
    let whole = "The beginning and the end.";
    let streamed = with(with(asks("a song"), style.clone()), json!({ "stream": true }));
    assert_eq!(deltas(&data(&here.post(COMPLETIONS, streamed).await), "content"), whole);
    let response = here.post(RESPONSES, with(json!({ "input": "a song" }), style)).await.json();
    assert_eq!(messages(&response), [whole], "{response}");
}
