//! The right to send. A node that shares its runs with others may have been taken for dead while it stood
//! still, and another does by now what it was about to do. So the first byte of a request leaves only while
//! the node may act. The right is local to the task that makes the call, so no seam has to pass it on.

use std::convert::Infallible;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream;
use reqwest::header::CONTENT_LENGTH;
use reqwest::{Body, Request};
use tokio::sync::watch;
use tokio::task::futures::TaskLocalFuture;
use tokio::task_local;

task_local! {
    static CURRENT: Right;
}

/// The header that tells a tool the epoch of the run's owner, so that it can refuse an earlier one.
pub const EPOCH: &str = "Consort-Epoch";

type Wait = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// The right of a run's owner.
#[derive(Clone)]
pub struct Right {
    epoch: u64,
    /// Waits until something may be sent; for ever, when it never may.
    wait: Option<Wait>,
    /// Waits until the first byte may leave, and counts it; absent where that is the same.
    leave: Option<Wait>,
}

impl Right {
    /// Returns the right of an owner that nobody can replace.
    pub fn lasting(epoch: u64) -> Right {
        Right { epoch, wait: None, leave: None }
    }

    /// Returns the same right, for requests that are counted when they leave: this waits until the first byte may
    /// leave, the right to send included.
    #[must_use]
    pub fn leaving(self, leave: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static) -> Right {
        Right { leave: Some(Arc::new(leave)), ..self }
    }

    /// Returns the right of an owner that waits like this each time before it sends something.
    pub fn new(epoch: u64, wait: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static) -> Right {
        Right { epoch, wait: Some(Arc::new(wait)), leave: None }
    }
}

/// Returns a right that is held back until `true` is sent, for tests of what asks for it.
pub fn gate() -> (watch::Sender<bool>, Right) {
    let (may, allowed) = watch::channel(false);
    let right = Right::new(1, move || {
        let mut allowed = allowed.clone();
        Box::pin(async move { drop(allowed.wait_for(|allowed| *allowed).await) })
    });
    (may, right)
}

/// Returns this work, done with this right. It is the work with the right beside it: an `async fn` would hold the work
/// twice, and effects are one inside the other.
pub fn within<W: Future>(right: Right, work: W) -> TaskLocalFuture<Right, W> {
    CURRENT.scope(right, work)
}

/// Returns this work with the right of the current task, so that a task of its own can do it.
pub fn carried<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    let right = CURRENT.try_with(Right::clone).ok();
    async move {
        match right {
            Some(right) => within(right, work).await,
            None => work.await,
        }
    }
}

/// Returns the epoch of the owner that this work is done for, if it is done for a run.
pub fn epoch() -> Option<u64> {
    CURRENT.try_with(|right| right.epoch).ok()
}

/// Returns as soon as the first byte may leave.
pub async fn begin() {
    if let Some(leave) = leave() {
        leave().await;
    }
}

fn wait() -> Option<Wait> {
    CURRENT.try_with(|right| right.wait.clone()).ok().flatten()
}

fn leave() -> Option<Wait> {
    CURRENT.try_with(|right| right.leave.clone().or_else(|| right.wait.clone())).ok().flatten()
}

/// Makes the body of a request wait for the right at the moment it is written, which is after the connection
/// is there and long after the request was made. A request without a body waits before it is sent.
pub async fn guard(mut request: Request) -> Request {
    let Some(leave) = leave() else { return request };
    let bytes = request.body().and_then(Body::as_bytes).map(<[u8]>::to_vec);
    let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
        leave().await;
        return request;
    };
    if let Some(wait) = wait() {
        wait().await;
    }
    request.headers_mut().insert(CONTENT_LENGTH, bytes.len().into());
    let guarded = async move {
        leave().await;
        Ok::<_, Infallible>(bytes)
    };
    *request.body_mut() = Some(Body::wrap_stream(stream::once(guarded)));
    request
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use axum::Router;
    use axum::http::HeaderMap;
    use axum::routing::post;
    use tokio::time::timeout;

    use super::*;

    async fn told(headers: HeaderMap, body: String) -> String {
        let length = headers.get("content-length").map(|length| length.to_str().unwrap_or_default().to_owned());
        format!("{length:?} {body}")
    }

    #[tokio::test]
    async fn a_request_is_counted_once_and_when_it_leaves() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/", post(told))).await });
        let counted = Arc::new(AtomicUsize::new(0));
        let count = counted.clone();
        let right = Right::lasting(1).leaving(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Box::pin(std::future::ready(()))
        });
        let client = crate::client().unwrap();
        let request = within(right, guard(client.post(&url).body("pay").build().unwrap())).await;
        assert_eq!(counted.load(Ordering::Relaxed), 0, "it has not left yet");
        assert_eq!(client.execute(request).await.unwrap().text().await.unwrap(), "Some(\"3\") pay");
        assert_eq!(counted.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_body_leaves_whole_and_only_while_the_node_may_act() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/", post(told))).await });
        let (may, right) = gate();
        may.send_replace(true);
        let client = crate::client().unwrap();
        let request = within(right, guard(client.post(&url).body("pay").build().unwrap())).await;
        // Between the check and the first byte the node stands still.
        may.send_replace(false);
        let mut sent = Box::pin(client.execute(request));
        assert!(timeout(Duration::from_millis(200), &mut sent).await.is_err(), "nothing is answered yet");
        may.send_replace(true);
        assert_eq!(sent.await.unwrap().text().await.unwrap(), "Some(\"3\") pay");
    }
}
