//! A bearer token: three parts of base64url, signed by its issuer. Reading one
//! waits for nothing; the keys are those that are known at the moment.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::keys::{Algorithm, PublicKeys};

/// The difference between the clocks of issuer and server that is tolerated.
const LEEWAY: Duration = Duration::from_secs(60);
/// The maximum number of bytes of a token: more than issuers make, and less than a request's head may have.
const TOKEN_MAX: usize = 16 * 1024;

/// The reason why a token is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Invalid {
    /// It cannot be read.
    #[error("it is not a JSON Web Token")]
    Malformed,
    /// Its algorithm is not allowed.
    #[error("its algorithm is not allowed: {}", Algorithm::WORDS)]
    Algorithm,
    /// It needs an extension that is not known here.
    #[error("it has critical extensions, which are not known here")]
    Critical,
    /// The issuer has published no key with its id.
    #[error("its key is not one of its issuer's")]
    UnknownKey,
    /// Its signature does not fit.
    #[error("its signature does not fit")]
    Signature,
    /// It comes from another issuer.
    #[error("it comes from another issuer")]
    Issuer,
    /// It was issued for another audience.
    #[error("it was issued for another audience")]
    Audience,
    /// It has no time of expiry, or that is over.
    #[error("it has expired")]
    Expired,
    /// It is not valid yet.
    #[error("it is not valid yet")]
    Early,
    /// It lacks a claim, or the claim cannot be used.
    #[error("its claim `{0}` is missing or cannot be used")]
    Claim(String),
}

/// The first part of a token.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    crit: Option<Value>,
}

/// A token whose parts can be told apart; nothing of it is believed yet.
pub(crate) struct Token<'a> {
    header: Header,
    signed: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

/// The claims of a token with a valid signature, audience and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claims {
    all: Map<String, Value>,
    /// The time from which it is not accepted any more.
    pub(crate) until: SystemTime,
}

impl<'a> Token<'a> {
    /// Takes a token apart.
    pub(crate) fn read(text: &'a str) -> Result<Token<'a>, Invalid> {
        if text.len() > TOKEN_MAX {
            return Err(Invalid::Malformed);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(Invalid::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(Invalid::Malformed)?;
        let header = serde_json::from_slice(&decoded(header)?).map_err(|_| Invalid::Malformed)?;
        Ok(Token { header, signed, payload, signature: decoded(signature)? })
    }

    /// Returns the id of the key that it says it was signed with.
    pub(crate) fn key(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// Returns its claims, if one of the keys signed it for this audience and it is valid now.
    pub(crate) fn verify(
        &self,
        keys: &PublicKeys,
        (issuer, audience): (&str, &str),
        now: SystemTime,
    ) -> Result<Claims, Invalid> {
        if self.header.crit.is_some() {
            return Err(Invalid::Critical);
        }
        let algorithm = Algorithm::parse(&self.header.alg).ok_or(Invalid::Algorithm)?;
        let mut candidates = keys.fitting(self.key(), algorithm).peekable();
        candidates.peek().ok_or(Invalid::UnknownKey)?;
        if !candidates.any(|key| key.verifies(algorithm, self.signed.as_bytes(), &self.signature)) {
            return Err(Invalid::Signature);
        }
        let all: Map<String, Value> =
            serde_json::from_slice(&decoded(self.payload)?).map_err(|_| Invalid::Malformed)?;
        if all.get("iss").and_then(Value::as_str) != Some(issuer) {
            return Err(Invalid::Issuer);
        }
        if !words(all.get("aud")).contains(&audience) {
            return Err(Invalid::Audience);
        }
        let until = time(all.get("exp")).and_then(|expires| expires.checked_add(LEEWAY)).ok_or(Invalid::Expired)?;
        if until <= now {
            return Err(Invalid::Expired);
        }
        match all.get("nbf") {
            None => {}
            Some(from) if time(Some(from)).is_some_and(|from| from <= now + LEEWAY) => {}
            Some(_) => return Err(Invalid::Early),
        }
        Ok(Claims { all, until })
    }
}

impl Claims {
    /// Returns a claim that names somebody: a text without control characters, of at most so many bytes.
    pub(crate) fn name(&self, claim: &str, bytes_max: usize) -> Result<&str, Invalid> {
        let name = self.all.get(claim).and_then(Value::as_str);
        let is_usable =
            |name: &&str| !name.trim().is_empty() && name.len() <= bytes_max && !name.chars().any(char::is_control);
        name.filter(is_usable).ok_or_else(|| Invalid::Claim(claim.to_owned()))
    }

    /// Returns the words of a claim: a list, or a text with spaces between them.
    pub(crate) fn words(&self, claim: &str) -> Vec<&str> {
        let found = words(self.all.get(claim));
        found.into_iter().flat_map(str::split_whitespace).collect()
    }
}

/// Returns a text, or each text of a list.
fn words(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns a time in seconds, which may have a fraction.
fn time(value: Option<&Value>) -> Option<SystemTime> {
    let seconds = Duration::try_from_secs_f64(value?.as_f64()?).ok()?;
    UNIX_EPOCH.checked_add(seconds)
}

fn decoded(part: &str) -> Result<Vec<u8>, Invalid> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| Invalid::Malformed)
}
