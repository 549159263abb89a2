//! All links, by peer, and the information received over them. The cost of an
//! event depends only on the peer it concerns, not on the number of other peers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_tools::Account;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::departed::{Departed, DepartedPeer};
use crate::frame_checks::{disguise, escaped_name, folded};
use crate::network::{PeerView, RequestView};
use crate::roster::CapabilityRegistry;
use crate::wire::{CapabilityKind, CapacityUpdate, Frame, Hello, Progress, RequestCancel, Response};

/// The maximum number of requests under way that are listed for one peer.
const LISTED_MAX: usize = 100;
/// The maximum number of cancels stored for a disconnected peer; older ones have reached their deadlines.
const OWED_MAX: usize = 1024;
/// The maximum number of disconnected peers that cancels are stored for. Names are free to announce, so
/// without a limit peers that never come back would fill the memory; work for others stops at its deadline.
const OWED_PEERS_MAX: usize = 256;

/// All links, and the information received over them.
#[derive(Default)]
pub(crate) struct Links {
    pub(crate) registry: CapabilityRegistry,
    /// The links by number: at most as many as there are connections, which the server limits.
    links: BTreeMap<u64, Link>,
    /// Their numbers by peer; a peer without a link has no entry.
    by_peer: HashMap<Arc<str>, BTreeSet<u64>>,
    next: u64,
    /// The names of the configured peers, which belong to the links that were dialled.
    configured: HashSet<String>,
    /// Requests to cancel when their peer is back: of so many peers, so many each.
    pending_cancels: HashMap<Arc<str>, VecDeque<String>>,
    /// The reasons why configured peers are not connected: as many as the configuration names.
    troubles: HashMap<String, String>,
    departed: Departed,
}

/// One link.
pub(crate) struct Link {
    peer: Arc<str>,
    pub(crate) side: Side,
    /// The owner of what is asked for over it: the key it was opened with.
    by: Owner,
    pub(crate) hello: Hello,
    since: Millis,
    /// The problems in the peer's description of itself.
    pub(crate) complaint: Option<String>,
    pub(crate) outbox: mpsc::Sender<OutgoingFrame>,
    /// The requests that wait for an answer, by id: calls of runs under way, which have limits of their own.
    pub(crate) pending: HashMap<String, Pending>,
}

/// A request that waits for an answer.
pub(crate) struct Pending {
    /// The name of the requested capability.
    pub(crate) capability: String,
    pub(crate) kind: CapabilityKind,
    pub(crate) answered: oneshot::Sender<Response>,
    /// The account that receives progress reports.
    pub(crate) account: Account,
    pub(crate) progress: Option<Progress>,
    /// The time of the last progress report that was passed on.
    pub(crate) progressed_at: Option<Instant>,
}

/// The side that opened a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// This ensemble opened it, to the peer of this name.
    Dialled(String),
    /// The other ensemble opened it.
    Accepted,
}

/// A frame on its way, and a signal that it may have arrived.
pub(crate) struct OutgoingFrame {
    pub(crate) text: String,
    /// Notified right before the frame is handed to the connection.
    pub(crate) leaving: Option<oneshot::Sender<()>>,
}

impl From<String> for OutgoingFrame {
    fn from(text: String) -> OutgoingFrame {
        OutgoingFrame { text, leaving: None }
    }
}

impl Link {
    /// Returns a new link without requests.
    pub(crate) fn new(
        (side, by): (Side, Owner),
        (hello, complaint): (Hello, Option<String>),
        outbox: mpsc::Sender<OutgoingFrame>,
    ) -> Link {
        Link { peer: "".into(), side, by, hello, since: 0, complaint, outbox, pending: HashMap::new() }
    }
}

impl Links {
    /// Returns no links yet, of an ensemble that dials these peers.
    pub(crate) fn of<'a>(configured: impl Iterator<Item = &'a str>) -> Links {
        Links { configured: configured.map(str::to_owned).collect(), ..Links::default() }
    }

    /// Returns the reason why a link may not have the name it announces, if so: the name is this ensemble's
    /// own, a configured peer's, that of a link that was opened with another key, or one in which something is
    /// not seen. With the same key it is the same peer, which may be back before its old link is known to be dead.
    pub(crate) fn name_refused(&self, (side, by): (&Side, &Owner), hello: &Hello, own_name: &str) -> Option<String> {
        let Side::Accepted = side else { return None };
        let plain = Links::name(side, hello);
        let said = hello.ensemble.as_deref().unwrap_or_default();
        let announced = escaped_name(said);
        // A name that differs only in case or in what is not seen would be taken for the other by people.
        let is_same = |name: &str| name.eq_ignore_ascii_case(&plain) || folded(name) == folded(said);
        if is_same(own_name) {
            return Some(format!("`{announced}` is the name of this ensemble: a peer needs another ([network] name)"));
        }
        if self.configured.iter().any(|name| is_same(name)) {
            return Some(format!(
                "`{announced}` is a peer that this ensemble dials itself: nobody else has that name here"
            ));
        }
        let has_it = |link: &Link| is_same(&link.peer) && link.by != *by && !link.outbox.is_closed();
        if self.links.values().any(has_it) {
            return Some(format!("`{announced}` is linked already, with another key: it keeps that name while it is"));
        }
        disguise(said).map(|reason| format!("`{announced}` is no name for an ensemble: {reason}"))
    }

    /// Adds a new link; the capabilities of the peer are known from here on.
    pub(crate) fn join(&mut self, link: Link, since: Millis) -> u64 {
        let peer = Links::name(&link.side, &link.hello);
        self.troubles.remove(&*peer);
        self.next += 1;
        self.links.insert(self.next, Link { peer: peer.clone(), since, ..link });
        self.departed.came(&peer);
        self.by_peer.entry(peer.clone()).or_default().insert(self.next);
        self.refresh(&peer);
        self.send_cancels(&peer);
        self.next
    }

    /// Replaces the description of a peer; the name it has here stays.
    pub(crate) fn introduced(&mut self, number: u64, (hello, complaint): (Hello, Option<String>)) {
        let Some(link) = self.links.get_mut(&number) else { return };
        (link.hello, link.complaint) = (hello, complaint);
        let peer = link.peer.clone();
        self.refresh(&peer);
    }

    /// Removes a link, and all information received only over it.
    pub(crate) fn leave(&mut self, number: u64, at: Millis) {
        let Some(link) = self.links.remove(&number) else { return };
        self.forget(&link.peer, number);
        self.refresh(&link.peer);
        if self.best_number(&link.peer).is_none() {
            self.departed.went(link.peer, at, link.hello);
        }
    }

    /// Returns the peers that went away and are not back, the newest first.
    pub(crate) fn departed(&self) -> Vec<DepartedPeer> {
        self.departed.list()
    }

    /// Returns the link of this number.
    pub(crate) fn get(&mut self, number: u64) -> Option<(&Arc<str>, &mut HashMap<String, Pending>)> {
        self.links.get_mut(&number).map(|link| (&link.peer, &mut link.pending))
    }

    /// Returns the link to use: a dialled link is preferred, because it is
    /// certain whom it reached; otherwise the first link of a name keeps it.
    pub(crate) fn best(&mut self, peer: &str) -> Option<&mut Link> {
        let number = self.best_number(peer)?;
        self.links.get_mut(&number)
    }

    fn best_number(&self, peer: &str) -> Option<u64> {
        let open = self.linked(peer).filter(|(_, link)| !link.outbox.is_closed());
        open.min_by_key(|(number, link)| (link.side == Side::Accepted, *number)).map(|(number, _)| number)
    }

    fn linked(&self, peer: &str) -> impl Iterator<Item = (u64, &Link)> {
        let numbers = self.by_peer.get(peer).into_iter().flatten();
        numbers.filter_map(|number| Some((*number, self.links.get(number)?)))
    }

    fn forget(&mut self, peer: &Arc<str>, number: u64) {
        if let Some(numbers) = self.by_peer.get_mut(peer) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.by_peer.remove(peer);
            }
        }
    }

    /// Returns all connected peers.
    pub(crate) fn peers(&self) -> impl Iterator<Item = &Arc<str>> {
        // In the order of their first links.
        let first = |link: &&(&u64, &Link)| self.linked(&link.1.peer).next().is_some_and(|(first, _)| first == *link.0);
        self.links.iter().filter(move |link| first(&link)).map(|(_, link)| &link.peer)
    }

    /// Returns the outboxes of all links.
    pub(crate) fn outboxes(&self) -> impl Iterator<Item = &mpsc::Sender<OutgoingFrame>> {
        self.links.values().map(|link| &link.outbox)
    }

    /// Returns the local name of the peer at the other end: the configured one of a peer that was dialled,
    /// whatever it calls itself, and the announced one of any other.
    fn name(side: &Side, hello: &Hello) -> Arc<str> {
        match (side, &hello.ensemble) {
            (Side::Dialled(name), _) => name.as_str().into(),
            (Side::Accepted, Some(announced)) => plain(announced),
            (Side::Accepted, None) => "unknown".into(),
        }
    }

    /// Registers the capabilities that a peer's best link announces; none without a link.
    fn refresh(&mut self, peer: &Arc<str>) {
        match self.best(peer).map(|link| link.hello.clone()) {
            Some(hello) => self.registry.register(peer, hello.realm.as_deref(), hello.shared_capabilities),
            None => self.registry.unregister(peer),
        }
    }

    /// Records the load of a peer, if it came over the peer's best link.
    pub(crate) fn update_load(&mut self, number: u64, update: CapacityUpdate) {
        let Some(peer) = self.links.get(&number).map(|link| link.peer.clone()) else { return };
        if self.best_number(&peer) == Some(number) {
            self.registry.capacity(&peer, update.believed());
        }
    }

    /// Records a request that is to be cancelled, now or when its peer is back.
    pub(crate) fn queue_cancel(&mut self, peer: &str, id: &str) {
        let numbers: Vec<u64> = self.linked(peer).map(|(number, _)| number).collect();
        for number in numbers {
            if let Some((_, pending)) = self.get(number) {
                pending.retain(|waiting, pending| waiting != id || !pending.answered.is_closed());
            }
        }
        let is_known = self.pending_cancels.contains_key(peer) || self.best_number(peer).is_some();
        if !is_known && self.pending_cancels.len() >= OWED_PEERS_MAX {
            return;
        }
        let pending_cancels = self.pending_cancels.entry(peer.into()).or_default();
        if pending_cancels.len() >= OWED_MAX {
            pending_cancels.pop_front();
        }
        pending_cancels.push_back(id.to_owned());
        self.send_cancels(peer);
    }

    /// Sends the pending cancels of a peer, as far as there is room.
    pub(crate) fn send_cancels(&mut self, peer: &str) {
        let Some((peer, mut pending_cancels)) = self.pending_cancels.remove_entry(peer) else { return };
        if let Some(link) = self.best(&peer) {
            while let Some(request_id) = pending_cancels.pop_front() {
                let cancel = Frame::RequestCancel(RequestCancel { request_id: request_id.clone() });
                if link.outbox.try_send(cancel.text().into()).is_err() {
                    pending_cancels.push_front(request_id);
                    break;
                }
            }
        }
        if !pending_cancels.is_empty() {
            self.pending_cancels.insert(peer, pending_cancels);
        }
    }

    /// Records the reason why there is no link to a configured peer.
    pub(crate) fn trouble(&mut self, peer: &str, why: String) {
        self.troubles.insert(peer.to_owned(), why);
    }

    /// Returns the unanswered requests to a peer, sorted by id, up to the limit.
    fn requests(&self, peer: &str) -> Vec<RequestView> {
        let mut requests: Vec<_> = self.linked(peer).flat_map(|(_, link)| &link.pending).collect();
        requests.retain(|(_, pending)| !pending.answered.is_closed());
        requests.sort_by_key(|(id, _)| *id);
        let view = |(id, pending): (&String, &Pending)| RequestView {
            id: id.clone(),
            capability: pending.capability.clone(),
            progress: pending.progress.clone(),
        };
        requests.into_iter().take(LISTED_MAX).map(view).collect()
    }

    /// Returns the view of a peer.
    pub(crate) fn view(&self, name: &str) -> PeerView {
        let best = self.best_number(name).and_then(|number| self.links.get(&number));
        PeerView {
            name: name.to_owned(),
            connected: best.is_some(),
            trouble: self.troubles.get(name).or(best.and_then(|link| link.complaint.as_ref())).cloned(),
            since: best.map(|link| link.since),
            dialled: best.is_some_and(|link| link.side != Side::Accepted),
            hello: best.map(|link| link.hello.clone()),
            capacity: self.registry.capacity_of(name).cloned(),
            requests: self.requests(name),
        }
    }
}

/// Returns a name in the form that can precede the dot of a tool's name.
fn plain(name: &str) -> Arc<str> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    name.chars().map(plain).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(links: &mut Links, name: &str, key: &str) -> (u64, mpsc::Receiver<OutgoingFrame>) {
        let (outbox, frames) = mpsc::channel(8);
        let link = Link::new((Side::Accepted, Owner::peer(key)), (hello(name), None), outbox);
        (links.join(link, 0), frames)
    }

    fn hello(name: &str) -> Hello {
        Hello { ensemble: Some(name.to_owned()), ..Hello::default() }
    }

    #[test]
    fn a_name_stays_with_the_key_that_announced_it_first_as_long_as_it_is_linked() {
        let mut links = Links::of(["shop"].into_iter());
        let (number, _frames) = accepted(&mut links, "pantry", "one");
        let refused = |links: &Links, name: &str, key: &str| {
            links.name_refused((&Side::Accepted, &Owner::peer(key)), &hello(name), "home")
        };
        for name in ["pantry", "Pantry", " pantry", "pan\u{200b}try"] {
            assert!(refused(&links, name, "two").unwrap().contains("with another key"));
        }
        assert_eq!(refused(&links, "pantry", "one"), None, "it may be back before its old link is gone");
        assert_eq!(refused(&links, "larder", "two"), None);
        assert!(refused(&links, "shop", "one").unwrap().contains("dials itself"));
        assert!(refused(&links, "Home ", "one").unwrap().contains("is the name of this ensemble"));
        links.leave(number, 0);
        assert_eq!(refused(&links, "pantry", "two"), None, "who is gone has no name");
    }

    #[test]
    fn cancels_are_owed_to_few_peers_and_few_to_each() {
        let mut links = Links::default();
        for peer in 0..2 * OWED_PEERS_MAX {
            links.queue_cancel(&format!("peer-{peer}"), "request");
        }
        for request in 0..2 * OWED_MAX {
            links.queue_cancel("peer-0", &format!("request-{request}"));
        }
        assert_eq!((links.pending_cancels.len(), links.pending_cancels["peer-0"].len()), (OWED_PEERS_MAX, OWED_MAX));
        let (_, mut frames) = accepted(&mut links, "peer-0", "one");
        assert!(frames.try_recv().unwrap().text.contains("request_cancel"), "it is told when it is back");
    }
}
