//! The server that is attacked: requests to it, and its memory.

use std::fs;
use std::path::Path;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::victim::Victim;

/// Bytes by which the server may grow, at any moment.
const GROWTH_MAX: u64 = 200 * 1024 * 1024;
/// The longest time for an answer, on a busy machine and without optimisation: what explodes takes far longer.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
/// The key of a client who may do everything.
pub(super) const KEY: &str = "abc";
/// The address of a proxy that is believed.
pub(super) const PROXY: [u8; 4] = [127, 0, 0, 9];

const CONFIG: &str = "
[server]
max_concurrent_runs = 4
max_queued_runs = 20
max_retained_completed_runs = 20
trusted_proxies = ['127.0.0.9']
[[server.api_key]]
name = 'ci'
key_sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
scopes = ['admin', 'peer']
[run.budget]
max_depth = 2
[models.demo]
provider = 'demo'
model = 'demo'
[ensemble]
name = 'desk'
[[ensemble.task]]
name = 'tell'
description = 'Say hello to {name}'
review_before = true
review = 'required'
";

/// A socket that is authorised.
pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The server, and the memory it had before.
pub(super) struct Target {
    server: Victim,
    http: reqwest::Client,
    before: u64,
}

impl Target {
    /// Starts a server that has done a little of everything, which takes some memory once.
    pub(super) async fn start(folder: &Path, model: &str) -> Target {
        // It is an error to install it twice; another test may have done it.
        let _done = rustls::crypto::ring::default_provider().install_default();
        let mut server = Victim::new(folder, "main");
        server.configure(&format!("{CONFIG}{model}"));
        server.start();
        let http = reqwest::Client::builder().timeout(PATIENCE).build().unwrap();
        let mut target = Target { server, http, before: 0 };
        target.post("/api/collections", &json!({ "name": "notes" })).await;
        target.post("/api/runs", &json!({ "tasks": [{ "description": "Say hello" }] })).await;
        target.socket().await;
        target.before = target.peak();
        target
    }

    pub(super) fn address(&self) -> String {
        self.server.address()
    }

    /// Sends a request that must be answered, and not with a fault of the server; returns status and body.
    pub(super) async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let answer = request.send().await.unwrap_or_else(|error| panic!("no answer: {error}\n{}", self.server.said()));
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        assert!(status < 500, "{status} {text}");
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Sends a large request that must be answered with this status, or with the one that asks to come again when
    /// large requests are fewer; returns the body of the former.
    pub(super) async fn taken_or_asked_again(&self, request: reqwest::RequestBuilder, status: u16) -> Option<Value> {
        // A server that does not take a body closes the connection, maybe before a busy client has read why.
        let answer = request.send().await.ok()?;
        let answered = answer.status().as_u16();
        let is_asked_again = answer.headers().contains_key("retry-after");
        let body: Value = answer.json().await.unwrap();
        assert!(answered == status || (answered == 503 && is_asked_again), "{answered} {body}");
        (answered == status).then_some(body)
    }

    pub(super) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.server.url())).bearer_auth(KEY)
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    pub(super) async fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.request(Method::GET, path)).await
    }

    pub(super) async fn delete(&self, path: &str) -> (u16, Value) {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// Sends a request that must be refused with this code.
    pub(super) async fn refused(&self, path: &str, body: &Value, code: &str) {
        let (status, answer) = self.post(path, body).await;
        assert_eq!((status, answer["error"].as_str()), (400, Some(code)), "{answer}");
    }

    /// Opens a socket, and reads its first frame.
    pub(super) async fn socket(&self) -> Socket {
        let mut request = format!("ws://{}/ws", self.address()).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {KEY}").parse().unwrap());
        let (mut socket, _) = connect_async(request).await.unwrap();
        next(&mut socket).await;
        socket
    }

    /// Checks that the server lives, answers, and has not grown too much; returns the bytes it has grown by.
    pub(super) async fn check(&self, attack: &str) -> u64 {
        for path in ["/api/health/live", "/api/health/ready"] {
            assert_eq!(self.get(path).await.0, 200, "{attack}: {path}");
        }
        let grown = self.peak().saturating_sub(self.before);
        assert!(grown <= GROWTH_MAX, "{attack}: {} MB more", grown / 1024 / 1024);
        grown
    }

    /// Ends the server, which has never been in trouble.
    pub(super) fn end(&mut self) {
        self.server.kill();
        let said = self.server.said();
        assert!(!said.contains("panicked at"), "{said}");
    }

    /// Returns the most bytes that the server had in memory so far.
    fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }
}

/// Sends a frame.
pub(super) async fn tell(socket: &mut Socket, frame: &Value) {
    socket.send(Message::text(frame.to_string())).await.unwrap();
}

/// Returns the next frame; nothing when the connection is closed.
pub(super) async fn next(socket: &mut Socket) -> Option<Value> {
    loop {
        match timeout(PATIENCE, socket.next()).await.expect("neither a frame nor an end")?.ok()? {
            Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
            Message::Close(_) => return None,
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
}

/// Reads until a frame of one of these types comes.
pub(super) async fn until(socket: &mut Socket, kinds: &[&str]) -> Value {
    loop {
        let frame = next(socket).await.expect("the socket stays open");
        if kinds.iter().any(|kind| frame["type"] == **kind) {
            return frame;
        }
    }
}
