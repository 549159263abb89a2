//! Tools behind HTTP endpoints: POST `{"input": …, "callId": …}`, answered by
//! `{"output": …}` or `{"error": …}`. What is certain is said to be certain:
//! a call that may have reached the endpoint and did not come back with an
//! answer is repeated with its key where that is harmless, else `Unknown`.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{CancelClass, EffectClass, Permission, ToolInfo, plain_input};
use consort_core::schema::Schema;
use futures::future::BoxFuture;
use reqwest::{Client, RequestBuilder, Response, Url, redirect};
use serde_json::{Value, json};

use super::{Answer, Invocation, Tool};
use crate::trace;

/// Bytes of an answer.
const BODY_MAX: usize = 8 * 1024 * 1024;
/// Bytes of an unsuccessful answer quoted to the model.
const QUOTE_MAX: usize = 2 * 1024;
/// How long connecting may take: whoever is not connected has done nothing,
/// which is better to know than to run into the tool's own time limit.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How often a harmless call whose outcome nobody knows is repeated.
const REPEATS_MAX: u32 = 2;
/// How long the first repetition waits; the next one waits twice as long.
const REPEAT_WAIT: Duration = Duration::from_millis(100);

/// What a configuration says about an HTTP tool.
#[derive(Clone, Debug)]
pub struct HttpToolOptions {
    /// The name agents call it by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Where it is.
    pub url: String,
    /// What its arguments must look like; without one it takes `{input}`.
    pub input_schema: Option<Schema>,
    /// What kind of thing it touches.
    pub permission: Permission,
    /// What doing it twice would mean.
    pub effect: EffectClass,
    /// Whether it may run beside other calls of the same reply.
    pub parallel_safe: bool,
    /// A lock it holds while it runs.
    pub lock: Option<String>,
    /// How long a call may take.
    pub timeout_ms: u64,
}

impl HttpToolOptions {
    /// The defaults of the configuration.
    pub fn new(name: &str, description: &str, url: &str) -> HttpToolOptions {
        HttpToolOptions {
            name: name.to_owned(),
            description: description.to_owned(),
            url: url.to_owned(),
            input_schema: None,
            permission: Permission::Network,
            effect: EffectClass::Once,
            parallel_safe: true,
            lock: None,
            timeout_ms: 30_000,
        }
    }
}

/// Why there is no HTTP tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpToolError {
    /// Correct the address.
    #[error("`{url}` is not an http or https address: {reason}")]
    Address {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The client could not be made.
    #[error("no HTTP client: {0}")]
    Client(String),
}

/// A tool behind an HTTP endpoint.
#[derive(Clone, Debug)]
pub struct HttpTool {
    client: Client,
    url: Url,
    info: Arc<ToolInfo>,
    takes: Takes,
}

/// What the endpoint gets as `input`.
#[derive(Clone, Copy, Debug)]
enum Takes {
    /// The arguments as they are.
    Arguments,
    /// The bare text of the only argument there is.
    Text,
}

/// A client for HTTP tools, to be shared by all of them: it follows no
/// redirects, since a call goes where the configuration says or nowhere, and
/// it takes no proxy from the environment.
pub fn http_client() -> Result<Client, HttpToolError> {
    // Refused when there is one already, which is as good.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().redirect(redirect::Policy::none()).no_proxy().connect_timeout(CONNECT_MAX);
    client.build().map_err(|error| HttpToolError::Client(chain(&error)))
}

impl HttpTool {
    /// A tool that uses this client, which should come from [`http_client`].
    pub fn new(client: Client, options: HttpToolOptions) -> Result<HttpTool, HttpToolError> {
        let url = address(&options.url)?;
        let takes = match &options.input_schema {
            Some(schema) if *schema.json() != plain_input() => Takes::Arguments,
            Some(_) | None => Takes::Text,
        };
        let info = ToolInfo {
            name: options.name,
            description: options.description,
            schema: options.input_schema.unwrap_or_else(|| Schema::new(plain_input())),
            permission: options.permission,
            effect: options.effect,
            parallel_safe: options.parallel_safe,
            lock: options.lock,
            timeout_ms: options.timeout_ms,
            cancel: CancelClass::Drop,
            charged: false,
            remembered: false,
        };
        Ok(HttpTool { client, url, info: Arc::new(info), takes })
    }

    fn request(&self, invocation: &Invocation) -> RequestBuilder {
        let input = match self.takes {
            Takes::Arguments => &invocation.args,
            Takes::Text => invocation.args.get("input").unwrap_or(&Value::Null),
        };
        let body = json!({ "input": input, "callId": invocation.key });
        let request = self.client.post(self.url.clone()).json(&body);
        let request = match trace::traceparent() {
            Some(trace) => request.header(trace::HEADER, trace),
            None => request,
        };
        match self.info.effect {
            EffectClass::Read => request,
            EffectClass::Idempotent | EffectClass::Once => request.header("Idempotency-Key", &invocation.key),
        }
    }

    /// What may be done twice is tried again while nobody knows whether it was
    /// done: the key makes all attempts one intent.
    async fn settled(&self, invocation: Invocation) -> Answer {
        let mut answer = self.post(&invocation).await;
        for attempt in 1..=REPEATS_MAX {
            if self.info.effect == EffectClass::Once || !matches!(answer, Answer::Unknown(_)) {
                break;
            }
            tokio::time::sleep(REPEAT_WAIT * attempt).await;
            answer = self.post(&invocation).await;
        }
        match (self.info.effect, answer) {
            // Whatever the endpoint did, it changed nothing.
            (EffectClass::Read, Answer::Unknown(why)) => Answer::Failed(why),
            (_, answer) => answer,
        }
    }

    async fn post(&self, invocation: &Invocation) -> Answer {
        match self.request(invocation).send().await {
            Ok(response) if response.status().is_success() => self.read(response).await,
            Ok(response) => self.unsuccessful(response).await,
            Err(error) if error.is_connect() => Answer::Failed(format!("could not connect: {}", chain(&error))),
            Err(error) if error.is_builder() => Answer::Failed(format!("could not be asked: {}", chain(&error))),
            Err(error) => Answer::Unknown(format!("the connection broke before an answer came: {}", chain(&error))),
        }
    }

    async fn read(&self, response: Response) -> Answer {
        let body = match body(response, BODY_MAX).await {
            Ok(Body::Whole(body)) => body,
            Ok(Body::Cut(_)) => return Answer::Unknown(format!("the answer is longer than {BODY_MAX} bytes")),
            Err(error) => return Answer::Unknown(format!("the connection broke in the answer: {}", chain(&error))),
        };
        let Ok(answer) = serde_json::from_slice::<Value>(&body) else {
            return Answer::Unknown(format!("the answer is not JSON: {}", quote(&body)));
        };
        match (answer.get("error"), answer.get("output")) {
            (Some(error), _) if !error.is_null() => Answer::Failed(words(error)),
            (_, Some(Value::String(text))) => Answer::Done { text: text.clone(), data: None },
            (_, Some(output)) => Answer::Done { text: output.to_string(), data: Some(output.clone()) },
            (_, None) => Answer::Unknown(format!("the answer has neither `output` nor `error`: {}", quote(&body))),
        }
    }

    async fn unsuccessful(&self, response: Response) -> Answer {
        let status = response.status();
        let why = match body(response, QUOTE_MAX).await {
            Ok(Body::Whole(body) | Body::Cut(body)) => format!("{status}: {}", quote(&body)),
            Err(_broken) => status.to_string(),
        };
        if status.is_client_error() { Answer::Failed(why) } else { Answer::Unknown(why) }
    }
}

impl Tool for HttpTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(self.settled(invocation))
    }
}

fn address(text: &str) -> Result<Url, HttpToolError> {
    let wrong = |reason: String| HttpToolError::Address { url: text.to_owned(), reason };
    let url = Url::parse(text).map_err(|error| wrong(error.to_string()))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        scheme => Err(wrong(format!("it begins with `{scheme}:`"))),
    }
}

/// As much of a body as was wanted.
pub(super) enum Body {
    Whole(Vec<u8>),
    Cut(Vec<u8>),
}

pub(super) async fn body(mut response: Response, max: usize) -> Result<Body, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > max {
            body.truncate(max);
            return Ok(Body::Cut(body));
        }
    }
    Ok(Body::Whole(body))
}

pub(super) fn quote(body: &[u8]) -> String {
    String::from_utf8_lossy(body.get(..QUOTE_MAX).unwrap_or(body)).trim().to_owned()
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What went wrong, down to its cause. Never the address: it may hold a
/// secret, and the model reads this.
pub(super) fn chain(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    if error.source().is_some() { innermost.to_string() } else { "the request is not valid".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use axum::Router;
    use axum::extract::State;
    use axum::http::{HeaderMap, StatusCode, header};
    use axum::response::{IntoResponse, Response as Reply};
    use axum::routing::post;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::task::JoinHandle;

    use super::*;

    type Seen = Arc<Mutex<Vec<(Option<String>, Value)>>>;

    /// An endpoint that gives the same reply to every call.
    struct Endpoint {
        url: String,
        seen: Seen,
        server: JoinHandle<()>,
    }

    impl Drop for Endpoint {
        fn drop(&mut self) {
            self.server.abort();
        }
    }

    impl Endpoint {
        async fn replying(status: u16, body: impl Into<String>) -> Endpoint {
            let (seen, body) = (Seen::default(), body.into());
            let reply = move |State(seen): State<Seen>, headers: HeaderMap, text: String| async move {
                let key = headers.get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
                seen.lock().unwrap().push((key, serde_json::from_str(&text).unwrap()));
                let away = [(header::LOCATION, "/elsewhere")];
                (StatusCode::from_u16(status).unwrap(), away, body).into_response() as Reply
            };
            let router = Router::new().route("/call", post(reply.clone())).route("/elsewhere", post(reply));
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/call", listener.local_addr().unwrap());
            let app = router.with_state(seen.clone());
            let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
            Endpoint { url, seen, server }
        }

        /// Reads a whole request, writes these bytes and hangs up.
        async fn writing(bytes: &'static [u8]) -> Endpoint {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/call", listener.local_addr().unwrap());
            let server = tokio::spawn(async move {
                while let Ok((mut socket, _)) = listener.accept().await {
                    let mut request = Vec::new();
                    while !request.ends_with(b"}") {
                        let read = socket.read_buf(&mut request).await.unwrap();
                        assert_ne!(read, 0);
                    }
                    socket.write_all(bytes).await.unwrap();
                }
            });
            Endpoint { url, seen: Seen::default(), server }
        }

        async fn call(&self, effect: EffectClass) -> Answer {
            call(&self.url, effect).await
        }
    }

    fn tool(url: &str, change: impl FnOnce(&mut HttpToolOptions)) -> HttpTool {
        let mut options = HttpToolOptions::new("check_stock", "Checks the stock", url);
        change(&mut options);
        HttpTool::new(http_client().unwrap(), options).unwrap()
    }

    async fn call(url: &str, effect: EffectClass) -> Answer {
        tool(url, |options| options.effect = effect).call(Invocation::test(json!({ "input": "salt" }))).await
    }

    fn done(text: &str, data: Option<Value>) -> Answer {
        Answer::Done { text: text.to_owned(), data }
    }

    /// What a call without a certain answer must be, by effect.
    async fn assert_in_doubt(endpoint: &Endpoint, part: &str) {
        for effect in [EffectClass::Read, EffectClass::Idempotent, EffectClass::Once] {
            let why = match (effect, endpoint.call(effect).await) {
                (EffectClass::Read, Answer::Failed(why)) => why,
                (EffectClass::Idempotent | EffectClass::Once, Answer::Unknown(why)) => why,
                other => panic!("{other:?}"),
            };
            assert!(why.contains(part), "{why}");
        }
    }

    #[tokio::test]
    async fn a_tool_without_a_schema_sends_the_bare_text() {
        let endpoint = Endpoint::replying(200, r#"{"output":"3 left"}"#).await;
        assert_eq!(endpoint.call(EffectClass::Read).await, done("3 left", None));
        let body = json!({ "input": "salt", "callId": "run/1.0.0" });
        assert_eq!(*endpoint.seen.lock().unwrap(), [(None, body)]);
    }

    #[tokio::test]
    async fn a_tool_with_a_schema_sends_its_arguments() {
        let endpoint = Endpoint::replying(200, r#"{"output":{"left":3,"of":[1,2]},"error":null}"#).await;
        let schema = Schema::new(json!({ "type": "object", "properties": { "item": { "type": "string" } } }));
        let tool = tool(&endpoint.url, |options| options.input_schema = Some(schema));
        let answer = tool.call(Invocation::test(json!({ "item": "salt" }))).await;
        assert_eq!(answer, done(r#"{"left":3,"of":[1,2]}"#, Some(json!({ "left": 3, "of": [1, 2] }))));
        assert_eq!(endpoint.seen.lock().unwrap()[0].1["input"], json!({ "item": "salt" }));
    }

    #[tokio::test]
    async fn calls_with_an_effect_carry_their_key() {
        let endpoint = Endpoint::replying(200, r#"{"output":null}"#).await;
        for effect in [EffectClass::Idempotent, EffectClass::Once] {
            assert_eq!(endpoint.call(effect).await, done("null", Some(Value::Null)));
        }
        let keys: Vec<_> = endpoint.seen.lock().unwrap().iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(keys, vec![Some("run/1.0.0".to_owned()); 2]);
    }

    #[tokio::test]
    async fn an_error_the_endpoint_reports_is_a_failure_in_its_own_words() {
        for (body, why) in
            [(r#"{"error":"no such item"}"#, "no such item"), (r#"{"error":{"code":7}}"#, r#"{"code":7}"#)]
        {
            let endpoint = Endpoint::replying(200, body).await;
            assert_eq!(endpoint.call(EffectClass::Once).await, Answer::Failed(why.to_owned()));
        }
    }

    #[tokio::test]
    async fn a_refused_request_has_certainly_not_happened() {
        let endpoint = Endpoint::replying(404, format!("{}é", "x".repeat(5000))).await;
        for effect in [EffectClass::Read, EffectClass::Idempotent, EffectClass::Once] {
            let Answer::Failed(why) = endpoint.call(effect).await else { panic!("{effect:?}") };
            assert!(why.starts_with("404 Not Found: xxx"), "{why}");
            assert!(why.len() < QUOTE_MAX + 50, "{}", why.len());
        }
    }

    #[tokio::test]
    async fn a_server_error_leaves_an_effect_in_doubt() {
        assert_in_doubt(&Endpoint::replying(500, "out of salt").await, "500 Internal Server Error: out of salt").await;
    }

    #[tokio::test]
    async fn a_redirect_is_not_followed() {
        let endpoint = Endpoint::replying(307, "moved").await;
        assert_in_doubt(&endpoint, "307 Temporary Redirect").await;
        assert_eq!(endpoint.seen.lock().unwrap().len(), 3 + 3 + 1, "every attempt, and nothing elsewhere");
    }

    #[tokio::test]
    async fn a_call_in_doubt_is_repeated_with_its_key_unless_it_happens_once() {
        for (effect, calls) in [(EffectClass::Read, 3), (EffectClass::Idempotent, 3), (EffectClass::Once, 1)] {
            let endpoint = Endpoint::replying(503, "restarting").await;
            endpoint.call(effect).await;
            let seen = endpoint.seen.lock().unwrap();
            assert_eq!((seen.len(), &seen[0]), (calls, &seen[calls - 1]), "{effect:?}");
        }
    }

    #[tokio::test]
    async fn an_answer_of_another_shape_leaves_an_effect_in_doubt() {
        assert_in_doubt(&Endpoint::replying(200, "<html>").await, "not JSON: <html>").await;
        assert_in_doubt(&Endpoint::replying(200, r#"{"out":1}"#).await, "neither `output` nor `error`").await;
        assert_in_doubt(&Endpoint::replying(200, "[1]").await, "neither `output` nor `error`").await;
        let long = format!(r#"{{"output":"{}"}}"#, "x".repeat(BODY_MAX));
        assert_in_doubt(&Endpoint::replying(200, long).await, "longer than 8388608 bytes").await;
    }

    #[tokio::test]
    async fn a_connection_that_breaks_after_sending_leaves_an_effect_in_doubt() {
        assert_in_doubt(&Endpoint::writing(b"").await, "broke before an answer came").await;
        let half = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"output\":";
        assert_in_doubt(&Endpoint::writing(half).await, "broke in the answer").await;
    }

    #[tokio::test]
    async fn what_could_not_connect_has_certainly_not_happened() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/call?key=secret", listener.local_addr().unwrap());
        drop(listener);
        for effect in [EffectClass::Read, EffectClass::Idempotent, EffectClass::Once] {
            let Answer::Failed(why) = call(&url, effect).await else { panic!("{effect:?}") };
            assert!(why.starts_with("could not connect: ") && !why.contains("secret"), "{why}");
        }
    }

    #[test]
    fn addresses_that_are_not_http_are_refused() {
        for url in ["", "check_stock", "ftp://127.0.0.1/x", "/stock"] {
            let options = HttpToolOptions::new("t", "d", url);
            assert!(matches!(HttpTool::new(http_client().unwrap(), options), Err(HttpToolError::Address { .. })));
        }
    }
}
