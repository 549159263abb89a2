//! Refusals that leave a body unread. What is left of the body would be taken for the
//! next request, so the connection is closed, and the response says so.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

/// Adds `Connection: close` to a failure that leaves the request's body unread.
pub async fn layer(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let is_read = Arc::new(AtomicBool::new(false));
    let watched = request.map(|body| Body::new(TrackedBody { body, is_read: is_read.clone() }));
    let mut response = next.run(watched).await;
    let failed = response.status().is_client_error() || response.status().is_server_error();
    if failed && !is_read.load(Ordering::Relaxed) {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// A body that notes when its end has been read.
struct TrackedBody {
    body: Body,
    is_read: Arc<AtomicBool>,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() || self.body.is_end_stream() {
            self.is_read.store(true, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
