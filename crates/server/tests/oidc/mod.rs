//! Single sign-on through real sockets: tokens of an issuer beside keys, with keys that rotate.

mod issuer;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use consort_runtime::admission::Capacity;
use consort_server::Server;
use consort_server::access::{Key, Scope};
use consort_server::oidc::{Issuer, Options};
use serde_json::{Value, json};

use self::issuer::{FakeIssuer, Signer, now};
use crate::client::{Answer, Here, engine, server, start, task};
use crate::says;

/// A server that trusts this issuer and has one key.
fn trusting(issuer: &str) -> Server {
    let mut trusting = server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")]);
    trusting.access.keys = vec![Key::new("ci", "key", &[Scope::Run]).unwrap()];
    trusting.access.issuer = Some(Issuer::new(Options::new(issuer, "consort").unwrap()).unwrap());
    trusting
}

async fn get(here: &Here, token: &str, path: &str) -> Answer {
    here.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}"), b"").await
}

async fn begin(here: &Here, token: &str) -> Answer {
    let header = format!("Authorization: Bearer {token}");
    here.post_with("/api/runs", &header, json!({ "inputs": { "topic": "tea" } })).await
}

fn claims(issuer: &FakeIssuer, subject: &str, scope: &str) -> Value {
    json!({ "iss": issuer.url, "aud": "consort", "sub": subject, "scope": scope, "exp": now() + 600.0 })
}

fn with(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

#[tokio::test]
async fn a_token_stands_for_its_subject_with_the_scopes_it_names_beside_keys() {
    for signer in [Signer::ed25519("one"), Signer::p256("one"), Signer::p384("one")] {
        let issuer = FakeIssuer::start(&signer).await;
        let here = start(trusting(&issuer.url)).await;
        let ann = signer.sign(&with(claims(&issuer, "ann", ""), "scope", json!("openid run review")));
        let me = get(&here, &ann, "/api/me").await.json();
        let name = format!("{}|ann", issuer.url);
        let expected = json!({ "name": name, "owner": "oidc:ann", "scopes": ["run", "review"], "sees": "own" });
        assert_eq!(me, expected);
        assert_eq!(begin(&here, &ann).await.status, 202);
        let reader = signer.sign(&with(claims(&issuer, "eve", ""), "scope", json!(["read"])));
        assert_eq!(begin(&here, &reader).await.problem(), (403, "FORBIDDEN".to_owned()));
        assert_eq!(get(&here, "key", "/api/me").await.json()["owner"], "ci");
        assert_eq!(get(&here, "other", "/api/me").await.status, 401);
        assert_eq!(issuer.fetched(), 1);
        let told = here.get("/.well-known/oauth-protected-resource/mcp").await.json();
        assert_eq!(told["authorization_servers"], json!([issuer.url]), "clients of /mcp learn where to sign on");
    }
}

#[tokio::test]
async fn the_runs_of_a_subject_are_its_own_and_an_administrators_token_sees_all() {
    let signer = Signer::ed25519("one");
    let issuer = FakeIssuer::start(&signer).await;
    let here = start(trusting(&issuer.url)).await;
    let ann = signer.sign(&claims(&issuer, "ann", "run"));
    let run = begin(&here, &ann).await.json()["runId"].as_str().unwrap().to_owned();
    let path = format!("/api/runs/{run}");
    let bob = signer.sign(&claims(&issuer, "bob", "run"));
    assert_eq!(get(&here, &ann, &path).await.status, 200);
    assert_eq!(get(&here, &bob, &path).await.problem(), (404, "RUN_NOT_FOUND".to_owned()));
    assert_eq!(get(&here, "key", &path).await.status, 404);
    let boss = signer.sign(&claims(&issuer, "boss", "admin"));
    assert_eq!(get(&here, &boss, &path).await.status, 200);
}

#[tokio::test]
async fn whatever_is_wrong_with_a_token_is_said_and_nobody_gets_in() {
    let signer = Signer::p256("one");
    let issuer = FakeIssuer::start(&signer).await;
    let here = start(trusting(&issuer.url)).await;
    let good = claims(&issuer, "ann", "run");
    let signed = |name: &str, value: Value| signer.sign(&with(good.clone(), name, value));
    let stranger = Signer::p256("one");
    let other_kind = Signer::ed25519("one");
    let whole = signer.sign(&good);
    let unsigned = signer.sign_as(&json!({ "alg": "none", "kid": "one" }), &good);
    let shared = signer.sign_as(&json!({ "alg": "HS256", "kid": "one" }), &good);
    let critical = signer.sign_as(&json!({ "alg": "ES256", "kid": "one", "crit": ["b64"] }), &good);
    let payload = URL_SAFE_NO_PAD.encode(with(good.clone(), "sub", json!("root")).to_string());
    let parts: Vec<&str> = whole.split('.').collect();
    let forged = format!("{}.{payload}.{}", parts[0], parts[2]);
    let cut = &whole[..whole.len() - 2];
    let cases = [
        (unsigned.as_str(), "its algorithm is not allowed"),
        (&shared, "its algorithm is not allowed"),
        (&critical, "critical extensions"),
        (&forged, "its signature does not fit"),
        (cut, "its signature does not fit"),
        (&stranger.sign(&good), "its signature does not fit"),
        (&other_kind.sign(&good), "its key is not one of its issuer's"),
        (&Signer::p256("two").sign(&good), "its key is not one of its issuer's"),
        (&signed("iss", json!("https://evil.example")), "it comes from another issuer"),
        (&signed("aud", json!("others")), "it was issued for another audience"),
        (&signed("aud", json!(["others", 7])), "it was issued for another audience"),
        (&signed("exp", json!(now() - 61.0)), "it has expired"),
        (&signed("exp", Value::Null), "it has expired"),
        (&signed("exp", json!("tomorrow")), "it has expired"),
        (&signed("exp", json!(-1)), "it has expired"),
        (&signed("nbf", json!(now() + 120.0)), "it is not valid yet"),
        (&signed("nbf", json!([])), "it is not valid yet"),
        (&signed("sub", Value::Null), "its claim `sub`"),
        (&signed("sub", json!("a\u{7}b")), "its claim `sub`"),
        (&signed("sub", json!("x".repeat(256))), "its claim `sub`"),
        ("a.b.c", "it is not a JSON Web Token"),
        ("..", "it is not a JSON Web Token"),
    ];
    for (token, reason) in cases {
        let answer = get(&here, token, "/api/me").await;
        assert_eq!(answer.problem(), (401, "UNAUTHORIZED".to_owned()), "{reason}");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(reason), "{reason}: {message}");
    }
    let scopeless = signed("scope", json!("openid email"));
    assert_eq!(get(&here, &scopeless, "/api/me").await.problem(), (403, "FORBIDDEN".to_owned()));
    let listed = signed("aud", json!(["others", "consort"]));
    assert_eq!(get(&here, &listed, "/api/me").await.status, 200, "one of several audiences");
    assert_eq!(issuer.fetched(), 1, "ids of keys that are made up cause no more requests");
}

#[tokio::test(start_paused = true)]
async fn keys_that_rotate_are_found_within_a_minute_and_stay_while_the_issuer_is_away() {
    let old = Signer::ed25519("old");
    let new = Signer::ed25519("new");
    let issuer = FakeIssuer::start(&old).await;
    let here = start(trusting(&issuer.url)).await;
    let before = old.sign(&claims(&issuer, "ann", "read"));
    assert_eq!(get(&here, &before, "/api/me").await.status, 200);
    issuer.publish(&[&old, &new]);
    let after = new.sign(&claims(&issuer, "ann", "read"));
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(get(&here, &after, "/api/me").await.status, 200);
    assert_eq!(issuer.fetched(), 2);
    issuer.leave();
    tokio::time::advance(Duration::from_secs(2 * 60 * 60)).await;
    assert_eq!(get(&here, &before, "/api/me").await.status, 200, "the known keys stay");
}

#[tokio::test]
async fn without_the_issuers_keys_no_token_can_be_checked_and_keys_still_work() {
    let signer = Signer::ed25519("one");
    let issuer = FakeIssuer::start(&signer).await;
    issuer.leave();
    let here = start(trusting(&issuer.url)).await;
    let token = signer.sign(&claims(&issuer, "ann", "run"));
    let answer = get(&here, &token, "/api/me").await;
    assert_eq!(answer.problem(), (503, "UNAVAILABLE".to_owned()));
    assert_eq!(answer.header("retry-after"), Some("60"));
    assert_eq!(get(&here, "key", "/api/me").await.status, 200);
}

#[tokio::test]
async fn a_socket_ends_with_the_token_that_opened_it_and_takes_one_in_its_first_frame() {
    let signer = Signer::ed25519("one");
    let issuer = FakeIssuer::start(&signer).await;
    let here = start(trusting(&issuer.url)).await;
    // A minute of leeway: it is accepted for one more second.
    let ending = signer.sign(&with(claims(&issuer, "ann", "run"), "exp", json!(now() - 59.0)));
    let bearer = format!("Bearer {ending}");
    let mut opened = here.try_socket(&[("authorization", &bearer)]).await.unwrap();
    assert_eq!(opened.frame().await["type"], "hello");
    assert_eq!(opened.closed().await.0, 1008);
    assert_eq!(get(&here, &ending, "/api/me").await.status, 401);
    let mut socket = here.socket().await;
    let token = signer.sign(&claims(&issuer, "ann", "run"));
    assert_eq!(socket.ask(json!({ "type": "auth", "key": token })).await["type"], "hello");
}

#[test]
fn an_issuer_is_trusted_over_tls_or_on_this_machine() {
    for issuer in ["https://id.example.com", "http://127.0.0.1:8080", "http://localhost/realms/a"] {
        assert!(Options::new(issuer, "consort").is_ok(), "{issuer}");
    }
    for issuer in ["http://id.example.com", "ftp://id.example.com", "id.example.com", ""] {
        assert!(Options::new(issuer, "consort").is_err(), "{issuer}");
    }
}
