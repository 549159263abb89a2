//! The network's side of a socket: frames of the peer go in, frames for the peer come
//! out. It ends with the session that owns it.

use consort_core::owner::Owner;
use consort_net::network::Network;
use consort_net::transport::{Closed, Connection};
use consort_net::wire::{Frame, Hello};
use futures::{StreamExt, future, sink, stream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Frames buffered between a socket and its link, in either direction; the faster side
/// waits.
const FRAMES_MAX: usize = 64;

/// A link over a socket.
pub(super) struct Link {
    said: mpsc::Sender<Frame>,
    told: mpsc::Receiver<String>,
    /// The name of the ensemble at the other end, if it is one.
    ensemble: Option<String>,
    _work: JoinSet<()>,
}

impl Link {
    /// Creates a link with another ensemble, whose work belongs to `by`.
    pub(super) fn with_peer(network: &Network, hello: Hello, by: Owner) -> Link {
        let network = network.clone();
        let ensemble = hello.ensemble.clone();
        Link { ensemble, ..Link::open(|connection| async move { network.accept(connection, hello, by).await }) }
    }

    /// Creates a link with a client that only requests work.
    pub(super) fn with_client(network: &Network, by: Owner) -> Link {
        let network = network.clone();
        Link::open(|connection| async move { network.attend(connection, by).await })
    }

    fn open<W>(work: impl FnOnce(Connection) -> W) -> Link
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let (said, heard) = mpsc::channel(FRAMES_MAX);
        let (tells, told) = mpsc::channel(FRAMES_MAX);
        let outgoing = sink::unfold(tells, |tells: mpsc::Sender<String>, text| async move {
            tells.send(text).await.map_err(|_gone| Closed)?;
            Ok(tells)
        });
        let incoming = stream::unfold(heard, |mut heard: mpsc::Receiver<Frame>| async move {
            let frame = heard.recv().await?;
            Some((frame, heard))
        });
        let mut task = JoinSet::new();
        task.spawn(work(Connection { outgoing: Box::pin(outgoing), incoming: incoming.boxed() }));
        Link { said, told, ensemble: None, _work: task }
    }

    /// Returns whether the ensemble that says this is at the other end.
    pub(super) fn is_with(&self, hello: &Hello) -> bool {
        self.ensemble == hello.ensemble
    }

    /// Passes on a frame of the peer; it is dropped when the link is over.
    pub(super) async fn say(&self, frame: Frame) {
        let _over = self.said.send(frame).await;
    }
}

/// Returns the next frame for the peer; `None` when its link is over. Without a link
/// it never returns.
pub(super) async fn told(link: &mut Option<Link>) -> Option<String> {
    match link {
        Some(link) => link.told.recv().await,
        None => future::pending().await,
    }
}
