//! OAuth2 client credentials (RFC 6749, 4.4): one token for all tools that share them, renewed
//! before it expires and when the API no longer takes it. Neither secret nor token is ever shown.

use std::fmt;
use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::time::Duration;

use reqwest::header::HeaderValue;
use reqwest::{Client, StatusCode, Url};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::target::encoded;
use super::{Body, body, chain};

/// The time that getting a token may take.
const TOKEN_TIME_MAX: Duration = Duration::from_secs(10);
/// The maximum size of an answer with a token, in bytes.
const TOKEN_BYTES_MAX: usize = 64 * 1024;
/// The lifetime of a token whose server names none, and the longest one: a token that
/// was withdrawn is noticed by the API's answer.
const LIFETIME_MAX: Duration = Duration::from_hours(1);
/// The time before its end at which a token is renewed, at most; short-lived ones are renewed after four fifths.
const MARGIN_MAX: Duration = Duration::from_secs(30);
const MARGIN_PART: u32 = 5;
/// The maximum number of characters of a server's complaint that are quoted.
const COMPLAINT_MAX: usize = 200;

/// Credentials of a client, and the token that was got with them. Clones share the token.
#[derive(Clone)]
pub struct ClientCredentials {
    /// The address that gives tokens.
    pub token_url: Url,
    /// The name of the client.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
    /// The scopes that the token is requested for.
    pub scopes: Vec<String>,
    kept: Arc<Mutex<Option<CachedToken>>>,
    /// The tokens of late, which answers are cleared of.
    seen: Arc<Lock<Vec<String>>>,
}

/// The number of tokens that answers are cleared of: the current one, and the one a call began with.
const SEEN_MAX: usize = 4;

struct CachedToken {
    token: String,
    until: Instant,
}

/// Shows only where tokens come from.
impl fmt::Debug for ClientCredentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ClientCredentials at {}", self.token_url.host_str().unwrap_or_default())
    }
}

impl PartialEq for ClientCredentials {
    fn eq(&self, other: &ClientCredentials) -> bool {
        let parts = |one: &ClientCredentials| {
            (one.token_url.clone(), one.client_id.clone(), one.client_secret.clone(), one.scopes.clone())
        };
        parts(self) == parts(other)
    }
}

impl ClientCredentials {
    /// Returns credentials without a token yet.
    pub fn new(token_url: Url, client_id: String, client_secret: String, scopes: Vec<String>) -> ClientCredentials {
        let kept = Arc::default();
        let seen = Arc::default();
        ClientCredentials { token_url, client_id, client_secret, scopes, kept, seen }
    }

    /// Returns a token that is good for a while, other than the one that was `refused`. Concurrent
    /// calls wait for the one that requests it; the error says why there is none.
    pub(super) async fn token(&self, client: &Client, refused: Option<&str>) -> Result<String, String> {
        let mut kept = self.kept.lock().await;
        if let Some(good) =
            kept.as_ref().filter(|kept| Instant::now() < kept.until && Some(kept.token.as_str()) != refused)
        {
            return Ok(good.token.clone());
        }
        *kept = None;
        let late = |_| Err(format!("no answer within {} s", TOKEN_TIME_MAX.as_secs()));
        let fresh = timeout(TOKEN_TIME_MAX, self.fetch(client)).await.unwrap_or_else(late);
        let fresh = fresh.map_err(|why| {
            let host = self.token_url.host_str().unwrap_or_default();
            format!("there is no token from `{host}`: {}", self.redacted(why))
        })?;
        let token = fresh.token.clone();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(token.clone());
        let surplus = seen.len().saturating_sub(SEEN_MAX);
        seen.drain(..surplus);
        *kept = Some(fresh);
        Ok(token)
    }

    /// Asks with the credentials in a header, as every server must take them, then in the body, as some want them.
    async fn fetch(&self, client: &Client) -> Result<CachedToken, String> {
        let id = encoded(&self.client_id);
        let secret = encoded(&self.client_secret);
        let mut form = "grant_type=client_credentials".to_owned();
        if !self.scopes.is_empty() {
            form = format!("{form}&scope={}", encoded(&self.scopes.join(" ")));
        }
        let ask = |form: String| {
            let request = client.post(self.token_url.clone()).header("accept", "application/json");
            request.header("content-type", "application/x-www-form-urlencoded").body(form)
        };
        let (status, answer) = answer_of(ask(form.clone()).basic_auth(&id, Some(&secret))).await?;
        if status.is_success() {
            return parse_token(&answer);
        }
        let (status, answer) = match status {
            StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED => {
                answer_of(ask(format!("{form}&client_id={id}&client_secret={secret}"))).await?
            }
            status => (status, answer),
        };
        if status.is_success() {
            return parse_token(&answer);
        }
        let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default();
        let complaint: String =
            [text("error"), text("error_description")].join(" ").chars().take(COMPLAINT_MAX).collect();
        Err(format!("{status} {complaint}").trim().to_owned())
    }

    /// Returns the text without secrets and tokens.
    pub(super) fn redacted(&self, text: String) -> String {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let secrets = seen.iter().map(String::as_str).chain([self.client_secret.as_str()]);
        secrets.filter(|secret| !secret.is_empty()).fold(text, |text, secret| text.replace(secret, "…"))
    }
}

async fn answer_of(request: reqwest::RequestBuilder) -> Result<(StatusCode, Value), String> {
    let response = request.send().await.map_err(|error| chain(&error))?;
    let status = response.status();
    match body(response, TOKEN_BYTES_MAX).await {
        Ok(Body::Whole(bytes)) => Ok((status, serde_json::from_slice(&bytes).unwrap_or_default())),
        Ok(Body::Cut(_)) => Err(format!("its answer is longer than {TOKEN_BYTES_MAX} bytes")),
        Err(error) => Err(chain(&error)),
    }
}

fn parse_token(answer: &Value) -> Result<CachedToken, String> {
    let token = answer.get("access_token").and_then(Value::as_str).filter(|token| !token.is_empty());
    let token = token.ok_or("its answer has no `access_token`")?;
    if HeaderValue::from_str(token).is_err() {
        return Err("its token cannot be sent".to_owned());
    }
    let kind = answer.get("token_type").and_then(Value::as_str).unwrap_or("bearer");
    if !kind.eq_ignore_ascii_case("bearer") {
        return Err("its token is not of the type Bearer".to_owned());
    }
    let lifetime = answer.get("expires_in");
    let seconds = lifetime.and_then(|lifetime| lifetime.as_f64().or_else(|| lifetime.as_str()?.parse().ok()));
    let lifetime = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(LIFETIME_MAX);
    let lifetime = lifetime.min(LIFETIME_MAX);
    Ok(CachedToken {
        token: token.to_owned(),
        until: Instant::now() + lifetime - (lifetime / MARGIN_PART).min(MARGIN_MAX),
    })
}
