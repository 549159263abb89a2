//! `[server]`: the server's address, the clients that may connect, and its limits.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::choice::Choice;
use consort_core::owner::Owner;
use consort_core::spec::{OnTimeout, Review};
use consort_runtime::effects::CANCEL_GRACE;
use consort_runtime::engine::Quota;
use consort_server::access::{Key, Scope, Sees};
use consort_server::oidc;
use consort_server::ws::Sockets;
use consort_server::{DRAIN_TIMEOUT, MAX_ATTACHMENT_BYTES, MAX_BODY_BYTES};

use super::fields::Fields;
use super::typed::Typed;
use super::values::{Parsed, address, at_least, duration, duration_or_zero, text, usd, whole, word};

/// The server.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The address it binds to.
    pub host: String,
    /// The port; 0 = any free one.
    pub port: u16,
    /// The maximum number of runs at the same time.
    pub max_concurrent_runs: usize,
    /// The maximum number of runs that may wait.
    pub max_queued_runs: usize,
    /// The number of finished runs that are kept.
    pub max_retained_completed_runs: usize,
    /// The number of runs in the snapshot that a late client gets.
    pub max_retained_runs: usize,
    /// The number of iterations per task in that snapshot.
    pub max_snapshot_iterations: usize,
    /// The timeout of a review; zero = none.
    pub review_timeout: Duration,
    /// The action when a review times out, if it is set.
    pub on_timeout: Option<OnTimeout>,
    /// The folder of the workspace tools; without it there are none.
    pub workspace: Option<PathBuf>,
    /// The folder that traces are written to, if any.
    pub trace_dir: Option<PathBuf>,
    /// Origins of web pages, besides its own, that may send requests.
    pub allowed_origins: Vec<String>,
    /// The addresses of proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// The maximum number of bytes of a request's body.
    pub max_body_bytes: usize,
    /// The maximum number of bytes of an uploaded file.
    pub max_attachment_bytes: usize,
    /// The maximum number of bytes of a frame from a client.
    pub max_frame_bytes: usize,
    /// The time that running work may take to reach a safe point when draining.
    pub drain_timeout: Duration,
    /// The time that a tool that cannot be aborted may take after a cancel.
    pub cancel_grace: Duration,
    /// The keys that clients may connect with; empty lets in every program on this machine.
    pub api_keys: Vec<Key>,
    /// The quotas of owners.
    pub quotas: Vec<Quota>,
    /// The issuer whose tokens clients may connect with, if any.
    pub oidc: Option<oidc::Options>,
}

const SCOPES: &[(&str, Scope)] = &[
    ("read", Scope::Read),
    ("run", Scope::Run),
    ("review", Scope::Review),
    ("tools", Scope::Tools),
    ("peer", Scope::Peer),
    ("admin", Scope::Admin),
];

const SEES: &[(&str, Sees)] = &[("own", Sees::Own), ("all", Sees::All)];

impl Server {
    /// Returns true when other machines could connect without a key.
    pub fn is_open(&self) -> bool {
        self.is_public() && self.api_keys.is_empty() && self.oidc.is_none()
    }

    /// Returns true when other machines could connect.
    pub fn is_public(&self) -> bool {
        let loopback = match self.host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => self.host == "localhost",
        };
        !loopback
    }
}

/// Reads `[server]`.
pub(super) fn read(fields: &mut Fields<'_>) -> Server {
    let sockets = Sockets::default();
    Server {
        host: fields.read("host", text).unwrap_or_else(|| "127.0.0.1".to_owned()),
        port: fields.read("port", whole(0..=u16::MAX)).unwrap_or(7329),
        max_concurrent_runs: fields.read("max_concurrent_runs", at_least(1)).unwrap_or(5),
        max_queued_runs: fields.read("max_queued_runs", at_least(0)).unwrap_or(0),
        max_retained_completed_runs: fields.read("max_retained_completed_runs", at_least(1)).unwrap_or(100),
        max_retained_runs: fields.read("max_retained_runs", at_least(1)).unwrap_or(sockets.retained_runs),
        max_snapshot_iterations: fields
            .read("max_snapshot_iterations", at_least(0))
            .unwrap_or(sockets.snapshot_iterations),
        review_timeout: fields
            .read("review_timeout", duration_or_zero)
            .unwrap_or(Duration::from_millis(Review::default().timeout_ms)),
        on_timeout: fields.read("on_timeout", word(OnTimeout::WORDS)),
        workspace: fields.path("workspace"),
        trace_dir: fields.path("trace_dir"),
        allowed_origins: fields.each("allowed_origins", origin).unwrap_or_default(),
        trusted_proxies: fields.each("trusted_proxies", ip_address).unwrap_or_default(),
        max_body_bytes: fields.read("max_body_bytes", at_least(1024)).unwrap_or(MAX_BODY_BYTES),
        max_attachment_bytes: fields.read("max_attachment_bytes", at_least(1024)).unwrap_or(MAX_ATTACHMENT_BYTES),
        max_frame_bytes: fields.read("max_frame_bytes", at_least(1024)).unwrap_or(sockets.max_frame_bytes),
        drain_timeout: fields.read("drain_timeout", duration).unwrap_or(DRAIN_TIMEOUT),
        cancel_grace: fields.read("cancel_grace", duration_or_zero).unwrap_or(CANCEL_GRACE),
        api_keys: fields.tables("api_key", api_key),
        quotas: fields.tables("quota", quota),
        oidc: fields.table("oidc", sign_on).flatten(),
    }
}

fn api_key(fields: &mut Fields<'_>) -> Key {
    let name = fields.need("name", text);
    let named = fields.read("owner", owner);
    let owner = match (named, &name) {
        (Some(owner), _) => owner,
        (None, Some(name)) => Owner::named(name).unwrap_or_else(|reason| {
            fields.mistake("name", format!("{reason}, or add an `owner`"));
            Owner::local()
        }),
        (None, None) => Owner::local(),
    };
    Key {
        name: name.unwrap_or_default(),
        sha256: fields.need("key_sha256", sha256).unwrap_or_default(),
        scopes: fields.each("scopes", word(SCOPES)).unwrap_or_else(|| vec![Scope::Read, Scope::Run]),
        owner,
        sees: fields.read("sees", word(SEES)).unwrap_or_default(),
    }
}

/// Reads one `[[server.quota]]`.
fn quota(fields: &mut Fields<'_>) -> Quota {
    let owner = fields.need("owner", text);
    let max_concurrent_runs = fields.read("max_concurrent_runs", at_least(1));
    let max_cost_per_day = fields.read("max_cost_usd_per_day", usd);
    if max_concurrent_runs.is_none() && max_cost_per_day.is_none() {
        fields.mistake_here("limits nothing: add `max_concurrent_runs` or `max_cost_usd_per_day`");
    }
    let owner = owner.filter(|owner| owner != "*").map(|owner| Owner::stored(&owner));
    Quota { owner, max_concurrent_runs, max_cost_per_day }
}

/// Reads `[server.oidc]`.
fn sign_on(fields: &mut Fields<'_>) -> Option<oidc::Options> {
    let issuer = fields.need("issuer", issuer);
    let audience = fields.need("audience", text);
    let owner_claim = fields.read("owner_claim", text);
    let scopes_claim = fields.read("scopes_claim", text);
    let usual = oidc::Options::new(&issuer?, &audience?).ok()?;
    Some(oidc::Options {
        owner_claim: owner_claim.unwrap_or(usual.owner_claim),
        scopes_claim: scopes_claim.unwrap_or(usual.scopes_claim),
        ..usual
    })
}

fn issuer(value: &Typed) -> Parsed<String> {
    let issuer = text(value)?;
    oidc::Options::new(&issuer, "").map(|options| options.issuer)
}

/// Reads the name of an owner of runs.
pub(super) fn owner(value: &Typed) -> Parsed<Owner> {
    Owner::named(&text(value)?)
}

fn sha256(value: &Typed) -> Parsed<[u8; 32]> {
    let wrong = || "must be a SHA-256 in 64 hexadecimal digits".to_owned();
    let digits: Vec<u32> = text(value)?.chars().map(|c| c.to_digit(16)).collect::<Option<_>>().ok_or_else(wrong)?;
    let byte = |pair: &[u32]| pair.iter().fold(0, |byte, digit| byte * 16 + digit);
    let bytes: Result<Vec<u8>, _> = digits.chunks(2).map(|pair| u8::try_from(byte(pair))).collect();
    match bytes {
        Ok(bytes) if digits.len() == 64 => bytes.try_into().map_err(|_| wrong()),
        Ok(_) | Err(_) => Err(wrong()),
    }
}

fn ip_address(value: &Typed) -> Parsed<IpAddr> {
    let wrong = |_| "must be an IP address such as \"10.0.0.1\" or \"::1\", without a port".to_owned();
    text(value)?.parse().map_err(wrong)
}

fn origin(value: &Typed) -> Parsed<String> {
    let address = address(&["http", "https"])(value)?;
    let origin = url::Url::parse(address.as_str()).map(|url| url.origin().ascii_serialization());
    origin.ok().filter(|origin| origin == address.as_str()).ok_or_else(|| {
        "must be an origin such as \"https://example.org\": no path, no slash at the end, no default port".to_owned()
    })
}
