//! Servers that others wrote, as published: the Python library over standard
//! input and output and over HTTP, and the reference server of the protocol.
//! `scripts/mcp` installs them; without them these tests say that they were
//! skipped.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};

use consort_core::catalog::EffectClass;
use consort_models::{Line, ScriptedModel};
use consort_tools::Answer;
use consort_tools::mcp::{ServerOptions, Transport};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::{LOOK_AGAIN, PATIENCE, Stage, answered, conversations, done, until};

fn installed(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/mcp").join(file);
    if !path.exists() {
        println!("skipped: `scripts/mcp` installs {file}");
    }
    path.exists().then_some(path)
}

fn options(name: &str, transport: Transport) -> ServerOptions {
    ServerOptions { name: name.to_owned(), transport, timeout: PATIENCE, tools: BTreeMap::new() }
}

fn command(program: &Path, args: &[&str], folder: &Path) -> Transport {
    Transport::Command {
        command: program.to_str().unwrap().to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap())]),
        folder: folder.to_owned(),
    }
}

fn script() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp_python.py").to_str().unwrap().to_owned()
}

/// The ports of servers that are started again, below those that the system gives away.
const PORTS: Range<u16> = 30_000..32_000;

/// Starts the Python server over HTTP on this port; returns it with its port.
async fn http_server(python: &Path, folder: &Path, port: u16) -> (Child, u16) {
    let mut command = Command::new(python);
    command.args([script(), "http".to_owned(), port.to_string()]).current_dir(folder);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let port = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    (server, port)
}

/// Returns a port that nobody listens at, another one each time. The system gives it to no connection, so it stays free
/// while a server is started again.
fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let number = || std::process::id().wrapping_mul(7).wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
    let port = || PORTS.start + (number() % u32::from(PORTS.end - PORTS.start)) as u16;
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(port).take(PORTS.len()).find(is_free).expect("a port is free")
}

/// Starts the reference server over HTTP on this port.
fn over_http(everything: &Path, port: u16) -> Child {
    let mut command = Command::new(everything);
    command.arg("streamableHttp").env("PORT", port.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
    command.kill_on_drop(true).spawn().unwrap()
}

/// Starts the reference server over HTTP and waits until it takes connections; returns it with its port. It cannot
/// choose a port itself, so another program may take the one that was free; it ends then, and another is tried.
async fn listening(everything: &Path) -> (Child, u16) {
    loop {
        let port = free_port();
        let mut server = over_http(everything, port);
        let reached = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        let mut ended = false;
        until("it takes connections or ends", || {
            ended = server.try_wait().unwrap().is_some();
            ended || reached()
        })
        .await;
        if !ended {
            return (server, port);
        }
    }
}

fn http(port: u16) -> ServerOptions {
    let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer key".to_owned())]);
    options("python", Transport::Http { url: format!("http://127.0.0.1:{port}/mcp"), headers })
}

#[tokio::test]
async fn a_real_python_server_lists_its_tools_and_answers() {
    let Some(python) = installed("venv/bin/python") else { return };
    let folder = tempfile::tempdir().unwrap();
    let transport = command(&python, &[&script(), "stdio"], folder.path());
    let stage = Stage::of(vec![options("python", transport)], folder);
    until("it is connected", || stage.servers.troubles().is_empty()).await;
    let add = stage.call("add", json!({ "left": 2, "right": 3 })).await;
    assert_eq!(add, Answer::Done { text: "5".to_owned(), data: Some(json!({ "result": 5 })) });
    assert_eq!(stage.tool("add").info().effect, EffectClass::Read);
    assert_eq!(stage.tool("append_line").info().effect, EffectClass::Once);
    let Answer::Failed(why) = stage.call("refuses", json!({})).await else { panic!() };
    assert!(why.contains("refuses"), "{why}");
    let _answer = stage.call("append_line", json!({ "line": "one" })).await;
    assert!(matches!(stage.call("dies", json!({})).await, Answer::Unknown(_)));
    let _answer = stage.call("append_line", json!({ "line": "two" })).await;
    assert_eq!(std::fs::read_to_string(stage.folder.path().join("lines")).unwrap(), "one\ndies\ntwo\n");
}

#[tokio::test]
async fn a_real_python_server_over_http_is_found_again_after_it_was_killed_in_a_call() {
    let Some(python) = installed("venv/bin/python") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut server, port) = http_server(&python, folder.path(), free_port()).await;
    let stage = Stage::of(vec![http(port)], folder);
    until("it is connected", || stage.servers.troubles().is_empty()).await;
    let add = stage.call("add", json!({ "left": 2, "right": 3 })).await;
    assert_eq!(add, Answer::Done { text: "5".to_owned(), data: Some(json!({ "result": 5 })) });
    assert!(matches!(stage.call("dies", json!({})).await, Answer::Unknown(_)), "it may have happened");
    server.wait().await.unwrap();
    until("it is known to be gone", || stage.tool("add").trouble().is_some()).await;
    let (_server, _) = http_server(&python, stage.folder.path(), port).await;
    until("it is there again", || stage.tool("add").trouble().is_none()).await;
    let add = stage.call("add", json!({ "left": 1, "right": 1 })).await;
    assert_eq!(add, Answer::Done { text: "2".to_owned(), data: Some(json!({ "result": 2 })) });
    assert_eq!(std::fs::read_to_string(stage.folder.path().join("lines")).unwrap(), "dies\n");
}

#[tokio::test]
async fn the_reference_server_lists_its_tools_and_answers() {
    let Some(everything) = installed("node/node_modules/.bin/mcp-server-everything") else { return };
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::of(vec![options("everything", command(&everything, &[], folder.path()))], folder);
    until("it is connected", || stage.servers.troubles().is_empty()).await;
    assert_eq!(stage.call("echo", json!({ "message": "hi" })).await, done("Echo: hi"));
    let Answer::Done { text, .. } = stage.call("get-tiny-image", json!({})).await else { panic!() };
    assert!(text.contains("[an image, image/png, "), "{text}");
}

#[tokio::test]
async fn the_reference_server_over_http_is_spoken_to_again_when_it_has_forgotten_us() {
    let Some(everything) = installed("node/node_modules/.bin/mcp-server-everything") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut server, port) = listening(&everything).await;
    let stage = Stage::of(vec![http(port)], folder);
    until("it is there", || stage.toolbox.find("echo").is_some_and(|tool| tool.trouble().is_none())).await;
    assert_eq!(stage.call("echo", json!({ "message": "hi" })).await, done("Echo: hi"));
    server.kill().await.unwrap();
    let _again = over_http(&everything, port);
    let answered = async {
        while stage.call("echo", json!({ "message": "again" })).await != done("Echo: again") {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    tokio::time::timeout(PATIENCE, answered).await.unwrap();
}

#[tokio::test]
async fn a_turn_uses_two_real_servers_although_one_dies_in_the_middle_of_a_call() {
    let Some(everything) = installed("node/node_modules/.bin/mcp-server-everything") else { return };
    let Some(python) = installed("venv/bin/python") else { return };
    let folder = tempfile::tempdir().unwrap();
    let everything = options("everything", command(&everything, &[], folder.path()));
    let python = options("python", command(&python, &[&script(), "stdio"], folder.path()));
    let stage = Stage::of(vec![everything, python], folder);
    until("both are connected", || stage.servers.troubles().is_empty()).await;
    let together = Line::new()
        .calls("echo", &json!({ "message": "hi" }))
        .calls("add", &json!({ "left": 2, "right": 3 }))
        .calls("dies", &json!({}));
    let model = ScriptedModel::new()
        .at("1.0", together)
        .calls("1.1", "append_line", &json!({ "line": "after" }))
        .says("1.2", "done");
    let said = answered(conversations(&stage, &model, vec!["everything".to_owned(), "python".to_owned()])).await;
    assert_eq!((said[0].as_str(), said[1].as_str()), ("Echo: hi", "5"));
    assert!(said[2].starts_with("outcome unknown: "), "{}", said[2]);
    assert_eq!(said.len(), 4);
    assert_eq!(std::fs::read_to_string(stage.folder.path().join("lines")).unwrap(), "dies\nafter\n", "{said:?}");
}
