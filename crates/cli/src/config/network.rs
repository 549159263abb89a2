//! `[network]`: how this ensemble appears to others, and who they are.

use std::time::Duration;

use consort_core::dynamic::is_plain;
use consort_net::network::Options;
use consort_net::serve::MAX_CONCURRENT;

use super::fields::Fields;
use super::secret::{Address, Secret};
use super::values::{address, at_least, duration, flag, secret, text};

/// The network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Network {
    /// What peers call this ensemble.
    pub(crate) name: String,
    /// The group of ensembles it belongs to, if any.
    pub(crate) realm: Option<String>,
    /// How often peers are told that it is there.
    pub(crate) lease: Duration,
    /// How many ensembles a request may pass through.
    pub(crate) max_hops: u32,
    /// Work for peers at the same time.
    pub(crate) max_concurrent: usize,
    /// Whether ensembles of other realms may use what is shared.
    pub(crate) shareable: bool,
    /// The peers, in the order of the file.
    pub(crate) peers: Vec<Peer>,
}

/// Another ensemble.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Peer {
    /// What it is called here.
    pub(crate) name: String,
    /// Where it listens.
    pub(crate) url: Address,
    /// The key it wants to see.
    pub(crate) key: Option<Secret>,
}

/// Reads `[network]`; without a name the ensemble's is used.
pub(super) fn read(fields: &mut Fields<'_>, ensemble: &str) -> Network {
    let usual = Options::new(ensemble);
    Network {
        name: fields.read("name", text).unwrap_or(usual.name),
        realm: fields.read("realm", text),
        lease: fields.read("lease", duration).unwrap_or(usual.lease),
        max_hops: fields.read("max_hops", at_least(1)).unwrap_or(usual.max_hops),
        max_concurrent: fields.read("max_concurrent", at_least(1)).unwrap_or(MAX_CONCURRENT),
        shareable: fields.read("shareable", flag).unwrap_or(usual.shareable),
        peers: fields.entries_or_text("peers", "url", peer),
    }
}

fn peer(name: &str, fields: &mut Fields<'_>) -> Peer {
    if !is_plain(name) {
        fields.mistake_here("the name of a peer has only letters, digits, `_` and `-`");
    }
    let url = fields.need("url", address(&["ws", "wss"])).unwrap_or_default();
    Peer { name: name.to_owned(), url, key: fields.read("key", secret) }
}
