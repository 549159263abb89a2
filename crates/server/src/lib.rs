//! HTTP over [`Engine`]. Handlers translate; they decide nothing.
//!
//! # Layout, in reading order
//! - `problem`: what a failed request looks like; `head`, `body`, `query`,
//!   `wish`: what was sent, how it was asked for
//! - `listen`: connections, and how long they may take; `farewell`: those whose
//!   client has said its last word
//! - [`access`]: who may connect, and as whom; `door`: the same as a layer;
//!   `once`: a request that is sent again; `audit`: who changed what
//! - `endpoint`: a route, its scope and its description in one value; `routes`:
//!   one file of them per resource
//! - `sse`: frames as server-sent events a client can resume
//! - [`ws`]: the same and everything else over one socket
//! - `assets`: the web UI, in the binary

pub mod access;
mod assets;
mod audit;
mod body;
mod door;
mod endpoint;
mod farewell;
mod head;
mod listen;
mod once;
mod problem;
mod query;
mod routes;
mod sse;
mod wish;
pub mod ws;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::{Router, middleware};
use consort_chat::{self as chats, Chats};
use consort_core::catalog::Permission;
use consort_core::compile::Catalog;
use consort_core::draft::Ensemble;
use consort_core::id::Millis;
use consort_core::own_tool::OwnTool;
use consort_core::spec::Kind;
use consort_net::network::{Dialling, Network};
use consort_runtime::engine::{self, Engine};
use consort_runtime::workflows::Workflows;
use tokio::net::TcpListener;
use tokio::sync::{Notify, broadcast, watch};

use crate::access::{Access, Pass, Reach};
pub use crate::listen::bind;
use crate::once::Keys;

/// How long requests under way may take to end once the server is told to stop.
const LINGER: Duration = Duration::from_secs(3);

/// Bytes of a request's body at most, unless told.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// How long what is under way may take to end when the server stops, unless told.
pub const DRAIN_TIMEOUT: Duration = Duration::from_mins(5);

/// How long somebody who calls a tool directly waits for its answer.
const TOOL_PATIENCE: Duration = Duration::from_secs(30);

/// Classes of tools that may be called directly, unless told.
pub const DIRECT: [Permission; 3] = [Permission::Safe, Permission::Knowledge, Permission::Network];

/// How long a server that starts looks for runs that cannot be read before it
/// answers; the rest is looked through meanwhile. Enough for some thousand runs.
const INSPECTION: Duration = Duration::from_millis(500);
/// Notices kept for sockets that are busy: there are a few in a minute.
const NOTICES_MAX: usize = 64;

/// A server that does not listen yet.
pub struct Server {
    /// Where runs take place.
    pub engine: Engine,
    /// What a request without tasks of its own runs; none when it has no tasks.
    pub ensemble: Ensemble,
    /// What requests can choose from, beside what the engine's toolbox gets from
    /// its sources and what comes with the store.
    pub catalog: Catalog,
    /// Conversations.
    pub chats: Chats,
    /// Classes of tools that may be called directly.
    pub direct: Vec<Permission>,
    /// Who may connect.
    pub access: Access,
    /// Bytes of a request's body at most.
    pub max_body_bytes: usize,
    /// How long what is under way may take to end when the server stops.
    pub drain_timeout: Duration,
    /// How long somebody who calls a tool directly waits for its answer.
    pub tool_patience: Duration,
    /// How much sockets are told, and how much they may say.
    pub sockets: ws::Sockets,
    /// Other ensembles, and what they may use.
    pub network: Network,
}

/// Why a server cannot go on with what was left unfinished.
#[derive(Debug, thiserror::Error)]
pub enum OpeningError {
    /// Runs.
    #[error(transparent)]
    Runs(#[from] engine::Error),
    /// Conversations.
    #[error(transparent)]
    Chats(#[from] chats::Error),
}

/// What may change while a server listens.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Who may connect: who may not any more is shut out at once, open streams
    /// included.
    pub access: watch::Receiver<Access>,
    /// Whether what was left unfinished goes on; until then only its health is
    /// told.
    pub started: watch::Receiver<bool>,
}

/// A server that listens.
pub(crate) struct Site {
    pub(crate) server: Server,
    pub(crate) port: u16,
    /// Told by a client that the server is to stop.
    pub(crate) drain: Notify,
    /// Closed when the server is about to stop: streams end then.
    pub(crate) open: watch::Receiver<()>,
    pub(crate) terms: Terms,
    /// A clone for every open stream.
    pub(crate) streams: Arc<()>,
    /// The idempotency keys in use just now.
    pub(crate) keys: Keys,
    /// What every socket is told that concerns no run.
    pub(crate) notices: broadcast::Sender<ws::Notice>,
    /// What late clients are told about runs that have ended.
    pub(crate) traces: ws::Traces,
    /// Watched by every socket: they outlive the requests they began as.
    pub(crate) talking: watch::Sender<()>,
}

impl Site {
    /// Returns when the server is told to stop.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        closed(self.open.clone())
    }

    /// Returns when whoever has this pass would not be let in any more.
    pub(crate) fn revoked(&self, pass: Pass) -> impl Future<Output = ()> + Send + 'static {
        let mut access = self.terms.access.clone();
        async move {
            if access.wait_for(|access| !access.honours(&pass)).await.is_err() {
                // It cannot change any more.
                std::future::pending().await
            }
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.server.engine
    }

    pub(crate) fn workflows(&self) -> Workflows {
        Workflows::of(self.engine())
    }

    pub(crate) fn now(&self) -> Millis {
        self.engine().seams().clock.now()
    }

    /// What requests can choose from at this moment.
    pub(crate) fn catalog(&self) -> Catalog {
        let (mut catalog, tools) = (self.server.catalog.clone(), &self.engine().seams().tools);
        let stored = tools.get(OwnTool::SearchCollections.name()).cloned();
        catalog.tools.extend(tools.live().chain(stored).map(|tool| tool.info().clone()));
        catalog
    }
}

impl Server {
    /// A server on this machine alone, with the usual limits.
    pub fn new(engine: Engine, ensemble: Ensemble, catalog: Catalog, chats: Chats, network: Network) -> Server {
        Server {
            engine,
            ensemble,
            catalog,
            chats,
            direct: DIRECT.to_vec(),
            access: Access { reach: Reach::Loopback, origins: Vec::new(), keys: Vec::new() },
            max_body_bytes: MAX_BODY_BYTES,
            drain_timeout: DRAIN_TIMEOUT,
            tool_patience: TOOL_PATIENCE,
            sockets: ws::Sockets::default(),
            network,
        }
    }

    /// What comes before a server answers: everything that was left unfinished
    /// goes on, and links to peers are opened, which last as long as what this
    /// gives.
    pub fn opening(&self) -> impl Future<Output = Result<Dialling, OpeningError>> + Send + 'static {
        let (engine, chats, network) = (self.engine.clone(), self.chats.clone(), self.network.clone());
        async move {
            // What is damaged was said already.
            let recovery = engine.recover().await?;
            if recovery.resumed > 0 {
                tracing::info!(runs = recovery.resumed, "going on with unfinished runs");
            }
            chats.resume().await?;
            // What cannot be read is known before anybody asks, unless there is much to read.
            match tokio::time::timeout(INSPECTION, engine.inspect()).await {
                Ok(inspected) => inspected?,
                Err(_elapsed) => tracing::info!("stored runs are still looked through while the server answers"),
            }
            Ok(network.dial())
        }
    }

    /// Answers until `stop`, or until a client says so. From then on no run is
    /// taken and what is under way may end; then streams end, other requests
    /// may finish, and this returns.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let (_unchanging, access) = watch::channel(self.access.clone());
        let (_all_done, started) = watch::channel(true);
        self.serve_as(Terms { access, started }, listener, stop).await
    }

    /// The same on terms that change.
    pub async fn serve_as(
        self,
        terms: Terms,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let (opened, open) = watch::channel(());
        let port = listener.local_addr()?.port();
        // Turns of chats and work for peers are not to be had by guessing their ids.
        let engine = self.engine.only(Kind::Run);
        let site = Arc::new(Site {
            server: Server { engine, ..self },
            port,
            drain: Notify::new(),
            open: open.clone(),
            terms,
            streams: Arc::default(),
            keys: Keys::default(),
            notices: broadcast::Sender::new(NOTICES_MAX),
            traces: ws::Traces::default(),
            talking: watch::Sender::new(()),
        });
        let seams = site.engine().seams();
        let sweeping = once::sweep(seams.log.clone(), seams.clock);
        let inspecting = inspect(site.engine().clone());
        let ending = site.clone();
        let lingering = async move {
            tokio::select! {
                () = stop => {}
                () = ending.drain.notified() => {}
            }
            ending.server.network.drain();
            ending.engine().drain(ending.server.drain_timeout).await;
            drop(opened);
            tokio::time::sleep(LINGER).await;
        };
        tokio::select! {
            () = async { listen::listen(listener, router(site.clone()), open).await; site.talking.closed().await } => {}
            () = lingering => {}
            never = sweeping => match never {},
            never = inspecting => match never {},
        }
        site.keys.stop();
        Ok(())
    }
}

/// Finds out which runs cannot be read, where that was not done before.
async fn inspect(engine: Engine) -> Infallible {
    if let Err(error) = engine.inspect().await {
        tracing::warn!(%error, "cannot look through the stored runs");
    }
    std::future::pending().await
}

async fn closed(mut open: watch::Receiver<()>) {
    while open.changed().await.is_ok() {}
}

fn router(site: Arc<Site>) -> Router {
    routes::all()
        // Dressed before it is kept, and again for what the layers in between refuse.
        .layer(middleware::from_fn(problem::dress))
        .layer(middleware::from_fn(audit::layer))
        .layer(middleware::from_fn_with_state(site.clone(), once::layer))
        .layer(DefaultBodyLimit::max(site.server.max_body_bytes))
        .layer(middleware::from_fn_with_state(site.clone(), door::guard))
        .fallback_service(pages(&site))
        .layer(middleware::from_fn_with_state(site.clone(), routes::metrics::counted))
        .layer(middleware::from_fn(problem::dress))
        .with_state(site)
}

/// The pages that ask for a key cannot need one themselves.
fn pages(site: &Arc<Site>) -> Router {
    Router::new()
        .fallback(assets::page)
        .layer(middleware::from_fn_with_state(site.clone(), door::watch))
        .with_state(site.clone())
}
