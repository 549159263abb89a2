//! Connections within one process, with simulated faults on request: delay, connections that break or fall
//! silent, partitions. A loss drops everything from one point on: a stream does not lose single frames.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{StreamExt, future, sink, stream};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep, sleep_until};

use crate::transport::{Address, Closed, Connection, Incoming, Outgoing, Transport, parse_frame};

/// The maximum number of frames in transit in one direction; more break the connection.
const FRAMES_MAX: usize = 4096;
/// The maximum number of connections waiting to be accepted; more are refused.
const CALLS_MAX: usize = 64;

/// A network within one process; clones share it.
#[derive(Clone, Default)]
pub struct MemoryNetwork(Arc<Mutex<Board>>);

#[derive(Default)]
struct Board {
    listeners: HashMap<String, mpsc::Sender<Connection>>,
    faults: Faults,
    /// Pairs of places that are partitioned from each other.
    apart: BTreeSet<(String, String)>,
    dice: u64,
}

/// The simulated faults.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// The longest delay of a frame.
    pub delay: Duration,
    /// The number of frames in a million that break their connection.
    pub breaks: u64,
    /// The number of frames in a million after which their direction falls silent.
    pub silences: u64,
}

/// The shared state of both ends of a connection.
#[derive(Default)]
struct Duplex {
    broken: AtomicBool,
    changed: Notify,
}

impl MemoryNetwork {
    /// Returns a network with these faults; the same seed produces the same faults.
    pub fn new(faults: Faults, seed: u64) -> MemoryNetwork {
        MemoryNetwork(Arc::new(Mutex::new(Board { faults, dice: seed | 1, ..Board::default() })))
    }

    /// Returns the connections to this place from now on.
    pub fn listen(&self, place: &str) -> mpsc::Receiver<Connection> {
        let (calls, answered) = mpsc::channel(CALLS_MAX);
        self.board().listeners.insert(place.to_owned(), calls);
        answered
    }

    /// Returns a transport that dials from this place.
    pub fn from(&self, place: &str) -> MemoryTransport {
        MemoryTransport { network: self.clone(), place: place.to_owned() }
    }

    /// Changes the faults.
    pub fn faults(&self, faults: Faults) {
        self.board().faults = faults;
    }

    /// Partitions two places: nothing passes between them any more, in either direction.
    pub fn part(&self, one: &str, other: &str) {
        self.board().apart.insert(pair(one, other));
    }

    /// Ends every partition. Lost frames stay lost.
    pub fn heal(&self) {
        self.board().apart.clear();
    }

    fn is_apart(&self, between: &(String, String)) -> bool {
        self.board().apart.contains(between)
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns both ends of a new connection.
    fn connect(&self, one: &str, other: &str) -> (Connection, Connection) {
        let duplex = Arc::new(Duplex::default());
        let between = pair(one, other);
        let (there, heard_there) = self.wire(duplex.clone(), between.clone());
        let (here, heard_here) = self.wire(duplex, between);
        (Connection { outgoing: there, incoming: heard_here }, Connection { outgoing: here, incoming: heard_there })
    }

    /// Returns one direction of a connection.
    fn wire(&self, duplex: Arc<Duplex>, between: (String, String)) -> (Outgoing, Incoming) {
        let (frames, on_the_way) = mpsc::channel::<(Instant, String)>(FRAMES_MAX);
        let silent = Arc::new(AtomicBool::new(false));
        let end =
            Sending { network: self.clone(), duplex: duplex.clone(), between: between.clone(), silent: silent.clone() };
        let outgoing = sink::unfold((frames, Instant::now()), move |(frames, last), text| {
            future::ready(end.send(&frames, last, text).map(|due| (frames, due)))
        });
        let network = self.clone();
        let incoming = stream::unfold(on_the_way, move |mut on_the_way| {
            let duplex = duplex.clone();
            let silent = silent.clone();
            let network = network.clone();
            let between = between.clone();
            async move {
                let frame = duplex.until_broken(on_the_way.recv()).await;
                if let Some((due, text)) = frame {
                    sleep_until(due).await;
                    return Some((text, on_the_way));
                }
                // An end that receives nothing is not told that the connection is closed either.
                if !duplex.broken.load(Ordering::Acquire)
                    && (silent.load(Ordering::Acquire) || network.is_apart(&between))
                {
                    future::pending::<()>().await;
                }
                None
            }
        });
        let frames = incoming.filter_map(|text: String| future::ready(parse_frame(&text)));
        (Box::pin(outgoing), frames.boxed())
    }
}

impl Duplex {
    async fn until_broken<T>(&self, next: impl Future<Output = Option<T>>) -> Option<T> {
        let changed = self.changed.notified();
        if self.broken.load(Ordering::Acquire) {
            return None;
        }
        tokio::select! {
            next = next => next,
            () = changed => None,
        }
    }

    fn tear(&self) {
        self.broken.store(true, Ordering::Release);
        self.changed.notify_waiters();
    }
}

/// The sending end of one direction.
struct Sending {
    network: MemoryNetwork,
    duplex: Arc<Duplex>,
    between: (String, String),
    silent: Arc<AtomicBool>,
}

impl Sending {
    /// Sends a frame, subject to the simulated faults; returns the time of its arrival.
    fn send(&self, frames: &mpsc::Sender<(Instant, String)>, last: Instant, text: String) -> Result<Instant, Closed> {
        if self.duplex.broken.load(Ordering::Acquire) || frames.is_closed() {
            return Err(Closed);
        }
        let mut board = self.network.board();
        let Faults { delay, breaks, silences } = board.faults;
        let luck = board.roll() % 1_000_000;
        if luck < breaks {
            self.duplex.tear();
            return Err(Closed);
        }
        if luck < breaks + silences || board.apart.contains(&self.between) {
            self.silent.store(true, Ordering::Release);
        }
        let due = last.max(Instant::now() + delay.mul_f64(board.fraction()));
        if !self.silent.load(Ordering::Acquire) && frames.try_send((due, text)).is_err() {
            return Err(Closed);
        }
        Ok(due)
    }
}

impl Board {
    fn roll(&mut self) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice
    }

    fn fraction(&mut self) -> f64 {
        f64::from(u16::try_from(self.roll() & 0xffff).unwrap_or_default()) / f64::from(u16::MAX)
    }
}

fn pair(one: &str, other: &str) -> (String, String) {
    let (first, second) = if one < other { (one, other) } else { (other, one) };
    (first.to_owned(), second.to_owned())
}

/// A transport within the process.
#[derive(Clone)]
pub struct MemoryTransport {
    network: MemoryNetwork,
    place: String,
}

impl Transport for MemoryTransport {
    fn dial(&self, to: &Address) -> BoxFuture<'static, Result<Connection, String>> {
        let transport = self.clone();
        let to = to.url.clone();
        Box::pin(async move {
            if transport.network.is_apart(&pair(&transport.place, &to)) {
                sleep(Duration::from_secs(1)).await;
                return Err("no answer".to_owned());
            }
            let listener = transport.network.board().listeners.get(&to).cloned();
            let (here, there) = transport.network.connect(&transport.place, &to);
            let answered = listener.is_some_and(|listener| listener.try_send(there).is_ok());
            answered.then_some(here).ok_or_else(|| "connection refused".to_owned())
        })
    }
}
