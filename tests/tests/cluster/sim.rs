//! A store in memory that several nodes share, and the nodes' ways to it, which can be paused, cut and
//! made to lose an answer. Time is tokio's, so a test pauses it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use consort_core::event::COMMON_VERSION;
use consort_core::id::Millis;
use consort_core::queue::{Priority, Queue};
use consort_http::right;
use consort_log::clock::Clock;
use consort_log::cluster::{
    AGING_MS, Claimed, Cluster, Common, Keeper, Lease, Line, Membership, Moment, Node, Note, Notes, Ownership, Queued,
    Vacancy, Waiting,
};
use consort_log::{Append, Compact, Error, Log, MemoryLog, Order, Page, Query, Record, Seq};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

/// The lease of every node.
pub(crate) const LEASE: Duration = Duration::from_secs(2);
/// The time between two beats.
const BEAT: Duration = Duration::from_millis(500);
/// The time from the decision to call somebody to the first byte that leaves.
const CONNECTING: Duration = Duration::from_millis(80);
/// The time until another process notices what was written.
const LATE: Duration = Duration::from_millis(500);
/// The time until a node with a broken connection has another one, and has found out by writing what was stored.
const CONNECTING_AGAIN: Duration = Duration::from_millis(1_500);

/// The shared store. Its clock is tokio's.
pub(crate) struct Store {
    pub(crate) log: MemoryLog,
    state: Mutex<State>,
    numbered: AtomicUsize,
    clock: Clock,
}

impl Default for Store {
    fn default() -> Store {
        Store {
            log: MemoryLog::default(),
            state: Mutex::default(),
            numbered: AtomicUsize::default(),
            clock: Clock::system(),
        }
    }
}

#[derive(Default)]
struct State {
    members: BTreeMap<Arc<str>, Member>,
    owned: BTreeMap<Arc<str>, Owned>,
    duties: BTreeMap<String, (Arc<str>, Instant)>,
    notes: BTreeMap<String, (u64, String)>,
}

struct Member {
    name: String,
    until: Instant,
    /// The beginning of its unbroken contact with the store.
    since: Instant,
    last: Instant,
    draining: bool,
    evicted: bool,
    version: u32,
}

#[derive(Default)]
struct Owned {
    node: Option<Arc<str>>,
    epoch: u64,
    given_up: bool,
    /// The priority of a stream that waits in the line.
    in_line: Option<Priority>,
    /// The newest version that has written to it.
    version: u32,
}

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Well,
    /// Its tasks stand still at their next step to the outside.
    Paused,
    /// It does not reach the store.
    Cut,
    /// It never takes another step.
    Dead,
}

/// One node's way to the store.
pub(crate) struct Way {
    store: Arc<Store>,
    name: String,
    id: Mutex<Arc<str>>,
    keeper: Keeper,
    lease: Lease,
    pub(crate) health: watch::Sender<Health>,
    /// Whether the answer to the next claim is lost.
    pub(crate) forgets: AtomicBool,
    /// Whether the connection breaks after the next append, before its answer comes.
    pub(crate) breaks: AtomicBool,
    /// The version of the node's program.
    pub(crate) version: u32,
}

impl Store {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Returns whether this node is the owner of the run, according to the store.
    pub(crate) fn is_owner(&self, run: &str, node: &str) -> bool {
        self.state().owned.get(run).is_some_and(|owned| owned.node.as_deref() == Some(node))
    }

    /// Returns whether a node of this version can read all that was written to the run.
    pub(crate) fn is_readable(&self, run: &str, version: u32) -> bool {
        self.state().is_readable(run, version)
    }

    /// Returns whether the node is not evicted.
    pub(crate) fn is_there(&self, node: &Arc<str>) -> bool {
        self.state().is_there(node)
    }

    fn join(&self, name: &str, version: u32) -> Arc<str> {
        let id: Arc<str> = format!("{name}#{}", self.numbered.fetch_add(1, Ordering::Relaxed)).into();
        let now = Instant::now();
        let member = Member {
            name: name.to_owned(),
            until: now + LEASE,
            since: now,
            last: now,
            draining: false,
            evicted: false,
            version,
        };
        self.state().members.insert(id.clone(), member);
        id
    }
}

impl State {
    /// Extends a lease, and evicts those whose lease has passed; false when the node was evicted.
    fn beat(&mut self, id: &Arc<str>) -> bool {
        let now = Instant::now();
        let Some(member) = self.members.get_mut(id).filter(|member| !member.evicted) else { return false };
        if now - member.last > LEASE {
            member.since = now;
        }
        (member.last, member.until) = (now, now + LEASE);
        if now - member.since >= LEASE {
            self.members.values_mut().filter(|other| other.until < now).for_each(|other| other.evicted = true);
        }
        true
    }

    fn is_there(&self, node: &Arc<str>) -> bool {
        self.members.get(node).is_some_and(|member| !member.evicted)
    }

    fn is_readable(&self, stream: &str, version: u32) -> bool {
        self.owned.get(stream).is_none_or(|owned| owned.version <= version)
    }

    fn vacancy(&self, stream: &str) -> Option<Vacancy> {
        match self.owned.get(stream) {
            None => Some(Vacancy::Unowned),
            Some(Owned { node: Some(node), .. }) => (!self.is_there(node)).then_some(Vacancy::Evicted),
            Some(Owned { given_up: true, .. }) => Some(Vacancy::GivenUp),
            Some(Owned { .. }) => Some(Vacancy::Unowned),
        }
    }

    fn hand_to(&mut self, node: &Arc<str>, stream: &Arc<str>, reason: Vacancy) -> Claimed {
        let owned = self.owned.entry(stream.clone()).or_default();
        let version = owned.version;
        *owned = Owned { node: Some(node.clone()), epoch: owned.epoch + 1, version, ..Owned::default() };
        Claimed { stream: stream.clone(), epoch: owned.epoch, reason }
    }
}

impl Way {
    /// Joins the store under this name and beats from then on.
    pub(crate) fn new(store: &Arc<Store>, name: &str) -> Arc<Way> {
        Way::of_version(store, name, COMMON_VERSION)
    }

    /// Joins as a program of this version.
    pub(crate) fn of_version(store: &Arc<Store>, name: &str, version: u32) -> Arc<Way> {
        let began = Moment::now();
        let id = store.join(name, version);
        let (keeper, lease) = Keeper::new(began.after(LEASE));
        let way = Arc::new(Way {
            store: store.clone(),
            name: name.to_owned(),
            id: Mutex::new(id),
            keeper,
            lease,
            health: watch::Sender::new(Health::Well),
            forgets: AtomicBool::new(false),
            breaks: AtomicBool::new(false),
            version,
        });
        let beating = Arc::downgrade(&way);
        tokio::spawn(async move {
            loop {
                sleep(BEAT).await;
                let Some(way) = beating.upgrade() else { return };
                way.beat().await;
            }
        });
        way
    }

    pub(crate) fn name_now(&self) -> Arc<str> {
        self.id.lock().unwrap().clone()
    }

    async fn beat(&self) {
        let began = Moment::now();
        if self.reach().await.is_err() {
            return;
        }
        let id = self.name_now();
        if self.store.state().beat(&id) {
            self.arrive().await;
            self.keeper.extend(began.after(LEASE));
        } else {
            let began = Moment::now();
            *self.id.lock().unwrap() = self.store.join(&self.name, self.version);
            self.keeper.rejoined(began.after(LEASE));
        }
    }

    /// Returns once the node takes steps; never, when it is dead.
    pub(crate) async fn arrive(&self) {
        let mut health = self.health.subscribe();
        let _gone = health.wait_for(|health| matches!(health, Health::Well | Health::Cut)).await;
    }

    /// Connects to somebody, which takes a while, and then sends the first byte, if the node may act.
    pub(crate) async fn connect(&self, checks: bool) {
        self.arrive().await;
        sleep(CONNECTING).await;
        self.arrive().await;
        if checks {
            right::begin().await;
        }
    }

    /// Returns once the node takes steps, with an error when it does not reach the store.
    async fn reach(&self) -> Result<(), Error> {
        self.arrive().await;
        match *self.health.borrow() {
            Health::Cut => Err(Error::Unavailable("the node is cut off".to_owned())),
            Health::Well | Health::Paused | Health::Dead => Ok(()),
        }
    }

    /// Does something in the store; its answer arrives when the node takes steps again.
    fn ask<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&Store) -> Result<T, Error> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, Error>> {
        async move {
            self.reach().await?;
            let done = work(&self.store);
            self.arrive().await;
            done
        }
        .boxed()
    }
}

impl Log for Way {
    /// Refuses the owners of earlier epochs, as the store knows them from claims.
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        let id = self.name_now();
        let stored = self.ask(move |store| {
            let mut state = store.state();
            let owned = state.owned.get(&append.stream).map_or(0, |owned| owned.epoch);
            if append.epoch > 0 && append.epoch < owned {
                return Err(Error::Fenced);
            }
            let stream = append.stream.clone();
            let epoch = append.epoch;
            let version = append.version;
            store.log.append(append).now_or_never().unwrap()?;
            if epoch > 0 {
                let version = state.owned.get(&stream).map_or(version, |owned| owned.version.max(version));
                state.owned.insert(stream, Owned { node: Some(id), epoch, version, ..Owned::default() });
            }
            Ok(())
        });
        async move {
            let stored = stored.await;
            if self.breaks.swap(false, Ordering::Relaxed) {
                sleep(CONNECTING_AGAIN).await;
                self.arrive().await;
            }
            stored
        }
        .boxed()
    }

    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>> {
        let stream = stream.to_owned();
        self.ask(move |store| store.log.read(&stream, from, max).now_or_never().unwrap())
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>> {
        self.ask(move |store| store.log.list(query).now_or_never().unwrap())
    }

    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>> {
        self.ask(move |store| store.log.erase(streams).now_or_never().unwrap())
    }

    /// Changes half a second after the store did, as news that are polled do.
    fn news(&self, stream: &str) -> watch::Receiver<u64> {
        let mut written = self.store.log.news(stream);
        let told = watch::Sender::new(0);
        let receiver = told.subscribe();
        tokio::spawn(async move {
            while written.changed().await.is_ok() {
                sleep(LATE).await;
                if told.receiver_count() == 0 {
                    return;
                }
                told.send_modify(|told| *told += 1);
            }
        });
        receiver
    }
}

impl Compact for Way {
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.store.log.compact()
    }
}

impl Cluster for Way {
    fn common(&self) -> Option<&dyn Common> {
        Some(self)
    }

    fn version(&self) -> u32 {
        let state = self.store.state();
        let there = state.members.values().filter(|member| !member.evicted);
        there.map(|member| member.version).min().unwrap_or(self.version)
    }
}

/// Returns the line, the first first.
fn line(store: &Store, state: &State) -> Vec<Arc<str>> {
    let mut queue = Queue::new(AGING_MS);
    for (stream, started_at) in unfinished(store, &["run"]) {
        if let Some(priority) = state.owned.get(&stream).and_then(|owned| owned.in_line) {
            queue.push(priority, started_at, stream);
        }
    }
    queue.in_order()
}

impl Line for Way {
    fn queue(&self, waiting: Vec<Waiting>) -> BoxFuture<'_, Result<(), Error>> {
        let id = self.name_now();
        self.ask(move |store| {
            let mut state = store.state();
            for Waiting { claimed, priority } in waiting {
                let owned = state.owned.get_mut(&claimed.stream);
                let is_mine = |owned: &&mut Owned| owned.epoch == claimed.epoch && owned.node.as_ref() == Some(&id);
                if let Some(owned) = owned.filter(is_mine) {
                    let in_line = Some(priority);
                    let version = owned.version;
                    *owned = Owned { epoch: claimed.epoch + 1, in_line, version, ..Owned::default() };
                }
            }
            Ok(())
        })
    }

    fn next(&self, room: usize) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        let id = self.name_now();
        let forgets = self.forgets.swap(false, Ordering::Relaxed);
        self.ask(move |store| {
            let mut state = store.state();
            if state.members.get(&id).is_none_or(|member| member.draining || member.evicted) {
                return Ok(Vec::new());
            }
            let readable = line(store, &state).into_iter().filter(|stream| state.is_readable(stream, self.version));
            let first: Vec<Arc<str>> = readable.take(room).collect();
            let taken = first.iter().map(|stream| state.hand_to(&id, stream, Vacancy::Unowned)).collect();
            if forgets { Err(Error::Unavailable("the answer was lost".to_owned())) } else { Ok(taken) }
        })
    }

    fn queued<'a>(&'a self, streams: &'a [&'a str]) -> BoxFuture<'a, Result<Queued, Error>> {
        self.ask(move |store| {
            let line = line(store, &store.state());
            let place = |stream: &&str| line.iter().position(|other| **other == **stream);
            Ok(Queued { length: line.len(), before: streams.iter().map(place).collect() })
        })
    }
}

impl Notes for Way {
    fn note<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Note, Error>> {
        self.ask(move |store| {
            let state = store.state();
            let there = state.members.iter().filter(|(_, member)| !member.evicted);
            let nodes = there.map(|(id, _)| id.clone()).collect();
            let (version, text) = state.notes.get(name).cloned().unzip();
            Ok(Note { version: version.unwrap_or_default(), text, now: store.clock.now(), nodes })
        })
    }

    fn replace<'a>(&'a self, name: &'a str, version: u64, text: String) -> BoxFuture<'a, Result<bool, Error>> {
        let id = self.name_now();
        self.ask(move |store| {
            let mut state = store.state();
            let is_there = state.is_there(&id);
            let is_same = state.notes.get(name).map_or(0, |(version, _)| *version) == version;
            if is_there && is_same {
                state.notes.insert(name.to_owned(), (version + 1, text));
            }
            Ok(is_there && is_same)
        })
    }
}

impl Membership for Way {
    fn lease(&self) -> Lease {
        self.lease.clone()
    }

    fn id(&self) -> Arc<str> {
        self.name_now()
    }

    fn nodes(&self) -> BoxFuture<'_, Result<Vec<Node>, Error>> {
        self.ask(|store| {
            let unfinished = unfinished(store, &["run"]);
            let state = store.state();
            let owner = |run: &Arc<str>| state.owned.get(run).and_then(|owned| owned.node.clone());
            let there = state.members.iter().filter(|(_, member)| !member.evicted);
            let node = |(id, member): (&Arc<str>, &Member)| Node {
                id: id.clone(),
                name: member.name.clone(),
                address: String::new(),
                version: String::new(),
                lease_until: Some(0),
                draining: member.draining,
                runs: unfinished.iter().filter(|(run, _)| owner(run).as_ref() == Some(id)).count(),
            };
            Ok(there.map(node).collect())
        })
    }

    fn drain(&self) -> BoxFuture<'_, Result<(), Error>> {
        let id = self.name_now();
        self.ask(move |store| {
            store.state().members.get_mut(&id).into_iter().for_each(|member| member.draining = true);
            Ok(())
        })
    }

    fn duty(&self, name: &str) -> BoxFuture<'_, Result<bool, Error>> {
        let id = self.name_now();
        let name = name.to_owned();
        self.ask(move |store| {
            let now = Instant::now();
            let mut state = store.state();
            let (holder, until) = state.duties.entry(name).or_insert((id.clone(), now));
            if *holder != id && *until > now {
                return Ok(false);
            }
            (*holder, *until) = (id, now + LEASE);
            Ok(true)
        })
    }
}

impl Ownership for Way {
    fn claim<'a>(&'a self, kinds: &'a [&'a str], room: usize) -> BoxFuture<'a, Result<Vec<Claimed>, Error>> {
        let id = self.name_now();
        let is_current = self.lease.is_current(self.lease.term());
        let forgets = self.forgets.swap(false, Ordering::Relaxed);
        self.ask(move |store| {
            let mut state = store.state();
            if !is_current || state.members.get(&id).is_none_or(|member| member.draining || member.evicted) {
                return Ok(Vec::new());
            }
            let mut claimed = Vec::new();
            let waits = |stream: &str| state.owned.get(stream).is_some_and(|owned| owned.in_line.is_some());
            for (stream, reason) in
                unfinished(store, kinds).into_iter().filter_map(|(s, _)| Some((s.clone(), state.vacancy(&s)?)))
            {
                if claimed.len() < room && !waits(&stream) && state.is_readable(&stream, self.version) {
                    claimed.push((stream, reason));
                }
            }
            let claimed = claimed.iter().map(|(stream, reason)| state.hand_to(&id, stream, *reason)).collect();
            if forgets { Err(Error::Unavailable("the answer was lost".to_owned())) } else { Ok(claimed) }
        })
    }

    fn take<'a>(&'a self, stream: &'a str) -> BoxFuture<'a, Result<Option<Claimed>, Error>> {
        let id = self.name_now();
        self.ask(move |store| {
            let mut state = store.state();
            let is_allowed = state.is_there(&id) && state.is_readable(stream, self.version);
            let reason = state.vacancy(stream).filter(|_| is_allowed);
            Ok(reason.map(|reason| state.hand_to(&id, &stream.into(), reason)))
        })
    }

    fn mine<'a>(&'a self, kinds: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Claimed>, Error>> {
        let id = self.name_now();
        self.ask(move |store| {
            let unfinished = unfinished(store, kinds);
            let state = store.state();
            let mine = |(stream, _): (Arc<str>, Millis)| {
                let owned = state.owned.get(&stream).filter(|owned| owned.node.as_ref() == Some(&id))?;
                Some(Claimed { epoch: owned.epoch, stream, reason: Vacancy::Unowned })
            };
            Ok(unfinished.into_iter().filter_map(mine).collect())
        })
    }

    fn give_up(&self, claimed: Vec<Claimed>) -> BoxFuture<'_, Result<(), Error>> {
        let id = self.name_now();
        self.ask(move |store| {
            let mut state = store.state();
            for Claimed { stream, epoch, .. } in claimed {
                let owned = state.owned.get_mut(&stream);
                if let Some(owned) = owned.filter(|owned| owned.epoch == epoch && owned.node.as_ref() == Some(&id)) {
                    let version = owned.version;
                    *owned = Owned { epoch: epoch + 1, given_up: true, version, ..Owned::default() };
                }
            }
            Ok(())
        })
    }
}

/// Returns the streams of these kinds that have not ended, the oldest first, with their start.
fn unfinished(store: &Store, kinds: &[&str]) -> Vec<(Arc<str>, Millis)> {
    let list = |kind: &&str| {
        let order = Order::OldestStart;
        let kind = Some((*kind).to_owned());
        let query = Query { kind, ended: Some(false), order, limit: usize::MAX, ..Query::default() };
        store.log.list(query).now_or_never().unwrap().unwrap().rows
    };
    kinds.iter().flat_map(list).map(|(stream, row)| (stream, row.started_at)).collect()
}
