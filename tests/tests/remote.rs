//! Two ensembles, one of which calls the other's capabilities, while the process of either or of both
//! dies at every append, before it is stored and after. Nothing that must not be repeated happens
//! twice, callers are told what was really done, and no caller waits for an answer that cannot come.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::EffectClass;
use consort_core::compile::{Catalog, compile};
use consort_core::draft::{Draft, Ensemble, Request};
use consort_core::event::{Event, EventKind};
use consort_core::message::Outcome;
use consort_core::owner::Owner;
use consort_log::{Log, Query};
use consort_models::{Line, ScriptedModel};
use consort_net::memory::{Faults, MemoryNetwork};
use consort_net::network::{Dialling, Network, Options};
use consort_net::serve::Serve;
use consort_net::share::{PeerRunFactory, Share, SharedWork};
use consort_net::transport::Address;
use consort_runtime::engine::Engine;
use consort_tools::{self as tool, ScriptedTool, Tool};
use futures::future::BoxFuture;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::support::{Death, DyingLog, engine, ensemble, events, models, task, toolbox};

const LEASE: Duration = Duration::from_secs(2);
/// Longer than any of these calls may take: the tools' thirty seconds, the transfer, and a restart.
const DEADLINE: Duration = Duration::from_secs(45);

/// The maximum number of yields that let the tasks of a dead process end.
const YIELDS_MAX: usize = 10_000;

/// The tools that the caller calls, in this order, and their effect classes.
const CALLS: [(&str, EffectClass); 4] = [
    ("shop.pay", EffectClass::Once),
    ("shop.put", EffectClass::Idempotent),
    ("shop.look", EffectClass::Read),
    (COOK, EffectClass::Once),
];
/// A shared task, whose only effect is to pay for spices.
const COOK: &str = "shop.cook";

/// The state that outlives a process.
struct Town {
    wires: MemoryNetwork,
    tools: Vec<ScriptedTool>,
    /// The logs of the room and of the shop.
    logs: [Arc<DyingLog>; 2],
    models: [ScriptedModel; 2],
}

/// One lifetime of a process.
struct Life {
    engine: Engine,
    catalog: Catalog,
    network: Network,
    _links: (Dialling, JoinSet<()>),
}

#[derive(Clone, Copy)]
enum Who {
    Room,
    Shop,
}

impl Town {
    fn new(deaths: [Death; 2]) -> Town {
        let asks = CALLS.iter().fold(Line::new(), |line, (name, _)| line.calls(name, &json!({ "input": name })));
        let room = ScriptedModel::new().at("1.0", asks).says("1.1", "done");
        // There only a shared task calls a model.
        let pays = Line::new().calls("pay", &json!({ "input": "spices" }));
        let shop = ScriptedModel::new().at("1.0", pays).says("1.1", "soup");
        let tool = |name: &str, effect| ScriptedTool::new(name).effect(effect).answers("done");
        let tools =
            vec![tool("pay", EffectClass::Once), tool("put", EffectClass::Idempotent), tool("look", EffectClass::Read)];
        let logs = deaths.map(|death| Arc::new(DyingLog::new(death)));
        Town { wires: MemoryNetwork::new(Faults::default(), 1), tools, logs, models: [room, shop] }
    }

    /// Starts a process over this log and lets it continue the runs it finds.
    async fn start(&self, who: Who, log: Arc<dyn Log>) -> Life {
        let (name, peers, shares, model) = match who {
            Who::Room => ("room", vec!["shop"], Vec::new(), &self.models[0]),
            Who::Shop => ("shop", Vec::new(), self.shares(), &self.models[1]),
        };
        let address = |peer: &str| (peer.to_owned(), Address { url: peer.to_owned(), key: None });
        let peers = peers.into_iter().map(address).collect();
        let options = Options {
            name: name.to_owned(),
            realm: None,
            lease: LEASE,
            max_hops: 8,
            shareable: true,
            peers,
            agents: Vec::new(),
        };
        let network = Network::new(options, Arc::new(self.wires.from(name)));
        let own = match who {
            Who::Room => Vec::new(),
            Who::Shop => self.tools.clone(),
        };
        let tools = toolbox(own).with_provider(network.tools());
        let engine = engine(log, models(model.clone(), ScriptedModel::new()), tools);
        let catalog = engine.seams().catalog();
        let kitchen = PeerRunFactory { ensemble: ensemble(Vec::new()), catalog: catalog.clone(), shares };
        network.offer(Arc::new(Serve::new(name, kitchen, engine.clone(), 8)));
        engine.recover().await.unwrap();
        let mut calls = self.wires.listen(name);
        let mut answering = JoinSet::new();
        let answers = network.clone();
        answering.spawn(async move {
            let mut links = JoinSet::new();
            while let Some(connection) = calls.recv().await {
                let network = answers.clone();
                links.spawn(async move { network.answer(connection, Owner::peer("local")).await });
            }
        });
        Life { engine, catalog, _links: (network.dial(), answering), network }
    }

    fn shares(&self) -> Vec<Share> {
        let share = |name: &str, what| Share { name: name.to_owned(), tags: Vec::new(), owner: Owner::local(), what };
        let tools = self.tools.iter().map(|tool| share(&tool.info().name, SharedWork::Tool(tool.info().clone())));
        let cook = Draft { description: "Cook {context}".to_owned(), ..task("cook", &["pay"]) };
        tools.chain([share("cook", SharedWork::Task(Box::new(cook)))]).collect()
    }

    /// Restarts a process. The dead one is gone when nothing
    /// holds its log any more; the next one has what was stored.
    async fn restart(&self, who: Who, dead: Option<Life>) -> Life {
        drop(dead);
        let log = &self.logs[who as usize];
        for _ in 0..YIELDS_MAX {
            if Arc::strong_count(log) == 1 {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert_eq!(Arc::strong_count(log), 1, "something of the dead process goes on");
        self.start(who, Arc::new(log.inner.clone())).await
    }

    /// Submits the run and restarts dead processes until it has ended; returns the number of deaths.
    async fn live(&self) -> usize {
        let [room_log, shop_log] = &self.logs;
        let mut shop = Some(self.start(Who::Shop, shop_log.clone()).await);
        let mut room = Some(self.start(Who::Room, room_log.clone()).await);
        let mut changes = room.as_ref().unwrap().network.changes();
        while room.as_ref().unwrap().network.registry(|known| known.size()) == 0 {
            changes.changed().await.unwrap();
        }
        let names = CALLS.map(|(name, _)| name);
        let mut deaths = 0;
        let ensemble = ensemble(vec![task("own", &names)]);
        let mut submitting: Option<BoxFuture<'_, ()>> = Some(Box::pin(submit(room.as_ref().unwrap(), &ensemble)));
        while !self.is_over().await {
            tokio::select! {
                () = async { submitting.as_mut().unwrap().await }, if submitting.is_some() => submitting = None,
                () = room_log.died() => {
                    (deaths, submitting) = (deaths + 1, None);
                    room = Some(self.restart(Who::Room, room.take()).await);
                }
                () = shop_log.died() => {
                    deaths += 1;
                    shop = Some(self.restart(Who::Shop, shop.take()).await);
                }
                () = self.ended(room.as_ref().unwrap()), if submitting.is_none() => {}
            }
        }
        deaths
    }

    async fn is_over(&self) -> bool {
        let query = Query { kind: Some("run".to_owned()), ended: Some(true), limit: 1, ..Query::default() };
        self.logs[0].inner.list(query).await.unwrap().total > 0
    }

    /// Returns when the room has nothing more to do.
    async fn ended(&self, room: &Life) {
        let query = Query { kind: Some("run".to_owned()), limit: 1, ..Query::default() };
        if let Some((run, _)) = self.logs[0].inner.list(query).await.unwrap().rows.first() {
            room.engine.finished(run).await;
        }
    }

    /// Returns the records of the shop's tools, by their input.
    fn done(&self) -> BTreeMap<String, Vec<tool::Entry>> {
        let mut done: BTreeMap<String, Vec<tool::Entry>> = BTreeMap::new();
        for entry in self.tools.iter().flat_map(ScriptedTool::entries) {
            done.entry(entry.args["input"].as_str().unwrap().to_owned()).or_default().push(entry);
        }
        done
    }

    /// Compares the answers that the caller got with the records of the tools.
    async fn judge(&self) -> usize {
        let query = Query { kind: Some("run".to_owned()), limit: 1, ..Query::default() };
        let rows = self.logs[0].inner.list(query).await.unwrap().rows;
        assert_eq!(&*rows[0].1.status, "COMPLETED");
        let events = events(&self.logs[0].inner, &rows[0].0).await;
        let done = self.done();
        let mut unknown = 0;
        for (index, (name, effect)) in CALLS.into_iter().enumerate() {
            let entries = done.get(if name == COOK { "spices" } else { name });
            let entries = entries.map(Vec::as_slice).unwrap_or_default();
            let count = |what| entries.iter().filter(|entry| entry.what == what).count();
            let begun = count(tool::What::Began);
            let finished = count(tool::What::Finished);
            let outcome = outcome(&events, &format!("1.0.{index}"));
            match (&outcome, effect) {
                // The shop's model answers even when it is unknown whether it has paid.
                (Outcome::Answer { .. }, _) => {
                    assert!(finished > 0 || name == COOK, "{name} has an answer from nowhere")
                }
                (Outcome::Failed { .. }, EffectClass::Once) => assert_eq!(begun, 0, "{name}: {outcome:?}"),
                (Outcome::Unknown { .. }, EffectClass::Once | EffectClass::Idempotent) => unknown += 1,
                (Outcome::Failed { .. }, EffectClass::Read | EffectClass::Idempotent) => {}
                (Outcome::Unknown { .. } | Outcome::Subtask, _) => panic!("{name}: {outcome:?}"),
            }
            match effect {
                EffectClass::Once => assert!(begun <= 1, "{name} was done {begun} times"),
                EffectClass::Idempotent => {
                    assert!(entries.iter().all(|entry| entry.key == entries[0].key), "{name} with the same key");
                }
                EffectClass::Read => {}
            }
        }
        unknown
    }
}

fn submit(room: &Life, ensemble: &Ensemble) -> impl Future<Output = ()> + Send + use<> {
    let engine = room.engine.clone();
    let run = compile(ensemble, Request::default(), &room.catalog).unwrap();
    async move { drop(engine.submit(run).await) }
}

fn outcome(events: &[Event], place: &str) -> Outcome {
    let found = events.iter().find_map(|event| match &event.kind {
        EventKind::ToolReturned { call, outcome, .. } if call.as_str() == place => Some(outcome.clone()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{place} never ended"))
}

/// Runs one history; returns the numbers of deaths and of calls with an unknown outcome.
async fn history(deaths: [Death; 2]) -> (usize, usize) {
    println!("{deaths:?}");
    let town = Town::new(deaths);
    let began = Instant::now();
    let died = timeout(DEADLINE * 10, town.live()).await.expect("a caller waits for nothing");
    assert!(began.elapsed() <= DEADLINE, "{:?}", began.elapsed());
    (died, town.judge().await)
}

/// Returns the deaths of one side alone, up to the first that does not happen.
async fn deaths_of(who: Who) -> Vec<Death> {
    let mut deaths = Vec::new();
    for death in [Death::Storing, Death::Stored] {
        for appends in 1.. {
            let mut both = [Death::Never; 2];
            both[who as usize] = death(appends);
            if history(both).await.0 == 0 {
                break;
            }
            deaths.push(death(appends));
        }
    }
    deaths
}

#[tokio::test(start_paused = true)]
async fn a_remote_call_is_done_once_and_answered_wherever_either_side_or_both_died() {
    assert_eq!(history([Death::Never; 2]).await, (0, 0));
    let rooms = deaths_of(Who::Room).await;
    let shops = deaths_of(Who::Shop).await;
    assert!(rooms.len() >= 6 && shops.len() >= 10, "{rooms:?} {shops:?}");
    let mut unknown = 0;
    for room in &rooms {
        for shop in &shops {
            unknown += history([*room, *shop]).await.1;
        }
    }
    assert!(unknown > 0, "somewhere a caller is told that nobody knows");
}
