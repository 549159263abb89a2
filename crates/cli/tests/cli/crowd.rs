//! Two hundred runs, each with a client that hangs up and comes back whenever
//! it likes, over a server that is killed three times: every client ends with
//! exactly the events that are stored, each once.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use crate::ports;

const RUNS: usize = 200;
const KILLS: u64 = 3;
/// The delay before a client tries again to connect.
const PATIENCE: Duration = Duration::from_millis(20);

const CONFIG: &str = r#"
[server]
max_concurrent_runs = 48
max_queued_runs = 400
max_retained_completed_runs = 400
[models.demo]
provider = "demo"
model = "demo"
[ensemble]
name = "crowd"
[[ensemble.task]]
name = "sum"
description = "What is {n} * 3?"
tools = ["calculator"]
[[ensemble.task]]
name = "tell"
description = "Say hello"
context = ["$sum"]
"#;

/// The server process, at an address that stays the same.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path, port: &str) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_consort"))
            .args(["serve", "--port", port])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("consort listening on http://").unwrap().to_owned();
        Server { process, address }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A client: its run, and every event it was shown.
pub(crate) struct Client {
    run: String,
    address: Arc<str>,
    events: Vec<Value>,
    over: bool,
    dice: u64,
    /// Counts events of all clients.
    seen: watch::Sender<u64>,
}

impl Client {
    /// Creates a client that has seen nothing yet.
    pub(crate) fn new(run: &str, address: &Arc<str>, dice: u64, seen: &watch::Sender<u64>) -> Client {
        let run = run.to_owned();
        let address = address.clone();
        Client { run, address, events: Vec::new(), over: false, dice, seen: seen.clone() }
    }

    /// Returns every event it was shown.
    pub(crate) fn into_events(self) -> Vec<Value> {
        self.events
    }

    /// Returns a number below `below`, different each time.
    fn roll(&mut self, below: u64) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % below
    }

    /// Watches the run to its end.
    pub(crate) async fn follow(mut self) -> Client {
        while !self.over {
            let enough = 1 + self.roll(12) as usize;
            let _hung_up = if self.roll(2) == 0 { self.by_socket(enough).await } else { self.by_stream(enough).await };
            tokio::time::sleep(PATIENCE).await;
        }
        self
    }

    fn take(&mut self, frame: Value) {
        match (frame["type"].as_str(), frame["seq"].as_u64()) {
            (kind, Some(seq)) if frame["runId"] == *self.run => {
                assert_eq!(seq, self.events.len() as u64, "{}: no gap, no repeat", self.run);
                self.over = kind == Some("ensemble_completed");
                self.events.push(frame);
                self.seen.send_modify(|seen| *seen += 1);
            }
            _ => {}
        }
    }

    /// Reads some events from a stream, and hangs up.
    async fn by_stream(&mut self, enough: usize) -> Option<()> {
        let url = format!("http://{}/api/runs/{}/events?from={}", self.address, self.run, self.events.len());
        let mut bytes = reqwest::get(url).await.ok().filter(|answer| answer.status() == 200)?.bytes_stream();
        let mut rest = String::new();
        let until = self.events.len() + enough;
        while self.events.len() < until && !self.over {
            rest.push_str(&String::from_utf8(bytes.next().await?.ok()?.to_vec()).ok()?);
            while let Some((line, after)) =
                rest.split_once('\n').map(|(line, after)| (line.to_owned(), after.to_owned()))
            {
                rest = after;
                if let Some(data) = line.strip_prefix("data: ") {
                    self.take(serde_json::from_str(data).unwrap());
                }
            }
        }
        Some(())
    }

    /// Reads some events from a socket, and hangs up.
    async fn by_socket(&mut self, enough: usize) -> Option<()> {
        let (mut socket, _) = connect_async(format!("ws://{}/ws", self.address)).await.ok()?;
        let wanted = json!({ "type": "subscribe", "events": ["*"], "runId": self.run, "from": self.events.len() });
        socket.send(Message::text(wanted.to_string())).await.ok()?;
        let mut subscribed = false;
        let until = self.events.len() + enough;
        while self.events.len() < until && !self.over {
            let Message::Text(text) = socket.next().await?.ok()? else { continue };
            let frame: Value = serde_json::from_str(&text).unwrap();
            assert_ne!(frame["type"], "error", "{text}");
            // What comes before the answer is everybody's, not what was asked for.
            match subscribed {
                true => self.take(frame),
                false => subscribed = frame["type"] == "subscribe_ack",
            }
        }
        Some(())
    }
}

async fn stored(address: &str, run: &str) -> Vec<Value> {
    let url = format!("http://{address}/api/runs/{run}/events?limit=1000");
    let asked = reqwest::Client::new().get(url).header("accept", "application/json").send().await.unwrap();
    let page: Value = serde_json::from_str(&asked.text().await.unwrap()).unwrap();
    page["events"].as_array().unwrap().clone()
}

async fn submit(address: &str, n: usize) -> String {
    let body = json!({ "inputs": { "n": n.to_string() } }).to_string();
    let request =
        reqwest::Client::new().post(format!("http://{address}/api/runs")).header("content-type", "application/json");
    let answer = request.body(body).send().await.unwrap().text().await.unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["runId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_clients_come_and_go_through_three_kills_and_miss_nothing() {
    // Nothing here is encrypted, but a client is not made without it.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("consort.toml"), CONFIG).unwrap();
    // Not any port: one that nobody else is given while the server is down.
    let port = ports::free().to_string();
    let mut server = Server::start(folder.path(), &port);
    let address: Arc<str> = server.address.as_str().into();
    let (seen, mut progress) = watch::channel(0);
    let mut clients = tokio::task::JoinSet::new();
    for n in 0..RUNS {
        let run = submit(&address, n).await;
        clients.spawn(Client::new(&run, &address, n as u64 + 1, &seen).follow());
    }
    for kill in 1..=KILLS {
        progress.wait_for(|seen| *seen >= kill * 1000).await.unwrap();
        server.kill();
        server = Server::start(folder.path(), &port);
    }
    let clients = clients.join_all().await;
    assert_eq!(clients.len(), RUNS);
    for client in clients {
        assert_eq!(client.events, stored(&address, &client.run).await, "{}", client.run);
    }
}
