//! Done means answered, through real sockets: what clients see of replies that
//! were cut or say nothing.

use consort_core::draft::Draft;
use consort_core::message::Stop;
use consort_core::spec::{OnTruncated, ReviewRule};
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use serde_json::{Value, json};

use crate::client::{Here, engine, server, start, task};

fn cut(words: &str) -> Line {
    Line::new().says(words).stops(Stop::Length)
}

async fn serving(model: ScriptedModel, draft: Draft) -> Here {
    start(server(engine(model, Capacity::UNLIMITED), vec![draft])).await
}

/// Returns the detail of a run of these tasks, once it has ended, and its events.
async fn ended(here: &Here, request: Value) -> (Value, Vec<Value>) {
    let answer = here.post_with("/api/runs", "Prefer: wait=30", request).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let run = answer.json()["runId"].as_str().unwrap().to_owned();
    let asked = format!("GET /api/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    let events = here.send(&asked, b"").await.json();
    let events = events["events"].as_array().unwrap().clone();
    (here.get(&format!("/api/runs/{run}")).await.json(), events)
}

fn thens(events: &[Value], kind: &str) -> Vec<Value> {
    events.iter().filter(|event| event["type"] == kind).map(|event| event["then"].clone()).collect()
}

fn inputs() -> Value {
    json!({ "inputs": { "topic": "x" } })
}

#[tokio::test]
async fn an_answer_cut_at_the_output_limit_is_continued_and_joined() {
    let model = ScriptedModel::new().at("1.0", cut("The bees ")).says("1.1", "dance.");
    let here = serving(model.clone(), task("a")).await;
    let (run, events) = ended(&here, inputs()).await;
    assert_eq!((&run["status"], &run["tasks"][0]["output"]), (&json!("COMPLETED"), &json!("The bees dance.")));
    assert_eq!((&run["metrics"]["llmCalls"], &run["truncated"]), (&json!(2), &Value::Null));
    assert_eq!(thens(&events, "answer_truncated"), ["continue"]);
    let asked = model.sent("1.1").unwrap();
    assert!(asked.messages.len() >= 4, "the model sees what it said and is told to go on: {:?}", asked.messages);
}

#[tokio::test]
async fn an_answer_without_an_end_fails_with_what_there_is_in_frame_and_detail() {
    let here = serving(ScriptedModel::new().otherwise(cut("more ")), task("a")).await;
    let (run, events) = ended(&here, inputs()).await;
    let failed = events.iter().find(|event| event["type"] == "task_failed").unwrap();
    assert!(run["error"].as_str().unwrap().contains("OUTPUT_TRUNCATED"), "{run}");
    assert_eq!(run["tasks"][0]["partialOutput"], "more more more more ");
    assert_eq!(failed["partialOutput"], "more more more more ");
    assert_eq!(thens(&events, "answer_truncated"), ["continue", "continue", "continue", "fail"]);
}

#[tokio::test]
async fn a_request_says_what_becomes_of_a_cut_answer_and_a_wrong_word_is_named() {
    let here = serving(ScriptedModel::new().otherwise(cut("half")), task("a")).await;
    let with = |rule: &str| json!({ "inputs": {}, "tasks": [{ "description": "Do a", "onTruncated": rule }] });
    let (run, events) = ended(&here, with("accept")).await;
    assert_eq!(
        (&run["status"], &run["truncated"], &run["tasks"][0]["truncated"]),
        (&json!("COMPLETED"), &json!(true), &json!(true))
    );
    let completed = events.iter().find(|event| event["type"] == "task_completed").unwrap();
    assert_eq!((&completed["truncated"], thens(&events, "answer_truncated")), (&json!(true), vec![json!("accept")]));
    let row = here.get("/api/runs").await.json()["runs"][0].clone();
    assert_eq!(row["truncated"], true, "the list says so too");
    let (run, events) = ended(&here, with("fail")).await;
    assert_eq!((&run["status"], thens(&events, "answer_truncated")), (&json!("FAILED"), vec![json!("fail")]));
    let overridden = json!({ "inputs": { "topic": "x" }, "taskOverrides": { "a": { "onTruncated": "accept" } } });
    assert_eq!(ended(&here, overridden).await.0["status"], "COMPLETED");
    let wrong = here.post("/api/runs", with("maybe")).await;
    assert_eq!(wrong.problem().0, 400);
    let message = wrong.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("tasks[0].onTruncated") && message.contains("continue, fail, accept"), "{message}");
}

#[tokio::test]
async fn a_reply_cut_inside_a_call_makes_no_call_and_one_that_says_nothing_is_asked_again() {
    let half = Line::new().calls_raw("calculator", "{\"input\": \"6*").stops(Stop::Length);
    let model = ScriptedModel::new()
        .at("1.0", half.clone())
        .calls("1.1", "calculator", &json!({ "input": "6*7" }))
        .at("1.2", Line::new())
        .says("1.3", "42");
    let draft = Draft { tools: vec!["calculator".to_owned()], ..task("a") };
    let here = serving(model, draft.clone()).await;
    let (run, events) = ended(&here, inputs()).await;
    assert_eq!((&run["tasks"][0]["output"], &run["tasks"][0]["toolCallCount"]), (&json!("42"), &json!(1)));
    assert_eq!(
        (thens(&events, "answer_truncated"), thens(&events, "answer_empty")),
        (vec![json!("continue")], vec![json!("continue")])
    );
    for (line, code) in [(half, "OUTPUT_TRUNCATED"), (Line::new(), "EMPTY_ANSWER")] {
        let rule = OnTruncated::Accept;
        let here = serving(ScriptedModel::new().otherwise(line), Draft { on_truncated: rule, ..draft.clone() }).await;
        let (run, _) = ended(&here, inputs()).await;
        assert!(run["error"].as_str().unwrap().contains(code), "{run}");
        assert_eq!(run["metrics"]["totalToolCalls"], 0);
    }
}

/// Returns the review that a run of this model waits for, and the frame that asked for it.
async fn reviewed(model: ScriptedModel) -> (Here, Value, Value) {
    let rule = OnTruncated::Accept;
    let here = serving(model, Draft { review: Some(ReviewRule::Required), on_truncated: rule, ..task("a") }).await;
    let run = here.post("/api/runs", inputs()).await.json()["runId"].as_str().unwrap().to_owned();
    let review = loop {
        let open = here.get(&format!("/api/reviews?runId={run}")).await.json();
        if open["total"] == 1 {
            break open["reviews"][0].clone();
        }
    };
    let asked = format!("GET /api/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    let events = here.send(&asked, b"").await.json();
    let frame = events["events"].as_array().unwrap().iter().find(|event| event["type"] == "review_requested").cloned();
    (here, review, frame.unwrap())
}

#[tokio::test]
async fn a_review_says_that_the_output_was_cut_and_an_edited_one_is_whole() {
    let (here, review, frame) = reviewed(ScriptedModel::new().otherwise(cut("half"))).await;
    assert_eq!((&review["taskOutput"], &review["truncated"]), (&json!("half"), &json!(true)), "{review}");
    assert_eq!((&frame["taskOutput"], &frame["truncated"]), (&json!("half"), &json!(true)), "{frame}");
    let run = review["runId"].as_str().unwrap();
    let detail = here.get(&format!("/api/runs/{run}")).await.json();
    assert_eq!(detail["pendingReviews"][0]["truncated"], true, "{detail}");
    let decision = json!({ "decision": "EDIT", "revisedOutput": "whole" });
    let path = format!("/api/reviews/{}", review["reviewId"].as_str().unwrap());
    assert_eq!(here.post(&path, decision).await.status, 200);
    while here.get(&format!("/api/runs/{run}")).await.json()["status"] != "COMPLETED" {}
    assert_eq!(here.get(&format!("/api/runs/{run}")).await.json().get("truncated"), None);
    let (_here, review, frame) = reviewed(ScriptedModel::new().otherwise(Line::new().says("whole"))).await;
    assert_eq!((review.get("truncated"), frame.get("truncated")), (None, None), "{review} {frame}");
}
