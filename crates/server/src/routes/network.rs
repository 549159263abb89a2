//! `GET /api/network`: the other ensembles, and what they share.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use consort_net::network::PeerView;
use serde_json::{Value, json};

use crate::Site;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/network", get(network))
}

async fn network(State(site): State<Arc<Site>>) -> Json<Value> {
    let network = &site.server.network;
    let about = network.introduction();
    let peers: Vec<Value> = network.peers().iter().map(peer).collect();
    let size = network.registry(|registry| registry.size());
    Json(json!({ "ensemble": about.ensemble, "realm": about.realm, "version": about.version,
        "leaseMs": about.lease_ms, "sharedCapabilities": about.shared_capabilities, "capabilities": size,
        "peers": peers }))
}

fn peer(peer: &PeerView) -> Value {
    let hello = peer.hello.clone().unwrap_or_default();
    let mut view = json!({ "name": peer.name, "connected": peer.connected, "ensemble": hello.ensemble,
        "realm": hello.realm, "version": hello.version, "error": peer.trouble,
        "status": peer.capacity.as_ref().map(|capacity| capacity.status),
        "currentLoad": peer.capacity.as_ref().map(|capacity| capacity.current_load),
        "sharedCapabilities": hello.shared_capabilities });
    if let Value::Object(view) = &mut view {
        view.retain(|_, value| !value.is_null());
    }
    view
}
