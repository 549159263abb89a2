//! A server that listens. Runs are reached only over a handle that sees what the caller sees:
//! [`Site::runs`]. The engine that everything else is asked of sees none.

use std::sync::Arc;
use std::time::SystemTime;

use consort_core::compile::Catalog;
use consort_core::id::Millis;
use consort_core::nested;
use consort_core::owner::Sight;
use consort_core::spec::Kind;
use consort_runtime::engine::Engine;
use consort_runtime::hooks::Hooks;
use consort_runtime::schedules::Schedules;
use consort_runtime::start::Starter;
use consort_runtime::webhooks::outbox::Outbox;
use consort_runtime::workflows::Workflows;
use serde_json::Value;
use tokio::sync::{Notify, broadcast, watch};

use crate::access::Pass;
use crate::mcp::Calls;
use crate::once::Keys;
use crate::{Server, Terms, ws};
use consort_inbound::body_memory::BodyMemory;
use consort_inbound::problem::Problem;
use consort_inbound::refusals::Refusals;

/// Notices buffered for sockets that are busy: there are a few in a minute.
const NOTICES_MAX: usize = 64;

/// A server that listens.
pub(crate) struct Site {
    pub(crate) server: Server,
    /// The engine with the runs of all owners.
    runs: Engine,
    /// Runs of the ensemble and of saved workflows.
    pub(crate) starter: Starter,
    /// Runs that begin when they are due.
    pub(crate) schedules: Schedules,
    /// Runs that other programs begin.
    pub(crate) hooks: Hooks,
    /// The deliveries to webhooks.
    pub(crate) outbox: Outbox,
    pub(crate) port: u16,
    /// When it began to listen.
    pub(crate) started_at: Millis,
    /// Notified when a client asks the server to stop.
    pub(crate) drain: Notify,
    /// Closed when the server is about to stop: streams end then.
    pub(crate) open: watch::Receiver<()>,
    pub(crate) terms: Terms,
    /// A clone for every open stream.
    pub(crate) streams: Arc<()>,
    /// The clients that were refused.
    pub(crate) refusals: Refusals,
    /// The room for large bodies.
    pub(crate) memory: BodyMemory,
    /// The idempotency keys that are in use at the moment.
    pub(crate) keys: Keys,
    /// The calls over MCP that can be cancelled by another message.
    pub(crate) mcp_calls: Calls,
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
        runs.limit_owners(server.quotas.clone());
        let engine = runs.seen_with(Sight::Nothing);
        let starter = Starter::new(&runs, &server.ensemble, &server.catalog);
        let memory = BodyMemory::new(server.max_body_bytes.max(server.sockets.max_frame_bytes));
        Site {
            refusals: Refusals::new(engine.meters().clone()),
            schedules: Schedules::new(starter.clone(), server.schedules.clone()),
            hooks: Hooks::new(starter.clone(), server.hooks.clone()),
            outbox: runs.announce(server.webhooks.clone(), server.push_reach.clone()),
            started_at: engine.seams().clock.now(),
            server: Server { engine, ..server },
            starter,
            runs,
            port,
            drain: Notify::new(),
            open,
            terms,
            streams: Arc::default(),
            memory,
            keys: Keys::default(),
            mcp_calls: Calls::default(),
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
        let left = pass.until().map(|until| until.duration_since(SystemTime::now()).unwrap_or_default());
        async move {
            let changed = async {
                if access.wait_for(|access| !access.honours(&pass)).await.is_err() {
                    // Access cannot change any more.
                    std::future::pending().await
                }
            };
            match left {
                Some(left) => drop(tokio::time::timeout(left, changed).await),
                None => changed.await,
            }
        }
    }

    pub(crate) fn workflows(&self) -> Workflows {
        Workflows::of(self.engine())
    }

    pub(crate) fn now(&self) -> Millis {
        self.engine().seams().clock.now()
    }

    /// Returns the catalog for a request, with the saved workflows that its tasks name.
    pub(crate) async fn catalog_for(&self, request: &Value) -> Result<Catalog, Problem> {
        let wanted = nested::wanted(request, &self.server.ensemble);
        let workflows = self.workflows().for_catalog(wanted).await?;
        Ok(Catalog { workflows, ..self.catalog() })
    }

    /// Returns the catalog that requests can choose from at this moment.
    pub(crate) fn catalog(&self) -> Catalog {
        self.starter.catalog()
    }
}

/// Returns when a server is asked to stop.
pub(crate) async fn closed(mut open: watch::Receiver<()>) {
    while open.changed().await.is_ok() {}
}
