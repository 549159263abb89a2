//! `GET /api/network`: the other ensembles, and their shared capabilities.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_core::frame::field::Iso;
use consort_core::spec::Kind;
use consort_net::DepartedPeer;
use consort_net::network::{PeerView, RequestView};
use consort_net::wire::{Availability, Capability, Hello};
use consort_runtime::engine::Engine;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Pass, Scope};
use crate::endpoint::{Endpoint, Tag, Whose, get};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/network", network)
            .named(Tag::Network, "network", "List the other ensembles, and what they share")
            .needs(Scope::Read, Whose::Shared)
            .answers::<Network>(StatusCode::OK, "This one and its peers."),
    ]
}

/// This ensemble and the others.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Network {
    ensemble: String,
    realm: Option<String>,
    version: String,
    lease_ms: u64,
    status: Availability,
    /// The part of its capacity for peers that is taken, from 0 to 1.
    current_load: f64,
    /// Its capacity: the number of requests of peers that it works on at the same time.
    max_concurrent: u64,
    shared_capabilities: Vec<Capability>,
    /// The number of capabilities that are known here.
    capabilities: usize,
    peers: Vec<Peer>,
    /// Ensembles that were here and went away, the newest first, at most 100.
    gone: Vec<GonePeer>,
}

/// Another ensemble.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Peer {
    name: String,
    connected: bool,
    /// Whether the link was opened from here.
    dialled: bool,
    /// When the link was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Iso>,
    #[serde(flatten)]
    about: About,
    /// The reason why there is no link, or the mistakes in the peer's description of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Availability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_load: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_concurrent: Option<u64>,
    /// The requests that it has not answered yet, at most 100.
    requests: Vec<PeerRequest>,
}

/// The description of an ensemble, as far as it is known.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct About {
    #[serde(skip_serializing_if = "Option::is_none")]
    ensemble: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    realm: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// The capabilities that it shares, or shared.
    shared_capabilities: Vec<Capability>,
}

/// An ensemble that went away.
#[derive(Serialize, JsonSchema)]
struct GonePeer {
    name: String,
    /// When it went away.
    at: Iso,
    #[serde(flatten)]
    about: About,
}

/// A request to a peer, and the progress that it reported.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PeerRequest {
    request_id: String,
    capability: String,
    /// As reported by the peer, like the fields below.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 100))]
    percent_complete: Option<u8>,
}

async fn network(
    State(site): State<Arc<Site>>,
    Extension(pass): Extension<Pass>,
    Extension(runs): Extension<Engine>,
) -> Json<Network> {
    let network = &site.server.network;
    let mut peers = Vec::new();
    for mut peer in network.peers() {
        if pass.has_key() {
            peer.requests = seen(&runs, peer.requests).await;
        }
        peers.push(described(peer));
    }
    let about = network.introduction();
    let capacity = network.capacity();
    Json(Network {
        ensemble: about.ensemble.unwrap_or_default(),
        realm: about.realm,
        version: about.version.unwrap_or_default(),
        lease_ms: about.lease_ms.unwrap_or_default(),
        status: capacity.status,
        current_load: capacity.current_load,
        max_concurrent: capacity.max_concurrent,
        shared_capabilities: about.shared_capabilities,
        capabilities: network.registry(|registry| registry.size()),
        peers,
        gone: network.departed().into_iter().map(gone).collect(),
    })
}

/// Returns the requests of runs that the caller sees. Those of chats are shown to no caller: they tell whose thread
/// is about what.
async fn seen(runs: &Engine, requests: Vec<RequestView>) -> Vec<RequestView> {
    let mut seen = Vec::new();
    for request in requests {
        // A request is named after the run and the call that it is made for.
        let run = request.id.split('/').next().unwrap_or_default();
        if runs.only(Kind::Run).sees(run).await || runs.only(Kind::Peer).sees(run).await {
            seen.push(request);
        }
    }
    seen
}

fn described(peer: PeerView) -> Peer {
    let PeerView { name, connected, since, dialled, trouble, hello, capacity, requests } = peer;
    let capacity = capacity.as_ref();
    Peer {
        name,
        connected,
        dialled,
        since: since.map(Iso),
        about: about(hello.unwrap_or_default()),
        error: trouble,
        status: capacity.map(|capacity| capacity.status),
        current_load: capacity.map(|capacity| capacity.current_load),
        max_concurrent: capacity.map(|capacity| capacity.max_concurrent),
        requests: requests.into_iter().map(request).collect(),
    }
}

fn gone(gone: DepartedPeer) -> GonePeer {
    GonePeer { name: gone.name.to_string(), at: Iso(gone.at), about: about(gone.hello) }
}

fn about(hello: Hello) -> About {
    let Hello { ensemble, realm, version, shared_capabilities, .. } = hello;
    About { ensemble, realm, version, shared_capabilities }
}

fn request(request: RequestView) -> PeerRequest {
    let said = request.progress;
    PeerRequest {
        request_id: request.id,
        capability: request.capability,
        status: said.as_ref().and_then(|said| said.status.clone()),
        message: said.as_ref().and_then(|said| said.message.clone()),
        percent_complete: said.and_then(|said| said.percent_complete),
    }
}
