//! `GET /api/cluster`: the nodes that share a store, of which one that is alone is the only one.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use consort_core::frame::field::Iso;
use consort_log::cluster;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::Scope;
use crate::endpoint::{Endpoint, Tag, Whose, get};
use consort_inbound::problem::{Code, Problem};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/cluster", nodes)
            .named(Tag::Server, "cluster", "List the nodes of the cluster")
            .needs(Scope::Admin, Whose::Shared)
            .answers::<Nodes>(StatusCode::OK, "The nodes, this one included.")
            .fails(&[Code::StorageUnavailable]),
    ]
}

/// The nodes that share a store.
#[derive(Serialize, JsonSchema)]
struct Nodes {
    nodes: Vec<Node>,
}

/// A node.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Node {
    /// Its name.
    name: String,
    /// The address at which it is reached.
    address: String,
    /// The version of its program.
    version: String,
    /// The time at which others take over its runs unless it renews its lease; null without a cluster.
    lease_until: Option<Iso>,
    /// Whether it is about to stop and begins nothing new.
    draining: bool,
    /// The number of its unfinished runs.
    runs: usize,
}

impl From<cluster::Node> for Node {
    fn from(cluster::Node { name, address, version, lease_until, draining, runs, .. }: cluster::Node) -> Node {
        Node { name, address, version, lease_until: lease_until.map(Iso), draining, runs }
    }
}

async fn nodes(State(site): State<Arc<Site>>) -> Result<Json<Nodes>, Problem> {
    let nodes = site.engine().nodes().await?.into_iter().map(Node::from).collect();
    Ok(Json(Nodes { nodes }))
}
