//! A2A agents that an ensemble uses like peers: other servers of ours, and strangers that answer what they like.

use std::net::SocketAddr;
use std::time::Duration;

use consort::{Calculator, CancelMode, Ensemble, Line, Model, ScriptedModel, Served, Status, Task};
use consort_net::network::Options;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::serving::ask;

/// The longest time for anything to happen.
const PATIENCE: Duration = Duration::from_secs(120);

fn desk(model: ScriptedModel) -> consort::EnsembleBuilder {
    let task = Task::builder("Write about {context}").name("write");
    let desk = Ensemble::builder().name("desk").model("m", model).tool(Calculator::default()).task(task);
    desk.share_task("write", ["text"]).share_tool("calculator", ["sums"])
}

/// An ensemble that calls one tool of the agent `desk`, and says what came of it.
fn room(tool: &str, args: &Value, url: &str) -> (consort::EnsembleBuilder, ScriptedModel) {
    let model = ScriptedModel::new().at("1.0", Line::new().calls(tool, args)).says("1.1", "asked");
    let room = Ensemble::builder().name("room").model("m", model.clone()).agent("desk", url);
    (room.task(Task::builder("Ask").name("ask").tools(["network:*", tool])), model)
}

/// Waits until the first peer is connected, or not.
async fn until(at: SocketAddr, is_there: impl Fn(&Value) -> bool) -> Value {
    let looking = async {
        loop {
            let peer = ask(at, "GET /api/network", "", "").await.1["peers"][0].clone();
            if is_there(&peer) {
                return peer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.expect("the agent is never as it should be")
}

fn connected(peer: &Value) -> bool {
    peer["connected"] == json!(true)
}

fn heard(model: &ScriptedModel) -> String {
    format!("{:?}", model.sent("1.1").unwrap().messages.last().unwrap())
}

async fn served(ensemble: &Ensemble) -> Served {
    ensemble.serve("127.0.0.1:0").await.unwrap()
}

#[tokio::test]
async fn the_skills_of_an_agent_are_tools_like_those_of_a_peer() {
    let model = ScriptedModel::new().otherwise(Line::new().says("about bees, at length"));
    let desk = served(&desk(model).build().unwrap()).await;
    let url = format!("http://{}", desk.address());
    for (tool, args, answer) in [
        ("desk.write", json!({ "input": "bees" }), "about bees, at length"),
        ("desk.chat", json!({ "input": "hello" }), "about bees, at length"),
        ("desk.calculator", json!({ "input": "6 * 7" }), "42"),
    ] {
        let (room, model) = room(tool, &args, &url);
        let room = room.build().unwrap();
        let here = served(&room).await;
        let peer = until(here.address(), connected).await;
        assert_eq!((&peer["name"], &peer["ensemble"]), (&json!("desk"), &json!("desk")), "{peer}");
        let names: Vec<&Value> =
            peer["sharedCapabilities"].as_array().unwrap().iter().map(|skill| &skill["name"]).collect();
        assert_eq!(names, ["write", "calculator", "run_ensemble", "chat"]);
        let outcome = room.start(()).await.unwrap().finished().await.unwrap();
        assert_eq!((outcome.status, outcome.answer()), (Status::Completed, "asked"));
        assert!(heard(&model).contains(answer), "{}", heard(&model));
        here.stop().await.unwrap();
    }
    desk.stop().await.unwrap();
}

#[tokio::test]
async fn a_cancelled_run_cancels_what_the_agent_does_for_it() {
    let desk = desk(ScriptedModel::new().otherwise(Line::new().hangs())).build().unwrap();
    let there = served(&desk).await;
    let (room, _) = room("desk.write", &json!({ "input": "bees" }), &format!("http://{}", there.address()));
    let room = room.build().unwrap();
    let here = served(&room).await;
    until(here.address(), connected).await;
    let run = room.start(()).await.unwrap();
    let status = async |status: &str| {
        let looking = async {
            loop {
                let runs = ask(there.address(), "GET /api/runs", "", "").await.1;
                if runs["runs"][0]["status"] == json!(status) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("the agent's run is never {status}"));
    };
    status("RUNNING").await;
    run.cancel(CancelMode::Now).await.unwrap();
    status("CANCELLED").await;
    assert_eq!(run.finished().await.unwrap().status, Status::Cancelled);
    here.stop().await.unwrap();
    there.stop().await.unwrap();
}

/// A program that answers every request with the same body; gone when dropped.
struct Stranger {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Stranger {
    /// Starts one; `ADDRESS` in what it says is its own.
    async fn start(at: &str, says: &str) -> Stranger {
        let listener = TcpListener::bind(at).await.unwrap();
        let address = listener.local_addr().unwrap();
        let body = says.replace("ADDRESS", &address.to_string());
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        let task = tokio::spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let answer = answer.clone();
                tokio::spawn(async move {
                    let mut asked = [0; 4096];
                    let _read = socket.read(&mut asked).await;
                    let _gone = socket.write_all(answer.as_bytes()).await;
                });
            }
        });
        Stranger { address, task }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn card(url: &str) -> String {
    json!({ "name": "desk", "version": "1", "skills": [{ "id": "write", "description": "x", "tags": [] }],
        "supportedInterfaces": [{ "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }] })
    .to_string()
}

#[tokio::test]
async fn a_stranger_that_is_no_agent_is_told_apart_and_its_tools_fail_in_words() {
    for (says, why) in [
        ("hello".to_owned(), "without anything that A2A knows"),
        ("{}".to_owned(), "its card has no `name`"),
        (card("http://10.0.0.1/rpc"), "its card leads to another address"),
        (format!("[\"{}\"]", "x".repeat(9_000_000)), "longer than"),
    ] {
        let stranger = Stranger::start("127.0.0.1:0", &says).await;
        let (room, model) = room("desk.write", &json!({ "input": "bees" }), &stranger.url());
        let room = room.build().unwrap();
        let here = served(&room).await;
        let peer = until(here.address(), |peer| peer["error"].is_string()).await;
        assert!(peer["error"].as_str().unwrap().contains(why), "{peer}");
        let outcome = room.start(()).await.unwrap().finished().await.unwrap();
        assert_eq!(outcome.status, Status::Completed, "the model is told, and goes on");
        assert!(heard(&model).contains("cannot be reached"), "{}", heard(&model));
        here.stop().await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_that_answers_nonsense_has_done_nobody_knows_what() {
    // The card is good; every other answer is the card too, which is no result.
    let stranger = Stranger::start("127.0.0.1:0", &card("http://ADDRESS/rpc")).await;
    let (room, model) = room("desk.write", &json!({ "input": "bees" }), &stranger.url());
    let room = room.build().unwrap();
    let here = served(&room).await;
    until(here.address(), connected).await;
    room.start(()).await.unwrap().finished().await.unwrap();
    assert!(heard(&model).contains("without a result"), "{}", heard(&model));
    here.stop().await.unwrap();
}

#[tokio::test]
async fn an_agent_that_was_away_is_found_when_it_is_back() {
    let stranger = Stranger::start("127.0.0.1:0", "{}").await;
    let address = stranger.address.to_string();
    let url = stranger.url();
    drop(stranger);
    let (room, _) = room("desk.write", &json!({ "input": "bees" }), &url);
    let room = room.network(Options { lease: Duration::from_secs(1), ..Options::new("room") });
    let room = room.build().unwrap();
    let here = served(&room).await;
    let peer = until(here.address(), |peer| peer["error"].is_string()).await;
    assert!(peer["error"].as_str().unwrap().contains("cannot be reached"), "{peer}");
    let desk =
        desk(ScriptedModel::new().otherwise(Line::new().says("hi"))).model("demo", Model::demo()).build().unwrap();
    let there = desk.serve(address.as_str()).await.unwrap();
    until(here.address(), connected).await;
    there.stop().await.unwrap();
    until(here.address(), |peer| !connected(peer)).await;
    here.stop().await.unwrap();
}
