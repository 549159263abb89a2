//! Reviews and approvals, which wait for a person, as tasks that need an answer.

use consort_chat::{Chats, Settings};
use consort_core::catalog::{EffectClass, Permission};
use consort_core::chat::{Mode, Rules};
use consort_tools::ScriptedTool;

use super::*;
use crate::client::engine_with;

#[tokio::test]
async fn a_review_makes_the_task_wait_and_the_next_message_decides_it() {
    let here = here(says("draft")).await;
    let client = Client::of(&here);
    for (index, (answer, result)) in [
        (json!({ "parts": [{ "text": "approve" }] }), "draft"),
        (json!({ "parts": [{ "data": { "decision": "EDIT", "revisedOutput": "better" } }] }), "better"),
    ]
    .into_iter()
    .enumerate()
    {
        let task = client.says(asked(&format!("m-{index}"), "careful", "x")).await;
        assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task}");
        let parts = &task["status"]["message"]["parts"];
        assert!(parts[0]["text"].as_str().unwrap().contains("draft"), "{task}");
        assert_eq!(parts[1]["data"]["answer"]["required"], json!(["decision"]));
        let answer = with(with(said(&format!("n-{index}"), ""), answer), json!({ "taskId": task["id"] }));
        let done = client.says(answer.clone()).await;
        assert_eq!((&done["id"], state(&done), text(&done)), (&task["id"], "TASK_STATE_COMPLETED", result));
        // Sent again, it decides nothing and says the same.
        assert_eq!(client.says(answer).await, done);
    }
}

#[tokio::test]
async fn any_other_word_of_a_reviewer_is_feedback_and_the_task_asks_again() {
    let model = ScriptedModel::new().at("1.0", Line::new().says("draft")).otherwise(Line::new().says("shorter"));
    let here = here(model.clone()).await;
    let client = Client::of(&here);
    let task = client.says(asked("m-1", "careful", "x")).await;
    let again = client.says(with(said("m-2", "make it shorter"), json!({ "taskId": task["id"] }))).await;
    assert_eq!((state(&again), &again["id"]), ("TASK_STATE_INPUT_REQUIRED", &task["id"]), "{again}");
    assert!(again["status"]["message"]["parts"][0]["text"].as_str().unwrap().contains("shorter"), "{again}");
    let other = with(said("m-3", "approve"), json!({ "taskId": task["id"], "contextId": "other" }));
    assert_eq!(client.fails("SendMessage", json!({ "message": other })).await.0, -32602);
    let none = json!({ "messageId": "m-4", "role": "ROLE_USER", "taskId": task["id"],
        "parts": [{ "data": { "id": "run-0-review-0", "decision": "APPROVE" } }] });
    assert_eq!(client.fails("SendMessage", json!({ "message": none })).await.0, -32004);
    let wrong = json!({ "messageId": "m-5", "role": "ROLE_USER", "taskId": task["id"],
        "parts": [{ "data": { "decision": "EDIT" } }] });
    let (code, told) = client.fails("SendMessage", json!({ "message": wrong })).await;
    assert_eq!((code, told.as_str()), (-32602, "`revisedOutput` is required"));
    let done = client.says(with(said("m-6", "exit early"), json!({ "taskId": task["id"] }))).await;
    assert_ne!(state(&done), "TASK_STATE_INPUT_REQUIRED", "{done}");
}

#[tokio::test]
async fn a_subscriber_sees_the_task_first_then_the_answer_and_the_end() {
    let here = here(says("draft")).await;
    let client = Client::of(&here);
    let begun = events(&client.calls("SendStreamingMessage", json!({ "message": asked("m-1", "careful", "x") })).await);
    let last = begun.last().unwrap();
    assert_eq!(state(&last["statusUpdate"]), "TASK_STATE_INPUT_REQUIRED", "a stream ends when an answer is needed");
    let task = id(&begun[0]["task"]);
    let subscribed = client.calls("SubscribeToTask", json!({ "id": task }));
    let answered = client.says(with(said("m-2", "approve"), json!({ "taskId": task })));
    let (subscribed, answered) = tokio::join!(subscribed, answered);
    assert_eq!(state(&answered), "TASK_STATE_COMPLETED");
    // The answer may have come first: then nothing is left to follow.
    if subscribed.header("content-type") == Some("text/event-stream") {
        let events = events(&subscribed);
        assert!(events[0]["task"]["id"] == json!(task), "{events:?}");
        assert_eq!(state(&events.last().unwrap()["statusUpdate"]), "TASK_STATE_COMPLETED", "{events:?}");
    }
}

#[tokio::test]
async fn an_approval_of_a_chat_is_allowed_by_a_word() {
    let model = ScriptedModel::new()
        .at("1.0", Line::new().calls("bell", &json!({ "input": "x" })))
        .otherwise(Line::new().says("it rang"));
    let bell = ScriptedTool::new("bell").effect(EffectClass::Once).answers("ding");
    let bell = bell.with_info(|info| info.permission = Permission::Network);
    let engine = engine_with(Arc::default(), model, bell, Capacity::UNLIMITED);
    let rules = Rules { mode: Mode::Default, ..Rules::default() };
    let chats = Chats::new(engine.clone(), Settings::new(&engine, rules));
    let here = start(Server { chats, ..sharing(engine) }).await;
    let client = Client::of(&here);
    let task = client.says(said("m-1", "ring")).await;
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task}");
    assert!(task["status"]["message"]["parts"][0]["text"].as_str().unwrap().contains("bell"), "{task}");
    let blocked = with(said("m-2", "hello?"), json!({ "contextId": task["contextId"] }));
    assert_eq!(client.fails("SendMessage", json!({ "message": blocked })).await.0, -32602, "the thread waits");
    let odd = with(said("m-3", "maybe"), json!({ "taskId": task["id"] }));
    let (code, told) = client.fails("SendMessage", json!({ "message": odd })).await;
    assert!(code == -32602 && told.contains("allow, allow_for_chat, deny"), "{told}");
    let done = client.says(with(said("m-4", "Allow"), json!({ "taskId": task["id"] }))).await;
    assert_eq!((state(&done), text(&done)), ("TASK_STATE_COMPLETED", "it rang"));
}
