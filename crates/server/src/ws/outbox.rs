//! The queue of frames for one client. Nothing here waits for the client: when it
//! falls behind, the queue is dropped, and the close that comes instead names the
//! position to resume from.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Error;
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use consort_log::Seq;
use consort_runtime::meters::{Meter, Meters};
use futures::SinkExt;
use futures::stream::SplitSink;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::ws::answer::Answer;

/// Batches that may wait for one client: a batch is one commit or one token of a
/// model, so this is ten seconds of a very busy server.
const BATCHES_MAX: usize = 2048;
/// Bytes that may wait for one client before it counts as behind.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// Above this number stored frames are held back until the client catches up.
const CALM_MAX: usize = 64;
const CALM_BYTES_MAX: usize = 1024 * 1024;
/// The time that a client may take to read the frames before a close.
const CLOSE_PATIENCE: Duration = Duration::from_secs(30);
/// The maximum number of bytes of a close reason, by the protocol.
const REASON_MAX: usize = 123;
/// The close code of a client that falls behind.
pub(super) const BEHIND: u16 = 4008;

/// One frame and, when it is of a run, the event to resume from if it is not sent.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) text: Arc<str>,
    pub(super) position: Option<(Arc<str>, Seq)>,
}

/// Returns a frame for this client alone.
pub(super) fn addressed(answer: &Answer) -> Vec<Item> {
    vec![Item { text: answer.text().into(), position: None }]
}

/// A handle to the queue.
#[derive(Clone)]
pub(super) struct Outbox(Arc<Shared>);

/// The task that writes; aborted when dropped.
pub(super) struct Writer(JoinHandle<()>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Notified when something waits.
    filled: Notify,
    /// Notified when something was written, or nothing ever will be again.
    eased: Notify,
    /// Counts the clients that fall behind.
    meters: Meters,
}

#[derive(Default)]
struct Queue {
    batches: VecDeque<Vec<Item>>,
    bytes: usize,
    ping: bool,
    state: State,
}

#[derive(Default)]
enum State {
    #[default]
    Open,
    /// The close still waits.
    Closing(CloseFrame),
    Closed,
}

enum Next {
    Batch(Vec<Item>),
    Ping,
    Close(CloseFrame),
    Nothing,
}

pub(super) fn open(sink: SplitSink<WebSocket, Message>, meters: Meters) -> (Outbox, Writer) {
    let outbox = Outbox(Arc::new(Shared { meters, ..Shared::default() }));
    let writer = Writer(tokio::spawn(write(outbox.clone(), sink)));
    (outbox, writer)
}

impl Outbox {
    /// Adds frames, unless the client is too far behind for more.
    pub(super) fn push(&self, batch: Vec<Item>) {
        let mut queue = self.queue();
        if !matches!(queue.state, State::Open) || batch.is_empty() {
            return;
        }
        // Checked before the batch is counted: a single large one is no delay.
        let behind = queue.batches.len() >= BATCHES_MAX || queue.bytes >= BYTES_MAX;
        queue.bytes += size(&batch);
        queue.batches.push_back(batch);
        if behind {
            let dropped = mem::take(&mut queue.batches);
            let reason = reason(dropped.iter().flatten().filter_map(|item| item.position.as_ref()));
            self.end(&mut queue, BEHIND, &reason);
        }
        drop(queue);
        self.0.filled.notify_one();
    }

    fn end(&self, queue: &mut Queue, code: u16, reason: &str) {
        let end = reason.floor_char_boundary(REASON_MAX);
        let reason = reason.get(..end).unwrap_or_default().into();
        queue.state = State::Closing(CloseFrame { code, reason });
        if code == BEHIND {
            self.0.meters.add(Meter::Lag, &[], 1);
        }
    }

    /// Closes the connection after everything that waits.
    pub(super) fn close(&self, code: u16, reason: &str) {
        let mut queue = self.queue();
        if matches!(queue.state, State::Open) {
            self.end(&mut queue, code, reason);
        }
        drop(queue);
        self.0.filled.notify_one();
    }

    /// Sends a ping to the client.
    pub(super) fn ping(&self) {
        self.queue().ping = true;
        self.0.filled.notify_one();
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.queue().state, State::Open)
    }

    /// Returns whether the client keeps up, so that stored frames can be sent.
    pub(super) fn is_calm(&self) -> bool {
        let queue = self.queue();
        queue.batches.len() < CALM_MAX && queue.bytes < CALM_BYTES_MAX
    }

    /// Returns when something was written, or nothing ever will be again.
    pub(super) async fn eased(&self) {
        self.0.eased.notified().await;
    }

    fn take(&self) -> Next {
        let mut queue = self.queue();
        if mem::take(&mut queue.ping) {
            return Next::Ping;
        }
        if let Some(batch) = queue.batches.pop_front() {
            queue.bytes = queue.bytes.saturating_sub(size(&batch));
            return Next::Batch(batch);
        }
        match mem::take(&mut queue.state) {
            State::Open => Next::Nothing,
            State::Closing(close) => {
                queue.state = State::Closed;
                Next::Close(close)
            }
            State::Closed => {
                queue.state = State::Closed;
                Next::Nothing
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    /// Returns when the close is written or the client does not take it.
    pub(super) async fn done(mut self) {
        let _late = tokio::time::timeout(CLOSE_PATIENCE, &mut self.0).await;
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn write(outbox: Outbox, mut sink: SplitSink<WebSocket, Message>) {
    let _gone = write_all(&outbox, &mut sink).await;
    outbox.queue().state = State::Closed;
    outbox.0.eased.notify_one();
}

async fn write_all(outbox: &Outbox, sink: &mut SplitSink<WebSocket, Message>) -> Result<(), Error> {
    loop {
        match outbox.take() {
            Next::Nothing => outbox.0.filled.notified().await,
            Next::Ping => sink.send(Message::Ping(Bytes::new())).await?,
            Next::Close(close) => return sink.send(Message::Close(Some(close))).await,
            Next::Batch(batch) => {
                for item in batch {
                    sink.feed(Message::text(&*item.text)).await?;
                }
                sink.flush().await?;
                outbox.0.eased.notify_one();
            }
        }
    }
}

fn size(batch: &[Item]) -> usize {
    batch.iter().map(|item| item.text.len()).sum()
}

/// Returns the first unsent event of every run: as many as fit.
pub(super) fn reason<'a>(unsent: impl IntoIterator<Item = &'a (Arc<str>, Seq)>) -> String {
    let mut positions: Vec<Value> = Vec::new();
    let mut written = "[]".to_owned();
    for (run, seq) in unsent {
        if positions.iter().any(|position| position.get("runId").and_then(Value::as_str) == Some(&**run)) {
            continue;
        }
        positions.push(json!({ "runId": run, "seq": seq }));
        let longer = json!(positions).to_string();
        if longer.len() > REASON_MAX {
            break;
        }
        written = longer;
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(run: &str, seq: Seq) -> Vec<Item> {
        vec![Item { text: "x".into(), position: Some((run.into(), seq)) }]
    }

    #[test]
    fn a_client_that_stays_behind_is_told_the_first_event_of_each_run_it_missed() {
        let outbox = Outbox(Arc::default());
        let one = format!("run-{}", "1".repeat(32));
        let two = format!("run-{}", "2".repeat(32));
        (0..BATCHES_MAX as Seq).for_each(|seq| outbox.push(event(if seq < 7 { "gone" } else { &one }, seq)));
        for _ in 0..7 {
            assert!(matches!(outbox.take(), Next::Batch(_)));
        }
        (0..7).for_each(|seq| outbox.push(event(&one, seq)));
        assert!(outbox.is_open());
        outbox.push(event(&two, 3));
        assert!(!outbox.is_open());
        assert!(outbox.0.meters.text().contains("consort_watcher_lag_total 1\n"));
        let Next::Close(close) = outbox.take() else { panic!("what waited is dropped") };
        assert_eq!((close.code, close.reason.len() <= REASON_MAX), (BEHIND, true));
        let told: Value = serde_json::from_str(&close.reason).unwrap();
        assert_eq!(told, json!([{ "runId": one, "seq": 7 }, { "runId": two, "seq": 3 }]));
    }

    #[test]
    fn one_large_batch_is_no_delay() {
        let outbox = Outbox(Arc::default());
        let large = || vec![Item { text: "x".repeat(BYTES_MAX).into(), position: None }];
        outbox.push(large());
        assert!(outbox.is_open());
        outbox.push(large());
        assert!(!outbox.is_open());
    }
}
