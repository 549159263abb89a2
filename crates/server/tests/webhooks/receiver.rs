//! A program that is told: it keeps what it gets and answers as it was told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The reply of the receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    /// This status.
    Status(u16),
    /// Nothing, ever.
    Hang,
}

/// A message that came.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    head: String,
    pub(crate) body: String,
}

impl Message {
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).unwrap_or_default()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

#[derive(Default)]
struct Kept {
    messages: Mutex<Vec<Message>>,
    replies: Mutex<VecDeque<Reply>>,
    came: Notify,
}

/// A receiver; gone when dropped.
pub(crate) struct Receiver {
    pub(crate) url: String,
    kept: Arc<Kept>,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    /// Starts a receiver that gives these replies, in this order, and 204 from then on.
    pub(crate) async fn start(replies: &[Reply]) -> Receiver {
        Receiver::start_at("127.0.0.1:0", replies).await
    }

    /// Starts a receiver at a certain address.
    pub(crate) async fn start_at(address: &str, replies: &[Reply]) -> Receiver {
        let listener = TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}/told?token=hidden", listener.local_addr().unwrap());
        let kept = Arc::new(Kept { replies: Mutex::new(replies.iter().copied().collect()), ..Kept::default() });
        let shared = kept.clone();
        let task = tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                tokio::spawn(answer(socket, shared.clone()));
            }
        });
        Receiver { url, kept, task }
    }

    /// Returns the first messages, when there are this many.
    pub(crate) async fn messages(&self, count: usize) -> Vec<Message> {
        loop {
            let came = self.kept.came.notified();
            let messages = self.kept.messages.lock().unwrap().clone();
            if messages.len() >= count {
                return messages;
            }
            came.await;
        }
    }

    /// Returns the number of messages that have come.
    pub(crate) fn count(&self) -> usize {
        self.kept.messages.lock().unwrap().len()
    }
}

async fn answer(mut socket: TcpStream, kept: Arc<Kept>) {
    let mut bytes = Vec::new();
    let message = loop {
        let mut chunk = [0; 4096];
        let Ok(count @ 1..) = socket.read(&mut chunk).await else { return };
        bytes.extend_from_slice(&chunk[..count]);
        if let Some(message) = whole(&bytes) {
            break message;
        }
    };
    kept.messages.lock().unwrap().push(message);
    kept.came.notify_waiters();
    let reply = kept.replies.lock().unwrap().pop_front().unwrap_or(Reply::Status(204));
    match reply {
        Reply::Hang => std::future::pending().await,
        Reply::Status(status) => {
            let text = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _gone = socket.write_all(text.as_bytes()).await;
        }
    }
}

fn whole(bytes: &[u8]) -> Option<Message> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let message = Message { head: head.to_owned(), body: body.to_owned() };
    let length: usize = message.header("content-length").parse().ok()?;
    (body.len() >= length).then_some(message)
}
