//! Single sign-on: clients connect with bearer tokens of an OpenID Connect issuer, beside those with keys. The
//! issuer's public keys are fetched when they are needed and kept while it cannot be reached.

mod keys;
mod token;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use consort_core::owner::Owner;
use futures::StreamExt;
use reqwest::Client;
use serde_json::Value;
use tokio::time::Instant;
use url::{Host, Url};

use self::keys::PublicKeys;
pub(crate) use self::token::Invalid;
use self::token::Token;
use crate::access::Scope;

/// The minimum time between two requests for the keys: a client that invents ids of keys causes no more.
const FETCH_INTERVAL: Duration = Duration::from_secs(60);
/// The age from which keys are fetched again although they fit, so that a key that the issuer has withdrawn is not
/// believed for ever.
const KEYS_AGE_MAX: Duration = Duration::from_secs(60 * 60);
/// The maximum time of one request to the issuer.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of bytes of one response of the issuer.
const BODY_MAX: usize = 1024 * 1024;
/// The maximum number of bytes of the name that a token gives to its owner: as many as a subject may have.
const NAME_MAX: usize = 255;

/// The issuer that is trusted, and the claims that are read (`[server.oidc]`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The issuer's address, exactly as its tokens name it.
    pub issuer: String,
    /// The audience that tokens must be issued for.
    pub audience: String,
    /// The claim that names the owner of the client's runs.
    pub owner_claim: String,
    /// The claim that holds the scopes.
    pub scopes_claim: String,
}

impl Options {
    /// Options with the usual claims; the error says why the issuer cannot be used.
    pub fn new(issuer: &str, audience: &str) -> Result<Options, String> {
        check_address(issuer)?;
        Ok(Options {
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            owner_claim: "sub".to_owned(),
            scopes_claim: "scope".to_owned(),
        })
    }
}

/// A trusted issuer and its keys, as far as they are known. Clones share the keys.
#[derive(Clone)]
pub struct Issuer(Arc<Inner>);

struct Inner {
    options: Options,
    client: Client,
    keys: Mutex<Known>,
    /// Held while the keys are fetched, so that they are fetched once for all who wait.
    fetching: tokio::sync::Mutex<()>,
}

/// The keys that are known.
#[derive(Default)]
struct Known {
    keys: Arc<PublicKeys>,
    /// The time of the last request for them.
    asked: Option<Instant>,
}

/// The identity that a valid token proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The issuer and the subject: the owner of threads.
    pub(crate) name: String,
    /// The owner of runs.
    pub(crate) owner: Owner,
    pub(crate) scopes: Vec<Scope>,
    /// The time from which the token is not accepted any more.
    pub(crate) until: SystemTime,
}

/// The reason why nobody is identified by a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unidentified {
    /// The token is not accepted.
    Invalid(Invalid),
    /// The issuer has never been reached.
    NoKeys,
}

impl fmt::Debug for Issuer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Issuer").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Issuer {
    /// Returns the issuer's address.
    pub fn url(&self) -> &str {
        &self.0.options.issuer
    }

    /// Creates an issuer whose keys are not known yet.
    pub fn new(options: Options) -> Result<Issuer, reqwest::Error> {
        let client = consort_http::client()?;
        let keys = Mutex::default();
        Ok(Issuer(Arc::new(Inner { options, client, keys, fetching: tokio::sync::Mutex::default() })))
    }

    /// Returns whether this may be a token: keys of Consort have no dots.
    pub(crate) fn is_token(text: &str) -> bool {
        text.split('.').count() == 3
    }

    /// Returns the identity that a token proves.
    pub(crate) fn identify(&self, text: &str, now: SystemTime) -> Result<Identity, Unidentified> {
        let keys = self.known().keys.clone();
        if keys.is_empty() {
            return Err(Unidentified::NoKeys);
        }
        self.identified(text, &keys, now).map_err(Unidentified::Invalid)
    }

    fn identified(&self, text: &str, keys: &PublicKeys, now: SystemTime) -> Result<Identity, Invalid> {
        let options = &self.0.options;
        let claims = Token::read(text)?.verify(keys, (&options.issuer, &options.audience), now)?;
        let name = format!("{}|{}", options.issuer, claims.name("sub", NAME_MAX)?);
        let owner = Owner::oidc(claims.name(&options.owner_claim, NAME_MAX)?);
        let named = claims.words(&options.scopes_claim);
        let scopes = Scope::ALL.into_iter().filter(|scope| named.contains(&scope.word())).collect();
        Ok(Identity { name, owner, scopes, until: claims.until })
    }

    /// Returns the claim that holds the scopes.
    pub(crate) fn scopes_claim(&self) -> &str {
        &self.0.options.scopes_claim
    }

    /// Fetches the keys where this token needs others than are known, or the known ones are old.
    pub(crate) async fn prepare_for(&self, text: &str) {
        if !self.needs_keys(text) {
            return;
        }
        let _alone = self.0.fetching.lock().await;
        if !self.needs_keys(text) {
            return;
        }
        self.known().asked = Some(Instant::now());
        match self.fetch().await {
            Ok(keys) => self.known().keys = Arc::new(keys),
            Err(reason) => {
                let issuer = &self.0.options.issuer;
                tracing::warn!(issuer, reason, "the keys of the issuer cannot be fetched: the known ones stay");
            }
        }
    }

    fn needs_keys(&self, text: &str) -> bool {
        let known = self.known();
        let Some(age) = known.asked.map(|asked| asked.elapsed()) else { return true };
        let Ok(token) = Token::read(text) else { return false };
        let is_unknown = known.keys.is_empty() || token.key().is_some_and(|id| !known.keys.has(id));
        is_unknown && age >= FETCH_INTERVAL || age >= KEYS_AGE_MAX
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fetch(&self) -> Result<PublicKeys, String> {
        let issuer = &self.0.options.issuer;
        let discovery = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let described = self.get(&discovery).await?;
        if described.get("issuer").and_then(Value::as_str) != Some(issuer.as_str()) {
            return Err(format!("{discovery} describes another issuer"));
        }
        let address = described.get("jwks_uri").and_then(Value::as_str);
        let address = address.ok_or_else(|| format!("{discovery} has no `jwks_uri`"))?;
        check_address(address).map_err(|reason| format!("`jwks_uri` {reason}"))?;
        let keys = PublicKeys::read(&self.get(address).await?).ok_or_else(|| format!("{address} is no key set"))?;
        if keys.is_empty() { Err(format!("{address} has no key that can be used")) } else { Ok(keys) }
    }

    async fn get(&self, address: &str) -> Result<Value, String> {
        let failed = |error: reqwest::Error| error.without_url().to_string();
        let asked = self.0.client.get(address).timeout(FETCH_TIMEOUT).send().await;
        let response = asked.and_then(reqwest::Response::error_for_status);
        let mut parts = response.map_err(failed)?.bytes_stream();
        let mut body = Vec::new();
        while let Some(part) = parts.next().await {
            body.extend_from_slice(&part.map_err(failed)?);
            if body.len() > BODY_MAX {
                return Err(format!("{address} answers with more than {BODY_MAX} bytes"));
            }
        }
        serde_json::from_slice(&body).map_err(|_| format!("{address} does not answer with JSON"))
    }
}

/// Returns an error unless what comes from this address can be believed.
fn check_address(address: &str) -> Result<(), String> {
    let url = Url::parse(address).map_err(|error| format!("must be an address: {error}"))?;
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_here => Ok(()),
        _ => Err("must begin with https://; http:// is only for this machine".to_owned()),
    }
}
