//! Things that a server keeps for clients: bodies, subscriptions, frames that nobody reads, documents, messages and files.

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::target::{KEY, Target, tell, until};

/// The bytes of a file that is nearly as large as it may be.
const FILE: usize = 19 * 1024 * 1024;
/// The number of files that are sent at once.
const FILES: usize = 12;

/// Some words, and the same in Base64, which can be repeated as well.
const WORDS: &str = "long words, ";
const WORDS_BASE64: &str = "bG9uZyB3b3Jkcywg";

/// A text that is nearly as long as a body may be.
fn long() -> String {
    "long words ".repeat(80_000)
}

pub(super) async fn bodies(target: &Target) {
    let (status, _) = target.post("/api/runs", &json!({ "inputs": { "a": "x".repeat(3 * 1024 * 1024) } })).await;
    assert_eq!(status, 413);
    let deep = format!("{}{}", "[".repeat(400_000), "]".repeat(400_000));
    let many = format!("{{\"inputs\":{{\"a\":[{}1]}},\"dryRun\":true}}", "{},".repeat(300_000));
    for body in [deep, many, "{".repeat(900_000)] {
        let request = target.request(Method::POST, "/api/runs").header("content-type", "application/json");
        target.send(request.body(body)).await;
    }
}

pub(super) async fn subscriptions(target: &Target) {
    let mut socket = target.socket().await;
    for n in 0..300 {
        let names: Vec<String> = (0..200).map(|at| format!("made_up_{n}_{at}")).collect();
        tell(&mut socket, &json!({ "type": "subscribe", "events": names })).await;
        until(&mut socket, &["subscribe_ack", "error"]).await;
    }
}

/// Tells a run much while many follow it and read nothing.
pub(super) async fn slow_readers(target: &Target) {
    let (status, run) = target.post("/api/runs", &json!({ "inputs": { "name": "x" } })).await;
    assert_eq!(status, 202, "{run}");
    let run = run["runId"].as_str().unwrap();
    let mut sockets = Vec::new();
    let mut streams = Vec::new();
    for _reader in 0..30 {
        let mut socket = target.socket().await;
        tell(&mut socket, &json!({ "type": "subscribe", "events": ["*"], "runId": run, "from": 0 })).await;
        until(&mut socket, &["subscribe_ack"]).await;
        sockets.push(socket);
        let head = format!(
            "GET /api/runs/{run}/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {KEY}\r\nAccept: text/event-stream\r\n\r\n",
            target.address()
        );
        let mut stream = TcpStream::connect(target.address()).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        assert!(stream.read_u8().await.is_ok(), "it has begun");
        streams.push(stream);
    }
    let directive = json!({ "content": long() });
    let path = format!("/api/runs/{run}/inject");
    let mut refused = 0;
    for _directive in 0..25 {
        refused += u32::from(target.post(&path, &directive).await.0 == 400);
    }
    assert!(refused > 15, "a run keeps so much and no more");
    assert_eq!(target.delete(&format!("/api/runs/{run}")).await.0, 200);
}

pub(super) async fn half_sent(target: &Target) {
    let mut sockets = Vec::new();
    for _socket in 0..300 {
        let mut socket = TcpStream::connect(target.address()).await.unwrap();
        let head = format!("POST /api/runs HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000000\r\n", target.address());
        socket.write_all(head.as_bytes()).await.unwrap();
        sockets.push(socket);
    }
    // Whoever has a key is believed to send the rest, too.
    let head = format!(
        "POST /api/runs HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {KEY}\r\nContent-Length: 1000000\r\n\r\n",
        target.address()
    );
    for _socket in 0..50 {
        let mut socket = TcpStream::connect(target.address()).await.unwrap();
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(&vec![b' '; 900_000]).await.unwrap();
        sockets.push(socket);
    }
    assert_eq!(target.get("/api/status").await.0, 200);
}

pub(super) async fn large_things(target: &Target, round: u64) {
    let name = format!("large-{round}");
    assert_eq!(target.post("/api/collections", &json!({ "name": name })).await.0, 201);
    for n in 0..3 {
        let document = json!({ "title": format!("{n}"), "content": long() });
        assert_eq!(target.post(&format!("/api/collections/{name}/documents"), &document).await.0, 201);
    }
    assert_eq!(target.get(&format!("/api/collections/{name}/search?q=words")).await.0, 200);
    target.delete(&format!("/api/collections/{name}")).await;
    let thread = target.post("/api/threads", &json!({})).await.1;
    let path = format!("/api/threads/{}", thread["id"].as_str().unwrap());
    let message = json!({ "content": "long words ".repeat(2_000), "if_busy": "queue" });
    for _message in 0..10 {
        target.post(&format!("{path}/messages"), &message).await;
    }
    let _rows: Value = target.get(&format!("{path}/messages")).await.1;
    target.delete(&path).await;
}

/// Sends files that are nearly as large as they may be, more at once than there is room for, in each way that
/// there is: each is taken, or asked to come again. Those that are taken are read, sent and erased.
pub(super) async fn files(target: &Target) {
    let text = WORDS.repeat(FILE / WORDS.len());
    let page = "<b><i>x".repeat(FILE / 7);
    let kinds = [("text/plain", text), ("text/html", page)];
    let upload = async |n: usize| {
        let (kind, file) = &kinds[n % kinds.len()];
        let request = target.request(Method::POST, "/api/attachments").header("content-type", *kind);
        // Files that are the same are stored once.
        let file = format!("{n} {file}");
        target.taken_or_asked_again(request.body(file), 201).await
    };
    let stored: Vec<Value> = join_all((0..FILES).map(upload)).await.into_iter().flatten().collect();
    assert!(!stored.is_empty(), "some are taken");
    let path = |file: &Value| format!("/api/attachments/{}", file["id"].as_str().unwrap());
    join_all(stored.iter().map(async |file| assert_eq!(target.get(&path(file)).await.0, 200))).await;
    let ids: Vec<&Value> = stored.iter().map(|file| &file["id"]).take(2).collect();
    let run = json!({ "tasks": [{ "description": "Read it", "attachments": ids }] });
    let (status, run) =
        target.send(target.request(Method::POST, "/api/runs").header("prefer", "wait=100").json(&run)).await;
    assert_eq!(status, 200, "{run}");
    target.delete(&format!("/api/runs/{}", run["runId"].as_str().unwrap())).await;
    join_all(stored.iter().map(async |file| target.delete(&path(file)).await)).await;
    in_messages(target).await;
}

/// Sends files within messages of the API of OpenAI: they are stored and read, and are more than a model is told.
async fn in_messages(target: &Target) {
    let data = format!("data:text/plain;base64,{}", WORDS_BASE64.repeat(FILE / WORDS.len()));
    let part = json!({ "type": "file", "file": { "filename": "a.txt", "file_data": data } });
    let message = json!({ "model": "consort", "messages": [{ "role": "user", "content": [part] }] }).to_string();
    let say = async |_n: usize| {
        let request = target.request(Method::POST, "/v1/chat/completions").header("content-type", "application/json");
        let answer = target.taken_or_asked_again(request.body(message.clone()), 400).await;
        assert!(answer.is_none_or(|answer| answer["error"]["code"] == "BUDGET_EXCEEDED"));
    };
    join_all((0..FILES / 2).map(say)).await;
}
