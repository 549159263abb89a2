//! One link: opened, kept alive, used in both directions, and opened again when it breaks. Everything a
//! link does ends with it; the work that a peer requested goes on and is answered over the next link.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use consort_core::owner::Owner;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, SinkExt, StreamExt};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::limits::{HELLO_MAX, SERVED_MAX, WORDS_MAX, cut};
use crate::links::{OutgoingFrame, Side};
use crate::network::{JoinedLink, Network, OUTBOX_MAX};
use crate::pace::Pace;
use crate::transport::{Address, Closed, Connection, Incoming, Outgoing};
use crate::wire::{
    Accepted, CapabilityKind, CapabilityQuery, CapabilityResponse, Complaint, Frame, Hello, Response, Status,
};
use crate::work::{Replies, Request};

/// The number of leases after which the requests of an ensemble that has not come back count
/// as abandoned: it notices within two that the link is gone, and retries for another two.
const ORPHAN_LEASES: u32 = 4;
/// The code of the refusal of a name.
const NAME_TAKEN: &str = "CONFLICT";
/// The first wait before a broken link is opened again, and the longest.
const BACKOFF: Duration = Duration::from_millis(250);
const BACKOFF_MAX: Duration = Duration::from_secs(8);

/// Keeps a link to a configured peer open.
pub(crate) async fn keep(network: Network, peer: String, address: Address) {
    let mut failures = 0;
    let mut attempts = 0;
    loop {
        match open(&network, &address).await {
            Ok((connection, hello)) => {
                let side = (Side::Dialled(peer.clone()), Owner::peer(&peer));
                let refused = session(&network, connection, hello, side).await;
                failures = if refused.is_some() { failures + 1 } else { 0 };
                network.trouble(&peer, refused.unwrap_or_else(|| "the connection broke".to_owned()));
            }
            Err(why) => {
                tracing::debug!(peer, why, "cannot connect");
                network.trouble(&peer, why);
                failures += 1;
            }
        }
        attempts += 1;
        sleep(backoff(failures, dice(&network.options().name, &peer, attempts))).await;
    }
}

/// Connects and exchanges introductions with the other side.
async fn open(network: &Network, address: &Address) -> Result<(Connection, Hello), String> {
    let mut connection = network.transport().dial(address).await?;
    let introduction = Frame::PeerHello(network.introduction()).text();
    connection.outgoing.send(introduction).await.map_err(|closed: Closed| closed.to_string())?;
    let hello = async {
        while let Some(frame) = connection.incoming.next().await {
            if let Frame::Hello(hello) = frame {
                return hello.refusal().map_or(Ok(hello), Err);
            }
            if let Frame::Error(complaint) = frame {
                return Err(complaint.message);
            }
        }
        Err("it hung up before it said who it is".to_owned())
    };
    let hello = timeout(HELLO_MAX, hello).await.map_err(|_elapsed| "it did not say who it is".to_owned())??;
    Ok((connection, hello))
}

/// Serves an incoming connection: exchanges introductions, then runs the link.
pub(crate) async fn answer(network: &Network, mut connection: Connection, by: Owner) {
    let hello = Frame::Hello(network.introduction()).text();
    if connection.outgoing.send(hello).await.is_err() {
        return;
    }
    let first = timeout(HELLO_MAX, connection.incoming.next()).await.ok().flatten();
    if let Some(Frame::PeerHello(hello)) = first
        && hello.refusal().is_none()
    {
        let _refused = session(network, connection, hello, (Side::Accepted, by)).await;
    }
}

/// Runs a link until it breaks, the peer has been silent for too long,
/// or the peer refuses to listen; returns the reason of a refusal. The
/// work that the peer requests belongs to `by`.
pub(crate) async fn session(
    network: &Network,
    connection: Connection,
    hello: Hello,
    (side, by): (Side, Owner),
) -> Option<String> {
    let Connection { outgoing, incoming } = connection;
    let (outbox, frames) = mpsc::channel(OUTBOX_MAX);
    let lease = hello.lease(network.options().lease);
    let frame_max = hello.frame_max();
    let refused = network.name_refused((&side, &by), &hello);
    if let Some(message) = &refused {
        tracing::info!(name = hello.ensemble, "a peer announces a name that another has: it may ask, not answer");
        let complaint = Complaint { code: NAME_TAKEN.to_owned(), message: message.clone(), request_id: None };
        let _gone = outbox.send(Frame::Error(complaint).text().into()).await;
    }
    let joined = refused.is_none().then(|| network.join((side, by.clone()), hello, outbox.clone()));
    let joined = joined.as_ref();
    let replies = Replies { outbox: outbox.clone(), by, patience: Some(lease * ORPHAN_LEASES), frame_max };
    tokio::select! {
        () = write(outgoing, frames) => None,
        refused = read(network, joined, incoming, (replies, lease * 2)) => refused,
        () = pulse(network, joined, &outbox) => None,
    }
}

/// Serves the connection of a client that is not an ensemble: it may be silent.
pub(crate) async fn attend(network: &Network, connection: Connection, by: Owner) {
    let Connection { outgoing, incoming } = connection;
    let (outbox, frames) = mpsc::channel(OUTBOX_MAX);
    let replies = Replies { outbox, by, patience: None, frame_max: Hello::default().frame_max() };
    tokio::select! {
        () = write(outgoing, frames) => {}
        _refused = read(network, None, incoming, (replies, Duration::MAX)) => {}
    }
}

async fn write(mut outgoing: Outgoing, mut frames: mpsc::Receiver<OutgoingFrame>) {
    while let Some(OutgoingFrame { text, leaving }) = frames.recv().await {
        leaving.map(|leaving| leaving.send(()));
        if outgoing.send(text).await.is_err() {
            return;
        }
    }
}

/// Sends the load of this ensemble, often enough that the peer knows it is alive.
async fn pulse(network: &Network, joined: Option<&JoinedLink>, outbox: &mpsc::Sender<OutgoingFrame>) {
    let mut ticks = interval((network.options().lease / 2).max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        joined.into_iter().for_each(JoinedLink::send_cancels);
        if outbox.send(Frame::CapacityUpdate(network.capacity()).text().into()).await.is_err() {
            return;
        }
    }
}

/// The requests of the peer that are being served.
type Served = FuturesUnordered<BoxFuture<'static, String>>;

/// Reads until the connection breaks, nothing has arrived
/// for too long, or the other side refuses to listen.
async fn read(
    network: &Network,
    joined: Option<&JoinedLink>,
    mut incoming: Incoming,
    (replies, silence): (Replies, Duration),
) -> Option<String> {
    let served = &mut Served::new();
    let mut under_way = HashMap::new();
    let mut pace = Pace::new();
    loop {
        let heard = async {
            loop {
                tokio::select! {
                    frame = pace.next(&mut incoming) => return frame,
                    Some(id) = served.next(), if !served.is_empty() => { under_way.remove(&id); }
                }
            }
        };
        let frame = timeout(silence, heard).await.ok().flatten()?;
        if let Frame::Error(complaint) = &frame
            && complaint.is_final()
        {
            return Some(cut(complaint.message.clone(), WORDS_MAX));
        }
        take(frame, (network, joined), &replies, (served, &mut under_way)).await;
    }
}

async fn take(
    frame: Frame,
    (network, joined): (&Network, Option<&JoinedLink>),
    replies: &Replies,
    (served, under_way): (&mut Served, &mut HashMap<String, String>),
) {
    match frame {
        Frame::TaskRequest(request) => begin(Request::Task(request), network, replies, (served, under_way)).await,
        Frame::ToolRequest(request) => begin(Request::Tool(request), network, replies, (served, under_way)).await,
        Frame::TaskResponse(response) => answered(joined, CapabilityKind::Task, response),
        Frame::ToolResponse(response) => answered(joined, CapabilityKind::Tool, response),
        Frame::RequestCancel(cancel) => {
            if let Some(work) = network.work() {
                let cancelled = work.cancel(replies.named(&cancel.request_id));
                served.push(Box::pin(cancelled.map(|()| String::new())));
            }
        }
        Frame::CapacityUpdate(update) => joined.into_iter().for_each(|joined| joined.update_load(update.clone())),
        Frame::TaskProgress(progress) => joined.into_iter().for_each(|joined| joined.progressed(progress.clone())),
        Frame::CapabilityQuery(query) => replies.send(shared(network, query)).await,
        Frame::Error(complaint) => joined.into_iter().for_each(|joined| joined.refused(&complaint)),
        Frame::Hello(hello) => joined.into_iter().for_each(|joined| joined.introduced(hello.clone())),
        Frame::PeerHello(hello) => joined.into_iter().for_each(|joined| joined.introduced(hello.clone())),
        Frame::TaskAccepted(Accepted { .. }) | Frame::CapabilityResponse(_) | Frame::Other => {}
    }
}

fn answered(joined: Option<&JoinedLink>, kind: CapabilityKind, response: Response) {
    match response.status {
        Status::Completed | Status::Failed | Status::Rejected | Status::Other => {
            joined.into_iter().for_each(|joined| joined.answered(kind, response.clone()));
        }
        Status::InProgress => {}
    }
}

/// Starts the work that the peer requests. A request that is repeated
/// over the same link is reported as under way, and answered once.
async fn begin(
    request: Request,
    network: &Network,
    replies: &Replies,
    (served, under_way): (&mut Served, &mut HashMap<String, String>),
) {
    let id = request.id().to_owned();
    let digest = request.digest();
    match under_way.get(&id) {
        Some(known) if *known == digest => {
            return replies.send(request.answer(Response::new(&id, Status::InProgress))).await;
        }
        Some(_) => return replies.send(request.answer(Response::taken(&id))).await,
        None => {}
    }
    if under_way.len() >= SERVED_MAX {
        let response = Response::rejected(&id, format!("{SERVED_MAX} requests of yours are under way"));
        return replies.send(request.answer(response)).await;
    }
    let Some(work) = network.work() else {
        return replies.send(request.answer(Response::rejected(&id, "nothing is shared here"))).await;
    };
    under_way.insert(id.clone(), digest);
    let work = work.serve(request, replies.clone());
    served.push(Box::pin(async move {
        work.await;
        id
    }));
}

/// Returns the shared capabilities that match a query.
pub(crate) fn shared(network: &Network, query: CapabilityQuery) -> Frame {
    let capabilities = network.shared().into_iter().filter(|capability| query.matches(capability)).collect();
    Frame::CapabilityResponse(CapabilityResponse { request_id: query.request_id, capabilities })
}

/// Returns between half and all of a wait that doubles with each failure.
fn backoff(failures: u32, dice: f64) -> Duration {
    let full = BACKOFF.saturating_mul(1 << failures.min(10)).min(BACKOFF_MAX);
    full / 2 + (full / 2).mul_f64(dice)
}

/// Returns a number from 0 to 1 that differs for every pair and
/// attempt, so that not all peers come back at the same moment.
fn dice(from: &str, to: &str, attempt: u32) -> f64 {
    let mut hasher = DefaultHasher::new();
    (from, to, attempt).hash(&mut hasher);
    let bytes = hasher.finish().to_le_bytes();
    bytes.last_chunk().map_or(0.5, |last| f64::from(u32::from_le_bytes(*last)) / f64::from(u32::MAX))
}
