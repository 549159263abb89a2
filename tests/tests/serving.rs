//! An ensemble of the library over HTTP: the same runs from inside and
//! outside, other ensembles that use its capabilities, and an orderly end.

use std::net::SocketAddr;

use consort::{
    Calculator, ChatRules, Ensemble, Error, Line, Mistakes, Mode, Model, Scope, ScriptedModel, Served, Status, Task,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends a request and returns the status and the body.
pub(crate) async fn ask(address: SocketAddr, line: &str, headers: &str, body: &str) -> (u16, Value) {
    let request = format!(
        "{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    (status, serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned())))
}

async fn serve(ensemble: &Ensemble) -> Served {
    ensemble.serve("127.0.0.1:0").await.unwrap()
}

fn writer() -> consort::EnsembleBuilder {
    let task = Task::builder("Write about {context}").name("write").tool("calculator");
    Ensemble::builder().name("desk").model("demo", Model::demo()).tool(Calculator::default()).task(task)
}

#[tokio::test]
async fn runs_of_clients_and_of_the_program_are_the_same_runs() {
    let ensemble = writer().input("context", "tea").build().unwrap();
    let served = serve(&ensemble).await;
    let at = served.address();
    let (status, run) = ask(at, "POST /api/runs", "prefer: wait=30\r\n", "{}").await;
    assert_eq!((status, &run["status"]), (200, &json!("COMPLETED")), "{run}");
    let theirs = ensemble.find(run["runId"].as_str().unwrap()).await.unwrap();
    assert_eq!(theirs.finished().await.unwrap().output("write").unwrap(), run["tasks"][0]["output"]);

    let ours = ensemble.start(()).await.unwrap();
    ours.finished().await.unwrap();
    let (status, seen) = ask(at, &format!("GET /api/runs/{}", ours.id()), "", "").await;
    assert_eq!((status, &seen["status"]), (200, &json!("COMPLETED")), "{seen}");
    let (_, capabilities) = ask(at, "GET /api/capabilities", "", "").await;
    let names: Vec<&Value> = capabilities["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["calculator", "human_input"]);
    let (status, sum) = ask(at, "POST /api/tools/calculator/invoke", "", r#"{"input":"6 * 7"}"#).await;
    assert_eq!((status, &sum["output"]), (200, &json!("42")), "{sum}");
    let (status, _page) = ask(at, "GET /", "", "").await;
    assert_eq!(status, 200);
    let (_, thread) = ask(at, "POST /api/threads", "", "{}").await;
    let path = format!("POST /api/threads/{}/messages", thread["id"].as_str().unwrap());
    let (status, turn) = ask(at, &path, "", r#"{"content":"What is 6 * 7?"}"#).await;
    assert_eq!(status, 202, "{turn}");
    served.stop().await.unwrap();
    let refused = ensemble.start(()).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "this server is about to stop and begins nothing new");
}

#[tokio::test]
async fn a_server_that_anybody_could_use_does_not_begin_and_a_key_is_asked_for() {
    let ensemble = writer().input("context", "tea").build().unwrap();
    let Err(Error::Serve(reason)) = ensemble.serve("0.0.0.0:0").await.map(|_| ()) else { panic!("it was served") };
    assert!(reason.contains("give it an api_key, or listen on 127.0.0.1"), "{reason}");
    let served = ensemble.server().api_key("ci", "s3cret", &[Scope::Read]).serve("127.0.0.1:0").await.unwrap();
    assert_eq!(ask(served.address(), "GET /api/runs", "", "").await.0, 401);
    let key = "authorization: Bearer s3cret\r\n";
    assert_eq!(ask(served.address(), "GET /api/runs", key, "").await.0, 200);
    assert_eq!(ask(served.address(), "POST /api/runs", key, "{}").await.0, 403);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn conversations_obey_their_rules_and_the_workspace_is_shown() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("AGENTS.md"), "Call everybody Ada.").unwrap();
    let model = ScriptedModel::new().otherwise(Line::new().says("Hello, Ada."));
    let ensemble = writer().input("context", "tea").model("small", model.clone()).workspace(home.path());
    let ensemble = ensemble.build().unwrap();
    let unknown = ChatRules { model: Some("large".to_owned()), ..ChatRules::default() };
    let refused = ensemble.server().chat(unknown).serve("127.0.0.1:0").await.map(|_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "there is no model 'large'. Available: [demo, small]");

    let rules = ChatRules { model: Some("small".to_owned()), mode: Mode::Plan, ..ChatRules::default() };
    let served = ensemble.server().chat(rules).serve("127.0.0.1:0").await.unwrap();
    let at = served.address();
    let (_, thread) = ask(at, "POST /api/threads", "", "{}").await;
    let thread = thread["id"].as_str().unwrap();
    let accept = "accept: text/event-stream\r\n";
    let (status, frames) =
        ask(at, &format!("POST /api/threads/{thread}/messages"), accept, r#"{"content":"Good morning"}"#).await;
    assert_eq!(status, 200, "{frames}");
    assert!(frames.as_str().unwrap().contains("Hello, Ada."), "{frames}");
    let sent = format!("{:?}", model.sent("1.0").unwrap().messages);
    assert!(sent.contains("Call everybody Ada."), "{sent}");
    let (status, file) = ask(at, "GET /api/workspace/file?path=AGENTS.md", "", "").await;
    assert_eq!((status, file.to_string().contains("Call everybody Ada.")), (200, true), "{file}");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn another_ensemble_uses_what_is_shared() {
    let desk = writer().share_task("write", ["text"]).share_tool("calculator", ["sums"]).build().unwrap();
    let desk = serve(&desk).await;
    let (_, told) = ask(desk.address(), "GET /api/capabilities", "", "").await;
    assert_eq!((&told["sharedTasks"][0]["name"], &told["sharedTools"][0]["tags"]), (&json!("write"), &json!(["sums"])));
    let model = ScriptedModel::new()
        .at("1.0", Line::new().calls("desk.calculator", &json!({ "input": "6 * 7" })))
        .says("1.1", "asked");
    let room = Ensemble::builder()
        .name("room")
        .model("m", model.clone())
        .peer("desk", &format!("ws://{}/ws", desk.address()))
        .task(Task::builder("Ask").tools(["desk.calculator", "network:#text"]));
    let room = room.build().unwrap();
    let served = serve(&room).await;
    // A peer is known as soon as it has said hello.
    let known = async {
        while ask(served.address(), "GET /api/network", "", "").await.1["peers"][0]["connected"] != json!(true) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(120), known).await.expect("the peers find each other");
    let outcome = room.start(()).await.unwrap().finished().await.unwrap();
    assert_eq!((outcome.status, outcome.answer()), (Status::Completed, "asked"));
    let heard = format!("{:?}", model.sent("1.1").unwrap().messages.last().unwrap());
    assert!(heard.contains("42"), "{heard}");
    served.stop().await.unwrap();
    desk.stop().await.unwrap();
}

#[tokio::test]
async fn sharing_what_is_not_there_or_twice_is_a_mistake() {
    let built =
        writer().share_tool("hammer", []).share_task("read", []).share_task("write", []).share_task("write", []);
    let Err(Error::Mistakes(Mistakes(mistakes))) = built.build().map(|_| ()) else { panic!("it was built") };
    let said: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    let expected = [
        "share_tool: there is no tool 'hammer'. Available: [calculator, search_collections, human_input]",
        "share_task: there is no task 'read'. Available: [write]",
        "share_task: something else is shared as 'write'",
    ];
    assert_eq!(said, expected);
}
