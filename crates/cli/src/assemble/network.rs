//! The network of a configuration: who is dialled, and what peers may use.

use std::sync::Arc;

use consort_core::compile::Catalog;
use consort_net::network::{Network, Options};
use consort_net::serve::Serve;
use consort_net::share::{Kitchen, Share, What};
use consort_net::transport::{Address, WebSockets};
use consort_runtime::engine::Engine;

use super::ensemble;
use crate::config::{Config, Peer, ShareKind};

/// The network, without links yet.
pub(crate) fn network(config: &Config) -> Network {
    let options = Options {
        name: config.network.name.clone(),
        realm: config.network.realm.clone(),
        lease: config.network.lease,
        max_hops: config.network.max_hops,
        shareable: config.network.shareable,
        peers: config.network.peers.iter().map(peer).collect(),
    };
    Network::new(options, Arc::new(WebSockets))
}

fn peer(peer: &Peer) -> (String, Address) {
    let key = peer.key.as_ref().map(|key| key.reveal().to_owned());
    (peer.name.clone(), Address { url: peer.url.as_str().to_owned(), key })
}

/// Lets peers use what the configuration shares.
pub(crate) fn offer(config: &Config, network: &Network, engine: &Engine, catalog: &Catalog) {
    let kitchen = Kitchen { ensemble: ensemble(config), catalog: catalog.clone(), shares: shares(config, catalog) };
    let serve = Serve::new(&config.network.name, kitchen, engine.clone(), config.network.max_concurrent);
    network.offer(Arc::new(serve));
}

/// What is shared; the configuration has been checked, so every target is there.
fn shares(config: &Config, catalog: &Catalog) -> Vec<Share> {
    let Some(template) = &config.template else { return Vec::new() };
    let tool = |name: &str| catalog.tools.iter().find(|tool| tool.name == name).cloned().map(What::Tool);
    let task = |name: &str| {
        let task = template.ensemble.tasks.iter().find(|task| task.name.as_deref() == Some(name));
        task.cloned().map(|task| What::Task(Box::new(task)))
    };
    let share = |share: &crate::config::Share| {
        let what = match share.kind {
            ShareKind::Tool => tool(&share.target),
            ShareKind::Task => task(&share.target),
        };
        what.map(|what| Share { name: share.name.clone(), tags: share.tags.clone(), what })
    };
    template.shares.iter().filter_map(share).collect()
}
