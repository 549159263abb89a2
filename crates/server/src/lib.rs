//! HTTP over [`Engine`]. Handlers translate; they decide nothing.
//!
//! # Layout, in reading order
//! - the crate `consort-inbound`: who sends a request, how it is read and how it fails
//! - `listen`: connections and their timeouts; `door`: whoever may connect, as a layer; `body`: the reading of bodies;
//!   `once`: idempotent repetition of requests
//! - `endpoint`: a route, its scope, the ownership of its things and its description in one
//!   value; `routes`: one file of them per resource; `site`: their shared state
//! - `sse`: frames as server-sent events a client can resume
//! - `openai`: chats and runs as models of OpenAI's API
//! - `offers`: what clients of other protocols are offered
//! - `mcp`: that as tools of the Model Context Protocol
//! - `a2a`: that as skills of an A2A agent, with runs and turns as its tasks
//! - [`ws`]: the same and everything else over one socket
//! - `assets`: the web UI, in the binary

mod a2a;
mod assets;
mod body;
mod door;
mod endpoint;
mod listen;
mod mcp;
mod node_link;
mod offers;
mod once;
mod openai;
mod routes;
mod site;
mod sse;
mod unknown;
pub mod ws;

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::{Router, middleware};
use consort_chat::{self as chats, Chats};
use consort_core::catalog::Permission;
use consort_core::compile::Catalog;
use consort_core::draft::Ensemble;
use consort_http::outbound;
pub use consort_inbound::{access, oidc};
use consort_inbound::{audit, problem, unread_body};
use consort_net::network::{Dialling, Network};
use consort_net::share::Share;
use consort_runtime::engine::{self, Engine, Quota};
use consort_runtime::hooks::Hook;
use consort_runtime::schedules::Configured;
use consort_runtime::webhooks::Webhook;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::access::{Access, Reach};
pub use crate::listen::bind;
use crate::site::Site;
use consort_inbound::connections::Connections;

/// The time that open requests may take to end once the server has been asked to stop.
const LINGER: Duration = Duration::from_secs(3);

/// The default maximum of bytes of a request's body.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// The default maximum of bytes of an uploaded file.
pub const MAX_ATTACHMENT_BYTES: usize = 20 * 1024 * 1024;

/// The default time that active runs may take to end when the server stops.
pub const DRAIN_TIMEOUT: Duration = Duration::from_mins(5);

/// The time that a client that calls a tool directly waits for its result.
const TOOL_PATIENCE: Duration = Duration::from_secs(30);

/// The default classes of tools that may be called directly.
pub const DIRECT: [Permission; 3] = [Permission::Safe, Permission::Knowledge, Permission::Network];

/// The time between two looks for attachments that nothing uses any more.
const ATTACHMENT_SWEEP: Duration = Duration::from_mins(30);

/// A server that does not listen yet.
pub struct Server {
    /// The engine that executes runs.
    pub engine: Engine,
    /// The ensemble that a request without tasks of its own runs; it may have no tasks.
    pub ensemble: Ensemble,
    /// The models, tools and roles that requests can choose from, besides the tools that
    /// the engine's toolbox gets from its sources and those that come with the store.
    pub catalog: Catalog,
    /// Chats.
    pub chats: Chats,
    /// Classes of tools that may be called directly.
    pub direct: Vec<Permission>,
    /// The clients that may connect.
    pub access: Access,
    /// The quotas of owners.
    pub quotas: Vec<Quota>,
    /// The addresses of proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// The maximum number of bytes of a request's body.
    pub max_body_bytes: usize,
    /// The maximum number of bytes of an uploaded file.
    pub max_attachment_bytes: usize,
    /// The time that active runs may take to end when the server stops.
    pub drain_timeout: Duration,
    /// The time that a client that calls a tool directly waits for its result.
    pub tool_patience: Duration,
    /// The limits of sockets, in both directions.
    pub sockets: ws::Sockets,
    /// Other ensembles, and what they may use.
    pub network: Network,
    /// The schedules of the configuration.
    pub schedules: Vec<Configured>,
    /// The programs that are notified of runs.
    pub webhooks: Vec<Webhook>,
    /// The addresses that A2A clients may name to be told of their tasks.
    pub push_reach: outbound::Reach,
    /// The ways in which other programs begin runs.
    pub hooks: Vec<Hook>,
    /// The tools, tasks and workflows that are shared, also with clients of MCP and A2A.
    pub shares: Vec<Share>,
    /// The workflows that are shared with clients of MCP and A2A: the name they use, and the workflow's name or id.
    pub shared_workflows: Vec<(String, String)>,
    /// The model that answers a chat UI's own prompts over `/v1`; the chat's when absent.
    pub aux_model: Option<String>,
}

/// The reason why a server cannot resume unfinished work.
#[derive(Debug, thiserror::Error)]
pub enum OpeningError {
    /// Runs cannot be resumed.
    #[error(transparent)]
    Runs(#[from] engine::Error),
    /// Chats.
    #[error(transparent)]
    Chats(#[from] chats::Error),
}

/// The settings that may change while a server listens.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The clients that may connect. A client that loses its access is disconnected at
    /// once, open streams included.
    pub access: watch::Receiver<Access>,
    /// Whether unfinished work has been resumed; until then only health is reported.
    pub started: watch::Receiver<bool>,
}

impl Server {
    /// Creates a server for this machine alone, with the default limits.
    pub fn new(engine: Engine, ensemble: Ensemble, catalog: Catalog, chats: Chats, network: Network) -> Server {
        Server {
            engine,
            ensemble,
            catalog,
            chats,
            direct: DIRECT.to_vec(),
            access: Access { reach: Reach::Loopback, origins: Vec::new(), keys: Vec::new(), issuer: None },
            quotas: Vec::new(),
            trusted_proxies: Vec::new(),
            max_body_bytes: MAX_BODY_BYTES,
            max_attachment_bytes: MAX_ATTACHMENT_BYTES,
            drain_timeout: DRAIN_TIMEOUT,
            tool_patience: TOOL_PATIENCE,
            sockets: ws::Sockets::default(),
            network,
            schedules: Vec::new(),
            webhooks: Vec::new(),
            push_reach: outbound::Reach::Public,
            hooks: Vec::new(),
            shares: Vec::new(),
            shared_workflows: Vec::new(),
            aux_model: None,
        }
    }

    /// Does the work before a server accepts requests: unfinished runs and chats are resumed, and links to peers are
    /// opened, which last as long as the returned value.
    pub fn opening(&self) -> impl Future<Output = Result<Dialling, OpeningError>> + Send + 'static {
        let engine = self.engine.clone();
        let chats = self.chats.clone();
        let network = self.network.clone();
        // Before a run is resumed, which then tells of its questions.
        engine.announce(self.webhooks.clone(), self.push_reach.clone());
        async move {
            // Before anything goes on, which would slow it down.
            engine.inspect_newest().await?;
            // Damaged runs were logged already.
            let recovery = engine.recover().await?;
            if recovery.resumed > 0 {
                tracing::info!(runs = recovery.resumed, "going on with unfinished runs");
            }
            chats.resume().await?;
            Ok(network.dial())
        }
    }

    /// Serves until `stop` resolves or a client asks for it. From then on no run is
    /// accepted and active ones may end; then streams end, other requests may finish, and
    /// this returns.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let (_unchanging, access) = watch::channel(self.access.clone());
        let (_all_done, started) = watch::channel(true);
        self.serve_as(Terms { access, started }, listener, stop).await
    }

    /// Serves with settings that may change.
    pub async fn serve_as(
        self,
        terms: Terms,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let (opened, open) = watch::channel(());
        let port = listener.local_addr()?.port();
        let connections = Connections::new(&self.trusted_proxies);
        // Webhooks are told of turns too, which routes never reach.
        let everything = self.engine.clone();
        let site = Arc::new(Site::new(self, port, open.clone(), terms));
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
            () = async { listen::listen(listener, &site, connections).await; site.talking.closed().await } => {}
            () = lingering => {}
            never = background(&site, everything) => match never {},
        }
        site.keys.stop();
        Ok(())
    }
}

/// Does the work of a server that no request asks for, as long as it listens.
async fn background(site: &Arc<Site>, everything: Engine) -> Infallible {
    let seams = site.engine().seams();
    let log = seams.log.clone();
    let clock = seams.clock;
    let since = clock.now();
    let schedules = site.schedules.clone();
    let started = || site.terms.started.clone();
    let sweeping = everything.clone().on_duty("answers", move || once::sweep(log.clone(), clock));
    let scheduling = everything.clone().on_duty("schedules", move || schedules.clone().drive(since));
    tokio::select! {
        never = sweeping => never,
        never = sweep_attachments(site.clone()) => never,
        never = after_start(started(), inspect(site.engine().clone())) => never,
        never = after_start(started(), scheduling) => never,
        never = after_start(started(), site.outbox.clone().drive(everything)) => never,
        never = site.server.chats.sweep() => never,
        never = node_link::dial_all(site.engine().clone()) => never,
    }
}

/// Erases attachments that nothing has used for a day, when the server starts and from time to time.
async fn sweep_attachments(site: Arc<Site>) -> Infallible {
    loop {
        match site.engine().attachments().sweep(site.now()).await {
            Ok(0) => {}
            Ok(erased) => tracing::info!(erased, "erased attachments that nothing used"),
            Err(error) => tracing::warn!(%error, "cannot erase attachments that nothing uses"),
        }
        tokio::time::sleep(ATTACHMENT_SWEEP).await;
    }
}

/// Finds out which runs cannot be read, unless that was done before.
async fn inspect(engine: Engine) -> Infallible {
    if let Err(error) = engine.inspect().await {
        tracing::warn!(%error, "cannot look through the stored runs");
    }
    std::future::pending().await
}

/// Does a work that never ends, once unfinished runs have been resumed.
async fn after_start(mut started: watch::Receiver<bool>, work: impl Future<Output = Infallible>) -> Infallible {
    let has_started = started.wait_for(|started| *started).await.is_ok();
    if !has_started {
        // The server ends before it has started.
        std::future::pending::<()>().await;
    }
    work.await
}

fn router(site: Arc<Site>) -> Router {
    routes::all()
        // Inside the layer that stores responses, so that these have their body, and outside
        // again for the refusals of the layers in between.
        .layer(middleware::from_fn(problem::attach_problem_body))
        .layer(middleware::from_fn(audit::layer))
        .layer(middleware::from_fn_with_state(site.clone(), once::layer))
        .layer(middleware::from_fn_with_state(site.clone(), door::guard))
        .fallback_service(pages(&site))
        .layer(middleware::from_fn_with_state(site.clone(), routes::metrics::counted))
        .layer(middleware::from_fn(problem::attach_problem_body))
        .layer(middleware::from_fn(unread_body::layer))
        .with_state(site)
}

/// Returns the routes of the web UI. The pages that ask for a key cannot need one
/// themselves.
fn pages(site: &Arc<Site>) -> Router {
    Router::new()
        .fallback(assets::page)
        .layer(middleware::from_fn_with_state(site.clone(), door::watch))
        .with_state(site.clone())
}
