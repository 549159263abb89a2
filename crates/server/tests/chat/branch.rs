//! A conversation that branches off from another one before a message, which is said differently.

use consort_core::message::Message;
use consort_models::{Line, ScriptedModel};
use serde_json::{Value, json};

use super::{converse, messages, quiet, serving, thread};
use crate::client::{Answer, Here};

async fn branch(here: &Here, thread: &str, before: &str) -> Answer {
    here.post("/api/threads", json!({ "branch_of": { "thread_id": thread, "before": before } })).await
}

fn said(rows: &[Value]) -> Vec<(String, String)> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    rows.iter().map(|row| (text(row, "role"), text(row, "content"))).collect()
}

fn pairs(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(role, content)| ((*role).to_owned(), (*content).to_owned())).collect()
}

#[tokio::test]
async fn a_branch_begins_with_what_was_said_before_and_both_are_kept() {
    let model = ScriptedModel::new()
        .when(super::hears("name a bird"), Line::new().says("wren"))
        .when(super::hears("a larger one"), Line::new().says("swan"))
        .otherwise(Line::new().says("heron"));
    let here = serving(&model).await;
    let first = thread(&here).await;
    converse(&here, &first, "name a bird").await;
    converse(&here, &first, "a larger one").await;
    let before = messages(&here, &first).await;
    let turn = before[2]["turn_id"].as_str().unwrap();

    let made = branch(&here, &first, turn).await;
    assert_eq!((made.status, &made.json()["branchOf"]), (201, &json!({ "threadId": first, "turnId": turn })));
    let second = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(messages(&here, &second).await, Vec::<Value>::new(), "nothing is said in it yet");
    converse(&here, &second, "a grey one").await;
    converse(&here, &second, "and another").await;
    let whole = [
        ("user", "name a bird"),
        ("assistant", "wren"),
        ("user", "a grey one"),
        ("assistant", "heron"),
        ("user", "and another"),
        ("assistant", "heron"),
    ];
    assert_eq!(said(&messages(&here, &second).await), pairs(&whole), "the beginning is there once");
    assert_eq!(messages(&here, &first).await, before, "the other conversation stays as it was");
    assert_eq!(quiet(&here, &second).await["title"], "a grey one");
    assert_eq!(told(&model), ["name a bird", "wren", "a grey one", "heron", "and another"]);
    let erased = here.send(&format!("DELETE /api/threads/{first} HTTP/1.1\r\nHost: localhost"), b"").await;
    assert_eq!(erased.status, 204, "{erased:?}");
    assert_eq!(said(&messages(&here, &second).await), pairs(&whole), "a branch outlives what it branched off from");
}

/// Returns the conversation that the model was told last, without instructions.
fn told(model: &ScriptedModel) -> Vec<String> {
    let word = |message: &Message| match message {
        Message::User { text } => Some(text.to_string()),
        Message::Assistant(reply) => Some(reply.text()),
        Message::System { .. } | Message::Files { .. } | Message::Tool { .. } => None,
    };
    model.sent("1.0").unwrap().messages.iter().filter_map(word).collect()
}

#[tokio::test]
async fn a_branch_of_something_that_is_not_there_is_refused() {
    let here = serving(&ScriptedModel::new().otherwise(Line::new().says("yes"))).await;
    let id = thread(&here).await;
    assert_eq!(branch(&here, "no", "turn").await.problem(), (404, "THREAD_NOT_FOUND".to_owned()));
    assert_eq!(branch(&here, &id, "turn").await.problem(), (400, "BAD_REQUEST".to_owned()));
    for wrong in [json!({ "branch_of": "it" }), json!({ "branch_of": { "thread_id": id } })] {
        assert_eq!(here.post("/api/threads", wrong).await.problem(), (400, "BAD_REQUEST".to_owned()));
    }
    let threads = here.get("/api/threads").await.json();
    assert_eq!(threads["total"], 1, "{threads}");
}
