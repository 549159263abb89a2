//! The network as one ensemble sees it: its links, and what it heard over
//! them. A cheap handle; the state behind it is changed under one short lock.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use consort_core::dynamic::NETWORK;
use consort_core::id::Millis;
use consort_runtime::clock::Clock;
use consort_runtime::tool::{Account, DynamicToolProvider, Tool};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::gone::{Departed, Gone};
use crate::link;
use crate::remote::NetworkToolCatalog;
use crate::roster::CapabilityRegistry;
use crate::transport::{Address, Connection, Transport};
use crate::wire::{Capability, CapacityUpdate, Frame, Hello, PeerHello, Progress, RequestCancel, Response};
use crate::work::{Request, Work};

/// Frames waiting to be sent over one link; whoever sends more waits.
pub(crate) const OUTBOX_MAX: usize = 256;
/// Cancels kept for a peer that is away; older ones have run into their deadlines.
const OWED_MAX: usize = 1024;

/// Requests under way that are listed for one peer.
const LISTED_MAX: usize = 100;

/// How this ensemble appears to others, and who they are.
#[derive(Clone)]
pub struct Options {
    /// What it is called.
    pub name: String,
    /// The group it belongs to.
    pub realm: Option<String>,
    /// How often it says that it is there; silent for twice that, it is gone.
    pub lease: Duration,
    /// How many ensembles a request may pass through.
    pub max_hops: u32,
    /// Whether ensembles of other realms may use what it shares.
    pub shareable: bool,
    /// The peers it dials, by the names they have here.
    pub peers: Vec<(String, Address)>,
}

/// A handle to the network.
#[derive(Clone)]
pub struct Network {
    inner: Arc<Inner>,
    /// Who does what peers ask for; nobody before it is said, and nobody for
    /// those who only call.
    work: Option<Arc<OnceLock<Arc<dyn Work>>>>,
}

struct Inner {
    options: Options,
    transport: Arc<dyn Transport>,
    state: Mutex<State>,
    clock: Clock,
    /// Counts links that came or went.
    changes: watch::Sender<u64>,
    /// Calls whose callers did not wait.
    background: Mutex<JoinSet<()>>,
}

#[derive(Default)]
struct State {
    registry: CapabilityRegistry,
    links: BTreeMap<u64, Link>,
    next: u64,
    /// The names configured peers give themselves.
    aliases: HashMap<String, Arc<str>>,
    /// Requests to cancel when their peer is back.
    owed: HashMap<Arc<str>, VecDeque<String>>,
    /// Why a configured peer is not connected.
    troubles: HashMap<String, String>,
    departed: Departed,
}

struct Link {
    peer: Arc<str>,
    side: Side,
    hello: Hello,
    since: Millis,
    outbox: mpsc::Sender<Parcel>,
    /// Who waits for which answer.
    pending: HashMap<String, Pending>,
}

/// A request somebody waits for.
struct Pending {
    /// What was asked for.
    capability: String,
    answered: oneshot::Sender<Response>,
    /// Who is told how far it is.
    account: Account,
    progress: Option<Progress>,
}

/// Who opened a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// This ensemble did, to the peer of this name.
    Dialled(String),
    /// The other one did.
    Accepted,
}

/// A frame on its way, and whether it may have arrived.
pub(crate) struct Parcel {
    pub(crate) frame: Frame,
    /// Told right before the frame is handed to the connection.
    pub(crate) leaving: Option<oneshot::Sender<()>>,
}

impl From<Frame> for Parcel {
    fn from(frame: Frame) -> Parcel {
        Parcel { frame, leaving: None }
    }
}

/// The tasks that keep links to configured peers; dropping it closes them.
pub struct Dialling(#[expect(dead_code, reason = "held for being dropped")] JoinSet<()>);

/// A peer as others see it.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerView {
    /// What it is called here.
    pub name: String,
    /// Whether there is a link to it.
    pub connected: bool,
    /// Since when.
    pub since: Option<Millis>,
    /// Whether the link was opened from here.
    pub dialled: bool,
    /// Why there is none.
    pub trouble: Option<String>,
    /// What it said about itself.
    pub hello: Option<Hello>,
    /// How busy it is.
    pub capacity: Option<CapacityUpdate>,
    /// What it was asked for and has not answered, as far as it is listed.
    pub requests: Vec<RequestView>,
}

/// Something a peer was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestView {
    /// Which request.
    pub id: String,
    /// What was asked for.
    pub capability: String,
    /// How far it is, as the peer says.
    pub progress: Option<Progress>,
}

impl Network {
    /// A network with no links yet, on which this ensemble shares nothing.
    pub fn new(options: Options, transport: Arc<dyn Transport>) -> Network {
        let (state, changes, background) = (Mutex::default(), watch::Sender::new(0), Mutex::default());
        let clock = Clock::system();
        let inner = Arc::new(Inner { options, transport, state, clock, changes, background });
        Network { inner, work: Some(Arc::default()) }
    }

    /// Says who does what peers ask for; to be said once, before links are opened.
    pub fn offer(&self, work: Arc<dyn Work>) {
        if let Some(offered) = &self.work {
            let _first = offered.set(work);
        }
    }

    /// The tools of peers, for a toolbox that this network's own work uses too:
    /// it does not keep the network alive.
    pub fn tools(&self) -> Arc<dyn DynamicToolProvider> {
        Arc::new(PeerTools(Arc::downgrade(&self.inner)))
    }

    /// Opens a link to every configured peer, and again whenever it breaks.
    pub fn dial(&self) -> Dialling {
        let mut dials = JoinSet::new();
        for (name, address) in &self.inner.options.peers {
            dials.spawn(link::keep(self.clone(), name.clone(), address.clone()));
        }
        Dialling(dials)
    }

    /// Says hello to whoever has connected and keeps the link until it ends.
    pub async fn answer(&self, connection: Connection) {
        link::answer(self, connection).await;
    }

    /// Keeps a link that a peer opened, until it ends.
    pub async fn accept(&self, connection: Connection, hello: PeerHello) {
        link::session(self, connection, hello.into(), Side::Accepted).await;
    }

    /// Does what a client asks for that is no ensemble, until it is gone.
    pub async fn attend(&self, connection: Connection) {
        link::attend(self, connection).await;
    }

    /// Takes no more work for peers on, and tells them so.
    pub fn drain(&self) {
        if let Some(work) = self.work() {
            work.drain();
        }
        let told = Frame::CapacityUpdate(self.capacity());
        let outboxes: Vec<_> = self.state().links.values().map(|link| link.outbox.clone()).collect();
        for outbox in outboxes {
            let _full = outbox.try_send(told.clone().into());
        }
    }

    /// What is known about this ensemble and its peers.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Looks something up in what was heard so far.
    pub fn registry<T>(&self, look: impl FnOnce(&CapabilityRegistry) -> T) -> T {
        look(&self.state().registry)
    }

    /// What this ensemble shares.
    pub fn shared(&self) -> Vec<Capability> {
        self.work().map(|work| work.shared()).unwrap_or_default()
    }

    /// The peers, configured ones first, and how they are.
    pub fn peers(&self) -> Vec<PeerView> {
        let state = self.state();
        let mut views: Vec<PeerView> = self.inner.options.peers.iter().map(|(name, _)| state.view(name)).collect();
        for link in state.links.values() {
            if !views.iter().any(|view| *view.name == *link.peer) {
                views.push(state.view(&link.peer));
            }
        }
        views
    }

    /// Peers that went away and are not back, the newest first.
    pub fn gone(&self) -> Vec<Gone> {
        self.state().departed.list()
    }

    /// Counts links that came or went.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.inner.transport
    }

    pub(crate) fn work(&self) -> Option<&Arc<dyn Work>> {
        self.work.as_ref()?.get()
    }

    /// The same network to somebody who only calls: a call under way must not
    /// keep the work alive that it is part of.
    pub(crate) fn for_calls(&self) -> Network {
        Network { inner: self.inner.clone(), work: None }
    }

    /// What this ensemble says about itself to whom it dials.
    pub fn introduction(&self) -> PeerHello {
        let options = &self.inner.options;
        PeerHello {
            ensemble: options.name.clone(),
            realm: options.realm.clone(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            shared_capabilities: self.shared(),
            lease_ms: Some(u64::try_from(options.lease.as_millis()).unwrap_or(u64::MAX)),
        }
    }

    /// How busy this ensemble is.
    pub fn capacity(&self) -> CapacityUpdate {
        let options = &self.inner.options;
        let load = self.work().map(|work| work.load()).unwrap_or_default();
        CapacityUpdate {
            ensemble: options.name.clone(),
            realm: options.realm.clone(),
            status: load.availability(),
            current_load: load.share(),
            max_concurrent: load.max as u64,
            shareable: options.shareable,
        }
    }

    /// Takes a new link in; what the peer shares is known from here on.
    pub(crate) fn join(&self, side: Side, hello: Hello, outbox: mpsc::Sender<Parcel>) -> Joined {
        let mut state = self.state();
        let peer = state.name(&side, &hello);
        state.troubles.remove(&*peer);
        state.next += 1;
        let number = state.next;
        let since = self.0.clock.now();
        state.links.insert(number, Link { peer: peer.clone(), side, hello, since, outbox, pending: HashMap::new() });
        state.departed.came(&peer);
        state.refresh(&peer);
        state.pay(&peer);
        drop(state);
        self.inner.changes.send_modify(|count| *count += 1);
        Joined { network: self.clone(), number }
    }

    /// Sends a request over a link to the peer. What comes of it arrives at
    /// the first receiver, that it is leaving at the second; both end without
    /// a word when the link goes.
    pub(crate) fn post(
        &self,
        peer: &str,
        request: &Request,
        account: &Account,
    ) -> Option<(mpsc::Sender<Parcel>, Parcel, Waiting)> {
        let mut state = self.state();
        let link = state.link(peer)?;
        let (answered, answer) = oneshot::channel();
        let (leaving, left) = oneshot::channel();
        let capability = request.capability().to_owned();
        let pending = Pending { capability, answered, account: account.clone(), progress: None };
        link.pending.insert(request.id().to_owned(), pending);
        let parcel = Parcel { frame: request.clone().frame(), leaving: Some(leaving) };
        Some((link.outbox.clone(), parcel, Waiting { answer, left }))
    }

    /// Tells a peer that a request is not wanted any more, now or when it is back.
    pub(crate) fn cancel(&self, peer: &str, id: &str) {
        let mut state = self.state();
        for link in state.links.values_mut().filter(|link| &*link.peer == peer) {
            link.pending.retain(|waiting, pending| waiting != id || !pending.answered.is_closed());
        }
        let owed = state.owed.entry(peer.into()).or_default();
        if owed.len() >= OWED_MAX {
            owed.pop_front();
        }
        owed.push_back(id.to_owned());
        state.pay(&peer.into());
    }

    pub(crate) fn trouble(&self, peer: &str, why: String) {
        self.state().troubles.insert(peer.to_owned(), why);
    }

    /// Goes on with a call nobody waits for, as long as there is a network.
    pub(crate) fn background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut background = self.inner.background.lock().unwrap_or_else(PoisonError::into_inner);
        while background.try_join_next().is_some() {}
        background.spawn(work);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks tools of peers up as long as there is a network.
struct PeerTools(Weak<Inner>);

impl PeerTools {
    fn network(&self) -> Option<Network> {
        Some(Network { inner: self.0.upgrade()?, work: None })
    }
}

impl DynamicToolProvider for PeerTools {
    fn name(&self) -> &str {
        NETWORK
    }

    fn resolve(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.network().into_iter().flat_map(|network| NetworkToolCatalog::all(&network).resolve());
        tools.map(|tool| -> Arc<dyn Tool> { Arc::new(tool) }).collect()
    }

    fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.network()?.tool(name)
    }
}

/// What a request waits for.
pub(crate) struct Waiting {
    pub(crate) answer: oneshot::Receiver<Response>,
    pub(crate) left: oneshot::Receiver<()>,
}

/// A link that is part of the network until this is dropped.
pub(crate) struct Joined {
    network: Network,
    number: u64,
}

impl Joined {
    /// Hands an answer to whoever waits for it.
    pub(crate) fn answered(&self, response: Response) {
        let mut state = self.network.state();
        let waiting = state.links.get_mut(&self.number).and_then(|link| link.pending.remove(&response.request_id));
        drop(state);
        if let Some(waiting) = waiting {
            let _gave_up = waiting.answered.send(response);
        }
    }

    /// Takes how far a request is.
    pub(crate) fn progressed(&self, progress: Progress) {
        let mut state = self.network.state();
        let Some(link) = state.links.get_mut(&self.number) else { return };
        tracing::debug!(peer = %link.peer, request = progress.request_id, ?progress, "a peer says how far it is");
        if let Some(waiting) = link.pending.get_mut(&progress.request_id) {
            waiting.account.progress(progress.clone().into());
            waiting.progress = Some(progress);
        }
    }

    /// Takes how busy the peer is.
    pub(crate) fn heard(&self, update: CapacityUpdate) {
        let mut state = self.network.state();
        if let Some(peer) = state.links.get(&self.number).map(|link| link.peer.clone()) {
            state.registry.capacity(&peer, update);
        }
    }

    /// Sends what is still owed to the peer.
    pub(crate) fn pay(&self) {
        let mut state = self.network.state();
        if let Some(peer) = state.links.get(&self.number).map(|link| link.peer.clone()) {
            state.pay(&peer);
        }
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let mut state = self.network.state();
        if let Some(link) = state.links.remove(&self.number) {
            state.refresh(&link.peer);
            if state.link(&link.peer).is_none() {
                state.departed.went(link.peer, self.network.inner.clock.now(), link.hello);
            }
        }
        drop(state);
        self.network.inner.changes.send_modify(|count| *count += 1);
    }
}

impl State {
    /// What the peer at the other end is called here: a configured name holds
    /// for whoever gives itself the name that peer gave itself.
    fn name(&mut self, side: &Side, hello: &Hello) -> Arc<str> {
        match (side, &hello.ensemble) {
            (Side::Dialled(name), Some(announced)) => {
                let name: Arc<str> = name.as_str().into();
                self.aliases.insert(announced.clone(), name.clone());
                self.rename(announced, &name);
                name
            }
            (Side::Dialled(name), None) => name.as_str().into(),
            (Side::Accepted, Some(announced)) => {
                self.aliases.get(announced).cloned().unwrap_or_else(|| plain(announced))
            }
            (Side::Accepted, None) => "unknown".into(),
        }
    }

    /// Links a peer opened before it was known by its configured name.
    fn rename(&mut self, announced: &str, name: &Arc<str>) {
        let stale: Vec<u64> = self
            .links
            .iter()
            .filter(|(_, link)| link.peer == plain(announced) && link.peer != *name)
            .map(|(n, _)| *n)
            .collect();
        for number in stale {
            if let Some(link) = self.links.get_mut(&number).filter(|link| link.side == Side::Accepted) {
                link.peer = name.clone();
            }
        }
        self.refresh(&plain(announced));
    }

    /// The link to use: one that was dialled knows whom it reached.
    fn link(&mut self, peer: &str) -> Option<&mut Link> {
        let links = self.links.values_mut().filter(|link| &*link.peer == peer && !link.outbox.is_closed());
        links.min_by_key(|link| link.side == Side::Accepted)
    }

    /// What a peer shares is what its best link says; nothing without one.
    fn refresh(&mut self, peer: &Arc<str>) {
        match self.link(peer).map(|link| link.hello.clone()) {
            Some(hello) => self.registry.register(peer, hello.realm.as_deref(), hello.shared_capabilities),
            None => self.registry.unregister(peer),
        }
    }

    /// Sends the cancels a peer is owed, as far as there is room.
    fn pay(&mut self, peer: &Arc<str>) {
        let Some(mut owed) = self.owed.remove(peer) else { return };
        if let Some(link) = self.link(peer) {
            while let Some(request_id) = owed.pop_front() {
                let cancel = Frame::RequestCancel(RequestCancel { request_id: request_id.clone() });
                if link.outbox.try_send(cancel.into()).is_err() {
                    owed.push_front(request_id);
                    break;
                }
            }
        }
        if !owed.is_empty() {
            self.owed.insert(peer.clone(), owed);
        }
    }

    /// What a peer has been asked for, those first whose ids are.
    fn requests(&self, peer: &str) -> Vec<RequestView> {
        let links = self.links.values().filter(|link| &*link.peer == peer);
        let mut requests: Vec<_> = links.flat_map(|link| &link.pending).collect();
        requests.retain(|(_, pending)| !pending.answered.is_closed());
        requests.sort_by_key(|(id, _)| *id);
        let view = |(id, pending): (&String, &Pending)| RequestView {
            id: id.clone(),
            capability: pending.capability.clone(),
            progress: pending.progress.clone(),
        };
        requests.into_iter().take(LISTED_MAX).map(view).collect()
    }

    fn view(&self, name: &str) -> PeerView {
        let link = self.links.values().find(|link| &*link.peer == name);
        PeerView {
            name: name.to_owned(),
            connected: link.is_some(),
            since: link.map(|link| link.since),
            dialled: link.is_some_and(|link| link.side != Side::Accepted),
            trouble: self.troubles.get(name).cloned(),
            hello: link.map(|link| link.hello.clone()),
            capacity: self.registry.capacity_of(name).cloned(),
            requests: self.requests(name),
        }
    }
}

/// A name as it can stand before the dot of a tool's name.
fn plain(name: &str) -> Arc<str> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    name.chars().map(plain).collect::<String>().into()
}
