//! A server that listens. Runs are reached only over a handle that sees what the caller sees:
//! [`Site::runs`]. The engine that everything else is asked of sees none.

use std::sync::Arc;

use consort_core::compile::Catalog;
use consort_core::id::Millis;
use consort_core::own_tool::OwnTool;
use consort_core::owner::Sight;
use consort_core::spec::Kind;
use consort_runtime::engine::Engine;
use consort_runtime::workflows::Workflows;
use tokio::sync::{Notify, broadcast, watch};

use crate::access::Pass;
use crate::once::Keys;
use crate::{Server, Terms, ws};

/// Notices buffered for sockets that are busy: there are a few in a minute.
const NOTICES_MAX: usize = 64;

/// A server that listens.
pub(crate) struct Site {
    pub(crate) server: Server,
    /// The engine with the runs of all owners.
    runs: Engine,
    pub(crate) port: u16,
    /// Notified when a client asks the server to stop.
    pub(crate) drain: Notify,
    /// Closed when the server is about to stop: streams end then.
    pub(crate) open: watch::Receiver<()>,
    pub(crate) terms: Terms,
    /// A clone for every open stream.
    pub(crate) streams: Arc<()>,
    /// The idempotency keys that are in use at the moment.
    pub(crate) keys: Keys,
    /// Notices for sockets that concern no single run.
    pub(crate) notices: broadcast::Sender<ws::Notice>,
    /// The summaries of ended runs that late clients get.
    pub(crate) traces: ws::Traces,
    /// Watched by every socket, because sockets outlive the requests they began as.
    pub(crate) talking: watch::Sender<()>,
}

impl Site {
    pub(crate) fn new(server: Server, port: u16, open: watch::Receiver<()>, terms: Terms) -> Site {
        // Turns of chats and work for peers must not be reachable by guessing their ids.
        let runs = server.engine.only(Kind::Run);
        let engine = runs.seen_with(Sight::Nothing);
        Site {
            server: Server { engine, ..server },
            runs,
            port,
            drain: Notify::new(),
            open,
            terms,
            streams: Arc::default(),
            keys: Keys::default(),
            notices: broadcast::Sender::new(NOTICES_MAX),
            traces: ws::Traces::default(),
            talking: watch::Sender::new(()),
        }
    }

    /// Returns the runs as the owner of this pass sees them.
    pub(crate) fn runs(&self, pass: &Pass) -> Engine {
        self.runs.seen_with(pass.sight.clone())
    }

    /// Returns the engine without its runs.
    pub(crate) fn engine(&self) -> &Engine {
        &self.server.engine
    }

    /// Returns when the server is asked to stop.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        closed(self.open.clone())
    }

    /// Returns when the owner of this pass would not be admitted any more.
    pub(crate) fn revoked(&self, pass: Pass) -> impl Future<Output = ()> + Send + 'static {
        let mut access = self.terms.access.clone();
        async move {
            if access.wait_for(|access| !access.honours(&pass)).await.is_err() {
                // Access cannot change any more.
                std::future::pending().await
            }
        }
    }

    pub(crate) fn workflows(&self) -> Workflows {
        Workflows::of(self.engine())
    }

    pub(crate) fn now(&self) -> Millis {
        self.engine().seams().clock.now()
    }

    /// Returns the catalog that requests can choose from at this moment.
    pub(crate) fn catalog(&self) -> Catalog {
        let (mut catalog, tools) = (self.server.catalog.clone(), &self.engine().seams().tools);
        let stored = tools.get(OwnTool::SearchCollections.name()).cloned();
        catalog.tools.extend(tools.live().chain(stored).map(|tool| tool.info().clone()));
        catalog
    }
}

/// Returns when a server is asked to stop.
pub(crate) async fn closed(mut open: watch::Receiver<()>) {
    while open.changed().await.is_ok() {}
}
