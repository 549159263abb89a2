//! The network as one ensemble sees it: its links, and what it heard over
//! them. A cheap handle; the state behind it is changed under one short lock.

use std::collections::HashSet;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use consort_core::dynamic::NETWORK;
use consort_core::id::Millis;
use consort_log::clock::Clock;
use consort_tools::busy;
use consort_tools::{Account, DynamicToolProvider, Tool};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::fit::{fit, listed};
use crate::gone::Gone;
use crate::intake::FRAME_MAX;
use crate::link;
use crate::links::{Link, Links, Parcel, Pending, Side};
use crate::remote::NetworkToolCatalog;
use crate::roster::CapabilityRegistry;
use crate::transport::{Address, Connection, Transport};
use crate::wire::{Capability, CapabilityKind, CapacityUpdate, Complaint, Frame, Hello, Progress, Response};
use crate::work::{Request, Work};

/// Frames waiting to be sent over one link; whoever sends more waits.
pub(crate) const OUTBOX_MAX: usize = 256;

/// Bytes of what this ensemble says that it shares.
const INTRODUCTION_MAX: usize = 1_000_000;

/// How this ensemble appears to others, and who they are.
#[derive(Clone, Debug, PartialEq)]
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

impl Options {
    /// An ensemble of this name with no peers of its own.
    pub fn new(name: &str) -> Options {
        Options {
            name: name.to_owned(),
            realm: None,
            lease: Duration::from_secs(15),
            max_hops: 8,
            shareable: true,
            peers: Vec::new(),
        }
    }

    /// How long a peer that is away is waited for.
    pub(crate) fn patience(&self) -> Duration {
        self.lease * 2
    }
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
    state: Mutex<Links>,
    clock: Clock,
    /// Counts links that came or went.
    changes: watch::Sender<u64>,
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
    /// Why there is none, or what is wrong with what it says about itself.
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
    /// What this ensemble is called.
    pub fn name(&self) -> &str {
        &self.inner.options.name
    }

    /// A network with no links yet, on which this ensemble shares nothing.
    pub fn new(options: Options, transport: Arc<dyn Transport>) -> Network {
        let state = Mutex::default();
        let changes = watch::Sender::new(0);
        let inner = Arc::new(Inner { options, transport, state, clock: Clock::system(), changes });
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
    pub async fn accept(&self, connection: Connection, hello: Hello) {
        let _refused = link::session(self, connection, hello, Side::Accepted).await;
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
        let told = Frame::CapacityUpdate(self.capacity()).text();
        for outbox in self.state().outboxes() {
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
        let configured: HashSet<&str> = self.inner.options.peers.iter().map(|(name, _)| name.as_str()).collect();
        let others = state.peers().map(|peer| &**peer).filter(|peer| !configured.contains(peer));
        let names = self.inner.options.peers.iter().map(|(name, _)| name.as_str()).chain(others);
        names.map(|name| state.view(name)).collect()
    }

    /// Peers that went away and are not back, the newest first.
    pub fn gone(&self) -> Vec<Gone> {
        self.state().gone()
    }

    /// Counts links that came or went.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// Returns once a link has come or gone and there is one to the peer.
    pub(crate) async fn linked(&self, peer: &str, changes: &mut watch::Receiver<u64>) {
        while changes.changed().await.is_ok() {
            if self.state().best(peer).is_some() {
                return;
            }
        }
        pending().await
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

    /// What this ensemble says about itself to whom it dials, as far as it fits
    /// into a frame of the usual size.
    pub fn introduction(&self) -> Hello {
        let options = &self.inner.options;
        Hello {
            ensemble: Some(options.name.clone()),
            realm: options.realm.clone(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            shared_capabilities: listed(self.shared(), INTRODUCTION_MAX),
            lease_ms: Some(u64::try_from(options.lease.as_millis()).unwrap_or(u64::MAX)),
            max_frame_bytes: Some(FRAME_MAX),
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
        let believed = busy::in_place(|| hello.believed(&self.inner.options.name));
        let number = self.state().join(Link::new(side, believed, outbox), self.inner.clock.now());
        self.inner.changes.send_modify(|count| *count += 1);
        Joined { network: self.clone(), number }
    }

    /// A request ready to be sent over a link to the peer. What comes of it
    /// arrives at the first receiver, that it is leaving at the second; both end
    /// without a word when the link goes.
    pub(crate) fn post(&self, peer: &str, request: &Request, account: &Account) -> Result<Posted, String> {
        let mut state = self.state();
        let link = state.best(peer).ok_or_else(|| format!("{peer} is not connected"))?;
        let text = fit(request.clone().frame(), link.hello.frame_max());
        let text = text.map_err(|why| format!("the request cannot be sent to {peer}: {why}"))?;
        let (answered, answer) = oneshot::channel();
        let (leaving, left) = oneshot::channel();
        let (capability, kind) = (request.capability().to_owned(), request.kind());
        let pending = Pending { capability, kind, answered, account: account.clone(), progress: None };
        link.pending.insert(request.id().to_owned(), pending);
        let parcel = Parcel { text, leaving: Some(leaving) };
        Ok(Posted { outbox: link.outbox.clone(), parcel, answer, left })
    }

    /// Tells a peer that a request is not wanted any more, now or when it is back.
    pub(crate) fn cancel(&self, peer: &str, id: &str) {
        self.state().owe(peer, id);
    }

    pub(crate) fn trouble(&self, peer: &str, why: String) {
        self.state().trouble(peer, why);
    }

    fn state(&self) -> MutexGuard<'_, Links> {
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

/// A request that is ready to be sent, and what it then waits for.
pub(crate) struct Posted {
    pub(crate) outbox: mpsc::Sender<Parcel>,
    pub(crate) parcel: Parcel,
    pub(crate) answer: oneshot::Receiver<Response>,
    pub(crate) left: oneshot::Receiver<()>,
}

/// A link that is part of the network until this is dropped.
pub(crate) struct Joined {
    network: Network,
    number: u64,
}

impl Joined {
    /// Takes who waits for the answer to a request.
    fn waiting(&self, request_id: &str) -> Option<Pending> {
        self.network.state().get(self.number).and_then(|(_, pending)| pending.remove(request_id))
    }

    /// The peer says that a request cannot be done.
    pub(crate) fn refused(&self, complaint: &Complaint) {
        let id = complaint.request_id.as_deref().unwrap_or_default();
        if let Some(waiting) = self.waiting(id) {
            let _gave_up = waiting.answered.send(Response::rejected(id, complaint.message.as_str()));
        }
    }

    /// Hands an answer to whoever waits for it; one of the wrong kind is none.
    pub(crate) fn answered(&self, kind: CapabilityKind, response: Response) {
        if let Some(waiting) = self.waiting(&response.request_id) {
            let id = &response.request_id;
            let fits = waiting.kind == kind;
            let misfit = || Response::failed(id, "it was answered with the frame of another kind of request");
            let _gave_up = waiting.answered.send(if fits { response } else { misfit() });
        }
    }

    /// The peer says anew who it is and what it shares.
    pub(crate) fn introduced(&self, hello: Hello) {
        let believed = busy::in_place(|| hello.believed(&self.network.inner.options.name));
        self.network.state().introduced(self.number, believed);
        self.network.inner.changes.send_modify(|count| *count += 1);
    }

    /// Takes how far a request is.
    pub(crate) fn progressed(&self, progress: Progress) {
        let mut state = self.network.state();
        let Some((peer, pending)) = state.get(self.number) else { return };
        tracing::debug!(%peer, request = progress.request_id, ?progress, "a peer says how far it is");
        if let Some(waiting) = pending.get_mut(&progress.request_id) {
            waiting.account.progress(progress.clone().into());
            waiting.progress = Some(progress);
        }
    }

    /// Takes how busy the peer is.
    pub(crate) fn heard(&self, update: CapacityUpdate) {
        self.network.state().heard(self.number, update);
    }

    /// Sends what is still owed to the peer.
    pub(crate) fn pay(&self) {
        let mut state = self.network.state();
        if let Some(peer) = state.get(self.number).map(|(peer, _)| peer.clone()) {
            state.pay(&peer);
        }
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        self.network.state().leave(self.number, self.network.inner.clock.now());
        self.network.inner.changes.send_modify(|count| *count += 1);
    }
}
