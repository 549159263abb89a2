//! Tools behind HTTP endpoints: POST `{"input": …, "callId": …}`, answered by `{"output": …}` or `{"error":
//! …}`, or plain requests as any API takes them. A call that may have reached the endpoint without getting
//! an answer is repeated with its key where that is harmless, else its outcome is `Unknown`.

mod answer;
mod endpoint;
pub(crate) mod operation;
mod target;
#[cfg(test)]
mod tests;
mod token;

use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use consort_core::catalog::{CancelClass, EffectClass, Permission, ToolInfo};
use consort_core::reach::{Destination, Reach};
use consort_http::{innermost, retry_after, right, tls, trace};
use futures::future::BoxFuture;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url, redirect};

pub use endpoint::{HttpEndpoint, HttpMethod, HttpToolError};
pub(super) use target::encoded;
pub use token::ClientCredentials;

use self::endpoint::Prepared;
use self::operation::Content;
use super::{Answer, Invocation, Progress, Tool};

/// The maximum number of bytes of an error response quoted to the model.
const QUOTE_MAX: usize = 2 * 1024;
/// The time limit for connecting: a call without a connection has certainly done
/// nothing, which is better to know than to run into the tool's own time limit.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// The maximum number of repetitions of a harmless call whose outcome is unknown.
const REPEATS_MAX: u32 = 2;
/// The wait before the first repetition; the next one waits twice as long.
const REPEAT_WAIT: Duration = Duration::from_millis(100);
/// The longest wait that an endpoint may ask for; beyond it the wait is
/// reported to the model instead, since a call has a time limit of its own.
const ASKED_WAIT_MAX: Duration = Duration::from_secs(5);
/// The maximum number of redirects within a server that a read follows.
const REDIRECTS_MAX: usize = 5;

/// A tool behind an HTTP endpoint.
#[derive(Clone, Debug)]
pub struct HttpTool {
    client: Client,
    endpoint: HttpEndpoint,
    info: Arc<ToolInfo>,
}

/// The result of one attempt.
enum Attempt {
    /// Another attempt would end the same way.
    Settled(Answer),
    /// Another attempt may succeed, after this wait if the endpoint named one.
    Again(Answer, Option<Duration>),
}

/// Returns a client for HTTP tools, to be shared by all of them: it follows no redirects, since
/// a call goes to the configured address or nowhere, and it takes no proxy from the environment.
pub fn http_client() -> Result<Client, HttpToolError> {
    let client = Client::builder().redirect(redirect::Policy::none()).no_proxy().connect_timeout(CONNECT_MAX);
    // Some APIs refuse requests without a user agent.
    tls::shared(client.user_agent("consort")).build().map_err(|error| HttpToolError::Client(chain(&error)))
}

/// Returns the default description of an HTTP tool.
pub fn http_tool_info(name: &str, description: &str, endpoint: &HttpEndpoint) -> ToolInfo {
    let reach = Reach::to(endpoint.host().map(Destination::Configured).unwrap_or_default());
    let schema = endpoint.schema();
    let permission = Permission::Network;
    let info = ToolInfo { schema, permission, reach, ..ToolInfo::new(name, description) };
    with_effect(info, endpoint.effect())
}

/// Returns the tool with another effect class, which also decides what a cancel does
/// to a call: half of an action that must happen once is worse than a short wait.
pub fn with_effect(info: ToolInfo, effect: EffectClass) -> ToolInfo {
    let cancel = if effect == EffectClass::Once { CancelClass::Finish } else { CancelClass::Drop };
    ToolInfo { effect, cancel, ..info }
}

impl HttpTool {
    /// Returns a tool that uses this client, which should come from [`http_client`].
    pub fn new(client: Client, info: Arc<ToolInfo>, endpoint: HttpEndpoint) -> HttpTool {
        HttpTool { client, endpoint, info }
    }

    /// Repeats a call that may be repeated while its outcome
    /// is unknown: the key makes all attempts one intent.
    async fn settled(&self, invocation: Invocation) -> Answer {
        let prepared = match self.endpoint.prepare(&self.info.schema, &invocation.args, &invocation.key) {
            Ok(prepared) => prepared,
            Err(reason) => return Answer::Failed(reason),
        };
        let mut repeats = 0;
        let answer = loop {
            let (answer, asked) = match self.authorized(&prepared, &invocation.key).await {
                Attempt::Settled(answer) => break answer,
                Attempt::Again(answer, asked) => (answer, asked),
            };
            let too_long = asked.is_some_and(|wait| wait > ASKED_WAIT_MAX);
            if self.info.effect == EffectClass::Once || repeats == REPEATS_MAX || too_long {
                break answer;
            }
            repeats += 1;
            let wait = (REPEAT_WAIT * repeats).max(asked.unwrap_or_default());
            invocation.account.progress(self.repeated(answer, repeats, wait));
            tokio::time::sleep(wait).await;
        };
        match (self.info.effect, self.redacted(answer)) {
            // A read changed nothing, whatever the endpoint did.
            (EffectClass::Read, Answer::Unknown(why)) => Answer::Failed(why),
            (_, answer) => answer,
        }
    }

    /// Returns the report on a call that is about to be repeated.
    fn repeated(&self, answer: Answer, repeats: u32, wait: Duration) -> Progress {
        let why = match self.redacted(answer) {
            Answer::Failed(why) | Answer::Unknown(why) | Answer::Late { why, .. } => why,
            Answer::Done { text, .. } => text,
        };
        let message = format!("{why}; asked again in {} ms ({repeats} of {REPEATS_MAX})", wait.as_millis());
        tracing::info!(tool = self.info.name, "{message}");
        Progress { status: Some("retrying".to_owned()), message: Some(message), percent: None }
    }

    /// Makes an attempt with a token, where there are credentials. A token that the
    /// API refuses is renewed once: a refused call has not happened, whatever its effect.
    async fn authorized(&self, prepared: &Prepared, key: &str) -> Attempt {
        let Some(auth) = &self.endpoint.auth else { return self.attempt(prepared, (key, None)).await.0 };
        let mut refused: Option<String> = None;
        loop {
            let token = match auth.token(&self.client, refused.as_deref()).await {
                Ok(token) => token,
                Err(why) => return Attempt::Settled(Answer::Failed(why)),
            };
            let (attempt, status) = self.attempt(prepared, (key, Some(&token))).await;
            if status != Some(StatusCode::UNAUTHORIZED) || refused.is_some() {
                return attempt;
            }
            refused = Some(token);
        }
    }

    fn request(&self, prepared: &Prepared, url: Url, (key, token): (&str, Option<&str>)) -> RequestBuilder {
        let mut request = self.client.request(prepared.method.clone(), url);
        request = match &prepared.body {
            None => request,
            Some(Content::Json(body)) => request.json(body),
            Some(Content::Text { kind, text }) => request.header(CONTENT_TYPE, kind).body(text.clone()),
        };
        request = request.headers(prepared.headers.clone());
        // After the body, so that a configured content type replaces the usual one.
        request = request.headers(self.endpoint.headers.map().clone());
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(trace) = trace::traceparent() {
            request = request.header(trace::HEADER, trace);
        }
        if let Some(epoch) = right::epoch() {
            request = request.header(right::EPOCH, epoch);
        }
        match self.info.effect {
            EffectClass::Read => request,
            EffectClass::Idempotent | EffectClass::Once => request.header("Idempotency-Key", key),
        }
    }

    /// Makes one attempt, and returns the status of the answer if there was one.
    async fn attempt(&self, prepared: &Prepared, with: (&str, Option<&str>)) -> (Attempt, Option<StatusCode>) {
        let mut url = prepared.url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let sent = match self.request(prepared, url.clone(), with).build_split() {
                (client, Ok(request)) => client.execute(right::guard(request).await).await,
                (_, Err(error)) => Err(error),
            };
            let response = match sent {
                Ok(response) => response,
                Err(error) => return (broken(&error), None),
            };
            let status = response.status();
            let may_follow = self.endpoint.is_plain() && prepared.method == Method::GET;
            match elsewhere(&response).filter(|_| may_follow) {
                None => return (self.read(response).await, Some(status)),
                Some(next) if stays_at(&url, &next) => url = next,
                Some(next) => return (Attempt::Settled(Answer::Failed(moved(status, &next))), Some(status)),
            }
        }
        (Attempt::Settled(Answer::Failed(format!("it redirects more than {REDIRECTS_MAX} times"))), None)
    }

    async fn read(&self, response: Response) -> Attempt {
        let status = response.status();
        match status.is_success() {
            true if self.endpoint.is_plain() => answer::plain(response).await,
            true => answer::envelope(response).await,
            false => unsuccessful(response, status).await,
        }
    }

    /// Returns the answer without the credentials of its
    /// request: some endpoints send back what they were sent.
    fn redacted(&self, answer: Answer) -> Answer {
        let hide = |text: String| {
            let text = self.endpoint.headers.redacted(text);
            self.endpoint.auth.iter().fold(text, |text, auth| auth.redacted(text))
        };
        match answer {
            Answer::Done { text, data: None } => Answer::Done { text: hide(text), data: None },
            Answer::Done { text, data: Some(data) } => {
                let written = hide(data.to_string());
                // Secrets are replaced only inside strings, so the rest is still valid JSON.
                Answer::Done { text: hide(text), data: serde_json::from_str(&written).ok() }
            }
            Answer::Failed(why) => Answer::Failed(hide(why)),
            Answer::Unknown(why) => Answer::Unknown(hide(why)),
            Answer::Late { why, effect } => Answer::Late { why: hide(why), effect },
        }
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

fn broken(error: &reqwest::Error) -> Attempt {
    let why = chain(error);
    if error.is_connect() {
        Attempt::Settled(Answer::Failed(format!("could not connect: {why}")))
    } else if error.is_builder() {
        Attempt::Settled(Answer::Failed(format!("could not be asked: {why}")))
    } else {
        Attempt::Again(Answer::Unknown(format!("the connection broke before an answer came: {why}")), None)
    }
}

async fn unsuccessful(response: Response, status: StatusCode) -> Attempt {
    let wait = retry_after::read(response.headers(), SystemTime::now()).map(Duration::from_millis);
    let mut why = match body(response, QUOTE_MAX).await {
        Ok(Body::Whole(body) | Body::Cut(body)) => format!("{status}: {}", quote(&body)),
        Err(_broken) => status.to_string(),
    };
    if let Some(wait) = wait {
        why = format!("{why} (it asks for {} s of patience)", wait.as_secs_f64().ceil());
    }
    match status {
        // Refused before it was started, so it has certainly not happened.
        StatusCode::TOO_MANY_REQUESTS => Attempt::Again(Answer::Failed(why), wait),
        _ if status.is_client_error() => Attempt::Settled(Answer::Failed(why)),
        _ => Attempt::Again(Answer::Unknown(why), wait),
    }
}

/// Returns the target of a redirect.
fn elsewhere(response: &Response) -> Option<Url> {
    let to = response.headers().get(LOCATION)?.to_str().ok()?;
    response.status().is_redirection().then(|| response.url().join(to).ok()).flatten()
}

/// Returns whether a redirect stays at its server, so that credentials
/// may go along; the only permitted change is from http to https.
fn stays_at(from: &Url, to: &Url) -> bool {
    let same = from.scheme() == to.scheme() && from.port_or_known_default() == to.port_or_known_default();
    let safer = (from.scheme(), to.scheme()) == ("http", "https") && from.port().is_none() && to.port().is_none();
    from.host() == to.host() && (same || safer)
}

fn moved(status: StatusCode, to: &Url) -> String {
    let server = format!("{}://{}", to.scheme(), to.host_str().unwrap_or_default());
    format!("{status}: it redirects to `{server}`, another server, which is not followed")
}

/// A body, read up to a limit.
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

/// Returns the cause of an error. Never the address: it may hold a secret, and the model reads this.
pub(super) fn chain(error: &reqwest::Error) -> String {
    if error.source().is_some() { innermost(error) } else { "the request is not valid".to_owned() }
}
