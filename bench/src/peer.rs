//! A server that shares one tool, which answers at once, and a link to it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use consort_chat::{Chats, Settings};
use consort_core::chat::{Mode, Rules};
use consort_core::compile::Catalog;
use consort_core::draft::Ensemble;
use consort_core::owner::Owner;
use consort_log::Log;
use consort_models::ModelCatalog;
use consort_net::network::{Dialling, Network, Options};
use consort_net::serve::{Serve, pool};
use consort_net::share::{PeerRunFactory, Share, SharedWork};
use consort_net::transport::{Address, WebSockets};
use consort_runtime::admission::Pools;
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_tools::{Tool, Toolbox};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::instant::InstantTool;

/// The name of the shared tool.
pub(crate) const TOOL: &str = "lookup";
const SLOTS: usize = 32;

/// Starts the server; returns its address.
pub(crate) async fn serve(log: Arc<dyn Log>) -> anyhow::Result<(String, JoinSet<()>)> {
    let tool = InstantTool::new(TOOL);
    let share = Share {
        name: TOOL.to_owned(),
        tags: Vec::new(),
        owner: Owner::local(),
        what: SharedWork::Tool(tool.info().clone()),
    };
    let seams = Seams::new(log, ModelCatalog::default(), Toolbox::default().with(tool)?);
    let catalog = seams.catalog();
    let engine = Engine::limited(seams, Pools { peers: pool(SLOTS), ..Pools::default() });
    let ensemble = Ensemble { name: "kitchen".to_owned(), ..Ensemble::default() };
    let network = network("kitchen", Vec::new());
    let kitchen = PeerRunFactory { ensemble: ensemble.clone(), catalog: catalog.clone(), shares: vec![share] };
    network.offer(Arc::new(Serve::new("kitchen", kitchen, engine.clone(), SLOTS)));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("ws://{}/ws", listener.local_addr()?);
    let server = server(engine, (ensemble, catalog), network);
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        if let Err(error) = server.serve(listener, std::future::pending()).await {
            eprintln!("the server ended: {error}");
        }
    });
    Ok((address, serving))
}

/// Opens a link to it, and returns when its capabilities are known.
pub(crate) async fn dial(address: &str) -> anyhow::Result<(Network, Dialling)> {
    let network = network("room", vec![("kitchen".to_owned(), Address { url: address.to_owned(), key: None })]);
    let dialling = network.dial();
    let mut changes = network.changes();
    while network.registry(|registry| registry.size()) == 0 {
        changes.changed().await?;
    }
    ensure!(network.peers().iter().all(|peer| peer.connected), "the kitchen is not linked");
    Ok((network, dialling))
}

/// Returns a network of this name.
pub(crate) fn network(name: &str, peers: Vec<(String, Address)>) -> Network {
    Network::new(Options { peers, ..Options::new(name) }, Arc::new(WebSockets))
}

/// Returns a server with the usual limits.
pub(crate) fn server(engine: Engine, (ensemble, catalog): (Ensemble, Catalog), network: Network) -> Server {
    let limits = ensemble.limits;
    let rules = Rules { limits, mode: Mode::Auto, approval_timeout_ms: 0, ..Rules::default() };
    let settings = Settings { detach_grace: Duration::ZERO, ..Settings::new(&engine, rules) };
    let chats = Chats::new(engine.clone(), settings);
    Server::new(engine, ensemble, catalog, chats, network)
}
