//! `[network]`: this ensemble's identity on the network, its peers, and the A2A agents that it uses like them.

use consort_core::dynamic::is_plain;
use consort_net::AgentAddress;
use consort_net::network::Options;
use consort_net::serve::MAX_CONCURRENT;
use consort_net::transport::Address;

use super::fields::Fields;
use super::values::{address, at_least, duration, flag, text};

/// The network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The name of this ensemble for others, and its peers.
    pub options: Options,
    /// The maximum number of requests of peers at the same time.
    pub max_concurrent: usize,
}

/// Reads `[network]`; without a name the ensemble's is used.
pub(super) fn read(fields: &mut Fields<'_>, ensemble: &str) -> Network {
    let usual = Options::new(ensemble);
    let peers = fields.entries_or_text("peers", "url", peer);
    let agents = fields.entries("a2a", |name, fields| agent(name, fields, &peers));
    let options = Options {
        name: fields.read("name", text).unwrap_or(usual.name),
        realm: fields.read("realm", text),
        lease: fields.read("lease", duration).unwrap_or(usual.lease),
        max_hops: fields.read("max_hops", at_least(1)).unwrap_or(usual.max_hops),
        shareable: fields.read("shareable", flag).unwrap_or(usual.shareable),
        peers,
        agents,
    };
    Network { options, max_concurrent: fields.read("max_concurrent", at_least(1)).unwrap_or(MAX_CONCURRENT) }
}

fn peer(name: &str, fields: &mut Fields<'_>) -> (String, Address) {
    if !is_plain(name) {
        fields.mistake_here("the name of a peer has only letters, digits, `_` and `-`");
    }
    let url = fields.need("url", address(&["ws", "wss"])).unwrap_or_default();
    (name.to_owned(), Address { url, key: fields.read("key", text) })
}

fn agent(name: &str, fields: &mut Fields<'_>, peers: &[(String, Address)]) -> (String, AgentAddress) {
    if peers.iter().any(|(peer, _)| peer.eq_ignore_ascii_case(name)) {
        fields.mistake_here("a peer has this name already");
    }
    if !is_plain(name) {
        fields.mistake_here("the name of an agent has only letters, digits, `_` and `-`");
    }
    let url = fields.need("url", address(&["http", "https"])).unwrap_or_default();
    (name.to_owned(), AgentAddress { url, key: fields.read("key", text) })
}
