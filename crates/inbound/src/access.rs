//! Access control: the clients that may connect, and their identity. A server that
//! listens on loopback accepts only requests that a local program or page can have
//! sent; any other server needs keys.

use std::hint::black_box;
use std::net::IpAddr;
use std::time::SystemTime;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, SEC_WEBSOCKET_PROTOCOL};
use axum::http::uri::Authority;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use consort_core::owner::{Owner, Sight};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};
use strum::IntoStaticStr;
use url::{Host, Url};

use crate::oidc::{Issuer, Unidentified};
use crate::problem::{Code, Problem};

/// The time after which a request may succeed whose token could not be checked.
const ISSUER_RETRY_MS: u64 = 60_000;

/// The clients that may connect.
#[derive(Clone, Debug)]
pub struct Access {
    /// The machines that can reach the server at all.
    pub reach: Reach,
    /// Origins of web pages, besides the server's own, that may send requests.
    pub origins: Vec<String>,
    /// The keys that clients may connect with; empty lets in every program on this machine.
    pub keys: Vec<Key>,
    /// The issuer whose tokens clients may connect with, if any.
    pub issuer: Option<Issuer>,
}

/// The reason why a server refuses to run without keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKeys {
    /// Other machines could connect.
    #[error("other machines could connect without a key")]
    Network,
    /// The server had keys before.
    #[error("a server that has keys does not go on without any: start it again to do so")]
    HadSome,
}

/// The reason why a request may not talk to a server at all, whatever its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// It was meant for another host.
    #[error("this server answers only requests for this machine: the Host header must name it")]
    Host,
    /// A page of an origin that is not allowed sent it.
    #[error("pages of this origin may not talk to this server")]
    Origin,
}

/// The machines that can reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Programs on this machine.
    Loopback,
    /// Other machines too.
    Network,
}

impl Reach {
    /// Returns the reach of a server that listens on this address.
    pub fn of(address: IpAddr) -> Reach {
        if address.is_loopback() { Reach::Loopback } else { Reach::Network }
    }
}

/// A key that a client may connect with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The name of the client that owns the key.
    pub name: String,
    /// The SHA-256 of the key.
    pub sha256: [u8; 32],
    /// The scopes that the key grants.
    pub scopes: Vec<Scope>,
    /// The owner of the runs that are begun with it.
    pub owner: Owner,
    /// The runs that its scopes extend to.
    pub sees: Sees,
}

/// The runs that the scopes of a key extend to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sees {
    /// Those of the key's owner.
    #[default]
    Own,
    /// Those of all owners.
    All,
}

impl Key {
    /// Creates a key whose runs are its own; only its SHA-256 is kept. The error says why its name cannot be that of
    /// an owner.
    pub fn new(name: &str, key: &str, scopes: &[Scope]) -> Result<Key, String> {
        Ok(Key::of(Owner::named(name)?, (name, key), scopes))
    }

    /// Returns the hash by which a key is known.
    pub fn hash(key: &str) -> [u8; 32] {
        Sha256::digest(key).into()
    }

    /// Creates a key whose runs belong to this owner.
    pub fn of(owner: Owner, (name, key): (&str, &str), scopes: &[Scope]) -> Key {
        let name = name.to_owned();
        let sha256 = Key::hash(key);
        Key { name, sha256, scopes: scopes.to_vec(), owner, sees: Sees::Own }
    }

    /// Returns the runs that the key sees: with `admin` those of all owners.
    fn sight(&self) -> Sight {
        match self.sees {
            Sees::Own if !self.scopes.contains(&Scope::Admin) => Sight::Own(self.owner.clone()),
            Sees::Own | Sees::All => Sight::All(self.owner.clone()),
        }
    }
}

/// A permission that a key grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "KeyScope")]
#[strum(serialize_all = "snake_case")]
pub enum Scope {
    /// To read; included in every other scope.
    Read,
    /// To start and steer runs, and to chat.
    Run,
    /// To decide reviews and approvals.
    Review,
    /// To call tools directly.
    Tools,
    /// To link ensembles.
    Peer,
    /// Everything.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Scope; 6] = [Scope::Read, Scope::Run, Scope::Review, Scope::Tools, Scope::Peer, Scope::Admin];

    /// Returns the word for the scope.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// The name of the client that sent a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller(pub String);

/// The identity of a client, and its scopes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The name of the client.
    pub caller: Caller,
    /// The runs that it sees.
    pub sight: Sight,
    scopes: Vec<Scope>,
    proof: Proof,
}

/// The proof of identity that a client sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// None, where none is needed.
    Nothing,
    /// A key, known by its SHA-256.
    Key([u8; 32]),
    /// A token of the issuer, which is accepted until this time.
    Token(SystemTime),
}

impl Pass {
    /// Returns true for a client that sent a key or a token.
    pub fn has_key(&self) -> bool {
        self.proof != Proof::Nothing
    }

    /// Returns the time until which it is honoured, where it ends by itself.
    pub fn until(&self) -> Option<SystemTime> {
        match self.proof {
            Proof::Token(until) => Some(until),
            Proof::Nothing | Proof::Key(_) => None,
        }
    }

    /// Returns its scopes.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Returns whether this is another ensemble, which is shown no runs: its key may link ensembles and nothing else.
    pub fn is_peer(&self) -> bool {
        self.scopes.contains(&Scope::Peer) && self.scopes.iter().all(|scope| [Scope::Read, Scope::Peer].contains(scope))
    }

    /// Returns an error unless the scope is granted.
    pub fn check(&self, needed: Scope) -> Result<(), Problem> {
        if needed == Scope::Read || self.scopes.iter().any(|scope| *scope == needed || *scope == Scope::Admin) {
            return Ok(());
        }
        let Caller(name) = &self.caller;
        let needed = needed.word();
        Err(forbidden(&match self.proof {
            Proof::Key(_) => format!("the key '{name}' does not allow this: it needs the scope `{needed}`"),
            Proof::Token(_) => format!("the token does not allow this: it needs the scope `{needed}`"),
            Proof::Nothing => format!("this is only for this machine, or with a key that has the scope `{needed}`"),
        }))
    }
}

/// A client that opens a socket. Its key may also come in its first frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketClient {
    /// The client sent a valid key, or no key is needed.
    Known(Pass),
    /// The client has not sent a key yet.
    Unknown,
}

impl Access {
    /// Returns whether other machines could connect and nothing would stop them.
    pub fn is_open(&self) -> bool {
        self.reach == Reach::Network && self.lets_in_everybody()
    }

    /// Returns whether a client needs neither a key nor a token.
    fn lets_in_everybody(&self) -> bool {
        self.keys.is_empty() && self.issuer.is_none()
    }

    /// Returns the same access with other keys. A server that has keys refuses an empty
    /// list: it would let everyone in, which must not happen because a line of a file was
    /// left out.
    pub fn with_keys(&self, keys: Vec<Key>) -> Result<Access, NoKeys> {
        let changed = Access { keys, ..self.clone() };
        if changed.is_open() {
            return Err(NoKeys::Network);
        }
        if changed.lets_in_everybody() && !self.keys.is_empty() { Err(NoKeys::HadSome) } else { Ok(changed) }
    }

    /// Checks the host and the origin of a request: the page that made it, if any, must be
    /// allowed to talk to this server.
    pub fn check_source(&self, headers: &HeaderMap) -> Result<(), Foreign> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if self.reach == Reach::Loopback && !is_loopback_host(host) {
            return Err(Foreign::Host);
        }
        match headers.get(ORIGIN) {
            None => Ok(()),
            Some(origin) if origin.to_str().is_ok_and(|origin| self.allows_origin(origin, host)) => Ok(()),
            Some(_) => Err(Foreign::Origin),
        }
    }

    fn allows_origin(&self, origin: &str, host: &str) -> bool {
        let own = || match self.reach {
            Reach::Loopback => Url::parse(origin).ok().and_then(|url| url.host().map(is_loopback)).unwrap_or(false),
            Reach::Network => {
                origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
            }
        };
        self.origins.iter().any(|listed| listed == origin) || own()
    }

    /// Returns the pass of the client that sends this request, if it is allowed.
    pub fn admit(&self, needed: Scope, headers: &HeaderMap) -> Result<Pass, Problem> {
        let pass = self.pass(bearer(headers))?;
        pass.check(needed)?;
        Ok(pass)
    }

    /// Returns whether a request carries a valid key.
    pub fn knows(&self, headers: &HeaderMap) -> bool {
        let offered = protocol_key(headers);
        self.pass(bearer(headers).or(offered.as_deref())).is_ok_and(|pass| pass.has_key())
    }

    /// Returns whether a client that was let in would still be let in, as the same and with the same scopes.
    pub fn honours(&self, pass: &Pass) -> bool {
        let shown = match &pass.proof {
            Proof::Nothing => return self.lets_in_everybody(),
            // Its end comes with the time, not with a change of access.
            Proof::Token(_) => return self.issuer.is_some(),
            Proof::Key(shown) => shown,
        };
        let key = self.keys.iter().find(|key| key.sha256 == *shown);
        key.is_some_and(|key| {
            let same = key.name == pass.caller.0 && key.sight() == pass.sight;
            same && pass.scopes.iter().all(|scope| key.scopes.contains(scope))
        })
    }

    /// Returns the identity of a client that opens a socket. Browsers cannot send a header
    /// there, so the key may also be one of the subprotocols they offer.
    pub fn socket_client(&self, headers: &HeaderMap) -> Result<SocketClient, Problem> {
        let offered = protocol_key(headers);
        match bearer(headers).or(offered.as_deref()) {
            None if !self.lets_in_everybody() => Ok(SocketClient::Unknown),
            key => self.pass(key).map(SocketClient::Known),
        }
    }

    /// Returns the scopes of clients when there are no keys: admin only on loopback.
    fn scopes_without_keys(&self) -> Vec<Scope> {
        match self.reach {
            Reach::Loopback => Scope::ALL.to_vec(),
            Reach::Network => Scope::ALL.into_iter().filter(|scope| *scope != Scope::Admin).collect(),
        }
    }

    /// Fetches the keys of the issuer where the token of a request needs them.
    pub fn prepare_for(&self, headers: &HeaderMap) -> impl Future<Output = ()> + Send + 'static {
        let offered = bearer(headers).map(str::to_owned).or_else(|| protocol_key(headers));
        self.prepare_for_key(offered)
    }

    /// Fetches the keys of the issuer where this token needs them.
    pub fn prepare_for_key(&self, key: Option<String>) -> impl Future<Output = ()> + Send + 'static {
        let wanted = self.issuer.clone().zip(key.filter(|key| Issuer::is_token(key)));
        async move {
            if let Some((issuer, token)) = wanted {
                issuer.prepare_for(&token).await;
            }
        }
    }

    /// Returns the pass of the owner of this key or token; where neither is needed everyone gets one.
    pub fn pass(&self, key: Option<&str>) -> Result<Pass, Problem> {
        if self.lets_in_everybody() {
            let owner = Owner::local();
            let scopes = self.scopes_without_keys();
            let sight = Sight::All(owner.clone());
            return Ok(Pass { caller: Caller(owner.to_string()), sight, scopes, proof: Proof::Nothing });
        }
        let unknown = || Problem::new(Code::Unauthorized, "send a key as `Authorization: Bearer …`");
        let shown = key.ok_or_else(unknown)?;
        let digest: [u8; 32] = Sha256::digest(shown.as_bytes()).into();
        // Every key is compared, so that the time taken reveals nothing.
        let found =
            self.keys.iter().fold(None, |found, key| if same(&key.sha256, &digest) { Some(key) } else { found });
        match (found, &self.issuer) {
            (Some(key), _) => {
                let caller = Caller(key.name.clone());
                let sight = key.sight();
                let scopes = key.scopes.clone();
                Ok(Pass { caller, sight, scopes, proof: Proof::Key(digest) })
            }
            (None, Some(issuer)) if Issuer::is_token(shown) => signed_on(issuer, shown),
            (None, _) => Err(unknown()),
        }
    }
}

/// Returns the pass of the client that a token identifies.
fn signed_on(issuer: &Issuer, token: &str) -> Result<Pass, Problem> {
    let identity = issuer.identify(token, SystemTime::now()).map_err(|unidentified| match unidentified {
        Unidentified::Invalid(reason) => Problem::new(Code::Unauthorized, format!("the token is not valid: {reason}")),
        Unidentified::NoKeys => {
            let message = "the issuer of tokens cannot be reached, so none can be checked";
            Problem::new(Code::Unavailable, message).retried_after(ISSUER_RETRY_MS)
        }
    })?;
    if identity.scopes.is_empty() {
        let words = Scope::ALL.map(Scope::word).join(", ");
        let claim = issuer.scopes_claim();
        return Err(forbidden(&format!("the token names no scope in its claim `{claim}`: {words} are known")));
    }
    let sight = match identity.scopes.contains(&Scope::Admin) {
        true => Sight::All(identity.owner),
        false => Sight::Own(identity.owner),
    };
    let proof = Proof::Token(identity.until);
    Ok(Pass { caller: Caller(identity.name), sight, scopes: identity.scopes, proof })
}

fn forbidden(message: &str) -> Problem {
    Problem::new(Code::Forbidden, message)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, key) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
}

/// Returns the key among the subprotocols that a socket offers: `key.` followed by
/// base64url.
fn protocol_key(headers: &HeaderMap) -> Option<String> {
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter().filter_map(|value| value.to_str().ok());
    let encoded = offered.flat_map(|value| value.split(',')).find_map(|one| one.trim().strip_prefix("key."))?;
    let decoded = URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')).ok();
    // A key that cannot be decoded counts as an unknown key.
    Some(decoded.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default())
}

/// Compares in constant time, wherever the difference is.
fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let different = one.iter().zip(other).fold(0, |bits, (one, other)| black_box(bits | (one ^ other)));
    black_box(different) == 0
}

fn is_loopback_host(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(|_| name.eq_ignore_ascii_case("localhost"), |address| address.is_loopback())
}

fn is_loopback(host: Host<&str>) -> bool {
    match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    fn access(reach: Reach, keys: Vec<Key>) -> Access {
        Access { reach, origins: vec!["https://board.example".to_owned()], keys, issuer: None }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn on_loopback_only_local_hosts_and_local_or_listed_pages_get_in() {
        let access = access(Reach::Loopback, Vec::new());
        let cases = [
            ("127.0.0.1:7329", None, true),
            ("LocalHost", None, true),
            ("[::1]:80", Some("http://localhost:5173"), true),
            ("127.0.0.1", Some("https://board.example"), true),
            ("evil.example", None, false),
            ("localhost.evil.example", None, false),
            ("localhost@evil.example", None, false),
            ("", None, false),
            ("localhost", Some("null"), false),
            ("localhost", Some("https://localhost.evil.example"), false),
            ("localhost", Some("https://board.example.evil"), false),
        ];
        for (host, origin, expected) in cases {
            let mut pairs = vec![("host", host)];
            pairs.extend(origin.map(|origin| ("origin", origin)));
            assert_eq!(access.check_source(&headers(&pairs)).is_ok(), expected, "{host} {origin:?}");
        }
    }

    #[test]
    fn elsewhere_a_page_must_be_the_servers_own_or_listed() {
        let access = access(Reach::Network, Vec::new());
        assert!(access.is_open());
        let from =
            |origin| access.check_source(&headers(&[("host", "consort.example:80"), ("origin", origin)])).is_ok();
        assert!(from("http://consort.example:80"));
        assert!(from("https://board.example"));
        assert!(!from("http://localhost"));
    }

    #[test]
    fn a_key_allows_its_scopes_and_reading_and_nothing_else() {
        let key = |name: &str, scope| Key::new(name, name, &[scope]).unwrap();
        let keys = vec![key("ci", Scope::Run), key("boss", Scope::Admin), key("eye", Scope::Review)];
        let access = access(Reach::Loopback, keys);
        let status = |key: &str, needed: Scope| {
            let headers = headers(&[("authorization", &format!("Bearer {key}"))]);
            access.admit(needed, &headers).map(|pass| pass.caller).map_err(|problem| problem.status())
        };
        assert_eq!(status("ci", Scope::Run).unwrap(), Caller("ci".to_owned()));
        assert_eq!(status("eye", Scope::Read).unwrap(), Caller("eye".to_owned()));
        assert_eq!(status("eye", Scope::Review).unwrap(), Caller("eye".to_owned()));
        assert_eq!(status("boss", Scope::Tools).unwrap(), Caller("boss".to_owned()));
        assert_eq!(status("ci", Scope::Review).unwrap_err(), StatusCode::FORBIDDEN);
        assert_eq!(status("ci", Scope::Tools).unwrap_err(), StatusCode::FORBIDDEN);
        assert_eq!(status("ci", Scope::Admin).unwrap_err(), StatusCode::FORBIDDEN);
        assert_eq!(status("nobody", Scope::Read).unwrap_err(), StatusCode::UNAUTHORIZED);
        assert!(access.admit(Scope::Read, &HeaderMap::new()).is_err());
    }

    #[test]
    fn a_server_that_has_keys_takes_others_and_never_none() {
        let key = |name: &str| Key::new(name, name, &[Scope::Run]).unwrap();
        let changed = |reach, from: &[Key], to: &[Key]| {
            access(reach, from.to_vec()).with_keys(to.to_vec()).map(|access| access.keys.len())
        };
        let one = [key("a")];
        let two = [key("b"), key("c")];
        for reach in [Reach::Loopback, Reach::Network] {
            assert_eq!(changed(reach, &one, &two), Ok(2));
        }
        assert_eq!(changed(Reach::Loopback, &one, &[]), Err(NoKeys::HadSome));
        assert_eq!(changed(Reach::Loopback, &[], &[]), Ok(0));
        assert_eq!(changed(Reach::Network, &one, &[]), Err(NoKeys::Network));
        assert_eq!(changed(Reach::Loopback, &[], &one), Ok(1), "keys may come later");
    }

    #[test]
    fn a_pass_is_honoured_while_its_key_is_there_with_all_it_allowed() {
        let key = |text: &str, scopes: &[Scope]| Key::new("ci", text, scopes).unwrap();
        let with = |keys: &[Key]| access(Reach::Loopback, keys.to_vec());
        let pass = with(&[key("a", &[Scope::Read, Scope::Run])]).pass(Some("a")).unwrap();
        assert!(with(&[key("a", &[Scope::Run, Scope::Review, Scope::Read])]).honours(&pass));
        assert!(!with(&[key("a", &[Scope::Read])]).honours(&pass), "a scope is gone");
        assert!(!with(&[key("b", &[Scope::Read, Scope::Run])]).honours(&pass), "another key of the same name");
        let moved = Key { owner: Owner::named("other").unwrap(), ..key("a", &[Scope::Read, Scope::Run]) };
        assert!(!with(&[moved]).honours(&pass), "it has another owner");
        let wider = Key { sees: Sees::All, ..key("a", &[Scope::Read, Scope::Run]) };
        assert!(!with(&[wider]).honours(&pass), "it sees other runs");
        assert!(!with(&[]).honours(&pass));
        let local = with(&[]).pass(None).unwrap();
        assert!(with(&[]).honours(&local) && !with(&[key("a", &[Scope::Run])]).honours(&local));
    }
}
