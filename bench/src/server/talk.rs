//! A client that costs little: it only reads from sockets.

use anyhow::{Context, ensure};
use futures::StreamExt;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The number of connections opened in parallel.
const OPENED_AT_ONCE: usize = 64;
const HEAD_MAX: usize = 64 * 1024;
/// The bytes that occur in every token's frame, and nowhere else.
const WORD: &[u8] = b"event: token";

/// An open stream of events.
pub(super) struct Listener {
    socket: TcpStream,
    /// The bytes received and not yet examined.
    inbox: Vec<u8>,
}

/// Submits a run; returns its id.
pub(super) async fn submit(address: &str) -> anyhow::Result<String> {
    let answer = reqwest::Client::new().post(format!("http://{address}/api/runs")).body("{}");
    let answer = answer.header("content-type", "application/json").send().await?.text().await?;
    let answer: Value = serde_json::from_str(&answer)?;
    Ok(answer.get("runId").and_then(Value::as_str).context("no run was taken")?.to_owned())
}

/// Opens so many streams of events.
pub(super) async fn listen(address: &str, path: &str, count: usize) -> anyhow::Result<Vec<Listener>> {
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\r\n");
    opened(address, &head, "HTTP/1.1 200", count).await
}

/// Opens so many WebSockets, which send nothing.
pub(super) async fn sockets(address: &str, count: usize) -> anyhow::Result<Vec<Listener>> {
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13";
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    let head = format!("GET /ws HTTP/1.1\r\nHost: {address}\r\n{upgrade}\r\n{key}\r\n\r\n");
    opened(address, &head, "HTTP/1.1 101", count).await
}

async fn opened(address: &str, head: &str, wanted: &str, count: usize) -> anyhow::Result<Vec<Listener>> {
    let all = futures::stream::iter(0..count).map(|_| Listener::open(address, head, wanted));
    let mut open = all.buffer_unordered(OPENED_AT_ONCE);
    let mut listeners = Vec::with_capacity(count);
    while let Some(listener) = open.next().await {
        listeners.push(listener?);
    }
    Ok(listeners)
}

impl Listener {
    async fn open(address: &str, head: &str, wanted: &str) -> anyhow::Result<Listener> {
        let mut socket = TcpStream::connect(address).await?;
        socket.write_all(head.as_bytes()).await?;
        let mut inbox = Vec::new();
        while !inbox.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
            ensure!(inbox.len() < HEAD_MAX && socket.read_buf(&mut inbox).await? > 0, "no answer came");
        }
        ensure!(inbox.starts_with(wanted.as_bytes()), "it answered {}", String::from_utf8_lossy(&inbox));
        Ok(Listener { socket, inbox })
    }

    /// Reads until so many words have arrived, or there are no more; returns their number.
    pub(super) async fn words(&mut self, wanted: usize) -> anyhow::Result<usize> {
        let mut heard = 0;
        loop {
            heard += self.count();
            if heard >= wanted || self.socket.read_buf(&mut self.inbox).await? == 0 {
                return Ok(heard);
            }
        }
    }

    /// Counts and removes the words that have arrived.
    fn count(&mut self) -> usize {
        let found = self.inbox.windows(WORD.len()).filter(|bytes| *bytes == WORD).count();
        // The rest may be the beginning of a word's frame.
        let keep = self.inbox.len().saturating_sub(WORD.len() - 1);
        self.inbox.drain(..keep);
        found
    }
}
