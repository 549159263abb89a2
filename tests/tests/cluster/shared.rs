//! Limits that several nodes share: the slots and the rate of a model, the lock of a tool, the places for runs and
//! the line of those that wait. Counted from outside there is one limit, no matter which node works.

use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use consort_core::catalog::{EffectClass, ToolInfo};
use consort_core::decide::Command;
use consort_core::draft::{Request, RequestOptions};
use consort_core::event::{CancelMode, EventKind};
use consort_core::queue::Priority;
use consort_core::spec::Kind;
use consort_log::cluster::Membership;
use consort_models::{Ask, Line, Model, Piece, ScriptedModel};
use consort_runtime::admission::{Capacity, Keep, Pool, Pools};
use consort_runtime::effects::Seams;
use consort_runtime::engine::{Engine, Error};
use consort_runtime::limits::{Limits, ModelLimit, parse_rate};
use consort_runtime::ring::Frame;
use consort_tools::{Answer, Invocation, Tool};
use futures::future::{BoxFuture, join_all, poll_immediate};
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::fleet::direct;
use super::link;
use super::sim::{Health, LEASE, Store, Way};
use crate::support::{self, compiled, events};

/// The time in which everything here is over.
const PATIENCE: Duration = Duration::from_secs(600);

/// The uses of something: those at this moment, the most at once, and the time of each.
#[derive(Clone, Default)]
struct Uses(Arc<Mutex<(usize, usize, Vec<Instant>)>>);

/// A use that lasts until it is dropped.
struct Use(Uses);

impl Uses {
    fn begin(&self) -> Use {
        let mut uses = self.0.lock().unwrap();
        uses.0 += 1;
        uses.1 = uses.1.max(uses.0);
        uses.2.push(Instant::now());
        Use(self.clone())
    }

    fn most(&self) -> usize {
        self.0.lock().unwrap().1
    }

    /// Returns the most uses that began within a second.
    fn most_in_a_second(&self) -> usize {
        let times = &self.0.lock().unwrap().2;
        let within =
            |from: &Instant| times.iter().filter(|at| *at >= from && **at - *from < Duration::from_secs(1)).count();
        times.iter().map(within).max().unwrap_or_default()
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.0.0.lock().unwrap().0 -= 1;
    }
}

/// A model that takes a while and counts its uses.
struct Counted {
    script: ScriptedModel,
    uses: Uses,
    way: Arc<Way>,
}

impl Model for Counted {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, consort_core::message::Failure>> {
        let uses = self.uses.clone();
        let script = self.script.clone();
        let way = self.way.clone();
        let asked = async move {
            way.connect(true).await;
            let using = uses.begin();
            sleep(Duration::from_millis(300)).await;
            way.arrive().await;
            drop(using);
            script.stream(ask)
        };
        stream::once(asked).flatten().boxed()
    }
}

/// A tool under a lock that counts its uses.
struct Door {
    info: Arc<ToolInfo>,
    uses: Uses,
    way: Arc<Way>,
}

impl Tool for Door {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, _invocation: Invocation) -> BoxFuture<'_, Answer> {
        async move {
            self.way.connect(true).await;
            let using = self.uses.begin();
            sleep(Duration::from_millis(200)).await;
            drop(using);
            Answer::Done { text: "through".to_owned(), data: None }
        }
        .boxed()
    }
}

/// Nodes that count together.
#[derive(Default)]
struct World {
    store: Arc<Store>,
    asked: Uses,
    passed: Uses,
}

/// The limits of a world.
#[derive(Clone, Copy)]
struct Limited {
    slots: u32,
    rate: Option<&'static str>,
    running: usize,
    queued: usize,
    of_all: Option<usize>,
}

const FREE: Limited = Limited { slots: 100, rate: None, running: 100, queued: usize::MAX, of_all: None };

struct Node {
    engine: Engine,
    way: Arc<Way>,
}

impl World {
    async fn node(&self, name: &str, limited: Limited) -> Node {
        let way = Way::new(&self.store, name);
        let none = json!({ "input": "" });
        let script = ScriptedModel::new()
            .in_task("a", 0, Line::new().calls("door", &none))
            .in_task("a", 1, Line::new().says("done"))
            .otherwise(Line::new().says("well"));
        let model = Counted { script, uses: self.asked.clone(), way: way.clone() };
        let info = ToolInfo {
            effect: EffectClass::Idempotent,
            lock: Some("door".to_owned()),
            timeout_ms: 1_000,
            ..ToolInfo::new("door", "A door")
        };
        let door = Door { info: Arc::new(info), uses: self.passed.clone(), way: way.clone() };
        let models = support::models(model, ScriptedModel::new());
        let rate = limited.rate.map(|rate| parse_rate(rate).unwrap());
        let limit = ModelLimit { max_concurrency: NonZeroU32::new(limited.slots).unwrap(), rate };
        let seams = Seams {
            cluster: way.clone(),
            node: Some(name.to_owned()),
            limits: Limits::new([("main".to_owned(), limit)], None),
            runs_of_all: limited.of_all,
            ..Seams::new(way.clone(), models, support::toolbox([door]))
        };
        let capacity = Capacity { running: limited.running, queued: limited.queued };
        let engine = Engine::limited(seams, Pools { runs: Pool { capacity, keep: Keep::All }, ..Pools::default() });
        engine.recover().await.unwrap();
        Node { engine, way }
    }

    async fn nodes<const N: usize>(&self, limited: Limited) -> [Node; N] {
        let nodes =
            join_all((0..N).map(|place| async move { self.node(&format!("node-{place}"), limited).await })).await;
        // A node that has looked into the line once knows that it is empty.
        sleep(Duration::from_secs(1)).await;
        nodes.try_into().ok().unwrap()
    }
}

async fn begin(node: &Node, priority: Option<Priority>) -> Result<Arc<str>, Error> {
    let options = RequestOptions { priority, ..RequestOptions::default() };
    let ensemble = support::ensemble(vec![support::task("a", &["door"])]);
    node.engine.submit(compiled(&node.engine, &ensemble, Request { options, ..Request::default() })).await
}

async fn end(node: &Node, runs: &[Arc<str>]) {
    for run in runs {
        timeout(PATIENCE, node.engine.finished(run)).await.unwrap_or_else(|_| panic!("{run} does not end"));
        assert!(node.engine.run(run).await.unwrap().ended());
    }
}

/// Returns when a run was begun.
async fn begun_at(world: &World, run: &str) -> u64 {
    let events = events(&world.store.log, run).await;
    events.iter().find(|event| matches!(event.kind, EventKind::RunAdopted { .. })).unwrap().at
}

#[tokio::test(start_paused = true)]
async fn slots_rates_and_locks_are_kept_by_all_nodes_together() {
    let world = World::default();
    let nodes: [Node; 3] = world.nodes(Limited { slots: 4, rate: Some("10/s"), ..FREE }).await;
    let mut runs = Vec::new();
    for place in 0..30 {
        runs.push(begin(&nodes[place % 3], None).await.unwrap());
    }
    end(&nodes[0], &runs).await;
    assert!(world.asked.most() <= 4 && world.asked.most() >= 3, "{} questions at once", world.asked.most());
    assert!(world.asked.most_in_a_second() <= 11, "{} questions in a second", world.asked.most_in_a_second());
    assert_eq!(world.passed.most(), 1, "the door is one node's at a time");
}

#[tokio::test(start_paused = true)]
async fn after_a_rest_as_many_requests_leave_in_a_second_as_the_rate_allows() {
    let world = World::default();
    let nodes: [Node; 3] = world.nodes(Limited { rate: Some("10/s"), ..FREE }).await;
    let first = begin(&nodes[0], None).await.unwrap();
    end(&nodes[0], &[first]).await;
    sleep(Duration::from_secs(5)).await;
    let mut runs = Vec::new();
    for place in 0..30 {
        runs.push(begin(&nodes[place % 3], None).await.unwrap());
    }
    end(&nodes[0], &runs).await;
    assert!(world.asked.most_in_a_second() <= 10, "{} questions in a second", world.asked.most_in_a_second());
}

#[tokio::test(start_paused = true)]
async fn requests_that_a_node_held_up_do_not_leave_together() {
    let world = World::default();
    let nodes: [Node; 3] = world.nodes(Limited { rate: Some("10/s"), ..FREE }).await;
    let mut runs = Vec::new();
    for place in 0..60 {
        runs.push(begin(&nodes[place % 3], None).await.unwrap());
    }
    for round in 0..6 {
        // Shorter than a lease: nobody takes its runs, and what it was about to send leaves when it wakes up.
        let way = &nodes[round % 3].way;
        way.health.send_replace(Health::Paused);
        sleep(Duration::from_millis(900)).await;
        way.health.send_replace(Health::Well);
        sleep(Duration::from_millis(700)).await;
    }
    end(&nodes[0], &runs).await;
    assert!(world.asked.most_in_a_second() <= 10, "{} questions in a second", world.asked.most_in_a_second());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_dies_gives_its_slots_back_and_its_lock_when_its_call_must_be_over() {
    let world = World::default();
    let [first, second]: [Node; 2] = world.nodes(Limited { slots: 2, ..FREE }).await;
    let mut runs = Vec::new();
    for _ in 0..6 {
        runs.push(begin(&first, None).await.unwrap());
    }
    sleep(Duration::from_millis(700)).await;
    first.way.health.send_replace(Health::Dead);
    first.engine.stop().await;
    let before = Instant::now();
    runs.push(begin(&second, None).await.unwrap());
    end(&second, &runs).await;
    assert!(before.elapsed() >= LEASE, "nobody takes what may be in use");
    assert!(world.asked.most() <= 2 && world.passed.most() == 1);
}

#[tokio::test(start_paused = true)]
async fn no_more_runs_are_active_than_all_nodes_together_may_have_and_whoever_has_work_gets_the_places() {
    let world = World::default();
    let nodes: [Node; 3] = world.nodes(Limited { running: 4, of_all: Some(5), ..FREE }).await;
    let mut runs = Vec::new();
    for place in 0..20 {
        runs.push(begin(&nodes[place % 2], None).await.unwrap());
    }
    let active = || nodes.iter().map(|node| node.engine.load(Kind::Run).active).sum::<usize>();
    let mut most = 0;
    let ended = end(&nodes[2], &runs);
    tokio::pin!(ended);
    loop {
        most = most.max(active());
        assert!(active() <= 5, "{} at once", active());
        tokio::select! {
            () = &mut ended => break,
            () = sleep(Duration::from_millis(5)) => {}
        }
    }
    assert_eq!(most, 5, "the places are used");
}

#[tokio::test(start_paused = true)]
async fn runs_wait_in_one_line_by_priority_and_age_whichever_node_took_them() {
    let world = World::default();
    let nodes: [Node; 2] = world.nodes(Limited { running: 1, queued: 8, ..FREE }).await;
    let mut begun = vec![begin(&nodes[0], None).await.unwrap(), begin(&nodes[1], None).await.unwrap()];
    let mut waiting = Vec::new();
    for (place, priority) in
        [Priority::Low, Priority::Normal, Priority::Critical, Priority::High].into_iter().cycle().take(8).enumerate()
    {
        sleep(Duration::from_millis(10)).await;
        waiting.push((priority, place, begin(&nodes[place % 2], Some(priority)).await.unwrap()));
    }
    assert!(matches!(begin(&nodes[0], None).await, Err(Error::Busy { .. })), "eight may wait, on all nodes together");
    waiting.sort_by_key(|(priority, place, _)| (std::cmp::Reverse(*priority), *place));
    let names: Vec<&str> = waiting.iter().map(|(_, _, run)| &**run).collect();
    let order: Vec<Option<usize>> = (0..8).map(Some).collect();
    for node in &nodes {
        assert_eq!(node.engine.queue_places(&names).await.unwrap(), order);
        assert_eq!(node.engine.queue_length().await.unwrap(), 8);
    }
    begun.extend(waiting.iter().map(|(_, _, run)| run.clone()));
    end(&nodes[1], &begun).await;
    let mut last = 0;
    for (_, _, run) in &waiting {
        let at = begun_at(&world, run).await;
        assert!(at >= last, "{run} went before one that was more urgent");
        last = at;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_in_the_line_takes_commands_from_any_node_and_keeps_its_place() {
    let world = World::default();
    let nodes: [Node; 2] = world.nodes(Limited { running: 1, ..FREE }).await;
    let mut runs = Vec::new();
    for place in 0..6 {
        runs.push(begin(&nodes[place % 2], None).await.unwrap());
        sleep(Duration::from_millis(1)).await;
    }
    let third = &runs[2];
    assert!(direct(nodes[1].engine.clone(), third.clone(), "be brief".to_owned()).await);
    assert_eq!(nodes[0].engine.queue_places(&[third]).await.unwrap(), [Some(0)]);
    let cancel = Command::Cancel { mode: CancelMode::Now, by: "test".to_owned() };
    nodes[0].engine.command(&runs[3], cancel).await.unwrap();
    assert!(nodes[1].engine.run(&runs[3]).await.unwrap().ended());
    assert_eq!(nodes[1].engine.queue_places(&[third, &runs[3], &runs[4]]).await.unwrap(), [Some(0), None, Some(1)]);
    // A node that takes requests and dies leaves nobody in its queue.
    nodes[0].way.health.send_replace(Health::Dead);
    nodes[0].engine.stop().await;
    end(&nodes[1], &runs).await;
    let told = events(&world.store.log, third).await;
    let is_told = |kind: &EventKind| matches!(kind, EventKind::DirectiveGiven { directive } if directive.content.as_str() == "be brief");
    assert_eq!(told.iter().filter(|event| is_told(&event.kind)).count(), 1);
    assert!(nodes[1].way.lease().is_current(nodes[1].way.lease().term()));
}

#[tokio::test(start_paused = true)]
async fn a_run_in_the_line_goes_on_though_the_sender_of_a_command_is_gone_half_way() {
    let world = World::default();
    let nodes: [Node; 2] = world.nodes(Limited { running: 1, queued: 64, ..FREE }).await;
    let mut runs = Vec::new();
    for place in 0..24 {
        runs.push(begin(&nodes[place % 2], None).await.unwrap());
    }
    // Each sender makes one step more than the one before, until the last has its answer.
    let mut was_answered = false;
    for (steps, run) in runs.iter().skip(4).enumerate() {
        let mut sent = pin!(direct(nodes[0].engine.clone(), run.clone(), "be brief".to_owned()));
        for _step in 0..steps {
            was_answered = poll_immediate(sent.as_mut()).await.is_some();
            if was_answered {
                break;
            }
            sleep(Duration::from_millis(1)).await;
        }
    }
    assert!(was_answered, "no sender had the time to be answered");
    end(&nodes[1], &runs).await;
}

/// Joins two nodes by a link; it ends when its tasks are dropped.
fn link(one: &Node, other: &Node) -> JoinSet<()> {
    link::join([(&one.engine, &one.way), (&other.engine, &other.way)])
}

/// Returns the numbers of the events of a run that a node shows, and the words between them.
async fn watched(node: &Node, run: &str) -> (Vec<u64>, Vec<Arc<str>>) {
    let mut seen = (Vec::new(), Vec::new());
    let mut tail = node.engine.tail(run, 0).await.unwrap();
    while let Some(frame) = timeout(PATIENCE, tail.next()).await.unwrap() {
        match frame.unwrap() {
            Frame::Event { seq, .. } => seen.0.push(seq),
            Frame::Delta { text, .. } => seen.1.push(text),
            Frame::Result { .. } => break,
        }
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn words_cross_a_link_and_without_one_only_events_do() {
    let world = World::default();
    let nodes: [Node; 2] = world.nodes(FREE).await;
    for is_linked in [true, false, true] {
        let ends = is_linked.then(|| link(&nodes[0], &nodes[1]));
        sleep(Duration::from_millis(10)).await;
        assert_eq!(nodes[0].engine.seams().links.has(&nodes[1].way.id()), is_linked);
        let run = begin(&nodes[0], None).await.unwrap();
        let (near, far) = tokio::join!(watched(&nodes[0], &run), watched(&nodes[1], &run));
        let all = events(&world.store.log, &run).await;
        let numbers: Vec<u64> = (0..all.len() as u64).collect();
        assert_eq!((&near.0, &far.0), (&numbers, &numbers), "each event once, in order");
        assert!(near.1.iter().any(|words| words.contains("done")), "{near:?}");
        assert_eq!(far.1.iter().any(|words| words.contains("done")), is_linked, "{far:?}");
        drop(ends);
        sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_over_a_link_is_not_waited_for_by_polls() {
    let world = World::default();
    let nodes: [Node; 2] = world.nodes(FREE).await;
    let _ends = link(&nodes[0], &nodes[1]);
    let run = begin(&nodes[0], None).await.unwrap();
    let before = Instant::now();
    assert!(direct(nodes[1].engine.clone(), run, "be brief".to_owned()).await);
    assert!(before.elapsed() < Duration::from_millis(100), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_command_that_ends_its_run_is_acknowledged_though_its_answer_is_late() {
    let world = World::default();
    let nodes: [Node; 2] = world.nodes(Limited { slots: 1, ..FREE }).await;
    let _ends = link(&nodes[0], &nodes[1]);
    let elsewhere = begin(&nodes[1], None).await.unwrap();
    let busy = begin(&nodes[0], None).await.unwrap();
    // It waits for the model, so that nothing of it is under way.
    let waits = begin(&nodes[0], None).await.unwrap();
    sleep(Duration::from_millis(20)).await;
    // What the command causes is stored, and its owner learns of that later.
    nodes[0].way.breaks.store(true, Ordering::Relaxed);
    let engine = nodes[1].engine.clone();
    let run = waits.clone();
    let cancel = Command::Cancel { mode: CancelMode::Now, by: "test".to_owned() };
    let sent = tokio::spawn(async move { engine.command(&run, cancel).await });
    while !nodes[1].engine.run(&waits).await.unwrap().ended() {
        sleep(Duration::from_millis(5)).await;
    }
    // Its sender looks again when another node says that there is something to look at.
    assert!(direct(nodes[0].engine.clone(), elsewhere.clone(), "be brief".to_owned()).await);
    let sent = sent.await.unwrap();
    assert!(sent.is_ok(), "{sent:?}");
    end(&nodes[0], &[busy, elsewhere]).await;
}
