//! The public keys of an issuer, as it publishes them, and the algorithms that are
//! allowed. `none` and algorithms with a shared secret are not among them: anybody
//! who knows a public key could sign with it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;

/// The maximum number of keys of an issuer; the rest of a longer list is not read.
const KEYS_MAX: usize = 100;

/// An algorithm that tokens may be signed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

impl Algorithm {
    const ALL: [(&'static str, Algorithm); 9] = [
        ("RS256", Algorithm::Rs256),
        ("RS384", Algorithm::Rs384),
        ("RS512", Algorithm::Rs512),
        ("PS256", Algorithm::Ps256),
        ("PS384", Algorithm::Ps384),
        ("PS512", Algorithm::Ps512),
        ("ES256", Algorithm::Es256),
        ("ES384", Algorithm::Es384),
        ("EdDSA", Algorithm::EdDsa),
    ];
    /// The algorithms, for messages.
    pub(crate) const WORDS: &'static str = "RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384 and EdDSA are";

    /// Returns the algorithm of this name.
    pub(crate) fn parse(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|(word, _)| *word == name).map(|(_, algorithm)| algorithm)
    }
}

/// The part of a published key that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// A key of an issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicKey {
    id: Option<String>,
    /// The only algorithm that it may be used with, where the issuer says so.
    only: Option<Algorithm>,
    material: Material,
}

/// All usable keys of an issuer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PublicKeys(Vec<PublicKey>);

/// A key as issuers publish it (RFC 7517).
#[derive(Deserialize)]
struct Published {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl PublicKeys {
    /// Reads a key set; keys of other kinds and for other purposes are left out. `None` if it is none.
    pub(crate) fn read(set: &Value) -> Option<PublicKeys> {
        let listed = set.get("keys")?.as_array()?;
        let published = listed.iter().take(KEYS_MAX).filter_map(|key| Published::deserialize(key).ok());
        Some(PublicKeys(published.filter_map(PublicKey::new).collect()))
    }

    /// Returns whether there is a key with this id.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|key| key.id.as_deref() == Some(id))
    }

    /// Returns whether there is no key at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the keys that may have signed with this algorithm: those with the id, if one is named.
    pub(crate) fn fitting(&self, id: Option<&str>, algorithm: Algorithm) -> impl Iterator<Item = &PublicKey> {
        let has_id = move |key: &&PublicKey| id.is_none() || key.id.as_deref() == id;
        self.0.iter().filter(has_id).filter(move |key| key.fits(algorithm))
    }
}

impl PublicKey {
    fn new(published: Published) -> Option<PublicKey> {
        if published.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let bytes = |part: &Option<String>| URL_SAFE_NO_PAD.decode(part.as_deref()?).ok();
        // An uncompressed point, as the verification takes it.
        let point = || Some([vec![4], bytes(&published.x)?, bytes(&published.y)?].concat());
        let material = match (published.kty.as_str(), published.crv.as_deref()) {
            ("RSA", _) => Material::Rsa { n: bytes(&published.n)?, e: bytes(&published.e)? },
            ("EC", Some("P-256")) => Material::P256(point()?),
            ("EC", Some("P-384")) => Material::P384(point()?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(bytes(&published.x)?),
            _ => return None,
        };
        let only = match published.alg.as_deref() {
            None => None,
            Some(word) => Some(Algorithm::parse(word)?),
        };
        Some(PublicKey { id: published.kid, only, material })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        let is_of_kind = match &self.material {
            Material::Rsa { .. } => matches!(
                algorithm,
                Algorithm::Rs256
                    | Algorithm::Rs384
                    | Algorithm::Rs512
                    | Algorithm::Ps256
                    | Algorithm::Ps384
                    | Algorithm::Ps512
            ),
            Material::P256(_) => algorithm == Algorithm::Es256,
            Material::P384(_) => algorithm == Algorithm::Es384,
            Material::Ed25519(_) => algorithm == Algorithm::EdDsa,
        };
        is_of_kind && self.only.is_none_or(|only| only == algorithm)
    }

    /// Returns whether this key signed the message.
    pub(crate) fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let rsa = match algorithm {
            Algorithm::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Algorithm::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Algorithm::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Algorithm::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
            Algorithm::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
            Algorithm::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
            Algorithm::Es256 => return self.is_signed(&signature::ECDSA_P256_SHA256_FIXED, message, signature),
            Algorithm::Es384 => return self.is_signed(&signature::ECDSA_P384_SHA384_FIXED, message, signature),
            Algorithm::EdDsa => return self.is_signed(&signature::ED25519, message, signature),
        };
        let Material::Rsa { n, e } = &self.material else { return false };
        RsaPublicKeyComponents { n, e }.verify(rsa, message, signature).is_ok()
    }

    fn is_signed(
        &self,
        algorithm: &'static dyn signature::VerificationAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let (Material::P256(key) | Material::P384(key) | Material::Ed25519(key)) = &self.material else {
            return false;
        };
        UnparsedPublicKey::new(algorithm, key).verify(message, signature).is_ok()
    }
}
