//! Reviews and approvals, which wait for a person, as elicitations.

use consort_chat::{Chats, Settings};
use consort_core::catalog::{EffectClass, Permission};
use consort_core::chat::{Mode, Rules};
use consort_tools::ScriptedTool;

use super::*;
use crate::client::engine_with;

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[tokio::test]
async fn a_review_is_asked_in_the_middle_of_a_call_which_goes_on_with_the_answer() {
    let here = here(says("draft")).await;
    let client = Client::of(&here).with(json!({ "elicitation": {} }));
    let asks = client.calls("careful", json!({ "topic": "x" })).await;
    assert_eq!(asks["resultType"], "input_required", "{asks}");
    let state = asks["requestState"].as_str().unwrap().to_owned();
    let (review, question) = asks["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let properties = &question["params"]["requestedSchema"]["properties"];
    assert_eq!(properties["decision"]["enum"], json!(["APPROVE", "EDIT", "REJECT", "EXIT_EARLY"]));
    assert!(properties["revisedOutput"].is_object() && properties["feedback"].is_object());
    assert!(question["params"]["message"].as_str().unwrap().contains("draft"), "{question}");
    let again = |response: Value| {
        json!({ "name": "careful", "arguments": { "topic": "x" }, "requestState": state,
            "inputResponses": { review: response } })
    };
    let wrong = client.asks("tools/call", again(accepted(json!({ "decision": "EDIT" })))).await;
    assert_eq!(error(&wrong), (200, -32602, "`revisedOutput` is required".to_owned()));
    let declined = result(&client.asks("tools/call", again(json!({ "action": "decline" }))).await);
    assert!(text(&declined).contains(&format!("/reviews/{review}")), "{declined}");
    let edited = accepted(json!({ "decision": "EDIT", "revisedOutput": "better" }));
    let done = result(&client.asks("tools/call", again(edited)).await);
    assert_eq!((text(&done), &done["isError"]), ("better", &json!(false)));
    // The first answer counts.
    let late = result(&client.asks("tools/call", again(accepted(json!({ "decision": "EXIT_EARLY" })))).await);
    assert_eq!(text(&late), "better");
}

#[tokio::test]
async fn a_client_that_cannot_ask_people_is_told_where_they_decide() {
    let here = here(says("draft")).await;
    let client = Client::of(&here);
    for answer in [
        client.asks("tools/call", json!({ "name": "careful", "arguments": { "topic": "x" } })).await,
        client.asks_older("tools/call", json!({ "name": "careful", "arguments": { "topic": "x" } })).await,
    ] {
        let told = result(&answer);
        assert!(
            text(&told).contains("It waits for a person") && text(&told).contains("http://localhost/reviews/run-"),
            "{told}"
        );
        assert_ne!(told["isError"], true);
    }
}

#[tokio::test]
async fn a_task_waits_for_a_person_and_goes_on_when_it_is_updated() {
    let here = here(says("draft")).await;
    let client = Client::of(&here).tasking();
    let id = client.calls("careful", json!({ "topic": "x" })).await["taskId"].as_str().unwrap().to_owned();
    let waits = client.until(&id, "input_required").await;
    let (review, _) = waits["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let update = |decision: &str| json!({ "taskId": id, "inputResponses": { review: accepted(json!({ "decision": decision })), "none": accepted(json!({})) } });
    let wrong = client.asks("tasks/update", update("MAYBE")).await;
    assert_eq!(error(&wrong).1, -32602);
    assert_eq!(result(&client.asks("tasks/update", update("APPROVE")).await), json!({ "resultType": "complete" }));
    result(&client.asks("tasks/update", update("EXIT_EARLY")).await);
    let done = client.until(&id, "completed").await;
    assert_eq!(text(&done["result"]), "draft");
}

#[tokio::test]
async fn an_approval_of_a_chat_is_an_elicitation_too() {
    let model = ScriptedModel::new()
        .at("1.0", Line::new().calls("bell", &json!({ "input": "x" })))
        .otherwise(Line::new().says("it rang"));
    let bell = ScriptedTool::new("bell").effect(EffectClass::Once).answers("ding");
    let bell = bell.with_info(|info| info.permission = Permission::Network);
    let engine = engine_with(Arc::default(), model, bell, Capacity::UNLIMITED);
    let rules = Rules { mode: Mode::Default, ..Rules::default() };
    let chats = Chats::new(engine.clone(), Settings::new(&engine, rules));
    let here = start(Server { chats, ..sharing(engine) }).await;
    let client = Client::of(&here).with(json!({ "elicitation": {} }));
    let asks = client.calls("chat", json!({ "message": "ring" })).await;
    assert_eq!(asks["resultType"], "input_required", "{asks}");
    let (approval, question) = asks["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert!(question["params"]["message"].as_str().unwrap().contains("bell"), "{question}");
    let params = json!({ "name": "chat", "arguments": { "message": "ring" }, "requestState": asks["requestState"],
        "inputResponses": { approval: accepted(json!({ "decision": "allow" })) } });
    let done = result(&client.asks("tools/call", params).await);
    assert_eq!(text(&done), "it rang");
}
