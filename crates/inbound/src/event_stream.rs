//! A response that is a stream of events, sent without the library that reads requests: that one keeps two buffers of
//! 8 kB for each connection, which a client that listens for hours does not need.

use std::error::Error;
use std::future::pending;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::{fmt, io, mem};

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderMap, TRANSFER_ENCODING};
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, Version};
use bytes::Buf;
use futures::stream::Peekable;
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};

/// The size in bytes up to which events that are there already are sent together.
const TOGETHER: usize = 16 * 1024;
/// The bytes that a client may send while it listens before no more are read.
const IGNORED_MAX: usize = 64 * 1024;
/// The bytes of them that are read at once.
const IGNORED: usize = 64;
/// The end of a body in chunks.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// A stream of events on its way out of the library, as the error that ends the library's part.
pub struct EventStream(Mutex<Option<Box<Response<Body>>>>);

impl EventStream {
    /// Returns whether the response to a request may leave the library: the request has no body of which something may
    /// be left, and its client can read one in chunks.
    pub fn may_answer<B: hyper::body::Body>(request: &Request<B>) -> bool {
        request.method() == Method::GET && request.version() == Version::HTTP_11 && request.body().is_end_stream()
    }

    /// Takes a response out of the library if it is a stream of events.
    pub fn take(response: Response<Body>) -> Result<Response<Body>, EventStream> {
        if response.status() != StatusCode::OK || !is_event_stream(response.headers()) {
            return Ok(response);
        }
        Err(EventStream(Mutex::new(Some(Box::new(response)))))
    }

    /// Returns the response, if it is why the library's part has ended.
    pub fn of(ended: &hyper::Error) -> Option<Box<Response<Body>>> {
        let stream = ended.source()?.downcast_ref::<EventStream>()?;
        stream.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl fmt::Display for EventStream {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the response is a stream of events")
    }
}

impl Error for EventStream {}

/// Returns whether a response with these headers is a stream of events.
pub fn is_event_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Sends a stream of events as the last response of a connection, until it ends or its client is gone. Nothing of an
/// earlier response is left in the library: it begins one only once the one before is written.
pub async fn send(socket: impl AsyncRead + AsyncWrite, response: Response<Body>) -> io::Result<()> {
    let (input, output) = split(socket);
    // Side by side: a client that reads nothing can be gone too.
    tokio::select! {
        written = write(output, response) => written,
        gone = ignore(input) => gone,
    }
}

async fn write(mut output: impl AsyncWrite + Unpin, response: Response<Body>) -> io::Result<()> {
    let (head, body) = response.into_parts();
    output.write_all(&begun(head.headers)?).await?;
    let mut events = body.into_data_stream().peekable();
    while let Some(part) = part(&mut events).await {
        let part = part.map_err(io::Error::other)?;
        // An empty chunk would be the last.
        if !part.is_empty() {
            let size = format!("{:x}\r\n", part.len());
            let mut chunk = Buf::chain(Buf::chain(size.as_bytes(), part), &b"\r\n"[..]);
            output.write_all_buf(&mut chunk).await?;
        }
    }
    output.write_all(LAST_CHUNK).await?;
    output.shutdown().await
}

/// Returns what the body goes on with: an event, and those that are there already, as far as they are small.
async fn part(events: &mut Peekable<BodyDataStream>) -> Option<Result<Bytes, axum::Error>> {
    let mut part = match events.next().await? {
        Ok(first) => first,
        error => return Some(error),
    };
    let mut together = Vec::new();
    while part.len() + together.len() < TOGETHER
        && let Some(Some(Ok(_))) = Pin::new(&mut *events).peek().now_or_never()
        && let Some(Some(Ok(event))) = events.next().now_or_never()
    {
        together.extend_from_slice(&mem::replace(&mut part, event));
    }
    if !together.is_empty() {
        together.extend_from_slice(&part);
        part = together.into();
    }
    Some(Ok(part))
}

/// Returns when the client is gone. What it still sends is not answered, and after so much of it not even read.
async fn ignore(mut input: impl AsyncRead + Unpin) -> io::Result<()> {
    let mut ignored = 0;
    while ignored < IGNORED_MAX {
        match input.read(&mut [0; IGNORED]).await? {
            0 => return Ok(()),
            bytes => ignored += bytes,
        }
    }
    pending().await
}

/// Returns the head of the response.
fn begun(mut headers: HeaderMap) -> io::Result<Vec<u8>> {
    headers.remove(CONTENT_LENGTH);
    headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    let now = DateTimePrinter::new().timestamp_to_rfc9110_string(&Timestamp::now());
    headers.insert(DATE, now.map_err(io::Error::other)?.parse().map_err(io::Error::other)?);
    let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
    for (name, value) in &headers {
        head.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    head.extend(b"\r\n");
    Ok(head)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;
    use tokio::io::duplex;

    use super::*;

    /// The bytes that a connection holds until they are read.
    const HELD: usize = 256;

    fn response(body: Body) -> Response<Body> {
        Response::builder().header(CONTENT_TYPE, "text/event-stream").header("x-request-id", "7").body(body).unwrap()
    }

    fn events<const N: usize>(events: [&'static str; N]) -> Body {
        Body::from_stream(stream::iter(events.map(Ok::<_, Infallible>)))
    }

    #[tokio::test]
    async fn a_response_has_its_head_and_its_events_in_chunks() {
        let (mut client, server) = duplex(HELD);
        let long = "x".repeat(2 * HELD);
        let body = Body::from_stream(stream::iter(
            ["data: 1\n\n".to_owned(), String::new(), long.clone()].map(Ok::<_, Infallible>),
        ));
        let mut text = String::new();
        let (sent, read) = tokio::join!(send(server, response(body)), client.read_to_string(&mut text));
        sent.unwrap();
        read.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut lines: Vec<&str> = head.split("\r\n").collect();
        assert_eq!(lines.remove(0), "HTTP/1.1 200 OK");
        let date = lines.pop().unwrap();
        assert!(date.starts_with("date: ") && date.ends_with(" GMT"), "{date}");
        let others =
            ["content-type: text/event-stream", "x-request-id: 7", "transfer-encoding: chunked", "connection: close"];
        assert_eq!(lines, others);
        assert_eq!(body, format!("{:x}\r\ndata: 1\n\n{long}\r\n0\r\n\r\n", 9 + long.len()));
    }

    #[tokio::test]
    async fn an_event_that_is_empty_does_not_end_the_body() {
        let (mut client, server) = duplex(HELD);
        let apart = stream::unfold(0, async |place| {
            tokio::task::yield_now().await;
            ["", "a"].get(place).map(|event| (Ok::<_, Infallible>(*event), place + 1))
        });
        let mut text = String::new();
        let body = Body::from_stream(apart);
        let (sent, read) = tokio::join!(send(server, response(body)), client.read_to_string(&mut text));
        sent.unwrap();
        read.unwrap();
        assert!(text.ends_with("\r\n\r\n1\r\na\r\n0\r\n\r\n"), "{text}");
    }

    #[tokio::test]
    async fn it_ends_when_the_client_is_gone_and_ignores_what_it_says() {
        let (mut client, server) = duplex(HELD);
        let sending =
            tokio::spawn(send(server, response(Body::from_stream(stream::pending::<Result<Bytes, Infallible>>()))));
        client.write_all(&[b'x'; 3 * HELD]).await.unwrap();
        assert!(!sending.is_finished());
        drop(client);
        sending.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn it_ends_when_a_client_that_reads_nothing_is_gone() {
        let (mut client, server) = duplex(HELD);
        let endless = stream::repeat_with(|| Ok::<_, Infallible>("x".repeat(HELD)));
        let sending = tokio::spawn(send(server, response(Body::from_stream(endless))));
        client.write_all(b"x").await.unwrap();
        client.shutdown().await.unwrap();
        sending.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn large_events_are_sent_as_they_are_and_small_ones_together() {
        let large = "x".repeat(TOGETHER);
        let events = ["a", &large, "b", "c"].map(|event| Ok::<_, Infallible>(event.to_owned()));
        let mut events = Body::from_stream(stream::iter(events)).into_data_stream().peekable();
        let mut parts = Vec::new();
        while let Some(part) = part(&mut events).await {
            parts.push(part.unwrap());
        }
        assert_eq!(parts, [format!("a{large}"), "bc".to_owned()]);
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_has_no_end() {
        let (mut client, server) = duplex(HELD);
        let body = Body::from_stream(stream::iter([Ok("a"), Err(io::Error::other("lost"))]));
        let mut text = String::new();
        let (sent, read) = tokio::join!(send(server, response(body)), client.read_to_string(&mut text));
        assert!(sent.is_err() && read.is_ok());
        assert!(text.ends_with("\r\n\r\n1\r\na\r\n"), "what came before is there: {text}");
    }

    #[test]
    fn only_streams_of_events_leave_the_library() {
        let request = |method: Method, version: Version, body: &'static str| {
            let request = Request::builder().method(method).version(version).body(Body::from(body)).unwrap();
            EventStream::may_answer(&request)
        };
        assert!(request(Method::GET, Version::HTTP_11, ""));
        assert!(!request(Method::HEAD, Version::HTTP_11, ""));
        assert!(!request(Method::GET, Version::HTTP_10, ""), "it cannot read chunks");
        assert!(!request(Method::GET, Version::HTTP_11, "left unread"));
        assert!(EventStream::take(response(events([]))).is_err());
        assert!(EventStream::take(Response::new(Body::empty())).is_ok());
        let mut refused = response(events([]));
        *refused.status_mut() = StatusCode::FORBIDDEN;
        assert!(EventStream::take(refused).is_ok());
    }
}
