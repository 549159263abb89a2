//! Addresses that are told of a task.

use consort_http::outbound::Reach;
use consort_log::MemoryLog;
use consort_runtime::engine::Engine;

use super::*;
use crate::webhooks::receiver::{Receiver, Reply};

/// A server whose clients may name addresses of this machine.
fn open(engine: Engine) -> Server {
    Server { push_reach: Reach::Everything, ..sharing(engine) }
}

fn told(address: &str) -> Value {
    json!({ "url": address, "id": "p", "token": "t-1", "authentication": { "scheme": "Bearer", "credentials": "secret" } })
}

#[tokio::test]
async fn the_address_of_a_message_is_told_when_the_task_asks_and_when_it_ends() {
    let receiver = Receiver::start(&[]).await;
    let here = start(open(engine(says("draft"), Capacity::UNLIMITED))).await;
    let client = Client::of(&here);
    let configuration = json!({ "taskPushNotificationConfig": told(&receiver.url) });
    let message = json!({ "message": asked("m-1", "careful", "x"), "configuration": configuration });
    let task = client.result("SendMessage", message).await["task"].clone();
    let asking = receiver.messages(1).await[0].clone();
    let update = asking.json()["statusUpdate"].clone();
    assert_eq!((&update["taskId"], &update["contextId"]), (&task["id"], &task["contextId"]), "{update}");
    assert_eq!(state(&update), "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(asking.header("content-type"), "application/a2a+json");
    assert_eq!(asking.header("authorization"), "Bearer secret");
    assert_eq!(asking.header("x-a2a-notification-token"), "t-1");
    assert!(!asking.header("webhook-id").is_empty());
    client.says(with(said("m-2", "approve"), json!({ "taskId": task["id"] }))).await;
    let ended = receiver.messages(2).await[1].clone();
    assert_eq!(state(&ended.json()["statusUpdate"]), "TASK_STATE_COMPLETED");
    assert_ne!(ended.header("webhook-id"), asking.header("webhook-id"));
    // A turn is told of as well.
    let message = json!({ "message": said("m-3", "hi"), "configuration": configuration });
    let turn = client.result("SendMessage", message).await["task"].clone();
    let told = receiver.messages(3).await[2].json();
    assert_eq!((&told["statusUpdate"]["taskId"], state(&told["statusUpdate"])), (&turn["id"], "TASK_STATE_COMPLETED"));
}

#[tokio::test]
async fn addresses_are_kept_shown_and_removed_in_both_bindings() {
    let here = start(open(engine(says("draft"), Capacity::UNLIMITED))).await;
    let client = Client::of(&here);
    let task = id(&client.says(asked("m-1", "careful", "x")).await);
    let address = with(told("https://example.com/told"), json!({ "taskId": task }));
    let made = client.result("CreateTaskPushNotificationConfig", address.clone()).await;
    assert_eq!(made, address);
    let path = format!("/a2a/v1/tasks/{task}/pushNotificationConfigs");
    let kind = "application/a2a+json";
    let second = client.sends(&format!("POST {path}"), kind, r#"{"url":"https://example.com/second"}"#).await.json();
    let second_id = second["id"].as_str().unwrap();
    assert!(!second_id.is_empty(), "an id is given");
    assert_eq!(client.sends(&format!("GET {path}/p"), kind, "").await.json(), address);
    let listed = client.result("ListTaskPushNotificationConfigs", json!({ "task_id": task })).await;
    assert_eq!((listed["configs"].as_array().unwrap().len(), &listed["nextPageToken"]), (2, &json!("")));
    let page = client.sends(&format!("GET {path}?pageSize=1"), kind, "").await.json();
    assert!(page["configs"].as_array().unwrap().len() == 1 && page["nextPageToken"] != "", "{page}");
    for _ in 0..2 {
        let removed = client.sends(&format!("DELETE {path}/p"), kind, "").await;
        assert_eq!((removed.status, removed.json()), (200, json!({})), "removing it again changes nothing");
    }
    let missing = json!({ "taskId": task, "id": "p" });
    assert_eq!(client.fails("GetTaskPushNotificationConfig", missing).await.0, -32001);
    for index in 0..15 {
        client
            .result(
                "CreateTaskPushNotificationConfig",
                json!({ "taskId": task, "id": format!("{index}"), "url": "https://example.com" }),
            )
            .await;
    }
    let many = json!({ "taskId": task, "url": "https://example.com" });
    assert_eq!(client.fails("CreateTaskPushNotificationConfig", many).await.0, -32004);
}

#[tokio::test]
async fn an_address_of_the_network_of_the_server_is_refused() {
    let here = here(says("draft")).await;
    let client = Client::of(&here);
    let task = id(&client.says(asked("m-1", "careful", "x")).await);
    for url in [
        "http://127.0.0.1:8080/x",
        "http://localhost/x",
        "https://10.0.0.8",
        "file:///etc/passwd",
        "x",
        "http://[::1]/",
        "http://169.254.169.254/",
    ] {
        let (code, told) =
            client.fails("CreateTaskPushNotificationConfig", json!({ "taskId": task, "url": url })).await;
        assert!(code == -32602 && told.contains("`url`"), "{url}: {told}");
        let configuration = json!({ "taskPushNotificationConfig": { "url": url } });
        let message = json!({ "message": said("m-2", "hi"), "configuration": configuration });
        assert_eq!(client.fails("SendMessage", message).await.0, -32602, "{url}");
    }
    for wrong in [
        json!({ "url": 3 }),
        json!({}),
        json!({ "url": "https://e.com", "authentication": {} }),
        json!({ "url": "https://e.com", "token": "a\nb" }),
    ] {
        let params = with(wrong, json!({ "taskId": task }));
        assert_eq!(client.fails("CreateTaskPushNotificationConfig", params.clone()).await.0, -32602, "{params}");
    }
}

#[tokio::test]
async fn what_was_not_taken_is_told_again_after_a_restart() {
    let log = Arc::new(MemoryLog::default());
    let receiver = Receiver::start(&[]).await;
    let url = receiver.url.clone();
    drop(receiver);
    let server = || open(engine_over(log.clone(), says("draft"), Capacity::UNLIMITED));
    let here = start(server()).await;
    let client = Client::of(&here);
    let configuration = json!({ "taskPushNotificationConfig": told(&url) });
    let message = json!({ "message": said("m-1", "hi"), "configuration": configuration });
    let task = client.result("SendMessage", message).await["task"].clone();
    assert_eq!(state(&task), "TASK_STATE_COMPLETED");
    drop(here);
    let address = url.trim_start_matches("http://").split('/').next().unwrap().to_owned();
    let receiver = Receiver::start_at(&address, &[Reply::Status(500)]).await;
    let here = start(server()).await;
    let first = receiver.messages(1).await[0].clone();
    assert_eq!(first.json()["statusUpdate"]["taskId"], task["id"]);
    let client = Client::of(&here);
    assert_eq!(client.task(&id(&task)).await["artifacts"], task["artifacts"], "the task is as it was");
    let kept = client.result("GetTaskPushNotificationConfig", json!({ "taskId": task["id"], "id": "p" })).await;
    assert_eq!(kept["url"], json!(url));
}
