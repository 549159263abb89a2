//! Requests that are refused: for their version, their key, their owner, or what they say.

use super::*;

fn guarded() -> Server {
    let mut guarded = sharing(engine(says("draft"), Capacity::UNLIMITED));
    let key = |name: &str, scopes: &[Scope]| Key::new(name, name, scopes).unwrap();
    guarded.access.keys = vec![
        key("a", &[Scope::Run, Scope::Review]),
        key("b", &[Scope::Run, Scope::Review]),
        key("runs", &[Scope::Run]),
        key("eye", &[Scope::Read, Scope::Review]),
        key("tool", &[Scope::Run, Scope::Tools]),
    ];
    guarded
}

#[tokio::test]
async fn only_version_one_is_spoken_and_a_request_without_one_is_older() {
    let here = here(says("hello")).await;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "message": said("m", "hi") } });
    let rest = json!({ "message": said("n", "hi") });
    for version in ["", "A2A-Version: \r\n", "A2A-Version: 0.3\r\n", "A2A-Version: 99.0\r\n", "A2A-Version: 1\r\n"] {
        let head =
            |path: &str| format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{version}Content-Type: application/json");
        let answer = here.send(&head("/a2a"), call.to_string().as_bytes()).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (200, &json!(-32009)), "{version}: {answer:?}");
        assert_eq!(answer.json()["id"], 1);
        let answer = here.send(&head("/a2a/v1/message:send"), rest.to_string().as_bytes()).await;
        assert_eq!((answer.status, &answer.json()["error"]["status"]), (400, &json!("FAILED_PRECONDITION")));
        assert_eq!(answer.json()["error"]["details"][0]["reason"], "VERSION_NOT_SUPPORTED");
    }
    for (path, version) in [("/a2a", "A2A-Version: 1.0.1\r\n"), ("/a2a?A2A-Version=1.0", "")] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{version}Content-Type: application/json");
        assert!(here.send(&head, call.to_string().as_bytes()).await.json()["result"].is_object());
    }
}

#[tokio::test]
async fn what_is_no_call_is_told_apart_with_the_codes_of_the_protocol() {
    let here = here(says("hello")).await;
    let client = Client::of(&here);
    for (sent, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"GetTask"}"#, -32600),
        (r#"{"jsonrpc":"2.0","method":"GetTask"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"message/send"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"run-0"}}"#, -32001),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"turn-0"}}"#, -32001),
        (r#"{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"id":"peer-0"}}"#, -32001),
        (r#"{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"none"}}"#, -32001),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x","tenant":"t"}}"#, -32602),
    ] {
        let answer = client.sends("POST /a2a", "application/json", sent).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (200, &json!(code)), "{sent}: {answer:?}");
    }
    let typed = client.sends("POST /a2a", "text/plain", "{}").await;
    assert_eq!(typed.json()["error"]["code"], -32005, "{typed:?}");
    let get = here.get("/a2a").await;
    assert_eq!((get.status, &get.json()["error"]["code"]), (405, &json!(-32000)), "{get:?}");
    let large = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(70_000));
    let large = client.sends("POST /a2a", "application/json", &large).await;
    assert_eq!((large.status, large.json()["error"]["code"].as_i64()), (413, Some(-32000)), "{large:?}");
    let nowhere = client.sends("POST /a2a/v1/tasks/run-0:fly", "application/a2a+json", "{}").await;
    assert_eq!((nowhere.status, &nowhere.json()["error"]["status"]), (404, &json!("NOT_FOUND")), "{nowhere:?}");
    let typed = client.sends("POST /a2a/v1/message:send", "text/plain", "hello").await;
    assert_eq!((typed.status, &typed.json()["error"]["status"]), (415, &json!("INVALID_ARGUMENT")), "{typed:?}");
    assert_eq!(typed.json()["error"]["details"][0]["reason"], "CONTENT_TYPE_NOT_SUPPORTED", "{typed:?}");
    let empty = client.sends("POST /a2a/v1/message:send", "application/a2a+json", "{}").await;
    assert_eq!((empty.status, empty.header("content-type")), (400, Some("application/json")), "{empty:?}");
}

#[tokio::test]
async fn every_field_that_is_wrong_is_named() {
    let here = here(says("hello")).await;
    let client = Client::of(&here);
    let part = |part: Value| with(said("m", ""), json!({ "parts": [part] }));
    let cases = [
        (json!({}), "`message` is required", -32602),
        (json!({ "message": 3 }), "`message` must be an object", -32602),
        (json!({ "message": {} }), "`message.messageId` is required", -32602),
        (
            json!({ "message": with(said("m", "x"), json!({ "messageId": 3 })) }),
            "`message.messageId` must be a text",
            -32602,
        ),
        (json!({ "message": with(said("m", "x"), json!({ "role": "ROLE_AGENT" })) }), "`message.role` must be", -32602),
        (json!({ "message": with(said("m", "x"), json!({ "role": null })) }), "`message.role` is required", -32602),
        (json!({ "message": with(said("m", "x"), json!({ "parts": [] })) }), "at least one part", -32602),
        (json!({ "message": with(said("m", "x"), json!({ "parts": "x" })) }), "must be a list", -32602),
        (json!({ "message": part(json!("x")) }), "`message.parts[0]` must be an object", -32602),
        (json!({ "message": part(json!({ "text": "a", "data": {} })) }), "exactly one of", -32602),
        (json!({ "message": part(json!({})) }), "exactly one of", -32602),
        (json!({ "message": part(json!({ "data": 3 })) }), "`data` must be an object", -32602),
        (json!({ "message": part(json!({ "raw": "?", "mediaType": "text/plain" })) }), "base64", -32602),
        (json!({ "message": part(json!({ "raw": "dGNr" })) }), "`mediaType`", -32602),
        (json!({ "message": part(json!({ "raw": "dGNr", "mediaType": "application/x-odd" })) }), "", -32005),
        (json!({ "message": part(json!({ "url": "http://10.0.0.1/x" })) }), "not fetched", -32005),
        (json!({ "message": part(json!({ "text": "x", "mediaType": "video/mp4" })) }), "video/mp4", -32005),
        (json!({ "message": part(json!({ "text": " " })) }), "must say something", -32602),
        (json!({ "message": with(said("m", "x"), json!({ "contextId": "thread-0" })) }), "thread-0", -32602),
        (json!({ "message": with(said("m", "x"), json!({ "contextId": "a\nb" })) }), "`message.contextId`", -32602),
        (json!({ "message": with(said("m", "x"), json!({ "taskId": "run-0" })) }), "run-0", -32001),
        (json!({ "message": asked("m", "none", "x") }), "'none' is none of sums, ", -32602),
        (json!({ "message": asked("m", "report", "x") }), "names no skill", -32602),
        (
            json!({ "message": said("m", "x"), "configuration": { "historyLength": -1 } }),
            "`configuration.historyLength`",
            -32602,
        ),
        (
            json!({ "message": said("m", "x"), "configuration": { "returnImmediately": 1 } }),
            "`configuration.returnImmediately`",
            -32602,
        ),
        (
            json!({ "message": part(json!({ "data": { "input": 3 } })), "metadata": { "skillId": "sums" } }),
            "input",
            -32602,
        ),
    ];
    for (params, told, code) in cases {
        let (failed, message) = client.fails("SendMessage", params.clone()).await;
        assert_eq!(failed, code, "{params}: {message}");
        assert!(message.contains(told), "{params}: {message}");
    }
}

#[tokio::test]
async fn every_parameter_of_a_list_that_is_wrong_is_named_and_a_key_of_ours_is_refused() {
    let here = here(says("hello")).await;
    let client = Client::of(&here);
    for (params, told) in [
        (json!({ "pageSize": 0 }), "from 1 to 100"),
        (json!({ "pageSize": 101 }), "from 1 to 100"),
        (json!({ "page_size": "x" }), "from 1 to 100"),
        (json!({ "status": "DONE" }), "TASK_STATE_WORKING"),
        (json!({ "pageToken": "x" }), "`pageToken`"),
        (json!({ "statusTimestampAfter": "yesterday" }), "`statusTimestampAfter`"),
        (json!({ "includeArtifacts": "maybe" }), "true or false"),
        (json!({ "contextId": 7 }), "`contextId`"),
    ] {
        let (code, message) = client.fails("ListTasks", params.clone()).await;
        assert!(code == -32602 && message.contains(told), "{params}: {message}");
    }
    let keyed = here
        .post_with(
            "/a2a",
            "A2A-Version: 1.0\r\nIdempotency-Key: k",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "message": said("m", "x") } }),
        )
        .await;
    assert!(keyed.json()["error"]["message"].as_str().unwrap().contains("`messageId`"), "{keyed:?}");
}

#[tokio::test]
async fn a_key_needs_the_scope_run_and_for_some_things_another() {
    let here = start(guarded()).await;
    let client = |key| Client::of(&here).with_key(key);
    let refused = client("eye").calls("ListTasks", json!({})).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!(-32000)), "{refused:?}");
    let unknown = client("nobody").calls("ListTasks", json!({})).await;
    assert_eq!((unknown.status, unknown.header("www-authenticate")), (401, Some("Bearer")));
    let rest = client("nobody").sends("GET /a2a/v1/tasks", "application/a2a+json", "").await;
    assert_eq!((rest.status, &rest.json()["error"]["status"]), (401, &json!("UNAUTHENTICATED")), "{rest:?}");
    let (code, told) = client("runs").fails("SendMessage", json!({ "message": asked("m", "sums", "1") })).await;
    assert!(code == -32000 && told.contains("`tools`"), "{told}");
    let sum = client("tool").result("SendMessage", json!({ "message": asked("m", "sums", "1") })).await;
    assert_eq!(sum["message"]["parts"][0]["text"], "1");
    let task = client("runs").says(asked("m-1", "careful", "x")).await;
    let answer = json!({ "message": with(said("m-2", "approve"), json!({ "taskId": task["id"] })) });
    let (code, told) = client("runs").fails("SendMessage", answer).await;
    assert!(code == -32000 && told.contains("`review`"), "{told}");
    assert_eq!(client("runs").task(&id(&task)).await["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
}

#[tokio::test]
async fn the_tasks_of_another_key_are_missing() {
    let here = start(guarded()).await;
    let client = |key| Client::of(&here).with_key(key);
    let run = id(&client("a").says(asked("m-1", "careful", "x")).await);
    let turn = client("a").says(said("m-2", "hi")).await;
    for id in [run.as_str(), turn["id"].as_str().unwrap()] {
        let push = json!({ "taskId": id, "id": "p", "url": "https://example.com" });
        for (method, params) in [
            ("GetTask", json!({ "id": id })),
            ("CancelTask", json!({ "id": id })),
            ("SubscribeToTask", json!({ "id": id })),
            ("SendMessage", json!({ "message": with(said("m-3", "approve"), json!({ "taskId": id })) })),
            ("CreateTaskPushNotificationConfig", push.clone()),
            ("GetTaskPushNotificationConfig", push.clone()),
            ("ListTaskPushNotificationConfigs", push.clone()),
            ("DeleteTaskPushNotificationConfig", push),
        ] {
            assert_eq!(client("b").fails(method, params).await, (-32001, format!("there is no task {id}")), "{method}");
        }
    }
    assert_eq!(client("b").result("ListTasks", json!({})).await["tasks"], json!([]));
    let context = json!({ "message": with(said("m-4", "hi"), json!({ "contextId": turn["contextId"] })) });
    assert_eq!(client("b").fails("SendMessage", context).await.0, -32602);
    assert_eq!(client("a").result("ListTasks", json!({})).await["totalSize"], 2);
    // The same message of another key is another message.
    assert_ne!(client("b").says(said("m-2", "hi")).await["id"], turn["id"]);
}
