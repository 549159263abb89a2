//! A model that answers at once, or after a fixed time, over HTTP/1.1 with chunked server-sent
//! events. It does as little as possible: an answer is one of three precomputed texts, and a
//! request is only searched for the marks that select one. A tool that is offered is called once.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, spawn_blocking};

use crate::stage::TOOL;

/// The maximum size of one request in bytes; ours have a few thousand.
const REQUEST_MAX: usize = 1 << 20;
const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";

/// The number of tokens of a short answer, and of a long one.
pub(crate) const SHORT: usize = 7;
pub(crate) const LONG: usize = 700;
/// The text of a request for a long answer.
pub(crate) const AT_LENGTH: &str = "Tell me at length what the weather will be like.";

/// The bodies of the received requests, in order.
pub(crate) type Notes = Arc<Mutex<Vec<Vec<u8>>>>;

/// The answers of a server, and its delay.
#[derive(Clone)]
pub(crate) struct ModelServer {
    call: Arc<[u8]>,
    answer: Arc<[u8]>,
    long: Arc<[u8]>,
    delay: Duration,
    notes: Option<Notes>,
}

/// Serves until the parent process is gone; prints the address first.
pub(crate) fn main(delay_ms: u64) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        let parent_gone = spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        tokio::select! {
            served = ModelServer::new(Duration::from_millis(delay_ms)).serve(listener) => served,
            _ = parent_gone => Ok(()),
        }
    })
}

impl ModelServer {
    /// Returns a server that delays every answer by this much.
    pub(crate) fn new(delay: Duration) -> ModelServer {
        ModelServer { call: call(), answer: answer(SHORT), long: answer(LONG), delay, notes: None }
    }

    /// Returns the server, which now records its requests.
    pub(crate) fn noting(self, notes: &Notes) -> ModelServer {
        ModelServer { notes: Some(notes.clone()), ..self }
    }

    /// Serves for ever.
    pub(crate) async fn serve(self, listener: TcpListener) -> anyhow::Result<()> {
        let mut connections = JoinSet::new();
        loop {
            let (connection, _) = listener.accept().await?;
            connection.set_nodelay(true)?;
            // A client that disconnects ends only its own connection.
            connections.spawn(self.clone().talk(connection));
            while connections.try_join_next().is_some() {}
        }
    }

    async fn talk(self, mut connection: TcpStream) -> anyhow::Result<()> {
        let mut inbox = Vec::new();
        loop {
            let (start, length) = loop {
                if let Some(request) = request(&inbox)? {
                    break request;
                }
                ensure!(connection.read_buf(&mut inbox).await? > 0, "the client hung up");
            };
            let answer = self.reply(inbox.get(start..length).unwrap_or_default());
            if !self.delay.is_zero() {
                tokio::time::sleep(self.delay).await;
            }
            connection.write_all(&answer).await?;
            inbox.drain(..length);
        }
    }

    fn reply(&self, body: &[u8]) -> Arc<[u8]> {
        if let Some(notes) = &self.notes {
            notes.lock().unwrap_or_else(PoisonError::into_inner).push(body.to_owned());
        }
        let calls = holds(body, br#""tools":["#) && !holds(body, br#""role":"tool""#);
        if calls {
            return self.call.clone();
        }
        if holds(body, AT_LENGTH.as_bytes()) { self.long.clone() } else { self.answer.clone() }
    }
}

/// Returns the start and the end of the first request's body, once all of it has arrived.
fn request(inbox: &[u8]) -> anyhow::Result<Option<(usize, usize)>> {
    ensure!(inbox.len() <= REQUEST_MAX, "the request is too long");
    let Some(end) = inbox.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(inbox.get(..end).unwrap_or_default())?;
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    };
    let body = head.lines().find_map(header).context("the request does not say how long it is")?;
    let start = end + 4;
    let length = end + 4 + body;
    Ok((inbox.len() >= length).then_some((start, length)))
}

fn holds(body: &[u8], words: &[u8]) -> bool {
    body.windows(words.len()).any(|bytes| bytes == words)
}

fn call() -> Arc<[u8]> {
    let begin =
        json!({ "index": 0, "id": "call_1", "type": "function", "function": { "name": TOOL, "arguments": "" } });
    let rest = json!({ "index": 0, "function": { "arguments": "{\"input\":\"6 * 7\"}" } });
    let deltas =
        [json!({ "role": "assistant", "content": null, "tool_calls": [begin] }), json!({ "tool_calls": [rest] })];
    stream(&deltas, "tool_calls")
}

fn answer(tokens: usize) -> Arc<[u8]> {
    let words = ["It", " will", " be", " sunny", " until", " the", " evening."];
    let deltas: Vec<Value> = words.into_iter().cycle().take(tokens).map(|word| json!({ "content": word })).collect();
    stream(&deltas, "stop")
}

fn stream(deltas: &[Value], finish: &str) -> Arc<[u8]> {
    let choice = |delta: &Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice] })
    };
    let usage = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
        "usage": { "prompt_tokens": 120, "completion_tokens": 9, "total_tokens": 129 } });
    let events = deltas.iter().map(|delta| choice(delta, Value::Null));
    let events = events.chain([choice(&json!({}), finish.into()), usage]).map(|event| event.to_string());
    let chunk = |event: String| format!("{:x}\r\ndata: {event}\n\n\r\n", event.len() + 8);
    let chunks: String = events.chain(["[DONE]".to_owned()]).map(chunk).collect();
    format!("{HEAD}{chunks}0\r\n\r\n").into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_found_once_all_of_it_is_there() {
        let whole = b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcPOST";
        for length in 0..whole.len() {
            let found = request(&whole[..length]).unwrap();
            assert_eq!(found, (length >= 41).then_some((38, 41)), "{length}");
        }
        assert!(request(b"POST / HTTP/1.1\r\n\r\n").is_err());
    }

    #[test]
    fn an_offered_tool_is_called_until_it_has_answered() {
        let server = ModelServer::new(Duration::ZERO);
        let offered = br#"{"messages":[{"role":"user"}],"tools":[{}]}"#;
        let answered = br#"{"messages":[{"role":"tool"}],"tools":[{}]}"#;
        assert_eq!(server.reply(offered), server.call);
        assert_eq!(server.reply(answered), server.answer);
        assert_eq!(server.reply(b"{}"), server.answer);
    }
}
