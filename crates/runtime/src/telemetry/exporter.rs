//! Sends spans in batches. One request at a time, each with a timeout; a batch that
//! the collector may accept later is sent again, a few times with growing delays,
//! while new spans wait in the queue.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::{Protocol, RunSpan, otlp};
use crate::meters::{Meter, Meters};

/// Spans sent together.
const BATCH_MAX: usize = 512;
/// The time that a span waits for others.
const GATHER: Duration = Duration::from_secs(1);
/// The number of attempts before a batch is dropped.
const ATTEMPTS_MAX: u32 = 5;
/// The first delay before a batch is sent again; each further one is twice as long.
const BACKOFF: Duration = Duration::from_millis(500);
/// The longest delay, whatever the collector asks for.
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// The maximum number of bytes of a response that are read.
const ANSWER_MAX: usize = 64 * 1024;

pub(super) struct Exporter {
    client: Client,
    target: Target,
    /// The description of this process in every request.
    resource: otlp::Resource,
    meters: Meters,
    /// Whether the last batch failed, so that it is logged once, not for every batch.
    failing: bool,
}

/// The result of sending a batch.
enum Sent {
    /// The collector accepted it, except for this many spans.
    Taken { refused: u64 },
    /// The collector will never accept it.
    Refused(String),
    /// The collector may accept it later, not before this time.
    Later { why: String, after: Option<Duration> },
}

/// The address and the encoding of requests.
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) timeout: Duration,
    pub(super) protocol: Protocol,
}

impl Exporter {
    pub(super) fn new(client: Client, target: Target, resource: otlp::Resource, meters: Meters) -> Exporter {
        Exporter { client, target, resource, meters, failing: false }
    }

    /// Sends spans until it is asked to close and the queue is empty.
    pub(super) async fn work(mut self, mut queue: mpsc::Receiver<RunSpan>, mut closing: watch::Receiver<bool>) {
        while let Some(batch) = gather(&mut queue, &mut closing).await {
            self.deliver(&batch, &mut closing).await;
        }
    }

    async fn deliver(&mut self, batch: &[RunSpan], closing: &mut watch::Receiver<bool>) {
        let body = self.target.protocol.body(&otlp::request(&self.resource, batch));
        let mut wait = BACKOFF;
        for attempt in 1..=ATTEMPTS_MAX {
            let (why, after) = match self.send(body.clone()).await {
                Sent::Taken { refused } => return self.taken(batch.len() as u64, refused),
                Sent::Refused(why) => return self.dropped(batch.len(), "refused", &why),
                Sent::Later { why, after } => (why, after),
            };
            if attempt == ATTEMPTS_MAX || *closing.borrow() {
                return self.dropped(batch.len(), "unreachable", &why);
            }
            tokio::select! {
                () = sleep(after.unwrap_or(wait).min(BACKOFF_MAX)) => {}
                () = until_closing(closing) => {}
            }
            wait = (wait * 2).min(BACKOFF_MAX);
        }
    }

    async fn send(&self, body: Vec<u8>) -> Sent {
        let Target { url, headers, timeout, protocol } = &self.target;
        let request = self.client.post(url.clone()).headers(headers.clone()).timeout(*timeout);
        match request.header(CONTENT_TYPE, protocol.media_type()).body(body).send().await {
            Ok(response) if response.status().is_success() => {
                Sent::Taken { refused: protocol.refused(&answer(response).await) }
            }
            Ok(response) => answered(&response),
            Err(error) => Sent::Later { why: error.without_url().to_string(), after: None },
        }
    }

    fn taken(&mut self, spans: u64, refused: u64) {
        self.failing = false;
        self.meters.add(Meter::SpansExported, &[], spans.saturating_sub(refused));
        if refused > 0 {
            self.meters.add(Meter::SpansDropped, &[("reason", "refused")], refused);
        }
    }

    fn dropped(&mut self, spans: usize, reason: &str, why: &str) {
        self.meters.add(Meter::SpansDropped, &[("reason", reason)], spans as u64);
        if !std::mem::replace(&mut self.failing, true) {
            tracing::warn!(spans, why, "the collector does not take spans; they are dropped until it does");
        }
    }
}

/// Returns the next spans to send; `None` when there are no more.
async fn gather(queue: &mut mpsc::Receiver<RunSpan>, closing: &mut watch::Receiver<bool>) -> Option<Vec<RunSpan>> {
    let mut batch = Vec::new();
    tokio::select! {
        biased;
        _count = queue.recv_many(&mut batch, BATCH_MAX) => {}
        () = until_closing(closing) => {}
    }
    let until = Instant::now() + GATHER;
    while !batch.is_empty() && batch.len() < BATCH_MAX {
        let room = BATCH_MAX - batch.len();
        let more = tokio::select! {
            biased;
            more = queue.recv_many(&mut batch, room) => more,
            () = sleep_until(until) => 0,
            () = until_closing(closing) => 0,
        };
        if more == 0 {
            break;
        }
    }
    Some(batch).filter(|batch| !batch.is_empty())
}

/// Returns when the exporter is closing.
async fn until_closing(closing: &mut watch::Receiver<bool>) {
    let _gone = closing.wait_for(|closing| *closing).await;
}

/// Interprets the response of a collector that did not accept a batch.
fn answered(response: &Response) -> Sent {
    let status = response.status();
    let why = format!("it answered {}", response.status());
    let later = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::BAD_GATEWAY,
        StatusCode::SERVICE_UNAVAILABLE,
        StatusCode::GATEWAY_TIMEOUT,
    ];
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    if later.contains(&status) {
        Sent::Later { why, after: seconds.map(Duration::from_secs) }
    } else {
        Sent::Refused(why)
    }
}

/// Returns the body of a response; empty for one that is too long.
async fn answer(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        if body.len() + chunk.len() > ANSWER_MAX {
            return Vec::new();
        }
        body.extend_from_slice(&chunk);
    }
    body
}
