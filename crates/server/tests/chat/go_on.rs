//! Answers of a chat that were cut or never came, and going on with them.

use std::sync::Arc;

use consort_core::message::{Failure, FailureKind, Stop};
use consort_models::{Line, ScriptedModel};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{STREAM, converse, frames, messages, quiet, say, serving, thread};
use crate::client::Here;

fn cut(words: &str) -> Line {
    Line::new().says(words).stops(Stop::Length)
}

async fn go_on(here: &Here, thread: &str) -> crate::client::Answer {
    here.post(&format!("/api/threads/{thread}/continue"), json!({})).await
}

#[tokio::test]
async fn a_cut_answer_is_marked_and_the_person_goes_on_with_it() {
    let model = ScriptedModel::new()
        .when(|ask| super::users_words(ask) == "tell me", cut("half an ans"))
        .otherwise(Line::new().says("wer"));
    let here = serving(&model).await;
    let id = thread(&here).await;
    assert_eq!(go_on(&here, &id).await.problem(), (409, "NOTHING_TO_CONTINUE".to_owned()), "nothing was said yet");
    let turn = converse(&here, &id, "tell me").await;
    let settled: Vec<&Value> = turn.iter().filter(|frame| frame["type"] == "answer_truncated").collect();
    assert_eq!((settled.len(), &settled[0]["then"]), (1, &json!("accept")));
    let row = messages(&here, &id).await.pop().unwrap();
    assert_eq!((&row["content"], &row["truncated"]), (&json!("half an ans"), &json!(true)));
    let taken = go_on(&here, &id).await;
    assert_eq!((taken.status, &taken.json()["threadId"]), (202, &json!(id)), "{taken:?}");
    assert!(taken.json()["seq"].as_u64() > Some(0) && taken.json()["turnId"].is_string(), "{taken:?}");
    quiet(&here, &id).await;
    let rest = messages(&here, &id).await.pop().unwrap();
    assert_eq!((&rest["content"], &rest["truncated"], &rest["continues"]), (&json!("wer"), &json!(false), &row["id"]));
    let sent = model.sent("1.0").unwrap();
    assert!(super::users_words(&sent).contains("where your answer was cut off"), "{:?}", sent.messages);
    assert_eq!(go_on(&here, &id).await.problem(), (409, "NOTHING_TO_CONTINUE".to_owned()), "the rest was not cut");
    assert_eq!(go_on(&here, "no").await.problem(), (404, "THREAD_NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn going_on_streams_like_a_message_and_waits_for_nobody() {
    let go = Arc::new(Notify::new());
    let model = ScriptedModel::new()
        .when(|ask| super::users_words(ask) == "wait", Line::new().waits(&go).says("done"))
        .otherwise(cut("again "));
    let here = serving(&model).await;
    let id = thread(&here).await;
    converse(&here, &id, "tell me").await;
    let path = format!("/api/threads/{id}/continue");
    let turn = frames(&here.post_with(&path, STREAM, json!({})).await);
    let row = turn.iter().rfind(|frame| frame["type"] == "message").unwrap();
    assert_eq!(
        (&row["content"], &row["truncated"]),
        (&json!("again "), &json!(true)),
        "what was cut again can be continued again"
    );
    assert_eq!(say(&here, &id, json!({ "content": "wait" })).await.status, 202);
    assert_eq!(go_on(&here, &id).await.problem(), (409, "THREAD_BUSY".to_owned()));
    go.notify_one();
    quiet(&here, &id).await;
}

#[tokio::test]
async fn a_turn_that_failed_says_in_its_row_what_failed_also_when_it_is_read_again() {
    let refused = |message: &str| Failure {
        kind: FailureKind::Refused,
        message: message.to_owned(),
        retry_after_ms: None,
        status: None,
        charged: false,
    };
    let model = ScriptedModel::new()
        .when(|ask| super::users_words(ask) == "say nothing", Line::new())
        .when(|ask| super::users_words(ask).contains("was empty"), Line::new())
        .when(|ask| super::users_words(ask) == "break", Line::new().breaks(refused("not today")))
        .otherwise(Line::new().says("fine"));
    let here = serving(&model).await;
    let id = thread(&here).await;
    for (words, code, told) in
        [("say nothing", "empty_answer", "EMPTY_ANSWER"), ("break", "provider_error", "not today")]
    {
        let turn = converse(&here, &id, words).await;
        let error = turn.iter().find(|frame| frame["type"] == "error").unwrap();
        assert_eq!(error["code"], code);
        let shown = turn.iter().rfind(|frame| frame["type"] == "message").unwrap();
        let row = messages(&here, &id).await.pop().unwrap();
        assert_eq!(
            (&row["role"], &row["is_error"], &row["content"]),
            (&json!("assistant"), &json!(true), &shown["content"])
        );
        assert!(row["content"].as_str().unwrap().contains(told), "{row}");
    }
    converse(&here, &id, "and now?").await;
    let sent = model.sent("1.0").unwrap();
    assert!(!format!("{:?}", sent.messages).contains("not today"), "a model is not shown errors: {:?}", sent.messages);
    let export = here.get(&format!("/api/threads/{id}/export")).await;
    assert!(export.body.contains("not today"), "{}", export.body);
}
