//! The link between the tools of a server and its owner: whether
//! it is connected, and a way to ask the owner to check it.

use rmcp::{Peer, RoleClient};
use tokio::sync::{Notify, watch};

/// The link to one server.
pub(super) struct ServerLink {
    server: String,
    phase: watch::Sender<Phase>,
    look: Notify,
}

/// The state of a server's connection.
#[derive(Clone)]
pub(super) enum Phase {
    /// An attempt to connect is under way.
    Connecting,
    /// The server is connected.
    Up(Peer<RoleClient>),
    /// The server is not connected, for this reason; it is tried again later.
    Down(String),
}

impl ServerLink {
    pub(super) fn new(server: &str) -> ServerLink {
        ServerLink { server: server.to_owned(), phase: watch::Sender::new(Phase::Connecting), look: Notify::new() }
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    pub(super) fn set(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Returns when an attempt to connect has ended.
    pub(super) async fn settled(&self) {
        let mut phases = self.phase.subscribe();
        let _never_closed = phases.wait_for(|phase| !matches!(phase, Phase::Connecting)).await;
    }

    /// Returns the server, or the reason why it is not connected, after the attempt under way has ended.
    pub(super) async fn peer(&self) -> Result<Peer<RoleClient>, String> {
        let mut phases = self.phase.subscribe();
        let settled = phases.wait_for(|phase| match phase {
            Phase::Connecting => false,
            // The owner has not yet noticed that the connection is closed.
            Phase::Up(peer) => !peer.is_transport_closed(),
            Phase::Down(_) => true,
        });
        match settled.await.as_deref() {
            Ok(Phase::Up(peer)) => Ok(peer.clone()),
            Ok(Phase::Down(reason)) => Err(self.unreachable(reason)),
            Ok(Phase::Connecting) | Err(_) => Err(self.unreachable("it is being connected")),
        }
    }

    /// Returns the reason why the server cannot be used at the moment.
    pub(super) fn trouble(&self) -> Option<String> {
        match &*self.phase.borrow() {
            Phase::Up(peer) if peer.is_transport_closed() => Some(self.unreachable("the connection was lost")),
            Phase::Up(_) => None,
            Phase::Connecting => Some(self.unreachable("it is being connected")),
            Phase::Down(reason) => Some(self.unreachable(reason)),
        }
    }

    fn unreachable(&self, reason: &str) -> String {
        format!("the MCP server `{}` is not available: {reason}", self.server)
    }

    /// Reports something unexpected: the owner checks whether
    /// the server still answers and which tools it has now.
    pub(super) fn look_after(&self) {
        self.look.notify_one();
    }

    /// Returns when a check was requested.
    pub(super) async fn asked_to_look(&self) {
        self.look.notified().await;
    }
}
