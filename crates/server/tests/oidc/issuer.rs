//! An issuer on this machine, and the keys that it signs with.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Returns the time in seconds.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

enum Pair {
    Ed25519(Ed25519KeyPair),
    Ecdsa(EcdsaKeyPair, &'static str, &'static str),
}

/// A private key of an issuer.
pub(crate) struct Signer {
    id: String,
    pair: Pair,
}

impl Signer {
    pub(crate) fn ed25519(id: &str) -> Signer {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Pair::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap());
        Signer { id: id.to_owned(), pair }
    }

    pub(crate) fn p256(id: &str) -> Signer {
        Signer::ecdsa(id, &ECDSA_P256_SHA256_FIXED_SIGNING, ("P-256", "ES256"))
    }

    pub(crate) fn p384(id: &str) -> Signer {
        Signer::ecdsa(id, &ECDSA_P384_SHA384_FIXED_SIGNING, ("P-384", "ES384"))
    }

    fn ecdsa(id: &str, kind: &'static EcdsaSigningAlgorithm, (curve, word): (&'static str, &'static str)) -> Signer {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(kind, document.as_ref(), &random).unwrap();
        Signer { id: id.to_owned(), pair: Pair::Ecdsa(pair, curve, word) }
    }

    /// Returns a token with these claims.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        let word = match &self.pair {
            Pair::Ed25519(_) => "EdDSA",
            Pair::Ecdsa(_, _, word) => word,
        };
        self.sign_as(&json!({ "alg": word, "kid": self.id, "typ": "JWT" }), claims)
    }

    /// Returns a token with this head.
    pub(crate) fn sign_as(&self, head: &Value, claims: &Value) -> String {
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(head), encode(claims));
        let signature = match &self.pair {
            Pair::Ed25519(pair) => pair.sign(signed.as_bytes()).as_ref().to_vec(),
            Pair::Ecdsa(pair, ..) => pair.sign(&SystemRandom::new(), signed.as_bytes()).unwrap().as_ref().to_vec(),
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// Returns the public key as issuers publish it.
    fn published(&self) -> Value {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match &self.pair {
            Pair::Ed25519(pair) => {
                let x = encode(pair.public_key().as_ref());
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": self.id, "use": "sig", "x": x })
            }
            Pair::Ecdsa(pair, curve, word) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(pair.public_key().as_ref().len() / 2);
                json!({ "kty": "EC", "crv": curve, "kid": self.id, "alg": word, "x": encode(x), "y": encode(y) })
            }
        }
    }
}

#[derive(Default)]
struct State {
    keys: Mutex<Vec<Value>>,
    fetched: AtomicUsize,
    is_away: AtomicBool,
}

/// An issuer that publishes its keys, and counts how often they are fetched.
pub(crate) struct FakeIssuer {
    pub(crate) url: String,
    state: Arc<State>,
}

impl FakeIssuer {
    pub(crate) async fn start(signer: &Signer) -> FakeIssuer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<State>::default();
        let issuer = FakeIssuer { url: url.clone(), state: state.clone() };
        issuer.publish(&[signer]);
        let described = state.clone();
        let description = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") });
        let describe = move || async move {
            let is_away = described.is_away.load(Ordering::Relaxed);
            if is_away { Err(StatusCode::BAD_GATEWAY) } else { Ok(Json(description)) }
        };
        let keys = move || async move {
            state.fetched.fetch_add(1, Ordering::Relaxed);
            // Keys of other kinds and for other purposes stand beside them.
            let mut keys = vec![json!({ "kty": "oct", "k": "c2VjcmV0" }), json!({ "kty": "RSA", "use": "enc" })];
            keys.extend(state.keys.lock().unwrap().clone());
            Json(json!({ "keys": keys }))
        };
        let router = Router::new().route("/.well-known/openid-configuration", get(describe)).route("/keys", get(keys));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        issuer
    }

    pub(crate) fn publish(&self, signers: &[&Signer]) {
        *self.state.keys.lock().unwrap() = signers.iter().map(|signer| signer.published()).collect();
    }

    /// Answers nothing from now on.
    pub(crate) fn leave(&self) {
        self.state.is_away.store(true, Ordering::Relaxed);
    }

    /// Returns how often the keys were fetched.
    pub(crate) fn fetched(&self) -> usize {
        self.state.fetched.load(Ordering::Relaxed)
    }
}
