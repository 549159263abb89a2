//! Requests to an A2A agent, over JSON-RPC or over REST. Everything that comes back has a limit.

use std::time::Duration;

use consort_http::sse::{Event, Events, TooLong};
use consort_http::{innermost, right};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::card::{Binding, Interface};
use crate::limits::{FRAME_MAX, WORDS_MAX, cut};

/// The header with the version of the protocol.
const VERSION: (HeaderName, HeaderValue) = (HeaderName::from_static("a2a-version"), HeaderValue::from_static("1.0"));
/// Bytes of one answer or event.
const ANSWER_MAX: usize = 8 * 1024 * 1024;
const _: () = assert!(ANSWER_MAX as u64 == FRAME_MAX, "an agent may say as much at once as a peer");
/// The time within which a card, the state of a task or a cancel is answered.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time without a byte after which a stream counts as broken; agents send a comment more often.
const SILENCE: Duration = Duration::from_secs(90);

/// The reason why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The agent has certainly not begun anything.
    NotSent(String),
    /// The agent has refused.
    Refused(String),
    /// The agent may have begun.
    Broken(String),
}

impl Trouble {
    pub(crate) fn words(self) -> String {
        let (Trouble::NotSent(words) | Trouble::Refused(words) | Trouble::Broken(words)) = self;
        cut(words, WORDS_MAX)
    }
}

/// The way to one agent.
#[derive(Clone)]
pub(crate) struct AgentLink {
    pub(crate) client: Client,
    /// The header that says who asks.
    pub(crate) key: Option<HeaderValue>,
}

/// An operation on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Get,
    Cancel,
}

impl AgentLink {
    /// Returns the link to an agent that wants this key.
    pub(crate) fn new(key: Option<&str>) -> Result<AgentLink, String> {
        let client = consort_http::client().map_err(|error| format!("no HTTP client: {error}"))?;
        let key = key.map(|key| {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| "its key fits into no header")?;
            value.set_sensitive(true);
            Ok::<_, String>(value)
        });
        Ok(AgentLink { client, key: key.transpose()? })
    }

    /// Reads the card of the agent.
    pub(crate) async fn card(&self, url: &str) -> Result<Value, String> {
        let answer = self.exchange(self.request(Method::GET, url)).await.map_err(Trouble::words)?;
        Ok(answer)
    }

    /// Sends a message, and returns the events of its task, or its whole answer.
    pub(crate) async fn send(
        &self,
        interface: &Interface,
        message: Value,
        streams: bool,
    ) -> Result<BoxStream<'static, Result<Value, Trouble>>, Trouble> {
        let mut params = json!({ "message": message });
        if let (false, Value::Object(fields)) = (streams, &mut params) {
            // It is asked about until it has ended.
            fields.insert("configuration".to_owned(), json!({ "returnImmediately": true }));
        }
        let (method, path) = match streams {
            true => ("SendStreamingMessage", "/message:stream"),
            false => ("SendMessage", "/message:send"),
        };
        let request = self.posted(interface, (method, path), params);
        if !streams {
            let answer = self.exchange(request).await?;
            let answer = unwrapped(interface.binding, answer)?;
            return Ok(stream::iter([Ok(answer)]).boxed());
        }
        let request = request.header(ACCEPT, "text/event-stream");
        let response = self.sent(request).await?;
        let is_stream =
            response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if !is_stream || !response.status().is_success() {
            let answer = read(response).await?;
            let answer = unwrapped(interface.binding, answer)?;
            return Ok(stream::iter([Ok(answer)]).boxed());
        }
        let binding = interface.binding;
        Ok(events(response).map(move |event| unwrapped(binding, event?)).boxed())
    }

    /// Asks for the state of a task, or cancels it; returns the task.
    pub(crate) async fn about(&self, interface: &Interface, about: About, task: &str) -> Result<Value, Trouble> {
        let request = match (interface.binding, about) {
            (Binding::JsonRpc, About::Get) => self.posted(interface, ("GetTask", ""), json!({ "id": task })),
            (Binding::JsonRpc, About::Cancel) => self.posted(interface, ("CancelTask", ""), json!({ "id": task })),
            (Binding::Rest, About::Get) => {
                self.request(Method::GET, &format!("{}/tasks/{}", interface.root(), path_segment(task)))
            }
            (Binding::Rest, About::Cancel) => {
                let path = format!("/tasks/{}:cancel", path_segment(task));
                self.posted(interface, ("", &path), json!({}))
            }
        };
        unwrapped(interface.binding, self.exchange(request).await?)
    }

    fn request(&self, method: Method, url: &str) -> RequestBuilder {
        let request = self.client.request(method, url).header(VERSION.0, VERSION.1);
        match &self.key {
            Some(key) => request.header(AUTHORIZATION, key.clone()),
            None => request,
        }
    }

    fn posted(&self, interface: &Interface, (method, path): (&str, &str), mut params: Value) -> RequestBuilder {
        if let (Some(tenant), Value::Object(fields)) = (&interface.tenant, &mut params) {
            fields.insert("tenant".to_owned(), json!(tenant));
        }
        let (url, body, kind) = match interface.binding {
            Binding::JsonRpc => {
                let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
                (interface.url.clone(), call, "application/json")
            }
            Binding::Rest => (format!("{}{path}", interface.root()), params, "application/a2a+json"),
        };
        self.request(Method::POST, &url).header(CONTENT_TYPE, kind).body(body.to_string())
    }

    async fn exchange(&self, request: RequestBuilder) -> Result<Value, Trouble> {
        let late = |_| Trouble::Broken(format!("no answer within {PATIENCE:?}"));
        let answered = async { read(self.sent(request).await?).await };
        timeout(PATIENCE, answered).await.map_err(late)?
    }

    /// Sends a request, of which nothing leaves once its run is another node's.
    async fn sent(&self, request: RequestBuilder) -> Result<Response, Trouble> {
        let request = request.build().map_err(|error| broken(&error))?;
        self.client.execute(right::guard(request).await).await.map_err(|error| broken(&error))
    }
}

impl Interface {
    /// Returns the beginning of the paths of REST.
    fn root(&self) -> String {
        match &self.tenant {
            Some(tenant) => format!("{}/{}", self.url, path_segment(tenant)),
            None => self.url.clone(),
        }
    }
}

/// Returns a text as a segment of a path.
fn path_segment(segment: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    segment
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Reads an answer as JSON, whatever its status; one that is no JSON is told by its status.
async fn read(response: Response) -> Result<Value, Trouble> {
    let status = response.status();
    let mut bytes = Vec::new();
    let mut parts = response.bytes_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|error| broken(&error))?;
        if bytes.len() + part.len() > ANSWER_MAX {
            return Err(Trouble::Broken(format!("its answer is longer than {ANSWER_MAX} bytes")));
        }
        bytes.extend_from_slice(&part);
    }
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(answer) if status.is_success() || answer.get("error").is_some_and(Value::is_object) => Ok(answer),
        Ok(_) | Err(_) if status.is_client_error() => Err(Trouble::Refused(format!("it answered {status}"))),
        Ok(_) | Err(_) => Err(Trouble::Broken(format!("it answered {status} without anything that A2A knows"))),
    }
}

/// Returns the result in an answer, or why it was refused.
fn unwrapped(binding: Binding, answer: Value) -> Result<Value, Trouble> {
    if let Some(error) = answer.get("error").and_then(Value::as_object) {
        return Err(Trouble::Refused(reason(error)));
    }
    match (binding, answer) {
        (Binding::JsonRpc, Value::Object(mut fields)) => {
            fields.remove("result").ok_or_else(|| Trouble::Broken("it answered without a result".to_owned()))
        }
        (_, answer) => Ok(answer),
    }
}

fn reason(error: &Map<String, Value>) -> String {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("it gave no reason");
    match error.get("code") {
        Some(code) => format!("{message} ({code})"),
        None => message.to_owned(),
    }
}

/// Returns the events of a stream, each as JSON.
fn events(response: Response) -> BoxStream<'static, Result<Value, Trouble>> {
    let open = Some((response, Events::new(ANSWER_MAX)));
    let next = stream::unfold(open, |open| async move {
        let (mut response, mut events) = open?;
        match next_event(&mut response, &mut events).await {
            Ok(event) => Some((Ok(event?), Some((response, events)))),
            Err(trouble) => Some((Err(trouble), None)),
        }
    });
    next.boxed()
}

/// Returns the next event; none when the stream has ended.
async fn next_event(response: &mut Response, events: &mut Events) -> Result<Option<Value>, Trouble> {
    let long = |TooLong| Trouble::Broken(format!("an event is longer than {ANSWER_MAX} bytes"));
    loop {
        if let Some(Event { data, .. }) = events.next().map_err(long)? {
            let odd = |error: serde_json::Error| Trouble::Broken(format!("an event is no JSON: {error}"));
            return serde_json::from_slice(data).map(Some).map_err(odd);
        }
        let silent = |_elapsed| Trouble::Broken(format!("nothing came for {SILENCE:?}"));
        let part = timeout(SILENCE, response.chunk()).await.map_err(silent)?.map_err(|error| broken(&error))?;
        let Some(part) = part else { return Ok(None) };
        events.inbox().extend_from_slice(&part);
    }
}

fn broken(error: &reqwest::Error) -> Trouble {
    let words = innermost(error);
    if error.is_connect() {
        Trouble::NotSent(format!("it cannot be reached: {words}"))
    } else {
        Trouble::Broken(format!("the connection broke: {words}"))
    }
}
