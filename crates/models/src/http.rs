//! The HTTP that all models share: one answer read piece by piece,
//! with limits on waiting and on size, and errors as a [`Failure`].

use std::error::Error;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use consort_core::message::{Failure, FailureKind};
use consort_http::right;
use futures::future::poll_immediate;
use reqwest::{Client, Request, Response};
use tokio::time::{Instant, Sleep, sleep_until};

/// The maximum size of a whole response body in bytes: an
/// event of a few hundred bytes may hold a single word.
const BODY_MAX: usize = 512 * 1024 * 1024;
/// The time to wait for the end of a body after the whole answer
/// has arrived, so that its connection can serve the next call.
const END_GRACE: Duration = Duration::from_millis(100);
/// The chunks at the beginning of an answer that are read one by one.
const SINGLE: usize = 16;
/// The longest wait that is treated as a limit.
const WAIT_MAX: Duration = Duration::from_secs(365 * 24 * 3600);

/// The limits on the duration of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// The limit until the first byte, and then between any two.
    pub(super) idle: Duration,
    /// The limit for the whole call.
    pub(super) whole: Option<Duration>,
}

/// An answer being read. Dropping it closes its connection.
pub(super) struct Body {
    response: Response,
    idle: Duration,
    limit: Limit,
    received: usize,
    /// The number of chunks read so far.
    chunks: usize,
}

/// The time until which something has to arrive, and the timer for it.
struct Limit {
    deadline: Instant,
    whole: Option<Instant>,
    /// Set once for most calls: when it fires, the deadline is most likely a later one by then. To set it anew for each
    /// word would cost as much as the word.
    timer: Pin<Box<Sleep>>,
}

impl Body {
    /// Sends the request and waits for the head of the answer.
    pub(super) async fn open(client: &Client, request: Request, patience: Patience) -> Result<Body, Failure> {
        let request = right::guard(request).await;
        let mut limit = Limit::new(patience);
        let response = limit.in_time(client.execute(request)).await?;
        Ok(Body { response, idle: patience.idle, limit, received: 0, chunks: 0 })
    }

    /// Returns the response's status and headers.
    pub(super) fn head(&self) -> &Response {
        &self.response
    }

    /// Appends the next bytes and returns their number; 0 at the end.
    pub(super) async fn read(&mut self, inbox: &mut Vec<u8>) -> Result<usize, Failure> {
        loop {
            let Some(chunk) = self.limit.in_time(self.response.chunk()).await? else { return Ok(0) };
            self.take(&chunk, inbox)?;
            if !chunk.is_empty() {
                return Ok(chunk.len());
            }
        }
    }

    /// Appends the next bytes, if they have arrived already, and returns their number; 0 at the end. The first chunks
    /// are not waited for, not even that long: an answer begins word by word.
    pub(super) async fn read_arrived(&mut self, inbox: &mut Vec<u8>) -> Option<Result<usize, Failure>> {
        if self.chunks < SINGLE {
            return None;
        }
        step_aside().await;
        let read = match poll_immediate(self.response.chunk()).await?.map_err(broken) {
            Ok(Some(chunk)) if chunk.is_empty() => return None,
            Ok(chunk) => chunk.map_or(Ok(0), |chunk| self.take(&chunk, inbox).map(|()| chunk.len())),
            Err(failure) => Err(failure),
        };
        Some(read)
    }

    fn take(&mut self, chunk: &[u8], inbox: &mut Vec<u8>) -> Result<(), Failure> {
        self.limit.deadline = after(self.idle);
        self.received += chunk.len();
        self.chunks += 1;
        if self.received > BODY_MAX {
            return Err(failure(FailureKind::Malformed, format!("the answer is longer than {BODY_MAX} bytes")));
        }
        inbox.extend_from_slice(chunk);
        Ok(())
    }

    /// Reads up to `max` bytes of the rest, or as much of it as arrives.
    pub(super) async fn read_some(&mut self, max: usize) -> Vec<u8> {
        let mut body = Vec::new();
        while body.len() < max && matches!(self.read(&mut body).await, Ok(length) if length > 0) {}
        body
    }

    /// Waits briefly for the end after everything of interest has arrived.
    pub(super) async fn end(mut self) {
        self.idle = Duration::ZERO;
        self.limit.set(after(END_GRACE));
        let mut ignored = Vec::new();
        while matches!(self.read(&mut ignored).await, Ok(length) if length > 0) {}
    }
}

/// Lets the tasks that are ready run first: the one that reads the connection hands over one chunk at a time. It does not
/// look for news of the system, as [`tokio::task::yield_now`] does.
async fn step_aside() {
    let mut has_waited = false;
    poll_fn(|cx| {
        if mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn after(wait: Duration) -> Instant {
    Instant::now() + wait.min(WAIT_MAX)
}

impl Limit {
    fn new(patience: Patience) -> Limit {
        let deadline = after(patience.idle);
        let whole = patience.whole.map(after);
        Limit { deadline, whole, timer: Box::pin(sleep_until(deadline)) }
    }

    /// Sets a deadline that may be earlier than the one before.
    fn set(&mut self, deadline: Instant) {
        self.deadline = deadline;
        self.timer.as_mut().reset(deadline);
    }

    /// Returns the end of the wait.
    fn end(&self) -> Instant {
        self.whole.map_or(self.deadline, |whole| whole.min(self.deadline))
    }

    async fn in_time<T>(&mut self, work: impl Future<Output = reqwest::Result<T>>) -> Result<T, Failure> {
        let mut work = pin!(work);
        // Most of a fast answer is there when it is asked for: only what is waited for needs a timer.
        if let Some(done) = poll_immediate(work.as_mut()).await {
            return done.map_err(broken);
        }
        loop {
            // A limit of the whole call may be earlier than what the timer was set to.
            let end = self.end();
            if self.timer.deadline() > end || self.timer.is_elapsed() {
                self.timer.as_mut().reset(end);
            }
            tokio::select! {
                biased;
                done = &mut work => return done.map_err(broken),
                () = self.timer.as_mut() => {
                    if Instant::now() >= end {
                        return Err(failure(FailureKind::Timeout, "the server kept us waiting too long".to_owned()));
                    }
                }
            }
        }
    }
}

/// Returns the failure for an error of the client, with the server's address.
fn broken(error: reqwest::Error) -> Failure {
    let kind = if error.is_timeout() {
        FailureKind::Timeout
    } else if error.is_builder() {
        FailureKind::Refused
    } else {
        FailureKind::Network
    };
    let server = error.url().map(|url| format!("{}: ", named(url))).unwrap_or_default();
    if kind == FailureKind::Network && (error.is_body() || error.is_decode()) {
        // The library says where in its protocol that was, which nobody can do anything about.
        return failure(kind, format!("{server}the connection ended in the middle of the answer"));
    }
    let unreachable = error.is_connect();
    let error = error.without_url();
    let mut causes = Vec::new();
    let mut source = error.source();
    while let Some(cause) = source {
        causes.push(cause.to_string());
        source = cause.source();
    }
    let reason = match causes.last() {
        // The errors above it only say that there is a cause.
        Some(last) if unreachable => last.clone(),
        _ => std::iter::once(error.to_string()).chain(causes).collect::<Vec<_>>().join(": "),
    };
    failure(kind, format!("{server}{reason}"))
}

/// Returns the address without possible secrets: a password, or a key in its query.
pub(super) fn named(url: &reqwest::Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    // Only addresses without a host refuse these.
    let _kept = url.set_username("").and_then(|()| url.set_password(None));
    url.to_string()
}

/// Returns a failure that was not charged for.
pub(super) fn failure(kind: FailureKind, message: String) -> Failure {
    Failure { kind, message, retry_after_ms: None, status: None, charged: false }
}
