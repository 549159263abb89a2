//! Links between nodes of one process: channels in place of sockets.

use std::sync::Arc;

use consort_log::cluster::Membership;
use consort_runtime::engine::Engine;
use consort_runtime::links::Peer;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::sim::Way;

/// Messages on their way over a link.
const BUFFER: usize = 64;

/// Joins two nodes by a link; it ends when its tasks are dropped.
pub(crate) fn join([one, other]: [(&Engine, &Arc<Way>); 2]) -> JoinSet<()> {
    let (to_other, from_one) = mpsc::channel(BUFFER);
    let (to_one, from_other) = mpsc::channel(BUFFER);
    let mut ends = JoinSet::new();
    for (here, there, incoming, outgoing) in [(one, other, from_other, to_other), (other, one, from_one, to_one)] {
        let peer = Peer { node: there.1.id(), incoming: heard(incoming), outgoing };
        let engine = here.0.clone();
        ends.spawn(async move { engine.talk_to(peer).await });
    }
    ends
}

fn heard(receiver: mpsc::Receiver<String>) -> BoxStream<'static, String> {
    stream::unfold(receiver, |mut receiver| async { receiver.recv().await.map(|text| (text, receiver)) }).boxed()
}
