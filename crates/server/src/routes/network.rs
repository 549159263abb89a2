//! `GET /api/network`: the other ensembles, and what they share.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use consort_core::time::iso;
use consort_net::Gone;
use consort_net::network::{PeerView, RequestView};
use serde_json::{Value, json};

use crate::Site;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/network", get(network))
}

async fn network(State(site): State<Arc<Site>>) -> Json<Value> {
    let network = &site.server.network;
    let about = network.introduction();
    let peers: Vec<Value> = network.peers().iter().map(peer).collect();
    let gone: Vec<Value> = network.gone().iter().map(gone).collect();
    let capacity = network.capacity();
    let size = network.registry(|registry| registry.size());
    Json(json!({ "ensemble": about.ensemble, "realm": about.realm, "version": about.version,
        "leaseMs": about.lease_ms, "status": capacity.status, "currentLoad": capacity.current_load,
        "maxConcurrent": capacity.max_concurrent, "sharedCapabilities": about.shared_capabilities,
        "capabilities": size, "peers": peers, "gone": gone }))
}

fn peer(peer: &PeerView) -> Value {
    let hello = peer.hello.clone().unwrap_or_default();
    let mut view = json!({ "name": peer.name, "connected": peer.connected, "dialled": peer.dialled,
        "since": peer.since.map(iso), "ensemble": hello.ensemble,
        "realm": hello.realm, "version": hello.version, "error": peer.trouble,
        "status": peer.capacity.as_ref().map(|capacity| capacity.status),
        "currentLoad": peer.capacity.as_ref().map(|capacity| capacity.current_load),
        "maxConcurrent": peer.capacity.as_ref().map(|capacity| capacity.max_concurrent),
        "sharedCapabilities": hello.shared_capabilities,
        "requests": peer.requests.iter().map(request).collect::<Vec<_>>() });
    known(&mut view);
    view
}

fn gone(gone: &Gone) -> Value {
    let Gone { name, at, hello } = gone;
    let mut view = json!({ "name": name, "at": iso(*at), "ensemble": hello.ensemble, "realm": hello.realm,
        "version": hello.version, "sharedCapabilities": hello.shared_capabilities });
    known(&mut view);
    view
}

/// Leaves out what is not known.
fn known(view: &mut Value) {
    if let Value::Object(view) = view {
        view.retain(|_, value| !value.is_null());
    }
}

/// Something the peer was asked for, and how far it says it is.
fn request(request: &RequestView) -> Value {
    let mut view = json!({ "requestId": request.id, "capability": request.capability });
    if let (Value::Object(view), Some(progress)) = (&mut view, &request.progress) {
        let said = [("status", json!(progress.status)), ("message", json!(progress.message))];
        let said = said.into_iter().chain([("percentComplete", json!(progress.percent_complete))]);
        view.extend(said.filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)));
    }
    view
}
