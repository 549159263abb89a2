//! The network as one ensemble sees it: its links, and the information received
//! over them. A cheap handle; the state behind it is changed under one short lock.

use std::collections::HashSet;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use consort_core::dynamic::NETWORK;
use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_log::clock::Clock;
use consort_tools::busy;
use consort_tools::{Account, DynamicToolProvider, Tool};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::agents::{self, AgentAddress, Agents};
use crate::departed::DepartedPeer;
use crate::frame_size::{fit, listed};
use crate::limits::{FRAME_MAX, PROGRESS_EVERY, RESULT_MAX, WORDS_MAX, cut};
use crate::link;
use crate::links::{Link, Links, OutgoingFrame, Pending, Side};
use crate::roster::CapabilityRegistry;
use crate::transport::{Address, Connection, Transport};
use crate::wire::{Capability, CapabilityKind, CapacityUpdate, Complaint, Frame, Hello, Progress, Response};
use crate::work::{Request, Work};

/// The maximum number of frames waiting to be sent over one link; further senders wait.
pub(crate) const OUTBOX_MAX: usize = 256;

/// The maximum size in bytes of this ensemble's list of shared capabilities.
const INTRODUCTION_MAX: usize = 1_000_000;

/// The identity of this ensemble, and its configured peers.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The name of this ensemble.
    pub name: String,
    /// The group it belongs to.
    pub realm: Option<String>,
    /// The interval of its signs of life; after twice that without one, it counts as gone.
    pub lease: Duration,
    /// The maximum number of ensembles that a request may pass through.
    pub max_hops: u32,
    /// Whether ensembles of other realms may use its capabilities.
    pub shareable: bool,
    /// The peers it dials, by the names they have here.
    pub peers: Vec<(String, Address)>,
    /// The A2A agents whose skills it uses, by the names they have here.
    pub agents: Vec<(String, AgentAddress)>,
}

impl Options {
    /// Returns the options of an ensemble of this name without configured peers.
    pub fn new(name: &str) -> Options {
        Options {
            name: name.to_owned(),
            realm: None,
            lease: Duration::from_secs(15),
            max_hops: 8,
            shareable: true,
            peers: Vec::new(),
            agents: Vec::new(),
        }
    }

    /// Returns the time for which a disconnected peer is waited for.
    pub(crate) fn patience(&self) -> Duration {
        self.lease * 2
    }
}

/// A handle to the network.
#[derive(Clone)]
pub struct Network {
    inner: Arc<Inner>,
    /// The worker that serves requests of peers; empty before
    /// [`Network::offer`], and absent on a handle that only makes calls.
    work: Option<Arc<OnceLock<Arc<dyn Work>>>>,
}

struct Inner {
    options: Options,
    transport: Arc<dyn Transport>,
    state: Mutex<Links>,
    agents: Agents,
    clock: Clock,
    /// A counter of the changes to the set of links.
    changes: watch::Sender<u64>,
}

/// The tasks that keep links to configured peers; dropping it closes them.
pub struct Dialling(#[expect(dead_code, reason = "held for being dropped")] JoinSet<()>);

/// The view of a peer.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerView {
    /// The name of the peer on this side.
    pub name: String,
    /// Whether there is a link to it.
    pub connected: bool,
    /// The time at which the link was opened.
    pub since: Option<Millis>,
    /// Whether the link was opened from here.
    pub dialled: bool,
    /// The reason why there is no link, or the problems in the peer's description of itself.
    pub trouble: Option<String>,
    /// The peer's description of itself.
    pub hello: Option<Hello>,
    /// The peer's load.
    pub capacity: Option<CapacityUpdate>,
    /// The requests that it has not answered, up to a limit.
    pub requests: Vec<RequestView>,
}

/// A request that was sent to a peer.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestView {
    /// The id of the request.
    pub id: String,
    /// The name of the requested capability.
    pub capability: String,
    /// The progress that the peer reported.
    pub progress: Option<Progress>,
}

impl Network {
    /// Returns the name of this ensemble.
    pub fn name(&self) -> &str {
        &self.inner.options.name
    }

    /// Returns a network without links, on which this ensemble shares nothing.
    pub fn new(options: Options, transport: Arc<dyn Transport>) -> Network {
        let peers = options.peers.iter().map(|(name, _)| name.as_str());
        let agents = options.agents.iter().map(|(name, _)| name.as_str());
        let state = Mutex::new(Links::of(peers.chain(agents)));
        let changes = watch::Sender::new(0);
        let agents = Agents::default();
        let inner = Arc::new(Inner { options, transport, state, agents, clock: Clock::system(), changes });
        Network { inner, work: Some(Arc::default()) }
    }

    /// Sets the worker that serves requests of peers; to be called once, before links are opened.
    pub fn offer(&self, work: Arc<dyn Work>) {
        if let Some(offered) = &self.work {
            let _first = offered.set(work);
        }
    }

    /// Returns the tools of peers, for a toolbox that this network's
    /// own work uses too: it does not keep the network alive.
    pub fn tools(&self) -> Arc<dyn DynamicToolProvider> {
        Arc::new(PeerTools(Arc::downgrade(&self.inner)))
    }

    /// Opens a link to every configured peer, and again whenever it breaks; reads the cards of configured agents.
    pub fn dial(&self) -> Dialling {
        let mut dials = JoinSet::new();
        for (name, address) in &self.inner.options.peers {
            dials.spawn(link::keep(self.clone(), name.clone(), address.clone()));
        }
        for (name, address) in &self.inner.options.agents {
            dials.spawn(agents::keep(self.for_calls(), name.clone(), address.clone()));
        }
        Dialling(dials)
    }

    /// Sends hello over an incoming connection and runs the link until it ends. The work that is requested over it
    /// belongs to `by`, here and below.
    pub async fn answer(&self, connection: Connection, by: Owner) {
        link::answer(self, connection, by).await;
    }

    /// Runs a link that a peer opened, until it ends.
    pub async fn accept(&self, connection: Connection, hello: Hello, by: Owner) {
        let _refused = link::session(self, connection, hello, (Side::Accepted, by)).await;
    }

    /// Serves the requests of a client that is not an ensemble, until it disconnects.
    pub async fn attend(&self, connection: Connection, by: Owner) {
        link::attend(self, connection, by).await;
    }

    /// Stops accepting work for peers, and tells them so.
    pub fn drain(&self) {
        if let Some(work) = self.work() {
            work.drain();
        }
        let frame = Frame::CapacityUpdate(self.capacity()).text();
        for outbox in self.state().outboxes() {
            let _full = outbox.try_send(frame.clone().into());
        }
    }

    /// Returns the options of this ensemble and its peers.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Reads from the registry of known capabilities.
    pub fn registry<T>(&self, look: impl FnOnce(&CapabilityRegistry) -> T) -> T {
        look(&self.state().registry)
    }

    /// Returns the capabilities that this ensemble shares.
    pub fn shared(&self) -> Vec<Capability> {
        self.work().map(|work| work.shared()).unwrap_or_default()
    }

    /// Returns the peers and their states, the configured ones first.
    pub fn peers(&self) -> Vec<PeerView> {
        let state = self.state();
        let configured: HashSet<&str> = self.inner.options.peers.iter().map(|(name, _)| name.as_str()).collect();
        let others = state.peers().map(|peer| &**peer).filter(|peer| !configured.contains(peer));
        let names = self.inner.options.peers.iter().map(|(name, _)| name.as_str()).chain(others);
        let agents = self.inner.options.agents.iter().map(|(name, _)| self.inner.agents.view(name));
        names.map(|name| state.view(name)).chain(agents).collect()
    }

    /// Notes what was learned of an agent.
    pub(crate) fn learned(&self, note: impl FnOnce(&Agents, Millis) -> bool) {
        if note(&self.inner.agents, self.inner.clock.now()) {
            self.inner.changes.send_modify(|count| *count += 1);
        }
    }

    /// Returns the skills of agents.
    pub(crate) fn agents(&self) -> &Agents {
        &self.inner.agents
    }

    /// Returns the peers that went away and are not back, the newest first.
    pub fn departed(&self) -> Vec<DepartedPeer> {
        self.state().departed()
    }

    /// Returns a counter of the changes to the set of links.
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

    /// Returns a handle to the same network that only makes calls: a
    /// call under way must not keep the work alive that it is part of.
    pub(crate) fn for_calls(&self) -> Network {
        Network { inner: self.inner.clone(), work: None }
    }

    /// Returns this ensemble's introduction to the peers it
    /// dials, cut to fit into a frame of the usual size.
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

    /// Returns the load of this ensemble.
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

    /// Returns the reason why an accepted link may not have the name it announces, if so.
    pub(crate) fn name_refused(&self, (side, by): (&Side, &Owner), hello: &Hello) -> Option<String> {
        self.state().name_refused((side, by), hello, &self.inner.options.name)
    }

    /// Adds a new link; the capabilities of the peer are known from here on.
    pub(crate) fn join(&self, opened: (Side, Owner), hello: Hello, outbox: mpsc::Sender<OutgoingFrame>) -> JoinedLink {
        let believed = busy::in_place(|| hello.believed(&self.inner.options.name));
        let number = self.state().join(Link::new(opened, believed, outbox), self.inner.clock.now());
        self.inner.changes.send_modify(|count| *count += 1);
        JoinedLink { network: self.clone(), number }
    }

    /// Prepares a request to be sent over a link to the peer. The first receiver gets the answer,
    /// the second is notified when the request is being sent; both are closed when the link ends.
    pub(crate) fn post(&self, peer: &str, request: &Request, account: &Account) -> Result<PreparedRequest, String> {
        let mut state = self.state();
        let link = state.best(peer).ok_or_else(|| format!("{peer} is not connected"))?;
        let text = fit(request.clone().frame(), link.hello.frame_max());
        let text = text.map_err(|why| format!("the request cannot be sent to {peer}: {why}"))?;
        let (answered, answer) = oneshot::channel();
        let (leaving, left) = oneshot::channel();
        let capability = request.capability().to_owned();
        let kind = request.kind();
        let pending =
            Pending { capability, kind, answered, account: account.clone(), progress: None, progressed_at: None };
        link.pending.insert(request.id().to_owned(), pending);
        let frame = OutgoingFrame { text, leaving: Some(leaving) };
        Ok(PreparedRequest { outbox: link.outbox.clone(), frame, answer, left })
    }

    /// Tells a peer that a request is no longer wanted, now or when it is back.
    pub(crate) fn cancel(&self, peer: &str, id: &str) {
        self.state().queue_cancel(peer, id);
    }

    pub(crate) fn trouble(&self, peer: &str, why: String) {
        self.state().trouble(peer, why);
    }

    fn state(&self) -> MutexGuard<'_, Links> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks up tools of peers as long as the network exists.
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
        let Some(network) = self.network() else { return Vec::new() };
        let peers = network.peer_tools().into_iter().map(|tool| -> Arc<dyn Tool> { Arc::new(tool) });
        peers.chain(network.agents().tools()).collect()
    }

    fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.network()?.tool(name)
    }
}

/// A request that is ready to be sent, and the receivers of its results.
pub(crate) struct PreparedRequest {
    pub(crate) outbox: mpsc::Sender<OutgoingFrame>,
    pub(crate) frame: OutgoingFrame,
    pub(crate) answer: oneshot::Receiver<Response>,
    pub(crate) left: oneshot::Receiver<()>,
}

/// A link that is part of the network until this is dropped.
pub(crate) struct JoinedLink {
    network: Network,
    number: u64,
}

impl JoinedLink {
    /// Removes and returns the waiting request of this id.
    fn waiting(&self, request_id: &str) -> Option<Pending> {
        self.network.state().get(self.number).and_then(|(_, pending)| pending.remove(request_id))
    }

    /// Handles the peer's report that a request cannot be done.
    pub(crate) fn refused(&self, complaint: &Complaint) {
        let id = complaint.request_id.as_deref().unwrap_or_default();
        if let Some(waiting) = self.waiting(id) {
            let _gave_up = waiting.answered.send(Response::rejected(id, cut(complaint.message.clone(), WORDS_MAX)));
        }
    }

    /// Passes an answer to the waiting request; one of the wrong kind is ignored.
    pub(crate) fn answered(&self, kind: CapabilityKind, response: Response) {
        if let Some(waiting) = self.waiting(&response.request_id) {
            let id = &response.request_id;
            let fits = waiting.kind == kind;
            let response = Response {
                result: response.result.clone().map(|text| cut(text, RESULT_MAX)),
                error: response.error.clone().map(|text| cut(text, WORDS_MAX)),
                ..response.clone()
            };
            let misfit = || Response::failed(id, "it was answered with the frame of another kind of request");
            let _gave_up = waiting.answered.send(if fits { response } else { misfit() });
        }
    }

    /// Handles a new introduction of the peer.
    pub(crate) fn introduced(&self, hello: Hello) {
        let believed = busy::in_place(|| hello.believed(&self.network.inner.options.name));
        self.network.state().introduced(self.number, believed);
        self.network.inner.changes.send_modify(|count| *count += 1);
    }

    /// Handles a progress report of a request.
    pub(crate) fn progressed(&self, progress: Progress) {
        let mut state = self.network.state();
        let Some((peer, pending)) = state.get(self.number) else { return };
        tracing::debug!(%peer, request = progress.request_id, "a peer says how far it is");
        let now = Instant::now();
        let is_due = |last: Option<Instant>| last.is_none_or(|last| now.duration_since(last) >= PROGRESS_EVERY);
        if let Some(waiting) = pending.get_mut(&progress.request_id).filter(|waiting| is_due(waiting.progressed_at)) {
            waiting.progressed_at = Some(now);
            let [status, message] =
                [progress.status, progress.message].map(|text| text.map(|text| cut(text, WORDS_MAX)));
            let progress = Progress { status, message, ..progress };
            waiting.account.progress(progress.clone().into());
            waiting.progress = Some(progress);
        }
    }

    /// Handles an update of the peer's load.
    pub(crate) fn update_load(&self, update: CapacityUpdate) {
        self.network.state().update_load(self.number, update);
    }

    /// Sends the pending cancels to the peer.
    pub(crate) fn send_cancels(&self) {
        let mut state = self.network.state();
        if let Some(peer) = state.get(self.number).map(|(peer, _)| peer.clone()) {
            state.send_cancels(&peer);
        }
    }
}

impl Drop for JoinedLink {
    fn drop(&mut self) {
        self.network.state().leave(self.number, self.network.inner.clock.now());
        self.network.inner.changes.send_modify(|count| *count += 1);
    }
}
