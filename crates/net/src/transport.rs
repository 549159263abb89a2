//! Transports of frames. A connection is a sink of texts and a stream of
//! frames; opening one is the task of a [`Transport`]: WebSockets, or memory.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{Sink, SinkExt, StreamExt, future};
use tokio::time::timeout;
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::limits;
use crate::wire::Frame;

/// The maximum size of a received frame in bytes; a `hello` may have 4 MiB.
const FRAME_MAX: usize = limits::FRAME_MAX as usize;
/// The time limit for connecting.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// The address of a peer.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// The URL of its `/ws`.
    pub url: String,
    /// The key that it requires.
    pub key: Option<String>,
}

/// Neither the key nor the address is shown, which may hold one.
impl fmt::Debug for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Address").finish_non_exhaustive()
    }
}

/// The sink of outgoing frames.
pub type Outgoing = Pin<Box<dyn Sink<String, Error = Closed> + Send>>;

/// The stream of incoming frames.
pub type Incoming = BoxStream<'static, Frame>;

/// An open connection. It is closed by dropping it; when the other side closes
/// it, `incoming` ends.
pub struct Connection {
    /// The outgoing frames.
    pub outgoing: Outgoing,
    /// The incoming frames.
    pub incoming: Incoming,
}

/// The error of a closed connection: nothing can be sent any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub struct Closed;

/// Opens connections.
pub trait Transport: Send + Sync + 'static {
    /// Connects to an address. The error gives the reason and never shows the key.
    fn dial(&self, to: &Address) -> BoxFuture<'static, Result<Connection, String>>;
}

/// The transport that connects to `/ws` of a server.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebSockets;

impl Transport for WebSockets {
    fn dial(&self, to: &Address) -> BoxFuture<'static, Result<Connection, String>> {
        let to = to.clone();
        Box::pin(async move {
            match timeout(CONNECT_MAX, connect(&to)).await {
                Ok(connected) => connected,
                Err(_elapsed) => Err(format!("no answer within {CONNECT_MAX:?}")),
            }
        })
    }
}

async fn connect(to: &Address) -> Result<Connection, String> {
    let mut request = to.url.as_str().into_client_request().map_err(|error| error.to_string())?;
    if let Some(key) = &to.key {
        let value = HeaderValue::from_str(&format!("Bearer {key}"));
        let value = value.map_err(|_odd| "the key holds characters that cannot be sent".to_owned())?;
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    let limits = WebSocketConfig::default().max_message_size(Some(FRAME_MAX)).max_frame_size(Some(FRAME_MAX));
    let (socket, _greeting) = connect_async_with_config(request, Some(limits), true).await.map_err(words)?;
    let (outgoing, incoming) = socket.split();
    let outgoing = outgoing.sink_map_err(|_error: Error| Closed);
    let outgoing = outgoing.with(|text: String| future::ready(Ok::<_, Closed>(Message::text(text))));
    let messages = incoming.take_while(|message| future::ready(message.is_ok()));
    let frames = messages.filter_map(|message| future::ready(message.ok().and_then(|message| frame(&message))));
    Ok(Connection { outgoing: Box::pin(outgoing), incoming: frames.boxed() })
}

fn frame(message: &Message) -> Option<Frame> {
    message.is_text().then(|| message.to_text().ok().and_then(parse_frame)).flatten()
}

/// Parses a frame of a peer; none if it cannot be read.
pub(crate) fn parse_frame(text: &str) -> Option<Frame> {
    let read = Frame::read(text);
    read.inspect_err(|error| tracing::debug!(%error, "a peer sent something unreadable")).ok()
}

/// Describes an error, without the address: it is known, and may hold a secret.
fn words(error: Error) -> String {
    if let Error::Http(answer) = &error {
        return format!("it answered {}", answer.status());
    }
    if let Error::Io(reason) = &error { reason.to_string() } else { error.to_string() }
}
