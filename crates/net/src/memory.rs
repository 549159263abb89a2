//! Connections within one process, with the weather of a real network on
//! request: delay, connections that break or fall silent, partitions. What is
//! lost is everything from a point on: a stream does not lose single frames.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{StreamExt, future, sink, stream};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep, sleep_until};

use crate::transport::{Address, Closed, Connection, Incoming, Outgoing, Transport, heard};

/// Frames on their way in one direction; more break the connection.
const FRAMES_MAX: usize = 4096;
/// Connections waiting to be answered; more are refused.
const CALLS_MAX: usize = 64;

/// A switchboard; clones share it.
#[derive(Clone, Default)]
pub struct Wires(Arc<Mutex<Board>>);

#[derive(Default)]
struct Board {
    listeners: HashMap<String, mpsc::Sender<Connection>>,
    weather: Weather,
    /// Pairs of places that cannot hear each other.
    apart: BTreeSet<(String, String)>,
    dice: u64,
}

/// What befalls frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    /// The longest way.
    pub delay: Duration,
    /// How many frames of a million break their connection.
    pub breaks: u64,
    /// How many frames of a million are the last that are heard.
    pub silences: u64,
}

/// What both ends of a connection know.
#[derive(Default)]
struct Cable {
    broken: AtomicBool,
    changed: Notify,
}

impl Wires {
    /// A switchboard with this weather; the same seed makes the same weather.
    pub fn new(weather: Weather, seed: u64) -> Wires {
        Wires(Arc::new(Mutex::new(Board { weather, dice: seed | 1, ..Board::default() })))
    }

    /// Connections to this place from now on.
    pub fn listen(&self, place: &str) -> mpsc::Receiver<Connection> {
        let (calls, answered) = mpsc::channel(CALLS_MAX);
        self.board().listeners.insert(place.to_owned(), calls);
        answered
    }

    /// Dials from this place.
    pub fn from(&self, place: &str) -> Phone {
        Phone { wires: self.clone(), place: place.to_owned() }
    }

    /// Changes the weather.
    pub fn weather(&self, weather: Weather) {
        self.board().weather = weather;
    }

    /// Nothing gets from one place to the other any more, in either direction.
    pub fn part(&self, one: &str, other: &str) {
        self.board().apart.insert(pair(one, other));
    }

    /// Every partition is over. What was lost stays lost.
    pub fn heal(&self) {
        self.board().apart.clear();
    }

    fn is_apart(&self, between: &(String, String)) -> bool {
        self.board().apart.contains(between)
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Both ends of a new connection.
    fn connect(&self, one: &str, other: &str) -> (Connection, Connection) {
        let (cable, between) = (Arc::new(Cable::default()), pair(one, other));
        let (there, heard_there) = self.wire(cable.clone(), between.clone());
        let (here, heard_here) = self.wire(cable, between);
        (Connection { outgoing: there, incoming: heard_here }, Connection { outgoing: here, incoming: heard_there })
    }

    /// One direction of a connection.
    fn wire(&self, cable: Arc<Cable>, between: (String, String)) -> (Outgoing, Incoming) {
        let (frames, on_the_way) = mpsc::channel::<(Instant, String)>(FRAMES_MAX);
        let silent = Arc::new(AtomicBool::new(false));
        let end =
            Sending { wires: self.clone(), cable: cable.clone(), between: between.clone(), silent: silent.clone() };
        let outgoing = sink::unfold((frames, Instant::now()), move |(frames, last), text| {
            future::ready(end.send(&frames, last, text).map(|due| (frames, due)))
        });
        let wires = self.clone();
        let incoming = stream::unfold(on_the_way, move |mut on_the_way| {
            let (cable, silent, wires, between) = (cable.clone(), silent.clone(), wires.clone(), between.clone());
            async move {
                let frame = cable.until_broken(on_the_way.recv()).await;
                if let Some((due, text)) = frame {
                    sleep_until(due).await;
                    return Some((text, on_the_way));
                }
                // Who cannot hear does not hear that it is over either.
                if !cable.broken.load(Ordering::Acquire) && (silent.load(Ordering::Acquire) || wires.is_apart(&between))
                {
                    future::pending::<()>().await;
                }
                None
            }
        });
        let frames = incoming.filter_map(|text: String| future::ready(heard(&text)));
        (Box::pin(outgoing), frames.boxed())
    }
}

impl Cable {
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
    wires: Wires,
    cable: Arc<Cable>,
    between: (String, String),
    silent: Arc<AtomicBool>,
}

impl Sending {
    /// Sends a frame, or what becomes of it in this weather; says when it arrives.
    fn send(&self, frames: &mpsc::Sender<(Instant, String)>, last: Instant, text: String) -> Result<Instant, Closed> {
        if self.cable.broken.load(Ordering::Acquire) || frames.is_closed() {
            return Err(Closed);
        }
        let mut board = self.wires.board();
        let Weather { delay, breaks, silences } = board.weather;
        let luck = board.roll() % 1_000_000;
        if luck < breaks {
            self.cable.tear();
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

/// Dials within the process.
#[derive(Clone)]
pub struct Phone {
    wires: Wires,
    place: String,
}

impl Transport for Phone {
    fn dial(&self, to: &Address) -> BoxFuture<'static, Result<Connection, String>> {
        let (phone, to) = (self.clone(), to.url.clone());
        Box::pin(async move {
            if phone.wires.is_apart(&pair(&phone.place, &to)) {
                sleep(Duration::from_secs(1)).await;
                return Err("no answer".to_owned());
            }
            let listener = phone.wires.board().listeners.get(&to).cloned();
            let (here, there) = phone.wires.connect(&phone.place, &to);
            let answered = listener.is_some_and(|listener| listener.try_send(there).is_ok());
            answered.then_some(here).ok_or_else(|| "connection refused".to_owned())
        })
    }
}
