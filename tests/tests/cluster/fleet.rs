//! Nodes with engines over one store, their models and tools with a ledger, and what goes wrong with them.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use consort_core::catalog::{EffectClass, ToolInfo};
use consort_core::decide::Command;
use consort_core::draft::{Ensemble, Request};
use consort_core::event::{COMMON_VERSION, Directive, Priority};
use consort_core::id::Millis;
use consort_log::clock::Clock;
use consort_log::cluster::Membership;
use consort_models::{Ask, Line, Model, Piece, ScriptedModel};
use consort_runtime::admission::{Capacity, Keep, Pool, Pools};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_runtime::limits::{Limits, ModelLimit, Rate};
use consort_runtime::ring::Frame;
use consort_tools::{Answer, Invocation, Tool};
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::dice::Dice;
use super::link;
use super::open::Open;
use super::sim::{Health, Store, Way};
use crate::support;

/// The time in which a run must end once nothing goes wrong any more.
const PATIENCE: Duration = Duration::from_secs(300);

/// The runs that are active on a node at the same time: few, so that others wait and move.
const SLOTS: usize = 2;

/// The most by which the clock of a node is ahead of the right time.
const APART_MS: usize = 4_000;

/// The nodes up to which each has a link to every other one; more have none and look into the store.
const LINKED_MAX: usize = 8;

/// The time in which all nodes together ask the model as often as it has slots: a little more than they need to use all
/// of them, so that both limits are met.
pub(crate) const RATE_PER: Duration = Duration::from_millis(450);

/// The time that a tool may take, after which the lock of a node that is gone is free.
const TOOL_MS: Millis = 1_000;

/// The acts, each with the node that did it.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    /// The call, unique to its intent.
    pub(crate) key: String,
    pub(crate) once: bool,
    #[expect(dead_code, reason = "told when something was done by the wrong node")]
    node: Arc<str>,
    /// Whether the store knew the node as the owner of the run at that moment.
    pub(crate) is_owner: bool,
    /// Whether the node's version can read all that was written to the run.
    pub(crate) is_readable: bool,
}

/// Everything that was done.
pub(crate) type Ledger = Arc<Mutex<Vec<Deed>>>;

/// A node: a process with its way to the store.
pub(crate) struct Node {
    pub(crate) way: Arc<Way>,
    pub(crate) engine: Engine,
}

/// All nodes, by name; a dead one is absent.
pub(crate) struct Fleet {
    pub(crate) store: Arc<Store>,
    pub(crate) ledger: Ledger,
    pub(crate) nodes: Vec<Option<Node>>,
    /// The calls of models, and of the tool with a lock.
    pub(crate) asked: Open,
    pub(crate) locked: Open,
    plan: Plan,
    /// The versions of the nodes: one that is started again may be newer.
    versions: Vec<u32>,
    /// The clocks of the nodes, by the time that each is ahead.
    ahead: Vec<Millis>,
    /// The links, by the places of their nodes.
    links: BTreeMap<(usize, usize), JoinSet<()>>,
}

/// The shape of a fleet.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) nodes: usize,
    /// The calls of the model that all nodes together may have open.
    pub(crate) slots: u32,
    /// Whether the right to act is asked for at the first byte.
    pub(crate) checks: bool,
    /// Whether nodes that are started again are of the next version.
    pub(crate) upgrades: bool,
}

impl Fleet {
    pub(crate) async fn new(plan: Plan, dice: &mut Dice) -> Fleet {
        let mut fleet = Fleet {
            store: Arc::default(),
            ledger: Ledger::default(),
            nodes: Vec::new(),
            asked: Open::default(),
            locked: Open::default(),
            plan,
            versions: vec![COMMON_VERSION; plan.nodes],
            // No two machines have the same time.
            ahead: (0..plan.nodes).map(|_| dice.below(APART_MS) as Millis).collect(),
            links: BTreeMap::new(),
        };
        for place in 0..plan.nodes {
            let node = fleet.start(place).await;
            fleet.nodes.push(Some(node));
            fleet.tie(place);
        }
        fleet
    }

    /// Starts the node of this place as a new process.
    async fn start(&self, place: usize) -> Node {
        let name = format!("node-{place}");
        let way = Way::of_version(&self.store, &name, self.versions[place]);
        let outside = Outside {
            way: way.clone(),
            store: self.store.clone(),
            ledger: self.ledger.clone(),
            checks: self.plan.checks,
        };
        let tool = |(name, effect, lock): (&str, EffectClass, Option<&str>)| {
            let lock = lock.map(str::to_owned);
            let info = ToolInfo { effect, lock, timeout_ms: TOOL_MS, ..ToolInfo::new(name, "A tool") };
            Recorded { info: Arc::new(info), outside: outside.clone(), locked: self.locked.clone() }
        };
        let pay = ("pay", EffectClass::Once, None);
        let put = ("put", EffectClass::Idempotent, Some("door"));
        let tools = support::toolbox([pay, put, ("look", EffectClass::Read, None)].map(tool));
        let model = Guarded { script: script(), outside, asked: self.asked.clone() };
        let models = support::models(model, ScriptedModel::new());
        let clock = Clock::system().not_before(Clock::system().now() + self.ahead[place]);
        let slots = NonZeroU32::new(self.plan.slots).unwrap();
        let rate = Rate { requests: slots, per: RATE_PER };
        let limit = ModelLimit { max_concurrency: slots, rate: Some(rate) };
        let limits = Limits::new([("main".to_owned(), limit)], None);
        let seams =
            Seams { cluster: way.clone(), node: Some(name), clock, limits, ..Seams::new(way.clone(), models, tools) };
        let runs = Pool { capacity: Capacity { running: SLOTS, queued: usize::MAX }, keep: Keep::All };
        let engine = Engine::limited(seams, Pools { runs, ..Pools::default() });
        engine.recover().await.unwrap();
        Node { way, engine }
    }

    /// Starts the node of this place again, as the version that is installed by now.
    async fn start_again(&mut self, place: usize) {
        if self.plan.upgrades {
            self.versions[place] = COMMON_VERSION + 1;
        }
        self.nodes[place] = Some(self.start(place).await);
        self.tie(place);
    }

    /// Joins a node to all others by links.
    fn tie(&mut self, place: usize) {
        let Some(node) = self.nodes[place].as_ref().filter(|_| self.plan.nodes <= LINKED_MAX) else { return };
        for (other_place, other) in self.nodes.iter().enumerate() {
            let key = (place.min(other_place), place.max(other_place));
            if let Some(other) = other.as_ref().filter(|_| other_place != place && !self.links.contains_key(&key)) {
                self.links.insert(key, link::join([(&node.engine, &node.way), (&other.engine, &other.way)]));
            }
        }
    }

    /// Cuts all links of a node; false when it has none.
    fn untie(&mut self, place: usize) -> bool {
        let before = self.links.len();
        self.links.retain(|(one, other), _| *one != place && *other != place);
        self.links.len() < before
    }

    /// Returns some node that takes requests.
    pub(crate) fn well(&self, dice: &mut Dice) -> Option<&Node> {
        let well: Vec<&Node> = self.nodes.iter().flatten().filter(|node| is_well(node)).collect();
        well.get(dice.below(well.len())).copied()
    }

    /// Lets something go wrong for a while, or go right again.
    pub(crate) async fn trouble(&mut self, dice: &mut Dice) {
        let place = dice.below(self.nodes.len());
        let Some(node) = self.nodes[place].take() else { return self.start_again(place).await };
        match dice.below(10) {
            0 => {
                self.untie(place);
                node.way.health.send_replace(Health::Dead);
                // What a dead process holds is gone at once.
                tokio::spawn(async move { node.engine.stop().await });
                return;
            }
            1 => {
                self.untie(place);
                node.engine.drain(Duration::from_secs(1)).await;
                node.way.health.send_replace(Health::Dead);
                return;
            }
            2 => befall(&node, Health::Paused, dice.millis(200, 9_000)),
            3 => befall(&node, Health::Cut, dice.millis(200, 9_000)),
            4 => node.way.forgets.store(true, Ordering::Relaxed),
            5 => node.way.breaks.store(true, Ordering::Relaxed),
            6 if dice.below(3) == 0 => {
                // The store is away, for this node and for all others.
                let span = dice.millis(1_000, 30_000);
                self.nodes.iter().flatten().chain([&node]).for_each(|node| befall(node, Health::Cut, span));
            }
            7 => {
                let is_cut = self.untie(place);
                self.nodes[place] = Some(node);
                if !is_cut {
                    self.tie(place);
                }
                return;
            }
            _ => {}
        }
        self.nodes[place] = Some(node);
    }

    /// Makes everything right again.
    pub(crate) async fn heal(&mut self) {
        for place in 0..self.nodes.len() {
            match &self.nodes[place] {
                Some(node) => drop(node.way.health.send_replace(Health::Well)),
                None => self.start_again(place).await,
            }
            self.tie(place);
        }
    }

    /// Returns when a run has ended, as some node sees it.
    pub(crate) async fn ended(&self, run: &str) -> bool {
        let node = self.nodes.iter().flatten().next().unwrap();
        timeout(PATIENCE, node.engine.finished(run)).await.is_ok()
    }
}

/// Lets something happen to a node that is well, for a while.
fn befall(node: &Node, health: Health, span: Duration) {
    let begun = node.way.health.send_if_modified(|is| {
        let changes = *is == Health::Well;
        if changes {
            *is = health;
        }
        changes
    });
    if !begun {
        return;
    }
    let way = node.way.clone();
    tokio::spawn(async move {
        sleep(span).await;
        way.health.send_if_modified(|is| {
            let changes = *is == health;
            if changes {
                *is = Health::Well;
            }
            changes
        });
    });
}

fn is_well(node: &Node) -> bool {
    *node.way.health.borrow() == Health::Well && node.way.lease().is_current(node.way.lease().term())
}

/// Returns an ensemble of a few tasks that use every kind of tool.
pub(crate) fn ensemble() -> Ensemble {
    let first = support::task("buy", &["pay", "put", "look"]);
    let second = support::after(&["buy"], support::task("tell", &["pay"]));
    support::ensemble(vec![first, second])
}

fn script() -> ScriptedModel {
    let none = json!({ "input": "" });
    ScriptedModel::new()
        .in_task("buy", 0, Line::new().calls("pay", &none).calls("put", &none).calls("look", &none))
        .in_task("buy", 1, Line::new().calls("pay", &none))
        .in_task("buy", 2, Line::new().says("bought"))
        .in_task("tell", 0, Line::new().calls("pay", &none))
        .in_task("tell", 1, Line::new().says("told"))
        .otherwise(Line::new().says("well"))
}

/// Begins a run on a node.
pub(crate) async fn submit(node: &Node) -> Option<Arc<str>> {
    let compiled = support::compiled(&node.engine, &ensemble(), Request::default());
    timeout(Duration::from_secs(20), node.engine.submit(compiled)).await.ok()?.ok()
}

/// Sends a message to the agents of a run through this node; true when that is acknowledged.
pub(crate) async fn direct(engine: Engine, run: Arc<str>, content: String) -> bool {
    let directive = Directive {
        target: None,
        content: content.into(),
        priority: Priority::Normal,
        from: "test".to_owned(),
        on_behalf_of: None,
        created_at: 0,
        expires_at: None,
    };
    let command = Command::Direct { directive };
    timeout(Duration::from_secs(60), engine.command(&run, command)).await.is_ok_and(|done| done.is_ok())
}

/// Follows a run from node to node, as a client does that reconnects; returns the numbers of its events.
pub(crate) async fn follow(engines: impl Fn() -> Option<Engine>, run: Arc<str>) -> Vec<u64> {
    let mut seen = Vec::new();
    loop {
        // A client waits a little before it connects again.
        sleep(Duration::from_millis(100)).await;
        let Some(engine) = engines() else { continue };
        let from = seen.last().map_or(0, |last| last + 1);
        let Ok(Ok(mut tail)) = timeout(Duration::from_secs(3), engine.tail(&run, from)).await else { continue };
        drop(engine);
        // A connection to a node that stands still is given up.
        while let Ok(Some(Ok(frame))) = timeout(Duration::from_secs(8), tail.next()).await {
            match frame {
                Frame::Event { seq, .. } => seen.push(seq),
                Frame::Result { .. } => return seen,
                Frame::Delta { .. } => {}
            }
        }
    }
}

/// The way of a node to whoever it calls, where everything is written down.
#[derive(Clone)]
struct Outside {
    way: Arc<Way>,
    store: Arc<Store>,
    ledger: Ledger,
    checks: bool,
}

impl Outside {
    /// Connects, and writes down what is done at the moment the first byte leaves.
    async fn begin(&self, run: &str, key: String, once: bool) {
        self.way.connect(self.checks).await;
        let node = self.way.name_now();
        let is_owner = self.store.is_owner(run, &node);
        let is_readable = self.store.is_readable(run, self.way.version);
        self.ledger.lock().unwrap().push(Deed { key, once, node, is_owner, is_readable });
    }
}

/// A tool that is written down.
struct Recorded {
    info: Arc<ToolInfo>,
    outside: Outside,
    /// The calls of tools with a lock.
    locked: Open,
}

impl Tool for Recorded {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        async move {
            let Outside { way, store, .. } = &self.outside;
            let once = self.info.effect == EffectClass::Once;
            self.outside.begin(&invocation.run, invocation.key, once).await;
            let using = self.info.lock.as_ref().map(|_| self.locked.begin(store, way));
            sleep(Duration::from_millis(400)).await;
            drop(using);
            way.arrive().await;
            Answer::Done { text: "done".to_owned(), data: None }
        }
        .boxed()
    }
}

/// A model that is written down.
struct Guarded {
    script: ScriptedModel,
    outside: Outside,
    asked: Open,
}

impl Model for Guarded {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, consort_core::message::Failure>> {
        let outside = self.outside.clone();
        let asked = self.asked.clone();
        let script = self.script.clone();
        let answer = async move {
            let key = format!("{}/{}.{}.{}", ask.run, ask.conversation, ask.round, ask.attempt);
            outside.begin(&ask.run.clone(), key, false).await;
            let using = asked.begin(&outside.store, &outside.way);
            sleep(Duration::from_millis(300)).await;
            drop(using);
            outside.way.arrive().await;
            script.stream(ask)
        };
        stream::once(answer).flatten().boxed()
    }
}

/// Returns how often each call that must happen once was done.
pub(crate) fn once(ledger: &Ledger) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    for deed in ledger.lock().unwrap().iter().filter(|deed| deed.once) {
        *times.entry(deed.key.clone()).or_default() += 1;
    }
    times
}
