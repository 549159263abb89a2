//! Checks whether the sender of a request to a hook has the hook's secret, and which delivery the request is. Pure:
//! the time is handed in.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use consort_core::id::Millis;
use serde_json::Value;

use crate::webhooks::Secret;

/// The age of a signed time from which on a request is refused: it may be a copy of an earlier one.
const AGE_MAX_S: u64 = 300;
/// Signatures of one request that are looked at: a few, while a secret is replaced.
const SIGNATURES_MAX: usize = 10;
/// The maximum number of bytes of the id of a delivery; it is stored with the run.
const ID_MAX: usize = 255;

/// The way in which a sender proves who it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// As Standard Webhooks do.
    #[default]
    Standard,
    /// As GitHub does.
    GitHub,
    /// As Slack does.
    Slack,
    /// By the secret itself, as a bearer token.
    Bearer,
    /// Not at all.
    None,
}

impl Verify {
    /// The words of the configuration.
    pub const WORDS: &'static [(&'static str, Verify)] = &[
        ("standard", Verify::Standard),
        ("github", Verify::GitHub),
        ("slack", Verify::Slack),
        ("bearer", Verify::Bearer),
        ("none", Verify::None),
    ];

    /// Returns whether a secret is needed.
    pub fn needs_secret(self) -> bool {
        self != Verify::None
    }
}

/// A request to a hook.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its headers, with names in lower case.
    pub headers: &'a BTreeMap<String, String>,
    /// Its body, exactly as it came.
    pub bytes: &'a [u8],
}

impl Request<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// Checks who sent a request; the error says what is missing or wrong.
pub fn check(verify: Verify, secret: &Secret, request: Request<'_>, now: Millis) -> Result<(), String> {
    let is_signed = match verify {
        Verify::None => true,
        Verify::Bearer => {
            let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
            secret.is(token.ok_or("send the secret in `Authorization: Bearer …`")?.as_bytes())
        }
        Verify::GitHub => {
            let signature = request.header("x-hub-signature-256").and_then(|value| value.strip_prefix("sha256="));
            let signature = signature.ok_or("the header `X-Hub-Signature-256: sha256=…` is missing")?;
            secret.verifies(&[request.bytes], &unhex(signature))
        }
        Verify::Slack => {
            let at = request.header("x-slack-request-timestamp");
            let at = at.ok_or("the header `X-Slack-Request-Timestamp` is missing")?;
            fresh(at, now)?;
            let signature = request.header("x-slack-signature").and_then(|value| value.strip_prefix("v0="));
            let signature = signature.ok_or("the header `X-Slack-Signature: v0=…` is missing")?;
            secret.verifies(&[b"v0:", at.as_bytes(), b":", request.bytes], &unhex(signature))
        }
        Verify::Standard => standard(secret, request, now)?,
    };
    if is_signed { Ok(()) } else { Err("the signature or the secret is wrong".to_owned()) }
}

fn standard(secret: &Secret, request: Request<'_>, now: Millis) -> Result<bool, String> {
    let needed = |name: &str| request.header(name).ok_or_else(|| format!("the header `{name}` is missing"));
    let id = needed("webhook-id")?;
    let at = needed("webhook-timestamp")?;
    let signatures = needed("webhook-signature")?;
    fresh(at, now)?;
    let signed: [&[u8]; 5] = [id.as_bytes(), b".", at.as_bytes(), b".", request.bytes];
    let known = signatures.split_whitespace().filter_map(|one| one.strip_prefix("v1,")).take(SIGNATURES_MAX);
    Ok(known.filter_map(|one| STANDARD.decode(one).ok()).any(|one| secret.verifies(&signed, &one)))
}

/// Checks that a signed time, in seconds, is about now.
fn fresh(at: &str, now: Millis) -> Result<(), String> {
    let is_near = at.parse::<u64>().is_ok_and(|at| at.abs_diff(now / 1_000) <= AGE_MAX_S);
    if is_near { Ok(()) } else { Err(format!("the signed time is not within {AGE_MAX_S} seconds of now")) }
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2)).unwrap_or_default();
    digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}

/// Returns the delivery that a request is, as its sender names it; none when it has no name. Too long a name
/// is an error.
pub fn delivery_id(verify: Verify, request: Request<'_>, body: &Value) -> Result<Option<String>, String> {
    let named = |names: &[&str]| names.iter().find_map(|name| request.header(name)).map(str::to_owned);
    let own = match verify {
        Verify::Standard => named(&["webhook-id"]),
        Verify::GitHub => named(&["x-github-delivery"]),
        Verify::Slack => body.get("event_id").and_then(Value::as_str).map(str::to_owned),
        Verify::Bearer | Verify::None => named(&["webhook-id", "x-github-delivery"]),
    };
    let id = own.or_else(|| named(&["idempotency-key"])).filter(|id| !id.trim().is_empty());
    match id {
        Some(id) if id.len() > ID_MAX => Err(format!("the id of a delivery must have at most {ID_MAX} bytes")),
        id => Ok(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_614_265_330_000;

    fn with<'a>(headers: &'a BTreeMap<String, String>, body: &'a str) -> Request<'a> {
        Request { headers, bytes: body.as_bytes() }
    }

    fn headers(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_examples_of_each_sender_are_believed() {
        let standard = headers(&[
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ]);
        let secret = Secret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = r#"{"test": 2432232314}"#;
        assert_eq!(check(Verify::Standard, &secret, with(&standard, body), NOW), Ok(()));
        assert!(check(Verify::Standard, &secret, with(&standard, body), NOW + 301_000).is_err(), "too old");
        assert!(check(Verify::Standard, &secret, with(&standard, "{}"), NOW).is_err(), "another body");

        // The example of GitHub's documentation.
        let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let github = headers(&[("x-hub-signature-256", signature)]);
        let secret = Secret::of(b"It's a Secret to Everybody");
        assert_eq!(check(Verify::GitHub, &secret, with(&github, "Hello, World!"), NOW), Ok(()));
        assert!(check(Verify::GitHub, &secret, with(&github, "Hello, World?"), NOW).is_err());

        // The example of Slack's documentation.
        let slack = headers(&[
            ("x-slack-request-timestamp", "1531420618"),
            ("x-slack-signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"),
        ]);
        let body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
        let secret = Secret::of(b"8f742231b10e8888abcd99yyyzzz85a5");
        assert_eq!(check(Verify::Slack, &secret, with(&slack, body), 1_531_420_618_000), Ok(()));
        assert!(check(Verify::Slack, &secret, with(&slack, body), 1_531_421_000_000).is_err(), "too old");

        let bearer = headers(&[("authorization", "Bearer open sesame")]);
        assert_eq!(check(Verify::Bearer, &Secret::of(b"open sesame"), with(&bearer, ""), NOW), Ok(()));
        assert!(check(Verify::Bearer, &Secret::of(b"sesame"), with(&bearer, ""), NOW).is_err());
    }

    #[test]
    fn a_request_without_proof_is_told_what_is_missing() {
        let none = BTreeMap::new();
        for (verify, missing) in [
            (Verify::Standard, "webhook-id"),
            (Verify::GitHub, "X-Hub-Signature-256"),
            (Verify::Slack, "X-Slack-Request-Timestamp"),
            (Verify::Bearer, "Authorization"),
        ] {
            let refused = check(verify, &Secret::of(b"s"), with(&none, "{}"), NOW).unwrap_err();
            assert!(refused.contains(missing), "{refused}");
        }
        assert_eq!(check(Verify::None, &Secret::of(b""), with(&none, "{}"), NOW), Ok(()));
    }

    #[test]
    fn a_delivery_has_the_name_that_its_sender_gives() {
        let all = headers(&[("webhook-id", "w"), ("x-github-delivery", "g"), ("idempotency-key", "i")]);
        let body = serde_json::json!({ "event_id": "s" });
        let id = |verify| delivery_id(verify, with(&all, ""), &body).unwrap().unwrap();
        let each = [Verify::Standard, Verify::GitHub, Verify::Slack, Verify::Bearer].map(id);
        assert_eq!(each, ["w", "g", "s", "w"]);
        let key = headers(&[("idempotency-key", "i")]);
        assert_eq!(delivery_id(Verify::Slack, with(&key, ""), &Value::Null), Ok(Some("i".to_owned())));
        assert_eq!(delivery_id(Verify::None, with(&BTreeMap::new(), ""), &Value::Null), Ok(None));
        let long = headers(&[("idempotency-key", &"x".repeat(256))]);
        assert!(delivery_id(Verify::None, with(&long, ""), &Value::Null).is_err());
    }

    #[test]
    fn made_up_signatures_are_never_believed_and_never_a_panic() {
        let good = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        let secret = Secret::of(b"a secret that nobody knows");
        consort_fuzz::text(&[good, "sha256=757107ea", "v0=a2114d"], |text| {
            let given = headers(&[
                ("webhook-id", text),
                ("webhook-timestamp", "1614265330"),
                ("webhook-signature", text),
                ("x-hub-signature-256", text),
                ("x-slack-request-timestamp", "1614265330"),
                ("x-slack-signature", text),
                ("authorization", text),
            ]);
            for verify in [Verify::Standard, Verify::GitHub, Verify::Slack, Verify::Bearer] {
                assert!(check(verify, &secret, with(&given, text), NOW).is_err());
            }
        });
    }
}
