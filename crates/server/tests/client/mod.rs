//! A server on a real socket, over scripted models and tools, and the smallest
//! client that can also send what a good client never would.

mod described;
mod socket;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use consort_chat::{Chats, Settings};
use consort_core::budget::Limits as Budget;
use consort_core::catalog::ModelInfo;
use consort_core::catalog::Permission;
use consort_core::chat::{Mode, Rules};
use consort_core::draft::{Draft, Ensemble};
use consort_log::MemoryLog;
use consort_models::{ModelCatalog, ScriptedModel};
use consort_net::network::{Network, Options};
use consort_net::transport::WebSockets;
use consort_runtime::admission::{Capacity, Keep, Pool, Pools};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_server::ws::Sockets;
use consort_server::{Server, Terms};
use consort_tools::{Calculator, ScriptedTool, Tool, Toolbox};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(crate) use socket::{Got, Socket};

/// A running server; gone when dropped.
pub(crate) struct Here {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Here {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A stream of events.
pub(crate) struct Following(Lines<BufReader<TcpStream>>);

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Status and code of a problem, which must be a whole one.
    pub(crate) fn problem(&self) -> (u16, String) {
        let body = self.json();
        if let Some(code) = body["error"]["code"].as_str() {
            // OpenAI's form, which only its paths have.
            return (self.status, code.to_owned());
        }
        if let Some(reason) = body["error"].get("data").or(body["error"].get("details")) {
            // The form of the A2A protocol, which only its paths have.
            return (self.status, reason[0]["reason"].as_str().unwrap().to_owned());
        }
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        assert_eq!(body["status"], self.status);
        assert_eq!(body["requestId"].as_str(), self.header("x-request-id"));
        assert!(
            body["message"].as_str().is_some_and(|message| !message.is_empty()) && body["detail"] == body["message"]
        );
        (self.status, body["error"].as_str().unwrap_or_default().to_owned())
    }
}

pub(crate) fn task(name: &str) -> Draft {
    Draft { name: Some(name.to_owned()), description: format!("Do {name} about {{topic}}"), ..Draft::default() }
}

/// Creates an engine with two models and two tools, and nothing stored.
pub(crate) fn engine(model: ScriptedModel, capacity: Capacity) -> Engine {
    engine_over(Arc::default(), model, capacity)
}

/// Creates the same engine over a log.
pub(crate) fn engine_over(log: Arc<MemoryLog>, model: ScriptedModel, capacity: Capacity) -> Engine {
    engine_with(log, model, ScriptedTool::new("broken").fails("no such shelf"), capacity)
}

/// Creates the same engine with this tool beside the calculator.
pub(crate) fn engine_with(log: Arc<MemoryLog>, model: ScriptedModel, tool: impl Tool, capacity: Capacity) -> Engine {
    let models = ModelCatalog::default().with(ModelInfo::new("main", "scripted"), model.clone()).unwrap();
    let models = models.with(ModelInfo::new("spare", "scripted"), model).unwrap();
    let tools = Toolbox::default().with(Calculator::default()).unwrap().with(tool).unwrap();
    let seams = Seams { cancel_grace: Duration::ZERO, ..Seams::new(log, models, tools) };
    let runs = Pool { capacity, keep: Keep::Newest(2) };
    Engine::limited(seams, Pools { runs, ..Pools::default() })
}

/// Creates a network without peers.
pub(crate) fn network() -> Network {
    Network::new(Options::new("test"), Arc::new(WebSockets))
}

pub(crate) fn server(engine: Engine, tasks: Vec<Draft>) -> Server {
    let limits = Budget { depth: 3, iterations_per_level: 20, parallel_per_turn: 8, ..Budget::default() };
    let rules = Rules { limits, mode: Mode::Auto, approval_timeout_ms: 60_000, ..Rules::default() };
    let settings = Settings { detach_grace: Duration::from_millis(50), ..Settings::new(&engine, rules) };
    let chats = Chats::new(engine.clone(), settings);
    let ensemble = Ensemble { name: "test".to_owned(), tasks, ..Ensemble::default() };
    let catalog = engine.seams().catalog();
    Server {
        direct: vec![Permission::Safe],
        max_body_bytes: 4096,
        drain_timeout: Duration::from_secs(30),
        sockets: Sockets { retained_runs: 10, snapshot_iterations: 5, max_frame_bytes: 65_536 },
        ..Server::new(engine, ensemble, catalog, chats, network())
    }
}

pub(crate) async fn start(server: Server) -> Here {
    start_on(TcpListener::bind("127.0.0.1:0").await.unwrap(), server)
}

/// Starts a server where a listener was bound before.
pub(crate) fn start_on(listener: TcpListener, server: Server) -> Here {
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move { server.serve(listener, std::future::pending()).await.unwrap() });
    Here { address, task }
}

/// Starts a server on terms that change.
pub(crate) async fn start_as(server: Server, terms: Terms) -> Here {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = async move { server.serve_as(terms, listener, std::future::pending()).await.unwrap() };
    Here { address, task: tokio::spawn(serving) }
}

impl Here {
    /// Returns when the server has ended by itself.
    pub(crate) async fn ended(mut self) {
        (&mut self.task).await.unwrap();
    }

    /// Sends exactly this and reads until the server closes.
    pub(crate) async fn send(&self, asked: &str, sent: &[u8]) -> Answer {
        let answer = self.send_anything(asked, sent).await;
        described::check_answer(asked, sent, &answer);
        answer
    }

    /// Sends the same, also what is not described.
    pub(crate) async fn send_anything(&self, asked: &str, sent: &[u8]) -> Answer {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        let length = sent.len();
        let text = format!("{asked}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        socket.write_all(text.as_bytes()).await.unwrap();
        socket.write_all(sent).await.unwrap();
        let mut bytes = Vec::new();
        socket.read_to_end(&mut bytes).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let body = if head.contains("transfer-encoding: chunked") { dechunked(body) } else { body.to_owned() };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body }
    }

    /// Returns the first events of a stream that stays open.
    pub(crate) async fn first_events(&self, path: &str, count: usize) -> Vec<Value> {
        let mut following = self.following(path).await;
        let mut events = Vec::new();
        while events.len() < count {
            events.push(following.next().await);
        }
        events
    }

    /// Opens a stream of events that stays open.
    pub(crate) async fn following(&self, path: &str) -> Following {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
        socket.write_all(head.as_bytes()).await.unwrap();
        Following(BufReader::new(socket).lines())
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost"), b"").await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.post_with(path, "X-Test: 1", body).await
    }

    pub(crate) async fn post_with(&self, path: &str, header: &str, body: Value) -> Answer {
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{header}");
        self.send(&head, body.to_string().as_bytes()).await
    }
}

impl Following {
    /// Returns the next event.
    pub(crate) async fn next(&mut self) -> Value {
        loop {
            let line = self.0.next_line().await.unwrap().expect("the stream ended");
            if let Some(text) = line.strip_prefix("data: ") {
                let event = serde_json::from_str(text).unwrap();
                described::check_frame(&event);
                return event;
            }
        }
    }
}

fn dechunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        body.push_str(&more[..size]);
        rest = &more[size + 2..];
    }
    body
}
