//! A client of `/ws`.

use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, Response};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::Here;
use super::described::check_frame;

/// An open socket.
pub(crate) struct Socket(pub(crate) WebSocketStream<TcpStream>);

/// Something that a socket receives.
#[derive(Debug)]
pub(crate) enum Got {
    Frame(Value),
    Closed(u16, String),
}

impl Here {
    /// Creates a socket that has heard nothing yet.
    pub(crate) async fn socket(&self) -> Socket {
        self.try_socket(&[]).await.unwrap()
    }

    /// Opens a socket and reads `hello`.
    pub(crate) async fn greeted(&self) -> (Socket, Value) {
        let mut socket = self.socket().await;
        let hello = socket.frame().await;
        assert_eq!(hello["type"], "hello");
        (socket, hello)
    }

    /// Creates a socket opened with these headers, or the status of the refusal.
    pub(crate) async fn try_socket(&self, headers: &[(&str, &str)]) -> Result<Socket, u16> {
        let mut request = format!("ws://{}/ws", self.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(Error::Http(response)) => Err(Response::status(&response).as_u16()),
            Err(error) => panic!("{error}"),
        }
    }
}

impl Socket {
    pub(crate) async fn say(&mut self, frame: Value) {
        self.say_text(&frame.to_string()).await;
    }

    pub(crate) async fn say_text(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    /// Returns the next thing that the socket receives.
    pub(crate) async fn got(&mut self) -> Got {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => {
                    let frame = serde_json::from_str(&text).unwrap();
                    check_frame(&frame);
                    return Got::Frame(frame);
                }
                Some(Ok(Message::Close(Some(close)))) => {
                    return Got::Closed(close.code.into(), close.reason.to_string());
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Returns the next frame.
    pub(crate) async fn frame(&mut self) -> Value {
        match self.got().await {
            Got::Frame(frame) => frame,
            closed @ Got::Closed(..) => panic!("{closed:?}"),
        }
    }

    /// Frames up to the first of a type, which is the last.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut frames = vec![self.frame().await];
        while frames.last().unwrap()["type"] != kind {
            frames.push(self.frame().await);
        }
        frames
    }

    /// Returns the first frame of a type.
    pub(crate) async fn first(&mut self, kind: &str) -> Value {
        self.until(kind).await.pop().unwrap()
    }

    /// Says something and returns the very next frame.
    pub(crate) async fn ask(&mut self, frame: Value) -> Value {
        self.say(frame).await;
        self.frame().await
    }

    /// Returns every frame that has been sent to this client by now.
    pub(crate) async fn drained(&mut self) -> Vec<Value> {
        self.say_text(r#"{"type":"ping"}"#).await;
        let mut frames = self.until("pong").await;
        frames.pop();
        frames
    }

    /// Reads until the socket is closed; returns code and reason.
    pub(crate) async fn closed(&mut self) -> (u16, String) {
        loop {
            if let Got::Closed(code, reason) = self.got().await {
                return (code, reason);
            }
        }
    }
}
