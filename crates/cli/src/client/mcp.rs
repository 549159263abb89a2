//! Messages of the Model Context Protocol, passed on to a server.

use consort_http::sse::{Events, TooLong};
use futures::StreamExt;
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::Value;
use tokio::sync::mpsc;

use super::Client;

/// Bytes of one message: the largest is the output of a run.
const MESSAGE_MAX: usize = 64 * 1024 * 1024;

impl Client {
    /// Sends a message; every message that comes back goes to `answers`. The error says why there is none.
    pub(crate) async fn mcp(
        &self,
        message: &Value,
        headers: &[(&'static str, String)],
        answers: mpsc::Sender<Value>,
    ) -> Result<(), String> {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("mcp");
        }
        let mut request = self.http.post(url).header(ACCEPT, "application/json, text/event-stream").json(message);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let response = request.send().await.map_err(|error| self.unreachable(&error).to_string())?;
        let kind = response.headers().get(CONTENT_TYPE);
        if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
            return self.streamed(response, &answers).await;
        }
        let status = response.status();
        let text = response.text().await.map_err(|error| self.unreachable(&error).to_string())?;
        match serde_json::from_str::<Value>(&text) {
            _ if text.is_empty() && status.is_success() => Ok(()),
            Ok(answer) if answer.get("jsonrpc").is_some() => {
                let _gone = answers.send(answer).await;
                Ok(())
            }
            // A refusal of the server itself is no message of the protocol.
            Ok(_) | Err(_) => Err(super::Failure::refused(self.url(), status, text, self.key.as_deref()).to_string()),
        }
    }

    /// Passes on what a stream of events holds.
    async fn streamed(&self, response: Response, answers: &mpsc::Sender<Value>) -> Result<(), String> {
        let mut body = response.bytes_stream();
        let mut events = Events::new(MESSAGE_MAX);
        let long = |TooLong| format!("{} sent a message of more than {MESSAGE_MAX} bytes", self.url());
        while let Some(bytes) = body.next().await {
            events.inbox().extend_from_slice(&bytes.map_err(|error| self.unreachable(&error).to_string())?);
            while let Some(event) = events.next().map_err(long)? {
                if let Ok(message) = serde_json::from_slice(event.data) {
                    let _gone = answers.send(message).await;
                }
            }
        }
        Ok(())
    }
}
