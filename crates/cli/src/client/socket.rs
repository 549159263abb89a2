//! The socket of a server, as a source of news: the types of frames that come over it.
//! The contents of a frame are asked for over HTTP.

use std::time::Duration;

use futures::stream::BoxStream;
use futures::{SinkExt, StreamExt, future};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};

use super::Client;

/// The time limit for connecting.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// The maximum size of a frame in bytes: a `hello` may have 4 MiB.
const FRAME_MAX: usize = 16 * 1024 * 1024;

/// A frame, as far as it is read.
#[derive(Deserialize)]
struct Frame {
    r#type: String,
}

impl Client {
    /// Connects to the socket and asks for frames of these types alone. The stream ends with the connection.
    pub(crate) async fn news(&self, types: &[&str]) -> Result<BoxStream<'static, String>, String> {
        let connected = timeout(CONNECT_MAX, self.connect_socket(types)).await;
        connected.map_err(|_elapsed| "no answer in time".to_owned())?.map_err(|error| error.to_string())
    }

    async fn connect_socket(&self, types: &[&str]) -> Result<BoxStream<'static, String>, tungstenite::Error> {
        let mut request = self.socket_address().into_client_request()?;
        if let Some(key) = &self.key {
            request.headers_mut().insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {key}"))?);
        }
        let limits = WebSocketConfig::default().max_message_size(Some(FRAME_MAX)).max_frame_size(Some(FRAME_MAX));
        let (mut socket, _greeting) = connect_async_with_config(request, Some(limits), true).await?;
        let subscribe = json!({ "type": "subscribe", "events": types }).to_string();
        socket.send(Message::text(subscribe)).await?;
        // The whole socket stays in the stream, so that it answers pings.
        let messages = socket.take_while(|message| future::ready(message.is_ok()));
        let read = |message: Message| Some(serde_json::from_str::<Frame>(message.to_text().ok()?).ok()?.r#type);
        Ok(messages.filter_map(move |message| future::ready(message.ok().and_then(read))).boxed())
    }

    /// Returns the address of the socket.
    fn socket_address(&self) -> String {
        let url = self.url();
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        format!("{}://{rest}/ws", if scheme == "https" { "wss" } else { "ws" })
    }
}

#[cfg(test)]
mod tests {
    use crate::client::Target;

    #[test]
    fn the_socket_is_beside_the_api() {
        let address = |url: &str| Target::at(url, None).client(&|_| None).unwrap().socket_address();
        assert_eq!(address("http://127.0.0.1:7329"), "ws://127.0.0.1:7329/ws");
        assert_eq!(address("https://a.example/team/"), "wss://a.example/team/ws");
    }
}
