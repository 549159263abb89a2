//! Webhooks: other programs are told of ended runs and of questions to people. `noting` looks
//! at runs, [`outbox`] stores what is to be sent before anything is sent, `sender` sends it until it is taken or given up, `delivery` decides which; [`push`]
//! has the addresses that clients name for single tasks.

pub mod delivery;
mod noting;
pub mod outbox;
pub mod push;
mod sender;

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use consort_core::announcement::Topic;
use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_core::run::Run;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// The beginning of a written secret.
const SECRET: &str = "whsec_";
/// The bytes of a secret.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// The delays after failed attempts, unless a webhook has its own: a day in all.
pub const RETRY_MS: [Millis; 7] = [5_000, 60_000, 300_000, 1_800_000, 7_200_000, 28_800_000, 43_200_000];
/// The maximum number of delays of a webhook.
pub const RETRIES_MAX: usize = 20;

/// A program that is notified of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Webhook {
    /// Its name.
    pub name: String,
    /// Its address, of the configuration and therefore trusted.
    pub url: String,
    /// The secret that what is sent is signed with.
    pub secret: Secret,
    /// The topics that it is notified of.
    pub topics: Vec<Topic>,
    /// Only runs with all of these tags.
    pub tags: BTreeMap<String, String>,
    /// Only runs of this owner; all when absent.
    pub owner: Option<Owner>,
    /// The delays after failed attempts.
    pub retry_ms: Vec<Millis>,
}

impl Webhook {
    /// Creates a webhook that is notified of everything, with the default delays.
    pub fn new(name: &str, url: &str, secret: Secret) -> Webhook {
        Webhook {
            name: name.to_owned(),
            url: url.to_owned(),
            secret,
            topics: Topic::WORDS.iter().map(|(_, topic)| *topic).collect(),
            tags: BTreeMap::new(),
            owner: None,
            retry_ms: RETRY_MS.to_vec(),
        }
    }

    /// Returns whether it is notified of this topic of a run.
    fn wants(&self, topic: Topic, run: &Run) -> bool {
        let tags = &run.spec().tags;
        self.topics.contains(&topic)
            && self.owner.as_ref().is_none_or(|owner| owner == run.seen_by())
            && self.tags.iter().all(|(name, value)| tags.get(name) == Some(value))
    }
}

/// A secret that two programs share.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(…)")
    }
}

impl Secret {
    /// Reads a secret as Standard Webhooks write it: `whsec_` and 24 to 64 bytes in base64.
    pub fn read(written: &str) -> Result<Secret, String> {
        let wrong = || {
            let min = SECRET_BYTES.start();
            let max = SECRET_BYTES.end();
            format!(
                "must be `{SECRET}` and {min} to {max} bytes in base64, as made by: echo whsec_$(openssl rand -base64 32)"
            )
        };
        let bytes = written.strip_prefix(SECRET).and_then(|rest| STANDARD.decode(rest).ok()).ok_or_else(wrong)?;
        if SECRET_BYTES.contains(&bytes.len()) { Ok(Secret(bytes)) } else { Err(wrong()) }
    }

    /// Takes over bytes as they are.
    pub fn of(bytes: &[u8]) -> Secret {
        Secret(bytes.to_vec())
    }

    /// Returns the HMAC-SHA256 of parts, one after the other.
    pub fn hmac(&self, parts: &[&[u8]]) -> Vec<u8> {
        self.mac(parts).finalize().into_bytes().to_vec()
    }

    /// Returns whether this is the HMAC-SHA256 of parts; takes the same time whatever it is.
    pub fn verifies(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        self.mac(parts).verify_slice(signature).is_ok()
    }

    /// Returns whether this is the secret itself; takes the same time whatever it is.
    pub fn is(&self, given: &[u8]) -> bool {
        // Comparing hashes under a key that only this process has reveals nothing about the bytes.
        self.verifies(&[given], &self.hmac(&[&self.0]))
    }

    /// Returns the signature of a message, as the header `webhook-signature` says it.
    pub fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        let signed = self.hmac(&[id.as_bytes(), b".", timestamp.to_string().as_bytes(), b".", body]);
        format!("v1,{}", STANDARD.encode(signed))
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        // An HMAC takes keys of any length, so the second key is never used.
        let keyed = <Hmac<Sha256> as Mac>::new_from_slice(&self.0);
        let mac = keyed.unwrap_or_else(|_| <Hmac<Sha256> as Mac>::new(&hmac::digest::Key::<Hmac<Sha256>>::default()));
        parts.iter().fold(mac, |mac, part| mac.chain_update(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_standard() {
        // The example of the Standard Webhooks documents.
        let secret = Secret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_read_strictly_compared_whole_and_never_shown() {
        for bad in ["", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_not base64!"] {
            assert!(Secret::read(bad).is_err(), "{bad}");
        }
        let secret = Secret::of(b"open sesame");
        assert!(secret.is(b"open sesame") && !secret.is(b"open sesam") && !secret.is(b""));
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }
}
