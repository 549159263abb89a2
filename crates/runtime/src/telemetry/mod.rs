//! Spans of runs for an OpenTelemetry collector. A run hands over ended spans and goes
//! on: those that do not fit into the queue are dropped and counted, and a slow or
//! failing collector concerns the exporter alone. `otlp` encodes the messages,
//! `exporter` sends them, `recorder` is a run's side.

mod exporter;
mod otlp;
mod recorder;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use consort_core::span::Span;
use consort_http::headers::Headers;
use consort_http::trace::Trace;
use reqwest::Url;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::meters::{Meter, Meters};
use exporter::{Exporter, Target};
pub(crate) use recorder::Recorder;

/// Spans that wait to be sent: some seconds of a busy server.
const QUEUE_MAX: usize = 8192;

/// The settings of the exporter.
#[derive(Clone, PartialEq)]
pub struct Options {
    /// The collector's address for OTLP over HTTP, without `/v1/traces`.
    pub endpoint: String,
    /// Headers of every request.
    pub headers: Headers,
    /// The encoding of requests.
    pub protocol: Protocol,
    /// Whether prompts, answers, arguments and results are included.
    pub content: bool,
    /// The name of this process in the traces.
    pub service: String,
    /// The share, from 0 to 1, of the traces that begin here which is sent; a client that
    /// sends a `traceparent` has decided already.
    pub sample: f64,
    /// The timeout of one request.
    pub timeout: Duration,
}

/// The address is not shown, which may hold a key.
impl fmt::Debug for Options {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Options").field("service", &self.service).finish_non_exhaustive()
    }
}

/// The encoding of spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Protobuf, which every collector accepts.
    #[default]
    Protobuf,
    /// JSON, which people can read.
    Json,
}

/// The reason why spans cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The address is invalid.
    #[error("the address is not one that spans can be sent to")]
    Address,
    /// The machine has no working HTTP client.
    #[error("no HTTP client: {0}")]
    Client(String),
}

/// A span and the run it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct RunSpan {
    pub(crate) run: Arc<str>,
    /// The trace, at the parent of the whole run.
    pub(crate) trace: Trace,
    pub(crate) span: Span,
}

/// A handle for runs; clones share the exporter, which ends with the last one.
#[derive(Clone)]
pub struct Telemetry(Arc<Inner>);

struct Inner {
    queue: mpsc::Sender<RunSpan>,
    closing: watch::Sender<bool>,
    sample: f64,
    content: bool,
    meters: Meters,
    exporter: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(exporter) = self.exporter.get_mut().unwrap_or_else(PoisonError::into_inner) {
            exporter.abort();
        }
    }
}

impl Telemetry {
    /// Starts the exporter; sent and dropped spans are counted in `meters`.
    pub fn start(options: &Options, meters: Meters) -> Result<Telemetry, Error> {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        let (closing, told) = watch::channel(false);
        let client = consort_http::client().map_err(|error| Error::Client(error.to_string()))?;
        let resource = otlp::resource(&options.service);
        let target = Target {
            url: address(&options.endpoint)?,
            headers: options.headers.map().clone(),
            timeout: options.timeout,
            protocol: options.protocol,
        };
        let exporter = Exporter::new(client, target, resource, meters.clone());
        let exporter = Mutex::new(Some(tokio::spawn(exporter.work(waiting, told))));
        let Options { sample, content, .. } = *options;
        Ok(Telemetry(Arc::new(Inner { queue, closing, sample, content, meters, exporter })))
    }

    /// Returns the trace of a run: the one its submission named, else one of its own,
    /// derived from the run's id.
    pub(crate) fn trace(&self, run: &str, given: Option<Trace>) -> Trace {
        given.unwrap_or_else(|| Trace::of_run(run, self.0.sample))
    }

    /// Returns true when prompts, answers, arguments and results are included.
    pub(crate) fn tells_content(&self) -> bool {
        self.0.content
    }

    /// Hands over a span. Never waits.
    pub(crate) fn tell(&self, told: RunSpan) {
        if self.0.queue.try_send(told).is_err() {
            self.0.meters.add(Meter::SpansDropped, &[("reason", "queue_full")], 1);
        }
    }

    /// Sends the remaining spans, for at most this long, and stops.
    pub async fn close(&self, within: Duration) {
        self.0.closing.send_replace(true);
        let exporter = self.0.exporter.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut exporter) = exporter else { return };
        if tokio::time::timeout(within, &mut exporter).await.is_err() {
            tracing::warn!("the collector took too long; the last spans are lost");
            exporter.abort();
        }
    }
}

/// Returns the collector's address for spans.
fn address(endpoint: &str) -> Result<Url, Error> {
    let mut url = Url::parse(endpoint).ok().filter(Url::has_host).ok_or(Error::Address)?;
    url.path_segments_mut().map_err(|()| Error::Address)?.pop_if_empty().extend(["v1", "traces"]);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_collector_is_kept() {
        let sent_to = |endpoint| address(endpoint).map(|url| url.to_string());
        assert_eq!(sent_to("http://127.0.0.1:4318"), Ok("http://127.0.0.1:4318/v1/traces".to_owned()));
        assert_eq!(sent_to("https://o.example/otlp/"), Ok("https://o.example/otlp/v1/traces".to_owned()));
        assert_eq!(sent_to("data:x"), Err(Error::Address));
    }
}
