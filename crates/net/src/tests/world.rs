//! Ensembles that can be started, killed and started again with their stored state.

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{EffectClass, ModelInfo};
use consort_core::compile::{Catalog, compile};
use consort_core::decide::Command;
use consort_core::draft::{Draft, Ensemble, Request};
use consort_core::event::{CancelMode, Event, EventKind};
use consort_core::id::Id;
use consort_core::message::Outcome;
use consort_core::owner::Owner;
use consort_core::spec::OnTruncated;
use consort_log::MemoryLog;
use consort_models::{ModelCatalog, ScriptedModel};
use consort_runtime::admission::Pools;
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_tools::{Account, Invocation, ScriptedTool, Tool, Toolbox};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::memory::MemoryNetwork;
use crate::network::{Dialling, Network, Options};
use crate::serve::{Serve, pool};
use crate::share::{PeerRunFactory, Share, SharedWork};
use crate::transport::{Address, Connection, Transport};

pub(super) const LEASE: Duration = Duration::from_secs(2);

/// The definition of an ensemble, running or not.
#[derive(Clone)]
pub(super) struct House {
    pub(super) name: String,
    pub(super) realm: Option<String>,
    pub(super) peers: Vec<String>,
    pub(super) shares: Vec<Share>,
    pub(super) tools: Vec<ScriptedTool>,
    pub(super) model: ScriptedModel,
    pub(super) max_concurrent: usize,
    pub(super) log: MemoryLog,
}

/// An ensemble that runs.
pub(super) struct Running {
    pub(super) network: Network,
    pub(super) serve: Serve,
    catalog: Catalog,
    _dialling: Dialling,
    _answering: JoinSet<()>,
}

impl House {
    pub(super) fn new(name: &str, peers: &[&str]) -> House {
        House {
            name: name.to_owned(),
            realm: None,
            peers: peers.iter().map(|peer| (*peer).to_owned()).collect(),
            shares: Vec::new(),
            tools: Vec::new(),
            model: ScriptedModel::new(),
            max_concurrent: 8,
            log: MemoryLog::default(),
        }
    }

    pub(super) fn tool(mut self, name: &str, tags: &[&str], tool: &ScriptedTool) -> House {
        self.tools.retain(|known| known.info().name != tool.info().name);
        self.tools.push(tool.clone());
        let what = SharedWork::Tool(tool.info().clone());
        self.shares.push(Share {
            name: name.to_owned(),
            tags: tags.iter().map(|t| (*t).to_owned()).collect(),
            owner: Owner::local(),
            what,
        });
        self
    }

    pub(super) fn task(mut self, name: &str, tools: &[&str]) -> House {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        let description = format!("Do {name} with {{context}}");
        let draft = Draft { name: Some(name.to_owned()), description, tools, ..Draft::default() };
        self.shares.push(Share {
            name: name.to_owned(),
            tags: Vec::new(),
            owner: Owner::local(),
            what: SharedWork::Task(Box::new(draft)),
        });
        self
    }

    /// Shares a task that takes an answer as it is when it was cut.
    pub(super) fn accepting(self, name: &str) -> House {
        let mut house = self.task(name, &[]);
        if let Some(Share { what: SharedWork::Task(draft), .. }) = house.shares.last_mut() {
            draft.on_truncated = OnTruncated::Accept;
        }
        house
    }

    pub(super) fn model(mut self, model: &ScriptedModel) -> House {
        self.model = model.clone();
        self
    }

    fn seams(&self) -> Seams {
        let toolbox = self.tools.iter().fold(Toolbox::default(), |all, tool| all.with(tool.clone()).unwrap());
        let models = ModelCatalog::default().with(ModelInfo::new("main", "scripted"), self.model.clone()).unwrap();
        Seams { cancel_grace: Duration::from_secs(1), ..Seams::new(Arc::new(self.log.clone()), models, toolbox) }
    }

    /// Starts it. Its knowledge of the network is empty, its stored state is kept.
    pub(super) async fn start(&self, wires: &MemoryNetwork) -> Running {
        let address = |peer: &String| (peer.clone(), Address { url: peer.clone(), key: None });
        let options = Options {
            name: self.name.clone(),
            realm: self.realm.clone(),
            lease: LEASE,
            max_hops: 8,
            shareable: true,
            peers: self.peers.iter().map(address).collect(),
            agents: Vec::new(),
        };
        let seams = self.seams();
        let network = Network::new(options, Arc::new(wires.from(&self.name)));
        let tools = seams.tools.clone().with_provider(network.tools());
        let seams = Seams { tools, ..seams };
        let catalog = seams.catalog();
        let ensemble = Ensemble { name: self.name.clone(), ..Ensemble::default() };
        let run_factory = PeerRunFactory { ensemble, catalog: catalog.clone(), shares: self.shares.clone() };
        let pools = Pools { peers: pool(self.max_concurrent), ..Pools::default() };
        let engine = Engine::limited(seams, pools);
        let serve = Serve::new(&self.name, run_factory, engine, self.max_concurrent);
        network.offer(Arc::new(serve.clone()));
        serve.engine().recover().await.unwrap();
        let mut calls = wires.listen(&self.name);
        let mut answering = JoinSet::new();
        let answers = network.clone();
        answering.spawn(async move {
            let mut links = JoinSet::new();
            while let Some(connection) = calls.recv().await {
                let network = answers.clone();
                links.spawn(async move { network.answer(connection, Owner::peer("local")).await });
            }
        });
        Running { _dialling: network.dial(), _answering: answering, network, serve, catalog }
    }
}

impl Running {
    /// Submits a run of one task that may use these tools.
    pub(super) async fn submit(&self, tools: &[&str]) -> Arc<str> {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        let task = Draft { name: Some("own".to_owned()), description: "Do it".to_owned(), tools, ..Draft::default() };
        let ensemble = Ensemble { name: "own".to_owned(), tasks: vec![task], ..Ensemble::default() };
        let run = compile(&ensemble, Request::default(), &self.catalog).unwrap();
        self.serve.engine().submit(run).await.unwrap()
    }

    /// Returns the status of a run that has ended, and the outcomes of its calls.
    pub(super) async fn ended(&self, run: &str) -> (String, Vec<Outcome>) {
        let engine = self.serve.engine();
        engine.finished(run).await;
        let outcome = |event: Event| {
            if let EventKind::ToolReturned { outcome, .. } = event.kind { Some(outcome) } else { None }
        };
        let outcomes = engine.history(run).await.unwrap().into_iter().filter_map(outcome).collect();
        (engine.run(run).await.unwrap().status().to_string(), outcomes)
    }

    pub(super) async fn cancel(&self, run: &str) {
        let command = Command::Cancel { mode: CancelMode::Now, by: "me".to_owned() };
        self.serve.engine().command(run, command).await.unwrap();
    }

    /// Returns every capability it knows, as `ensemble.name`.
    pub(super) fn knows(&self) -> Vec<String> {
        let name = |shared: crate::roster::Shared| format!("{}.{}", shared.ensemble, shared.capability.name);
        let mut known: Vec<String> = self.network.registry(|registry| registry.all().map(name).collect());
        known.sort();
        known
    }

    /// Returns when it knows exactly these capabilities.
    pub(super) async fn until_knows(&self, expected: &[&str]) {
        let mut changes = self.network.changes();
        while self.knows() != expected {
            changes.changed().await.unwrap();
        }
    }
}

/// A client that sends frames by hand.
pub(super) struct Hand(Connection);

impl Hand {
    /// Opens a link as the ensemble `hand`.
    pub(super) async fn new(wires: &MemoryNetwork, to: &str) -> Hand {
        Hand::saying(wires, to, json!({ "type": "peer_hello", "ensemble": "hand" })).await
    }

    /// Opens a link with this introduction.
    pub(super) async fn saying(wires: &MemoryNetwork, to: &str, hello: Value) -> Hand {
        let address = Address { url: to.to_owned(), key: None };
        let mut hand = Hand(wires.from("hand").dial(&address).await.unwrap());
        hand.say(hello).await;
        hand
    }

    pub(super) async fn say(&mut self, frame: Value) {
        self.0.outgoing.send(frame.to_string()).await.unwrap();
    }

    /// Sends a text that may not be a frame.
    pub(super) async fn babble(&mut self, text: &str) {
        self.0.outgoing.send(text.to_owned()).await.unwrap();
    }

    /// Returns when the other side has closed the connection.
    pub(super) async fn cut_off(&mut self) {
        while self.0.incoming.next().await.is_some() {}
    }

    /// Returns the next frame that is not a pulse or a hello.
    pub(super) async fn hear(&mut self) -> Value {
        loop {
            let frame: Value = serde_json::to_value(self.0.incoming.next().await.unwrap()).unwrap();
            if !["capacity_update", "hello"].contains(&frame["type"].as_str().unwrap()) {
                return frame;
            }
        }
    }
}

pub(super) fn tool(name: &str, effect: EffectClass) -> ScriptedTool {
    ScriptedTool::new(name).effect(effect)
}

/// Returns a call with this key, which is also its input.
pub(super) fn invocation(key: &str) -> Invocation {
    Invocation {
        run: "run".into(),
        call: Id::from("1.0.0"),
        key: key.to_owned(),
        args: json!({ "input": key }),
        account: Account::default(),
    }
}
