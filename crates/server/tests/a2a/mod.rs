//! `/a2a` through real sockets, over JSON-RPC and over REST.

mod people;
mod pushes;
mod refused;

use std::sync::Arc;

use consort_core::draft::Draft;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_server::Server;
use consort_server::access::{Key, Scope};
use serde_json::{Value, json};

use crate::client::{Answer, Here, engine, engine_over, server, start, task};
use crate::mcp::{cutting, sharing};
use crate::says;

async fn here(model: ScriptedModel) -> Here {
    start(sharing(engine(model, Capacity::UNLIMITED))).await
}

/// A client with a key.
#[derive(Clone, Copy)]
struct Client<'a> {
    here: &'a Here,
    key: &'a str,
}

impl<'a> Client<'a> {
    fn of(here: &'a Here) -> Client<'a> {
        Client { here, key: "none" }
    }

    fn with_key(self, key: &'a str) -> Client<'a> {
        Client { key, ..self }
    }

    /// Sends a request with its headers.
    async fn sends(&self, line: &str, kind: &str, body: &str) -> Answer {
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nAuthorization: Bearer {}\r\nContent-Type: {kind}",
            self.key
        );
        self.here.send(&head, body.as_bytes()).await
    }

    /// Calls a method over JSON-RPC.
    async fn calls(&self, method: &str, params: Value) -> Answer {
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        self.sends("POST /a2a", "application/json", &call.to_string()).await
    }

    /// Returns the result of a method.
    async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.calls(method, params).await;
        let json = answer.json();
        assert_eq!((&json["jsonrpc"], &json["id"]), (&json!("2.0"), &json!(7)), "{answer:?}");
        assert!(json["result"].is_object(), "{answer:?}");
        json["result"].clone()
    }

    /// Returns the code and the message with which a method fails.
    async fn fails(&self, method: &str, params: Value) -> (i64, String) {
        let answer = self.calls(method, params).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let error = answer.json()["error"].clone();
        assert!(error["data"][0]["@type"] == "type.googleapis.com/google.rpc.ErrorInfo", "{answer:?}");
        (error["code"].as_i64().unwrap_or_else(|| panic!("{answer:?}")), error["message"].as_str().unwrap().to_owned())
    }

    /// Returns the task of a message.
    async fn says(&self, message: Value) -> Value {
        let sent = self.result("SendMessage", json!({ "message": message })).await;
        assert!(sent["task"].is_object(), "{sent}");
        sent["task"].clone()
    }

    async fn task(&self, id: &str) -> Value {
        self.result("GetTask", json!({ "id": id })).await
    }
}

/// A message.
fn said(id: &str, text: &str) -> Value {
    json!({ "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] })
}

/// A message for a skill.
fn asked(id: &str, skill: &str, text: &str) -> Value {
    with(said(id, text), json!({ "metadata": { "skillId": skill } }))
}

fn with(mut message: Value, more: Value) -> Value {
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_else(|| panic!("{task}"))
}

fn text(task: &Value) -> &str {
    task["artifacts"][0]["parts"][0]["text"].as_str().unwrap_or_else(|| panic!("{task}"))
}

fn id(task: &Value) -> String {
    task["id"].as_str().unwrap().to_owned()
}

/// Returns the events of a stream; over JSON-RPC each is a result.
fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{answer:?}");
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let read = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
    read.map(|event| if event["jsonrpc"].is_string() { event["result"].clone() } else { event }).collect()
}

/// Returns the result as a client that applies the events has it.
fn made(events: &[Value]) -> String {
    let mut made = String::new();
    for update in events.iter().filter_map(|event| event.get("artifactUpdate")) {
        if update["append"] != true {
            made.clear();
        }
        made.push_str(update["artifact"]["parts"][0]["text"].as_str().unwrap_or_default());
    }
    made
}

#[tokio::test]
async fn the_card_says_what_is_shared_and_how_it_is_asked_to_everybody() {
    let open = here(says("done")).await;
    let answer = open.get("/.well-known/agent-card.json").await;
    let card = answer.json();
    let skills: Vec<&Value> = card["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
    assert_eq!(skills, ["sums", "about_topic", "plain", "careful", "run_ensemble", "chat"]);
    assert!(card["skills"].as_array().unwrap().iter().all(|skill| !skill["tags"].as_array().unwrap().is_empty()));
    let interfaces = card["supportedInterfaces"].as_array().unwrap();
    assert_eq!(
        interfaces[0],
        json!({ "url": "http://localhost/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" })
    );
    assert_eq!(interfaces[1]["url"], "http://localhost/a2a/v1");
    assert_eq!(interfaces[1]["protocolBinding"], "HTTP+JSON");
    assert_eq!(
        card["capabilities"],
        json!({ "streaming": true, "pushNotifications": true, "extendedAgentCard": true })
    );
    assert!(card.get("securitySchemes").is_none(), "no key is needed here");
    for header in ["etag", "last-modified", "cache-control"] {
        assert!(answer.header(header).is_some(), "{answer:?}");
    }
    let mut guarded = sharing(engine(says("done"), Capacity::UNLIMITED));
    guarded.access.keys = vec![Key::new("a", "a", &[Scope::Run]).unwrap()];
    let guarded = start(guarded).await;
    let card = guarded.get("/.well-known/agent-card.json").await.json();
    assert_eq!(card["securitySchemes"]["key"]["httpAuthSecurityScheme"]["scheme"], "Bearer");
    assert_eq!(card["securityRequirements"], json!([{ "schemes": { "key": { "list": [] } } }]));
    let own = Client::of(&guarded).with_key("a").result("GetExtendedAgentCard", json!({})).await;
    let own: Vec<&Value> = own["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
    assert_eq!(own, ["about_topic", "plain", "careful", "run_ensemble", "chat"], "this key may call no tool");
}

#[tokio::test]
async fn a_message_is_answered_by_a_turn_and_its_context_is_the_thread() {
    let model = says("hello");
    let here = here(model.clone()).await;
    let client = Client::of(&here);
    let task = client.says(said("m-1", "hi")).await;
    assert_eq!((state(&task), text(&task)), ("TASK_STATE_COMPLETED", "hello"));
    assert_eq!(task["history"][0]["parts"][0]["text"], "hi");
    let context = task["contextId"].as_str().unwrap().to_owned();
    assert!(here.get(&format!("/api/threads/{context}")).await.status == 200);
    let next = client.says(with(said("m-2", "and then?"), json!({ "contextId": context }))).await;
    assert_eq!(next["contextId"], json!(context));
    assert_ne!(next["id"], task["id"]);
    assert!(format!("{:?}", model.sent("1.0")).contains("and then?"));
    // A context may have a name of the client's, which it keeps.
    let own = client.says(with(said("m-3", "hi"), json!({ "contextId": "my context" }))).await;
    assert_eq!(own["contextId"], "my context");
    let again = client.says(with(said("m-4", "more"), json!({ "contextId": "my context" }))).await;
    let listed = client.result("ListTasks", json!({ "contextId": "my context" })).await;
    let ids: Vec<&Value> = listed["tasks"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, [&again["id"], &own["id"]]);
    assert_eq!(client.task(&id(&task)).await["artifacts"], task["artifacts"]);
}

#[tokio::test]
async fn a_skill_is_a_run_with_the_text_or_the_data_as_inputs_and_a_tool_answers_with_a_message() {
    let model = says("done");
    let here = here(model.clone()).await;
    let client = Client::of(&here);
    let run = client.says(asked("m-1", "about_topic", "bees")).await;
    assert!(id(&run).starts_with("run-") && text(&run) == "done", "{run}");
    assert_eq!(run["contextId"], run["id"], "a run without a context has its own");
    assert!(format!("{:?}", model.sent("1.0")).contains("about bees"));
    let data = json!({ "messageId": "m-2", "role": "ROLE_USER", "parts": [{ "data": { "topic": "wasps" } }],
        "metadata": { "skillId": "about_topic" }, "contextId": "ctx" });
    let run = client.says(data).await;
    assert_eq!(
        (run["contextId"].as_str(), &run["history"][0]["parts"][0]["data"]["topic"]),
        (Some("ctx"), &json!("wasps"))
    );
    assert!(format!("{:?}", model.sent("1.0")).contains("about wasps"));
    let sum = client.result("SendMessage", json!({ "message": asked("m-3", "sums", "6 * 7") })).await;
    assert_eq!((&sum["message"]["role"], &sum["message"]["parts"][0]["text"]), (&json!("ROLE_AGENT"), &json!("42")));
    let file = json!({ "messageId": "m-4", "role": "ROLE_USER", "metadata": { "skillId": "plain" },
        "parts": [{ "text": "read it" }, { "raw": "aG9uZXk=", "mediaType": "text/plain", "filename": "a.txt" }] });
    let run = client.says(file).await;
    assert_eq!(state(&run), "TASK_STATE_COMPLETED");
    assert!(format!("{:?}", model.sent("1.0")).contains("a.txt"));
    assert_eq!(here.get(&format!("/api/runs/{}", id(&run))).await.json()["status"], "COMPLETED");
}

#[tokio::test]
async fn both_bindings_say_the_same() {
    let here = here(says("hello")).await;
    let client = Client::of(&here);
    let kind = "application/a2a+json";
    let sent =
        client.sends("POST /a2a/v1/message:send", kind, &json!({ "message": said("m-1", "hi") }).to_string()).await;
    assert_eq!((sent.status, sent.header("content-type")), (200, Some(kind)));
    let task = sent.json()["task"].clone();
    let id = id(&task);
    assert_eq!((state(&task), text(&task)), ("TASK_STATE_COMPLETED", "hello"));
    let rest = client.sends(&format!("GET /a2a/v1/tasks/{id}"), kind, "").await.json();
    assert_eq!(rest, client.task(&id).await);
    let short = client.sends(&format!("GET /a2a/v1/tasks/{id}?historyLength=0"), kind, "").await.json();
    assert!(short.get("history").is_none(), "{short}");
    let body = json!({ "message": said("m-2", "hi") }).to_string();
    let plain = client.sends("POST /a2a/v1/message:send", "application/json", &body).await;
    assert_eq!(plain.header("content-type"), Some("application/json"));
    let slashed = json!({ "jsonrpc": "2.0", "id": "x", "method": "GetTask", "params": { "id": id } }).to_string();
    assert_eq!(client.sends("POST /a2a/", "application/json", &slashed).await.json()["result"]["id"], json!(id));
    let streamed =
        client.sends("POST /a2a/v1/message:stream", kind, &json!({ "message": said("m-3", "hi") }).to_string()).await;
    assert_eq!(made(&events(&streamed)), "hello");
    let ended = client.sends(&format!("POST /a2a/v1/tasks/{id}:cancel"), kind, "{}").await;
    assert_eq!((ended.status, &ended.json()["error"]["details"][0]["reason"]), (400, &json!("TASK_NOT_CANCELABLE")));
    let over = client.sends(&format!("GET /a2a/v1/tasks/{id}:subscribe"), kind, "").await;
    assert_eq!((over.status, &over.json()["error"]["details"][0]["reason"]), (400, &json!("UNSUPPORTED_OPERATION")));
    let card = client.sends("GET /a2a/v1/extendedAgentCard", kind, "").await.json();
    assert_eq!(card["skills"], here.get("/.well-known/agent-card.json").await.json()["skills"]);
    let missing = client.sends("GET /a2a/v1/tasks/run-0", kind, "").await;
    assert_eq!((missing.status, &missing.json()["error"]["code"]), (404, &json!(404)));
}

#[tokio::test]
async fn a_stream_begins_with_the_task_tells_the_words_and_ends_with_the_state() {
    let here = here(says("one two three")).await;
    let client = Client::of(&here);
    for message in [said("m-1", "hi"), asked("m-2", "about_topic", "bees")] {
        let events = events(&client.calls("SendStreamingMessage", json!({ "message": message })).await);
        let first = &events[0]["task"];
        assert_eq!(state(first), "TASK_STATE_SUBMITTED", "{events:?}");
        let states: Vec<&str> =
            events.iter().filter_map(|event| event["statusUpdate"]["status"]["state"].as_str()).collect();
        assert_eq!((states.first(), states.last()), (Some(&"TASK_STATE_WORKING"), Some(&"TASK_STATE_COMPLETED")));
        assert_eq!(made(&events), "one two three", "{events:?}");
        assert!(events.last().unwrap()["statusUpdate"].is_object());
        let last = events.iter().rev().find_map(|event| event.get("artifactUpdate")).unwrap();
        assert_eq!(last["lastChunk"], true);
        for event in &events[1..] {
            let update = event.get("statusUpdate").or(event.get("artifactUpdate")).unwrap();
            assert_eq!((&update["taskId"], &update["contextId"]), (&first["id"], &first["contextId"]));
        }
    }
    let sum = events(&client.calls("SendStreamingMessage", json!({ "message": asked("m-3", "sums", "1 + 1") })).await);
    assert_eq!((sum.len(), &sum[0]["message"]["parts"][0]["text"]), (1, &json!("2")));
}

#[tokio::test]
async fn a_message_that_is_sent_again_begins_nothing_in_either_binding() {
    let model = says("hello");
    let here = here(model.clone()).await;
    let client = Client::of(&here);
    for message in [said("m-1", "hi"), asked("m-2", "about_topic", "bees")] {
        let first = client.says(message.clone()).await;
        let asked = model.ledger().len();
        let again = client.says(message.clone()).await;
        let body = json!({ "message": message }).to_string();
        let rest = client.sends("POST /a2a/v1/message:send", "application/a2a+json", &body).await.json();
        let streamed = events(&client.calls("SendStreamingMessage", json!({ "message": message })).await);
        assert_eq!((&again["id"], &rest["task"]["id"]), (&first["id"], &first["id"]));
        assert_eq!((&streamed[0]["task"]["id"], made(&streamed)), (&first["id"], "hello".to_owned()));
        assert_eq!(model.ledger().len(), asked, "nothing is asked again");
    }
    // The same id with other content is another message.
    assert_ne!(client.says(said("m-1", "hi")).await["id"], client.says(said("m-1", "bye")).await["id"]);
}

#[tokio::test]
async fn tasks_are_listed_newest_first_and_page_by_page() {
    let here = here(says("hello")).await;
    let client = Client::of(&here);
    let mut ids = Vec::new();
    for index in 0..3 {
        ids.push(id(&client.says(said(&format!("m-{index}"), "hi")).await));
    }
    ids.push(id(&client.says(asked("m-9", "careful", "x")).await));
    ids.reverse();
    let mut seen = Vec::new();
    let mut token = String::new();
    loop {
        let page = client.result("ListTasks", json!({ "pageSize": 2, "pageToken": token })).await;
        assert_eq!((&page["pageSize"], &page["totalSize"]), (&json!(2), &json!(4)), "{page}");
        let tasks = page["tasks"].as_array().unwrap();
        assert!(tasks.iter().all(|task| task.get("artifacts").is_none()), "{page}");
        seen.extend(tasks.iter().map(id));
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(seen, ids);
    let whole = client.result("ListTasks", json!({ "includeArtifacts": true, "historyLength": 0 })).await;
    assert!(whole["tasks"].as_array().unwrap().iter().all(|task| task["artifacts"].is_array()), "{whole}");
    assert!(whole["tasks"].as_array().unwrap().iter().all(|task| task.get("history").is_none()));
    let waiting = client.result("ListTasks", json!({ "status": "TASK_STATE_INPUT_REQUIRED" })).await;
    assert_eq!((&waiting["totalSize"], &waiting["tasks"][0]["id"]), (&json!(1), &json!(ids[0])));
    let late = client.result("ListTasks", json!({ "statusTimestampAfter": "2999-01-01T00:00:00Z" })).await;
    assert_eq!(late, json!({ "tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0 }));
    let rest =
        client.sends("GET /a2a/v1/tasks?pageSize=1&status=TASK_STATE_COMPLETED", "application/a2a+json", "").await;
    assert_eq!((rest.status, &rest.json()["totalSize"]), (200, &json!(3)), "{rest:?}");
}

#[tokio::test]
async fn a_task_that_works_is_cancelled_and_nothing_waits_for_it_any_more() {
    let slow = ScriptedModel::new().otherwise(Line::new().hangs());
    let here = here(slow).await;
    let client = Client::of(&here);
    for message in [said("m-1", "hi"), asked("m-2", "about_topic", "bees")] {
        let at_once = json!({ "message": message, "configuration": { "returnImmediately": true } });
        let task = client.result("SendMessage", at_once).await["task"].clone();
        let id = id(&task);
        assert!(!state(&task).ends_with("COMPLETED"), "{task}");
        let waiting =
            client.fails("SendMessage", json!({ "message": with(said("m-3", "more"), json!({ "taskId": id })) })).await;
        assert_eq!(waiting.0, -32004, "{waiting:?}");
        let cancelled = client.result("CancelTask", json!({ "id": id })).await;
        assert_eq!((&cancelled["id"], state(&cancelled)), (&json!(id), "TASK_STATE_CANCELED"));
        assert_eq!(client.fails("CancelTask", json!({ "id": id })).await.0, -32002);
        assert_eq!(client.fails("SubscribeToTask", json!({ "id": id })).await.0, -32004);
        let late = with(said("m-4", "more"), json!({ "taskId": id }));
        assert_eq!(client.fails("SendMessage", json!({ "message": late })).await.0, -32004);
    }
}

#[tokio::test]
async fn a_run_that_would_pass_its_budget_is_rejected() {
    let looks_up = ScriptedModel::new().otherwise(Line::new().calls("calculator", &json!({ "input": "1" })));
    let draft = Draft { tools: vec!["calculator".to_owned()], ..task("plain") };
    let mut server = server(engine(looks_up, Capacity::UNLIMITED), vec![draft]);
    server.ensemble.limits.llm_calls = 1;
    let here = start(Server { max_body_bytes: 65_536, ..server }).await;
    let task = Client::of(&here).says(asked("m-1", "run_ensemble", "x")).await;
    assert_eq!(state(&task), "TASK_STATE_REJECTED", "{task}");
    assert!(task["status"]["message"]["parts"][0]["text"].as_str().unwrap().contains("BUDGET_EXCEEDED"), "{task}");
}

#[tokio::test]
async fn half_an_answer_is_completed_with_a_mark_and_a_sentence_and_a_whole_one_without() {
    let cut = start(cutting()).await;
    let client = Client::of(&cut);
    let mark = json!({ "truncated": true });
    for message in [said("m-1", "hi"), asked("m-2", "brief", "bees")] {
        let task = client.says(message).await;
        assert_eq!((state(&task), text(&task)), ("TASK_STATE_COMPLETED", "half"));
        assert_eq!((&task["metadata"], &task["artifacts"][0]["metadata"]), (&mark, &mark), "{task}");
        let told = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(told.starts_with("The answer was cut at the output limit"), "{told}");
        assert_eq!(client.task(&id(&task)).await["metadata"], mark);
    }
    let told = events(&client.calls("SendStreamingMessage", json!({ "message": said("m-3", "hi") })).await);
    assert_eq!(made(&told), "half");
    let last = told.iter().rfind(|event| event["artifactUpdate"]["lastChunk"] == true).unwrap();
    assert_eq!(last["artifactUpdate"]["artifact"]["metadata"], mark, "{last}");
    let end = &told.last().unwrap()["statusUpdate"];
    assert_eq!((&end["metadata"], state(end)), (&mark, "TASK_STATE_COMPLETED"));
    let whole = here(says("whole")).await;
    let task = Client::of(&whole).says(said("m-1", "hi")).await;
    assert_eq!((task.get("metadata"), task["status"].get("message")), (None, None), "{task}");
    assert_eq!(task["artifacts"][0].get("metadata"), None);
}
